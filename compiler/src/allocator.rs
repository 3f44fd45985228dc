//! The allocator of the command, and of benchmarks that measure the command. A library leaves this to its host.
//!
//! A compilation allocates and frees hundreds of thousands of small objects, which mimalloc does in a third of the time. Large
//! allocations are data; they stay with the system allocator, which returns them to the system when they are freed. (That of GNU would
//! return fewer and fewer of them, unless it has a fixed limit.) If there is no memory left, the command ends with a message instead of
//! aborting.

use mimalloc::MiMalloc;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    ffi::{c_int, c_long, c_void},
    ptr,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// This many bytes are large.
const LARGE: usize = 1 << 20;

/// Requests of at least this size may fail: their callers check the result.
const ABSURD: usize = 1 << 40;

unsafe extern "C" {
    /// Sets an option of mimalloc, by its place in `mi_option_t`.
    fn mi_option_set(option: c_int, value: c_long);
    /// Whether a block is one of mimalloc's.
    fn mi_is_in_heap_region(memory: *const c_void) -> bool;
    /// Sets an option of GNU's allocator.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn mallopt(option: c_int, value: c_int) -> c_int;
}

/// The option `M_MMAP_THRESHOLD`: blocks of at least this size are returned to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SYSTEM_RETURNS: c_int = -3;

/// The option `mi_option_arena_reserve`: how many kibibytes of addresses mimalloc takes at once.
const RESERVED_AT_ONCE: (c_int, c_long) = (23, 64 << 10);

/// Whether mimalloc once found no memory. It takes much at a time, so where it fails there may be enough for a small thing, and
/// from then on small things may be the system's.
static REFUSED: AtomicBool = AtomicBool::new(false);

impl Allocator {
    /// The allocator for small objects. By default it reserves a gibibyte of addresses, which data may need under `ulimit -v`.
    fn small() -> MiMalloc {
        static PREPARED: Once = Once::new();
        PREPARED.call_once(|| {
            let (option, value) = RESERVED_AT_ONCE;
            // SAFETY: it stores a number, and nothing has been allocated yet.
            unsafe { mi_option_set(option, value) }
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            // SAFETY: the call has no conditions.
            unsafe {
                mallopt(SYSTEM_RETURNS, LARGE as c_int)
            };
        });
        MiMalloc
    }

    /// Whether a block came from the allocator for small objects.
    fn is_small(memory: *mut u8, size: usize) -> bool {
        // SAFETY: it asks for the address only.
        size < LARGE
            && (!REFUSED.load(Ordering::Relaxed) || unsafe { mi_is_in_heap_region(memory.cast()) })
    }

    /// The block that the allocator for small objects returned, or, if that is null, one from the system.
    fn or_by_system(small: *mut u8, size: usize, by_system: impl FnOnce() -> *mut u8) -> *mut u8 {
        if !small.is_null() {
            return small;
        }
        if size < LARGE {
            REFUSED.store(true, Ordering::Relaxed);
        }
        let memory = by_system();
        if memory.is_null() && size < ABSURD {
            compiler::command::out_of_memory(size);
        }
        memory
    }
}

// SAFETY: size and address of a block say which of two allocators it is from, and both keep the contract.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let small = match layout.size() < LARGE {
            // SAFETY: promised by the caller.
            true => unsafe { Allocator::small().alloc(layout) },
            false => ptr::null_mut(),
        };
        // SAFETY: promised by the caller.
        Allocator::or_by_system(small, layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let small = match layout.size() < LARGE {
            // SAFETY: promised by the caller.
            true => unsafe { Allocator::small().alloc_zeroed(layout) },
            false => ptr::null_mut(),
        };
        // SAFETY: promised by the caller.
        Allocator::or_by_system(small, layout.size(), || unsafe {
            System.alloc_zeroed(layout)
        })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let moved = match (Allocator::is_small(memory, layout.size()), size < LARGE) {
            // SAFETY: promised by the caller; the block stays with the allocator it is from.
            (true, true) => unsafe { MiMalloc.realloc(memory, layout, size) },
            // SAFETY: as above.
            (false, false) => unsafe { System.realloc(memory, layout, size) },
            _ => ptr::null_mut(),
        };
        if !moved.is_null() {
            return moved;
        }
        // SAFETY: the caller promises a size for which there is a layout of this alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: promised by the caller.
        let moved = unsafe { self.alloc(new) };
        if !moved.is_null() {
            // SAFETY: two blocks, each of at least this many bytes; the old one is given up.
            unsafe {
                moved.copy_from_nonoverlapping(memory, size.min(layout.size()));
                self.dealloc(memory, layout);
            }
        }
        moved
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match Allocator::is_small(memory, layout.size()) {
            // SAFETY: promised by the caller; it is the allocator that the block is from.
            true => unsafe { MiMalloc.dealloc(memory, layout) },
            // SAFETY: as above.
            false => unsafe { System.dealloc(memory, layout) },
        }
    }
}
