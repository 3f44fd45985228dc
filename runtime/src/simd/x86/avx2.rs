//! 128- and 256-bit vectors with fused multiply-add; masks are vectors whose lanes are all ones or all zeros.

use super::operators;
use super::small::*;
use crate::simd::small::{Bits, Small};
use crate::simd::{Doubles, MAX_WIDTH, Mask, Vector};
use std::arch::x86_64::*;
use std::ops::{BitAnd, BitOr, Not};

/// Four singles.
#[derive(Clone, Copy)]
pub(crate) struct F32x4(pub(super) __m128);
/// Eight singles.
#[derive(Clone, Copy)]
pub(crate) struct F32x8(pub(super) __m256);
/// Four doubles.
#[derive(Clone, Copy)]
pub(crate) struct F64x4(__m256d);

/// A mask of [`F32x4`].
#[derive(Clone, Copy)]
pub(crate) struct M32x4(__m128);
/// A mask of [`F32x8`].
#[derive(Clone, Copy)]
pub(crate) struct M32x8(__m256);
/// A mask of [`F64x4`].
#[derive(Clone, Copy)]
pub(crate) struct M64x4(__m256d);

macro_rules! avx2_mask {
    ($name:ident, $and:ident, $or:ident, $xor:ident, $movemask:ident, $ones:expr) => {
        impl BitAnd for $name {
            type Output = Self;
            #[inline(always)]
            fn bitand(self, b: Self) -> Self {
                unsafe { $name($and(self.0, b.0)) }
            }
        }

        impl BitOr for $name {
            type Output = Self;
            #[inline(always)]
            fn bitor(self, b: Self) -> Self {
                unsafe { $name($or(self.0, b.0)) }
            }
        }

        impl Not for $name {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                unsafe { $name($xor(self.0, $ones)) }
            }
        }

        impl Mask for $name {
            #[inline(always)]
            fn bits(self) -> u32 {
                unsafe { $movemask(self.0) as u32 }
            }
        }
    };
}

avx2_mask!(
    M32x4,
    _mm_and_ps,
    _mm_or_ps,
    _mm_xor_ps,
    _mm_movemask_ps,
    _mm_castsi128_ps(_mm_set1_epi32(-1))
);
avx2_mask!(
    M32x8,
    _mm256_and_ps,
    _mm256_or_ps,
    _mm256_xor_ps,
    _mm256_movemask_ps,
    _mm256_castsi256_ps(_mm256_set1_epi32(-1))
);
avx2_mask!(
    M64x4,
    _mm256_and_pd,
    _mm256_or_pd,
    _mm256_xor_pd,
    _mm256_movemask_pd,
    _mm256_castsi256_pd(_mm256_set1_epi32(-1))
);

operators!(
    F32x4,
    _mm_add_ps,
    _mm_sub_ps,
    _mm_mul_ps,
    _mm_div_ps,
    _mm_xor_ps,
    _mm_set1_ps
);
operators!(
    F32x8,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_mul_ps,
    _mm256_div_ps,
    _mm256_xor_ps,
    _mm256_set1_ps
);
operators!(
    F64x4,
    _mm256_add_pd,
    _mm256_sub_pd,
    _mm256_mul_pd,
    _mm256_div_pd,
    _mm256_xor_pd,
    _mm256_set1_pd
);

macro_rules! avx2_vector {
    ($name:ident, $elem:ty, $lanes:literal, $mask:ident, set1 $set1:ident, load $load:ident, store $store:ident,
     fma $fma:ident, min $min:ident, max $max:ident, sqrt $sqrt:ident, floor $floor:ident, and $and:ident,
     andnot $andnot:ident, or $or:ident, cmp $cmp:ident, blend $blend:ident, offsets $offsets:ident,
     mask $from_bits:ident, rows2 $rows2:ident, rows4 $rows4:ident
     $(, small_taps $small_taps:ident)?) => {
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
                unsafe { $name($floor(self.0)) }
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
                unsafe { $mask($cmp::<_CMP_LT_OQ>(self.0, b.0)) }
            }
            #[inline(always)]
            fn le(self, b: Self) -> $mask {
                unsafe { $mask($cmp::<_CMP_LE_OQ>(self.0, b.0)) }
            }
            #[inline(always)]
            fn same(self, b: Self) -> $mask {
                unsafe { $mask($cmp::<_CMP_EQ_OQ>(self.0, b.0)) }
            }
            #[inline(always)]
            fn select(mask: $mask, a: Self, b: Self) -> Self {
                unsafe { $name($blend(b.0, a.0, mask.0)) }
            }
            #[inline(always)]
            fn mask(bits: u32) -> $mask {
                unsafe { $mask($from_bits(bits)) }
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
                #[inline(always)]
                unsafe fn small_taps<S: Bits, const TAPS: usize>(
                    p: *const S,
                    offsets: &[i64; MAX_WIDTH],
                    small: &Small,
                ) -> [Self; TAPS] {
                    unsafe { $small_taps(p, offsets, small) }
                }
            )?
        }
    };
}

