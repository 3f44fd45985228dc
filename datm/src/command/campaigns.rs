//! Campaigns: their cases, how these are judged, and the reports about them.

use super::{Outcome, load, outcome, save};
use crate::arguments::{
    DifferenceName, DrawArguments, ExecutionArguments, FrameArguments, SpaceArguments,
};
use datm::{
    CORPUS, Case, Difference, FormChoice, Judge, OPERATORS, Record, Settings, Stream, Summary,
    Tree, TreeSpace, check, check_difference, prepare, program, run, setup, share_leaves, shrink,
    summarize,
};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::OpenOptions;
use std::io::Write;
use std::time::Instant;

/// Every case of a space.
pub(super) fn exhaustive(
    space: &SpaceArguments,
    frame: &FrameArguments,
    execution: &ExecutionArguments,
) -> Result<Outcome, String> {
    let settings = frame.settings(FormChoice::PLAIN)?;
    let space = TreeSpace::new(&space.options(&settings));
    let count =
        usize::try_from(space.len()).map_err(|_| "too many cases to visit all".to_string())?;
    let case_at = |n: usize| {
        Some(Case {
            tree: space.unrank(n as u128)?,
            settings: settings.clone(),
        })
    };
    campaign(count, &case_at, execution)
}

/// Some cases of a space, in programs of any form.
pub(super) fn random(
    draw: &DrawArguments,
    space: &SpaceArguments,
    frame: &FrameArguments,
    execution: &ExecutionArguments,
) -> Result<Outcome, String> {
    let settings = frame.settings(FormChoice::Any)?;
    let space = TreeSpace::new(&space.options(&settings));
    let case_at = |n: usize| random_case(&space, &settings, draw.uniform, draw.shared, n);
    campaign(draw.cases, &case_at, execution)
}

/// Given cases.
pub(super) fn target(
    labels: &[String],
    space: &SpaceArguments,
    frame: &FrameArguments,
    execution: &ExecutionArguments,
) -> Result<Outcome, String> {
    let cases = targets(labels, space, frame)?;
    campaign(cases.len(), &|n| cases.get(n).cloned(), execution)
}

/// The cases of known bugs.
pub(super) fn corpus(
    frame: &FrameArguments,
    execution: &ExecutionArguments,
) -> Result<Outcome, String> {
    let settings = frame.settings(FormChoice::PLAIN)?;
    let trees: Result<Vec<Tree>, String> = CORPUS.iter().map(|(_, label)| label.parse()).collect();
    let trees = trees?;
    let case_at = |n: usize| {
        Some(Case {
            tree: trees.get(n)?.clone(),
            settings: settings.clone(),
        })
    };
    campaign(trees.len(), &case_at, execution)
}

/// Random cases in two ways that must agree; all pairs of ways that any machine has, in turn, unless one is asked for.
pub(super) fn differential(
    mode: Option<DifferenceName>,
    cases: usize,
    space: &SpaceArguments,
    frame: &FrameArguments,
    execution: &ExecutionArguments,
) -> Result<Outcome, String> {
    let settings = frame.settings(FormChoice::Any)?;
    let space = TreeSpace::new(&space.options(&settings));
    let case_at = |n: usize| random_case(&space, &settings, false, true, n);
    let differences = mode.map_or(Difference::ANYWHERE.to_vec(), |mode| {
        vec![mode.difference()]
    });
    let options = execution.options();
    let mut all = Outcome::AllPassed;
    for difference in differences {
        println!("{difference}");
        let (precision, width) = (options.run.precision, options.run.width);
        let judge = Judge {
            setup: format!("{difference} {precision} W={width}"),
            verdict_of: &|case| {
                check_difference(case, difference, &options.run, options.arithmetic)
            },
        };
        if let Outcome::SomeFailed = judged(cases, &case_at, &judge, execution)? {
            all = Outcome::SomeFailed;
        }
    }
    Ok(all)
}

/// The n-th random case of a space.
fn random_case(
    space: &TreeSpace,
    settings: &Settings,
    uniform: bool,
    shared: bool,
    n: usize,
) -> Option<Case> {
    let seed = format!("{:x}", settings.seed);
    let mut stream = Stream::new(&["random", &seed, &n.to_string()]);
    let tree = if uniform {
        space.draw_uniform(&mut stream)
    } else {
        space.draw_stratified(&mut stream)
    }?;
    let tree = if shared {
        share_leaves(&tree, &mut stream)
    } else {
        tree
    };
    Some(Case {
        tree,
        settings: settings.clone(),
    })
}

