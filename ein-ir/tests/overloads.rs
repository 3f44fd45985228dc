//! The row that an operator means for given argument types, its result type, and the rejection if none fits.

use ein_ir::ops::{Mismatch, OPERATORS, Rejection, candidates, resolve};
use ein_ir::{Continuity, Shape, Type};

fn field(k: u32, dim: usize, dims: &[usize]) -> Type {
    Type::Field {
        continuity: Continuity::Finite(k),
        dim,
        time: None,
        shape: Shape::from(dims),
    }
}

fn image(dim: usize, dims: &[usize]) -> Type {
    Type::Image {
        dim,
        timed: false,
        shape: Shape::from(dims),
    }
}

fn over_time(k: u32, dim: usize, m: u32, dims: &[usize]) -> Type {
    Type::Field {
        continuity: Continuity::Finite(k),
        dim,
        time: Some(Continuity::Finite(m)),
        shape: Shape::from(dims),
    }
}

fn film(dim: usize, dims: &[usize]) -> Type {
    Type::Image {
        dim,
        timed: true,
        shape: Shape::from(dims),
    }
}

fn series(k: u32, dim: usize, dims: &[usize]) -> Type {
    Type::Fem {
        continuity: Continuity::Finite(k),
        dim,
        timed: true,
        shape: Shape::from(dims),
    }
}

fn kernel(k: u32) -> Type {
    Type::Kernel(Continuity::Finite(k))
}

fn kernels(all: &[u32]) -> Type {
    Type::Kernels(all.iter().map(|&k| Continuity::Finite(k)).collect())
}

fn seq(element: Type, length: Option<usize>) -> Type {
    Type::Seq(Box::new(element), length)
}

fn vec(n: usize) -> Type {
    Type::tensor(&[n])
}

const INT: Type = Type::Int;
const REAL: Type = Type::REAL;
const BOOL: Type = Type::Bool;
const STRING: Type = Type::String;

