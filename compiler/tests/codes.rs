//! Every code has a page with a wrong program, which must report it, and a right one, about which there must be nothing to say.
//!
//! A block of a page may name, after `diderot`, the file that it is beside the program, a constant `--Cname=value` that is given, or a warning
//! `-Wname` that is asked for.

use compiler::{
    front::{
        codes::{self, Code},
        source::Source,
    },
    pipeline::{self, Options},
    run::{Failure, Inputs, Run},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// What no program is to blame for.
const OF_THE_MACHINE: [Code; 6] = [
    codes::OUT_OF_MEMORY,
    codes::PRINT,
    codes::OUTPUT,
    codes::WORKERS,
    codes::DEVICE,
    codes::CLUSTER,
];

/// What only shows after a program has taken more memory than a test should.
const TOO_BIG: [Code; 1] = [codes::SEQUENCE_TOO_LONG];

/// What only shows when a program runs.
const AT_RUN_TIME: [Code; 4] = [
    codes::DIVISION_BY_ZERO,
    codes::INDEX_OUT_OF_RANGE,
    codes::INPUT,
    codes::TOO_MANY_STRANDS,
];

/// A program of a page, in a directory with the files that it needs.
struct Example {
    source: Source,
    options: Options,
}

/// The programs after a word of a page, with their files written to a directory of their own.
fn example(code: Code, word: &str) -> Example {
    let (_, after) = code.page.split_once(&format!("\n{word}:\n")).expect(word);
    let after = after.split("\nRight:\n").next().expect("a part");
    let directory = directory(&format!("{code}-{word}"));
    let mut options = Options::default();
    let mut text = None;
    for block in after.split("```diderot").skip(1) {
        let (info, body) = block.split_once('\n').expect("a line");
        let (body, _) = body.split_once("```").expect("the end of the block");
        match info.trim() {
            file if file.ends_with(".diderot") => {
                fs::write(directory.join(file), body).expect("a file");
                continue;
            }
            wanted if wanted.starts_with("-W") => options.warn.extend(Code::named(&wanted[2..])),
            given => options.constants.extend(
                given
                    .strip_prefix("--C")
                    .and_then(|constant| constant.split_once('='))
                    .map(|(name, value)| (name.to_owned(), value.to_owned())),
            ),
        }
        assert!(text.replace(body).is_none(), "{code} has two programs");
    }
    let path = directory.join("program.diderot");
    let source = Source::new(path, text.expect("a program"));
    Example { source, options }
}

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("codes")
        .join(name);
    fs::create_dir_all(&directory).expect("a directory");
    directory
}

/// The codes of the diagnostics of a program.
fn reported(example: &Example) -> Vec<Code> {
    let checked = pipeline::check(&example.source, &example.options);
    checked.diagnostics.iter().map(|d| d.code).collect()
}

/// How a program with its defaults fails.
fn run(example: &Example) -> Option<Failure> {
    let (session, options) = (&mut pipeline::Session::default(), Options::default());
    let program = pipeline::compile(session, &example.source, &options).expect("compiled");
    let run = || {
        let mut run = Run::new(&program, &Inputs::of(&program), 1)?;
        run.run(None, &mut std::io::sink(), &mut [])
    };
    run().err()
}

fn documented() -> impl Iterator<Item = Code> {
    let of_programs = |code: &Code| !OF_THE_MACHINE.contains(code);
    codes::ALL.iter().copied().filter(of_programs)
}

#[test]
fn wrong_programs_report_their_code() {
    let mut failures = Vec::new();
    for code in documented() {
        let example = example(code, "Wrong");
        let found = match AT_RUN_TIME.contains(&code) {
            true => run(&example)
                .map(|failure| failure.code)
                .into_iter()
                .collect(),
            false => reported(&example),
        };
        let names: Vec<&str> = found.iter().map(|code| code.name).collect();
        let fits = match code {
            // The last straw.
            codes::TOO_MANY_ERRORS => names.last() == Some(&code.name),
            // A file without a version gets another message.
            codes::VERSION_SYNTAX => names == ["no-version", code.name],
            _ if TOO_BIG.contains(&code) => names.is_empty(),
            _ => !names.is_empty() && names.iter().all(|name| *name == code.name),
        };
        if !fits {
            failures.push(format!("{code}: {names:?}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn right_programs_report_nothing() {
    let mut failures = Vec::new();
    for code in documented() {
        let example = example(code, "Right");
        let found = reported(&example);
        if !found.is_empty() {
            failures.push(format!("{code}: {found:?}"));
        } else if (AT_RUN_TIME.contains(&code) || TOO_BIG.contains(&code))
            && let Some(failure) = run(&example)
        {
            failures.push(format!("{code}: {failure}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn codes_and_their_pages_have_one_name() {
    for code in codes::ALL {
        assert!(code.page.starts_with(&format!("# {code}\n\n")), "{code}");
        assert_eq!(Code::named(code.name), Some(*code));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/front/codes");
    assert_eq!(
        fs::read_dir(folder).expect("pages").count(),
        codes::ALL.len(),
        "a page without a code"
    );
}

fn diderotc(directory: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_diderotc"));
    command.current_dir(directory).args(words);
    command.output().expect("the command starts")
}

#[test]
fn the_command_prints_pages_and_names_them_once() {
    let directory = directory("command");
    let page = diderotc(&directory, &["explain", "type-mismatch"]);
    assert!(page.status.success());
    assert_eq!(
        String::from_utf8_lossy(&page.stdout),
        codes::TYPE_MISMATCH.page
    );
    let nothing = diderotc(&directory, &["explain", "type-mismash"]);
    assert_eq!(nothing.status.code(), Some(1));

    let wrong = example(codes::NO_UPDATE, "Wrong").source.text;
    for file in ["a.diderot", "b.diderot"] {
        fs::write(directory.join(file), &wrong).expect("a file");
    }
    let checked = diderotc(&directory, &["check", "a.diderot", "b.diderot"]);
    let messages = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert_eq!(messages.matches("[no-update]").count(), 2, "{messages}");
    let notes = messages.matches("note: `diderotc explain no-update`");
    assert_eq!(notes.count(), 1, "{messages}");
    // The label at the place says why.
    assert!(messages.contains("has no `update`"), "{messages}");
    let json = diderotc(&directory, &["check", "--json", "a.diderot"]);
    assert!(json.stderr.is_empty());
}
