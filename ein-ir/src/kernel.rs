//! Reconstruction kernels: even, piecewise polynomial with integer knots, exact.

use crate::{Continuity, Rational};

/// A kernel: one row of [`KERNELS`].
#[derive(Debug)]
pub struct Kernel {
    /// The name in programs.
    pub name: &'static str,
    /// The continuity programs may rely on. The kernels that re-label another one claim more than they have.
    pub continuity: u32,
    /// Half width: the kernel vanishes outside [−support, support].
    pub support: usize,
    /// The highest degree of polynomials that are reproduced exactly from their samples.
    pub reproduces: u32,
    /// Piece `i` holds for i ≤ t < i+1 with t = |x|; coefficients of 1, t, t², … as (numerator, denominator).
    pieces: &'static [&'static [(i32, i32)]],
    /// Its purpose, in one line.
    pub doc: &'static str,
}

const TENT: &[&[(i32, i32)]] = &[&[(1, 1), (-1, 1)]];
const CTMR: &[&[(i32, i32)]] = &[
    &[(1, 1), (0, 1), (-5, 2), (3, 2)],
    &[(2, 1), (-4, 1), (5, 2), (-1, 2)],
];
const BSPLN3: &[&[(i32, i32)]] = &[
    &[(2, 3), (0, 1), (-1, 1), (1, 2)],
    &[(4, 3), (-2, 1), (1, 1), (-1, 6)],
];
const BSPLN5: &[&[(i32, i32)]] = &[
    &[(11, 20), (0, 1), (-1, 2), (0, 1), (1, 4), (-1, 12)],
    &[(17, 40), (5, 8), (-7, 4), (5, 4), (-3, 8), (1, 24)],
    &[(81, 40), (-27, 8), (9, 4), (-3, 4), (1, 8), (-1, 120)],
];
const C4HEXIC: &[&[(i32, i32)]] = &[
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
];

/// Every kernel of the language.
#[rustfmt::skip]
pub const KERNELS: &[Kernel] = &[
    Kernel { name: "tent", continuity: 0, support: 1, reproduces: 1, pieces: TENT, doc: "linear interpolation" },
    Kernel { name: "ctmr", continuity: 1, support: 2, reproduces: 2, pieces: CTMR, doc: "Catmull-Rom cubic interpolation" },
    Kernel { name: "bspln3", continuity: 2, support: 2, reproduces: 1, pieces: BSPLN3, doc: "cubic B-spline; blurs slightly" },
    Kernel { name: "bspln5", continuity: 4, support: 3, reproduces: 1, pieces: BSPLN5, doc: "quintic B-spline; blurs" },
    Kernel { name: "c4hexic", continuity: 4, support: 3, reproduces: 3, pieces: C4HEXIC, doc: "C⁴ sextic, reproduces cubics" },
    Kernel { name: "c1tent", continuity: 1, support: 1, reproduces: 1, pieces: TENT, doc: "`tent`, claimed to be C¹" },
    Kernel { name: "c2tent", continuity: 2, support: 1, reproduces: 1, pieces: TENT, doc: "`tent`, claimed to be C²" },
    Kernel { name: "c2ctmr", continuity: 2, support: 2, reproduces: 2, pieces: CTMR, doc: "`ctmr`, claimed to be C²" },
];

impl Kernel {
    /// The kernel of this name.
    pub fn named(name: &str) -> Option<&'static Kernel> {
        KERNELS.iter().find(|k| k.name == name)
    }

    /// The declared continuity as the type system sees it.
    pub fn declared(&self) -> Continuity {
        Continuity::Finite(self.continuity)
    }

    /// The polynomials from the centre outwards: piece `i` holds for i ≤ t < i+1 with t = |x|; coefficients of 1, t, t², … as
    /// fractions.
    pub fn pieces(&self) -> &'static [&'static [(i32, i32)]] {
        self.pieces
    }

    /// The weight of tap `j` (from 1−support to support) as a polynomial in f ∈ [0, 1): coefficients of 1, f, f², …
    /// of the `derivative`-th derivative of h at f − j.
    ///
    /// Right-hand limits at the knots, because f takes 0 and not 1.
    pub fn tap(&self, j: i32, derivative: u32) -> Vec<Rational> {
        // On 0 ≤ f < 1 the argument f − j keeps its sign: t = f − j for j ≤ 0, and t = j − f for j ≥ 1.
        let (slope, offset, piece) = if j <= 0 { (1, -j, -j) } else { (-1, j, j - 1) };
        let coefficients = self.pieces[piece as usize];
        let mut poly = vec![Rational::from_integer(0)];
        for &(numerator, denominator) in coefficients.iter().rev() {
            poly = times_linear(&poly, offset, slope);
            poly[0] += Rational::new(numerator.into(), denominator.into());
        }
        for _ in 0..derivative {
            poly = differentiate(&poly);
        }
        while poly.len() > 1 && *poly.last().expect("not empty").numer() == 0 {
            poly.pop();
        }
        poly
    }
}

/// p(f) · (offset + slope·f)
fn times_linear(p: &[Rational], offset: i32, slope: i32) -> Vec<Rational> {
    let mut product = vec![Rational::from_integer(0); p.len() + 1];
    for (k, c) in p.iter().enumerate() {
        product[k] += c * Rational::from_integer(offset.into());
        product[k + 1] += c * Rational::from_integer(slope.into());
    }
    product
}

fn differentiate(p: &[Rational]) -> Vec<Rational> {
    let derivative: Vec<Rational> = p
        .iter()
        .enumerate()
        .skip(1)
        .map(|(k, c)| c * Rational::from_integer(k as i128))
        .collect();
    if derivative.is_empty() {
        vec![Rational::from_integer(0)]
    } else {
        derivative
    }
}
