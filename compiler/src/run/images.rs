//! The images of a running program, in the program's precision and as its probes want them, and its meshes.

use super::{
    Failure, Inputs,
    facts::Extent,
    fems::LoadedFems,
    image_files::{ImageSource, KeptFiles, ReadFile, failed, read},
};
use crate::{
    codegen::{
        Compiled, abi,
        gpu::{Fleet, Kernel, Samples},
    },
    ir::{
        interface::{Input, InputTarget},
        leaf::{BorderControl, Convolution},
    },
    low::Zeros,
};
use ein_ir::ops;
use runtime::{
    fem::Mesh,
    grid::{Surroundings, TimeAxis},
    image::{Image, Note, Orientation, Reading, Real},
    nrrd::Space,
    probe::{Border, KeptImage, Missed},
    simd::Float,
};
use std::{
    ffi::c_void,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// The images and meshes of a program, loaded once for any number of runs.
#[derive(Clone)]
pub struct Images(Arc<LoadedImages>);

impl Images {
    /// Loads the images and meshes that a program needs.
    ///
    /// # Errors
    /// One of them cannot be loaded.
    pub fn load(program: &Compiled, inputs: &Inputs) -> Result<Images, Failure> {
        Images::load_changed(program, inputs, &mut KeptFiles::default())
    }

    /// The same for one of several runs: files that were read for an earlier one are not read again. Those that are not needed any more make room
    /// before others are read.
    ///
    /// # Errors
    /// One of them cannot be loaded. The others are kept.
    pub(crate) fn load_changed(
        program: &Compiled,
        inputs: &Inputs,
        kept: &mut KeptFiles,
    ) -> Result<Images, Failure> {
        let sources = inputs.images()?;
        let mut images = LoadedImages::load(program, &sources, kept)?;
        images.fems = kept.fems(program, inputs.fems()?)?;
        Ok(Images(Arc::new(images)))
    }

    /// The same with those that are smoothed at these scales, in their order. Runs with the same scales share them.
    ///
    /// # Errors
    /// A scale is not a length, or there is no memory.
    pub(super) fn at_scales(
        &self,
        program: &Compiled,
        scales: &[Vec<f64>],
    ) -> Result<Images, Failure> {
        let mut last = self
            .0
            .smoothed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((known, images)) = &*last
            && known == scales
        {
            return Ok(images.clone());
        }
        // Those of the last scales make room.
        *last = None;
        let images = Images(Arc::new(self.0.at_scales(program, scales)?));
        *last = Some((scales.to_vec(), images.clone()));
        Ok(images)
    }

    /// Notes for the user about them.
    pub fn notes(&self) -> &[Note] {
        &self.0.notes
    }

    /// The zeros in their matrices, in the program's precision.
    pub(super) fn zeros(&self) -> Zeros {
        let grids = &self.0.grids;
        let dims = grids.iter().map(|grid| grid.sizes.len());
        let double = matches!(self.0.kept, KeptImages::Double(..));
        Zeros::of(dims, |image, row, column| {
            let dim = grids[image].sizes.len();
            let entry = grids[image].orientation.world_to_index()[row * dim + column];
            entry == 0.0 || (!double && entry as f32 == 0.0)
        })
    }

    /// The grid of an image.
    pub(super) fn grid(&self, image: usize) -> &Grid {
        &self.0.grids[image]
    }

    /// The space that the samples of an image take.
    pub(super) fn extent_of_image(&self, image: usize) -> Extent {
        Extent::of_grid(&self.0.grids[image])
    }

    /// The space that a mesh takes.
    pub(super) fn extent_of_mesh(&self, mesh: usize) -> Extent {
        self.0.fems.extent(mesh)
    }

    /// The space that the mesh of values takes.
    pub(super) fn extent_of_values(&self, fem: usize) -> Extent {
        self.0.fems.extent(self.0.fems.values(fem).0)
    }

    /// The spaces that all images and meshes of a dimension take.
    pub(super) fn extents(&self, dim: usize) -> Vec<Extent> {
        let grids = self.0.grids.iter().map(Extent::of_grid);
        let meshes = (0..self.0.fems.table.meshes.len()).map(|mesh| self.0.fems.extent(mesh));
        let all = grids.chain(meshes);
        all.filter(|extent| extent.world_box.len() == dim).collect()
    }

    /// The least and the greatest finite number in an image.
    pub(super) fn range_of_image(&self, image: usize) -> (f64, f64) {
        let range = || match &self.0.kept {
            KeptImages::Single(_, images) => images[image].range(),
            KeptImages::Double(_, images) => images[image].range(),
        };
        *self.0.ranges[image].get_or_init(range)
    }

    /// The interval of an image's numbers without the least and the greatest hundredth, estimated from some of them.
    pub fn usual_range(&self, image: usize) -> Option<(f64, f64)> {
        const MOST: usize = 100_000;
        fn some<T: Real>(image: &Image<T>) -> Vec<f64> {
            // An odd step is not in time with rows whose lengths are powers of two.
            let step = (image.sample_count() / MOST) | 1;
            let numbers = image.some_samples(step).map(T::in_double);
            numbers.filter(|x| x.is_finite()).collect()
        }
        let mut numbers = match &self.0.kept {
            KeptImages::Single(_, images) => some(images.get(image)?),
            KeptImages::Double(_, images) => some(images.get(image)?),
        };
        numbers.sort_by(f64::total_cmp);
        let last = numbers.len().checked_sub(1)?;
        Some((numbers[last / 100], numbers[last - last / 100]))
    }

    /// The same of values on a mesh, if the program asks for it.
    pub(super) fn range_of_values(&self, fem: usize) -> (f64, f64) {
        self.0.fems.values(fem).1
    }

    /// The space in which positions of this many coordinates are, if the files of the images name one and agree.
    pub(super) fn space(&self, coordinates: usize) -> Space {
        let is_named =
            |space: &&Space| matches!(space, Space::Named(_)) && space.dimension() == coordinates;
        let mut named = self
            .0
            .grids
            .iter()
            .map(|grid| &grid.surroundings.space)
            .filter(is_named);
        match named.next() {
            Some(first) if named.all(|space| space == first) => first.clone(),
            _ => Space::Dimension(coordinates),
        }
    }

    /// The units of positions of this many coordinates, if the files of the images say them and agree.
    pub(super) fn units(&self, coordinates: usize) -> Vec<String> {
        let units = self.0.grids.iter().map(|grid| &grid.surroundings.units);
        let mut known = units.filter(|units| units.len() == coordinates);
        match known.next() {
            Some(first) if known.all(|units| units == first) => first.clone(),
            _ => Vec::new(),
        }
    }

    /// The images of two and more dimensions that were probed, but never where they have samples, or looked for and never
    /// probed: their numbers, and the extent of their samples along each coordinate of the world.
    pub(super) fn missed(&self, sought: &[u32]) -> Vec<MissedImage> {
        let LoadedImages {
            kept,
            image_of_field,
            grids,
            ..
        } = &*self.0;
        let fields =
            |image: usize| (0..image_of_field.len()).filter(move |&f| image_of_field[f] == image);
        let missed = |&image: &usize| {
            let mut probed = fields(image)
                .filter(|&field| kept.was_probed(field))
                .peekable();
            grids[image].sizes.len() > 1
                && (probed.peek().is_some() || sought.contains(&(image as u32)))
                && probed.all(|field| kept.missed(field).is_some())
        };
        let numbers = (0..grids.len()).filter(missed);
        numbers
            .map(|image| {
                let grid = &grids[image];
                let all_in_time = fields(image).all(|f| kept.missed(f) == Some(Missed::InTime));
                MissedImage {
                    image,
                    world_box: grid.orientation.world_box(&grid.sizes),
                    span: grid.span.filter(|_| fields(image).next().is_some()),
                    only_in_time: all_in_time,
                }
            })
            .collect()
    }

    /// Notes about the meshes.
    pub fn mesh_notes(&self) -> &[String] {
        &self.0.fems.notes
    }

    /// The meshes that were probed, but never inside: their names, and their extent along each coordinate of the world.
    pub fn missed_meshes(&self) -> impl Iterator<Item = (&str, Vec<(f64, f64)>)> {
        self.0.fems.missed()
    }

    /// The meshes with positions that a curved cell may contain, but that were not found in it, and how many these are.
    pub fn unresolved_meshes(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.fems.unresolved()
    }

    /// The meshes.
    pub(super) fn all_meshes(&self) -> &[Arc<Mesh>] {
        self.0.fems.meshes()
    }

    /// The facts about the probes of each field.
    pub(super) fn contacts(&self) -> Vec<u8> {
        match &self.0.kept {
            KeptImages::Single(images, _) => contacts(images),
            KeptImages::Double(images, _) => contacts(images),
        }
    }

    /// Takes over what another rank knows about them.
    pub(super) fn learn_field_contacts(&self, known: &[u8]) {
        match &self.0.kept {
            KeptImages::Single(images, _) => learn_contacts(images, known),
            KeptImages::Double(images, _) => learn_contacts(images, known),
        }
    }

    /// The meshes as generated code takes them.
    pub(super) fn meshes(&self) -> *const abi::FemTable {
        &raw const self.0.fems.table
    }

    pub(super) fn cells(&self) -> &[u64] {
        &self.0.cells
    }

    pub(super) fn fields(&self) -> &[*const c_void] {
        &self.0.fields
    }

    /// GPUs that have these images and this kernel, if no run uses them.
    pub(super) fn take_idle(&self, kernel: &Arc<Kernel>) -> Option<Fleet> {
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let found = idle.iter().position(|fleet| fleet.runs(kernel))?;
        Some(idle.swap_remove(found))
    }

    /// Keeps GPUs that a run no longer uses for the next one.
    pub(super) fn keep_idle(&self, fleet: Fleet) {
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // Runs of another kernel are not to come soon.
        idle.retain(|other| other.runs_like(&fleet));
        idle.push(fleet);
    }

    /// The samples of all images.
    pub(super) fn samples(&self) -> Vec<Samples<'_>> {
        match &self.0.kept {
            KeptImages::Single(_, images) => images.iter().map(|image| samples(image)).collect(),
            KeptImages::Double(_, images) => images.iter().map(|image| samples(image)).collect(),
        }
    }
}

