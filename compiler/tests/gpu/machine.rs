//! A machine that runs kernels by interpreting their text, and fails on request.

use super::ptx::{self, Memory};
use compiler::codegen::gpu::{DriverError, Header, Kernel, Machine};
use runtime::world::{Control, fate};
use std::{
    collections::BTreeMap,
    mem::offset_of,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

/// The machine.
#[derive(Debug, Default)]
pub(crate) struct Interpreter {
    state: Mutex<State>,
    /// Launches so far.
    pub(crate) launches: AtomicUsize,
    /// Whether it is lost after this many launches.
    lost_after: Option<usize>,
    /// Copies from the machine so far.
    reads: AtomicUsize,
    /// Whether it is lost after this many copies.
    lost_after_reads: Option<usize>,
    /// Bytes that were copied to it, and from it.
    pub(crate) written: AtomicUsize,
    pub(crate) read: AtomicUsize,
    /// The most strands that a launch has left to the CPU.
    pub(crate) left: AtomicUsize,
    /// Whether it cannot be used at all.
    is_absent: bool,
    /// Strands that it has at a time, if few.
    at_a_time: Option<usize>,
    /// Bytes of memory that it has, if few.
    memory_limit: Option<usize>,
    /// How often each entry point ran.
    runs: Mutex<BTreeMap<&'static str, usize>>,
    /// A run that is asked to stop while a kernel runs.
    pub(crate) stops: OnceLock<Arc<Control>>,
}

#[derive(Debug, Default)]
struct State {
    kernels: Vec<ptx::Kernel>,
    /// Their names.
    names: Vec<&'static str>,
    /// The text of the last ones.
    text: String,
    /// Memory by its first address.
    memory: BTreeMap<u64, Vec<u8>>,
    next: u64,
}

impl Memory for State {
    fn load(&self, address: u64, bytes: usize) -> u64 {
        let (first, memory) = self.memory.range(..=address).next_back().expect("memory");
        let at = (address - first) as usize;
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(&memory[at..at + bytes]);
        u64::from_le_bytes(word)
    }

    fn store(&mut self, address: u64, bytes: usize, value: u64) {
        let (first, memory) = self
            .memory
            .range_mut(..=address)
            .next_back()
            .expect("memory");
        let at = (address - first) as usize;
        memory[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }
}

impl Interpreter {
    /// A machine that is lost after this many launches.
    pub(crate) fn lost_after(launches: usize) -> Interpreter {
        Interpreter {
            lost_after: Some(launches),
            ..Interpreter::default()
        }
    }

    /// A machine that is lost after this many copies from it.
    pub(crate) fn lost_after_reads(reads: usize) -> Interpreter {
        Interpreter {
            lost_after_reads: Some(reads),
            ..Interpreter::default()
        }
    }

    /// A machine that is not there.
    pub(crate) fn absent() -> Interpreter {
        Interpreter {
            is_absent: true,
            ..Interpreter::default()
        }
    }

    /// The same with this many strands at a time.
    pub(crate) fn with_few(self, at_a_time: usize) -> Interpreter {
        Interpreter {
            at_a_time: Some(at_a_time),
            ..self
        }
    }

    /// A machine with little memory.
    pub(crate) fn with_memory(bytes: usize) -> Interpreter {
        Interpreter {
            memory_limit: Some(bytes),
            ..Interpreter::default()
        }
    }

    /// How often an entry point ran.
    pub(crate) fn runs_of(&self, entry: &str) -> usize {
        self.runs.lock().unwrap().get(entry).copied().unwrap_or(0)
    }

    /// The text of the kernel that it got last.
    pub(crate) fn text(&self) -> String {
        self.state.lock().unwrap().text.clone()
    }

    /// All memory that was taken has been given back.
    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().unwrap().memory.is_empty()
    }
}

impl Machine for Interpreter {
    fn strands_at_a_time(&self) -> usize {
        self.at_a_time.unwrap_or(1 << 22)
    }

    fn load(&self, kernel: &Kernel) -> Result<Vec<u64>, DriverError> {
        if self.is_absent {
            return Err(DriverError::new("looking for NVIDIA GPUs", "there is none"));
        }
        let mut state = self.state.lock().unwrap();
        let first = state.kernels.len() as u64;
        let entries = kernel.entries().into_iter();
        let entries = entries.map(|name| ptx::Kernel::read(&kernel.text, name));
        state.kernels.extend(entries);
        state.names.extend(kernel.entries());
        state.text.clone_from(&kernel.text);
        Ok((first..state.kernels.len() as u64).collect())
    }

    fn allocate(&self, bytes: usize) -> Result<u64, DriverError> {
        if self.free_bytes() < bytes {
            return Err(DriverError::new("taking memory", "it has too little"));
        }
        let mut state = self.state.lock().unwrap();
        state.next += 1 << 36;
        let address = state.next;
        state.memory.insert(address, vec![0; bytes]);
        Ok(address)
    }

    fn free_bytes(&self) -> usize {
        let state = self.state.lock().unwrap();
        let taken: usize = state.memory.values().map(Vec::len).sum();
        let limit = self.memory_limit.unwrap_or(usize::MAX);
        limit.saturating_sub(taken)
    }

    fn free(&self, address: u64) {
        assert!(self.state.lock().unwrap().memory.remove(&address).is_some());
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), DriverError> {
        let mut state = self.state.lock().unwrap();
        let memory = state.memory.range_mut(..=address).next_back();
        let (first, memory) = memory.expect("memory");
        let at = (address - first) as usize;
        memory[at..at + bytes.len()].copy_from_slice(bytes);
        self.written.fetch_add(bytes.len(), Relaxed);
        Ok(())
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DriverError> {
        if self.lost_after_reads == Some(self.reads.fetch_add(1, Relaxed)) {
            bytes.fill(0xAA);
            return Err(DriverError::new("copying from the GPU", "it is lost"));
        }
        self.read.fetch_add(bytes.len(), Relaxed);
        let state = self.state.lock().unwrap();
        let (first, memory) = state.memory.range(..=address).next_back().expect("memory");
        let at = (address - first) as usize;
        bytes.copy_from_slice(&memory[at..at + bytes.len()]);
        Ok(())
    }

    fn launch(&self, entries: &[(u64, u32)], parameters: &[u8]) -> Result<Duration, DriverError> {
        if self.lost_after == Some(self.launches.fetch_add(1, Relaxed)) {
            return Err(DriverError::new("running on the GPU", "it is lost"));
        }
        self.stops.get().inspect(|run| run.stop());
        let mut state = self.state.lock().unwrap();
        for &(number, threads) in entries {
            let name = state.names[number as usize];
            *self.runs.lock().unwrap().entry(name).or_default() += 1;
            let kernel = state.kernels.remove(number as usize);
            assert_eq!(parameters.len(), kernel.parameter_bytes);
            for block in 0..threads.div_ceil(128) {
                for thread in 0..128 {
                    kernel.thread(block, thread, parameters, &mut *state);
                }
            }
            state.kernels.insert(number as usize, kernel);
        }
        let header = |at: usize, bytes: usize| {
            let mut word = [0; 8];
            word[..bytes].copy_from_slice(&parameters[at..at + bytes]);
            u64::from_le_bytes(word)
        };
        let fates = header(offset_of!(Header, fates), 8);
        let count = header(offset_of!(Header, count), 4);
        // Other entry points have none.
        let told = (0..if fates == 0 { 0 } else { count }).map(|n| state.load(fates + 4 * n, 4));
        let left = told
            .filter(|&word| fate::kind(word as u32) == fate::LEFT)
            .count();
        self.left.fetch_max(left, Relaxed);
        // So that launches take now half, now twice as many super-steps.
        let is_long = self.launches.load(Relaxed) % 2 == 1;
        Ok(Duration::from_millis(if is_long { 60 } else { 10 }))
    }
}
