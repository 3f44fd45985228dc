//! The command `diderotc` in the process of another program.

use std::ffi::OsString;

/// Runs the command `diderotc` with these words, its name first, and ends the process as the command does. It is for
/// interpreters that start for nothing else: Ctrl-C, standard input and output, and the status of the process are the command's.
pub fn command(words: Vec<OsString>) -> ! {
    compiler::command::main_in_interpreter(words)
}