avx2_vector!(F32x4, f32, 4, M32x4, set1 _mm_set1_ps, load _mm_loadu_ps, store _mm_storeu_ps, fma _mm_fmadd_ps,
    min _mm_min_ps, max _mm_max_ps, sqrt _mm_sqrt_ps, floor _mm_floor_ps, and _mm_and_ps, andnot _mm_andnot_ps,
    or _mm_or_ps, cmp _mm_cmp_ps, blend _mm_blendv_ps, offsets offsets_of_f32x4, mask mask_of_32x4,
    rows2 rows2_of_f32x4, rows4 rows4_of_f32x4, small_taps small_taps_of_f32x4);
avx2_vector!(F32x8, f32, 8, M32x8, set1 _mm256_set1_ps, load _mm256_loadu_ps, store _mm256_storeu_ps,
    fma _mm256_fmadd_ps, min _mm256_min_ps, max _mm256_max_ps, sqrt _mm256_sqrt_ps, floor _mm256_floor_ps,
    and _mm256_and_ps, andnot _mm256_andnot_ps, or _mm256_or_ps, cmp _mm256_cmp_ps, blend _mm256_blendv_ps,
    offsets offsets_of_f32x8, mask mask_of_32x8, rows2 rows2_of_f32x8, rows4 rows4_of_f32x8,
    small_taps small_taps_of_f32x8);
avx2_vector!(F64x4, f64, 4, M64x4, set1 _mm256_set1_pd, load _mm256_loadu_pd, store _mm256_storeu_pd,
    fma _mm256_fmadd_pd, min _mm256_min_pd, max _mm256_max_pd, sqrt _mm256_sqrt_pd, floor _mm256_floor_pd,
    and _mm256_and_pd, andnot _mm256_andnot_pd, or _mm256_or_pd, cmp _mm256_cmp_pd, blend _mm256_blendv_pd,
    offsets offsets_of_f64x4, mask mask_of_64x4, rows2 rows2_of_f64x4, rows4 rows4_of_f64x4);

/// `a · b` for lanes of 64 bits, where `a` is not negative and below 2^32.
#[inline(always)]
unsafe fn multiply(a: __m256i, b: i64) -> __m256i {
    unsafe {
        let low = _mm256_mul_epu32(a, _mm256_set1_epi64x(b));
        let high = _mm256_mul_epu32(a, _mm256_set1_epi64x(b >> 32));
        _mm256_add_epi64(low, _mm256_slli_epi64::<32>(high))
    }
}

/// `Σ_a cells[a] · strides[a]` for four lanes.
#[inline(always)]
unsafe fn four_offsets(cells: [__m128i; 3], strides: &[i64; 3], dim: usize, p: *mut i64) {
    unsafe {
        let mut sum = _mm256_setzero_si256();
        for axis in 0..dim {
            sum = _mm256_add_epi64(
                sum,
                multiply(_mm256_cvtepi32_epi64(cells[axis]), strides[axis]),
            );
        }
        _mm256_storeu_si256(p.cast(), sum);
    }
}

#[inline(always)]
unsafe fn offsets_of_f32x4(
    cells: &[F32x4; 3],
    strides: &[i64; 3],
    dim: usize,
    offsets: &mut [i64; MAX_WIDTH],
) {
    unsafe {
        let cells = [
            _mm_cvttps_epi32(cells[0].0),
            _mm_cvttps_epi32(cells[1].0),
            _mm_cvttps_epi32(cells[2].0),
        ];
        four_offsets(cells, strides, dim, offsets.as_mut_ptr());
    }
}

