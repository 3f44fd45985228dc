//! The words of the command line.
//!
//! What stands before the program's name is the compiler's, what stands after it the program's. Options of the original
//! compiler are accepted, also where we have nothing to choose.

use crate::pipeline::{Options, STAGES};
use clap::{Args, CommandFactory, Parser, error::ErrorKind};
use runtime::simd::Isa;

/// What the user wants.
pub(super) enum Action {
    /// Compile in memory and run.
    Run(RunArguments),
    /// Report all errors.
    Check {
        files: Vec<String>,
        json: bool,
        options: Options,
    },
    /// Make an executable.
    Build {
        file: String,
        output: Option<String>,
        options: Options,
    },
    /// Print the program after a stage.
    Emit {
        file: String,
        stage: String,
        options: Options,
    },
    /// Show what normalization does to definitions.
    Explain {
        file: String,
        name: Option<String>,
        options: Options,
    },
    /// Print the names of the stages.
    ListStages,
}

/// What a run needs.
pub(super) struct RunArguments {
    pub(super) file: String,
    pub(super) words: Vec<String>,
    pub(super) dump_after: Vec<String>,
    pub(super) stop_after: Option<String>,
    pub(super) time: bool,
    pub(super) options: Options,
}

/// What the words turned out to be.
pub(super) enum Parsed {
    Do(Action),
    /// A text the user asked for.
    Print(String),
    /// What is wrong with them.
    Wrong(String),
}

/// How the program is compiled.
#[derive(Args)]
struct Common {
    /// Compute with 64-bit reals
    #[arg(long)]
    double: bool,
    /// Compute with 64-bit integers
    #[arg(long)]
    long_int: bool,
    /// Strands per call: 1, 4, 8 or 16 [default: best for this machine]
    #[arg(long, value_name = "W", value_parser = clap::builder::PossibleValuesParser::new(["1", "4", "8", "16"]))]
    width: Option<String>,
    /// Instructions for vectors that generated code may use, at most: none, avx2 or avx512 [default: best for this machine]
    #[arg(long, value_name = "SET", value_parser = clap::builder::PossibleValuesParser::new(Isa::ALL.map(Isa::name)))]
    isa: Option<String>,
    /// Accepted for the original compiler's sake: every program can be run on any number of workers (-n)
    #[arg(long, value_name = "T", hide = true)]
    target: Option<String>,
    /// Accepted for the original compiler's sake: snapshots are always available (-s)
    #[arg(long, hide = true)]
    snapshot: bool,
}

impl Common {
    fn options(&self, constants: Vec<(String, String)>) -> Options {
        Options {
            double: self.double,
            long_int: self.long_int,
            width: self.width.as_ref().and_then(|w| w.parse().ok()),
            isa: self.isa.as_deref().and_then(Isa::named),
            constants,
            ..Options::default()
        }
    }
}

/// Compiles a Diderot program in memory and runs it.
///
/// Everything after the program's name belongs to the program: `diderotc P.diderot -h` lists its options.
#[derive(Parser)]
#[command(
    name = "diderotc",
    version,
    override_usage = "diderotc [OPTIONS] PROGRAM.diderot [PROGRAM OPTIONS]\n       diderotc check [--json] PROGRAM…\n       diderotc build PROGRAM [-o NAME]\n       diderotc emit --stage STAGE PROGRAM\n       diderotc explain PROGRAM [NAME]",
    after_help = "--Cname=value sets the constant `name` of the program."
)]
struct RunWords {
    #[command(flatten)]
    common: Common,
    /// Make an executable instead of running (as `diderotc build`)
    #[arg(long)]
    exec: bool,
    /// With --exec: the executable's name
    #[arg(short, long, value_name = "NAME")]
    output: Option<String>,
    /// Print the program after a stage (see --list-stages) to standard error; may be repeated
    #[arg(long, value_name = "STAGE", value_parser = stage_names())]
    dump_after: Vec<String>,
    /// Print the program after a stage to standard output and stop
    #[arg(long, value_name = "STAGE", value_parser = stage_names())]
    stop_after: Option<String>,
    /// List the stages of the compiler
    #[arg(long)]
    list_stages: bool,
    /// Print how long each stage took
    #[arg(long)]
    time: bool,
    /// The program, and its options
    #[arg(
        value_name = "PROGRAM",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    program: Vec<String>,
}

