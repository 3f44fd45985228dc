//! Strands as triangles: which output has their corners, and what the others are to them.
//!
//! Takes outputs, one of them a sequence of triangles per strand with elements of shape `[3,3]` or `[3,2]` with a row for each
//! corner. Gives a mesh: corners at the same place are one point, in the order of their first appearance, and triangles with two
//! equal corners are left out. The other outputs become data:
//!
//! | output | data of |
//! |---|---|
//! | a sequence of one element per triangle | triangles |
//! | the same, if elements have two or more axes and the first has three entries | corners: entry `k` is that of corner `k` |
//! | a sequence of three elements per triangle | corners |
//! | a value per strand | triangles, the same for all of a strand |
//!
//! A point has the data of the corner at which it appears first.

mod merge;

use super::contents::{Contents, Style};
use super::points;
use super::shapes::Request;
use super::{Column, Length, Output, OutputError, Scalar, Values};
use crate::memory::Claim;
use crate::reduce;
use merge::{Coordinate, Merged, merge};

/// The name that says that an output has the triangles.
const TRIANGLES: &str = "triangles";

/// The name that says that an output has normal vectors.
const NORMALS: &str = "normals";

/// A mesh of triangles.
#[derive(Debug)]
pub struct Triangles {
    /// Three coordinates for each point, in single or double precision; points in the plane end with 0.
    pub points: reduce::Values,
    /// The points of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Data of points.
    pub of_points: Vec<Attribute>,
    /// Data of triangles.
    pub of_triangles: Vec<Attribute>,
    /// The number of triangles that were left out because two of their corners are equal.
    pub degenerate: usize,
    /// The memory of the mesh.
    _claim: Claim,
}

/// Data of points or triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The name of the output.
    pub name: String,
    /// The shape of each value; empty for scalars.
    pub shape: Vec<usize>,
    /// The values, each row-major.
    pub values: reduce::Values,
}

/// The precision in which corners are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// That of the values.
    Given,
    /// Single precision.
    Single,
}

/// Whether an output may be triangles in a space of this dimension.
fn is_triangles(output: &Output, dim: usize) -> bool {
    output.scalar == Scalar::Real && output.length == Length::Dynamic && output.shape == [3, dim]
}

/// The output with the triangles, if these outputs are triangles rather than points or lines. The user may name an output.
///
/// # Errors
/// There are several that may be.
fn chosen(outputs: &[&Output], named: Option<&str>) -> Result<Option<usize>, String> {
    let all = || 0..outputs.len();
    let of = |dim: usize| all().filter(move |&n| is_triangles(outputs[n], dim));
    let by_name = |name: &str| of(3).chain(of(2)).find(|&n| outputs[n].name == name);
    if let Some(name) = named {
        return Ok(by_name(name));
    }
    if let Some(named) = by_name(TRIANGLES) {
        return Ok(Some(named));
    }
    let unnamed = |dim: usize| -> Vec<usize> {
        let candidates = of(dim).filter(|&n| outputs[n].name != NORMALS);
        candidates.collect()
    };
    let candidates = [unnamed(3), unnamed(2)];
    let candidates = candidates.into_iter().find(|list| !list.is_empty());
    let Some(mut candidates) = candidates else {
        return Ok(None);
    };
    candidates.extend(all().filter(|&n| points::is_line(outputs[n])));
    match candidates[..] {
        [only] => Ok(Some(only)),
        _ => {
            let names: Vec<_> = candidates.iter().map(|&n| &outputs[n].name[..]).collect();
            Err(format!(
                "several outputs may be triangles or lines: {}; `--points NAME` chooses one, and one called `{TRIANGLES}` needs no choice",
                names.join(", ")
            ))
        }
    }
}

/// Outputs with triangles or positions.
pub(super) fn or_points(request: Request<'_>) -> Result<(), String> {
    match chosen(request.outputs, request.points)? {
        Some(_) => Ok(()),
        None => points::positions(request),
    }
}

/// Outputs with triangles.
pub(super) fn only(request: Request<'_>) -> Result<(), String> {
    match chosen(request.outputs, request.points)? {
        Some(_) => Ok(()),
        None => Err(wanted(request.suffix, request.points)),
    }
}

