//! The outputs of a program: from the values of its strands to files.
//!
//! Takes the type of an output, the strands that have it and their values in order; gives an array with the axes and
//! kinds that the original writes, and writes it in the format that the file's suffix asks for. A file appears under
//! its name only when it is complete; if anything fails, no part of it is left behind.

pub mod early;
pub mod film;
pub mod format;
mod identity;
mod meshes;
pub mod picture;
pub mod plan;
mod points;
mod staged;
mod tables;
mod vtk;
pub mod write;

pub use identity::FileUse;
pub use staged::{TextFile, remove_unfinished, replace_file};

use std::fmt;
use std::io::{self, Write};

use crate::grid::Place;
use crate::nrrd::{self, Axis, Format, Header, Kind, Nrrd, NrrdError, SampleType, Samples, Space};
use crate::png;
use crate::reduce;

/// What the elements of an output are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name in the program.
    pub name: String,
    /// Shape of the tensor that one element is; empty for scalars.
    pub shape: Vec<usize>,
    /// Whether a strand has one element or a sequence of them.
    pub length: Length,
    /// What its components are.
    pub scalar: Scalar,
    /// Whether it is the position of the strand.
    pub is_position: bool,
}

/// What the components of an output are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scalar {
    /// Real numbers.
    #[default]
    Real,
    /// Integers.
    Int,
    /// Truth values.
    Bool,
}

/// An output with its values, as files take them.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// The description of the output.
    pub output: &'a Output,
    /// Its values; for a sequence of varying length the elements of all strands.
    pub values: Values<'a>,
    /// The number of elements of each strand, for a sequence of varying length.
    pub lengths: Option<&'a [usize]>,
    /// Which of its numbers become black and white.
    pub range: png::Range,
}

/// How many elements one strand has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// One element, no sequence.
    One,
    /// A sequence of fixed length.
    Fixed(usize),
    /// A sequence whose length differs from strand to strand.
    Dynamic,
}

/// The strands whose values are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// A grid: the sizes of its iterators from the outermost to the innermost. The innermost is the fastest axis.
    Grid(Vec<usize>),
    /// A collection of this many strands.
    List(usize),
}

