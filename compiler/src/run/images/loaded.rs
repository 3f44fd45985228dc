//! The images of a program in memory: read, smoothed, and described as its probes want them.

use super::{
    super::{
        Failure,
        fems::LoadedFems,
        image_files::{ImageSource, KeptFiles, ReadFile, failed, read},
    },
    Grid, Images,
};
use crate::{
    codegen::{
        Compiled, abi,
        gpu::{Contents, Fleet, Samples},
    },
    ir::{
        interface::{Input, InputTarget},
        leaf::{BorderControl, Convolution},
    },
};
use ein_ir::ops;
use runtime::{
    grid::{Surroundings, TimeAxis},
    image::{Image, Note, Reading, Real},
    probe::{Border, ContactFacts, KeptImage, Missed},
    simd::Float,
};
use std::{
    ffi::c_void,
    ops::Range,
    sync::{Arc, Mutex, OnceLock, atomic::AtomicUsize},
};

/// Images as the probes of generated code take them, and what else it knows of them.
pub(super) struct LoadedImages {
    /// What `fields` points to.
    pub(super) kept: KeptImages,
    /// The image of each field.
    pub(super) image_of_field: Vec<usize>,
    pub(super) cells: Vec<u64>,
    pub(super) fields: Vec<*const c_void>,
    pub(super) grids: Vec<Grid>,
    /// The ranges of those images that they were asked of.
    pub(super) ranges: Vec<OnceLock<(f64, f64)>>,
    pub(super) notes: Vec<Note>,
    pub(super) fems: Arc<LoadedFems>,
    /// The same with images smoothed at the scales that were wanted last.
    pub(super) smoothed: Mutex<Option<(Vec<Vec<f64>>, Images)>>,
    /// GPUs with these images that no run uses now.
    pub(super) idle: Mutex<Vec<Fleet>>,
    /// The runs that have had these images.
    pub(super) runs: AtomicUsize,
    /// Whether all strands of one were run again to find where they ask for images, if some were.
    pub(super) retraced: OnceLock<bool>,
}

// SAFETY: the pointers lead to descriptions that are kept here, and everything behind them is only read.
unsafe impl Send for LoadedImages {}
// SAFETY: as above.
unsafe impl Sync for LoadedImages {}

/// The images of all fields, and all images.
pub(super) enum KeptImages {
    Single(Vec<KeptImage<f32>>, Whole<f32>),
    Double(Vec<KeptImage<f64>>, Whole<f64>),
}

/// All images of a program.
pub(super) type Whole<T> = Vec<Arc<Image<T>>>;

/// Keeps images of a precision.
type Keep<T> = fn(Vec<KeptImage<T>>, Whole<T>) -> KeptImages;

pub(super) fn contacts<T: Real + Float>(images: &[KeptImage<T>]) -> Vec<ContactFacts> {
    let images = images.iter();
    images.map(|image| image.description().contact()).collect()
}

pub(super) fn learn_contacts<T: Real + Float>(images: &[KeptImage<T>], known: &[ContactFacts]) {
    for (image, contact) in images.iter().zip(known) {
        image.description().learn_contact(*contact);
    }
}

impl KeptImages {
    /// Whether all images have the samples of others.
    pub(super) fn has_samples_of(&self, others: &KeptImages) -> bool {
        fn have<T: Real>(images: &Whole<T>, others: &Whole<T>) -> bool {
            let mut pairs = images.iter().zip(others);
            images.len() == others.len() && pairs.all(|(a, b)| a.has_samples_of(b))
        }
        match (self, others) {
            (KeptImages::Single(_, images), KeptImages::Single(_, others)) => have(images, others),
            (KeptImages::Double(_, images), KeptImages::Double(_, others)) => have(images, others),
            _ => false,
        }
    }

    /// Whether the image of a field was probed at all.
    pub(super) fn was_probed(&self, field: usize) -> bool {
        match self {
            KeptImages::Single(images, _) => images[field].description().was_probed(),
            KeptImages::Double(images, _) => images[field].description().was_probed(),
        }
    }

    /// Takes over what a machine knows about the probes of a field's image.
    pub(super) fn learn_of_machine(&self, field: usize, known: [bool; 2]) {
        match self {
            KeptImages::Single(images, _) => images[field].description().learn_of_machine(known),
            KeptImages::Double(images, _) => images[field].description().learn_of_machine(known),
        }
    }

