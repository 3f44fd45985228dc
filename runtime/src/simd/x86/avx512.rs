//! 512-bit vectors; masks are the integers of the mask registers.

use super::operators;
use super::reads512::*;
use super::small::*;
use crate::simd::small::{Bits, Small};
use crate::simd::{Doubles, MAX_WIDTH, Mask, Vector};
use std::arch::x86_64::*;

/// Sixteen singles.
#[derive(Clone, Copy)]
pub(crate) struct F32x16(pub(super) __m512);
/// Eight doubles.
#[derive(Clone, Copy)]
pub(crate) struct F64x8(pub(super) __m512d);

impl Mask for __mmask16 {
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

impl Mask for __mmask8 {
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

operators!(
    F32x16,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps,
    _mm512_div_ps,
    _mm512_xor_ps,
    _mm512_set1_ps
);
operators!(
    F64x8,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_mul_pd,
    _mm512_div_pd,
    _mm512_xor_pd,
    _mm512_set1_pd
);

macro_rules! avx512_vector {
    ($name:ident, $elem:ty, $lanes:literal, $mask:ident, set1 $set1:ident, load $load:ident, store $store:ident,
     fma $fma:ident, min $min:ident, max $max:ident, sqrt $sqrt:ident, floor $floor:ident, and $and:ident,
     andnot $andnot:ident, or $or:ident, cmp $cmp:ident, blend $blend:ident, offsets $offsets:ident,
     rows2 $rows2:ident, rows4 $rows4:ident
     $(, load_halves $load_halves:ident, load_some $load_some:ident, pick $pick:ident,
     small_taps $small_taps:ident, small_halves $small_halves:ident)?) => {
        // SAFETY: see the head of the parent module.
        unsafe impl Vector for $name {
            type Elem = $elem;
            type Mask = $mask;
            const LANES: usize = $lanes;
            const FUSED: bool = true;

            #[inline(always)]
            fn splat(x: $elem) -> Self {
                unsafe { $name($set1(x)) }
            }
            #[inline(always)]
            unsafe fn load(p: *const $elem) -> Self {
                unsafe { $name($load(p)) }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $elem) {
                unsafe { $store(p, self.0) }
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                unsafe { $name($fma(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn min(self, b: Self) -> Self {
                unsafe { $name($min(self.0, b.0)) }
            }
            #[inline(always)]
            fn max(self, b: Self) -> Self {
                unsafe { $name($max(self.0, b.0)) }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                unsafe { $name($sqrt(self.0)) }
            }
            #[inline(always)]
            fn floor(self) -> Self {
                unsafe { $name($floor::<{ _MM_FROUND_TO_NEG_INF }>(self.0)) }
            }
            #[inline(always)]
            fn abs(self) -> Self {
                unsafe { $name($andnot($set1(-0.0), self.0)) }
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                unsafe {
                    let bit = $set1(-0.0);
                    $name($or($andnot(bit, self.0), $and(bit, sign.0)))
                }
            }
            #[inline(always)]
            fn lt(self, b: Self) -> $mask {
                unsafe { $cmp::<_CMP_LT_OQ>(self.0, b.0) }
            }
            #[inline(always)]
            fn le(self, b: Self) -> $mask {
                unsafe { $cmp::<_CMP_LE_OQ>(self.0, b.0) }
            }
            #[inline(always)]
            fn same(self, b: Self) -> $mask {
                unsafe { $cmp::<_CMP_EQ_OQ>(self.0, b.0) }
            }
            #[inline(always)]
            fn select(mask: $mask, a: Self, b: Self) -> Self {
                unsafe { $name($blend(mask, b.0, a.0)) }
            }
            #[inline(always)]
            fn mask(bits: u32) -> $mask {
                bits as $mask
            }
            #[inline(always)]
            fn offsets(cells: &[Self; 3], strides: &[i64; 3], dim: usize) -> [i64; MAX_WIDTH] {
                let mut offsets = [0; MAX_WIDTH];
                unsafe { $offsets(cells, strides, dim, &mut offsets) };
                offsets
            }
            #[inline(always)]
            unsafe fn rows2(p: *const $elem, offsets: &[i64; MAX_WIDTH]) -> [Self; 2] {
                unsafe { $rows2(p, offsets) }
            }
            #[inline(always)]
            unsafe fn rows4(p: *const $elem, offsets: &[i64; MAX_WIDTH]) -> [Self; 4] {
                unsafe { $rows4(p, offsets) }
            }
            $(
                const PICKS: bool = true;
                #[inline(always)]
                unsafe fn load_halves(first: *const $elem, second: *const $elem) -> Self {
                    unsafe { $load_halves(first, second) }
                }
                #[inline(always)]
                unsafe fn small_taps<S: Bits, const TAPS: usize>(
                    p: *const S,
                    offsets: &[i64; MAX_WIDTH],
                    small: &Small,
                ) -> [Self; TAPS] {
                    unsafe { $small_taps(p, offsets, small) }
                }
                #[inline(always)]
                unsafe fn small_halves<S: Bits>(first: *const S, second: *const S, small: &Small) -> Self {
                    unsafe { $small_halves(first, second, small) }
                }
                #[inline(always)]
                unsafe fn load_some(p: *const $elem, count: usize) -> Self {
                    unsafe { $load_some(p, count) }
                }
                #[inline(always)]
                fn pick(first: Self, second: Self, numbers: Self) -> Self {
                    unsafe { $pick(first, second, numbers) }
                }
            )?
        }
    };
}

avx512_vector!(F32x16, f32, 16, __mmask16, set1 _mm512_set1_ps, load _mm512_loadu_ps, store _mm512_storeu_ps,
    fma _mm512_fmadd_ps, min _mm512_min_ps, max _mm512_max_ps, sqrt _mm512_sqrt_ps, floor _mm512_roundscale_ps,
    and _mm512_and_ps, andnot _mm512_andnot_ps, or _mm512_or_ps, cmp _mm512_cmp_ps_mask,
    blend _mm512_mask_blend_ps, offsets offsets_of_f32x16, rows2 rows2_of_f32x16, rows4 rows4_of_f32x16,
    load_halves halves_of_f32x16, load_some some_of_f32x16, pick pick_of_f32x16,
    small_taps small_taps_of_f32x16, small_halves small_halves_of_f32x16);
avx512_vector!(F64x8, f64, 8, __mmask8, set1 _mm512_set1_pd, load _mm512_loadu_pd, store _mm512_storeu_pd,
    fma _mm512_fmadd_pd, min _mm512_min_pd, max _mm512_max_pd, sqrt _mm512_sqrt_pd, floor _mm512_roundscale_pd,
    and _mm512_and_pd, andnot _mm512_andnot_pd, or _mm512_or_pd, cmp _mm512_cmp_pd_mask,
    blend _mm512_mask_blend_pd, offsets offsets_of_f64x8, rows2 rows2_of_f64x8, rows4 rows4_of_f64x8);

// SAFETY: see the head of the parent module.
unsafe impl Doubles for F64x8 {
    #[inline(always)]
    fn and(self, b: Self) -> Self {
        unsafe { F64x8(_mm512_and_pd(self.0, b.0)) }
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        unsafe { F64x8(_mm512_or_pd(self.0, b.0)) }
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        unsafe {
            let count = _mm_cvtsi32_si128(N as i32);
            F64x8(_mm512_castsi512_pd(_mm512_sll_epi64(
                _mm512_castpd_si512(self.0),
                count,
            )))
        }
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        unsafe {
            let count = _mm_cvtsi32_si128(N as i32);
            F64x8(_mm512_castsi512_pd(_mm512_srl_epi64(
                _mm512_castpd_si512(self.0),
                count,
            )))
        }
    }

    #[inline(always)]
    unsafe fn load_singles(p: *const f32) -> Self {
        unsafe { F64x8(_mm512_cvtps_pd(_mm256_loadu_ps(p))) }
    }

    #[inline(always)]
    unsafe fn store_singles(self, p: *mut f32) {
        unsafe { _mm256_storeu_ps(p, _mm512_cvtpd_ps(self.0)) }
    }
}
