//! Explanations are about the very result of normalization: they lead to it, every equation keeps the value, and the laws
//! on the way have names.

mod common;

use common::{
    Sketch,
    generate::{quick_options, random_region},
    operators::OPERATORS,
};
use ein_ir::{Region, region::ValueId};
use rewrite::{Explained, Method, Options, explain, laws, normalize, prove, sample};
use std::collections::BTreeSet;

/// What an explanation of a region must be; gives it.
fn explained(name: &str, region: &Region, options: &Options) -> Explained {
    let explained = explain(region, options);
    let Explained {
        normalized,
        composed,
        derivation,
        same,
    } = &explained;
    assert_eq!(
        normalized.region,
        normalize(region, options).region,
        "{name}"
    );
    assert_eq!(composed.roots.len(), region.roots.len(), "{name}");
    assert!(
        derivation.is_complete(),
        "{name}: the equations do not lead to the result"
    );
    for ((first, last), (from, to)) in derivation
        .roots
        .iter()
        .zip(region.roots.iter().zip(&normalized.region.roots))
    {
        let text = |region: &Region, value: &ValueId| written(region, *value);
        assert_eq!(
            text(&derivation.region, first),
            text(region, from),
            "{name}"
        );
        assert_eq!(
            text(&derivation.region, last),
            text(&normalized.region, to),
            "{name}"
        );
    }
    let definitions = (region.inputs.len()..).map(ValueId);
    for (new, old) in definitions
        .zip(same)
        .flat_map(|(new, old)| old.iter().map(move |o| (new, o)))
    {
        let [new, old] = [sample(&normalized.region, &[new]), sample(region, &[*old])];
        let pairs = new[0].components().iter().zip(old[0].components());
        for (x, y) in pairs.filter(|(x, y)| x.is_finite() && y.is_finite()) {
            let size = x.abs().max(y.abs()).max(1e-3);
            assert!((x - y).abs() < 1e-5 * size, "{name}: {x} and {y}");
        }
    }
    let known: BTreeSet<&str> = laws().map(|law| law.name).collect();
    for law in derivation.laws().keys() {
        assert!(known.contains(law), "{name}: `{law}` is not a law");
    }
    explained
}

/// A value and the definitions it depends on, one line each; equal definitions are one.
fn written(region: &Region, value: ValueId) -> String {
    fn number(
        region: &Region,
        value: ValueId,
        lines: &mut Vec<String>,
        known: &mut Known,
    ) -> usize {
        if let Some(&known) = known.get(&value) {
            return known;
        }
        let line = match value.0.checked_sub(region.inputs.len()) {
            None => format!("input {}", value.0),
            Some(k) => {
                let def = &region.defs[k];
                let args = def
                    .args
                    .iter()
                    .map(|&arg| number(region, arg, lines, known));
                let args: Vec<usize> = args.collect();
                format!("{:?} {} {args:?}", def.op.axes, def.op.body)
            }
        };
        let place = lines.iter().position(|other| *other == line);
        let place = place.unwrap_or_else(|| {
            lines.push(line);
            lines.len() - 1
        });
        known.insert(value, place);
        place
    }
    type Known = std::collections::BTreeMap<ValueId, usize>;
    let mut lines = Vec::new();
    number(region, value, &mut lines, &mut Known::new());
    lines.join("\n")
}

#[test]
fn operators_are_derived_and_every_equation_keeps_the_value() {
    for operator in OPERATORS {
        let explained = explained(operator.name, &operator.region(), &Options::default());
        let worst = explained.derivation.replay();
        assert!(worst < 1e-6, "{}: {worst:e}", operator.name);
        assert!(!explained.derivation.laws().is_empty(), "{}", operator.name);
    }
}

#[test]
fn random_operators_are_derived() {
    for seed in 1..=150 {
        let name = format!("seed {seed}");
        let explained = explained(&name, &random_region(seed), &quick_options());
        let worst = explained.derivation.replay();
        assert!(worst < 1e-5, "{name}: {worst:e}");
    }
}

