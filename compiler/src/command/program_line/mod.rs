//! The command line of a program: which words belong to which option.
//!
//! Takes the inputs and outputs of a program and the words after its name. Returns all values, or an error that names the
//! option and the expected values, or a request for help.
//!
//! An input is given by `-NAME` and the words of its values, or by `-NAME=VALUES`; several values may also stand in one
//! word, `1,2,3` or `[1,2,3]`. A word that begins with a dash is a value unless it spells an option. An option with a value is
//! given once, unless its values make a list. An input's name wins over a built-in option of one dash, which then has its long spelling only; every
//! input can also be given by `--input-NAME`.

mod glob;
mod help;
mod options;
pub(super) mod orbit;
mod pattern;
pub(super) mod sweep;
#[cfg(test)]
mod tests;
mod vary;

pub(super) use options::{InputSpec, OutputName, Program, RunOptions, help_of, is_built_in, size};

use options::{About, Effect, OPTIONS, OptionRow, defaults, row_of};
use runtime::{
    file_name::{FileName, escaped, split_first, text},
    image::Reading,
    input::{InputType, nearest, parse_value, split_values},
};
use std::{
    ffi::{OsStr, OsString},
    fmt,
};

/// A command line that was understood.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) enum CommandLine {
    /// Run with these options.
    Run(Box<RunOptions>),
    /// Print this text and do nothing else.
    Help(String),
}

/// A command line that was not understood, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::command) struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// What a spelled option is about.
#[derive(Clone, Copy)]
enum SpelledOption {
    /// An option, about the output or the input of this number or, without one, about all that have none of their own.
    Builtin(&'static OptionRow, Option<usize>),
    Input(usize),
}

impl SpelledOption {
    /// Whether both set the same thing.
    fn is_same(self, other: SpelledOption) -> bool {
        match (self, other) {
            (SpelledOption::Input(one), SpelledOption::Input(another)) => one == another,
            (SpelledOption::Builtin(row, which), SpelledOption::Builtin(other, of_other)) => {
                row.long() == other.long() && which == of_other
            }
            _ => false,
        }
    }

    /// Whether it may be given again: options without a value say the same again, and some collect their values.
    fn may_be_repeated(self) -> bool {
        match self {
            SpelledOption::Input(_) => false,
            SpelledOption::Builtin(row, _) => matches!(
                row.effect,
                Effect::Flag(_) | Effect::ImageFlag(_) | Effect::List(_) | Effect::Help
            ),
        }
    }
}

/// Every spelling that is an option of this program. Inputs come first and win.
fn spellings(program: &Program) -> Vec<(String, SpelledOption)> {
    let mut all: Vec<(String, SpelledOption)> = Vec::new();
    for (i, input) in program.inputs.iter().enumerate() {
        for dashes in ["-", "--input-"] {
            all.push((format!("{dashes}{}", input.name), SpelledOption::Input(i)));
        }
    }
    for row in OPTIONS {
        for spelling in row.spellings {
            all.push((spelling.to_string(), SpelledOption::Builtin(row, None)));
            for (i, name) in program.names(row.about()) {
                let named = format!("{spelling}-{name}");
                all.push((named, SpelledOption::Builtin(row, Some(i))));
            }
        }
    }
    all
}

fn find(spellings: &[(String, SpelledOption)], word: &OsStr) -> Option<SpelledOption> {
    let found = spellings.iter().find(|(spelling, _)| **spelling == *word);
    found.map(|(_, target)| *target)
}

/// An option with its values.
struct Given<'w> {
    /// As it was written.
    option: &'w str,
    target: SpelledOption,
    values: Vec<OsString>,
}

/// As it was written.
impl fmt::Display for Given<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.option)?;
        let mut values = self.values.iter();
        values.try_for_each(|value| write!(f, " {}", escaped(value)))
    }
}

