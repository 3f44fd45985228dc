//! DAVm: volume renderings of rotationally symmetric fields must be rotationally symmetric pictures.
//!
//! Rays are cast orthographically along a rational direction through a ball around the origin; pixel centres and ray samples
//! are whole and half multiples of one step, so that pixels at equal distance from the centre take samples at equal distances
//! from the origin, decided exactly. Pixels are grouped by their integer squared distance: all four quadrants and
//! all pixels on one circle, without interpolating the picture.

use crate::compare::SAFETY;
use crate::data::{Datum, FieldData, Point, polynomial_field};
use crate::frame::Orientation;
use crate::grid::{Grid, POSITION_BITS, Position};
use crate::kernel::{AxisKernels, kernel};
use crate::number::Arithmetic;
use crate::polynomial::Polynomial;
use crate::program::{VERSION_2, declarations, definitions, literal, vector_literal};
use crate::random::Stream;
use crate::runner::Precision;
use crate::tree::{Rules, Tree};
use crate::truth::Evaluator;
use std::collections::{BTreeMap, BTreeSet};

/// How samples on a ray are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// The largest value.
    Maximum,
    /// The sum.
    Sum,
}

/// A picture of scalar pixels, rows from the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Pixels on each side.
    pub width: usize,
    /// The pixels.
    pub pixels: Vec<f64>,
}

/// A rendering: an expression on symmetric fields, a view and a template.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The expression; its result is a scalar field in three dimensions.
    pub tree: Tree,
    /// The fields.
    pub data: Vec<Datum>,
    /// How ray samples are combined.
    pub template: Template,
    /// Pixels on each side; odd, so that the centre is a pixel.
    pub width: usize,
    /// The directions in the world of the picture's rows, columns and rays; orthonormal up to rounding.
    pub frame: [[f64; 3]; 3],
    /// The largest noise of the field at a few places of the ball, in units of roundoff.
    noise: f64,
}

/// The distance of neighbouring pixels and of ray samples.
const STEP: f64 = 1.0 / 16.0;

/// Starting value of a maximum.
const LOWEST: f64 = -1e30;

/// How unequal pixels at one distance are.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The largest difference between pixels of one group, relative to the bound for rounding.
    pub ratio: f64,
    /// The squared distance, in pixels, of that group.
    pub squared_radius: usize,
    /// The number of groups.
    pub groups: usize,
}

/// The field 2 − |p|² (a scalar) or (2 − |p|²)·p (a vector), sampled on a rotated grid that covers the unit ball.
fn symmetric_field(
    tree_type: crate::types::Type,
    name: &str,
    stream: &mut Stream,
) -> Result<FieldData, String> {
    let grid = Grid::draw(3, 20, Orientation::Rotated, stream);
    let square = [[2, 0, 0], [0, 2, 0], [0, 0, 2]];
    let scalar: Vec<([u8; 3], i64)> = std::iter::once(([0; 3], 8))
        .chain(square.map(|e| (e, -4)))
        .collect();
    let polynomials = match tree_type.shape.extents() {
        [] => vec![Polynomial::from_quarters(scalar)],
        [3] => (0..3)
            .map(|axis| {
                let raised = scalar.iter().map(|&(mut exponents, c)| {
                    exponents[axis] += 1;
                    (exponents, c)
                });
                Polynomial::from_quarters(raised.collect())
            })
            .collect(),
        _ => {
            return Err(format!(
                "found `{tree_type}`, wanted scalar or vector fields in three dimensions"
            ));
        }
    };
    Ok(polynomial_field(
        name,
        tree_type.shape,
        AxisKernels::new(&[kernel("c4hexic")?], 3),
        grid,
        polynomials,
    ))
}

impl Scene {
    /// Prepares a rendering, or says why there is none.
    pub fn new(tree: &Tree, template: Template, width: usize, seed: u64) -> Result<Scene, String> {
        let result = tree
            .type_of(Rules::Language)
            .ok_or("the expression is not well typed")?;
        if result.dim != 3 || !result.shape.is_scalar() {
            return Err(format!(
                "found a result of type `{result}`, wanted a scalar field in three dimensions"
            ));
        }
        if tree.variables().iter().any(|ty| ty.dim != 3) {
            return Err("found an argument that is not a field in three dimensions".to_string());
        }
        if let Some(name) = tree
            .operator_names()
            .into_iter()
            .find(|name| !is_isotropic(name))
        {
            return Err(format!(
                "found `{name}`, wanted operators that commute with rotations"
            ));
        }
        if width.is_multiple_of(2) || !(9..=33).contains(&width) {
            return Err(format!(
                "found a width of {width} pixels, wanted an odd number from 9 to 33"
            ));
        }
        let mut stream = Stream::new(&[&tree.to_string(), "scene", &seed.to_string()]);
        let fields = tree.variables().into_iter().enumerate();
        let data: Result<Vec<Datum>, String> = fields
            .map(|(number, ty)| {
                symmetric_field(ty, &format!("F{number}"), &mut stream)
                    .map(|field| Datum::Field(Box::new(field)))
            })
            .collect();
        let frame = draw_frame(&mut stream);
        let mut scene = Scene {
            tree: tree.clone(),
            data: data?,
            template,
            width,
            frame,
            noise: 0.0,
        };
        scene.noise = scene.largest_noise(result)?;
        Ok(scene)
    }

