//! The kernels of the language as exact fractions, for tests and benchmarks of the probe primitives.
#![allow(dead_code, reason = "not every user needs every part")]

use runtime::probe::KernelPieces;

/// Name, pieces for `t = |u|` from the centre outwards, the true continuity.
type Row = (&'static str, &'static [&'static [(i64, i64)]], usize);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("tent", &[&[(1, 1), (-1, 1)]], 0),
    ("ctmr", &[
        &[(1, 1), (0, 1), (-5, 2), (3, 2)],
        &[(2, 1), (-4, 1), (5, 2), (-1, 2)]], 1),
    ("bspln3", &[
        &[(2, 3), (0, 1), (-1, 1), (1, 2)],
        &[(4, 3), (-2, 1), (1, 1), (-1, 6)]], 2),
    ("bspln5", &[
        &[(11, 20), (0, 1), (-1, 2), (0, 1), (1, 4), (-1, 12)],
        &[(17, 40), (5, 8), (-7, 4), (5, 4), (-3, 8), (1, 24)],
        &[(81, 40), (-27, 8), (9, 4), (-3, 4), (1, 8), (-1, 120)]], 4),
    ("c4hexic", &[
        &[(69, 80), (0, 1), (-23, 16), (0, 1), (19, 16), (-7, 12), (1, 16)],
        &[(3, 160), (35, 8), (-341, 32), (10, 1), (-147, 32), (25, 24), (-3, 32)],
        &[(1539, 160), (-189, 8), (747, 32), (-12, 1), (109, 32), (-61, 120), (1, 32)]], 4),
];

/// A kernel of the language.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) pieces: KernelPieces,
    pub(crate) continuity: usize,
}

/// All kernels with distinct polynomials.
pub(crate) fn kernels() -> Vec<Kernel> {
    ROWS.iter().map(from_row).collect()
}

fn from_row(&(name, pieces, continuity): &Row) -> Kernel {
    Kernel {
        name,
        pieces: KernelPieces {
            pieces: pieces.iter().map(|p| p.to_vec()).collect(),
        },
        continuity,
    }
}

/// The kernel called `name`.
pub(crate) fn kernel(name: &str) -> Kernel {
    from_row(
        ROWS.iter()
            .find(|row| row.0 == name)
            .expect("a kernel of the table"),
    )
}

impl Kernel {
    /// The `order`-th derivative of `h(f − j)` with respect to `f`, by the polynomial of `[−j, 1−j)`.
    pub(crate) fn weight(&self, j: i64, f: f64, order: usize) -> f64 {
        let (piece, t, side) = if j <= 0 {
            (-j, f - j as f64, 1.0)
        } else {
            (j - 1, j as f64 - f, -1.0f64)
        };
        let mut sum = 0.0;
        for (power, &(n, d)) in self.pieces.pieces[piece as usize]
            .iter()
            .enumerate()
            .skip(order)
        {
            let falling: f64 = (power - order + 1..power + 1).map(|k| k as f64).product();
            sum += n as f64 / d as f64 * falling * t.powi((power - order) as i32);
        }
        sum * side.powi(order as i32)
    }
}
