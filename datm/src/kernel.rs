//! Reconstruction kernels as exact piecewise polynomials, and their weights for sampled data.
//!
//! One row per kernel name of the language. The pieces are rational, so the weight of every tap and
//! of every derivative is an exact polynomial of the fractional index.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use std::sync::LazyLock;

/// A reconstruction kernel: even, piecewise polynomial, zero outside its support.
#[derive(Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name in programs.
    pub name: &'static str,
    /// The continuity that the type system believes.
    pub continuity: u8,
    /// The number of continuous derivatives it really has.
    pub true_continuity: u8,
    /// The highest degree of polynomials reproduced from their samples.
    pub reproduces: u8,
    /// For t = |x| in [n, n+1): the coefficients of 1, t, t², … as numerator and denominator.
    pieces: &'static [&'static [(i64, i64)]],
}

const TENT: &[&[(i64, i64)]] = &[&[(1, 1), (-1, 1)]];

const CTMR: &[&[(i64, i64)]] = &[
    &[(1, 1), (0, 1), (-5, 2), (3, 2)],
    &[(2, 1), (-4, 1), (5, 2), (-1, 2)],
];

/// Every kernel of the language.
pub const KERNELS: &[Kernel] = &[
    Kernel {
        name: "tent",
        continuity: 0,
        true_continuity: 0,
        reproduces: 1,
        pieces: TENT,
    },
    Kernel {
        name: "c1tent",
        continuity: 1,
        true_continuity: 0,
        reproduces: 1,
        pieces: TENT,
    },
    Kernel {
        name: "c2tent",
        continuity: 2,
        true_continuity: 0,
        reproduces: 1,
        pieces: TENT,
    },
    Kernel {
        name: "ctmr",
        continuity: 1,
        true_continuity: 1,
        reproduces: 2,
        pieces: CTMR,
    },
    Kernel {
        name: "c2ctmr",
        continuity: 2,
        true_continuity: 1,
        reproduces: 2,
        pieces: CTMR,
    },
    Kernel {
        name: "bspln3",
        continuity: 2,
        true_continuity: 2,
        reproduces: 1,
        pieces: &[
            &[(2, 3), (0, 1), (-1, 1), (1, 2)],
            &[(4, 3), (-2, 1), (1, 1), (-1, 6)],
        ],
    },
    Kernel {
        name: "bspln5",
        continuity: 4,
        true_continuity: 4,
        reproduces: 1,
        pieces: &[
            &[(11, 20), (0, 1), (-1, 2), (0, 1), (1, 4), (-1, 12)],
            &[(17, 40), (5, 8), (-7, 4), (5, 4), (-3, 8), (1, 24)],
            &[(81, 40), (-27, 8), (9, 4), (-3, 4), (1, 8), (-1, 120)],
        ],
    },
    Kernel {
        name: "c4hexic",
        continuity: 4,
        true_continuity: 4,
        reproduces: 3,
        pieces: &[
            &[
                (69, 80),
                (0, 1),
                (-23, 16),
                (0, 1),
                (19, 16),
                (-7, 12),
                (1, 16),
            ],
            &[
                (3, 160),
                (35, 8),
                (-341, 32),
                (10, 1),
                (-147, 32),
                (25, 24),
                (-3, 32),
            ],
            &[
                (1539, 160),
                (-189, 8),
                (747, 32),
                (-12, 1),
                (109, 32),
                (-61, 120),
                (1, 32),
            ],
        ],
    },
];

/// The kernel of a name.
pub(crate) fn kernel(name: &str) -> Result<&'static Kernel, String> {
    KERNELS
        .iter()
        .find(|kernel| kernel.name == name)
        .ok_or_else(|| {
            let names: Vec<&str> = KERNELS.iter().map(|kernel| kernel.name).collect();
            format!("found kernel `{name}`, wanted one of {}", names.join(", "))
        })
}

impl Kernel {
    /// The half width of the support.
    pub fn support(&self) -> usize {
        self.pieces.len()
    }

    /// The taps on one axis, relative to the sample below the position.
    pub fn taps(&self) -> std::ops::RangeInclusive<i64> {
        let support = self.support() as i64;
        1 - support..=support
    }

