//! Reference meaning of fields on meshes: cells by a search of all of them, derivatives by jets.
//!
//! Basis functions are evaluated from their products, at jets where derivatives are wanted: the inverse map is found as a
//! series by the fixed point of Newton's step, and a function composed with it has the derivatives in the world. Only
//! the reader of files and the table of elements are shared with the primitives that generated code calls.

use super::{mesh_tables::EvalTables, primitives::place_among};
use crate::ir::{fem::FemField, interface::Interface, leaf::distinct_derivatives};
use ein_ir::Jet;
use runtime::fem::{ArrayPlace, CellKind, Choice, Element, Family, FemArray, FemFile, FemSeries};
use std::{path::Path, sync::Arc};

/// A position in a mesh: the cell, or a negative number, and the position in the reference cell.
pub type CellPosition = (i64, Vec<f64>);

/// A mesh as the evaluators see it.
#[derive(Debug)]
pub struct EvalMesh {
    dim: usize,
    file: Arc<FemFile>,
    /// The tolerance of positions.
    theta: f64,
}

/// Values on a mesh as the evaluators see them.
#[derive(Clone, Debug)]
pub struct EvalFem {
    mesh: Arc<EvalMesh>,
    /// The values at each time.
    frames: Arc<Vec<EvalFrame>>,
    /// The times of the frames.
    times: Arc<Vec<f64>>,
}

/// Values at one time.
#[derive(Clone, Debug)]
struct EvalFrame {
    file: Arc<FemFile>,
    array: FemArray,
    /// The component of the array for each component of a value.
    components: Vec<usize>,
}

/// What a file says of a mesh at one time or several: frames and their times.
#[derive(Clone, Debug)]
pub struct EvalFile {
    frames: Vec<Arc<FemFile>>,
    times: Vec<f64>,
}

impl EvalFile {
    /// A mesh at several times.
    pub fn over_time(frames: Vec<Arc<FemFile>>, times: Vec<f64>) -> EvalFile {
        EvalFile { frames, times }
    }
}

/// A file of one time.
impl From<Arc<FemFile>> for EvalFile {
    fn from(file: Arc<FemFile>) -> EvalFile {
        EvalFile::over_time(vec![file], vec![0.0])
    }
}

/// The meshes of a program and the values on them.
#[derive(Clone, Debug, Default)]
pub struct EvalMeshes {
    /// The meshes by their numbers.
    pub meshes: Vec<Arc<EvalMesh>>,
    /// The values by their numbers.
    pub fems: Vec<EvalFem>,
    /// The tables that code for these meshes reads.
    pub tables: Vec<Arc<EvalTables>>,
}

impl EvalMeshes {
    /// Loads the files that a program names.
    ///
    /// # Panics
    /// If one cannot be read.
    pub fn load(interface: &Interface, double: bool) -> EvalMeshes {
        let read = interface.meshes.iter().enumerate().map(|(n, mesh)| {
            let file = Path::new(mesh.file.as_ref().expect("a mesh has a file"));
            if !interface.is_over_time(n) {
                let file = FemFile::read(file).unwrap_or_else(|e| panic!("{e}"));
                return EvalFile::from(Arc::new(file));
            }
            let series = FemSeries::open(file).unwrap_or_else(|e| panic!("{e}"));
            let frames = (0..series.frames()).map(|n| {
                let frame = series.read(n).unwrap_or_else(|e| panic!("{e}"));
                Arc::new(frame)
            });
            let times = (0..series.frames()).map(|n| series.times().time(n));
            EvalFile::over_time(frames.collect(), times.collect())
        });
        EvalMeshes::new(interface, &read.collect::<Vec<_>>(), double)
    }

