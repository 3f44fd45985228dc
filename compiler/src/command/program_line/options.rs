//! The inputs and outputs of a program as its command line sees them, and the table of built-in options.

use super::{
    sweep::Sweep,
    vary::{Each, Vary},
};
use runtime::{
    file_name::FileName,
    image::Reading,
    input::{InputType, InputValue, IntWidth},
    nrrd::parse_real,
    output::{
        format::STANDARD_OUTPUT,
        options::{self as files, FileOptions, positive},
        sheet::check_sheet,
    },
};
use std::path::Path;

/// The inputs and outputs of a program.
#[derive(Clone, Debug, Default)]
pub(in crate::command) struct Program {
    /// How the program is called, for the help text.
    pub(in crate::command) name: String,
    /// The inputs, in the order of their declarations.
    pub(in crate::command) inputs: Vec<InputSpec>,
    /// The outputs, in the order of their declarations.
    pub(in crate::command) outputs: Vec<OutputName>,
    /// The integers of the program.
    pub(in crate::command) ints: IntWidth,
    /// Whether its reals have 64 bits rather than 32.
    pub(in crate::command) double: bool,
    /// Options that are understood beside those of the program, for suggestions.
    pub(in crate::command) beside: Vec<String>,
}

/// One input.
#[derive(Clone, Debug)]
pub(in crate::command) struct InputSpec {
    /// Its name in the program.
    pub(in crate::command) name: String,
    /// Its type.
    pub(in crate::command) ty: InputType,
    /// Its description for the help text.
    pub(in crate::command) description: Option<String>,
    /// Its default as text, if it has one; without it the input is required.
    pub(in crate::command) default: Option<String>,
    /// The imported file that declares it, if it is not the program itself.
    pub(in crate::command) module: Option<String>,
}

/// One output.
#[derive(Clone, Debug)]
pub(in crate::command) struct OutputName {
    /// Its name in the program.
    pub(in crate::command) name: String,
    /// Whether it is a sequence of varying length, which is usually written to two files.
    pub(in crate::command) dynamic: bool,
}

/// The contents of a command line.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) struct RunOptions {
    /// One value per input; `None` where the default holds.
    pub(in crate::command) inputs: Vec<Option<InputValue>>,
    /// The files of the outputs.
    pub(in crate::command) files: FileOptions,
    /// How the image of each input is read; for inputs of other types it means nothing.
    pub(in crate::command) readings: Vec<Reading>,
    /// How the images that the program names itself are read.
    pub(in crate::command) reading: Reading,
    /// Worker threads; all cores if not given.
    pub(in crate::command) workers: Option<usize>,
    /// Bytes that images, strands, sequences and outputs may take together; what the machine has, if not given.
    pub(in crate::command) memory: Option<u64>,
    /// Bytes of samples that are loaded on demand and kept.
    pub(in crate::command) cache: Option<u64>,
    /// Where printed text goes; `-` is standard output.
    pub(in crate::command) print: FileName,
    /// Whether to report details of the run.
    pub(in crate::command) verbose: bool,
    /// Whether to report only errors and warnings.
    pub(in crate::command) quiet: bool,
    /// Whether to report times.
    pub(in crate::command) timing: bool,
    /// Whether an interrupted run writes the values so far.
    pub(in crate::command) keep: bool,
    /// Inputs that take several values, each in a run of its own.
    pub(in crate::command) vary: Vec<Vary>,
    /// Inputs that take one file after the other.
    pub(in crate::command) each: Vec<Each>,
    /// Runs in which the camera goes around.
    pub(in crate::command) orbit: Option<usize>,
    /// Whether all that varies does so together.
    pub(in crate::command) zip: bool,
    /// The picture that shows those of all runs.
    pub(in crate::command) contact_sheet: Option<FileName>,
    /// The runs that these ask for, if there are several.
    pub(in crate::command) sweep: Option<Sweep>,
    /// What the user should know about how the words were understood.
    pub(in crate::command) notes: Vec<String>,
}

