//! Constant expressions and constants that are given on the command line.

mod typed_support;

use compiler::front::{CheckOptions, tree, tree::Constant};
use ein_ir::Shape;
use typed_support::{check_with, errors, line_of, value_of, with_items};

fn real(x: f64) -> Constant {
    Constant::Tensor(Shape::SCALAR, vec![x])
}

fn vector(x: &[f64]) -> Constant {
    Constant::Tensor(Shape::new([x.len()]), x.to_vec())
}

#[test]
fn ints_are_truncated_and_wrap() {
    for (expr, value) in [
        ("7/2", 3),
        ("-7/2", -3),
        ("-7 % 3", -1),
        ("2147483647 + 1", -2147483648),
        ("65536*65536", 0),
        ("max(3, 4) - min(3, 4)", 1),
        ("|-5|", 5),
        ("3 if 2 > 1 && !(1 == 2) else 4", 3),
        ("length({1, 2, 3} @ 4)", 4),
        ("sum { i*i | i in 1..4 }", 30),
        ("product({2, 3, 7})", 42),
        ("{10, 20, 30}[1]", 20),
        ("N*N", 9),
    ] {
        assert_eq!(
            value_of("const int N = 3;", "int", expr),
            Constant::Int(value),
            "{expr}"
        );
    }
}

#[test]
fn reals_and_tensors_are_computed() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    for (expr, value) in [
        ("1/2", 0.0),
        ("1/2.0", 0.5),
        ("sqrt(2.0)/2", half),
        ("cos(π/4)", std::f64::consts::FRAC_PI_4.cos()),
        ("|[3, 4]|", 5.0),
        ("[1, 2]•[3, 4]", 11.0),
        ("det([[1, 2], [3, 4]])", -2.0),
        ("identity[2][0,0] + zeros[2][1]", 1.0),
        ("2^(-2)", 0.25),
        ("2.0^0.5", std::f64::consts::SQRT_2),
        ("mean { 0.5*i | i in 1..4 }", 1.25),
        ("trace(identity[3])", 3.0),
        ("lerp(1, 3, 0.25)", 1.5),
        ("swap(2, 1, 2.5, 4)", 2.5),
        ("[[1, 2], [3, 4]][1,:][0]", 3.0),
    ] {
        let Constant::Tensor(shape, found) = value_of("", "real", expr) else {
            panic!("{expr} is a real");
        };
        assert!(shape.is_scalar());
        assert!(
            (found[0] - value).abs() < 1e-15,
            "{expr}: {} and {value}",
            found[0]
        );
    }
    assert_eq!(
        value_of("", "vec2", "identity[2]•[1, 2]"),
        vector(&[1.0, 2.0])
    );
    assert_eq!(
        value_of("", "vec3", "[1, 0, 0]×[0, 1, 0]"),
        vector(&[0.0, 0.0, 1.0])
    );
    assert_eq!(value_of("", "real", "-∞"), real(f64::NEG_INFINITY));
    assert_eq!(
        value_of("", "bool", "exists { i > 3 | i in 0..3 } || \"a\" == \"a\""),
        Constant::Bool(true)
    );
}

#[test]
fn constants_stand_for_their_values() {
    let text = with_items("const int N = 2; const real half = 1.0/N; real wanted = half + N;");
    assert_eq!(line_of(&text, "wanted"), "real wanted.0 = add(0.5, 2.0);");
    let text = with_items("const int N = 2; tensor[N,N+1] wanted = zeros[N,3];");
    assert_eq!(
        line_of(&text, "wanted"),
        "tensor[2,3] wanted.0 = (zeros() as tensor[2,3]);"
    );
}

/// The errors of a program whose ints have 64 bits, and its text.
fn long(items: &str) -> (Vec<String>, String) {
    let options = CheckOptions {
        constants: vec![("G".to_owned(), "-3000000000".to_owned())],
        long_int: true,
        ..CheckOptions::default()
    };
    let (tree, diagnostics) = check_with(&with_items(items), &options);
    let text = tree.map(|tree| tree::print(&tree)).unwrap_or_default();
    (errors(&diagnostics), text)
}

#[test]
fn long_ints_have_64_bits() {
    let none: [String; 0] = [];
    let given = "const int G; ";
    for (expr, value) in [
        ("3000000000", "3000000000"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775807 + 1", "-9223372036854775808"),
        ("65536*65536", "4294967296"),
        ("2147483647 + 1", "2147483648"),
        ("G - 1", "-3000000001"),
        ("|G|/2", "1500000000"),
        ("-G % 7", "4"),
        ("-9223372036854775808/(-1)", "-9223372036854775808"),
        ("sum { i*1000000000 | i in 1..4 }", "10000000000"),
        ("product({100000, 100000})", "10000000000"),
        ("min { i | i in 1..0 }", "9223372036854775807"),
        ("length(4000000000..4000000002)", "3"),
        ("swap(2, 1, 5000000000) > 4.0e9", "true"),
    ] {
        let ty = if value == "true" { "bool" } else { "int" };
        let (errors, text) = long(&format!("{given}int used = G; input {ty} wanted = {expr};"));
        assert_eq!(errors, none, "{expr}");
        let line = text.lines().find(|line| line.contains(" wanted."));
        let found = line.and_then(|line| line.split_once(" = "));
        assert_eq!(
            found.map(|(_, value)| value),
            Some(&*format!("{value};")),
            "{expr}"
        );
    }
    let (errors, _) = long("const int G; int x = G + 9223372036854775808;");
    assert_eq!(errors, ["`9223372036854775808` is too large for an int"]);
}

fn given(items: &str, constants: &[(&str, &str)]) -> Vec<String> {
    let constants = constants
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let options = CheckOptions {
        constants,
        ..CheckOptions::default()
    };
    let (_, diagnostics) = check_with(&with_items(items), &options);
    errors(&diagnostics)
}

#[test]
fn given_values_replace_written_ones() {
    let none: [String; 0] = [];
    assert_eq!(
        given("const int N; real[N] x = {1, 2};", &[("N", "2")]),
        none
    );
    assert_eq!(
        given(
            "const int N = 7; real[N] x = {1, 2};",
            &[("N", "7"), ("N", "2")]
        ),
        none
    );
    assert_eq!(
        given("const vec2 v; real x = v[0];", &[("v", "[1, 2]")]),
        none
    );
    assert_eq!(
        given("const string s; bool x = s == \"a\";", &[("s", "a")]),
        none
    );
}

#[test]
fn given_values_must_fit() {
    assert_eq!(
        given("const int N; int x = N;", &[("N", "2.5")]),
        ["`--CN=2.5` is not a value of type `int`: it is of another type"]
    );
    assert_eq!(
        given("const real[2] s; real x = s[0];", &[("s", "{1,oops}")]),
        ["`--Cs={1,oops}` is not a value of type `real[2]`: `oops` is not a value"]
    );
    assert_eq!(
        given("const int N = 1; int x = N;", &[("M", "2")]),
        ["`--CM`: the program has no constant `M`"]
    );
}
