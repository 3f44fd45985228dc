//! MetaImage: lines `Key = Value` in front of the samples (`.mha`) or beside them (`.mhd`).
//!
//! The world is left, posterior, superior; the direction of axis `i` is row `i` of the matrix. `AnatomicalOrientation` says
//! the same again in letters and does not count.

mod lines;

use super::Note;
use super::text::numbers;
use super::{Asked, Translated};
use crate::nrrd::{
    Axis, DataFile, Encoding, Endian, Header, Kind, NamedSpace, SampleType, Space, Storage,
};
use lines::Lines;

/// The names of sample types; `_ARRAY` may follow.
const TYPES: &[(&str, SampleType)] = &[
    ("MET_CHAR", SampleType::I8),
    ("MET_UCHAR", SampleType::U8),
    ("MET_SHORT", SampleType::I16),
    ("MET_USHORT", SampleType::U16),
    ("MET_INT", SampleType::I32),
    ("MET_UINT", SampleType::U32),
    ("MET_LONG", SampleType::I32),
    ("MET_ULONG", SampleType::U32),
    ("MET_LONG_LONG", SampleType::I64),
    ("MET_ULONG_LONG", SampleType::U64),
    ("MET_FLOAT", SampleType::F32),
    ("MET_DOUBLE", SampleType::F64),
];

pub(super) fn translate(head: &[u8], _: &Asked<'_>) -> Result<Translated, String> {
    let lines = Lines::read(head)?;
    let dim = numbers::<usize>(lines.required("NDims")?, 1, "NDims")?[0];
    if !(1..=10).contains(&dim) {
        return Err(format!("`NDims` is {dim}, expected 1 to 10"));
    }
    let name = lines.required("ElementType")?;
    let plain = name.strip_suffix("_ARRAY").unwrap_or(name);
    let row = TYPES.iter().find(|(n, _)| *n == plain);
    let &(_, sample_type) =
        row.ok_or_else(|| format!("`ElementType` is `{name}`, which is not known"))?;
    let sizes = numbers::<usize>(lines.required("DimSize")?, dim, "DimSize")?;
    let mut header = Header::new(sample_type, &sizes);
    place(&lines, &mut header)?;
    let channels = match lines.find(&["ElementNumberOfChannels"]) {
        Some(text) => numbers::<usize>(text, 1, "ElementNumberOfChannels")?[0],
        None => 1,
    };
    if channels != 1 {
        // Bytes are colours more often than not; real numbers are vectors of the space.
        let geometric = matches!(sample_type, SampleType::F32 | SampleType::F64);
        let kind = Some(if geometric { Kind::Vector } else { Kind::List });
        header.axes.insert(
            0,
            Axis {
                size: channels,
                kind,
                ..Axis::default()
            },
        );
    }
    let mut translated =
        Translated::new(header, storage(&lines, dim + usize::from(channels != 1))?);
    let slope = lines
        .reals(&["ElementToIntensityFunctionSlope"], 1)?
        .unwrap_or(vec![1.0]);
    let offset = lines
        .reals(&["ElementToIntensityFunctionOffset"], 1)?
        .unwrap_or(vec![0.0]);
    if (slope[0], offset[0]) != (1.0, 0.0) {
        let text =
            "`ElementToIntensityFunction` is not applied: samples are taken as they are stored";
        translated.notes.push(Note::warning(text));
    }
    Ok(translated)
}

