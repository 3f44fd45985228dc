//! The identities of tensor calculus that the normalizer must find, and statements that it must not.

mod common;

use common::{Sketch, V};
use rewrite::{Method, prove};

type Sides = fn(&mut Sketch) -> (V, V);

fn vectors<const N: usize>(s: &mut Sketch) -> [V; N] {
    std::array::from_fn(|k| s.tensor(["a", "b", "c", "d"][k], &[3]))
}

fn matrices<const N: usize>(s: &mut Sketch, n: usize) -> [V; N] {
    std::array::from_fn(|k| s.tensor(["A", "B", "C"][k], &[n, n]))
}

fn f(s: &mut Sketch) -> V {
    s.field("f", 3, &[])
}

fn g(s: &mut Sketch) -> V {
    s.field("g", 3, &[])
}

fn u(s: &mut Sketch) -> V {
    s.field("U", 3, &[3])
}

fn v(s: &mut Sketch) -> V {
    s.field("V", 3, &[3])
}

fn pair_of_rows(s: &mut Sketch) -> (V, V, V) {
    let (p, q) = (s.tensor("p", &[2]), s.tensor("q", &[2]));
    (p, q, s.concat(&[p, q]))
}

#[rustfmt::skip]
const IDENTITIES: &[(&str, Sides)] = &[
    ("trace(a⊗b) = a•b", |s| { let [a, b] = vectors(s); let o = s.outer(a, b); (s.trace(o), s.dot(a, b)) }),
    ("trace(Aᵀ) = trace(A)", |s| { let [a] = matrices(s, 3); let t = s.transpose(a); (s.trace(t), s.trace(a)) }),
    ("(Aᵀ)ᵀ = A", |s| { let [a] = matrices(s, 3); let t = s.transpose(a); (s.transpose(t), a) }),
    ("trace(I) = 3", |s| { let i = s.identity(3); (s.trace(i), s.number(3, 1)) }),
    ("I•a = a", |s| { let [a] = vectors(s); let i = s.identity(3); (s.dot(i, a), a) }),
    ("A•I = A", |s| { let [a] = matrices(s, 3); let i = s.identity(3); (s.dot(a, i), a) }),
    ("I:A = trace(A)", |s| { let [a] = matrices(s, 3); let i = s.identity(3); (s.colon(i, a), s.trace(a)) }),
    ("a×a = 0", |s| { let [a] = vectors(s); let i = s.identity(3); let b = s.dot(i, a); (s.cross(a, b), s.zeros(&[3])) }),
    ("a•(a×b) = 0", |s| { let [a, b] = vectors(s); let c = s.cross(a, b); (s.dot(a, c), s.zeros(&[])) }),
    ("a×b = −b×a", |s| { let [a, b] = vectors(s); let c = s.cross(b, a); (s.cross(a, b), s.neg(c)) }),
    ("a•(b×c) = b•(c×a)", |s| { let [a, b, c] = vectors(s); let (x, y) = (s.cross(b, c), s.cross(c, a)); (s.dot(a, x), s.dot(b, y)) }),
    ("a×(b×c) = b(a•c) − c(a•b)", |s| { let [a, b, c] = vectors(s); let x = s.cross(b, c); let l = s.cross(a, x); let (p, q) = (s.dot(a, c), s.dot(a, b)); let (m, n) = (s.mul(p, b), s.mul(q, c)); (l, s.sub(m, n)) }),
    ("(a×b)•(c×d) = (a•c)(b•d) − (a•d)(b•c)", |s| { let [a, b, c, d] = vectors(s); let (x, y) = (s.cross(a, b), s.cross(c, d)); let l = s.dot(x, y); let (ac, bd, ad, bc) = (s.dot(a, c), s.dot(b, d), s.dot(a, d), s.dot(b, c)); let (p, q) = (s.mul(ac, bd), s.mul(ad, bc)); (l, s.sub(p, q)) }),
    ("Jacobi", |s| { let [a, b, c] = vectors(s); let (x, y, z) = (s.cross(b, c), s.cross(c, a), s.cross(a, b)); let (x, y, z) = (s.cross(a, x), s.cross(b, y), s.cross(c, z)); let xy = s.add(x, y); (s.add(xy, z), s.zeros(&[3])) }),
    ("(a×b)×(c×d) = (a•(b×d))c − (a•(b×c))d", |s| { let [a, b, c, d] = vectors(s); let (x, y) = (s.cross(a, b), s.cross(c, d)); let l = s.cross(x, y); let (bd, bc) = (s.cross(b, d), s.cross(b, c)); let (p, q) = (s.dot(a, bd), s.dot(a, bc)); let (m, n) = (s.mul(p, c), s.mul(q, d)); (l, s.sub(m, n)) }),
    ("Lagrange", |s| { let [a, b] = vectors(s); let x = s.cross(a, b); let n = s.norm(x); let n2 = s.power(n, 2); let ab = s.dot(a, b); let ab2 = s.power(ab, 2); let l = s.add(n2, ab2); let (na, nb) = (s.norm(a), s.norm(b)); let (na, nb) = (s.power(na, 2), s.power(nb, 2)); (l, s.mul(na, nb)) }),
    ("(a⊗b)•c = a(b•c)", |s| { let [a, b, c] = vectors(s); let o = s.outer(a, b); let l = s.dot(o, c); let d = s.dot(b, c); (l, s.mul(d, a)) }),
    ("trace(AB) = trace(BA)", |s| { let [a, b] = matrices(s, 3); let (x, y) = (s.dot(a, b), s.dot(b, a)); (s.trace(x), s.trace(y)) }),
    ("trace(ABC) = trace(CAB)", |s| { let [a, b, c] = matrices(s, 3); let x = s.dot(a, b); let x = s.dot(x, c); let y = s.dot(c, a); let y = s.dot(y, b); (s.trace(x), s.trace(y)) }),
    ("(AB)ᵀ = BᵀAᵀ", |s| { let [a, b] = matrices(s, 3); let x = s.dot(a, b); let (p, q) = (s.transpose(a), s.transpose(b)); (s.transpose(x), s.dot(q, p)) }),
    ("A:B = trace(ABᵀ)", |s| { let [a, b] = matrices(s, 3); let q = s.transpose(b); let x = s.dot(a, q); (s.colon(a, b), s.trace(x)) }),
    ("(Aa)•b = a•(Aᵀb)", |s| { let [m] = matrices(s, 3); let [a, b] = vectors(s); let x = s.dot(m, a); let t = s.transpose(m); let y = s.dot(t, b); (s.dot(x, b), s.dot(a, y)) }),
    ("det(I) = 1", |s| { let i = s.identity(3); (s.det(i), s.number(1, 1)) }),
    ("det3 by rows = (1/6)εεAAA", |s| { let [a] = matrices(s, 3); let x = s.ein("| (Σ i:3. Σ j:3. Σ k:3. Σ l:3. Σ m:3. Σ n:3. ε[i j k] ε[l m n] a[i l] a[j m] a[k n]) / 6", &[a]); (s.det(a), x) }),
    ("det3(Aᵀ) = det3(A)", |s| { let [a] = matrices(s, 3); let t = s.transpose(a); (s.det(t), s.det(a)) }),
    ("det2(Aᵀ) = det2(A)", |s| { let [a] = matrices(s, 2); let t = s.transpose(a); (s.det(t), s.det(a)) }),
    ("∇×∇f = 0", |s| { let f = f(s); let g = s.grad(f); (s.curl(g), s.zeros(&[3])) }),
    ("∇•∇×U = 0", |s| { let u = u(s); let c = s.curl(u); (s.divergence(c), s.zeros(&[])) }),
    ("∇×∇f = 0 in two dimensions", |s| { let f = s.field("f2", 2, &[]); let g = s.grad(f); (s.curl(g), s.zeros(&[])) }),
    ("trace(∇⊗∇f) = Δf", |s| { let f = f(s); let g = s.grad(f); let h = s.grad(g); (s.trace(h), s.laplacian(f)) }),
    ("∇•∇f = Δf", |s| { let f = f(s); let g = s.grad(f); (s.divergence(g), s.laplacian(f)) }),
    ("trace(∇⊗U) = ∇•U", |s| { let u = u(s); let j = s.grad(u); (s.trace(j), s.divergence(u)) }),
    ("the Hessian is symmetric", |s| { let f = f(s); let g = s.grad(f); let h = s.grad(g); (s.transpose(h), h) }),
    ("∇×∇×U = ∇(∇•U) − ΔU", |s| { let u = u(s); let c = s.curl(u); let l = s.curl(c); let d = s.divergence(u); let g = s.grad(d); let la = s.laplacian(u); (l, s.sub(g, la)) }),
    ("∇•(fU) = f∇•U + ∇f•U", |s| { let (f, u) = (f(s), u(s)); let x = s.mul(f, u); let l = s.divergence(x); let d = s.divergence(u); let g = s.grad(f); let (p, q) = (s.mul(f, d), s.dot(g, u)); (l, s.add(p, q)) }),
    ("∇×(fU) = f∇×U + ∇f×U", |s| { let (f, u) = (f(s), u(s)); let x = s.mul(f, u); let l = s.curl(x); let c = s.curl(u); let g = s.grad(f); let (p, q) = (s.mul(f, c), s.cross(g, u)); (l, s.add(p, q)) }),
    ("∇•(U×V) = V•∇×U − U•∇×V", |s| { let (u, v) = (u(s), v(s)); let x = s.cross(u, v); let l = s.divergence(x); let (cu, cv) = (s.curl(u), s.curl(v)); let (p, q) = (s.dot(v, cu), s.dot(u, cv)); (l, s.sub(p, q)) }),
    ("∇×(U×V) = U∇•V − V∇•U + (V•∇)U − (U•∇)V", |s| { let (u, v) = (u(s), v(s)); let x = s.cross(u, v); let l = s.curl(x); let (du, dv) = (s.divergence(u), s.divergence(v)); let (ju, jv) = (s.grad(u), s.grad(v)); let (a, b) = (s.mul(dv, u), s.mul(du, v)); let (c, d) = (s.dot(ju, v), s.dot(jv, u)); let (p, q) = (s.sub(a, b), s.sub(c, d)); (l, s.add(p, q)) }),
    ("∇(U•V) = (U•∇)V + (V•∇)U + U×(∇×V) + V×(∇×U)", |s| { let (u, v) = (u(s), v(s)); let x = s.dot(u, v); let l = s.grad(x); let (ju, jv) = (s.grad(u), s.grad(v)); let (cu, cv) = (s.curl(u), s.curl(v)); let (a, b) = (s.dot(jv, u), s.dot(ju, v)); let (c, d) = (s.cross(u, cv), s.cross(v, cu)); let (p, q) = (s.add(a, b), s.add(c, d)); (l, s.add(p, q)) }),
    ("∇•(U⊗V) = (∇•V)U + (V•∇)U", |s| { let (u, v) = (u(s), v(s)); let x = s.outer(u, v); let l = s.divergence(x); let d = s.divergence(v); let j = s.grad(u); let (a, b) = (s.mul(d, u), s.dot(j, v)); (l, s.add(a, b)) }),
    ("Δ(fg) = fΔg + gΔf + 2∇f•∇g", |s| { let (f, g) = (f(s), g(s)); let x = s.mul(f, g); let l = s.laplacian(x); let (lf, lg) = (s.laplacian(f), s.laplacian(g)); let (df, dg) = (s.grad(f), s.grad(g)); let (a, b, c) = (s.mul(f, lg), s.mul(g, lf), s.dot(df, dg)); let c = s.scaled(2, 1, c); let ab = s.add(a, b); (l, s.add(ab, c)) }),
    ("∇•(∇f×∇g) = 0", |s| { let (f, g) = (f(s), g(s)); let (df, dg) = (s.grad(f), s.grad(g)); let x = s.cross(df, dg); (s.divergence(x), s.zeros(&[])) }),
    ("∇×(f∇g) = ∇f×∇g", |s| { let (f, g) = (f(s), g(s)); let (df, dg) = (s.grad(f), s.grad(g)); let x = s.mul(f, dg); (s.curl(x), s.cross(df, dg)) }),
    ("Δ(∇•U) = ∇•(ΔU)", |s| { let u = u(s); let d = s.divergence(u); let l = s.laplacian(u); (s.laplacian(d), s.divergence(l)) }),
    ("∇×ΔU = Δ(∇×U)", |s| { let u = u(s); let c = s.curl(u); let l = s.laplacian(u); (s.curl(l), s.laplacian(c)) }),
    ("∇(f/g) = (g∇f − f∇g)/g²", |s| { let (f, g) = (f(s), g(s)); let q = s.div(f, g); let l = s.grad(q); let (df, dg) = (s.grad(f), s.grad(g)); let (a, b) = (s.mul(g, df), s.mul(f, dg)); let n = s.sub(a, b); let g2 = s.mul(g, g); (l, s.div(n, g2)) }),
    ("|a||a| = a•a", |s| { let [a] = vectors(s); let n = s.norm(a); (s.mul(n, n), s.dot(a, a)) }),
    ("∇|U| = (∇⊗U)ᵀU/|U|", |s| { let u = u(s); let n = s.norm(u); let l = s.grad(n); let j = s.grad(u); let t = s.transpose(j); let x = s.dot(t, u); (l, s.div(x, n)) }),
    ("normalize(a)•normalize(a) = a•a/(|a||a|)", |s| { let [a] = vectors(s); let n = s.op("normalize", &[a]); let l = s.dot(n, n); let aa = s.dot(a, a); let m = s.norm(a); let mm = s.mul(m, m); (l, s.div(aa, mm)) }),
    ("normalize(a)•a = |a|", |s| { let [a] = vectors(s); let n = s.op("normalize", &[a]); (s.dot(n, a), s.norm(a)) }),
    ("∇ sin f = cos f ∇f", |s| { let f = f(s); let x = s.op("sin", &[f]); let c = s.op("cos", &[f]); let g = s.grad(f); (s.grad(x), s.mul(c, g)) }),
    ("trace([p,q]) = p₀ + q₁", |s| { let (p, q, m) = pair_of_rows(s); let (x, y) = (s.slice(p, &[Some(0)]), s.slice(q, &[Some(1)])); (s.trace(m), s.add(x, y)) }),
    ("det2([p,q]) = p₀q₁ − p₁q₀", |s| { let (p, q, m) = pair_of_rows(s); let x = s.ein("| a[0] b[1] − a[1] b[0]", &[p, q]); (s.det(m), x) }),
    ("[p,q][1] = q", |s| { let (_, q, m) = pair_of_rows(s); (s.slice(m, &[Some(1), None]), q) }),
    ("(a×b)[1] = a₂b₀ − a₀b₂", |s| { let [a, b] = vectors(s); let x = s.cross(a, b); let r = s.ein("| a[2] b[0] − a[0] b[2]", &[a, b]); (s.slice(x, &[Some(1)]), r) }),
    ("transpose(∇⊗U)[2,0] = ∂₂U₀", |s| { let u = u(s); let j = s.grad(u); let t = s.transpose(j); let r = s.ein("| ∂2 a[0]", &[u]); (s.slice(t, &[Some(2), Some(0)]), r) }),
    ("ε contracted with a symmetric pair = 0", |s| { let [a] = matrices(s, 3); let t = s.transpose(a); let y = s.add(a, t); (s.ein("i:3 | Σ j:3. Σ k:3. ε[i j k] a[j k]", &[y]), s.zeros(&[3])) }),
    ("A·adj(A) = det(A)·I, three dimensions", |s| { let [a] = matrices(s, 3); let t = s.trace(a); let a2 = s.dot(a, a); let t2 = s.trace(a2); let tt = s.mul(t, t); let q = s.sub(tt, t2); let q = s.scaled(1, 2, q); let i = s.identity(3); let (m, w) = (s.mul(q, i), s.mul(t, a)); let n = s.sub(m, w); let n = s.add(n, a2); let d = s.det(a); (s.dot(a, n), s.mul(d, i)) }),
    ("A·(tr(A)I − A) = det(A)·I, two dimensions", |s| { let [a] = matrices(s, 2); let t = s.trace(a); let i = s.identity(2); let m = s.mul(t, i); let n = s.sub(m, a); let d = s.det(a); (s.dot(a, n), s.mul(d, i)) }),
    // Beyond the list: inverses, composition, closed-form fields, conditionals, one dimension.
    ("(A⁻¹)⁻¹ = A", |s| { let [a] = matrices(s, 3); let i = s.inverse(a); (s.inverse(i), a) }),
    ("(A⁻¹)⁻¹ = A in two dimensions", |s| { let [a] = matrices(s, 2); let i = s.inverse(a); (s.inverse(i), a) }),
    ("A•A⁻¹ = I", |s| { let [a] = matrices(s, 3); let i = s.inverse(a); (s.dot(a, i), s.identity(3)) }),
    ("A⁻¹•A = I in two dimensions", |s| { let [a] = matrices(s, 2); let i = s.inverse(a); (s.dot(i, a), s.identity(2)) }),
    ("(Aᵀ)⁻¹ = (A⁻¹)ᵀ", |s| { let [a] = matrices(s, 3); let t = s.transpose(a); let i = s.inverse(a); (s.inverse(t), s.transpose(i)) }),
    ("∇⊗M⁻¹ = −M⁻¹•(∇⊗M)•M⁻¹", |s| { let m = s.field("M", 3, &[3, 3]); let i = s.inverse(m); let l = s.grad(i); (l, s.ein("i:3 j:3 k:3 | −(Σ p:3. Σ q:3. a[i p] (∂k b[p q]) a[q j])", &[i, m])) }),
    ("∇(f∘U) = ((∇f)∘U)•(∇⊗U)", |s| { let (f, u) = (f(s), u(s)); let x = s.op("∘", &[f, u]); let l = s.grad(x); let g = s.grad(f); let o = s.op("∘", &[g, u]); let j = s.grad(u); (l, s.dot(o, j)) }),
    ("(f∘U)∘V = f∘(U∘V)", |s| { let (f, u, v) = (f(s), u(s), v(s)); let x = s.op("∘", &[f, u]); let l = s.op("∘", &[x, v]); let y = s.op("∘", &[u, v]); (l, s.op("∘", &[f, y])) }),
    ("∇⊗x = I", |s| { let x = s.ein("i:3 | pos3[i]", &[]); (s.grad(x), s.identity(3)) }),
    ("∇(x•x) = 2x", |s| { let x = s.ein("i:3 | pos3[i]", &[]); let q = s.dot(x, x); (s.grad(q), s.scaled(2, 1, x)) }),
    ("f∘x = f", |s| { let f = f(s); let x = s.ein("i:3 | pos3[i]", &[]); (s.op("∘", &[f, x]), f) }),
    ("∇max(f,g) = ∇f or ∇g", |s| { let (f, g) = (f(s), g(s)); let m = s.op("max", &[f, g]); let l = s.grad(m); let r = s.ein("i:3 | if a < b then ∂i b else ∂i a", &[f, g]); (l, r) }),
    ("(f²)′ = 2ff′ in one dimension", |s| { let f = s.field("f1", 1, &[]); let q = s.mul(f, f); let l = s.grad(q); let d = s.grad(f); let fd = s.mul(f, d); (l, s.scaled(2, 1, fd)) }),
    ("trace(∇⊗∇(f∘U)) needs both derivatives of f", |s| { let f1 = s.field("f1", 1, &[]); let g = g(s); let x = s.op("∘", &[f1, g]); let l = s.laplacian(x); let r = s.ein("| (∂0 ∂0 a)@(b) (Σ s:3. ∂s b ∂s b) + (∂0 a)@(b) (Σ s:3. ∂s ∂s b)", &[f1, g]); (l, r) }),
];

