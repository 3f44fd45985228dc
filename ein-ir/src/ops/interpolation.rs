//! Rows of interpolation, clamping and selection.

use super::{Form as EinForm, Meaning, OpDef, Oracle, POINTWISE, Syntax};
use crate::{Jet, Tensor};
use Syntax::Call;

pub(super) const ROWS: &[OpDef] = &[
    OpDef {
        name: "lerp",
        syntax: &[Call("lerp")],
        sig: "[α] [α] [] -> [α]",
        meaning: Meaning::Ein("α | a[α] + c (b[α] − a[α])"),
        oracle: Oracle::Components(|x| mix(x, &x[2][[]])),
        doc: "lerp(a, b, t): from `a` at t = 0 to `b` at t = 1",
        ..POINTWISE
    },
    OpDef {
        name: "lerp_between",
        syntax: &[Call("lerp")],
        sig: "[α] [α] [] [] [] -> [α]",
        meaning: Meaning::Ein("α | a[α] + ((d − c) / (e − c)) (b[α] − a[α])"),
        oracle: Oracle::Components(|x| mix(x, &unlerp(x))),
        doc: "lerp(a, b, t0, t, t1): from `a` at t = t0 to `b` at t = t1",
        ..POINTWISE
    },
    OpDef {
        name: "clerp",
        syntax: &[Call("clerp")],
        sig: "[α] [α] [] -> [α]",
        meaning: Meaning::Ein(
            "α | let x = a[α] + c (b[α] − a[α]). \
             if (if b[α] ≤ x then b[α] else x) ≤ a[α] then a[α] else if b[α] ≤ x then b[α] else x",
        ),
        oracle: Oracle::Components(|x| bound(&x[0], &x[1], &mix(x, &x[2][[]]))),
        doc: "clerp(a, b, t): `clamp(a, b, lerp(a, b, t))`, which needs a ≤ b in every component; `lerp(a, b, clamp(0, 1, t))` does not",
        ..POINTWISE
    },
    OpDef {
        name: "clerp_between",
        syntax: &[Call("clerp")],
        sig: "[α] [α] [] [] [] -> [α]",
        meaning: Meaning::Ein(
            "α | let x = a[α] + ((d − c) / (e − c)) (b[α] − a[α]). \
             if (if b[α] ≤ x then b[α] else x) ≤ a[α] then a[α] else if b[α] ≤ x then b[α] else x",
        ),
        oracle: Oracle::Components(|x| bound(&x[0], &x[1], &mix(x, &unlerp(x)))),
        doc: "clerp(a, b, t0, t, t1): `clamp(a, b, lerp(a, b, t0, t, t1))`",
        ..POINTWISE
    },
    OpDef {
        name: "clamp",
        syntax: &[Call("clamp")],
        sig: "[α] [α] [α] -> [α]",
        meaning: Meaning::Ein(
            "α | let x = if b[α] ≤ c[α] then b[α] else c[α]. if x ≤ a[α] then a[α] else x",
        ),
        oracle: Oracle::Components(|x| bound(&x[0], &x[1], &x[2])),
        doc: "clamp(lo, hi, x): the larger of `lo` and the smaller of `hi` and `x`, component by component",
        ..POINTWISE
    },
    OpDef {
        name: "clamp_components",
        syntax: &[Call("clamp")],
        sig: "[] [] [α] -> [α]",
        meaning: Meaning::Ein("α | let x = if b ≤ c[α] then b else c[α]. if x ≤ a then a else x"),
        oracle: Oracle::Components(|x| {
            let all = |bound: &Tensor<Jet>| x[2].map(|_| bound[[]].clone());
            bound(&all(&x[0]), &all(&x[1]), &x[2])
        }),
        doc: "clamp(lo, hi, x): every component of `x` between two numbers; `lo` if they are in the wrong order",
        ..POINTWISE
    },
    OpDef {
        name: "swap",
        syntax: &[Call("swap")],
        sig: "int n×[α] -> [α]",
        meaning: Meaning::Form(EinForm::Swap),
        oracle: Oracle::Components(|x| {
            let number = x[0][[]].value() as isize;
            x[number.clamp(1, x.len() as isize - 1) as usize].clone()
        }),
        doc: "swap(i, a, b, …): the i-th of several tensors or fields, counted from 1 and clamped",
        ..POINTWISE
    },
];

/// (1 − t)·a + t·b
fn mix(x: &[Tensor<Jet>], t: &Jet) -> Tensor<Jet> {
    let rest = &Jet::constant(t.dim(), t.order(), 1.0) - t;
    Tensor::from_fn(x[0].shape(), |i| &(&rest * x[0].at(i)) + &(t * x[1].at(i)))
}

/// Where the fourth argument is between the third and the fifth.
fn unlerp(x: &[Tensor<Jet>]) -> Jet {
    let ends = [&x[2][[]], &x[4][[]]];
    &(&x[3][[]] - ends[0]) / &(ends[1] - ends[0])
}

/// max(lo, min(hi, x)) in every component. This is continuous even where the bounds are in the wrong order, so `x` may be rounded
/// in any way.
fn bound(lo: &Tensor<Jet>, hi: &Tensor<Jet>, x: &Tensor<Jet>) -> Tensor<Jet> {
    Tensor::from_fn(x.shape(), |i| {
        let below = if hi.at(i).value() <= x.at(i).value() {
            hi
        } else {
            x
        };
        let chosen = if below.at(i).value() <= lo.at(i).value() {
            lo
        } else {
            below
        };
        chosen.at(i).clone()
    })
}
