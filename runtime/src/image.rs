//! Images: samples on a grid in world space.
//!
//! Takes files of all formats that [`crate::formats`] knows, or arrays in memory, and returns an [`Image`]: its samples, converted
//! once to the program's real type or kept in a smaller type of the file, stored component by component, and shared by all clones,
//! with the transforms between index space and world space. Sample `n` of an axis is at index coordinate `n`. An image over time has several such sets of
//! samples, its frames, one after the other, and a [`TimeAxis`]. A large file whose samples are stored just as those of an image are
//! can be mapped instead: then its samples are used where they are, and need not fit into memory. The samples of other large files are
//! loaded on demand, where the file lets them be read in any order.
//!
//! Samples of one component are contiguous, axis 0 fastest, and the allocation goes on for [`ROW_LOAD`]` - 1` samples
//! after the last one: loading [`ROW_LOAD`] consecutive samples from any valid one stays inside it.

mod array;
mod components;
mod demand;
mod describe;
mod explain;
mod file_grid;
mod findings;
mod load;
mod mapped;
mod normalize;
mod place;
mod planes;
mod request;
mod role;
mod roles;
mod runs;
mod says;
mod shared;
mod statistics;
mod store;
mod stored;
mod time;
mod worlds;

use rayon::prelude::*;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use crate::file_reference::Frames;
use crate::file_reference::chosen;
pub use crate::formats::{ImageError, Level, Missing, Note, Triangle};
pub use crate::grid::{Orientation, OrientationError, Since, Surroundings, TimeAxis};
use crate::memory::{self, Claim};
use crate::nrrd::{SampleType, Samples};
use crate::simd::small::Small;
pub use array::ImageArray;
pub use describe::{AsImage, ChosenFrame, Description, describe, files_of};
pub use file_grid::grid_of_file;
pub use request::{Declared, GivenTimes, MapFiles, MeasurementFrame, Reading, World};
pub use shared::{Arrangement, SharedImage, Strided};
pub use statistics::{BARS, Statistics};
use stored::Stored;
pub use worlds::{FirstDate, disagreements};

/// Samples that may be loaded together from any valid sample on.
pub const ROW_LOAD: usize = 8;

/// The real type of a program: single or double precision.
pub trait Real: num_traits::Float + Default + fmt::Debug + Send + Sync + 'static {
    /// The type of samples that are such numbers.
    const SAMPLE: SampleType;

    /// Some of the samples by a plain cast, never rescaled; `None` for opaque blocks.
    fn from_samples(samples: &Samples, range: Range<usize>) -> Option<Vec<Self>>;

    /// The nearest number.
    fn nearest(x: f64) -> Self;

    /// The same number in double precision.
    fn in_double(self) -> f64;

    /// `count` zeros, or `None` if there is no memory for them.
    fn zeros(count: usize) -> Option<Vec<Self>>;
}

macro_rules! real {
    ($type:ty, $sample:ident) => {
        impl Real for $type {
            const SAMPLE: SampleType = SampleType::$sample;

            fn from_samples(samples: &Samples, range: Range<usize>) -> Option<Vec<Self>> {
                samples.convert_range(range)
            }

            #[inline]
            fn nearest(x: f64) -> Self {
                x as $type
            }

            #[inline]
            fn in_double(self) -> f64 {
                f64::from(self)
            }

            fn zeros(count: usize) -> Option<Vec<Self>> {
                memory::zeros(count)
            }
        }
    };
}

real!(f32, F32);
real!(f64, F64);

/// Samples on a grid of one to three dimensions, in one frame or over time. Clones share the samples.
#[derive(Clone, Debug)]
pub struct Image<T> {
    sizes: Vec<usize>,
    voxel_shape: Vec<usize>,
    frames: usize,
    time: Option<TimeAxis>,
    samples: Arc<Stored<T>>,
    orientation: Orientation,
}

/// An image that was read, and what its user should know about it.
#[derive(Clone, Debug)]
pub struct Loaded<T> {
    /// The image.
    pub image: Image<T>,
    /// Notes about choices that the file leaves open, and about possible mistakes.
    pub notes: Vec<Note>,
    /// The space of the image, to be compared with the spaces of other images.
    pub surroundings: Surroundings,
}

impl<T> Loaded<T> {
    /// The notes, each with the option and the file of the image.
    pub fn notes_on(&self, file: &str, reading: &Reading) -> impl Iterator<Item = Note> {
        let option = reading.name.as_ref().map(|name| format!("-{name} "));
        let what = format!("{}{file}", option.unwrap_or_default());
        self.notes.iter().map(move |note| note.on(&what))
    }
}

