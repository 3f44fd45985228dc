//! The table of operators. Everything else about an operator is read from its row.

use super::Level::{self, Product, Sum};
use super::Syntax::{
    Around, Bars, Call, CallWith, Choice, Infix, Invisible, List, Nabla, Negation, Power, Probe,
    Suffix,
};
use super::Truth::{Compose, Derivative, Pointwise};
use super::typing as ty;
use super::{Operator, algebra, calculus, eigen, scalar};

/// What most rows have: one argument, any type, everywhere defined, not in the published list.
const ROW: Operator = Operator {
    name: "",
    syntax: Invisible,
    arity: 1,
    rule: ty::anything,
    published: None,
    template: None,
    domain: "",
    truth: Pointwise(algebra::identity),
    isotropic: false,
};

/// A row that commutes with rotations.
const TURN: Operator = Operator {
    isotropic: true,
    ..ROW
};

/// A function of scalars, which may be fields.
const SCALAR: Operator = Operator {
    rule: ty::scalars,
    ..TURN
};

/// One of the published list, which had it on fields only.
const PUBLISHED: Operator = Operator {
    published: Some(ty::scalar_field),
    ..SCALAR
};

/// A function of plain reals.
const REAL: Operator = Operator {
    rule: ty::reals,
    ..ROW
};

