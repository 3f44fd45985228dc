//! Passes on programs of a few lines: every file under `tests/passes/PASS` is a test.
//!
//! A file has a text before and a text after the pass, with a line `=>` between them; lines that begin with `#` describe the test.
//! `UPDATE_EXPECT=1 cargo test -p diderot-compiler --test passes` writes the texts after; look at the difference.

use compiler::{
    high::{self, High},
    ir::interface::Interface,
    low::{self, Bounds, Low, Slots},
    mid::{self, Mid},
    ssa::{self, Dialect, Function, Program},
};
use libtest_mimic::{Arguments, Failed, Trial};
use std::{fs, path::Path, process::ExitCode};

/// A pass from text to text.
type Pass = fn(&str) -> Result<String, String>;

/// Every pass by the name of its folder.
const PASSES: [(&str, Pass); 9] = [
    ("number", |text| on::<Low, Low>(text, ssa::number_values)),
    ("dead", |text| on::<Low, Low>(text, ssa::remove_dead)),
    ("fold", |text| on::<Low, Low>(text, low::fold_constants)),
    ("flatten", |text| {
        on::<Low, Low>(text, low::flatten_short_ifs)
    }),
    ("scalarize", |text| {
        let slots = Slots::of(&Interface::default());
        on::<Mid, Low>(text, |f| ssa::remove_dead(low::scalarize(&f, &slots)))
    }),
    ("reconstruct", |text| {
        on::<High, Mid>(text, |f| ssa::remove_dead(mid::reconstruct(f)))
    }),
    ("normalize", |text| {
        on::<High, High>(text, |f| high::normalize(f, &Default::default()))
    }),
    ("hoist", |text| {
        let program: Program<Low> = text.parse()?;
        let after = low::hoist(program);
        no_violations(&after.verify())?;
        Ok(after.to_string())
    }),
    ("bounds", |text| {
        let program: Program<Low> = text.parse()?;
        let after = low::decide_by_bounds(program, Bounds::Costly);
        no_violations(&after.verify())?;
        Ok(after.to_string())
    }),
];

/// Runs a pass on the text of a function; what goes in and what comes out is verified.
fn on<D: Dialect, E: Dialect>(
    text: &str,
    pass: impl FnOnce(Function<D>) -> Function<E>,
) -> Result<String, String> {
    let before = ssa::parse_function::<D>(text)?;
    no_violations(&ssa::verify(&before))?;
    let after = pass(before);
    no_violations(&ssa::verify(&after))?;
    Ok(after.to_string())
}

fn no_violations(violations: &[String]) -> Result<(), String> {
    if violations.is_empty() {
        Ok(())
    } else {
        Err(violations.join("\n"))
    }
}

fn compare(file: &Path, pass: Pass) -> Result<(), Failed> {
    let text = fs::read_to_string(file)?;
    let (before, expected) = text.split_once("=>\n").unwrap_or((&text, ""));
    let program: Vec<&str> = before.lines().filter(|l| !l.starts_with('#')).collect();
    let after = pass(&(program.join("\n") + "\n"))?;
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(file, format!("{before}=>\n{after}"))?;
    } else if after != expected {
        return Err(format!("{after}\nwanted\n{expected}").into());
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for (name, pass) in PASSES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/passes")
            .join(name);
        let files = fs::read_dir(&folder)
            .expect("a folder for every pass")
            .flatten();
        let mut files: Vec<_> = files.map(|entry| entry.path()).collect();
        files.sort();
        assert!(!files.is_empty(), "no case for `{name}`");
        for file in files {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let test = format!("{name}/{stem}");
            trials.push(Trial::test(test, move || compare(&file, pass)));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
