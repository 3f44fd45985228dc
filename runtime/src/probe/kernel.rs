//! Tables of kernel weights: exact rational pieces in, one polynomial per tap and derivative out.
//!
//! A kernel is even and given by its pieces for `t = |u|`, piece `i` on `[i, i+1)`. Tap `j` of a probe at
//! fraction `f` needs `h(f − j)`; it always uses the polynomial of the interval `[−j, 1−j)`, so that pieces are
//! half-open on the right and a jump at a sample takes its right-hand limit. Composition and differentiation
//! are exact; each coefficient is rounded once.

use super::{ProbeSpec, Real};
use crate::derivatives::MAX_ORDER;
use crate::simd::Float;

/// An even piecewise polynomial kernel with integer knots.
///
/// `pieces[i]` holds the coefficients of `t = |u|` on `[i, i+1)` as fractions (numerator, denominator), constant
/// first. The number of pieces is the support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPieces {
    /// The polynomials, from the centre outwards.
    pub pieces: Vec<Vec<(i64, i64)>>,
}

impl KernelPieces {
    /// Half the number of taps per axis.
    pub fn support(&self) -> usize {
        self.pieces.len()
    }

    /// The largest degree of the pieces.
    pub fn degree(&self) -> usize {
        self.pieces
            .iter()
            .map(|p| p.len().saturating_sub(1))
            .max()
            .unwrap_or(0)
    }
}

/// The weights of a probe and everything else about it that is fixed when a program is linked.
#[derive(Clone, Debug)]
pub struct ProbeKernel {
    spec: ProbeSpec,
    /// Highest power in the table, at least one.
    powers: usize,
    single: Box<[f32]>,
    double: Box<[f64]>,
}

impl ProbeKernel {
    /// Builds the table for `spec` from the kernel of each axis.
    pub fn new(spec: &ProbeSpec, axes: &[&KernelPieces]) -> Result<ProbeKernel, String> {
        spec.check()?;
        if axes.len() != spec.dim {
            return Err(format!(
                "{} kernels were given for {} axes",
                axes.len(),
                spec.dim
            ));
        }
        let powers = table_powers(spec);
        let mut table = Vec::new();
        for (kernel, &support) in axes.iter().zip(&spec.support) {
            if kernel.support() != support || kernel.degree() > spec.degree {
                return Err(format!(
                    "a kernel of support {} and degree {} was given, wanted support {support} and degree at most {}",
                    kernel.support(),
                    kernel.degree(),
                    spec.degree
                ));
            }
            let mut taps = Vec::new();
            for tap in 0..2 * support {
                taps.push(
                    tap_polynomial(kernel, tap).ok_or("a kernel's coefficients are too large")?,
                );
            }
            for _ in 0..spec.highest_order() + 1 {
                for tap in &mut taps {
                    table.extend((0..powers + 1).map(|p| tap.get(p).map_or(0.0, |c| c.to_f64())));
                    *tap = derivative(tap).ok_or("a kernel's coefficients are too large")?;
                }
            }
        }
        // Rounding through double is rounding once: a fraction with a denominator below 2^28 cannot be so near
        // to the middle of two singles without being it.
        let (single, double) = match spec.real {
            Real::F32 => (table.iter().map(|&c| c as f32).collect(), Box::default()),
            Real::F64 => (Box::default(), table.into_boxed_slice()),
        };
        Ok(ProbeKernel {
            spec: *spec,
            powers,
            single,
            double,
        })
    }

    /// What the table was built for.
    pub fn spec(&self) -> &ProbeSpec {
        &self.spec
    }

    /// Highest power of the polynomials in the table.
    #[inline(always)]
    pub(super) fn powers(&self) -> usize {
        self.powers
    }

    /// The coefficients of the weight of a tap along an axis, for a derivative of an order, constant first. A weight is
    /// evaluated by Horner's scheme with fused multiply-adds, from the highest of these.
    pub fn weight(&self, axis: usize, order: usize, tap: usize) -> Vec<f64> {
        let orders = self.spec.highest_order() + 1;
        let taps = |axis: usize| 2 * self.spec.support[axis];
        let before: usize = (0..axis).map(|a| taps(a) * orders).sum();
        let first = (before + order * taps(axis) + tap) * (self.powers + 1);
        let terms = degree_of(order, self.powers) + 1;
        (first..first + terms)
            .map(|at| match self.spec.real {
                Real::F32 => self.single[at].into(),
                Real::F64 => self.double[at],
            })
            .collect()
    }

