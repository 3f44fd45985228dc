//! Every program under `tests/errors` is a test: it says in comments what the compiler must report about them.
//!
//! `//~ error: text` expects an error with exactly this text that begins on the same line; `//~^` speaks of the line above, `//~^^`
//! of the second line above, `//~v` of the line below; `warning` in the place of `error` expects a warning. `//~ hint: text` expects
//! a hint with this text on the expected diagnostic that precedes it. Every diagnostic of a program must be expected. Programs under
//! `on-demand` are checked with all warnings that one can ask for.

use libtest_mimic::{Arguments, Trial};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use compiler::{
    front::{
        codes,
        diag::{Diagnostic, Severity},
        source::Source,
        syntax,
    },
    pipeline::{self, Options},
};

/// Everything that the front end reports about a program. Programs about syntax need not make sense beyond it.
fn diagnostics(source: &Source) -> Vec<Diagnostic> {
    if source.path.starts_with("syntax") {
        return syntax::parse(source).1;
    }
    let options = Options {
        warn: match source.path.starts_with("on-demand") {
            true => codes::ON_DEMAND.to_vec(),
            false => Vec::new(),
        },
        ..Options::default()
    };
    pipeline::check(source, &options).diagnostics
}

#[derive(Debug)]
struct Expectation {
    line: usize,
    severity: Severity,
    message: String,
    hints: Vec<String>,
}

/// The most brackets that are missing at one place.
const REPEATED: usize = 3;

/// The title of every fix names the new text. After the fix the program has the message once less; where a bracket is missing twice,
/// after two fixes.
fn fixes_remove_their_messages(root: &Path, files: &[PathBuf]) {
    let (mut fixes, mut codes) = (0, BTreeSet::new());
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(file).to_owned();
        let text = fs::read_to_string(file).expect("the program can be read");
        let source = Source::new(name.clone(), text.clone());
        let before = diagnostics(&source);
        for diagnostic in &before {
            for fix in &diagnostic.fixes {
                let same = |other: &&Diagnostic| {
                    (other.code, &other.message) == (diagnostic.code, &diagnostic.message)
                };
                let count = |found: &[Diagnostic]| found.iter().filter(same).count();
                let mut fixed = text.clone();
                let is_removed = (0..REPEATED).any(|_| {
                    for (span, with) in fix.edits.iter().rev() {
                        fixed.replace_range(span.start as usize..span.end as usize, with);
                    }
                    let after = diagnostics(&Source::new(name.clone(), fixed.clone()));
                    count(&after) < count(&before)
                });
                assert!(
                    is_removed,
                    "{}: `{}` does not remove `{}`",
                    name.display(),
                    fix.title,
                    diagnostic.message,
                );
                let is_named = |(_, with): &(_, String)| fix.title.contains(with.trim_end());
                assert!(fix.edits.iter().all(is_named), "{fix:?}");
                fixes += 1;
                codes.insert(diagnostic.code);
            }
        }
    }
    assert!(fixes > 60 && codes.len() > 10, "{fixes} fixes of {codes:?}");
}

