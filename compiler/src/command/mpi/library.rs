//! The library that connects this command to the MPI of a cluster: its functions, loaded on demand, and their errors.

use libloading::Library;
use std::{
    ffi::{CStr, c_char, c_void},
    path::{Path, PathBuf},
};

/// The source of the library, for `diderotc mpi build`.
pub(super) const SOURCE: &str = include_str!("diderot_mpi.c");
/// The name of the library's file.
pub(super) const FILE: &str = "libdiderot_mpi.so";
/// Names the file of the library, in place of the usual ones.
pub(super) const VARIABLE: &str = "DIDEROT_MPI";

/// The version of the interface that this command speaks.
const INTERFACE: i64 = 1;
/// Room for a line about the library or an error.
const LINE: usize = 512;

/// Defines the functions of the library: their names and their arguments.
macro_rules! functions {
    ($($name:ident $symbol:literal ($($arg:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        struct Functions {
            $($name: unsafe extern "C" fn($($ty),*) $(-> $result)?,)*
        }

        impl Functions {
            fn find(library: &Library) -> Result<Functions, String> {
                Ok(Functions {
                    $($name: {
                        // SAFETY: the library has functions of these types.
                        let found = unsafe { library.get::<unsafe extern "C" fn($($ty),*) $(-> $result)?>($symbol) };
                        *found.map_err(|_| concat!("it has no function ", $symbol).to_string())?
                    },)*
                })
            }
        }
    };
}

functions! {
    interface "diderot_mpi_interface" () -> i64;
    start "diderot_mpi_start" (rank: *mut i64, size: *mut i64) -> i64;
    library "diderot_mpi_library" (text: *mut c_char, room: i64);
    meaning "diderot_mpi_meaning" (code: i64, text: *mut c_char, room: i64);
    send "diderot_mpi_send" (to: i64, tag: i64, bytes: *const c_void, count: i64, ticket: *mut i64) -> i64;
    is_sent "diderot_mpi_is_sent" (ticket: i64, is_sent: *mut i64) -> i64;
    look "diderot_mpi_look" (from: *mut i64, tag: *mut i64, count: *mut i64) -> i64;
    receive "diderot_mpi_receive" (from: i64, tag: i64, bytes: *mut c_void, count: i64) -> i64;
    finish "diderot_mpi_finish" () -> i64;
    abort "diderot_mpi_abort" (status: i64);
}

/// The MPI of this machine. One thread uses it, the one that started it.
pub(super) struct Mpi {
    functions: Functions,
    _library: Library,
}

/// A letter that has arrived and has not been received.
pub(super) struct Waiting {
    pub(super) from: i64,
    pub(super) tag: i64,
    pub(super) bytes: usize,
}

impl Mpi {
    /// Loads the library.
    ///
    /// # Errors
    /// A sentence about the file, and how to make it.
    pub(super) fn load() -> Result<Mpi, String> {
        let Some(file) = candidates().into_iter().find(|file| file.is_file()) else {
            return Err(match std::env::var_os(VARIABLE) {
                Some(file) => format!(
                    "there is no file {}, which {VARIABLE} names; {HOW_TO_BUILD}",
                    Path::new(&file).display()
                ),
                None => {
                    format!("the library that connects diderotc to MPI is missing; {HOW_TO_BUILD}")
                }
            });
        };
        let cannot = |why: String| {
            format!(
                "cannot use {}, the library that connects diderotc to MPI: {why}; {HOW_TO_BUILD}",
                file.display()
            )
        };
        let library = open(&file).map_err(|error| cannot(error.to_string()))?;
        let functions = Functions::find(&library).map_err(&cannot)?;
        // SAFETY: it takes nothing and gives a number.
        let found = unsafe { (functions.interface)() };
        if found != INTERFACE {
            let why = format!("it is of another version of diderotc ({found}, not {INTERFACE})");
            return Err(cannot(why));
        }
        Ok(Mpi {
            functions,
            _library: library,
        })
    }

    /// Joins the other processes; gives the number of this one, and how many there are.
    pub(super) fn start(&self) -> Result<(usize, usize), String> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: both are places for numbers.
        let code = unsafe { (self.functions.start)(&raw mut rank, &raw mut size) };
        self.check("start", code)?;
        Ok((rank as usize, size as usize))
    }

    /// The name and version of the MPI library.
    pub(super) fn name(&self) -> String {
        // SAFETY: the text has room for this number of bytes.
        line(|text| unsafe { (self.functions.library)(text, LINE as i64) })
    }

    /// Begins to send a letter; gives the ticket by which its end is noticed.
    ///
    /// # Safety
    /// The bytes stay as they are until it has been sent.
    pub(super) unsafe fn send(&self, to: usize, tag: i64, bytes: &[u8]) -> Result<i64, String> {
        let mut ticket = 0;
        // SAFETY: the caller's promise.
        let code = unsafe {
            let (start, count) = (bytes.as_ptr().cast(), bytes.len() as i64);
            (self.functions.send)(to as i64, tag, start, count, &raw mut ticket)
        };
        self.check("send", code)?;
        Ok(ticket)
    }

    /// Whether a letter has been sent.
    pub(super) fn is_sent(&self, ticket: i64) -> Result<bool, String> {
        let mut is_sent = 0;
        // SAFETY: the ticket is one of a letter, and the other a place for a number.
        let code = unsafe { (self.functions.is_sent)(ticket, &raw mut is_sent) };
        self.check("send", code)?;
        Ok(is_sent != 0)
    }

    /// The letter that came first of those that wait.
    pub(super) fn look(&self) -> Result<Option<Waiting>, String> {
        let (mut from, mut tag, mut count) = (0, 0, -1);
        // SAFETY: all are places for numbers.
        let code = unsafe { (self.functions.look)(&raw mut from, &raw mut tag, &raw mut count) };
        self.check("look for letters", code)?;
        let bytes = usize::try_from(count).ok();
        Ok(bytes.map(|bytes| Waiting { from, tag, bytes }))
    }

    /// Appends a letter that waits to some bytes.
    pub(super) fn receive(&self, letter: &Waiting, bytes: &mut Vec<u8>) -> Result<(), String> {
        let before = bytes.len();
        bytes.resize(before + letter.bytes, 0);
        // SAFETY: there is room for this number of bytes.
        let code = unsafe {
            let to = bytes[before..].as_mut_ptr().cast();
            (self.functions.receive)(letter.from, letter.tag, to, letter.bytes as i64)
        };
        self.check("receive", code)
    }

    /// Leaves the other processes.
    pub(super) fn finish(self) -> Result<(), String> {
        // SAFETY: nothing is sent any more.
        let code = unsafe { (self.functions.finish)() };
        self.check("finish", code)
    }

    /// Ends all processes at once.
    pub(super) fn abort(&self, status: u8) {
        // SAFETY: it takes a number.
        unsafe { (self.functions.abort)(status.into()) };
    }

    fn check(&self, what: &str, code: i64) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the text has room for this number of bytes.
        let meaning = line(|text| unsafe { (self.functions.meaning)(code, text, LINE as i64) });
        Err(format!("MPI cannot {what}: {meaning} (error {code})"))
    }
}

/// How to make the library.
const HOW_TO_BUILD: &str =
    "`diderotc mpi build` makes it, with the MPI compiler of this machine (mpicc)";

/// A line of text that a function writes.
fn line(write: impl FnOnce(*mut c_char)) -> String {
    let mut text = [0 as c_char; LINE];
    write(text.as_mut_ptr());
    text[LINE - 1] = 0;
    // SAFETY: it ends with a zero byte.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    text.to_string_lossy().into_owned()
}

/// Opens a library whose functions its plug-ins find too, as those of some MPIs expect.
#[cfg(unix)]
fn open(file: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::unix;
    // SAFETY: the user has made it for this purpose.
    let opened = unsafe { unix::Library::open(Some(file), unix::RTLD_NOW | unix::RTLD_GLOBAL) };
    opened.map(Library::from)
}

#[cfg(not(unix))]
fn open(file: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the user has made it for this purpose.
    unsafe { Library::new(file) }
}

/// The files that may be the library: that of the variable alone, or those beside the executable and in the user's directory.
fn candidates() -> Vec<PathBuf> {
    if let Some(file) = std::env::var_os(VARIABLE) {
        return vec![file.into()];
    }
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| Some(own.parent()?.join(FILE)));
    beside.into_iter().chain(user_file()).collect()
}

/// The library in the user's directory.
pub(super) fn user_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let data = folder("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.or_else(|| Some(PathBuf::from(folder("HOME")?).join(".local/share")));
    data.map(|data| data.join("diderot").join(FILE))
}
