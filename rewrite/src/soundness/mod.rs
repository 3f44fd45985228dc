//! Every step and every rule is sound, and every side condition is needed.
//!
//! Each row is run on random products and graphs in which operands mention whatever indices are in scope. Values before
//! and after are those of the reference evaluator. Then each side condition is taken away in turn, and values must
//! differ somewhere: a condition whose absence has no effect is not tested.

mod audit;
mod random;

use crate::{
    arena::{Arena, Mode},
    egraph::{Graph, insert_nodes},
    insert::Source,
    journal::Journal,
    options::{Options, Stats},
    phases::optimize,
    rules::{RULES, Rule},
    saturate::{Limits, saturate},
    simplify::{Condition, Conditions, Outcome, STEPS, Seeks, Step},
};
use audit::{audit, product_value, region_of};
use random::{World, close};
use std::panic::{AssertUnwindSafe, catch_unwind};

const PRODUCTS: u64 = 1500;
const GRAPHS: u64 = 60;

/// The mode whose policies let a step apply.
fn mode_for(step: &Step) -> Mode {
    match step.name {
        "unroll" => Mode::Components,
        "inline-contraction" | "expand-sum" => Mode::Expanded,
        _ => Mode::Lazy,
    }
}

/// How often a step applied to random products, and how often it changed a value.
fn run_step(step: &Step, conditions: &[Condition]) -> (usize, usize) {
    let (mut applied, mut wrong) = (0, 0);
    for seed in 0..PRODUCTS {
        let mut world = World::new(seed, mode_for(step));
        let product = world.product();
        let mut changed = product.clone();
        let products = match (step.run)(&mut world.arena, &mut changed, Conditions(conditions)) {
            Outcome::Unchanged => continue,
            Outcome::Changed => vec![changed],
            Outcome::Replaced(products) => products,
        };
        applied += 1;
        let found = Seeks::found_in(&world.arena, &product);
        assert!(
            step.seeks.is_in(found),
            "{} applies where it is not tried",
            step.name
        );
        let before = product_value(&world, &product);
        let mut after = vec![0.0; before.len()];
        for term in &products {
            let value = product_value(&world, term);
            if value.len() != after.len() {
                wrong += 1;
                continue;
            }
            after.iter_mut().zip(value).for_each(|(sum, x)| *sum += x);
        }
        wrong += usize::from(!close(&before, &after));
    }
    (applied, wrong)
}

#[test]
fn every_step_keeps_values_and_needs_its_conditions() {
    for step in STEPS {
        let (applied, wrong) = run_step(step, step.conditions);
        assert!(applied > 20, "{} applied only {applied} times", step.name);
        assert_eq!(wrong, 0, "{} ({}) changed values", step.name, step.law);
        for condition in step.conditions {
            let rest: Vec<Condition> = step
                .conditions
                .iter()
                .copied()
                .filter(|c| c != condition)
                .collect();
            let (_, wrong) = run_step(step, &rest);
            assert!(
                wrong > 0,
                "{} without {condition:?} is not noticed",
                step.name
            );
        }
    }
}

/// How often a rule fired on random graphs, and in how many of them a class then had two values.
fn run_rule(rule: &Rule) -> (usize, usize) {
    let (mut fired, mut wrong) = (0, 0);
    for seed in 0..GRAPHS {
        let mut world = World::new(seed, Mode::Source);
        world.grow(14);
        let mut graph = Graph::default();
        graph.analysis.push_everywhere = true;
        let ids: Vec<_> = world.classes().collect();
        insert_nodes(&mut graph, ids.iter().map(|&id| (id, world.arena.node(id))));
        let limits = Limits {
            iterations: 2,
            nodes: 600,
            applications: 2000,
        };
        let rules = [Rule { ..*rule }];
        let run = catch_unwind(AssertUnwindSafe(|| {
            saturate(&mut graph, &rules, limits, None);
            audit(&graph, &world)
        }));
        fired += graph.analysis.counts.get(rule.name).copied().unwrap_or(0);
        wrong += usize::from(!matches!(run, Ok(Ok(_))));
    }
    (fired, wrong)
}

#[test]
fn every_rule_keeps_values() {
    for rule in RULES {
        let (fired, wrong) = run_rule(rule);
        assert!(fired > 5, "{} fired only {fired} times", rule.name);
        assert_eq!(
            wrong, 0,
            "{} ({}) made classes equal that are not",
            rule.name, rule.law
        );
    }
}

