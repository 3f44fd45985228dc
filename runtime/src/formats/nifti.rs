//! NIfTI-1 and NIfTI-2, in one file or as a pair `.hdr` and `.img`.
//!
//! The world is right, anterior, superior: the sform if there is one, else the qform, else voxel sizes alone. The fourth
//! axis is time, the fifth holds components.

mod fields;
mod place;

use std::path::{Path, PathBuf};

use super::{Asked, Translated};
use super::{Facts, Triangle, VectorSpace};
use crate::nrrd::{Axis, DataFile, Encoding, Header, Kind, SampleType, Storage};
pub(crate) use fields::{FIRST, Layout};
use fields::{Fields, fields};
pub(crate) use place::UNITS;
use place::{place, unit_of_fourth};

/// A code, the type of samples, and how many make one value of what kind.
type TypeRow = (i64, SampleType, Option<(usize, Kind)>);

/// The codes of sample types.
#[rustfmt::skip]
const TYPES: &[TypeRow] = &[
    (2,    SampleType::U8,  None),
    (4,    SampleType::I16, None),
    (8,    SampleType::I32, None),
    (16,   SampleType::F32, None),
    (32,   SampleType::F32, Some((2, Kind::Complex))),
    (64,   SampleType::F64, None),
    (128,  SampleType::U8,  Some((3, Kind::RgbColor))),
    (256,  SampleType::I8,  None),
    (512,  SampleType::U16, None),
    (768,  SampleType::U32, None),
    (1024, SampleType::I64, None),
    (1280, SampleType::U64, None),
    (1792, SampleType::F64, Some((2, Kind::Complex))),
    (2304, SampleType::U8,  Some((4, Kind::RgbaColor))),
];

const REFUSED_TYPES: &[(i64, &str)] = &[
    (1, "single bits"),
    (1536, "numbers of 128 bits"),
    (2048, "complex numbers of 256 bits"),
];

/// The code of the type of samples that are numbers by themselves.
pub(crate) fn code_of(sample_type: SampleType) -> Option<i64> {
    let row = TYPES
        .iter()
        .find(|(_, ty, parts)| *ty == sample_type && parts.is_none());
    row.map(|(code, ..)| *code)
}

/// The intent of matrices, whose rows and columns are parameters.
pub(crate) const MATRIX: i64 = 1004;

const SYMMETRIC_MATRIX: i64 = 1005;

/// The intent of vectors.
pub(crate) const VECTOR: i64 = 1007;

/// What the fifth axis holds, by the intent of the file.
const INTENTS: &[(i64, Kind)] = &[
    (SYMMETRIC_MATRIX, Kind::List),
    (1006, Kind::Vector),
    (VECTOR, Kind::Vector),
    (1008, Kind::Point),
    (2003, Kind::RgbColor),
    (2004, Kind::RgbaColor),
];

pub(super) fn translate(head: &[u8], asked: &Asked<'_>) -> Result<Translated, String> {
    let name = asked.name;
    let fields = fields(head)?;
    let layout = fields.layout;
    let code = fields.integer::<2>(layout.datatype);
    if let Some((_, what)) = REFUSED_TYPES.iter().find(|(c, _)| *c == code) {
        return Err(format!("the samples are {what}, which cannot be read"));
    }
    let row = TYPES.iter().find(|(c, ..)| *c == code);
    let &(_, sample_type, parts) =
        row.ok_or_else(|| format!("the type of the samples is {code}"))?;
    let mut notes = Vec::new();
    let mut header = Header::new(sample_type, &[]);
    header.axes = axes(&fields)?;
    place(&fields, &mut header, &mut notes);
    if let Some((size, kind)) = parts {
        let kind = Some(kind);
        header.axes.insert(
            0,
            Axis {
                size,
                kind,
                ..Axis::default()
            },
        );
    }
    let (slope, intercept) = (fields.real(layout.slope, 0), fields.real(layout.slope, 1));
    let scaled = slope != 0.0 && slope.is_finite() && intercept.is_finite();
    let symmetric = fields.code(layout.intent) == SYMMETRIC_MATRIX;
    Ok(Translated {
        scale: (scaled && parts.is_none() && (slope, intercept) != (1.0, 0.0))
            .then_some((slope, intercept)),
        facts: Facts {
            triangle: symmetric.then_some(Triangle::Lower),
            vectors: VectorSpace::Unknown,
            ..Facts::default()
        },
        notes,
        ..Translated::new(header, storage(&fields, name)?)
    })
}

