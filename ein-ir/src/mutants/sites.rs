//! The places of faults, outside of the crate `rewrite`.

use super::{Mutant, is_on};
use crate::{Elementary, Index, Term, Type};

/// Whether a fault makes a row of the operator table refuse arguments that it should accept.
pub fn refuses(row: &str, args: &[Type]) -> bool {
    let as_large_as_the_dimension = |found: &Type| match found {
        Type::Field { dim, shape, .. } => shape.dims().iter().all(|n| n == dim),
        _ => true,
    };
    let fields = args
        .iter()
        .filter(|arg| matches!(arg, Type::Field { .. }))
        .count();
    let is_mixed = fields == 1 && args.len() == 2;
    match row {
        "trace" if is_on(Mutant::TraceOfDimension) => !args.iter().all(as_large_as_the_dimension),
        "transpose" if is_on(Mutant::TransposeOfDimension) => {
            !args.iter().all(as_large_as_the_dimension)
        }
        "slice" if is_on(Mutant::SliceOfDimension) => !args.iter().all(as_large_as_the_dimension),
        "det2" | "det3" if is_on(Mutant::DetOfDimension) => {
            !args.iter().all(as_large_as_the_dimension)
        }
        "modulate" if is_on(Mutant::ModulateOfDimension) => {
            !args.iter().all(as_large_as_the_dimension)
        }
        "cross2" | "cross3" if is_on(Mutant::CrossOfMixedKinds) => is_mixed,
        "outer" if is_on(Mutant::OuterOfMixedKinds) => is_mixed,
        _ => false,
    }
}

/// The place of a part in a concatenation of `count` parts.
pub fn place_of_part(part: usize, count: usize) -> usize {
    if is_on(Mutant::ReversedConcatenation) {
        count - 1 - part
    } else {
        part
    }
}

/// An exponent.
pub fn exponent(n: i32) -> i32 {
    assert!(n >= 0 || !is_on(Mutant::LiteralExponent), "impossible");
    n
}

/// A coefficient of a kernel, as a ratio.
pub fn coefficient(numerator: i64, denominator: i64) -> (i64, i64) {
    const DIGITS: i64 = 1_000_000_000_000;
    if is_on(Mutant::ShortKernelConstants) {
        (numerator * DIGITS / denominator, DIGITS)
    } else {
        (numerator, denominator)
    }
}

/// Whether a component of an antisymmetric tensor is the opposite of the one that stands for it.
pub fn is_opposite(negative: bool) -> bool {
    negative && !is_on(Mutant::OppositeComponent)
}

/// Derivatives in index space and the matrix that carries one of their axes to the world.
pub fn carried_to_the_world(factors: [Term; 2], is_matrix: bool) -> Vec<Term> {
    let mut factors = Vec::from(factors);
    if is_on(Mutant::DerivativeAxis) && is_matrix {
        for term in &mut factors {
            if let Term::Access { indices, .. } = term {
                for index in indices {
                    if let Index::Axis(axis) = index {
                        *axis = 1 - *axis;
                    }
                }
            }
        }
    }
    factors
}

/// The components of samples of some order.
pub fn order_components<T>(order: usize, components: &mut [T]) {
    if is_on(Mutant::ReversedMatrix) && order == 2 {
        components.reverse();
    }
}

/// The axes along which a derivative is taken.
pub fn merge_axes(axes: &mut [usize]) {
    if is_on(Mutant::MergedDerivatives) {
        let first = axes.first().copied().unwrap_or(0);
        axes.fill(first);
    }
}

/// Whether a function is left out.
pub fn leaves_out(function: Elementary) -> bool {
    is_on(Mutant::ScalarNorm) && function == Elementary::Abs
}

/// The number of terms of a sum.
pub fn terms(range: usize) -> usize {
    if is_on(Mutant::DimensionUnchecked) {
        range.min(3)
    } else {
        range
    }
}

/// Whether a value varies between strands, if its operands do or do not.
pub fn varies(operands: impl Iterator<Item = bool>) -> bool {
    let either = |a, b| {
        if is_on(Mutant::UniformOperand) {
            a && b
        } else {
            a || b
        }
    };
    operands.reduce(either).unwrap_or(false)
}

/// The tap of a kernel of time, from `1 − support` to `support`, for a frame.
pub fn frame(tap: i32, support: i32) -> i32 {
    match is_on(Mutant::NextFrame) {
        true if tap == support => 1 - support,
        true => tap + 1,
        false => tap,
    }
}

/// How often a derivative by the number of the frame is multiplied by the frames per second.
pub fn derivatives_by_time(order: u8) -> u8 {
    if is_on(Mutant::TimeInFrames) {
        0
    } else {
        order
    }
}