    /// The box of the positions of a field's probes before one was inside, in index space.
    pub(super) fn asked(&self, field: usize) -> Option<Vec<(f64, f64)>> {
        match self {
            KeptImages::Single(images, _) => images[field].description().asked(),
            KeptImages::Double(images, _) => images[field].description().asked(),
        }
    }

    /// Where the image of a field was probed, if never inside.
    pub(super) fn missed(&self, field: usize) -> Option<Missed> {
        match self {
            KeptImages::Single(images, _) => images[field].description().missed(),
            KeptImages::Double(images, _) => images[field].description().missed(),
        }
    }
}

impl LoadedImages {
    /// Loads a program's images.
    pub(super) fn load(
        program: &Compiled,
        sources: &[(ImageSource, Reading)],
        kept: &mut KeptFiles,
    ) -> Result<LoadedImages, Failure> {
        if program.lanes.double {
            LoadedImages::of(program, sources, &mut kept.double, KeptImages::Double)
        } else {
            LoadedImages::of(program, sources, &mut kept.single, KeptImages::Single)
        }
    }

    fn of<T>(
        program: &Compiled,
        sources: &[(ImageSource, Reading)],
        kept: &mut Vec<Option<ReadFile<T>>>,
        keep: Keep<T>,
    ) -> Result<LoadedImages, Failure>
    where
        T: runtime::image::Real + runtime::nrrd::FromSample + runtime::simd::Float,
    {
        let mut notes = Vec::new();
        let (images, surroundings) = read::<T>(program, sources, kept, &mut notes)?;
        let loaded = LoadedImages::keep(program, images, surroundings, keep)?;
        Ok(LoadedImages { notes, ..loaded })
    }

    /// The images in the form of the program's probes.
    fn keep<T>(
        program: &Compiled,
        images: Whole<T>,
        surroundings: Vec<Surroundings>,
        keep: Keep<T>,
    ) -> Result<LoadedImages, Failure>
    where
        T: runtime::image::Real + runtime::simd::Float,
    {
        let mut kept = Vec::new();
        for field in program.code.linker().fields() {
            let constant = constant(&field.border);
            let border = border(&field.border, &constant);
            let image = images[field.image as usize].clone();
            check_times(program, field, image.time())?;
            kept.push(KeptImage::new(image, border).map_err(Failure::input)?);
        }
        let address = |image: &KeptImage<T>| std::ptr::from_ref(image.description()).cast();
        Ok(LoadedImages {
            cells: cells(&images, program.lanes.double),
            fields: kept.iter().map(address).collect(),
            image_of_field: program
                .code
                .linker()
                .fields()
                .iter()
                .map(|field| field.image as usize)
                .collect(),
            grids: images
                .iter()
                .zip(surroundings)
                .map(|(image, surroundings)| Grid {
                    sizes: image.sizes().to_vec(),
                    orientation: image.orientation().clone(),
                    surroundings,
                    span: image
                        .time()
                        .map(|axis| (axis.start(), axis.end(image.frames()))),
                })
                .collect(),
            ranges: images.iter().map(|_| OnceLock::new()).collect(),
            kept: keep(kept, images),
            notes: Vec::new(),
            fems: Arc::default(),
            smoothed: Mutex::default(),
            idle: Mutex::default(),
            runs: AtomicUsize::new(0),
            retraced: OnceLock::new(),
        })
    }

    /// The same images with those that are smoothed at these scales.
    pub(super) fn at_scales(
        &self,
        program: &Compiled,
        scales: &[Vec<f64>],
    ) -> Result<LoadedImages, Failure> {
        let grids = self.grids.iter();
        let surroundings = grids.map(|grid| grid.surroundings.clone()).collect();
        let smoothed = match &self.kept {
            KeptImages::Single(_, images) => {
                let images = blurred(program, images, scales)?;
                LoadedImages::keep(program, images, surroundings, KeptImages::Single)
            }
            KeptImages::Double(_, images) => {
                let images = blurred(program, images, scales)?;
                LoadedImages::keep(program, images, surroundings, KeptImages::Double)
            }
        };
        Ok(LoadedImages {
            notes: self.notes.clone(),
            fems: Arc::clone(&self.fems),
            ..smoothed?
        })
    }
}

