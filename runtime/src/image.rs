//! Images: samples on a grid in world space.
//!
//! Takes files of all formats that [`crate::formats`] knows, or arrays in memory, and returns an [`Image`]: its samples, converted
//! once to the program's real type, stored component by component, and shared by all clones, with the transforms between
//! index space and world space. Sample `n` of an axis is at index coordinate `n`. An image over time has several such sets of
//! samples, its frames, one after the other, and a [`TimeAxis`]. A large file whose samples are stored just as those of an image are
//! can be mapped instead: then its samples are used where they are, and need not fit into memory.
//!
//! Samples of one component are contiguous, axis 0 fastest, and the allocation goes on for [`ROW_LOAD`]` - 1` samples
//! after the last one: loading [`ROW_LOAD`] consecutive samples from any valid one stays inside it.

mod array;
mod components;
mod describe;
mod explain;
mod file_grid;
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
mod time;
mod worlds;

use rayon::prelude::*;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

pub use crate::file_reference::Frames;
use crate::file_reference::chosen;
use crate::formats::{Facts, Source};
pub use crate::formats::{ImageError, Level, Note, Triangle};
pub use crate::grid::{Orientation, OrientationError, Since, Surroundings, TimeAxis};
use crate::memory::{self, Claim};
use crate::nrrd::{Header, Nrrd, SampleType, Samples};
pub use array::ImageArray;
pub use describe::{AsImage, ChosenFrame, Description, describe, files_of};
pub use file_grid::grid_of_file;
use normalize::Plan;
use planes::Planes;
pub use request::{Declared, GivenTimes, MapFiles, MeasurementFrame, Reading, World};
pub use shared::{Arrangement, SharedImage, Strided};
pub use statistics::{BARS, Statistics};
use store::Store;
use worlds::surroundings;
pub use worlds::{FirstDate, disagreements};

/// Samples that may be loaded together from any valid sample on.
pub const ROW_LOAD: usize = 8;

