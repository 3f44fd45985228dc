//! Options about the files of a run, and their table. The command, Python and C set them by the names in it.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::sync::Arc;

use super::picture::NanColour;
use crate::colour_maps::ColourMap;
use crate::file_name::{FileName, text};
use crate::grid::Placement;
use crate::nrrd::parse_real;
use crate::png::{Depth, Range};

/// The default number of pictures per second of films.
const FRAMES_PER_SECOND: f64 = 25.0;

/// The options of one output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputOptions {
    /// The file; usually the output's name with `.nrrd`.
    pub file: Option<FileName>,
    /// The file of each of several runs, if these have names of their own rather than numbers.
    pub run_files: Arc<[FileName]>,
    /// The beginning of the names of snapshots; usually that of the file.
    pub snapshot_prefix: Option<FileName>,
    /// The numbers that become black and white in pictures.
    pub range: Range,
    /// The colours of its pictures; grey without a map.
    pub colours: Option<&'static ColourMap>,
    /// The place of its grid in the world; by default it is computed from the positions of the strands.
    pub place: Option<Placement>,
}

/// The files of one run, or of each of several.
#[derive(Clone, Debug, PartialEq)]
pub struct FileOptions {
    /// The options of each output.
    pub outputs: Vec<OutputOptions>,
    /// Super-steps from one snapshot to the next.
    pub snapshot_period: Option<u64>,
    /// Super-steps after which the run stops.
    pub limit: Option<u64>,
    /// The number of runs, if each has its own results.
    pub runs: Option<usize>,
    /// Bits of pictures.
    pub depth: Depth,
    /// The colour of values that are not numbers.
    pub nan: NanColour,
    /// The output that has the positions of points and lines, or the triangles.
    pub points: Option<String>,
    /// Pictures per second of films.
    pub per_second: f64,
}

impl FileOptions {
    /// The defaults for a number of outputs.
    pub fn new(outputs: usize) -> FileOptions {
        FileOptions {
            outputs: vec![OutputOptions::default(); outputs],
            snapshot_period: None,
            limit: None,
            runs: None,
            depth: Depth::Eight,
            nan: NanColour::Black,
            points: None,
            per_second: FRAMES_PER_SECOND,
        }
    }

    /// The options of one of several runs.
    pub fn of_run(&self, run: usize) -> Cow<'_, FileOptions> {
        if self
            .outputs
            .iter()
            .all(|output| output.run_files.is_empty())
        {
            return Cow::Borrowed(self);
        }
        let outputs = self.outputs.iter().map(|output| OutputOptions {
            file: output.run_files.get(run).or(output.file.as_ref()).cloned(),
            ..output.clone()
        });
        Cow::Owned(FileOptions {
            outputs: outputs.collect(),
            ..self.clone()
        })
    }

    /// Whether the files of several runs with these outputs have numbers.
    pub fn are_numbered(&self, outputs: &[usize]) -> bool {
        let mut own = outputs.iter().map(|&n| &self.outputs[n]);
        self.runs.is_some() && own.all(|output| output.run_files.is_empty())
    }

    /// Sets an option, for one output by its number or for all.
    ///
    /// # Errors
    /// The word is not a value of the option.
    pub fn set(
        &mut self,
        row: &OptionRow,
        output: Option<usize>,
        word: &OsStr,
    ) -> Result<(), String> {
        let chosen = match output {
            Some(n) => &mut self.outputs[n..=n],
            None => &mut self.outputs[..],
        };
        match row.effect {
            Effect::All(set) => set(self, text(word)?),
            Effect::Output(set) => {
                let word = text(word)?;
                chosen.iter_mut().try_for_each(|output| set(output, word))
            }
            Effect::File(set) => {
                if word.is_empty() {
                    return Err("found an empty word, expected a file name".to_string());
                }
                chosen
                    .iter_mut()
                    .for_each(|output| set(output, word.into()));
                Ok(())
            }
        }
    }
}

/// The effect of an option.
#[derive(Clone, Copy)]
pub enum Effect {
    /// Takes a word about all files.
    All(fn(&mut FileOptions, &str) -> Result<(), String>),
    /// Takes a word about an output, or about all of them.
    Output(fn(&mut OutputOptions, &str) -> Result<(), String>),
    /// Takes the name of a file for an output, or for all of them.
    File(fn(&mut OutputOptions, FileName)),
}

/// An option about files.
pub struct OptionRow {
    /// Its name, without dashes.
    pub name: &'static str,
    /// The placeholder of its word in help texts.
    pub argument: &'static str,
    /// Its description, in the imperative.
    pub help: &'static str,
    /// Its effect.
    pub effect: Effect,
}

impl OptionRow {
    /// Whether it may be given for one output.
    pub fn is_of_outputs(&self) -> bool {
        !matches!(self.effect, Effect::All(_))
    }

    /// The option of a name.
    pub fn named(name: &str) -> Option<&'static OptionRow> {
        OPTIONS.iter().copied().find(|row| row.name == name)
    }
}

