//! What a program takes and gives, what a command line can say about it, and the table of built-in options.

use super::sweep::Vary;
use super::{InputType, InputValue, IntWidth};
use crate::file_name::FileName;
use crate::grid::Placement;
use crate::image::Reading;
use crate::nrrd::parse_real;
use crate::output::format::STANDARD_OUTPUT;
use crate::output::picture::NanColour;
use crate::png::{Depth, Range};

/// The default number of pictures per second of films.
const FRAMES_PER_SECOND: f64 = 25.0;

/// The inputs and outputs of a program.
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
    /// Whether its reals have 64 bits rather than 32.
    pub double: bool,
    /// Options that are understood beside those of the program, for suggestions.
    pub beside: Vec<String>,
}

/// One input.
#[derive(Clone, Debug)]
pub struct InputSpec {
    /// Its name in the program.
    pub name: String,
    /// Its type.
    pub ty: InputType,
    /// Its description for the help text.
    pub description: Option<String>,
    /// Its default as text, if it has one; without it the input is required.
    pub default: Option<String>,
    /// The imported file that declares it, if it is not the program itself.
    pub module: Option<String>,
}

/// One output.
#[derive(Clone, Debug)]
pub struct OutputName {
    /// Its name in the program.
    pub name: String,
    /// Whether it is a sequence of varying length, which is usually written to two files.
    pub dynamic: bool,
}

/// The options of one output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputOptions {
    /// The file; usually the output's name with `.nrrd`.
    pub file: Option<FileName>,
    /// The beginning of the names of snapshots; usually that of the file.
    pub snapshot_prefix: Option<FileName>,
    /// Which numbers become black and white in pictures.
    pub range: Range,
    /// The place of its grid in the world; by default it is computed from the positions of the strands.
    pub place: Option<Placement>,
}

/// The contents of a command line.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// One value per input; `None` where the default holds.
    pub inputs: Vec<Option<InputValue>>,
    /// The options of each output.
    pub outputs: Vec<OutputOptions>,
    /// How the image of each input is read; for inputs of other types it means nothing.
    pub readings: Vec<Reading>,
    /// How the images that the program names itself are read.
    pub reading: Reading,
    /// Super-steps after which to stop.
    pub limit: Option<u64>,
    /// Super-steps from one snapshot to the next.
    pub snapshot_period: Option<u64>,
    /// Worker threads; all cores if not given.
    pub workers: Option<usize>,
    /// Bytes that images, strands, sequences and outputs may take together; what the machine has, if not given.
    pub memory: Option<u64>,
    /// Where printed text goes; `-` is standard output.
    pub print: FileName,
    /// Whether to report details of the run.
    pub verbose: bool,
    /// Whether to report only errors and warnings.
    pub quiet: bool,
    /// Whether to report times.
    pub timing: bool,
    /// Bits of pictures.
    pub depth: Depth,
    /// How values look in pictures that are not numbers.
    pub nan: NanColour,
    /// The output that has the positions of points and lines.
    pub points: Option<String>,
    /// Pictures per second of films.
    pub per_second: f64,
    /// Whether an interrupted run writes the values so far.
    pub keep: bool,
    /// Inputs that take several values, each in a run of its own.
    pub vary: Vec<Vary>,
    /// Runs in which the camera goes around.
    pub orbit: Option<usize>,
    /// What the user should know about how the words were understood.
    pub notes: Vec<String>,
}