    /// The same from what the files say, one for each mesh.
    ///
    /// # Panics
    /// If an array is missing.
    pub fn new(interface: &Interface, files: &[EvalFile], double: bool) -> EvalMeshes {
        let meshes: Vec<Arc<EvalMesh>> = (interface.meshes.iter().zip(files))
            .map(|(mesh, file)| Arc::new(EvalMesh::new(file.frames[0].clone(), mesh.dim, double)))
            .collect();
        let fems = interface.fems.iter().map(|fem| {
            let EvalFile { frames, times } = &files[fem.mesh as usize];
            let choice = Choice {
                array: fem.array.as_deref(),
                variable: &fem.variable,
                shape: fem.shape.dims(),
            };
            let frame = |file: &Arc<FemFile>| {
                let array = choice.find(file).unwrap_or_else(|e| panic!("{e}"));
                EvalFrame {
                    components: choice.components(array).unwrap_or_else(|e| panic!("{e}")),
                    array: array.clone(),
                    file: file.clone(),
                }
            };
            EvalFem {
                mesh: meshes[fem.mesh as usize].clone(),
                frames: Arc::new(frames.iter().map(frame).collect()),
                times: Arc::new(times.clone()),
            }
        });
        EvalMeshes {
            fems: fems.collect(),
            meshes,
            tables: Vec::new(),
        }
    }
}

impl EvalFem {
    /// The numbers of the array, of all frames.
    pub(super) fn values(&self) -> Vec<f64> {
        let frames = self.frames.iter();
        frames
            .flat_map(|frame| frame.array.values.iter().copied())
            .collect()
    }

    /// The times of the frames.
    pub(super) fn times(&self) -> &[f64] {
        &self.times
    }

    /// The mesh.
    pub(super) fn mesh(&self) -> &EvalMesh {
        &self.mesh
    }
}

impl EvalMesh {
    /// Its dimension.
    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    fn own_cells(&self) -> impl Iterator<Item = usize> {
        let cells = 0..self.file.cells.len();
        cells.filter(|&n| self.file.cells.at(n).element.cell.dim() == self.dim)
    }

    /// The number of cells.
    pub(super) fn cells(&self) -> usize {
        self.own_cells().count()
    }

    /// The nodes of all cells.
    pub(super) fn points(&self) -> impl Iterator<Item = [f64; 3]> {
        self.own_cells().flat_map(|n| self.file.nodes(n))
    }

    fn new(file: Arc<FemFile>, dim: usize, double: bool) -> EvalMesh {
        let of_dim = (0..file.cells.len()).filter(|&n| file.cells.at(n).element.cell.dim() == dim);
        let points: Vec<[f64; 3]> = of_dim.flat_map(|n| file.nodes(n)).collect();
        let (mut largest, mut square) = (0.0_f64, 0.0);
        for axis in 0..dim {
            let along = || points.iter().map(|p| p[axis]);
            let (low, high) = (
                along().fold(f64::INFINITY, f64::min),
                along().fold(f64::NEG_INFINITY, f64::max),
            );
            largest = largest.max(low.abs()).max(high.abs());
            square += (high - low) * (high - low);
        }
        let epsilon = if double {
            f64::EPSILON / 2.0
        } else {
            f64::from(f32::EPSILON) / 2.0
        };
        EvalMesh {
            dim,
            file,
            theta: 4.0 * epsilon * (largest + square.sqrt()),
        }
    }

    /// The cell of a position: the one that holds it, or else the lowest-numbered that accepts it.
    pub fn locate(&self, at: &[f64]) -> CellPosition {
        let mut best: Option<(u32, CellPosition)> = None;
        for n in 0..self.file.cells.len() {
            let cell = &self.file.cells.at(n);
            if cell.element.cell.dim() != self.dim || !self.is_near(n, at) {
                continue;
            }
            let Some((xi, inverse)) = self.invert(n, at) else {
                continue;
            };
            let kind = cell.element.cell;
            let position = padded(&xi);
            let (mut holds, mut accepts) = (true, true);
            for j in 0..kind.faces() {
                let c = kind.constraint(j, &position);
                // Constraints are linear, so differences are derivatives.
                let gradient = |a: usize| {
                    let mut unit = [0.0; 3];
                    unit[a] = 1.0;
                    kind.constraint(j, &unit) - kind.constraint(j, &[0.0; 3])
                };
                let along = |i: usize| {
                    (0..self.dim)
                        .map(|a| gradient(a) * inverse[a][i])
                        .sum::<f64>()
                };
                let slope = (0..self.dim).map(|i| along(i).powi(2)).sum::<f64>().sqrt();
                holds &= c > 2.0 * self.theta * slope;
                accepts &= c >= -self.theta * slope;
            }
            if holds {
                return (n as i64, xi);
            }
            if accepts
                && best
                    .as_ref()
                    .is_none_or(|(number, _)| cell.number < *number)
            {
                best = Some((cell.number, (n as i64, xi)));
            }
        }
        best.map_or_else(|| (-1, vec![f64::NAN; self.dim]), |(_, place)| place)
    }

