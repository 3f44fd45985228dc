//! Images whose samples are loaded when a program first touches them, box by box as their file has them.
//!
//! The boxes of a file that follow one another along the fastest axis of the image make a *part*: its samples are rows of the image.

use std::ops::Range;
use std::sync::Arc;

use super::findings::Findings;
use super::load::converted;
use super::mapped::Obstacle;
use super::normalize::Plan;
use super::request::{Declared, MapFiles, Reading};
use super::role::{Role, Span};
use super::runs::{Runs, is_plain};
use super::stored::Stored;
use super::{ROW_LOAD, Real};
use crate::formats::boxes::Boxes;
use crate::formats::{ImageError, Source};
use crate::memory::{self, Demand, Parts};
use crate::nrrd::{self, Header};
use crate::simd::small::Small;

/// Whether an image of this size is to be loaded on demand, if it can be.
pub(super) fn is_wanted(reading: &Reading, bytes: u64) -> bool {
    let left = || [memory::available(), reading.memory].into_iter().flatten();
    match reading.map {
        MapFiles::Always => true,
        MapFiles::Never => false,
        MapFiles::Auto => left().any(|left| bytes > left / 2),
    }
}

/// The samples of a file, to be loaded on demand, or why they cannot be.
///
/// # Errors
/// The file cannot be used at all.
pub(super) fn load<T: Real>(
    source: &Source<'_>,
    plan: &Plan,
    declared: Declared<'_>,
    small: Option<Small>,
    file: &str,
) -> Result<Result<Stored<T>, Obstacle>, ImageError> {
    let Some(boxes) = source.boxes()? else {
        return Ok(Err(Obstacle::InOnePiece));
    };
    let components = declared.components();
    let grid = Grid::new(source.header(), plan, components, boxes.extents());
    let Some(grid) = grid.filter(|grid| grid.parts() <= MOST_PARTS) else {
        return Ok(Err(Obstacle::Order));
    };
    let count = grid.count;
    let scale = source.scale();
    let findings = Arc::new(Findings::of(file));
    let demand = match small.map(|small| small.bytes()) {
        None => demand(grid, boxes, &findings, move |piece, beyond| {
            converted::<T>(piece, scale, beyond)
        }),
        Some(1) => demand::<u8>(grid, boxes, &findings, |piece, _| {
            piece.convert().unwrap_or_default()
        }),
        Some(_) => demand::<u16>(grid, boxes, &findings, |piece, _| {
            piece.convert().unwrap_or_default()
        }),
    };
    match demand {
        // SAFETY: there are `count` samples, and zeros after them.
        Ok(demand) => Ok(Ok(unsafe {
            Stored::on_demand(demand, small, count, findings)
        })),
        Err(error) if error.kind() == std::io::ErrorKind::OutOfMemory => {
            Err(ImageError::new(error.to_string()))
        }
        Err(_) => Ok(Err(Obstacle::Refused)),
    }
}

/// Memory for samples of a type, which `convert` makes of those of the file.
fn demand<S: Copy + Send + Sync + 'static>(
    grid: Grid,
    boxes: Arc<dyn Boxes>,
    findings: &Arc<Findings>,
    convert: impl Fn(nrrd::Samples, &mut u64) -> Vec<S> + Send + Sync + 'static,
) -> std::io::Result<Demand> {
    let (count, size) = (grid.count, size_of::<S>());
    let samples = Samples {
        grid,
        boxes,
        convert: Box::new(convert),
        findings: Arc::clone(findings),
    };
    Demand::new(Arc::new(samples), count * size, (ROW_LOAD - 1) * size)
}

/// More parts take more memory themselves than they save.
const MOST_PARTS: usize = 1 << 24;

/// An axis of a file.
#[derive(Clone, Copy, Debug)]
struct Axis {
    /// Samples along it, and along a box.
    size: usize,
    extent: usize,
    /// The samples that the image has of it.
    first: usize,
    count: usize,
    /// The distance of two neighbours in the image.
    stride: usize,
}

impl Axis {
    /// The boxes with samples of the image.
    fn boxes(&self) -> Range<usize> {
        self.first / self.extent..(self.first + self.count - 1) / self.extent + 1
    }

    /// The samples of the file in a box.
    fn stored(&self, number: usize) -> Range<usize> {
        number * self.extent..((number + 1) * self.extent).min(self.size)
    }

    /// Those that the image has, counted from its first.
    fn wanted(&self, number: usize) -> Range<usize> {
        let stored = self.stored(number);
        let end = stored.end.min(self.first + self.count) - self.first;
        stored.start.saturating_sub(self.first)..end
    }
}

/// The axes of a file, the fastest first, and their places in an image.
#[derive(Debug)]
struct Grid {
    axes: Vec<Axis>,
    /// The axes along which the image has several samples, the fastest of the image first.
    order: Vec<usize>,
    /// Samples of the image.
    count: usize,
}