/// Directions and origin. Axes after the third are time and lists, beside space.
fn place(lines: &Lines<'_>, header: &mut Header) -> Result<(), String> {
    let dim = header.axes.len();
    let spacing = lines.reals(&["ElementSpacing", "ElementSize"], dim)?;
    let spacing = spacing.unwrap_or_else(|| vec![1.0; dim]);
    let matrix = lines.reals(&["TransformMatrix", "Rotation", "Orientation"], dim * dim)?;
    let unit = |k: usize| f64::from(u8::from(k.is_multiple_of(dim + 1)));
    let matrix = matrix.unwrap_or_else(|| (0..dim * dim).map(unit).collect());
    let origin = lines.reals(&["Offset", "Position", "Origin"], dim)?;
    let origin = origin.unwrap_or_else(|| vec![0.0; dim]);
    let space = dim.min(3);
    let mixed = (0..dim * dim).any(|k| {
        let (row, column) = (k / dim, k % dim);
        (row < space) != (column < space) && matrix[k] != 0.0
    });
    if mixed {
        return Err("`TransformMatrix` mixes space with further axes".to_string());
    }
    header.space = match space {
        3 => Space::Named(NamedSpace::Lps),
        _ => Space::Dimension(space),
    };
    header.space_origin = Some(origin[..space].to_vec());
    header.space_units = vec!["mm".to_string(); space];
    for (a, axis) in header.axes.iter_mut().enumerate() {
        axis.kind = Some(match a {
            _ if a < space => Kind::Space,
            3 => Kind::Time,
            _ => Kind::List,
        });
        if a < space {
            let row = matrix[a * dim..a * dim + space].iter();
            axis.direction = Some(row.map(|x| x * spacing[a]).collect());
        } else if spacing[a] != 0.0 {
            axis.spacing = Some(spacing[a]);
            axis.min = Some(origin[a]);
        }
    }
    Ok(())
}

fn storage(lines: &Lines<'_>, axes: usize) -> Result<Storage, String> {
    let name = lines.required("ElementDataFile")?;
    let local = name.eq_ignore_ascii_case("LOCAL");
    let compressed = lines.is_true(&["CompressedData"]);
    let text = lines.find(&["BinaryData"]).is_some() && !lines.is_true(&["BinaryData"]);
    let big = lines.is_true(&["ElementByteOrderMSB", "BinaryDataByteOrderMSB"]);
    let skip = match lines.find(&["HeaderSize"]) {
        Some(text) => numbers::<i64>(text, 1, "HeaderSize")?[0],
        None => 0,
    };
    if skip < -1 {
        return Err(format!("`HeaderSize` is {skip}, expected -1 or more"));
    }
    Ok(Storage {
        encoding: match (compressed, text) {
            (true, _) => Encoding::Gzip,
            (false, true) => Encoding::Ascii,
            (false, false) => Encoding::Raw,
        },
        endian: Some(if big { Endian::Big } else { Endian::Little }),
        // Lines are skipped before decompression, bytes after it.
        line_skip: if local && compressed { lines.count } else { 0 },
        byte_skip: match (local, compressed) {
            (true, false) => lines.bytes as i64,
            (true, true) => 0,
            (false, _) => skip,
        },
        data_file: if local {
            DataFile::Attached
        } else {
            data_file(lines, name, axes)?
        },
    })
}

/// One file, a list of files, or a pattern with the numbers that go into it.
fn data_file(lines: &Lines<'_>, name: &str, axes: usize) -> Result<DataFile, String> {
    let words: Vec<&str> = name.split_whitespace().collect();
    match &words[..] {
        ["LIST", rest @ ..] => {
            let dimension = match rest {
                [] => None,
                [dimension, ..] => {
                    let of_grid = numbers::<usize>(dimension, 1, "ElementDataFile = LIST")?[0];
                    let channels = lines
                        .find(&["ElementNumberOfChannels"])
                        .is_some_and(|c| c != "1");
                    Some(of_grid.saturating_add(usize::from(channels)))
                }
            };
            let names = String::from_utf8_lossy(lines.rest);
            let names = names.lines().map(str::trim).filter(|n| !n.is_empty());
            Ok(DataFile::List {
                files: names.map(|n| (n.to_string(), None)).collect(),
                with_skips: false,
                dimension: dimension.filter(|d| *d < axes),
            })
        }
        [format, min, max, rest @ ..] if format.contains('%') => {
            let number = |word: &str| Ok::<i64, String>(numbers(word, 1, "ElementDataFile")?[0]);
            let step = rest.first().map_or(Ok(1), |word| number(word))?;
            let (min, max) = (number(min)?, number(max)?);
            if step == 0 || (max > min) != (step > 0) && max != min {
                return Err(format!(
                    "`ElementDataFile` counts from {min} to {max} by steps of {step}"
                ));
            }
            Ok(DataFile::Pattern {
                format: format.to_string(),
                min,
                max,
                step,
                dimension: None,
            })
        }
        [] => Err("`ElementDataFile` names no file".to_string()),
        _ => Ok(DataFile::Single(name.to_string())),
    }
}
