//! The commands and options of `diderotc`, in the tables of clap: usage, help and suggestions come from here.
//!
//! Options of the original compiler are accepted, also where we have nothing to choose.

use super::{
    program_line,
    words::{self, Divided},
};
use crate::{
    codegen::Target,
    front::codes::{self, Code},
    low::Bounds,
    pipeline::{Options, STAGES},
};
use clap::{Args, CommandFactory, Parser, Subcommand, builder::PossibleValue, error::ErrorKind};
use runtime::{file_name::escaped, simd::Isa};
use std::{ffi::OsString, path::PathBuf};

/// What the user wants.
pub(super) enum Action {
    /// Compile in memory and run.
    Run(RunArguments),
    /// Show a program in a browser.
    View(ViewArguments),
    /// Something else, with the constants of `--Cname=value`.
    Command(Command, Vec<(String, String)>),
    /// Print the names of the stages.
    ListStages,
}

/// What a run needs.
pub(super) struct RunArguments {
    pub(super) file: PathBuf,
    pub(super) words: Vec<OsString>,
    pub(super) dump_after: Vec<String>,
    pub(super) stop_after: Option<String>,
    pub(super) time: bool,
    pub(super) options: Options,
}

/// The contents of a command line that shows a program.
pub(super) struct ViewArguments {
    pub(super) file: PathBuf,
    pub(super) words: Vec<OsString>,
    pub(super) options: Options,
    /// The compiler's options as they were written.
    pub(super) beside: Vec<OsString>,
    pub(super) no_open: bool,
    pub(super) port: u16,
}

/// The result of parsing a command line.
pub(super) enum Parsed {
    Do(Box<Action>),
    /// A text the user asked for.
    Print(String),
    /// An error message.
    Wrong(String),
}

/// How the program is compiled.
#[derive(Args)]
pub(super) struct Common {
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
    /// Probe images also where bounds of their values decide about a branch, for comparison
    #[arg(long)]
    no_bounds: bool,
    /// Whether messages have colour [default: auto, on terminals]
    // Messages about these very words may have it, so it is looked for before they are understood.
    #[arg(long, value_name = "WHEN", value_parser = clap::builder::PossibleValuesParser::new(super::colour::CHOICES))]
    color: Option<String>,
    /// Where strands run: cpu, cuda (an NVIDIA GPU where possible, else the CPU) or cuda-only [default: cpu]
    // The targets of the original compiler are accepted: every program can be run on any number of workers (-n).
    #[arg(long, value_name = "T", value_parser = clap::builder::PossibleValuesParser::new(targets()))]
    target: Option<String>,
    /// Also warn of this; broadcast: terms of an indexed definition that lack an index which others have
    #[arg(short = 'W', long, value_name = "KIND", value_parser = clap::builder::PossibleValuesParser::new(codes::ON_DEMAND.map(|code| code.name)))]
    warn: Vec<String>,
    /// Accepted for the original compiler's sake: snapshots are always available (-s)
    #[arg(long, hide = true)]
    snapshot: bool,
}

/// The names of targets; the original compiler's are not shown.
fn targets() -> impl Iterator<Item = PossibleValue> {
    Target::NAMES
        .into_iter()
        .map(|(name, target)| PossibleValue::new(name).hide(target.name() != name))
}

impl Common {
    pub(super) fn options(&self, constants: Vec<(String, String)>) -> Options {
        Options {
            double: self.double,
            long_int: self.long_int,
            width: self.width.as_ref().and_then(|w| w.parse().ok()),
            isa: self.isa.as_deref().and_then(Isa::named),
            target: self
                .target
                .as_deref()
                .and_then(Target::named)
                .unwrap_or_default(),
            constants,
            bounds: match self.no_bounds {
                true => Bounds::None,
                false => Bounds::default(),
            },
            warn: self
                .warn
                .iter()
                .filter_map(|kind| Code::named(kind))
                .collect(),
            ..Options::default()
        }
    }
}

