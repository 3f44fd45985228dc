//! Splits a command line between the options of the compiler and those of the program, on either side of the program's name.
//!
//! Before the name an option belongs to the compiler if the compiler knows it, else to the program; after the name it is the
//! other way round. The arguments of an unknown option are unknown too, so words up to the program's name go with it.

use super::program_line::is_built_in;
use runtime::file_name::split_first;
use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

/// The words of a run.
pub(super) struct Divided {
    /// The command's name and the words for the compiler.
    pub(super) compiler: Vec<OsString>,
    /// The program, if there is one.
    pub(super) program: Option<OsString>,
    /// The words for the program.
    pub(super) words: Vec<OsString>,
}

/// Whether a file name is that of a program.
pub(super) fn is_program(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.ends_with(b".diderot") || bytes.ends_with(b".ddro")
}

/// Whether a word looks like a command rather than like a file.
pub(super) fn is_bare(word: &OsStr) -> bool {
    let is_of_files = |byte: &u8| matches!(byte, b'.' | b'/');
    !word.as_encoded_bytes().iter().any(is_of_files) && !Path::new(word).exists()
}

/// The name of an option, and whether its value stands in the same word. A name that is not text is not one of an option.
fn option_of(word: &OsStr) -> (&str, bool) {
    match split_first(word, b'=') {
        Some((name, _)) => (name.to_str().unwrap_or_default(), true),
        None => (word.to_str().unwrap_or_default(), false),
    }
}

/// Divides a command line, which begins with the command itself, given the compiler's options and whether they take a value.
pub(super) fn divide(words: &[OsString], spellings: &[(String, bool)]) -> Divided {
    let (command, mut rest) = match words.split_first() {
        Some((command, rest)) => (command.clone(), rest),
        None => ("diderotc".into(), words),
    };
    let mut divided = Divided {
        compiler: vec![command],
        program: None,
        words: Vec::new(),
    };
    let makes_executable = words.iter().any(|word| word == "--exec");
    let known = |word: &OsStr, is_after: bool| {
        let (name, is_whole) = option_of(word);
        // The kind of a warning stands right after the letter.
        if !is_after && name.starts_with("-W") && name.len() > 2 {
            return Some(false);
        }
        let found = spellings.iter().find(|(spelling, _)| spelling == name);
        let is_output = matches!(name, "-o" | "--output");
        // A short option after the program's name is one of its inputs, if it is anything.
        let is_ours = match is_after {
            true => name.starts_with("--") && is_built_in(name).is_none(),
            false => !is_output,
        };
        let takes = found.filter(|_| is_ours || is_output && makes_executable);
        takes.map(|(_, takes_value)| *takes_value && !is_whole)
    };
    let mut is_loose = false;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let is_after = divided.program.is_some();
        if let Some(takes_value) = known(word, is_after) {
            divided.compiler.push(word.clone());
            let value = if takes_value {
                rest.split_first()
            } else {
                None
            };
            if let Some((value, after)) = value {
                divided.compiler.push(value.clone());
                rest = after;
            }
            is_loose = false;
        } else if is_after {
            divided.words.push(word.clone());
        } else if word.len() > 1 && word.as_encoded_bytes().starts_with(b"-") {
            divided.words.push(word.clone());
            let (name, is_whole) = option_of(word);
            let built_in = is_built_in(name);
            let value = match built_in {
                Some(true) if !is_whole => rest.split_first(),
                _ => None,
            };
            if let Some((value, after)) = value {
                divided.words.push(value.clone());
                rest = after;
            }
            is_loose = built_in.is_none() && !is_whole;
        } else if is_loose && !is_program(word) {
            divided.words.push(word.clone());
        } else {
            divided.program = Some(word.clone());
        }
    }
    divided
}

/// Leaves out some options, given by their spellings and whether they take a value, with their values.
pub(super) fn without(words: &[OsString], options: &[(String, bool)]) -> Vec<OsString> {
    let mut words = words.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let (name, is_whole) = option_of(word);
        match options.iter().find(|(spelling, _)| spelling == name) {
            Some((_, takes_value)) if *takes_value && !is_whole => drop(words.next()),
            Some(_) => {}
            None => kept.push(word.clone()),
        }
    }
    kept
}

/// Takes the `--Cname=value` words out of the others.
pub(super) fn take_constants(words: Vec<OsString>) -> (Vec<OsString>, Vec<(String, String)>) {
    let (mut kept, mut constants) = (Vec::new(), Vec::new());
    for word in words {
        let constant = word.to_str().and_then(|word| word.strip_prefix("--C"));
        match constant.and_then(|rest| rest.split_once('=')) {
            Some((name, value)) => constants.push((name.to_string(), value.to_string())),
            None => kept.push(word),
        }
    }
    (kept, constants)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(text: &str) -> [String; 3] {
        let spellings = [
            ("--double", false),
            ("--width", true),
            ("--exec", false),
            ("-o", true),
            ("--help", false),
        ];
        let spellings = spellings.map(|(s, takes)| (s.to_string(), takes));
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        let Divided {
            compiler,
            program,
            words,
        } = divide(&words, &spellings);
        let program: Vec<OsString> = program.into_iter().collect();
        [&compiler[1..], &program, &words]
            .map(|words| words.join(OsStr::new(" ")).into_string().expect("text"))
    }

    #[test]
    fn options_may_stand_on_either_side_of_the_name() {
        let rows = [
            ("d p.diderot -n 2", ["", "p.diderot", "-n 2"]),
            ("d --double p.diderot", ["--double", "p.diderot", ""]),
            (
                "d p.diderot --double -n 2",
                ["--double", "p.diderot", "-n 2"],
            ),
            (
                "d p.diderot -n 2 --width 4 -v",
                ["--width 4", "p.diderot", "-n 2 -v"],
            ),
            (
                "d -Wbroadcast p.diderot -n 2",
                ["-Wbroadcast", "p.diderot", "-n 2"],
            ),
            ("d p.diderot -Wide 2", ["", "p.diderot", "-Wide 2"]),
            (
                "d --width=4 -o x.png p.diderot",
                ["--width=4", "p.diderot", "-o x.png"],
            ),
            (
                "d -o-rgb x.png --nworkers 2 p.diderot",
                ["", "p.diderot", "-o-rgb x.png --nworkers 2"],
            ),
            ("d --exec -o x p.diderot", ["--exec -o x", "p.diderot", ""]),
            ("d -o x p.diderot --exec", ["-o x --exec", "p.diderot", ""]),
            (
                "d -vol a.nrrd -eye 1 2 3 --double p.diderot",
                ["--double", "p.diderot", "-vol a.nrrd -eye 1 2 3"],
            ),
            ("d -eye=1,2,3 p.diderot", ["", "p.diderot", "-eye=1,2,3"]),
            (
                "d -o-rgb=x.png p.diderot",
                ["", "p.diderot", "-o-rgb=x.png"],
            ),
            ("d p.diderot --help", ["", "p.diderot", "--help"]),
            ("d --help", ["--help", "", ""]),
            ("d chekc p.diderot", ["", "chekc", "p.diderot"]),
        ];
        for (text, expected) in rows {
            assert_eq!(divided(text), expected, "{text}");
        }
    }
}
