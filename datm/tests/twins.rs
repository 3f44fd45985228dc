//! Every generated operator and its definition by index are one thing: they become the same operators in normal form and the same
//! code.

mod judging;
#[path = "../../compiler/tests/same_code/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod same_code;

use compiler::{
    front::source::Source,
    pipeline::{self, Options, Session},
};
use datm::{
    Arithmetic, Case, CompiledRunner, Form, OPERATORS, PROGRAM_FORMS, RunOptions, SpaceOptions,
    Syntax, Tree, TreeSpace, WITHOUT_COMPONENTS, check, prepare, program,
};
use judging::none_fails;
use std::collections::{BTreeMap, BTreeSet};

/// Expressions that are tried for each operator.
const TRIED: usize = 12;

/// Expressions of one operator, by its name.
fn single() -> BTreeMap<&'static str, Vec<Tree>> {
    let space = TreeSpace::new(&SpaceOptions::full(1, Form::Left));
    let mut found: BTreeMap<&'static str, Vec<Tree>> = BTreeMap::new();
    for tree in (0..space.len()).filter_map(|rank| space.unrank(rank)) {
        if let Tree::Apply(operator, _) = &tree {
            found.entry(operator.name).or_default().push(tree);
        }
    }
    found
}

fn case(tree: &Tree, form: &str) -> Case {
    let settings = format!("pos=2|data=image|prog={form}|seed=7");
    let settings = settings.parse().expect("settings");
    let tree = tree.clone();
    Case { tree, settings }
}

/// The program of an expression with a definition for every operator, and the one with definitions by index, on the same data.
/// None if there are no such data.
fn both(tree: &Tree) -> Option<[String; 2]> {
    let mut experiment = prepare(&case(tree, "parts"), Arithmetic::Near).ok()?;
    Some(["parts", "indices"].map(|name| {
        let form = PROGRAM_FORMS.iter().find(|form| form.name == name);
        experiment.form = form.expect(name);
        program(&experiment).version2
    }))
}

fn code(text: &str) -> String {
    let source = Source::new("twin.diderot", text.to_owned());
    let lowered = pipeline::lower(&mut Session::default(), &source, &Options::default());
    match lowered {
        Ok(lowered) => same_code::normal_of(&lowered) + &same_code::low_of(&lowered),
        Err(stopped) => panic!("{text}\n{stopped:?}"),
    }
}

#[test]
fn operators_and_their_definitions_by_index_become_the_same_code() {
    let (mut different, mut same) = (BTreeSet::new(), BTreeSet::new());
    let single = single();
    for (name, trees) in &single {
        for tree in trees.iter().step_by(trees.len().div_ceil(TRIED)) {
            let Some([operator, by_index]) = both(tree) else {
                continue;
            };
            // Without axes there are no indices to write.
            if operator == by_index {
                continue;
            }
            if code(&operator) == code(&by_index) {
                same.insert(*name);
            } else if different.insert(*name) {
                println!(
                    "{operator}\n{}\n{by_index}\n{}",
                    code(&operator),
                    code(&by_index)
                );
            }
        }
    }
    println!("the same code: {same:?}");
    assert!(
        different.is_empty(),
        "operators whose definition becomes other code: {different:?}"
    );
    // Operators with axes but without a definition by index have a reason.
    let without = names(WITHOUT_COMPONENTS);
    let has_axes = |tree: &Tree| {
        let Tree::Apply(_, arguments) = tree else {
            return false;
        };
        let parts = arguments.iter().chain([tree]);
        let mut types = parts.filter_map(|part| part.type_of(datm::Rules::Language));
        types.any(|ty| !ty.shape.is_scalar())
    };
    let missing = OPERATORS.iter().filter(|operator| {
        let name = operator.name;
        // To choose a component is to write an index.
        let is_index = matches!(operator.syntax, Syntax::Suffix(_));
        let is_defined = is_index || same.contains(name);
        let is_wanted = single
            .get(name)
            .is_some_and(|trees| trees.iter().any(has_axes));
        is_wanted && !is_defined && !without.contains(name)
    });
    let missing: Vec<&str> = missing.map(|operator| operator.name).collect();
    assert!(
        missing.is_empty(),
        "operators with neither a definition by index nor a reason: {missing:?}"
    );
}

fn names(list: &'static [(&'static str, &'static [&'static str])]) -> BTreeSet<&'static str> {
    list.iter()
        .flat_map(|(_, names)| names.iter().copied())
        .collect()
}

#[test]
fn definitions_by_index_compute_what_is_true() {
    let cases = single().into_values().flat_map(|trees| {
        let stride = trees.len().div_ceil(TRIED);
        let chosen = trees.iter().step_by(stride);
        chosen.map(|tree| case(tree, "indices")).collect::<Vec<_>>()
    });
    let runner = CompiledRunner::default();
    none_fails(cases.collect(), 0.5, |case| {
        check(case, &runner, &RunOptions::default(), Arithmetic::Near)
    });
}
