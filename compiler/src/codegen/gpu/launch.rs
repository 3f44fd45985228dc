//! Runs strands by a kernel: memory of the device, launches, and what becomes of the strands.

use super::{
    driver::DriverError,
    header::Header,
    kernel::{Cell, Kernel, Near, PARAMETER_CELLS},
    memory::{Memory, words_as_bytes, words_as_bytes_mut},
    near::NearRoom,
    results::Returning,
};
use crate::ir::leaf::ImageInfo;
use runtime::world::{Batch, fate};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
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

/// The samples of an image in memory: all of one component, then of the next, of one frame after the other.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// Samples per axis, fastest first.
    pub sizes: &'a [usize],
    /// The number of frames, 1 if it is not over time.
    pub frames: usize,
    /// Whether the frames follow each other evenly.
    pub is_regular: bool,
    /// The bytes of all components and frames.
    pub bytes: &'a [u8],
}

impl<'a> Samples<'a> {
    /// The samples of a component. On a machine all frames of a component are one array, and then those of the next.
    pub(super) fn count(&self) -> usize {
        self.sizes.iter().product::<usize>() * self.frames
    }

    /// The bytes of a component, frame by frame, if a sample has this many.
    pub(super) fn frames_of(
        &self,
        component: usize,
        real: usize,
    ) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let plane = self.sizes.iter().product::<usize>() * real;
        let components = self.bytes.len() / plane / self.frames;
        let planes = self.bytes.chunks(plane);
        planes.skip(component).step_by(components)
    }

    /// Copies all components to a machine.
    fn copy(&self, machine: &Arc<dyn Machine>, real: usize) -> Result<Memory, DriverError> {
        let memory = Memory::new(machine, self.bytes.len())?;
        if self.frames == 1 {
            machine.write(memory.address, self.bytes)?;
            return Ok(memory);
        }
        let components = self.bytes.len() / real / self.count();
        let mut at = memory.address;
        for frame in (0..components).flat_map(|component| self.frames_of(component, real)) {
            machine.write(at, frame)?;
            at += frame.len() as u64;
        }
        Ok(memory)
    }
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
    flags: Memory,
    more: Memory,
    /// The results of strands that have ended.
    pub(super) results: Memory,
    /// What strands need that look for each other.
    pub(super) near: Option<NearRoom>,
    /// Blocks that there is room for.
    pub(super) blocks: usize,
}

/// What a launch found, as [`Header::flags`] has it.
#[derive(Clone, Copy)]
pub(super) struct Flags {
    /// Strands go on.
    goes_on: bool,
    /// Strands ended, or are left to the CPU.
    pub(super) happened: bool,
    /// The largest radius that strands asked for, or 0.
    pub(super) radius: f64,
}

/// A program on a machine, with its images.
pub struct Accelerator {
    pub(super) machine: Arc<dyn Machine>,
    pub(super) kernel: Arc<Kernel>,
    handles: Vec<u64>,
    images: Vec<Option<Memory>>,
    /// Bytes of a component of each image.
    planes: Vec<usize>,
    pub(super) room: Mutex<Option<Room>>,
    phases: Mutex<Phases>,
}

/// Super-steps of the first launch.
const FIRST_STEPS: u32 = 1024;
/// A launch should not take longer: until it ends, the run cannot be stopped.
const LONG: Duration = Duration::from_millis(50);
/// A launch may take twice as many super-steps if it took no longer.
const SHORT: Duration = Duration::from_millis(20);

