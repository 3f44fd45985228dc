//! Vectors of lanes: one arithmetic interface over plain arrays, AVX2 and AVX-512.
//!
//! The primitives of [`crate::probe`], [`crate::math`] and [`crate::eigen`] are written once, generic over
//! one trait of vectors, and instantiated per instruction set inside functions that carry the matching
//! `#[target_feature]`. Every method is `#[inline(always)]`, so that the intrinsics end up in those functions.
//!
//! Other processors, AArch64 with NEON among them, use the plain arrays: four lanes side by side, loops with
//! constant bounds and no branches, which an optimizing compiler turns into 128-bit vectors, fused multiply-add
//! included where the target always has it. No module of NEON intrinsics stands beside `x86`, and the arrays
//! have been compiled and measured on x86-64 only.
//!
//! Lane `l` of a result depends on lane `l` of the arguments only, and all implementations with the same
//! fused multiply-add round alike: a program gives the same bits at every width.

mod portable;
pub(crate) mod small;
pub mod trace;
mod versions;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use portable::Lanes;
pub(crate) use versions::{BASELINE_FUSES, entry_points, version};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{F32x4, F32x8, F32x16, F64x4, F64x8};

use small::{Bits, Small};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// The largest number of strands one call of a primitive works on.
pub const MAX_WIDTH: usize = 16;

/// The widths for which primitives exist.
pub const WIDTHS: [usize; 4] = [1, 4, 8, 16];

/// The representation of the language's `real`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Real {
    /// IEEE single precision, the default.
    F32,
    /// IEEE double precision.
    F64,
}

/// An instruction set for which primitives are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Isa {
    /// What every processor of the target has; plain arrays that the compiler vectorizes.
    Baseline,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// 512-bit vectors.
    Avx512,
}

impl Isa {
    /// Every instruction set, least first.
    pub const ALL: [Isa; 3] = [Isa::Baseline, Isa::Avx2, Isa::Avx512];

    /// The name that users know it by.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Baseline => "none",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// The instruction set of a name.
    pub fn named(name: &str) -> Option<Isa> {
        Isa::ALL.into_iter().find(|isa| isa.name() == name)
    }

    /// The best instruction set of this processor.
    pub fn detect() -> Isa {
        Isa::ALL
            .into_iter()
            .rev()
            .find(|isa| isa.is_available())
            .unwrap_or(Isa::Baseline)
    }

    /// Whether this processor can run primitives of this instruction set.
    #[cfg(target_arch = "x86_64")]
    pub fn is_available(self) -> bool {
        let avx2 = || is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        match self {
            Isa::Baseline => true,
            Isa::Avx2 => avx2(),
            Isa::Avx512 => {
                avx2()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
        }
    }

    /// Whether this processor can run primitives of this instruction set.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn is_available(self) -> bool {
        self == Isa::Baseline
    }
}