/// What an option does with its word.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// Takes no word.
    Flag(fn(&mut RunOptions)),
    /// Takes the name of a file.
    File(fn(&mut RunOptions, FileName)),
    /// Takes the name of a file for an output; if none is named, for all that are not.
    OutputFile(fn(&mut OutputOptions, FileName)),
    /// Takes one word.
    Value(fn(&mut RunOptions, &str) -> Result<(), String>),
    /// Takes one word, each time that it is given.
    List(fn(&mut RunOptions, &str) -> Result<(), String>),
    /// Takes one word for an output; if none is named, for all that are not.
    Output(fn(&mut OutputOptions, &str) -> Result<(), String>),
    /// Takes one word for the image of an input; if none is named, for all images that are not.
    Image(fn(&mut Reading, &str) -> Result<(), String>),
    /// The same without a word.
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
            Effect::Output(_) | Effect::OutputFile(_) => About::Outputs,
            Effect::Image(_) | Effect::ImageFlag(_) => About::Images,
            Effect::Flag(_)
            | Effect::File(_)
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
        let images = self.inputs.iter().enumerate();
        let images = images.filter(|(_, input)| matches!(input.ty, InputType::Image { .. }));
        match about {
            About::Run => Vec::new(),
            About::Outputs => outputs().enumerate().collect(),
            About::Images => images.map(|(i, input)| (i, input.name.as_str())).collect(),
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
pub fn is_built_in(word: &str) -> Option<bool> {
    row_of(word).map(OptionRow::takes_word)
}

/// What the built-in option of this spelling does, as an order; nothing if there is none.
pub fn help_of(spelling: &str) -> &'static str {
    row_of(spelling).map_or("", |row| row.help)
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
        help: "write the output to FILE; the suffix chooses the format: .nrrd, .nhdr, .png, .txt, .npy, .npz, .csv, .vtp, .vti, .ply, .obj, .apng, .y4m",
        effect: Effect::OutputFile(|output, file| output.file = Some(file)),
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
        spellings: &["--memory"],
        argument: "SIZE",
        help: "use at most SIZE of memory, such as 500M or 16G; default: the available memory",
        effect: Effect::Value(|run, word| {
            run.memory = Some(size(word)?);
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
        help: "begin the names of snapshots with PREFIX; a suffix chooses their format",
        effect: Effect::OutputFile(|output, file| output.snapshot_prefix = Some(file)),
    },
    OptionRow {
        spellings: &["-print", "--print"],
        argument: "FILE",
        help: "write printed text to FILE; - means standard output",
        effect: Effect::File(|run, file| run.print = file),
    },
    OptionRow {
        spellings: &["--range"],
        argument: "LO,HI|auto|auto:P,Q",
        help: "show LO as black and HI as white in .png files; default: 0,1; auto takes the least and the greatest value, auto:1,99 percentiles",
        effect: Effect::Output(|output, word| {
            output.range = range(word)?;
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--bits"],
        argument: "8|16",
        help: "write 8 or 16 bits per value in .png files; default: 8",
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
        spellings: &["--nan"],
        argument: "COLOUR",
        help: "show NaN as black, grey, white or transparent; default: black",
        effect: Effect::Value(|run, word| {
            let found = NanColour::ALL.iter().find(|(name, _)| *name == word);
            run.nan = found.map(|(_, colour)| *colour).ok_or_else(|| {
                let names = NanColour::ALL.map(|(name, _)| name);
                format!("found `{word}`, expected one of {}", names.join(", "))
            })?;
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--points"],
        argument: "OUTPUT",
        help: "take the positions of points and lines from OUTPUT; default: sequences of vectors, else pos",
        effect: Effect::Value(|run, word| {
            run.points = Some(word.to_string());
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--place"],
        argument: "PLACE",
        help: "place the grid in the world: like:FILE, like:INPUT, var:NAME, spacing:SX,SY,…, box:X0,Y0,…,X1,Y1,…, matrix:(…) (…) @ (…), index or none; default: by the strands' pos",
        effect: Effect::Output(|output, word| {
            output.place = Some(Placement::parse(word)?);
            Ok(())
        }),
    },
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
        spellings: &["--flip-components"],
        argument: "",
        help: "transform the components of an image with --world even if its format does not define their frame",
        effect: Effect::ImageFlag(|reading| reading.flip_components = true),
    },
    OptionRow {
        spellings: &["--fps"],
        argument: "N",
        help: "show N pictures per second in films (.apng, .y4m); default: 25",
        effect: Effect::Value(|run, word| {
            let number = parse_real(word).filter(|x| *x > 0.0 && x.is_finite());
            run.per_second =
                number.ok_or_else(|| format!("found `{word}`, expected a positive number"))?;
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--vary"],
        argument: "NAME=FROM:TO:COUNT",
        help: "run COUNT times with values of the input NAME from FROM to TO, and number the outputs; may be repeated",
        effect: Effect::List(|run, word| {
            let vary = Vary::parse(word)?;
            if run.vary.iter().any(|other| other.input == vary.input) {
                return Err(format!("the input `{}` is varied twice", vary.input));
            }
            run.vary.push(vary);
            Ok(())
        }),
    },
    OptionRow {
        spellings: &["--orbit"],
        argument: "COUNT",
        help: "run COUNT times while the camera moves once around the scene, and number the outputs",
        effect: Effect::Value(|run, word| {
            let count = positive(word)?;
            run.orbit = count.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
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

/// A number; 0 means none.
fn positive(word: &str) -> Result<Option<u64>, String> {
    let number: u64 = word
        .parse()
        .map_err(|_| format!("found `{word}`, expected a non-negative integer"))?;
    Ok((number > 0).then_some(number))
}

/// A number of bytes, with a unit or without, as `--memory` takes it.
///
/// # Errors
/// The word is not one.
pub fn size(word: &str) -> Result<u64, String> {
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

fn range(word: &str) -> Result<Range, String> {
    if word.eq_ignore_ascii_case("auto") {
        return Ok(Range::Auto);
    }
    let (is_auto, bounds) = match word.split_once(':') {
        Some((auto, bounds)) if auto.eq_ignore_ascii_case("auto") => (true, bounds),
        _ => (false, word),
    };
    let bounds = bounds.split_once(',');
    let bounds = bounds.and_then(|(low, high)| Some((parse_real(low)?, parse_real(high)?)));
    match bounds {
        Some((low, high)) if is_auto && 0.0 <= low && low < high && high <= 100.0 => {
            Ok(Range::Percentiles(low, high))
        }
        Some((low, high)) if !is_auto && low.is_finite() && high.is_finite() && low != high => {
            Ok(Range::Between(low, high))
        }
        _ => Err(format!(
            "found `{word}`, expected two different numbers LO,HI, auto, or percentages auto:1,99"
        )),
    }
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
        outputs: vec![OutputOptions::default(); program.outputs.len()],
        limit: None,
        snapshot_period: None,
        workers: None,
        memory: None,
        print: STANDARD_OUTPUT.into(),
        verbose: false,
        quiet: false,
        timing: false,
        depth: Depth::Eight,
        nan: NanColour::Black,
        points: None,
        per_second: FRAMES_PER_SECOND,
        keep: false,
        vary: Vec::new(),
        orbit: None,
        notes: Vec::new(),
    }
}
