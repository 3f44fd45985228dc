//! Files as memory: pages of a file appear when they are first touched, and go again when memory is short.
//!
//! A mapping goes on for some bytes after the wanted ones, whether the file does or not, so that wide loads near the end stay inside
//! it. The bytes of a mapping have no alignment. They are those of the file as it was opened: a file that replaces it under its name
//! changes nothing.

use super::lost::{enter, leave};
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

/// Bytes of a file, mapped for reading.
#[derive(Debug)]
pub(crate) struct Mapping {
    room: *mut c_void,
    length: usize,
    /// From the beginning of the first page to the first byte that was wanted.
    before: usize,
    /// The number of the note that the handler of the signal has of it.
    note: usize,
}

// SAFETY: the memory is only read.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes` bytes of a file from `start` on, and at least `beyond` readable bytes after them. `name` is for the message if
    /// the file becomes shorter.
    ///
    /// # Errors
    /// The file is shorter now, or the system refuses.
    pub(crate) fn new(
        file: &File,
        name: &str,
        start: u64,
        bytes: usize,
        beyond: usize,
    ) -> io::Result<Mapping> {
        let length = file.metadata()?.len();
        if start
            .checked_add(bytes as u64)
            .is_none_or(|end| end > length)
        {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let page = page_size();
        let before = (start % page as u64) as usize;
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let mapped = before.checked_add(bytes).ok_or_else(too_large)?;
        let length = mapped.checked_add(beyond).ok_or_else(too_large)?;
        let length = length
            .checked_next_multiple_of(page)
            .ok_or_else(too_large)?;
        let offset = libc::off_t::try_from(start - before as u64).map_err(|_| too_large())?;
        // SAFETY: the system chooses an address for the first mapping; the second replaces pages of it, which nothing else knows
        // of yet.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
            let room = libc::mmap(null_mut(), length, libc::PROT_READ, flags, -1, 0);
            if room == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let flags = libc::MAP_SHARED | libc::MAP_FIXED;
            let file = file.as_raw_fd();
            let put = libc::mmap(room, mapped, libc::PROT_READ, flags, file, offset);
            let note = match put == libc::MAP_FAILED {
                true => Err(io::Error::last_os_error()),
                false => enter(room as usize, length, name),
            };
            match note {
                Ok(note) => Ok(Mapping {
                    room,
                    length,
                    before,
                    note,
                }),
                Err(error) => {
                    libc::munmap(room, length);
                    Err(error)
                }
            }
        }
    }

    /// The first of the bytes; it has no alignment.
    pub(crate) fn first(&self) -> *const u8 {
        // SAFETY: the first wanted byte is in the first page.
        unsafe { self.room.cast::<u8>().add(self.before) }
    }

    /// Tells the system that pages are touched in no order, so that it reads nothing ahead.
    pub(crate) fn expect_disorder(&self) {
        // SAFETY: the range is that of the mapping; the advice does not change its contents.
        unsafe { libc::madvise(self.room, self.length, libc::MADV_RANDOM) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        leave(self.note);
        // SAFETY: the range was mapped by `new`, and nothing borrows it any more.
        unsafe { libc::munmap(self.room, self.length) };
    }
}

/// Bytes of a page.
pub(super) fn page_size() -> usize {
    // SAFETY: the call has no conditions.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(1 << 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_have_the_bytes_of_the_file_and_readable_ones_after_them() {
        let name = format!("diderot-mapped-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let page = page_size();
        // The last file ends with a page.
        for length in [1, 5, page - 3, page, 3 * page] {
            let bytes: Vec<u8> = (0..length).map(|n| (n * 7 % 251) as u8).collect();
            std::fs::write(&path, &bytes).expect("a temporary file");
            let file = File::open(&path).expect("the file");
            for start in [0, 1, length / 2, length - 1] {
                let count = length - start;
                let mapping = Mapping::new(&file, "FILE", start as u64, count, 64).expect("a map");
                // SAFETY: the caller promises these bytes.
                let found = unsafe { std::slice::from_raw_parts(mapping.first(), count + 64) };
                assert_eq!(found[..count], bytes[start..], "{start} of {length}");
                assert_eq!(found[count..], [0; 64], "{start} of {length}");
            }
            let beyond = Mapping::new(&file, "FILE", 1, length, 0);
            let kind = beyond.expect_err("a byte too many").kind();
            assert_eq!(kind, io::ErrorKind::UnexpectedEof);
        }
        std::fs::remove_file(path).expect("the file");
    }
}
