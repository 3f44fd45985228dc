//! The times of the frames of an array: from its header, in seconds.
//!
//! A time axis with a direction has a coordinate of the space for itself; without one it has a first time and a step like any
//! axis. Frames without times have their numbers as times.

use super::request::{GivenTimes, Reading};
use super::role::Span;
use crate::formats::{Facts, FrameTimes, ImageError, Note};
use crate::grid::{TimeAxis, seconds};
use crate::nrrd::{Axis, Centering, Header};

/// The times of the frames of a span of an axis.
pub(super) fn of_axis(
    header: &Header,
    axis: usize,
    domain: &[usize],
    span: Span,
    facts: &Facts,
    reading: &Reading,
    notes: &mut Vec<Note>,
) -> Result<TimeAxis, ImageError> {
    let frames = header.axes[axis].size;
    if let Some(GivenTimes::Axis(given)) = &reading.times {
        return as_given(given, frames, span);
    }
    let all = match &facts.times {
        FrameTimes::Header => from_header(header, axis, domain, notes)?,
        FrameTimes::Seconds(times) if times.len() == frames => {
            TimeAxis::of_times(times).map_err(without_times)?
        }
        FrameTimes::Seconds(times) => {
            let message = format!("there are {} times for {frames} frames", times.len());
            return Err(without_times(message));
        }
        FrameTimes::Unknown(error) => return Err(error.clone()),
    };
    let own = all.span(span.first, span.last);
    Ok(match reading.times {
        Some(GivenTimes::FromFirst) => own.from_zero(),
        _ => own,
    })
}

/// The times that a user gives, for all frames of the file or for those that are read.
fn as_given(given: &TimeAxis, frames: usize, span: Span) -> Result<TimeAxis, ImageError> {
    let TimeAxis::Table(times) = given else {
        return Ok(given.clone());
    };
    let own = match times.len() {
        count if count == span.count() => &times[..],
        count if count == frames => &times[span.first..span.last + 1],
        count => {
            return Err(ImageError::new(format!(
                "{count} times are given, but there are {} frames",
                span.count()
            )));
        }
    };
    TimeAxis::of_times(own).map_err(ImageError::new)
}

/// The error of a file whose times are not those of frames.
fn without_times(why: String) -> ImageError {
    ImageError::new(format!(
        "the times of the file are not those of frames: {why}"
    ))
    .hint("`--times START:STEP` gives the seconds of the first frame and of a step")
}

/// The warning that single precision cannot tell the frames apart well, if that is so.
pub(super) fn beyond_single(time: &TimeAxis, frames: usize, reading: &Reading) -> Option<Note> {
    let option = reading
        .name
        .as_ref()
        .map_or("--times".to_string(), |name| format!("--times-{name}"));
    time.beyond_single(frames, &option).map(Note::warning)
}

/// The times of all frames, by the header.
fn from_header(
    header: &Header,
    axis: usize,
    domain: &[usize],
    notes: &mut Vec<Note>,
) -> Result<TimeAxis, ImageError> {
    let along = &header.axes[axis];
    let (start, step, unit) = match &along.direction {
        Some(direction) => {
            let coordinate = own_coordinate(header, direction, domain)?;
            let origin = header
                .space_origin
                .as_ref()
                .map(|origin| origin[coordinate]);
            let unit = header
                .space_units
                .get(coordinate)
                .map_or("", String::as_str);
            let start = origin.filter(|start| start.is_finite()).unwrap_or(0.0);
            (start, Some(direction[coordinate]), unit)
        }
        None => {
            let (start, step) = extent(along);
            (start, step, along.units.as_str())
        }
    };
    let Some(step) = step else {
        let text = "the frames have no times; their numbers are taken as seconds";
        notes.push(Note::new(text));
        return Ok(TimeAxis::NUMBERS);
    };
    let second = unit_of_time(unit, notes);
    TimeAxis::regular(start * second, step * second).map_err(without_times)
}

/// The coordinate of the space that is time: the one in which the axis of time goes, and no axis of the grid.
fn own_coordinate(
    header: &Header,
    direction: &[f64],
    domain: &[usize],
) -> Result<usize, ImageError> {
    let mut coordinates = (0..direction.len()).filter(|&c| direction[c] != 0.0);
    let coordinate = coordinates.next();
    let in_space = |c: usize| {
        let mut directions = domain
            .iter()
            .filter_map(|&a| header.axes[a].direction.as_ref());
        directions.any(|direction| direction[c] != 0.0)
    };
    match (coordinate, coordinates.next()) {
        (Some(c), None) if !in_space(c) => Ok(c),
        (None, _) => Err(ImageError::new("the axis of time has the direction 0")),
        _ => Err(
            ImageError::new("the directions of the axes mix space and time").hint(
                "the axis of time must have a coordinate of its own, which is 0 for all other axes",
            ),
        ),
    }
}

/// The first time and the step of an axis without a direction.
fn extent(axis: &Axis) -> (f64, Option<f64>) {
    let count = axis.size as f64;
    match (axis.spacing, axis.min, axis.max) {
        (Some(step), min, _) => (min.unwrap_or(0.0), Some(step)),
        (None, Some(min), Some(max)) => match axis.centering {
            Some(Centering::Cell) => {
                let step = (max - min) / count;
                (min + 0.5 * step, Some(step))
            }
            _ if axis.size > 1 => (min, Some((max - min) / (count - 1.0))),
            _ => (min, Some(1.0)),
        },
        (None, min, None) => (min.unwrap_or(0.0), None),
        (None, None, Some(_)) => (0.0, None),
    }
}

/// The seconds of a unit of time. An unknown one is taken for a second, with a note.
fn unit_of_time(unit: &str, notes: &mut Vec<Note>) -> f64 {
    if let Some(second) = seconds(unit) {
        return second;
    }
    notes.push(Note::new(match unit {
        "" => "the file gives no unit of time; seconds are assumed".to_string(),
        _ => format!("`{unit}` is not a known unit of time; seconds are assumed"),
    }));
    1.0
}
