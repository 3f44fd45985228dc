//! Strands that are made on a machine, run to their ends there and are forgotten: only values come back that were asked for.

use super::{
    driver::DriverError,
    header::Header,
    kernel::{Cell, Kernel, WORD},
    launch::{Accelerator, Room},
    memory::{Memory, PART, on_threads, words_as_bytes, words_as_bytes_mut},
};
use runtime::world::{Job, fate};
use std::{
    mem::MaybeUninit,
    ops::Range,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// What strands that are made on a machine need beside room for their states; kept for the next ones.
pub(super) struct Nursery {
    /// How many values each iterator has.
    sizes: Vec<usize>,
    /// The rank of the strand in each place.
    ranks: Memory,
    /// Whether these are the ranks of all strands, and not of those that were made last.
    has_all_ranks: bool,
    /// The bytes of an array for each variable that is asked for, and the array.
    arrays: Vec<(usize, Memory)>,
}

/// The scalars of the variables that are asked for, by their numbers in the state: as strands begin, and as they end.
struct Asked {
    initial: Vec<Range<usize>>,
    outputs: Vec<Range<usize>>,
}

/// The handles of entry points.
#[derive(Clone, Copy)]
struct Entries {
    create: u64,
    tally: u64,
    spread: u64,
}

impl Accelerator {
    /// Makes all strands of a job and runs them to their ends. `slots` gives the scalars of a variable, and `value` the cells as for
    /// [`Accelerator::run`]. False if this machine cannot do that.
    ///
    /// # Errors
    /// The machine failed. Nothing is known of the strands then.
    pub fn make_and_run(
        &self,
        job: &mut Job<'_>,
        slots: &dyn Fn(usize) -> Option<Range<usize>>,
        value: &dyn Fn(Cell) -> u64,
    ) -> Result<bool, DriverError> {
        let entries = [Kernel::CREATE, Kernel::TALLY, Kernel::SPREAD].map(|name| self.entry(name));
        let [Some(create), Some(tally), Some(spread)] = entries else {
            return Ok(false);
        };
        let entries = Entries {
            create,
            tally,
            spread,
        };
        let known = |(variable, values): &(usize, &mut [MaybeUninit<u8>])| {
            let slots = slots(*variable).filter(|slots| self.are_numbers(slots))?;
            let bytes = job.strands * slots.len() * self.kernel.number();
            (values.len() == bytes).then_some(slots)
        };
        let [initial, outputs] =
            [&job.initial, &job.outputs].map(|asked| asked.iter().map(known).collect());
        let (Some(initial), Some(outputs)) = (initial, outputs) else {
            return Ok(false);
        };
        let start = Instant::now();
        let mut spent = Duration::ZERO;
        let cells = self.cells(value);
        let asked = Asked { initial, outputs };
        let ran = self.in_bands(job, &asked, entries, &cells, &mut spent);
        self.noticed(start, spent, ran).map(|()| true)
    }

    /// Makes and runs as many strands at a time as there should be, and brings the values back.
    fn in_bands(
        &self,
        job: &mut Job<'_>,
        asked: &Asked,
        entries: Entries,
        cells: &[u64],
        spent: &mut Duration,
    ) -> Result<(), DriverError> {
        let width = self.kernel.lanes.width;
        let per_band = (self.machine.strands_at_a_time() / width).max(1) * width;
        let mut nursery = self.nursery.lock().unwrap_or_else(PoisonError::into_inner);
        let nursery = self.ready(&mut nursery, job, asked, per_band)?;
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let ranks = (!nursery.has_all_ranks).then(|| (job.ranks)());
        for first in (0..job.places).step_by(per_band) {
            let places = first..job.places.min(first + per_band);
            if let Some(ranks) = &ranks {
                let here = words_as_bytes(&ranks[places.clone()]);
                self.machine.write(nursery.ranks.address, here)?;
                nursery.has_all_ranks = places.len() == job.places;
            }
            let room = self.roomy(&mut room, places.len() / width)?;
            *spent += self.band_of_job(job, places, asked, (nursery, room), entries, cells)?;
        }
        let values = job.initial.iter_mut().chain(&mut job.outputs);
        for ((_, values), (_, array)) in values.zip(&nursery.arrays) {
            self.take_values(array.address, values)?;
        }
        Ok(())
    }

    /// Makes and runs the strands of some places; gives the time of the kernels.
    fn band_of_job(
        &self,
        job: &mut Job<'_>,
        places: Range<usize>,
        asked: &Asked,
        (nursery, room): (&Nursery, &mut Room),
        entries: Entries,
        cells: &[u64],
    ) -> Result<Duration, DriverError> {
        self.send_more(room, cells)?;
        let header = Header {
            state: room.state.address,
            fates: room.fates.address,
            ranks: nursery.ranks.address,
            more: room.more.address,
            count: places.len() as u32,
            bits: job.strands as u32,
            ..Header::default()
        };
        let parameters = self.kernel.parameters(&header, cells);
        let mut spent = (self.machine).launch(&[(entries.create, header.count)], &parameters)?;
        let (initial, outputs) = nursery.arrays.split_at(asked.initial.len());
        let ranks = (&nursery.ranks, places.len());
        for (slots, (_, array)) in asked.initial.iter().zip(initial) {
            spent += self.spread(entries.spread, room, ranks, slots, array)?;
        }
        let is_over = || job.is_over();
        spent += self.run_to_end(room, places.len(), (u64::MAX, &is_over), cells)?;
        let (most, time) = self.stable(entries.tally, room, header.count)?;
        spent += time;
        match most.filter(|_| places.len() == job.places) {
            Some(most) => job.steps = most.into(),
            None => {
                job.fates.resize(job.places, fate::IDLE);
                let fates = words_as_bytes_mut(&mut job.fates[places]);
                self.machine.read(room.fates.address, fates)?;
            }
        }
        for (slots, (_, array)) in asked.outputs.iter().zip(outputs) {
            spent += self.spread(entries.spread, room, ranks, slots, array)?;
        }
        Ok(spent)
    }

    /// The most super-steps of the first strands of a room, if all of them are stable; and the time that this took. It saves the copy of
    /// their fates.
    fn stable(
        &self,
        tally: u64,
        room: &Room,
        count: u32,
    ) -> Result<(Option<u32>, Duration), DriverError> {
        let mut flags = [0u32; Header::FLAG_COUNT];
        self.machine
            .write(room.flags.address, words_as_bytes(&flags))?;
        let header = Header {
            fates: room.fates.address,
            flags: room.flags.address,
            count,
            ..Header::default()
        };
        let cells = vec![0; self.kernel.cells.len()];
        let parameters = self.kernel.parameters(&header, &cells);
        let time = self.machine.launch(&[(tally, count)], &parameters)?;
        let found = words_as_bytes_mut(&mut flags);
        self.machine.read(room.flags.address, found)?;
        let [others, most] = [Header::LEFT, Header::MOST_STEPS].map(|flag| flags[flag / WORD]);
        Ok(((others == 0).then_some(most), time))
    }

    /// The memory for a job: the one that is kept, if it is for strands like these.
    fn ready<'n>(
        &self,
        kept: &'n mut Option<Nursery>,
        job: &Job<'_>,
        asked: &Asked,
        per_band: usize,
    ) -> Result<&'n mut Nursery, DriverError> {
        // Places without a strand have the rank behind the last.
        let bytes = |slots: &Range<usize>| (job.strands + 1) * slots.len() * self.kernel.number();
        let bytes: Vec<usize> = (asked.initial.iter().chain(&asked.outputs))
            .map(bytes)
            .collect();
        let suits = |nursery: &Nursery| {
            let arrays = nursery.arrays.iter().map(|(bytes, _)| bytes);
            nursery.sizes == job.sizes && arrays.eq(&bytes)
        };
        if !kept.as_ref().is_some_and(suits) {
            // The smaller memory is freed first.
            *kept = None;
            let array = |bytes| Ok((bytes, Memory::new(&self.machine, bytes)?));
            let places = job.places.min(per_band);
            *kept = Some(Nursery {
                sizes: job.sizes.to_vec(),
                ranks: Memory::new(&self.machine, places * size_of::<u32>())?,
                has_all_ranks: false,
                arrays: bytes.into_iter().map(array).collect::<Result<_, _>>()?,
            });
        }
        Ok(kept.as_mut().expect("there is one now"))
    }

    /// Copies values from an address, in parts: while one is on its way, others are put in their places.
    fn take_values(&self, address: u64, values: &mut [MaybeUninit<u8>]) -> Result<(), DriverError> {
        let threads = values.len().div_ceil(PART);
        let parts = Mutex::new((address..).step_by(PART).zip(values.chunks_mut(PART)));
        let take_some = || {
            let mut here = vec![0; PART];
            loop {
                let next = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((from, part)) = next else {
                    return Ok(());
                };
                let here = &mut here[..part.len()];
                self.machine.read(from, here)?;
                part.write_copy_of_slice(here);
            }
        };
        on_threads(threads, take_some)
    }
}
