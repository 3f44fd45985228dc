//! The cost of a region: the operations of its Low-IR and its probes, by the same stages that compile it.

use super::scope::Scope;
use crate::{
    high::{High, Op},
    ir::{
        Simple,
        interface::Interface,
        tensor::{Base, Operator, Ty},
    },
    low::{self, Slots},
    mid, pipeline,
    ssa::{Builder, Function, Value},
};
use ein_ir::{Param, Symmetry, region::Region};
use std::{collections::BTreeMap, sync::Arc};

/// Operations and probes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Additions, multiplications, divisions, comparisons, selections, and calls of functions, each counted as one. A value
    /// that is computed once and used often counts once, and so does a whole eigensystem.
    pub operations: usize,
    /// The divisions among them.
    pub divisions: usize,
    /// The calls of functions among them.
    pub functions: usize,
    /// How often an image is probed, at one position for all orders wanted there.
    pub probes: usize,
    /// How many numbers these probes bring, for each order of derivatives.
    pub orders: BTreeMap<usize, usize>,
    /// The highest order that is probed of values on meshes, by their numbers.
    pub meshes: BTreeMap<u32, usize>,
}

/// Counts the cost of a region; `symmetry` has the known symmetries of its definitions, and `values` are the function's values
/// that are its inputs.
pub(super) fn counts(
    region: &Region,
    symmetry: &[Symmetry],
    values: &[Value],
    scope: &Scope,
    interface: &Interface,
) -> Counts {
    let function = function(region, symmetry, values, scope);
    let reconstructed = pipeline::reconstruct(function);
    let scalarized = pipeline::scalarize(&reconstructed, &Slots::of(interface));
    let mut counts = Counts::default();
    reconstructed.each_op(&mut |op, _, _| match op {
        mid::Op::Probe(field, orders) => {
            counts.probes += 1;
            for order in orders.iter() {
                *counts.orders.entry(order).or_default() += field.outputs(order);
            }
        }
        mid::Op::FemProbe(probe) => {
            counts.probes += 1;
            for (field, order) in probe.results() {
                let highest = counts.meshes.entry(field.fem).or_default();
                *highest = order.max(*highest);
                *counts.orders.entry(order).or_default() += field.outputs(order);
            }
        }
        _ => {}
    });
    scalarized.each_op(&mut |op, _, _| {
        counts.operations += usize::from(is_operation(op));
        counts.divisions += usize::from(*op == low::Op::Simple(Simple::Div));
        counts.functions += usize::from(matches!(op, low::Op::Math(_) | low::Op::Eigen(_)));
    });
    counts
}

fn is_operation(op: &low::Op) -> bool {
    match op {
        low::Op::Simple(simple) => !matches!(simple, Simple::ToReal),
        low::Op::Math(_) | low::Op::Select(_) | low::Op::Eigen(_) => true,
        _ => false,
    }
}

/// A function that computes the region from its inputs.
fn function(
    region: &Region,
    symmetry: &[Symmetry],
    values: &[Value],
    scope: &Scope,
) -> Function<High> {
    let mut b: Builder<High> = Builder::default();
    let mut made: Vec<Value> = Vec::new();
    let mut scalars = 0;
    for (param, &value) in region.inputs.iter().zip(values) {
        let op = match (scope.leaf(value), scope.constant(value), param) {
            (Some(leaf), ..) => Op::Field(leaf.clone()),
            (None, Some(constant), _) => Op::Base(constant.clone()),
            (None, None, param) => {
                let ty = match param {
                    Param::Tensor(shape) => Ty::Tensor(shape.clone()),
                    Param::Field { .. } => panic!("a field that is neither a leaf nor derived"),
                };
                let first = scalars;
                scalars += ty.scalars().len() as u32;
                Op::Base(Base::Arg(first, ty))
            }
        };
        // A field over time is at a time that is given.
        let time = matches!(&op, Op::Field(leaf) if leaf.is_timed()).then(|| {
            scalars += 1;
            b.op1(Op::Base(Base::Arg(scalars - 1, Ty::REAL)), &[])
        });
        made.push(b.op1(op, time.as_slice()));
    }
    for (k, def) in region.defs.iter().enumerate() {
        let operator = Operator {
            ein: def.op.clone(),
            symmetry: symmetry.get(k).cloned().unwrap_or_default(),
        };
        let args: Vec<Value> = def.args.iter().map(|arg| made[arg.0]).collect();
        made.push(b.op1(Op::Ein(Arc::new(operator)), &args));
    }
    let roots = region.roots.iter().map(|root| made[root.0]).collect();
    b.finish("region", roots)
}
