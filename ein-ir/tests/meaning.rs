//! What the reference evaluation and the verifier say about operators and regions: laws of calculus on random
//! polynomial fields, and one operator per kind of violation.

use ein_ir::region::{Def, Region, ValueId};
use ein_ir::{Ein, Input, Jet, LeafField, PolynomialField, Shape, Tensor, random_numbers};

fn ein(text: &str) -> Ein {
    let operator: Ein = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(operator.verify(), [], "{text}");
    operator
}

fn field(dim: usize, dims: &[usize], seed: u64) -> PolynomialField {
    PolynomialField::random(dim, Shape::from(dims), 4, seed)
}

fn position(dim: usize) -> Vec<f64> {
    random_numbers(99).take(dim).collect()
}

#[track_caller]
fn assert_near(found: &Tensor<Jet>, wanted: &Tensor<Jet>) {
    assert_eq!(found.shape(), wanted.shape());
    for (f, w) in found.components().iter().zip(wanted.components()) {
        assert_eq!((f.dim(), f.order()), (w.dim(), w.order()));
        for (f, w) in f.coefficients().iter().zip(w.coefficients()) {
            assert!(
                (f - w).abs() <= 1e-10 * (1.0 + w.abs()),
                "{f} instead of {w}"
            );
        }
    }
}

/// Both operators give the same field for the same leaf fields.
#[track_caller]
fn assert_law(left: &str, right: &str, fields: &[&dyn LeafField], dim: usize) {
    let inputs: Vec<Input> = fields.iter().map(|field| Input::Field(*field)).collect();
    let at = position(dim);
    assert_near(
        &ein(left).expand(&inputs, &at, 2),
        &ein(right).expand(&inputs, &at, 2),
    );
}

#[test]
fn derivatives_obey_the_laws_of_calculus() {
    let (f, u, v) = (field(3, &[], 1), field(3, &[3], 2), field(3, &[3], 3));
    assert_law(
        "λ(f:field(3)[]) i:3 | Σ j:3. Σ k:3. ε[i j k] ∂j ∂k f",
        "λ(f:field(3)[]) i:3 | ∂i (0 f)",
        &[&f],
        3,
    );
    assert_law(
        "λ(f:field(3)[], u:field(3)[3]) | Σ i:3. ∂i (f u[i])",
        "λ(f:field(3)[], u:field(3)[3]) | (Σ i:3. u[i] ∂i f) + (Σ j:3. f ∂j u[j])",
        &[&f, &u],
        3,
    );
    assert_law(
        "λ(u:field(3)[3], v:field(3)[3]) | Σ i:3. ∂i (Σ j:3. Σ k:3. ε[i j k] u[j] v[k])",
        "λ(u:field(3)[3], v:field(3)[3]) | \
         (Σ i:3. v[i] (Σ j:3. Σ k:3. ε[i j k] ∂j u[k])) − (Σ p:3. u[p] (Σ q:3. Σ r:3. ε[p q r] ∂q v[r]))",
        &[&u, &v],
        3,
    );
    assert_law(
        "λ(f:field(3)[]) i:3 | ∂i (exp(f) / (2 + f^2))",
        "λ(f:field(3)[]) i:3 | (exp(f) ∂i f) / (2 + f^2) − (2 f exp(f) ∂i f) / (2 + f^2)^2",
        &[&f],
        3,
    );
}

#[test]
fn probes_at_fields_obey_the_chain_rule() {
    let (f, g) = (field(3, &[2], 4), field(2, &[3], 5));
    assert_law(
        "λ(f:field(3)[2], g:field(2)[3]) i:2 j:2 | ∂j (f[i]@g)",
        "λ(f:field(3)[2], g:field(2)[3]) i:2 j:2 | Σ k:3. ((∂k f[i])@g) (∂j g[k])",
        &[&f, &g],
        2,
    );
    // The place of the inner probe is a field itself: composition is associative.
    let h = field(1, &[2], 6);
    assert_law(
        "λ(f:field(3)[2], g:field(2)[3], h:field(1)[2]) i:2 | (f[i]@g)@h",
        "λ(f:field(3)[2], g:field(2)[3], h:field(1)[2]) i:2 | f[i]@(g[0]@h, g[1]@h, g[2]@h)",
        &[&f, &g, &h],
        1,
    );
}

