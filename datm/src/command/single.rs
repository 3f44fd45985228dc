//! Single cases.

use super::{Outcome, outcome, save};
use crate::arguments::ExecutionArguments;
use datm::{Case, Datum, Verdict, check, judge, prepare, program, shrink};
use std::fs;
use std::path::Path;

fn describe(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Pass {
            ratio, looseness, ..
        } => {
            format!(
                "pass: largest error {ratio:.3} of its tolerance, loosest tolerance {looseness:.3e}"
            )
        }
        Verdict::Vacuous { reason } => format!("vacuous: {reason}"),
        Verdict::Fail { at, cause, message } => format!("fail: {at}: {cause}: {message}"),
    }
}

/// Judges one case and shows everything about it.
pub(super) fn replay(
    label: &str,
    to: Option<&Path>,
    execution: &ExecutionArguments,
) -> Result<Outcome, String> {
    let case: Case = label.parse()?;
    let options = execution.options();
    let experiment = match prepare(&case, options.arithmetic) {
        Ok(experiment) => experiment,
        Err(reason) => {
            println!("{case}\nvacuous: {reason}");
            return Ok(Outcome::AllPassed);
        }
    };
    let text = program(&experiment);
    println!("{case}\n\n{}", text.version2);
    for (place, expected) in experiment.expected.iter().enumerate() {
        let values: Vec<String> = expected
            .iter()
            .map(|value| format!("{:e}", value.to_f64()))
            .collect();
        println!("expected at position {place}: {}", values.join(" "));
    }
    if let Some(folder) = to {
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        save(&folder.join("case.diderot"), text.version2.as_bytes())?;
        if let Some(text) = &text.version1 {
            save(&folder.join("case-1.0.diderot"), text.as_bytes())?;
        }
        for datum in &experiment.data {
            if let Datum::Field(field) = datum {
                let (name, bytes) = field.file();
                save(&folder.join(name), &bytes)?;
            }
        }
    }
    let verdict = judge(&experiment, &*execution.runner(), &options.run);
    println!("{}", describe(&verdict));
    Ok(outcome(usize::from(matches!(
        verdict,
        Verdict::Fail { .. }
    ))))
}

/// Shrinks one case.
pub(super) fn shrink_label(label: &str, execution: &ExecutionArguments) -> Result<Outcome, String> {
    let case: Case = label.parse()?;
    let options = execution.options();
    let runner = execution.runner();
    match shrink(&case, &|case| {
        check(case, &*runner, &options.run, options.arithmetic)
    }) {
        None => {
            println!("the case does not fail");
            Ok(Outcome::AllPassed)
        }
        Some((small, tried)) => {
            println!("{small}\nafter {tried} cases\n");
            replay(&small.to_string(), None, execution)
        }
    }
}
