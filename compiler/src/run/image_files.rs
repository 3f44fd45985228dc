//! Reading the images of a program, and keeping them for runs with the same files.

use super::{
    Failure, colour_maps,
    fems::{FemSources, LoadedFems},
};
use crate::{codegen::Compiled, ir::interface};
use runtime::{
    file_name::FileName,
    image::{
        Declared, FirstDate, Image, ImageArray, ImageError, Note, Reading, SharedImage,
        Surroundings, disagreements,
    },
    nrrd::FromSample,
};
use std::sync::Arc;

/// Where an image comes from.
#[derive(Clone, Debug)]
pub enum ImageSource {
    /// A file.
    File(FileName),
    /// Memory.
    Array(ImageArray),
    /// Memory of others, converted once for all runs.
    Shared(SharedImage),
    /// Another image of the program, by its number. It stands for the result until the scale is known.
    Blurred(u32),
}

impl From<ImageArray> for ImageSource {
    fn from(array: ImageArray) -> ImageSource {
        ImageSource::Array(array)
    }
}

impl From<SharedImage> for ImageSource {
    fn from(shared: SharedImage) -> ImageSource {
        ImageSource::Shared(shared)
    }
}

/// The images and meshes that were read from files, for further runs.
#[derive(Default)]
pub(crate) struct KeptFiles {
    /// One for each image, in the precision of the program; none for images that do not come from files.
    pub(super) single: Vec<Option<ReadFile<f32>>>,
    pub(super) double: Vec<Option<ReadFile<f64>>>,
    fems: Option<(FemSources, Arc<LoadedFems>)>,
}

impl KeptFiles {
    /// Forgets the meshes: another program may want others of the same files.
    pub(crate) fn forget_meshes(&mut self) {
        self.fems = None;
    }

    /// The meshes of a program. All are read again if one has changed: programs with several are rare.
    ///
    /// # Errors
    /// One of them cannot be loaded.
    pub(super) fn fems(
        &mut self,
        program: &Compiled,
        sources: FemSources,
    ) -> Result<Arc<LoadedFems>, Failure> {
        if let Some((known, fems)) = &self.fems
            && known.is_same(&sources)
        {
            return Ok(Arc::clone(fems));
        }
        self.fems = None;
        let fems = Arc::new(LoadedFems::load(program, &sources)?);
        self.fems = Some((sources, Arc::clone(&fems)));
        Ok(fems)
    }
}

/// An image as it was read from a file.
pub(super) struct ReadFile<T> {
    file: FileName,
    reading: Reading,
    image: Arc<Image<T>>,
    surroundings: Surroundings,
}

impl<T: runtime::image::Real> ReadFile<T> {
    /// Whether it is the image that another run, perhaps of another program, wants.
    fn is_of(&self, (source, reading): &(ImageSource, Reading), wanted: &interface::Image) -> bool {
        let is_file = matches!(source, ImageSource::File(file) if *file == self.file);
        let has_type =
            self.image.dim() == wanted.dim && self.image.time().is_some() == wanted.timed;
        let has_type = has_type && self.image.voxel_shape() == wanted.shape.dims();
        is_file && has_type && *reading == self.reading
    }
}

/// The images, and their spaces.
type ReadImages<T> = (Vec<Arc<Image<T>>>, Vec<Surroundings>);

/// Reads images, or takes those that are kept. Notes are about those that are read.
pub(super) fn read<T: runtime::image::Real + FromSample>(
    program: &Compiled,
    sources: &[(ImageSource, Reading)],
    kept: &mut Vec<Option<ReadFile<T>>>,
    notes: &mut Vec<Note>,
) -> Result<ReadImages<T>, Failure> {
    kept.resize_with(sources.len(), || None);
    let wanted = program.interface.images.iter().zip(sources);
    for (kept, (image, source)) in kept.iter_mut().zip(wanted) {
        kept.take_if(|kept| !kept.is_of(source, image));
    }
    let (mut images, mut first_date) = (Vec::new(), FirstDate::default());
    let mut all: Vec<Surroundings> = Vec::new();
    let mut by_name = Vec::new();
    for (n, (image, (source, reading))) in program.interface.images.iter().zip(sources).enumerate()
    {
        let shape = image.shape.dims();
        let declared = Declared {
            dim: image.dim,
            timed: image.timed,
            shape,
        };
        let mut own = Surroundings::default();
        images.push(match source {
            ImageSource::Blurred(of) => {
                own = all[*of as usize].clone();
                Arc::clone(&images[*of as usize])
            }
            ImageSource::File(file) if let Some(map) = colour_maps::find(file) => {
                let map = map?;
                if (image.dim, shape) != (1, &[3][..]) {
                    let message = format!("{file} is an image(1)[3]");
                    return Err(Failure::input(message));
                }
                let image = colour_maps::image(map).image(Declared::new(1, shape));
                Arc::new(image.map_err(|error| failed(error, None))?)
            }
            ImageSource::Shared(shared) => {
                let loaded = shared.image(declared, reading);
                let loaded = loaded.map_err(|error| failed(error, None))?;
                let name = reading.name.as_deref().unwrap_or("image");
                notes.extend(loaded.notes.iter().map(|note| Note {
                    text: format!("`{name}`: {}", note.text),
                    ..note.clone()
                }));
                own = loaded.surroundings.clone();
                by_name.push((name.to_string(), loaded.surroundings));
                Arc::new(loaded.image)
            }
            ImageSource::File(file) => {
                // A file that the program names is a matter of its text.
                let named = image.file.as_ref().is_some_and(|named| *file == **named);
                let read = match kept[n].take() {
                    Some(read) => read,
                    None => {
                        let loaded = Image::read_with(file, declared, reading);
                        let place = named.then_some(image.span.start);
                        let loaded = loaded.map_err(|error| failed(error, place))?;
                        notes.extend(loaded.notes_on(&file.to_string(), reading));
                        ReadFile {
                            file: file.clone(),
                            reading: reading.clone(),
                            image: Arc::new(loaded.image),
                            surroundings: loaded.surroundings,
                        }
                    }
                };
                let name = reading.name.clone().unwrap_or(file.to_string());
                own = read.surroundings.clone();
                let later = first_date.seconds_before(&name, &own);
                by_name.push((name, read.surroundings.clone()));
                let image = Arc::clone(&kept[n].insert(read).image);
                match later.map_err(|error| failed(error, None))? {
                    0.0 => image,
                    seconds => Arc::new(image.moved_in_time(seconds)),
                }
            }
            ImageSource::Array(array) => {
                let image = array.image(declared);
                Arc::new(image.map_err(|error| failed(error, None))?)
            }
        });
        all.push(own);
    }
    let by_name: Vec<_> = by_name.iter().map(|(name, s)| (name.as_str(), s)).collect();
    notes.extend(disagreements(&by_name));
    Ok((images, all))
}

pub(super) fn failed(error: ImageError, place: Option<u32>) -> Failure {
    Failure {
        place,
        hints: error.hints().to_vec(),
        ..Failure::input(error.headline())
    }
}
