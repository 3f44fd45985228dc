//! Legacy VTK files with a dataset of structured points: lines of text, then the samples of the first array.
//!
//! The format has no rotation: the grid lies along the axes of the world. Values of cells lie in the middle between points.

mod lines;

use super::Translated;
use super::text::{numbers, reals};
use crate::image::Note;
use crate::nrrd::{Axis, Encoding, Endian, Header, Kind, SampleType, Space, Storage};
use lines::Lines;
pub(crate) use lines::sample_type;

/// The grid, as far as it is known.
#[derive(Default)]
struct Grid {
    sizes: Option<Vec<usize>>,
    spacing: Option<Vec<f64>>,
    origin: Option<Vec<f64>>,
}

/// An array that can be read: its name, type, and what one sample holds.
struct Array<'a> {
    name: &'a str,
    sample_type: SampleType,
    components: usize,
    kind: Option<Kind>,
}

pub(super) fn translate(head: &[u8], _: &str) -> Result<Translated, String> {
    let mut lines = Lines { head, at: 0 };
    // The version, and a title that may be anything or nothing.
    lines.next()?;
    let title = lines.head[lines.at..].iter().position(|b| *b == b'\n');
    lines.at += title.map_or(0, |end| end + 1);
    let text = match lines.next()? {
        line if line.eq_ignore_ascii_case("ASCII") => true,
        line if line.eq_ignore_ascii_case("BINARY") => false,
        line => return Err(format!("found `{line}`, expected `ASCII` or `BINARY`")),
    };
    let mut grid = Grid::default();
    let mut cells = None;
    let array = loop {
        let line = lines.next()?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = line[words[0].len()..].trim();
        match words[0].to_ascii_uppercase().as_str() {
            "DATASET" if words.get(1) == Some(&"STRUCTURED_POINTS") => {}
            "DATASET" => {
                return Err(format!(
                    "the dataset is `{after}`; only `STRUCTURED_POINTS` is an image"
                ));
            }
            "DIMENSIONS" => grid.sizes = Some(numbers(after, 3, "DIMENSIONS")?),
            "SPACING" | "ASPECT_RATIO" => grid.spacing = Some(reals(after, 3, "SPACING")?),
            "ORIGIN" => grid.origin = Some(reals(after, 3, "ORIGIN")?),
            "POINT_DATA" => cells = Some(false),
            "CELL_DATA" => cells = Some(true),
            "FIELD" => {
                if let Some(array) = field(&mut lines, &words, text, cells.is_some())? {
                    break array;
                }
            }
            _ if cells.is_some() => break attribute(&mut lines, &words, text)?,
            word => {
                return Err(format!(
                    "found `{word}`, expected the description of a grid"
                ));
            }
        }
    };
    describe(&grid, array, cells == Some(true), text, lines.at)
}

/// The first array of a field, or none if the field describes the file and not its samples.
fn field<'a>(
    lines: &mut Lines<'a>,
    words: &[&str],
    text: bool,
    is_data: bool,
) -> Result<Option<Array<'a>>, String> {
    let count: usize = numbers(words.get(2).unwrap_or(&""), 1, "FIELD")?[0];
    for _ in 0..count {
        let line = lines.next()?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[name, components, tuples, type_name] = &words[..] else {
            return Err(format!(
                "found `{line}`, expected: name components tuples type"
            ));
        };
        let components: usize = numbers(components, 1, "FIELD")?[0];
        if type_name == "string" {
            return Err("arrays of strings cannot be looked behind".to_string());
        }
        let sample_type = sample_type(type_name)?;
        if is_data {
            let kind = (components > 1).then_some(Kind::List);
            return Ok(Some(Array {
                name,
                sample_type,
                components,
                kind,
            }));
        }
        let tuples: usize = numbers(tuples, 1, "FIELD")?[0];
        let values = components
            .checked_mul(tuples)
            .ok_or("an array is too long")?;
        lines.skip(values, sample_type, text)?;
        if lines.peek() == Some("METADATA") {
            return Err("metadata before the grid cannot be read".to_string());
        }
    }
    Ok(None)
}

