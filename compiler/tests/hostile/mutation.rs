//! Programs with pieces deleted, doubled, swapped and replaced by numbers and words that are hard to bear.

use super::{Dice, directory, run};
use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

/// What stands for a piece now and then.
const HARD: &[&str] = &[
    "0",
    "-1",
    "2147483647",
    "-2147483648",
    "2147483648",
    "9223372036854775807",
    "1e308",
    "1e-320",
    "∞",
    "{}",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ";",
    "\"",
    "/*",
    "*/",
    "//",
    "@",
    "⊗",
    "∇",
    "∇⊗∇",
    "•",
    "^",
    "0.0",
    "1.0/0.0",
    "nan",
    "tensor[3,3,3,3]",
    "real[100000]",
    "image(3)[3,3]",
    "field#9(3)[9,9]",
    "foreach",
    "strand",
    "input",
    "output",
    "stabilize",
    "new",
    "die",
    "\\grad",
    "\u{1b}[31m",
    "é",
    "sphere(0)",
    "#version 1.0\n",
    "import \"x\";",
    "bspln5",
    "tent",
    "ctmr",
    "eigensystem",
    "1000000000",
    "0..2147483647",
];

/// Every program of the repository that mutations start from.
pub(crate) fn programs() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("../programs"), root.join("tests/errors")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(folder).expect("a folder");
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            match path.extension().is_some_and(|e| e == "diderot") {
                true => found.push(path),
                false if path.is_dir() => folders.push(path),
                false => {}
            }
        }
    }
    found.sort();
    let read = |path: PathBuf| fs::read_to_string(&path).ok().map(|text| (path, text));
    found.into_iter().filter_map(read).collect()
}

/// The text cut where tokens could begin.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        let word = c.is_alphanumeric() || "_'.#".contains(c);
        match pieces.last_mut() {
            Some(last) if word && in_word => last.push(c),
            _ => pieces.push(c.to_string()),
        }
        in_word = word;
    }
    pieces
}

/// The program of a case.
pub(crate) fn mutated(dice: &mut Dice, programs: &[(PathBuf, String)]) -> String {
    let (_, text) = &programs[dice.below(programs.len())];
    let mut all = pieces(text);
    // Most changes are small, so that some programs get through.
    for _ in 0..=dice.below(4) * dice.below(3) {
        if all.is_empty() {
            break;
        }
        let (at, other) = (dice.below(all.len()), dice.below(all.len()));
        match dice.below(7) {
            0 => drop(all.remove(at)),
            1 => all.insert(at, all[other].clone()),
            2 => all.swap(at, other),
            3 => all[at] = all[other].clone(),
            4 => all[at] = dice.one_of(HARD).to_string(),
            5 => all.insert(at, dice.one_of(HARD).to_string()),
            _ => {
                let end = (at + dice.below(40)).min(all.len());
                let part = all[at..end].to_vec();
                all.splice(other..other, part);
            }
        }
    }
    all.concat()
}

/// Programs that one process checks.
const BATCH: u64 = 250;

/// Checks the programs of some cases on all cores; fails with those that are not borne.
pub(crate) fn check(cases: Range<u64>) {
    let programs = programs();
    let folder = directory("mutated");
    let next = AtomicU64::new(cases.start);
    let (failures, refused) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let work = || loop {
        let start = next.fetch_add(BATCH, Relaxed);
        if start >= cases.end {
            return;
        }
        let batch = start..(start + BATCH).min(cases.end);
        let (wrong, messages) = check_batch(&folder, &programs, batch);
        refused.fetch_add(messages, Relaxed);
        failures.lock().unwrap().extend(wrong);
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    println!(
        "{} mutated programs, {} messages",
        cases.end - cases.start,
        refused.into_inner()
    );
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The complaints about the programs of some cases, which one process checks, and the number of its messages. Files of programs
/// that are not borne stay.
fn check_batch(
    folder: &Path,
    programs: &[(PathBuf, String)],
    cases: Range<u64>,
) -> (Vec<String>, usize) {
    let name = |case: u64| format!("{case}.diderot");
    for case in cases.clone() {
        let text = mutated(&mut Dice::of(case), programs);
        fs::write(folder.join(name(case)), text).expect("a file");
    }
    let checked = |cases: Range<u64>| {
        let words = ["check", "--json"].map(str::to_string).into_iter();
        let words: Vec<String> = words.chain(cases.clone().map(name)).collect();
        run(folder, &cases.start.to_string(), "", &words)
    };
    let is_bad = |complaint: &String| !complaint.starts_with("fails without");
    let ended = checked(cases.clone());
    let messages = ended.output.stdout.iter().filter(|b| **b == b'\n').count();
    let all_are_borne = !ended.complaint().is_some_and(|c| is_bad(&c));
    let mut failures = Vec::new();
    for case in cases {
        let alone = || checked(case..case + 1).complaint().filter(is_bad);
        match if all_are_borne { None } else { alone() } {
            Some(complaint) => failures.push(format!("case {case} {complaint}")),
            None => {
                let _ = fs::remove_file(folder.join(name(case)));
            }
        }
    }
    (failures, messages)
}
