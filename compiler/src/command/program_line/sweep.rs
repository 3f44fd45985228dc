//! Sweeps: what varies over several runs, the order of the runs, and the names of their files.

use super::{
    options::{Program, RunOptions},
    orbit,
    pattern::{Pattern, shown, stem},
    vary::Each,
};
use runtime::{
    file_name::FileName,
    input::{InputType, InputValue},
};

/// Runs of a sweep, at most: more are a mistake in the counts.
const MOST_RUNS: usize = 1_000_000;

/// Several runs that differ in what varies.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) struct Sweep {
    /// What varies: of a grid the slowest first.
    pub(in crate::command) axes: Vec<Axis>,
    /// Whether all vary together; else there is a run for every combination.
    is_zipped: bool,
}

/// Something that varies.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) struct Axis {
    /// The name of the input, or `orbit`.
    pub(in crate::command) name: String,
    /// Its values, one after the other; of an orbit the numbers of the stations.
    pub(in crate::command) values: Vec<InputValue>,
    pub(in crate::command) subject: Subject,
}

/// What takes the values of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Subject {
    /// The input of this number.
    Input(usize),
    /// The same, and its values are files of images or meshes, which have to be loaded.
    Data(usize),
    /// The camera.
    Orbit,
}

/// Finds out which runs there are, and the names of their files.
///
/// # Errors
/// An input is not there or takes other values, counts do not fit, or a name is not a pattern.
pub(super) fn prepare(run: &mut RunOptions, program: &Program) -> Result<(), String> {
    let Some(sweep) = Sweep::of(program, run)? else {
        return Ok(());
    };
    run.files.runs = Some(sweep.runs());
    for output in &mut run.files.outputs {
        let Some(file) = &output.file else {
            continue;
        };
        match sweep.files(program, &run.inputs, file)? {
            Named::Numbered(file) => output.file = Some(file),
            Named::Own(files) => output.run_files = files.into(),
        }
    }
    // What varies is given.
    for (axis, place) in sweep.places(0) {
        if let Subject::Input(input) | Subject::Data(input) = axis.subject {
            run.inputs[input] = Some(axis.values[place].clone());
        }
    }
    run.sweep = Some(sweep);
    Ok(())
}

impl Sweep {
    /// The sweep that options ask for, if they do.
    ///
    /// # Errors
    /// An input is not there or takes other values, or counts do not fit.
    fn of(program: &Program, options: &RunOptions) -> Result<Option<Sweep>, String> {
        let each = merged(&options.each);
        let counts = each.iter().map(|each| each.files.len());
        let counts = counts.chain(options.vary.iter().map(|vary| vary.count()));
        let counts: Vec<usize> = counts.chain(options.orbit).collect();
        if counts.is_empty() {
            let without = match (options.zip, &options.contact_sheet) {
                (true, _) => "--zip",
                (false, Some(_)) => "--contact-sheet",
                (false, None) => return Ok(None),
            };
            return Err(format!(
                "`{without}` needs something that varies: --vary, --each or --orbit"
            ));
        }
        check_counts(&counts, options.zip)?;
        let mut axes = Vec::new();
        let files = each.iter().map(|each| (&each.input, each.values(program)));
        let numbers = options.vary.iter().map(|v| (&v.input, v.values(program)));
        for (name, values) in files.chain(numbers) {
            let (input, values) = values?;
            let is_data = matches!(
                program.inputs[input].ty,
                InputType::Image { .. } | InputType::Mesh(_)
            );
            if axes.iter().any(|axis: &Axis| axis.name == *name) {
                return Err(format!("the input `{name}` is varied twice"));
            }
            if options.inputs[input].is_some() {
                return Err(format!(
                    "the input `{name}` varies and is also given by `-{name}`; one is wanted"
                ));
            }
            axes.push(Axis {
                name: name.clone(),
                values,
                subject: match is_data {
                    true => Subject::Data(input),
                    false => Subject::Input(input),
                },
            });
        }
        if let Some(count) = options.orbit {
            orbit::camera_of(program)?;
            axes.push(Axis {
                name: "orbit".to_string(),
                values: (0..count as i64).map(InputValue::Int).collect(),
                subject: Subject::Orbit,
            });
        }
        Ok(Some(Sweep {
            axes,
            is_zipped: options.zip,
        }))
    }

    /// How many runs there are.
    pub(in crate::command) fn runs(&self) -> usize {
        let mut counts = self.axes.iter().map(|axis| axis.values.len());
        match self.is_zipped {
            true => counts.next().unwrap_or(0),
            false => counts.product(),
        }
    }

    /// How many runs of a sweep follow each other until a row of a table of them is full, if it has rows: all values of what varies
    /// fastest.
    pub(in crate::command) fn row(&self) -> Option<usize> {
        match (&self.axes[..], self.is_zipped) {
            ([_, .., last], false) => Some(last.values.len()),
            _ => None,
        }
    }

    /// What varies, each with its place among its values in a run.
    pub(in crate::command) fn places(&self, run: usize) -> Vec<(&Axis, usize)> {
        if self.is_zipped {
            return self.axes.iter().map(|axis| (axis, run)).collect();
        }
        let mut rest = run;
        let fastest_first = self.axes.iter().rev().map(|axis| {
            let place = rest % axis.values.len();
            rest /= axis.values.len();
            (axis, place)
        });
        let mut places: Vec<_> = fastest_first.collect();
        places.reverse();
        places
    }

    /// The places of the images and meshes that are to be loaded for a run.
    pub(in crate::command) fn data(&self, run: usize) -> Vec<usize> {
        let places = self.places(run).into_iter();
        let of_data = places.filter(|(axis, _)| matches!(axis.subject, Subject::Data(_)));
        of_data.map(|(_, place)| place).collect()
    }