#[test]
fn the_position_is_the_identity_field() {
    let f = field(2, &[], 7);
    assert_law(
        "λ(f:field(2)[]) | f@(pos2[0], pos2[1])",
        "λ(f:field(2)[]) | f",
        &[&f],
        2,
    );
    assert_law(
        "λ(f:field(2)[]) | f@(pos2[0] + 1, -1/2)",
        "λ(f:field(2)[]) | f@(1 + pos2[0], 3 / -6)",
        &[&f],
        2,
    );
    assert_law(
        "λ() i:3 j:3 | ∂j pos3[i]",
        "λ() i:3 j:3 | δ[i j] + 0 pos3[0]",
        &[],
        3,
    );
    let bowl = ein("λ(c:[]) i:2 | ∂i ((Σ k:2. pos2[k] pos2[k]) + c)");
    let gradient = bowl.expand(&[Input::Tensor(Tensor::scalar(3.0))], &[0.5, -2.0], 0);
    assert_eq!(gradient.map(Jet::value).components(), [1.0, -4.0]);
}

#[test]
fn only_the_chosen_side_counts() {
    let text = "λ() | ∂0 (if pos1[0] < 0 then pos1[0]^2 else sqrt(pos1[0]))";
    let slope = |x: f64| ein(text).expand(&[], &[x], 0)[[]].value();
    assert_eq!(slope(-3.0), -6.0);
    assert_eq!(slope(4.0), 0.25);
    let nan = ein("λ(a:[]) | if a ≤ a then 1 else if a = a then 2 else 3");
    assert_eq!(
        nan.eval(&[Input::Tensor(Tensor::scalar(f64::NAN))])[[]],
        3.0
    );
}

#[test]
fn indices_are_not_what_they_look_like_by_number() {
    let v = || Input::Tensor(Tensor::new(Shape::new([3]), vec![5.0, 7.0, 11.0]));
    let values = |text: &str| ein(text).eval(&[v()]).components().to_vec();
    assert_eq!(values("λ(v:[3]) i:3 | δ[0 i] v[i]"), [5.0, 0.0, 0.0]);
    assert_eq!(
        values("λ(v:[3]) i:3 | Σ j:3. δ[i j] v[j]"),
        [5.0, 7.0, 11.0]
    );
    assert_eq!(values("λ(v:[3]) | Σ j:3. δ[2 j] v[j]"), [11.0]);
    assert_eq!(values("λ(v:[3]) | Σ j:3. v[1]"), [21.0]);
    assert_eq!(values("λ(v:[3]) | Σ j:3. Σ k:3. ε[0 j k] v[j]"), [-4.0]);
    assert_eq!(values("λ(v:[3]) | v[0]^0 + v[1]^-1"), [1.0 + 1.0 / 7.0]);
}

#[test]
fn regions_share_values_and_give_all_roots() {
    let region: Region = "
        input v0: field(2)[]
        input v1: [2]
        v2 = (λ(f:field(2)[]) i:2 | ∂i f)(v0)
        v3 = (λ(f:field(2)[2]) i:2 j:2 | ∂j f[i])(v2)
        v4 = (λ(f:field(2)[2,2], x:[2]) | (Σ k:2. f[k k])@x)(v3, v1)
        v5 = (λ(f:field(2)[2], x:[2]) i:2 | f[i]@x)(v2, v1)
        v6 = (λ(a:[], b:[2]) i:2 | a b[i])(v4, v5)
        return v6, v4"
        .parse()
        .expect("a region");
    assert_eq!(region.verify(), []);
    // f = x²y + 3y²: ∇f = (2xy, x² + 6y), Δf = 2y + 6; at (2, −1): (−4, −2) and 4.
    let f = PolynomialField::new(
        2,
        Shape::SCALAR,
        vec![Jet::from_fn(2, 3, |e| match e {
            [2, 1] => 1.0,
            [0, 2] => 3.0,
            _ => 0.0,
        })],
    );
    let at = Tensor::new(Shape::new([2]), vec![2.0, -1.0]);
    let inputs = [Input::Field(&f), Input::Tensor(at)];
    let roots = region.eval(&inputs);
    assert_eq!(roots[0].components(), [-16.0, -8.0]);
    assert_eq!(roots[1].components(), [4.0]);
    let hessian = region.expand(&inputs, ValueId(3), &[2.0, -1.0], 0);
    assert_eq!(hessian.map(Jet::value).components(), [-2.0, 4.0, 4.0, 6.0]);
}

