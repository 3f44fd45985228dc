//! The images of a running program, in the program's precision and as its probes want them.

use super::Failure;
use crate::{codegen::Compiled, codegen::abi, ir::leaf};
use ndarray::ArrayD;
use num_traits::AsPrimitive;
use runtime::{
    image::{Image, ImageError, Orientation},
    probe::{Border, ProbeImage},
};
use std::path::Path;

/// Where an image comes from.
#[derive(Clone, Debug)]
pub enum ImageSource {
    /// A file.
    File(String),
    /// Memory.
    Array {
        /// The samples: axes of the grid from the slowest to the fastest, then those of the voxel.
        samples: ArrayD<f64>,
        /// Where the grid lies in the world.
        orientation: Orientation,
    },
}

/// Images, what generated code knows of them, and the descriptions its probes take.
pub(super) struct LoadedImages {
    /// Own the samples that the descriptions point to.
    _samples: Samples,
    /// Own the values beyond constant borders that the descriptions point to.
    _constants: Vec<Vec<f64>>,
    cells: Vec<u64>,
    _descriptions: Box<[ProbeImage<'static>]>,
    fields: Vec<*const ProbeImage<'static>>,
    warnings: Vec<String>,
}

// SAFETY: the pointers lead to descriptions owned here, and samples are only read.
unsafe impl Send for LoadedImages {}
// SAFETY: as above.
unsafe impl Sync for LoadedImages {}

enum Samples {
    Single(Vec<Image<f32>>),
    Double(Vec<Image<f64>>),
}

impl LoadedImages {
    /// Loads a program's images.
    pub(super) fn load(
        program: &Compiled,
        sources: &[ImageSource],
    ) -> Result<LoadedImages, Failure> {
        let mut warnings = Vec::new();
        let samples = if program.lanes.double {
            Samples::Double(read(program, sources, &mut warnings)?)
        } else {
            Samples::Single(read(program, sources, &mut warnings)?)
        };
        let cells = match &samples {
            Samples::Single(images) => cells(images, false),
            Samples::Double(images) => cells(images, true),
        };
        let (mut descriptions, mut constants) = (Vec::new(), Vec::new());
        for field in program.code.linker().fields() {
            constants.push(constant(&field.border));
            let border = border(&field.border, &constants[constants.len() - 1]);
            let description = match &samples {
                Samples::Single(images) => describe(&images[field.image as usize], border),
                Samples::Double(images) => describe(&images[field.image as usize], border),
            };
            descriptions.push(description.map_err(Failure::Input)?);
        }
        let descriptions = descriptions.into_boxed_slice();
        let fields = descriptions.iter().map(std::ptr::from_ref).collect();
        Ok(LoadedImages {
            _samples: samples,
            _constants: constants,
            cells,
            _descriptions: descriptions,
            fields,
            warnings,
        })
    }

    pub(super) fn cells(&self) -> &[u64] {
        &self.cells
    }

    pub(super) fn fields(&self) -> &[*const ProbeImage<'static>] {
        &self.fields
    }

    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }
}

fn read<T>(
    program: &Compiled,
    sources: &[ImageSource],
    warnings: &mut Vec<String>,
) -> Result<Vec<Image<T>>, Failure>
where
    T: runtime::image::Real,
    f64: AsPrimitive<T>,
{
    let failed = |error: ImageError| Failure::Input(error.to_string());
    let mut images = Vec::new();
    for (image, source) in program.interface.images.iter().zip(sources) {
        images.push(match source {
            ImageSource::File(file) => {
                let loaded =
                    Image::read(Path::new(file), image.dim, image.shape.dims()).map_err(failed)?;
                warnings.extend(loaded.warnings.iter().map(|w| format!("{file}: {w}")));
                loaded.image
            }
            ImageSource::Array {
                samples,
                orientation,
            } => Image::from_array(samples.view(), image.shape.dims(), orientation.clone())
                .map_err(failed)?,
        });
    }
    Ok(images)
}

fn cells<T: runtime::image::Real>(images: &[Image<T>], double: bool) -> Vec<u64> {
    let parts = images.iter().map(|image| {
        let orientation = image.orientation();
        (
            image.sizes(),
            orientation.world_to_index(),
            orientation.offset(),
        )
    });
    abi::images::cells(parts, double)
}

fn describe<T: runtime::image::Real + runtime::simd::Float>(
    image: &Image<T>,
    border: Border<'_>,
) -> Result<ProbeImage<'static>, String> {
    // The samples are padded at the end for wide loads.
    let samples = &image.samples()[..image.plane_stride() * image.components()];
    let description = ProbeImage::new(samples, image.sizes(), image.components(), border)?;
    // SAFETY: images and border values are kept beside the descriptions and never changed, so they live as long.
    Ok(unsafe { std::mem::transmute::<ProbeImage<'_>, ProbeImage<'static>>(description) })
}

/// The values beyond a constant border, one per component.
fn constant(border: &leaf::Border) -> Vec<f64> {
    match border {
        leaf::Border::Constant(bits) => bits.iter().map(|&x| f64::from_bits(x)).collect(),
        _ => Vec::new(),
    }
}

fn border<'a>(border: &leaf::Border, constant: &'a [f64]) -> Border<'a> {
    match border {
        leaf::Border::None => Border::None,
        leaf::Border::Clamp => Border::Clamp,
        leaf::Border::Mirror => Border::Mirror,
        leaf::Border::Wrap => Border::Wrap,
        leaf::Border::Constant(_) => Border::Constant(constant),
    }
}
