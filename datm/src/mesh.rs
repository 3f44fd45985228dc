//! Fields on meshes: programs have the field from finite elements instead of an image.
//!
//! The samples of a grid are the nodes of its cells: an edge of a cell is as many steps of the grid long as the element has degrees. Nodes
//! and values are dyadic, so they are exact. The polynomial is one that the element has in every cell; where the mesh is bent, by a
//! polynomial map with a polynomial inverse, so is what the program then sees in the world.

use crate::grid::{GRID_BITS, Grid, POSITION_BITS, Position};
use crate::number::Number;
use crate::polynomial::{MAX_TOTAL_DEGREE, Polynomial};
use crate::random::Stream;
use runtime::fem::{ArrayPlace, CellKind, Element, FemArray, FemFile, FileCell};
use std::fmt::{self, Write};
use std::str::FromStr;

/// The name of the array in the files.
pub(crate) const ARRAY: &str = "u";

/// The shape of the cells of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellShape {
    /// Triangles and tetrahedra.
    Simplices,
    /// Squares and cubes.
    Cubes,
    /// Triangles and wedges.
    Wedges,
}

/// The shapes with the letters of their labels, and their elements in two and three dimensions without the degree.
const SHAPES: [(char, CellShape, [&str; 2]); 3] = [
    ('p', CellShape::Simplices, ["tri-p", "tet-p"]),
    ('q', CellShape::Cubes, ["quad-q", "hex-q"]),
    ('w', CellShape::Wedges, ["tri-p", "wedge-p"]),
];

/// Which mesh a field is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshKind {
    /// The shape of its cells.
    pub shape: CellShape,
    /// The degree of the element.
    pub degree: u8,
    /// Whether corners inside are moved.
    pub shaken: bool,
    /// Whether cells are curved.
    pub bent: bool,
}

impl FromStr for MeshKind {
    type Err = String;

    fn from_str(text: &str) -> Result<MeshKind, String> {
        let wrong = || {
            format!(
                "found the mesh `{text}`, wanted p1 to p4, q1 to q3 or w1 to w3, then -shaken, -bent or both"
            )
        };
        let mut words = text.split('-');
        let space = words.next().unwrap_or_default();
        let shape = SHAPES
            .iter()
            .find(|(letter, ..)| space.starts_with(*letter));
        let degree = space.get(1..).and_then(|n| n.parse().ok());
        let mut kind = MeshKind {
            shape: shape.ok_or_else(wrong)?.1,
            degree: degree.ok_or_else(wrong)?,
            shaken: false,
            bent: false,
        };
        for word in words {
            match word {
                "shaken" => kind.shaken = true,
                "bent" => kind.bent = true,
                _ => return Err(wrong()),
            }
        }
        let has_elements = [2, 3].iter().all(|&dim| kind.element(dim).is_some());
        if !has_elements || kind.bent && kind.degree < 2 {
            return Err(wrong());
        }
        Ok(kind)
    }
}

impl fmt::Display for MeshKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = |on: bool, name: &'static str| if on { name } else { "" };
        let (space, ..) = self.row();
        let (shaken, bent) = (flag(self.shaken, "-shaken"), flag(self.bent, "-bent"));
        write!(f, "{space}{}{shaken}{bent}", self.degree)
    }
}

impl MeshKind {
    fn row(self) -> (char, CellShape, [&'static str; 2]) {
        let row = SHAPES.iter().find(|(_, shape, _)| *shape == self.shape);
        *row.expect("every shape has a row")
    }

    /// The element in this many dimensions; there is none in one.
    fn element(self, dim: usize) -> Option<&'static Element> {
        let (.., cells) = self.row();
        let cell = cells.get(dim.checked_sub(2)?)?;
        Element::named(&format!("{cell}{}", self.degree))
    }

    /// The highest degree of polynomials on the straight mesh. Bending doubles it.
    pub(crate) fn degree_limit(self) -> usize {
        let limit = if self.bent {
            MAX_TOTAL_DEGREE / 2
        } else {
            MAX_TOTAL_DEGREE
        };
        limit.min(self.degree.into())
    }

    /// The polynomial in the world of one on the straight mesh.
    pub(crate) fn in_world(self, straight: &Polynomial, dim: usize) -> Polynomial {
        if self.bent {
            straight.with_last_minus_square(dim - 1)
        } else {
            straight.clone()
        }
    }