/// What an option does with its word.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// Takes no word.
    Flag(fn(&mut RunOptions)),
    /// Takes the name of a file.
    File(fn(&mut RunOptions, FileName)),
    /// Takes one word about the files of the outputs.
    Files(&'static files::OptionRow),
    /// Takes one word.
    Value(fn(&mut RunOptions, &str) -> Result<(), String>),
    /// Takes one word, each time that it is given.
    List(fn(&mut RunOptions, &str) -> Result<(), String>),
    /// Takes one word for the image of an input; if none is named, for all images that are not.
    Image(fn(&mut Reading, &str) -> Result<(), String>),
    /// The same for what may be over time: an image, or a mesh.
    Frames(fn(&mut Reading, &str) -> Result<(), String>),
    /// The same for an image, without a word.
    ImageFlag(fn(&mut Reading)),
    /// Asks for the help text.
    Help,
}

/// What an option is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Run,
    Outputs,
    Images,
    /// Images and meshes.
    Frames,
}

/// A built-in option.
pub(super) struct OptionRow {
    /// The spellings, each with its dashes, the last with two; those about outputs and images may be followed by `-` and a name.
    pub(super) spellings: &'static [&'static str],
    /// What stands for the word in the help text.
    pub(super) argument: &'static str,
    /// What the option does, in the imperative.
    pub(super) help: &'static str,
    pub(super) effect: Effect,
}

impl OptionRow {
    /// What the option is about.
    pub(super) fn about(&self) -> About {
        match self.effect {
            Effect::Files(row) if row.is_of_outputs() => About::Outputs,
            Effect::Image(_) | Effect::ImageFlag(_) => About::Images,
            Effect::Frames(_) => About::Frames,
            Effect::Flag(_)
            | Effect::File(_)
            | Effect::Files(_)
            | Effect::Value(_)
            | Effect::List(_)
            | Effect::Help => About::Run,
        }
    }

    /// Whether a word follows.
    pub(super) fn takes_word(&self) -> bool {
        !matches!(
            self.effect,
            Effect::Flag(_) | Effect::ImageFlag(_) | Effect::Help
        )
    }

    /// The spelling that no input can take.
    pub(super) fn long(&self) -> &'static str {
        self.spellings[self.spellings.len() - 1]
    }
}

impl Program {
    /// The names that may stand after the options about something, each with its number.
    pub(super) fn names(&self, about: About) -> Vec<(usize, &str)> {
        let outputs = || self.outputs.iter().map(|output| output.name.as_str());
        let inputs = |is_meant: fn(&InputType) -> bool| {
            let all = self.inputs.iter().enumerate();
            let meant = all.filter(|(_, input)| is_meant(&input.ty));
            meant.map(|(i, input)| (i, input.name.as_str())).collect()
        };
        match about {
            About::Run => Vec::new(),
            About::Outputs => outputs().enumerate().collect(),
            About::Images => inputs(|ty| matches!(ty, InputType::Image { .. })),
            About::Frames => {
                inputs(|ty| matches!(ty, InputType::Image { .. } | InputType::Mesh(_)))
            }
        }
    }
}

/// The option of the table that a word spells, with a name behind it or not.
pub(super) fn row_of(word: &str) -> Option<&'static OptionRow> {
    let spelled = |row: &&OptionRow| {
        let named = |s: &&str| {
            word.strip_prefix(*s)
                .is_some_and(|rest| rest.starts_with('-'))
        };
        let spellings = row.spellings;
        let is_named = row.about() != About::Run && spellings.iter().any(named);
        spellings.contains(&word) || is_named
    };
    OPTIONS.iter().find(spelled)
}

/// The built-in option that a word spells, and whether it takes a word, for any program.
pub(in crate::command) fn is_built_in(word: &str) -> Option<bool> {
    row_of(word).map(OptionRow::takes_word)
}

/// What the built-in option of this spelling does, as an order; nothing if there is none.
pub(in crate::command) fn help_of(spelling: &str) -> &'static str {
    row_of(spelling).map_or("", |row| row.help)
}

/// An option about files, by its spellings.
const fn of_files(spellings: &'static [&'static str], row: &'static files::OptionRow) -> OptionRow {
    OptionRow {
        spellings,
        argument: row.argument,
        help: row.help,
        effect: Effect::Files(row),
    }
}

