//! Legacy VTK files with a dataset of structured points: lines of text, and the samples of arrays between them. One array is read: the
//! one that is asked for, or the first, with those of points before those of cells.
//!
//! The format has no rotation: the grid is aligned with the axes of the world. Values of cells are in the middle between points.

mod lines;

use super::text::{numbers, reals};
use super::{Asked, Note, Translated, no_array};
use crate::nrrd::{Axis, Encoding, Endian, Header, Kind, SampleType, Space, Storage};
use crate::vtk::legacy_type;
use lines::Lines;

/// The grid, as far as it is known.
#[derive(Default)]
struct Grid {
    sizes: Option<Vec<usize>>,
    spacing: Option<Vec<f64>>,
    origin: Option<Vec<f64>>,
}

/// An array that can be read.
struct Array {
    name: String,
    sample_type: SampleType,
    /// The count of numbers in a sample, and their kind.
    components: usize,
    kind: Option<Kind>,
    /// Whether its samples are those of cells.
    cells: bool,
    /// Where its samples begin in the file.
    start: u64,
}

/// The points or the cells that arrays belong to.
#[derive(Clone, Copy)]
struct Owners {
    cells: bool,
    count: usize,
}

/// The facts found so far while a file is searched.
#[derive(Default)]
struct Survey {
    grid: Grid,
    owners: Option<Owners>,
    arrays: Vec<Array>,
    text: bool,
}

pub(super) fn translate(head: &[u8], asked: &Asked<'_>) -> Result<Translated, String> {
    let mut lines = Lines::new(head, asked.file());
    // The version, and a title that may be anything or nothing.
    lines.next()?;
    lines.pass();
    let text = match lines.next()? {
        line if line.eq_ignore_ascii_case("ASCII") => true,
        line if line.eq_ignore_ascii_case("BINARY") => false,
        line => return Err(format!("found `{line}`, expected `ASCII` or `BINARY`")),
    };
    let mut survey = Survey {
        text,
        ..Survey::default()
    };
    // What comes behind an array need not be understood.
    if let Err(problem) = survey.look_on(&mut lines)
        && survey.arrays.is_empty()
    {
        return Err(problem);
    }
    let of_points = |array: &&Array| !array.cells;
    let arrays = &survey.arrays;
    let named = arrays.iter().map(|a| (a.name.as_str(), a.components));
    let by_default = || arrays.iter().find(of_points).or(arrays.first());
    let array = match asked.array {
        Some(name) => {
            let own = || arrays.iter().filter(|array| array.name == name);
            let found = own().find(of_points).or(own().next());
            found.ok_or_else(|| no_array(name, named.clone()))?
        }
        None => by_default().ok_or("the file has no array of samples")?,
    };
    let mut translated = describe(&survey.grid, array, text)?;
    translated.add_others(&array.name, named);
    Ok(translated)
}

impl Survey {
    /// Goes through the lines up to the first that is not understood, which may be behind the last.
    fn look_on(&mut self, lines: &mut Lines<'_>) -> Result<(), String> {
        loop {
            let line = lines.next()?;
            let words: Vec<&str> = line.split_whitespace().collect();
            let after = line[words[0].len()..].trim();
            let grid = &mut self.grid;
            match (words[0].to_ascii_uppercase().as_str(), self.owners) {
                ("DATASET", _) if words.get(1) == Some(&"STRUCTURED_POINTS") => {}
                ("DATASET", _) => {
                    return Err(format!(
                        "the dataset is `{after}`; only `STRUCTURED_POINTS` is an image"
                    ));
                }
                ("DIMENSIONS", _) => grid.sizes = Some(numbers(after, 3, "DIMENSIONS")?),
                ("SPACING" | "ASPECT_RATIO", _) => grid.spacing = Some(reals(after, 3, "SPACING")?),
                ("ORIGIN", _) => grid.origin = Some(reals(after, 3, "ORIGIN")?),
                (sort @ ("POINT_DATA" | "CELL_DATA"), _) => {
                    self.owners = Some(Owners {
                        cells: sort == "CELL_DATA",
                        count: numbers(after, 1, sort)?[0],
                    });
                }
                ("FIELD", owners) => self.field(lines, &words, owners)?,
                // The colours of an array of scalars.
                ("LOOKUP_TABLE", Some(_)) if words.len() == 3 => {
                    let colours: usize = numbers(words[2], 1, "LOOKUP_TABLE")?[0];
                    let numbers = colours.checked_mul(4).ok_or("an array is too long")?;
                    lines.skip(numbers, SampleType::U8, self.text)?;
                }
                (_, Some(owners)) => {
                    let array = attribute(lines, &words, self.text, owners)?;
                    self.add(lines, array, owners.count)?;
                }
                (word, None) => {
                    return Err(format!(
                        "found `{word}`, expected the description of a grid"
                    ));
                }
            }
        }
    }

