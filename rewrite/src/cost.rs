//! The cost model: floating-point operations of a node whose children are at hand.

use crate::{
    facts::{Facts, Leaf},
    node::{Function, Node, Op, Slot, Spec},
    numbers::{Power, integer},
};
use egg::Id;
use ein_ir::Elementary;

/// What a node costs that has no normal form.
pub(crate) const INFINITE: u64 = u64::MAX / 4;

/// An operation that has a weight of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A sum or difference.
    Add,
    /// A product.
    Multiply,
    /// A quotient or reciprocal.
    Divide,
    /// A comparison and a selection.
    Select,
    /// An elementary function.
    Apply(Elementary),
}

/// What an operation costs, in additions.
///
/// The weights were measured: `cargo bench -p compiler --bench costs` runs each operation in the machine code of a small
/// program, many strands at a time, and prints its time next to the weight. They are rounded medians of three runs on one
/// machine with 512-bit vectors, and as relative as the addition they are counted in: whoever changes how arithmetic is
/// generated measures again. `sign`, which programs cannot write, is taken to be like `abs`.
pub const fn weight(operation: Operation) -> u64 {
    use Elementary as E;
    match operation {
        Operation::Add | Operation::Multiply | Operation::Select => 1,
        Operation::Divide => 2,
        Operation::Apply(function) => match function {
            E::Abs | E::Sign | E::Floor | E::Ceil | E::Trunc => 1,
            E::Sqrt => 2,
            E::Round => 10,
            E::Fmod => 17,
            E::Exp | E::Sin | E::Cos | E::Asin | E::Acos | E::Atan => 25,
            E::Tan | E::Atan2 => 35,
            E::Log | E::Log2 | E::Log10 | E::Erf | E::Erfc => 55,
            E::Pow => 90,
        },
    }
}

/// What it costs to probe one component of a field or of a derivative of it, in additions; `supports` are those of the
/// kernels (half their widths), one for each axis. Fitted to what was measured as [`weight`] for one to three dimensions,
/// scalars and vectors, orders up to 2; single rows are off by up to a factor of 3, because the components and orders of
/// one probe share work.
pub fn probe_weight(supports: &[usize]) -> u64 {
    let samples = supports.iter().fold(1u64, |samples, &support| {
        samples.saturating_mul(2 * support as u64)
    });
    KERNEL_WEIGHTS.saturating_add(samples / SAMPLES_PER_ADDITION)
}

/// The share of one component in evaluating kernels and finding samples.
const KERNEL_WEIGHTS: u64 = 15;
/// Samples that are weighted and summed in the time of an addition.
const SAMPLES_PER_ADDITION: u64 = 3;
/// A square root.
pub(crate) const ROOT: u64 = weight(Operation::Apply(Elementary::Sqrt));
/// A reciprocal.
const RECIPROCAL: u64 = weight(Operation::Divide);
/// A comparison and a selection.
const SELECTION: u64 = weight(Operation::Select);
/// The operations of an eigensystem of each size, counted rather than measured; half for each part, because both come
/// from one computation. Three rows take five sweeps of three rotations.
const EIGENSYSTEM_2: u64 = 40;
const EIGENSYSTEM_3: u64 = 600;
/// Contractions whose δ and ε have more index assignments than this are not enumerated to count their zeros.
const ENUMERATION_LIMIT: u64 = 7_000;

/// What probing one component of each input costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafCost<'a>(pub(crate) &'a [u64]);

impl LeafCost<'_> {
    fn of(self, input: usize) -> u64 {
        self.0
            .get(input)
            .copied()
            .unwrap_or_else(|| probe_weight(&[2; 3]))
    }
}

