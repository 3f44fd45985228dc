//! The mutation check: the compiler with one deliberate fault at a time; a case must fail.
//!
//! The faults are those of `ein_ir::mutants`. The cases are the corpus and random expressions of one to three operators, the
//! same for every fault; without a fault all of them pass.

use crate::compare::{FailedAt, Verdict, judge};
use crate::compiled::CompiledRunner;
use crate::corpus::CORPUS;
use crate::experiment::{Experiment, prepare};
use crate::frame::Settings;
use crate::label::Case;
use crate::number::Arithmetic;
use crate::random::Stream;
use crate::runner::{Precision, RunOptions};
use crate::space::{Form, SpaceOptions, TreeSpace, share_leaves};
use ein_ir::mutants::{MUTANTS, switch_on};
use rayon::prelude::*;

/// What became of a fault.
#[derive(Clone, Debug)]
pub struct Catch {
    /// The name of the fault.
    pub name: String,
    /// What it does.
    pub fault: &'static str,
    /// The smallest of the first cases that failed: label, stage and cause.
    pub by: Option<(String, FailedAt, String)>,
    /// How many cases were run.
    pub tried: usize,
}

/// Several strands in a call, so that faults of vector code show; more than a vector has lanes, so that portable code is made,
/// which tells values apart that are the same for all strands.
const OPTIONS: RunOptions = RunOptions {
    precision: Precision::Double,
    width: 16,
};

/// Frames of the corpus: the usual one, and one that shows every digit of a kernel.
const FRAMES: [&str; 2] = ["pos=5", "krn=bspln5|data=image|pos=5"];

/// Random cases of each number of operators.
const RANDOM_CASES: usize = 250;

/// Cases between two looks at the result.
const BLOCK: usize = 48;

fn cases() -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for frame in FRAMES {
        let settings: Settings = frame.parse()?;
        for (_, label) in CORPUS {
            cases.push(Case {
                tree: label.parse()?,
                settings: settings.clone(),
            });
        }
    }
    for operators in 1..=3 {
        let space = TreeSpace::new(&SpaceOptions::full(operators, Form::Any));
        for number in 0..RANDOM_CASES {
            let mut stream = Stream::new(&["mutants", &operators.to_string(), &number.to_string()]);
            if let Some(tree) = space.draw_stratified(&mut stream) {
                cases.push(Case {
                    tree: share_leaves(&tree, &mut stream),
                    settings: FRAMES[0].parse()?,
                });
            }
        }
    }
    Ok(cases)
}

/// Switches every fault on in turn, or those with the names in `only`; `tell` hears of each.
///
/// # Errors
/// If a case fails without any fault.
pub fn catch_all(only: &[String], tell: &dyn Fn(&Catch)) -> Result<Vec<Catch>, String> {
    let experiments: Vec<Experiment> = cases()?
        .into_par_iter()
        .filter_map(|case| prepare(&case, Arithmetic::Near).ok())
        .collect();
    // Faults make the compiler panic, which is one way to be found.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    switch_on(None);
    let caught = match hunt(&experiments, String::new(), "no fault") {
        Catch {
            by: Some((label, at, cause)),
            ..
        } => Err(format!("without a fault: {label}: {at}: {cause}")),
        Catch { by: None, .. } => Ok(MUTANTS
            .iter()
            .map(|&(mutant, fault)| (mutant, format!("{mutant:?}"), fault))
            .filter(|(_, name, _)| only.is_empty() || only.contains(name))
            .map(|(mutant, name, fault)| {
                switch_on(Some(mutant));
                let catch = hunt(&experiments, name, fault);
                switch_on(None);
                tell(&catch);
                catch
            })
            .collect()),
    };
    std::panic::set_hook(hook);
    caught
}

fn hunt(experiments: &[Experiment], name: String, fault: &'static str) -> Catch {
    let runner = CompiledRunner::default();
    let mut tried = 0;
    for block in experiments.chunks(BLOCK) {
        tried += block.len();
        let failures: Vec<(&Case, FailedAt, String)> = block
            .par_iter()
            .filter_map(|experiment| match judge(experiment, &runner, &OPTIONS) {
                Verdict::Fail { at, cause, .. } => Some((&experiment.case, at, cause)),
                Verdict::Pass { .. } | Verdict::Vacuous { .. } => None,
            })
            .collect();
        let size = |case: &Case| (case.tree.operators(), case.to_string().len());
        let smallest = failures.into_iter().min_by_key(|(case, ..)| size(case));
        if let Some((case, at, cause)) = smallest {
            return Catch {
                name,
                fault,
                by: Some((case.to_string(), at, cause)),
                tried,
            };
        }
    }
    Catch {
        name,
        fault,
        by: None,
        tried,
    }
}

/// The table of which case catches which fault.
pub fn table(catches: &[Catch]) -> String {
    let mut text =
        String::from("| name | fault | caught by | as | cases run |\n|---|---|---|---|---:|\n");
    for catch in catches {
        let (label, how) = match &catch.by {
            Some((label, at, cause)) => (
                format!("`{}`", label.replace('|', "\\|")),
                format!("{at}: {cause}"),
            ),
            None => ("**not caught**".to_string(), String::new()),
        };
        text += &format!(
            "| {} | {} | {label} | {how} | {} |\n",
            catch.name,
            catch.fault.replace('|', "\\|"),
            catch.tried
        );
    }
    text
}
