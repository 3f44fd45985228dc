//! Reference cells: what location needs to know of a shape.
//!
//! Simplices are `{ξ ≥ 0, Σξ ≤ 1}`, the others unit cubes. A cell is its constraints `c_j(ξ) ≥ 0`, each belonging to one face.

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
}

/// The most faces that a cell has.
pub(super) const MAX_FACES: usize = 6;

impl CellKind {
    /// Dimension of the cell.
    pub const fn dim(self) -> usize {
        match self {
            CellKind::Triangle | CellKind::Quadrilateral => 2,
            CellKind::Tetrahedron | CellKind::Hexahedron => 3,
        }
    }

    /// Its name, for messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            CellKind::Triangle => "triangle",
            CellKind::Quadrilateral => "quadrilateral",
            CellKind::Tetrahedron => "tetrahedron",
            CellKind::Hexahedron => "hexahedron",
        }
    }

    /// Whether it is a triangle or tetrahedron rather than a square or cube.
    pub const fn is_simplex(self) -> bool {
        matches!(self, CellKind::Triangle | CellKind::Tetrahedron)
    }

    /// The number of corners; they are the first nodes of every element.
    pub const fn corners(self) -> usize {
        match self {
            CellKind::Triangle => 3,
            CellKind::Quadrilateral | CellKind::Tetrahedron => 4,
            CellKind::Hexahedron => 8,
        }
    }

    /// The corners that are one step along each axis from corner 0.
    pub(super) const fn axis_corners(self) -> &'static [usize] {
        match self {
            CellKind::Triangle => &[1, 2],
            CellKind::Quadrilateral => &[1, 3],
            CellKind::Tetrahedron => &[1, 2, 3],
            CellKind::Hexahedron => &[1, 3, 4],
        }
    }

    /// Each coordinate of the centre.
    pub const fn centre(self) -> f64 {
        match self {
            CellKind::Triangle => 1.0 / 3.0,
            CellKind::Tetrahedron => 0.25,
            CellKind::Quadrilateral | CellKind::Hexahedron => 0.5,
        }
    }

    /// The number of faces, and of constraints.
    pub const fn faces(self) -> usize {
        if self.is_simplex() {
            self.dim() + 1
        } else {
            2 * self.dim()
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
        match self {
            CellKind::Triangle => TRIANGLE[constraint],
            CellKind::Quadrilateral => QUADRILATERAL[constraint],
            CellKind::Tetrahedron => TETRAHEDRON[constraint],
            CellKind::Hexahedron => HEXAHEDRON[constraint],
        }
    }

    /// The value of a constraint.
    #[inline(always)]
    pub fn constraint(self, constraint: usize, xi: &[f64; 3]) -> f64 {
        if !self.is_simplex() {
            let x = xi[constraint / 2];
            if constraint.is_multiple_of(2) {
                x
            } else {
                1.0 - x
            }
        } else if constraint < self.dim() {
            xi[constraint]
        } else if self.dim() == 2 {
            1.0 - xi[0] - xi[1]
        } else {
            1.0 - xi[0] - xi[1] - xi[2]
        }
    }

    /// The derivative of a constraint along each reference axis.
    pub(super) fn gradient(self, constraint: usize) -> [f64; 3] {
        let mut gradient = [0.0; 3];
        if !self.is_simplex() {
            gradient[constraint / 2] = if constraint.is_multiple_of(2) {
                1.0
            } else {
                -1.0
            };
        } else if constraint < self.dim() {
            gradient[constraint] = 1.0;
        } else {
            gradient[..self.dim()].fill(-1.0);
        }
        gradient
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