/// Three axes of space at most, then time, components and what else there is; those of one sample count only in space.
fn axes(fields: &Fields<'_>) -> Result<Vec<Axis>, String> {
    let count = fields.dim(0);
    if !(1..=7).contains(&count) {
        return Err(format!("the array has {count} axes, expected 1 to 7"));
    }
    let intent = fields.code(fields.layout.intent);
    let parameter = |i| fields.real(fields.layout.intent_parameters, i);
    let mut axes = Vec::new();
    for i in 1..=count as usize {
        let size = usize::try_from(fields.dim(i)).ok().filter(|n| *n > 0);
        let size = size.ok_or_else(|| format!("axis {i} has {} samples", fields.dim(i)))?;
        let step = fields.real(fields.layout.pixdim, i);
        let kind = match i {
            1..=3 => Kind::Space,
            _ if size == 1 => continue,
            4 => Kind::Time,
            5 if intent == MATRIX && (parameter(0), parameter(1), size) == (3.0, 3.0, 9) => {
                Kind::Matrix3
            }
            5 if intent == MATRIX && (parameter(0), parameter(1), size) == (2.0, 2.0, 4) => {
                Kind::Matrix2
            }
            5 => {
                let known = INTENTS.iter().find(|(code, _)| *code == intent);
                let kind = known.map_or(Kind::List, |(_, kind)| *kind);
                if kind.size().is_none_or(|fixed| fixed == size) {
                    kind
                } else {
                    Kind::List
                }
            }
            _ => Kind::List,
        };
        let measured = i <= 4 && step.is_finite() && step > 0.0;
        let mut axis = Axis {
            size,
            kind: Some(kind),
            spacing: measured.then_some(step),
            ..Axis::default()
        };
        if kind == Kind::Time {
            let first = fields.real(fields.layout.first_time, 0);
            axis.min = (measured && first.is_finite()).then_some(first);
            axis.units = unit_of_fourth(fields).to_string();
        }
        axes.push(axis);
    }
    Ok(axes)
}

fn storage(fields: &Fields<'_>, name: &str) -> Result<Storage, String> {
    let layout = fields.layout;
    let offset = match layout.wide {
        true => fields.integer::<8>(layout.vox_offset),
        false => fields.real(layout.vox_offset, 0) as i64,
    };
    let single = fields.bytes.get(layout.magic + 1) == Some(&b'+');
    let least = if single { layout.length as i64 + 4 } else { 0 };
    if offset < 0 {
        return Err(format!("the samples begin at byte {offset}"));
    }
    let compressed = name.to_ascii_lowercase().ends_with(".gz");
    let data_file = match single {
        true => DataFile::Attached,
        false => DataFile::Single(samples_of_pair(name)),
    };
    Ok(Storage {
        encoding: if !single && compressed {
            Encoding::Gzip
        } else {
            Encoding::Raw
        },
        endian: Some(fields.endian),
        byte_skip: offset.max(least),
        data_file,
        ..Storage::default()
    })
}

/// The file with the samples that belongs to a header: `a.img` to `a.hdr`, `a.img.gz` to `a.hdr.gz`.
fn samples_of_pair(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    match lower.rfind(".hdr") {
        Some(at) => format!(
            "{}.{}{}",
            &name[..at],
            same_case(&name[at + 1..at + 4], "img"),
            &name[at + 4..]
        ),
        None => format!("{name}.img"),
    }
}

fn same_case(like: &str, word: &str) -> String {
    match like.bytes().all(|b| b.is_ascii_uppercase()) {
        true => word.to_ascii_uppercase(),
        false => word.to_string(),
    }
}

/// The header beside the samples of a pair, if `path` may be such.
pub(super) fn header_of_pair(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let at = name.to_ascii_lowercase().rfind(".img")?;
    let header = format!(
        "{}.{}{}",
        &name[..at],
        same_case(&name[at + 1..at + 4], "hdr"),
        &name[at + 4..]
    );
    let header = path.with_file_name(header);
    header.is_file().then_some(header)
}
