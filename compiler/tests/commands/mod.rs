//! Running the command in a directory of its own.

#![allow(dead_code, reason = "each test uses some of it")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// An empty directory of its own for each test.
pub(crate) fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory for the test");
    directory
}

/// The command, to be run in a directory.
pub(crate) fn command(directory: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_diderotc"));
    command.args(words).current_dir(directory);
    command
}

/// What the command says.
pub(crate) fn diderotc(directory: &Path, words: &[&str]) -> Output {
    command(directory, words)
        .output()
        .expect("the command runs")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn write(directory: &Path, name: &str, text: &str) {
    fs::write(directory.join(name), text).expect("a writable directory");
}