impl Grid {
    /// Those of an array that becomes an image by a plan; `None` if it takes more than to put samples elsewhere.
    fn new(header: &Header, plan: &Plan, components: usize, extents: &[usize]) -> Option<Grid> {
        let (runs, plane) = Runs::axes(header, plan)?;
        if !is_plain(plan, components) || extents.len() != runs.len() {
            return None;
        }
        let frame = plane.checked_mul(components)?;
        let mut axes = Vec::new();
        for (run, &extent) in runs.iter().zip(extents) {
            let (first, count, stride) = match run.role {
                Role::Domain => (0, run.size, run.stride),
                // Of several stored numbers those from the first on count.
                Role::Component if run.stride == 1 => {
                    let rest = run.size.checked_sub(plan.roles.first)?;
                    (plan.roles.first, rest.min(components), plane)
                }
                Role::Component => (0, run.size, plane.checked_mul(run.stride)?),
                Role::Fixed(index) => (index, 1, 0),
                Role::Time(Span { first, last }) => (first, last - first + 1, frame),
            };
            if extent == 0 || first.checked_add(count)? > run.size {
                return None;
            }
            axes.push(Axis {
                size: run.size,
                extent,
                first,
                count,
                stride,
            });
        }
        let mut order: Vec<usize> = (0..axes.len()).filter(|&a| axes[a].count > 1).collect();
        order.sort_by_key(|&a| axes[a].stride);
        // Together the axes go through all samples of the image.
        let mut count = 1_usize;
        for &axis in &order {
            if axes[axis].stride != count {
                return None;
            }
            count = count.checked_mul(axes[axis].count)?;
        }
        (count == frame.checked_mul(plan.frames.count())?).then_some(Grid { axes, order, count })
    }

    /// The boxes along an axis of one part.
    fn boxes_of(&self, axis: usize, number: usize) -> Range<usize> {
        match self.order.first() == Some(&axis) {
            true => self.axes[axis].boxes(),
            false => number..number + 1,
        }
    }

    fn parts(&self) -> usize {
        let all = (0..self.axes.len()).filter(|axis| self.order.first() != Some(axis));
        all.map(|axis| self.axes[axis].boxes().len()).product()
    }

    /// The box along each axis of a part; along the fastest of the image, the first.
    fn place(&self, part: usize) -> Vec<usize> {
        let mut rest = part;
        let place = self.axes.iter().enumerate().map(|(n, axis)| {
            let boxes = axis.boxes();
            if self.order.first() == Some(&n) {
                return boxes.start;
            }
            let number = boxes.start + rest % boxes.len();
            rest /= boxes.len();
            number
        });
        place.collect()
    }

    /// The part with a sample of the image.
    fn part_of(&self, sample: usize) -> usize {
        let (mut part, mut radix) = (0, 1);
        for (n, axis) in self.axes.iter().enumerate() {
            if self.order.first() == Some(&n) {
                continue;
            }
            let boxes = axis.boxes();
            let along = match axis.count {
                1 => 0,
                _ => sample / axis.stride % axis.count,
            };
            part += ((axis.first + along) / axis.extent - boxes.start) * radix;
            radix *= boxes.len();
        }
        part
    }

    /// Samples of the image along an axis of a part.
    fn wanted(&self, axis: usize, number: usize) -> Range<usize> {
        let boxes = self.boxes_of(axis, number);
        let axis = &self.axes[axis];
        axis.wanted(boxes.start).start..axis.wanted(boxes.end - 1).end
    }

    /// The axes whose samples follow one another in a part, and those that do not.
    fn split(&self, place: &[usize]) -> (&[usize], &[usize]) {
        let is_whole = |&axis: &usize| self.wanted(axis, place[axis]) == (0..self.axes[axis].count);
        let whole = self.order.iter().take_while(|axis| is_whole(axis)).count();
        // The first that is not whole still follows.
        self.order.split_at((whole + 1).min(self.order.len()))
    }

    /// The samples of a part that follow one another from that of the smallest index on.
    fn run(&self, place: &[usize], together: &[usize]) -> Range<usize> {
        let Some(&last) = together.last() else {
            return 0..1;
        };
        let (wanted, stride) = (self.wanted(last, place[last]), self.axes[last].stride);
        wanted.start * stride..wanted.end * stride
    }

    /// The samples of the part around a sample.
    fn around(&self, sample: usize) -> (usize, Range<usize>) {
        let part = self.part_of(sample);
        let place = self.place(part);
        let (together, _) = self.split(&place);
        let run = self.run(&place, together);
        let whole = together.last().map_or(1, |&last| {
            let Axis { stride, count, .. } = self.axes[last];
            stride * count
        });
        let base = sample - sample % whole;
        (part, base + run.start..base + run.end)
    }

