//! All nestings of control flow.

use super::{Outcome, outcome};
use crate::arguments::ExecutionArguments;
use datm::{ControlReport, Extent, control, control_nests};
use indicatif::ProgressBar;
use std::time::Instant;

/// Runs every nest of up to `depth` levels with every kind of assignment, in every way that this machine has.
pub(super) fn exhaustive(depth: u8, execution: &ExecutionArguments) -> Result<Outcome, String> {
    let start = Instant::now();
    let (depth, extent) = (usize::from(depth), Extent::All);
    let bar = ProgressBar::new(control_nests(depth, extent) as u64);
    let report = execution.in_pool(|| control(depth, extent, &|nests| bar.inc(nests as u64)))?;
    bar.finish_and_clear();
    let ControlReport {
        nests,
        programs,
        ways,
        wrong,
    } = report;
    for (label, program, wrong) in &wrong {
        println!("{label}\n    {}\n    {}\n{program}", wrong.how, wrong.what);
    }
    println!(
        "{nests} nests in {programs} programs, each in {ways} ways, {} wrong, {:.1} s",
        wrong.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(outcome(wrong.len()))
}
