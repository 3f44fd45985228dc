//! What operators and their surroundings say about each other's types, where the arguments alone do not tell.

use ein_ir::ops::{resolve, resolve_as, spelling, wanted};
use ein_ir::{Continuity, Shape, Type};

const INT: Option<Type> = Some(Type::Int);
const REAL: Option<Type> = Some(Type::REAL);
/// An unknown type.
const OPEN: Option<Type> = None;

fn field(dim: usize, dims: &[usize]) -> Option<Type> {
    Some(Type::Field {
        continuity: Continuity::Infinite,
        dim,
        time: None,
        shape: Shape::from(dims),
    })
}

fn image(dim: usize, dims: &[usize]) -> Option<Type> {
    Some(Type::Image {
        dim,
        timed: false,
        shape: Shape::from(dims),
    })
}

fn vec(n: usize) -> Option<Type> {
    Some(Type::tensor(&[n]))
}

fn kernel() -> Option<Type> {
    Some(Type::Kernel(Continuity::Finite(2)))
}

fn reals() -> Option<Type> {
    Some(Type::Seq(Box::new(Type::REAL), None))
}

/// An operator with the known types of its arguments; the argument in question; the type that is wanted of the result; and
/// the type that the argument should have.
#[track_caller]
fn check<const N: usize>(
    spelling: &'static str,
    args: [Option<Type>; N],
    at: usize,
    result: Option<Type>,
    expected: Option<Type>,
) {
    let known: Vec<Option<&Type>> = args.iter().map(Option::as_ref).collect();
    let found = wanted(spelling, &known, at, result.as_ref());
    assert_eq!(found, expected, "{spelling} of {args:?}, argument {at}");
}

#[test]
fn derivatives_take_back_the_axis_they_add() {
    check("∇", [OPEN], 0, field(3, &[3]), field(3, &[]));
    check("∇", [OPEN], 0, field(1, &[]), field(1, &[]));
    check("∇⊗", [OPEN], 0, field(3, &[2, 3]), field(3, &[2]));
    check("∇⊗", [OPEN], 0, field(3, &[2]), OPEN);
    check("∇•", [OPEN], 0, field(3, &[3]), field(3, &[3, 3]));
    check("∇×", [OPEN], 0, field(2, &[]), field(2, &[2]));
    check("∇²", [OPEN], 0, field(2, &[3]), field(2, &[3]));
}

#[test]
fn products_ask_for_a_number_beside_a_tensor() {
    let wanted = || field(2, &[2]);
    check("*", [REAL, OPEN], 1, wanted(), field(2, &[2]));
    check("*", [vec(2), OPEN], 1, wanted(), field(2, &[]));
    check("*", [OPEN, OPEN], 1, wanted(), OPEN);
    check("+", [OPEN, field(2, &[3])], 0, OPEN, field(2, &[3]));
}

#[test]
fn files_have_the_types_that_their_surroundings_need() {
    check("⊛", [kernel(), OPEN], 1, field(2, &[3]), image(2, &[3]));
    check("⊛", [OPEN, kernel()], 0, field(2, &[3]), image(2, &[3]));
    check("clamp", [OPEN], 0, image(2, &[3]), image(2, &[3]));
    check("[", [OPEN, OPEN], 1, field(2, &[2, 3]), field(2, &[3]));
    check("[", [OPEN, OPEN], 1, field(2, &[3, 3]), OPEN);
    check("swap", [INT, OPEN], 1, field(2, &[]), field(2, &[]));
    check("@", [OPEN, REAL], 0, OPEN, reals());
    check("@", [OPEN, reals()], 0, OPEN, reals());
    check("@", [REAL, OPEN], 1, reals(), reals());
    check("sum", [OPEN], 0, REAL, reals());
    check("length", [OPEN], 0, INT, OPEN);
}

#[test]
fn a_position_says_the_dimension_also_where_it_leaves_no_axis() {
    check("(", [OPEN, vec(2)], 0, vec(3), field(2, &[3]));
    check("(", [OPEN, REAL], 0, vec(3), field(1, &[3]));
    check("(", [OPEN, OPEN], 0, vec(3), OPEN);
}

#[test]
fn what_rows_do_not_agree_on_is_not_guessed() {
    check("sqrt", [OPEN], 0, REAL, OPEN);
    check("|", [OPEN], 0, field(2, &[]), OPEN);
    // An error in one argument does not hide another.
    check("⊛", [REAL, OPEN], 1, field(2, &[]), image(2, &[]));
}

fn seq(element: Type, length: Option<usize>) -> Type {
    Type::Seq(Box::new(element), length)
}

#[test]
fn surroundings_determine_what_the_arguments_leave_open() {
    let strands = seq(Type::Strand("mote".to_owned()), None);
    let picture = image(2, &[3]).expect("a type");
    for (spelling, args, like) in [
        ("load_image", vec![Type::String], picture),
        (spelling::IDENTITY, vec![], Type::tensor(&[3, 3])),
        ("sphere", vec![Type::Int], strands),
    ] {
        assert!(resolve(spelling, &args).is_err(), "{spelling}");
        let instance = resolve_as(spelling, &args, Some(&like));
        assert_eq!(instance.expect("fits").result, like, "{spelling}");
    }
}

#[test]
fn what_the_surroundings_would_like_counts_only_if_nothing_else_decides() {
    let sides = |a: Type, b: Type| [a, Type::Bool, b];
    let strings = seq(Type::String, None);
    let fitting = sides(seq(Type::Int, Some(1)), seq(Type::REAL, None));
    let instance = resolve_as(spelling::SELECT, &fitting, Some(&strings));
    assert_eq!(
        instance.expect("the sides fit").result,
        seq(Type::REAL, None)
    );
    // Neither fixed sequence converts to the other, but both to a dynamic one.
    let fixed = sides(seq(Type::REAL, Some(1)), seq(Type::REAL, Some(2)));
    assert!(resolve(spelling::SELECT, &fixed).is_err());
    let like = seq(Type::REAL, None);
    let instance = resolve_as(spelling::SELECT, &fixed, Some(&like));
    assert_eq!(instance.expect("both fit").result, like);
}
