//! Explanations: what normalization made of a definition, and why it may.

use crate::{
    egraph::Graph,
    normalize::{Options, Source, Stats, extracted_root, normalize, optimize},
    proof::{Step, steps_between},
    rules::laws,
};
use ein_ir::{
    Input, Jet, LeafField, Param, PolynomialField, Tensor, random_numbers,
    region::{Region, ValueId},
};
use std::fmt;

/// The steps of an explanation, and whether they were found to keep the value.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Terms from what was written to what was extracted, each equal to the one before.
    pub steps: Vec<Step>,
    /// The largest relative difference between the value of a term and that of the first, by the reference evaluator
    /// on random inputs; only terms with finite values are compared.
    pub worst: f64,
}

/// What normalization made of one root of a region.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The definitions that the root needs, as they were written.
    pub before: Region,
    /// The same in normal form.
    pub after: Region,
    /// Rules, nodes, iterations, operations and probes.
    pub stats: Stats,
    /// The proof, unless the terms are too large to be written out.
    pub proof: Option<Replay>,
}

/// Differences up to this are rounding.
const TOLERANCE: f64 = 1e-6;

/// Explains what becomes of the root number `root` of a region.
pub fn explain(region: &Region, root: usize, options: &Options) -> Explanation {
    let before = needed(region, region.roots[root]);
    let normalized = normalize(&before, options);
    Explanation {
        proof: proof(&before, options),
        before,
        after: normalized.region,
        stats: normalized.stats,
    }
}

/// The definitions that a value needs, and no others.
fn needed(region: &Region, value: ValueId) -> Region {
    let inputs = region.inputs.len();
    let mut wanted = vec![false; inputs + region.defs.len()];
    wanted[value.0] = true;
    for k in (inputs..=value.0).rev() {
        if wanted[k] {
            region.defs[k - inputs]
                .args
                .iter()
                .for_each(|arg| wanted[arg.0] = true);
        }
    }
    let mut result = Region {
        inputs: region.inputs.clone(),
        ..Region::default()
    };
    let mut renamed: Vec<ValueId> = (0..inputs).map(ValueId).collect();
    for (k, def) in region.defs.iter().enumerate() {
        renamed.push(ValueId(inputs + result.defs.len()));
        if wanted[inputs + k] {
            let mut def = def.clone();
            def.args.iter_mut().for_each(|arg| *arg = renamed[arg.0]);
            result.defs.push(def);
        }
    }
    result.roots = vec![renamed[value.0]];
    result
}

/// The proof that the source is equal to what is extracted, replayed.
fn proof(region: &Region, options: &Options) -> Option<Replay> {
    let source = Source::new(region);
    let mut graph = Graph::default().with_explanations_enabled();
    let mut stats = Stats::default();
    let (extracted, _) = optimize(
        &mut graph,
        &source,
        options,
        options.node_budget,
        &mut stats,
    )?;
    let root = extracted_root(&extracted);
    let steps = steps_between(
        &mut graph,
        &source.arena,
        source.root,
        &extracted,
        root,
        &region.inputs,
    )?;
    let worst = replay(&steps, &region.inputs);
    Some(Replay { steps, worst })
}

/// The largest relative difference of a step's value from the first one's.
fn replay(steps: &[Step], inputs: &[Param]) -> f64 {
    let mut worst = 0.0f64;
    let Some((first, rest)) = steps.split_first() else {
        return worst;
    };
    let wanted = values(&first.region, inputs);
    for step in rest {
        for (x, y) in wanted.iter().zip(values(&step.region, inputs)) {
            let both = || x.components().iter().zip(y.components());
            let size = both().fold(1e-3f64, |size, (x, y)| size.max(x.abs()).max(y.abs()));
            let differences = both().map(|(x, y)| (x - y).abs() / size);
            worst = differences.filter(|d| d.is_finite()).fold(worst, f64::max);
        }
    }
    worst
}

/// The roots of a region on inputs that are the same at every call.
fn values(region: &Region, inputs: &[Param]) -> Vec<Tensor<f64>> {
    const DEGREE: usize = 5;
    let seed = |input: usize| 7919 * (input as u64 + 1);
    let fields: Vec<Option<PolynomialField>> = inputs
        .iter()
        .enumerate()
        .map(|(k, param)| match param {
            Param::Tensor(_) => None,
            Param::Field { dim, shape } => {
                let mut numbers = random_numbers(seed(k));
                // Coefficients fall with the degree, so that compositions of fields stay of moderate size.
                let mut coefficient = |exponents: &[usize]| {
                    let degree: usize = exponents.iter().sum();
                    numbers.next().unwrap_or_default() * 0.5f64.powi(degree as i32)
                };
                let components =
                    (0..shape.size()).map(|_| Jet::from_fn(*dim, DEGREE, &mut coefficient));
                Some(PolynomialField::new(
                    *dim,
                    shape.clone(),
                    components.collect(),
                ))
            }
        })
        .collect();
    let given: Vec<Input> = inputs
        .iter()
        .zip(&fields)
        .enumerate()
        .map(|(k, (param, field))| match field {
            Some(field) => Input::Field(field as &dyn LeafField),
            None => {
                let mut numbers = random_numbers(seed(k));
                Input::Tensor(Tensor::from_fn(param.shape(), |_| {
                    numbers.next().unwrap_or_default()
                }))
            }
        })
        .collect();
    region.eval(&given)
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Explanation {
            before,
            after,
            stats,
            proof,
        } = self;
        writeln!(f, "before:\n{before}")?;
        writeln!(f, "after:\n{after}")?;
        writeln!(
            f,
            "probes: {} → {}",
            stats.probes_before, stats.probes_after
        )?;
        writeln!(
            f,
            "operations without probes: {} → {}",
            stats.cost_before, stats.cost_after
        )?;
        writeln!(
            f,
            "e-graph: {} nodes, {} iterations",
            stats.nodes, stats.iterations
        )?;
        for (rule, count) in &stats.rules {
            match laws().find(|law| law.name == *rule) {
                Some(law) => writeln!(f, "  {rule}: {count}   {}", law.statement)?,
                None => writeln!(f, "  {rule}: {count}")?,
            }
        }
        match proof {
            None => writeln!(f, "proof: the terms are too large to be written out"),
            Some(Replay { steps, worst }) => {
                let verdict = if *worst < TOLERANCE {
                    "every step keeps the value"
                } else {
                    "A STEP CHANGES THE VALUE"
                };
                writeln!(
                    f,
                    "proof in {} steps, replayed: {verdict}",
                    steps.len().saturating_sub(1)
                )?;
                steps.iter().try_for_each(|step| writeln!(f, "{step}"))
            }
        }
    }
}
