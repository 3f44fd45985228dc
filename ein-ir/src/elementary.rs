//! Elementary functions: one row each, with value, derivatives, Taylor series, domain, what normalization may rely on,
//! cost, and how it is computed.
//!
//! The derivatives are EIN text, which the compiler works with; the Taylor series are computed without them, for the
//! reference evaluation. A test compares the two, and others compare singularities and signs with the values.

use crate::erf::{erf, erfc};
use crate::ops::vocabulary::{Domain, Lift, Syntax};
use crate::{Jet, Param, Shape, Term, parse};
use Domain::{NonZero, Positive, UnitInterval};
use Elementary::*;
use Syntax::Call;
use std::f64::consts::{LN_2, LN_10, PI};

/// An elementary function; its properties are its row in [`ELEMENTARY`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is named after its function")]
pub enum Elementary {
    Sqrt,
    Exp,
    Log,
    Log2,
    Log10,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Erf,
    Erfc,
    Abs,
    Sign,
    Floor,
    Ceil,
    Round,
    Trunc,
    Pow,
    Atan2,
    Fmod,
}

/// The properties of an elementary function.
#[derive(Clone, Copy, Debug)]
pub struct ElementaryDef {
    /// Which function.
    pub function: Elementary,
    /// Its name in EIN text.
    pub name: &'static str,
    /// How programs write it; nothing if only derivatives need it, or if other rows of the operator table use it.
    pub syntax: &'static [Syntax],
    /// The value at one argument or two.
    pub value: fn(&[f64]) -> f64,
    /// The derivative with respect to each argument, as EIN text over the arguments `a` and `b`.
    pub derivatives: &'static [&'static str],
    /// The Taylor series around a point up to an order, in as many variables as there are arguments.
    pub series: fn(&[f64], usize) -> Jet,
    /// What arguments must stay away from.
    pub domain: &'static [(usize, Domain)],
    /// Whether it applies to fields; those that are locally constant or jump do not.
    pub lift: Lift,
    /// Whether there are arguments for which it is not defined, or infinite. Then it is not computed where the source does
    /// not.
    pub singular: bool,
    /// Whether it is never negative where it is defined.
    pub nonnegative: bool,
    /// Its cost, in additions.
    ///
    /// Measured: `cargo bench -p diderot-compiler --bench costs` runs each operation in the machine code of a small program, many
    /// strands at a time, and prints its time next to the weight. Rounded medians of three runs on one machine with
    /// 512-bit vectors, and as relative as the addition they are counted in: after a change of how arithmetic is
    /// generated, measure again. `sign`, which programs cannot write, is taken to be like `abs`.
    pub weight: u64,
    /// Whether generated code computes it by instructions of its own, not by a call of the primitive.
    pub native: bool,
    /// The name of the primitive that computes it.
    pub primitive: &'static str,
    /// Its documentation, in one line.
    pub doc: &'static str,
}

const SMOOTH: ElementaryDef = ElementaryDef {
    function: Sqrt,
    name: "",
    syntax: &[],
    value: |x| x[0],
    derivatives: &[],
    series: |x, order| constant(x[0], order),
    domain: &[],
    lift: Lift::Pointwise,
    singular: false,
    nonnegative: false,
    weight: 25,
    native: false,
    primitive: "",
    doc: "",
};

/// A function that is constant between its jumps.
const STEP: ElementaryDef = ElementaryDef {
    derivatives: &["0"],
    lift: Lift::None,
    weight: 1,
    native: true,
    ..SMOOTH
};