    /// The number of a cell in the file.
    pub fn number(&self, cell: i64) -> i64 {
        match usize::try_from(cell) {
            Ok(cell) => self.file.cells.at(cell).number.into(),
            Err(_) => -1,
        }
    }

    /// Whether a position is in the box of the nodes of a cell, made twice as large.
    fn is_near(&self, cell: usize, at: &[f64]) -> bool {
        (0..self.dim).all(|a| {
            let along = || self.file.nodes(cell).map(|p| p[a]);
            let low = along().fold(f64::INFINITY, f64::min);
            let high = along().fold(f64::NEG_INFINITY, f64::max);
            let margin = (high - low) / 2.0 + self.theta;
            at[a] >= low - margin && at[a] <= high + margin
        })
    }

    /// The image of a reference position that may be a jet.
    fn image(&self, cell: usize, xi: &[Jet]) -> Vec<Jet> {
        let weights = basis(self.file.cells.at(cell).element, xi);
        let nodes: Vec<[f64; 3]> = self.file.nodes(cell).collect();
        (0..self.dim)
            .map(|i| combine(&weights, |n| nodes[n][i]))
            .collect()
    }

    /// The image of a reference position, and the inverse of the Jacobian there.
    fn linearized(&self, cell: usize, xi: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let variables: Vec<Jet> = (0..self.dim)
            .map(|a| Jet::variable(self.dim, 1, a, xi[a]))
            .collect();
        let image = self.image(cell, &variables);
        let jacobian: Vec<Vec<f64>> = image
            .iter()
            .map(|x| (0..self.dim).map(|a| x.partial(&[a])).collect())
            .collect();
        (image.iter().map(Jet::value).collect(), inverted(jacobian))
    }

    /// The reference position that is mapped to a position, by Newton's iteration from the centre and then from the nodes.
    fn invert(&self, cell: usize, at: &[f64]) -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
        let element = self.file.cells.at(cell).element;
        let centre = vec![element.cell.centre(); self.dim];
        let nodes = (0..element.nodes().len()).map(|n| element.node(n)[..self.dim].to_vec());
        std::iter::once(centre).chain(nodes).find_map(|start| {
            let mut xi = start;
            for _ in 0..60 {
                let (image, inverse) = self.linearized(cell, &xi);
                let mut longest = 0.0_f64;
                for a in 0..self.dim {
                    let step: f64 = (0..self.dim)
                        .map(|i| inverse[a][i] * (at[i] - image[i]))
                        .sum();
                    xi[a] = (xi[a] + step).clamp(-1.0, 2.0);
                    longest = longest.max(step.abs());
                }
                if longest < 1e-14 {
                    return Some((xi, inverse));
                }
                if longest.is_nan() {
                    return None;
                }
            }
            // Rounding may keep the last steps from becoming smaller.
            let (image, inverse) = self.linearized(cell, &xi);
            let off = |a: usize| {
                (0..self.dim)
                    .map(|i| inverse[a][i] * (at[i] - image[i]))
                    .sum::<f64>()
            };
            (0..self.dim)
                .all(|a| off(a).abs() < 1e-10)
                .then_some((xi, inverse))
        })
    }

    /// The reference position as a series of the position in the world, about a place.
    fn inverse_series(&self, cell: usize, xi: &[f64], order: usize) -> Vec<Jet> {
        let (image, inverse) = self.linearized(cell, xi);
        let wanted: Vec<Jet> = (0..self.dim)
            .map(|i| Jet::variable(self.dim, order, i, image[i]))
            .collect();
        let mut series: Vec<Jet> = xi
            .iter()
            .map(|&x| Jet::constant(self.dim, order, x))
            .collect();
        // Each round makes one more order right.
        for _ in 0..order {
            let found = self.image(cell, &series);
            let off: Vec<Jet> = wanted.iter().zip(&found).map(|(w, f)| w - f).collect();
            for (a, coordinate) in series.iter_mut().enumerate() {
                for (i, off) in off.iter().enumerate() {
                    *coordinate = &*coordinate + &off.scale(inverse[a][i]);
                }
            }
        }
        series
    }
}