#[test]
fn every_overload_of_the_language_gives_its_type() {
    let strand = || Type::Strand("mote".to_owned());
    let cases = [
        ("+", vec![INT, INT], "add_int", INT),
        ("+", vec![INT, REAL], "add", REAL),
        (
            "+",
            vec![vec(3), field(2, 2, &[3])],
            "add",
            field(2, 2, &[3]),
        ),
        (
            "-",
            vec![field(2, 2, &[]), field(1, 2, &[])],
            "sub",
            field(1, 2, &[]),
        ),
        ("-", vec![INT], "neg_int", INT),
        ("-", vec![field(0, 1, &[2])], "neg", field(0, 1, &[2])),
        ("*", vec![INT, vec(3)], "scale_left", vec(3)),
        (
            "*",
            vec![vec(3), field(1, 3, &[])],
            "scale_right",
            field(1, 3, &[3]),
        ),
        ("/", vec![INT, INT], "div_int", INT),
        ("/", vec![INT, REAL], "divide", REAL),
        (
            "/",
            vec![vec(2), field(1, 2, &[])],
            "divide",
            field(1, 2, &[2]),
        ),
        ("%", vec![INT, INT], "rem_int", INT),
        ("^", vec![INT, INT], "power", REAL),
        ("^", vec![REAL, REAL], "power_real", REAL),
        ("^", vec![field(2, 3, &[]), INT], "power", field(2, 3, &[])),
        ("<", vec![INT, REAL], "less", BOOL),
        ("==", vec![STRING, STRING], "equal_string", BOOL),
        ("&&", vec![BOOL, BOOL], "and", BOOL),
        ("!", vec![BOOL], "not", BOOL),
        ("if", vec![INT, BOOL, REAL], "select", REAL),
        ("if", vec![REAL, BOOL, INT], "select", REAL),
        ("if", vec![STRING, BOOL, STRING], "select", STRING),
        ("π", vec![], "pi", REAL),
        ("|", vec![INT], "abs_int", INT),
        ("|", vec![REAL], "abs", REAL),
        ("|", vec![field(3, 2, &[2, 2])], "norm", field(3, 2, &[])),
        ("abs", vec![field(3, 2, &[])], "abs", field(3, 2, &[])),
        ("•", vec![Type::tensor(&[2, 3]), vec(3)], "inner", vec(2)),
        ("\\dot", vec![vec(3), vec(3)], "inner", REAL),
        (
            "⋅",
            vec![field(2, 2, &[4, 3]), Type::tensor(&[3, 2])],
            "inner",
            field(2, 2, &[4, 2]),
        ),
        (
            ":",
            vec![Type::tensor(&[2, 3, 4]), Type::tensor(&[3, 4])],
            "colon",
            vec(2),
        ),
        ("⊗", vec![vec(2), vec(3)], "outer", Type::tensor(&[2, 3])),
        ("⊗", vec![INT, vec(3)], "outer", vec(3)),
        ("×", vec![vec(3), vec(3)], "cross3", vec(3)),
        (
            "×",
            vec![field(1, 3, &[2]), vec(2)],
            "cross2",
            field(1, 3, &[]),
        ),
        ("modulate", vec![vec(4), vec(4)], "modulate", vec(4)),
        (
            "normalize",
            vec![field(1, 1, &[2])],
            "normalize",
            field(1, 1, &[2]),
        ),
        (
            "trace",
            vec![field(1, 2, &[3, 2, 2])],
            "trace",
            field(1, 2, &[3]),
        ),
        (
            "transpose",
            vec![Type::tensor(&[2, 3])],
            "transpose",
            Type::tensor(&[3, 2]),
        ),
        ("det", vec![Type::tensor(&[3, 3])], "det3", REAL),
        ("inv", vec![INT], "inverse1", REAL),
        (
            "inv",
            vec![field(1, 1, &[2, 2])],
            "inverse2",
            field(1, 1, &[2, 2]),
        ),
        (
            "evals",
            vec![Type::tensor(&[3, 3])],
            "evals3",
            seq(REAL, Some(3)),
        ),
        (
            "evecs",
            vec![Type::tensor(&[2, 2])],
            "evecs2",
            seq(vec(2), Some(2)),
        ),
        (
            "evecs",
            vec![field(2, 1, &[3, 3])],
            "evecs3",
            seq(field(2, 1, &[3]), Some(3)),
        ),
        ("[", vec![INT, REAL, INT], "concat", vec(3)),
        ("[", vec![REAL], "concat", REAL),
        (
            "[",
            vec![field(2, 2, &[3]), field(1, 2, &[3])],
            "concat",
            field(1, 2, &[2, 3]),
        ),
        (
            "concat",
            vec![vec(2), vec(2), vec(2)],
            "concat",
            Type::tensor(&[3, 2]),
        ),
        ("sqrt", vec![INT], "sqrt", REAL),
        ("exp", vec![field(2, 2, &[])], "exp", field(2, 2, &[])),
        ("log", vec![field(2, 2, &[])], "log", field(2, 2, &[])),
        ("floor", vec![REAL], "floor", REAL),
        ("atan2", vec![REAL, INT], "atan2", REAL),
        ("min", vec![INT, INT], "min_int", INT),
        ("max", vec![INT, REAL], "max", REAL),
        (
            "max",
            vec![field(2, 2, &[]), field(3, 2, &[])],
            "max",
            field(2, 2, &[]),
        ),
        ("max", vec![seq(REAL, None)], "greatest", REAL),
        ("real", vec![INT], "int_to_real", REAL),
        ("lerp", vec![INT, INT, INT, INT, INT], "lerp_between", REAL),
        ("lerp", vec![vec(3), vec(3), REAL], "lerp", vec(3)),
        ("clerp", vec![REAL, INT, REAL], "clerp", REAL),
        ("clamp", vec![INT, INT, REAL], "clamp", REAL),
        ("clamp", vec![INT, INT, vec(3)], "clamp_components", vec(3)),
        ("clamp", vec![image(2, &[3])], "clamp_image", image(2, &[3])),
        (
            "swap",
            vec![INT, field(2, 2, &[3]), field(1, 2, &[3])],
            "swap",
            field(1, 2, &[3]),
        ),
        (
            "⊛",
            vec![kernel(2), image(3, &[])],
            "convolve",
            field(2, 3, &[]),
        ),
        (
            "\\conv",
            vec![image(3, &[3]), kernel(4)],
            "convolve_image",
            field(4, 3, &[3]),
        ),
        (
            "KRNS",
            vec![kernel(2), kernel(0)],
            "axis_kernels",
            kernels(&[2, 0]),
        ),
        (
            "⊛",
            vec![kernel(2), film(3, &[3])],
            "convolve",
            over_time(2, 3, 0, &[3]),
        ),
        (
            "⊛",
            vec![kernels(&[2, 1]), film(3, &[])],
            "convolve",
            over_time(2, 3, 1, &[]),
        ),
        (
            "⊛",
            vec![film(2, &[]), kernels(&[4, 2, 1])],
            "convolve_image",
            over_time(2, 2, 1, &[]),
        ),
        (
            "(",
            vec![over_time(1, 3, 0, &[3]), vec(3), REAL],
            "probe_time",
            vec(3),
        ),
        (
            "[time]",
            vec![over_time(1, 3, 2, &[3])],
            "time_derivative",
            over_time(1, 3, 1, &[3]),
        ),
        (
            "∇",
            vec![over_time(1, 3, 2, &[])],
            "gradient",
            over_time(0, 3, 2, &[3]),
        ),
        (
            "+",
            vec![over_time(1, 3, 2, &[]), field(0, 3, &[])],
            "add",
            over_time(0, 3, 2, &[]),
        ),
        (
            "∇×",
            vec![over_time(1, 3, 0, &[3])],
            "curl3",
            over_time(0, 3, 0, &[3]),
        ),
        (
            "∘",
            vec![over_time(2, 2, 1, &[]), field(1, 3, &[2])],
            "compose",
            over_time(1, 3, 1, &[]),
        ),
        (
            "inside",
            vec![vec(3), REAL, over_time(1, 3, 0, &[])],
            "inside_time",
            BOOL,
        ),
        ("frames", vec![film(3, &[])], "frames", INT),
        ("frames", vec![series(1, 3, &[])], "fem_frames", INT),
        (
            "startTime",
            vec![series(1, 2, &[2])],
            "fem_start_time",
            REAL,
        ),
        (
            "toField",
            vec![series(1, 3, &[3])],
            "to_field",
            over_time(1, 3, 0, &[3]),
        ),
        (
            "border",
            vec![series(1, 2, &[]), INT],
            "border_fem",
            series(1, 2, &[]),
        ),
        ("inside", vec![REAL, field(0, 1, &[3])], "inside", BOOL),
        ("inside", vec![INT, field(0, 1, &[3])], "inside", BOOL),
        ("inside", vec![vec(2), field(0, 2, &[3])], "inside", BOOL),
        ("size", vec![image(3, &[])], "image_size", seq(INT, Some(3))),
        (
            "border",
            vec![image(2, &[]), INT],
            "border_image",
            image(2, &[]),
        ),
        ("(", vec![field(1, 3, &[2]), vec(3)], "probe", vec(2)),
        ("(", vec![field(1, 1, &[2]), INT], "probe", vec(2)),
        (
            "∘",
            vec![field(1, 3, &[2]), field(2, 2, &[3])],
            "compose",
            field(1, 2, &[2]),
        ),
        (
            "compose",
            vec![field(3, 1, &[2]), field(2, 3, &[])],
            "compose",
            field(2, 3, &[2]),
        ),
        ("∇", vec![field(2, 3, &[])], "gradient", field(1, 3, &[3])),
        ("∇", vec![field(2, 1, &[])], "gradient", field(1, 1, &[])),
        (
            "∇⊗",
            vec![field(2, 2, &[3])],
            "jacobian",
            field(1, 2, &[3, 2]),
        ),
        (
            "\\jacobian",
            vec![field(2, 1, &[3])],
            "jacobian",
            field(1, 1, &[3]),
        ),
        (
            "∇•",
            vec![field(1, 2, &[3, 2])],
            "divergence",
            field(0, 2, &[3]),
        ),
        (
            "\\div",
            vec![field(1, 1, &[])],
            "divergence",
            field(0, 1, &[]),
        ),
        ("∇×", vec![field(1, 2, &[2])], "curl2", field(0, 2, &[])),
        (
            "\\curl",
            vec![field(1, 3, &[3])],
            "curl3",
            field(0, 3, &[3]),
        ),
        ("..", vec![INT, INT], "range", seq(INT, None)),
        ("{", vec![INT, REAL], "sequence", seq(REAL, Some(2))),
        ("@", vec![INT, seq(REAL, None)], "prepend", seq(REAL, None)),
        ("@", vec![seq(REAL, None), INT], "append", seq(REAL, None)),
        (
            "@",
            vec![seq(INT, Some(2)), seq(REAL, Some(3))],
            "concatenate",
            seq(REAL, None),
        ),
        (
            "@",
            vec![seq(strand(), None), strand()],
            "append",
            seq(strand(), None),
        ),
        ("length", vec![seq(vec(2), Some(3))], "length", INT),
        (
            "[i]",
            vec![seq(vec(2), Some(3)), INT],
            "element_fixed",
            vec(2),
        ),
        ("[i]", vec![seq(STRING, None), INT], "element", STRING),
        ("sum", vec![seq(INT, None)], "sum_int", INT),
        (
            "sum",
            vec![seq(Type::tensor(&[2, 3]), None)],
            "sum",
            Type::tensor(&[2, 3]),
        ),
        ("mean", vec![seq(INT, Some(3))], "mean", REAL),
        ("variance", vec![seq(vec(2), None)], "variance", vec(2)),
        ("all", vec![seq(BOOL, None)], "all", BOOL),
        ("numActive", vec![], "num_active", INT),
        ("{", vec![INT, REAL], "sequence", seq(REAL, Some(2))),
        (
            "{",
            vec![strand(), strand()],
            "sequence",
            seq(strand(), Some(2)),
        ),
        (
            "[",
            vec![INT, field(2, 3, &[])],
            "concat",
            field(2, 3, &[2]),
        ),
        (
            "concat",
            vec![vec(2), field(2, 3, &[2])],
            "concat",
            field(2, 3, &[2, 2]),
        ),
        ("swap", vec![INT, vec(2), vec(2)], "swap", vec(2)),
        (
            "swap",
            vec![INT, INT, field(1, 2, &[])],
            "swap",
            field(1, 2, &[]),
        ),
        ("norm", vec![REAL], "abs", REAL),
        ("norm", vec![field(1, 2, &[2])], "norm", field(1, 2, &[])),
        ("dot", vec![vec(2), vec(2)], "inner", REAL),
        (
            "grad",
            vec![field(1, 2, &[])],
            "gradient",
            field(0, 2, &[2]),
        ),
        (
            "∇²",
            vec![field(2, 3, &[3])],
            "laplacian",
            field(0, 3, &[3]),
        ),
        (
            "SUM",
            vec![field(2, 1, &[3]), seq(REAL, Some(4))],
            "sum_at_points",
            vec(3),
        ),
        (
            "printIR",
            vec![field(2, 1, &[3]), STRING],
            "print_ir_to",
            INT,
        ),
    ];
    for (spelling, args, row, result) in cases {
        let instance = resolve(spelling, &args)
            .unwrap_or_else(|r| panic!("{spelling} of {args:?}: {:?}", r.nearest()));
        assert_eq!(
            (instance.row.name, &instance.result),
            (row, &result),
            "{spelling} of {args:?}"
        );
    }
}