    /// The largest noise of the field among the samples of all rays; an error where it is undefined.
    ///
    /// It depends on the distance from the origin alone, so one place for each distance will do.
    fn largest_noise(&self, result: crate::types::Type) -> Result<f64, String> {
        let evaluator = Evaluator::new(&self.data, Arithmetic::Near);
        let unit = f64::from(1u32 << POSITION_BITS);
        let half = self.half();
        // a² + b² + (t + ½)² is a whole number and a quarter.
        let distances: BTreeSet<i64> = (0..=half)
            .flat_map(|a| (0..=a).map(move |b| a * a + b * b))
            .flat_map(|square| (0..half).map(move |t| square + t * t + t))
            .filter(|&square| square < half * half)
            .collect();
        let mut largest = 0.0;
        for square in distances {
            let distance = STEP * (square as f64 + 0.25).sqrt();
            let direction = [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0];
            let numerators = direction.map(|x| (x * distance * unit).round() as i64);
            let numerators = numerators.to_vec();
            let values = evaluator.value(
                &self.tree,
                result,
                Some(&Point::Drawn(Position { numerators })),
            );
            let values = values.map_err(|reason| reason.to_string())?;
            largest = values
                .iter()
                .map(|value| value.noise() + value.to_f64().abs())
                .fold(largest, f64::max);
        }
        Ok(largest)
    }

    fn half(&self) -> i64 {
        self.width as i64 / 2
    }

    /// Casts the ray of a pixel through a field that may be undefined outside its domain.
    pub fn cast(&self, column: usize, row: usize, field: &dyn Fn(&[f64; 3]) -> Option<f64>) -> f64 {
        let (a, b) = (
            (column as i64 - self.half()) as f64,
            (row as i64 - self.half()) as f64,
        );
        let radius = self.half() as f64;
        let mut value = self.start();
        for sample in -self.half()..self.half() {
            let t = sample as f64 + 0.5;
            if a * a + b * b + t * t < radius * radius {
                let [x, y, z] = self.frame;
                let place = [0, 1, 2].map(|i| STEP * (a * x[i] + b * y[i] + t * z[i]));
                let found = field(&place).unwrap_or(f64::NAN);
                value = match self.template {
                    // A value that is not a number must not disappear in a comparison.
                    Template::Maximum if found.is_nan() => found,
                    Template::Maximum => f64::max(value, found),
                    Template::Sum => value + found,
                };
            }
        }
        value
    }

    fn start(&self) -> f64 {
        match self.template {
            Template::Maximum => LOWEST,
            Template::Sum => 0.0,
        }
    }

    /// The program in version 2.0; its images are files named after the variables.
    pub fn program(&self) -> String {
        let half = self.half();
        let combine = match self.template {
            Template::Maximum => "value = max(value, G(x));",
            Template::Sum => "value += G(x);",
        };
        let [right, up, along] = self.frame.map(|v| vector_literal(&v));
        format!(
            "{version}\n// {tree}\n{declarations}{definitions}\
             vec3 right = {right};\nvec3 up = {up};\nvec3 along = {along};\n\
             strand ray (int i, int j) {{\n    real a = real(i - {half});\n    real b = real(j - {half});\n    \
             real t = -{half}.0 + 0.5;\n    output real value = {start};\n    update {{\n        \
             if (t > {half}.0) stabilize;\n        if (a*a + b*b + t*t < {half}.0*{half}.0) {{\n            \
             vec3 x = {step}*(a*right + b*up + t*along);\n            {combine}\n        }}\n        \
             t += 1.0;\n    }}\n}}\ncreate_array {{ ray(i, j) | j in 0..{last}, i in 0..{last} }}\n",
            version = VERSION_2.version,
            tree = self.tree,
            declarations = declarations(&self.tree, &self.data, false, &VERSION_2),
            definitions = definitions(&self.tree),
            start = literal(self.start()),
            step = literal(STEP),
            last = self.width - 1,
        )
    }

    /// Measures a picture: the differences within groups against what rounding explains.
    pub fn spread(&self, picture: &Picture, precision: Precision) -> Result<Spread, String> {
        if picture.width != self.width || picture.pixels.len() != self.width * self.width {
            let (found, width) = (picture.pixels.len(), self.width);
            return Err(format!("found {found} pixels, wanted {width} by {width}"));
        }
        let mut groups: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (pixel, &value) in picture.pixels.iter().enumerate() {
            let offset = |n: usize| (n as i64 - self.half()).unsigned_abs() as usize;
            let (a, b) = (offset(pixel % self.width), offset(pixel / self.width));
            if !value.is_finite() {
                return Err(format!(
                    "found {value} in pixel ({}, {})",
                    pixel % self.width,
                    pixel / self.width
                ));
            }
            let (low, high) = groups.entry(a * a + b * b).or_insert((value, value));
            (*low, *high) = (low.min(value), high.max(value));
        }
        let samples = match self.template {
            Template::Maximum => 1.0,
            Template::Sum => self.width as f64,
        };
        let bound = SAFETY * precision.unit() * self.noise * samples;
        let worst = groups
            .iter()
            .map(|(&radius, (low, high))| ((high - low) / bound, radius));
        let (ratio, squared_radius) =
            worst.fold(
                (0.0, 0),
                |worst, next| if next.0 > worst.0 { next } else { worst },
            );
        Ok(Spread {
            ratio,
            squared_radius,
            groups: groups.len(),
        })
    }
}

fn is_isotropic(name: &str) -> bool {
    crate::operator::operator(name).is_ok_and(|operator| operator.isotropic)
}

/// A random rational rotation as doubles.
fn draw_frame(stream: &mut Stream) -> [[f64; 3]; 3] {
    let grid = Grid::draw(3, 8, Orientation::Rotated, stream);
    let directions = grid.directions();
    [0, 1, 2].map(|axis| {
        let column = &directions[axis];
        let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        [0, 1, 2].map(|i| column[i] / length)
    })
}
