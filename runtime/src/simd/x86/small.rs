//! Loads of samples of one and two bytes.
//!
//! Every lane loads eight bytes, as for two singles: eight samples of one byte, or four of two bytes. So two vectors of words hold
//! the first taps of all lanes, and shifts bring each of them down.

use super::avx2::{F32x4, F32x8, rows2_of_f32x4, rows2_of_f32x8};
use super::avx512::F32x16;
use super::reads512::rows2_of_f32x16;
use crate::simd::MAX_WIDTH;
use crate::simd::small::{Bits, Small};
use std::arch::x86_64::*;

/// Writes the functions of one vector.
macro_rules! small_taps {
    ($vector:ident, $int:ty, rows2 $rows2:ident, taps $taps:ident, numbers $numbers:ident, to_int $to_int:ident,
     to_real $to_real:ident, and $and:ident, xor $xor:ident, set1 $set1:ident, right $right:ident, sub $sub:ident,
     set1_real $set1_real:ident) => {
        /// The numbers of samples whose bits are those of words.
        #[inline(always)]
        unsafe fn $numbers(bits: $int, small: &Small) -> $vector {
            unsafe {
                let (flip, base) = small.parts();
                let above = $to_real($xor(bits, $set1(flip as i32)));
                $vector($sub(above, $set1_real(base)))
            }
        }

        #[inline(always)]
        pub(super) unsafe fn $taps<S: Bits, const TAPS: usize>(
            p: *const S,
            o: &[i64; MAX_WIDTH],
            small: &Small,
        ) -> [$vector; TAPS] {
            unsafe {
                let in_word = (u32::BITS / S::BITS) as usize;
                let [first, second] = $rows2(p, o);
                let mut words = [first, second, second, second];
                if TAPS > 2 * in_word {
                    [words[2], words[3]] = $rows2(p.wrapping_add(2 * in_word), o);
                }
                let mask = $set1((1 << S::BITS) - 1);
                let mut taps = [first; TAPS];
                for tap in 0..TAPS {
                    let by = (tap % in_word) as i32 * S::BITS as i32;
                    let word = $to_int(words[tap / in_word].0);
                    let bits = $and($right(word, _mm_cvtsi32_si128(by)), mask);
                    taps[tap] = $numbers(bits, small);
                }
                taps
            }
        }
    };
}

small_taps!(F32x4, __m128i, rows2 rows2_of_f32x4, taps small_taps_of_f32x4, numbers numbers_of_f32x4,
    to_int _mm_castps_si128, to_real _mm_castsi128_ps, and _mm_and_si128, xor _mm_xor_si128, set1 _mm_set1_epi32,
    right _mm_srl_epi32, sub _mm_sub_ps, set1_real _mm_set1_ps);
small_taps!(F32x8, __m256i, rows2 rows2_of_f32x8, taps small_taps_of_f32x8, numbers numbers_of_f32x8,
    to_int _mm256_castps_si256, to_real _mm256_castsi256_ps, and _mm256_and_si256, xor _mm256_xor_si256,
    set1 _mm256_set1_epi32, right _mm256_srl_epi32, sub _mm256_sub_ps, set1_real _mm256_set1_ps);
small_taps!(F32x16, __m512i, rows2 rows2_of_f32x16, taps small_taps_of_f32x16, numbers numbers_of_f32x16,
    to_int _mm512_castps_si512, to_real _mm512_castsi512_ps, and _mm512_and_si512, xor _mm512_xor_si512,
    set1 _mm512_set1_epi32, right _mm512_srl_epi32, sub _mm512_sub_ps, set1_real _mm512_set1_ps);

/// Eight samples from one place, and eight from another.
#[inline(always)]
pub(super) unsafe fn small_halves_of_f32x16<S: Bits>(
    first: *const S,
    second: *const S,
    small: &Small,
) -> F32x16 {
    unsafe {
        let bits = match S::BITS {
            8 => {
                let [low, high] = [first, second].map(|p| _mm_loadl_epi64(p.cast()));
                _mm512_cvtepu8_epi32(_mm_unpacklo_epi64(low, high))
            }
            _ => {
                let [low, high] = [first, second].map(|p| _mm_loadu_si128(p.cast()));
                _mm512_cvtepu16_epi32(_mm256_set_m128i(high, low))
            }
        };
        numbers_of_f32x16(bits, small)
    }
}