#[test]
fn the_empty_sequence_adapts_to_what_is_wanted() {
    // Whatever its elements are said to be.
    for element in [INT, STRING, vec(7)] {
        let empty = seq(element, Some(0));
        let instance = resolve("@", &[empty.clone(), vec(2)]).expect("an element is appended");
        assert_eq!(
            (instance.row.name, &instance.result),
            ("append", &seq(vec(2), None))
        );
        assert_eq!(instance.args, [seq(vec(2), None), vec(2)]);
        let instance = resolve("@", &[empty.clone(), seq(REAL, None)]).expect("two sequences");
        assert_eq!(
            (instance.row.name, &instance.result),
            ("concatenate", &seq(REAL, None))
        );
        let instance = resolve("if", &[empty.clone(), BOOL, seq(REAL, None)]).expect("a choice");
        assert_eq!(instance.result, seq(REAL, None));
        assert_eq!(resolve("length", &[empty]).expect("a length").result, INT);
    }
}

#[test]
fn coerced_arguments_are_reported() {
    let instance = resolve("*", &[INT, field(1, 2, &[2])]).expect("an integer scales a field");
    assert_eq!(instance.args, [REAL, field(1, 2, &[2])]);
    let instance = resolve("mean", &[seq(INT, Some(2))]).expect("fixed sequences are converted");
    assert_eq!(instance.args, [seq(REAL, None)]);
}