/// Understands the words after the name of a program.
pub(in crate::command) fn parse<W: AsRef<OsStr>>(
    program: &Program,
    words: &[W],
) -> Result<CommandLine, UsageError> {
    let words: Vec<&OsStr> = words.iter().map(W::as_ref).collect();
    let Some(mut all) = given(program, &words)? else {
        return Ok(CommandLine::Help(help::text(program)));
    };
    check_repeated(&all).map_err(UsageError)?;
    check_without_effect(&all, program).map_err(UsageError)?;
    let mut run = defaults(program);
    // Options for all outputs or images come first, so that options for a single one override them.
    all.sort_by_key(|given| matches!(given.target, SpelledOption::Builtin(_, Some(_))));
    for given in &all {
        apply(&mut run, program, given)
            .map_err(|message| UsageError(format!("option `{}`: {message}", given.option)))?;
    }
    sweep::prepare(&mut run, program).map_err(UsageError)?;
    run.notes = notes(&all, program);
    check_required(program, &run)?;
    Ok(CommandLine::Run(Box::new(run)))
}

/// The words of a command line that was understood, without those that set inputs to anything but data.
pub(in crate::command) fn words_beside_values(
    program: &Program,
    words: &[OsString],
) -> Vec<String> {
    let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
    let is_value = |given: &Given<'_>| match given.target {
        SpelledOption::Input(i) => {
            let ty = &program.inputs[i].ty;
            !matches!(ty, InputType::Image { .. } | InputType::Mesh(_))
        }
        SpelledOption::Builtin(..) => false,
    };
    let all = given(program, &words).ok().flatten().unwrap_or_default();
    let beside = all.into_iter().filter(|given| !is_value(given));
    beside
        .flat_map(|given| {
            let values = given.values.into_iter();
            let values = values.map(|value| value.to_string_lossy().into_owned());
            [given.option.to_string()].into_iter().chain(values)
        })
        .collect()
}

/// The options in words, with their values; nothing if help is wanted.
fn given<'w>(program: &Program, words: &[&'w OsStr]) -> Result<Option<Vec<Given<'w>>>, UsageError> {
    let spellings = spellings(program);
    let wants_help = |word: &&OsStr| {
        let found = find(&spellings, word);
        matches!(found, Some(SpelledOption::Builtin(row, _)) if matches!(row.effect, Effect::Help))
    };
    if words.iter().any(wants_help) {
        return Ok(None);
    }
    let mut all = Vec::new();
    let mut rest = words;
    while let Some((&word, after)) = rest.split_first() {
        let (option, inline) = match (find(&spellings, word), split_first(word, b'=')) {
            (None, Some((option, value))) => (option, Some(value)),
            _ => (word, None),
        };
        let (Some(target), Some(option)) = (find(&spellings, option), option.to_str()) else {
            let (last, word) = (all.last(), escaped(word));
            return Err(UsageError(unknown(&spellings, &word, last, program)));
        };
        let ready = match inline {
            Some(value) => vec![value],
            None => {
                let is_value = |word: &&OsStr| find(&spellings, word).is_none();
                after.iter().copied().take_while(is_value).collect()
            }
        };
        // An input may be called `h`; without a value that is the old question.
        if ready.is_empty() && asks_for_help(option) {
            return Ok(None);
        }
        let (values, used) = values_of(program, target, option, &ready).map_err(UsageError)?;
        rest = match inline {
            Some(value) if used == 0 => {
                let value = escaped(value);
                let message = format!("option `{option}`: found `{value}`, but it takes no value");
                return Err(UsageError(message));
            }
            Some(_) => after,
            None => &after[used..],
        };
        all.push(Given {
            option,
            target,
            values,
        });
    }
    Ok(Some(all))
}

fn asks_for_help(word: &str) -> bool {
    let asks = |row: &OptionRow| matches!(row.effect, Effect::Help);
    OPTIONS
        .iter()
        .any(|row| asks(row) && row.spellings.contains(&word))
}