#[inline(always)]
unsafe fn offsets_of_f32x8(
    cells: &[F32x8; 3],
    strides: &[i64; 3],
    dim: usize,
    offsets: &mut [i64; MAX_WIDTH],
) {
    unsafe {
        let x = _mm256_cvttps_epi32(cells[0].0);
        let y = _mm256_cvttps_epi32(cells[1].0);
        let z = _mm256_cvttps_epi32(cells[2].0);
        let low = [
            _mm256_castsi256_si128(x),
            _mm256_castsi256_si128(y),
            _mm256_castsi256_si128(z),
        ];
        let high = [
            _mm256_extracti128_si256::<1>(x),
            _mm256_extracti128_si256::<1>(y),
            _mm256_extracti128_si256::<1>(z),
        ];
        four_offsets(low, strides, dim, offsets.as_mut_ptr());
        four_offsets(high, strides, dim, offsets.as_mut_ptr().add(4));
    }
}

#[inline(always)]
unsafe fn offsets_of_f64x4(
    cells: &[F64x4; 3],
    strides: &[i64; 3],
    dim: usize,
    offsets: &mut [i64; MAX_WIDTH],
) {
    unsafe {
        let cells = [
            _mm256_cvttpd_epi32(cells[0].0),
            _mm256_cvttpd_epi32(cells[1].0),
            _mm256_cvttpd_epi32(cells[2].0),
        ];
        four_offsets(cells, strides, dim, offsets.as_mut_ptr());
    }
}

#[inline(always)]
unsafe fn mask_of_32x4(bits: u32) -> __m128 {
    unsafe {
        let lane = _mm_setr_epi32(1, 2, 4, 8);
        _mm_castsi128_ps(_mm_cmpeq_epi32(
            _mm_and_si128(_mm_set1_epi32(bits as i32), lane),
            lane,
        ))
    }
}

#[inline(always)]
unsafe fn mask_of_32x8(bits: u32) -> __m256 {
    unsafe {
        let lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        _mm256_castsi256_ps(_mm256_cmpeq_epi32(
            _mm256_and_si256(_mm256_set1_epi32(bits as i32), lane),
            lane,
        ))
    }
}

#[inline(always)]
unsafe fn mask_of_64x4(bits: u32) -> __m256d {
    unsafe {
        let lane = _mm256_setr_epi64x(1, 2, 4, 8);
        _mm256_castsi256_pd(_mm256_cmpeq_epi64(
            _mm256_and_si256(_mm256_set1_epi64x(i64::from(bits)), lane),
            lane,
        ))
    }
}

/// The pairs of singles at two offsets side by side, or as many bytes of other samples.
#[inline(always)]
unsafe fn two_pairs<S>(p: *const S, a: i64, b: i64) -> __m128 {
    unsafe {
        let a = _mm_loadl_epi64(p.offset(a as isize).cast());
        let b = _mm_loadl_epi64(p.offset(b as isize).cast());
        _mm_castsi128_ps(_mm_unpacklo_epi64(a, b))
    }
}

#[inline(always)]
pub(super) unsafe fn rows2_of_f32x4<S>(p: *const S, o: &[i64; MAX_WIDTH]) -> [F32x4; 2] {
    unsafe {
        let (a, b) = (two_pairs(p, o[0], o[1]), two_pairs(p, o[2], o[3]));
        [
            F32x4(_mm_shuffle_ps::<0x88>(a, b)),
            F32x4(_mm_shuffle_ps::<0xdd>(a, b)),
        ]
    }
}

#[inline(always)]
pub(super) unsafe fn rows2_of_f32x8<S>(p: *const S, o: &[i64; MAX_WIDTH]) -> [F32x8; 2] {
    unsafe {
        let a = _mm256_set_m128(two_pairs(p, o[4], o[5]), two_pairs(p, o[0], o[1]));
        let b = _mm256_set_m128(two_pairs(p, o[6], o[7]), two_pairs(p, o[2], o[3]));
        [
            F32x8(_mm256_shuffle_ps::<0x88>(a, b)),
            F32x8(_mm256_shuffle_ps::<0xdd>(a, b)),
        ]
    }
}

