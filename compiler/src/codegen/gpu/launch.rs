//! Runs strands by a kernel: memory of the device, launches, and what becomes of the strands.

use super::{
    contacts::Contacts,
    driver::DriverError,
    events::EventRoom,
    header::Header,
    kept::Keeping,
    kernel::{Cell, Kernel, Near, PARAMETER_CELLS},
    memory::{Memory, words_as_bytes, words_as_bytes_mut},
    meshes::{MeshData, MeshRoom},
    near::NearRoom,
    nursery::Nursery,
    results::Returning,
    samples::Samples,
    sequences::{Common, Heap},
    times::Intervals,
};
use crate::ir::leaf::ImageInfo;
use runtime::world::{Batch, fate};
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Strands that keep any machine busy for long.
pub(super) const MANY: usize = 1 << 22;

/// A machine that runs kernels. The driver is one; tests have another.
pub trait Machine: Send + Sync + fmt::Debug {
    /// Strands that it should have at a time when they run to their ends: states of more would take much of its memory.
    fn strands_at_a_time(&self) -> usize {
        MANY
    }

    /// Its number among the machines of its kind.
    fn number(&self) -> usize {
        0
    }

    /// Loads a kernel, and gives the handles of its entry points. A kernel that was loaded before is found again.
    ///
    /// # Errors
    /// The machine cannot run it.
    fn load(&self, kernel: &Kernel) -> Result<Vec<u64>, DriverError>;

    /// Takes memory.
    ///
    /// # Errors
    /// There is not enough memory.
    fn allocate(&self, bytes: usize) -> Result<u64, DriverError>;

    /// Bytes of memory that are free, or more if that is not known.
    fn free_bytes(&self) -> usize {
        usize::MAX
    }

    /// Gives memory back.
    fn free(&self, address: u64);

    /// Copies to the machine.
    ///
    /// # Errors
    /// The machine is lost.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), DriverError>;

    /// Copies from the machine.
    ///
    /// # Errors
    /// The machine is lost.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DriverError>;

    /// Runs entry points of a kernel one after the other, each in this many threads or a few more, all with the same
    /// parameters, and waits for them; gives how long they took.
    ///
    /// # Errors
    /// The machine is lost.
    fn launch(&self, entries: &[(u64, u32)], parameters: &[u8]) -> Result<Duration, DriverError>;
}

/// How long the parts of all runs took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Making the kernel ready.
    pub load: Duration,
    /// Copying images and states.
    pub transfer: Duration,
    /// Running the kernel.
    pub kernel: Duration,
}

/// Memory for strands, and for what a launch is given; kept for the next one.
pub(super) struct Room {
    pub(super) state: Memory,
    pub(super) fates: Memory,
    pub(super) flags: Memory,
    pub(super) more: Memory,
    /// The results of strands that have ended.
    pub(super) results: Memory,
    /// The values of strands for a reduction over them.
    pub(super) reduced: Memory,
    /// What strands need that look for each other.
    pub(super) near: Option<NearRoom>,
    /// The sequences of strands, if they have any.
    pub(super) heap: Option<Heap>,
    /// The events of strands that keep in step.
    pub(super) events: EventRoom,
    /// Blocks that there is room for.
    pub(super) blocks: usize,
}

/// What a launch found, as [`Header::flags`] has it.
#[derive(Clone, Copy)]
pub(super) struct Flags {
    /// Strands go on.
    pub(super) goes_on: bool,
    /// Strands wait for a larger heap.
    pub(super) is_short: bool,
    /// Strands ended, or are left to the CPU.
    pub(super) happened: bool,
    /// The largest radius that strands asked for, or 0.
    pub(super) radius: f64,
}

impl Flags {
    /// Those of a launch and of another before it, for strands that waited.
    pub(super) fn after(self, before: Flags) -> Flags {
        Flags {
            goes_on: self.goes_on || before.goes_on,
            happened: self.happened || before.happened,
            ..self
        }
    }
}