fn wanted(suffix: &str, named: Option<&str>) -> String {
    let problem = match named {
        Some(name) => format!("`--points {name}` names no such output"),
        None => "no output has such".to_string(),
    };
    format!(
        "a .{suffix} holds triangles, sequences of type tensor[3,3][] or tensor[3,2][], and {problem}; \
         points and lines fit a .vtp, .ply or .obj"
    )
}

/// The mesh that outputs become in a file, if they are triangles.
pub(super) fn of(
    contents: Contents<'_>,
    style: &Style,
    precision: Precision,
) -> Result<Option<Triangles>, OutputError> {
    let outputs: Vec<&Output> = contents.columns.iter().map(|c| c.output).collect();
    match chosen(&outputs, style.points.as_deref()).map_err(OutputError::new)? {
        Some(which) => made(contents.columns, which, precision).map(Some),
        None => Ok(None),
    }
}

/// The mesh of outputs that go into a format for triangles only.
pub(super) fn required(
    contents: Contents<'_>,
    style: &Style,
    suffix: &str,
    precision: Precision,
) -> Result<Triangles, OutputError> {
    let none = || OutputError::new(wanted(suffix, style.points.as_deref()));
    of(contents, style, precision)?.ok_or_else(none)
}

/// The mesh of outputs with triangles: those of the output `named`, or else of the one called `triangles`, or else of the only one
/// that may have them.
///
/// # Errors
/// No output has triangles, several may have, a sequence has another length, or there is no memory for the mesh.
pub fn mesh(
    columns: &[Column<'_>],
    named: Option<&str>,
    precision: Precision,
) -> Result<Triangles, OutputError> {
    let outputs: Vec<&Output> = columns.iter().map(|c| c.output).collect();
    let none = || "no output has triangles: sequences of type tensor[3,3][] or tensor[3,2][]";
    let which = chosen(&outputs, named)
        .and_then(|which| which.ok_or_else(|| none().to_string()))
        .map_err(OutputError::new)?;
    made(columns, which, precision)
}

fn made(
    columns: &[Column<'_>],
    which: usize,
    precision: Precision,
) -> Result<Triangles, OutputError> {
    let source = &columns[which];
    let fail = |problem: &str| OutputError::of(source.output, problem);
    let lengths = source
        .lengths
        .ok_or_else(|| fail("its lengths are missing"))?;
    let dim = source.output.shape[1];
    let count: usize = lengths.iter().sum();
    if source.values.len() != count * 3 * dim {
        return Err(fail("its lengths do not fit its values"));
    }
    let others = columns.iter().enumerate().filter(|&(n, _)| n != which);
    let others: Vec<&Column<'_>> = others.map(|(_, column)| column).collect();
    let sequences = Sequences {
        name: &source.output.name,
        lengths,
    };
    let data = |merged: Indices<'_>, claim: &mut Claim| {
        let mut data = Data::default();
        for column in &others {
            sequences.add(column, merged, claim, &mut data)?;
        }
        Ok(data)
    };
    let finished = match (source.values, precision) {
        (Values::F32(corners), _) => {
            finish(merge(corners, dim, |x| x), count, reduce::Values::F32, data)
        }
        (Values::F64(corners), Precision::Given) => {
            finish(merge(corners, dim, |x| x), count, reduce::Values::F64, data)
        }
        (Values::F64(corners), Precision::Single) => finish(
            merge(corners, dim, |x| x as f32),
            count,
            reduce::Values::F32,
            data,
        ),
        (Values::I32(_) | Values::I64(_) | Values::Bool(_), _) => {
            Err("its values are not reals".to_string())
        }
    };
    finished.map_err(|problem| fail(&problem))
}

/// Where points and triangles are in the outputs.
#[derive(Clone, Copy)]
struct Indices<'a> {
    /// The corner of each point.
    corners: &'a [usize],
    /// The number of each triangle.
    triangles: &'a [usize],
}

/// Data of points and of triangles.
#[derive(Default)]
struct Data {
    of_points: Vec<Attribute>,
    of_triangles: Vec<Attribute>,
}

