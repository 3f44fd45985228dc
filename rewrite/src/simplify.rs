//! Simplification of products, one small step at a time.
//!
//! Takes a product and gives products that sum to it, each with nothing left that a step could do. The steps are rows:
//! a name, the law, the side conditions as data, and what to do. The same rows serve the directed normalizer, the rules
//! of the e-graph and the test that takes away one condition at a time and sees the law fail.

use crate::{
    build::Context, class::Leaf, inverse::cancel_inverse, mutants, product::Product, steps,
};
use smallvec::{SmallVec, smallvec};

/// What must hold at the place where a law is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The operand has a positive power: 0⁻¹ is not 0.
    PositivePower,
    /// The index is summed over in this product, it is not an axis of the result.
    Bound,
    /// No operand mentions the index.
    Unused,
    /// The part mentions no axis of the result.
    NoResultAxis,
    /// The operand is a scalar.
    Scalar,
    /// An integer power, or every factor is known not to be negative.
    NonnegativeFactors,
    /// An index that is summed inside a part is mentioned nowhere else.
    Private,
    /// The operands have the same indices.
    SameIndices,
    /// The operands have the same power.
    SamePower,
}

/// The side conditions that a step is run with: all of its row, except in tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions<'a>(pub(crate) &'a [Condition]);

impl Conditions<'_> {
    /// Whether `condition` is fulfilled: it holds, or it is not asked for.
    pub(crate) fn allow(self, condition: Condition, holds: bool) -> bool {
        holds || !self.0.contains(&condition)
    }
}

/// What a step did.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// It does not apply.
    Unchanged,
    /// It changed the product in place.
    Changed,
    /// The product is the sum of these.
    Replaced(Vec<Product>),
}

/// Where a step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    /// It can make the product longer, so it is left out when the budget is used up.
    WithinBudget,
    /// In the component normal form of proofs, within the budget.
    Unrolling,
}

/// What a step looks for among the operands of a product: where there is none, it has nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seeks {
    Anything,
    /// 1, or the power 0.
    One,
    Inverse,
    /// A multiple of another class.
    Multiple,
    Delta,
    Epsilon,
}

impl Seeks {
    /// The kinds of operands that occur, one bit for each.
    pub(crate) fn found_in(context: &dyn Context, product: &Product) -> u8 {
        let bit = |seeks: Seeks, is_there: bool| u8::from(is_there) << seeks as u8;
        let operands = product.operands.iter();
        operands.fold(bit(Seeks::Anything, true), |found, operand| {
            let facts = context.facts(operand.id);
            let is_one = operand.power.is_zero() || facts.leaf == Leaf::One;
            found
                | bit(Seeks::One, is_one)
                | bit(Seeks::Inverse, facts.inverse.is_some())
                | bit(Seeks::Multiple, facts.scale.is_some())
                | bit(Seeks::Delta, facts.leaf == Leaf::Delta)
                | bit(Seeks::Epsilon, facts.leaf == Leaf::Epsilon)
        })
    }

    /// Whether this kind occurs.
    pub(crate) fn is_in(self, found: u8) -> bool {
        found >> self as u8 & 1 == 1
    }
}

/// One row of the table of steps.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// The law in index notation.
    pub(crate) law: &'static str,
    pub(crate) conditions: &'static [Condition],
    pub(crate) when: When,
    pub(crate) seeks: Seeks,
    pub(crate) run: fn(&mut dyn Context, &mut Product, Conditions) -> Outcome,
}

