//! The images of a running program, in the program's precision and as its probes want them.

use super::Failure;
use crate::{codegen::Compiled, codegen::abi, ir::leaf::BorderControl};
use ein_ir::ops;
use ndarray::ArrayD;
use num_traits::AsPrimitive;
use runtime::{
    image::{Image, ImageError, Orientation},
    probe::{Border, KeptImage},
};
use std::{ffi::c_void, path::Path, sync::Arc};

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

/// Images as the probes of generated code take them, and what else it knows of them.
pub(super) struct LoadedImages {
    /// Keeps what `fields` points to.
    _kept: Kept,
    cells: Vec<u64>,
    fields: Vec<*const c_void>,
    warnings: Vec<String>,
}

// SAFETY: the pointers lead to descriptions that are kept here, and everything behind them is only read.
unsafe impl Send for LoadedImages {}
// SAFETY: as above.
unsafe impl Sync for LoadedImages {}

enum Kept {
    Single(
        #[expect(dead_code, reason = "owned, and reached through addresses")] Vec<KeptImage<f32>>,
    ),
    Double(
        #[expect(dead_code, reason = "owned, and reached through addresses")] Vec<KeptImage<f64>>,
    ),
}

impl LoadedImages {
    /// Loads a program's images.
    pub(super) fn load(
        program: &Compiled,
        sources: &[ImageSource],
    ) -> Result<LoadedImages, Failure> {
        if program.lanes.double {
            LoadedImages::of(program, sources, Kept::Double)
        } else {
            LoadedImages::of(program, sources, Kept::Single)
        }
    }

    fn of<T>(
        program: &Compiled,
        sources: &[ImageSource],
        keep: fn(Vec<KeptImage<T>>) -> Kept,
    ) -> Result<LoadedImages, Failure>
    where
        T: runtime::image::Real + runtime::simd::Float,
        f64: AsPrimitive<T>,
    {
        let mut warnings = Vec::new();
        let images = read::<T>(program, sources, &mut warnings)?;
        let mut kept = Vec::new();
        for field in program.code.linker().fields() {
            let constant = constant(&field.border);
            let border = border(&field.border, &constant);
            let image = images[field.image as usize].clone();
            kept.push(KeptImage::new(image, border).map_err(Failure::input)?);
        }
        let address = |image: &KeptImage<T>| std::ptr::from_ref(image.description()).cast();
        Ok(LoadedImages {
            cells: cells(&images, program.lanes.double),
            fields: kept.iter().map(address).collect(),
            _kept: keep(kept),
            warnings,
        })
    }

    pub(super) fn cells(&self) -> &[u64] {
        &self.cells
    }

    pub(super) fn fields(&self) -> &[*const c_void] {
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
) -> Result<Vec<Arc<Image<T>>>, Failure>
where
    T: runtime::image::Real,
    f64: AsPrimitive<T>,
{
    let failed = |error: ImageError| Failure::input(error.to_string());
    let mut images = Vec::new();
    for (image, source) in program.interface.images.iter().zip(sources) {
        images.push(Arc::new(match source {
            ImageSource::File(file) => {
                let loaded =
                    Image::read(Path::new(file), image.dim, image.shape.dims()).map_err(failed)?;
                warnings.extend(loaded.notes.iter().map(|note| format!("{file}: {note}")));
                loaded.image
            }
            ImageSource::Array {
                samples,
                orientation,
            } => Image::from_array(samples.view(), image.shape.dims(), orientation.clone())
                .map_err(failed)?,
        }));
    }
    Ok(images)
}

fn cells<T: runtime::image::Real>(images: &[Arc<Image<T>>], double: bool) -> Vec<u64> {
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

/// The values beyond a constant border, one per component.
fn constant(border: &BorderControl) -> Vec<f64> {
    match border {
        Some(ops::Border::Constant(values)) => values.iter().map(|x| x.get()).collect(),
        _ => Vec::new(),
    }
}

/// What the runtime, which knows no IR, calls a border control.
fn border<'a>(border: &BorderControl, constant: &'a [f64]) -> Border<'a> {
    match border {
        None => Border::None,
        Some(ops::Border::Clamp) => Border::Clamp,
        Some(ops::Border::Mirror) => Border::Mirror,
        Some(ops::Border::Wrap) => Border::Wrap,
        Some(ops::Border::Constant(_)) => Border::Constant(constant),
    }
}
