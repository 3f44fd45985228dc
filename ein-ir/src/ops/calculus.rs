//! Rows of fields: differentiation, probing, composition.

use super::{
    Builtin, DERIVATIVE, Form as EinForm, Level, Meaning, OpDef, Oracle, PLAIN, Syntax, spelling,
};
use crate::{Jet, Shape, Tensor};
use Level::{Composition, Derivative, Suffix};
use Syntax::{Call, Form, Infix, Prefix};

const GRAD: &[Syntax] = &[
    Prefix("∇", Derivative),
    Prefix("\\grad", Derivative),
    Call("grad"),
];
const JACOBIAN: &[Syntax] = &[
    Prefix("∇⊗", Derivative),
    Prefix("\\jacobian", Derivative),
    Call("jacobian"),
];
const DIVERGENCE: &[Syntax] = &[
    Prefix("∇•", Derivative),
    Prefix("∇⋅", Derivative),
    Prefix("\\div", Derivative),
    Call("div"),
];
const CURL: &[Syntax] = &[
    Prefix("∇×", Derivative),
    Prefix("\\curl", Derivative),
    Call("curl"),
];
const LAPLACIAN: &[Syntax] = &[
    Prefix("∇²", Derivative),
    Prefix("\\laplacian", Derivative),
    Call("laplacian"),
];
const COMPOSE: &[Syntax] = &[
    Infix("∘", Composition),
    Infix("\\compose", Composition),
    Call("compose"),
];

pub(super) const ROWS: &[OpDef] = &[
    OpDef {
        name: "gradient",
        syntax: GRAD,
        sig: "[] -> [d]",
        meaning: Meaning::Ein("i:d | ∂i a"),
        oracle: Oracle::Components(derivatives),
        doc: "gradient of a scalar field; in one dimension its derivative",
        ..DERIVATIVE
    },
    OpDef {
        name: "jacobian",
        syntax: JACOBIAN,
        sig: "[n α] -> [n α d]",
        meaning: Meaning::Ein("i:n α j:d | ∂j a[i α]"),
        oracle: Oracle::Components(derivatives),
        doc: "all derivatives of a field of vectors or tensors, along a new last axis",
        ..DERIVATIVE
    },
    OpDef {
        name: "divergence",
        syntax: DIVERGENCE,
        sig: "[α d] -> [α]",
        meaning: Meaning::Ein("α | Σ k:d. ∂k a[α k]"),
        oracle: Oracle::Components(divergence),
        doc: "divergence along the last axis",
        ..DERIVATIVE
    },
    OpDef {
        name: "curl2",
        syntax: CURL,
        sig: "field(2)[2] -> field(2)[]",
        meaning: Meaning::Ein("Σ i:2. Σ j:2. ε[i j] ∂i a[j]"),
        oracle: Oracle::Components(|x| Tensor::scalar(rotation(&x[0], 0, 1))),
        doc: "curl in the plane: ∂₀a₁ − ∂₁a₀",
        ..DERIVATIVE
    },
    OpDef {
        name: "curl3",
        syntax: CURL,
        sig: "field(3)[3] -> field(3)[3]",
        meaning: Meaning::Ein("i:3 | Σ j:3. Σ k:3. ε[i j k] ∂j a[k]"),
        oracle: Oracle::Components(|x| {
            Tensor::from_fn(&Shape::new([3]), |i| {
                rotation(&x[0], (i[0] + 1) % 3, (i[0] + 2) % 3)
            })
        }),
        doc: "curl",
        ..DERIVATIVE
    },
    OpDef {
        name: "laplacian",
        syntax: LAPLACIAN,
        sig: "[α] -> [α]",
        meaning: Meaning::Ein("α | Σ k:d. ∂k ∂k a[α]"),
        derivatives: 2,
        oracle: Oracle::Components(laplacian),
        doc: "Laplacian: the sum of the second derivatives along all axes, component by component",
        ..DERIVATIVE
    },
    OpDef {
        name: "probe",
        syntax: &[Form(spelling::PROBE, "F(x)", Suffix)],
        sig: "field(d)[α] [d] -> [α]",
        meaning: Meaning::Form(EinForm::Probe),
        oracle: Oracle::Components(substitute),
        doc: "the value of a field at a position",
        ..PLAIN
    },
    OpDef {
        name: "probe_time",
        syntax: &[Form(spelling::PROBE, "F(x, t)", Suffix)],
        sig: "field(d,time)[α] [d] [] -> [α]",
        meaning: Meaning::Builtin(Builtin::ProbeTime),
        doc: "the value of a field over time at a position and a time, in seconds",
        ..PLAIN
    },
    OpDef {
        name: "time_derivative",
        syntax: &[Form(spelling::TIME_DERIVATIVE, "∂[time] F", Derivative)],
        sig: "field(d,time)[α] -> field(d,time)[α]",
        meaning: Meaning::Builtin(Builtin::TimeDerivative),
        time_derivatives: 1,
        doc: "the derivative of a field over time by the time, at a fixed position",
        ..PLAIN
    },
    OpDef {
        name: "compose",
        syntax: COMPOSE,
        sig: "field(n)[α] field(d)[n] -> field(d)[α]",
        meaning: Meaning::Ein("α | a[α]@b"),
        oracle: Oracle::Components(substitute),
        doc: "(F ∘ G)(x) = F(G(x))",
        ..PLAIN
    },
];

/// Every component differentiated along every axis of the domain; that axis last.
fn derivatives(x: &[Tensor<Jet>]) -> Tensor<Jet> {
    let dim = x[0].components()[0].dim();
    let components = x[0].components().iter();
    let derivatives = components.flat_map(|c| (0..dim).map(|axis| c.derivative(axis)));
    Tensor::new(x[0].shape().append(&[dim]), derivatives.collect())
}

fn divergence(x: &[Tensor<Jet>]) -> Tensor<Jet> {
    let dim = x[0].components()[0].dim();
    let dims = x[0].shape().dims();
    // In one dimension there is no axis to sum over.
    let shape = if dim == 1 {
        x[0].shape().clone()
    } else {
        Shape::from(&dims[..dims.len() - 1])
    };
    let runs = x[0].components().chunks(dim);
    let sums = runs.map(|run| {
        let terms = run.iter().enumerate().map(|(axis, c)| c.derivative(axis));
        terms
            .reduce(|sum, term| &sum + &term)
            .expect("there is an axis")
    });
    Tensor::new(shape, sums.collect())
}

/// ∂ⱼxₖ − ∂ₖxⱼ
fn rotation(x: &Tensor<Jet>, j: usize, k: usize) -> Jet {
    &x[[k]].derivative(j) - &x[[j]].derivative(k)
}

fn laplacian(x: &[Tensor<Jet>]) -> Tensor<Jet> {
    x[0].map(|c| {
        let terms = (0..c.dim()).map(|axis| c.derivative(axis).derivative(axis));
        terms
            .reduce(|sum, term| &sum + &term)
            .expect("there is an axis")
    })
}

/// The series of the first argument around the value of the second, at the series of the second.
fn substitute(x: &[Tensor<Jet>]) -> Tensor<Jet> {
    x[0].map(|c| c.compose(x[1].components()))
}
