//! Rows on truth values, comparison, and choice.

use super::{Builtin, Level, OpDef, Relation, Syntax, builtin_row, spelling};
use Level::{And, Atom, Comparison, Conditional, Or, Unary};
use Syntax::{Constant, Form, Infix, Prefix};

const LESS: &[Syntax] = &[Infix("<", Comparison)];
const LESS_EQUAL: &[Syntax] = &[Infix("<=", Comparison)];
const EQUAL: &[Syntax] = &[Infix("==", Comparison)];
const NOT_EQUAL: &[Syntax] = &[Infix("!=", Comparison)];
const GREATER_EQUAL: &[Syntax] = &[Infix(">=", Comparison)];
const GREATER: &[Syntax] = &[Infix(">", Comparison)];

const INTS: &str = "int int -> bool";
const REALS: &str = "[] [] -> bool";

const fn compare(
    name: &'static str,
    syntax: &'static [Syntax],
    sig: &'static str,
    relation: Relation,
) -> OpDef {
    let doc = match relation {
        Relation::Less => "whether the left is less",
        Relation::LessEqual => "whether the left is not greater; false for NaN",
        Relation::Equal => "whether both are the same; false for NaN",
        Relation::NotEqual => "whether they differ; true for NaN",
        Relation::GreaterEqual => "whether the left is not less; false for NaN",
        Relation::Greater => "whether the left is greater",
    };
    builtin_row(name, syntax, sig, Builtin::Compare(relation), doc)
}

#[rustfmt::skip]
pub(super) const ROWS: &[OpDef] = &[
    compare("less_int", LESS, INTS, Relation::Less),
    compare("less", LESS, REALS, Relation::Less),
    compare("less_equal_int", LESS_EQUAL, INTS, Relation::LessEqual),
    compare("less_equal", LESS_EQUAL, REALS, Relation::LessEqual),
    compare("greater_equal_int", GREATER_EQUAL, INTS, Relation::GreaterEqual),
    compare("greater_equal", GREATER_EQUAL, REALS, Relation::GreaterEqual),
    compare("greater_int", GREATER, INTS, Relation::Greater),
    compare("greater", GREATER, REALS, Relation::Greater),
    compare("equal_bool", EQUAL, "bool bool -> bool", Relation::Equal),
    compare("equal_int", EQUAL, INTS, Relation::Equal),
    compare("equal_string", EQUAL, "string string -> bool", Relation::Equal),
    compare("equal", EQUAL, REALS, Relation::Equal),
    compare("not_equal_bool", NOT_EQUAL, "bool bool -> bool", Relation::NotEqual),
    compare("not_equal_int", NOT_EQUAL, INTS, Relation::NotEqual),
    compare("not_equal_string", NOT_EQUAL, "string string -> bool", Relation::NotEqual),
    compare("not_equal", NOT_EQUAL, REALS, Relation::NotEqual),
    builtin_row("and", &[Infix("&&", And)], "bool bool -> bool", Builtin::And, "whether both hold; the right side is evaluated only if needed"),
    builtin_row("or", &[Infix("||", Or)], "bool bool -> bool", Builtin::Or, "whether at least one holds; the right side is evaluated only if needed"),
    builtin_row("not", &[Prefix("!", Unary)], "bool -> bool", Builtin::Not, "whether it does not hold"),
    builtin_row("select", &[Form(spelling::SELECT, "a if c else b", Conditional)], "ν bool ν -> ν", Builtin::Select, "`a` if `c` holds, else `b`; only the chosen one is evaluated"),
    builtin_row("pi", &[Constant("π"), Constant("\\pi")], "-> []", Builtin::Pi, "3.14159…"),
    builtin_row("infinity", &[Constant("∞"), Constant("inf"), Constant("\\inf")], "-> []", Builtin::Infinity, "greater than every number"),
    builtin_row("nan", &[Form(spelling::NAN, "nan[2,3]", Atom)], "-> [α]", Builtin::Nan, "not a number, in every component; `nan` is the scalar"),
];