    /// The mesh over a grid, and the values of polynomials on it. None in one dimension.
    pub(crate) fn file(
        self,
        grid: &Grid,
        polynomials: &[Polynomial],
        stream: &mut Stream,
    ) -> Option<FemFile> {
        let (dim, degree) = (grid.dim(), usize::from(self.degree));
        let element = self.element(dim)?;
        let cells: Vec<usize> = grid.sizes.iter().map(|n| (n - 1) / degree).collect();
        let moved = self.displacements(grid, &cells, stream);
        let mut file = FemFile::default();
        let mut values = Vec::new();
        crate::data::for_each_index(&cells, |cube| {
            for corners in corners_of_cells(element.cell) {
                file.cells.push(FileCell {
                    element,
                    first: file.connectivity.len(),
                    number: file.cells.len() as u32,
                });
                for node in element.nodes() {
                    let (index, by) = self.node(cube, &corners, node, &cells, &moved);
                    let place: Vec<i64> = grid
                        .sample_place(&index)
                        .iter()
                        .zip(&by)
                        .map(|(x, d)| x + d)
                        .collect();
                    values.extend(polynomials.iter().map(|p| p.value_on_grid(&place)));
                    file.connectivity.push(file.points.len() as u32);
                    file.points.push(self.bend(&place));
                }
            }
        });
        file.arrays.push(FemArray {
            name: ARRAY.to_string(),
            place: ArrayPlace::Points,
            components: polynomials.len(),
            values,
        });
        Some(file)
    }

    /// By how much each corner is moved, first axis fastest: multiples of a number that all weights of nodes divide, and not on the border.
    fn displacements(self, grid: &Grid, cells: &[usize], stream: &mut Stream) -> Vec<Vec<i64>> {
        let degree = i64::from(self.degree);
        let unit = match self.shape {
            CellShape::Simplices => 12,
            CellShape::Cubes | CellShape::Wedges => degree.pow(3),
        };
        let lengths = grid.directions().into_iter();
        let shortest = lengths.map(|d| d.iter().map(|x| x * x).sum::<f64>().sqrt());
        let edge =
            shortest.fold(f64::INFINITY, f64::min) * f64::from(1 << GRID_BITS) * degree as f64;
        let most = if self.shaken {
            (edge / 16.0) as i64 / unit
        } else {
            0
        };
        let mut all = Vec::new();
        let sizes: Vec<usize> = cells.iter().map(|n| n + 1).collect();
        crate::data::for_each_index(&sizes, |corner| {
            let inner = corner.iter().zip(cells).all(|(&i, &n)| i > 0 && i < n);
            let most = if inner { most } else { 0 };
            all.push(
                corner
                    .iter()
                    .map(|_| unit * stream.between(-most, most))
                    .collect(),
            );
        });
        all
    }

    /// Which sample a node is, and by how much it is moved with the corners of its cell.
    fn node(
        self,
        cube: &[usize],
        corners: &[[usize; 3]],
        node: &[u8; 3],
        cells: &[usize],
        moved: &[Vec<i64>],
    ) -> (Vec<usize>, Vec<i64>) {
        let (dim, degree) = (cube.len(), i64::from(self.degree));
        let at = node.map(i64::from);
        // The weight of a corner of a simplex, whose first corner is the origin.
        let over_simplex = |corner: usize, axes: &[i64]| match corner {
            0 => degree - axes.iter().sum::<i64>(),
            _ => axes[corner - 1],
        };
        let along = |corner: usize, a: usize| match corners[corner][a] {
            1 => at[a],
            _ => degree - at[a],
        };
        let (shape, whole) = match (self.shape, dim) {
            (CellShape::Wedges, 3) => (CellShape::Wedges, degree.pow(2)),
            (CellShape::Cubes, _) => (CellShape::Cubes, degree.pow(dim as u32)),
            _ => (CellShape::Simplices, degree),
        };
        let weight = |corner: usize| -> i64 {
            match shape {
                CellShape::Cubes => (0..dim).map(|a| along(corner, a)).product(),
                CellShape::Simplices => over_simplex(corner, &at),
                CellShape::Wedges => over_simplex(corner % 3, &at[..2]) * along(corner, 2),
            }
        };
        let sum = |of: &dyn Fn(usize) -> i64| -> i64 {
            (0..corners.len()).map(|c| weight(c) * of(c)).sum::<i64>() / whole
        };
        let index = |a: usize| sum(&|c| degree * (cube[a] + corners[c][a]) as i64) as usize;
        let number = |c: usize| {
            let axes = (0..dim).rev();
            axes.fold(0, |n, a| n * (cells[a] + 1) + cube[a] + corners[c][a])
        };
        let by = |a: usize| sum(&|c| moved[number(c)][a]);
        ((0..dim).map(index).collect(), (0..dim).map(by).collect())
    }

    /// The point of the mesh of a place on the straight one, exactly.
    fn bend(self, place: &[i64]) -> [f64; 3] {
        let mut point = [0.0; 3];
        for (x, &n) in point.iter_mut().zip(place) {
            *x = n as f64 / f64::from(1 << GRID_BITS);
        }
        if self.bent {
            point[place.len() - 1] += point[0] * point[0];
        }
        point
    }

    /// A position of the mesh near that of one on the straight mesh.
    pub(crate) fn bend_position(self, mut position: Position) -> Position {
        if self.bent
            && let [first, .., last] = &mut position.numerators[..]
        {
            *last += (i128::from(*first).pow(2) >> POSITION_BITS) as i64;
        }
        position
    }

