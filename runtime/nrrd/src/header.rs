//! The description of an array: its type, axes, space and annotations.
//!
//! A [`Header`] says what the array is, a [`Storage`] how and where its samples are kept. Fields are public because a
//! header is data; [`Header::check`] says whether the values fit together, and is applied by reading and writing alike.

use super::vocabulary::{Centering, Encoding, Endian, Kind, NamedSpace, SampleType};

/// The largest number of axes.
pub const MAX_DIMENSION: usize = 16;

/// The largest dimension of the space around the array.
pub const MAX_SPACE_DIMENSION: usize = 8;

/// The properties of one axis; unknown values are `None`, unknown texts empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Number of samples.
    pub size: usize,
    /// Distance of neighbouring samples.
    pub spacing: Option<f64>,
    /// Thickness of the region that a sample stands for.
    pub thickness: Option<f64>,
    /// Position of the lower end.
    pub min: Option<f64>,
    /// Position of the upper end.
    pub max: Option<f64>,
    /// Where the samples sit between the ends.
    pub centering: Option<Centering>,
    /// Step in world space from one sample to the next.
    pub direction: Option<Vec<f64>>,
    /// What the samples are to each other.
    pub kind: Option<Kind>,
    /// Name of the axis.
    pub label: String,
    /// Unit of spacing, min and max.
    pub units: String,
}

/// The world space of the array.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Space {
    /// None is given: axes have spacings at most.
    #[default]
    Unknown,
    /// A space without a name.
    Dimension(usize),
    /// A space with a name.
    Named(NamedSpace),
}

impl Space {
    /// The number of coordinates of a position; 0 if the space is unknown.
    pub fn dimension(&self) -> usize {
        match self {
            Space::Unknown => 0,
            Space::Dimension(dimension) => *dimension,
            Space::Named(named) => named.dimension(),
        }
    }
}

/// What a NRRD header says of the array.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Type of the samples.
    pub sample_type: SampleType,
    /// Bytes of one sample of type [`SampleType::Block`].
    pub block_size: Option<usize>,
    /// The axes, fastest first.
    pub axes: Vec<Axis>,
    /// The world space.
    pub space: Space,
    /// World position of the first sample.
    pub space_origin: Option<Vec<f64>>,
    /// Units of the world coordinates, one per coordinate, or none.
    pub space_units: Vec<String>,
    /// Columns of the matrix that takes measured vectors to world space; a column may be unknown.
    pub measurement_frame: Option<Vec<Option<Vec<f64>>>>,
    /// What the array is, in one line.
    pub content: String,
    /// Unit of the samples.
    pub sample_units: String,
    /// Lowest value before quantization.
    pub old_min: Option<f64>,
    /// Highest value before quantization.
    pub old_max: Option<f64>,
    /// Key/value pairs, in order.
    pub key_values: Vec<(String, String)>,
    /// Comment lines, in order.
    pub comments: Vec<String>,
}

/// How and where the samples are stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Storage {
    /// How samples become bytes.
    pub encoding: Encoding,
    /// Byte order; may be absent where it does not show.
    pub endian: Option<Endian>,
    /// Lines to skip in each data file.
    pub line_skip: usize,
    /// Bytes to skip after the lines; `-1 - k` means that the data end `k` bytes before the end of the file.
    pub byte_skip: i64,
    /// Where the bytes are.
    pub data_file: DataFile,
}

/// Where the bytes of the samples are.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum DataFile {
    /// After the header, in the same file.
    #[default]
    Attached,
    /// In one other file.
    Single(String),
    /// In numbered files.
    Pattern {
        /// File name with one printf-style integer conversion.
        format: String,
        /// First number.
        min: i64,
        /// Bound of the numbers, in the direction of `step`.
        max: i64,
        /// Difference of consecutive numbers.
        step: i64,
        /// Dimension of the part in one file; one less than the array's if not given.
        dimension: Option<usize>,
    },
    /// In files named one by one.
    List {
        /// The files in order, each with its own byte skip if the list gives one.
        files: Vec<(String, Option<i64>)>,
        /// Whether every line of the list begins with a byte skip.
        with_skips: bool,
        /// Dimension of the part in one file; one less than the array's if not given.
        dimension: Option<usize>,
    },
}

impl Default for Storage {
    fn default() -> Self {
        Storage {
            encoding: Encoding::Raw,
            endian: None,
            line_skip: 0,
            byte_skip: 0,
            data_file: DataFile::Attached,
        }
    }
}

/// A rule that a header breaks: the field at fault and a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Canonical name of the field.
    pub field: &'static str,
    /// The actual and the expected value.
    pub message: String,
}

fn violation(field: &'static str, message: impl Into<String>) -> Result<(), Violation> {
    let message = message.into();
    Err(Violation { field, message })
}