    /// The weight h⁽ᵐ⁾(f − j) of tap j as a polynomial in the fractional index f, lowest power first.
    pub fn weight(&self, tap: i64, derivative: usize) -> Vec<BigRational> {
        // For f in [0, 1) the argument x = f − j is in [−j, 1−j): one piece, mirrored if x is negative.
        let (piece, sign) = if tap <= 0 { (-tap, 1) } else { (tap - 1, -1) };
        let Some(piece) = self.pieces.get(piece as usize) else {
            return vec![BigRational::zero()];
        };
        let mut coefficients: Vec<BigRational> = piece
            .iter()
            .map(|&(n, d)| BigRational::new(BigInt::from(n), BigInt::from(d)))
            .collect();
        if sign < 0 {
            coefficients
                .iter_mut()
                .skip(1)
                .step_by(2)
                .for_each(|c| *c = -c.clone());
        }
        for _ in 0..derivative {
            coefficients = derived(&coefficients);
        }
        shifted(&coefficients, -tap)
    }

    /// The weights of all taps for one order of derivative.
    pub fn weights(&self, derivative: usize) -> &'static Weights {
        &tables(self.name)[derivative.min(MAX_DERIVATIVE)]
    }

    fn amplification(&self, floats: &[Vec<f64>]) -> f64 {
        // The weights are polynomials of low degree, so a fine sampling with a small margin bounds them.
        let sum = |f: f64| -> f64 { floats.iter().map(|weight| horner(weight, f).abs()).sum() };
        (0..=64)
            .map(|i| sum(f64::from(i) / 64.0))
            .fold(0.0, f64::max)
            * 1.02
    }
}

/// The kernels of a field, one for each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisKernels(Vec<&'static Kernel>);

impl AxisKernels {
    /// The kernels of a list in turn, for `dim` axes.
    pub fn new(list: &[&'static Kernel], dim: usize) -> AxisKernels {
        AxisKernels(list.iter().copied().cycle().take(dim).collect())
    }

    /// The kernel of an axis.
    pub fn on(&self, axis: usize) -> &'static Kernel {
        self.0[axis]
    }

    /// The half widths of the supports.
    pub fn supports(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|kernel| kernel.support())
    }

    /// The least of a property over the axes.
    pub(crate) fn least(&self, property: impl Fn(&Kernel) -> u8) -> u8 {
        let of_axes = self.0.iter().map(|kernel| property(kernel));
        of_axes.min().unwrap_or(0)
    }

    /// The expression that a program convolves an image with.
    pub fn source(&self) -> String {
        let first = self.0[0];
        if self.0.iter().all(|kernel| kernel.name == first.name) {
            return first.name.to_string();
        }
        let names: Vec<&str> = self.0.iter().map(|kernel| kernel.name).collect();
        format!("KRNS({})", names.join(", "))
    }
}

impl AxisKernels {
    /// The same for an image over time, with a kernel for the time.
    pub fn with_time(&self, time: &str) -> String {
        let names: Vec<&str> = self.0.iter().map(|kernel| kernel.name).collect();
        format!("KRNS({}, {time})", names.join(", "))
    }
}

/// Past this order every derivative of every kernel is zero.
const MAX_DERIVATIVE: usize = 8;

/// What a kernel does for one order of derivative.
#[derive(Debug)]
pub struct Weights {
    /// For each tap the coefficients of the weight in the fractional index.
    pub exact: Vec<Vec<BigRational>>,
    /// The same as doubles.
    pub floats: Vec<Vec<f64>>,
    /// A bound of Σⱼ |h⁽ᵐ⁾(f − j)| over f in [0, 1]: how much the m-th derivative can amplify rounding in the samples.
    pub amplification: f64,
}

/// The weights of all orders, computed once per kernel.
fn tables(name: &str) -> &'static [Weights] {
    static TABLES: LazyLock<Vec<Vec<Weights>>> = LazyLock::new(|| {
        let orders = |kernel: &Kernel| -> Vec<Weights> {
            (0..=MAX_DERIVATIVE)
                .map(|m| {
                    let exact: Vec<Vec<BigRational>> =
                        kernel.taps().map(|tap| kernel.weight(tap, m)).collect();
                    let floats: Vec<Vec<f64>> =
                        exact.iter().map(|weight| as_floats(weight)).collect();
                    Weights {
                        amplification: kernel.amplification(&floats),
                        floats,
                        exact,
                    }
                })
                .collect()
        };
        KERNELS.iter().map(orders).collect()
    });
    let row = KERNELS
        .iter()
        .position(|kernel| kernel.name == name)
        .unwrap_or(0);
    &TABLES[row]
}

