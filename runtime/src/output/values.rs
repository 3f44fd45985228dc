//! An output of a program: its type, the strands that have it, and their values.

use std::io::{self, Write};

use crate::colour_maps::ColourMap;
use crate::grid::Place;
use crate::nrrd::{Axis, Kind, SampleType, Samples};
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
    /// Which of its numbers become black and white, or the first and the last colour.
    pub range: png::Range,
    /// The colours of its pictures, if it has one number per strand; grey without a map.
    pub colours: Option<&'static ColourMap>,
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

impl Output {
    /// Values of one element.
    pub(super) fn element_size(&self) -> usize {
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
    pub(super) fn component_names(&self) -> Vec<String> {
        let length = match self.length {
            Length::Fixed(n) => Some(n),
            Length::One | Length::Dynamic => None,
        };
        let axes: Vec<usize> = length.iter().chain(&self.shape).copied().collect();
        component_names(&self.name, &axes)
    }

    /// The axis of the values of one strand; scalars have none. A sequence of one counts as its element.
    pub(super) fn component_axis(&self) -> Option<Axis> {
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

    pub(super) fn axes(&self, place: Option<&Place>) -> Vec<Axis> {
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
    pub(super) fn part(self, range: std::ops::Range<usize>) -> Values<'a> {
        match self {
            Values::F32(values) => Values::F32(&values[range]),
            Values::F64(values) => Values::F64(&values[range]),
            Values::I32(values) => Values::I32(&values[range]),
            Values::I64(values) => Values::I64(&values[range]),
            Values::Bool(values) => Values::Bool(&values[range]),
        }
    }

    /// What one of them is called.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Values::F32(_) => "float",
            Values::F64(_) => "double",
            Values::I32(_) => "int",
            Values::I64(_) => "long int",
            Values::Bool(_) => "bool",
        }
    }

    /// Appends their bytes in the order of this machine; truth values are 0 and 1.
    pub(super) fn append_bytes(self, bytes: &mut Vec<u8>) {
        match self {
            Values::Bool(values) => bytes.extend(values.iter().map(|&b| u8::from(b != 0))),
            numbers => bytes.extend_from_slice(numbers.bytes().unwrap_or_default()),
        }
    }

    pub(super) fn write_bytes(self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(bytes) = self.bytes() {
            return out.write_all(bytes);
        }
        let mut bytes = Vec::new();
        self.append_bytes(&mut bytes);
        out.write_all(&bytes)
    }

    /// The values of some strands that have `size` each.
    pub(super) fn rows(self, size: usize, strands: &[usize]) -> reduce::Values {
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

    pub(super) fn sample_type(self) -> SampleType {
        match self {
            Values::F32(_) => SampleType::F32,
            Values::F64(_) => SampleType::F64,
            Values::I32(_) => SampleType::I32,
            Values::I64(_) => SampleType::I64,
            Values::Bool(_) => SampleType::U8,
        }
    }

    /// The bytes of the numbers in memory; truth values may be other numbers than 0 and 1, and have none.
    pub(super) fn bytes(self) -> Option<&'a [u8]> {
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

    pub(super) fn to_samples(self) -> Samples {
        match self {
            Values::F32(values) => Samples::F32(values.to_vec()),
            Values::F64(values) => Samples::F64(values.to_vec()),
            Values::I32(values) => Samples::I32(values.to_vec()),
            Values::I64(values) => Samples::I64(values.to_vec()),
            Values::Bool(values) => Samples::U8(values.iter().map(|&v| u8::from(v != 0)).collect()),
        }
    }
}

/// A name for each component of values of a shape: that of the values, with the indices of the component.
pub(super) fn component_names(name: &str, shape: &[usize]) -> Vec<String> {
    let mut names = vec![name.to_string()];
    for size in shape {
        let indexed = |name: &String| {
            (0..*size)
                .map(|i| format!("{name}_{i}"))
                .collect::<Vec<_>>()
        };
        names = names.iter().flat_map(indexed).collect();
    }
    names
}

pub(super) fn axis(size: usize, kind: Kind) -> Axis {
    Axis {
        size,
        kind: Some(kind),
        ..Axis::default()
    }
}