/// The pairs of doubles at two offsets, in the two halves.
#[inline(always)]
unsafe fn two_double_pairs(p: *const f64, low: i64, high: i64) -> __m256d {
    unsafe {
        _mm256_set_m128d(
            _mm_loadu_pd(p.offset(high as isize)),
            _mm_loadu_pd(p.offset(low as isize)),
        )
    }
}

#[inline(always)]
unsafe fn rows2_of_f64x4(p: *const f64, o: &[i64; MAX_WIDTH]) -> [F64x4; 2] {
    unsafe {
        let (a, b) = (
            two_double_pairs(p, o[0], o[2]),
            two_double_pairs(p, o[1], o[3]),
        );
        [
            F64x4(_mm256_unpacklo_pd(a, b)),
            F64x4(_mm256_unpackhi_pd(a, b)),
        ]
    }
}

#[inline(always)]
unsafe fn rows4_of_f64x4(p: *const f64, o: &[i64; MAX_WIDTH]) -> [F64x4; 4] {
    unsafe {
        let [a, b] = rows2_of_f64x4(p, o);
        let [c, d] = rows2_of_f64x4(p.add(2), o);
        [a, b, c, d]
    }
}

/// The row of four singles at an offset.
#[inline(always)]
unsafe fn four_singles(p: *const f32, offset: i64) -> __m128 {
    unsafe { _mm_loadu_ps(p.offset(offset as isize)) }
}

#[inline(always)]
unsafe fn rows4_of_f32x4(p: *const f32, o: &[i64; MAX_WIDTH]) -> [F32x4; 4] {
    unsafe {
        let (a, b) = (four_singles(p, o[0]), four_singles(p, o[1]));
        let (c, d) = (four_singles(p, o[2]), four_singles(p, o[3]));
        let (ab, cd) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
        let (ab2, cd2) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
        [
            F32x4(_mm_shuffle_ps::<0x44>(ab, cd)),
            F32x4(_mm_shuffle_ps::<0xee>(ab, cd)),
            F32x4(_mm_shuffle_ps::<0x44>(ab2, cd2)),
            F32x4(_mm_shuffle_ps::<0xee>(ab2, cd2)),
        ]
    }
}

/// The rows of lanes `l` and `l + 4` in the two halves.
#[inline(always)]
unsafe fn two_rows(p: *const f32, o: &[i64; MAX_WIDTH], l: usize) -> __m256 {
    unsafe { _mm256_set_m128(four_singles(p, o[l + 4]), four_singles(p, o[l])) }
}

#[inline(always)]
unsafe fn rows4_of_f32x8(p: *const f32, o: &[i64; MAX_WIDTH]) -> [F32x8; 4] {
    unsafe {
        let (a, b) = (two_rows(p, o, 0), two_rows(p, o, 1));
        let (c, d) = (two_rows(p, o, 2), two_rows(p, o, 3));
        let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
        let (ab2, cd2) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
        [
            F32x8(_mm256_shuffle_ps::<0x44>(ab, cd)),
            F32x8(_mm256_shuffle_ps::<0xee>(ab, cd)),
            F32x8(_mm256_shuffle_ps::<0x44>(ab2, cd2)),
            F32x8(_mm256_shuffle_ps::<0xee>(ab2, cd2)),
        ]
    }
}

// SAFETY: see the head of the parent module.
unsafe impl Doubles for F64x4 {
    #[inline(always)]
    fn and(self, b: Self) -> Self {
        unsafe { F64x4(_mm256_and_pd(self.0, b.0)) }
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        unsafe { F64x4(_mm256_or_pd(self.0, b.0)) }
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        unsafe {
            let count = _mm_cvtsi32_si128(N as i32);
            F64x4(_mm256_castsi256_pd(_mm256_sll_epi64(
                _mm256_castpd_si256(self.0),
                count,
            )))
        }
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        unsafe {
            let count = _mm_cvtsi32_si128(N as i32);
            F64x4(_mm256_castsi256_pd(_mm256_srl_epi64(
                _mm256_castpd_si256(self.0),
                count,
            )))
        }
    }

    #[inline(always)]
    unsafe fn load_singles(p: *const f32) -> Self {
        unsafe { F64x4(_mm256_cvtps_pd(_mm_loadu_ps(p))) }
    }

    #[inline(always)]
    unsafe fn store_singles(self, p: *mut f32) {
        unsafe { _mm_storeu_ps(p, _mm256_cvtpd_ps(self.0)) }
    }
}
