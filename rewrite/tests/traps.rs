//! The traps of ein §12: mistakes that were made in compilers for this language, each with a value that tells.

mod common;

use common::values::{distance, values};
use common::{Sketch, V};
use ein_ir::Region;
use rewrite::{Engine, Options, normalize};

/// Normalizes with both engines and compares with the reference evaluator; gives the result of the e-graph.
#[track_caller]
fn check(build: impl Fn(&mut Sketch) -> Vec<V>) -> Region {
    let mut sketch = Sketch::default();
    let roots = build(&mut sketch);
    let region = sketch.region(&roots);
    assert_eq!(region.verify(), []);
    for engine in [Engine::Directed, Engine::EGraph] {
        let options = Options {
            engine,
            ..Options::default()
        };
        let result = normalize(&region, &options).region;
        let error = distance(&values(&region, 5), &values(&result, 5));
        assert!(error < 1e-9, "{engine:?}: {error:e}\n{region}\n{result}");
        if engine == Engine::EGraph {
            return result;
        }
    }
    unreachable!("the e-graph comes last")
}

#[test]
fn subtracting_from_or_by_zeros_keeps_the_other_side() {
    check(|s| {
        let a = s.tensor("A", &[3, 3]);
        let z = s.zeros(&[3, 3]);
        vec![s.sub(z, a), s.sub(a, z)]
    });
}

#[test]
fn a_sum_over_an_unused_index_is_a_factor() {
    check(|s| {
        let x = s.tensor("x", &[]);
        vec![s.ein("| Σ i:3. Σ j:2. a", &[x]), s.ein("| Σ i:4. 1", &[])]
    });
}

#[test]
fn delta_with_two_free_slots_does_not_reduce() {
    check(|s| {
        let v = s.tensor("v", &[3]);
        let row = s.ein("i:3 | δ[0 i]", &[]);
        vec![
            s.op("modulate", &[row, v]),
            s.ein("i:3 j:3 | δ[i j] a[j]", &[v]),
        ]
    });
}

#[test]
fn epsilons_that_share_a_free_index_are_not_summed() {
    check(|s| {
        let vs = ["a", "b", "c", "d"].map(|name| s.tensor(name, &[3]));
        let (x, y) = (s.cross(vs[0], vs[1]), s.cross(vs[2], vs[3]));
        vec![s.op("modulate", &[x, y])]
    });
    check(|s| {
        let a = s.tensor("a", &[3]);
        vec![
            s.ein("| ε[0 1 2] ε[0 1 2]", &[]),
            s.ein("i:3 | Σ k:3. ε[2 1 k] ε[i 1 2] a[k]", &[a]),
        ]
    });
}

#[test]
fn epsilon_of_a_general_matrix_is_not_zero() {
    check(|s| {
        let a = s.tensor("A", &[3, 3]);
        let t = s.transpose(a);
        let symmetric = s.add(a, t);
        let axial = "i:3 | Σ j:3. Σ k:3. ε[i j k] a[j k]";
        vec![s.ein(axial, &[a]), s.ein(axial, &[symmetric])]
    });
}

#[test]
fn several_derivatives_of_differences_and_quotients_are_all_taken() {
    check(|s| {
        let (f, g) = (s.field("f", 3, &[]), s.field("g", 3, &[]));
        let p = s.tensor("p", &[3]);
        let x = s.tensor("x", &[]);
        let difference = s.sub(f, g);
        let quotient = s.div(difference, x);
        let third = s.ein("i:3 j:3 | ∂i ∂j a / 3", &[difference]);
        let hessian = s.ein("i:3 j:3 | ∂i ∂j a", &[quotient]);
        vec![s.probe(hessian, p), s.probe(third, p)]
    });
}

#[test]
fn delta_of_constants_is_evaluated_for_every_constant() {
    let result = check(|s| vec![s.ein("| δ[2 2] + 10 δ[2 1] + 100 δ[0 2]", &[])]);
    assert!(result.defs[0].op.params.is_empty(), "{result}");
}

#[test]
fn deltas_with_different_constants_constrain_different_indices() {
    check(|s| {
        let a = s.tensor("A", &[3, 3]);
        vec![
            s.ein("i:3 j:3 | δ[0 i] δ[1 j] a[i j]", &[a]),
            s.ein("i:3 | δ[0 i] δ[1 i] a[i i]", &[a]),
            s.ein("| Σ i:3. Σ j:3. δ[0 i] δ[1 j] a[i j]", &[a]),
        ]
    });
}

#[test]
fn different_derivatives_of_one_field_are_not_merged() {
    let result = check(|s| {
        let f = s.field("f", 3, &[]);
        let p = s.tensor("p", &[3]);
        let d0 = s.ein("| ∂0 a", &[f]);
        let d1 = s.ein("| ∂1 a", &[f]);
        let d00 = s.ein("| ∂0 ∂0 a", &[f]);
        vec![s.probe(d0, p), s.probe(d1, p), s.probe(d00, p)]
    });
    assert_ne!(result.roots[0], result.roots[1]);
}

#[test]
fn sums_of_different_ranges_are_not_merged() {
    check(|s| {
        let (a, b) = (s.tensor("a", &[2]), s.tensor("b", &[3]));
        vec![
            s.ein("| Σ i:2. a[i]^2", &[a]),
            s.ein("| Σ i:3. a[i]^2", &[b]),
        ]
    });
}