#[test]
fn every_rule_needs_its_conditions() {
    let mut unnoticed = Vec::new();
    for rule in RULES {
        for condition in rule.conditions {
            let rest: Vec<Condition> = rule
                .conditions
                .iter()
                .copied()
                .filter(|c| c != condition)
                .collect();
            let broken = Rule {
                conditions: Box::leak(rest.into_boxed_slice()),
                ..*rule
            };
            if run_rule(&broken).1 == 0 {
                unnoticed.push((rule.name, condition));
            }
        }
    }
    assert!(
        unnoticed.is_empty(),
        "not noticed when missing: {unnoticed:?}"
    );
}

#[test]
fn all_unions_of_whole_normalizations_are_true() {
    let mut audited = 0;
    for seed in 0..GRAPHS {
        let mut world = World::new(seed, Mode::Source);
        world.grow(10);
        let roots = world.probed_roots();
        let root = world.tuple(&roots);
        let source = Source {
            arena: std::mem::replace(&mut world.arena, Arena::new(Mode::Source, usize::MAX)),
            values: Vec::new(),
            root,
        };
        let mut graph = Graph::default();
        let options = Options {
            node_budget: 150,
            ..Options::default()
        };
        let (mut stats, mut journal) = (Stats::default(), Journal::default());
        let found = optimize(&mut graph, &source, &options, &mut stats, &mut journal);
        assert!(found.is_some(), "seed {seed} has no normal form");
        match audit(&graph, &world) {
            Ok(count) => audited += count,
            Err(problem) => panic!("seed {seed}: {problem}"),
        }
    }
    assert!(audited > 1000, "only {audited} nodes were audited");
}

#[test]
fn components_that_are_said_to_be_zero_are() {
    use crate::{build::Context, sparsity::vanishes};
    let mut zeros = 0;
    for seed in 0..GRAPHS {
        let mut world = World::new(seed, Mode::Source);
        world.grow(14);
        let constant = |id: &egg::Id| world.arena.facts(*id).dim == 0;
        let ids: Vec<_> = world.classes().filter(constant).collect();
        let values = region_of(&world.arena, &ids, &world.inputs).eval(&world.given());
        for (&id, value) in ids.iter().zip(&values) {
            for index in value.shape().indices() {
                let place: Vec<u32> = index.iter().map(|&i| i as u32).collect();
                if vanishes(world.arena.facts(id), &place) {
                    let x = *value.at(&index);
                    assert!(x == 0.0 || x.is_nan(), "seed {seed}: {x}");
                    zeros += 1;
                }
            }
        }
    }
    assert!(zeros > 500, "only {zeros} components");
}

#[test]
fn a_simplification_that_is_cut_short_keeps_the_value() {
    use crate::{build::Context, simplify::simplify_within};
    let mut unfinished = 0;
    for seed in 0..PRODUCTS {
        let mut world = World::new(seed, Mode::Lazy);
        let product = world.product();
        let before = product_value(&world, &product);
        let mut after = vec![0.0; before.len()];
        let limit = (seed % 4) as usize;
        for term in simplify_within(limit, &mut world.arena, product) {
            let value = product_value(&world, &term);
            after.iter_mut().zip(value).for_each(|(sum, x)| *sum += x);
        }
        assert!(close(&before, &after), "seed {seed}: {before:?} {after:?}");
        unfinished += world.arena.taken().unfinished;
    }
    assert!(
        unfinished > 500,
        "only {unfinished} products were cut short"
    );
}

#[test]
fn the_canonical_form_does_not_depend_on_names_and_order() {
    use crate::{build::Context, canon::canonical, node::Slot};
    for seed in 0..PRODUCTS {
        let mut world = World::new(seed, Mode::Lazy);
        let product = world.product();
        let mut other = product.clone();
        // Dummies in reverse order, operands rotated.
        let (results, labels) = (product.results, product.extents.len());
        let renamed = |label: u8| match usize::from(label) {
            label if label < results => label as u8,
            label => (labels - 1 - (label - results)) as u8,
        };
        other.extents[results..].reverse();
        for slot in other
            .operands
            .iter_mut()
            .flat_map(|operand| &mut operand.slots)
        {
            if let Slot::Label(label) = slot {
                *label = renamed(*label);
            }
        }
        other.operands.rotate_left(1);
        let facts = |id| world.arena.facts(id);
        let (a, b) = (canonical(&product, facts), canonical(&other, facts));
        assert_eq!(a.zero, b.zero, "seed {seed}: {product:?}");
        if !a.zero {
            assert_eq!(a.key(&product), b.key(&other), "seed {seed}: {product:?}");
            assert_eq!(a.negative, b.negative, "seed {seed}: {product:?}");
        }
    }
}
