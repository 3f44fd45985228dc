//! The images of a running program, in the program's precision and as its probes want them, and its meshes.

mod loaded;

use super::{Failure, Inputs, facts::Extent, image_files::KeptFiles};
use crate::{
    codegen::{
        Compiled, abi,
        gpu::{Fleet, Kernel, MeshData, Samples},
    },
    low::Zeros,
};
use loaded::{KeptImages, LoadedImages, contacts, learn_contacts, samples};
use runtime::{
    fem::Mesh,
    grid::{Surroundings, TimeAxis},
    image::{Image, Note, Orientation, Real},
    nrrd::Space,
    probe::{ContactFacts, Missed},
};
use std::{
    ffi::c_void,
    sync::{Arc, PoisonError, atomic::Ordering::Relaxed},
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

    /// The error that samples could not be loaded on demand, if some could not: no result counts then.
    pub(super) fn failure(&self) -> Option<Failure> {
        fn first<T: Real>(images: &[Arc<Image<T>>]) -> Option<String> {
            let failure = images.iter().find_map(|image| image.failure());
            failure.map(str::to_string)
        }
        let message = match &self.0.kept {
            KeptImages::Single(_, images) => first(images),
            KeptImages::Double(_, images) => first(images),
        };
        message.map(Failure::input)
    }

    /// Notes about samples that were loaded on demand so far.
    pub(super) fn findings(&self) -> Vec<Note> {
        fn all<T: Real>(images: &[Arc<Image<T>>]) -> Vec<Note> {
            let mut notes: Vec<Note> = images.iter().flat_map(|image| image.findings()).collect();
            // Images may share their samples.
            notes.dedup();
            notes
        }
        match &self.0.kept {
            KeptImages::Single(_, images) => all(images),
            KeptImages::Double(_, images) => all(images),
        }
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

    /// The frames of values on a mesh over time, and their times.
    pub(super) fn frames_of_values(&self, fem: usize) -> (usize, &TimeAxis) {
        self.0.fems.frames(fem)
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
                let asked = fields(image).filter_map(|field| kept.asked(field));
                MissedImage {
                    image,
                    world_box: grid.orientation.world_box(&grid.sizes),
                    asked: asked
                        .reduce(union)
                        .map(|asked| grid.orientation.world_box_of(&asked)),
                    span: grid.span.filter(|_| fields(image).next().is_some()),
                    only_in_time: all_in_time,
                }
            })
            .collect()
    }

    /// Counts a run with these images.
    pub(super) fn begin_run(&self) {
        self.0.runs.fetch_add(1, Relaxed);
    }

    /// Notes where strands ask for images, by a call of `retrace` that tells whether all strands were run again, unless there was one.
    pub(super) fn find_asked(&self, retrace: impl FnOnce() -> bool) {
        self.0.retraced.get_or_init(retrace);
    }

    /// Whether all positions are known at which strands of all runs with these images asked for images that no probe was inside.
    pub(super) fn knows_all_asked(&self) -> bool {
        let retraced = self.0.retraced.get();
        retraced.is_none_or(|&is_whole| is_whole && self.0.runs.load(Relaxed) == 1)
    }

    /// Notes about the meshes.
    pub fn mesh_notes(&self) -> &[String] {
        &self.0.fems.notes
    }

    /// The meshes that were probed, but never inside, and their names.
    pub(super) fn missed_meshes(&self) -> impl Iterator<Item = (&str, &Mesh)> {
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
    pub(super) fn contacts(&self) -> Vec<ContactFacts> {
        match &self.0.kept {
            KeptImages::Single(images, _) => contacts(images),
            KeptImages::Double(images, _) => contacts(images),
        }
    }

    /// Takes over what another rank knows about them.
    pub(super) fn learn_field_contacts(&self, known: &[ContactFacts]) {
        match &self.0.kept {
            KeptImages::Single(images, _) => learn_contacts(images, known),
            KeptImages::Double(images, _) => learn_contacts(images, known),
        }
    }

    /// Takes over what machines know about the probes of each image.
    pub(super) fn learn_of_machine(&self, known: &[[bool; 2]]) {
        let images = self.0.image_of_field.iter().enumerate();
        for (field, &image) in images.filter(|(_, image)| **image < known.len()) {
            self.0.kept.learn_of_machine(field, known[image]);
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

    /// Takes over the GPUs that no run of other images uses now, if these have the same samples, and there are no meshes.
    pub(super) fn take_over(&self, others: &Images) {
        if Arc::ptr_eq(&self.0, &others.0) || !self.0.kept.has_samples_of(&others.0.kept) {
            return;
        }
        if !(self.mesh_data().is_empty() && others.mesh_data().is_empty()) {
            return;
        }
        let idle = &others.0.idle;
        let fleets = std::mem::take(&mut *idle.lock().unwrap_or_else(PoisonError::into_inner));
        for fleet in fleets {
            // One that fails is lost.
            if fleet.forget_contacts().is_ok() {
                self.keep_idle(fleet);
            }
        }
    }

    /// The meshes, with the values on them that are probed.
    pub(super) fn mesh_data(&self) -> Vec<MeshData<'_>> {
        self.0.fems.data()
    }

    /// The samples of all images.
    pub(super) fn samples(&self) -> Vec<Samples<'_>> {
        match &self.0.kept {
            KeptImages::Single(_, images) => images.iter().map(|image| samples(image)).collect(),
            KeptImages::Double(_, images) => images.iter().map(|image| samples(image)).collect(),
        }
    }
}

/// The box of two boxes.
fn union(a: Vec<(f64, f64)>, b: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let both = a.into_iter().zip(b);
    both.map(|((a, b), (c, d))| (a.min(c), b.max(d))).collect()
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
    /// The extent of the positions of its probes, if it was probed.
    pub(super) asked: Option<Vec<(f64, f64)>>,
    /// The times of its first and its last frame, if it is over time.
    pub(super) span: Option<(f64, f64)>,
    /// Whether positions were inside, and only times were not.
    pub(super) only_in_time: bool,
}