#[test]
fn what_is_cheapest_as_it_stands_needs_no_equation() {
    let mut s = Sketch::default();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| s.tensor(name, &[3]));
    let (ab, cd) = (s.cross(a, b), s.cross(c, d));
    let root = s.dot(ab, cd);
    let region = s.region(&[root]);
    let explained = explained("(a×b)•(c×d)", &region, &Options::default());
    assert_eq!(explained.normalized.region, region);
    assert!(explained.derivation.equations.is_empty());
}

#[test]
fn cross_products_that_meet_are_expanded_by_a_law() {
    let mut s = Sketch::default();
    let u = s.field("U", 3, &[3]);
    let curl = s.curl(u);
    let twice = s.curl(curl);
    let p = s.tensor("p", &[3]);
    let root = s.probe(twice, p);
    let explained = explained("∇×∇×U", &s.region(&[root]), &Options::default());
    let laws = explained.derivation.laws();
    for law in ["epsilon-pair", "delta-eliminate"] {
        assert!(laws.contains_key(law), "{law} is missing among {laws:?}");
    }
    assert!(explained.derivation.replay() < 1e-12);
}

#[test]
fn what_vanishes_when_it_is_inserted_has_a_reason() {
    let mut s = Sketch::default();
    let f = s.field("F", 3, &[]);
    let g = s.grad(f);
    let curl = s.curl(g);
    let p = s.tensor("p", &[3]);
    let root = s.probe(curl, p);
    let explained = explained("∇×∇F", &s.region(&[root]), &Options::default());
    let laws = explained.derivation.laws();
    assert!(laws.contains_key("antisymmetry"), "{laws:?}");
    assert_eq!(explained.derivation.replay(), 0.0);
}

#[test]
fn all_roots_are_explained_together() {
    let mut s = Sketch::default();
    let f = s.field("F", 3, &[]);
    let g = s.grad(f);
    let n = s.norm(g);
    let gn = s.grad(n);
    let p = s.tensor("p", &[3]);
    let roots = [g, n, gn].map(|field| s.probe(field, p));
    let explained = explained("three roots", &s.region(&roots), &Options::default());
    assert_eq!(explained.derivation.roots.len(), 3);
    let (gradient, all) = (explained.derivation.of_roots(&[0]), &explained.derivation);
    assert!(gradient.is_complete() && gradient.replay() < 1e-12);
    assert!(gradient.equations.len() < all.equations.len());
    assert!(!gradient.laws().contains_key("product-rule"));
    assert!(explained.derivation.laws().contains_key("product-rule"));
}

#[test]
fn a_derivation_needs_all_of_its_equations() {
    let operator = OPERATORS.iter().find(|operator| operator.name == "∇|∇F|");
    let region = operator.expect("an operator").region();
    let derivation = explain(&region, &Options::default()).derivation;
    assert!(derivation.equations.len() > 5);
    for missing in 0..derivation.equations.len() {
        let mut broken = derivation.clone();
        broken.equations.remove(missing);
        assert!(!broken.is_complete(), "equation {missing} is not needed");
    }
}

#[test]
fn a_wrong_equation_shows_when_it_is_replayed() {
    let region = OPERATORS[0].region();
    let mut derivation = explain(&region, &Options::default()).derivation;
    let kinds = derivation.region.kinds();
    let right = derivation.equations[0].right;
    let others = (0..kinds.len())
        .filter(|&k| kinds[k] == kinds[right.0])
        .map(ValueId);
    let mut wrong = others.filter(|&other| {
        derivation.equations[0].right = other;
        derivation.replay() > 1e-3
    });
    assert!(wrong.next().is_some());
}

#[test]
fn a_proof_comes_with_its_equations() {
    let mut s = Sketch::default();
    let u = s.field("U", 3, &[3]);
    let curl = s.curl(u);
    let left = s.curl(curl);
    let divergence = s.divergence(u);
    let (gradient, laplacian) = (s.grad(divergence), s.laplacian(u));
    let right = s.sub(gradient, laplacian);
    let proof = prove(&s.region(&[left]), &s.region(&[right]));
    assert_eq!(proof.method, Method::Saturation);
    let derivation = proof.derivation.expect("the equations of the proof");
    assert!(derivation.is_complete());
    assert!(derivation.replay() < 1e-12);
    assert!(!derivation.laws().is_empty());
}
