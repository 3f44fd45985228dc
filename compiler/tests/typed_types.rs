//! The types that expressions get: overloads, conversions, continuity, shapes.

mod typed_support;

use typed_support::{line_of, type_of, with_items};

const FIELDS: &str = "
    image(2)[] pic = load_image(\"pic.nrrd\");
    image(3)[3] flow = load_image(\"flow.nrrd\");
    image(1)[3] ramp = load_image(\"ramp.nrrd\");
    field#2(2)[] F = bspln3 ⊛ pic;
    field#1(2)[] G = ctmr ⊛ pic;
    field#4(3)[3] V = c4hexic ⊛ flow;
    field#0(1)[3] R = tent ⊛ clamp(ramp);
    field#2(1)[] L (t) = t*t;
    field(2)[2] W (p) = [-p[1], p[0]];
    input int n = 3;
    input real r = 0.5;
    input vec2 u = [1, 2];
    input vec3 v = [1, 2, 3];
    input mat3 m = identity[3];
    input real[] reals;
    input int[3] ints = {1, 2, 3};
    input bool yes = true;";

#[track_caller]
fn all_have(ty: &str, exprs: &[&str]) {
    for expr in exprs {
        assert_eq!(type_of(FIELDS, expr), ty, "{expr}");
    }
}

#[test]
fn arithmetic_prefers_ints_and_converts_to_reals() {
    all_have(
        "int",
        &[
            "1 + 2",
            "n*2",
            "7/2",
            "n % 2",
            "-n",
            "|n|",
            "max(n, 2)",
            "n - 1 if yes else 2",
        ],
    );
    all_have(
        "real",
        &[
            "1 + 2.0",
            "n*0.5",
            "2^3",
            "r^n",
            "r^2",
            "2^r",
            "real(n)",
            "|r|",
            "max(n, r)",
            "1 if yes else 0.5",
        ],
    );
    all_have(
        "vec2",
        &[
            "2*u",
            "u/2",
            "u + u",
            "-u",
            "u*r",
            "modulate(u, u)",
            "lerp(u, u, 1)",
            "clamp(0, 1, u)",
        ],
    );
}

#[test]
fn products_contract_what_they_should() {
    all_have("real", &["u•u", "m:m", "u×u", "trace(m)", "det(m)", "|m|"]);
    all_have("vec3", &["m•v", "v•m", "v×v", "normalize(v)"]);
    all_have(
        "tensor[3,3]",
        &[
            "m•m",
            "v⊗v",
            "transpose(m)",
            "inv(m)",
            "identity[3]",
            "zeros[3,3]",
        ],
    );
    all_have("tensor[2,3]", &["u⊗v", "[v, v]", "nan[2,3]"]);
    all_have("vec3[3]", &["evecs(m)"]);
    all_have("real[3]", &["evals(m)"]);
}

#[test]
fn derivatives_append_an_axis_and_lower_continuity() {
    all_have("field#1(2)[2]", &["∇F", "F*∇F", "∇(F + F)"]);
    all_have("field#0(2)[2,2]", &["∇⊗∇F"]);
    all_have("field#3(3)[3,3]", &["∇⊗V"]);
    all_have("field#3(3)[3]", &["∇×V"]);
    all_have("field#3(3)[]", &["∇•V"]);
    all_have("field#2(3)[3]", &["∇(∇•V)"]);
    all_have("field(2)[]", &["∇×W", "∇•W"]);
}

#[test]
fn derivatives_of_fields_on_a_line_keep_the_shape() {
    all_have("field#1(1)[]", &["∇L"]);
    all_have("field#0(1)[]", &["∇∇L"]);
    all_have("real", &["L(1)", "∇L(r)"]);
}

#[test]
fn lifted_operators_take_the_least_continuity() {
    all_have(
        "field#1(2)[]",
        &["F + G", "G*F", "F/G", "[F, G][0]", "max(F, G)", "G - F"],
    );
    all_have(
        "field#2(2)[]",
        &[
            "F + 1",
            "2*F",
            "F/n",
            "F^2",
            "sqrt(F)",
            "-F",
            "|F|",
            "sin(F)*cos(F)",
            "u•(F*u)",
        ],
    );
    all_have("field#1(2)[2]", &["[F, G]", "concat(G, F)", "u*G", "G*W"]);
    all_have("field#2(2)[2,2]", &["u⊗(F*u)", "[F*u, W]", "[u, F*u]"]);
    all_have("field#1(2)[3]", &["[F, 1.0, G]", "concat(n, F, G)"]);
    all_have(
        "field#1(2)[]",
        &[
            "F ∘ (G*W)",
            "swap(n, F, G)",
            "swap(n, 1, G)",
            "compose(F, G*W)",
        ],
    );
    all_have("field#4(3)[]", &["V[0]", "|V|", "V•V", "V•v"]);
}

#[test]
fn a_choice_by_number_takes_tensors() {
    all_have("vec2", &["swap(n, u, [1, 2])", "swap(2, 2*u, u, u)"]);
    all_have("real", &["swap(n, 1, 2.5)"]);
}

#[test]
fn a_derivative_of_a_call_is_that_of_what_the_function_gives() {
    all_have("field#1(2)[2]", &["∇exp(F)", "∇sqrt(F*F)", "∇(exp(F))"]);
    all_have("field#2(3)[3]", &["∇det(∇⊗V)"]);
    all_have("field#2(3)[3,3,3]", &["∇⊗inv(∇⊗V)"]);
    all_have("field#0(2)[2,2]", &["∇⊗∇exp(F)"]);
    all_have("vec2", &["∇exp(F)(u)", "∇|W|(u)"]);
    all_have("field#0(2)[2]", &["∇min(F, G)"]);
}

#[test]
fn operators_have_names_that_can_be_typed() {
    all_have("field#1(2)[2]", &["grad(F)", "\\grad F"]);
    all_have(
        "field#0(2)[]",
        &["laplacian(F)", "∇²F", "\\laplacian F", "div(grad(F))"],
    );
    all_have(
        "field#2(3)[3]",
        &["laplacian(V)", "grad(div(V))", "curl(curl(V))"],
    );
    all_have("field#0(1)[]", &["laplacian(L)", "∇∇L"]);
    all_have("real", &["norm(u)", "norm(r)", "dot(u, u)", "cross(u, u)"]);
    all_have("tensor[2,3]", &["outer(u, v)"]);
}

#[test]
fn probes_give_values() {
    all_have(
        "real",
        &[
            "F(u)",
            "∇F(u)•u",
            "swap(1, F, G)(u)",
            "(F + G)([1, 2])",
            "V(v)[0]",
            "V[0](v)",
        ],
    );
    all_have("vec3", &["V(v)", "R(r)", "R(1)", "∇×V(v)"]);
    all_have("bool", &["inside(u, F)", "inside(v, V)", "inside(0.5, R)"]);
}

#[test]
fn sequences_have_the_common_type_of_their_elements() {
    all_have("int[2]", &["{1, n}"]);
    all_have("real[2]", &["{1, 0.5}", "{0.5, 1}"]);
    all_have("int[2][2]", &["{{1, 2}, {3, 4}}"]);
    all_have(
        "int[]",
        &[
            "0..n",
            "{ 2*i | i in 0..n }",
            "ints @ 1",
            "0 @ ints",
            "ints @ ints",
        ],
    );
    all_have(
        "real[]",
        &[
            "reals @ r",
            "reals @ 1",
            "{ 0.5*i | i in ints }",
            "reals @ {}",
            "{} @ reals",
        ],
    );
    all_have("vec2[]", &["{ [i, i] | i in 0..3 }"]);
    all_have(
        "int",
        &[
            "length(reals)",
            "length(ints)",
            "ints[0]",
            "length({})",
            "size(pic)[0]",
        ],
    );
}

#[test]
fn reductions_take_sequences_and_comprehensions() {
    all_have(
        "int",
        &[
            "sum { 1 | i in ints }",
            "sum(ints)",
            "product(ints)",
            "max { i | i in 0..3 }",
            "min(ints)",
        ],
    );
    all_have(
        "real",
        &[
            "sum(reals)",
            "mean { 0.5*i | i in ints }",
            "max({ x | x in reals })",
            "variance(reals)",
        ],
    );
    all_have(
        "vec2",
        &[
            "sum { [i, i] | i in ints }",
            "mean { u | i in ints }",
            "variance { u | i in ints }",
        ],
    );
    all_have(
        "bool",
        &["all { i > 0 | i in ints }", "exists { x < 0 | x in reals }"],
    );
}

#[test]
fn slices_keep_the_axes_that_are_not_selected() {
    all_have(
        "vec3",
        &["m[0,:]", "m[:,1]", "m[:,:][0,:]", "(∇⊗V)[1,:](v)"],
    );
    all_have("real", &["m[0,0]", "u[1]", "(v⊗m)[0,1,2]"]);
    all_have("tensor[3,3]", &["(v⊗m)[:,1,:]"]);
    all_have("field#4(3)[]", &["V[2]"]);
}

#[test]
fn conversions_are_explicit_in_the_tree() {
    let line = |item: &str| line_of(&with_items(&format!("{FIELDS}\n{item}")), "wanted");
    let var = |text: &str| {
        // Variables carry numbers that depend on the definitions before them.
        let mut out = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let after_name = c == '.' && out.ends_with(|last: char| last.is_alphabetic());
            if after_name && chars.peek().is_some_and(char::is_ascii_digit) {
                while chars.peek().is_some_and(char::is_ascii_digit) {
                    chars.next();
                }
            } else {
                out.push(c);
            }
        }
        out
    };
    assert_eq!(
        var(&line("real wanted = n + 1;")),
        "real wanted = (add_int(n, 1) as real);"
    );
    assert_eq!(
        var(&line("real wanted = n + 0.5;")),
        "real wanted = add((n as real), 0.5);"
    );
    assert_eq!(var(&line("real wanted = 1;")), "real wanted = 1.0;");
    assert_eq!(
        var(&line("real[] wanted = {1, n};")),
        "real[] wanted = (sequence(1.0, (n as real)) as real[]);"
    );
    assert_eq!(
        var(&line("field#0(2)[] wanted = F;")),
        "field#0(2)[] wanted = (F as field#0(2)[]);"
    );
    assert_eq!(
        var(&line("vec2 wanted = [n, 1];")),
        "vec2 wanted = concat((n as real), 1.0);"
    );
    assert_eq!(
        var(&line("real wanted = L(n);")),
        "real wanted = probe(L, (n as real));"
    );
    assert_eq!(
        var(&line("real wanted = 2^n;")),
        "real wanted = power(2.0, n);"
    );
    assert_eq!(
        var(&line("real wanted = n^(-3) if yes else 0;")),
        "real wanted = select(power((n as real), -3), yes, 0.0);"
    );
}