#[test]
fn a_sum_does_not_move_into_functions_and_denominators() {
    check(|s| {
        let a = s.tensor("a", &[3]);
        vec![
            s.ein("| Σ i:3. sin(a[i])", &[a]),
            s.ein("| Σ i:3. (1 / a[i])", &[a]),
            s.ein("| Σ i:3. sqrt(2 + a[i])", &[a]),
            s.ein("| sin(Σ i:3. a[i])", &[a]),
        ]
    });
}

#[test]
fn addends_of_different_index_patterns_are_broadcast() {
    check(|s| {
        let (a, b) = (s.tensor("a", &[3]), s.tensor("b", &[3]));
        let x = s.tensor("x", &[]);
        vec![s.ein("i:3 j:3 | a[i] + b[j] + c", &[a, b, x])]
    });
}

#[test]
fn composed_operators_do_not_capture_indices() {
    check(|s| {
        let (a, b) = (s.tensor("A", &[3, 3]), s.tensor("B", &[3, 3]));
        let ab = s.dot(a, b);
        let abab = s.dot(ab, ab);
        let trace = s.trace(abab);
        vec![
            s.mul(trace, ab),
            s.ein("i:3 | Σ s0:3. a[i s0] a[s0 i]", &[ab]),
        ]
    });
}

#[test]
fn the_zeroth_power_has_no_derivative() {
    check(|s| {
        let f = s.field("f", 3, &[]);
        let p = s.tensor("p", &[3]);
        let one = s.power(f, 0);
        let g = s.grad(one);
        let difference = s.sub(f, f);
        let inverse = s.ein("| (a^0 + b)^-1", &[difference, f]);
        vec![s.probe(g, p), s.probe(inverse, p)]
    });
}

#[test]
fn constants_are_exact() {
    let result = check(|s| {
        let x = s.tensor("x", &[]);
        vec![s.ein("| 1/3 a + 1/6 a − 1/2 a + 12345678901234567/3 a", &[x])]
    });
    let text = result.to_string();
    assert!(text.contains("12345678901234567/3"), "{text}");
}

#[test]
fn large_exponents_and_coefficients_do_not_overflow() {
    check(|s| {
        let x = s.tensor("x", &[]);
        let mut big = x;
        for _ in 0..6 {
            big = s.power(big, 1_000_000);
        }
        let mut huge = s.number(1, 1);
        for _ in 0..9 {
            let factor = s.number(170_141_183_460_469, 1);
            huge = s.mul(huge, factor);
        }
        let product = s.mul(huge, x);
        vec![big, s.add(product, x)]
    });
}

#[test]
fn shape_axes_and_derivative_axes_keep_their_places() {
    check(|s| {
        let u = s.field("U", 3, &[3]);
        let p = s.tensor("p", &[3]);
        let j = s.grad(u);
        let t = s.transpose(j);
        let h = s.grad(t);
        vec![s.probe(j, p), s.probe(t, p), s.probe(h, p)]
    });
}

#[test]
fn one_dimensional_fields_have_scalar_derivatives_and_positions() {
    check(|s| {
        let f = s.field("f", 1, &[]);
        let v = s.field("v", 1, &[3]);
        let t = s.tensor("t", &[]);
        let d = s.grad(f);
        let dd = s.grad(d);
        let w = s.grad(v);
        let product = s.mul(dd, w);
        let inner = s.op("∘", &[f, f]);
        let chain = s.grad(inner);
        vec![s.probe(product, t), s.probe(chain, t), s.probe(d, t)]
    });
}

#[test]
fn several_positions_are_several_probes() {
    let result = check(|s| {
        let f = s.field("f", 3, &[]);
        let (p, q) = (s.tensor("p", &[3]), s.tensor("q", &[3]));
        let shifted = s.add(p, q);
        let (a, b, c) = (s.probe(f, p), s.probe(f, q), s.probe(f, shifted));
        let again = s.probe(f, p);
        let sum = s.add(a, b);
        vec![s.add(sum, c), again]
    });
    let probes = result
        .defs
        .iter()
        .filter(|def| matches!(def.op.body, ein_ir::Term::Probe { .. }));
    assert_eq!(probes.count(), 3, "{result}");
}

#[test]
fn a_position_for_each_index_is_a_probe_for_each() {
    check(|s| {
        let f = s.field("f", 2, &[]);
        let points = s.tensor("P", &[3, 2]);
        vec![s.ein("i:3 | a@(b[i 0], b[i 1])", &[f, points])]
    });
}

#[test]
fn what_is_defined_stays_defined() {
    // |a| must not become a•a/|a|, and x·√x² must not become a quotient.
    let mut s = Sketch::default();
    let a = s.ein("i:3 | 0", &[]);
    let p = s.tensor("x", &[]);
    let scaled = s.mul(p, a);
    let n = s.norm(scaled);
    let region = s.region(&[n]);
    let result = normalize(&region, &Options::default()).region;
    assert_eq!(values(&result, 3)[0].components(), [0.0]);
}

#[test]
fn elementary_functions_of_two_arguments_are_differentiated() {
    check(|s| {
        let (f, g) = (s.field("f", 3, &[]), s.field("g", 3, &[]));
        let p = s.tensor("p", &[3]);
        let texts = [
            "i:3 | ∂i pow(1 + a^2, b)",
            "i:3 | ∂i atan2(a, 2 + b^2)",
            "i:3 | ∂i fmod(5 + a, 2 + b^2)",
            "i:3 | ∂i floor(a)",
            "i:3 | ∂i erf(a b)",
        ];
        texts
            .iter()
            .map(|text| {
                let field = s.ein(text, &[f, g]);
                s.probe(field, p)
            })
            .collect()
    });
}
