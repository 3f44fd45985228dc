//! The cost model: floating-point operations of a node whose children are at hand.

use crate::{
    class::Facts,
    node::{Function, Node, Op, Spec},
    numbers::{Power, integer},
    sparsity::{Contributions, for_each_index, is_sparse, is_symbol, vanishes},
};
use egg::Id;
use ein_ir::{Eigen, Elementary, Rational};
use num_traits::Signed;

/// What a node costs that has no normal form.
pub(crate) const INFINITE: u64 = 1 << 48;

/// What a node counts for in the choice between forms: its operations, and where these are as many, that it is there.
pub(crate) const fn counted(operations: u64) -> u64 {
    const OPERATION: u64 = 16;
    OPERATION * operations + 1
}

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

/// What an operation costs, in additions, measured as [`ein_ir::ElementaryDef::weight`] says.
pub const fn weight(operation: Operation) -> u64 {
    match operation {
        Operation::Add | Operation::Multiply | Operation::Select => 1,
        Operation::Divide => 2,
        Operation::Apply(function) => function.def().weight,
    }
}

/// The cost of probing one component of a field or of a derivative of it, in additions; `supports` are those of the
/// kernels (half their widths), one for each axis. Fitted to measurements like those of [`weight`] for one to three dimensions,
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
/// The operations of one resolvent of each size beside those of the eigensystem, without its reciprocals.
const RESOLVENT_2: u64 = 6;
const RESOLVENT_3: u64 = 26;
/// Components that are looked at one by one.
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
        if usize::from(groups.first(start)) != start {
            continue;
        }
        let is_member = |slot: &usize| usize::from(groups.first(*slot)) == start;
        let members = (start..facts.shape.len()).filter(is_member).count() as u64;
        let extent = u64::from(facts.shape[start]);
        count = u64::saturating_mul(
            count,
            if groups.is_antisymmetric(start) {
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
        Op::Position { .. } | Op::Field { .. } | Op::Deriv { .. } | Op::Inverse => INFINITE,
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
        Op::Eigen(Eigen::Resolvents) if class.shape[0] == 2 => 2 * RESOLVENT_2 + RECIPROCAL,
        Op::Eigen(Eigen::Resolvents) => 3 * (RESOLVENT_3 + RECIPROCAL),
        Op::Eigen(Eigen::Values | Eigen::Vectors) => match class.shape[0] {
            2 => EIGENSYSTEM_2 / 2,
            _ => EIGENSYSTEM_3 / 2,
        },
        Op::Cond(_) => SELECTION.saturating_mul(distinct),
        Op::Sum(coefficients) => {
            let children = node.children.iter().map(|&child| facts(child));
            let terms: Vec<(Rational, &Facts)> =
                coefficients.iter().copied().zip(children).collect();
            sum_cost(&terms, class, distinct)
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

/// A sum of multiples. Zeros are not added, the constants among the terms are one number, and signs cost nothing.
fn sum_cost(terms: &[(Rational, &Facts)], class: &Facts, distinct: u64) -> u64 {
    let of_component = |index: Option<&[u32]>| {
        let (mut addends, mut multiplications, mut constant) = (0, 0, 0);
        for (coefficient, facts) in terms {
            if index.is_some_and(|index| vanishes(facts, index)) {
                continue;
            }
            if facts.constant {
                constant = 1;
            } else {
                addends += 1;
                multiplications += u64::from(coefficient.abs() != integer(1));
            }
        }
        u64::saturating_sub(addends + constant, 1) + multiplications
    };
    if terms.iter().any(|(_, facts)| is_sparse(facts)) {
        sum_over_distinct(class, distinct, |index| of_component(Some(index)))
    } else {
        of_component(None).saturating_mul(distinct)
    }
}

/// The sum of what each of the components that differ costs.
fn sum_over_distinct(class: &Facts, distinct: u64, cost: impl Fn(&[u32]) -> u64) -> u64 {
    if class.components() > ENUMERATION_LIMIT {
        // As if all were like the last: a tensor of this many components is not worth a closer look.
        let last: Vec<u32> = class.shape.iter().map(|n| n - 1).collect();
        return cost(&last).saturating_mul(distinct).min(INFINITE - 1);
    }
    let groups = class.slot_groups();
    let members: Vec<_> = groups.members().collect();
    let mut total = 0u64;
    for_each_index(&class.shape, |_, index| {
        let is_first = members.iter().all(|group| {
            group.windows(2).all(|pair| {
                let (a, b) = (index[pair[0]], index[pair[1]]);
                a < b || a == b && !groups.is_antisymmetric(pair[0])
            })
        });
        if is_first {
            total = total.saturating_add(cost(index));
        }
    });
    total.min(INFINITE - 1)
}

fn contraction_cost<'a>(
    spec: &Spec,
    children: &[Id],
    class: &Facts,
    distinct: u64,
    facts: impl Fn(Id) -> &'a Facts,
) -> u64 {
    let operands = || spec.operands.iter().zip(children);
    if operands().all(|((_, power), &child)| power.is_one() && facts(child).constant) {
        return 0;
    }
    let (mut scalars, mut tensors, mut symbols) = (0u64, 0u64, 0u64);
    let mut cost = 0;
    for ((slots, power), &child) in operands() {
        if slots.is_empty() {
            scalars += 1;
            cost += power_cost(*power);
        } else if is_symbol(facts(child)) {
            symbols += 1;
        } else {
            tensors += 1;
        }
    }
    cost += scalars.saturating_sub(1);
    if tensors + symbols == 0 {
        return cost;
    }
    let of_component = |count: u64| {
        let products = count.saturating_mul(tensors.saturating_sub(1));
        let sums = count.saturating_sub(1);
        // A scalar in the place where δ or ε is ±1 is not multiplied.
        let placed = tensors == 0 && count == 1;
        let scaling = u64::from(scalars > 0 && count > 0 && !placed);
        products.saturating_add(sums).saturating_add(scaling)
    };
    let indexed = operands().filter(|((slots, _), _)| !slots.is_empty());
    let contributions = Contributions::new(
        spec.results,
        &spec.extents,
        indexed.map(|((slots, _), &child)| (facts(child), slots)),
    );
    cost += match contributions.uniform() {
        Some(count) => of_component(count).saturating_mul(distinct),
        None => sum_over_distinct(class, distinct, |index| {
            of_component(contributions.at(index))
        }),
    };
    cost.min(INFINITE - 1)
}
