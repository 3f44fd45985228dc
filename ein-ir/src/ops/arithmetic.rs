//! Rows of arithmetic: sums, scaling, powers, and what integers have.

use super::{
    Builtin, Domain, Form as EinForm, Level, Meaning, OpDef, Oracle, POINTWISE, Syntax,
    builtin_row, spelling,
};
use crate::{Jet, Tensor};
use Level::{Power, Product, Sum, Unary};
use Syntax::{Call, Form, Infix, Prefix};

const ADD: &[Syntax] = &[Infix("+", Sum)];
const SUB: &[Syntax] = &[Infix("-", Sum)];
const NEG: &[Syntax] = &[Prefix("-", Unary)];
const MUL: &[Syntax] = &[Infix("*", Product)];
const DIV: &[Syntax] = &[Infix("/", Product)];
const POW: &[Syntax] = &[Infix("^", Power)];
const ABS: &[Syntax] = &[
    Form(spelling::NORM, "|a|", Level::Atom),
    Call("abs"),
    Call("norm"),
];

const INTS: &str = "int int -> int";

#[rustfmt::skip]
pub(super) const ROWS: &[OpDef] = &[
    builtin_row("add_int", ADD, INTS, Builtin::IntAdd, "sum of integers; wraps"),
    OpDef {
        name: "add",
        syntax: ADD,
        sig: "[α] [α] -> [α]",
        meaning: Meaning::Ein("α | a[α] + b[α]"),
        oracle: Oracle::Components(|x| Tensor::from_fn(x[0].shape(), |i| x[0].at(i) + x[1].at(i))),
        doc: "sum, component by component",
        ..POINTWISE
    },
    builtin_row("sub_int", SUB, INTS, Builtin::IntSub, "difference of integers; wraps"),
    OpDef {
        name: "sub",
        syntax: SUB,
        sig: "[α] [α] -> [α]",
        meaning: Meaning::Ein("α | a[α] − b[α]"),
        oracle: Oracle::Components(|x| Tensor::from_fn(x[0].shape(), |i| x[0].at(i) - x[1].at(i))),
        doc: "difference, component by component",
        ..POINTWISE
    },
    builtin_row("neg_int", NEG, "int -> int", Builtin::IntNeg, "negated integer"),
    OpDef {
        name: "neg",
        syntax: NEG,
        sig: "[α] -> [α]",
        meaning: Meaning::Ein("α | −a[α]"),
        oracle: Oracle::Components(|x| x[0].map(|c| c.scale(-1.0))),
        doc: "negation, component by component",
        ..POINTWISE
    },
    builtin_row("mul_int", MUL, INTS, Builtin::IntMul, "product of integers; wraps"),
    OpDef {
        name: "scale_left",
        syntax: MUL,
        sig: "[] [α] -> [α]",
        meaning: Meaning::Ein("α | a b[α]"),
        oracle: Oracle::Components(|x| x[1].map(|c| c * &x[0][[]])),
        doc: "a tensor scaled by the number before it",
        ..POINTWISE
    },
    OpDef {
        name: "scale_right",
        syntax: MUL,
        sig: "[α] [] -> [α]",
        meaning: Meaning::Ein("α | a[α] b"),
        oracle: Oracle::Components(|x| x[0].map(|c| &x[1][[]] * c)),
        doc: "a tensor scaled by the number after it",
        ..POINTWISE
    },
    builtin_row("div_int", DIV, INTS, Builtin::IntDiv, "quotient of integers, truncated toward zero"),
    OpDef {
        name: "divide",
        syntax: DIV,
        sig: "[α] [] -> [α]",
        meaning: Meaning::Ein("α | a[α] / b"),
        domain: &[(1, Domain::NonZero)],
        oracle: Oracle::Components(|x| x[0].map(|c| c * &x[1][[]].powi(-1))),
        doc: "a tensor divided by a number",
        ..POINTWISE
    },
    builtin_row("rem_int", &[Infix("%", Product)], INTS, Builtin::IntRem, "remainder of integers, with the sign of the dividend"),
    OpDef {
        name: "power",
        syntax: POW,
        sig: "[] int -> []",
        meaning: Meaning::Form(EinForm::Power),
        domain: &[(0, Domain::NonZero)],
        oracle: Oracle::Components(power),
        doc: "integer power; the exponent of a field must be a constant",
        ..POINTWISE
    },
    OpDef {
        name: "power_real",
        syntax: POW,
        sig: "[] [] -> []",
        meaning: Meaning::Ein("pow(a, b)"),
        domain: &[(0, Domain::Positive)],
        oracle: Oracle::Components(power_real),
        doc: "real power",
        ..POINTWISE
    },
    builtin_row("abs_int", ABS, "int -> int", Builtin::IntAbs, "magnitude of an integer"),
    OpDef {
        name: "abs",
        syntax: ABS,
        sig: "[] -> []",
        meaning: Meaning::Ein("abs(a)"),
        domain: &[(0, Domain::NonZero)],
        oracle: Oracle::Components(|x| x[0].map(|c| if c.value() < 0.0 { -c } else { c.clone() })),
        doc: "magnitude; its derivative is the sign",
        ..POINTWISE
    },
    builtin_row("min_int", &[Call("min")], INTS, Builtin::IntMin, "the smaller integer"),
    OpDef {
        name: "min",
        syntax: &[Call("min")],
        sig: "[] [] -> []",
        meaning: Meaning::Ein("if b < a then b else a"),
        oracle: Oracle::Components(|x| least(x, 1.0)),
        doc: "the smaller number; the first unless the second is less",
        ..POINTWISE
    },
    builtin_row("max_int", &[Call("max")], INTS, Builtin::IntMax, "the larger integer"),
    OpDef {
        name: "max",
        syntax: &[Call("max")],
        sig: "[] [] -> []",
        meaning: Meaning::Ein("if a < b then b else a"),
        oracle: Oracle::Components(|x| least(x, -1.0)),
        doc: "the larger number; the first unless the second is greater",
        ..POINTWISE
    },
    builtin_row("int_to_real", &[Call("real")], "int -> []", Builtin::IntToReal, "an integer as a real"),
];

