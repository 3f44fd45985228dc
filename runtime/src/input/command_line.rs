//! The command line of a program: which words belong to which option.
//!
//! Takes the inputs and outputs of a program and the words after its name; gives all values, or an error that names the
//! option and what was expected, or the request for help.
//!
//! An input is given by `-NAME` and as many words as its type has values. Options take a fixed number of words; a word
//! that begins with a dash is a value unless it spells an option. The last of repeated options counts. An input whose
//! name is that of a built-in option, like `n`, is given by `--input-n`; every input can be.

use std::fmt;

use super::options::{Effect, OPTIONS, OptionRow, OutputFiles, Program, RunOptions, defaults};
use super::{help, parse_value};

/// A command line that was understood.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandLine {
    /// Run with these options.
    Run(RunOptions),
    /// Print this text and do nothing else.
    Help(String),
}

/// A command line that was not understood, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// What a spelled option is about.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Builtin(Effect),
    /// An output option, for the output of this index.
    Output(fn(&mut OutputFiles, &str), usize),
    Input(usize),
}

/// Every spelling that is an option of this program. Built-in options come first and win.
pub(super) fn spellings(program: &Program) -> Vec<(String, Target)> {
    let mut all: Vec<(String, Target)> = Vec::new();
    for row in OPTIONS {
        for spelling in row.spellings {
            let Effect::Output(set) = row.effect else {
                all.push((spelling.to_string(), Target::Builtin(row.effect)));
                continue;
            };
            for (i, output) in program.outputs.iter().enumerate() {
                all.push((
                    format!("{spelling}-{}", output.name),
                    Target::Output(set, i),
                ));
            }
            if program.outputs.len() == 1 {
                all.push((spelling.to_string(), Target::Output(set, 0)));
            }
        }
    }
    for (i, input) in program.inputs.iter().enumerate() {
        for spelling in [
            format!("-{}", input.name),
            format!("--input-{}", input.name),
        ] {
            if find(&all, &spelling).is_none() {
                all.push((spelling, Target::Input(i)));
            }
        }
    }
    all
}

pub(super) fn find(spellings: &[(String, Target)], word: &str) -> Option<Target> {
    let found = spellings.iter().find(|(spelling, _)| spelling == word);
    found.map(|(_, target)| *target)
}

/// Understands the words after the name of a program.
pub fn parse(program: &Program, words: &[String]) -> Result<CommandLine, UsageError> {
    let spellings = spellings(program);
    let wants_help =
        |word: &String| matches!(find(&spellings, word), Some(Target::Builtin(Effect::Help)));
    if words.iter().any(wants_help) {
        return Ok(CommandLine::Help(help::text(program)));
    }
    let mut run = defaults(program);
    let mut rest = words;
    let mut last = None;
    while let Some((word, after)) = rest.split_first() {
        let Some(target) = find(&spellings, word) else {
            return Err(UsageError(unknown(&spellings, word, last, program)));
        };
        let count = match target {
            Target::Input(i) => program.inputs[i].ty.word_count(),
            Target::Output(..) | Target::Builtin(Effect::Value(_) | Effect::Output(_)) => 1,
            Target::Builtin(Effect::Flag(_) | Effect::Help) => 0,
        };
        let ready = after.iter().take(count);
        let found = ready.take_while(|w| find(&spellings, w).is_none()).count();
        if found < count {
            let wanted = expected_words(program, target);
            return Err(UsageError(format!(
                "option `{word}`: found {found} values, expected {count}{wanted}"
            )));
        }
        let (values, after) = after.split_at(count);
        apply(&mut run, program, target, values)
            .map_err(|message| UsageError(format!("option `{word}`: {message}")))?;
        last = Some((word.as_str(), count));
        rest = after;
    }
    check_required(program, &spellings, &run)?;
    Ok(CommandLine::Run(run))
}

fn expected_words(program: &Program, target: Target) -> String {
    match target {
        Target::Input(i) => format!(" for type {}", program.inputs[i].ty),
        Target::Output(..) | Target::Builtin(_) => String::new(),
    }
}

fn apply(
    run: &mut RunOptions,
    program: &Program,
    target: Target,
    values: &[String],
) -> Result<(), String> {
    let word = values.first().map_or("", String::as_str);
    match target {
        Target::Input(i) => {
            let value = parse_value(&program.inputs[i].ty, values, program.ints)?;
            run.inputs[i] = Some(value);
            Ok(())
        }
        Target::Output(set, i) => {
            if word.is_empty() {
                return Err("found an empty word, expected a file name".to_string());
            }
            set(&mut run.outputs[i], word);
            Ok(())
        }
        Target::Builtin(Effect::Flag(set)) => {
            set(run);
            Ok(())
        }
        Target::Builtin(Effect::Value(set)) => set(run, word),
        // Output options are resolved to their output, and help was found before anything is applied.
        Target::Builtin(Effect::Output(_) | Effect::Help) => Ok(()),
    }
}

fn check_required(
    program: &Program,
    spellings: &[(String, Target)],
    run: &RunOptions,
) -> Result<(), UsageError> {
    let required = program.inputs.iter().enumerate().zip(&run.inputs);
    let missing: Vec<String> = required
        .filter(|((_, input), value)| input.default.is_none() && value.is_none())
        .map(|((i, input), _)| format!("`{}` ({})", input_spelling(spellings, i), input.ty))
        .collect();
    match missing.len() {
        0 => Ok(()),
        1 => Err(UsageError(format!(
            "required option {} is missing",
            missing[0]
        ))),
        _ => Err(UsageError(format!(
            "required options {} are missing",
            missing.join(", ")
        ))),
    }
}

/// The shortest spelling of an input.
pub(super) fn input_spelling(spellings: &[(String, Target)], input: usize) -> &str {
    let is_input =
        |(_, target): &&(String, Target)| matches!(target, Target::Input(i) if *i == input);
    let found = spellings.iter().find(is_input);
    found.map_or("", |(spelling, _)| spelling.as_str())
}

/// What to say of a word that is no option.
fn unknown(
    spellings: &[(String, Target)],
    word: &str,
    last: Option<(&str, usize)>,
    program: &Program,
) -> String {
    if !word.starts_with('-') {
        return match last {
            Some((option, 0)) => format!("found `{word}` after `{option}`, which takes no value"),
            Some((option, 1)) => format!("found `{word}` after the value of `{option}`"),
            Some((option, n)) => format!("found `{word}` after the {n} values of `{option}`"),
            None => format!("found `{word}`, expected an option; values follow their option"),
        };
    }
    let for_output = |row: &OptionRow| row.is_for_output() && row.spellings.contains(&word);
    if OPTIONS.iter().any(for_output) {
        let names: Vec<_> = program
            .outputs
            .iter()
            .map(|output| format!("`{word}-{}`", output.name))
            .collect();
        return format!(
            "option `{word}` must name one of several outputs: {}",
            names.join(", ")
        );
    }
    let distances = spellings
        .iter()
        .map(|(s, _)| (strsim::osa_distance(s, word), s));
    match distances.min() {
        Some((distance, spelling)) if distance <= 1 + word.chars().count() / 4 => {
            format!("unknown option `{word}`; did you mean `{spelling}`?")
        }
        _ => format!("unknown option `{word}`; `-h` lists all options"),
    }
}
