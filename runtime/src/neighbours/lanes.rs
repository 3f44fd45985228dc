//! Comparisons of sixteen values at a time, with the instructions every x86-64 processor has, and
//! in plain Rust elsewhere.
//!
//! Left to itself the compiler takes the bits of a comparison apart one by one, or vectorizes the
//! wrong loop; both cost more than the rest of a query. Wider registers were measured to gain
//! nothing here.

/// Values compared together.
pub(super) const GROUP: usize = 16;

/// Bit `i` says whether `values[i] < bound`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn bits_below_f32(values: &[f32; GROUP], bound: f32) -> u32 {
    use std::arch::x86_64::{_mm_cmplt_ps, _mm_movemask_ps, _mm_set1_ps, _mm_setr_ps};
    let (quarters, _) = values.as_chunks::<4>();
    quarters.iter().rev().fold(0, |bits, &[a, b, c, d]| {
        // SAFETY: every x86-64 processor has SSE.
        let mask =
            unsafe { _mm_movemask_ps(_mm_cmplt_ps(_mm_setr_ps(a, b, c, d), _mm_set1_ps(bound))) };
        bits << 4 | mask as u32
    })
}

/// Bit `i` says whether `values[i] < bound`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn bits_below_f64(values: &[f64; GROUP], bound: f64) -> u32 {
    use std::arch::x86_64::{_mm_cmplt_pd, _mm_movemask_pd, _mm_set1_pd, _mm_setr_pd};
    let (pairs, _) = values.as_chunks::<2>();
    pairs.iter().rev().fold(0, |bits, &[a, b]| {
        // SAFETY: every x86-64 processor has SSE2.
        let mask = unsafe { _mm_movemask_pd(_mm_cmplt_pd(_mm_setr_pd(a, b), _mm_set1_pd(bound))) };
        bits << 2 | mask as u32
    })
}

/// For each value of `group`, how many of `others` are less.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn count_below(others: &[i32], group: &[i32; GROUP]) -> [i32; GROUP] {
    use std::arch::x86_64::{
        __m128i, _mm_cmpgt_epi32, _mm_set1_epi32, _mm_setzero_si128, _mm_sub_epi32,
    };
    // SAFETY: every x86-64 processor has SSE2; four registers of four integers are sixteen
    // integers, in the order of their lanes.
    unsafe {
        let values = std::mem::transmute::<[i32; GROUP], [__m128i; 4]>(*group);
        let mut counts = [_mm_setzero_si128(); 4];
        for &other in others {
            let other = _mm_set1_epi32(other);
            for (count, value) in counts.iter_mut().zip(values) {
                // A comparison that holds is −1 in its lane.
                *count = _mm_sub_epi32(*count, _mm_cmpgt_epi32(value, other));
            }
        }
        std::mem::transmute::<[__m128i; 4], [i32; GROUP]>(counts)
    }
}

/// Bit `i` says whether `values[i] < bound`.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn bits_below_f32(values: &[f32; GROUP], bound: f32) -> u32 {
    values
        .iter()
        .rev()
        .fold(0, |bits, &value| bits << 1 | u32::from(value < bound))
}

/// Bit `i` says whether `values[i] < bound`.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn bits_below_f64(values: &[f64; GROUP], bound: f64) -> u32 {
    values
        .iter()
        .rev()
        .fold(0, |bits, &value| bits << 1 | u32::from(value < bound))
}

/// For each value of `group`, how many of `others` are less.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn count_below(others: &[i32], group: &[i32; GROUP]) -> [i32; GROUP] {
    group.map(|value| others.iter().map(|&other| i32::from(other < value)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_counts_are_those_of_the_scalar_comparison() {
        let mut state = 5u64;
        for _ in 0..1000 {
            let values: [i32; GROUP] = std::array::from_fn(|_| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                ((state >> 40) as i32 - (1 << 23)) >> (state >> 60)
            });
            let bound = values[3];
            let expected = (0..GROUP)
                .filter(|&i| values[i] < bound)
                .fold(0, |bits, i| bits | 1 << i);
            assert_eq!(
                bits_below_f32(&values.map(|value| value as f32), bound as f32),
                expected
            );
            assert_eq!(
                bits_below_f64(&values.map(f64::from), f64::from(bound)),
                expected
            );
            let others = &values[..11];
            let counts =
                values.map(|value| others.iter().filter(|&&other| other < value).count() as i32);
            assert_eq!(count_below(others, &values), counts);
        }
        assert_eq!(bits_below_f32(&[f32::NAN; GROUP], f32::INFINITY), 0);
        assert_eq!(bits_below_f64(&[f64::NAN; GROUP], f64::INFINITY), 0);
    }
}
