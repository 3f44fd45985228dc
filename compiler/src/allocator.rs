//! The allocator of the command, and of benchmarks that measure what the command does. A library leaves this to its host.
//!
//! A compilation allocates and frees hundreds of thousands of small things, which mimalloc does in a third of the time. What is
//! large is data, and remains with the system, which gets it back when it is freed. If there is no memory left, the command ends
//! with a message where the process would be aborted.

use mimalloc::MiMalloc;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    ffi::{c_int, c_long},
    sync::Once,
};

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// So many bytes are large.
const LARGE: usize = 1 << 20;

/// So much is asked for only by those who look whether they got it.
const ABSURD: usize = 1 << 40;

unsafe extern "C" {
    /// Sets an option of mimalloc, by its place in `mi_option_t`.
    fn mi_option_set(option: c_int, value: c_long);
}

/// The option `mi_option_arena_reserve`: how many kibibytes of addresses mimalloc takes at once.
const RESERVED_AT_ONCE: (c_int, c_long) = (23, 64 << 10);

impl Allocator {
    /// The allocator for what is small. By itself it would take a gibibyte of addresses, and where `ulimit -v` limits them, data
    /// needs them.
    fn small() -> MiMalloc {
        static PREPARED: Once = Once::new();
        PREPARED.call_once(|| {
            let (option, value) = RESERVED_AT_ONCE;
            // SAFETY: it stores a number, and nothing has been allocated yet.
            unsafe { mi_option_set(option, value) }
        });
        MiMalloc
    }

    fn checked(memory: *mut u8, size: usize) -> *mut u8 {
        if memory.is_null() && size < ABSURD {
            compiler::command::out_of_memory(size);
        }
        memory
    }
}

// SAFETY: the size of a block says which of two allocators it is from, and both keep the contract.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: promised by the caller.
        let memory = match layout.size() < LARGE {
            true => unsafe { Allocator::small().alloc(layout) },
            false => unsafe { System.alloc(layout) },
        };
        Allocator::checked(memory, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: promised by the caller.
        let memory = match layout.size() < LARGE {
            true => unsafe { Allocator::small().alloc_zeroed(layout) },
            false => unsafe { System.alloc_zeroed(layout) },
        };
        Allocator::checked(memory, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: promised by the caller; both sizes are on the same side.
        let moved = match (layout.size() < LARGE, size < LARGE) {
            (true, true) => unsafe { MiMalloc.realloc(memory, layout, size) },
            (false, false) => unsafe { System.realloc(memory, layout, size) },
            _ => {
                // SAFETY: the caller promises a size for which there is a layout of this alignment.
                let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
                // SAFETY: promised by the caller.
                let moved = unsafe { self.alloc(new) };
                if !moved.is_null() {
                    // SAFETY: two blocks, each of at least so many bytes; the old one is given up.
                    unsafe {
                        moved.copy_from_nonoverlapping(memory, size.min(layout.size()));
                        self.dealloc(memory, layout);
                    }
                }
                moved
            }
        };
        Allocator::checked(moved, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: promised by the caller.
        match layout.size() < LARGE {
            true => unsafe { MiMalloc.dealloc(memory, layout) },
            false => unsafe { System.dealloc(memory, layout) },
        }
    }
}