/// The real type of a program: single or double precision.
pub trait Real: num_traits::Float + Default + fmt::Debug + Send + Sync + 'static {
    /// The type of samples that are such numbers.
    const SAMPLE: SampleType;

    /// Some of the samples by a plain cast, never rescaled; `None` for opaque blocks.
    fn from_samples(samples: &Samples, range: std::ops::Range<usize>) -> Option<Vec<Self>>;

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

            fn from_samples(samples: &Samples, range: std::ops::Range<usize>) -> Option<Vec<Self>> {
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
    samples: Arc<Store<T>>,
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

/// Samples that are converted at a time.
const PIECE: usize = 1 << 14;

/// Samples whose range is found at a time.
const RANGED: usize = 1 << 16;

impl<T: Real> Image<T> {
    /// Reads a file of any known format as an image of the given dimension and voxel shape. Any sample type is converted.
    /// `FILE#N` and `FILE#N:M` choose frames of a file that has an axis of them.
    pub fn read(path: &Path, dim: usize, voxel_shape: &[usize]) -> Result<Loaded<T>, ImageError> {
        Image::read_with(path, Declared::new(dim, voxel_shape), &Reading::default())
    }

    /// Reads a file as [`Image::read`] does, with what its user says beside the name.
    pub fn read_with(
        path: &Path,
        declared: Declared<'_>,
        reading: &Reading,
    ) -> Result<Loaded<T>, ImageError> {
        let chosen = chosen(path);
        let file = chosen.file;
        let array = reading.array.as_deref().or(chosen.array);
        let reading = Reading {
            frames: reading.frames.or(chosen.frames),
            array: array.map(str::to_string),
            ..reading.clone()
        };
        Source::open_array(file, reading.array.as_deref())
            .and_then(|source| Image::from_source(source, declared, &reading))
            .map_err(|e| e.in_file(file).of_input(reading.name.as_deref()))
    }

    /// An image of a declared type from the bytes of a file of any known format.
    pub fn from_bytes(
        bytes: &[u8],
        declared: Declared<'_>,
        reading: &Reading,
    ) -> Result<Loaded<T>, ImageError> {
        Source::of_bytes(bytes, None, reading.array.as_deref())
            .and_then(|source| Image::from_source(source, declared, reading))
            .map_err(|e| e.of_input(reading.name.as_deref()))
    }

    fn from_source(
        source: Source<'_>,
        declared: Declared<'_>,
        reading: &Reading,
    ) -> Result<Loaded<T>, ImageError> {
        let header = source.header().clone();
        let plan = normalize::plan(&header, source.facts(), declared, reading);
        let mut plan = plan.map_err(|error| {
            let others = source.others_of(declared.components());
            others.fold(error, |error, name| {
                error.hint(format!("or take the array `{name}`: `FILE#{name}`"))
            })
        })?;
        if let (Some(error), None) = (source.unplaced(), &reading.place) {
            return Err(error.clone());
        }
        plan.notes.splice(0..0, source.notes().iter().cloned());
        let needed = bytes_of::<T>(&plan, declared);
        let (mut source, mut obstacle) = (source, None);
        if mapped::is_wanted(reading, needed) {
            match mapped::map(&source, &plan, declared)? {
                Ok(store) => return Ok(Image::loaded(&header, plan, declared, reading, store)),
                Err(why) => obstacle = Some(why),
            }
            // Of a file that is too short the length is reported, not that there is no memory for it.
            source = source.checked()?;
        }
        if let Some(why) = obstacle.filter(|_| reading.map == MapFiles::Always) {
            let note = format!("the file is read, as it cannot be mapped: {why}");
            plan.notes.push(Note::new(note));
        }
        let claim = claim_memory(needed, reading).map_err(|error| {
            let way_out = obstacle.and_then(|why| why.way_out("IN"));
            way_out.into_iter().fold(error, ImageError::hint)
        })?;
        let source = source.checked()?;
        let scale = source.scale();
        let (mut beyond, mut found) = (0, Vec::new());
        let mut loaded = Image::fill(&header, plan, declared, reading, claim, |planes| {
            found = source.read_pieces(&mut |piece| {
                let range = 0..piece.len();
                // Blocks were refused with the header.
                let piece = match (scale, piece) {
                    (None, Samples::F64(stored)) => rounded(&stored, &mut beyond),
                    (None, piece) => T::from_samples(&piece, range).unwrap_or_default(),
                    (Some((slope, intercept)), piece) => {
                        let mut stored: Vec<f64> = piece.convert().unwrap_or_default();
                        stored.iter_mut().for_each(|x| *x = *x * slope + intercept);
                        rounded(&stored, &mut beyond)
                    }
                };
                planes.put(&piece);
            })?;
            Ok(())
        })?;
        loaded.notes.extend(found);
        let warning = beyond_single(beyond);
        loaded.notes.extend(warning.map(Note::warning));
        Ok(loaded)
    }

    /// An image of a declared type from an array in memory. Any sample type is converted.
    pub fn from_nrrd(
        nrrd: &Nrrd,
        declared: Declared<'_>,
        reading: &Reading,
    ) -> Result<Loaded<T>, ImageError> {
        let plan = normalize::plan(nrrd.header(), &Facts::default(), declared, reading)?;
        let claim = claim_memory(bytes_of::<T>(&plan, declared), reading)?;
        Image::fill(nrrd.header(), plan, declared, reading, claim, |planes| {
            let samples = nrrd.samples();
            for start in (0..samples.len()).step_by(PIECE) {
                let piece = T::from_samples(samples, start..start + PIECE);
                planes.put(&piece.unwrap_or_default());
            }
            Ok(())
        })
    }

    /// The image of a plan, whose samples are put in place by `read`.
    fn fill(
        header: &Header,
        plan: Plan,
        declared: Declared<'_>,
        reading: &Reading,
        claim: Claim,
        read: impl FnOnce(&mut Planes<'_, T>) -> Result<(), ImageError>,
    ) -> Result<Loaded<T>, ImageError> {
        let components = declared.components();
        let mut planes = Planes::new(header, &plan, components)
            .ok_or_else(|| ImageError::new("there is no memory for the samples"))?;
        read(&mut planes)?;
        let (samples, masked) = planes.finish(plan.turn.as_ref());
        let store = Store::owned(samples, claim);
        let mut loaded = Image::loaded(header, plan, declared, reading, store);
        loaded.notes.extend(masked.map(|share| {
            let percent = 100.0 * share;
            Note::new(format!(
                "the mask is dropped; it is 0 for {percent:.1} % of the samples"
            ))
        }));
        Ok(loaded)
    }

    /// The image of a plan with its samples.
    fn loaded(
        header: &Header,
        plan: Plan,
        declared: Declared<'_>,
        reading: &Reading,
        samples: Store<T>,
    ) -> Loaded<T> {
        let mut notes = plan.notes;
        let is_single = size_of::<T>() == size_of::<f32>();
        if let Some(time) = plan.time.as_ref().filter(|_| is_single) {
            notes.extend(time::beyond_single(time, plan.frames.count(), reading));
        }
        let image = Image {
            sizes: plan.sizes,
            voxel_shape: declared.shape.to_vec(),
            frames: plan.frames.count(),
            time: plan.time,
            samples: Arc::new(samples),
            orientation: plan.orientation,
        };
        Loaded {
            image,
            notes,
            surroundings: surroundings(header, plan.since, reading),
        }
    }

    /// An image of other samples on the same grid; there are as many, with the padding.
    pub(crate) fn with_samples(&self, samples: Vec<T>, claim: Claim) -> Image<T> {
        debug_assert_eq!(samples.len(), self.samples.len());
        Image {
            samples: Arc::new(Store::owned(samples, claim)),
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

    /// All samples, frame by frame and component by component, and the padding. Samples of a mapped file that are not aligned are
    /// copied for that, once.
    pub fn samples(&self) -> &[T] {
        self.samples.all()
    }

    /// The bytes of all samples, without the padding.
    pub fn sample_bytes(&self) -> &[u8] {
        let bytes = self.sample_count() * size_of::<T>();
        // SAFETY: the samples are there, and numbers may be looked at as bytes.
        unsafe { std::slice::from_raw_parts(self.samples.first().cast(), bytes) }
    }

    /// Whether the samples are those of a file that is mapped.
    pub fn is_mapped(&self) -> bool {
        self.samples.is_mapped()
    }

    /// The first sample, which need not be aligned.
    pub(crate) fn first_sample(&self) -> *const T {
        self.samples.first()
    }

    /// All samples and the padding, if they are aligned.
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

/// Numbers in the precision of a program; counts those that become infinite.
fn rounded<T: Real>(stored: &[f64], beyond: &mut u64) -> Vec<T> {
    let round = |&x: &f64| {
        let nearest = T::nearest(x);
        *beyond += u64::from(x.is_finite() && !nearest.is_finite());
        nearest
    };
    stored.iter().map(round).collect()
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

/// The bytes of the samples of an image.
fn bytes_of<T>(plan: &Plan, declared: Declared<'_>) -> u64 {
    let factors = plan.sizes.iter().map(|&n| n as u128);
    let samples = factors.product::<u128>() * declared.components() as u128;
    let samples = samples.saturating_mul(plan.frames.count() as u128);
    u64::try_from(samples.saturating_mul(size_of::<T>() as u128)).unwrap_or(u64::MAX)
}

/// Claims the memory of an image, or refuses it if it needs more than there is, or than is allowed.
fn claim_memory(needed: u64, reading: &Reading) -> Result<Claim, ImageError> {
    let refused = |limit: u64| {
        ImageError::new(format!(
            "the image needs {} of memory, more than the {} there are",
            memory::shown(needed),
            memory::shown(limit)
        ))
    };
    match reading.memory {
        Some(limit) if needed > limit => Err(refused(limit)),
        _ => memory::claim(needed).map_err(|shortage| refused(shortage.left)),
    }
}
