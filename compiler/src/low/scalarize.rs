//! Scalarization: every tensor becomes its components, every EIN operator the arithmetic of its components.
//!
//! Axes and sums are unrolled, δ and ε become numbers, and products that they annihilate are not computed. Components that
//! are equal by symmetry are computed once.

mod dynamic;
mod expand;
mod frames;

use super::{Low, Op, zero};
use crate::{
    ir::{
        Simple,
        interface::{Interface, Variable},
        leaf::{ImageInfo, distinct_derivatives},
        tensor::{Base, Ty},
    },
    mid::{self, Mid},
    ssa::{Block, Builder, Function, Inst, Kind, Value},
};
use ein_ir::{Shape, mutants};
use std::collections::BTreeMap;

/// The slots of the scalars of global and state variables: the first slot of each variable.
#[derive(Clone, Debug)]
pub struct Slots {
    /// Of each global variable.
    pub globals: Vec<u32>,
    /// Of each state variable.
    pub state: Vec<u32>,
    /// Of all global variables.
    global_count: u32,
}

impl Slots {
    /// Slots in the order of a program's variables.
    pub fn of(interface: &Interface) -> Slots {
        let (globals, global_count) = first_slots(interface.globals.iter());
        let (state, _) = first_slots(interface.state.iter().map(|state| &state.variable));
        Slots {
            globals,
            state,
            global_count,
        }
    }

    /// The number of slots of global variables.
    pub fn global_count(&self) -> u32 {
        self.global_count
    }
}

/// The first slot of each variable, and how many there are.
fn first_slots<'a>(variables: impl Iterator<Item = &'a Variable>) -> (Vec<u32>, u32) {
    let mut next = 0;
    let first = variables
        .map(|variable| {
            let first = next;
            next += variable.ty.scalars().len() as u32;
            first
        })
        .collect();
    (first, next)
}

/// Translates a function to Low-IR.
pub fn scalarize(function: &Function<Mid>, slots: &Slots) -> Function<Low> {
    let mut pass = Pass {
        from: function,
        slots,
        b: Builder::default(),
        values: vec![Vec::new(); function.types.len()],
        negatives: BTreeMap::new(),
    };
    pass.insts(&function.body);
    let yields = pass.all(&function.body.yields);
    pass.b.finish(function.name.clone(), yields)
}

struct Pass<'a> {
    from: &'a Function<Mid>,
    slots: &'a Slots,
    b: Builder<Low>,
    /// The components of each value.
    values: Vec<Vec<Value>>,
    /// The negatives that were computed, by the value that was negated.
    negatives: BTreeMap<Value, Value>,
}

