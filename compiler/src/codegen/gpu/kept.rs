//! Results that stay on a machine, for programs that go on with them there: an array for each output, in the order of strands.

use super::{
    driver::DriverError,
    header::Header,
    kernel::Kernel,
    launch::{Accelerator, Machine, Room},
    memory::{Memory, words_as_bytes},
};
use runtime::world::{Batch, fate};
use std::{fmt, ops::Range, sync::Arc, time::Duration};

/// Outputs on a machine.
pub struct KeptResults {
    /// The scalars of each output, by their numbers in the state, and its array.
    arrays: Vec<(Range<usize>, Memory)>,
    machine: Arc<dyn Machine>,
    /// Bytes of a number.
    number: usize,
}

impl fmt::Debug for KeptResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeptResults({} outputs)", self.arrays.len())
    }
}

impl KeptResults {
    fn array(&self, slots: &Range<usize>) -> Option<&Memory> {
        let found = self.arrays.iter().find(|(known, _)| known == slots);
        found.map(|(_, memory)| memory)
    }

    /// The address of the output with these scalars, if it was kept.
    pub fn address(&self, slots: &Range<usize>) -> Option<u64> {
        self.array(slots).map(|memory| memory.address)
    }

    /// Bytes of a number.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The machine that has them.
    pub fn machine(&self) -> &Arc<dyn Machine> {
        &self.machine
    }

    /// The numbers of the output with these scalars, of the first strands, as bytes. Nothing if it was not kept.
    ///
    /// # Errors
    /// The machine is lost.
    pub fn read(
        &self,
        slots: &Range<usize>,
        strands: usize,
    ) -> Result<Option<Vec<u8>>, DriverError> {
        let Some(memory) = self.array(slots) else {
            return Ok(None);
        };
        let mut bytes = vec![0; strands * slots.len() * self.number];
        self.machine.read(memory.address, &mut bytes)?;
        Ok(Some(bytes))
    }
}

/// Whether results stay on a machine.
#[derive(Debug, Default)]
pub(super) enum Keeping {
    /// They come back.
    #[default]
    No,
    /// The outputs with these scalars are to stay in the next run.
    Asked(Vec<Range<usize>>),
    /// They have stayed.
    Kept(Arc<KeptResults>),
}

impl Accelerator {
    /// Lets the outputs with these scalars of the state stay on the machine in the next run, if all strands become stable.
    pub fn keep(&self, outputs: Vec<Range<usize>>) {
        *self.keeping() = Keeping::Asked(outputs);
    }

    /// Whether results are to stay.
    pub fn keeps(&self) -> bool {
        !matches!(*self.keeping(), Keeping::No)
    }

    /// The results that have stayed in the last run.
    pub fn kept(&self) -> Option<Arc<KeptResults>> {
        match &*self.keeping() {
            Keeping::Kept(kept) => Some(Arc::clone(kept)),
            Keeping::No | Keeping::Asked(_) => None,
        }
    }

    /// Whether these scalars of the state can be [spread](Accelerator::spread).
    pub(super) fn are_numbers(&self, slots: &Range<usize>) -> bool {
        let mut planes = self.kernel.planes[slots.clone()].iter();
        planes.all(|plane| plane.stride == self.kernel.number() && !plane.is_handle)
    }

    /// Puts scalars of strands into an array, in the order of strands. For each of the first places of a room, `ranks` has the rank of its
    /// strand.
    ///
    /// # Errors
    /// The machine is lost.
    pub(super) fn spread(
        &self,
        entry: u64,
        room: &Room,
        (ranks, places): (&Memory, usize),
        slots: &Range<usize>,
        array: &Memory,
    ) -> Result<Duration, DriverError> {
        let number = self.kernel.number();
        let mut spent = Duration::ZERO;
        for (n, slot) in slots.clone().enumerate() {
            let header = Header {
                state: room.state.address + self.kernel.planes[slot].offset as u64,
                ranks: ranks.address,
                places: array.address + (n * number) as u64,
                count: places as u32,
                steps: self.kernel.stride as u32,
                bits: self.kernel.lanes.width as u32,
                chunks: (slots.len() * number) as u32,
                ..Header::default()
            };
            let cells = vec![0; self.kernel.cells.len()];
            let parameters = self.kernel.parameters(&header, &cells);
            spent += self.machine.launch(&[(entry, header.count)], &parameters)?;
        }
        Ok(spent)
    }

    /// Keeps the results of a batch, the fates of whose strands are `words`, if that was asked for, these are all, and all are stable.
    ///
    /// # Errors
    /// The machine is lost, or has too little memory.
    pub(super) fn keep_results(
        &self,
        batch: &Batch<'_>,
        words: &[u32],
        room: &Room,
        spent: &mut Duration,
    ) -> Result<bool, DriverError> {
        let mut keeping = self.keeping();
        let (Keeping::Asked(outputs), Some(entry)) = (&*keeping, self.entry(Kernel::SPREAD)) else {
            return Ok(false);
        };
        let number = self.kernel.number();
        let is_there = |word: &u32| fate::kind(*word) != fate::IDLE;
        let is_stable = |word: &u32| fate::kind(*word) == fate::STABLE || !is_there(word);
        let is_all = words.len() == batch.blocks() * batch.width && words.iter().all(is_stable);
        if !is_all || !outputs.iter().all(|slots| self.are_numbers(slots)) {
            return Ok(false);
        }
        // Places without a strand have the number after the last.
        let strands = words.iter().filter(|word| is_there(word)).count();
        let ranks: Vec<u32> = (words.iter().zip(batch.ranks))
            .map(|(word, &rank)| if is_there(word) { rank } else { strands as u32 })
            .collect();
        let places = Memory::new(&self.machine, size_of_val(&ranks[..]))?;
        self.machine.write(places.address, words_as_bytes(&ranks))?;
        let mut arrays = Vec::new();
        for slots in outputs {
            let memory = Memory::new(&self.machine, (strands + 1) * slots.len() * number)?;
            *spent += self.spread(entry, room, (&places, ranks.len()), slots, &memory)?;
            arrays.push((slots.clone(), memory));
        }
        *keeping = Keeping::Kept(Arc::new(KeptResults {
            arrays,
            machine: Arc::clone(&self.machine),
            number,
        }));
        Ok(true)
    }
}