fn programs_under(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the entry can be read").path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files.extend(programs_under(&path));
        } else if path.extension().is_some_and(|suffix| suffix == "diderot") {
            files.push(path);
        }
    }
    files
}

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let files = programs_under(&root);
    assert!(!files.is_empty(), "no programs under {}", root.display());
    let mut trials = vec![
        Trial::test("expectations_are_read", || {
            an_expectation_speaks_of_its_own_line_or_of_one_above_or_below();
            Ok(())
        }),
        Trial::test("the_runner_can_fail", || {
            the_runner_notices_missing_and_unexpected_diagnostics();
            Ok(())
        }),
    ];
    let all = files.clone();
    let under = root.clone();
    trials.push(Trial::test("fixes_remove_their_messages", move || {
        fixes_remove_their_messages(&under, &all);
        Ok(())
    }));
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).to_owned();
        trials.push(Trial::test(name.display().to_string(), move || {
            let text = fs::read_to_string(&file)?;
            let failures = mismatches(&Source::new(name, text));
            if failures.is_empty() {
                Ok(())
            } else {
                Err(failures.join("\n").into())
            }
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The diagnostics that a program expects and that are missing, and those that it does not expect.
fn mismatches(source: &Source) -> Vec<String> {
    let name = source.path.display();
    let mut failures = Vec::new();
    let mut expectations = match expectations(&source.text) {
        Ok(expectations) => expectations,
        Err(problem) => return vec![format!("{name}: {problem}")],
    };
    let lines = source.lines();
    for diagnostic in diagnostics(source) {
        let line = lines.line(diagnostic.span.start);
        let expected = expectations.iter().position(|expectation| {
            (expectation.line, expectation.severity) == (line, diagnostic.severity)
                && expectation.message == diagnostic.message
        });
        let Some(expected) = expected else {
            let Diagnostic {
                severity,
                message,
                hints,
                ..
            } = &diagnostic;
            let severity = severity.text();
            failures.push(format!(
                "{name}:{line}: unexpected {severity}: {message}\n    hints: {hints:#?}"
            ));
            continue;
        };
        for hint in expectations.remove(expected).hints {
            if !diagnostic.hints.contains(&hint) {
                let hints = &diagnostic.hints;
                failures.push(format!(
                    "{name}:{line}: missing hint: {hint}\n    hints: {hints:#?}"
                ));
            }
        }
    }
    for Expectation {
        line,
        severity,
        message,
        ..
    } in expectations
    {
        failures.push(format!(
            "{name}:{line}: missing {}: {message}",
            severity.text()
        ));
    }
    failures
}

fn expectations(text: &str) -> Result<Vec<Expectation>, String> {
    let mut expectations: Vec<Expectation> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for comment in line.split("//~").skip(1) {
            let own = index + 1;
            let problem = || format!("line {own}: cannot read the expectation `//~{comment}`");
            let up = comment.len() - comment.trim_start_matches('^').len();
            let down = comment.len() - comment.trim_start_matches('v').len();
            let (kind, message) = comment[up + down..].split_once(':').ok_or_else(problem)?;
            let message = message.trim().to_owned();
            let severity = match kind.trim() {
                "error" => Severity::Error,
                "warning" => Severity::Warning,
                "hint" => {
                    let last = expectations.last_mut().ok_or_else(problem)?;
                    last.hints.push(message);
                    continue;
                }
                _ => return Err(problem()),
            };
            let line = (own + down).checked_sub(up).ok_or_else(problem)?;
            expectations.push(Expectation {
                line,
                severity,
                message,
                hints: Vec::new(),
            });
        }
    }
    Ok(expectations)
}

fn an_expectation_speaks_of_its_own_line_or_of_one_above_or_below() {
    let found = expectations(
        "a //~ error: one\n//~^ warning: two\n//~ hint: three\n//~^^ error: four\n//~v error: five",
    )
    .expect("readable");
    let lines: Vec<_> = found.iter().map(|e| (e.line, e.message.as_str())).collect();
    assert_eq!(lines, [(1, "one"), (1, "two"), (2, "four"), (6, "five")]);
    assert_eq!(found[1].hints, ["three"]);
    assert!(expectations("//~ eror: x").is_err());
    assert!(expectations("//~ hint: of nothing").is_err());
}

fn the_runner_notices_missing_and_unexpected_diagnostics() {
    let source = |text: &str| Source::new("p.diderot", text);
    let strand = "strand S () { output int n = 0; update { stabilize; } }";
    let good = format!("#version 2.0\n{strand}\ncreate_array {{ S() | i in 0..1 }}\n");
    assert_eq!(mismatches(&source(&good)), [""; 0]);
    assert_eq!(
        mismatches(&source(&format!("{good}//~ error: nothing"))).len(),
        1
    );
    assert_eq!(mismatches(&source(&good.replace("0..1", "0.."))).len(), 1);
}