    /// Takes an array that the lines are before, and passes over its samples.
    fn add(&mut self, lines: &mut Lines<'_>, array: Array, count: usize) -> Result<(), String> {
        let (sample_type, components) = (array.sample_type, array.components);
        self.arrays.push(array);
        let values = components.checked_mul(count);
        lines.skip(
            values.ok_or("an array is too long")?,
            sample_type,
            self.text,
        )?;
        lines.pass_metadata()
    }

    /// The arrays of a field; one before the points and the cells describes the file and not its samples.
    fn field(
        &mut self,
        lines: &mut Lines<'_>,
        words: &[&str],
        owners: Option<Owners>,
    ) -> Result<(), String> {
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
            let sample_type = legacy_type(type_name)?;
            let tuples: usize = numbers(tuples, 1, "FIELD")?[0];
            let array = Array {
                name: name.to_string(),
                sample_type,
                components,
                kind: (components > 1).then_some(Kind::List),
                cells: owners.is_some_and(|owners| owners.cells),
                start: lines.position(),
            };
            match owners {
                Some(_) => self.add(lines, array, tuples)?,
                None => {
                    let values = components.checked_mul(tuples);
                    lines.skip(
                        values.ok_or("an array is too long")?,
                        sample_type,
                        self.text,
                    )?;
                    lines.pass_metadata()?;
                }
            }
        }
        Ok(())
    }
}

/// The array that a line of attributes begins.
fn attribute(
    lines: &mut Lines<'_>,
    words: &[&str],
    text: bool,
    owners: Owners,
) -> Result<Array, String> {
    let color = |n: usize| match n {
        3 => Some(Kind::RgbColor),
        4 => Some(Kind::RgbaColor),
        1 => None,
        _ => Some(Kind::List),
    };
    let third = *words.get(2).unwrap_or(&"");
    let (sample_type, components, kind) = match words[0].to_ascii_uppercase().as_str() {
        "SCALARS" => {
            let components = words
                .get(3)
                .map_or(Ok(vec![1]), |n| numbers(n, 1, "SCALARS"))?[0];
            lines.take_if("LOOKUP_TABLE");
            let kind = match third {
                "unsigned_char" => color(components),
                _ => (components > 1).then_some(Kind::List),
            };
            (legacy_type(third)?, components, kind)
        }
        "VECTORS" => (legacy_type(third)?, 3, Some(Kind::Vector)),
        "NORMALS" => (legacy_type(third)?, 3, Some(Kind::Normal)),
        "TENSORS" => (legacy_type(third)?, 9, Some(Kind::Matrix3)),
        "TENSORS6" => (legacy_type(third)?, 6, Some(Kind::List)),
        "COLOR_SCALARS" => {
            let components = numbers(third, 1, "COLOR_SCALARS")?[0];
            let bytes = if text {
                SampleType::F32
            } else {
                SampleType::U8
            };
            (bytes, components, color(components))
        }
        word => {
            return Err(format!(
                "an array is of the sort `{word}`, which is not an image"
            ));
        }
    };
    Ok(Array {
        name: words.get(1).unwrap_or(&"").to_string(),
        sample_type,
        components,
        kind,
        cells: owners.cells,
        start: lines.position(),
    })
}

fn describe(grid: &Grid, array: &Array, text: bool) -> Result<Translated, String> {
    let cells = array.cells;
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
    header.content = array.name.clone();
    let start = i64::try_from(array.start).map_err(|_| "the file is too long")?;
    let storage = Storage {
        encoding: if text { Encoding::Ascii } else { Encoding::Raw },
        endian: Some(Endian::Big),
        byte_skip: start,
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
    Note::new("the values belong to cells: samples are at the centres of the cells")
}