/// Samples that are compared at a time.
const COMPARED: usize = 1 << 14;
/// Samples whose range is found at a time.
const RANGED: usize = 1 << 16;

impl<T: Real> Image<T> {
    /// An image of other samples on the same grid; there are as many, with the padding.
    pub(crate) fn with_samples(&self, samples: Vec<T>, claim: Claim) -> Image<T> {
        debug_assert_eq!(samples.len(), self.samples.len());
        Image {
            samples: Arc::new(Stored::owned(samples, claim)),
            ..self.clone()
        }
    }

    /// The same image with its frames later by some seconds.
    pub fn moved_in_time(&self, seconds: f64) -> Image<T> {
        Image {
            time: self.time.as_ref().map(|time| time.moved(seconds)),
            ..self.clone()
        }
    }

    /// The number of axes of the grid.
    pub fn dim(&self) -> usize {
        self.sizes.len()
    }

    /// Samples along each axis of the grid, fastest first.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The shape of the tensor at each grid point; empty for scalars.
    pub fn voxel_shape(&self) -> &[usize] {
        &self.voxel_shape
    }

    /// Values per voxel.
    pub fn components(&self) -> usize {
        self.voxel_shape.iter().product()
    }

    /// Distance, in samples, from a sample of one component to the same voxel of the next component.
    pub fn plane_stride(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The number of frames: 1 without time.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// The times of the frames, of an image over time.
    pub fn time(&self) -> Option<&TimeAxis> {
        self.time.as_ref()
    }

    /// Distance, in samples, from one frame to the next.
    pub fn frame_stride(&self) -> usize {
        self.plane_stride() * self.components()
    }

    /// The number of all samples, without the padding.
    pub fn sample_count(&self) -> usize {
        self.frame_stride() * self.frames
    }

    /// All samples, frame by frame and component by component, and the padding. Samples of a smaller type, and those of a mapped file
    /// that are not aligned, are copied for that, once.
    pub fn samples(&self) -> &[T] {
        self.samples.all()
    }

    /// The bytes of samples that follow one another, in the real type: those of this number from one on. They are in `room` if their type
    /// is smaller.
    ///
    /// # Panics
    /// They do not exist.
    pub fn sample_bytes<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<T>) -> &'a [u8] {
        assert!(range.start <= range.end && range.end <= self.sample_count());
        let bytes = range.len() * size_of::<T>();
        let first = match self.samples.as_small() {
            None => self
                .samples
                .first()
                .wrapping_add(range.start * size_of::<T>()),
            Some(_) => self.samples.piece(range, room).as_ptr().cast(),
        };
        // SAFETY: the samples are there, and numbers may be looked at as bytes.
        unsafe { std::slice::from_raw_parts(first, bytes) }
    }

    /// Whether another image has the same samples, bit for bit, in the same arrangement, and neither can change: the samples of a
    /// mapped file can.
    pub fn has_samples_of(&self, other: &Image<T>) -> bool {
        let is_fixed = |image: &Image<T>| !image.is_mapped() && !image.is_on_demand();
        let is_alike = self.sizes == other.sizes
            && self.voxel_shape == other.voxel_shape
            && self.frames == other.frames
            && self.time == other.time;
        if !is_alike || !is_fixed(self) || !is_fixed(other) {
            return false;
        }
        let count = self.sample_count();
        let mut rooms = [Vec::new(), Vec::new()];
        Arc::ptr_eq(&self.samples, &other.samples)
            || (0..count).step_by(COMPARED).all(|first| {
                let range = first..count.min(first + COMPARED);
                let [room, other_room] = &mut rooms;
                self.sample_bytes(range.clone(), room) == other.sample_bytes(range, other_room)
            })
    }

    /// The bytes of memory that a sample takes: fewer than those of the real type if the samples are kept in the type of their file.
    pub fn sample_size(&self) -> usize {
        self.small().map_or(size_of::<T>(), |small| small.bytes())
    }

    /// The numbers that the samples stand for, if their type is smaller than the real type.
    pub(crate) fn small(&self) -> Option<Small> {
        self.samples.as_small()
    }

    /// Whether the samples are those of a file that is mapped.
    pub fn is_mapped(&self) -> bool {
        self.samples.is_mapped()
    }

    /// Whether the samples are loaded when they are first touched.
    pub fn is_on_demand(&self) -> bool {
        self.samples.is_on_demand()
    }

    /// Why some samples could not be loaded on demand, if some could not: they are 0, and no result counts.
    pub fn failure(&self) -> Option<&str> {
        self.samples.failure()
    }

    /// Notes about the samples that were loaded on demand so far. Those of samples that were read are in [`Loaded`].
    pub fn findings(&self) -> Vec<Note> {
        let Some(findings) = self.samples.findings() else {
            return Vec::new();
        };
        let (missing, beyond) = findings.counts();
        let loaded = format!("{}: in the parts that were loaded", findings.file());
        let missing = Note::missing_values(missing);
        let beyond = beyond_single(beyond).map(Note::warning);
        let found = missing.into_iter().chain(beyond);
        found.map(|note| note.on(&loaded)).collect()
    }

    /// The first sample, which need not be aligned.
    pub(crate) fn first_sample(&self) -> *const u8 {
        self.samples.first()
    }

    /// All samples and the padding, if they are aligned and of the real type.
    pub(crate) fn aligned_samples(&self) -> Option<&[T]> {
        self.samples.aligned()
    }

    /// The number of all samples, with the padding.
    pub(crate) fn padded_count(&self) -> usize {
        self.samples.len()
    }

    /// Copies samples that follow one another.
    ///
    /// # Panics
    /// They do not exist.
    pub(crate) fn copy_samples(&self, start: usize, to: &mut [T]) {
        self.samples.copy(start, to);
    }

    /// Some samples, evenly spread: every one of this step.
    pub fn some_samples(&self, step: usize) -> impl Iterator<Item = T> {
        let places = (0..self.sample_count()).step_by(step.max(1));
        places.map(|n| self.samples.at(n))
    }

    /// The sample of a component (row-major in the voxel shape) at a grid point, fastest axis first, if there is one. Of an image
    /// over time it is that of the first frame.
    pub fn sample(&self, component: usize, index: &[usize]) -> Option<T> {
        self.sample_of(0, component, index)
    }

    /// The sample of a frame at a grid point, as [`Image::sample`] gives it.
    pub fn sample_of(&self, frame: usize, component: usize, index: &[usize]) -> Option<T> {
        let inside = index.len() == self.dim() && index.iter().zip(&self.sizes).all(|(i, n)| i < n);
        if !inside || component >= self.components() || frame >= self.frames {
            return None;
        }
        let step = |offset: usize, (i, n): (&usize, &usize)| offset * n + i;
        let offset = index.iter().zip(&self.sizes).rev().fold(0, step);
        let plane = (frame * self.components() + component) * self.plane_stride();
        Some(self.samples.at(plane + offset))
    }

    /// The least and the greatest finite number in it, of all components; [`NO_RANGE`] if there is none.
    pub fn range(&self) -> (f64, f64) {
        let count = self.sample_count();
        let starts = (0..count.div_ceil(RANGED)).into_par_iter();
        let ranges = starts.map(|n| {
            let mut room = Vec::new();
            let range = n * RANGED..count.min((n + 1) * RANGED);
            let samples = self.samples.piece(range, &mut room);
            let widened = |(low, high): (T, T), &x: &T| match x.is_finite() {
                true => (
                    if x < low { x } else { low },
                    if x > high { x } else { high },
                ),
                false => (low, high),
            };
            samples
                .iter()
                .fold((T::infinity(), T::neg_infinity()), widened)
        });
        let ranges = ranges.map(|(low, high)| (low.in_double(), high.in_double()));
        ranges.reduce(|| NO_RANGE, |a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The orientation of the grid in world space.
    pub fn orientation(&self) -> &Orientation {
        &self.orientation
    }
}

/// The values of a file, or of the frames of it that a name chooses.
///
/// # Errors
/// It cannot be read.
pub fn statistics(path: &Path) -> Result<Statistics, ImageError> {
    let chosen = chosen(path);
    if chosen.frames.is_none() {
        return statistics::of_file(chosen.file, chosen.array);
    }
    let Some(own) = describe(path)?.image else {
        return statistics::of_file(chosen.file, chosen.array);
    };
    let image = Image::<f64>::read_with(path, own.declared(), &Reading::default())?.image;
    statistics::of_values(&image.samples()[..image.sample_count()])
}

/// The range of no numbers.
pub const NO_RANGE: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

/// The least and the greatest of finite numbers.
pub fn finite_range(numbers: &[f64]) -> (f64, f64) {
    let finite = numbers.iter().filter(|x| x.is_finite());
    finite.fold(NO_RANGE, |(low, high), &x| (low.min(x), high.max(x)))
}

/// The warning that this many finite numbers became infinite in single precision.
pub fn beyond_single(samples: u64) -> Option<String> {
    let are = match samples {
        0 => return None,
        1 => "sample is",
        _ => "samples are",
    };
    Some(format!(
        "{samples} {are} beyond the greatest number of single precision, {:e}, and became infinite; `--double` keeps such numbers",
        f32::MAX
    ))
}
