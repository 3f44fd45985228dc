//! Which images and meshes were probed, by GPUs and on all ranks together: rank 0 tells the user about those that every probe missed.

use super::{Failure, Run, images::Images};
use crate::front::codes;
use runtime::{
    cluster::{
        Topic,
        wire::{Reader, put},
    },
    grid::BoxBits,
    probe::ContactFacts,
};
use std::{array, iter};

impl Run {
    /// Lets rank 0 know which images and meshes were probed on GPUs and on the other ranks.
    ///
    /// # Errors
    /// A rank has left.
    pub(super) fn share_contacts(&self) -> Result<(), Failure> {
        let strands = self.stage.strands();
        if let Some(lent) = strands.and_then(|strands| strands.placement().accelerator.as_ref()) {
            self.images.learn_of_machine(&lent.fleet().contacts());
        }
        let Some(team) = self.workers.team() else {
            return Ok(());
        };
        let mut mine = Vec::new();
        let known = self.images.take_contacts();
        known.into_iter().for_each(|fact| put(&mut mine, fact));
        let parts = team.gather(Topic::Probes, mine);
        let parts = parts.map_err(|lost| Failure::new(codes::CLUSTER, lost))?;
        if team.is_root() {
            for part in &parts {
                let mut reader = Reader(part.bytes());
                self.images
                    .learn_contacts(&mut || reader.number().unwrap_or(0));
            }
        }
        Ok(())
    }
}

impl Images {
    /// Gives away the facts about the probes of all fields and meshes.
    fn take_contacts(&self) -> Vec<u64> {
        let of_fields = self.contacts().into_iter();
        let of_fields = of_fields.flat_map(|ContactFacts { facts, asked }| {
            iter::once(u64::from(facts)).chain(asked.into_iter().flatten())
        });
        let of_meshes = self.all_meshes().iter().flat_map(|mesh| {
            let (facts, asked) = mesh.take_contact();
            facts.into_iter().chain(asked.into_iter().flatten())
        });
        of_fields.chain(of_meshes).collect()
    }

    /// Takes over the facts of a rank, number by number.
    fn learn_contacts(&self, next: &mut dyn FnMut() -> u64) {
        let mut known = self.contacts();
        for known in &mut known {
            known.facts = next() as u8;
            known.asked = read_box(next);
        }
        self.learn_field_contacts(&known);
        for mesh in self.all_meshes() {
            mesh.learn_contact([next(), next(), next()], read_box(next));
        }
    }
}

fn read_box(next: &mut dyn FnMut() -> u64) -> BoxBits {
    array::from_fn(|_| array::from_fn(|_| next()))
}