fn power(x: &[Tensor<Jet>]) -> Tensor<Jet> {
    let (base, exponent) = (&x[0][[]], x[1][[]].value() as i32);
    let mut power = Jet::constant(base.dim(), base.order(), 1.0);
    for _ in 0..exponent.abs() {
        power = if exponent < 0 {
            &power / base
        } else {
            &power * base
        };
    }
    Tensor::scalar(power)
}

/// aᵇ = a₀ᵇ · (1 + u)ᵇ with u = a/a₀ − 1, the second factor by the binomial series and the first by that of 2ᵗ.
fn power_real(x: &[Tensor<Jet>]) -> Tensor<Jet> {
    let (base, exponent) = (&x[0][[]], &x[1][[]]);
    let constant = |value| Jet::constant(base.dim(), base.order(), value);
    let (mut exponential, mut binomial) = (constant(1.0), constant(1.0));
    let (mut u, mut t) = (
        base.scale(1.0 / base.value()),
        exponent.scale(base.value().ln()),
    );
    u = &u - &constant(1.0);
    t = &t - &constant(t.value());
    let (mut next_exponential, mut next_binomial) = (constant(1.0), constant(1.0));
    for k in 1..=base.order() {
        next_exponential = (&next_exponential * &t).scale(1.0 / k as f64);
        exponential = &exponential + &next_exponential;
        let factor = &(exponent - &constant((k - 1) as f64)) * &u;
        next_binomial = (&next_binomial * &factor).scale(1.0 / k as f64);
        binomial = &binomial + &next_binomial;
    }
    let at_point = base.value().powf(exponent.value());
    Tensor::scalar((&exponential * &binomial).scale(at_point))
}

/// The argument whose value times `sign` is least.
fn least(x: &[Tensor<Jet>], sign: f64) -> Tensor<Jet> {
    let key = |k: usize| sign * x[k][[]].value();
    let chosen = (1..x.len()).fold(0, |best, k| if key(k) < key(best) { k } else { best });
    x[chosen].clone()
}
