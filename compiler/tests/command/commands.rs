//! Running the command in a directory of its own.

use runtime::nrrd;
use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
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

/// The names of the files there, sorted.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// The numbers of a NRRD file.
pub(crate) fn numbers(dir: &Path, file: &str) -> Vec<f64> {
    let array = nrrd::read(&dir.join(file)).unwrap_or_else(|e| panic!("{e}"));
    array.samples().convert().expect("numbers")
}

/// A run that has not written its snapshot after this time never will.
const PATIENCE: Duration = Duration::from_secs(120);

/// Starts a run and sends it a signal when it has written a snapshot; returns its messages and its status.
pub(crate) fn interrupted(
    directory: &Path,
    words: &[&str],
    snapshot: &str,
    signal: &str,
) -> (String, Option<i32>) {
    let _ = fs::remove_file(directory.join(snapshot));
    let mut child = command(directory, words)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let start = Instant::now();
    while !directory.join(snapshot).exists() {
        let ended = child.try_wait().expect("a process");
        if ended.is_some() || start.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("{words:?}: no {snapshot} among {:?}", names(directory));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.expect("the command `kill`").success());
    let start = Instant::now();
    let status = loop {
        match child.try_wait().expect("a process") {
            Some(status) => break status,
            None if start.elapsed() > PATIENCE => {
                let _ = child.kill();
                panic!("{words:?}: {signal} does not end it");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut message = String::new();
    let mut told = child.stderr.take().expect("piped");
    told.read_to_string(&mut message).expect("text");
    (message, status.code())
}
