//! DICOM: a file, or a directory with the files of a series. `DIR#/2` chooses a series by its number in the list of series, `DIR#UID`
//! by the end of its UID.
//!
//! The world is left, posterior, superior, in millimetres. Samples are the slope times stored numbers plus the intercept.

mod bytes;
mod elements;
mod format;
mod frames;
mod geometry;
mod lossless;
mod parse;
mod pixels;
mod series;
mod tags;
mod unpack;

use std::path::Path;
use std::sync::Arc;

use super::missing::{Missing, beside_nans, nans, type_with_nan};
use super::picture::channel_axis;
use super::{FrameTimes, ImageError, Note, Opened, Sink, Source, check_length};
use crate::memory::MOST_OF_A_BYTE;
use crate::nrrd::{Axis, Header, Kind, NamedSpace, Samples, Space};
use bytes::Bytes;
use frames::{File, Frame};
use geometry::{Slice, Stack, normal, stack};
pub(super) use series::is_directory;

/// Opens one file.
pub(super) fn open(opened: Opened<'_>) -> Result<Source<'_>, ImageError> {
    let (name, asked, missing) = (opened.file_name(), opened.array.clone(), opened.missing);
    let bytes = match (&opened.path, opened.length) {
        (Some(path), Some(length)) => Bytes::File {
            path: path.clone(),
            length,
        },
        _ => Bytes::Memory(Arc::new(opened.bytes()?)),
    };
    if let Some(asked) = asked {
        return Err(ImageError::new(format!(
            "`#{asked}` asks for a series, but this is one file"
        )));
    }
    let file = File::open(bytes, name)?;
    let file = file.ok_or_else(|| ImageError::new("the file has no pixels"))?;
    source(&[file], Vec::new(), missing)
}

/// Opens a series in a directory.
pub(super) fn open_directory(
    path: &Path,
    asked: Option<&str>,
    missing: Missing,
) -> Result<Source<'static>, ImageError> {
    let (files, notes) = series::choose(path, asked)?;
    let mut source = source(&files, notes, missing)?;
    source.files = files.iter().filter_map(File::path).collect();
    Ok(source)
}

/// The array of all frames of files that belong together.
fn source(
    files: &[File],
    mut notes: Vec<Note>,
    missing: Missing,
) -> Result<Source<'static>, ImageError> {
    let frames: Vec<&Frame> = files.iter().flat_map(|file| &file.frames).collect();
    let first = frames[0];
    let format = first.common.pixels.format.clone();
    let mut header = Header::new(format.sample_type, &[]);
    header.axes.extend(channel_axis(format.channels));
    let grid = header.axes.len();
    for size in [format.columns, format.rows] {
        header.axes.push(Axis {
            size,
            kind: Some(Kind::Domain),
            ..Axis::default()
        });
    }
    let mut times = FrameTimes::Header;
    let order = match placed(&frames, missing)? {
        Some((stack, columns)) => {
            notes.extend(stack.notes.clone());
            place(&mut header, grid, &stack, columns, first);
            if let Some(irregular) = stack.times.filter(|times| nearly_regular(times).is_none()) {
                times = FrameTimes::Seconds(irregular);
            }
            stack.order
        }
        None => {
            unplaced(&mut header, grid, &frames, &mut notes);
            (0..frames.len()).map(Some).collect()
        }
    };
    let filled = order.iter().any(Option::is_none);
    if filled {
        header.sample_type = type_with_nan(format.sample_type);
    }
    header.content = files[0].about.description.clone();
    header.check().map_err(|v| ImageError::new(v.message))?;
    let length = files.iter().map(File::length).sum();
    check_length(&header, length, MOST_OF_A_BYTE)?;
    match first.common.photometric.as_str() {
        "MONOCHROME1" => notes.push(Note::new(
            "low values are meant to be bright (MONOCHROME1); they are read as stored",
        )),
        "PALETTE COLOR" => notes.push(Note::new(
            "samples are read without the colours that a palette gives them",
        )),
        _ => {}
    }
    let alike = frames.iter().all(|frame| frame.scale == first.scale);
    let frames: Vec<Option<Frame>> = order
        .into_iter()
        .map(|frame| frame.map(|frame| frames[frame].clone()))
        .collect();
    let of_frame = format.channels * format.columns * format.rows;
    let scale = first.scale;
    let decode = move |sink: &mut Sink<'_>| {
        for frame in &frames {
            let Some(frame) = frame else {
                sink(nans(format.sample_type, of_frame));
                continue;
            };
            let samples = frame
                .common
                .pixels
                .frame(frame.number)
                .map_err(|e| e.in_file(Path::new(&frame.common.name)))?;
            let own = frame.scale.filter(|_| !alike);
            sink(match (own, alike) {
                (Some((slope, intercept)), false) => {
                    let mut values: Vec<f64> = samples.convert().unwrap_or_default();
                    values.iter_mut().for_each(|x| *x = *x * slope + intercept);
                    Samples::F64(values)
                }
                _ if filled => beside_nans(samples, format.sample_type),
                _ => samples,
            });
        }
        Ok(Vec::new())
    };
    let mut source = Source::decoded("DICOM", header, Box::new(decode));
    source.scale = scale.filter(|_| alike);
    source.is_rescaled = !alike;
    source.facts.times = times;
    source.notes = notes;
    Ok(source)
}

