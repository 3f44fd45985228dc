//! The command `diderotc`.

use std::process::ExitCode;

fn main() -> ExitCode {
    compiler::command::main()
}
