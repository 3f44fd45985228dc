//! Reads 512-bit vectors from addresses that differ from lane to lane.

use super::avx512::{F32x16, F64x8};
use crate::simd::MAX_WIDTH;
use std::arch::x86_64::*;

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
pub(super) unsafe fn offsets_of_f32x16(
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
pub(super) unsafe fn offsets_of_f64x8(
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

/// The pairs of singles of two lanes, or as many bytes of other samples.
#[inline(always)]
unsafe fn two_pairs<S>(p: *const S, first: i64, second: i64) -> __m128 {
    unsafe {
        let low = _mm_load_sd(p.offset(first as isize).cast());
        _mm_castpd_ps(_mm_loadh_pd(low, p.offset(second as isize).cast()))
    }
}

/// The pairs of lanes `l` and `l + 1`, and of those four, eight and twelve lanes on.
#[inline(always)]
unsafe fn eight_pairs<S>(p: *const S, o: &[i64; MAX_WIDTH], l: usize) -> __m512 {
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
pub(super) unsafe fn rows2_of_f32x16<S>(p: *const S, o: &[i64; MAX_WIDTH]) -> [F32x16; 2] {
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
pub(super) unsafe fn rows4_of_f32x16(p: *const f32, o: &[i64; MAX_WIDTH]) -> [F32x16; 4] {
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
pub(super) unsafe fn halves_of_f32x16(first: *const f32, second: *const f32) -> F32x16 {
    unsafe {
        let first = _mm512_castps256_ps512(_mm256_loadu_ps(first));
        F32x16(_mm512_insertf32x8::<1>(first, _mm256_loadu_ps(second)))
    }
}

#[inline(always)]
pub(super) unsafe fn some_of_f32x16(p: *const f32, count: usize) -> F32x16 {
    unsafe {
        let lanes = (1u32 << count.min(16)) - 1;
        F32x16(_mm512_maskz_loadu_ps(lanes as __mmask16, p))
    }
}

#[inline(always)]
pub(super) unsafe fn pick_of_f32x16(first: F32x16, second: F32x16, numbers: F32x16) -> F32x16 {
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
pub(super) unsafe fn rows2_of_f64x8(p: *const f64, o: &[i64; MAX_WIDTH]) -> [F64x8; 2] {
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
pub(super) unsafe fn rows4_of_f64x8(p: *const f64, o: &[i64; MAX_WIDTH]) -> [F64x8; 4] {
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
