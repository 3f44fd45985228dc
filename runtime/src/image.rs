//! Images: samples on a grid that lies in world space.
//!
//! Takes NRRD or PNG files, or arrays in memory; gives an [`Image`]: its samples converted once to the program's real
//! type, stored component by component, and shared by everyone who clones it, with the transforms between index space
//! and world space and what is to be found outside the grid. Sample `n` of an axis lies at index coordinate `n`.
//!
//! Samples of one component are contiguous, axis 0 fastest, and the allocation goes on for [`ROW_LOAD`]` - 1` samples
//! after the last one: loading [`ROW_LOAD`] consecutive samples from any valid one stays inside it.

mod normalize;
mod orientation;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use ndarray::ArrayViewD;
use num_traits::AsPrimitive;

use crate::nrrd::{self, ErrorKind, Nrrd, NrrdError, Sample, Samples};
use crate::png::{self, Png};
use normalize::Normalized;
pub use orientation::{Orientation, OrientationError};

/// Samples that may be loaded together from any valid sample on.
pub const ROW_LOAD: usize = 8;

/// The real type of a program: single or double precision.
pub trait Real: num_traits::Float + Default + fmt::Debug + Send + Sync + 'static {
    /// Every sample by a plain cast, never rescaled; `None` for opaque blocks.
    fn from_samples(samples: &Samples) -> Option<Vec<Self>>;
}

impl Real for f32 {
    fn from_samples(samples: &Samples) -> Option<Vec<f32>> {
        samples.convert()
    }
}

impl Real for f64 {
    fn from_samples(samples: &Samples) -> Option<Vec<f64>> {
        samples.convert()
    }
}

/// Samples on a grid of one to three dimensions. Clones share the samples.
#[derive(Clone, Debug)]
pub struct Image<T> {
    sizes: Vec<usize>,
    voxel_shape: Vec<usize>,
    samples: Arc<Vec<T>>,
    orientation: Orientation,
}

/// An image that was read, and what its user should know about it.
#[derive(Clone, Debug)]
pub struct Loaded<T> {
    /// The image.
    pub image: Image<T>,
    /// What of the file was left out.
    pub warnings: Vec<String>,
}

/// What a file holds, as far as the type of an image is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Samples along each axis of the domain, fastest first.
    pub sizes: Vec<usize>,
    /// Values per voxel.
    pub components: usize,
}

/// Why there is no image: a message, and the file it is about if it came from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageError {
    file: Option<String>,
    message: String,
}

impl ImageError {
    fn new(message: impl Into<String>) -> Self {
        ImageError {
            file: None,
            message: message.into(),
        }
    }