/// Unit vectors along the columns and the rows of pixels.
type Directions = [[f64; 3]; 2];

/// The grid of frames, if they have positions: the stack of slices, and the directions within a slice.
fn placed(frames: &[&Frame], missing: Missing) -> Result<Option<(Stack, Directions)>, ImageError> {
    let Some(orientation) = frames[0].orientation else {
        return Ok(None);
    };
    let [a, b, c, d, e, f] = orientation;
    let directions = [[a, b, c], [d, e, f]];
    let Some(across) = normal(directions[0], directions[1]) else {
        return Ok(None);
    };
    for frame in frames {
        let turned = frame.orientation.is_none_or(|other| {
            other
                .iter()
                .zip(orientation)
                .any(|(x, y)| (x - y).abs() > series::SAME_DIRECTION)
        });
        if turned {
            return Err(ImageError::new("frames differ in orientation").hint(
                "with dcmtk or gdcm, save the frames of one orientation as files of their own",
            ));
        }
    }
    let slices: Option<Vec<Slice>> = frames.iter().map(|frame| frame.slice()).collect();
    let Some(slices) = slices else {
        return Ok(None);
    };
    Ok(Some((stack(&slices, across, missing)?, directions)))
}

/// Places the grid of a stack in the patient's space.
fn place(header: &mut Header, grid: usize, stack: &Stack, directions: Directions, first: &Frame) {
    let [between_rows, between_columns] = first.spacing.unwrap_or([1.0, 1.0]);
    let scaled = |direction: [f64; 3], step: f64| Some(direction.map(|x| x * step).to_vec());
    header.axes[grid].direction = scaled(directions[0], between_columns);
    header.axes[grid + 1].direction = scaled(directions[1], between_rows);
    let across = normal(directions[0], directions[1]).unwrap_or([0.0, 0.0, 1.0]);
    let single = across.map(|x| x * first.thickness.unwrap_or(1.0));
    let space_axis = |size: usize, direction: [f64; 3]| Axis {
        size,
        kind: Some(Kind::Space),
        direction: Some(direction.to_vec()),
        ..Axis::default()
    };
    header
        .axes
        .push(space_axis(stack.positions, stack.step.unwrap_or(single)));
    if stack.moments > 1 {
        let regular = stack.times.as_deref().and_then(nearly_regular);
        header.axes.push(time_axis(stack.moments, regular));
    }
    header.space = Space::Named(NamedSpace::Lps);
    header.space_origin = Some(stack.origin.to_vec());
    header.space_units = vec!["mm".to_string(); 3];
}

/// An axis of time: the first one and the step, if they are known.
fn time_axis(size: usize, regular: Option<(f64, f64)>) -> Axis {
    let regular = regular.filter(|(_, step)| *step > 0.0 && step.is_finite());
    Axis {
        size,
        kind: Some(Kind::Time),
        min: regular.map(|(start, _)| start),
        spacing: regular.map(|(_, step)| step),
        units: regular.map_or(String::new(), |_| "s".to_string()),
        ..Axis::default()
    }
}

/// The first of times and the step, if all steps are the same within a hundredth: machines do not keep time better.
fn nearly_regular(times: &[f64]) -> Option<(f64, f64)> {
    let (first, last) = (*times.first()?, *times.last()?);
    let step = (last - first) / (times.len() - 1) as f64;
    let fits = |pair: &[f64]| (pair[1] - pair[0] - step).abs() <= 0.01 * step;
    times.windows(2).all(fits).then_some((first, step))
}

/// Describes pictures without positions: they have steps at most.
fn unplaced(header: &mut Header, grid: usize, frames: &[&Frame], notes: &mut Vec<Note>) {
    let first = frames[0];
    if let Some([between_rows, between_columns]) = first.spacing {
        for (axis, step) in [(grid, between_columns), (grid + 1, between_rows)] {
            header.axes[axis].spacing = Some(step);
            header.axes[axis].units = "mm".to_string();
        }
    }
    notes.push(Note::new(match first.spacing {
        Some(_) => "the pictures have no position: the grid is at the origin, in millimetres",
        None => "the pictures have no position: positions are indices of pixels",
    }));
    if frames.len() == 1 {
        return;
    }
    match first.common.frame_time {
        Some(period) => header
            .axes
            .push(time_axis(frames.len(), Some((0.0, period)))),
        None => header.axes.push(Axis {
            size: frames.len(),
            kind: Some(Kind::Domain),
            spacing: first.spacing.and(first.thickness),
            ..Axis::default()
        }),
    }
}
