//! Memory in large amounts: how much this process may still take, so that a file or a program that wants more is refused with
//! a message and not by the system; pages that are large where the system has them; files as memory; and room
//! that workers fill in any order.
//!
//! A page is made and cleared when it is first touched, and workers that touch new pages at the same time wait for each
//! other; with pages of 2 MB instead of 4 kB there is little to wait for.

mod claims;
mod contents;
#[cfg(target_os = "linux")]
mod demand;
#[cfg(not(target_os = "linux"))]
#[path = "memory/undemanded.rs"]
mod demand;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod lost;
#[cfg(unix)]
mod mapped;
#[cfg(not(unix))]
#[path = "memory/unmapped.rs"]
mod mapped;
mod parts;

pub(crate) use claims::Meter;
pub use claims::{Claim, Shortage, claim, set_limit};
pub(crate) use contents::Contents;
pub(crate) use demand::Demand;
#[cfg(target_os = "linux")]
use lost::end_with;
#[cfg(unix)]
pub use lost::{LOST, before_lost};
pub(crate) use mapped::Mapping;
#[cfg(target_os = "linux")]
use mapped::page_size;
pub(crate) use parts::Parts;

/// Lets samples that are loaded on demand take this many bytes at most, instead of half of the available memory.
pub fn set_cache(bytes: u64) {
    demand::set_cache(bytes);
}

/// The most bytes that one byte of a compressed file can stand for: no compression that is read reaches more. A code of LZW has twelve bits, and
/// repeats 4,096 bytes at most.
pub(crate) const MOST_OF_A_BYTE: u64 = 4096;

/// The most bytes that a compressed file of this length can stand for.
pub(crate) fn most_unpacked(length: u64) -> usize {
    usize::try_from(length.saturating_mul(MOST_OF_A_BYTE)).unwrap_or(usize::MAX)
}

/// The available memory in bytes: that of the system, within the limits of the process and its control group, and within the limit
/// of all claims together. `None` if the system does not report it.
pub fn available() -> Option<u64> {
    let left = claims::left_by_limit();
    match available_to_process() {
        Some(bytes) => Some(bytes.min(left)),
        None => Some(left).filter(|&left| left != u64::MAX),
    }
}

/// Bytes that the system has for this process.
fn available_to_process() -> Option<u64> {
    let of_system =
        field(&text("/proc/meminfo")?, "MemAvailable:").map(|kilobytes| kilobytes << 10);
    [of_system, in_group(), in_address_space()]
        .into_iter()
        .flatten()
        .min()
}

/// `count` zeros, or `None` if there is no memory for them.
pub(crate) fn zeros<T: Zero>(count: usize) -> Option<Vec<T>> {
    let layout = std::alloc::Layout::array::<T>(count).ok()?;
    if layout.size() == 0 {
        return Some(Vec::new());
    }
    // SAFETY: the layout has a size. The memory is released with the same layout, by the vector that takes it as its
    // own, and all its bits are 0, which `Zero` says is a value.
    unsafe {
        // Fresh pages are zero already: they are not touched here, so memory is taken only as samples arrive.
        let memory = std::alloc::alloc_zeroed(layout).cast::<T>();
        (!memory.is_null()).then(|| Vec::from_raw_parts(memory, count, count))
    }
}

/// A number whose zero has no bit set.
///
/// # Safety
/// A value whose bytes are all 0 is valid.
pub(crate) unsafe trait Zero: Copy {}

// SAFETY: the bits of 0.0 are 0.
unsafe impl Zero for f32 {}
// SAFETY: as above.
unsafe impl Zero for f64 {}
// SAFETY: the bits of 0 are 0.
unsafe impl Zero for u8 {}
// SAFETY: as above.
unsafe impl Zero for u16 {}

fn text(file: &str) -> Option<String> {
    std::fs::read_to_string(file).ok()
}

/// The first number after a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The memory left to the control group, by which containers and batch systems limit memory.
fn in_group() -> Option<u64> {
    let groups = text("/proc/self/cgroup")?;
    [in_group_2(&groups), in_group_1(&groups)]
        .into_iter()
        .flatten()
        .min()
}

/// The same for groups of version 2.
fn in_group_2(groups: &str) -> Option<u64> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let in_file = |file: &str| text(&format!("/sys/fs/cgroup{group}/{file}"));
    let number = |file: &str| in_file(file)?.trim().parse().ok();
    let (most, used) = (number("memory.max")?, number("memory.current")?);
    let statistics = in_file("memory.stat").unwrap_or_default();
    Some(left_in_group(
        most,
        used,
        field(&statistics, "inactive_file "),
    ))
}

