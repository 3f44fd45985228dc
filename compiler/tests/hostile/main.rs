//! Nothing that is given to the command makes it crash or hang: mutated programs, and runs with little memory, disk or patience.
//!
//! Every case follows from its number alone. Ordinary tests try a few; many are tried by
//!
//! ```text
//! DIDEROT_CASES=100000 cargo test --release -p diderot-compiler --test hostile -- --ignored mutated --nocapture
//! DIDEROT_CASES=2000 cargo test --release -p diderot-compiler --test hostile -- --ignored limited --nocapture
//! ```
//!
//! `DIDEROT_FIRST` is the number of the first case, and `DIDEROTC` another executable to try.

mod limited;
mod mutation;

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

/// A process that has not ended after this time gets a signal, and another one each time this time has passed again.
const TIME: Duration = Duration::from_secs(30);
/// The longest time that a process may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a process ended, and its output.
struct Ended {
    output: Output,
    in_time: bool,
}

impl Ended {
    /// The failure of the process, if there is one: it may succeed, fail with a message, or be interrupted.
    fn complaint(&self) -> Option<String> {
        let told = String::from_utf8_lossy(&self.output.stderr);
        let status = self.output.status.code();
        let complaint = match status {
            _ if !self.in_time => "runs on".to_string(),
            None => format!("ends by a signal: {}", self.output.status),
            Some(0..=2 | 130) if told.contains("panicked") => "panics".to_string(),
            Some(1 | 2) if told.is_empty() => "fails without a message".to_string(),
            Some(0..=2 | 130) => return None,
            Some(other) => format!("ends with status {other}"),
        };
        let end: String = told.chars().rev().take(600).collect();
        let end: String = end.chars().rev().collect();
        Some(format!("{complaint}\n{end}"))
    }
}

/// The executable that is tried.
fn executable() -> PathBuf {
    env::var_os("DIDEROTC").map_or_else(|| env!("CARGO_BIN_EXE_diderotc").into(), PathBuf::from)
}

/// Runs the command behind some words of a shell. Its output goes to files of this name, so that it can be long.
fn run(directory: &Path, name: &str, before: &str, words: &[String]) -> Ended {
    let quoted = words.iter().map(|word| format!("'{word}'"));
    let line = format!(
        "{before} exec '{}' {}",
        executable().display(),
        quoted.collect::<Vec<_>>().join(" ")
    );
    let [out, err] = ["out", "err"].map(|suffix| directory.join(format!("{name}.{suffix}")));
    let file = |path: &Path| Stdio::from(std::fs::File::create(path).expect("a file"));
    let mut child = Command::new("sh")
        .args(["-c", &line])
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(file(&out))
        .stderr(file(&err))
        .spawn()
        .expect("a shell");
    let start = Instant::now();
    let mut asked = 0;
    let (status, in_time) = loop {
        if let Some(status) = child.try_wait().expect("a process") {
            break (status, true);
        }
        // A computation may take any time, but it must end when it gets a signal.
        if start.elapsed() > TIME * (asked + 1) {
            asked += 1;
            let id = child.id().to_string();
            let _ = Command::new("kill").args(["-TERM", &id]).status();
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            break (child.wait().expect("it was killed"), false);
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let read = |path: &Path| std::fs::read(path).unwrap_or_default();
    Ended {
        output: Output {
            status,
            stdout: read(&out),
            stderr: read(&err),
        },
        in_time,
    }
}

/// The numbers of the cases to try: few, or as many as the environment says.
fn cases(few: u64) -> std::ops::Range<u64> {
    let number = |name: &str, usual: u64| {
        let given = env::var(name).ok();
        given.map_or(usual, |n| n.parse().expect("a number"))
    };
    let first = number("DIDEROT_FIRST", 0);
    first..first + number("DIDEROT_CASES", few)
}

/// An empty directory.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("hostile")
        .join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    directory
}

/// A generator of pseudo-random numbers (splitmix).
struct Dice(u64);

impl Dice {
    /// That of a case.
    fn of(case: u64) -> Dice {
        Dice(case.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

#[test]
fn mutated_sources_are_accepted_or_refused() {
    mutation::check(cases_of_ordinary_tests(150));
}

#[test]
#[ignore = "as many cases as are wanted; see above"]
fn many_mutated_sources_are_accepted_or_refused() {
    mutation::check(cases(100_000));
}

#[test]
fn limited_runs_end_with_a_message() {
    limited::check(cases_of_ordinary_tests(12));
}

#[test]
#[ignore = "as many cases as are wanted; see above"]
fn many_limited_runs_end_with_a_message() {
    limited::check(cases(2_000));
}

/// The environment counts for those tests only that are asked for.
fn cases_of_ordinary_tests(few: u64) -> std::ops::Range<u64> {
    0..few
}
