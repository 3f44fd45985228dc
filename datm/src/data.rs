//! Data of a case: tensors, sampling grids, polynomials and images, all drawn from its label.
//!
//! Also the jet of a field at a point: from the polynomial it was sampled from, or by exact reconstruction from the
//! samples; either with the noise that a program's own reconstruction may have.

use crate::border::{Border, CONTINUED};
use crate::frame::{Coefficients, DataKind, Settings};
use crate::grid::{Grid, Position};
use crate::jet::{Jet, Space};
use crate::kernel::AxisKernels;
use crate::label::Case;
use crate::mesh::MeshKind;
use crate::number::{Arithmetic, Number};
use crate::operator::Undefined;
use crate::polynomial::{MAX_TOTAL_DEGREE, Polynomial, basis, draw_quarters, sample};
use crate::program::FRAMES;
use crate::random::Stream;
use crate::reconstruct;
use crate::types::{Shape, Type};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use runtime::fem::FemFile;
use std::sync::Arc;

/// An image as a file describes it: samples with orientation, the component axis fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledField {
    /// The name of the variable and, with an extension, of the file.
    pub name: String,
    /// The shape of one sample.
    pub shape: Shape,
    /// Samples on each spatial axis, fastest first.
    pub sizes: Vec<usize>,
    /// For each spatial axis its direction in the world.
    pub directions: Vec<Vec<f64>>,
    /// The place of the first sample.
    pub origin: Vec<f64>,
    /// The samples: components of a sample together, row-major; then the spatial axes, fastest first.
    pub samples: Vec<f64>,
}

/// The times of the frames of an image over time: a derivative at 0.5 is between two of them, and a second is not a frame.
pub(crate) const TIMES: [f64; 5] = [-3.0, -1.0, 1.0, 3.0, 5.0];

impl SampledField {
    /// The samples of all frames of an image over time, this image times t².
    pub(crate) fn frames(&self) -> Vec<f64> {
        let frame = |time: f64| self.samples.iter().map(move |x| x * time * time);
        TIMES.into_iter().flat_map(frame).collect()
    }
}

/// Where a field's true values come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// One polynomial per component, which the kernel reproduces.
    Polynomials(Vec<Polynomial>),
    /// The same, but programs have the polynomials themselves instead of the image.
    Formulas(Vec<Polynomial>),
    /// The samples themselves.
    Samples,
}

/// A field argument.
#[derive(Clone, Debug)]
pub struct FieldData {
    /// The reconstruction kernels.
    pub kernels: AxisKernels,
    /// The sampling grid.
    pub grid: Grid,
    /// The image.
    pub image: SampledField,
    /// How it is continued.
    pub border: Border,
    /// The components that a constant border has; nothing for others.
    pub outside: Vec<f64>,
    /// The origin of its true values.
    pub source: Source,
    /// The mesh that programs have it on instead of the image.
    pub mesh: Option<Arc<FemFile>>,
    /// Which mesh that is.
    pub(crate) kind: Option<MeshKind>,
}

/// The value of a variable.
#[derive(Clone, Debug)]
pub enum Datum {
    /// Components of a tensor, row-major; dyadic, so exact in every precision.
    Tensor(Vec<f64>),
    /// A field.
    Field(Box<FieldData>),
}

impl Datum {
    /// The polynomials of a field that programs know by them.
    pub(crate) fn formulas(&self) -> Option<&[Polynomial]> {
        match self {
            Datum::Field(field) => match &field.source {
                Source::Formulas(polynomials) => Some(polynomials),
                Source::Polynomials(_) | Source::Samples => None,
            },
            Datum::Tensor(_) => None,
        }
    }
}

/// Where a tree is evaluated: at a drawn position or at the value of an inner field.
#[derive(Clone, Debug)]
pub enum Point {
    /// A drawn position.
    Drawn(Position),
    /// A computed point.
    Computed(Vec<Number>),
}

/// Distance that index coordinates keep from the border, and from knots where it matters.
const EDGE: f64 = 1.0 / 64.0;

/// The name of a variable in programs and files.
pub(crate) fn variable_name(ty: Type, number: usize) -> String {
    format!("{}{number}", if ty.is_field() { "F" } else { "T" })
}