/// `f32` or `f64`: the type of a sample, coordinate or result.
pub trait Float:
    sealed::Sealed + Copy + PartialOrd + Send + Sync + std::fmt::Debug + 'static
{
    /// The name of this type as a value.
    const REAL: Real;
    /// Distance from one to the next larger number.
    const EPSILON: Self;

    /// The nearest number of this type.
    fn from_f64(x: f64) -> Self;

    /// The same number in double precision.
    fn to_f64(self) -> f64;

    /// The nearest number; exact below the length of the longest axis of an image.
    fn from_index(index: i64) -> Self;

    /// The integer that `self` is.
    ///
    /// # Safety
    ///
    /// It is one, and fits.
    unsafe fn to_index(self) -> i64;

    /// The greatest integer not above `self`.
    fn floor(self) -> Self;

    /// `self − b`, rounded once.
    fn minus(self, b: Self) -> Self;

    /// The remainder of `self / b` with the sign of `self`; exact.
    fn remainder(self, b: Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! float {
    ($ty:ident, $real:ident) => {
        impl Float for $ty {
            const REAL: Real = Real::$real;
            const EPSILON: $ty = $ty::EPSILON;

            #[inline(always)]
            fn from_f64(x: f64) -> $ty {
                x as $ty
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn from_index(index: i64) -> $ty {
                index as $ty
            }

            #[inline(always)]
            unsafe fn to_index(self) -> i64 {
                // SAFETY: promised by the caller.
                unsafe { self.to_int_unchecked() }
            }

            #[inline(always)]
            fn floor(self) -> $ty {
                $ty::floor(self)
            }

            #[inline(always)]
            fn minus(self, b: $ty) -> $ty {
                self - b
            }

            #[inline(always)]
            fn remainder(self, b: $ty) -> $ty {
                self % b
            }
        }
    };
}

float!(f32, F32);
float!(f64, F64);

/// A truth value per lane.
pub(crate) trait Mask:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// Bit `l` is lane `l`.
    fn bits(self) -> u32;
}

/// [`Vector::LANES`] numbers that are computed on together.
///
/// # Safety
///
/// `load`, `store` and the other pointer methods of an implementation must touch exactly the elements their
/// contracts name. An implementation over intrinsics may be used only below a function that enables their
/// features, which only the entry points found by `lookup_for` do, after [`Isa::is_available`].
pub(crate) unsafe trait Vector:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The type of one lane.
    type Elem: Float;
    /// The result of a comparison.
    type Mask: Mask;
    /// Number of lanes, at most [`MAX_WIDTH`].
    const LANES: usize;
    /// Whether [`Vector::mul_add`] rounds once.
    const FUSED: bool;

    /// `x` in every lane.
    fn splat(x: Self::Elem) -> Self;
    /// Reads `LANES` elements from `p`, which need not be aligned.
    unsafe fn load(p: *const Self::Elem) -> Self;
    /// Writes `LANES` elements to `p`, which need not be aligned.
    unsafe fn store(self, p: *mut Self::Elem);
    /// The element of a lane.
    #[inline(always)]
    fn lane(self, lane: usize) -> Self::Elem {
        let mut lanes = [Self::Elem::from_f64(0.0); MAX_WIDTH];
        // SAFETY: there is room for `MAX_WIDTH` lanes.
        unsafe { self.store(lanes.as_mut_ptr()) };
        lanes[lane]
    }

    /// `self · b + c`, rounded once if [`Vector::FUSED`], else twice.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `self` where `self < b`, else `b`: a NaN in `self` gives `b`, a NaN in `b` gives NaN.
    fn min(self, b: Self) -> Self;
    /// `self` where `self > b`, else `b`: a NaN in `self` gives `b`, a NaN in `b` gives NaN.
    fn max(self, b: Self) -> Self;
    /// Correctly rounded square root.
    fn sqrt(self) -> Self;
    /// Greatest integer not above.
    fn floor(self) -> Self;
    /// `self` without its sign.
    fn abs(self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;

    /// `self < b`; false for NaN.
    fn lt(self, b: Self) -> Self::Mask;
    /// `self ≤ b`; false for NaN.
    fn le(self, b: Self) -> Self::Mask;
    /// `self = b`; false for NaN.
    fn same(self, b: Self) -> Self::Mask;
    /// `a` where `mask`, else `b`.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// The mask whose lane `l` is bit `l`.
    fn mask(bits: u32) -> Self::Mask;

    /// `Σ_a cells[a] · strides[a]` over the first `dim` axes for each lane; every cell is an integer from 0 to
    /// 2^31 − 1. Entries beyond `LANES` are zero.
    fn offsets(cells: &[Self; 3], strides: &[i64; 3], dim: usize) -> [i64; MAX_WIDTH];
    /// Lane `l` of vector `i` is the element at `p + offsets[l] + i`; reads exactly these elements.
    unsafe fn rows2(p: *const Self::Elem, offsets: &[i64; MAX_WIDTH]) -> [Self; 2];
    /// As [`Vector::rows2`], four consecutive elements per lane.
    unsafe fn rows4(p: *const Self::Elem, offsets: &[i64; MAX_WIDTH]) -> [Self; 4];

    /// As [`Vector::rows2`], of up to eight small samples. Eight can be read from the first of each lane on.
    #[inline(always)]
    unsafe fn small_taps<S: Bits, const TAPS: usize>(
        p: *const S,
        offsets: &[i64; MAX_WIDTH],
        small: &Small,
    ) -> [Self; TAPS] {
        // SAFETY: promised by the caller.
        unsafe { small::taps(p, offsets, small) }
    }

    /// Whether lanes can pick from registers: [`Vector::pick`] and the loads for it are called only then.
    const PICKS: bool = false;
    /// Half the lanes from the elements at one place, half from those at another.
    unsafe fn load_halves(_first: *const Self::Elem, _second: *const Self::Elem) -> Self {
        unreachable!("{NO_PICKS}")
    }
    /// As [`Vector::load_halves`], of small samples.
    unsafe fn small_halves<S: Bits>(_first: *const S, _second: *const S, _small: &Small) -> Self {
        unreachable!("{NO_PICKS}")
    }
    /// Reads `count` elements from `p`, at most `LANES`; the other lanes are zero.
    unsafe fn load_some(_p: *const Self::Elem, _count: usize) -> Self {
        unreachable!("{NO_PICKS}")
    }
    /// In every lane the element of this number of two vectors, counted from the first of the first to the last of the second;
    /// any element where it is not such a number.
    fn pick(_first: Self, _second: Self, _numbers: Self) -> Self {
        unreachable!("{NO_PICKS}")
    }

    /// The bits of all lanes set.
    const ALL_LANES: u32 = (1 << Self::LANES) - 1;
}

/// Why there is nothing to pick.
const NO_PICKS: &str = "lanes cannot pick from registers here";

/// What elementary functions need beyond arithmetic: the bits of a double.
///
/// # Safety
///
/// As [`Vector`].
pub(crate) unsafe trait Doubles: Vector<Elem = f64> {
    /// Bitwise and.
    fn and(self, b: Self) -> Self;
    /// Bitwise or.
    fn or(self, b: Self) -> Self;
    /// Bits shifted towards the sign, zeros entering.
    fn shift_left<const N: u32>(self) -> Self;
    /// Bits shifted away from the sign, zeros entering.
    fn shift_right<const N: u32>(self) -> Self;
    /// Reads `LANES` singles from `p`.
    unsafe fn load_singles(p: *const f32) -> Self;
    /// Writes the lanes rounded to single precision to `p`.
    unsafe fn store_singles(self, p: *mut f32);
}

/// `x`, about which the optimizer knows nothing.
///
/// Without it the addresses of all rows of all lanes become as many loop variables, for which no processor has
/// the registers. It keeps its place among others, so that rows are computed one after the other.
#[inline(always)]
pub(crate) fn opaque(x: isize) -> isize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut x = x;
        // SAFETY: no instruction is emitted.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) x, options(nomem, nostack, preserves_flags));
        }
        x
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    x
}