/// The steps, tried in this order until none applies.
#[rustfmt::skip]
pub(crate) const STEPS: &[Step] = &[
    Step { name: "zero-factor", law: "0·e = 0", conditions: &[Condition::PositivePower], when: When::Always, seeks: Seeks::Anything, run: steps::zero_factor },
    Step { name: "one-factor", law: "1·e = e, x⁰ = 1", conditions: &[], when: When::Always, seeks: Seeks::One, run: steps::one_factor },
    Step { name: "cancel-inverse", law: "Σj A[i,j]·A⁻¹[j,k] = δ[i,k]", conditions: &[Condition::Bound, Condition::Private], when: When::Always, seeks: Seeks::Inverse, run: cancel_inverse },
    Step { name: "pull-coefficient", law: "(c·x)ᵖ·e = cᵖ·xᵖ·e", conditions: &[], when: When::Always, seeks: Seeks::Multiple, run: steps::pull_coefficient },
    Step { name: "delta-evaluate", law: "δ[i,i] = 1, δ[c,c′] = 0 for c ≠ c′", conditions: &[], when: When::Always, seeks: Seeks::Delta, run: steps::delta_evaluate },
    Step { name: "delta-eliminate", law: "Σj δ[i,j]·e = e[j:=i]", conditions: &[Condition::Bound], when: When::Always, seeks: Seeks::Delta, run: steps::delta_eliminate },
    Step { name: "delta-substitute", law: "δ[i,j]·e = δ[i,j]·e[j:=i]", conditions: &[], when: When::Always, seeks: Seeks::Delta, run: steps::delta_substitute },
    Step { name: "epsilon-repeated", law: "ε[i,i,k] = 0", conditions: &[], when: When::Always, seeks: Seeks::Epsilon, run: steps::epsilon_repeated },
    Step { name: "epsilon-component", law: "ε[c,j,k] = δ[j,c₁]δ[k,c₂] − δ[j,c₂]δ[k,c₁]", conditions: &[], when: When::Always, seeks: Seeks::Epsilon, run: steps::epsilon_component },
    Step { name: "epsilon-pair", law: "ε[i,j,k]ε[l,m,n] = det δ", conditions: &[], when: When::WithinBudget, seeks: Seeks::Epsilon, run: steps::epsilon_pair },
    Step { name: "unused-index", law: "Σi e = n·e", conditions: &[Condition::Bound, Condition::Unused], when: When::Always, seeks: Seeks::Anything, run: steps::unused_index },
    Step { name: "inline-power", law: "(Π xʳ)ᵖ = Π xʳᵖ", conditions: &[Condition::NonnegativeFactors], when: When::Always, seeks: Seeks::Anything, run: steps::inline_power },
    Step { name: "inline-contraction", law: "e·(Σj f) = Σj e·f", conditions: &[], when: When::WithinBudget, seeks: Seeks::Anything, run: steps::inline_contraction },
    Step { name: "expand-sum", law: "(a + b)·e = a·e + b·e", conditions: &[], when: When::WithinBudget, seeks: Seeks::Anything, run: steps::expand_sum },
    Step { name: "unroll", law: "Σi e = e[i:=0] + … + e[i:=n−1]", conditions: &[Condition::Bound], when: When::Unrolling, seeks: Seeks::Anything, run: steps::unroll },
    Step { name: "split-scalar", law: "Σij a·b = (Σi a)·(Σj b)", conditions: &[Condition::NoResultAxis, Condition::Private], when: When::Always, seeks: Seeks::Anything, run: steps::split_scalar },
    Step { name: "merge-powers", law: "sᵖ·s^q = s^(p+q)", conditions: &[Condition::Scalar], when: When::Always, seeks: Seeks::Anything, run: steps::merge_powers },
];

/// Steps on one product; a longer chain would be a loop among the rows.
const STEP_LIMIT: usize = 2000;
/// Products that one simplification may make before it stops expanding.
const PRODUCT_LIMIT: usize = 50_000;

/// Mostly there is one.
type Products = SmallVec<[Product; 1]>;

/// Products that sum to `product`, simplified.
pub(crate) fn simplify(context: &mut dyn Context, product: Product) -> Products {
    simplify_within(STEP_LIMIT, context, product)
}

/// As [`simplify`], with at most that many steps on each product.
pub(crate) fn simplify_within(
    step_limit: usize,
    context: &mut dyn Context,
    product: Product,
) -> Products {
    let mut work: Products = smallvec![product];
    let mut done = Products::new();
    let mut products = 0;
    while let Some(mut product) = work.pop() {
        products += 1;
        let expand = context.charge() && products < PRODUCT_LIMIT;
        let mut count = 0;
        loop {
            if count == step_limit {
                context.taken().unfinished += 1;
                done.push(product);
                break;
            }
            count += 1;
            match take_step(context, &mut product, expand) {
                Outcome::Unchanged => {
                    done.push(product);
                    break;
                }
                Outcome::Changed => {}
                Outcome::Replaced(products) => {
                    work.extend(products);
                    break;
                }
            }
        }
    }
    done
}

/// Takes the first step of the table that applies.
fn take_step(context: &mut dyn Context, product: &mut Product, expand: bool) -> Outcome {
    let found = Seeks::found_in(context, product);
    for (number, step) in STEPS.iter().map(mutants::step).enumerate() {
        let wanted = match step.when {
            When::Always => true,
            When::WithinBudget => expand,
            When::Unrolling => expand && context.unrolls(),
        };
        if !wanted || !step.seeks.is_in(found) {
            continue;
        }
        let outcome = (step.run)(context, product, Conditions(step.conditions));
        if outcome != Outcome::Unchanged {
            context.taken().step(number);
            return outcome;
        }
    }
    Outcome::Unchanged
}
