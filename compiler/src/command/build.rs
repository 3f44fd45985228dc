//! `diderotc build`: a self-contained executable without a C compiler or linker.
//!
//! The executable is this command with the program written into memory that is reserved for it; started, it finds the program,
//! compiles it in memory (milliseconds) and takes all its words as the program's options. Data in loaded memory
//! survives when the executable is copied, stripped or compressed.

use super::{FAILURE, SUCCESS, complain, interrupts, read_source, report};
use crate::{
    codegen::Target,
    front::source::Source,
    low::Bounds,
    pipeline::{self, Options, WIDTHS},
};
use runtime::{file_name::FileName, output::replace_file, simd::Isa};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Bytes for a program.
const CAPACITY: usize = 512 << 10;

/// Memory of the executable for a program; `build` fills it in the copy that it writes.
#[repr(C, align(16))]
struct Reserve {
    /// Tells where the reserve begins in the file.
    mark: [u8; 32],
    /// Bytes of the program; none in the compiler itself.
    length: [u8; 8],
    bytes: [u8; CAPACITY],
}

// Not constant for the compiler of this command: `build` changes it in the copy.
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__diderot"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".data.diderot"))]
static mut RESERVE: Reserve = Reserve {
    mark: *b"\x01\xd1\xde\x07here begins a program\x02\xd1\xde\x07\0\0\0",
    length: [0; 8],
    bytes: [0; CAPACITY],
};

/// The executable of this process is not the command.
const NO_ROOM: &str = "an executable is a copy of diderotc with the program in it, and this diderotc is a part of a Python package, \
    which has nothing to copy; take the diderotc of a release archive (diderot-….tar.gz), or `diderotc build --library` for functions in C";

/// A program attached to this executable.
pub(super) struct Attached {
    pub(super) source: Source,
    pub(super) options: Options,
}

/// The same as it is written.
#[derive(Serialize, Deserialize)]
struct Payload {
    /// With its files, so that help and messages name those that it imports.
    source: Source,
    double: bool,
    long_int: bool,
    width: Option<usize>,
    isa: Option<String>,
    no_bounds: bool,
    target: String,
    constants: Vec<(String, String)>,
}

pub(super) fn build(file: &Path, output: Option<PathBuf>, options: &Options) -> u8 {
    interrupts::install();
    let Some(source) = read_source(file) else {
        return FAILURE;
    };
    let checked = pipeline::check(&source, options);
    report(&source, checked.diagnostics);
    if checked.program.is_none() {
        return FAILURE;
    }
    let output = output.unwrap_or_else(|| default_name(file));
    let payload = Payload::new(&source, options);
    match write_executable(&output, &payload) {
        Ok(()) => SUCCESS,
        Err(error) => {
            complain(&format!("error: {}: {error}\n", FileName::from(output)));
            FAILURE
        }
    }
}

/// The program's name in the current directory, no matter where the program itself is.
fn default_name(file: &Path) -> PathBuf {
    file.file_stem().unwrap_or(file.as_os_str()).into()
}

fn write_executable(output: &Path, payload: &Payload) -> io::Result<()> {
    let own = std::env::current_exe()?;
    let mut executable = fs::read(&own)?;
    blot_places(&mut executable);
    payload.write_into(&mut executable)?;
    let permissions = fs::metadata(&own)?.permissions();
    replace_file(output, Some(permissions), |out: &mut dyn Write| {
        out.write_all(&executable)
    })
}

/// Directories of the machine that this command was built on, as the build script separates them.
const PLACES: &str = env!("DIDEROT_BUILD_PLACES");
/// A place of fewer bytes could be found where there is no path.
const SHORTEST_PLACE: usize = 8;

/// Overwrites the directories of the machine that this command was built on: the text of places in the source, for messages about
/// faults, begins with them. Recipients of the executable need not know them.
fn blot_places(executable: &mut [u8]) {
    for place in PLACES.split('\u{1f}').map(str::as_bytes) {
        if place.len() < SHORTEST_PLACE {
            continue;
        }
        let mut at = 0;
        while let Some(found) = find(&executable[at..], place) {
            executable[at + found..][..place.len()].fill(b'.');
            at += found + place.len();
        }
    }
}

/// Where some bytes stand in others.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let (&first, rest) = wanted.split_first()?;
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|&b| b == first) {
        at += next + 1;
        if bytes[at..].starts_with(rest) {
            return Some(at - 1);
        }
    }
    None
}

/// The program attached to this executable, if there is one.
///
/// # Errors
/// The attached program cannot be read.
pub(super) fn attached() -> Result<Option<Attached>, String> {
    let reserve = reserve();
    let length = u64::from_le_bytes(reserve.length);
    if length == 0 {
        return Ok(None);
    }
    let bytes = usize::try_from(length)
        .ok()
        .and_then(|n| reserve.bytes.get(..n));
    let payload = bytes.and_then(|bytes| serde_json::from_slice::<Payload>(bytes).ok());
    match payload {
        Some(payload) if payload.width.is_none_or(|w| WIDTHS.contains(&w)) => {
            Ok(Some(payload.attached()))
        }
        _ => Err("the program in this executable is damaged; build it again".into()),
    }
}

/// The reserve of this executable.
fn reserve() -> &'static Reserve {
    // SAFETY: nothing writes it while the executable runs.
    unsafe { &*std::hint::black_box(&raw const RESERVE) }
}

impl Payload {
    fn new(source: &Source, options: &Options) -> Payload {
        Payload {
            source: source.without_places(),
            double: options.double,
            long_int: options.long_int,
            width: options.width,
            isa: options.isa.map(|isa| isa.name().to_string()),
            no_bounds: options.bounds == Bounds::None,
            target: options.target.name().to_string(),
            constants: options.constants.clone(),
        }
    }

    fn attached(self) -> Attached {
        Attached {
            source: self.source,
            options: Options {
                double: self.double,
                long_int: self.long_int,
                width: self.width,
                isa: self.isa.as_deref().and_then(Isa::named),
                bounds: match self.no_bounds {
                    true => Bounds::None,
                    false => Bounds::default(),
                },
                target: Target::named(&self.target).unwrap_or_default(),
                constants: self.constants,
                ..Options::default()
            },
        }
    }

    /// Fills the reserve in the bytes of an executable.
    fn write_into(&self, executable: &mut [u8]) -> io::Result<()> {
        let bytes = serde_json::to_vec(self)?;
        if bytes.len() > CAPACITY {
            let (wanted, room) = (bytes.len() >> 10, CAPACITY >> 10);
            let message = format!("a program of {wanted} KiB; an executable has room for {room}");
            return Err(io::Error::other(message));
        }
        // The mark stands nowhere else: the code refers to it by its address.
        let mark = reserve().mark;
        let start = find(executable, &mark).ok_or_else(|| io::Error::other(NO_ROOM))?;
        let (length, room) = executable[start + mark.len()..].split_at_mut(8);
        length.copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        room[..bytes.len()].copy_from_slice(&bytes);
        Ok(())
    }
}