impl Pass<'_> {
    fn all(&self, values: &[Value]) -> Vec<Value> {
        values
            .iter()
            .flat_map(|&v| self.components(v).iter().copied())
            .collect()
    }

    fn components(&self, v: Value) -> &[Value] {
        &self.values[v.0 as usize]
    }

    fn scalar(&self, v: Value) -> Value {
        self.components(v)[0]
    }

    fn insts(&mut self, block: &Block<Mid>) {
        for inst in &block.insts {
            match &inst.kind {
                Kind::Op(op, args) => {
                    let results = self.op(op, args, inst);
                    for (v, components) in inst.results.iter().zip(results) {
                        self.values[v.0 as usize] = components;
                    }
                }
                Kind::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let condition = self.scalar(*condition);
                    let [then, otherwise] = [then, otherwise].map(|block| self.block(block));
                    let results = self.b.if_(condition, then, otherwise);
                    self.hold(&inst.results, results);
                }
                Kind::For {
                    index,
                    low,
                    high,
                    breaks,
                    carried,
                    init,
                    body,
                } => {
                    let (low, high, init) = (self.scalar(*low), self.scalar(*high), self.all(init));
                    let open = self.b.begin_for(low, high, *breaks, init);
                    self.hold(&[*index], vec![open.index]);
                    self.hold(carried, open.carried.clone());
                    self.insts(body);
                    let next = self.all(&body.yields);
                    let results = self.b.for_(open, next);
                    self.hold(&inst.results, results);
                }
            }
        }
    }

    fn block(&mut self, block: &Block<Mid>) -> Block<Low> {
        self.b.open();
        self.insts(block);
        let yields = self.all(&block.yields);
        self.b.close(yields)
    }

    /// Hands out a list of scalars to the values they belong to.
    fn hold(&mut self, values: &[Value], scalars: Vec<Value>) {
        let mut scalars = scalars.into_iter();
        for &v in values {
            let count = self.from.type_of(v).scalars().len();
            self.values[v.0 as usize] = scalars.by_ref().take(count).collect();
        }
    }

    fn op(&mut self, op: &mid::Op, args: &[Value], inst: &Inst<Mid>) -> Vec<Vec<Value>> {
        match op {
            mid::Op::Base(Base::Locate(mesh, dim)) => {
                let at = self.all(args);
                let mut found = self.b.op(Op::Locate(*mesh, *dim), &at);
                let reference = found.split_off(1);
                vec![found, reference]
            }
            mid::Op::Base(Base::Extremes(field)) => {
                let places = self.all(args);
                let found = self.b.op(Op::Extremes(field.clone()), &places);
                found.into_iter().map(|extreme| vec![extreme]).collect()
            }
            mid::Op::Base(base) => vec![self.base(base, args, inst)],
            mid::Op::Ein(operator) => vec![self.ein(operator, args)],
            mid::Op::ToIndex(image, dim) => vec![self.index_position(*image, *dim, args[0])],
            mid::Op::Gradient(image, dim) => {
                // P[i, j] is the derivative of index coordinate j along world axis i.
                let entries =
                    (0..*dim).flat_map(|i| (0..*dim).map(move |j| ImageInfo::ToIndex(j, i)));
                vec![
                    entries
                        .map(|info| self.b.op1(Op::Image(*image, info), &[]))
                        .collect(),
                ]
            }
            mid::Op::Probe(field, orders) if field.time.is_some() => {
                self.probe_in_time(field, *orders, args)
            }
            mid::Op::Probe(field, orders) => {
                let at = self.components(args[0]).to_vec();
                let found = self.b.op(Op::Probe(field.clone(), *orders), &at);
                let mut found = &found[..];
                orders
                    .iter()
                    .map(|order| {
                        let (own, rest) = found.split_at(field.outputs(order));
                        found = rest;
                        spread(&field.shape, field.dim(), order, own)
                    })
                    .collect()
            }
            mid::Op::FemProbe(probe) => {
                let at = self.all(args);
                let found = self.b.op(Op::FemProbe(probe.clone()), &at);
                let mut found = &found[..];
                probe
                    .results()
                    .map(|(field, order)| {
                        let (own, rest) = found.split_at(field.outputs(order));
                        found = rest;
                        spread(&field.shape, field.dim, order, own)
                    })
                    .collect()
            }
        }
    }

    fn base(&mut self, base: &Base, args: &[Value], inst: &Inst<Mid>) -> Vec<Value> {
        let scalars = self.all(args);
        let own = || self.from.type_of(inst.results[0]).scalars();
        match base {
            Base::Tensor(_, values) => values
                .iter()
                .map(|&x| self.b.op1(Op::Real(x), &[]))
                .collect(),
            Base::Int(n) => self.b.op(Op::Int(*n), &[]),
            Base::Bool(b) => self.b.op(Op::Bool(*b), &[]),
            Base::Str(s) => self.b.op(Op::Str(s.clone()), &[]),
            Base::Global(n, _) => {
                let first = self.slots.globals[*n as usize];
                own()
                    .into_iter()
                    .zip(first..)
                    .map(|(ty, slot)| self.b.op1(Op::Global(slot, ty), &[]))
                    .collect()
            }
            Base::State(n, _) => {
                let first = self.slots.state[*n as usize];
                own()
                    .into_iter()
                    .zip(first..)
                    .map(|(ty, slot)| self.b.op1(Op::State(slot, ty), &[]))
                    .collect()
            }
            Base::Arg(first, _) => own()
                .into_iter()
                .zip(*first..)
                .map(|(ty, slot)| self.b.op1(Op::Arg(slot, ty), &[]))
                .collect(),
            Base::Image(image, info) => self.b.op(Op::Image(*image, *info), &[]),
            Base::Locate(..) | Base::Extremes(_) => panic!("`{base}` has several results"),
            Base::CellNumber(mesh) => self.b.op(Op::CellNumber(*mesh), &scalars),
            Base::Simple(simple) => self.b.op(Op::Simple(*simple), &scalars),
            Base::Select(ty) => {
                let types = ty.scalars();
                let (then, otherwise) = scalars[1..].split_at(types.len());
                types
                    .into_iter()
                    .zip(then.iter().zip(otherwise))
                    .map(|(ty, (&a, &b))| self.b.op1(Op::Select(ty), &[scalars[0], a, b]))
                    .collect()
            }
            Base::IntDiv(place) => self.b.op(Op::IntDiv(*place), &scalars),
            Base::IntRem(place) => self.b.op(Op::IntRem(*place), &scalars),
            Base::Sequence(_) => scalars,
            Base::Element(place) => self.element(*place, args),
            Base::CheckIndex(place) => self.b.op(Op::CheckIndex(*place), &scalars),
            Base::Print(pieces) => self.b.op(Op::Print(pieces.clone()), &scalars),
            Base::Dynamic(dynamic) => self.dynamic(dynamic, args),
        }
    }

    /// An element of a fixed sequence: chosen now if the index is a constant, else by comparing.
    fn element(&mut self, place: u32, args: &[Value]) -> Vec<Value> {
        let sequence = self.components(args[0]).to_vec();
        let index = self.scalar(args[1]);
        let Ty::Seq(element, length) = self.from.type_of(args[0]) else {
            panic!("an element of no sequence")
        };
        let types = element.scalars();
        let known = match self.b.defining(index) {
            Some((Op::Int(n), _)) => usize::try_from(*n).ok().filter(|n| n < length),
            _ => None,
        };
        if let Some(n) = known {
            return sequence[n * types.len()..(n + 1) * types.len()].to_vec();
        }
        let size = self.b.op1(Op::Int(*length as i64), &[]);
        self.b.op(Op::CheckIndex(place), &[index, size]);
        (0..types.len())
            .map(|c| {
                let last = sequence
                    .get((length.max(&1) - 1) * types.len() + c)
                    .copied();
                let last = last.unwrap_or_else(|| self.b.op1(zero(types[c]), &[]));
                (0..length.max(&1) - 1).rev().fold(last, |otherwise, n| {
                    let n_value = self.b.op1(Op::Int(n as i64), &[]);
                    let here = self.b.op1(Op::Simple(Simple::IntEqual), &[index, n_value]);
                    self.b.op1(
                        Op::Select(types[c]),
                        &[here, sequence[n * types.len() + c], otherwise],
                    )
                })
            })
            .collect()
    }

    fn index_position(&mut self, image: u32, dim: u8, at: Value) -> Vec<Value> {
        let world = self.components(at).to_vec();
        (0..dim)
            .map(|row| {
                let offset = self.b.op1(Op::Image(image, ImageInfo::Offset(row)), &[]);
                (0..dim).fold(offset, |sum, column| {
                    let entry = self
                        .b
                        .op1(Op::Image(image, ImageInfo::ToIndex(row, column)), &[]);
                    let product = self.b.op1(
                        Op::Simple(Simple::Mul),
                        &[entry, world[usize::from(column)]],
                    );
                    self.b.op1(Op::Simple(Simple::Add), &[sum, product])
                })
            })
            .collect()
    }
}

/// The components of a symmetric tensor of derivatives from the distinct ones.
fn spread(shape: &Shape, dim: usize, order: usize, distinct: &[Value]) -> Vec<Value> {
    let derivatives = distinct_derivatives(dim, order);
    let place: BTreeMap<&[usize], usize> = derivatives
        .iter()
        .enumerate()
        .map(|(n, axes)| (&axes[..], n))
        .collect();
    let mut all = Vec::new();
    let mut components: Vec<&[Value]> = distinct.chunks(derivatives.len()).collect();
    mutants::order_components(shape.order(), &mut components);
    for component in components {
        for mut flat in 0..dim.pow(order as u32) {
            let mut axes: Vec<usize> = (0..order)
                .map(|_| {
                    let axis = flat % dim;
                    flat /= dim;
                    axis
                })
                .collect();
            axes.sort_unstable();
            mutants::merge_axes(&mut axes);
            all.push(component[place[&axes[..]]]);
        }
    }
    all
}
