//! The command `diderotc`.

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// Compiling is making and dropping many small things.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    compiler::command::main()
}
