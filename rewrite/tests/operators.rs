//! The operators of the dissertation's benchmarks: normal form, values, probes and cost.

mod common;

use common::values::{distance, values};
use common::{Sketch, operators::OPERATORS};
use ein_ir::{Index, Symmetry, Tensor, Term, region::ValueId};
use rewrite::{Engine, Options, normalize, verify_normal_form};

/// Rounding of ill-conditioned roots, as in k1, is amplified by two derivatives.
const TOLERANCE: f64 = 1e-7;

fn directed() -> Options {
    Options {
        engine: Engine::Directed,
        ..Options::default()
    }
}

#[test]
fn the_e_graph_is_never_more_expensive_than_the_directed_engine() {
    let mut wins = 0;
    for operator in OPERATORS {
        let region = operator.region();
        let graph = normalize(&region, &Options::default()).stats;
        let plain = normalize(&region, &directed()).stats;
        assert!(
            graph.cost_after <= plain.cost_after,
            "{}: {} by the e-graph, {} without",
            operator.name,
            graph.cost_after,
            plain.cost_after
        );
        assert!(
            graph.probes_after <= graph.probes_before.max(1),
            "{}",
            operator.name
        );
        wins += usize::from(graph.cost_after < plain.cost_after);
    }
    assert!(
        wins * 2 > OPERATORS.len(),
        "the e-graph wins only {wins} times"
    );
}

#[test]
fn normal_forms_are_fixed_points_with_true_symmetries() {
    let mut found = [0; 2];
    for operator in OPERATORS {
        let normalized = normalize(&operator.region(), &Options::default());
        let knowing = Options {
            symmetry: normalized.symmetry.clone(),
            ..Options::default()
        };
        let again = normalize(&normalized.region, &knowing);
        assert_eq!(again.region, normalized.region, "{}", operator.name);
        assert_eq!(again.symmetry, normalized.symmetry, "{}", operator.name);
        let mut all = normalized.region.clone();
        all.roots = (0..all.defs.len())
            .map(|k| ValueId(all.inputs.len() + k))
            .collect();
        for (tensor, symmetry) in values(&all, 1).iter().zip(&normalized.symmetry) {
            let kinds = [(&symmetry.symmetric, 1.0), (&symmetry.antisymmetric, -1.0)];
            for (found, (groups, sign)) in found.iter_mut().zip(kinds) {
                *found += groups.len();
                let pairs = groups
                    .iter()
                    .flat_map(|group| group.iter().zip(&group[1..]));
                for (&a, &b) in pairs {
                    let error = exchange_error(tensor, a, b, sign);
                    let name = operator.name;
                    assert!(
                        error < TOLERANCE,
                        "{name}: axes {a} and {b} of {tensor:?} ({sign})"
                    );
                }
            }
        }
    }
    let [symmetric, antisymmetric] = found;
    assert!(symmetric > 20, "only {symmetric} groups of symmetric axes");
    assert!(antisymmetric > 0, "no antisymmetric axes");
}

/// How far a tensor is from `sign` times itself with two axes exchanged, relative to its largest component.
fn exchange_error(tensor: &Tensor<f64>, a: usize, b: usize, sign: f64) -> f64 {
    let components = tensor.components().iter();
    let size = components.fold(1e-3f64, |size, x| size.max(x.abs()));
    let differences = tensor.shape().indices().map(|index| {
        let mut exchanged = index.clone();
        exchanged.swap(a, b);
        (tensor.at(&index) - sign * tensor.at(&exchanged)).abs()
    });
    differences.fold(0.0, f64::max) / size
}

#[test]
fn operators_keep_their_values_in_normal_form() {
    for operator in OPERATORS {
        let region = operator.region();
        assert_eq!(region.verify(), [], "{}", operator.name);
        for engine in [Engine::EGraph, Engine::Directed] {
            let options = match engine {
                Engine::EGraph => Options::default(),
                Engine::Directed => directed(),
            };
            let normalized = normalize(&region, &options);
            assert_eq!(
                verify_normal_form(&normalized.region),
                Vec::<String>::new(),
                "{}",
                operator.name
            );
            assert_eq!(
                normalized.region.verify(),
                [],
                "{}\n{}",
                operator.name,
                normalized.region
            );
            assert_eq!(normalized.symmetry.len(), normalized.region.defs.len());
            for seed in 1..3 {
                let error = distance(&values(&region, seed), &values(&normalized.region, seed));
                assert!(
                    error < TOLERANCE,
                    "{} by {engine:?}: {error:e}\n{}",
                    operator.name,
                    normalized.region
                );
            }
        }
    }
}