#[test]
fn eigensystems_have_the_derivatives_of_a_matrix_that_is_known_to_turn() {
    // In the frame turned by the angle t: the eigenvalues 2 + t² and t, and the vectors of that frame.
    let turning = ein("λ() i:2 j:2 |
        let c = cos(pos1[0]). let s = sin(pos1[0]). let p = 2 + pos1[0]^2. let q = pos1[0].
        δ[0 i] δ[0 j] (c^2 p + s^2 q) + δ[1 i] δ[1 j] (s^2 p + c^2 q)
        + (δ[0 i] δ[1 j] + δ[1 i] δ[0 j]) c s (p − q)");
    let of = |part: &str| {
        let def = |op: Ein, args: &[usize]| Def {
            op,
            args: args.iter().copied().map(ValueId).collect(),
        };
        let region = Region {
            inputs: vec![],
            defs: vec![def(turning.clone(), &[]), def(ein(part), &[0])],
            roots: vec![],
        };
        assert_eq!(region.verify(), [], "{part}");
        region.expand(&[], ValueId(1), &[0.5], 3)
    };
    let (t, order) = (Jet::variable(1, 3, 0, 0.5), 3);
    let (c, s) = (
        ein_ir::Elementary::Cos.expand(std::slice::from_ref(&t)),
        ein_ir::Elementary::Sin.expand(std::slice::from_ref(&t)),
    );
    let values = of("λ(a:field(1)[2,2]) k:2 | evals(a)[k]");
    let vectors = of("λ(a:field(1)[2,2]) k:2 i:2 | evecs(a)[k i]");
    let resolvents = of("λ(a:field(1)[2,2]) k:2 i:2 j:2 | resolvents(a)[k i j]");
    let first = &Jet::constant(1, order, 2.0) + &(&t * &t);
    let gap = &first - &t;
    let mut wanted = vec![first, t, c.clone(), s.clone(), -&s, c.clone()];
    // That of the first value is the projector to the second vector over the difference.
    let above = [&(&s * &s) / &gap, -&(&(&c * &s) / &gap), &(&c * &c) / &gap];
    wanted.extend([0, 1, 1, 2].map(|k| above[k].clone()));
    wanted.extend([2, 1, 1, 0].map(|k| match k {
        1 => above[k].clone(),
        _ => -&above[k],
    }));
    for (found, wanted) in values
        .components()
        .iter()
        .chain(vectors.components())
        .chain(resolvents.components())
        .zip(&wanted)
    {
        for (f, w) in found.coefficients().iter().zip(wanted.coefficients()) {
            assert!((f - w).abs() < 1e-13, "{found:?} instead of {wanted:?}");
        }
    }
}

#[track_caller]
fn violates(text: &str, message: &str) {
    let operator: Ein = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    let found: Vec<String> = operator.verify().iter().map(ToString::to_string).collect();
    assert_eq!(found, [message], "{text}");
}

#[test]
fn violations_are_named() {
    violates(
        "λ(a:[3,2]) k:3 | evals(a)[k]",
        "the eigensystem of the shape [3,2] in `evals(a)[i]`",
    );
    violates(
        "λ(a:[2,2]) k:2 | evecs(a)[k]",
        "1 indices instead of 2 in `evecs(a)[i]`",
    );
    violates(
        "λ(a:[2,2]) k:3 | evals(a)[k]",
        "the index i does not have 2 values in `evals(a)[i]`",
    );
    violates(
        "λ(a:[3]) i:2 | a[i]",
        "the index i does not have 3 values in `a[i]`",
    );
    violates(
        "λ(a:[3]) | a[3]",
        "the index 3 does not have 3 values in `a[3]`",
    );
    violates(
        "λ(a:[3,3]) i:3 | a[i]",
        "1 indices for the shape [3,3] in `a[i]`",
    );
    violates(
        "λ() i:3 j:2 | δ[i j]",
        "the index j does not have 3 values in `δ[i j]`",
    );
    violates(
        "λ() i:3 | δ[i 3]",
        "the index 3 does not have 3 values in `δ[i 3]`",
    );
    violates(
        "λ() i:3 j:2 | ε[i j]",
        "the index i does not have 2 values in `ε[i j]`",
    );
    violates(
        "λ() | ε[0 1 2 0]",
        "ε has two or three indices in `ε[0 1 2 0]`",
    );
    violates(
        "λ(a:[]) | ∂0 a",
        "the derivative of something that is not a field in `∂0 a`",
    );
    violates(
        "λ(a:field(2)[]) i:3 | ∂i a",
        "the index i does not have 2 values in `∂i a`",
    );
    violates(
        "λ(a:field(2)[], b:field(3)[]) | a + b",
        "fields of different dimensions in `a + b`",
    );
    violates(
        "λ(a:field(2)[], b:[]) | a@(b)",
        "1 coordinates for another dimension in `a@(b)`",
    );
    violates(
        "λ() | pos3[3]",
        "the index 3 does not have 3 values in `pos3[3]`",
    );
    violates(
        "λ() | pos4[0]",
        "a domain has 1 to 3 dimensions in `pos4[0]`",
    );
    violates(
        "λ(a:[]) | pow(a)",
        "1 arguments for a function of 2 in `pow(a)`",
    );
    violates("λ() | Σ s0:2. Σ s0:2. 1", "two sums bind s0 in `Σ s0:2. 1`");
    violates("λ() | Σ k:0. 1", "a sum over nothing in `Σ s0:0. 1`");
}

#[test]
fn every_violation_is_given() {
    let operator: Ein = "λ(a:[3]) i:2 | a[i] + a[i i] + ∂0 a[0]"
        .parse()
        .expect("an operator");
    assert_eq!(operator.verify().len(), 4, "{:?}", operator.verify());
    let out_of_scope = Ein {
        axes: Vec::new(),
        ..operator
    };
    assert!(
        out_of_scope
            .verify()
            .iter()
            .any(|v| v.message == "the index i is not in scope")
    );
}

#[test]
fn a_tensor_is_a_constant_field() {
    let region: Region = "
        input v0: [2]
        v1 = (λ(f:field(3)[2]) i:2 j:3 | f[i] + ∂j f[i])(v0)
        v2 = (λ(f:field(3)[2,3]) i:2 j:3 | f[i j]@(1, 2, 3))(v1)
        return v2"
        .parse()
        .expect("a region");
    assert_eq!(region.verify(), []);
    let values = region.eval(&[Input::Tensor(Tensor::new(Shape::new([2]), vec![5.0, 7.0]))]);
    assert_eq!(values[0].components(), [5.0, 5.0, 5.0, 7.0, 7.0, 7.0]);
}

#[test]
fn regions_must_use_what_exists_as_what_it_is() {
    let region: Region = "
        input v0: [3]
        v1 = (λ(a:[2]) | a[0])(v0)
        v2 = (λ(a:[]) | a)(v3)
        v3 = (λ(a:[]) | a)(v1, v1)
        v4 = (λ(a:[]) | a)(v9)
        return v5"
        .parse()
        .expect("a region");
    let found: Vec<String> = region.verify().iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "v0 is [3] but the parameter is [2] in `v1`",
            "v3 is not defined yet in `v2`",
            "2 arguments for 1 parameters in `v3`",
            "there is no v9 in `v4`",
            "there is no v5 in `return`",
        ]
    );
}