/// Every elementary function, in the order of [`Elementary`].
#[rustfmt::skip]
pub const ELEMENTARY: &[ElementaryDef] = &[
    ElementaryDef { function: Sqrt, name: "sqrt", primitive: "sqrt", syntax: &[Call("sqrt")], value: |x| x[0].sqrt(), derivatives: &["1 / (2 sqrt(a))"],
        series: |x, order| binomial(x[0], 0.5, order), domain: &[(0, Positive)], singular: true, nonnegative: true, weight: 2, native: true, doc: "square root", ..SMOOTH },
    ElementaryDef { function: Exp, name: "exp", primitive: "exp", syntax: &[Call("exp")], value: |x| x[0].exp(), derivatives: &["exp(a)"],
        series: |x, order| exponential(x[0], order), nonnegative: true, doc: "exponential", ..SMOOTH },
    ElementaryDef { function: Log, name: "log", primitive: "log", syntax: &[Call("log")], value: |x| x[0].ln(), derivatives: &["1 / a"],
        series: |x, order| logarithm(x[0], order), domain: &[(0, Positive)], singular: true, weight: 55, doc: "natural logarithm", ..SMOOTH },
    ElementaryDef { function: Log2, name: "log2", primitive: "log2", syntax: &[Call("log2")], value: |x| x[0].log2(), derivatives: &["1 / (a log(2))"],
        series: |x, order| logarithm(x[0], order).scale(1.0 / LN_2), domain: &[(0, Positive)], singular: true, weight: 55, doc: "logarithm to base 2", ..SMOOTH },
    ElementaryDef { function: Log10, name: "log10", primitive: "log10", syntax: &[Call("log10")], value: |x| x[0].log10(), derivatives: &["1 / (a log(10))"],
        series: |x, order| logarithm(x[0], order).scale(1.0 / LN_10), domain: &[(0, Positive)], singular: true, weight: 55, doc: "logarithm to base 10", ..SMOOTH },
    ElementaryDef { function: Sin, name: "sin", primitive: "sin", syntax: &[Call("sin")], value: |x| x[0].sin(), derivatives: &["cos(a)"],
        series: |x, order| wave(x[0].sin(), x[0].cos(), order), doc: "sine", ..SMOOTH },
    ElementaryDef { function: Cos, name: "cos", primitive: "cos", syntax: &[Call("cos")], value: |x| x[0].cos(), derivatives: &["−sin(a)"],
        series: |x, order| wave(x[0].cos(), -x[0].sin(), order), doc: "cosine", ..SMOOTH },
    ElementaryDef { function: Tan, name: "tan", primitive: "tan", syntax: &[Call("tan")], value: |x| x[0].tan(), derivatives: &["cos(a)^-2"],
        series: |x, order| &wave(x[0].sin(), x[0].cos(), order) / &wave(x[0].cos(), -x[0].sin(), order), singular: true, weight: 35, doc: "tangent", ..SMOOTH },
    ElementaryDef { function: Asin, name: "asin", primitive: "asin", syntax: &[Call("asin")], value: |x| x[0].asin(), derivatives: &["1 / sqrt(1 − a^2)"],
        series: |x, order| arc(x[0], order), domain: &[(0, UnitInterval)], singular: true, doc: "arc sine", ..SMOOTH },
    ElementaryDef { function: Acos, name: "acos", primitive: "acos", syntax: &[Call("acos")], value: |x| x[0].acos(), derivatives: &["−1 / sqrt(1 − a^2)"],
        series: |x, order| &constant(PI / 2.0, order) - &arc(x[0], order), domain: &[(0, UnitInterval)], singular: true, nonnegative: true, doc: "arc cosine", ..SMOOTH },
    ElementaryDef { function: Atan, name: "atan", primitive: "atan", syntax: &[Call("atan")], value: |x| x[0].atan(), derivatives: &["1 / (1 + a^2)"],
        series: |x, order| arc_tangent(x[0], order), doc: "arc tangent", ..SMOOTH },
    ElementaryDef { function: Erf, name: "erf", primitive: "erf", syntax: &[Call("erf")], value: |x| erf(x[0]), derivatives: &["exp(−a^2) / sqrt(atan(1))"],
        series: |x, order| bell(x[0], erf(x[0]), 1.0, order), weight: 55, doc: "error function", ..SMOOTH },
    ElementaryDef { function: Erfc, name: "erfc", primitive: "erfc", syntax: &[Call("erfc")], value: |x| erfc(x[0]), derivatives: &["−exp(−a^2) / sqrt(atan(1))"],
        series: |x, order| bell(x[0], erfc(x[0]), -1.0, order), nonnegative: true, weight: 55, doc: "complement of the error function", ..SMOOTH },
    ElementaryDef { function: Abs, name: "abs", primitive: "abs", value: |x| x[0].abs(), derivatives: &["sign(a)"],
        series: |x, order| variable(x[0], order).scale(sign(x[0])), domain: &[(0, NonZero)], nonnegative: true, weight: 1, native: true, doc: "magnitude", ..SMOOTH },
    ElementaryDef { function: Sign, name: "sign", primitive: "sign", value: |x| sign(x[0]),
        series: |x, order| constant(sign(x[0]), order), doc: "−1, 0 or 1", ..STEP },
    ElementaryDef { function: Floor, name: "floor", primitive: "floor", syntax: &[Call("floor")], value: |x| x[0].floor(),
        series: |x, order| constant(x[0].floor(), order), doc: "greatest integer not above", ..STEP },
    ElementaryDef { function: Ceil, name: "ceil", primitive: "ceil", syntax: &[Call("ceil")], value: |x| x[0].ceil(),
        series: |x, order| constant(x[0].ceil(), order), doc: "least integer not below", ..STEP },
    ElementaryDef { function: Round, name: "round", primitive: "round", syntax: &[Call("round")], value: |x| x[0].round(),
        series: |x, order| constant(x[0].round(), order), weight: 10, native: false, doc: "nearest integer, halves away from zero", ..STEP },
    ElementaryDef { function: Trunc, name: "trunc", primitive: "trunc", syntax: &[Call("trunc")], value: |x| x[0].trunc(),
        series: |x, order| constant(x[0].trunc(), order), doc: "nearest integer toward zero", ..STEP },
    ElementaryDef { function: Pow, name: "pow", primitive: "pow", syntax: &[Call("pow")], value: |x| x[0].powf(x[1]),
        derivatives: &["b pow(a, b − 1)", "log(a) pow(a, b)"], series: power, domain: &[(0, Positive)], singular: true, weight: 90, doc: "pow(a, b): real power", ..SMOOTH },
    ElementaryDef { function: Atan2, name: "atan2", primitive: "atan2", syntax: &[Call("atan2")], value: |x| x[0].atan2(x[1]),
        derivatives: &["b / (a^2 + b^2)", "−a / (a^2 + b^2)"], series: angle, domain: &[(0, NonZero)], singular: true, weight: 35, doc: "atan2(y, x): angle of the point (x, y)", ..SMOOTH },
    ElementaryDef { function: Fmod, name: "fmod", primitive: "fmod", syntax: &[Call("fmod")], value: |x| x[0] % x[1],
        derivatives: &["1", "−trunc(a / b)"], series: remainder, domain: &[(1, NonZero)], lift: Lift::None, singular: true, weight: 17, doc: "fmod(a, b): remainder with the sign of `a`", ..SMOOTH },
];

