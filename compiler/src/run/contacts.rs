//! Which images and meshes were probed, on all ranks together: rank 0 tells the user about those that every probe missed.

use super::{Failure, Run, images::Images};
use crate::front::codes;
use runtime::cluster::{
    Topic,
    wire::{Reader, put},
};

impl Run {
    /// Lets rank 0 know which images and meshes were probed on the other ranks.
    ///
    /// # Errors
    /// A rank has left.
    pub(super) fn share_contacts(&self) -> Result<(), Failure> {
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
        let of_fields = self.contacts().into_iter().map(u64::from);
        let of_meshes = self
            .all_meshes()
            .iter()
            .flat_map(|mesh| mesh.take_contact());
        of_fields.chain(of_meshes).collect()
    }

    /// Takes over the facts of a rank, number by number.
    fn learn_contacts(&self, next: &mut dyn FnMut() -> u64) {
        let of_fields: Vec<u8> = self.contacts().iter().map(|_| next() as u8).collect();
        self.learn_field_contacts(&of_fields);
        for mesh in self.all_meshes() {
            mesh.learn_contact([next(), next(), next()]);
        }
    }
}
