//! Index notation: every program under `tests/index` gives the numbers that it says it gives, to 1e-10 in double precision, in
//! every IR under the reference interpreter and as machine code for every number of strands per call in both precisions.

#[allow(dead_code, reason = "other tests use the rest of it")]
mod stages;

use compiler::pipeline::Options;
use libtest_mimic::{Arguments, Trial};
use stages::{Case, WIDTHS, programs, read};
use std::{path::Path, process::ExitCode};

/// The numbers that a program says its outputs have, in lines `// expect NAME: …`.
fn expected(text: &str) -> Vec<(String, Vec<f64>)> {
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("// expect "));
    lines
        .map(|line| {
            let (name, values) = line.split_once(':').expect("a name and values");
            let values = values
                .split_whitespace()
                .map(|v| v.parse().expect("a number"));
            (name.trim().to_owned(), values.collect())
        })
        .collect()
}

#[track_caller]
fn compare(outputs: &[(String, Vec<f64>)], expected: &[(String, Vec<f64>)], how: &str) {
    for (name, values) in expected {
        let found = outputs.iter().find(|(output, _)| output == name);
        let (_, found) = found.unwrap_or_else(|| panic!("no output `{name}`"));
        assert_eq!(found.len(), values.len(), "`{name}` is {found:?}, {how}");
        for (f, w) in found.iter().zip(values) {
            let near = (f - w).abs() <= 1e-10 * w.abs().max(1.0);
            assert!(near, "`{name}` is {found:?}, not {values:?}, {how}");
        }
    }
}

fn check(path: &Path) {
    let source = read(path);
    let expected = expected(&source.text);
    assert!(!expected.is_empty(), "nothing is expected");
    let case = Case::new(source);
    let agreed = case.stages_agree();
    compare(&agreed.1.outputs, &expected, "interpreted");
    for width in WIDTHS {
        let options = Options {
            double: true,
            width: Some(width),
            ..Options::default()
        };
        let outputs = case.run(&options, 1).outputs;
        compare(&outputs, &expected, &format!("{width} strands per call"));
    }
    case.machine_code_agrees(&agreed, 0);
}

fn main() -> ExitCode {
    let programs = programs("compiler/tests/index");
    assert!(programs.len() > 10, "only {} programs", programs.len());
    let trials = programs
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            Trial::test(name.into_owned(), move || {
                check(&path);
                Ok(())
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
