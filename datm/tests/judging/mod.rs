//! Code that the tests share: judges many cases; none may fail, and only few may prove nothing.

use datm::{Case, Verdict};
use rayon::prelude::*;

/// Judges cases: none may fail, and less than this share of them may be vacuous.
#[track_caller]
pub(crate) fn none_fails(
    cases: Vec<Case>,
    share: f64,
    verdict_of: impl Fn(&Case) -> Verdict + Sync,
) {
    let verdicts: Vec<Verdict> = cases.par_iter().map(&verdict_of).collect();
    let judged = || cases.iter().zip(&verdicts);
    let failures: Vec<String> = judged()
        .filter_map(|(case, verdict)| match verdict {
            Verdict::Fail { at, cause, message } => {
                Some(format!("{case}: {at}: {cause}: {message}"))
            }
            Verdict::Pass { .. } | Verdict::Vacuous { .. } => None,
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
    let vacuous: Vec<String> = judged()
        .filter_map(|(case, verdict)| match verdict {
            Verdict::Vacuous { reason } => Some(format!("{case}: {reason}")),
            Verdict::Pass { .. } | Verdict::Fail { .. } => None,
        })
        .collect();
    assert!(
        (vacuous.len() as f64) < share * cases.len() as f64,
        "{} of {} cases are vacuous:\n{}",
        vacuous.len(),
        cases.len(),
        vacuous.join("\n")
    );
}