/// Draws the data of all variables; `attempt` distinguishes redraws of the same case.
pub fn draw(case: &Case, attempt: usize) -> Vec<Datum> {
    let label = case.to_string();
    let attempt = attempt.to_string();
    let types = case.tree.variables().into_iter().enumerate();
    types
        .map(|(number, ty)| {
            let mut stream = Stream::new(&[&label, "data", &number.to_string(), &attempt]);
            if ty.is_field() {
                Datum::Field(Box::new(draw_field(
                    ty,
                    number,
                    &case.settings,
                    &mut stream,
                )))
            } else {
                let components =
                    (0..ty.shape.components()).map(|_| draw_component(&case.settings, &mut stream));
                Datum::Tensor(components.collect())
            }
        })
        .collect()
}

/// A component of a tensor; not zero, which would hide the other factor of a product.
fn draw_component(settings: &Settings, stream: &mut Stream) -> f64 {
    loop {
        match draw_quarters(settings.coefficients, stream) {
            0 => continue,
            quarters => return quarters as f64 / 4.0,
        }
    }
}

fn draw_field(ty: Type, number: usize, settings: &Settings, stream: &mut Stream) -> FieldData {
    let dim = usize::from(ty.dim);
    let kernels = settings.kernels_of(number, dim);
    let widest = kernels.supports().max().unwrap_or(0);
    let samples = settings.samples.max(2 * widest + 2);
    let kind = match settings.data {
        DataKind::Mesh(kind) => Some(kind),
        _ => None,
    };
    let steps = kind.map_or(1, |kind| usize::from(kind.degree));
    let grid = Grid::of_cells(dim, samples, steps, settings.grid, stream);
    let components = ty.shape.components();
    let source = match settings.data {
        DataKind::Polynomial | DataKind::Formula | DataKind::Mesh(_) => {
            let degree = usize::from(settings.degree.min(kernels.least(|k| k.reproduces)))
                .min(kind.map_or(MAX_TOTAL_DEGREE, MeshKind::degree_limit));
            // Off the axes a product of powers has its total degree along an index axis.
            let basis = basis(dim, degree, kind.is_some() || !grid.is_aligned());
            let polynomials = (0..components)
                .map(|_| Polynomial::draw(&basis, settings.coefficients, stream))
                .collect();
            match settings.data {
                DataKind::Formula => Source::Formulas(polynomials),
                _ => Source::Polynomials(polynomials),
            }
        }
        DataKind::Image => Source::Samples,
    };
    let limit = if settings.coefficients == Coefficients::Unit {
        1
    } else {
        9
    };
    let count = grid.sizes.iter().product::<usize>() * components;
    let values = match &source {
        Source::Polynomials(polynomials) | Source::Formulas(polynomials) => {
            sample(polynomials, &grid)
        }
        Source::Samples => (0..count)
            .map(|_| stream.between(-limit, limit) as f64)
            .collect(),
    };
    // Samples are values on the straight mesh.
    let (mesh, source) = match (kind, source) {
        (Some(kind), Source::Polynomials(straight)) => {
            let file = kind.file(&grid, &straight, stream).map(Arc::new);
            let in_world = straight.iter().map(|p| kind.in_world(p, dim)).collect();
            (file, Source::Polynomials(in_world))
        }
        (_, source) => (None, source),
    };
    let border = match settings.border {
        Border::Any => CONTINUED[stream.below(CONTINUED.len() as u64) as usize],
        border => border,
    };
    let outside = match border {
        Border::Constant => (0..components)
            .map(|_| stream.between(-limit, limit) as f64)
            .collect(),
        _ => Vec::new(),
    };
    let image = image(variable_name(ty, number), ty.shape, &grid, values);
    FieldData {
        kernels,
        grid,
        image,
        border,
        outside,
        source,
        mesh,
        kind,
    }
}

fn image(name: String, shape: Shape, grid: &Grid, samples: Vec<f64>) -> SampledField {
    SampledField {
        name,
        shape,
        sizes: grid.sizes.clone(),
        directions: grid.directions(),
        origin: grid.origin(),
        samples,
    }
}

/// The field that samples given polynomials, one per component.
pub(crate) fn polynomial_field(
    name: &str,
    shape: Shape,
    kernels: AxisKernels,
    grid: Grid,
    polynomials: Vec<Polynomial>,
) -> FieldData {
    let values = sample(&polynomials, &grid);
    let image = image(name.to_string(), shape, &grid, values);
    FieldData {
        kernels,
        grid,
        image,
        border: Border::Plain,
        outside: Vec::new(),
        source: Source::Polynomials(polynomials),
        mesh: None,
        kind: None,
    }
}

