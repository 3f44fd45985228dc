//! Runs with little memory, few bytes on the disk, many workers, closed streams: programs of the repository and mutated ones, with
//! inputs that are often absurd.

use super::{Dice, directory, mutation, run};
use std::{fs, path::Path};

/// Words that stand for the value of an input now and then.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-3",
    "7",
    "1000",
    "100000",
    "2147483647",
    "0.5",
    "1e30",
    "nan",
    "true",
    "1,2,3",
    "nothing.nrrd",
];

/// Limits of the shell: address space in kilobytes, size of files in blocks, stack, open files.
const LIMITS: &[&str] = &[
    "",
    "",
    "ulimit -v 200000;",
    "ulimit -v 300000;",
    "ulimit -v 500000;",
    "ulimit -v 1000000;",
    "ulimit -f 1;",
    "ulimit -f 20;",
    "ulimit -s 256;",
    "ulimit -n 8;",
    "exec >&-;",
    "exec 2>&-;",
];

/// Options about memory, workers and outputs.
const OPTIONS: &[&[&str]] = &[
    &[],
    &["--memory", "100k"],
    &["--memory", "3M"],
    &["--memory", "100M"],
    &["--nworkers", "1"],
    &["--nworkers", "64"],
    &["--nworkers", "5000"],
    &["--keep"],
    &["-s", "1"],
    &["-print", "printed.txt"],
    &["-print", "/dev/full"],
    &["--double"],
    &["--isa", "none"],
    &["--width", "1"],
    &["-o", "/dev/full"],
    &["-o", "x.png"],
    &["-o", "x.vtp"],
    &["-o", "missing/x.nrrd"],
    &["--long-int"],
    &["-v"],
    &["-t"],
];

/// The names of inputs in a program.
fn inputs(text: &str) -> Vec<String> {
    let declared = text
        .lines()
        .filter_map(|l| l.trim_start().strip_prefix("input "));
    let name = |rest: &str| {
        let end = rest.find(['(', '=', ';'])?;
        // The type may have parentheses of its own.
        let head = match rest[..end].contains("image") {
            true => rest.split(['=', ';']).next().unwrap_or(rest),
            false => &rest[..end],
        };
        let word = head.split_whitespace().last()?;
        let is_name = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then(|| word.to_string())
    };
    declared.filter_map(name).collect()
}

/// Runs some cases; fails with those that do not end as they should.
pub(crate) fn check(cases: std::ops::Range<u64>) {
    let programs = mutation::programs();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data");
    let mut images: Vec<String> = fs::read_dir(&data)
        .expect("data")
        .map(|entry| entry.expect("an entry").path().display().to_string())
        .collect();
    images.sort();
    let folder = directory("limited");
    let (mut failures, mut succeeded) = (Vec::new(), 0);
    for case in cases.clone() {
        let mut dice = Dice::of(case);
        let text = match dice.below(3) {
            0 => mutation::mutated(&mut dice, &programs),
            _ => programs[dice.below(programs.len())].1.clone(),
        };
        fs::write(folder.join("p.diderot"), &text).expect("a file");
        // Programs may have no end, and pictures of any size.
        let mut words: Vec<String> = ["p.diderot", "-l", "20"].map(str::to_string).to_vec();
        for input in inputs(&text) {
            let value = match dice.below(6) {
                0 => dice.one_of(VALUES).to_string(),
                1 | 2 => images[dice.below(images.len())].clone(),
                _ => continue,
            };
            words.extend([format!("--input-{input}"), value]);
        }
        for _ in 0..dice.below(4) {
            words.extend(dice.one_of(OPTIONS).iter().map(|word| word.to_string()));
        }
        let limits = dice.one_of(LIMITS);
        let ended = run(&folder, "told", &format!("trap '' XFSZ; {limits}"), &words);
        let mut complaint = ended.complaint();
        if limits.starts_with("exec") {
            // Without a reader there need not be a message.
            complaint = complaint.filter(|c| !c.starts_with("fails without"));
        }
        let left: Vec<String> = fs::read_dir(&folder)
            .expect("the folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        if left.iter().any(|name| name.ends_with(".part")) {
            complaint
                .get_or_insert_default()
                .push_str("\nleaves a temporary file");
        }
        succeeded += u64::from(ended.output.status.code() == Some(0));
        if let Some(complaint) = complaint {
            let kept = folder.join(format!("case-{case}"));
            let _ = fs::write(kept, &text);
            failures.push(format!("case {case}: {limits} {words:?} {complaint}"));
        }
        for name in left.iter().filter(|name| !name.starts_with("case-")) {
            let _ = fs::remove_file(folder.join(name));
        }
    }
    println!(
        "{} limited runs, {succeeded} succeeded",
        cases.end - cases.start
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
