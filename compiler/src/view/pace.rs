//! The time that pictures take, and so the stride that is quick enough while inputs change.

use std::collections::BTreeMap;

/// The strides of pictures, the finest first.
pub(super) const STRIDES: [u32; 5] = [1, 2, 4, 8, 16];
/// Strands of the first picture, when their time is not known.
const FIRST_STRANDS: f64 = 4000.0;

/// The times of the last runs.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Seconds by stride. Runs have costs that do not depend on the number of strands, so a time says little about another stride.
    times: BTreeMap<u32, f64>,
    /// The strands of the full picture whose times these are.
    strands: usize,
}

impl Pace {
    /// Takes note of a run, given the strands of the full picture.
    pub(super) fn note(&mut self, strands: usize, stride: u32, seconds: f64) {
        if strands != self.strands {
            *self = Pace {
                times: BTreeMap::new(),
                strands,
            };
        }
        let before = self.times.insert(stride, seconds);
        // Where a view becomes more costly at one stride, it does at the others too.
        let factor = before.map_or(1.0, |before| (seconds / before.max(1e-9)).clamp(0.5, 2.0));
        for (other, time) in &mut self.times {
            if *other != stride {
                *time *= factor;
            }
        }
    }

    /// The expected time of a run with a stride along this many axes, given the strands of the full picture; none if nothing is known.
    pub(super) fn expected(&self, strands: usize, stride: u32, axes: usize) -> Option<f64> {
        let size = strands as f64 / self.strands.max(1) as f64;
        if let Some(time) = self.times.get(&stride) {
            return Some(time * size);
        }
        let (known, time) = self.times.first_key_value()?;
        Some(time * size * (f64::from(*known) / f64::from(stride)).powi(axes as i32))
    }

    /// The finest stride of `strands` strands that takes at most `seconds`, and has at most `most` strands.
    pub(super) fn stride(&self, strands: usize, axes: usize, seconds: f64, most: f64) -> u32 {
        let is_quick = |stride: &u32| {
            let count = strands as f64 / f64::from(*stride).powi(axes as i32);
            let is_known = self.expected(strands, *stride, axes);
            count <= most && is_known.map_or(count <= FIRST_STRANDS, |time| time <= seconds)
        };
        let coarsest = STRIDES[STRIDES.len() - 1];
        STRIDES.into_iter().find(is_quick).unwrap_or(coarsest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLION: usize = 1_000_000;

    #[test]
    fn a_larger_picture_takes_longer() {
        let mut pace = Pace::default();
        pace.note(MILLION, 1, 0.02);
        assert_eq!(pace.stride(MILLION, 2, 0.03, f64::INFINITY), 1);
        assert_eq!(pace.stride(16 * MILLION, 2, 0.03, f64::INFINITY), 4);
        pace.note(16 * MILLION, 4, 0.02);
        assert_eq!(pace.expected(16 * MILLION, 1, 2), Some(0.32));
    }

    #[test]
    fn the_finest_stride_that_is_quick_is_taken() {
        let mut pace = Pace::default();
        let stride = |pace: &Pace| pace.stride(MILLION, 2, 0.03, f64::INFINITY);
        assert_eq!(stride(&pace), 16, "nothing is known");
        // By the strands alone the full picture would take 64 ms.
        pace.note(MILLION, 8, 0.001);
        assert_eq!(stride(&pace), 2);
        pace.note(MILLION, 2, 0.008);
        assert_eq!(stride(&pace), 2);
        // Its own time counts.
        pace.note(MILLION, 1, 0.02);
        assert_eq!(stride(&pace), 1);
        assert_eq!(pace.stride(MILLION, 2, 0.03, 1e5), 4, "a slow connection");
        // It becomes slower, and so do the others.
        pace.note(MILLION, 1, 0.04);
        assert_eq!(stride(&pace), 2);
        assert_eq!(pace.expected(MILLION, 2, 2), Some(0.016));
        // What becomes quicker at one stride is tried again at a finer one.
        pace.note(MILLION, 2, 0.009);
        assert_eq!(stride(&pace), 1);
    }
}