fn nearest(spelling: &str, args: &[Type]) -> Mismatch {
    let rejection: Rejection = resolve(spelling, args).expect_err("must not fit");
    rejection.nearest().expect("a candidate").1.clone()
}

#[track_caller]
fn rejects(spelling: &str, args: &[Type], message: &str) {
    assert_eq!(nearest(spelling, args).to_string(), message);
}

#[test]
fn rejections_say_what_was_found_and_what_was_wanted() {
    rejects(
        "•",
        &[vec(3), vec(2)],
        "argument 2 is of type vec2, wanted tensor[3,…] or a field of such",
    );
    rejects(
        "+",
        &[vec(3), REAL],
        "argument 2 is of type real, wanted vec3 or a field of such",
    );
    rejects(
        "∇",
        &[field(0, 2, &[])],
        "argument 1 is of type field#0(2)[], which has no derivative left to take",
    );
    rejects(
        "∇",
        &[field(2, 2, &[2])],
        "argument 1 is of type field#2(2)[2], wanted field(2)[]",
    );
    rejects(
        "∇⊗",
        &[field(2, 2, &[])],
        "argument 1 is of type field#2(2)[], wanted field(2)[n,…]",
    );
    rejects(
        "∇×",
        &[field(2, 3, &[2])],
        "argument 1 is of type field#2(3)[2], wanted field(3)[3]",
    );
    rejects(
        "∇",
        &[vec(2)],
        "argument 1 is of type vec2, wanted field(d)[]",
    );
    rejects(
        "+",
        &[field(2, 3, &[]), field(2, 2, &[])],
        "argument 2 is of type field#2(2)[], wanted a field in 3 dimensions",
    );
    rejects(
        "(",
        &[field(2, 3, &[]), vec(2)],
        "argument 2 is of type vec2, wanted vec3",
    );
    rejects(
        "evals",
        &[field(2, 3, &[3, 2])],
        "argument 1 is of type field#2(3)[3,2], wanted tensor[2,2] or a field of such",
    );
    rejects("lerp", &[REAL, REAL], "wanted 3 arguments, found 2");
    rejects(
        "mean",
        &[seq(INT, None)],
        "argument 1 is of type int[], wanted tensor[α][]",
    );
    rejects(
        "if",
        &[STRING, BOOL, REAL],
        "argument 3 is of type real, wanted string",
    );
    rejects("&&", &[INT, BOOL], "argument 1 is of type int, wanted bool");
    rejects(
        "load_image",
        &[STRING],
        "the arguments do not determine the type of the result",
    );
}

