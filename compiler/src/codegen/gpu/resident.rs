//! Strands that stay on the machine between super-steps: their states are copied only where they change here or are wanted
//! here.

use super::{
    driver::DriverError,
    launch::{Accelerator, Room},
    memory::{words_as_bytes, words_as_bytes_mut},
};
use runtime::world::{Batch, fate};
use std::{
    borrow::Cow,
    ops::Range,
    sync::PoisonError,
    time::{Duration, Instant},
};

impl Accelerator {
    /// Runs all strands one super-step. Their fates are read only if one of them has changed.
    pub(super) fn step(
        &self,
        batch: &mut Batch<'_>,
        cells: &[u64],
        spent: &mut Duration,
    ) -> Result<(), DriverError> {
        let mut kept = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = match self.grow(&mut kept, batch)? {
            true => std::iter::once(0..batch.blocks()).collect(),
            false => batch.changed(),
        };
        let room = kept.as_mut().expect("it has grown");
        if let (Some(near), Some(kernel)) = (&mut room.near, self.kernel.near) {
            if batch.reordered || changed.first() == Some(&(0..batch.blocks())) {
                let ranks = words_as_bytes(batch.ranks);
                self.machine.write(near.ranks.address, ranks)?;
            }
            near.edge
                .get_or_insert_with(|| self.guess_edge(kernel, batch));
        }
        let unit = batch.stride;
        let state = |run: Range<usize>| Cow::from(&batch.state[run.start * unit..run.end * unit]);
        room.state.put(unit, &changed, state)?;
        let fates = |run| Cow::from(words_as_bytes(&batch.told(run)).to_vec());
        let of_block = batch.width * size_of::<u32>();
        room.fates.put(of_block, &changed, fates)?;
        let slots = batch.blocks() * batch.width;
        batch.began = true;
        let (flags, time) = self.launch(room, slots, 1, cells)?;
        *spent += time;
        if let Some(near) = &mut room.near
            && flags.radius > 0.0
        {
            near.edge = Some(flags.radius);
        }
        if flags.happened {
            batch.fates = vec![fate::IDLE; slots];
            let words = words_as_bytes_mut(&mut batch.fates);
            self.machine.read(room.fates.address, words)?;
        }
        Ok(())
    }

    /// Makes room for all strands, with some to spare for those that will be made; says whether all of them have to be
    /// written there.
    fn grow(&self, kept: &mut Option<Room>, batch: &mut Batch<'_>) -> Result<bool, DriverError> {
        let blocks = batch.blocks();
        if kept.as_ref().is_some_and(|room| room.blocks >= blocks) {
            return Ok(false);
        }
        let spare = if kept.is_some() { blocks / 2 } else { 0 };
        // The old room stays until nothing can fail any more: it has the only copy of some states.
        let mut larger = self.room_for(blocks + spare, batch)?;
        if let Some(room) = kept {
            if let (Some(old), Some(new)) = (&room.near, &mut larger.near) {
                new.edge = old.edge;
            }
            let away = batch.away();
            room.state.get(batch.stride, &away, batch.state)?;
        }
        *kept = Some(larger);
        Ok(true)
    }

    /// Copies the states of some blocks from the machine.
    ///
    /// # Errors
    /// They are lost.
    pub fn bring_back(
        &self,
        batch: &mut Batch<'_>,
        blocks: &[Range<usize>],
    ) -> Result<(), DriverError> {
        let start = Instant::now();
        let kept = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(room) = kept.as_ref() else {
            return Err(nothing_there());
        };
        let copied = room.state.get(batch.stride, blocks, batch.state);
        self.took(start, Duration::ZERO);
        copied
    }

    /// Copies the published state of all blocks from the machine.
    ///
    /// # Errors
    /// It is lost.
    pub fn bring_published(&self, batch: &mut Batch<'_>) -> Result<(), DriverError> {
        let start = Instant::now();
        let kept = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(near) = kept.as_ref().and_then(|room| room.near.as_ref()) else {
            return Err(nothing_there());
        };
        let copied = match batch.published.is_empty() {
            true => Ok(()),
            false => self.machine.read(near.published.address, batch.published),
        };
        self.took(start, Duration::ZERO);
        copied
    }
}

fn nothing_there() -> DriverError {
    DriverError::new("copying from the GPU", "nothing is there")
}