/// How many of the identities stand in ein §11; the others are of our own.
const LISTED: usize = 59;

#[test]
fn all_identities_are_proven_and_most_of_them_by_saturation() {
    let mut by_components = Vec::new();
    for (number, (name, sides)) in IDENTITIES.iter().enumerate() {
        let mut sketch = Sketch::default();
        let (left, right) = sides(&mut sketch);
        let proof = prove(&sketch.region(&[left]), &sketch.region(&[right]));
        assert!(
            proof.is_proven(),
            "{name} is not proven: {} nodes, {} iterations",
            proof.nodes,
            proof.iterations
        );
        if proof.method == Method::Components {
            assert!(number < LISTED, "{name} needs components");
            by_components.push(*name);
        }
    }
    assert!(
        by_components.len() <= 4,
        "needed components: {by_components:?}"
    );
}

#[rustfmt::skip]
const FALSE_STATEMENTS: &[(&str, Sides)] = &[
    ("δ[i,j]a[j] does not reduce to a fixed component", |s| { let [a] = vectors(s); (s.ein("i:3 j:3 | δ[i j] a[j]", &[a]), s.ein("i:3 j:3 | δ[i j] a[0]", &[a])) }),
    ("a row of I times v is not v₀ everywhere", |s| { let [a] = vectors(s); (s.ein("i:3 | δ[0 i] a[i]", &[a]), s.ein("i:3 | a[0]", &[a])) }),
    ("ε : A is not 0 for a general A", |s| { let [a] = matrices(s, 3); (s.ein("i:3 | Σ j:3. Σ k:3. ε[i j k] a[j k]", &[a]), s.zeros(&[3])) }),
    ("modulate(a×b, c×d) is not its own square", |s| { let [a, b, c, d] = vectors(s); let (x, y) = (s.cross(a, b), s.cross(c, d)); (s.op("modulate", &[x, y]), s.op("modulate", &[x, x])) }),
    ("√(x²) is not x", |s| { let x = s.tensor("x", &[]); let q = s.power(x, 2); (s.op("sqrt", &[q]), x) }),
    ("A is not Aᵀ", |s| { let [a] = matrices(s, 3); (a, s.transpose(a)) }),
    ("Σᵢ 1 is not 1", |s| (s.ein("| Σ i:3. 1", &[]), s.number(1, 1))),
    ("a×b is not b×a", |s| { let [a, b] = vectors(s); (s.cross(a, b), s.cross(b, a)) }),
    ("∇⊗U is not symmetric", |s| { let u = u(s); let j = s.grad(u); (j, s.transpose(j)) }),
    ("f∘U is not f", |s| { let (f, u) = (f(s), u(s)); (s.op("∘", &[f, u]), f) }),
    ("max(f,g) is not min(f,g)", |s| { let (f, g) = (f(s), g(s)); (s.op("max", &[f, g]), s.op("min", &[f, g])) }),
    ("A⁻¹ is not A", |s| { let [a] = matrices(s, 2); (s.inverse(a), a) }),
    ("A•(A⁻¹)ᵀ is not I", |s| { let [a] = matrices(s, 2); let i = s.inverse(a); let t = s.transpose(i); (s.dot(a, t), s.identity(2)) }),
    ("0 − T is not T", |s| { let [a] = matrices(s, 3); let z = s.zeros(&[3, 3]); (s.sub(z, a), a) }),
];

#[test]
fn false_statements_are_not_proven() {
    for (name, sides) in FALSE_STATEMENTS {
        let mut sketch = Sketch::default();
        let (left, right) = sides(&mut sketch);
        let proof = prove(&sketch.region(&[left]), &sketch.region(&[right]));
        assert_eq!(proof.method, Method::None, "{name}");
    }
}