#[test]
fn what_the_language_does_not_have_is_rejected() {
    let f = || field(2, 2, &[]);
    let cases = [
        ("<", vec![f(), f()]),
        ("==", vec![vec(2), vec(2)]),
        ("if", vec![f(), BOOL, f()]),
        ("*", vec![vec(2), vec(2)]),
        ("floor", vec![f()]),
        ("!", vec![INT]),
        ("..", vec![REAL, INT]),
        ("real", vec![REAL]),
        ("normalize", vec![REAL]),
        ("sum", vec![seq(field(1, 1, &[]), None)]),
        ("{", vec![f(), f()]),
        ("⊛", vec![kernel(1), kernel(1)]),
        ("det", vec![Type::tensor(&[4, 4])]),
        ("∘", vec![field(2, 3, &[]), field(2, 2, &[2])]),
        ("laplacian", vec![field(1, 2, &[])]),
        ("[", vec![field(1, 2, &[]), field(1, 3, &[])]),
        ("swap", vec![REAL, vec(2), vec(2)]),
    ];
    for (spelling, args) in cases {
        assert!(candidates(spelling).next().is_some(), "{spelling}");
        assert!(resolve(spelling, &args).is_err(), "{spelling} of {args:?}");
    }
    assert!(resolve("sinh", &[REAL]).is_err_and(|rejection| rejection.reasons.is_empty()));
}

#[test]
fn rows_of_one_spelling_are_tried_integers_first() {
    for row in &OPERATORS {
        for syntax in row.syntax {
            let rows: Vec<&str> = candidates(syntax.spelling()).map(|row| row.sig).collect();
            let first_real = rows.iter().position(|sig| *sig == "[] [] -> []");
            let int = rows.iter().position(|sig| *sig == "int int -> int");
            if let (Some(real), Some(int)) = (first_real, int) {
                assert!(int < real, "{}", syntax.spelling());
            }
        }
    }
}
