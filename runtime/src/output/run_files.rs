//! The files of several runs that have names of their own. Problems with them are found before the first run.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::format::Destination;
use super::identity::{directory_of, followed, is_special};
use super::options::FileOptions;
use super::plan::OtherFiles;
use super::{Length, Output};
use crate::file_name::{FileName, escaped};

/// Problems that are listed, at most; more are counted.
const MOST_TOLD: usize = 8;

/// The problems with the names of the files of all runs, each a sentence: two runs that would write one file, files that the runs
/// read, directories that are not there, films, which are of all runs. `describe` has the values of a run.
pub fn check_run_files(
    outputs: &[Output],
    options: &FileOptions,
    others: &OtherFiles,
    describe: &dyn Fn(usize) -> String,
) -> Vec<String> {
    let mut problems = Vec::new();
    let mut directories = BTreeSet::new();
    let mut known: HashMap<PathBuf, Use<'_>> = HashMap::new();
    for used in &others.read {
        known.insert(real(&used.file), Use::Other(&used.purpose));
    }
    for used in &others.written {
        known.insert(real(&used.file), Use::Other(&used.purpose));
    }
    for (n, output) in options.outputs.iter().enumerate() {
        // Outputs that share a name share the files.
        let is_same = |other: &usize| options.outputs[*other].run_files == output.run_files;
        if (0..n).any(|other| is_same(&other)) {
            continue;
        }
        let mut sharing = (n..outputs.len()).filter(is_same);
        let is_varying = sharing.any(|n| outputs[n].length == Length::Dynamic);
        for (run, name) in output.run_files.iter().enumerate() {
            let destination = match Destination::parse(name.clone()) {
                Ok(destination) => destination,
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            let file = &destination.file;
            if destination.format.is_film() {
                problems.push(format!(
                    "{file}: a film is one file of all runs, so its name has no fields in braces"
                ));
                break;
            }
            if destination.is_standard_output() || is_special(file) {
                continue;
            }
            let directory = directory_of(file);
            if !directory.is_dir() && directories.insert(directory.to_path_buf()) {
                let place = escaped(directory.as_os_str());
                problems.push(format!("{file}: there is no directory {place}"));
            }
            for file in destination.files(None, is_varying) {
                let earlier = known.insert(real(&file), Use::Run(run));
                problems.extend(match earlier {
                    None => None,
                    Some(Use::Other(purpose)) => {
                        Some(format!("{file}: an output would replace {purpose}"))
                    }
                    Some(Use::Run(other)) => Some(format!(
                        "{file}: run {other} ({}) and run {run} ({}) would write the same file; more names in braces tell them apart, and {{n}} is the number of the run",
                        describe(other),
                        describe(run)
                    )),
                });
            }
        }
    }
    let more = problems.len().saturating_sub(MOST_TOLD);
    if more > 0 {
        problems.truncate(MOST_TOLD);
        problems.push(format!("there are {more} more problems of this kind"));
    }
    problems
}

/// What a file is used for.
enum Use<'a> {
    Run(usize),
    Other(&'a str),
}

/// One path for all spellings of a file.
fn real(file: &FileName) -> PathBuf {
    let plain = || Path::to_path_buf(file);
    followed(file).unwrap_or_else(|_| plain())
}

#[cfg(test)]
mod tests {
    use super::super::identity::FileUse;
    use super::*;

    fn problems(names: &[&str], read: &[&str]) -> Vec<String> {
        let output = Output {
            name: "x".to_string(),
            shape: Vec::new(),
            length: Length::One,
            scalar: super::super::Scalar::Real,
            is_position: false,
        };
        let mut options = FileOptions::new(1);
        options.outputs[0].run_files = names.iter().map(FileName::from).collect();
        let others = OtherFiles {
            read: read
                .iter()
                .map(|file| FileUse::of(file, "the input `vol`"))
                .collect(),
            written: Vec::new(),
        };
        check_run_files(&[output], &options, &others, &|run| format!("x={run}"))
    }

    #[test]
    fn names_that_meet_are_found_before_the_first_run() {
        assert!(problems(&["a.png", "b.png"], &["c.png"]).is_empty());
        let twice = problems(&["a.png", "b.png", "./a.png"], &[]);
        assert_eq!(twice.len(), 1);
        assert!(
            twice[0].starts_with("./a.png: run 0 (x=0) and run 2 (x=2) would write the same file"),
            "{twice:?}"
        );
        let input = problems(&["a.png", "b.png"], &["./b.png"]);
        assert_eq!(input, ["b.png: an output would replace the input `vol`"]);
        let lost = problems(&["none/a.png", "none/b.png"], &[]);
        assert_eq!(lost, ["none/a.png: there is no directory none"]);
        let films = problems(&["a.apng", "b.apng"], &[]);
        assert_eq!(films.len(), 1, "{films:?}");
        let many: Vec<&str> = vec!["a.png"; 20];
        assert_eq!(problems(&many, &[]).len(), MOST_TOLD + 1);
    }
}