fn derived(coefficients: &[BigRational]) -> Vec<BigRational> {
    let powers = coefficients.iter().enumerate().skip(1);
    let derived: Vec<BigRational> = powers.map(|(n, c)| c * BigInt::from(n)).collect();
    if derived.is_empty() {
        vec![BigRational::zero()]
    } else {
        derived
    }
}

/// The coefficients of p(f + offset).
fn shifted(coefficients: &[BigRational], offset: i64) -> Vec<BigRational> {
    let mut result: Vec<BigRational> = vec![BigRational::zero(); coefficients.len()];
    for coefficient in coefficients.iter().rev() {
        // Horner in the polynomial ring: result ← result·(f + offset) + coefficient.
        for n in (0..result.len()).rev() {
            let carried = if n > 0 {
                result[n - 1].clone()
            } else {
                BigRational::zero()
            };
            result[n] = &result[n] * BigInt::from(offset) + carried;
        }
        result[0] += coefficient;
    }
    result
}

/// The nearest doubles.
pub(crate) fn as_floats(coefficients: &[BigRational]) -> Vec<f64> {
    coefficients
        .iter()
        .map(|c| c.to_f64().unwrap_or(f64::NAN))
        .collect()
}

/// The value of a polynomial, lowest power first.
pub(crate) fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate(coefficients: &[BigRational], x: &BigRational) -> BigRational {
        coefficients
            .iter()
            .rev()
            .fold(BigRational::zero(), |sum, c| sum * x + c)
    }

    fn ratio(n: i64, d: i64) -> BigRational {
        BigRational::new(BigInt::from(n), BigInt::from(d))
    }

    #[test]
    fn each_kernel_has_exactly_the_stated_continuity() {
        for kernel in KERNELS {
            let joins = |m: usize| {
                // At f → 1 tap j must continue as tap j − 1 at f = 0; beyond the support the weight is zero.
                let support = kernel.support() as i64;
                (-support..=support + 1).all(|tap| {
                    let left = evaluate(&kernel.weight(tap, m), &ratio(1, 1));
                    let right = evaluate(&kernel.weight(tap - 1, m), &ratio(0, 1));
                    left == right
                })
            };
            let order = usize::from(kernel.true_continuity);
            assert!((0..=order).all(joins), "{}", kernel.name);
            assert!(!joins(order + 1), "{}", kernel.name);
        }
    }

    #[test]
    fn each_kernel_reproduces_exactly_the_stated_degree() {
        for kernel in KERNELS {
            let reproduced = |degree: i32| {
                (0..10).all(|i| {
                    let f = ratio(i, 10);
                    let sum: BigRational = kernel
                        .taps()
                        .map(|tap| evaluate(&kernel.weight(tap, 0), &f) * ratio(tap, 1).pow(degree))
                        .sum();
                    sum == f.pow(degree)
                })
            };
            let degree = i32::from(kernel.reproduces);
            assert!((0..=degree).all(reproduced), "{}", kernel.name);
            assert!(!reproduced(degree + 1), "{}", kernel.name);
        }
    }

    #[test]
    fn spot_values_agree_with_the_printed_ones() {
        let hexic = kernel("c4hexic").expect("a row");
        assert_eq!(
            evaluate(&hexic.weight(0, 0), &ratio(1, 4)),
            ratio(763567, 983040)
        );
        assert_eq!(
            evaluate(&hexic.weight(-1, 1), &ratio(1, 4)),
            ratio(-13775, 49152)
        );
        assert_eq!(
            evaluate(&hexic.weight(1, 0), &ratio(3, 4)),
            ratio(763567, 983040)
        );
        assert_eq!(
            evaluate(&hexic.weight(1, 1), &ratio(3, 4)),
            ratio(16111, 24576)
        );
    }
}