/// Visits all indices of a box, the first axis fastest.
pub(crate) fn for_each_index(sizes: &[usize], mut visit: impl FnMut(&[usize])) {
    let mut index = vec![0; sizes.len()];
    for _ in 0..sizes.iter().product() {
        visit(&index);
        for axis in 0..sizes.len() {
            index[axis] += 1;
            if index[axis] < sizes[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

impl Point {
    /// The coordinates.
    fn numbers(&self, arithmetic: Arithmetic) -> Vec<Number> {
        match self {
            Point::Drawn(position) => {
                let exact = position.to_rationals().into_iter();
                exact.map(|x| Number::leaf(x, arithmetic)).collect()
            }
            Point::Computed(numbers) => numbers.clone(),
        }
    }

    /// The coordinates, rounded.
    fn to_f64(&self) -> Vec<f64> {
        match self {
            Point::Drawn(position) => position.to_f64(),
            Point::Computed(numbers) => numbers.iter().map(Number::to_f64).collect(),
        }
    }
}

/// Where a point falls in a grid.
pub(crate) struct Cell {
    /// The sample below, on each axis.
    pub(crate) floor: Vec<i64>,
    /// Index coordinates, with the noise of the transformation.
    pub(crate) index: Vec<Number>,
    /// Whether all samples that a probe here reads are inside the image.
    pub(crate) inside: bool,
}

impl FieldData {
    /// Whether derivatives of this order, or their slopes, may jump at cell boundaries. A program's index coordinate may be
    /// rounded to either side. Polynomials are reproduced on both sides, so only the kernel's own jumps count there.
    pub(crate) fn has_kinks(&self, order: usize) -> bool {
        let slopes = match self.source {
            Source::Formulas(_) => return false,
            // In every cell it is the same polynomial.
            Source::Polynomials(_) if self.mesh.is_some() => return false,
            Source::Polynomials(_) => 0,
            Source::Samples => 1,
        };
        order + slopes > usize::from(self.kernels.least(|k| k.true_continuity))
    }

    /// The file of the image over time, by its name.
    pub(crate) fn frames_file(&self) -> (String, Vec<u8>) {
        let name = format!("{}{FRAMES}.nrrd", self.image.name);
        (name, crate::nrrd::over_time(&self.image))
    }

    /// The file that programs read, by its name.
    pub fn file(&self) -> (String, Vec<u8>) {
        let name = &self.image.name;
        match &self.mesh {
            Some(mesh) => (format!("{name}.vtu"), crate::mesh::vtu(mesh)),
            None => (format!("{name}.nrrd"), crate::nrrd::nrrd(&self.image)),
        }
    }

    /// Transforms a point to index space. Requires it to be inside the domain, or clearly inside or outside if the image has
    /// a border, and where derivatives of the wanted order jump, away from cell boundaries.
    pub(crate) fn locate(
        &self,
        point: &Point,
        order: usize,
        arithmetic: Arithmetic,
    ) -> Result<Cell, Undefined> {
        let straight;
        let point = match self.kind {
            Some(kind) if kind.bent => {
                straight = Point::Computed(kind.straighten(point.numbers(arithmetic)));
                &straight
            }
            _ => point,
        };
        let coordinates = point.to_f64();
        let origin = self.grid.origin();
        let indices = match point {
            Point::Drawn(position) => {
                let (numerators, denominator) = self.grid.index_ratios(position);
                let number = |n: i128| Number::ratio(n, denominator, arithmetic);
                let floor = |n: i128| n.div_euclid(denominator).to_i64();
                let indices = numerators.into_iter().map(|n| (number(n), floor(n)));
                indices.collect()
            }
            Point::Computed(at) => self.computed_index(at, arithmetic),
        };
        let mut cell = Cell {
            floor: Vec::new(),
            index: Vec::new(),
            inside: true,
        };
        for (axis, (row, (x, floor))) in self
            .grid
            .inverse_magnitudes()
            .iter()
            .zip(indices)
            .enumerate()
        {
            // x = W p + t, with W and t rounded: one term per coordinate and one for the translation.
            let terms = row.iter().zip(coordinates.iter().zip(&origin));
            let noise = terms.map(|(w, (p, o))| 2.0 * w * (p.abs() + o.abs())).sum();
            let x = x.with_noise(noise);
            let floor = floor.ok_or(Undefined(
                "probe on a cell boundary that arithmetic cannot decide",
            ))?;
            let (near, support) = (x.to_f64(), self.kernels.on(axis).support() as f64);
            let (first, last) = (support - 1.0, self.grid.sizes[axis] as f64 - support);
            let depth = (near - first).min(last - near);
            if self.border == Border::Plain && depth < EDGE {
                return Err(Undefined("probe outside the domain of a field"));
            }
            if depth.abs() < EDGE {
                return Err(Undefined("probe on the edge of the domain of a field"));
            }
            cell.inside &= depth > 0.0;
            let fraction = near - floor as f64;
            if self.has_kinks(order) && !(EDGE..=1.0 - EDGE).contains(&fraction) {
                return Err(Undefined(
                    "probe near a knot of a kernel that is not smooth enough",
                ));
            }
            cell.floor.push(floor);
            cell.index.push(x);
        }
        Ok(cell)
    }

    /// The index coordinates of a point that is itself the result of a computation, and the cell if it is certain.
    fn computed_index(&self, at: &[Number], arithmetic: Arithmetic) -> Vec<(Number, Option<i64>)> {
        let leaf = |x: &BigRational| Number::leaf(x.clone(), arithmetic);
        let origin: Vec<Number> = self.grid.exact_origin().iter().map(leaf).collect();
        let index = |row: &Vec<BigRational>| {
            let terms = row.iter().zip(at.iter().zip(&origin));
            let x = terms.fold(Number::zero(), |sum, (w, (p, offset))| {
                sum.plus(&leaf(w).times(&p.minus(offset)))
            });
            let floor = x.floor();
            (x, floor)
        };
        self.grid.inverse().iter().map(index).collect()
    }

    /// The jets of all components at a point.
    pub fn jets(
        &self,
        space: &Space,
        point: &Point,
        order: usize,
        arithmetic: Arithmetic,
    ) -> Result<Vec<Jet>, Undefined> {
        let cell = self.locate(point, order, arithmetic)?;
        if let Source::Formulas(polynomials) = &self.source {
            let at = point.numbers(arithmetic);
            let monomials = &space.monomials()[..space.count(order)];
            let jet =
                |p: &Polynomial| Jet::from_coefficients(p.taylor_near(&at, monomials, arithmetic));
            return Ok(polynomials.iter().map(jet).collect());
        }
        let noise = reconstruct::Noise::new(self, &cell, order);
        // One order more than asked for: the slopes say what an error of the position does.
        let wanted = Space::shared(space.variables(), order + 1);
        let components: Vec<Vec<Number>> = match &self.source {
            Source::Samples => reconstruct::taylor(self, wanted, &cell, arithmetic),
            Source::Polynomials(polynomials) | Source::Formulas(polynomials) => polynomials
                .iter()
                .map(|polynomial| match point {
                    Point::Drawn(position) => {
                        polynomial.taylor_at(position, wanted.monomials(), arithmetic)
                    }
                    Point::Computed(at) => {
                        polynomial.taylor_near(at, wanted.monomials(), arithmetic)
                    }
                })
                .collect(),
        };
        let components = components.into_iter().enumerate();
        Ok(components
            .map(|(component, taylor)| noise.add_to(taylor, wanted, space.count(order), component))
            .collect())
    }

    /// The largest magnitude of a component among the samples that a probe in this cell reads.
    pub(crate) fn largest_sample(&self, floor: &[i64], component: usize) -> f64 {
        let widths: Vec<usize> = self.kernels.supports().map(|support| 2 * support).collect();
        let mut sample = floor.to_vec();
        let mut largest = 0.0;
        for_each_index(&widths, |index| {
            for (axis, place) in sample.iter_mut().enumerate() {
                let support = self.kernels.on(axis).support() as i64;
                *place = floor[axis] + 1 + index[axis] as i64 - support;
            }
            largest = f64::max(largest, self.sample(&sample, component).abs());
        });
        largest
    }

    /// A component of the sample at these indices, or of what the border has there.
    pub(crate) fn sample(&self, index: &[i64], component: usize) -> f64 {
        let mut axes = index.iter().zip(&self.grid.sizes).rev();
        let place = axes.try_fold(0, |place, (&i, &n)| {
            Some(place * n + self.border.source(i, n as i64)? as usize)
        });
        match place {
            Some(place) => self.image.samples[place * self.image.shape.components() + component],
            None => self.outside[component],
        }
    }
}

/// The exact rational of a double; data are finite.
pub(crate) fn rational(x: f64) -> BigRational {
    BigRational::from_float(x).unwrap_or_else(|| BigRational::from(BigInt::from(0)))
}