#[test]
fn planning_leaves_no_matrix_with_zeros() {
    let mut crosses = Sketch::default();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| crosses.tensor(name, &[3]));
    let (ab, cd) = (crosses.cross(a, b), crosses.cross(c, d));
    let sum = crosses.add(ab, cd);
    let triple = crosses.dot(c, ab);
    let crosses = crosses.region(&[sum, triple]);
    let operators = OPERATORS.iter().map(|operator| operator.region());
    for region in operators.chain([crosses]) {
        for options in [Options::default(), directed()] {
            let normalized = normalize(&region, &options).region;
            for def in &normalized.defs {
                assert!(!is_spread_out(&def.op.body), "{}\nin\n{normalized}", def.op);
            }
        }
    }
}

/// Whether a term is ε times one tensor, with more than one index of ε among the axes of the result.
fn is_spread_out(term: &Term) -> bool {
    match term {
        Term::Sum { body, .. } => is_spread_out(body),
        Term::Mul(factors) => {
            let indexed = |factor: &&Term| matches!(factor, Term::Access { indices, .. } if !indices.is_empty());
            let is_axis = |index: &&Index| matches!(index, Index::Axis(_));
            let open = |factor: &Term| match factor {
                Term::Epsilon(indices) => indices.iter().filter(is_axis).count(),
                _ => 0,
            };
            factors.iter().filter(indexed).count() == 1 && factors.iter().any(|f| open(f) > 1)
        }
        _ => false,
    }
}

#[test]
fn inverses_cost_their_cofactors() {
    for (n, most) in [(2, 9), (3, 43)] {
        let mut s = Sketch::default();
        let m = s.tensor("M", &[n, n]);
        let inverse = s.inverse(m);
        for options in [Options::default(), directed()] {
            let normalized = normalize(&s.region(&[inverse]), &options);
            let cost = normalized.stats.cost_after;
            assert!(cost <= most, "{cost}:\n{}", normalized.region);
        }
    }
}

#[test]
fn inverses_of_inverses_and_products_with_inverses_vanish() {
    for n in [2, 3] {
        let mut s = Sketch::default();
        let m = s.field("M", 3, &[n, n]);
        let p = s.tensor("p", &[3]);
        let (inverse, transposed) = (s.inverse(m), s.transpose(m));
        let again = s.inverse(inverse);
        let unit = s.dot(inverse, m);
        let inverse_of_transposed = s.inverse(transposed);
        let other = s.dot(transposed, inverse_of_transposed);
        let roots = [again, unit, other].map(|field| s.probe(field, p));
        for options in [Options::default(), directed()] {
            let normalized = normalize(&s.region(&roots), &options);
            assert_eq!(normalized.stats.cost_after, 0, "{}", normalized.region);
            assert_eq!(normalized.stats.probes_after, 1, "{}", normalized.region);
        }
    }
}

/// How the only root is symmetric.
fn symmetry_of_root(sketch: &Sketch, root: common::V) -> Symmetry {
    let normalized = normalize(&sketch.region(&[root]), &Options::default());
    let region = &normalized.region;
    normalized.symmetry[region.roots[0].0 - region.inputs.len()].clone()
}

#[test]
fn symmetry_is_seen_across_the_terms_of_a_sum() {
    let mut s = Sketch::default();
    let (a, b) = (s.tensor("a", &[3]), s.tensor("b", &[3]));
    let (ab, ba) = (s.outer(a, b), s.outer(b, a));
    let sum = s.add(ab, ba);
    let both = || vec![vec![0, 1]];
    let symmetric = Symmetry {
        symmetric: both(),
        ..Symmetry::default()
    };
    assert_eq!(symmetry_of_root(&s, sum), symmetric);
    let difference = s.sub(ab, ba);
    let antisymmetric = Symmetry {
        antisymmetric: both(),
        ..Symmetry::default()
    };
    assert_eq!(symmetry_of_root(&s, difference), antisymmetric);
    let twice = s.scaled(2, 1, ba);
    let unequal = s.add(ab, twice);
    assert!(symmetry_of_root(&s, unequal).is_empty());
}

#[test]
fn symmetry_is_seen_across_contractions() {
    let mut s = Sketch::default();
    let f = s.field("F", 3, &[]);
    let p = s.tensor("p", &[3]);
    let gradient = s.grad(f);
    let hessian = s.grad(gradient);
    let h = s.probe(hessian, p);
    let m = s.tensor("M", &[3, 3]);
    let t = s.transpose(m);
    let mh = s.dot(m, h);
    let mht = s.dot(mh, t);
    assert_eq!(symmetry_of_root(&s, mht).symmetric, [[0, 1]]);
    let mhm = s.dot(mh, m);
    assert!(symmetry_of_root(&s, mhm).is_empty());
}
