//! Programs that must be accepted: the sample programs, and every construct in both versions.

mod typed_support;

use compiler::front::tree;
use std::{fs, path::Path};
use typed_support::{accept, check, errors, with_items, with_update};

#[test]
fn the_sample_programs_have_no_errors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/language");
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut count = 0;
    for entry in entries {
        let path = entry.expect("the entry can be read").path();
        let text = fs::read_to_string(&path).expect("the program is UTF-8 text");
        let (tree, diagnostics) = check(&text);
        assert!(
            tree.is_some(),
            "{}: {:#?}",
            path.display(),
            errors(&diagnostics)
        );
        count += 1;
    }
    assert!(count >= 6);
}

#[test]
fn a_small_program_has_this_tree() {
    let text = "#version 2.0
        input real scale (\"a factor\") = 1/2.0;
        field#2(2)[] F = bspln3 ⊛ clamp(load_image(\"f.nrrd\"));
        function real twice (real x) { return 2*x; }
        strand S (int i, real y) {
            output real best = 0;
            vec2 pos = [i, y];
            update {
                foreach (S q in sphere(scale)) { best += q.best; }
                if (!inside(pos, F)) { stabilize; } else { best = twice(∇F(pos)[0]); }
                pos += [1, 0];
            }
        }
        update {
            real most = max { q.best | q in S.active };
            if (most > 3) stabilize;
        }
        create_collection { S(i, i) | i in 0..9 }";
    let expected = "\
input real scale.0 (\"a factor\") = 0.5;
field#2(2)[] F.1 = convolve(bspln3, clamp_image((load_image(\"f.nrrd\") as image(2)[])));
function real twice(real x.2) {
    return scale_left(2.0, x.2);
}
strand S(int i.3, real y.4) {
    output real best.5 = 0.0;
    vec2 pos.6 = concat((i.3 as real), y.4);
    update {
        foreach (S q.7 in (sphere(scale.0) as S[])) {
            best.5 = add(best.5, q.7.best.5);
        }
        if (not(inside(pos.6, F.1))) {
            stabilize;
        } else {
            best.5 = twice(probe(gradient(F.1), pos.6)[0]);
        }
        pos.6 = add(pos.6, concat(1.0, 0.0));
    }
}
update {
    real most.10 = greatest({ q.9.best.5 | q.9 in S.active });
    if (greater(most.10, 3.0)) {
        stabilize;
    }
}
create_collection { S(i.8, (i.8 as real)) | i.8 in range(0, 9) }
";
    let printed = tree::print(&accept(text));
    assert_eq!(printed, expected);
}

/// Lines at the top level that are right together.
const ITEMS: &[&str] = &[
    "const int N = 3; const bool b = N > 2; const string s = \"x\"; const real[N] w = {1, 2, 3}; real y = w[N - 1] if b else 0;",
    "input image(2)[] pic; field#2(2)[] F = bspln3 ⊛ pic; field#1(2)[] G = F;",
    "field#2(2)[] A = (bspln3 ⊛ load_image(\"a.nrrd\")) + (bspln3 ⊛ load_image(\"b.nrrd\"))/2;",
    "field#1(2)[2] A = -∇(bspln3 ⊛ mirror(load_image(\"a.nrrd\")));",
    "field#2(2)[2] A = [bspln3 ⊛ load_image(\"a.nrrd\"), bspln3 ⊛ wrap(load_image(\"b.nrrd\"))];",
    "field#2(2)[] A = bspln3 ⊛ border(load_image(\"a.nrrd\"), 0);",
    "image(3)[2] v = load_image(\"v.nrrd\"); int[3] n = size(v); field#0(3)[2] A = v ⊛ tent;",
    "kernel#4 h = c4hexic; kernel#3 g = h#3; function kernel#1 smooth () = tent#1; kernel#1 k = smooth();",
    "real[] s = {}; real[0] t = {}; real[] u = s @ 1 @ {2, 3} if length(s) > 0 else {}; string[] w = {};",
    "real a; vec2[] b; initialize { a = 1; if (a > 0) { b = {[1, 2]}; } else { b = {}; } }",
    "function real f (field#1(2)[] F, vec2 x) = |∇F(x)|; field#2(2)[] B (p) = p•p; real y = f(B, [1, 2]);",
    "function real[] g (real[] s, int n) { real[] t = s; foreach (int i in 0..n-1) { t = t @ s[i]; } return t; } real[] y = g({1, 2}, 2);",
    "function bool all (bool x) = x; bool y = all(true); function real sqrt (real x) = x; real z = sqrt(4);",
    "vec2[] pts = {[0, 0], [1, 1]}; field#2(2)[] B (p) = p•p; field#1(2)[] M (x) = max { B(x + y) | y in pts };",
    "input real c = 1; field#1(2)[] M (x) = x[0] if x[0] < c else |x|^2; field#0(2)[2] D = ∇M;",
    "input int n = 2; field#1(1)[] P (t) = t^n + sin(t); field#0(1)[] D = ∇P; real y = D(n);",
    "field#2(2)[] B (p) = p•p; field#2(2)[] C (p) = B(p + [1, 0]) + B(2*p);",
    "real φ' = 1; real π2 = 2*π; int length = 7; int sum = length; real size = φ'; real exp = size;",
    "int y = printIR(1.5) + printIR([1, 2], \"file\");",
    "vec2[2] pts = {[0, 0], [1, 1]}; field#2(2)[2] B (p) = p; vec2 y = SUM(B, pts); real z = MAX(B[0], pts) - MIN(B[1], pts);",
    "image(2)[] v = load_image(\"v.nrrd\"); field#1(2)[] F = KRNS(bspln3, ctmr) ⊛ v; kernel#2 h = KRNS(bspln3, bspln3);",
    "tensor[2,3,4] t = zeros[2,3,4]; mat3 m = t[0,:,:] • transpose(t[1,:,:]); vec4 v = [1, 2, 3, 4]; mat4 n = v⊗v; mat2 o = [[1, 0], [0, 1]];",
    "tensor[4] v = [1, 2, 3, 4]; bool y = |v| != 3 && v[0] == 1 || \"a\" != \"b\" && true == !false;",
    "real[2][] pairs = {{1, 2}, {3, 4}}; real y = pairs[1][0]; int[2][3] triple = {{1, 2}, {3, 4}, {5, 6}};",
    "field(2)[] smooth (p) = exp(p[0]); field#7(2)[] less = smooth; field(2)[2] d = ∇smooth; field#5(2)[2] e = ∇less;",
];

#[test]
fn every_construct_of_the_top_level_is_accepted() {
    for items in ITEMS {
        accept(&with_items(items));
    }
}

/// Bodies of an update method that are right.
const UPDATES: &[&str] = &[
    "stabilize;",
    "if (x > 1) die; else if (x > 2) { stabilize; } else continue;",
    "new S(i + 1); x += 1; x -= 2; x *= 3; x /= 4; int k = 7; k %= 3; pos *= 2; pos /= x; x = k; stabilize;",
    "S[] near = sphere(1); foreach (S q in near) { x += |q.pos - pos|; } S first = near[0]; x = first.x; stabilize;",
    "x = sum { |q.pos| | q in sphere(pos + [1, 0], 2) } + length({ q | q in sphere(1) }); stabilize;",
    "print(\"a\", 1, 2.5, [1, 2], {1, 2}, true); print(); x = numActive() + numStable() + numStrands(); stabilize;",
    "real y; if (x > 0) { y = 1; } else { y = 2; } x = y; { real y = 3; x = y; } stabilize;",
    "real y; if (x > 0) { stabilize; } else { y = 2; } x = y;",
    "foreach (int k in 0..3) { foreach (real r in {1.0, 2.0}) { x += k*r; if (x > 3) stabilize; } }",
    "field#2(2)[] B = bowl; vec2 g = ∇B(pos); x = |g| + (bowl + 1)(pos); kernel#2 h = bspln3; stabilize;",
    "x += 1 if x > 0 else 0; x = (1 if x > 2 else 0.5) + x; stabilize;",
    "int pos = 3; x = pos; stabilize;",
];

#[test]
fn every_statement_is_accepted() {
    for update in UPDATES {
        accept(&with_update("field#2(2)[] bowl (p) = p•p;", update));
    }
}

#[test]
fn a_program_with_every_block_is_accepted() {
    accept(
        "#version 2.0
        input real[] seeds = load_sequence(\"seeds.txt\");
        real total;
        initialize { total = sum(seeds); print(total); }
        strand S (real x) {
            real best;
            output real y;
            output int n = 0;
            initialize { y = x; }
            start { best = y; if (x < 0) { die; } }
            update { best = max(best, y); y += total; n += 1; if (n > 3) { stabilize; } }
            stabilize { y = best; }
        };
        start { total = numStrands(); }
        update {
            total = mean { q.y | q in S.all } + variance { q.best | q in S.stable };
            bool done = all { q.n > 2 | q in S.active } || exists { q.y > 10 | q in S.all };
            if (done) { stabilize; } else { continue; }
        }
        create_collection { S(x) | x in seeds };",
    );
}

#[test]
fn the_older_version_is_accepted() {
    accept(
        "input vec2{} pts;
        input real{3} w = {1, 2, 3};
        field#1(2)[] F = ctmr ⊛ image(\"f.nrrd\");
        function real f (vec2 p) { if (inside(p, F)) return F(p); else return 0; }
        strand S (int i, int j) {
            vec2 p = pts{i};
            output vec2{} path = {p};
            output real y = w{j} + evals(identity[2]){0} + w[0];
            update {
                y = f(p);
                path = path @ p;
                foreach (vec2 q in pts) p = p + q;
                if (y > 1) stabilize;
            }
        }
        global { real most = max { q.y | q in S.all }; if (most > 10) stabilize; }
        initially [ S(i, j) | i in 0..length(pts)-1, j in 0..2 ];",
    );
}

#[test]
fn a_syntax_error_does_not_bring_errors_about_what_it_hides() {
    let text = with_items("real gone = = 2; real y = gone + 1; vec2 z = 1.5;");
    let (tree, diagnostics) = check(&text);
    let errors = errors(&diagnostics);
    assert!(tree.is_none());
    assert!(
        errors
            .iter()
            .any(|message| message.starts_with("the value of `z`")),
        "{errors:#?}"
    );
    assert!(
        !errors.iter().any(|message| message.contains("undeclared")),
        "{errors:#?}"
    );
}