/// The same images, with those that are made from others at these scales, in their order.
fn blurred<T: runtime::image::Real>(
    program: &Compiled,
    images: &Whole<T>,
    scales: &[Vec<f64>],
) -> Result<Whole<T>, Failure> {
    let mut images = images.clone();
    for ((n, blur), scale) in program.interface.scales().zip(scales) {
        let place = program.interface.images[n].span.start;
        let source = &images[blur.of as usize];
        let axes = match scale[..] {
            [all] => vec![all; source.dim()],
            _ => scale.clone(),
        };
        let constant = constant(&blur.border);
        let made = runtime::blur::blur(source, &axes, border(&blur.border, &constant));
        let made = made.map_err(|error| failed(error, Some(place)))?;
        images[n] = Arc::new(made);
    }
    Ok(images)
}

/// Samples that are converted at a time.
const CONVERTED: usize = 1 << 20;

impl<T: Real> Contents for Image<T> {
    fn count(&self) -> usize {
        self.sample_count()
    }

    fn pieces(&self, samples: Range<usize>, take: &mut dyn FnMut(&[u8])) {
        // Samples of the real type need no room, and are given at once.
        let is_real = self.sample_size() == size_of::<T>();
        let piece = if is_real { samples.len() } else { CONVERTED };
        let mut room = Vec::new();
        for start in samples.clone().step_by(piece.max(1)) {
            take(self.sample_bytes(start..samples.end.min(start + piece), &mut room));
        }
    }
}

/// The samples of an image, without what pads them.
pub(super) fn samples<T: runtime::image::Real>(image: &Image<T>) -> Samples<'_> {
    Samples {
        sizes: image.sizes(),
        frames: image.frames(),
        time: image.time(),
        is_on_demand: image.is_on_demand(),
        contents: image,
    }
}

fn cells<T: runtime::image::Real>(images: &[Arc<Image<T>>], double: bool) -> Vec<u64> {
    let parts = images.iter().map(|image| {
        let orientation = image.orientation();
        abi::images::ImageFacts {
            sizes: image.sizes(),
            to_index: (orientation.world_to_index(), orientation.offset()),
            frames: image.frames(),
            time: image.time(),
        }
    });
    abi::images::cells(parts, double)
}

/// Refuses kernels that are smooth in time where frames are at irregular times: between them, positions in time have kinks.
fn check_times(
    program: &Compiled,
    field: &Convolution,
    time: Option<&TimeAxis>,
) -> Result<(), Failure> {
    let (Some(TimeAxis::Table(_)), Some(kernel)) = (time, field.time) else {
        return Ok(());
    };
    let kernel = kernel.kernel.0.name;
    if matches!(kernel, "tent" | "c1tent") {
        return Ok(());
    }
    let interface = &program.interface;
    let number = interface.loaded_image(field.image as usize);
    let of_image = |input: &&Input| input.target == InputTarget::Image(number as u32);
    let name = match interface.inputs.iter().find(of_image) {
        Some(input) => format!("`{}`", input.name),
        None => interface.images[number].file.clone().unwrap_or_default(),
    };
    let message = format!(
        "the frames of the image {name} are at irregular times, which the kernel `{kernel}` in time cannot interpolate"
    );
    Err(Failure {
        hints: vec!["use `tent` in time: `KRNS(…, tent) ⊛ …`".to_owned()],
        ..Failure::input(message)
    })
}

/// The values beyond a constant border, one per component.
fn constant(border: &BorderControl) -> Vec<f64> {
    match border {
        ops::Border::Constant(values) => values.iter().map(|x| x.get()).collect(),
        _ => Vec::new(),
    }
}

/// What the runtime, which knows no IR, calls a border control.
fn border<'a>(border: &BorderControl, constant: &'a [f64]) -> Border<'a> {
    match border {
        ops::Border::Clamp => Border::Clamp,
        ops::Border::Mirror => Border::Mirror,
        ops::Border::Wrap => Border::Wrap,
        ops::Border::Constant(_) => Border::Constant(constant),
    }
}
