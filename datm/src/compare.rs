//! Comparison of the values that a program computed with the truth, within the bound that the truth itself carries.
//!
//! The tolerance of a component is [`SAFETY`] times the program's unit roundoff times the noise of the truth (see
//! [`crate::Number`]). A value that is not finite, missing, or found outside its fields is a failure; nothing is skipped.

use crate::experiment::{Experiment, prepare};
use crate::label::Case;
use crate::number::{Arithmetic, Number};
use crate::program::program;
use crate::runner::{Failure, Job, Observed, Precision, RunOptions, Runner, Stage};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The factor on the first-order bound: for evaluation orders with more roundings than the formula itself
/// has, and for elementary functions of lower quality. The direct runner, in all frames and both
/// precisions, stays below 0.7 of the bound itself; only its series for `erf` needs 1.1 of it.
pub const SAFETY: f64 = 4.0;

/// Where a case failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailedAt {
    /// The program was rejected.
    Type,
    /// The compiler failed.
    Compile,
    /// The program did not run to its end.
    Run,
    /// The value is wrong.
    Value,
}

impl From<Stage> for FailedAt {
    fn from(stage: Stage) -> FailedAt {
        match stage {
            Stage::Type => FailedAt::Type,
            Stage::Compile => FailedAt::Compile,
            Stage::Run => FailedAt::Run,
        }
    }
}

impl fmt::Display for FailedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FailedAt::Type => "type",
            FailedAt::Compile => "compile",
            FailedAt::Run => "run",
            FailedAt::Value => "value",
        })
    }
}

/// The outcome of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Verdict {
    /// Every component of every position is within its bound.
    Pass {
        /// The largest error as a fraction of its tolerance.
        ratio: f64,
        /// The largest tolerance relative to the value, or absolute where the value is below one.
        looseness: f64,
        /// The rewrite rules that fired on the way.
        rules: Vec<String>,
    },
    /// No data and positions could be found at which the expression is defined.
    Vacuous {
        /// The most frequent obstacle.
        reason: String,
    },
    /// The program failed.
    Fail {
        /// Where.
        at: FailedAt,
        /// A short stable name of the cause.
        cause: String,
        /// What happened, in full.
        message: String,
    },
}

/// The tolerance of an expected value.
pub fn tolerance(expected: &Number, precision: Precision) -> f64 {
    let rounding = expected.noise() + expected.to_f64().abs();
    SAFETY * (precision.unit() * rounding + precision.smallest()) + expected.truth_error()
}

fn failed(cause: &str, message: String) -> Verdict {
    Verdict::Fail {
        at: FailedAt::Value,
        cause: cause.to_string(),
        message,
    }
}

/// Judges an observation.
pub fn compare(experiment: &Experiment, observed: &Observed, precision: Precision) -> Verdict {
    let (found, wanted) = (observed.values.len(), experiment.expected.len());
    if found != wanted || observed.valid.len() != wanted {
        return failed("missing", format!("found {found} results, wanted {wanted}"));
    }
    let (mut ratio, mut looseness) = (0.0, 0.0);
    for (place, (values, expected)) in observed.values.iter().zip(&experiment.expected).enumerate()
    {
        if observed.valid[place] != experiment.inside[place] {
            let found = match observed.valid[place] {
                true => "inside",
                false => "outside",
            };
            return failed(
                found,
                format!("position {place} was found {found} the fields, which it is not"),
            );
        }
        if values.len() != expected.len() {
            let (found, wanted) = (values.len(), expected.len());
            return failed(
                "missing",
                format!("found {found} components at position {place}, wanted {wanted}"),
            );
        }
        for (component, (&value, truth)) in values.iter().zip(expected).enumerate() {
            let at = || {
                format!(
                    "position {place}, component {component}: found {value:e}, wanted {:e}",
                    truth.to_f64()
                )
            };
            if !value.is_finite() {
                return failed("not finite", at());
            }
            let tolerance = tolerance(truth, precision);
            let error = truth.distance(value);
            if error > tolerance {
                return failed(
                    "wrong value",
                    format!("{}, off by {error:.3e}, allowed {tolerance:.3e}", at()),
                );
            }
            ratio = f64::max(ratio, error / tolerance);
            looseness = f64::max(looseness, tolerance / truth.to_f64().abs().max(1.0));
        }
    }
    Verdict::Pass {
        ratio,
        looseness,
        rules: observed.rules.iter().map(ToString::to_string).collect(),
    }
}

/// Prepares, runs and judges one case.
pub fn check(
    case: &Case,
    runner: &dyn Runner,
    options: &RunOptions,
    arithmetic: Arithmetic,
) -> Verdict {
    match prepare(case, arithmetic) {
        Ok(experiment) => judge(&experiment, runner, options),
        Err(reason) => Verdict::Vacuous { reason },
    }
}

/// Runs and judges an experiment.
pub fn judge(experiment: &Experiment, runner: &dyn Runner, options: &RunOptions) -> Verdict {
    judge_observed(experiment, runner, options).0
}

/// The same with the observed values.
pub(crate) fn judge_observed(
    experiment: &Experiment,
    runner: &dyn Runner,
    options: &RunOptions,
) -> (Verdict, Option<Observed>) {
    let program = program(experiment);
    let job = Job {
        case: &experiment.case,
        result: experiment.result,
        program: &program,
        data: &experiment.data,
        positions: &experiment.positions,
    };
    match runner.run(&job, options) {
        Ok(observed) => {
            let verdict = compare(experiment, &observed, options.precision);
            (verdict, Some(observed))
        }
        Err(Failure {
            stage,
            code,
            message,
        }) => {
            let verdict = Verdict::Fail {
                at: stage.into(),
                cause: code,
                message,
            };
            (verdict, None)
        }
    }
}