/// Images as the probes of generated code take them, and what else it knows of them.
struct LoadedImages {
    /// What `fields` points to.
    kept: KeptImages,
    /// The image of each field.
    image_of_field: Vec<usize>,
    cells: Vec<u64>,
    fields: Vec<*const c_void>,
    grids: Vec<Grid>,
    /// The ranges of those images that they were asked of.
    ranges: Vec<OnceLock<(f64, f64)>>,
    notes: Vec<Note>,
    fems: Arc<LoadedFems>,
    /// The same with images smoothed at the scales that were wanted last.
    smoothed: Mutex<Option<(Vec<Vec<f64>>, Images)>>,
    /// GPUs with these images that no run uses now.
    idle: Mutex<Vec<Fleet>>,
}

/// The grid of an image.
pub(super) struct Grid {
    /// Its sizes, fastest axis first.
    pub(super) sizes: Vec<usize>,
    /// Its place in the world.
    pub(super) orientation: Orientation,
    /// The space it is in, and its units, as its file says.
    pub(super) surroundings: Surroundings,
    /// The times of its first and its last frame, if it is over time.
    pub(super) span: Option<(f64, f64)>,
}

/// An image that was probed, or looked for, but never where it has samples.
pub(super) struct MissedImage {
    /// The image, by its number.
    pub(super) image: usize,
    /// The extent of its samples along each coordinate of the world.
    pub(super) world_box: Vec<(f64, f64)>,
    /// The times of its first and its last frame, if it is over time.
    pub(super) span: Option<(f64, f64)>,
    /// Whether positions were inside, and only times were not.
    pub(super) only_in_time: bool,
}