impl EvalFem {
    /// The Taylor series of the components at a place, and at a time if the values are over time: linear from frame to frame, and the
    /// nearest frame beyond them.
    pub fn expand(
        &self,
        field: &FemField,
        place: &CellPosition,
        time: Option<f64>,
        order: usize,
    ) -> Vec<Jet> {
        let Some(time) = time.filter(|_| place.0 >= 0) else {
            return self.expand_frame(0, field, place, order);
        };
        let last = self.times.len() - 1;
        let position = place_among(&self.times, time).0.clamp(0.0, last as f64);
        let before = (position as usize).min(last.saturating_sub(1));
        let fraction = position - before as f64;
        let [before, after] = [before, (before + 1).min(last)]
            .map(|frame| self.expand_frame(frame, field, place, order));
        let pairs = before.iter().zip(&after);
        pairs
            .map(|(a, b)| &a.scale(1.0 - fraction) + &b.scale(fraction))
            .collect()
    }

    /// The same of one frame.
    fn expand_frame(
        &self,
        frame: usize,
        field: &FemField,
        (cell, xi): &CellPosition,
        order: usize,
    ) -> Vec<Jet> {
        let EvalFrame {
            file,
            array,
            components,
        } = &self.frames[frame];
        let constant = |x: f64| Jet::constant(field.dim, order, x);
        let Ok(cell) = usize::try_from(*cell) else {
            return match &field.outside {
                Some(values) => values.iter().map(|x| constant(x.get())).collect(),
                None => vec![Jet::from_fn(field.dim, order, |_| f64::NAN); field.shape.size()],
            };
        };
        let value = |tuple: usize, c: usize| array.values[tuple * array.components + c];
        if array.place == ArrayPlace::Cells {
            let values = components.iter().map(|&c| constant(value(cell, c)));
            return values.collect();
        }
        let source = &file.cells.at(cell);
        let weights = basis(source.element, &self.mesh.inverse_series(cell, xi, order));
        let tuple = |n: usize| match array.place {
            ArrayPlace::CellNodes => source.first + n,
            _ => file.connectivity[source.first + n] as usize,
        };
        components
            .iter()
            .map(|&c| combine(&weights, |n| value(tuple(n), c)))
            .collect()
    }

    /// The place of a position in the mesh.
    pub fn locate(&self, at: &[f64]) -> CellPosition {
        self.mesh.locate(at)
    }

