//! The command `diderotc`.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    process::ExitCode,
};

/// The allocator of the system, except that the command ends with a message where the process would be aborted.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// So much is asked for only by those who look whether they got it.
const ABSURD: usize = 1 << 40;

impl Allocator {
    fn checked(memory: *mut u8, size: usize) -> *mut u8 {
        if memory.is_null() && size < ABSURD {
            compiler::command::out_of_memory(size);
        }
        memory
    }
}

// SAFETY: all memory is that of the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: promised by the caller.
        Allocator::checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: promised by the caller.
        Allocator::checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: promised by the caller.
        Allocator::checked(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: promised by the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn main() -> ExitCode {
    compiler::command::main()
}
