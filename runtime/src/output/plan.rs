//! The files that a run will write. All errors that can be found before the run are reported then, all at once.

use std::fs;

use super::contents::Number;
use super::format::{Destination, FileFormat};
use super::identity::{FileUse, collisions, directory_of, followed, is_same, is_special};
use super::options::FileOptions;
use super::shapes::Request;
use super::staged::try_create;
use super::{Domain, Length, Output};
use crate::file_name::{FileName, escaped};

/// A file to be written, or a family of numbered ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// Where it goes.
    pub destination: Destination,
    /// The outputs in it, by their numbers.
    pub outputs: Vec<usize>,
}

impl PlannedFile {
    /// Whether there are sequences of varying length among its outputs.
    fn varies(&self, outputs: &[Output]) -> bool {
        let mut own = self.outputs.iter().map(|&n| &outputs[n]);
        own.any(|output| output.length == Length::Dynamic)
    }
}

/// The files of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The files that are written at the end.
    pub results: Vec<PlannedFile>,
    /// The snapshots, with numbers.
    pub snapshots: Vec<PlannedFile>,
    /// What all pictures on the way, or of all runs, are put into.
    pub films: Vec<PlannedFile>,
    /// How many runs there are, if each has its own results.
    pub runs: Option<usize>,
    /// The digits of these numbers, at least.
    pub digits: usize,
}

/// Digits of the numbers of files, at least.
const DIGITS: usize = 4;

/// The other files of a run, which its outputs must not replace.
#[derive(Clone, Debug, Default)]
pub struct OtherFiles {
    /// The files that it reads.
    pub read: Vec<FileUse>,
    /// The files that it writes in addition to its outputs.
    pub written: Vec<FileUse>,
}

/// The plan for these outputs, or everything that is wrong with it.
///
/// # Errors
/// All problems, each a sentence.
pub fn plan(
    outputs: &[Output],
    domain: &Domain,
    options: &FileOptions,
    others: &OtherFiles,
) -> Result<Plan, Vec<String>> {
    let mut problems = Vec::new();
    if let Some(problem) = nobody(domain) {
        problems.push(problem);
    }
    let named: Vec<(usize, FileName)> = options
        .outputs
        .iter()
        .enumerate()
        .map(|(n, output)| {
            (
                n,
                output
                    .file
                    .clone()
                    .unwrap_or_else(|| default_file(&outputs[n]).into()),
            )
        })
        .collect();
    let parsed = named
        .iter()
        .filter_map(|(n, name)| match Destination::parse(name.clone()) {
            Ok(destination) => Some((*n, destination)),
            Err(problem) => {
                problems.push(problem);
                None
            }
        });
    let parsed: Vec<(usize, Destination)> = parsed.collect();
    let fits = |format: FileFormat, chosen: &[usize]| {
        let are_coloured = chosen.iter().any(|&n| options.outputs[n].colours.is_some());
        let chosen: Vec<&Output> = chosen.iter().map(|&n| &outputs[n]).collect();
        (format.fits())(Request {
            are_coloured,
            suffix: format.suffix(),
            outputs: &chosen,
            domain,
            points: options.points.as_deref(),
        })
    };
    let (films, results): (Vec<_>, Vec<_>) = group(outputs, &parsed, &fits, &mut problems)
        .into_iter()
        .partition(|target| target.destination.format.is_film());
    let runs = options.runs;
    if runs.is_some() && options.snapshot_period.is_some() {
        problems.push(
            "snapshots (-s) and several runs (--vary, --each, --orbit) cannot be had at once"
                .to_string(),
        );
    }
    if let (Some(film), None, None) = (films.first(), runs, options.snapshot_period) {
        let file = &film.destination.file;
        problems.push(format!("{file}: a film needs pictures: -s N takes one every N super-steps, --vary, --each and --orbit one of each run"));
    }
    for film in &films {
        let Destination { format, file } = &film.destination;
        if let Err(problem) = format.check() {
            problems.push(format!("{file}: {problem}"));
        }
    }
    let snapshots = match options.snapshot_period {
        Some(_) => {
            let stills = parsed
                .iter()
                .filter(|(_, destination)| !destination.format.is_film());
            let named = stills.map(|(n, destination)| {
                let output = &options.outputs[*n];
                (
                    *n,
                    snapshot_destination(
                        destination,
                        output.snapshot_prefix.as_ref(),
                        &outputs[*n],
                        output.file.is_some(),
                    ),
                )
            });
            group(outputs, &named.collect::<Vec<_>>(), &fits, &mut problems)
        }
        None => Vec::new(),
    };
    for target in results.iter().chain(&snapshots).chain(&films) {
        if let Err(problem) = fits(target.destination.format, &target.outputs) {
            problems.push(format!("{}: {problem}", target.destination.file));
        }
        let pair = target.destination.pair(None, target.varies(outputs));
        if let Some((pair, files)) = pair
            && let Err(problem) = (pair.check)(&files)
        {
            problems.push(format!("{}: {problem}", target.destination.file));
        }
    }
    let is_numbered = |target: &PlannedFile| options.are_numbered(&target.outputs);
    let mut written = written(&results, &films, &snapshots, outputs, &is_numbered);
    written.extend_from_slice(&others.written);
    problems.extend(written.iter().filter_map(|used| unwritable(&used.file)));
    problems.extend(collisions(&written, &others.read));
    problems.dedup();
    if !problems.is_empty() {
        return Err(problems);
    }
    let largest = options.limit.or(runs.map(|n| n as u64));
    let digits = largest.map_or(0, |largest| largest.to_string().len());
    Ok(Plan {
        results,
        snapshots,
        films,
        runs,
        digits: digits.max(DIGITS),
    })
}