    /// The table of `axis`: by order, then tap, then power.
    #[inline(always)]
    pub(super) fn coefficients<T: Float>(&self, axis: usize) -> *const T {
        let table: *const T = match T::REAL {
            Real::F32 => self.single.as_ptr().cast(),
            Real::F64 => self.double.as_ptr().cast(),
        };
        let orders = self.spec.highest_order() + 1;
        let before: usize = self.spec.support[..axis]
            .iter()
            .map(|s| 2 * s * orders * (self.powers + 1))
            .sum();
        debug_assert!(before < self.single.len().max(self.double.len()));
        // SAFETY: `new` stored this many coefficients for the axes before `axis < dim`.
        unsafe { table.add(before) }
    }
}

const _: () = assert!(MAX_ORDER < 32);

/// The highest power in the weights of a derivative. Differentiation lowers the degree; one multiplication by the fraction
/// stays so that a NaN always shows.
#[inline(always)]
pub(super) const fn degree_of(order: usize, powers: usize) -> usize {
    if order + 1 < powers {
        powers - order
    } else {
        1
    }
}

/// Highest power in the table of a specification: the degree for which the specialized primitives of its
/// support are compiled, where that suffices, and at least one so that every weight of a NaN is a NaN.
pub(super) fn table_powers(spec: &ProbeSpec) -> usize {
    let support = spec.support[..spec.dim].iter().copied().max().unwrap_or(1);
    spec.degree.max(specialized_powers(2 * support))
}

/// The degree for which specialized primitives with `taps` taps per axis are compiled: that of the widest
/// kernel of the language with `support` taps on each side.
#[inline(always)]
pub(super) const fn specialized_powers(taps: usize) -> usize {
    match taps {
        2 => 1,
        4 => 3,
        _ => 6,
    }
}

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fraction {
    numerator: i128,
    denominator: i128,
}

impl Fraction {
    fn new(numerator: i128, denominator: i128) -> Option<Fraction> {
        let (mut a, mut b) = (numerator.checked_abs()?, denominator.checked_abs()?);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = if denominator < 0 { a.checked_neg()? } else { a };
        (denominator != 0).then(|| Fraction {
            numerator: numerator / divisor,
            denominator: denominator / divisor,
        })
    }

    fn plus_multiple(self, b: Fraction, factor: i128) -> Option<Fraction> {
        let product = b.numerator.checked_mul(factor)?;
        Fraction::new(
            self.numerator
                .checked_mul(b.denominator)?
                .checked_add(product.checked_mul(self.denominator)?)?,
            self.denominator.checked_mul(b.denominator)?,
        )
    }

    /// Correctly rounded as long as both parts are below 2^53, which holds for every sensible kernel.
    fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

const ZERO: Fraction = Fraction {
    numerator: 0,
    denominator: 1,
};

/// The polynomials in the fraction by which the taps of a kernel are weighted, constant first; none if numbers are too large.
pub(super) fn taps_of(kernel: &KernelPieces) -> Option<Vec<Vec<f64>>> {
    let tap = |tap| {
        let exact = tap_polynomial(kernel, tap)?;
        Some(exact.into_iter().map(Fraction::to_f64).collect())
    };
    (0..2 * kernel.support()).map(tap).collect()
}

/// The polynomial in `f` by which tap number `tap` (sample `n + 1 − s + tap`) is weighted.
fn tap_polynomial(kernel: &KernelPieces, tap: usize) -> Option<Vec<Fraction>> {
    let j = tap as i128 + 1 - kernel.support() as i128;
    // On the right of the sample t = f − j, on its left t = j − f.
    let (piece, slope) = if j <= 0 { (-j, 1) } else { (j - 1, -1) };
    let shift = -j * slope;
    let mut composed: Vec<Fraction> = Vec::new();
    // Horner's scheme on polynomials: composed ← composed · (shift + slope · f) + c.
    for &(numerator, denominator) in kernel.pieces[piece as usize].iter().rev() {
        let mut next = vec![ZERO; composed.len() + 1];
        for (power, &c) in composed.iter().enumerate() {
            next[power] = next[power].plus_multiple(c, shift)?;
            next[power + 1] = next[power + 1].plus_multiple(c, slope)?;
        }
        next[0] = next[0].plus_multiple(Fraction::new(numerator.into(), denominator.into())?, 1)?;
        composed = next;
    }
    Some(composed)
}

/// The derivative of a polynomial.
fn derivative(polynomial: &[Fraction]) -> Option<Vec<Fraction>> {
    polynomial
        .iter()
        .enumerate()
        .skip(1)
        .map(|(power, &c)| ZERO.plus_multiple(c, power as i128))
        .collect()
}
