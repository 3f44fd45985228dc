//! Memory whose contents are made when they are first touched, part by part, and given up again when there are too many of them.
//!
//! The pages of a [`Demand`] cannot be read until the parts that have bytes in them are made. A load of such a page is a signal; its
//! handler passes the address to a thread that makes the parts, and waits. So code that loads from the memory needs no test of its own,
//! and has the same bits whatever is kept. All such memory of a process shares one [`pool`], which keeps a limited number of bytes.
//!
//! The bytes are those of a file without a name that is mapped twice: once for loads, page by page protected or not, and once for the
//! threads that make parts. A page appears to loads only when all of it is there.

mod pool;
mod requests;

use super::Parts;
use pool::POOL;
use requests::Note;
use std::ffi::{CStr, c_int, c_void};
use std::fmt;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};

/// Memory whose contents are made on demand.
pub(crate) struct Demand {
    room: Arc<Room>,
    note: Note,
    /// The number of the room in the pool.
    number: usize,
}

impl fmt::Debug for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Demand({} bytes)", self.room.bytes)
    }
}

impl Demand {
    /// Memory for `bytes` bytes with these contents, and at least `beyond` bytes after them that are 0.
    ///
    /// # Errors
    /// The system refuses, or there is no memory for a cache.
    pub(crate) fn new(parts: Arc<dyn Parts>, bytes: usize, beyond: usize) -> io::Result<Demand> {
        requests::watch()?;
        let room = Arc::new(Room::new(parts, bytes, beyond)?);
        let number = POOL.enter(&room)?;
        match Note::new(room.reader as usize, room.length, number) {
            Ok(note) => Ok(Demand { room, note, number }),
            Err(error) => {
                POOL.leave(number);
                Err(error)
            }
        }
    }

    /// The first byte, at the beginning of a page.
    pub(crate) fn first(&self) -> *const u8 {
        self.room.reader
    }

    /// Why a part could not be made, if one could not.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.room.failure.get().map(String::as_str)
    }
}

impl Drop for Demand {
    fn drop(&mut self) {
        self.note.end();
        POOL.leave(self.number);
    }
}

/// Lets all contents that are kept take this many bytes, instead of half of the available memory.
pub(crate) fn set_cache(bytes: u64) {
    POOL.set_capacity(bytes);
}

/// Pages of this many bytes are protected or not.
fn page() -> usize {
    static PAGE: OnceLock<usize> = OnceLock::new();
    *PAGE.get_or_init(super::page_size)
}

/// The memory behind a [`Demand`].
struct Room {
    parts: Arc<dyn Parts>,
    bytes: usize,
    /// All bytes, in whole pages.
    length: usize,
    file: OwnedFd,
    reader: *mut u8,
    writer: *mut u8,
    failure: OnceLock<String>,
}

// SAFETY: loads and stores go through the pool, which lets one thread at a time store the bytes of a part.
unsafe impl Send for Room {}
// SAFETY: as above.
unsafe impl Sync for Room {}

const NAME: &CStr = c"diderot samples";

impl Room {
    fn new(parts: Arc<dyn Parts>, bytes: usize, beyond: usize) -> io::Result<Room> {
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let length = bytes
            .checked_add(beyond)
            .and_then(|all| all.checked_next_multiple_of(page()))
            .ok_or_else(too_large)?;
        let size = libc::off_t::try_from(length).map_err(|_| too_large())?;
        // SAFETY: the name ends with a zero; the descriptor is new, and owned by nothing else.
        let file = unsafe {
            let file = libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(file)
        };
        // SAFETY: the descriptor is open.
        if unsafe { libc::ftruncate(file.as_raw_fd(), size) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let reader = map(&file, length, libc::PROT_NONE)?;
        let writer = map(&file, length, libc::PROT_READ | libc::PROT_WRITE);
        let writer = writer.inspect_err(|_| unmap(reader, length))?;
        let room = Room {
            parts,
            bytes,
            length,
            file,
            reader,
            writer,
            failure: OnceLock::new(),
        };
        // Pages after the last byte are there from the beginning.
        let pages = length / page();
        room.protect(bytes.div_ceil(page())..pages, libc::PROT_READ)?;
        Ok(room)
    }

    /// The parts with bytes in a page.
    fn parts_of(&self, number: usize) -> Vec<usize> {
        let (mut byte, end) = (number * page(), ((number + 1) * page()).min(self.bytes));
        let mut parts = Vec::new();
        while byte < end {
            let (part, range) = self.parts.around(byte);
            if !parts.contains(&part) {
                parts.push(part);
            }
            byte = range.end;
        }
        parts
    }

    /// Makes a part. One that cannot be made is zeros, and the reason is kept.
    ///
    /// # Safety
    /// No other thread makes it, and no page with bytes of it can be loaded.
    unsafe fn make(&self, part: usize) {
        // SAFETY: promised by the caller; the writing side has all bytes.
        let make = AssertUnwindSafe(|| unsafe { self.parts.make(part, self.writer) });
        // The load that waits for the part must not wait for ever.
        let broken = |_| Err("samples cannot be decoded".to_string());
        if let Err(why) = catch_unwind(make).unwrap_or_else(broken) {
            let _ = self.failure.set(why);
        }
        self.leave_writer(part);
    }

    /// Lets the writing side forget the pages of a part, which stay in the file: otherwise they would count twice.
    fn leave_writer(&self, part: usize) {
        for range in self.parts.ranges(part) {
            let first = range.start / page() * page();
            let end = range.end.next_multiple_of(page());
            // SAFETY: the pages are those of the writing side; a file that is mapped keeps its bytes.
            unsafe {
                let first = self.writer.add(first).cast::<c_void>();
                libc::madvise(
                    first,
                    end - range.start / page() * page(),
                    libc::MADV_DONTNEED,
                );
            }
        }
    }

    /// Lets pages be loaded, or not.
    fn protect(&self, pages: Range<usize>, protection: c_int) -> io::Result<()> {
        if pages.is_empty() {
            return Ok(());
        }
        let bytes = pages.len() * page();
        // SAFETY: the pages are those of the reading side.
        let result = unsafe {
            let first = self.reader.add(pages.start * page());
            libc::mprotect(first.cast(), bytes, protection)
        };
        match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Gives the memory of pages back to the system; they are zeros then.
    fn forget(&self, pages: Range<usize>) {
        if pages.is_empty() {
            return;
        }
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let (start, bytes) = (pages.start * page(), pages.len() * page());
        // SAFETY: the descriptor is open. Both numbers are less than the length, which was one of the system's.
        unsafe {
            libc::fallocate(
                self.file.as_raw_fd(),
                mode,
                start as libc::off_t,
                bytes as libc::off_t,
            )
        };
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        unmap(self.reader, self.length);
        unmap(self.writer, self.length);
    }
}

/// Maps a whole file. A process that this one forks does not have the memory: both would give up the parts of one file.
fn map(file: &OwnedFd, length: usize, protection: c_int) -> io::Result<*mut u8> {
    // SAFETY: the system chooses an address; the advice does not change the contents.
    unsafe {
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let room = libc::mmap(null_mut(), length, protection, flags, file.as_raw_fd(), 0);
        if room == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        libc::madvise(room, length, libc::MADV_DONTFORK);
        Ok(room.cast())
    }
}

fn unmap(room: *mut u8, length: usize) {
    // SAFETY: the range was mapped by `map`, and nothing borrows it any more.
    unsafe { libc::munmap(room.cast::<c_void>(), length) };
}

#[cfg(test)]
mod tests;