/// Reports all errors of programs.
#[derive(Parser)]
#[command(name = "diderotc check")]
struct CheckWords {
    #[command(flatten)]
    common: Common,
    /// One JSON object per message, for tools
    #[arg(long)]
    json: bool,
    /// The programs
    #[arg(required = true)]
    files: Vec<String>,
}

/// Makes a self-contained executable of a program.
#[derive(Parser)]
#[command(name = "diderotc build")]
struct BuildWords {
    #[command(flatten)]
    common: Common,
    /// The executable's name [default: the program's without its suffix]
    #[arg(short, long, value_name = "NAME")]
    output: Option<String>,
    /// The program
    file: String,
}

/// Prints the program after a stage of the compiler.
#[derive(Parser)]
#[command(name = "diderotc emit")]
struct EmitWords {
    #[command(flatten)]
    common: Common,
    /// The stage
    #[arg(long, value_parser = stage_names())]
    stage: String,
    /// The program
    file: String,
}

/// Shows what normalization makes of the definitions of a program, and why it may.
#[derive(Parser)]
#[command(name = "diderotc explain")]
struct ExplainWords {
    #[command(flatten)]
    common: Common,
    /// The program
    file: String,
    /// The field or tensor to explain [default: all]
    name: Option<String>,
}

fn stage_names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(STAGES.iter().map(|stage| stage.name))
}

/// Understands the words of the command line, the first being the command itself.
pub(super) fn parse(words: Vec<String>) -> Parsed {
    let (words, constants) = take_constants(words);
    let subcommand = words.get(1).map(String::as_str);
    let rest = || std::iter::once("diderotc".to_string()).chain(words.iter().skip(2).cloned());
    let parsed = match subcommand {
        Some("check") => CheckWords::try_parse_from(rest()).map(|w| Action::Check {
            json: w.json,
            options: w.common.options(constants),
            files: w.files,
        }),
        Some("build") => BuildWords::try_parse_from(rest()).map(|w| Action::Build {
            options: w.common.options(constants),
            file: w.file,
            output: w.output,
        }),
        Some("emit") => EmitWords::try_parse_from(rest()).map(|w| Action::Emit {
            options: w.common.options(constants),
            file: w.file,
            stage: w.stage,
        }),
        Some("explain") => ExplainWords::try_parse_from(rest()).map(|w| Action::Explain {
            options: w.common.options(constants),
            file: w.file,
            name: w.name,
        }),
        _ => RunWords::try_parse_from(&words).and_then(|w| run_action(w, constants)),
    };
    match parsed {
        Ok(action) => Parsed::Do(action),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            Parsed::Print(error.to_string())
        }
        Err(error) => Parsed::Wrong(error.to_string()),
    }
}

fn run_action(words: RunWords, constants: Vec<(String, String)>) -> Result<Action, clap::Error> {
    if words.list_stages {
        return Ok(Action::ListStages);
    }
    let options = words.common.options(constants);
    let Some((file, rest)) = words.program.split_first() else {
        return Err(
            RunWords::command().error(ErrorKind::MissingRequiredArgument, "no program was given")
        );
    };
    if file.starts_with('-') {
        let message = format!(
            "`{file}` is not an option of the compiler; options of the program stand after its name"
        );
        return Err(RunWords::command().error(ErrorKind::UnknownArgument, message));
    }
    if words.exec {
        return Ok(Action::Build {
            file: file.clone(),
            output: words.output,
            options,
        });
    }
    Ok(Action::Run(RunArguments {
        file: file.clone(),
        words: rest.to_vec(),
        dump_after: words.dump_after,
        stop_after: words.stop_after,
        time: words.time,
        options,
    }))
}

/// Takes the `--Cname=value` words before the program's name out of the others.
fn take_constants(words: Vec<String>) -> (Vec<String>, Vec<(String, String)>) {
    let is_program = |word: &String| word.ends_with(".diderot") || word.ends_with(".ddro");
    let end = words.iter().position(is_program).unwrap_or(words.len());
    let (mut kept, mut constants) = (Vec::new(), Vec::new());
    for (n, word) in words.into_iter().enumerate() {
        match word
            .strip_prefix("--C")
            .and_then(|rest| rest.split_once('='))
        {
            Some((name, value)) if n < end => constants.push((name.to_string(), value.to_string())),
            _ => kept.push(word),
        }
    }
    (kept, constants)
}
