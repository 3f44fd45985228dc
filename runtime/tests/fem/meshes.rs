//! Meshes made for tests: grids of cells of any element, shaken and bent, every cell with points of its own.

use runtime::fem::{ArrayPlace, CellKind, Element, FemArray, FemFile, FileCell};

/// Numbers that look random.
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) ^ (self.0 >> 13 & 0xffff)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.next() as f64 / (1_u64 << 31) as f64
    }

    /// A position in a reference cell.
    pub(crate) fn in_cell(&mut self, kind: CellKind) -> [f64; 3] {
        let mut xi = [0.0; 3];
        loop {
            xi[..kind.dim()].iter_mut().for_each(|x| *x = self.unit());
            if (0..kind.faces()).all(|j| kind.constraint(j, &xi) >= 0.0) {
                return xi;
            }
        }
    }
}

/// A grid of `n` cubes along each axis of the unit cube, each one cell or divided into simplices; corners inside are moved by
/// up to `shake` of an edge, then every node is mapped.
pub(crate) fn grid(
    element: &'static Element,
    n: usize,
    shake: f64,
    map: impl Fn([f64; 3]) -> [f64; 3],
) -> FemFile {
    let (kind, dim) = (element.cell, element.cell.dim());
    let layers = if dim == 3 { n } else { 1 };
    let corner = |at: [usize; 3]| -> [f64; 3] {
        let number = (at[0] * 1009 + at[1]) * 1013 + at[2];
        let mut random = Random(number as u64 * 7919 + 12345);
        std::array::from_fn(|a| {
            if a >= dim {
                return 0.0;
            }
            random.next();
            let inner = at[a] > 0 && at[a] < n;
            let off = if inner {
                shake * (2.0 * random.unit() - 1.0)
            } else {
                0.0
            };
            (at[a] as f64 + off) / n as f64
        })
    };
    let mut file = FemFile::default();
    for z in 0..layers {
        for y in 0..n {
            for x in 0..n {
                for corners in cells_of_a_cube(kind) {
                    let corners: Vec<[f64; 3]> = corners
                        .iter()
                        .map(|c| corner([x + c[0], y + c[1], z + c[2]]))
                        .collect();
                    file.cells.push(FileCell {
                        element,
                        first: file.connectivity.len(),
                        number: file.cells.len() as u32,
                    });
                    for node in 0..element.nodes().len() {
                        file.connectivity.push(file.points.len() as u32);
                        file.points
                            .push(map(blend(kind, &corners, &element.node(node))));
                    }
                }
            }
        }
    }
    file
}

/// The (multi)linear map of corners.
pub(crate) fn blend(kind: CellKind, corners: &[[f64; 3]], xi: &[f64; 3]) -> [f64; 3] {
    let mut at = [0.0; 3];
    for (weight, corner) in kind.corner_weights(xi).zip(corners) {
        (0..3).for_each(|i| at[i] += weight * corner[i]);
    }
    at
}

fn cells_of_a_cube(kind: CellKind) -> Vec<Vec<[usize; 3]>> {
    let paths: &[[usize; 3]] = &[
        [0, 1, 2],
        [1, 2, 0],
        [2, 0, 1],
        [0, 2, 1],
        [1, 0, 2],
        [2, 1, 0],
    ];
    match kind {
        CellKind::Triangle => vec![
            vec![[0, 0, 0], [1, 0, 0], [1, 1, 0]],
            vec![[0, 0, 0], [1, 1, 0], [0, 1, 0]],
        ],
        CellKind::Quadrilateral => vec![vec![[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]],
        CellKind::Tetrahedron => paths
            .iter()
            .enumerate()
            .map(|(n, path)| {
                let mut at = [0; 3];
                let mut corners = vec![at];
                for &axis in path {
                    at[axis] = 1;
                    corners.push(at);
                }
                if n >= 3 {
                    corners.swap(1, 2);
                }
                corners
            })
            .collect(),
        CellKind::Hexahedron => vec![vec![
            [0, 0, 0],
            [1, 0, 0],
            [1, 1, 0],
            [0, 1, 0],
            [0, 0, 1],
            [1, 0, 1],
            [1, 1, 1],
            [0, 1, 1],
        ]],
        CellKind::Wedge => [[[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 1], [0, 1]]]
            .map(|half| [0, 1].map(|z| half.map(|[x, y]| [x, y, z])).concat())
            .to_vec(),
    }
}

/// Adds an array of values at the points.
pub(crate) fn with_array(
    mut file: FemFile,
    name: &str,
    value: impl Fn([f64; 3]) -> f64,
) -> FemFile {
    let values = file.points.iter().map(|&p| value(p)).collect();
    file.arrays.push(FemArray {
        name: name.to_string(),
        place: ArrayPlace::Points,
        components: 1,
        values,
    });
    file
}