/// The values of an option out of the words that follow it, and how many words they take.
fn values_of(
    program: &Program,
    target: SpelledOption,
    option: &str,
    ready: &[&OsStr],
) -> Result<(Vec<OsString>, usize), String> {
    let count = match target {
        SpelledOption::Builtin(row, _) if !row.takes_word() => return Ok((Vec::new(), 0)),
        SpelledOption::Builtin(..) => 1,
        SpelledOption::Input(i) => {
            let ty = &program.inputs[i].ty;
            match ty {
                InputType::Bool if ready.is_empty() => return Ok((vec!["true".into()], 0)),
                _ if !ty.is_numbers() => {}
                _ => return numbers_of(ty, option, ready),
            }
            ty.word_count()
        }
    };
    if ready.len() < count {
        let found = ready.len();
        let wanted = expected_words(program, target);
        return Err(format!(
            "option `{option}`: found {found} values, expected {count}{wanted}"
        ));
    }
    Ok((ready[..count].iter().map(OsString::from).collect(), count))
}

/// The numbers of a tensor or a sequence. One word may have several of them.
fn numbers_of(
    ty: &InputType,
    option: &str,
    ready: &[&OsStr],
) -> Result<(Vec<OsString>, usize), String> {
    let count = ty.word_count();
    let (mut values, mut used) = (Vec::new(), 0);
    while values.len() < count && used < ready.len() {
        let word = text(ready[used]).map_err(|message| format!("option `{option}`: {message}"))?;
        values.extend(split_values(word).map(OsString::from));
        used += 1;
    }
    if values.len() != count {
        let found = values.len();
        return Err(format!(
            "option `{option}`: found {found} values, expected {count} for type {ty}"
        ));
    }
    Ok((values, used))
}

fn expected_words(program: &Program, target: SpelledOption) -> String {
    match target {
        SpelledOption::Input(i) => format!(" for type {}", program.inputs[i].ty),
        SpelledOption::Builtin(..) => String::new(),
    }
}

fn apply(run: &mut RunOptions, program: &Program, given: &Given<'_>) -> Result<(), String> {
    let word = given
        .values
        .first()
        .map_or(OsStr::new(""), OsString::as_os_str);
    let (row, which) = match given.target {
        SpelledOption::Input(i) => {
            let value = parse_value(&program.inputs[i].ty, &given.values, program.ints)?;
            value.check_range(program.double)?;
            run.inputs[i] = Some(value);
            return Ok(());
        }
        SpelledOption::Builtin(row, which) => (row, which),
    };
    match row.effect {
        Effect::Files(row) => run.files.set(row, which, word)?,
        Effect::Image(set) | Effect::Frames(set) => {
            let word = text(word)?;
            images(run, which)
                .into_iter()
                .try_for_each(|reading| set(reading, word))?;
        }
        Effect::ImageFlag(set) => images(run, which).into_iter().for_each(set),
        Effect::Flag(set) => set(run),
        Effect::File(set) => set(run, file_name(word)?),
        Effect::Value(set) | Effect::List(set) => set(run, text(word)?)?,
        // Help was found before anything is applied.
        Effect::Help => {}
    }
    Ok(())
}

