//! What strand code in Device-IR asks of a machine that knows nothing but arithmetic and memory.

use super::dialect::{Device, Op};
use crate::{
    ir::{leaf::Convolution, tensor},
    low::{self, Dynamic, Low},
    ssa::{Function, Program, Role},
};
use ein_ir::ops::Border;
use std::fmt;

/// Why strands cannot run on such a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What strands do.
    pub what: &'static str,
    /// The word of the language that does it, by which its place is found.
    pub word: &'static str,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

/// The first thing in the methods of a program that needs the CPU.
pub fn unsupported(program: &Program<Low>) -> Option<Unsupported> {
    let because = |what, word| Some(Unsupported { what, word });
    if program.function(Role::GlobalUpdate).is_some() {
        return because("a global `update` runs between super-steps", "update");
    }
    let mut found = None;
    for (role, function) in &program.functions {
        if !matches!(role, Role::Start | Role::Update | Role::Stabilize) {
            continue;
        }
        function.each_op(&mut |op, _, _| {
            let here = match op {
                low::Op::Print(_) => because("strands print", "print"),
                low::Op::Dynamic(dynamic) => match dynamic {
                    Dynamic::New(_) => because("strands make others", "new"),
                    Dynamic::Sphere { .. } | Dynamic::StrandAt | Dynamic::Other(..) => {
                        because("strands look at others", "sphere")
                    }
                    Dynamic::Count(_) | Dynamic::Reduce(_) => {
                        because("strands ask about all strands", "strand")
                    }
                    _ => because("strands have sequences of varying length", "[]"),
                },
                low::Op::Real(_)
                | low::Op::Int(_)
                | low::Op::Bool(_)
                | low::Op::Str(_)
                | low::Op::Global(..)
                | low::Op::State(..)
                | low::Op::Image(..)
                | low::Op::Simple(_)
                | low::Op::Math(_)
                | low::Op::Select(_)
                | low::Op::IntDiv(_)
                | low::Op::IntRem(_)
                | low::Op::Probe(..)
                | low::Op::Eigen(_)
                | low::Op::CheckIndex(_) => None,
                _ => because("strands probe what is no image", "field"),
            };
            found = found.or(here);
        });
    }
    let state = &program.interface.state;
    if found.is_none() && state.iter().any(|s| has_lists(&s.variable.ty)) {
        return because("strands have sequences of varying length", "[]");
    }
    found
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
    for (role, function) in &program.functions {
        if role.is_method() {
            function.each_op(&mut |op, _, _| {
                if let low::Op::Probe(field, _) = op {
                    demands.extend(demands_of(field, double));
                }
            });
        }
    }
    demands
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
            None => (2 * support, usize::MAX),
            Some(Border::Clamp | Border::Constant(_)) => (1, usize::MAX),
            Some(Border::Wrap) => (support, near),
            Some(Border::Mirror) => (support, near / 2),
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