/// The same for groups of version 1, which limit one resource each.
fn in_group_1(groups: &str) -> Option<u64> {
    let of_memory = |line: &str| {
        let (resources, group) = line.split_once(':')?.1.split_once(':')?;
        let is_found = resources.split(',').any(|resource| resource == "memory");
        is_found.then(|| group.to_string())
    };
    let group = groups.lines().find_map(of_memory)?;
    let in_file = |file: &str| text(&format!("/sys/fs/cgroup/memory{group}/{file}"));
    let statistics = in_file("memory.stat")?;
    let most = field(&statistics, "hierarchical_memory_limit ")?;
    let used = in_file("memory.usage_in_bytes")?.trim().parse().ok()?;
    Some(left_in_group(
        most,
        used,
        field(&statistics, "total_inactive_file "),
    ))
}

/// Cached files count as used but are given back when memory is short.
fn left_in_group(most: u64, used: u64, cached: Option<u64>) -> u64 {
    most.saturating_sub(used.saturating_sub(cached.unwrap_or(0)))
}

/// The memory left below the limit that `ulimit -v` sets.
fn in_address_space() -> Option<u64> {
    let most = field(&text("/proc/self/limits")?, "Max address space")?;
    let used = field(&text("/proc/self/status")?, "VmSize:")? << 10;
    Some(most.saturating_sub(used))
}

/// A number of bytes as people read it.
pub fn shown(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    let mut size = bytes as f64;
    let mut unit = "bytes";
    for larger in UNITS {
        if size < 1000.0 {
            break;
        }
        size /= 1000.0;
        unit = larger;
    }
    let digits = usize::from(unit != "bytes" && size < 100.0);
    format!("{size:.digits$} {unit}")
}

/// Fewer bytes are not worth asking for.
const WORTHWHILE: usize = 4 << 20;

/// Tells the system that the pages of freshly allocated memory had better be large. It may not listen.
pub(crate) fn large_pages(start: *mut u8, bytes: usize) {
    if bytes < WORTHWHILE {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 1 << 12;
        let skipped = start.align_offset(PAGE);
        // SAFETY: the range is within the allocation; the advice does not change its contents.
        unsafe {
            libc::madvise(
                start.add(skipped).cast(),
                bytes - skipped,
                libc::MADV_HUGEPAGE,
            )
        };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = start;
}

/// An empty vector with room for `count` values.
pub(crate) fn roomy<T>(count: usize) -> Vec<T> {
    let values: Vec<T> = Vec::with_capacity(count);
    large_pages(
        values.as_ptr().cast_mut().cast(),
        values.capacity() * size_of::<T>(),
    );
    values
}

/// Memory that several workers write at the same time, each element at most one of them.
pub(crate) struct Room<T>(*mut T);

// SAFETY: elements are values that may be sent, and no two workers write the same.
unsafe impl<T: Send> Sync for Room<T> {}

impl<T: Copy> Room<T> {
    /// That of a vector up to its capacity, or of a slice.
    pub(crate) fn new(first: *mut T) -> Room<T> {
        Room(first)
    }

    /// Writes an element.
    ///
    /// # Safety
    /// There is room for the value, and no other thread reads or writes it meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn put(&self, index: usize, value: T) {
        // SAFETY: promised by the caller.
        unsafe { self.at(index).write(value) }
    }

    /// Where an element is.
    ///
    /// # Safety
    /// There is room for it.
    #[inline(always)]
    pub(crate) unsafe fn at(&self, index: usize) -> *mut T {
        // SAFETY: promised by the caller.
        unsafe { self.0.add(index) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_with_units() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1500, "1.5 KB"),
            (123_456_789, "123 MB"),
            (3_200_000_000, "3.2 GB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(shown(bytes), text);
        }
    }

    #[test]
    fn zeros_are_zero_and_too_many_are_refused() {
        assert_eq!(zeros::<f32>(1000), Some(vec![0.0; 1000]));
        assert_eq!(zeros::<f64>(0), Some(Vec::new()));
        assert!(zeros::<f64>(usize::MAX / 4).is_none());
        assert!(zeros::<f64>(usize::MAX).is_none());
    }

    #[test]
    fn numbers_are_found_after_their_names() {
        let text = "MemTotal:  7 kB\nMemAvailable:    12 kB\n";
        assert_eq!(field(text, "MemAvailable:"), Some(12));
        assert_eq!(field(text, "Swap:"), None);
        assert_eq!(
            field("Max address space unlimited", "Max address space"),
            None
        );
    }
}
