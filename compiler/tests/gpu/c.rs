//! A machine that runs kernels in C, compiled by the C compiler that also links Rust programs.

use compiler::codegen::gpu::{DriverError, Kernel, Machine};
use libloading::Library;
use std::{
    collections::BTreeMap,
    fs,
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

/// The machine: its memory is ours.
#[derive(Debug, Default)]
pub(crate) struct Compiler {
    libraries: Mutex<Vec<Library>>,
    memory: Mutex<BTreeMap<u64, Vec<u64>>>,
    /// Launches so far.
    pub(crate) launches: AtomicUsize,
}

/// The entry points of a kernel in C.
const ENTRIES: [&str; 7] = [
    Kernel::STRANDS,
    Kernel::PACK,
    Kernel::COLLECT,
    Kernel::CREATE,
    Kernel::TALLY,
    Kernel::REDUCE,
    Kernel::SPREAD,
];

/// A kernel for one thread.
type Entry = unsafe extern "C" fn(parameters: *const u64, thread: u32);

impl Machine for Compiler {
    fn load(&self, kernel: &Kernel) -> Result<Vec<u64>, DriverError> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Relaxed);
        let folder = std::env::temp_dir().join(format!("kernel-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let [text, library] = ["kernel.c", "kernel.so"].map(|name| folder.join(name));
        fs::write(&text, kernel.in_c()).expect("a file");
        let compiled = Command::new("cc")
            .args(["-std=c11", "-ffp-contract=off", "-shared", "-fPIC", "-o"])
            .args([&library, &text])
            .args(["-lm", "-Wall", "-Werror", "-Wno-unused"])
            .output()
            .expect("a C compiler");
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{}\n{said}", kernel.in_c());
        // SAFETY: the library has no initialization.
        let loaded = unsafe { Library::new(&library) }.expect("a library");
        fs::remove_dir_all(&folder).expect("the folder made here");
        let mut libraries = self.libraries.lock().unwrap();
        libraries.push(loaded);
        // The number of the library, and that of the entry point.
        let entries = kernel.entries().into_iter();
        let numbers = entries.map(|name| ENTRIES.iter().position(|known| *known == name));
        let first = (libraries.len() - 1) * ENTRIES.len();
        Ok(numbers
            .map(|number| (first + number.expect("an entry")) as u64)
            .collect())
    }

    fn allocate(&self, bytes: usize) -> Result<u64, DriverError> {
        let memory = vec![0u64; bytes.div_ceil(8)];
        let address = memory.as_ptr() as u64;
        self.memory.lock().unwrap().insert(address, memory);
        Ok(address)
    }

    fn free(&self, address: u64) {
        assert!(self.memory.lock().unwrap().remove(&address).is_some());
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), DriverError> {
        let mut memory = self.memory.lock().unwrap();
        let (first, to) = memory.range_mut(..=address).next_back().expect("memory");
        let at = (address - first) as usize;
        assert!(at + bytes.len() <= 8 * to.len());
        // SAFETY: there is room for so much.
        unsafe {
            to.as_mut_ptr()
                .cast::<u8>()
                .add(at)
                .copy_from(bytes.as_ptr(), bytes.len())
        };
        Ok(())
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DriverError> {
        let memory = self.memory.lock().unwrap();
        let (first, from) = memory.range(..=address).next_back().expect("memory");
        let at = (address - first) as usize;
        assert!(at + bytes.len() <= 8 * from.len());
        // SAFETY: there is so much.
        unsafe {
            bytes
                .as_mut_ptr()
                .copy_from(from.as_ptr().cast::<u8>().add(at), bytes.len())
        };
        Ok(())
    }

    fn launch(&self, entries: &[(u64, u32)], parameters: &[u8]) -> Result<Duration, DriverError> {
        let &[(kernel, threads)] = entries else {
            panic!("kernels in C have one entry point to run strands");
        };
        self.launches.fetch_add(1, Relaxed);
        let words = parameters.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        // A structure without cells has room for one.
        let words: Vec<u64> = words.chain([0]).collect();
        let libraries = self.libraries.lock().unwrap();
        let (library, entry) = (
            kernel as usize / ENTRIES.len(),
            kernel as usize % ENTRIES.len(),
        );
        // SAFETY: the kernel is such a function, and its addresses are those of our memory.
        unsafe {
            let entry = libraries[library]
                .get::<Entry>(ENTRIES[entry])
                .expect("an entry");
            (0..threads + 5).for_each(|thread| entry(words.as_ptr(), thread));
        }
        Ok(Duration::from_millis(30))
    }
}