/// Refuses a second value where there can be one: which of them is meant is not known.
fn check_repeated(all: &[Given<'_>]) -> Result<(), String> {
    for (n, given) in all.iter().enumerate() {
        let same = |earlier: &&Given<'_>| earlier.target.is_same(given.target);
        if let Some(earlier) = all[..n].iter().find(same)
            && !given.target.may_be_repeated()
        {
            return Err(format!(
                "`{earlier}` and `{given}` are given; one is wanted"
            ));
        }
    }
    Ok(())
}

/// Refuses an option for all outputs that is overridden for each of them.
fn check_without_effect(all: &[Given<'_>], program: &Program) -> Result<(), String> {
    for given in all {
        let SpelledOption::Builtin(row, None) = given.target else {
            continue;
        };
        let named = all.iter().filter(|other| match other.target {
            SpelledOption::Builtin(of_other, which) => {
                which.is_some() && of_other.long() == row.long()
            }
            SpelledOption::Input(_) => false,
        });
        let named: Vec<String> = named.map(|other| format!("`{other}`")).collect();
        if row.about() == About::Outputs
            && !named.is_empty()
            && named.len() == program.outputs.len()
        {
            let named = named.join(", ");
            return Err(format!(
                "`{given}` says nothing beside {named}, which name every output"
            ));
        }
    }
    Ok(())
}

fn file_name(word: &OsStr) -> Result<FileName, String> {
    match word.is_empty() {
        true => Err("found an empty word, expected a file name".to_string()),
        false => Ok(word.into()),
    }
}

/// How the image of an input is read, or all images.
fn images(run: &mut RunOptions, input: Option<usize>) -> Vec<&mut Reading> {
    match input {
        Some(i) => vec![&mut run.readings[i]],
        None => run.readings.iter_mut().chain([&mut run.reading]).collect(),
    }
}

/// What the inputs say that were given by the spelling of a built-in option.
fn notes(all: &[Given<'_>], program: &Program) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for given in all {
        if let SpelledOption::Input(i) = given.target
            && let Some(note) = shadows(&program.inputs[i].name)
            && given.option.trim_start_matches('-') == program.inputs[i].name
            && !notes.contains(&note)
        {
            notes.push(note);
        }
    }
    notes
}

/// What a user should know of an input that takes the spelling of a built-in option.
pub(in crate::command) fn shadows(input: &str) -> Option<String> {
    let spelling = format!("-{input}");
    let row = OPTIONS
        .iter()
        .find(|row| row.spellings.contains(&&spelling[..]))?;
    let (long, help) = (row.long(), row.help);
    let help = help.split(';').next().unwrap_or(help);
    Some(format!(
        "`{spelling}` sets the input `{input}`; `{long}` is the option ({help})"
    ))
}

fn check_required(program: &Program, run: &RunOptions) -> Result<(), UsageError> {
    let required = program.inputs.iter().zip(&run.inputs);
    let missing: Vec<String> = required
        .filter(|(input, value)| input.default.is_none() && value.is_none())
        .map(|(input, _)| format!("`-{}` ({})", input.name, input.ty))
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

/// The message for a word that is not an option.
fn unknown(
    spellings: &[(String, SpelledOption)],
    word: &str,
    last: Option<&Given<'_>>,
    program: &Program,
) -> String {
    if !word.starts_with('-') {
        return match last.map(|given| (given.option, given.values.len())) {
            Some((option, 0)) => format!("found `{word}` after `{option}`, which takes no value"),
            Some((option, 1)) => format!("found `{word}` after the value of `{option}`"),
            Some((option, n)) => format!("found `{word}` after the {n} values of `{option}`"),
            None => format!("found `{word}`, expected an option; values follow their option"),
        };
    }
    if let Some(row) = row_of(word) {
        let what = match row.about() {
            About::Images => "an image",
            About::Frames => "an image or a mesh",
            About::Outputs | About::Run => "an output",
        };
        let names: Vec<_> = program
            .names(row.about())
            .into_iter()
            .map(|(_, n)| n)
            .collect();
        return match names.is_empty() {
            true => format!("option `{word}` names {what}, but there is none"),
            false => format!(
                "option `{word}` names {what} that is not there; there are: {}",
                names.join(", ")
            ),
        };
    }
    let known = spellings.iter().map(|(spelling, _)| spelling.as_str());
    match nearest(word, known.chain(program.beside.iter().map(String::as_str))) {
        Some(spelling) => format!("unknown option `{word}`; did you mean `{spelling}`?"),
        None => format!("unknown option `{word}`; `--help` lists all options"),
    }
}
