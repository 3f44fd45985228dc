//! Runs strands by a kernel: memory of the device, launches, and what becomes of the strands.

use super::{
    driver::DriverError,
    kernel::{Cell, Header, Kernel, PARAMETER_CELLS},
};
use crate::ir::leaf::ImageInfo;
use runtime::world::{Batch, fate};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// A machine that runs kernels. The driver is one; tests have another.
pub trait Machine: Send + Sync + fmt::Debug {
    /// Makes a kernel ready, and gives its handle. One that was made ready before is found again.
    ///
    /// # Errors
    /// The machine cannot run it.
    fn load(&self, kernel: &Kernel) -> Result<u64, DriverError>;

    /// Takes memory.
    ///
    /// # Errors
    /// There is not so much.
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

    /// Runs a kernel in so many threads, or a few more, and waits for it; gives how long it took.
    ///
    /// # Errors
    /// The machine is lost.
    fn launch(&self, kernel: u64, threads: u32, parameters: &[u8])
    -> Result<Duration, DriverError>;
}

/// The samples of an image in memory: all of one component, then of the next.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// Samples per axis, fastest first.
    pub sizes: &'a [usize],
    /// The bytes of all components.
    pub bytes: &'a [u8],
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

/// Memory of a machine.
struct Memory {
    machine: Arc<dyn Machine>,
    address: u64,
}

impl Memory {
    fn new(machine: &Arc<dyn Machine>, bytes: usize) -> Result<Memory, DriverError> {
        Ok(Memory {
            address: machine.allocate(bytes.max(8))?,
            machine: machine.clone(),
        })
    }

    fn with(machine: &Arc<dyn Machine>, bytes: &[u8]) -> Result<Memory, DriverError> {
        let memory = Memory::new(machine, bytes.len())?;
        machine.write(memory.address, bytes)?;
        Ok(memory)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.machine.free(self.address);
    }
}

/// Memory for the strands of a band, and for what a launch is given; kept for the next one.
struct Room {
    state: Memory,
    fates: Memory,
    active: Memory,
    more: Memory,
    /// Bytes of states, and strands, that there is room for.
    size: (usize, usize),
}

/// A program on a machine, with its images.
pub struct Accelerator {
    machine: Arc<dyn Machine>,
    kernel: Arc<Kernel>,
    handle: u64,
    images: Vec<Option<Memory>>,
    /// Bytes of a component of each image.
    planes: Vec<usize>,
    room: Mutex<Option<Room>>,
    phases: Mutex<Phases>,
}

