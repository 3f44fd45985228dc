//! Programs with pieces deleted, doubled, swapped and replaced by numbers and words that are hard to bear.

use super::{Dice, directory, run};
use std::{
    fs,
    path::{Path, PathBuf},
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

/// Checks the programs of some cases; fails with those that are not borne.
pub(crate) fn check(cases: std::ops::Range<u64>) {
    let programs = programs();
    let folder = directory("mutated");
    let mut failures = Vec::new();
    let mut refused = 0;
    for start in cases.clone().step_by(BATCH as usize) {
        let batch = start..(start + BATCH).min(cases.end);
        let name = |case: u64| format!("{case}.diderot");
        for case in batch.clone() {
            let text = mutated(&mut Dice::of(case), &programs);
            fs::write(folder.join(name(case)), text).expect("a file");
        }
        let words = |cases: std::ops::Range<u64>| -> Vec<String> {
            let files = cases.map(name);
            ["check".to_string(), "--json".to_string()]
                .into_iter()
                .chain(files)
                .collect()
        };
        let ended = run(&folder, "", &words(batch.clone()));
        refused += ended.output.stdout.iter().filter(|b| **b == b'\n').count();
        if ended
            .complaint()
            .is_some_and(|c| !c.starts_with("fails without"))
        {
            for case in batch.clone() {
                let complaint = run(&folder, "", &words(case..case + 1)).complaint();
                let complaint = complaint.filter(|c| !c.starts_with("fails without"));
                failures.extend(complaint.map(|c| format!("case {case} {c}")));
            }
        }
        for case in batch {
            let failed = failures
                .iter()
                .any(|f| f.starts_with(&format!("case {case} ")));
            if !failed {
                let _ = fs::remove_file(folder.join(name(case)));
            }
        }
    }
    println!(
        "{} mutated programs, {refused} messages",
        cases.end - cases.start
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
