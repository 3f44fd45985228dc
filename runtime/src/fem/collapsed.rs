//! Cells whose corners are at one place somewhere: hexahedra that are wedges or pyramids, quadrilaterals that are triangles.
//!
//! There the map of the reference cell has no inverse, and steps along collapsed axes are arbitrary.

use super::invert::{CLOSE, Image, Inverse, Map, Matrix, apply, determinant};
use super::number::Number;

/// Where the volume of the map is less than this part of that at the centre, the cell has collapsed, or nearly so.
const COLLAPSED: f64 = 1.0 / (1 << 20) as f64;

/// The most halves of halves of a collapsed cell that are looked at, and the most that wait.
const HALVES: u32 = 4096;
const DEEPEST: usize = 192;

/// Whether the volume of a map at a Jacobian is next to nothing, given the inverse of the Jacobian at the centre.
pub(super) fn is_nothing<S: Number>(
    dim: usize,
    jacobian: &Matrix<S>,
    at_centre: &Matrix<S>,
) -> S::Truth {
    let part = determinant(jacobian, dim) * determinant(at_centre, dim);
    part.magnitude().less(S::constant(COLLAPSED))
}

impl Map<'_> {
    /// Whether the volume of the map at a Jacobian is next to nothing, as where corners of the cell are at one place.
    pub(super) fn has_collapsed(&self, jacobian: &Matrix) -> bool {
        is_nothing(self.kind.dim(), jacobian, self.at_centre)
    }

    /// The least length of a unit step along a reference axis at a Jacobian, in reference units of the centre.
    pub(super) fn shortest_step(&self, jacobian: &Matrix) -> f64 {
        let length = |axis: usize| {
            let step = apply(self.at_centre, &jacobian.map(|row| row[axis]));
            step.iter().fold(0.0_f64, |longest, x| longest.max(x.abs()))
        };
        (0..self.kind.dim())
            .map(length)
            .fold(f64::INFINITY, f64::min)
    }

    /// Whether some part of the boundary has collapsed to an edge or a point.
    pub(super) fn collapses(&self) -> bool {
        let c = self.kind.centre();
        (0..1 << self.kind.dim()).any(|corner| {
            let t = std::array::from_fn(|a| match corner >> a & 1 {
                _ if a >= self.kind.dim() => 0.0,
                0 => -c,
                _ => 1.0 - c,
            });
            self.shortest_step(&self.image(&t).1) < COLLAPSED
        })
    }

    /// Looks for the position in halves of halves of a cell that has collapsed somewhere. The axis that is divided is always the one along which the
    /// image is longest, so parts become small in the world, however short the steps along another axis are.
    #[cold]
    pub(super) fn bisect(&self, x: &[f64; 3]) -> Inverse {
        let dim = self.kind.dim();
        let mut parts = [([0.5_f64; 3], [0.5_f64; 3]); DEEPEST];
        let mut count = 1;
        for _ in 0..HALVES {
            if count == 0 {
                return Inverse::Outside;
            }
            count -= 1;
            let (centre, half) = parts[count];
            let (mut middle, mut radius, mut lengths) = ([0.0; 3], [0.0; 3], [0.0; 3]);
            self.expand(&centre, |e, term| {
                if *e == [0; 3] {
                    middle = term;
                    return;
                }
                let reach: f64 = (0..dim).map(|a| half[a].powi(e[a].into())).product();
                let step = apply(self.at_centre, &term);
                let longest = step.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                for a in 0..dim {
                    radius[a] += term[a].abs() * reach;
                    if e[a] > 0 {
                        lengths[a] += longest * reach;
                    }
                }
            });
            let far = |i: usize| {
                (x[i] - middle[i]).abs() > radius[i] * (1.0 + 1e-9) + 2.0 * self.tolerance
            };
            if (0..dim).any(far) || self.is_beyond(&centre, &half) {
                continue;
            }
            let longest = (0..dim).fold(0, |a, b| if lengths[b] > lengths[a] { b } else { a });
            let small = radius.iter().all(|r| *r <= self.tolerance / 8.0);
            if small || lengths[longest] <= CLOSE || count + 2 > DEEPEST {
                if let Some((xi, jacobian)) = self.newton(x, &centre) {
                    return Inverse::Found(xi, jacobian);
                }
                let t = std::array::from_fn(|a| match a < dim {
                    true => centre[a] - self.kind.centre(),
                    false => 0.0,
                });
                return Inverse::Found(t.map(|t: f64| t + self.kind.centre()), self.image(&t).1);
            }
            let mut smaller = half;
            smaller[longest] /= 2.0;
            for side in [-1.0, 1.0] {
                let mut inner = centre;
                inner[longest] += side * smaller[longest];
                parts[count] = (inner, smaller);
                count += 1;
            }
        }
        Inverse::Unknown
    }
}
