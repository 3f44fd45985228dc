//! 512-bit vectors; masks are the integers of the mask registers.

use super::operators;
use crate::simd::{Doubles, MAX_WIDTH, Mask, Vector};
use std::arch::x86_64::*;

/// Sixteen singles.
#[derive(Clone, Copy)]
pub(crate) struct F32x16(__m512);
/// Eight doubles.
#[derive(Clone, Copy)]
pub(crate) struct F64x8(__m512d);

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
     $(, load_halves $load_halves:ident, load_some $load_some:ident, pick $pick:ident)?) => {
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
    load_halves halves_of_f32x16, load_some some_of_f32x16, pick pick_of_f32x16);
avx512_vector!(F64x8, f64, 8, __mmask8, set1 _mm512_set1_pd, load _mm512_loadu_pd, store _mm512_storeu_pd,
    fma _mm512_fmadd_pd, min _mm512_min_pd, max _mm512_max_pd, sqrt _mm512_sqrt_pd, floor _mm512_roundscale_pd,
    and _mm512_and_pd, andnot _mm512_andnot_pd, or _mm512_or_pd, cmp _mm512_cmp_pd_mask,
    blend _mm512_mask_blend_pd, offsets offsets_of_f64x8, rows2 rows2_of_f64x8, rows4 rows4_of_f64x8);

/// `Σ_a cells[a] · strides[a]` for eight lanes.
#[inline(always)]
unsafe fn eight_offsets(cells: [__m512i; 3], strides: &[i64; 3], dim: usize, p: *mut i64) {
    unsafe {
        let mut sum = _mm512_setzero_si512();
        for axis in 0..dim {
            sum = _mm512_add_epi64(
                sum,
                _mm512_mullo_epi64(cells[axis], _mm512_set1_epi64(strides[axis])),
            );
        }
        _mm512_storeu_si512(p.cast(), sum);
    }
}

#[inline(always)]
unsafe fn offsets_of_f32x16(
    cells: &[F32x16; 3],
    strides: &[i64; 3],
    dim: usize,
    offsets: &mut [i64; MAX_WIDTH],
) {
    unsafe {
        let (mut low, mut high) = ([_mm512_setzero_si512(); 3], [_mm512_setzero_si512(); 3]);
        for axis in 0..dim {
            let cell = _mm512_cvttps_epi32(cells[axis].0);
            low[axis] = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(cell));
            high[axis] = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64::<1>(cell));
        }
        eight_offsets(low, strides, dim, offsets.as_mut_ptr());
        eight_offsets(high, strides, dim, offsets.as_mut_ptr().add(8));
    }
}

#[inline(always)]
unsafe fn offsets_of_f64x8(
    cells: &[F64x8; 3],
    strides: &[i64; 3],
    dim: usize,
    offsets: &mut [i64; MAX_WIDTH],
) {
    unsafe {
        let mut indices = [_mm512_setzero_si512(); 3];
        for axis in 0..dim {
            indices[axis] = _mm512_cvttpd_epi64(cells[axis].0);
        }
        eight_offsets(indices, strides, dim, offsets.as_mut_ptr());
    }
}

/// Four quarters of 128 bits, first lowest.
#[inline(always)]
unsafe fn quarters(a: __m128, b: __m128, c: __m128, d: __m128) -> __m512 {
    unsafe {
        let x = _mm512_castps128_ps512(a);
        let x = _mm512_insertf32x4::<1>(x, b);
        let x = _mm512_insertf32x4::<2>(x, c);
        _mm512_insertf32x4::<3>(x, d)
    }
}

/// The pairs of singles of two lanes.
#[inline(always)]
unsafe fn two_pairs(p: *const f32, first: i64, second: i64) -> __m128 {
    unsafe {
        let low = _mm_load_sd(p.offset(first as isize).cast());
        _mm_castpd_ps(_mm_loadh_pd(low, p.offset(second as isize).cast()))
    }
}

/// The pairs of lanes `l` and `l + 1`, and of those four, eight and twelve lanes on.
#[inline(always)]
unsafe fn eight_pairs(p: *const f32, o: &[i64; MAX_WIDTH], l: usize) -> __m512 {
    unsafe {
        quarters(
            two_pairs(p, o[l], o[l + 1]),
            two_pairs(p, o[l + 4], o[l + 5]),
            two_pairs(p, o[l + 8], o[l + 9]),
            two_pairs(p, o[l + 12], o[l + 13]),
        )
    }
}

// Loads of single pairs rather than gathers, which take twice as long on processors whose microcode guards against leaks from
// them, and no less on others.
#[inline(always)]
unsafe fn rows2_of_f32x16(p: *const f32, o: &[i64; MAX_WIDTH]) -> [F32x16; 2] {
    unsafe {
        let (a, b) = (eight_pairs(p, o, 0), eight_pairs(p, o, 2));
        [
            F32x16(_mm512_shuffle_ps::<0x88>(a, b)),
            F32x16(_mm512_shuffle_ps::<0xdd>(a, b)),
        ]
    }
}