impl Accelerator {
    /// Why images like these cannot be probed by a kernel, in words.
    pub fn refuses(kernel: &Kernel, images: &[Samples<'_>]) -> Option<String> {
        for demand in &kernel.demands {
            let size = images[demand.image as usize].sizes[demand.axis];
            if !(demand.least..=demand.most).contains(&size) {
                return Some(format!(
                    "an image with {size} samples along axis {} is probed",
                    demand.axis
                ));
            }
        }
        let is_probed = |n: usize| {
            kernel
                .demands
                .iter()
                .any(|demand| demand.image as usize == n)
        };
        let mut probed = images.iter().enumerate().filter(|(n, _)| is_probed(*n));
        if probed.any(|(_, image)| !image.is_regular) {
            return Some("an image with frames at irregular times is probed".to_string());
        }
        let huge = images.iter().any(|image| image.count() >= 1 << 31);
        huge.then(|| "an image has 2^31 samples or more".to_string())
    }

    /// Makes a kernel ready and copies the images that it reads.
    ///
    /// # Errors
    /// The machine cannot run it, or has too little memory.
    pub fn new(
        machine: Arc<dyn Machine>,
        kernel: &Kernel,
        images: &[Samples<'_>],
    ) -> Result<Accelerator, DriverError> {
        let start = Instant::now();
        let kernel = Arc::new(kernel.with_sizes(images));
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
            planes: images.iter().map(plane).collect(),
            room: Mutex::new(None),
            phases: Mutex::default(),
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
        }
        accelerator.phases = Mutex::new(Phases {
            load,
            transfer: start.elapsed(),
            ..Phases::default()
        });
        Ok(accelerator)
    }

    /// The same for another run: only that is timed.
    pub fn begin(&self) {
        *self.phases.lock().unwrap_or_else(PoisonError::into_inner) = Phases::default();
    }

    /// How long everything took so far.
    pub fn phases(&self) -> Phases {
        *self.phases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether global code looks at the states of strands.
    pub fn reduces(&self) -> bool {
        self.kernel.reduces
    }

    pub(super) fn took(&self, start: Instant, kernel: Duration) {
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        phases.kernel += kernel;
        phases.transfer += start.elapsed().saturating_sub(kernel);
    }

    /// Runs strands until they end or the limit is reached, or all together one super-step; `value` gives the cells that are
    /// not samples. If strands run to their ends and the machine fails, the strands that it has not finished are unchanged.
    ///
    /// # Errors
    /// The machine failed. If strands run to their ends, the state of every strand is known even then.
    pub fn run(
        &self,
        batch: &mut Batch<'_>,
        value: &dyn Fn(Cell) -> u64,
    ) -> Result<(), DriverError> {
        let cells: Vec<u64> = self
            .kernel
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
                other => value(other),
            })
            .collect();
        let start = Instant::now();
        let mut kernel = Duration::ZERO;
        let ran = match batch.independent {
            true => self.complete(batch, &cells, &mut kernel),
            false => self.step(batch, &cells, &mut kernel),
        };
        self.took(start, kernel);
        ran
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
        if kept.as_ref().is_none_or(|room| room.blocks < blocks.len()) {
            // The smaller allocation is freed first.
            *kept = None;
            *kept = Some(self.room_for(blocks.len(), batch)?);
        }
        let room = kept.as_ref().expect("there is one now");
        machine.write(room.state.address, &batch.state[bytes])?;
        machine.write(
            room.fates.address,
            words_as_bytes(&batch.fates[slots.clone()]),
        )?;
        let (mut budget, mut done) = (FIRST_STEPS, 0);
        while done < batch.limit && !batch.is_over() {
            let steps = u32::try_from(batch.limit - done).map_or(budget, |left| left.min(budget));
            let (flags, time) = self.launch(room, slots.len(), steps, cells)?;
            *spent += time;
            done += u64::from(steps);
            if !flags.goes_on {
                break;
            }
            budget = match time {
                time if time > LONG => (budget / 2).max(1),
                time if time < SHORT => budget.saturating_mul(2).min(1 << 24),
                _ => budget,
            };
        }
        let mut words = vec![fate::IDLE; slots.len()];
        machine.read(room.fates.address, words_as_bytes_mut(&mut words))?;
        let state = &mut batch.state[blocks.start * batch.stride..blocks.end * batch.stride];
        let strands = Returning {
            state,
            fates: &mut batch.fates[slots],
            width: batch.width,
        };
        self.take_back(strands, &words, room, spent)?;
        let are = |kind| words.iter().filter(|&&w| fate::kind(w) == kind).count() as u64;
        let furthest = words.iter().map(|word| word >> fate::BITS).max();
        let furthest = furthest.unwrap_or(0).into();
        batch.advance(furthest, are(fate::STABLE) - stable, are(fate::DEAD));
        Ok(())
    }

    /// One launch for the first strands of a room; gives its result and its time.
    pub(super) fn launch(
        &self,
        room: &Room,
        strands: usize,
        steps: u32,
        cells: &[u64],
    ) -> Result<(Flags, Duration), DriverError> {
        let more = &cells[cells.len().min(PARAMETER_CELLS)..];
        if !more.is_empty() {
            let more: Vec<u8> = more.iter().flat_map(|cell| cell.to_le_bytes()).collect();
            self.machine.write(room.more.address, &more)?;
        }
        let mut flags = [0u32; Header::FLAG_COUNT];
        self.machine
            .write(room.flags.address, words_as_bytes(&flags))?;
        let mut header = Header {
            state: room.state.address,
            fates: room.fates.address,
            flags: room.flags.address,
            more: room.more.address,
            count: strands as u32,
            steps,
            ..Header::default()
        };
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
        let found = words_as_bytes_mut(&mut flags);
        self.machine.read(room.flags.address, found)?;
        let is_set = |flag: usize| flags[flag / size_of::<u32>()] != 0;
        let flags = Flags {
            goes_on: is_set(Header::GOES_ON),
            happened: is_set(Header::ENDED) || is_set(Header::LEFT),
            radius: self.radius(flags[Header::RADIUS / size_of::<u32>()]),
        };
        Ok((flags, time))
    }

    /// Room for this many blocks.
    pub(super) fn room_for(&self, blocks: usize, batch: &Batch<'_>) -> Result<Room, DriverError> {
        let memory = |bytes: usize| Memory::new(&self.machine, bytes);
        let more = self.kernel.cells.len().saturating_sub(PARAMETER_CELLS);
        let near = self.kernel.near;
        let near = near.map(|near| NearRoom::new(&self.machine, near, blocks, self.kernel.lanes));
        Ok(Room {
            near: near.transpose()?,
            state: memory(blocks * batch.stride)?,
            fates: memory(blocks * batch.width * size_of::<u32>())?,
            flags: memory(Header::FLAG_COUNT * size_of::<u32>())?,
            results: memory(blocks * self.kernel.result_bytes())?,
            more: memory(more * size_of::<u64>())?,
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
