//! What users see: whole runs of the command with one worker and with all of them, files written.

use super::cases::{self, Case};
use super::ours::Given;
use super::{PATIENCE, TIMES, cores};
use std::{process::Command, time::Instant};

/// Prints the table.
pub(crate) fn print_table() {
    let all = cores();
    println!(
        "Milliseconds from the first strand made to the last file written, by the command; 1 and {all} workers, best of {TIMES} or more"
    );
    println!("{:<12}{:>10}{all:>10}{:>10}", "", 1, "1/n");
    for case in cases::all() {
        let mut best = [f64::MAX; 2];
        let start = Instant::now();
        for _ in (0..).take_while(|&n| n < TIMES || start.elapsed() < PATIENCE) {
            for (best, workers) in best.iter_mut().zip([1, all]) {
                *best = best.min(milliseconds(&case, workers));
            }
        }
        let [one, many] = best;
        println!(
            "{:<12}{one:>10.1}{many:>10.1}{:>10.2}",
            case.name,
            one / many
        );
    }
}

/// What a run says it took, after compilation and loading.
pub(crate) fn milliseconds(case: &Case, workers: usize) -> f64 {
    // Outputs go to files of their names, so it runs where these may be; to replace files takes longer than to make new ones.
    let outputs = cases::folder().join("outputs");
    let _ = std::fs::remove_dir_all(&outputs);
    std::fs::create_dir(&outputs).expect("a folder for outputs");
    let root = std::env::current_dir().expect("the root");
    let mut command = Command::new(env!("CARGO_BIN_EXE_diderotc"));
    command.arg(root.join(&case.file));
    for given in &case.given {
        match given {
            Given::Int(name, n) => command.arg(format!("-{name}")).arg(n.to_string()),
            Given::File(name, path) => command.arg(format!("-{name}")).arg(root.join(path)),
        };
    }
    command.args(["-t", "--nworkers", &workers.to_string()]);
    let ran = command.current_dir(outputs).output();
    let ran = ran.expect("the command");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{}: {said}", case.name);
    let part = |name: &str| -> f64 {
        let line = said.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|rest| rest.split_whitespace().next());
        number.and_then(|text| text.parse().ok()).expect("a time")
    };
    ["create", "steps", "gather", "write"]
        .map(part)
        .iter()
        .sum()
}
