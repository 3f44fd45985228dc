//! Deliberate faults, to see that testing would find them.
//!
//! Each is a bug that a compiler of this language has had, or its nearest relative here. The places that a fault concerns
//! ask [`is_on`], which is the constant `false` unless the feature `mutants` is on, so nothing of it is left in a product.
//! `datm mutants` switches them on one at a time.

use crate::Type;

macro_rules! mutants {
    ($($mutant:ident: $origin:literal, $fault:literal;)*) => {
        /// A deliberate fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Mutant { $(#[doc = $fault] $mutant,)* }

        /// Every fault with the bug it goes back to and what it does.
        pub const MUTANTS: &[(Mutant, &str, &str)] = &[$((Mutant::$mutant, $origin, $fault),)*];
    };
}

mutants! {
    ZerosMinus: "trap 1", "zeros − x and x − zeros are zeros";
    VacuousSum: "trap 2", "a sum over an index that does not occur loses its factor n";
    DeltaOnFreeIndex: "trap 3", "δ is applied to an index that is not summed over";
    EpsilonsShareFreeIndex: "trap 4", "two ε with a common free index are contracted as if it were summed over";
    EpsilonTimesAnyMatrix: "trap 5", "`ε[i,j,k]·T[j,k]` is 0 though T is not symmetric";
    SecondDerivativeOfDifference: "trap 6", "the derivative of a difference of derivatives is forgotten";
    DeltaBeyondOne: "trap 7", "δ of two constants knows only 0 and 1";
    NeighbouringDeltas: "trap 8", "two δ with different constants are 0 though they belong to different indices";
    MergedDerivatives: "trap 9", "second derivatives along different axes count as the same";
    SumIntoFunction: "trap 10", "a sum is pushed through a root or into a denominator";
    FirstAddendOnly: "trap 11", "a sum is taken to have the symmetry of its first term";
    CapturedIndex: "trap 12", "a summation index of an inserted operator coincides with one outside";
    PowerRule: "trap 13", "the derivative of a power forgets the exponent as a factor";
    ShortKernelConstants: "trap 14", "kernel coefficients have twelve digits";
    LiteralExponent: "trap 15", "an exponent that is no plain literal is impossible";
    TraceOfDimension: "B1", "trace only of matrices as large as the dimension";
    TransposeOfDimension: "B2", "transpose only of matrices as large as the dimension";
    SliceOfDimension: "B3", "slices only of tensors as large as the dimension";
    NestedLayout: "B4", "a matrix that is computed in place is addressed in reverse";
    DetOfDimension: "B5", "det only of matrices as large as the dimension";
    ModulateOfDimension: "B6", "modulate only of vectors as large as the dimension";
    CrossOfMixedKinds: "B7", "no × between tensor and field";
    OuterOfMixedKinds: "B8", "no ⊗ between tensor and field";
    EpsilonWithConstant: "B9", "ε cannot have a constant index";
    VanishedParameter: "B10", "the parameter of a vanished term is taken for the next one";
    LostSum: "B11", "a sum is lost where a scalar part is split off";
    DimensionUnchecked: "B12", "sums have three terms at most";
    UniformOperand: "B13", "a value is the same for all strands if one operand is";
    ViewIsWhole: "B14", "a view of a tensor is taken for the tensor";
    RepeatedIndex: "B15", "an index that occurs twice in one factor is taken over once";
    DerivativeAxis: "B16", "shape and derivative index are exchanged on the way to the world";
    ReversedMatrix: "B17", "samples of matrices are addressed in reverse";
    ScalarNorm: "B18", "the norm of a scalar is the scalar";
    ReversedConcatenation: "B19", "concatenation reverses its parts";
    DeltaOnConstant: "B20", "δ is applied to an equal constant as if it were an index";
}

#[cfg(feature = "mutants")]
mod switch {
    use super::Mutant;
    use std::sync::atomic::{AtomicU8, Ordering};

    const NONE: u8 = u8::MAX;
    static ON: AtomicU8 = AtomicU8::new(NONE);

    /// Switches one fault on, or all off.
    pub fn switch_on(mutant: Option<Mutant>) {
        ON.store(mutant.map_or(NONE, |mutant| mutant as u8), Ordering::SeqCst);
    }

    /// Whether a fault is switched on.
    pub fn is_on(mutant: Mutant) -> bool {
        ON.load(Ordering::Relaxed) == mutant as u8
    }
}

#[cfg(feature = "mutants")]
pub use switch::{is_on, switch_on};

/// Whether a fault is switched on: never.
#[cfg(not(feature = "mutants"))]
#[inline(always)]
pub const fn is_on(_: Mutant) -> bool {
    false
}

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