    /// The place on the straight mesh of a point in the world.
    pub(crate) fn straighten(self, mut at: Vec<Number>) -> Vec<Number> {
        if self.bent
            && let [first, .., last] = &mut at[..]
        {
            *last = last.minus(&first.times(first));
        }
        at
    }
}

/// The corners of the cells of a cube, each by its steps along the axes.
fn corners_of_cells(cell: CellKind) -> Vec<Vec<[usize; 3]>> {
    let path = |axes: &[usize]| {
        let mut at = [0; 3];
        let mut corners = vec![at];
        for &axis in axes {
            at[axis] = 1;
            corners.push(at);
        }
        corners
    };
    let paths: &[&[usize]] = match cell {
        CellKind::Triangle => &[&[0, 1], &[1, 0]],
        CellKind::Tetrahedron => &[
            &[0, 1, 2],
            &[1, 2, 0],
            &[2, 0, 1],
            &[0, 2, 1],
            &[1, 0, 2],
            &[2, 1, 0],
        ],
        CellKind::Quadrilateral => return vec![vec![[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]],
        CellKind::Hexahedron => {
            let ring = [[0, 0], [1, 0], [1, 1], [0, 1]];
            let layer = |z: usize| ring.map(|[x, y]| [x, y, z]);
            return vec![[layer(0), layer(1)].concat()];
        }
        CellKind::Wedge => {
            let halves = [[[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 1], [0, 1]]];
            let layer = |half: [[usize; 2]; 3], z: usize| half.map(|[x, y]| [x, y, z]);
            let wedge = |half| [layer(half, 0), layer(half, 1)].concat();
            return halves.into_iter().map(wedge).collect();
        }
    };
    paths.iter().map(|axes| path(axes)).collect()
}

/// The text of a VTU file.
pub fn vtu(file: &FemFile) -> Vec<u8> {
    let mut text = format!(
        "<VTKFile type=\"UnstructuredGrid\" version=\"2.1\" byte_order=\"LittleEndian\"><UnstructuredGrid>\n\
         <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
        file.points.len(),
        file.cells.len()
    );
    let mut array = |part: &str,
                     name: &str,
                     kind: &str,
                     components: usize,
                     numbers: Vec<String>| {
        let (open, close) = part.split_once('|').unwrap_or((part, ""));
        let _ = writeln!(
            text,
            "{open}<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"ascii\">\n{}\n</DataArray>{close}",
            numbers.join(" ")
        );
    };
    let reals = |list: &[f64]| list.iter().map(|x| format!("{x:?}")).collect();
    array(
        "<Points>|</Points>",
        "Points",
        "Float64",
        3,
        reals(file.points.as_flattened()),
    );
    let connectivity = file.connectivity.iter().map(u32::to_string).collect();
    array("<Cells>|", "connectivity", "Int64", 1, connectivity);
    let ends = file
        .cells
        .iter()
        .map(|cell| (cell.first + cell.element.nodes().len()).to_string());
    array("", "offsets", "Int64", 1, ends.collect());
    // The cells of any degree.
    let number = |cell: FileCell| match cell.element.cell {
        CellKind::Triangle => "69",
        CellKind::Quadrilateral => "70",
        CellKind::Tetrahedron => "71",
        CellKind::Hexahedron => "72",
        CellKind::Wedge => "73",
    };
    let types = file.cells.iter().map(|cell| number(cell).to_string());
    array("|</Cells>", "types", "UInt8", 1, types.collect());
    for values in &file.arrays {
        array(
            "<PointData>|</PointData>",
            &values.name,
            "Float64",
            values.components,
            reals(&values.values),
        );
    }
    text += "</Piece></UnstructuredGrid></VTKFile>\n";
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Datum, draw};
    use crate::label::Case;

    #[test]
    fn names_are_read_back_and_others_refused() {
        for name in ["p1", "p4-shaken", "q3", "q2-shaken-bent", "w3-bent"] {
            assert_eq!(
                name.parse::<MeshKind>()
                    .map(|kind| kind.to_string())
                    .as_deref(),
                Ok(name)
            );
        }
        for name in ["", "p", "p5", "q4", "w4", "p1-bent", "r2", "p2-twisted"] {
            assert!(name.parse::<MeshKind>().is_err(), "{name}");
        }
    }

    #[test]
    fn files_say_what_is_in_memory() {
        for kind in ["p3-shaken-bent", "q2-shaken", "w2-shaken-bent"] {
            let case: Case = format!("jacobian(F3#4[3])|data=fem-{kind}")
                .parse()
                .expect("a label");
            let Datum::Field(field) = &draw(&case, 0)[0] else {
                panic!("a field")
            };
            let mesh = field.mesh.as_ref().expect("a mesh");
            let read = FemFile::parse(&vtu(mesh)).expect("a file");
            assert_eq!(read.points, mesh.points);
            assert_eq!(read.connectivity, mesh.connectivity);
            assert_eq!(read.arrays, mesh.arrays);
            assert_eq!(read.cells.len(), mesh.cells.len());
        }
    }
}