/// The number of components that differ, by the known symmetries.
pub(crate) fn distinct_components(facts: &Facts) -> u64 {
    let groups = facts.slot_groups();
    let mut count = 1;
    for start in 0..facts.shape.len() {
        if usize::from(groups.first[start]) != start {
            continue;
        }
        let members = groups
            .first
            .iter()
            .filter(|&&first| usize::from(first) == start)
            .count() as u64;
        let extent = u64::from(facts.shape[start]);
        count = u64::saturating_mul(
            count,
            if groups.antisymmetric[start] {
                choose(extent, members.min(extent))
            } else {
                choose(extent + members - 1, members)
            },
        );
    }
    count
}

fn choose(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product: u64, i| product.saturating_mul(n - i) / (i + 1))
}

/// The cost of `node`, a member of a class with these facts. `field_input` is the leaf field below a probe.
pub(crate) fn cost<'a>(
    node: &Node,
    class: &Facts,
    facts: impl Fn(Id) -> &'a Facts,
    field_input: impl Fn(Id) -> Option<usize>,
    leaf_cost: LeafCost,
) -> u64 {
    let distinct = distinct_components(class);
    match &node.op {
        Op::One | Op::Zero(_) | Op::Tensor { .. } | Op::Delta(_) | Op::Epsilon(_) | Op::Tuple => 0,
        Op::Position { .. } | Op::Field { .. } | Op::Deriv { .. } => INFINITE,
        Op::Probe => match field_input(node.children[0]) {
            Some(input) => leaf_cost
                .of(input)
                .saturating_mul(distinct)
                .min(INFINITE - 1),
            None => INFINITE,
        },
        Op::Apply(Function::Power(power)) => power_cost(*power).saturating_mul(distinct),
        Op::Apply(Function::Elementary(function)) => {
            weight(Operation::Apply(*function)).saturating_mul(distinct)
        }
        Op::Eigen(_) if class.shape[0] == 2 => EIGENSYSTEM_2 / 2,
        Op::Eigen(_) => EIGENSYSTEM_3 / 2,
        Op::Cond(_) => SELECTION.saturating_mul(distinct),
        Op::Sum(coefficients) => {
            let multiplications = coefficients
                .iter()
                .zip(&node.children)
                .filter(|(coefficient, child)| {
                    **coefficient != integer(1)
                        && **coefficient != integer(-1)
                        && facts(**child).leaf != Leaf::One
                })
                .count() as u64;
            (node.children.len() as u64 - 1 + multiplications).saturating_mul(distinct)
        }
        Op::Contract(spec) => contraction_cost(spec, &node.children, class, distinct, facts),
    }
}

/// Integer powers by repeated squaring.
fn power_cost(power: Power) -> u64 {
    let halves = power.halves().unsigned_abs();
    let whole = halves / 2;
    let mut cost = 0;
    if whole > 1 {
        cost += u64::from(whole.ilog2()) + u64::from(whole.count_ones()) - 1;
    }
    if halves % 2 == 1 {
        cost += ROOT + u64::from(whole > 0);
    }
    if power.halves() < 0 {
        cost += RECIPROCAL;
    }
    cost
}

fn contraction_cost<'a>(
    spec: &Spec,
    children: &[Id],
    class: &Facts,
    distinct: u64,
    facts: impl Fn(Id) -> &'a Facts,
) -> u64 {
    let (mut scalars, mut tensors) = (0u64, 0u64);
    let mut cost = 0;
    let mut symbols: Vec<(Leaf, &[Slot])> = Vec::new();
    for ((slots, power), &child) in spec.operands.iter().zip(children) {
        if slots.is_empty() {
            scalars += 1;
            cost += power_cost(*power);
            continue;
        }
        match facts(child).leaf {
            leaf @ (Leaf::Delta | Leaf::Epsilon) => symbols.push((leaf, slots)),
            Leaf::No | Leaf::One | Leaf::Position => tensors += 1,
        }
    }
    cost += scalars.saturating_sub(1);
    if tensors == 0 && symbols.is_empty() {
        return cost;
    }
    let (assignments, live) = live_assignments(spec, &symbols);
    let of_distinct = |operations: u64| {
        let share = (u128::from(operations) * u128::from(distinct))
            .div_ceil(u128::from(class.components().max(1)));
        u64::try_from(share).map_or(INFINITE - 1, |share| share.min(INFINITE - 1))
    };
    let multiplications = assignments.saturating_mul(tensors.saturating_sub(1));
    cost += of_distinct(multiplications.saturating_add(assignments - live.min(assignments)));
    if scalars > 0 {
        cost += of_distinct(live);
    }
    cost.min(INFINITE - 1)
}