    /// All samples of a part.
    fn ranges(&self, part: usize) -> Vec<Range<usize>> {
        let place = self.place(part);
        let (together, apart) = self.split(&place);
        let mut ranges = vec![self.run(&place, together)];
        for &axis in apart {
            let (wanted, stride) = (self.wanted(axis, place[axis]), self.axes[axis].stride);
            let moved = |along: usize| {
                let by = along * stride;
                ranges.iter().map(move |r| r.start + by..r.end + by)
            };
            ranges = wanted.flat_map(moved).collect();
        }
        ranges
    }
}

/// Makes samples in memory of those of a file, and counts those that become infinite.
type Convert<S> = Box<dyn Fn(nrrd::Samples, &mut u64) -> Vec<S> + Send + Sync>;

/// The samples of a file as contents of memory.
struct Samples<S> {
    grid: Grid,
    boxes: Arc<dyn Boxes>,
    convert: Convert<S>,
    /// The facts about the samples, and the name of the file.
    findings: Arc<Findings>,
}

impl<S: Copy> Samples<S> {
    /// Puts the samples of a box in place.
    ///
    /// # Safety
    /// The samples of the image from `first` on may be written.
    unsafe fn put(&self, place: &[usize], values: &[S], first: *mut S) {
        let axes = &self.grid.axes;
        let Some((fastest, others)) = axes.split_first() else {
            return;
        };
        let along = fastest.stored(place[0]).len();
        let wanted = fastest.wanted(place[0]);
        let skipped = wanted.start + fastest.first - fastest.stored(place[0]).start;
        let mut at: Vec<usize> = others
            .iter()
            .zip(&place[1..])
            .map(|(a, &n)| a.stored(n).start)
            .collect();
        for row in values.chunks_exact(along) {
            let inside = others.iter().zip(&at).try_fold(0, |offset, (axis, &at)| {
                let along = at
                    .checked_sub(axis.first)
                    .filter(|along| *along < axis.count)?;
                Some(offset + along * axis.stride)
            });
            if let Some(offset) = inside {
                let row = &row[skipped..skipped + wanted.len()];
                // SAFETY: the samples are those of the image, by their indices.
                unsafe {
                    let to = first.add(offset + wanted.start * fastest.stride);
                    match fastest.stride {
                        1 => to.copy_from_nonoverlapping(row.as_ptr(), row.len()),
                        stride => {
                            for (n, &value) in row.iter().enumerate() {
                                to.add(n * stride).write(value);
                            }
                        }
                    }
                }
            }
            for ((at, axis), &number) in at.iter_mut().zip(others).zip(&place[1..]) {
                *at += 1;
                let stored = axis.stored(number);
                if *at < stored.end {
                    break;
                }
                *at = stored.start;
            }
        }
    }
}

impl<S: Copy + Send + Sync + 'static> Parts for Samples<S> {
    fn count(&self) -> usize {
        self.grid.parts()
    }

    fn around(&self, byte: usize) -> (usize, Range<usize>) {
        let size = size_of::<S>();
        let (part, range) = self.grid.around(byte / size);
        (part, range.start * size..range.end * size)
    }

    fn ranges(&self, part: usize) -> Vec<Range<usize>> {
        let size = size_of::<S>();
        let samples = self.grid.ranges(part).into_iter();
        samples
            .map(|range| range.start * size..range.end * size)
            .collect()
    }

    unsafe fn make(&self, part: usize, first: *mut u8) -> Result<(), String> {
        let fail = |error: ImageError| format!("{}: {error}", self.findings.file());
        let mut place = self.grid.place(part);
        let joined = self.grid.order.first().copied();
        let along = joined.map_or(0..1, |axis| self.grid.boxes_of(axis, place[axis]));
        let (mut missing, mut beyond) = (0, 0);
        for number in along {
            if let Some(axis) = joined {
                place[axis] = number;
            }
            let stored: Vec<Range<usize>> = (self.grid.axes.iter().zip(&place))
                .map(|(axis, &number)| axis.stored(number))
                .collect();
            let count: usize = stored.iter().map(|range| range.len()).product();
            let mut values: Vec<S> = Vec::with_capacity(count);
            let read = self.boxes.read(&stored, &mut |piece| {
                values.extend((self.convert)(piece, &mut beyond));
            });
            missing += read.map_err(fail)?;
            if values.len() != count {
                return Err(fail(ImageError::new(
                    "a part of the samples is not as long as it should be",
                )));
            }
            // SAFETY: promised by the caller; samples are aligned, as the first byte begins a page.
            unsafe { self.put(&place, &values, first.cast()) };
        }
        self.findings.add(part, missing, beyond);
        Ok(())
    }
}

#[cfg(test)]
#[path = "demand/tests.rs"]
mod tests;
