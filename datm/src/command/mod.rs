//! What the command does for each of its modes.

use crate::arguments::{Arguments, ExecutionArguments, FrameArguments, Mode, SpaceArguments};
use datm::{
    ArgumentKinds, CORPUS, Case, Datum, Difference, Form, Judge, OPERATORS, Record, Rules, Scene,
    Settings, SpaceOptions, StepList, Stream, Summary, Template, Tree, TreeSpace, Verdict, check,
    check_difference, judge, nrrd, prepare, program, read_records, run, setup, share_leaves,
    shrink, summarize,
};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Write};
use std::path::Path;
use std::time::Instant;

/// Whether the compiler passed.
pub(crate) enum Outcome {
    /// No case failed.
    AllPassed,
    /// At least one did.
    SomeFailed,
}

fn outcome(failures: usize) -> Outcome {
    if failures == 0 {
        Outcome::AllPassed
    } else {
        Outcome::SomeFailed
    }
}

/// Does what the arguments ask.
pub(crate) fn execute(arguments: Arguments) -> Result<Outcome, String> {
    match arguments.mode {
        Mode::Exhaustive {
            space,
            frame,
            execution,
        } => {
            let settings = frame.settings()?;
            let space = TreeSpace::new(&space.options(&settings));
            let count = usize::try_from(space.len())
                .map_err(|_| "too many cases to visit all".to_string())?;
            let case_at = |n: usize| {
                Some(Case {
                    tree: space.unrank(n as u128)?,
                    settings: settings.clone(),
                })
            };
            campaign(count, &case_at, &execution)
        }
        Mode::Random {
            cases,
            uniform,
            shared,
            space,
            frame,
            execution,
        } => {
            let settings = frame.settings()?;
            let space = TreeSpace::new(&space.options(&settings));
            let case_at = |n: usize| random_case(&space, &settings, uniform, shared, n);
            campaign(cases, &case_at, &execution)
        }
        Mode::Target {
            labels,
            space,
            frame,
            execution,
        } => {
            let cases = targets(&labels, &space, &frame)?;
            campaign(cases.len(), &|n| cases.get(n).cloned(), &execution)
        }
        Mode::Corpus { frame, execution } => {
            let settings = frame.settings()?;
            let trees: Result<Vec<Tree>, String> =
                CORPUS.iter().map(|(_, label)| label.parse()).collect();
            let trees = trees?;
            let case_at = |n: usize| {
                Some(Case {
                    tree: trees.get(n)?.clone(),
                    settings: settings.clone(),
                })
            };
            campaign(trees.len(), &case_at, &execution)
        }
        Mode::Replay {
            label,
            to,
            execution,
        } => replay(&label, to.as_deref(), &execution),
        Mode::Shrink { label, execution } => shrink_label(&label, &execution),
        Mode::Differential {
            mode,
            cases,
            space,
            frame,
            execution,
        } => {
            let settings = frame.settings()?;
            let space = TreeSpace::new(&space.options(&settings));
            let case_at = |n: usize| random_case(&space, &settings, false, true, n);
            let differences = mode.map_or(Difference::ALL.to_vec(), |mode| vec![mode.difference()]);
            let options = execution.options();
            let mut all = Outcome::AllPassed;
            for difference in differences {
                println!("{difference}");
                let judge = Judge {
                    setup: format!(
                        "{difference} {} W={}",
                        options.run.precision, options.run.width
                    ),
                    verdict_of: &|case| {
                        check_difference(case, difference, &options.run, options.arithmetic)
                    },
                };
                if let Outcome::SomeFailed = judged(cases, &case_at, &judge, &execution)? {
                    all = Outcome::SomeFailed;
                }
            }
            Ok(all)
        }
        #[cfg(feature = "mutants")]
        Mode::Mutants { only, report } => mutants(&only, report.as_deref()),
        Mode::Render {
            ops,
            cases,
            width,
            seed,
            execution,
        } => render(ops, cases, width, seed, &execution),
        Mode::Report { files, json } => {
            let mut records = Vec::new();
            for file in &files {
                records.extend(load(file)?);
            }
            let summary = summarize(&records)?;
            if json {
                println!("{:#}", summary.to_json())
            } else {
                println!("{}", summary.to_markdown())
            }
            Ok(outcome(summary.total.failures))
        }
        Mode::Operators => {
            for row in OPERATORS {
                println!("{:14} {:?} {}", row.name, row.syntax, row.domain);
            }
            Ok(Outcome::AllPassed)
        }
    }
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

/// Switches every deliberate fault on in turn.
#[cfg(feature = "mutants")]
fn mutants(only: &[String], report: Option<&Path>) -> Result<Outcome, String> {
    let catches = datm::catch_all(only, &|catch| {
        let by = catch.by.as_ref();
        let how = by.map_or("NOT CAUGHT".to_string(), |(label, at, cause)| {
            format!("{at}: {cause}: {label}")
        });
        println!("{}: {}\n    {how}", catch.origin, catch.fault);
    })?;
    if let Some(file) = report {
        save(file, datm::table(&catches).as_bytes())?;
    }
    let missed = catches.iter().filter(|catch| catch.by.is_none()).count();
    println!("{} faults, {missed} not caught", catches.len());
    Ok(outcome(missed))
}

/// The cases of labels, and of operator names: every case of the space that uses one of them.
fn targets(
    labels: &[String],
    space: &SpaceArguments,
    frame: &FrameArguments,
) -> Result<Vec<Case>, String> {
    let settings = frame.settings()?;
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

fn load(file: &Path) -> Result<Vec<Record>, String> {
    let input =
        File::open(file).map_err(|error| format!("cannot open {}: {error}", file.display()))?;
    read_records(BufReader::new(input)).map_err(|message| format!("{}: {message}", file.display()))
}

fn save(file: &Path, contents: &[u8]) -> Result<(), String> {
    fs::write(file, contents).map_err(|error| format!("cannot write {}: {error}", file.display()))
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

/// Runs a campaign with a progress bar, records and a report.
fn judged(
    count: usize,
    case_at: &(dyn Fn(usize) -> Option<Case> + Sync),
    judge: &Judge<'_>,
    execution: &ExecutionArguments,
) -> Result<Outcome, String> {
    let start = Instant::now();
    let (known, mut output): (Vec<Record>, Box<dyn Write + Send>) = match &execution.records {
        None => (Vec::new(), Box::new(std::io::sink())),
        Some(file) => {
            let known = if file.exists() {
                load(file)?
            } else {
                Vec::new()
            };
            // The file is rewritten without a cut-off last line and continued from there.
            let lines: String = known
                .iter()
                .map(|record| format!("{}\n", record.to_json()))
                .collect();
            save(file, lines.as_bytes())?;
            let opened = OpenOptions::new().append(true).open(file);
            (
                known,
                Box::new(
                    opened.map_err(|error| format!("cannot open {}: {error}", file.display()))?,
                ),
            )
        }
    };
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

fn replay(
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
        save(&folder.join("case-1.0.diderot"), text.version1.as_bytes())?;
        for datum in &experiment.data {
            if let Datum::Field(field) = datum {
                save(
                    &folder.join(format!("{}.nrrd", field.image.name)),
                    &nrrd(&field.image),
                )?;
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

fn shrink_label(label: &str, execution: &ExecutionArguments) -> Result<Outcome, String> {
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

/// DAVm: every scene with each template, or a random choice of them.
fn render(
    ops: usize,
    cases: Option<usize>,
    width: usize,
    seed: u64,
    execution: &ExecutionArguments,
) -> Result<Outcome, String> {
    let space = TreeSpace::new(&SpaceOptions {
        list: StepList::Isotropic,
        arguments: ArgumentKinds::Ball,
        ..SpaceOptions::full(ops, Form::Left)
    });
    let is_scalar = |tree: &Tree| {
        tree.type_of(Rules::Language)
            .is_some_and(|ty| ty.shape.is_scalar())
    };
    let mut trees: Vec<Tree> = (0..space.len())
        .filter_map(|rank| space.unrank(rank))
        .filter(is_scalar)
        .collect();
    if let Some(cases) = cases {
        let mut stream = Stream::new(&["render", &seed.to_string()]);
        while trees.len() > cases {
            trees.swap_remove(stream.below(trees.len() as u64) as usize);
        }
    }
    let options = execution.options();
    let runner = execution.runner();
    let scenes: Vec<(&Tree, Template)> = trees
        .iter()
        .flat_map(|tree| [(tree, Template::Maximum), (tree, Template::Sum)])
        .collect();
    // The spread of each picture over its bound, nothing where there is none.
    let spread = |&(tree, template): &(&Tree, Template)| -> Option<Result<f64, String>> {
        let scene = Scene::new(tree, template, width, seed).ok()?;
        let picture = runner
            .render(&scene, &options.run)
            .map_err(|failure| format!("{}: {}", failure.stage, failure.message));
        let spread = picture.and_then(|picture| scene.spread(&picture, options.run.precision));
        Some(spread.map(|spread| spread.ratio))
    };
    let spreads: Vec<_> = execution.in_pool(|| scenes.par_iter().map(spread).collect())?;
    let (mut failures, mut vacuous, mut worst) = (0, 0, 0.0);
    for ((tree, template), spread) in scenes.iter().zip(spreads) {
        match spread {
            None => vacuous += 1,
            Some(Ok(ratio)) if ratio <= 1.0 => worst = f64::max(worst, ratio),
            Some(Ok(ratio)) => {
                failures += 1;
                println!("{tree} {template:?}: spread {ratio:.3} of its bound");
            }
            Some(Err(message)) => {
                failures += 1;
                println!("{tree} {template:?}: {message}");
            }
        }
    }
    let count = scenes.len();
    println!(
        "{count} cases, {failures} failures, {vacuous} vacuous, largest spread {worst:.3} of its bound"
    );
    Ok(outcome(failures))
}