    /// The values of a run, for messages.
    pub(in crate::command) fn describe(&self, run: usize) -> String {
        let places = self.places(run).into_iter();
        let values = places.map(|(axis, n)| format!("{}={}", axis.name, shown(&axis.values[n])));
        values.collect::<Vec<_>>().join(", ")
    }

    /// The same, a line for each, with short names of files.
    pub(in crate::command) fn caption(&self, run: usize) -> Vec<String> {
        let places = self.places(run).into_iter();
        let line = |(axis, n): (&Axis, usize)| match &axis.values[n] {
            InputValue::File(file) => format!("{}={}", axis.name, stem(file)),
            value => format!("{}={}", axis.name, shown(value)),
        };
        places.map(line).collect()
    }

    /// The files of an output in all runs, if its name has fields; else the name without doubled braces.
    ///
    /// # Errors
    /// The name is not a pattern, or a field has no value.
    fn files(
        &self,
        program: &Program,
        given: &[Option<InputValue>],
        file: &FileName,
    ) -> Result<Named, String> {
        // A name that is not text cannot have fields.
        let Some(text) = file.to_str() else {
            return Ok(Named::Numbered(file.clone()));
        };
        let failed = |message: String| format!("the file name {file}: {message}");
        let pattern = Pattern::parse(text).map_err(failed)?;
        if !pattern.has_fields() {
            let text = pattern.fill(&[]).map_err(failed)?;
            return Ok(Named::Numbered(text.into()));
        }
        let inputs = program.inputs.iter().zip(given);
        let inputs = inputs.filter_map(|(input, value)| Some((&*input.name, value.as_ref()?)));
        let inputs: Vec<(&str, &InputValue)> = inputs.collect();
        let name = |run: usize| {
            let number = InputValue::Int(run as i64);
            let places = self.places(run).into_iter();
            let mut values: Vec<(&str, &InputValue)> = places
                .map(|(axis, place)| (&*axis.name, &axis.values[place]))
                .collect();
            let known: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
            let others = inputs.iter().filter(|(name, _)| !known.contains(name));
            values.extend(others);
            values.push(("n", &number));
            pattern.fill(&values).map(FileName::from)
        };
        let names = (0..self.runs()).map(name);
        let names: Result<Vec<FileName>, String> = names.collect();
        Ok(Named::Own(names.map_err(failed)?))
    }
}

/// The names of the files of an output in all runs.
enum Named {
    /// One name, to which numbers are added.
    Numbered(FileName),
    /// A name for each run.
    Own(Vec<FileName>),
}

/// The files of each input together, in the order in which the inputs are named first.
fn merged(all: &[Each]) -> Vec<Each> {
    let mut merged: Vec<Each> = Vec::new();
    for each in all {
        match merged.iter_mut().find(|other| other.input == each.input) {
            Some(other) => other.files.extend_from_slice(&each.files),
            None => merged.push(each.clone()),
        }
    }
    merged
}

fn check_counts(counts: &[usize], is_zipped: bool) -> Result<(), String> {
    if is_zipped && counts.windows(2).any(|pair| pair[0] != pair[1]) {
        let counts: Vec<_> = counts.iter().map(usize::to_string).collect();
        return Err(format!(
            "with --zip all that varies must have the same number of values, but they have {}",
            counts.join(" and ")
        ));
    }
    let runs = match is_zipped {
        true => counts.first().copied(),
        false => counts
            .iter()
            .try_fold(1_usize, |all, &n| all.checked_mul(n)),
    };
    match runs {
        Some(runs) if runs <= MOST_RUNS => Ok(()),
        _ => {
            let counts: Vec<_> = counts.iter().map(usize::to_string).collect();
            let counts = counts.join(" × ");
            Err(format!("found {counts} runs, expected at most {MOST_RUNS}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, count: i64) -> Axis {
        Axis {
            name: name.to_string(),
            values: (0..count).map(InputValue::Int).collect(),
            subject: Subject::Input(0),
        }
    }

    #[test]
    fn the_last_varies_fastest_and_zipped_ones_vary_together() {
        let grid = Sweep {
            axes: vec![axis("a", 2), axis("b", 3)],
            is_zipped: false,
        };
        assert_eq!((grid.runs(), grid.row()), (6, Some(3)));
        let all: Vec<String> = (0..6).map(|run| grid.describe(run)).collect();
        assert_eq!(
            all,
            [
                "a=0, b=0", "a=0, b=1", "a=0, b=2", "a=1, b=0", "a=1, b=1", "a=1, b=2"
            ]
        );
        let zipped = Sweep {
            axes: vec![axis("a", 3), axis("b", 3)],
            is_zipped: true,
        };
        assert_eq!((zipped.runs(), zipped.row()), (3, None));
        assert_eq!(zipped.describe(2), "a=2, b=2");
    }

    #[test]
    fn counts_are_limited_and_those_of_zipped_sweeps_agree() {
        assert!(check_counts(&[1000, 1000], false).is_ok());
        assert!(check_counts(&[1000, 1001], false).is_err());
        assert!(check_counts(&[usize::MAX, usize::MAX], false).is_err());
        assert!(check_counts(&[3, 3], true).is_ok());
        let message = check_counts(&[3, 4], true).unwrap_err();
        assert!(message.ends_with("3 and 4"), "{message}");
    }

    #[test]
    fn files_of_one_input_are_one_list() {
        let each = |input: &str, file: &str| Each {
            input: input.to_string(),
            files: vec![file.into()],
        };
        let all = merged(&[each("a", "1"), each("b", "2"), each("a", "0")]);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].files, ["1", "0"]);
    }
}