    /// The derivatives of an order at a place, and perhaps at a time: by component, then distinct derivative.
    pub fn derivatives(
        &self,
        field: &FemField,
        place: &CellPosition,
        time: Option<f64>,
        order: usize,
    ) -> Vec<f64> {
        let distinct = distinct_derivatives(field.dim, order);
        self.expand(field, place, time, order)
            .iter()
            .flat_map(|jet| {
                distinct
                    .iter()
                    .map(|axes| jet.partial(axes))
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}

/// A sum of basis functions with the values at their nodes.
fn combine(weights: &[Jet], value: impl Fn(usize) -> f64) -> Jet {
    let terms = weights.iter().enumerate().map(|(n, w)| w.scale(value(n)));
    terms.reduce(|a, b| &a + &b).expect("an element has nodes")
}

/// The basis functions of an element at a reference position.
fn basis(element: &Element, xi: &[Jet]) -> Vec<Jet> {
    let (dim, k) = (element.cell.dim(), element.degree as f64);
    let number = |x: f64| Jet::constant(xi[0].dim(), xi[0].order(), x);
    // (k·x − m) / scale
    let factor = |x: &Jet, m: f64, scale: f64| (&x.scale(k) - &number(m)).scale(1.0 / scale);
    // The axes of a simplex; along the others the cell is an interval.
    let simplex = match element.cell {
        CellKind::Wedge => 2,
        cell if cell.is_simplex() => dim,
        _ => 0,
    };
    let rest = xi[..simplex].iter().fold(number(1.0), |rest, x| &rest - x);
    let one = |node: &[u8; 3]| {
        let mut product = number(1.0);
        if element.family == Family::Serendipity && element.cell == CellKind::Wedge {
            return wedge_with_edges([&rest, &xi[0], &xi[1], &xi[2]], node);
        }
        if element.family == Family::Serendipity {
            let side = |a: usize| f64::from(node[a]) - 1.0;
            let from_centre: Vec<Jet> = xi.iter().map(|x| &x.scale(2.0) - &number(1.0)).collect();
            let mut sum = number(1.0 - dim as f64);
            for (a, x) in from_centre.iter().enumerate().take(dim) {
                let along = x.scale(side(a));
                product = match side(a) {
                    0.0 => &product * &(&number(1.0) - &(x * x)),
                    _ => &product * &(&number(1.0) + &along).scale(0.5),
                };
                sum = &sum + &along;
            }
            let is_corner = (0..dim).all(|a| side(a) != 0.0);
            return if is_corner { &product * &sum } else { product };
        }
        if simplex > 0 {
            let total: u8 = node[..simplex].iter().sum();
            for m in 0..element.degree as u8 - total {
                product = &product * &factor(&rest, m.into(), f64::from(m) + 1.0);
            }
            for a in 0..simplex {
                for m in 0..node[a] {
                    product = &product * &factor(&xi[a], m.into(), f64::from(m) + 1.0);
                }
            }
        }
        for a in simplex..dim {
            for m in (0..element.degree as u8 + 1).filter(|&m| m != node[a]) {
                let scale = f64::from(node[a]) - f64::from(m);
                product = &product * &factor(&xi[a], m.into(), scale);
            }
        }
        product
    };
    element.nodes().iter().map(one).collect()
}

/// The function of a node of a wedge with fifteen nodes, from the barycentric coordinates of its triangle and the height.
fn wedge_with_edges([a, b, c, height]: [&Jet; 4], node: &[u8; 3]) -> Jet {
    let number = |x: f64| Jet::constant(height.dim(), height.order(), x);
    let (up, down) = (height.clone(), &number(1.0) - height);
    // The triangle's functions at the bottom, in the middle and at the top, less those of the nodes between a corner and its like.
    let (near, far) = match node[2] {
        0 => (&down, &up),
        _ => (&up, &down),
    };
    let parts = [2 - node[0] - node[1], node[0], node[1]];
    let own: Vec<&Jet> = [a, b, c]
        .into_iter()
        .zip(parts)
        .filter_map(|(l, part)| (part > 0).then_some(l))
        .collect();
    match (&own[..], node[2]) {
        ([l], 1) => (&(&up * &down) * *l).scale(4.0),
        ([l], _) => {
            let bracket = &(&l.scale(2.0) - &number(1.0)) - &far.scale(2.0);
            &(*l * near) * &bracket
        }
        ([l, m], _) => (&(*l * *m) * near).scale(4.0),
        _ => unreachable!("a node is a corner of the triangle or between two"),
    }
}

fn padded(xi: &[f64]) -> [f64; 3] {
    std::array::from_fn(|a| xi.get(a).copied().unwrap_or(0.0))
}

/// The inverse of a matrix, by elimination.
fn inverted(matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut rows: Vec<Vec<f64>> = matrix;
    for (i, row) in rows.iter_mut().enumerate() {
        row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
    }
    for column in 0..n {
        let largest =
            |a: &usize, b: &usize| rows[*a][column].abs().total_cmp(&rows[*b][column].abs());
        let pivot = (column..n).max_by(largest).expect("a row is left");
        rows.swap(column, pivot);
        let own: Vec<f64> = rows[column]
            .iter()
            .map(|x| x / rows[column][column])
            .collect();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = if i == column { 0.0 } else { row[column] };
            row.iter_mut().zip(&own).for_each(|(x, o)| *x -= factor * o);
        }
        rows[column] = own;
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}