/// Strands that are on the machine at a time.
const BAND: usize = 1 << 22;
/// Bytes of states that are copied back at a time: few enough to stay in a cache.
const PART: usize = 1 << 20;
/// Super-steps of the first launch.
const FIRST_STEPS: u32 = 1024;
/// A launch should not take longer: until it ends, nobody can stop the run.
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
        let samples = |image: &Samples<'_>| image.sizes.iter().product::<usize>();
        let huge = images.iter().any(|image| samples(image) >= 1 << 31);
        huge.then(|| "an image has 2^31 samples or more".to_string())
    }

    /// Makes a kernel ready and copies the images that it reads.
    ///
    /// # Errors
    /// The machine cannot run it, or has too little memory.
    pub fn new(
        machine: Arc<dyn Machine>,
        kernel: Arc<Kernel>,
        images: &[Samples<'_>],
    ) -> Result<Accelerator, DriverError> {
        let start = Instant::now();
        let handle = machine.load(&kernel)?;
        let load = start.elapsed();
        let start = Instant::now();
        let is_read = |n: usize| {
            let reads =
                |cell: &Cell| matches!(cell, Cell::Samples(image, _) if *image as usize == n);
            kernel.cells.iter().any(reads)
        };
        let mut memories = Vec::new();
        for (n, image) in images.iter().enumerate() {
            let memory = is_read(n).then(|| Memory::with(&machine, image.bytes));
            memories.push(memory.transpose()?);
        }
        let bytes = kernel.lanes.bytes();
        let plane = |image: &Samples<'_>| image.sizes.iter().product::<usize>() * bytes;
        Ok(Accelerator {
            handle,
            images: memories,
            planes: images.iter().map(plane).collect(),
            room: Mutex::new(None),
            phases: Mutex::new(Phases {
                load,
                transfer: start.elapsed(),
                ..Phases::default()
            }),
            machine,
            kernel,
        })
    }

    /// How long everything took so far.
    pub fn phases(&self) -> Phases {
        *self.phases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn took(&self, start: Instant, kernel: Duration) {
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        phases.kernel += kernel;
        phases.transfer += start.elapsed().saturating_sub(kernel);
    }

    /// Runs strands until they end or the limit is reached; `value` gives the cells that are no samples. What a machine
    /// that fails has not finished is left as it was.
    ///
    /// # Errors
    /// The machine failed. What is to be done with every strand is known even then.
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
                    first + u64::from(component) * self.planes[image as usize] as u64
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
        let blocks = batch.state.len() / batch.stride;
        let per_band = (BAND / batch.width).max(1);
        for first in (0..blocks).step_by(per_band) {
            if batch.is_over() {
                break;
            }
            let band = first..blocks.min(first + per_band);
            let start = Instant::now();
            let mut kernel = Duration::ZERO;
            let ran = self.band(batch, band, &cells, &mut kernel);
            self.took(start, kernel);
            if let Err(error) = ran {
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
        let as_bytes = |cells: &[u64]| -> Vec<u8> {
            cells.iter().flat_map(|cell| cell.to_le_bytes()).collect()
        };
        let (given, more) = cells.split_at(cells.len().min(PARAMETER_CELLS));
        let mut kept = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let room = self.room_for(&mut kept, (bytes.len(), slots.len()), more.len())?;
        machine.write(room.state.address, &batch.state[bytes])?;
        machine.write(
            room.fates.address,
            words_as_bytes(&batch.fates[slots.clone()]),
        )?;
        machine.write(room.more.address, &as_bytes(more))?;
        let mut header = Header {
            state: room.state.address,
            fates: room.fates.address,
            active: room.active.address,
            more: room.more.address,
            count: slots.len() as u32,
            steps: 0,
        };
        let (mut budget, mut done) = (FIRST_STEPS, 0);
        while done < batch.limit && !batch.is_over() {
            header.steps =
                u32::try_from(batch.limit - done).map_or(budget, |left| left.min(budget));
            machine.write(room.active.address, &0u32.to_le_bytes())?;
            let parameters = [header.bytes(), as_bytes(given)].concat();
            let time = machine.launch(self.handle, header.count, &parameters)?;
            *spent += time;
            done += u64::from(header.steps);
            let mut goes_on = [0; size_of::<u32>()];
            machine.read(room.active.address, &mut goes_on)?;
            if goes_on == [0; 4] {
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
        // Part by part, state and fates together: a machine that is lost meanwhile leaves every strand either finished or
        // as it was.
        let per_part = (PART / batch.stride).max(1);
        let mut after = vec![0; per_part.min(blocks.len()) * batch.stride];
        let states = batch.state[blocks.start * batch.stride..blocks.end * batch.stride]
            .chunks_mut(per_part * batch.stride);
        let fates = batch.fates[slots].chunks_mut(per_part * batch.width);
        let words_of_parts = words.chunks(per_part * batch.width);
        let mut from = room.state.address;
        for ((state, fates), words) in states.zip(fates).zip(words_of_parts) {
            let after = &mut after[..state.len()];
            machine.read(from, after)?;
            self.take(state, after, words, batch.width);
            fates.copy_from_slice(words);
            from += state.len() as u64;
        }
        let ended = |kind| words.iter().filter(|&&w| fate::kind(w) == kind).count() as u64;
        let furthest = words.iter().map(|word| word >> fate::BITS).max();
        let furthest = furthest.unwrap_or(0).into();
        batch.advance(furthest, ended(fate::STABLE), ended(fate::DEAD));
        Ok(())
    }

    /// The room that is kept, if it is large enough, or a new one.
    fn room_for<'a>(
        &self,
        kept: &'a mut Option<Room>,
        size: (usize, usize),
        more: usize,
    ) -> Result<&'a Room, DriverError> {
        let fits = |room: &Room| room.size.0 >= size.0 && room.size.1 >= size.1;
        if !kept.as_ref().is_some_and(fits) {
            // What was too small makes place first.
            *kept = None;
            let memory = |bytes: usize| Memory::new(&self.machine, bytes);
            *kept = Some(Room {
                state: memory(size.0)?,
                fates: memory(size.1 * size_of::<u32>())?,
                active: memory(size_of::<u32>())?,
                more: memory(more * size_of::<u64>())?,
                size,
            });
        }
        Ok(kept.as_ref().expect("there is one now"))
    }

    /// Takes over the states of all strands that are not left to the CPU.
    fn take(&self, state: &mut [u8], after: &[u8], fates: &[u32], width: usize) {
        let stride = self.kernel.stride;
        let blocks = state
            .chunks_exact_mut(stride)
            .zip(after.chunks_exact(stride));
        for ((state, after), fates) in blocks.zip(fates.chunks_exact(width)) {
            let is_left = |lane: usize| fate::kind(fates[lane]) == fate::LEFT;
            if !(0..width).any(is_left) {
                state.copy_from_slice(after);
                continue;
            }
            for plane in &self.kernel.planes {
                for lane in (0..width).filter(|&lane| !is_left(lane)) {
                    let first = plane.offset + lane * plane.stride;
                    let at = first..first + plane.stride;
                    state[at.clone()].copy_from_slice(&after[at]);
                }
            }
        }
    }
}

/// Words as they lie in memory, which is how the machine reads them.
fn words_as_bytes(words: &[u32]) -> &[u8] {
    // SAFETY: all bytes of the words are initialized, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// The same, to be written.
fn words_as_bytes_mut(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: as above; any bytes make words.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}