/// The values of an output, strand by strand in the order of the domain, components row-major.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
    /// 32-bit integers.
    I32(&'a [i32]),
    /// 64-bit integers.
    I64(&'a [i64]),
    /// Truth values: 0 is false, anything else true.
    Bool(&'a [u8]),
}

/// Why an output was not written: the file, if there was one yet, and the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputError(String);

impl OutputError {
    fn new(message: impl Into<String>) -> Self {
        OutputError(message.into())
    }

    fn of(output: &Output, message: impl fmt::Display) -> Self {
        OutputError(format!("output `{}`: {message}", output.name))
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OutputError {}

impl From<NrrdError> for OutputError {
    fn from(error: NrrdError) -> Self {
        OutputError(error.message().to_string())
    }
}

impl Output {
    /// Values of one element.
    fn element_size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Values of one strand; of one element if strands have sequences of different lengths.
    pub fn strand_size(&self) -> usize {
        match self.length {
            Length::One | Length::Dynamic => self.element_size(),
            Length::Fixed(n) => n * self.element_size(),
        }
    }

    /// A name for each value of one strand: the output's, with the indices of a component.
    fn component_names(&self) -> Vec<String> {
        let length = match self.length {
            Length::Fixed(n) => Some(n),
            Length::One | Length::Dynamic => None,
        };
        let mut names = vec![self.name.clone()];
        for size in length.iter().chain(&self.shape) {
            let indexed = |name: &String| {
                (0..*size)
                    .map(|i| format!("{name}_{i}"))
                    .collect::<Vec<_>>()
            };
            names = names.iter().flat_map(indexed).collect();
        }
        names
    }

    /// The axis of the values of one strand; scalars have none. A sequence of one counts as its element.
    fn component_axis(&self) -> Option<Axis> {
        let kind = match (self.length, &self.shape[..]) {
            (Length::Fixed(n), _) if n != 1 => Some(Kind::List),
            (_, []) => None,
            (_, [2]) => Some(Kind::Vector2),
            (_, [3]) => Some(Kind::Vector3),
            (_, [4]) => Some(Kind::Vector4),
            (_, [2, 2]) => Some(Kind::Matrix2),
            (_, [3, 3]) => Some(Kind::Matrix3),
            _ => Some(Kind::List),
        };
        kind.map(|kind| axis(self.strand_size(), kind))
    }
}

impl Domain {
    /// The number of strands.
    pub fn strand_count(&self) -> usize {
        match self {
            Domain::Grid(sizes) => sizes.iter().product(),
            Domain::List(count) => *count,
        }
    }

    /// The sizes of a grid, outermost iterator first; a collection has none.
    pub fn grid_sizes(&self) -> &[usize] {
        match self {
            Domain::Grid(sizes) => sizes,
            Domain::List(_) => &[],
        }
    }

    fn axes(&self, place: Option<&Place>) -> Vec<Axis> {
        let sizes = match self {
            Domain::Grid(sizes) => sizes.iter().rev(),
            Domain::List(count) => return vec![axis(*count, Kind::List)],
        };
        let direction = |n: usize| place.and_then(|place| place.directions.get(n).cloned());
        let placed = |(n, &size): (usize, &usize)| Axis {
            direction: direction(n),
            ..axis(size, Kind::Space)
        };
        sizes.enumerate().map(placed).collect()
    }
}

/// The same code for the values of every type.
macro_rules! with_values {
    ($values:expr, $slice:ident => $code:expr) => {
        match $values {
            Values::F32($slice) => $code,
            Values::F64($slice) => $code,
            Values::I32($slice) => $code,
            Values::I64($slice) => $code,
            Values::Bool($slice) => $code,
        }
    };
}

impl<'a> From<&'a reduce::Values> for Values<'a> {
    fn from(values: &'a reduce::Values) -> Values<'a> {
        match values {
            reduce::Values::F32(values) => Values::F32(values),
            reduce::Values::F64(values) => Values::F64(values),
            reduce::Values::I32(values) => Values::I32(values),
            reduce::Values::I64(values) => Values::I64(values),
            reduce::Values::Bool(values) => Values::Bool(values),
        }
    }
}

impl<'a> Values<'a> {
    /// The number of values.
    pub fn len(&self) -> usize {
        with_values!(self, values => values.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them as numbers.
    pub fn numbers(self) -> Vec<f64> {
        match self {
            Values::F32(values) => values.iter().map(|&x| x.into()).collect(),
            Values::F64(values) => values.to_vec(),
            Values::I32(values) => values.iter().map(|&n| n.into()).collect(),
            Values::I64(values) => values.iter().map(|&n| n as f64).collect(),
            Values::Bool(values) => values.iter().map(|&b| u8::from(b != 0).into()).collect(),
        }
    }

    /// Some of them.
    fn part(self, range: std::ops::Range<usize>) -> Values<'a> {
        match self {
            Values::F32(values) => Values::F32(&values[range]),
            Values::F64(values) => Values::F64(&values[range]),
            Values::I32(values) => Values::I32(&values[range]),
            Values::I64(values) => Values::I64(&values[range]),
            Values::Bool(values) => Values::Bool(&values[range]),
        }
    }

    /// What one of them is called.
    fn type_name(self) -> &'static str {
        match self {
            Values::F32(_) => "float",
            Values::F64(_) => "double",
            Values::I32(_) => "int",
            Values::I64(_) => "long int",
            Values::Bool(_) => "bool",
        }
    }

    /// Appends their bytes in the order of this machine; truth values are 0 and 1.
    fn append_bytes(self, bytes: &mut Vec<u8>) {
        match self {
            Values::Bool(values) => bytes.extend(values.iter().map(|&b| u8::from(b != 0))),
            other => with_values!(other, values => {
                bytes.extend(values.iter().flat_map(|x| x.to_ne_bytes()));
            }),
        }
    }

    fn write_bytes(self, out: &mut dyn Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.append_bytes(&mut bytes);
        out.write_all(&bytes)
    }

    /// The values of some strands that have `size` each.
    fn rows(self, size: usize, strands: &[usize]) -> reduce::Values {
        fn pick<T: Copy>(values: &[T], size: usize, strands: &[usize]) -> Vec<T> {
            let rows = strands.iter().map(|&n| &values[n * size..(n + 1) * size]);
            rows.flatten().copied().collect()
        }
        match self {
            Values::F32(values) => reduce::Values::F32(pick(values, size, strands)),
            Values::F64(values) => reduce::Values::F64(pick(values, size, strands)),
            Values::I32(values) => reduce::Values::I32(pick(values, size, strands)),
            Values::I64(values) => reduce::Values::I64(pick(values, size, strands)),
            Values::Bool(values) => reduce::Values::Bool(pick(values, size, strands)),
        }
    }

    fn sample_type(self) -> SampleType {
        match self {
            Values::F32(_) => SampleType::F32,
            Values::F64(_) => SampleType::F64,
            Values::I32(_) => SampleType::I32,
            Values::I64(_) => SampleType::I64,
            Values::Bool(_) => SampleType::U8,
        }
    }

    /// The bytes of the numbers in memory; truth values may be other numbers than 0 and 1, and have none.
    fn bytes(self) -> Option<&'a [u8]> {
        fn bytes_of<T: Copy>(numbers: &[T]) -> &[u8] {
            // SAFETY: numbers have no padding, and every byte is one.
            unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
        }
        match self {
            Values::F32(values) => Some(bytes_of(values)),
            Values::F64(values) => Some(bytes_of(values)),
            Values::I32(values) => Some(bytes_of(values)),
            Values::I64(values) => Some(bytes_of(values)),
            Values::Bool(_) => None,
        }
    }

    fn to_samples(self) -> Samples {
        match self {
            Values::F32(values) => Samples::F32(values.to_vec()),
            Values::F64(values) => Samples::F64(values.to_vec()),
            Values::I32(values) => Samples::I32(values.to_vec()),
            Values::I64(values) => Samples::I64(values.to_vec()),
            Values::Bool(values) => Samples::U8(values.iter().map(|&v| u8::from(v != 0)).collect()),
        }
    }
}

fn axis(size: usize, kind: Kind) -> Axis {
    Axis {
        size,
        kind: Some(kind),
        ..Axis::default()
    }
}

/// What an array of `values` with the given axes is.
fn header(axes: Vec<Axis>, values: Values<'_>, place: Option<&Place>) -> Header {
    let comments = [
        "Complete NRRD file format specification at:",
        "http://teem.sourceforge.net/nrrd/format.html",
    ];
    Header {
        axes,
        comments: comments.map(str::to_string).to_vec(),
        space: place.map_or(Space::Unknown, |place| place.space.clone()),
        space_origin: place.map(|place| place.origin.clone()),
        ..Header::new(values.sample_type(), &[])
    }
}

/// The array of `values` with the given axes.
fn array(axes: Vec<Axis>, values: Values<'_>, place: Option<&Place>) -> Result<Nrrd, NrrdError> {
    Nrrd::new(header(axes, values, place), values.to_samples())
}

/// The array of an output whose strands all have equally many values, at its place if it has one.
pub fn to_nrrd(
    output: &Output,
    domain: &Domain,
    values: Values<'_>,
    place: Option<&Place>,
) -> Result<Nrrd, OutputError> {
    let axes = axes(output, domain, place)?;
    array(axes, values, place).map_err(|e| OutputError::of(output, e.message()))
}

/// The axes of an output whose strands all have equally many values.
fn axes(output: &Output, domain: &Domain, place: Option<&Place>) -> Result<Vec<Axis>, OutputError> {
    if output.length == Length::Dynamic {
        let message = "sequences of varying length are not one array";
        return Err(OutputError::of(output, message));
    }
    if domain.strand_count() == 0 {
        return Err(OutputError::of(output, "there are no strands to write"));
    }
    let components = output.component_axis().into_iter();
    Ok(components.chain(domain.axes(place)).collect())
}

/// Writes an output whose strands all have equally many values as one file, from where its numbers are if it can.
fn write_nrrd(
    output: &Output,
    domain: &Domain,
    values: Values<'_>,
    place: Option<&Place>,
    out: &mut dyn Write,
) -> Result<(), OutputError> {
    let written = match values.bytes() {
        Some(bytes) => {
            let header = header(axes(output, domain, place)?, values, place);
            nrrd::write_native(&header, bytes, out)
        }
        None => nrrd::write_attached(
            &to_nrrd(output, domain, values, place)?,
            Format::default(),
            out,
        ),
    };
    Ok(written?)
}

/// The two arrays of an output whose strands have `lengths[i]` elements each: for each strand where its elements begin
/// and how many there are, and all elements one after the other. There is no second array if there are no elements.
pub fn to_nrrd_pair(
    output: &Output,
    domain: &Domain,
    lengths: &[usize],
    values: Values<'_>,
) -> Result<(Nrrd, Option<Nrrd>), OutputError> {
    let strands = domain.strand_count();
    if strands == 0 {
        return Err(OutputError::of(output, "there are no strands to write"));
    }
    if lengths.len() != strands {
        let found = lengths.len();
        let message = format!("found {found} lengths, expected one for each of {strands} strands");
        return Err(OutputError::of(output, message));
    }
    let mut pairs = Vec::with_capacity(2 * strands);
    let mut total: usize = 0;
    for &length in lengths {
        let pair = i32::try_from(total).and_then(|t| Ok([t, i32::try_from(length)?]));
        pairs
            .extend(pair.map_err(|_| OutputError::of(output, "more elements than 32 bits count"))?);
        total += length;
    }
    let axes = [axis(2, Kind::Vector2)]
        .into_iter()
        .chain(domain.axes(None));
    let fail = |e: NrrdError| OutputError::of(output, e.message());
    let index = array(axes.collect(), Values::I32(&pairs), None).map_err(fail)?;
    if total == 0 {
        return Ok((index, None));
    }
    let elements = axis(total, Kind::List);
    let axes = output.component_axis().into_iter().chain([elements]);
    let data = array(axes.collect(), values, None).map_err(fail)?;
    Ok((index, Some(data)))
}