impl Elementary {
    /// The function's row.
    pub const fn def(self) -> &'static ElementaryDef {
        &ELEMENTARY[self as usize]
    }

    /// The function of this name.
    pub fn named(name: &str) -> Option<Elementary> {
        ELEMENTARY
            .iter()
            .find(|def| def.name == name)
            .map(|def| def.function)
    }

    /// The number of arguments.
    pub fn arity(self) -> usize {
        self.def().derivatives.len()
    }

    /// The function of jets, by its Taylor series.
    pub fn expand(self, args: &[Jet]) -> Jet {
        let at: Vec<f64> = args.iter().map(Jet::value).collect();
        let order = args.iter().map(Jet::order).min().unwrap_or(0);
        (self.def().series)(&at, order).compose(args)
    }

    /// The derivative with respect to an argument: a term whose scalar parameters 0 and 1 are the arguments.
    pub fn derivative(self, argument: usize) -> Term {
        let params = vec![Param::Tensor(Shape::SCALAR); self.arity()];
        parse::term(self.def().derivatives[argument], &params)
    }
}

fn sign(x: f64) -> f64 {
    // Not `signum`, which is 1 at 0; NaN stays NaN.
    if x == 0.0 { 0.0 } else { x.signum() }
}

fn constant(value: f64, order: usize) -> Jet {
    Jet::constant(1, order, value)
}

fn variable(at: f64, order: usize) -> Jet {
    Jet::variable(1, order, 0, at)
}

