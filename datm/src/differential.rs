//! Differential testing: the same case run in two ways.
//!
//! Both must be true, and they must agree: to the last bit where the same operations are done in the same order, else within
//! what one of them alone may be off.

use crate::compare::{FailedAt, Verdict, judge_observed, tolerance};
use crate::compiled::{CompiledRunner, Language, NEEDS_CPU, Normalization};
use crate::experiment::{Experiment, prepare};
use crate::interpreted::InterpretedRunner;
use crate::label::Case;
use crate::number::Arithmetic;
use crate::program::program;
use crate::runner::{Observed, Precision, RunOptions, Runner};
use compiler::codegen::Target;
use std::fmt;

/// What differs between the two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Machine code against the reference evaluator.
    Reference,
    /// One strand per call against sixteen.
    Width,
    /// Single against double precision.
    Precision,
    /// Normalization by equality saturation against one directed walk.
    Normalization,
    /// The text in version 2.0 against that in version 1.0.
    Language,
    /// The CPU against a GPU.
    Device,
}

impl Difference {
    /// Those that every machine can show.
    pub const ANYWHERE: [Difference; 5] = [
        Difference::Reference,
        Difference::Width,
        Difference::Precision,
        Difference::Normalization,
        Difference::Language,
    ];
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Difference::Reference => "compiled against interpreted",
            Difference::Width => "W=1 against W=16",
            Difference::Precision => "f32 against f64",
            Difference::Normalization => "e-graph against directed",
            Difference::Language => "2.0 against 1.0",
            Difference::Device => "CPU against GPU",
        })
    }
}

/// One way to run a case.
struct Way {
    runner: Box<dyn Runner>,
    options: RunOptions,
}

fn ways(difference: Difference, options: &RunOptions) -> [Way; 2] {
    let way = |runner: CompiledRunner, options: RunOptions| Way {
        runner: Box::new(runner),
        options,
    };
    let usual = CompiledRunner::default();
    let of_width = |width| RunOptions { width, ..*options };
    let of_precision = |precision| RunOptions {
        precision,
        ..*options
    };
    match difference {
        Difference::Reference => [
            way(usual, *options),
            Way {
                runner: Box::new(InterpretedRunner),
                options: of_precision(Precision::Double),
            },
        ],
        Difference::Width => [way(usual, of_width(1)), way(usual, of_width(16))],
        Difference::Precision => [
            way(usual, of_precision(Precision::Single)),
            way(usual, of_precision(Precision::Double)),
        ],
        Difference::Normalization => {
            let directed = CompiledRunner {
                normalization: Normalization::Directed,
                ..usual
            };
            [way(usual, *options), way(directed, *options)]
        }
        Difference::Language => {
            let older = CompiledRunner {
                language: Language::Version1,
                ..usual
            };
            [way(usual, *options), way(older, *options)]
        }
        Difference::Device => {
            let device = CompiledRunner {
                target: Target::CudaOnly,
                ..usual
            };
            [way(usual, *options), way(device, *options)]
        }
    }
}

/// Runs a case in both ways and judges it.
pub fn check_difference(
    case: &Case,
    difference: Difference,
    options: &RunOptions,
    arithmetic: Arithmetic,
) -> Verdict {
    let experiment = match prepare(case, arithmetic) {
        Ok(experiment) => experiment,
        Err(reason) => return Verdict::Vacuous { reason },
    };
    if difference == Difference::Language && program(&experiment).version1.is_none() {
        let reason = "no program in version 1.0".to_string();
        return Verdict::Vacuous { reason };
    }
    let mut seen = Vec::new();
    let mut verdict = None;
    for Way { runner, options } in ways(difference, options) {
        let (judged, observed) = judge_observed(&experiment, &*runner, &options);
        if let Verdict::Fail { at, cause, message } = judged {
            if cause == NEEDS_CPU {
                return Verdict::Vacuous { reason: message };
            }
            return Verdict::Fail {
                at,
                cause: format!("{}: {cause}", runner.name()),
                message,
            };
        }
        seen.extend(observed.map(|observed| (observed, options.precision)));
        verdict.get_or_insert(judged);
    }
    let disagreement = match &seen[..] {
        [first, second] => disagreement(&experiment, difference, first, second),
        _ => None,
    };
    match (disagreement, verdict) {
        (Some(message), _) => Verdict::Fail {
            at: FailedAt::Value,
            cause: difference.to_string(),
            message,
        },
        (None, Some(verdict)) => verdict,
        (None, None) => Verdict::Vacuous {
            reason: "nothing was run".to_string(),
        },
    }
}

/// Where two observations that are both true differ by more than they may.
fn disagreement(
    experiment: &Experiment,
    difference: Difference,
    (first, precision): &(Observed, Precision),
    (second, other): &(Observed, Precision),
) -> Option<String> {
    let coarser = if precision.unit() > other.unit() {
        *precision
    } else {
        *other
    };
    let rows = first.values.iter().zip(&second.values);
    for (place, ((a, b), expected)) in rows.zip(&experiment.expected).enumerate() {
        for (component, ((a, b), truth)) in a.iter().zip(b).zip(expected).enumerate() {
            let allowed = match difference {
                Difference::Language | Difference::Width | Difference::Device => 0.0,
                Difference::Reference | Difference::Precision | Difference::Normalization => {
                    tolerance(truth, coarser)
                }
            };
            if (a - b).abs() > allowed {
                return Some(format!(
                    "position {place}, component {component}: {a:e} and {b:e}, allowed {allowed:.3e}"
                ));
            }
        }
    }
    None
}
