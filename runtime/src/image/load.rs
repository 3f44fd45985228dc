//! From files and arrays to images: a plan, memory, and samples that are mapped, loaded on demand or read.

use super::normalize::{self, Plan};
use super::planes::Planes;
use super::stored::{SmallSample, Stored, small_type};
use super::worlds::surroundings;
use super::{
    Declared, Image, ImageError, Loaded, MapFiles, Note, Reading, Real, beyond_single, demand,
    mapped, time,
};
use crate::file_name::escaped;
use crate::file_reference::chosen;
use crate::formats::{Facts, Source};
use crate::memory::{self, Claim};
use crate::nrrd::{FromSample, Header, Nrrd, Samples};
use crate::simd::small::Small;
use std::path::Path;
use std::sync::Arc;

/// Samples that are converted at a time.
pub(super) const PIECE: usize = 1 << 14;

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
        Source::open_array(file, reading.array.as_deref(), reading.missing)
            .and_then(|source| {
                let name = escaped(file.as_os_str());
                Image::from_source(source, declared, &reading, &name)
            })
            .map_err(|e| e.in_file(file).of_input(reading.name.as_deref()))
    }

    /// An image of a declared type from the bytes of a file of any known format.
    pub fn from_bytes(
        bytes: &[u8],
        declared: Declared<'_>,
        reading: &Reading,
    ) -> Result<Loaded<T>, ImageError> {
        Source::of_bytes(bytes, None, reading.array.as_deref())
            .and_then(|source| Image::from_source(source, declared, reading, "the bytes"))
            .map_err(|e| e.of_input(reading.name.as_deref()))
    }

    fn from_source(
        source: Source<'_>,
        declared: Declared<'_>,
        reading: &Reading,
        file: &str,
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
        let stored = header.sample_type;
        let small = small_type::<T>(stored, source.scale(), &plan, declared)
            .filter(|_| !source.is_rescaled());
        let needed = bytes_of::<T>(&plan, declared, small);
        let (mut source, mut obstacle) = (source, None);
        if mapped::is_wanted(reading, needed) {
            match mapped::map(&source, &plan, declared, small)? {
                Ok(store) => return Ok(Image::loaded(&header, plan, declared, reading, store)),
                Err(why) => obstacle = Some(why),
            }
        }
        if demand::is_wanted(reading, needed) {
            match demand::load(&source, &plan, declared, small, file)? {
                Ok(store) => return Ok(Image::loaded(&header, plan, declared, reading, store)),
                Err(why) => obstacle = obstacle.or(Some(why)),
            }
        }
        if obstacle.is_some() {
            // Of a file that is too short the length is reported, not that there is no memory for it.
            source = source.checked()?;
        }
        if let Some(why) = obstacle.filter(|_| reading.map == MapFiles::Always) {
            let note = format!("the file is read as a whole, as it cannot be mapped: {why}");
            plan.notes.push(Note::new(note));
        }
        let claim = claim_memory(needed, reading).map_err(|error| {
            let way_out = obstacle.and_then(|why| why.way_out("IN"));
            way_out.into_iter().fold(error, ImageError::hint)
        })?;
        let source = source.checked()?;
        if let Some(small) = small {
            return match small.bytes() {
                1 => Image::read_small::<u8>(source, plan, declared, reading, (small, claim)),
                _ => Image::read_small::<u16>(source, plan, declared, reading, (small, claim)),
            };
        }
        let scale = source.scale();
        let (mut beyond, mut found) = (0, Vec::new());
        let mut loaded = Image::fill(&header, plan, declared, reading, claim, |planes| {
            found = source.read_pieces(&mut |piece| {
                planes.put(&converted(piece, scale, &mut beyond));
            })?;
            Ok(())
        })?;
        loaded.notes.extend(found);
        let warning = beyond_single(beyond);
        loaded.notes.extend(warning.map(Note::warning));
        Ok(loaded)
    }

    /// The image of a source whose samples stay in their type, or in one with the same bits.
    fn read_small<S: SmallSample + FromSample + memory::Zero>(
        source: Source<'_>,
        plan: Plan,
        declared: Declared<'_>,
        reading: &Reading,
        kept: (Small, Claim),
    ) -> Result<Loaded<T>, ImageError> {
        let header = source.header().clone();
        let mut found = Vec::new();
        let mut loaded = Image::fill_small(&header, plan, declared, reading, kept, |planes| {
            found = source.read_pieces(&mut |piece| {
                debug_assert_eq!(piece.sample_type(), header.sample_type);
                planes.put(&piece.convert::<S>().unwrap_or_default());
            })?;
            Ok(())
        })?;
        loaded.notes.extend(found);
        Ok(loaded)
    }

    /// An image of a declared type from an array in memory. Any sample type is converted.
    pub fn from_nrrd(
        nrrd: &Nrrd,
        declared: Declared<'_>,
        reading: &Reading,
    ) -> Result<Loaded<T>, ImageError> {
        let plan = normalize::plan(nrrd.header(), &Facts::default(), declared, reading)?;
        let claim = claim_memory(bytes_of::<T>(&plan, declared, None), reading)?;
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
    pub(super) fn fill(
        header: &Header,
        plan: Plan,
        declared: Declared<'_>,
        reading: &Reading,
        claim: Claim,
        read: impl FnOnce(&mut Planes<'_, T>) -> Result<(), ImageError>,
    ) -> Result<Loaded<T>, ImageError> {
        let components = declared.components();
        let mut planes = Planes::new(header, &plan, components, T::zeros).ok_or_else(no_memory)?;
        read(&mut planes)?;
        let (samples, masked) = planes.finish_turned(plan.turn.as_ref());
        let samples = Stored::owned(samples, claim);
        let mut loaded = Image::loaded(header, plan, declared, reading, samples);
        loaded.notes.extend(masked.map(note_of_mask));
        Ok(loaded)
    }

    /// The image of a plan, whose small samples are put in place by `read`.
    pub(super) fn fill_small<S: SmallSample + memory::Zero>(
        header: &Header,
        plan: Plan,
        declared: Declared<'_>,
        reading: &Reading,
        (small, claim): (Small, Claim),
        read: impl FnOnce(&mut Planes<'_, S>) -> Result<(), ImageError>,
    ) -> Result<Loaded<T>, ImageError> {
        let components = declared.components();
        let planes = Planes::new(header, &plan, components, memory::zeros);
        let mut planes = planes.ok_or_else(no_memory)?;
        read(&mut planes)?;
        let (samples, masked) = planes.finish();
        let samples = Stored::small(samples, small, claim);
        let mut loaded = Image::loaded(header, plan, declared, reading, samples);
        loaded.notes.extend(masked.map(note_of_mask));
        Ok(loaded)
    }

    /// The image of a plan with its samples.
    pub(super) fn loaded(
        header: &Header,
        plan: Plan,
        declared: Declared<'_>,
        reading: &Reading,
        samples: Stored<T>,
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
}

/// Stored samples as numbers of a program, times a factor and with an offset; counts those that become infinite.
pub(super) fn converted<T: Real>(
    piece: Samples,
    scale: Option<(f64, f64)>,
    beyond: &mut u64,
) -> Vec<T> {
    let range = 0..piece.len();
    // Blocks were refused with the header.
    match (scale, piece) {
        (None, Samples::F64(stored)) => rounded(&stored, beyond),
        (None, piece) => T::from_samples(&piece, range).unwrap_or_default(),
        (Some((slope, intercept)), piece) => {
            let mut stored: Vec<f64> = piece.convert().unwrap_or_default();
            stored.iter_mut().for_each(|x| *x = *x * slope + intercept);
            rounded(&stored, beyond)
        }
    }
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

fn no_memory() -> ImageError {
    ImageError::new("there is no memory for the samples")
}

/// The note about a mask that is 0 for this share of the samples.
fn note_of_mask(share: f64) -> Note {
    let percent = 100.0 * share;
    Note::new(format!(
        "the mask is dropped; it is 0 for {percent:.1} % of the samples"
    ))
}

/// The bytes of the samples of an image.
pub(super) fn bytes_of<T>(plan: &Plan, declared: Declared<'_>, small: Option<Small>) -> u64 {
    let factors = plan.sizes.iter().map(|&n| n as u128);
    let samples = factors.product::<u128>() * declared.components() as u128;
    let samples = samples.saturating_mul(plan.frames.count() as u128);
    let size = small.map_or(size_of::<T>(), |small| small.bytes());
    u64::try_from(samples.saturating_mul(size as u128)).unwrap_or(u64::MAX)
}

/// Claims the memory of an image, or refuses it if it needs more than there is, or than is allowed.
pub(super) fn claim_memory(needed: u64, reading: &Reading) -> Result<Claim, ImageError> {
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