/// The built-in options, in the order of the help text.
pub(super) static OPTIONS: &[OptionRow] = &[
    OptionRow {
        spellings: &["-h", "--help"],
        argument: "",
        help: "print this text",
        effect: Effect::Help,
    },
    of_files(&["-o", "--output"], &files::OUTPUT),
    OptionRow {
        spellings: &["-l", "--limit"],
        argument: "N",
        help: "stop after N super-steps; 0 means no limit",
        effect: Effect::Value(|run, word| {
            run.files.limit = positive(word)?;
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
        spellings: &["--memory"],
        argument: "SIZE",
        help: "use at most SIZE of memory, such as 500M or 16G; default: the available memory",
        effect: Effect::Value(|run, word| {
            run.memory = Some(size(word)?);
            Ok(())
        }),
    },
    of_files(&["-s", "--snapshot"], &files::SNAPSHOT),
    of_files(&["-sp", "--snapshot-prefix"], &files::SNAPSHOT_PREFIX),
    OptionRow {
        spellings: &["-print", "--print"],
        argument: "FILE",
        help: "write printed text to FILE; - means standard output",
        effect: Effect::File(|run, file| run.print = file),
    },
    of_files(&["--range"], &files::RANGE),
    of_files(&["--cmap"], &files::COLOURS),
    of_files(&["--bits"], &files::BITS),
    of_files(&["--nan"], &files::NAN),
    of_files(&["--points"], &files::POINTS),
    of_files(&["--place"], &files::PLACE),
    OptionRow {
        spellings: &["--world"],
        argument: "ras|lps|stored|PLACE",
        help: "transform images of patients to a space, or place an image in the world: spacing:SX,SY,…, box:X0,Y0,…,X1,Y1,…, matrix:(…) (…) @ (…), index or like:FILE; default: stored",
        effect: Effect::Image(Reading::set_world),
    },
    OptionRow {
        spellings: &["--symmetric"],
        argument: "upper|lower",
        help: "read six components of an image (or three) as this half of a symmetric matrix, row by row",
        effect: Effect::Image(Reading::set_triangle),
    },
    OptionRow {
        spellings: &["--measurement-frame"],
        argument: "apply|ignore",
        help: "transform the values of an image to the world by its measurement frame, or leave them; default: apply",
        effect: Effect::Image(Reading::set_frame),
    },
    OptionRow {
        spellings: &["--map"],
        argument: "always|never|auto",
        help: "use the samples of an image where they are in its file, or load them when they are first touched, so that they need not fit into memory; or read all of them; auto reads files that fit easily; default: auto",
        effect: Effect::Image(Reading::set_map),
    },
    OptionRow {
        spellings: &["--cache"],
        argument: "SIZE",
        help: "keep at most SIZE of the samples that are loaded on demand, such as 500M or 16G; default: half of the available memory",
        effect: Effect::Value(|run, word| {
            run.cache = Some(size(word)?);
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--missing"],
        argument: "nan|refuse",
        help: "fill the places of slices that a series does not have, and of numbered files that there are not, with NaN, or refuse the image; default: refuse",
        effect: Effect::Image(Reading::set_missing),
    },
    OptionRow {
        spellings: &["--times"],
        argument: "START:STEP|FILE",
        help: "the times of the frames of an image or of values on a mesh, in seconds: the first and a step, or a text file with all of them; zero=first counts those of the file from its first frame",
        effect: Effect::Frames(Reading::set_times),
    },
    OptionRow {
        spellings: &["--flip-components"],
        argument: "",
        help: "transform the components of an image with --world even if its format does not define their frame",
        effect: Effect::ImageFlag(|reading| reading.flip_components = true),
    },
    of_files(&["--fps"], &files::PER_SECOND),
    OptionRow {
        spellings: &["--vary"],
        argument: "NAME=FROM:TO:COUNT",
        help: "run COUNT times with values of the input NAME from FROM to TO; NAME=VALUE;VALUE;… lists them; several names make a grid of all combinations",
        effect: Effect::List(|run, word| {
            run.vary.push(Vary::parse(word)?);
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--each"],
        argument: "NAME=FILES",
        help: "run once for each file that FILES matches, such as 'scans/*.nrrd', with the input NAME; may be repeated for more files",
        effect: Effect::List(|run, word| {
            run.each.push(Each::parse(word)?);
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--orbit"],
        argument: "COUNT",
        help: "run COUNT times while the camera moves once around the scene",
        effect: Effect::Value(|run, word| {
            let count = positive(word)?;
            run.orbit = count.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--zip"],
        argument: "",
        help: "let everything that varies take its first value, then its second, and so on, instead of all combinations",
        effect: Effect::Flag(|run| run.zip = true),
    },
    OptionRow {
        spellings: &["--contact-sheet"],
        argument: "FILE",
        help: "show the pictures of all runs in one (.png, .svg, .pdf), with the values of what varies under each",
        effect: Effect::Value(|run, word| {
            check_sheet(Path::new(word))?;
            run.contact_sheet = Some(word.into());
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--keep"],
        argument: "",
        help: "write the values so far if the run is interrupted or runs out of memory",
        effect: Effect::Flag(|run| run.keep = true),
    },
    OptionRow {
        spellings: &["--mpi"],
        argument: "",
        help: "run the program once on all processes that mpirun or srun has started",
        // Processes join before the program is compiled, so the command looks for it before anything else.
        effect: Effect::Flag(|_| {}),
    },
    OptionRow {
        spellings: &["--color"],
        argument: "WHEN",
        help: "use colour in messages: auto, always or never; default: auto, on terminals",
        // It also applies to messages before this point, so the command looks for it before anything else.
        effect: Effect::Value(|_, word| match word {
            "auto" | "always" | "never" => Ok(()),
            _ => Err(format!("found `{word}`, expected auto, always or never")),
        }),
    },
    OptionRow {
        spellings: &["-v", "--verbose"],
        argument: "",
        help: "report details of the run",
        effect: Effect::Flag(|run| run.verbose = true),
    },
    OptionRow {
        spellings: &["-q", "--quiet"],
        argument: "",
        help: "do not report written files",
        effect: Effect::Flag(|run| run.quiet = true),
    },
    OptionRow {
        spellings: &["-t", "--timing"],
        argument: "",
        help: "report times",
        effect: Effect::Flag(|run| run.timing = true),
    },
];

/// A number of bytes, with a unit or without, as `--memory` takes it.
///
/// # Errors
/// The word is not one.
pub(in crate::command) fn size(word: &str) -> Result<u64, String> {
    const UNITS: [(&str, u32); 4] = [("k", 1), ("m", 2), ("g", 3), ("t", 4)];
    let lower = word.to_ascii_lowercase();
    let (number, base) = match (lower.strip_suffix("ib"), lower.strip_suffix('b')) {
        (Some(number), _) => (number, 1024_f64),
        (None, Some(number)) => (number, 1000.0),
        (None, None) => (lower.as_str(), 1000.0),
    };
    let unit = UNITS.iter().find(|(unit, _)| number.ends_with(unit));
    let (number, factor) = match unit {
        Some(&(unit, power)) => (number.trim_end_matches(unit), base.powi(power as i32)),
        None => (number, 1.0),
    };
    let bytes = parse_real(number.trim_end()).map(|x| x * factor);
    let bytes = bytes.filter(|x| *x >= 1.0 && *x < 2_f64.powi(63));
    bytes
        .map(|x| x as u64)
        .ok_or_else(|| format!("found `{word}`, expected a number of bytes such as 500M or 16GB"))
}

/// What holds if the command line says nothing.
pub(super) fn defaults(program: &Program) -> RunOptions {
    let reading = |input: &InputSpec| Reading {
        name: Some(input.name.clone()),
        ..Reading::default()
    };
    RunOptions {
        inputs: vec![None; program.inputs.len()],
        readings: program.inputs.iter().map(reading).collect(),
        reading: Reading::default(),
        files: FileOptions::new(program.outputs.len()),
        workers: None,
        memory: None,
        cache: None,
        print: STANDARD_OUTPUT.into(),
        verbose: false,
        quiet: false,
        timing: false,
        keep: false,
        vary: Vec::new(),
        each: Vec::new(),
        orbit: None,
        zip: false,
        contact_sheet: None,
        sweep: None,
        notes: Vec::new(),
    }
}