/// The array that a line of attributes begins.
fn attribute<'a>(
    lines: &mut Lines<'a>,
    words: &[&'a str],
    text: bool,
) -> Result<Array<'a>, String> {
    let name = words.get(1).copied().unwrap_or("");
    let typed = |components: usize, kind: Option<Kind>| {
        let sample_type = sample_type(words.get(2).unwrap_or(&""))?;
        Ok(Array {
            name,
            sample_type,
            components,
            kind,
        })
    };
    let color = |n: usize| match n {
        3 => Some(Kind::RgbColor),
        4 => Some(Kind::RgbaColor),
        1 => None,
        _ => Some(Kind::List),
    };
    match words[0].to_ascii_uppercase().as_str() {
        "SCALARS" => {
            let components = words
                .get(3)
                .map_or(Ok(vec![1]), |n| numbers(n, 1, "SCALARS"))?[0];
            if lines.peek().is_some_and(|l| l.starts_with("LOOKUP_TABLE")) {
                lines.next()?;
            }
            let bytes = words.get(2) == Some(&"unsigned_char");
            let list = (components > 1).then_some(Kind::List);
            typed(components, if bytes { color(components) } else { list })
        }
        "VECTORS" => typed(3, Some(Kind::Vector)),
        "NORMALS" => typed(3, Some(Kind::Normal)),
        "TENSORS" => typed(9, Some(Kind::Matrix3)),
        "TENSORS6" => typed(6, Some(Kind::List)),
        "COLOR_SCALARS" => {
            let components = numbers(words.get(2).unwrap_or(&""), 1, "COLOR_SCALARS")?[0];
            let sample_type = if text {
                SampleType::F32
            } else {
                SampleType::U8
            };
            let kind = color(components);
            Ok(Array {
                name,
                sample_type,
                components,
                kind,
            })
        }
        word => Err(format!(
            "the first array is of the sort `{word}`, which is no image"
        )),
    }
}

fn describe(
    grid: &Grid,
    array: Array<'_>,
    cells: bool,
    text: bool,
    start: usize,
) -> Result<Translated, String> {
    let missing = |what: &str| format!("the grid has no `{what}`");
    let sizes = grid.sizes.as_ref().ok_or_else(|| missing("DIMENSIONS"))?;
    let spacing = grid.spacing.clone().unwrap_or_else(|| vec![1.0; 3]);
    let origin = grid.origin.clone().unwrap_or_else(|| vec![0.0; 3]);
    let mut header = grid_header(array.sample_type, sizes, cells)?;
    let half = |a: usize| {
        if cells && sizes[a] > 1 {
            spacing[a] / 2.0
        } else {
            0.0
        }
    };
    header.space_origin = Some((0..3).map(|a| origin[a] + half(a)).collect());
    for (a, axis) in header.axes.iter_mut().enumerate() {
        let mut direction = vec![0.0; 3];
        // An axis of one sample may have no step.
        direction[a] = if spacing[a] == 0.0 && axis.size == 1 {
            1.0
        } else {
            spacing[a]
        };
        axis.direction = Some(direction);
    }
    if array.components != 1 {
        let (size, kind) = (array.components, array.kind);
        header.axes.insert(
            0,
            Axis {
                size,
                kind,
                ..Axis::default()
            },
        );
    }
    header.content = array.name.to_string();
    let storage = Storage {
        encoding: if text { Encoding::Ascii } else { Encoding::Raw },
        endian: Some(Endian::Big),
        byte_skip: start as i64,
        ..Storage::default()
    };
    let mut translated = Translated::new(header, storage);
    if cells {
        translated.notes.push(cell_note());
    }
    Ok(translated)
}

/// A header of a grid in space, by its points; cells are one less along each axis that has any.
pub(super) fn grid_header(
    sample_type: SampleType,
    points: &[usize],
    cells: bool,
) -> Result<Header, String> {
    let size = |&n: &usize| if cells && n > 1 { n - 1 } else { n };
    let sizes: Vec<usize> = points.iter().map(size).collect();
    if sizes.contains(&0) {
        return Err("the grid is empty".to_string());
    }
    let mut header = Header::new(sample_type, &sizes);
    header.space = Space::Dimension(points.len());
    for axis in &mut header.axes {
        axis.kind = Some(Kind::Space);
    }
    Ok(header)
}

pub(super) fn cell_note() -> Note {
    Note::new("the values are of cells: samples lie in their middles")
}