    fn in_file(self, path: &Path) -> Self {
        ImageError {
            file: Some(path.display().to_string()),
            ..self
        }
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ImageError {}

impl From<NrrdError> for ImageError {
    /// A reader's error names its file and line itself.
    fn from(error: NrrdError) -> Self {
        ImageError::new(error.to_string())
    }
}

impl From<png::PngError> for ImageError {
    fn from(error: png::PngError) -> Self {
        ImageError::new(error.to_string())
    }
}

/// A file that may hold an image: what it is shows in its first bytes.
enum Source {
    Nrrd(Box<nrrd::Reader<'static>>),
    Png(Png),
}

impl Source {
    fn open(path: &Path) -> Result<Source, ImageError> {
        match nrrd::Reader::open(path) {
            Ok(reader) => Ok(Source::Nrrd(Box::new(reader))),
            Err(error) if error.kind() == ErrorKind::NotNrrd && png::is_png(path) => {
                Ok(Source::Png(png::read(path)?))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What the file at `path` holds; the samples of a NRRD are not read.
pub fn inspect(path: &Path) -> Result<Summary, ImageError> {
    match Source::open(path)? {
        Source::Nrrd(reader) => {
            let normalized = normalize::normalize(reader.header()).map_err(|e| e.in_file(path))?;
            Ok(normalized.summary)
        }
        Source::Png(png) => Ok(Summary {
            sizes: vec![png.width(), png.height()],
            components: png.channels(),
        }),
    }
}

impl<T: Real> Image<T> {
    /// Reads a NRRD or PNG file as an image of the given dimension and voxel shape. Any sample type is converted.
    pub fn read(path: &Path, dim: usize, voxel_shape: &[usize]) -> Result<Loaded<T>, ImageError> {
        let reader = match Source::open(path)? {
            Source::Nrrd(reader) => reader,
            Source::Png(png) => {
                let image = Image::from_png(&png, dim, voxel_shape).map_err(|e| e.in_file(path))?;
                return Ok(image);
            }
        };
        let fit = |reader: &nrrd::Reader<'_>| {
            let normalized = normalize::normalize(reader.header())?;
            normalize::expect(reader.header(), &normalized, dim, voxel_shape)?;
            Ok(normalized)
        };
        let normalized = fit(&reader).map_err(|e: ImageError| e.in_file(path))?;
        let expected = reader.header().sample_count().unwrap_or(0) + ROW_LOAD - 1;
        let mut interleaved = Vec::new();
        reader.read_pieces(|piece| {
            // Blocks were refused with the header.
            let piece = T::from_samples(&piece).unwrap_or_default();
            nrrd::grow(&mut interleaved, &piece, expected);
        })?;
        Ok(Image::from_normalized(normalized, voxel_shape, interleaved))
    }

    /// An image of the given dimension and voxel shape from an array in memory. Any sample type is converted.
    pub fn from_nrrd(
        nrrd: &Nrrd,
        dim: usize,
        voxel_shape: &[usize],
    ) -> Result<Loaded<T>, ImageError> {
        let normalized = normalize::normalize(nrrd.header())?;
        normalize::expect(nrrd.header(), &normalized, dim, voxel_shape)?;
        let interleaved = T::from_samples(nrrd.samples()).unwrap_or_default();
        Ok(Image::from_normalized(normalized, voxel_shape, interleaved))
    }

    /// A two-dimensional image of the stored integers of a PNG: axis 0 to the right, axis 1 downwards, world space the
    /// same as index space.
    pub fn from_png(png: &Png, dim: usize, voxel_shape: &[usize]) -> Result<Loaded<T>, ImageError> {
        let channels = png.channels();
        let components: usize = voxel_shape.iter().product();
        if dim != 2 {
            return Err(ImageError::new(format!(
                "png has unexpected dimension 2, expected {dim}"
            )));
        }
        if channels != components {
            return Err(ImageError::new(format!(
                "png has {channels} elements per voxel (expected {components})"
            )));
        }
        let samples = Samples::U16(png.samples().to_vec());
        let normalized = Normalized {
            summary: Summary {
                sizes: vec![png.width(), png.height()],
                components,
            },
            orientation: Orientation::identity(2),
            warnings: Vec::new(),
        };
        let interleaved = T::from_samples(&samples).unwrap_or_default();
        Ok(Image::from_normalized(normalized, voxel_shape, interleaved))
    }

    /// An image from an array whose axes are, in this order, the axes of the grid from the slowest to the fastest and
    /// the axes of the voxel's tensor: `array[[k, j, i, r, q]]` is component (r, q) of voxel (i, j, k). Any sample type
    /// is converted.
    pub fn from_array<S: Sample + AsPrimitive<T>>(
        array: ArrayViewD<'_, S>,
        voxel_shape: &[usize],
        orientation: Orientation,
    ) -> Result<Image<T>, ImageError> {
        let dim = orientation.dim();
        let shape = array.shape();
        if shape.len() < dim || shape[dim..] != *voxel_shape || shape.contains(&0) {
            return Err(ImageError::new(format!(
                "array has shape {shape:?}, expected {dim} non-empty axes of the grid and then {voxel_shape:?}"
            )));
        }
        let sizes: Vec<usize> = shape[..dim].iter().rev().copied().collect();
        let interleaved = array.iter().map(|sample| sample.as_()).collect();
        Ok(Image::from_interleaved(
            sizes,
            voxel_shape,
            interleaved,
            orientation,
        ))
    }

    fn from_normalized(
        normalized: Normalized,
        voxel_shape: &[usize],
        interleaved: Vec<T>,
    ) -> Loaded<T> {
        let Normalized {
            summary,
            orientation,
            warnings,
        } = normalized;
        let image = Image::from_interleaved(summary.sizes, voxel_shape, interleaved, orientation);
        Loaded { image, warnings }
    }

    /// Takes samples in file order, with the components of one voxel together.
    fn from_interleaved(
        sizes: Vec<usize>,
        voxel_shape: &[usize],
        interleaved: Vec<T>,
        orientation: Orientation,
    ) -> Image<T> {
        let components: usize = voxel_shape.iter().product();
        let padded = interleaved.len() + ROW_LOAD - 1;
        let mut samples = match components {
            1 => interleaved,
            _ => {
                let mut planes = Vec::with_capacity(padded);
                for c in 0..components {
                    planes.extend(interleaved.iter().skip(c).step_by(components));
                }
                planes
            }
        };
        samples.resize(padded, T::zero());
        Image {
            sizes,
            voxel_shape: voxel_shape.to_vec(),
            samples: Arc::new(samples),
            orientation,
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

    /// All samples, component by component, and the padding.
    pub fn samples(&self) -> &[T] {
        &self.samples
    }

    /// The sample of a component (row-major in the voxel shape) at a grid point, fastest axis first, if there is one.
    pub fn sample(&self, component: usize, index: &[usize]) -> Option<T> {
        let inside = index.len() == self.dim() && index.iter().zip(&self.sizes).all(|(i, n)| i < n);
        if !inside || component >= self.components() {
            return None;
        }
        let step = |offset: usize, (i, n): (&usize, &usize)| offset * n + i;
        let offset = index.iter().zip(&self.sizes).rev().fold(0, step);
        self.samples
            .get(component * self.plane_stride() + offset)
            .copied()
    }

    /// Where the grid lies in world space.
    pub fn orientation(&self) -> &Orientation {
        &self.orientation
    }
}