impl Header {
    /// A header that says no more than type and sizes, fastest axis first.
    pub fn new(sample_type: SampleType, sizes: &[usize]) -> Self {
        let axis = |&size: &usize| Axis {
            size,
            ..Axis::default()
        };
        Header {
            sample_type,
            block_size: None,
            axes: sizes.iter().map(axis).collect(),
            space: Space::Unknown,
            space_origin: None,
            space_units: Vec::new(),
            measurement_frame: None,
            content: String::new(),
            sample_units: String::new(),
            old_min: None,
            old_max: None,
            key_values: Vec::new(),
            comments: Vec::new(),
        }
    }

    /// The number of samples along each axis, fastest first.
    pub fn sizes(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.size).collect()
    }

    /// Bytes of one sample; `None` if the header does not say.
    pub fn sample_size(&self) -> Option<usize> {
        self.sample_type.size().or(self.block_size)
    }

    /// The number of samples, or `None` if they could not be addressed in memory.
    pub fn sample_count(&self) -> Option<usize> {
        let multiply = |count: usize, axis: &Axis| count.checked_mul(axis.size);
        let count = self.axes.iter().try_fold(1, multiply)?;
        let bytes = count.checked_mul(self.sample_size()?)?;
        (bytes <= isize::MAX as usize).then_some(count)
    }

    /// Whether the values fit together and describe an array that can exist.
    pub fn check(&self) -> Result<(), Violation> {
        self.check_type()?;
        self.check_axes()?;
        self.check_space()
    }

    fn check_type(&self) -> Result<(), Violation> {
        match (self.sample_type, self.block_size) {
            (SampleType::Block, None | Some(0)) => violation(
                "block size",
                "type `block` needs a `block size` of at least 1",
            ),
            _ => Ok(()),
        }
    }

    fn check_axes(&self) -> Result<(), Violation> {
        let dimension = self.axes.len();
        if !(1..=MAX_DIMENSION).contains(&dimension) {
            let message = format!("found dimension {dimension}, expected 1 to {MAX_DIMENSION}");
            return violation("dimension", message);
        }
        for (i, axis) in self.axes.iter().enumerate() {
            if axis.size == 0 {
                return violation("sizes", format!("axis {i} has size 0"));
            }
            check_numbers(i, axis)?;
            if let Some((kind, size)) = axis.kind.and_then(|k| Some((k, k.size()?)))
                && size != axis.size
            {
                let message = format!(
                    "axis {i} of kind `{kind}` has size {}, expected {size}",
                    axis.size
                );
                return violation("kinds", message);
            }
        }
        match self.sample_count() {
            Some(_) => Ok(()),
            None => violation("sizes", "the array is too large for the address space"),
        }
    }

    fn check_space(&self) -> Result<(), Violation> {
        let dimension = self.space.dimension();
        if self.space != Space::Unknown && !(1..=MAX_SPACE_DIMENSION).contains(&dimension) {
            let message =
                format!("found space dimension {dimension}, expected 1 to {MAX_SPACE_DIMENSION}");
            return violation("space dimension", message);
        }
        let fits = |v: &[f64]| v.len() == dimension && v.iter().all(|x| x.is_finite());
        for (i, axis) in self.axes.iter().enumerate() {
            let Some(direction) = &axis.direction else {
                continue;
            };
            if !fits(direction) {
                let message = format!("direction of axis {i} is not {dimension} finite numbers");
                return violation("space directions", message);
            }
            let clashes = [
                ("spacings", axis.spacing.is_some()),
                ("axis mins", axis.min.is_some()),
                ("axis maxs", axis.max.is_some()),
                ("units", !axis.units.is_empty()),
            ];
            if let Some((field, _)) = clashes.iter().find(|(_, present)| *present) {
                let message =
                    format!("axis {i} has both a space direction and a value in `{field}`");
                return violation(field, message);
            }
        }
        if self.space_origin.as_deref().is_some_and(|o| !fits(o)) {
            let message = format!("the origin is not {dimension} finite numbers");
            return violation("space origin", message);
        }
        if !self.space_units.is_empty() && self.space_units.len() != dimension {
            let message = format!(
                "found {} units, expected {dimension}",
                self.space_units.len()
            );
            return violation("space units", message);
        }
        match &self.measurement_frame {
            Some(frame) if frame.len() != dimension || frame.iter().flatten().any(|c| !fits(c)) => {
                violation(
                    "measurement frame",
                    format!("expected {dimension} vectors of {dimension} finite numbers"),
                )
            }
            _ => Ok(()),
        }
    }
}

/// Per-axis numbers are finite where known; a spacing is not zero, a thickness not negative.
fn check_numbers(i: usize, axis: &Axis) -> Result<(), Violation> {
    let numbers = [
        ("spacings", axis.spacing),
        ("thicknesses", axis.thickness),
        ("axis mins", axis.min),
        ("axis maxs", axis.max),
    ];
    for (field, number) in numbers {
        let Some(x) = number else { continue };
        let wrong = match field {
            "spacings" => x == 0.0,
            "thicknesses" => x < 0.0,
            _ => false,
        };
        if wrong || !x.is_finite() {
            let message = format!("axis {i}: {x} is not allowed in `{field}`");
            return violation(field, message);
        }
    }
    Ok(())
}