/// How many assignments of the labels make every δ and ε different from zero, and for how many components of the
/// result there is one. Only the labels that a δ or ε mentions are enumerated, result axes first.
fn live_assignments(spec: &Spec, symbols: &[(Leaf, &[Slot])]) -> (u64, u64) {
    let mut mentioned: Vec<u8> = symbols
        .iter()
        .flat_map(|(_, slots)| slots.iter())
        .filter_map(|slot| match slot {
            Slot::Label(label) => Some(*label),
            Slot::Fixed(_) => None,
        })
        .collect();
    mentioned.sort_unstable();
    mentioned.dedup();
    let product = |labels: &mut dyn Iterator<Item = usize>| {
        labels.fold(1u64, |product, label| {
            product.saturating_mul(spec.extents[label].into())
        })
    };
    let is_mentioned = |label: &usize| mentioned.contains(&(*label as u8));
    let (results, all) = (0..spec.results, 0..spec.extents.len());
    let free = product(&mut all.clone().filter(|label| !is_mentioned(label)));
    let free_results = product(&mut results.clone().filter(|label| !is_mentioned(label)));
    let components = product(&mut results.filter(is_mentioned));
    let enumerated = product(&mut all.filter(is_mentioned));
    if enumerated > ENUMERATION_LIMIT {
        return (
            free.saturating_mul(enumerated).min(INFINITE),
            free_results.saturating_mul(components).min(INFINITE),
        );
    }
    let extents: Vec<u32> = mentioned
        .iter()
        .map(|&label| spec.extents[usize::from(label)])
        .collect();
    let place = |slot: &Slot| match *slot {
        Slot::Fixed(component) => Err(component),
        Slot::Label(label) => Ok(mentioned.binary_search(&label).unwrap_or(0)),
    };
    let symbols: Vec<(Leaf, Vec<Result<usize, u32>>)> = symbols
        .iter()
        .map(|(leaf, slots)| (*leaf, slots.iter().map(place).collect()))
        .collect();
    let mut values = vec![0u32; extents.len()];
    let (mut assignments, mut live) = (0u64, 0u64);
    let dummies = enumerated / components.max(1);
    let mut last_live = None;
    for flat in 0..enumerated {
        decode(flat, &extents, &mut values);
        let is_live = symbols.iter().all(|(leaf, places)| {
            let at = |k: usize| match places[k] {
                Ok(label) => values[label],
                Err(component) => component,
            };
            match leaf {
                Leaf::Delta => at(0) == at(1),
                Leaf::Epsilon if places.len() == 3 => {
                    at(0) != at(1) && at(0) != at(2) && at(1) != at(2)
                }
                Leaf::Epsilon => at(0) != at(1),
                Leaf::No | Leaf::One | Leaf::Position => true,
            }
        });
        if is_live {
            assignments += 1;
            let component = flat / dummies.max(1);
            live += u64::from(last_live != Some(component));
            last_live = Some(component);
        }
    }
    (
        assignments.saturating_mul(free),
        live.max(1).saturating_mul(free_results),
    )
}

fn decode(mut flat: u64, extents: &[u32], values: &mut [u32]) {
    for (value, &extent) in values.iter_mut().zip(extents).rev() {
        *value = (flat % u64::from(extent)) as u32;
        flat /= u64::from(extent);
    }
}
