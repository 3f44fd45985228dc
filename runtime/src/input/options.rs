//! What a program takes and gives, what a command line can say about it, and the table of built-in options.

use super::{InputType, InputValue, IntWidth};
use crate::nrrd::parse_real;
use crate::png::{Depth, Range};

/// What a program takes and gives.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// How the program is called, for the help text.
    pub name: String,
    /// The inputs, in the order of their declarations.
    pub inputs: Vec<InputSpec>,
    /// The outputs, in the order of their declarations.
    pub outputs: Vec<OutputName>,
    /// The integers of the program.
    pub ints: IntWidth,
}

/// One input.
#[derive(Clone, Debug)]
pub struct InputSpec {
    /// Its name in the program.
    pub name: String,
    /// Its type.
    pub ty: InputType,
    /// What it is for.
    pub description: Option<String>,
    /// Its default as text, if it has one; without it the input is required.
    pub default: Option<String>,
}

/// One output.
#[derive(Clone, Debug)]
pub struct OutputName {
    /// Its name in the program.
    pub name: String,
    /// Whether it is a sequence of varying length, which is written to two files.
    pub dynamic: bool,
}

/// Where one output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFiles {
    /// The file; for sequences of varying length the beginning of both names.
    pub file: String,
    /// The beginning of the names of snapshots.
    pub snapshot_prefix: String,
}

/// What a command line says.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// One value per input; `None` where the default holds.
    pub inputs: Vec<Option<InputValue>>,
    /// One destination per output.
    pub outputs: Vec<OutputFiles>,
    /// Super-steps after which to stop.
    pub limit: Option<u64>,
    /// Super-steps from one snapshot to the next.
    pub snapshot_period: Option<u64>,
    /// Worker threads; all cores if not given.
    pub workers: Option<usize>,
    /// Where printed text goes; `-` is standard output.
    pub print: String,
    /// Whether to report progress.
    pub verbose: bool,
    /// Whether to report the time taken.
    pub timing: bool,
    /// Which numbers become black and white in pictures.
    pub range: Range,
    /// Bits of pictures.
    pub depth: Depth,
}

/// What an option does with its word.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// Takes no word.
    Flag(fn(&mut RunOptions)),
    /// Takes one word.
    Value(fn(&mut RunOptions, &str) -> Result<(), String>),
    /// Takes one word for an output.
    Output(fn(&mut OutputFiles, &str)),
    /// Asks for the help text.
    Help,
}

/// A built-in option.
pub(super) struct OptionRow {
    /// The spellings, each with its dashes; those of an output may be followed by `-` and its name.
    pub(super) spellings: &'static [&'static str],
    /// What stands for the word in the help text.
    pub(super) argument: &'static str,
    pub(super) help: &'static str,
    pub(super) effect: Effect,
}

impl OptionRow {
    /// Whether the option is about one output.
    pub(super) fn is_for_output(&self) -> bool {
        matches!(self.effect, Effect::Output(_))
    }
}

/// The built-in options, in the order of the help text.
pub(super) const OPTIONS: &[OptionRow] = &[
    OptionRow {
        spellings: &["-h", "--help"],
        argument: "",
        help: "print this text",
        effect: Effect::Help,
    },
    OptionRow {
        spellings: &["-o", "--output"],
        argument: "FILE",
        help: "where the output goes; the suffix chooses the format: .nrrd, .nhdr, .png, .txt",
        effect: Effect::Output(|files, word| files.file = word.to_string()),
    },
    OptionRow {
        spellings: &["-l", "--limit"],
        argument: "N",
        help: "stop after N super-steps; 0 means no limit",
        effect: Effect::Value(|run, word| {
            run.limit = positive(word)?;
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["-n", "--nworkers"],
        argument: "N",
        help: "use N worker threads; 0 means one per core",
        effect: Effect::Value(|run, word| {
            let workers = positive(word)?;
            run.workers = workers.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["-s", "--snapshot"],
        argument: "N",
        help: "write a snapshot every N super-steps; 0 means none",
        effect: Effect::Value(|run, word| {
            run.snapshot_period = positive(word)?;
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["-sp", "--snapshot-prefix"],
        argument: "PREFIX",
        help: "the beginning of the names of snapshots",
        effect: Effect::Output(|files, word| files.snapshot_prefix = word.to_string()),
    },
    OptionRow {
        spellings: &["-print"],
        argument: "FILE",
        help: "where printed text goes; - means standard output",
        effect: Effect::Value(|run, word| {
            run.print = word.to_string();
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--range"],
        argument: "LO,HI|auto",
        help: "the numbers that become black and white in .png files; usually 0,1",
        effect: Effect::Value(|run, word| {
            run.range = range(word)?;
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--bits"],
        argument: "8|16",
        help: "bits of the values in .png files; usually 8",
        effect: Effect::Value(|run, word| {
            run.depth = match word {
                "8" => Depth::Eight,
                "16" => Depth::Sixteen,
                _ => return Err(format!("found `{word}`, expected 8 or 16")),
            };
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["-v", "--verbose"],
        argument: "",
        help: "report progress",
        effect: Effect::Flag(|run| run.verbose = true),
    },
    OptionRow {
        spellings: &["-t", "--timing"],
        argument: "",
        help: "report the time taken",
        effect: Effect::Flag(|run| run.timing = true),
    },
];

/// A number of which 0 means none.
fn positive(word: &str) -> Result<Option<u64>, String> {
    let number: u64 = word
        .parse()
        .map_err(|_| format!("found `{word}`, expected a non-negative integer"))?;
    Ok((number > 0).then_some(number))
}

fn range(word: &str) -> Result<Range, String> {
    if word.eq_ignore_ascii_case("auto") {
        return Ok(Range::Auto);
    }
    let bounds = word.split_once(',');
    let bounds = bounds.and_then(|(low, high)| Some((parse_real(low)?, parse_real(high)?)));
    match bounds {
        Some((low, high)) if low.is_finite() && high.is_finite() && low != high => {
            Ok(Range::Between(low, high))
        }
        _ => Err(format!(
            "found `{word}`, expected two different numbers LO,HI or auto"
        )),
    }
}

/// What holds if the command line says nothing.
pub(super) fn defaults(program: &Program) -> RunOptions {
    let files = |output: &OutputName| OutputFiles {
        file: match output.dynamic {
            true => output.name.clone(),
            false => format!("{}.nrrd", output.name),
        },
        snapshot_prefix: output.name.clone(),
    };
    RunOptions {
        inputs: vec![None; program.inputs.len()],
        outputs: program.outputs.iter().map(files).collect(),
        limit: None,
        snapshot_period: None,
        workers: None,
        print: "-".to_string(),
        verbose: false,
        timing: false,
        range: Range::Usual,
        depth: Depth::Eight,
    }
}
