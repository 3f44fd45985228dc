//! Deliberate faults, to see that testing would find them.
//!
//! Each is a bug that a compiler of this language has had, or its nearest relative here. At the place of a fault, the product calls
//! a function of this module, which returns its argument unless that fault is switched on. The crate `rewrite` has wrong laws of
//! normalization in the same way. Without the feature `mutants` no fault can be switched on, and the calls compile to nothing.
//! `datm mutants` switches them on one at a time.

mod sites;

pub use sites::*;

macro_rules! mutants {
    ($($mutant:ident: $fault:literal;)*) => {
        /// A deliberate fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Mutant { $(#[doc = $fault] $mutant,)* }

        /// Every fault and its description.
        pub const MUTANTS: &[(Mutant, &str)] = &[$((Mutant::$mutant, $fault),)*];
    };
}

mutants! {
    ZerosMinus: "zeros − x and x − zeros are zeros";
    VacuousSum: "a sum over an index that does not occur loses its factor n";
    DeltaOnFreeIndex: "δ is applied to an index that is not summed over";
    EpsilonsShareFreeIndex: "two ε with a common free index are contracted as if it were summed over";
    EpsilonTimesAnyMatrix: "`ε[i,j,k]·T[j,k]` is 0 though T is not symmetric";
    SecondDerivativeOfDifference: "the derivative of a difference of derivatives is forgotten";
    DeltaBeyondOne: "δ of two constants knows only 0 and 1";
    NeighbouringDeltas: "two δ with different constants are 0 though they belong to different indices";
    MergedDerivatives: "second derivatives along different axes count as the same";
    SumIntoFunction: "a sum is pushed through a root or into a denominator";
    FirstAddendOnly: "a sum is taken to have the symmetry of its first term";
    CapturedIndex: "a summation index of an inserted operator coincides with one outside";
    PowerRule: "the derivative of a power forgets the exponent as a factor";
    ShortKernelConstants: "kernel coefficients have twelve digits";
    LiteralExponent: "a negative exponent is impossible";
    TraceOfDimension: "trace only of matrices as large as the dimension";
    TransposeOfDimension: "transpose only of matrices as large as the dimension";
    SliceOfDimension: "slices only of tensors as large as the dimension";
    NestedLayout: "a matrix that is computed in place is addressed in reverse";
    DetOfDimension: "det only of matrices as large as the dimension";
    ModulateOfDimension: "modulate only of vectors as large as the dimension";
    CrossOfMixedKinds: "no × between tensor and field";
    OuterOfMixedKinds: "no ⊗ between tensor and field";
    EpsilonWithConstant: "ε cannot have a constant index";
    VanishedParameter: "the parameter of a vanished term is taken for the next one";
    LostSum: "a sum is lost where a scalar part is split off";
    DimensionUnchecked: "sums have three terms at most";
    UniformOperand: "a value is the same for all strands if one operand is";
    ViewIsWhole: "a view of a tensor is taken for the tensor";
    RepeatedIndex: "an index that occurs twice in one factor is taken over once";
    DerivativeAxis: "shape and derivative index are exchanged on the way to the world";
    ReversedMatrix: "samples of matrices are addressed in reverse";
    ScalarNorm: "the norm of a scalar is the scalar";
    ReversedConcatenation: "concatenation reverses its parts";
    DeltaOnConstant: "δ is applied to an equal constant as if it were an index";
    NextFrame: "the weights of frames belong to their neighbours";
    TimeInFrames: "a derivative by time is one by the number of the frame";
    OppositeComponent: "a component that is the opposite of another is taken for that other";
}

/// Whether faults can be switched on at all.
pub const ENABLED: bool = cfg!(feature = "mutants");

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