/// A program on a machine, with its images.
pub struct Accelerator {
    pub(super) machine: Arc<dyn Machine>,
    pub(super) kernel: Arc<Kernel>,
    handles: Vec<u64>,
    images: Vec<Option<Memory>>,
    /// The times of the images whose frames strands look for.
    times: Vec<Option<Intervals>>,
    meshes: Vec<MeshRoom>,
    contacts: Contacts,
    /// Bytes of a component of each image.
    planes: Vec<usize>,
    pub(super) room: Mutex<Option<Room>>,
    /// The memory for strands that are made there.
    pub(super) nursery: Mutex<Option<Nursery>>,
    phases: Mutex<Phases>,
    keeping: Mutex<Keeping>,
    /// The sequences of global variables that strands read.
    pub(super) common: Mutex<Common>,
}

/// Super-steps of the first launch.
const FIRST_STEPS: u32 = 1024;
/// A launch should not take longer: until it ends, the run cannot be stopped.
const LONG: Duration = Duration::from_millis(50);
/// A launch may take twice as many super-steps if it took no longer.
const SHORT: Duration = Duration::from_millis(20);

impl Accelerator {
    /// Why images and meshes like these cannot be probed by a kernel, in words.
    pub fn refuses(
        kernel: &Kernel,
        images: &[Samples<'_>],
        meshes: &[MeshData<'_>],
    ) -> Option<String> {
        for demand in &kernel.demands {
            let size = images[demand.image as usize].sizes[demand.axis];
            if !(demand.least..=demand.most).contains(&size) {
                return Some(format!(
                    "an image with {size} samples along axis {} is probed",
                    demand.axis
                ));
            }
        }
        if images.iter().any(|image| image.is_on_demand) {
            return Some("the samples of an image are loaded on demand".to_string());
        }
        let huge = images.iter().any(|image| image.count() >= 1 << 31);
        let huge = huge.then(|| "an image has 2^31 samples or more".to_string());
        let mut meshes = (0..).zip(meshes);
        huge.or_else(|| meshes.find_map(|(number, mesh)| mesh.refused(kernel, number)))
    }

    /// Makes a kernel ready and copies the images and meshes that it reads.
    ///
    /// # Errors
    /// The machine cannot run it, or has too little memory.
    pub fn new(
        machine: Arc<dyn Machine>,
        kernel: &Kernel,
        images: &[Samples<'_>],
        meshes: &[MeshData<'_>],
    ) -> Result<Accelerator, DriverError> {
        let start = Instant::now();
        let kernel = Arc::new(kernel.for_data(images, meshes));
        let handles = machine.load(&kernel)?;
        let load = start.elapsed();
        let start = Instant::now();
        let is_read = |n: usize| {
            let reads =
                |cell: &Cell| matches!(cell, Cell::Samples(image, _) if *image as usize == n);
            kernel.cells.iter().any(reads)
        };
        let bytes = kernel.lanes.bytes();
        let plane = |image: &Samples<'_>| image.count() * bytes;
        let mut accelerator = Accelerator {
            handles,
            images: Vec::new(),
            times: Vec::new(),
            meshes: Vec::new(),
            contacts: Contacts::new(&machine, images.len())?,
            planes: images.iter().map(plane).collect(),
            room: Mutex::new(None),
            nursery: Mutex::new(None),
            phases: Mutex::default(),
            keeping: Mutex::default(),
            common: Mutex::default(),
            machine,
            kernel: kernel.clone(),
        };
        let machine = &accelerator.machine;
        for (n, image) in images.iter().enumerate() {
            let pack = kernel.packs.iter().find(|pack| pack.image as usize == n);
            let memory = match pack.zip(accelerator.entry(Kernel::PACK)) {
                Some((pack, entry)) => Some(pack.copy(machine, &kernel, entry, image)),
                None => is_read(n).then(|| image.copy(machine, bytes)),
            };
            accelerator.images.push(memory.transpose()?);
            let is_searched = kernel.cells.contains(&Cell::Times(n as u32));
            let axis = image.time.filter(|_| is_searched);
            let times = axis.map(|axis| Intervals::copy(machine, axis, kernel.lanes.double));
            accelerator.times.push(times.transpose()?);
        }
        let copied = (0..).zip(meshes);
        let copied = copied.map(|(number, mesh)| MeshRoom::copy(machine, &kernel, number, mesh));
        accelerator.meshes = copied.collect::<Result<_, _>>()?;
        accelerator.phases = Mutex::new(Phases {
            load,
            transfer: start.elapsed(),
            ..Phases::default()
        });
        Ok(accelerator)
    }

    pub(super) fn keeping(&self) -> MutexGuard<'_, Keeping> {
        self.keeping.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of its machine.
    pub fn number(&self) -> usize {
        self.machine.number()
    }

    /// The same for another run: only that is timed, and its results come back. Memory that is claimed for events is given back.
    pub fn begin(&self) {
        let mut kept = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = kept.as_mut() {
            room.events = EventRoom::default();
        }
        *self.keeping() = Keeping::No;
        *self.phases.lock().unwrap_or_else(PoisonError::into_inner) = Phases::default();
    }

    /// How long everything took so far.
    pub fn phases(&self) -> Phases {
        *self.phases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether global code looks at states of strands that have to be on the CPU then.
    pub fn needs_states(&self) -> bool {
        self.kernel.needs_states
    }

    pub(super) fn took(&self, start: Instant, kernel: Duration) {
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        phases.kernel += kernel;
        phases.transfer += start.elapsed().saturating_sub(kernel);
    }

    /// Runs strands until they end or the limit is reached, or all together one super-step; `value` gives the cells that are
    /// not samples, and `strings` the strings by their numbers. If strands run to their ends and the machine fails, the strands that
    /// it has not finished are unchanged.
    ///
    /// # Errors
    /// The machine failed. If strands run to their ends, the state of every strand is known even then.
    pub fn run(
        &self,
        batch: &mut Batch<'_>,
        value: &dyn Fn(Cell) -> u64,
        strings: &[Arc<str>],
    ) -> Result<(), DriverError> {
        let mut cells = self.cells(value);
        let start = Instant::now();
        let mut kernel = Duration::ZERO;
        let sent = self.send_common(batch, value, &mut cells);
        let ran = sent.and_then(|()| match batch.independent {
            true => self.complete(batch, &cells, &mut kernel),
            false => self.step(batch, (&cells, strings), &mut kernel),
        });
        self.noticed(start, kernel, ran)
    }

    /// Ends a run.
    pub(super) fn noticed(
        &self,
        start: Instant,
        kernel: Duration,
        ran: Result<(), DriverError>,
    ) -> Result<(), DriverError> {
        let noticed = self.meshes.iter().try_for_each(MeshRoom::notice);
        self.took(start, kernel);
        ran.and(noticed)
    }

    /// The cells; `value` gives those that are not known here.
    pub(super) fn cells(&self, value: &dyn Fn(Cell) -> u64) -> Vec<u64> {
        self.kernel
            .cells
            .iter()
            .map(|&cell| match cell {
                Cell::Samples(image, component) => {
                    let memory = self.images[image as usize].as_ref();
                    let first = memory.expect("an image that is read").address;
                    let is_packed = self.kernel.packs.iter().any(|pack| pack.image == image);
                    let planes = if is_packed { 0 } else { u64::from(component) };
                    first + planes * self.planes[image as usize] as u64
                }
                Cell::SizeLess(image, axis, n) => {
                    let size = value(Cell::Image(image, ImageInfo::Size(axis))) as i64;
                    match self.kernel.lanes.double {
                        true => ((size - n) as f64).to_bits(),
                        false => ((size - n) as f32).to_bits().into(),
                    }
                }
                Cell::Intervals(image) => self.times(image).count(),
                Cell::Times(image) => self.times(image).address(),
                Cell::Mesh(mesh, cell) => self.meshes[mesh as usize].cell(cell),
                Cell::Contact(image) => self.contacts.address(image),
                other => value(other),
            })
            .collect()
    }

    /// Whether each image was probed so far, and whether one of these probes was inside.
    ///
    /// # Errors
    /// The machine failed.
    pub fn contacts(&self) -> Result<Vec<[bool; 2]>, DriverError> {
        self.contacts.read()
    }

    /// Forgets all probes.
    ///
    /// # Errors
    /// The machine failed.
    pub fn forget_contacts(&self) -> Result<(), DriverError> {
        self.contacts.forget()
    }

    fn times(&self, image: u32) -> &Intervals {
        let times = self.times[image as usize].as_ref();
        times.expect("the image of a field over time has times")
    }

    /// Runs strands to their ends, some at a time.
    fn complete(
        &self,
        batch: &mut Batch<'_>,
        cells: &[u64],
        spent: &mut Duration,
    ) -> Result<(), DriverError> {
        let blocks = batch.blocks();
        batch.fates = batch.told(0..blocks);
        let per_band = (self.machine.strands_at_a_time() / batch.width).max(1);
        for first in (0..blocks).step_by(per_band) {
            if batch.is_over() {
                break;
            }
            let band = first..blocks.min(first + per_band);
            if let Err(error) = self.band(batch, band, cells, spent) {
                let unfinished = |word: &&mut u32| matches!(**word, fate::RUNNING | fate::FRESH);
                let rest = &mut batch.fates[first * batch.width..];
                rest.iter_mut()
                    .filter(unfinished)
                    .for_each(|word| *word = fate::LEFT);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Runs the strands of some blocks.
    fn band(
        &self,
        batch: &mut Batch<'_>,
        blocks: std::ops::Range<usize>,
        cells: &[u64],
        spent: &mut Duration,
    ) -> Result<(), DriverError> {
        let machine = &self.machine;
        let bytes = blocks.start * batch.stride..blocks.end * batch.stride;
        let slots = blocks.start * batch.width..blocks.end * batch.width;
        let told = batch.fates[slots.clone()].iter();
        let stable = told.filter(|&&word| word == fate::STABLE).count() as u64;
        let mut kept = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let room = self.roomy(&mut kept, blocks.len())?;
        let all = std::slice::from_ref(&blocks);
        let sent = self.send_sequences(batch, all, (room, slots.len(), true))?;
        let states = sent.get(&blocks.start);
        let states = states.map_or(&batch.state[bytes], Vec::as_slice);
        machine.write(room.state.address, states)?;
        machine.write(
            room.fates.address,
            words_as_bytes(&batch.fates[slots.clone()]),
        )?;
        let is_over = || batch.is_over();
        *spent += self.run_to_end(room, slots.len(), (batch.limit, &is_over), cells)?;
        let mut words = vec![fate::IDLE; slots.len()];
        machine.read(room.fates.address, words_as_bytes_mut(&mut words))?;
        let is_kept = self.keep_results(batch, &words, room, spent)?;
        let state = &mut batch.state[blocks.start * batch.stride..blocks.end * batch.stride];
        let strands = Returning {
            state,
            fates: &mut batch.fates[slots.clone()],
            width: batch.width,
        };
        if is_kept {
            strands.fates.copy_from_slice(&words);
        } else if self.kernel.keeps_lists() {
            let sequences = batch.sequences.after(blocks.start);
            self.take_sequences(strands, Some(&words), (sequences, room, 0))?;
            words.copy_from_slice(&batch.fates[slots]);
        } else {
            self.take_back(strands, &words, room, spent)?;
        }
        let are = |kind| words.iter().filter(|&&w| fate::kind(w) == kind).count() as u64;
        let furthest = words.iter().map(|word| word >> fate::BITS).max();
        let furthest = furthest.unwrap_or(0).into();
        batch.advance(furthest, are(fate::STABLE) - stable, are(fate::DEAD));
        Ok(())
    }

    /// Room for this many blocks: the one that is kept, if it is large enough.
    pub(super) fn roomy<'r>(
        &self,
        kept: &'r mut Option<Room>,
        blocks: usize,
    ) -> Result<&'r mut Room, DriverError> {
        if kept.as_ref().is_none_or(|room| room.blocks < blocks) {
            // The smaller allocation is freed first.
            *kept = None;
            *kept = Some(self.room_for(blocks)?);
        }
        Ok(kept.as_mut().expect("there is one now"))
    }

    /// Runs the first strands of a room until none goes on, they have taken `limit` super-steps or the run `is_over`; gives the time
    /// of the kernels.
    pub(super) fn run_to_end(
        &self,
        room: &mut Room,
        strands: usize,
        (limit, is_over): (u64, &dyn Fn() -> bool),
        cells: &[u64],
    ) -> Result<Duration, DriverError> {
        let mut spent = Duration::ZERO;
        let (mut budget, mut done) = (FIRST_STEPS, 0);
        while done < limit && !is_over() {
            let steps = u32::try_from(limit - done).map_or(budget, |left| left.min(budget));
            done += u64::from(steps);
            if let Some(heap) = &mut room.heap {
                heap.until = u32::try_from(done).unwrap_or(u32::MAX);
            }
            let (flags, time) = self.launch_all(room, strands, (steps, false), cells)?;
            spent += time;
            if !flags.goes_on {
                break;
            }
            budget = match time {
                time if time > LONG => (budget / 2).max(1),
                time if time < SHORT => budget.saturating_mul(2).min(1 << 24),
                _ => budget,
            };
        }
        Ok(spent)
    }

    /// Writes the cells that are not parameters.
    pub(super) fn send_more(&self, room: &Room, cells: &[u64]) -> Result<(), DriverError> {
        let more = &cells[cells.len().min(PARAMETER_CELLS)..];
        let more: Vec<u8> = more.iter().flat_map(|cell| cell.to_le_bytes()).collect();
        match more.is_empty() {
            true => Ok(()),
            false => self.machine.write(room.more.address, &more),
        }
    }

    /// One launch for the first strands of a room; gives its result and its time.
    pub(super) fn launch(
        &self,
        room: &mut Room,
        strands: usize,
        steps: u32,
        cells: &[u64],
    ) -> Result<(Flags, Duration), DriverError> {
        self.send_more(room, cells)?;
        let mut flags = [0u32; Header::FLAG_COUNT];
        self.machine
            .write(room.flags.address, words_as_bytes(&flags))?;
        let mut header = Header {
            state: room.state.address,
            fates: room.fates.address,
            flags: room.flags.address,
            common: self.common_address(),
            more: room.more.address,
            count: strands as u32,
            steps,
            ..Header::default()
        };
        if let Some(heap) = &room.heap {
            heap.describe(&mut header);
        }
        room.events.describe(&mut header);
        let mut threads = Vec::new();
        if let Some(near) = &room.near {
            near.describe(&mut header);
            let boxes = near.chunks * Near::BOXES;
            threads = vec![boxes, header.count, near.chunks, header.count];
        }
        threads.push(header.count);
        let entries: Vec<(u64, u32)> = self.handles.iter().copied().zip(threads).collect();
        let parameters = self.kernel.parameters(&header, cells);
        let time = self.machine.launch(&entries, &parameters)?;
        let words = words_as_bytes_mut(&mut flags);
        self.machine.read(room.flags.address, words)?;
        let word = |flag: usize| flags[flag / size_of::<u32>()];
        let is_set = |flag: usize| word(flag) != 0;
        let found = Flags {
            goes_on: is_set(Header::GOES_ON),
            is_short: is_set(Header::FULL),
            happened: is_set(Header::ENDED) || is_set(Header::LEFT),
            radius: self.radius(word(Header::RADIUS)),
        };
        let told = (strands, word(Header::TOLD) as usize);
        self.take_records(room, told, found.is_short)?;
        Ok((found, time))
    }

    /// Room for this many blocks.
    pub(super) fn room_for(&self, blocks: usize) -> Result<Room, DriverError> {
        let memory = |bytes: usize| Memory::new(&self.machine, bytes);
        let more = self.kernel.cells.len().saturating_sub(PARAMETER_CELLS);
        let near = self.kernel.near;
        let near = near.map(|near| NearRoom::new(&self.machine, near, blocks, self.kernel.lanes));
        Ok(Room {
            near: near.transpose()?,
            state: memory(blocks * self.kernel.stride)?,
            fates: memory(blocks * self.kernel.lanes.width * size_of::<u32>())?,
            flags: memory(Header::FLAG_COUNT * size_of::<u32>())?,
            results: memory(blocks * self.kernel.result_bytes())?,
            reduced: memory(blocks * self.kernel.reduced_bytes())?,
            more: memory(more * size_of::<u64>())?,
            heap: None,
            events: EventRoom::default(),
            blocks,
        })
    }

    /// The handle of an entry point, if the kernel has it.
    pub(super) fn entry(&self, name: &str) -> Option<u64> {
        let entries = self.kernel.entries();
        let found = entries.iter().position(|known| *known == name)?;
        Some(self.handles[found])
    }
}