/// The row of four singles at an offset.
#[inline(always)]
unsafe fn four_singles(p: *const f32, offset: i64) -> __m128 {
    unsafe { _mm_loadu_ps(p.offset(offset as isize)) }
}

/// The rows of lanes `l`, `l + 4`, `l + 8`, `l + 12`.
#[inline(always)]
unsafe fn four_rows(p: *const f32, o: &[i64; MAX_WIDTH], l: usize) -> __m512 {
    unsafe {
        quarters(
            four_singles(p, o[l]),
            four_singles(p, o[l + 4]),
            four_singles(p, o[l + 8]),
            four_singles(p, o[l + 12]),
        )
    }
}

#[inline(always)]
unsafe fn rows4_of_f32x16(p: *const f32, o: &[i64; MAX_WIDTH]) -> [F32x16; 4] {
    unsafe {
        let (a, b) = (four_rows(p, o, 0), four_rows(p, o, 1));
        let (c, d) = (four_rows(p, o, 2), four_rows(p, o, 3));
        let (ab, cd) = (_mm512_unpacklo_ps(a, b), _mm512_unpacklo_ps(c, d));
        let (ab2, cd2) = (_mm512_unpackhi_ps(a, b), _mm512_unpackhi_ps(c, d));
        [
            F32x16(_mm512_shuffle_ps::<0x44>(ab, cd)),
            F32x16(_mm512_shuffle_ps::<0xee>(ab, cd)),
            F32x16(_mm512_shuffle_ps::<0x44>(ab2, cd2)),
            F32x16(_mm512_shuffle_ps::<0xee>(ab2, cd2)),
        ]
    }
}

#[inline(always)]
unsafe fn halves_of_f32x16(first: *const f32, second: *const f32) -> F32x16 {
    unsafe {
        let first = _mm512_castps256_ps512(_mm256_loadu_ps(first));
        F32x16(_mm512_insertf32x8::<1>(first, _mm256_loadu_ps(second)))
    }
}

#[inline(always)]
unsafe fn some_of_f32x16(p: *const f32, count: usize) -> F32x16 {
    unsafe {
        let lanes = (1u32 << count.min(16)) - 1;
        F32x16(_mm512_maskz_loadu_ps(lanes as __mmask16, p))
    }
}

#[inline(always)]
unsafe fn pick_of_f32x16(first: F32x16, second: F32x16, numbers: F32x16) -> F32x16 {
    unsafe {
        let numbers = _mm512_cvttps_epi32(numbers.0);
        F32x16(_mm512_permutex2var_ps(first.0, numbers, second.0))
    }
}

/// The two doubles at an offset.
#[inline(always)]
unsafe fn two_doubles(p: *const f64, offset: i64) -> __m128 {
    unsafe { _mm_castpd_ps(_mm_loadu_pd(p.offset(offset as isize))) }
}

/// The pairs of doubles of lanes `l`, `l + 2`, `l + 4`, `l + 6`.
#[inline(always)]
unsafe fn four_pairs(p: *const f64, o: &[i64; MAX_WIDTH], l: usize) -> __m512d {
    unsafe {
        _mm512_castps_pd(quarters(
            two_doubles(p, o[l]),
            two_doubles(p, o[l + 2]),
            two_doubles(p, o[l + 4]),
            two_doubles(p, o[l + 6]),
        ))
    }
}

#[inline(always)]
unsafe fn rows2_of_f64x8(p: *const f64, o: &[i64; MAX_WIDTH]) -> [F64x8; 2] {
    unsafe {
        let (a, b) = (four_pairs(p, o, 0), four_pairs(p, o, 1));
        [
            F64x8(_mm512_unpacklo_pd(a, b)),
            F64x8(_mm512_unpackhi_pd(a, b)),
        ]
    }
}

/// The rows of four doubles of lanes `l` and `l + 2`.
#[inline(always)]
unsafe fn two_rows(p: *const f64, o: &[i64; MAX_WIDTH], l: usize) -> __m512d {
    unsafe {
        let row = |lane: usize| _mm256_loadu_pd(p.offset(o[lane] as isize));
        _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(row(l)), row(l + 2))
    }
}

#[inline(always)]
unsafe fn rows4_of_f64x8(p: *const f64, o: &[i64; MAX_WIDTH]) -> [F64x8; 4] {
    unsafe {
        let (a, b) = (two_rows(p, o, 0), two_rows(p, o, 1));
        let (c, d) = (two_rows(p, o, 4), two_rows(p, o, 5));
        let (ab, cd) = (_mm512_unpacklo_pd(a, b), _mm512_unpacklo_pd(c, d));
        let (ab2, cd2) = (_mm512_unpackhi_pd(a, b), _mm512_unpackhi_pd(c, d));
        [
            F64x8(_mm512_shuffle_f64x2::<0x88>(ab, cd)),
            F64x8(_mm512_shuffle_f64x2::<0x88>(ab2, cd2)),
            F64x8(_mm512_shuffle_f64x2::<0xdd>(ab, cd)),
            F64x8(_mm512_shuffle_f64x2::<0xdd>(ab2, cd2)),
        ]
    }
}

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