fn default_file(output: &Output) -> String {
    match output.length {
        // The beginning of two names.
        Length::Dynamic => output.name.clone(),
        _ => format!("{}.nrrd", output.name),
    }
}

/// What snapshots are called: as the user says, else as the result that was asked for, else as the output.
fn snapshot_destination(
    result: &Destination,
    prefix: Option<&FileName>,
    output: &Output,
    is_chosen: bool,
) -> Destination {
    let plain = |file: FileName| Destination {
        format: FileFormat::nrrd(),
        file,
    };
    match prefix {
        // A period in a prefix need not be that of a suffix.
        Some(prefix) => {
            Destination::parse(prefix.clone()).unwrap_or_else(|_| plain(prefix.clone()))
        }
        None if is_chosen && !result.is_standard_output() => result.clone(),
        None => plain((&output.name).into()),
    }
}

/// Whether outputs, by their numbers, can be written to one file of a format; if not, why.
type Fits<'a> = dyn Fn(FileFormat, &[usize]) -> Result<(), String> + 'a;

/// Puts outputs together that go to one file; two that cannot are a problem.
fn group(
    outputs: &[Output],
    named: &[(usize, Destination)],
    fits: &Fits<'_>,
    problems: &mut Vec<String>,
) -> Vec<PlannedFile> {
    let mut targets: Vec<PlannedFile> = Vec::new();
    for (n, destination) in named {
        let same = |target: &&mut PlannedFile| {
            let [one, another] = [&target.destination, destination];
            one.file == another.file
                || one.format == another.format && is_same(&one.file, &another.file)
        };
        match targets.iter_mut().find(same) {
            Some(target) => target.outputs.push(*n),
            None => targets.push(PlannedFile {
                destination: destination.clone(),
                outputs: vec![*n],
            }),
        }
    }
    for target in &targets {
        let format = target.destination.format;
        if target.outputs.len() > 1 && !format.takes_several() {
            let names: Vec<_> = target
                .outputs
                .iter()
                .map(|&n| format!("`{}`", outputs[n].name))
                .collect();
            let options: Vec<_> = target
                .outputs
                .iter()
                .map(|&n| format!("-o-{}", outputs[n].name))
                .collect();
            // Advice that would be refused next is none.
            let fitting = FileFormat::all()
                .filter(|format| format.takes_several() && fits(*format, &target.outputs).is_ok());
            let fitting = match FileFormat::suffixes(fitting) {
                none if none.is_empty() => String::new(),
                some => format!(", or choose a format that takes these together: {some}"),
            };
            problems.push(format!(
                "{}: the outputs {} go to one file, but a .{} takes one; name their files by {}{fitting}",
                target.destination.file,
                names.join(", "),
                format.suffix(),
                options.join(", "),
            ));
        } else if target.destination.is_standard_output() && format.is_encoded() {
            problems.push("a .mp4 cannot go to standard output; y4m:- can".to_string());
        } else if target.destination.is_standard_output()
            && let varying = target.varies(outputs)
            && target.destination.pair(None, varying).is_some()
        {
            let two = match varying {
                true => "sequences of varying length are".to_string(),
                false => format!("a .{} is", format.suffix()),
            };
            problems.push(format!("{two} two files, and standard output is one"));
        }
    }
    targets
}

