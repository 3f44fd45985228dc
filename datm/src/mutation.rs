//! The mutation check: the compiler with one deliberate fault at a time; a case must fail.
//!
//! The faults are those of `ein_ir::mutants`, `runtime::fem::mutants`, `runtime::probe::mutants` and `compiler::codegen::mutants`. The
//! cases are the corpus and random expressions of one to three operators, the same for every fault of a part: inside images for those of
//! the compiler, on meshes, and beyond the edges of images; for faults of masks and registers, nestings of control flow. Without a fault
//! all of them pass.

use crate::compare::{FailedAt, Verdict, judge};
use crate::compiled::CompiledRunner;
use crate::control::first_wrong;
use crate::corpus::CORPUS;
use crate::experiment::{Experiment, prepare};
use crate::frame::Settings;
use crate::label::Case;
use crate::number::Arithmetic;
use crate::random::Stream;
use crate::runner::{Precision, RunOptions};
use crate::space::{Form, SpaceOptions, TreeSpace, share_leaves};
use ::compiler::codegen::mutants as masks;
use ein_ir::mutants as compiler;
use rayon::prelude::*;
use runtime::{fem::mutants as meshes, probe::mutants as edges};

/// A deliberate fault.
#[derive(Clone, Copy)]
enum Fault {
    Compiler(compiler::Mutant),
    Mesh(meshes::Mutant),
    Edge(edges::Mutant),
    Mask(masks::Fault),
}

/// Switches one fault on, or all off.
fn switch_on(fault: Option<Fault>) {
    compiler::switch_on(None);
    meshes::switch_on(None);
    edges::switch_on(None);
    masks::switch_on(None);
    match fault {
        Some(Fault::Compiler(mutant)) => compiler::switch_on(Some(mutant)),
        Some(Fault::Mesh(mutant)) => meshes::switch_on(Some(mutant)),
        Some(Fault::Edge(mutant)) => edges::switch_on(Some(mutant)),
        Some(Fault::Mask(fault)) => masks::switch_on(Some(fault)),
        None => {}
    }
}

/// Every fault, its name and its description.
fn faults() -> impl Iterator<Item = (Fault, String, &'static str)> {
    let compiler = compiler::MUTANTS.iter();
    let compiler = compiler.map(|&(m, fault)| (Fault::Compiler(m), format!("{m:?}"), fault));
    let meshes = meshes::MUTANTS.iter();
    let meshes = meshes.map(|&(m, fault)| (Fault::Mesh(m), format!("{m:?}"), fault));
    let edges = edges::MUTANTS.iter();
    let edges = edges.map(|&(m, fault)| (Fault::Edge(m), format!("{m:?}"), fault));
    let masks = masks::of_masks().iter();
    let masks = masks.map(|&(m, fault)| (Fault::Mask(m), format!("{m:?}"), fault));
    compiler.chain(meshes).chain(edges).chain(masks)
}

/// What became of a fault.
#[derive(Clone, Debug)]
pub struct Catch {
    /// The name of the fault.
    pub name: String,
    /// A description of the fault.
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

/// Frames of the corpus, and the number of random cases for each number of operators. The random cases have the first frame, too.
struct Campaign {
    frames: &'static [&'static str],
    random: usize,
}

/// The usual frame, one that shows every digit of a kernel, and images over time.
const IMAGES: Campaign = Campaign {
    frames: &[
        "pos=5",
        "krn=bspln5|data=image|pos=5",
        "data=image|prog=frames|pos=5",
    ],
    random: 250,
};

/// Simplices, cubes and wedges, straight and curved; samples of the last are on faces.
const MESHES: Campaign = Campaign {
    frames: &[
        "data=fem-p2-shaken-bent|deg=3|pos=5",
        "data=fem-p2-shaken|deg=3|pos=5",
        "data=fem-q2-shaken|deg=3|pos=5",
        "data=fem-w2-shaken|deg=3|pos=5",
        "data=fem-p1|deg=3|pos=5",
    ],
    random: 20,
};

