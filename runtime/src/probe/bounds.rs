//! Bounds of a field from the least and the greatest sample under its kernels.
//!
//! A probe is a sum of samples with weights. If all weights are between 0 and 1 and their sum is 1, the sum is between the least and
//! the greatest sample; kernels with negative weights overshoot by a factor that follows from their polynomials. A [`Spread`] also has the
//! error of a computed probe, in the real type of the program, so the bounds hold for the numbers that primitives give, not only for exact ones.

use super::kernel::{KernelPieces, taps_of};
use super::{ProbeImage, Real, sample_index};

/// An interval that contains all values of something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least value, or a smaller number.
    pub low: f64,
    /// The greatest value, or a greater number.
    pub high: f64,
}

impl Range {
    /// The interval without numbers.
    pub const EMPTY: Range = Range {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    /// The least interval with all numbers of both.
    #[must_use]
    pub fn and(self, other: Range) -> Range {
        Range {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

/// How far probes go beyond the samples that they are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Half the range of the values, over half the range of the samples.
    overshoot: f64,
    /// The error of a value, over the greatest magnitude of the samples.
    error: f64,
    /// The least and the greatest magnitude of numbers that are not rounded more coarsely.
    normal: [f64; 2],
}

impl Spread {
    /// The spread of a field with the kernel of each axis; none if its weights do not add up to 1.
    pub fn new(kernels: &[KernelPieces], real: Real) -> Option<Spread> {
        // Twice the greatest relative error of one operation.
        let (rounding, normal) = match real {
            Real::F32 => (
                f64::from(f32::EPSILON),
                [f32::MIN_POSITIVE, f32::MAX].map(f64::from),
            ),
            Real::F64 => (f64::EPSILON, [f64::MIN_POSITIVE, f64::MAX]),
        };
        let (mut exact, mut computed) = (1.0, 1.0);
        for kernel in kernels {
            let taps = taps_of(kernel)?;
            let degree = kernel.degree();
            // Without constants nothing is known about values between samples that are alike.
            let coefficient = |power: usize| -> f64 {
                let all = taps.iter().filter_map(|tap| tap.get(power));
                all.sum()
            };
            let is_one = (0..=degree)
                .all(|power| (coefficient(power) - f64::from(u8::from(power == 0))).abs() < 1e-9);
            if !is_one {
                return None;
            }
            let sum = greatest_sum(&taps);
            // A weight is a polynomial by Horner's scheme, of two operations for each power where they are not fused.
            let magnitudes: f64 = taps.iter().flatten().map(|c| c.abs()).sum();
            let of_weights = (2 * degree + 4) as f64 * rounding * magnitudes;
            let of_sum = (2 * taps.len() + 2) as f64 * rounding;
            exact *= sum;
            computed *= (sum + of_weights) * (1.0 + of_sum);
        }
        Some(Spread {
            overshoot: exact,
            // Twice, so that the rounding of these numbers does not matter.
            error: 2.0 * (computed - exact) + 4.0 * rounding,
            normal,
        })
    }

    /// By how much values leave the range of their samples: a share of its half length, and of the greatest magnitude.
    pub fn margins(self) -> [f64; 2] {
        [self.overshoot - 1.0, self.error]
    }

    /// The values of probes whose samples are in an interval; none if that is not one of numbers whose sums are finite.
    pub fn of(self, samples: Range) -> Option<Range> {
        let Range { low, high } = samples;
        let greatest = low.abs().max(high.abs());
        let [least_normal, greatest_normal] = self.normal;
        // No sum of some of the products is greater.
        let sums = 2.0 * (self.overshoot + self.error) * greatest;
        if !(low <= high && sums < greatest_normal) {
            return None;
        }
        let beyond = 0.5 * (self.overshoot - 1.0) * (high - low);
        // Products of very small samples are rounded more coarsely, and those of zeros are not rounded.
        let error = match greatest > 0.0 {
            true => self.error * greatest + least_normal,
            false => 0.0,
        };
        Some(Range {
            low: low - beyond - error,
            high: high + beyond + error,
        })
    }
}

/// The greatest sum of the magnitudes of all weights, or a little more.
fn greatest_sum(taps: &[Vec<f64>]) -> f64 {
    if taps.iter().all(|tap| is_never_negative(tap)) {
        return 1.0;
    }
    const PIECES: usize = 256;
    let step = 1.0 / PIECES as f64;
    let sum = |piece: usize| -> f64 {
        let of_tap = |tap: &Vec<f64>| {
            let [a, b] = [piece, piece + 1].map(|n| value(tap, n as f64 * step).abs());
            // Between two places, a polynomial leaves its chord by at most this.
            let bent: f64 = (tap.iter().enumerate())
                .map(|(power, c)| (power * power.saturating_sub(1)) as f64 * c.abs())
                .sum();
            a.max(b) + bent * step * step / 8.0
        };
        taps.iter().map(of_tap).sum()
    };
    (0..PIECES).map(sum).fold(1.0, f64::max)
}

fn value(polynomial: &[f64], at: f64) -> f64 {
    polynomial.iter().rev().fold(0.0, |sum, c| sum * at + c)
}

/// Whether no value of a polynomial from 0 to 1 is negative, as its coefficients in the basis of Bernstein tell.
fn is_never_negative(polynomial: &[f64]) -> bool {
    let degree = polynomial.len().saturating_sub(1);
    let choose = |n: usize, k: usize| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
    (0..=degree).all(|i| {
        let sum: f64 = (0..=i)
            .map(|k| choose(i, k) / choose(degree, k) * polynomial[k])
            .sum();
        sum > -1e-12
    })
}

/// Bounds of a field of one dimension over intervals of positions.
#[derive(Debug)]
pub struct LineBounds {
    /// For each component and each power of two, the range of this number of samples from each sample on, with those beyond the border.
    levels: Vec<Vec<Vec<Range>>>,
    spread: Spread,
    support: i64,
    /// The positions of the first and the last cell whose samples are in the table.
    cells: [i64; 2],
}

impl LineBounds {
    /// The bounds of the field of an image of one dimension without time.
    pub fn new(image: &ProbeImage<'_>, spread: Spread, support: usize) -> LineBounds {
        let (size, support) = (image.sizes[0], support as i64);
        // Beyond these, all samples of a cell are those of its neighbour, for the borders that positions may leave.
        let cells = [-support - 1, size + support + 1];
        let first = cells[0] + 1 - support;
        let levels = (0..image.components).map(|component| {
            let one = |i: i64| {
                let x = match (sample_index(i, size as usize, image.border), image.border) {
                    (Some(index), _) => image.sample(component, index),
                    (None, super::Border::Constant(values)) => values[component],
                    (None, _) => f64::NAN,
                };
                match x.is_nan() {
                    true => UNKNOWN,
                    false => Range { low: x, high: x },
                }
            };
            let mut levels: Vec<Vec<Range>> = vec![(first..=cells[1] + support).map(one).collect()];
            while let Some(last) = levels.last()
                && last.len() > 1 << (levels.len() - 1)
            {
                let apart = 1 << (levels.len() - 1);
                let pairs = last.iter().zip(&last[apart..]);
                let next = pairs.map(|(a, b)| a.and(*b)).collect();
                levels.push(next);
            }
            levels
        });
        LineBounds {
            levels: levels.collect(),
            spread,
            support,
            cells,
        }
    }

    /// The values of a component at positions in an interval; none if they may be anything.
    pub fn of(&self, component: usize, at: Range, endless: bool) -> Option<Range> {
        let [first, last] = self.cells.map(|cell| cell as f64);
        if !(endless || at.low >= first && at.high <= last) {
            return None;
        }
        let cell = |x: f64| x.clamp(first, last).floor() as i64;
        let from = cell(at.low) - self.cells[0];
        let count = (cell(at.high) - cell(at.low) + 2 * self.support) as usize;
        let level = count.ilog2() as usize;
        let ranges = &self.levels[component][level];
        let samples = ranges[from as usize].and(ranges[from as usize + count - (1 << level)]);
        self.spread.of(samples)
    }
}

/// Any number.
pub(super) const UNKNOWN: Range = Range {
    low: f64::NEG_INFINITY,
    high: f64::INFINITY,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(pieces: &[&[(i64, i64)]]) -> KernelPieces {
        KernelPieces {
            pieces: pieces.iter().map(|piece| piece.to_vec()).collect(),
        }
    }

    #[test]
    fn weights_that_are_never_negative_stay_within_the_samples() {
        let tent = kernel(&[&[(1, 1), (-1, 1)]]);
        let cubic = kernel(&[
            &[(2, 3), (0, 1), (-1, 1), (1, 2)],
            &[(4, 3), (-2, 1), (1, 1), (-1, 6)],
        ]);
        for kernels in [vec![tent.clone()], vec![tent; 3], vec![cubic; 3]] {
            let spread = Spread::new(&kernels, Real::F64).unwrap();
            assert_eq!(spread.overshoot, 1.0);
            assert!(spread.error < 1e-11);
            let zero = Range {
                low: 0.0,
                high: 0.0,
            };
            assert_eq!(spread.of(zero), Some(zero), "zeros have no error");
        }
    }

    #[test]
    fn catmull_and_rom_overshoot_by_a_quarter() {
        // The greatest sum is 1 + 2 · 2 · (1/16), at one half.
        let kernels = [kernel(&[
            &[(1, 1), (0, 1), (-5, 2), (3, 2)],
            &[(2, 1), (-4, 1), (5, 2), (-1, 2)],
        ])];
        let spread = Spread::new(&kernels, Real::F32).unwrap();
        assert!((1.25..1.26).contains(&spread.overshoot), "{spread:?}");
        let unit = Range {
            low: 0.0,
            high: 1.0,
        };
        let range = spread.of(unit).unwrap();
        assert!((-0.14..-0.125).contains(&range.low), "{range:?}");
        assert!((1.125..1.14).contains(&range.high), "{range:?}");
    }

    #[test]
    fn numbers_at_the_ends_of_their_type_are_not_trusted() {
        let tent = kernel(&[&[(1, 1), (-1, 1)]]);
        let spread = Spread::new(&[tent], Real::F32).unwrap();
        let all = |x: f64| spread.of(Range { low: x, high: x });
        assert_eq!(all(f64::from(f32::MAX)), None);
        assert_eq!(all(f64::NAN), None);
        assert_eq!(all(f64::INFINITY), None);
        // Half of the least number is zero, also twice.
        let least = f64::from(f32::from_bits(1));
        assert!(all(least).is_some_and(|range| range.low <= 0.0));
    }

    #[test]
    fn weights_that_do_not_add_up_to_one_have_no_bounds() {
        assert_eq!(Spread::new(&[kernel(&[&[(1, 1)]])], Real::F32), None);
    }

    #[test]
    fn lines_know_their_ranges() {
        let samples = [3.0f32, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0];
        let tent = kernel(&[&[(1, 1), (-1, 1)]]);
        let spread = Spread::new(&[tent], Real::F32).unwrap();
        for border in [super::super::Border::Clamp, super::super::Border::Mirror] {
            let image = ProbeImage::new(&samples, &[10], 1, border).unwrap();
            let line = LineBounds::new(&image, spread, 1);
            for low in -20..60 {
                for high in low..60 {
                    let [low, high] = [low, high].map(|n| f64::from(n) / 4.0);
                    let found = line.of(0, Range { low, high }, false);
                    let cells = low.floor() as i64..=high.floor() as i64 + 1;
                    let at = |i: i64| samples[sample_index(i, 10, border).unwrap()];
                    let wanted = cells.map(at).fold(Range::EMPTY, |range, x| {
                        range.and(Range {
                            low: x.into(),
                            high: x.into(),
                        })
                    });
                    match found {
                        Some(found) => {
                            assert!(found.low <= wanted.low && found.high >= wanted.high);
                            assert!((found.low - wanted.low).abs() < 1e-4);
                            assert!((found.high - wanted.high).abs() < 1e-4);
                        }
                        None => assert!(low < -2.0 || high > 12.0),
                    }
                }
            }
            let all = Range {
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
            };
            let range = line.of(0, all, true).unwrap();
            assert!(range.low < 1.0 && range.high > 9.0, "{range:?}");
        }
    }
}