/// Reports that there are no strands to run.
fn nobody(domain: &Domain) -> Option<String> {
    if domain.strand_count() > 0 {
        return None;
    }
    Some(match domain {
        Domain::Grid(sizes) => {
            let sizes: Vec<_> = sizes.iter().map(usize::to_string).collect();
            format!(
                "the grid has no strands: its sizes are {}",
                sizes.join(" × ")
            )
        }
        Domain::List(_) => "the program creates no strands".to_string(),
    })
}

/// The files of all outputs.
fn written(
    results: &[PlannedFile],
    films: &[PlannedFile],
    snapshots: &[PlannedFile],
    outputs: &[Output],
    is_numbered: &dyn Fn(&PlannedFile) -> bool,
) -> Vec<FileUse> {
    let mut all = Vec::new();
    let mut add = |target: &PlannedFile, is_numbered: bool, what: &str| {
        let names = target.outputs.iter().map(|&n| &outputs[n].name);
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        let purpose = format!("{what} {}", names.join(", "));
        // The name of the first of several files stands for all of them.
        let digits = is_numbered.then_some(DIGITS);
        all.extend(
            files_of(target, outputs, digits)
                .into_iter()
                .map(|file| FileUse {
                    number: digits.map(|digits| "0".repeat(digits)),
                    ..FileUse::of(file, purpose.clone())
                }),
        );
    };
    results
        .iter()
        .for_each(|target| add(target, is_numbered(target), "the output"));
    films
        .iter()
        .for_each(|target| add(target, false, "the film of"));
    snapshots
        .iter()
        .for_each(|target| add(target, true, "the snapshots of"));
    all
}

/// The files that a target becomes, or with digits those of the number 0.
fn files_of(target: &PlannedFile, outputs: &[Output], digits: Option<usize>) -> Vec<FileName> {
    let destination = &target.destination;
    if destination.is_standard_output() {
        return Vec::new();
    }
    let number = digits.map(|digits| Number { value: 0, digits });
    destination.files(number, target.varies(outputs))
}

/// Why a file could not be written, if that can be seen before.
fn unwritable(file: &FileName) -> Option<String> {
    if is_special(file) {
        return None;
    }
    let shown = file;
    if file.is_dir() {
        return Some(format!("{shown}: this is a directory"));
    }
    let directory = directory_of(file);
    let place = escaped(directory.as_os_str());
    if !directory.exists() {
        return Some(format!("{shown}: there is no directory {place}"));
    }
    if !directory.is_dir() {
        return Some(format!("{shown}: {place} is not a directory"));
    }
    // A link may lead in a circle, or to a directory that is not there.
    let problem = followed(file)
        .and_then(|target| try_create(&target))
        .err()?;
    Some(match fs::read_link(file) {
        Ok(target) => format!(
            "{shown}: a link to {}: {problem}",
            escaped(target.as_os_str())
        ),
        Err(_) => format!("{shown}: {problem}"),
    })
}