fn finish<T: Coordinate>(
    merged: Result<Merged<T>, String>,
    count: usize,
    values: fn(Vec<T>) -> reduce::Values,
    data: impl Fn(Indices<'_>, &mut Claim) -> Result<Data, String>,
) -> Result<Triangles, String> {
    let mut merged = merged?;
    let indices = Indices {
        corners: &merged.first,
        triangles: &merged.kept,
    };
    let data = data(indices, &mut merged.claim)?;
    Ok(Triangles {
        points: values(merged.points),
        degenerate: count - merged.triangles.len(),
        triangles: merged.triangles,
        of_points: data.of_points,
        of_triangles: data.of_triangles,
        _claim: merged.claim,
    })
}

/// The sequences of triangles.
struct Sequences<'a> {
    /// The name of their output.
    name: &'a str,
    lengths: &'a [usize],
}

impl Sequences<'_> {
    /// Adds the data that another output is.
    fn add(
        &self,
        column: &Column<'_>,
        merged: Indices<'_>,
        claim: &mut Claim,
        data: &mut Data,
    ) -> Result<(), String> {
        let Output { name, shape, .. } = column.output;
        let size = column.output.strand_size();
        let elements = match column.lengths {
            Some(lengths) => lengths.iter().sum(),
            None => self.lengths.len(),
        };
        if column.values.len() != elements * size {
            return Err(format!(
                "the values of `{name}` are not those of the same strands"
            ));
        }
        let mut attribute = |shape: &[usize], size: usize, rows: &[usize]| {
            let bytes = rows.len() * size * size_of::<f64>();
            let claimed = claim.grow(bytes as u64);
            claimed.map_err(|shortage| format!("the data `{name}`: {shortage}"))?;
            Ok::<Attribute, String>(Attribute {
                name: name.clone(),
                shape: shape.to_vec(),
                values: column.values.rows(size, rows),
            })
        };
        let Some(own) = column.lengths else {
            let length = match column.output.length {
                Length::Fixed(n) => Some(n),
                Length::One | Length::Dynamic => None,
            };
            let shape: Vec<usize> = length.iter().chain(shape).copied().collect();
            let strands = self.strands_of(merged.triangles);
            data.of_triangles.push(attribute(&shape, size, &strands)?);
            return Ok(());
        };
        let is_times = |n: usize| {
            let mut pairs = self.lengths.iter().zip(own);
            own.len() == self.lengths.len() && pairs.all(|(of, own)| n * of == *own)
        };
        match &shape[..] {
            [3, of_corner @ ..] if !of_corner.is_empty() && is_times(1) => {
                let values = attribute(of_corner, size / 3, merged.corners)?;
                data.of_points.push(values);
            }
            _ if is_times(1) => {
                let values = attribute(shape, size, merged.triangles)?;
                data.of_triangles.push(values);
            }
            _ if is_times(3) => {
                let values = attribute(shape, size, merged.corners)?;
                data.of_points.push(values);
            }
            _ => {
                return Err(format!(
                    "the sequences of `{name}` do not fit those of `{}`: they need one element for each triangle, or for each corner",
                    self.name
                ));
            }
        }
        Ok(())
    }

    /// The strand of each of these triangles, which are in order.
    fn strands_of(&self, triangles: &[usize]) -> Vec<usize> {
        let mut ends = self.lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        let (mut strand, mut end) = (0, ends.next().unwrap_or(0));
        let mut of = |&triangle: &usize| {
            while triangle >= end {
                let Some(next) = ends.next() else { break };
                (strand, end) = (strand + 1, next);
            }
            strand
        };
        triangles.iter().map(&mut of).collect()
    }
}

impl Triangles {
    /// The number of points.
    pub fn point_count(&self) -> usize {
        Values::from(&self.points).len() / 3
    }

    /// The normal vectors of points, if an output has them.
    pub(super) fn normals(&self) -> Option<&Attribute> {
        self.of_points.iter().find(|data| data.is_normals())
    }

    /// A description in a few words.
    pub(super) fn description(&self) -> String {
        let (triangles, points) = (self.triangles.len(), self.point_count());
        let left_out = match self.degenerate {
            0 => String::new(),
            n => format!("; {n} with two equal corners left out"),
        };
        format!("{triangles} triangles, {points} points{left_out}")
    }
}

impl Attribute {
    /// The number of components of a value.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether these are normal vectors, by name and shape.
    pub(super) fn is_normals(&self) -> bool {
        self.name == NORMALS && self.shape == [3]
    }
}