/// The options about files.
pub static OPTIONS: [&OptionRow; 10] = [
    &OUTPUT,
    &SNAPSHOT,
    &SNAPSHOT_PREFIX,
    &RANGE,
    &COLOURS,
    &BITS,
    &NAN,
    &POINTS,
    &PLACE,
    &PER_SECOND,
];

/// The file of an output. Help texts have the suffixes of all formats for `{formats}`.
pub static OUTPUT: OptionRow = OptionRow {
    name: "output",
    argument: "FILE",
    help: "write the output to FILE; the suffix chooses the format: {formats}",
    effect: Effect::File(|output, file| output.file = Some(file)),
};

/// Snapshots on the way.
pub static SNAPSHOT: OptionRow = OptionRow {
    name: "snapshot",
    argument: "N",
    help: "write a snapshot every N super-steps; 0 means none",
    effect: Effect::All(|files, word| {
        files.snapshot_period = positive(word)?;
        Ok(())
    }),
};

/// The names of snapshots.
pub static SNAPSHOT_PREFIX: OptionRow = OptionRow {
    name: "snapshot-prefix",
    argument: "PREFIX",
    help: "begin the names of snapshots with PREFIX; a suffix chooses their format",
    effect: Effect::File(|output, file| output.snapshot_prefix = Some(file)),
};

/// The numbers that become black and white.
pub static RANGE: OptionRow = OptionRow {
    name: "range",
    argument: "LO,HI|auto|auto:P,Q",
    help: "show LO as black and HI as white in pictures; default: 0,1; auto takes the least and the greatest value, auto:1,99 percentiles",
    effect: Effect::Output(|output, word| {
        output.range = range(word)?;
        Ok(())
    }),
};

/// The colours of pictures.
pub static COLOURS: OptionRow = OptionRow {
    name: "cmap",
    argument: "NAME[,LO,HI]",
    help: "show numbers in the colours of a map in pictures: cyclic, diverging, grey, heat, inferno, magma, plasma or viridis; from LO to HI, by default from the least to the greatest value, and with 0 in the middle of diverging",
    effect: Effect::Output(|output, word| {
        let (name, bounds) = match word.split_once(',') {
            Some((name, bounds)) => (name, Some(bounds)),
            None => (word, None),
        };
        output.colours = Some(ColourMap::named(name)?);
        if let Some(bounds) = bounds {
            output.range = range(bounds)?;
        }
        Ok(())
    }),
};

/// The depth of pictures.
pub static BITS: OptionRow = OptionRow {
    name: "bits",
    argument: "8|16",
    help: "write 8 or 16 bits per value in pictures; default: 8",
    effect: Effect::All(|files, word| {
        files.depth = match word {
            "8" => Depth::Eight,
            "16" => Depth::Sixteen,
            _ => return Err(format!("found `{word}`, expected 8 or 16")),
        };
        Ok(())
    }),
};

/// The colour of values that are not numbers.
pub static NAN: OptionRow = OptionRow {
    name: "nan",
    argument: "COLOUR",
    help: "show NaN as black, grey, white or transparent; default: black",
    effect: Effect::All(|files, word| {
        let found = NanColour::ALL.iter().find(|(name, _)| *name == word);
        files.nan = found.map(|(_, colour)| *colour).ok_or_else(|| {
            let names = NanColour::ALL.map(|(name, _)| name);
            format!("found `{word}`, expected one of {}", names.join(", "))
        })?;
        Ok(())
    }),
};

/// The output that has the positions of points.
pub static POINTS: OptionRow = OptionRow {
    name: "points",
    argument: "OUTPUT",
    help: "take the positions of points, lines or triangles from OUTPUT; default: triangles, else sequences of vectors, else pos",
    effect: Effect::All(|files, word| {
        files.points = Some(word.to_string());
        Ok(())
    }),
};

/// The place of a grid.
pub static PLACE: OptionRow = OptionRow {
    name: "place",
    argument: "PLACE",
    help: "place the grid in the world: like:FILE, like:INPUT, var:NAME, spacing:SX,SY,…, box:X0,Y0,…,X1,Y1,…, matrix:(…) (…) @ (…), index or none; default: by the strands' pos",
    effect: Effect::Output(|output, word| {
        output.place = Some(Placement::parse(word)?);
        Ok(())
    }),
};

/// The speed of films.
pub static PER_SECOND: OptionRow = OptionRow {
    name: "fps",
    argument: "N",
    help: "show N pictures per second in films (.apng, .y4m, .mp4); default: 25",
    effect: Effect::All(|files, word| {
        let number = parse_real(word).filter(|x| *x > 0.0 && x.is_finite());
        files.per_second =
            number.ok_or_else(|| format!("found `{word}`, expected a positive number"))?;
        Ok(())
    }),
};

/// A number; 0 means none.
///
/// # Errors
/// The word is not a number.
pub fn positive(word: &str) -> Result<Option<u64>, String> {
    let number: u64 = word
        .parse()
        .map_err(|_| format!("found `{word}`, expected a non-negative integer"))?;
    Ok((number > 0).then_some(number))
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