/// The cases of labels, and of operator names: every case of the space that uses one of them.
fn targets(
    labels: &[String],
    space: &SpaceArguments,
    frame: &FrameArguments,
) -> Result<Vec<Case>, String> {
    let settings = frame.settings(FormChoice::PLAIN)?;
    let (names, labels): (Vec<&String>, Vec<&String>) = labels
        .iter()
        .partition(|text| OPERATORS.iter().any(|row| row.name == text.as_str()));
    let mut cases: Vec<Case> = labels
        .into_iter()
        .map(|label| label.parse())
        .collect::<Result<_, String>>()?;
    if !names.is_empty() {
        let space = TreeSpace::new(&space.options(&settings));
        let trees = (0..space.len()).filter_map(|rank| space.unrank(rank));
        let wanted = trees.filter(|tree| {
            tree.operator_names()
                .iter()
                .any(|used| names.iter().any(|n| n == used))
        });
        cases.extend(wanted.map(|tree| Case {
            tree,
            settings: settings.clone(),
        }));
    }
    Ok(cases)
}

/// Runs a campaign against the truth.
fn campaign(
    count: usize,
    case_at: &(dyn Fn(usize) -> Option<Case> + Sync),
    execution: &ExecutionArguments,
) -> Result<Outcome, String> {
    let (runner, options) = (execution.runner(), execution.options());
    let judge = Judge {
        setup: setup(&*runner, &options.run),
        verdict_of: &|case| check(case, &*runner, &options.run, options.arithmetic),
    };
    judged(count, case_at, &judge, execution)
}

/// The records that a campaign continues, and where it writes new ones.
fn records(execution: &ExecutionArguments) -> Result<(Vec<Record>, Box<dyn Write + Send>), String> {
    let Some(file) = &execution.records else {
        return Ok((Vec::new(), Box::new(std::io::sink())));
    };
    let known = if file.exists() {
        load(file)?
    } else {
        Vec::new()
    };
    // The file is rewritten without a cut-off last line and continued from there.
    let lines: Result<Vec<String>, String> = known.iter().map(Record::to_line).collect();
    let text: String = lines?.iter().map(|line| format!("{line}\n")).collect();
    save(file, text.as_bytes())?;
    let opened = OpenOptions::new().append(true).open(file);
    let output = opened.map_err(|error| format!("cannot open {}: {error}", file.display()))?;
    Ok((known, Box::new(output)))
}

/// Runs a campaign with a progress bar, records and a report.
fn judged(
    count: usize,
    case_at: &(dyn Fn(usize) -> Option<Case> + Sync),
    judge: &Judge<'_>,
    execution: &ExecutionArguments,
) -> Result<Outcome, String> {
    let start = Instant::now();
    let (known, mut output) = records(execution)?;
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {per_sec} {eta}");
    let bar = ProgressBar::new(count as u64).with_style(style.map_err(|error| error.to_string())?);
    let progress = |done: usize| bar.set_position(done as u64);
    let records =
        execution.in_pool(|| run(count, case_at, judge, &known, output.as_mut(), &progress))??;
    bar.finish_and_clear();
    let mut summary = summarize(&records)?;
    execution.in_pool(|| reproduce(&mut summary, judge))?;
    if let Some(file) = &execution.report {
        save(&file.with_extension("md"), summary.to_markdown().as_bytes())?;
        save(
            &file.with_extension("json"),
            format!("{:#}\n", summary.to_json()).as_bytes(),
        )?;
    }
    for ((at, cause), cluster) in &summary.clusters {
        println!(
            "{at}: {cause}: {} cases, e.g. {}\n    {}",
            cluster.count, cluster.representative, cluster.message
        );
        if let Some((label, program)) = &cluster.smallest {
            println!("    smallest: {label}\n{program}");
        }
    }
    println!("{}, {:.1} s", summary.line(), start.elapsed().as_secs_f64());
    Ok(outcome(summary.total.failures))
}

/// Shrinks one case of every group of failures.
fn reproduce(summary: &mut Summary, judge: &Judge<'_>) {
    for cluster in summary.clusters.values_mut() {
        let case = cluster.representative.parse::<Case>().ok();
        let shrunk = case.and_then(|case| shrink(&case, &|case| (judge.verdict_of)(case)));
        cluster.smallest = shrunk.and_then(|(case, _)| {
            let experiment = prepare(&case, datm::Arithmetic::Near).ok()?;
            Some((case.to_string(), program(&experiment).version2))
        });
    }
}
