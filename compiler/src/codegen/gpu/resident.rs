//! Strands that stay on the machine between super-steps: their states are copied only where they change here or are wanted
//! here.

use super::{
    driver::DriverError,
    launch::{Accelerator, Room},
    memory::{words_as_bytes, words_as_bytes_mut},
    results::Returning,
};
use runtime::world::{Batch, fate};
use std::{
    borrow::Cow,
    ops::Range,
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

impl Accelerator {
    /// Runs all strands one super-step. Their fates are read only if one of them has changed.
    pub(super) fn step(
        &self,
        batch: &mut Batch<'_>,
        (cells, strings): (&[u64], &[Arc<str>]),
        spent: &mut Duration,
    ) -> Result<(), DriverError> {
        let mut kept = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let are_all = self.grow(&mut kept, batch)?;
        let changed = match are_all {
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
        let slots = room.blocks * batch.width;
        let sent = self.send_sequences(batch, &changed, (room, slots, are_all))?;
        let state = |run: Range<usize>| match sent.get(&run.start) {
            Some(states) => Cow::from(states),
            None => Cow::from(&batch.state[run.start * unit..run.end * unit]),
        };
        room.state.put(unit, &changed, state)?;
        let fates = |run| Cow::from(words_as_bytes(&batch.told(run)).to_vec());
        let of_block = batch.width * size_of::<u32>();
        room.fates.put(of_block, &changed, fates)?;
        let slots = batch.blocks() * batch.width;
        self.open_events(room, batch, strings);
        batch.began = true;
        let (flags, time) = self.launch_all(room, slots, (1, true), cells)?;
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
            if self.kernel.keeps_lists() {
                forget_dead(batch);
            }
        }
        self.tell_events(room, batch, strings);
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
        let mut larger = self.room_for(blocks + spare)?;
        if let Some(room) = kept {
            if let (Some(old), Some(new)) = (&room.near, &mut larger.near) {
                new.edge = old.edge;
            }
            let away = batch.away();
            self.fetch(room, batch, &away)?;
            larger.events = std::mem::take(&mut room.events);
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
        let copied = self.fetch(room, batch, blocks);
        self.took(start, Duration::ZERO);
        copied
    }

    /// Copies the states of some blocks from a room.
    fn fetch(
        &self,
        room: &Room,
        batch: &mut Batch<'_>,
        blocks: &[Range<usize>],
    ) -> Result<(), DriverError> {
        if !self.kernel.keeps_lists() {
            return room.state.get(batch.stride, blocks, batch.state);
        }
        for run in blocks {
            let mut fates = vec![fate::IDLE; run.len() * batch.width];
            let strands = Returning {
                state: &mut batch.state[run.start * batch.stride..run.end * batch.stride],
                fates: &mut fates,
                width: batch.width,
            };
            let sequences = batch.sequences.after(run.start);
            self.take_sequences(strands, None, (sequences, room, run.start))?;
        }
        Ok(())
    }

    /// Copies the published state of all blocks from the machine.
    ///
    /// # Errors
    /// It is lost.
    pub fn bring_published(&self, batch: &mut Batch<'_>) -> Result<(), DriverError> {
        let start = Instant::now();
        let kept = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(room) = kept.as_ref() else {
            return Err(nothing_there());
        };
        let copied = match &room.near {
            Some(near) if !batch.published.is_empty() => {
                self.machine.read(near.published.address, batch.published)
            }
            // No strand looks at others: every query of the program was found to be useless when its kernel was made.
            _ => Ok(()),
        };
        self.took(start, Duration::ZERO);
        copied
    }
}

/// Frees the sequences that strands had here before they died there.
fn forget_dead(batch: &mut Batch<'_>) {
    let sequences = batch.sequences;
    let mut keeper = sequences.keeper(0);
    let blocks = batch.state.chunks_exact_mut(batch.stride);
    for (block, (state, fates)) in blocks.zip(batch.fates.chunks(batch.width)).enumerate() {
        let alive = sequences.alive(block);
        let has_died =
            |lane: &usize| fate::kind(fates[*lane]) == fate::DEAD && alive >> lane & 1 == 1;
        (0..batch.width)
            .filter(has_died)
            .for_each(|lane| keeper.clear(state, lane));
    }
}

fn nothing_there() -> DriverError {
    DriverError::new("copying from the GPU", "nothing is there")
}
