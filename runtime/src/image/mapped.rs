//! Files whose samples an image can use where they are.
//!
//! A file is mapped if its samples are stored as those of the image are: raw, in the byte order of the machine and a type that the
//! program can take, component after component and frame after frame. Every other file is read.

use std::fmt;
use std::fs::File;

use super::normalize::Plan;
use super::request::{Declared, MapFiles, Reading};
use super::runs::Runs;
use super::stored::Stored;
use super::{ROW_LOAD, Real};
use crate::file_name::escaped;
use crate::formats::raw::NotRaw;
use crate::formats::{ImageError, Source};
use crate::memory::{self, Mapping};
use crate::nrrd::SampleType;
use crate::simd::small::Small;

/// Files of more bytes are mapped by default.
const LARGE: u64 = 1 << 30;

/// Why samples cannot be used where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// The file does not have its samples as they are in memory.
    Stored(NotRaw),
    /// They have this type, and the program wants the other.
    Type(SampleType, SampleType),
    /// A factor and an offset turn them into values.
    Scaled,
    /// Other axes come before those of the grid, or components are made of other numbers.
    Order,
    /// The samples can only be read one after the other.
    InOnePiece,
    /// The system refuses.
    Refused,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Stored(why) => write!(f, "{why}"),
            Obstacle::Type(stored, wanted) => write!(
                f,
                "the samples are of type `{stored}`, and the program computes with `{wanted}`"
            ),
            Obstacle::Scaled => f.write_str("the values are scaled samples"),
            Obstacle::Order => {
                f.write_str("the samples are not stored component after component as they are")
            }
            Obstacle::InOnePiece => f.write_str("the samples can only be read one after the other"),
            Obstacle::Refused => f.write_str("the system does not map it"),
        }
    }
}

impl Obstacle {
    /// How to make a file that can be mapped, if a command does.
    pub(super) fn way_out(self, file: &str) -> Option<String> {
        let save = format!("unu save -f nrrd -e raw -i {file} -o OUT.nrrd");
        match self {
            Obstacle::Stored(NotRaw::Encoded | NotRaw::SeveralFiles | NotRaw::ByteOrder) => {
                Some(format!("stored raw it can be mapped: `{save}`"))
            }
            Obstacle::Type(_, wanted) => Some(format!(
                "stored raw in the type of the program it can be mapped: `unu convert -t {wanted} -i {file} -o OUT.nrrd`"
            )),
            Obstacle::Order => Some(format!(
                "with the components after the grid it can be mapped, as by `unu permute -p 1 2 3 0 -i {file} -o OUT.nrrd`"
            )),
            Obstacle::Stored(NotRaw::Format) => {
                Some("as a raw NRRD file in the type of the program it can be mapped".to_string())
            }
            Obstacle::Stored(NotRaw::NoFile)
            | Obstacle::Scaled
            | Obstacle::InOnePiece
            | Obstacle::Refused => None,
        }
    }
}

/// Whether a file of this size is to be mapped.
pub(super) fn is_wanted(reading: &Reading, bytes: u64) -> bool {
    let quarter = || [memory::available(), reading.memory].into_iter().flatten();
    match reading.map {
        MapFiles::Always => true,
        MapFiles::Never => false,
        MapFiles::Auto => bytes > LARGE || quarter().any(|left| bytes > left / 4),
    }
}

/// The samples of a file where they are: of the type of the program, or of a small type that it can take.
///
/// # Errors
/// The outer one: the file cannot be used at all. The inner one: it can be read.
pub(super) fn map<T: Real>(
    source: &Source<'_>,
    plan: &Plan,
    declared: Declared<'_>,
    small: Option<Small>,
) -> Result<Result<Stored<T>, Obstacle>, ImageError> {
    let header = source.header();
    let place = match source.raw_place()? {
        Ok(place) => place,
        Err(why) => return Ok(Err(Obstacle::Stored(why))),
    };
    if small.is_none() && header.sample_type != T::SAMPLE {
        return Ok(Err(Obstacle::Type(header.sample_type, T::SAMPLE)));
    }
    if small.is_none() && source.scale().is_some() {
        return Ok(Err(Obstacle::Scaled));
    }
    let components = declared.components();
    let runs = Runs::of(header, plan);
    let begin = runs.and_then(|runs| Some((runs.start(plan, components)?, runs.plane)));
    let Some((begin, plane)) = begin else {
        return Ok(Err(Obstacle::Order));
    };
    let size = small.map_or(size_of::<T>(), |small| small.bytes());
    let count = plane * components * plan.frames.count();
    let file = &place.file;
    let name = escaped(file.as_os_str());
    let start = place.start + (begin * size) as u64;
    let mapping = File::open(file)
        .and_then(|file| Mapping::new(&file, &name, start, count * size, (ROW_LOAD - 1) * size));
    match mapping {
        Ok(mapping) => {
            if memory::available().is_some_and(|left| place.bytes > left) {
                mapping.expect_disorder();
            }
            // SAFETY: the samples of the file have this type; all of them, and the bytes after them, are mapped.
            Ok(Ok(unsafe { Stored::mapped(mapping, small, count) }))
        }
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Err(ImageError::new("the data are shorter than the header says").in_file(file))
        }
        Err(_) => Ok(Err(Obstacle::Refused)),
    }
}
