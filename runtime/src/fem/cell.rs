//! Reference cells: what location needs to know of a shape.
//!
//! Simplices are `{ξ ≥ 0, Σξ ≤ 1}`, a wedge is a triangle times an interval, the others are unit cubes. A cell is its constraints `c_j(ξ) ≥ 0`, each belonging to one face.

use super::number::Number;

/// The shape of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum CellKind {
    /// Three corners in the plane.
    Triangle,
    /// Four corners in the plane.
    Quadrilateral,
    /// Four corners in space.
    Tetrahedron,
    /// Eight corners in space.
    Hexahedron,
    /// Six corners in space: a triangle, and one above it.
    Wedge,
}

/// The most faces that a cell has.
pub(super) const MAX_FACES: usize = 6;

impl CellKind {
    /// Dimension of the cell.
    pub const fn dim(self) -> usize {
        match self {
            CellKind::Triangle | CellKind::Quadrilateral => 2,
            CellKind::Tetrahedron | CellKind::Hexahedron | CellKind::Wedge => 3,
        }
    }

    /// Its name, for messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            CellKind::Triangle => "triangle",
            CellKind::Quadrilateral => "quadrilateral",
            CellKind::Tetrahedron => "tetrahedron",
            CellKind::Hexahedron => "hexahedron",
            CellKind::Wedge => "wedge",
        }
    }

    /// Whether it is a triangle or tetrahedron rather than a square, cube or wedge.
    pub const fn is_simplex(self) -> bool {
        matches!(self, CellKind::Triangle | CellKind::Tetrahedron)
    }

    /// The number of corners; they are the first nodes of every element.
    pub const fn corners(self) -> usize {
        match self {
            CellKind::Triangle => 3,
            CellKind::Quadrilateral | CellKind::Tetrahedron => 4,
            CellKind::Hexahedron => 8,
            CellKind::Wedge => 6,
        }
    }

    /// The corners that are one step along each axis from corner 0.
    pub(super) const fn axis_corners(self) -> &'static [usize] {
        match self {
            CellKind::Triangle => &[1, 2],
            CellKind::Quadrilateral => &[1, 3],
            CellKind::Tetrahedron | CellKind::Wedge => &[1, 2, 3],
            CellKind::Hexahedron => &[1, 3, 4],
        }
    }

    /// Each coordinate of the centre; of a wedge a point near it, so that one number is enough.
    pub const fn centre(self) -> f64 {
        match self {
            CellKind::Triangle | CellKind::Wedge => 1.0 / 3.0,
            CellKind::Tetrahedron => 0.25,
            CellKind::Quadrilateral | CellKind::Hexahedron => 0.5,
        }
    }

    /// The number of faces, and of constraints.
    pub const fn faces(self) -> usize {
        match self {
            CellKind::Triangle => 3,
            CellKind::Quadrilateral | CellKind::Tetrahedron => 4,
            CellKind::Wedge => 5,
            CellKind::Hexahedron => 6,
        }
    }

    /// The corners of the face where a constraint is zero.
    pub const fn face(self, constraint: usize) -> &'static [usize] {
        const TRIANGLE: [&[usize]; 3] = [&[0, 2], &[0, 1], &[1, 2]];
        const QUADRILATERAL: [&[usize]; 4] = [&[0, 3], &[1, 2], &[0, 1], &[2, 3]];
        const TETRAHEDRON: [&[usize]; 4] = [&[0, 2, 3], &[0, 1, 3], &[0, 1, 2], &[1, 2, 3]];
        const HEXAHEDRON: [&[usize]; 6] = [
            &[0, 3, 7, 4],
            &[1, 2, 6, 5],
            &[0, 1, 5, 4],
            &[3, 2, 6, 7],
            &[0, 1, 2, 3],
            &[4, 5, 6, 7],
        ];
        const WEDGE: [&[usize]; 5] = [
            &[0, 2, 5, 3],
            &[0, 1, 4, 3],
            &[1, 2, 5, 4],
            &[0, 1, 2],
            &[3, 4, 5],
        ];
        match self {
            CellKind::Triangle => TRIANGLE[constraint],
            CellKind::Quadrilateral => QUADRILATERAL[constraint],
            CellKind::Tetrahedron => TETRAHEDRON[constraint],
            CellKind::Hexahedron => HEXAHEDRON[constraint],
            CellKind::Wedge => WEDGE[constraint],
        }
    }

    /// The value of a constraint.
    #[inline(always)]
    pub fn constraint(self, constraint: usize, xi: &[f64; 3]) -> f64 {
        self.constraint_at(constraint, xi)
    }

    /// The same for any numbers.
    #[inline(always)]
    pub(super) fn constraint_at<S: Number>(self, constraint: usize, xi: &[S; 3]) -> S {
        let one = S::constant(1.0);
        match (self, constraint) {
            (CellKind::Triangle | CellKind::Wedge, 2) => one - xi[0] - xi[1],
            (CellKind::Tetrahedron, 3) => one - xi[0] - xi[1] - xi[2],
            (CellKind::Wedge, 3) => xi[2],
            (CellKind::Wedge, 4) => one - xi[2],
            (CellKind::Triangle | CellKind::Tetrahedron | CellKind::Wedge, axis) => xi[axis],
            (_, side) if side.is_multiple_of(2) => xi[side / 2],
            (_, side) => one - xi[side / 2],
        }
    }

    /// The derivative of a constraint along each reference axis.
    pub(super) fn gradient(self, constraint: usize) -> [f64; 3] {
        // Constraints are linear, so differences are derivatives.
        let at_origin = self.constraint(constraint, &[0.0; 3]);
        std::array::from_fn(|axis| {
            let mut unit = [0.0; 3];
            unit[axis] = 1.0;
            self.constraint(constraint, &unit) - at_origin
        })
    }

    /// A position of the cell next to one that may be outside.
    pub(super) fn nearest(self, xi: &[f64; 3]) -> [f64; 3] {
        let mut inside = xi.map(|x| x.clamp(0.0, 1.0));
        let slanted = match self {
            CellKind::Triangle | CellKind::Wedge => 2,
            CellKind::Tetrahedron => 3,
            CellKind::Quadrilateral | CellKind::Hexahedron => 0,
        };
        let sum: f64 = inside[..slanted].iter().sum();
        if sum > 1.0 {
            inside[..slanted].iter_mut().for_each(|x| *x /= sum);
        }
        inside
    }

    /// The weights of the corners at a position: one at its own corner, (multi)linear between.
    pub fn corner_weights(self, xi: &[f64; 3]) -> impl Iterator<Item = f64> + use<> {
        let [r, s, t] = *xi;
        let rest = 1.0 - r - s;
        (0..self.corners()).map(move |corner| {
            let ring = |corner: usize| [rest, r, s][corner];
            let square = |corner: usize| {
                let [x, y] = [[1.0 - r, 1.0 - s], [r, 1.0 - s], [r, s], [1.0 - r, s]][corner];
                x * y
            };
            match self {
                CellKind::Triangle => ring(corner),
                CellKind::Quadrilateral => square(corner),
                CellKind::Tetrahedron => [rest - t, r, s, t][corner],
                CellKind::Hexahedron if corner < 4 => square(corner) * (1.0 - t),
                CellKind::Hexahedron => square(corner - 4) * t,
                CellKind::Wedge if corner < 3 => ring(corner) * (1.0 - t),
                CellKind::Wedge => ring(corner - 3) * t,
            }
        })
    }

    /// The constraint with the smallest value, and that value.
    #[inline(always)]
    pub(super) fn least(self, xi: &[f64; 3]) -> (usize, f64) {
        // Adding −0 is doing nothing.
        let (face, least) = self.least_with(xi, -0.0);
        (face as usize, least)
    }

    /// The constraint with the smallest value that it can have at most if each coordinate may be off by a margin, and that value.
    #[inline(always)]
    pub(super) fn least_with<S: Number>(self, xi: &[S; 3], margin: S) -> (S, S) {
        let [r, s, t] = *xi;
        let (m, one) = (margin, S::constant(1.0));
        // Written out by shape, so that each is a few comparisons.
        match self {
            CellKind::Triangle => lowest([r + m, s + m, one - r - s + (m + m)]),
            CellKind::Tetrahedron => lowest([r + m, s + m, t + m, one - r - s - t + (m + m + m)]),
            CellKind::Quadrilateral => lowest([r + m, one - r + m, s + m, one - s + m]),
            CellKind::Hexahedron => {
                let (r, s, t) = (
                    (r + m, one - r + m),
                    (s + m, one - s + m),
                    (t + m, one - t + m),
                );
                lowest([r.0, r.1, s.0, s.1, t.0, t.1])
            }
            CellKind::Wedge => {
                let slanted = one - r - s + (m + m);
                lowest([r + m, s + m, slanted, t + m, one - t + m])
            }
        }
    }
}

/// The place of the smallest number, and the number.
#[inline(always)]
fn lowest<S: Number, const N: usize>(values: [S; N]) -> (S, S) {
    let mut least = (S::constant(0.0), values[0]);
    for (j, &c) in values.iter().enumerate().skip(1) {
        let less = c.less(least.1);
        least = (
            S::choose(less, S::constant(j as f64), least.0),
            S::choose(less, c, least.1),
        );
    }
    least
}