/// Images whose border the program does not set, and others. The kernels are as smooth as the fields of the cases.
const EDGES: Campaign = Campaign {
    frames: &[
        "krn=bspln5|data=image|border=unsaid|pos=5",
        "krn=c4hexic|data=image|border=any|pos=5",
    ],
    random: 20,
};

/// Cases between two looks at the result.
const BLOCK: usize = 48;

fn cases(campaign: &Campaign) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for frame in campaign.frames {
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
        for number in 0..campaign.random {
            let mut stream = Stream::new(&["mutants", &operators.to_string(), &number.to_string()]);
            if let Some(tree) = space.draw_stratified(&mut stream) {
                cases.push(Case {
                    tree: share_leaves(&tree, &mut stream),
                    settings: campaign.frames[0].parse()?,
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
    let wanted: Vec<_> = faults()
        .filter(|(_, name, _)| only.is_empty() || only.contains(name))
        .collect();
    let of = |part: fn(&Fault) -> bool| {
        wanted
            .iter()
            .filter(move |(fault, ..)| part(fault))
            .cloned()
    };
    let parts = [
        (of(|fault| matches!(fault, Fault::Compiler(_))), &IMAGES),
        (of(|fault| matches!(fault, Fault::Mesh(_))), &MESHES),
        (of(|fault| matches!(fault, Fault::Edge(_))), &EDGES),
    ];
    // Faults make the compiler panic, which is one way to be found.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let caught = parts
        .into_iter()
        .map(|(faults, campaign)| catch_some(faults.collect(), campaign, tell))
        .chain([catch_in_nests(
            of(|fault| matches!(fault, Fault::Mask(_))).collect(),
            tell,
        )])
        .collect::<Result<Vec<_>, _>>()
        .map(|catches| catches.concat());
    std::panic::set_hook(hook);
    caught
}

/// Switches faults of masks and registers on in turn.
fn catch_in_nests(
    faults: Vec<(Fault, String, &'static str)>,
    tell: &dyn Fn(&Catch),
) -> Result<Vec<Catch>, String> {
    if faults.is_empty() {
        return Ok(Vec::new());
    }
    let catch = |name: String, fault: &'static str| {
        let (wrong, tried) = first_wrong(BLOCK);
        let by = wrong.map(|(label, wrong)| (label, FailedAt::Value, wrong.how));
        Catch {
            name,
            fault,
            by,
            tried,
        }
    };
    switch_on(None);
    if let Some((label, _, how)) = catch(String::new(), "no fault").by {
        return Err(format!("without a fault: {label}: {how}"));
    }
    let mut catches = Vec::new();
    for (fault, name, what) in faults {
        switch_on(Some(fault));
        let catch = catch(name, what);
        switch_on(None);
        tell(&catch);
        catches.push(catch);
    }
    Ok(catches)
}

/// Switches faults of one part on in turn.
fn catch_some(
    faults: Vec<(Fault, String, &'static str)>,
    campaign: &Campaign,
    tell: &dyn Fn(&Catch),
) -> Result<Vec<Catch>, String> {
    if faults.is_empty() {
        return Ok(Vec::new());
    }
    // There are no meshes in one dimension, and some cases have no value anywhere.
    let cases = cases(campaign)?;
    let count = cases.len();
    let experiments: Vec<Experiment> = cases
        .into_par_iter()
        .filter_map(|case| prepare(&case, Arithmetic::Near).ok())
        .collect();
    if 3 * experiments.len() < count {
        let found = experiments.len();
        return Err(format!("only {found} of {count} cases have a value"));
    }
    switch_on(None);
    if let Some((label, at, cause)) = hunt(&experiments, String::new(), "no fault").by {
        return Err(format!("without a fault: {label}: {at}: {cause}"));
    }
    let mut catches = Vec::new();
    for (fault, name, what) in faults {
        switch_on(Some(fault));
        let catch = hunt(&experiments, name, what);
        switch_on(None);
        tell(&catch);
        catches.push(catch);
    }
    Ok(catches)
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

/// The table of faults, each with the case that catches it.
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
