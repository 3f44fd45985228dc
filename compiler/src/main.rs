//! The command `diderotc`.

mod allocator;

use std::process::ExitCode;

fn main() -> ExitCode {
    compiler::command::main()
}
