//! The requirements of strand code in Device-IR on a machine that has nothing but arithmetic and memory.

use super::dialect::{Device, Op};
use crate::{
    ir::{Orders, leaf::Convolution, status::STABILIZE, tensor},
    low::{self, Dynamic, Low},
    ssa::{Dialect, Function, Kind, Program, Role},
};
use ein_ir::ops::Border;
use std::fmt;

/// What only a CPU does. Printing and making strands are not among it: a strand that comes to them is left to the CPU for
/// that super-step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// Sequences of varying length, of strands that look at others.
    Sequences,
}

impl fmt::Display for Construct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Construct::Sequences = self;
        f.write_str("strands with sequences of varying length look at others")
    }
}

/// The methods that run there.
pub const METHODS: [Role; 3] = [Role::Start, Role::Update, Role::Stabilize];

/// The function that makes strands, if a machine can run it: one of numbers alone, because it runs once, and code for
/// images and sequences is not worth its place there.
pub fn creation(program: &Program<Low>) -> Option<&Function<Low>> {
    let function = program.function(Role::Create)?;
    Some(function).filter(|function| is_plain(function))
}

/// The functions that give the values of strands to reductions over them, with their roles, if a machine can run all of them.
pub(super) fn reductions(
    program: &Program<Low>,
    expand: impl Fn(&Function<Low>) -> Function<Device>,
) -> Vec<(Role, Function<Device>)> {
    let is_reduction = |role: &Role| matches!(role, Role::Reduce(_));
    let functions = program.functions.iter();
    let reductions = functions.filter(|(role, _)| is_reduction(role));
    let expanded = |(role, body): &(Role, Function<Low>)| {
        let body = is_plain(body).then(|| expand(body))?;
        always_ends(&body).then_some((*role, body))
    };
    let all: Option<_> = reductions.map(expanded).collect();
    all.unwrap_or_default()
}

/// Whether no strand is left to the CPU by a function.
fn always_ends(function: &Function<Device>) -> bool {
    let mut ends = true;
    function.each_op(&mut |op, _, _| {
        ends &= !matches!(
            op,
            Op::Leave | Op::Low(low::Op::IntDiv(_) | low::Op::IntRem(_) | low::Op::CheckIndex(_))
        );
    });
    ends
}

/// Whether a function is of numbers alone.
fn is_plain(function: &Function<Low>) -> bool {
    let mut is_plain = true;
    function.each_op(&mut |op, _, _| {
        is_plain &= !matches!(
            op,
            low::Op::Probe(..)
                | low::Op::Frame(_)
                | low::Op::Extremes(_)
                | low::Op::Ask(..)
                | low::Op::Decide(..)
                | low::Op::Locate(..)
                | low::Op::CellNumber(_)
                | low::Op::FemProbe(_)
                | low::Op::Print(_)
                | low::Op::Dynamic(_)
        );
    });
    is_plain
}

/// The construct of a program for which its strands need the CPU.
pub fn unsupported(program: &Program<Low>) -> Option<Construct> {
    looks_and_lists(program).then_some(Construct::Sequences)
}

/// Whether strands look at others and have sequences.
fn looks_and_lists(program: &Program<Low>) -> bool {
    let state = &program.interface.state;
    let (mut looks, mut has) = (false, state.iter().any(|s| has_lists(&s.variable.ty)));
    for (role, function) in &program.functions {
        let is_method = METHODS.contains(role);
        function.each_op(&mut |op, _, _| match op {
            low::Op::Dynamic(Dynamic::Sphere { .. } | Dynamic::Other(..)) => looks |= is_method,
            low::Op::Dynamic(
                Dynamic::List(..)
                | Dynamic::Append(_)
                | Dynamic::Prepend(_)
                | Dynamic::Concatenate(_)
                | Dynamic::Item(_),
            ) => has |= is_method,
            _ => {}
        });
    }
    looks && has
}

/// The first state slot and the dimension of positions, if strands look for others.
pub fn sphere(program: &Program<Low>) -> Option<(u32, u8)> {
    let mut found = None;
    for (_, function) in &program.functions {
        function.each_op(&mut |op, _, _| {
            if let low::Op::Dynamic(Dynamic::Sphere { position, dim }) = op {
                found = Some((*position, *dim));
            }
        });
    }
    found
}

/// Whether there are reductions over strands.
pub fn reduces<D: Dialect>(program: &Program<D>) -> bool {
    let mut roles = program.functions.iter().map(|(role, _)| role);
    roles.any(|role| matches!(role, Role::Reduce(_)))
}

fn has_lists(ty: &tensor::Ty) -> bool {
    match ty {
        tensor::Ty::List(_) => true,
        tensor::Ty::Seq(element, _) => has_lists(element),
        _ => false,
    }
}

/// What an axis of an image has to be like for the code of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The image.
    pub image: u32,
    /// The axis.
    pub axis: usize,
    /// Samples at least.
    pub least: usize,
    /// Samples at most.
    pub most: usize,
}

/// What the probes of strand code demand of images.
pub fn demands(program: &Program<Low>, double: bool) -> Vec<Demand> {
    let mut demands = Vec::new();
    each_probe(program, |field, _| {
        demands.extend(demands_of(field, double))
    });
    demands
}

/// Whether strand code probes volumes for several numbers at a time, in one super-step after the other.
pub fn has_wide_probes(program: &Program<Low>) -> bool {
    if program.function(Role::Update).is_some_and(ends_at_once) {
        return false;
    }
    let mut has = false;
    each_probe(program, |field, orders| {
        let derivatives = orders.iter().any(|order| order > 0);
        has |= field.dim() == 3 && (derivatives || field.shape.size() > 1);
    });
    has
}

/// Whether all strands end in their first super-step: the status of the method is a constant.
fn ends_at_once(update: &Function<Low>) -> bool {
    let status = update.body.yields.first();
    let mut definitions = update.body.insts.iter();
    definitions.any(|inst| {
        inst.results.first() == status
            && matches!(inst.kind, Kind::Op(low::Op::Int(status), _) if status >= STABILIZE)
    })
}

fn each_probe(program: &Program<Low>, mut visit: impl FnMut(&Convolution, Orders)) {
    let strand_code = program.functions.iter();
    for (_, function) in strand_code.filter(|(role, _)| METHODS.contains(role)) {
        function.each_op(&mut |op, _, _| {
            if let low::Op::Probe(field, orders) = op {
                visit(field, *orders);
            }
        });
    }
}

fn demands_of(field: &Convolution, double: bool) -> impl Iterator<Item = Demand> {
    let digits = if double {
        f64::MANTISSA_DIGITS
    } else {
        f32::MANTISSA_DIGITS
    };
    // Positions within a period have to have fractions.
    let near = 1usize << (digits - 2);
    field.kernels.iter().enumerate().map(move |(axis, kernel)| {
        let support = kernel.0.support;
        let (least, most) = match field.border {
            Border::Clamp | Border::Constant(_) => (1, usize::MAX),
            Border::Wrap => (support, near),
            Border::Mirror => (support, near / 2),
        };
        Demand {
            image: field.image,
            axis,
            least,
            most,
        }
    })
}

/// The samples that a function reads: images and their components, each once.
pub fn planes(functions: &[Function<Device>]) -> Vec<(u32, u32)> {
    let mut planes = Vec::new();
    for function in functions {
        function.each_op(&mut |op, _, _| {
            if let Op::Load {
                image, component, ..
            } = op
                && !planes.contains(&(*image, *component))
            {
                planes.push((*image, *component));
            }
        });
    }
    planes
}
