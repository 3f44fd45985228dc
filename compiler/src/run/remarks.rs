//! Remarks about a run: its length, notes about its images, the processor that ran it, and images and meshes that it never probed
//! inside.

use super::{Length, Refusal, Run, stage::Stage};
use crate::{
    codegen::gpu::Phases,
    ir::interface::{Input, InputTarget},
};
use runtime::{image::Note, print::short};

impl Run {
    /// Its length, as far as it is known.
    pub fn length(&self, limit: Option<u64>) -> Length {
        let strands = match &self.stage {
            Stage::Prepared(_) => self.domain().strand_count() as u64,
            _ => self.counts().active + self.counts().stable,
        };
        Length {
            strands: Some(strands).filter(|_| !self.program.abilities.creates),
            limit,
        }
    }

    /// Notes for the user about the images.
    pub fn notes(&self) -> &[Note] {
        self.images.notes()
    }

    /// The reason why strands run on the CPU although a GPU was requested.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.stage.strands()?.placement().refusal.as_ref()
    }

    /// The warning that the CPU runs the strands because there is no GPU although one was requested.
    pub fn absence(&self) -> Option<String> {
        let absence = self.stage.strands()?.placement().absence.as_ref()?;
        Some(format!("this program runs on the CPU: {absence}"))
    }

    /// Warnings about the failures of a GPU in runs that the CPU finished.
    pub fn troubles(&self) -> impl ExactSizeIterator<Item = String> {
        let troubles = self.troubles.iter();
        troubles.map(|trouble| format!("{trouble}; the CPU has finished the rest"))
    }

    /// How long the parts of the work on the GPU took, if there is one.
    pub fn phases(&self) -> Option<Phases> {
        let accelerator = &self.stage.strands()?.placement().accelerator;
        accelerator.as_ref().map(|lent| lent.fleet().phases())
    }

    /// All warnings to report after it.
    pub fn warnings(&self) -> Vec<String> {
        let refusal = self.refusal().map(|refusal| refusal.warning(""));
        let target = refusal.into_iter().chain(self.absence());
        let meshes = self.images.mesh_notes().iter().cloned();
        let all = target.chain(self.troubles()).chain(meshes);
        all.chain(self.missed()).collect()
    }

    /// Warnings about images and meshes that it never probed inside.
    pub fn missed(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (images, interface) = (&self.images, &self.program.interface);
        // What a GPU probes is not known here.
        let has_run_here = self.steps() > 0 && self.phases().is_none();
        let sought = match self.stage.strands().filter(|_| has_run_here) {
            Some(strands) => self.program.sought(&|slot| strands.holds(slot)),
            None => Vec::new(),
        };
        for missed in images.missed(&sought) {
            let image = interface.loaded_image(missed.image);
            let of_input = |input: &&Input| input.target == InputTarget::Image(image as u32);
            let name = match interface.inputs.iter().find(of_input) {
                Some(input) => format!("`{}`", input.name),
                None => interface.images[image].file.clone().unwrap_or_default(),
            };
            let span = missed.span.map(|(start, end)| {
                format!("its frames are from {} s to {} s", short(start), short(end))
            });
            let warning = match span {
                Some(span) if missed.only_in_time => {
                    format!("no probe was at a time of the image {name}; {span}")
                }
                Some(span) => format!("{}, and {span}", outside("image", &name, &missed.world_box)),
                None => outside("image", &name, &missed.world_box),
            };
            // An image may have been smoothed at several scales.
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        for (name, extents) in images.missed_meshes() {
            warnings.push(outside("mesh", name, &extents));
        }
        for (name, count) in images.unresolved_meshes() {
            warnings.push(format!(
                "in {count} searches a curved cell of {name} may have contained a position, but it was not found there"
            ));
        }
        warnings
    }
}

fn outside(what: &str, name: &str, extents: &[(f64, f64)]) -> String {
    let side = |(low, high): &(f64, f64)| format!("[{}, {}]", short(*low), short(*high));
    let sides = extents.iter().map(side);
    let sides: Vec<String> = sides.collect();
    let sides = sides.join(" × ");
    format!("no probe was inside the {what} {name}; its world box is {sides}")
}