/// Compiles a Diderot program in memory and runs it.
///
/// `diderotc PROGRAM.diderot --help` lists the options of a program. They may also stand before its name, and those of the
/// compiler after it.
#[derive(Parser)]
#[command(
    name = "diderotc",
    version,
    args_conflicts_with_subcommands = true,
    override_usage = "diderotc [run] [OPTIONS] PROGRAM.diderot [PROGRAM OPTIONS]\n       diderotc COMMAND …",
    after_help = "--Cname=value sets the constant `name` of the program."
)]
struct Words {
    #[command(flatten)]
    run: RunWords,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The options of a run.
#[derive(Args)]
struct RunWords {
    #[command(flatten)]
    common: Common,
    /// Make an executable instead of running (as `diderotc build`)
    #[arg(long)]
    exec: bool,
    /// With --exec: the executable's name; else where the program's output goes
    #[arg(short, long, value_name = "NAME")]
    output: Option<PathBuf>,
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
}

/// Everything but running.
#[derive(Subcommand)]
pub(super) enum Command {
    View(ViewWords),
    Check(CheckWords),
    Build(BuildWords),
    Emit(EmitWords),
    Explain(ExplainWords),
    Info(InfoWords),
    Compare(CompareWords),
    Flatten(FlattenWords),
    Fmt(FmtWords),
    /// Serve an editor: messages, types, completion and navigation, by the protocol LSP on standard input and output
    Lsp,
    /// Print the version
    Version,
    Mpi(MpiWords),
    Man(ManWords),
    Completions(CompletionsWords),
}

/// Show a program in a browser: sliders for its inputs, a camera that the mouse moves, and a new picture whenever a file is saved
#[derive(Args)]
#[command(override_usage = "diderotc view [OPTIONS] PROGRAM.diderot [PROGRAM OPTIONS]")]
pub(super) struct ViewWords {
    #[command(flatten)]
    pub(super) common: Common,
    /// Print the address of the page and do not open it
    #[arg(long)]
    pub(super) no_open: bool,
    /// Serve the page on this port [default: any that is free]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(super) port: u16,
    /// The program
    pub(super) file: PathBuf,
}

/// Lay programs out: indentation, blanks, and one spelling of symbols; line breaks and comments stay
#[derive(Args)]
pub(super) struct FmtWords {
    /// Change nothing; fail if a file has another layout
    #[arg(long)]
    pub(super) check: bool,
    /// Write symbols in ASCII, as in `\grad F`
    #[arg(long, conflicts_with = "unicode")]
    pub(super) ascii: bool,
    /// Write symbols in Unicode, as in `∇F`
    #[arg(long)]
    pub(super) unicode: bool,
    /// The programs, or directories of programs; - reads standard input and writes standard output
    #[arg(required = true)]
    pub(super) files: Vec<PathBuf>,
}

/// Run programs on clusters: make the library that connects this command to MPI, and try it
#[derive(Args)]
pub(super) struct MpiWords {
    #[command(subcommand)]
    pub(super) command: MpiCommand,
}

#[derive(Subcommand)]
pub(super) enum MpiCommand {
    Build(MpiBuildWords),
    /// Load the library, name the MPI, and let all processes send to all: mpirun -n 4 diderotc mpi check
    Check,
}

/// Compile the library that connects this command to MPI, once for each MPI
#[derive(Args)]
pub(super) struct MpiBuildWords {
    /// The C compiler of the MPI
    #[arg(long, value_name = "COMMAND", default_value = "mpicc")]
    pub(super) mpicc: String,
    /// The library [default: libdiderot_mpi.so in the user's directory, where runs look for it]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

/// Print a manual page, for `man -l -`: of all, or of one command
#[derive(Args)]
pub(super) struct ManWords {
    /// The command that the page is about
    pub(super) command: Option<String>,
}

/// Print what a shell reads to complete the words of this command
#[derive(Args)]
pub(super) struct CompletionsWords {
    /// The shell
    pub(super) shell: clap_complete::Shell,
}

/// The whole table: every command and option.
pub(super) fn definition() -> clap::Command {
    let mut command = Words::command();
    // Only then has it the options that every command has.
    command.build();
    command
}

/// Report all errors of programs
#[derive(Args)]
pub(super) struct CheckWords {
    #[command(flatten)]
    pub(super) common: Common,
    /// One JSON object per message, for tools
    #[arg(long)]
    pub(super) json: bool,
    /// The programs, or directories of programs
    #[arg(required = true)]
    pub(super) files: Vec<PathBuf>,
}

/// Make a self-contained executable of a program, or C functions for it
#[derive(Args)]
pub(super) struct BuildWords {
    #[command(flatten)]
    pub(super) common: Common,
    /// The executable's name [default: the program's without its suffix], or the folder for --library
    #[arg(short, long, value_name = "NAME")]
    pub(super) output: Option<PathBuf>,
    /// Write a header, a source in C and a description with functions for this program, over libdiderot
    #[arg(long)]
    pub(super) library: bool,
    /// What the names of these functions begin with [default: the program's name]
    #[arg(long, value_name = "NAME", requires = "library")]
    pub(super) namespace: Option<String>,
    /// The program
    pub(super) file: PathBuf,
}

/// Print the program after a stage of the compiler
#[derive(Args)]
pub(super) struct EmitWords {
    #[command(flatten)]
    pub(super) common: Common,
    /// The stage
    #[arg(long, value_parser = stage_names())]
    pub(super) stage: String,
    /// The program
    pub(super) file: PathBuf,
}

/// Show the mathematics of a program as it is written and as it is compiled, what both cost, and the laws in between
///
/// Operations are those of the scalar code for one strand; before, they are what the rules of differentiation give by
/// themselves.
#[derive(Args)]
pub(super) struct ExplainWords {
    #[command(flatten)]
    pub(super) common: Common,
    /// The program, or the code of a message, such as `type-mismatch`
    pub(super) file: PathBuf,
    /// The field or tensor to explain [default: all]
    pub(super) name: Option<String>,
    /// Also show the operators in index notation and every equation between the two
    #[arg(long)]
    pub(super) details: bool,
    /// Print the definitions as LaTeX
    #[arg(long)]
    pub(super) latex: bool,
}

/// Describe images, with their place and values, and programs, with their inputs and outputs
#[derive(Args)]
pub(super) struct InfoWords {
    #[command(flatten)]
    pub(super) common: Common,
    /// One JSON object per file, for tools
    #[arg(long)]
    pub(super) json: bool,
    /// Do not read the samples of images
    #[arg(long)]
    pub(super) header: bool,
    // As for runs.
    #[arg(long, value_name = "SIZE", help = capitalized(program_line::help_of("--memory")), value_parser = program_line::size)]
    pub(super) memory: Option<u64>,
    /// List the GPUs that `--target cuda` can use
    #[arg(long)]
    pub(super) devices: bool,
    /// The files
    #[arg(required_unless_present = "devices")]
    pub(super) files: Vec<PathBuf>,
}

/// Compare two images, which must have the same sizes: the largest and the mean difference
///
/// The exit status is 0 if they are equal, 1 if they are not, 2 if they cannot be compared.
#[derive(Args)]
pub(super) struct CompareWords {
    /// Let samples differ by at most T
    #[arg(long, value_name = "T", default_value_t = 0.0, hide_default_value = true, value_parser = tolerance)]
    pub(super) tolerance: f64,
    /// Write the absolute difference: a picture (.png) in colours from 0 to the largest, or an array (.nrrd, .npy)
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    // As for runs.
    #[arg(long, value_name = "SIZE", help = capitalized(program_line::help_of("--memory")), value_parser = program_line::size)]
    pub(super) memory: Option<u64>,
    /// An image
    #[arg(value_name = "A")]
    pub(super) one: PathBuf,
    /// Another image
    #[arg(value_name = "B")]
    pub(super) other: PathBuf,
}

/// A difference that is allowed.
fn tolerance(word: &str) -> Result<f64, String> {
    let number = runtime::nrrd::parse_real(word).filter(|x| *x >= 0.0);
    number.ok_or_else(|| format!("found `{word}`, expected a number that is not negative"))
}

/// A sentence with a capital letter, as clap has them.
fn capitalized(sentence: &str) -> String {
    let (first, rest) = sentence.split_at(1);
    first.to_ascii_uppercase() + rest
}

/// Print a program with the text of its imports in their place
#[derive(Args)]
pub(super) struct FlattenWords {
    #[command(flatten)]
    pub(super) common: Common,
    /// The program
    pub(super) file: PathBuf,
}

/// The stages whose result is a text.
fn stage_names() -> clap::builder::PossibleValuesParser {
    let with_text = STAGES.iter().filter(|stage| stage.has_text);
    clap::builder::PossibleValuesParser::new(with_text.map(|stage| stage.name))
}

/// The compiler's options by their spellings, and whether they take a value; for the command of a run.
pub(super) fn spellings() -> Vec<(String, bool)> {
    spellings_of(&definition())
}

/// The options of a command by their spellings, and whether they take a value.
fn spellings_of(command: &clap::Command) -> Vec<(String, bool)> {
    let mut all = Vec::new();
    for argument in command.get_arguments() {
        let takes_value = argument.get_action().takes_values();
        let long = argument.get_long().map(|name| format!("--{name}"));
        let short = argument.get_short().map(|letter| format!("-{letter}"));
        let spelled = long.into_iter().chain(short);
        all.extend(spelled.map(|spelling| (spelling, takes_value)));
    }
    all
}

/// Understands the words of the command line, the first being the command itself.
pub(super) fn parse(words: Vec<OsString>) -> Parsed {
    let (mut words, constants) = words::take_constants(words);
    let commands = Words::command();
    let named = |word: &str| word == "help" || commands.find_subcommand(word).is_some();
    let parsed = match words.get(1).map(|word| word.to_str().unwrap_or_default()) {
        Some("view") => view_action(words, constants),
        Some(word) if named(word) => Words::try_parse_from(&words).and_then(|w| {
            let command = w.command.ok_or_else(|| {
                commands
                    .clone()
                    .error(ErrorKind::MissingSubcommand, "no command")
            });
            command.map(|command| Action::Command(command, constants))
        }),
        word => {
            if word.is_some_and(|word| word == "run") {
                words.remove(1);
            }
            run_action(words, constants)
        }
    };
    match parsed {
        Ok(action) => Parsed::Do(Box::new(action)),
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

fn run_action(
    words: Vec<OsString>,
    constants: Vec<(String, String)>,
) -> Result<Action, clap::Error> {
    let Divided {
        compiler,
        program,
        words,
    } = words::divide(&words, &spellings());
    let RunWords {
        common,
        exec,
        output,
        dump_after,
        stop_after,
        list_stages,
        time,
    } = Words::try_parse_from(compiler)?.run;
    if list_stages {
        return Ok(Action::ListStages);
    }
    let Some(file) = program else {
        let message = "no program was given";
        return Err(Words::command().error(ErrorKind::MissingRequiredArgument, message));
    };
    if words::is_bare(&file) {
        let message = no_command(&escaped(&file));
        return Err(Words::command().error(ErrorKind::InvalidSubcommand, message));
    }
    if exec {
        let command = Command::Build(BuildWords {
            common,
            output,
            library: false,
            namespace: None,
            file: file.into(),
        });
        return Ok(Action::Command(command, constants));
    }
    Ok(Action::Run(RunArguments {
        file: file.into(),
        words,
        dump_after,
        stop_after,
        time,
        options: common.options(constants),
    }))
}

fn view_action(
    mut words: Vec<OsString>,
    constants: Vec<(String, String)>,
) -> Result<Action, clap::Error> {
    let view = words.remove(1);
    let commands = definition();
    let options = commands.find_subcommand("view").map(spellings_of);
    let options = options.unwrap_or_default();
    let Divided {
        mut compiler,
        program,
        words,
    } = words::divide(&words, &options);
    let mut own = options;
    own.retain(|option| !spellings().contains(option));
    let beside = words::without(&compiler[1..], &own);
    compiler.insert(1, view);
    compiler.extend(program);
    let parsed = Words::try_parse_from(compiler)?.command;
    let Some(Command::View(view)) = parsed else {
        return Err(commands
            .clone()
            .error(ErrorKind::MissingSubcommand, "no command"));
    };
    Ok(Action::View(ViewArguments {
        words,
        beside,
        no_open: view.no_open,
        port: view.port,
        options: view.common.options(constants),
        file: view.file,
    }))
}

/// What to say of a first word that is neither a command nor a file.
fn no_command(word: &str) -> String {
    let commands = Words::command();
    let names = commands.get_subcommands().map(clap::Command::get_name);
    let hint = match runtime::input::nearest(word, names.chain(["help", "run"])) {
        Some(name) if name == word => {
            return format!("`{word}` stands before its options: diderotc {word} …");
        }
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    };
    format!("`{word}` is not a command, and a program's file name ends in .diderot or .ddro{hint}")
}
