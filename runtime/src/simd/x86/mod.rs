//! Vectors over the intrinsics of x86-64: AVX2 with FMA ([`F32x4`], [`F32x8`], [`F64x4`]) and AVX-512
//! ([`F32x16`], [`F64x8`]).
//!
//! Safety of every `unsafe` block that calls an intrinsic: the contract of [`super::Vector`], that these types
//! are used only below a function which enables the features. Pointers are passed on from a caller who vouches
//! for them.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason holds for all of them and is given above"
)]

mod avx2;
mod avx512;
mod reads512;
mod small;

pub(crate) use avx2::{F32x4, F32x8, F64x4};
pub(crate) use avx512::{F32x16, F64x8};

/// Implements the four operations and negation by intrinsics.
macro_rules! operators {
    ($name:ident, $add:ident, $sub:ident, $mul:ident, $div:ident, $xor:ident, $set1:ident) => {
        operators!(one $name, Add, add, $add);
        operators!(one $name, Sub, sub, $sub);
        operators!(one $name, Mul, mul, $mul);
        operators!(one $name, Div, div, $div);

        impl std::ops::Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                unsafe { $name($xor(self.0, $set1(-0.0))) }
            }
        }
    };
    (one $name:ident, $trait:ident, $method:ident, $intrinsic:ident) => {
        impl std::ops::$trait for $name {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: Self) -> Self {
                unsafe { $name($intrinsic(self.0, b.0)) }
            }
        }
    };
}
use operators;
