//! Remarks about a run: its length, notes about its images, the processor that ran it, and images and meshes that it never probed
//! inside.

use super::{Length, Refusal, Run, devices::Devices, stage::Stage};
use crate::{
    codegen::gpu::Phases,
    ir::interface::{Input, InputTarget},
};
use runtime::{
    image::Note,
    print::short,
    world::{Exchanges, ShareTimes},
};

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

    /// Notes for the user about samples that were loaded on demand, after the run.
    pub fn findings(&self) -> Vec<Note> {
        self.images.findings()
    }

    /// The reason why strands run on the CPU although a GPU was requested.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.stage.strands()?.placement().refusal.as_ref()
    }

    /// The warning that the CPU runs the strands because there is no GPU although one was requested, or that some ranks have none.
    pub fn absence(&self) -> Option<String> {
        self.stage.strands()?.placement().absence.clone()
    }

    /// The GPUs of all ranks that run the strands, in words; nothing if there is one rank.
    pub fn gpus_of_ranks(&self) -> Vec<String> {
        let strands = self.stage.strands();
        let devices = strands.and_then(|strands| strands.placement().devices.as_ref());
        devices.map(Devices::list).unwrap_or_default()
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

    /// Notes about what ranks have told each other of strands that they ran together super-step by super-step.
    pub fn exchanged(&self) -> Vec<String> {
        let (Stage::Kept(world), Some(team)) = (&self.stage, self.workers.team()) else {
            return Vec::new();
        };
        let Exchanges {
            shares,
            complete,
            ghosts,
            waits,
            most_ghosts,
        } = world.exchanges();
        if shares == 0 {
            return Vec::new();
        }
        let sent = team.sent();
        let mut notes = vec![format!(
            "rank 0 sent {sent} bytes; strands were shared out {shares} times, and all states exchanged {complete} times; \
             {ghosts} strands were shown to other ranks, and {waits} had to wait"
        )];
        let ShareTimes {
            strands,
            ghosts: bringing,
            index,
            facts,
            shares: sharing,
        } = world.share_times();
        notes.push(format!(
            "rank 0 spent {strands:.1?} on its own strands, {bringing:.1?} on those of others that they may look at, {index:.1?} on \
             their order in space, {facts:.1?} on news from other ranks, and {sharing:.1?} on sharing strands out"
        ));
        if 2 * ghosts > most_ghosts {
            notes.push(
                "strands look so far that most of them had to be shown to every rank, so more ranks make little difference"
                    .to_string(),
            );
        }
        notes
    }

    /// All warnings to report after it.
    pub fn warnings(&self) -> Vec<String> {
        let refusal = self.refusal().map(|refusal| refusal.warning(""));
        let target = refusal.into_iter().chain(self.absence());
        let meshes = self.images.mesh_notes().iter().cloned();
        let findings = self.findings().into_iter().map(|note| note.to_string());
        let all = target.chain(self.troubles()).chain(meshes).chain(findings);
        all.chain(self.missed()).collect()
    }

    /// Warnings about images and meshes that it never probed inside.
    pub fn missed(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (images, interface) = (&self.images, &self.program.interface);
        let sought = match self.stage.strands().filter(|_| self.steps() > 0) {
            Some(strands) => self.program.sought(&|slot| strands.holds(slot)),
            None => Vec::new(),
        };
        let mut missed_images = images.missed(&sought);
        let is_unknown = missed_images.iter().any(|missed| missed.asked.is_none())
            || images
                .missed_meshes()
                .any(|(_, mesh)| mesh.asked().is_none());
        if is_unknown && self.is_readable() {
            images.find_asked(|| self.retrace());
            missed_images = images.missed(&sought);
        }
        let whose = match images.knows_all_asked() {
            true => "the",
            false => "some",
        };
        for missed in missed_images {
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
                _ => {
                    let asked = (whose, missed.asked.as_deref());
                    outside("image", &name, &missed.world_box, span, asked)
                }
            };
            // An image may have been smoothed at several scales.
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        for (name, mesh) in images.missed_meshes() {
            let (extents, asked) = (mesh.world_box(), mesh.asked());
            let asked = (whose, asked.as_deref());
            warnings.push(outside("mesh", name, &extents, None, asked));
        }
        for (name, count) in images.unresolved_meshes() {
            warnings.push(format!(
                "in {count} searches a curved cell of {name} may have contained a position, but it was not found there"
            ));
        }
        warnings
    }
}

fn outside(
    what: &str,
    name: &str,
    extents: &[(f64, f64)],
    span: Option<String>,
    (probes, asked): (&str, Option<&[(f64, f64)]>),
) -> String {
    let sides = in_sides(extents);
    let mut text = format!("no probe was inside the {what} {name}; its world box is {sides}");
    if let Some(span) = span {
        text = format!("{text}, and {span}");
    }
    if let Some(asked) = asked {
        text = format!(
            "{text}; the positions of {probes} probes were in {}",
            in_sides(asked)
        );
    }
    text
}

fn in_sides(extents: &[(f64, f64)]) -> String {
    let side = |(low, high): &(f64, f64)| format!("[{}, {}]", short(*low), short(*high));
    let sides: Vec<String> = extents.iter().map(side).collect();
    sides.join(" × ")
}