// SAFETY: the pointers lead to descriptions that are kept here, and everything behind them is only read.
unsafe impl Send for LoadedImages {}
// SAFETY: as above.
unsafe impl Sync for LoadedImages {}

/// The images of all fields, and all images.
enum KeptImages {
    Single(Vec<KeptImage<f32>>, Whole<f32>),
    Double(Vec<KeptImage<f64>>, Whole<f64>),
}

/// All images of a program.
type Whole<T> = Vec<Arc<Image<T>>>;

/// Keeps images of a precision.
type Keep<T> = fn(Vec<KeptImage<T>>, Whole<T>) -> KeptImages;

fn contacts<T: Real + Float>(images: &[KeptImage<T>]) -> Vec<u8> {
    let images = images.iter();
    images.map(|image| image.description().contact()).collect()
}

fn learn_contacts<T: Real + Float>(images: &[KeptImage<T>], known: &[u8]) {
    for (image, contact) in images.iter().zip(known) {
        image.description().learn_contact(*contact);
    }
}

impl KeptImages {
    /// Whether the image of a field was probed at all.
    fn was_probed(&self, field: usize) -> bool {
        match self {
            KeptImages::Single(images, _) => images[field].description().was_probed(),
            KeptImages::Double(images, _) => images[field].description().was_probed(),
        }
    }

    /// Where the image of a field was probed, if never inside.
    fn missed(&self, field: usize) -> Option<Missed> {
        match self {
            KeptImages::Single(images, _) => images[field].description().missed(),
            KeptImages::Double(images, _) => images[field].description().missed(),
        }
    }
}

impl LoadedImages {
    /// Loads a program's images.
    fn load(
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
        })
    }

    /// The same images with those that are smoothed at these scales.
    fn at_scales(&self, program: &Compiled, scales: &[Vec<f64>]) -> Result<LoadedImages, Failure> {
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

/// The samples of an image as bytes, without what pads them.
fn samples<T: runtime::image::Real>(image: &Image<T>) -> Samples<'_> {
    Samples {
        sizes: image.sizes(),
        frames: image.frames(),
        is_regular: !matches!(image.time(), Some(TimeAxis::Table(_))),
        bytes: image.sample_bytes(),
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
