//! The normal form: the regions that its verifier accepts, every way in which a region can miss it, and the terms that vanish
//! in it.

use ein_ir::{Region, region::Def};
use rewrite::{Engine, Options, normalize, verify_normal_form};

/// A region over a field `v0` of the plane, a vector `v1`, a matrix `v2` and a number `v3`.
fn region(definitions: &str, root: &str) -> Region {
    let text = format!(
        "input v0: field(2)[]\ninput v1: [2]\ninput v2: [2,2]\ninput v3: []\n{definitions}\nreturn {root}\n"
    );
    text.parse()
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

#[test]
fn operations_of_every_kind_are_accepted() {
    let definitions = [
        "(λ(a:field(2)[], b:[2]) | a@(b[0], b[1]))(v0, v1)",
        "(λ(a:field(2)[], b:[2]) i:2 j:2 | (∂j ∂i a)@(b[0], b[1]))(v0, v1)",
        "(λ(a:[2], b:[2,2]) i:2 | Σ s0:2. a[s0] b[s0 i])(v1, v2)",
        "(λ(a:[2], b:[2]) i:2 j:2 | a[i] b[j])(v1, v1)",
        "(λ(a:[]) | 2 a^2)(v3)",
        "(λ(a:[]) | 1 / a)(v3)",
        "(λ(a:[2,2]) i:2 j:2 | δ[i j] − 2 a[j i])(v2)",
        "(λ(a:[]) | sqrt(a))(v3)",
        "(λ(a:[2], b:[]) i:2 | if a[i] < b then a[i] else b)(v1, v3)",
    ];
    for definition in definitions {
        let region = region(&format!("v4 = {definition}"), "v4");
        assert_eq!(
            verify_normal_form(&region),
            Vec::<String>::new(),
            "{region}"
        );
    }
}

#[test]
fn every_violation_is_named() {
    let rows = [
        ("(λ(a:[]) | sqrt(1 + a))(v3)", "more than one operation"),
        (
            "(λ(a:[], b:[]) | a (a + b))(v3, v3)",
            "more than one operation",
        ),
        (
            "(λ(a:field(2)[], b:[2]) i:2 | (∂i a^2)@(b[0], b[1]))(v0, v1)",
            "something else than a leaf field",
        ),
        (
            "(λ(a:field(2)[], b:[2]) | (∂0 a)@(b[0], b[1]))(v0, v1)",
            "a part of a derivative",
        ),
        (
            "(λ(a:field(2)[], b:[2]) i:2 j:2 | (∂i ∂j a)@(b[0], b[1]))(v0, v1)",
            "a part of a derivative",
        ),
        (
            "(λ(a:field(2)[], b:[2]) | a@(b[1], b[0]))(v0, v1)",
            "the position is not one value",
        ),
        (
            "(λ(a:field(2)[], b:[2]) | 2 a@(b[0], b[1]))(v0, v1)",
            "more than one operation",
        ),
        ("(λ(a:[2]) i:2 | Σ s0:2. δ[i s0] a[s0])(v1)", "a δ is left"),
        (
            "(λ(a:[2], b:[2]) | Σ s0:2. Σ s1:2. Σ s2:2. ε[s0 s1] ε[s0 s2] a[s1] b[s2])(v1, v1)",
            "a pair of ε is left",
        ),
        (
            "(λ(a:[2]) | Σ s0:2. ε[0 s0] a[s0])(v1)",
            "an ε with a fixed component",
        ),
        ("(λ(a:[]) | Σ s0:2. a a)(v3)", "a constant summand"),
    ];
    for (definition, wanted) in rows {
        let region = region(&format!("v4 = {definition}"), "v4");
        let found = verify_normal_form(&region);
        assert!(
            found.iter().any(|violation| violation.contains(wanted)),
            "{region}: {found:?} does not say `{wanted}`"
        );
    }
}

#[test]
fn a_probe_occurs_once_and_no_root_is_a_field() {
    let probe = "(λ(a:field(2)[], b:[2]) | a@(b[0], b[1]))(v0, v1)";
    let twice = region(&format!("v4 = {probe}\nv5 = {probe}"), "v4, v5");
    assert!(verify_normal_form(&twice)[0].contains("the same probe occurs twice"));
    let field = region("", "v0");
    assert!(verify_normal_form(&field)[0].contains("is a field"));
}

#[test]
fn a_component_of_a_vector_written_by_its_components_is_that_component() {
    let definitions = "v4 = (λ(a:[], b:[2]) i:2 | a δ[0 i] + 3 b[1] δ[1 i])(v3, v1)\n\
                       v5 = (λ(a:[2]) | sin(a[0]))(v4)\n\
                       v6 = (λ(a:[2]) | exp(a[1]))(v4)";
    let region = region(definitions, "v5, v6");
    for engine in [Engine::Directed, Engine::EGraph] {
        let options = Options {
            engine,
            ..Options::default()
        };
        let found = normalize(&region, &options).region;
        let is_scalar = |def: &Def| def.op.axes.is_empty();
        assert!(found.defs.iter().all(is_scalar), "{engine:?}\n{found}");
    }
}

#[test]
fn a_component_that_is_a_product_is_multiplied_once() {
    let definitions = "v4 = (λ(a:[2], b:[]) i:2 | a[0] a[1] b δ[0 i] + b δ[1 i])(v1, v3)\n\
                       v5 = (λ(a:[2], b:[2]) | a[0] b[0])(v4, v1)\n\
                       v6 = (λ(a:[2], b:[2]) | a[0] b[1])(v4, v1)";
    let region = region(definitions, "v5, v6");
    let normalized = normalize(&region, &Options::default());
    assert_eq!(normalized.stats.cost_after, 4, "{}", normalized.region);
}