/// The series that starts with `first` and whose next coefficient follows from one and its number.
fn recurrence(first: f64, order: usize, next: impl Fn(f64, f64) -> f64) -> Jet {
    let following = |&c: &(usize, f64)| Some((c.0 + 1, next(c.1, c.0 as f64)));
    let coefficients = std::iter::successors(Some((0, first)), following).map(|(_, c)| c);
    Jet::series(coefficients.take(order + 1).collect())
}

/// xᵖ
fn binomial(x: f64, p: f64, order: usize) -> Jet {
    recurrence(x.powf(p), order, |c, k| c * (p - k) / (k + 1.0) / x)
}

fn exponential(x: f64, order: usize) -> Jet {
    recurrence(x.exp(), order, |c, k| c / (k + 1.0))
}

fn logarithm(x: f64, order: usize) -> Jet {
    integral(x.ln(), order, |order| {
        recurrence(1.0 / x, order, |c, _| -c / x)
    })
}

/// The solution of f″ = −f with this value and slope.
fn wave(value: f64, slope: f64, order: usize) -> Jet {
    let mut coefficients = vec![value, slope];
    for k in 2..=order {
        coefficients.push(-coefficients[k - 2] / (k * (k - 1)) as f64);
    }
    coefficients.truncate(order + 1);
    Jet::series(coefficients)
}

/// The function with this value and derivative.
fn integral(value: f64, order: usize, derivative: impl Fn(usize) -> Jet) -> Jet {
    match order {
        0 => constant(value, 0),
        _ => derivative(order - 1).integral(value),
    }
}

fn arc(x: f64, order: usize) -> Jet {
    integral(x.asin(), order, |order| {
        let radicand = &constant(1.0, order) - &variable(x, order).powi(2);
        binomial(radicand.value(), -0.5, order).compose(&[radicand])
    })
}

fn arc_tangent(x: f64, order: usize) -> Jet {
    integral(x.atan(), order, |order| {
        &constant(1.0, order) / &(&constant(1.0, order) + &variable(x, order).powi(2))
    })
}

/// The integral of ±2/√π e^(−x²) with this value at `x`.
fn bell(x: f64, value: f64, sign: f64, order: usize) -> Jet {
    integral(value, order, |order| {
        let exponent = -&variable(x, order).powi(2);
        exponential(exponent.value(), order)
            .compose(&[exponent])
            .scale(sign * 2.0 / PI.sqrt())
    })
}

/// aᵇ = exp(b log a); the derivatives along a alone do not need the logarithm, which a negative base does not have.
fn power(x: &[f64], order: usize) -> Jet {
    let (a, b) = (
        Jet::variable(2, order, 0, x[0]),
        Jet::variable(2, order, 1, x[1]),
    );
    let exponent = &b * &logarithm(x[0], order).compose(&[a]);
    let both = exponential(exponent.value(), order).compose(&[exponent]);
    let along = binomial(x[0], x[1], order);
    let mut coefficients = both.coefficients().iter();
    Jet::from_fn(2, order, |exponents| {
        let mixed = coefficients.next().copied().unwrap_or(f64::NAN);
        if exponents[1] == 0 {
            along.coefficients()[exponents[0]]
        } else {
            mixed
        }
    })
}

/// The angle of (x, y) is that of the point of expansion plus the angle in the frame turned by it.
fn angle(at: &[f64], order: usize) -> Jet {
    let (y, x) = (
        Jet::variable(2, order, 0, at[0]),
        Jet::variable(2, order, 1, at[1]),
    );
    let (across, along) = (
        &y.scale(at[1]) - &x.scale(at[0]),
        &x.scale(at[1]) + &y.scale(at[0]),
    );
    let turned = arc_tangent(0.0, order).compose(&[&across / &along]);
    &Jet::constant(2, order, at[0].atan2(at[1])) + &turned
}

fn remainder(x: &[f64], order: usize) -> Jet {
    if order == 0 {
        return Jet::constant(2, 0, x[0] % x[1]);
    }
    let quotient = (x[0] / x[1]).trunc();
    &Jet::variable(2, order, 0, x[0]) - &Jet::variable(2, order, 1, x[1]).scale(quotient)
}
