//! Explanations name what was done and replay it.

mod common;

use common::{Sketch, operators::OPERATORS};
use rewrite::{Options, explain};

#[test]
fn the_proof_of_a_small_definition_is_replayed() {
    let mut s = Sketch::default();
    let f = s.field("F", 3, &[]);
    let g = s.grad(f);
    let c = s.curl(g);
    let n = s.norm(g);
    let gn = s.grad(n);
    let sum = s.add(c, gn);
    let p = s.tensor("p", &[3]);
    let unused = s.probe(f, p);
    let root = s.probe(sum, p);
    let region = s.region(&[unused, root]);
    let explanation = explain(&region, 1, &Options::default());
    let proof = explanation.proof.as_ref().expect("a small proof");
    assert!(proof.steps.len() > 1);
    assert!(proof.worst < 1e-9, "{:e}", proof.worst);
    let text = explanation.to_string();
    for wanted in [
        "before:",
        "after:",
        "push-derivative",
        "replayed: every step keeps the value",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in\n{text}");
    }
    assert_eq!(explanation.before.roots.len(), 1);
    assert!(
        explanation.before.defs.len() < region.defs.len(),
        "what the root does not need is left out"
    );
}

#[test]
fn proofs_of_operators_keep_the_value_at_every_step() {
    let mut replayed = 0;
    for operator in OPERATORS
        .iter()
        .filter(|operator| !operator.name.starts_with("∇⊗∇"))
    {
        let explanation = explain(&operator.region(), 0, &Options::default());
        if let Some(proof) = explanation.proof {
            replayed += 1;
            assert!(proof.worst < 1e-7, "{}: {:e}", operator.name, proof.worst);
        }
    }
    assert!(replayed >= 5, "only {replayed} proofs were small enough");
}