/// Every operator that is generated.
#[rustfmt::skip]
pub const OPERATORS: &[Operator] = &[
    // Algebra of one tensor.
    Operator { name: "copy", published: Some(ty::everywhere), ..TURN },
    Operator { name: "neg", syntax: Negation, published: Some(ty::everywhere), truth: Pointwise(algebra::negate), ..TURN },
    Operator { name: "norm", syntax: Bars, rule: ty::norm, published: Some(ty::everywhere), domain: "differentiable away from 0", truth: Pointwise(algebra::norm), ..TURN },
    Operator { name: "normalize", syntax: Call("normalize"), rule: ty::not_scalar, published: Some(ty::everywhere), domain: "|a| ≠ 0", truth: Pointwise(algebra::normalize), ..TURN },
    Operator { name: "trace", syntax: Call("trace"), rule: ty::trace, published: Some(ty::square_small), truth: Pointwise(algebra::trace), ..TURN },
    Operator { name: "transpose", syntax: Call("transpose"), rule: ty::transpose, published: Some(ty::square), truth: Pointwise(algebra::transpose), ..TURN },
    Operator { name: "det", syntax: Call("det"), rule: ty::det, published: Some(ty::everywhere), truth: Pointwise(algebra::det), ..TURN },
    Operator { name: "inv", syntax: Call("inv"), rule: ty::inverse, published: Some(ty::square_small), domain: "det a ≠ 0", truth: Pointwise(algebra::inverse), ..TURN },

    // Differential operators.
    Operator { name: "grad", syntax: Nabla("∇"), rule: ty::gradient, published: Some(ty::everywhere), truth: Derivative(1, calculus::gradient), ..TURN },
    Operator { name: "divergence", syntax: Nabla("∇•"), rule: ty::divergence, published: Some(ty::vectors), truth: Derivative(1, calculus::divergence), ..TURN },
    Operator { name: "curl", syntax: Nabla("∇×"), rule: ty::curl, published: Some(ty::everywhere), truth: Derivative(1, calculus::curl), ..TURN },
    Operator { name: "jacobian", syntax: Nabla("∇⊗"), rule: ty::jacobian, published: Some(ty::tensors_of_order_one_or_square), truth: Derivative(1, calculus::jacobian), ..TURN },
    Operator { name: "hessian", syntax: Nabla("∇⊗∇"), rule: ty::hessian, truth: Derivative(2, calculus::hessian), ..TURN },
    Operator { name: "laplacian", syntax: Nabla("∇²"), rule: ty::laplacian, truth: Derivative(2, calculus::laplacian), ..TURN },

    // Indexing.
    Operator { name: "slice[0]", syntax: Suffix("[0]"), rule: |t| ty::slice(t, &[Some(0)]), published: Some(ty::everywhere), truth: Pointwise(|_, a| algebra::slice(&a[0], &[Some(0)])), ..ROW },
    Operator { name: "slice[1]", syntax: Suffix("[1]"), rule: |t| ty::slice(t, &[Some(1)]), published: Some(ty::everywhere), truth: Pointwise(|_, a| algebra::slice(&a[0], &[Some(1)])), ..ROW },
    Operator { name: "slice[2]", syntax: Suffix("[2]"), rule: |t| ty::slice(t, &[Some(2)]), truth: Pointwise(|_, a| algebra::slice(&a[0], &[Some(2)])), ..ROW },
    Operator { name: "slice[1,:]", syntax: Suffix("[1,:]"), rule: |t| ty::slice(t, &[Some(1), None]), published: Some(ty::everywhere), truth: Pointwise(|_, a| algebra::slice(&a[0], &[Some(1), None])), ..ROW },
    Operator { name: "slice[:,0]", syntax: Suffix("[:,0]"), rule: |t| ty::slice(t, &[None, Some(0)]), published: Some(ty::everywhere), truth: Pointwise(|_, a| algebra::slice(&a[0], &[None, Some(0)])), ..ROW },
    Operator { name: "slice[0,:]", syntax: Suffix("[0,:]"), rule: |t| ty::slice(t, &[Some(0), None]), truth: Pointwise(|_, a| algebra::slice(&a[0], &[Some(0), None])), ..ROW },
    Operator { name: "slice[0,1]", syntax: Suffix("[0,1]"), rule: |t| ty::slice(t, &[Some(0), Some(1)]), truth: Pointwise(|_, a| algebra::slice(&a[0], &[Some(0), Some(1)])), ..ROW },
    Operator { name: "slice[2,2]", syntax: Suffix("[2,2]"), rule: |t| ty::slice(t, &[Some(2), Some(2)]), truth: Pointwise(|_, a| algebra::slice(&a[0], &[Some(2), Some(2)])), ..ROW },
    Operator { name: "slice[:,1,:]", syntax: Suffix("[:,1,:]"), rule: |t| ty::slice(t, &[None, Some(1), None]), published: Some(ty::everywhere), truth: Pointwise(|_, a| algebra::slice(&a[0], &[None, Some(1), None])), ..ROW },
    Operator { name: "slice[1,0,:]", syntax: Suffix("[1,0,:]"), rule: |t| ty::slice(t, &[Some(1), Some(0), None]), published: Some(ty::everywhere), truth: Pointwise(|_, a| algebra::slice(&a[0], &[Some(1), Some(0), None])), ..ROW },
    Operator { name: "slice[:,:,0]", syntax: Suffix("[:,:,0]"), rule: |t| ty::slice(t, &[None, None, Some(0)]), truth: Pointwise(|_, a| algebra::slice(&a[0], &[None, None, Some(0)])), ..ROW },
    Operator { name: "slice[0,1,1]", syntax: Suffix("[0,1,1]"), rule: |t| ty::slice(t, &[Some(0), Some(1), Some(1)]), truth: Pointwise(|_, a| algebra::slice(&a[0], &[Some(0), Some(1), Some(1)])), ..ROW },

    // The value at the position: operators that are applied to it are operators of tensors.
    Operator { name: "probe", syntax: Probe, rule: ty::probe, ..ROW },

    // Algebra of two tensors.
    Operator { name: "add", syntax: Infix("+", Sum), arity: 2, rule: ty::equal_shapes, published: Some(ty::everywhere), truth: Pointwise(algebra::add), ..TURN },
    Operator { name: "sub", syntax: Infix("-", Sum), arity: 2, rule: ty::equal_shapes, published: Some(ty::everywhere), truth: Pointwise(algebra::subtract), ..TURN },
    Operator { name: "cross", syntax: Infix("×", Product), arity: 2, rule: ty::cross, published: Some(ty::vectors_of_dimension), truth: Pointwise(algebra::cross), ..TURN },
    Operator { name: "outer", syntax: Infix("⊗", Product), arity: 2, rule: ty::outer, published: Some(ty::no_scalars), truth: Pointwise(algebra::outer), ..TURN },
    Operator { name: "inner", syntax: Infix("•", Product), arity: 2, rule: ty::inner, published: Some(ty::everywhere), truth: Pointwise(algebra::inner), ..TURN },
    Operator { name: "mul", syntax: Infix("*", Product), arity: 2, rule: ty::scaling, published: Some(ty::everywhere), truth: Pointwise(algebra::scale), ..TURN },
    Operator { name: "div", syntax: Infix("/", Product), arity: 2, rule: ty::division, published: Some(ty::everywhere), domain: "b ≠ 0", truth: Pointwise(algebra::divide), ..TURN },
    Operator { name: "modulate", syntax: Call("modulate"), arity: 2, rule: ty::modulate, published: Some(ty::everywhere), truth: Pointwise(algebra::modulate), ..ROW },
    Operator { name: "colon", syntax: Infix(":", Product), arity: 2, rule: ty::colon, published: Some(ty::equal_matrices), truth: Pointwise(algebra::colon), ..TURN },
    Operator { name: "concat2", syntax: List, arity: 2, rule: ty::concat, truth: Pointwise(algebra::concat), ..ROW },
    Operator { name: "concat3", syntax: List, arity: 3, rule: ty::concat, truth: Pointwise(algebra::concat), ..ROW },
    Operator { name: "concat4", syntax: List, arity: 4, rule: ty::concat, truth: Pointwise(algebra::concat), ..ROW },
    Operator { name: "compose", syntax: Call("compose"), arity: 2, rule: ty::compose, template: Some("compose($0,mul(0.1,$1))"), domain: "b inside the domain of a", truth: Compose, ..ROW },

    // Scalar functions.
    Operator { name: "cos", syntax: Call("cos"), truth: Pointwise(scalar::cos), ..PUBLISHED },
    Operator { name: "sin", syntax: Call("sin"), truth: Pointwise(scalar::sin), ..PUBLISHED },
    Operator { name: "acos", syntax: Call("acos"), template: Some("acos(mul(0.01,$0))"), domain: "|a| < 1", truth: Pointwise(scalar::acos), ..PUBLISHED },
    Operator { name: "asin", syntax: Call("asin"), template: Some("asin(mul(0.01,$0))"), domain: "|a| < 1", truth: Pointwise(scalar::asin), ..PUBLISHED },
    Operator { name: "sqrt", syntax: Call("sqrt"), published: Some(ty::everywhere), template: Some("sqrt(norm($0))"), domain: "a > 0", truth: Pointwise(scalar::sqrt), ..PUBLISHED },
    Operator { name: "atan", syntax: Call("atan"), truth: Pointwise(scalar::atan), ..PUBLISHED },
    Operator { name: "tan", syntax: Call("tan"), domain: "cos a ≠ 0", truth: Pointwise(scalar::tan), ..PUBLISHED },
    Operator { name: "exp", syntax: Call("exp"), domain: "|a| < 20", truth: Pointwise(scalar::exp), ..SCALAR },
    Operator { name: "abs", syntax: Call("abs"), domain: "differentiable away from 0", truth: Pointwise(scalar::abs), ..SCALAR },
    Operator { name: "power[0]", syntax: Power("^0"), truth: Pointwise(|s, a| scalar::power(s, a, 0)), ..SCALAR },
    Operator { name: "power[2]", syntax: Power("^2"), truth: Pointwise(|s, a| scalar::power(s, a, 2)), ..SCALAR },
    Operator { name: "power[3]", syntax: Power("^3"), truth: Pointwise(|s, a| scalar::power(s, a, 3)), ..SCALAR },
    Operator { name: "power[-1]", syntax: Power("^(-1)"), domain: "a ≠ 0", truth: Pointwise(|s, a| scalar::power(s, a, -1)), ..SCALAR },
    Operator { name: "power[-2]", syntax: Power("^(-2)"), domain: "a ≠ 0", truth: Pointwise(|s, a| scalar::power(s, a, -2)), ..SCALAR },
    Operator { name: "max", syntax: Call("max"), arity: 2, domain: "a ≠ b", truth: Pointwise(scalar::max), ..SCALAR },
    Operator { name: "min", syntax: Call("min"), arity: 2, domain: "a ≠ b", truth: Pointwise(scalar::min), ..SCALAR },
    Operator { name: "log", syntax: Call("log"), domain: "a > 0", truth: Pointwise(scalar::ln), ..SCALAR },
    Operator { name: "log2", syntax: Call("log2"), domain: "a > 0", truth: Pointwise(|s, a| scalar::log(s, a, 2)), ..SCALAR },
    Operator { name: "log10", syntax: Call("log10"), domain: "a > 0", truth: Pointwise(|s, a| scalar::log(s, a, 10)), ..SCALAR },
    Operator { name: "erf", syntax: Call("erf"), domain: "|a| < 3", truth: Pointwise(scalar::erf), ..SCALAR },
    Operator { name: "erfc", syntax: Call("erfc"), domain: "|a| < 3", truth: Pointwise(scalar::erfc), ..SCALAR },
    Operator { name: "atan2", syntax: Call("atan2"), arity: 2, domain: "away from 0 and the cut", truth: Pointwise(scalar::atan2), ..SCALAR },
    Operator { name: "pow", syntax: Call("pow"), arity: 2, domain: "a > 0", truth: Pointwise(scalar::pow), ..SCALAR },
    Operator { name: "power", syntax: Infix("^", Level::Power), arity: 2, domain: "a > 0", truth: Pointwise(scalar::pow), ..SCALAR },

    // Functions of reals that are not lifted to fields.
    Operator { name: "floor", syntax: Call("floor"), template: Some("floor(mul(0.3,$0))"), domain: "away from the steps", truth: Pointwise(|s, a| scalar::rounding(s, a, f64::floor)), ..REAL },
    Operator { name: "ceil", syntax: Call("ceil"), template: Some("ceil(mul(0.3,$0))"), domain: "away from the steps", truth: Pointwise(|s, a| scalar::rounding(s, a, f64::ceil)), ..REAL },
    Operator { name: "round", syntax: Call("round"), template: Some("round(mul(0.3,$0))"), domain: "away from the steps", truth: Pointwise(|s, a| scalar::rounding(s, a, f64::round)), ..REAL },
    Operator { name: "trunc", syntax: Call("trunc"), template: Some("trunc(mul(0.3,$0))"), domain: "away from the steps", truth: Pointwise(|s, a| scalar::rounding(s, a, f64::trunc)), ..REAL },
    Operator { name: "fmod", syntax: Call("fmod"), arity: 2, domain: "b ≠ 0, away from the steps", truth: Pointwise(scalar::fmod), ..REAL },

    // Eigensystems of symmetric matrices.
    Operator { name: "evals[0]", syntax: Around("evals($){0}", Level::Suffix), rule: |t| ty::eigenvalue(t, 0), domain: "eigenvalues apart", truth: Pointwise(|s, a| eigen::value(s, a, 0)), ..TURN },
    Operator { name: "evals[1]", syntax: Around("evals($){1}", Level::Suffix), rule: |t| ty::eigenvalue(t, 1), domain: "eigenvalues apart", truth: Pointwise(|s, a| eigen::value(s, a, 1)), ..TURN },
    Operator { name: "evals[2]", syntax: Around("evals($){2}", Level::Suffix), rule: |t| ty::eigenvalue(t, 2), domain: "eigenvalues apart", truth: Pointwise(|s, a| eigen::value(s, a, 2)), ..TURN },
    Operator { name: "eigenprojector[0]", syntax: Around("evecs($){0} ⊗ evecs($){0}", Product), rule: |t| ty::eigenprojector(t, 0), domain: "eigenvalues apart", truth: Pointwise(|s, a| eigen::projector(s, a, 0)), ..TURN },
    Operator { name: "eigenprojector[1]", syntax: Around("evecs($){1} ⊗ evecs($){1}", Product), rule: |t| ty::eigenprojector(t, 1), domain: "eigenvalues apart", truth: Pointwise(|s, a| eigen::projector(s, a, 1)), ..TURN },
    Operator { name: "eigenprojector[2]", syntax: Around("evecs($){2} ⊗ evecs($){2}", Product), rule: |t| ty::eigenprojector(t, 2), domain: "eigenvalues apart", truth: Pointwise(|s, a| eigen::projector(s, a, 2)), ..TURN },

    // Interpolation and clamping.
    Operator { name: "lerp", syntax: Call("lerp"), arity: 3, rule: ty::interpolation, truth: Pointwise(algebra::lerp), ..TURN },
    Operator { name: "lerp5", syntax: Call("lerp"), arity: 5, rule: ty::interpolation, domain: "third ≠ fifth", truth: Pointwise(algebra::lerp_between), ..TURN },
    Operator { name: "clerp", syntax: Call("clerp"), arity: 3, rule: ty::interpolation, domain: "away from the bounds", truth: Pointwise(algebra::clerp), ..ROW },
    Operator { name: "clerp5", syntax: Call("clerp"), arity: 5, rule: ty::interpolation, domain: "third ≠ fifth, away from the bounds", truth: Pointwise(algebra::clerp_between), ..ROW },
    Operator { name: "clamp", syntax: Call("clamp"), arity: 3, rule: ty::clamp, domain: "away from the bounds", truth: Pointwise(algebra::clamp), ..ROW },

    // Selection by a condition: the third argument is positive. Of fields, it is a field function.
    Operator { name: "choice", syntax: Choice, arity: 3, rule: ty::interpolation, domain: "third ≠ 0", truth: Pointwise(scalar::choice), ..TURN },

    // Selection by number, from 1 and clamped.
    Operator { name: "swap[1]", syntax: CallWith("swap", "1"), arity: 2, rule: ty::equal_shapes, truth: Pointwise(|_, a| Ok(a[0].clone())), ..TURN },
    Operator { name: "swap[2]", syntax: CallWith("swap", "2"), arity: 3, rule: ty::equal_shapes, truth: Pointwise(|_, a| Ok(a[1].clone())), ..TURN },
    Operator { name: "swap[7]", syntax: CallWith("swap", "7"), arity: 2, rule: ty::equal_shapes, truth: Pointwise(|_, a| Ok(a[1].clone())), ..TURN },
];
