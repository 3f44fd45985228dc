//! Messages that several parts of the checker give, and the advice that goes with them.

use super::{
    context::Cx,
    tree::{Expr, ExprKind},
};
use crate::front::codes;
use ein_ir::{Continuity, Shape, Type, kernel::KERNELS, ops::Lift};

/// How values on a mesh become a field.
pub(super) const TO_FIELD: &str = "the field of values on a mesh is `toField(g)`";

/// How an image becomes a field.
pub(super) const CONVOLVE: &str =
    "a field is made from an image by convolution with a kernel, for example `bspln3 ⊛ …`";

/// Reports that a value has a type that does not convert to the one that is wanted.
pub(super) fn mismatch(cx: &mut Cx<'_>, what: &str, wanted: &Type, found: &Expr) {
    let (span, ty) = (found.span, &found.ty);
    let hints = rougher_advice(found, wanted).or_else(|| conversion_advice(ty, wanted));
    cx.error(
        codes::TYPE_MISMATCH,
        span,
        format!("{what} must have type `{wanted}`, but has type `{ty}`"),
    )
    .label(span, format!("`{ty}`, wanted `{wanted}`"))
    .hints(hints);
}

/// What to do about a field that is rougher than wanted: every derivative that was taken needs one more of the kernel.
fn rougher_advice(found: &Expr, wanted: &Type) -> Option<String> {
    let (
        Type::Field {
            continuity: has,
            dim: d,
            shape: s,
            ..
        },
        Type::Field {
            continuity,
            dim,
            shape,
            ..
        },
    ) = (&found.ty, wanted)
    else {
        return None;
    };
    if d != dim || s != shape || has >= continuity {
        return None;
    }
    let declare = format!("or declare it as `{}`", found.ty);
    let advice = match (continuity, derivatives(found)) {
        (Continuity::Finite(k), taken @ 1..) => format!(
            "{k} and the {taken} taken here make {}; {}",
            k + taken,
            kernel_advice(Continuity::Finite(k + taken))
        ),
        _ => kernel_advice(*continuity),
    };
    Some(format!("{advice}; {declare}"))
}

/// The largest number of derivatives that an expression takes of anything in it.
fn derivatives(expr: &Expr) -> u32 {
    let inside = expr.children().into_iter().map(derivatives).max();
    let own = match &expr.kind {
        ExprKind::Op { op, .. } if op.row.lift == Lift::Derivative => op.row.derivatives,
        _ => 0,
    };
    own + inside.unwrap_or(0)
}

/// What to do about a value that has one type where another is wanted.
pub(super) fn conversion_advice(found: &Type, wanted: &Type) -> Option<String> {
    match (found, wanted) {
        (Type::Tensor(shape), Type::Int) if shape.is_scalar() => Some(
            "a real is never converted to an int, and `floor`, `round` and the like return reals: keep it as a `real`, or count in ints from the start"
                .to_owned(),
        ),
        (Type::Int, Type::Bool) => Some("compare with 0 to get a truth value".to_owned()),
        (Type::Image { .. }, Type::Field { .. }) => Some(CONVOLVE.to_owned()),
        (Type::Fem { .. }, Type::Field { .. }) => Some(TO_FIELD.to_owned()),
        (Type::Field { shape, .. }, Type::Tensor(wanted)) if shape == wanted => {
            Some("probe the field at a position to get a value: `F(x)`".to_owned())
        }
        (Type::Field { time: Some(_), .. }, Type::Field { time: None, .. }) => Some(
            "a field over time becomes one that does not change at a time: `field#k(d)[σ] G(x) = F(x, t)`"
                .to_owned(),
        ),
        (Type::Field { time: Some(found), .. }, Type::Field { time: Some(wanted), .. }) if found < wanted => {
            Some(format!(
                "the second kernel of `KRNS(…, …) ⊛ …` is that of time, and one kernel alone has `tent` there; {}",
                kernel_advice(*wanted)
            ))
        }
        (Type::String, Type::Image { .. }) => {
            Some("an image is read from a file by `load_image(\"…\")`".to_owned())
        }
        (Type::String, Type::Fem { .. }) => {
            Some("values on a mesh are read from a file by `load_fem(\"…\")`".to_owned())
        }
        (Type::String, Type::Seq(..)) => {
            Some("a sequence is read from a file by `load_sequence(\"…\")`".to_owned())
        }
        (from, Type::Tensor(shape)) if from.coerces_to(&Type::REAL) && !shape.is_scalar() => {
            Some(filled_advice(shape))
        }
        (Type::Kernel(k), Type::Kernel(_)) => Some(format!("declare it as `kernel{k}`")),
        (Type::Seq(_, None), Type::Seq(_, Some(_))) => Some(format!(
            "the length of the sequence is known only at run time; declare it as `{found}`"
        )),
        (Type::Seq(from, None), Type::Seq(to, None))
            if **from == Type::Int && **to == Type::REAL =>
        {
            Some("convert the elements: `{ real(i) | i in … }`".to_owned())
        }
        (Type::Seq(element, Some(n)), Type::Tensor(shape))
            if shape.dims() == [*n] && element.coerces_to(&Type::REAL) =>
        {
            Some("`{…}` is a sequence; a vector is written `[…]`".to_owned())
        }
        (Type::Tensor(shape), Type::Seq(element, _))
            if shape.order() == 1 && Type::REAL.coerces_to(element) =>
        {
            Some("`[…]` is a vector; a sequence is written `{…}`".to_owned())
        }
        _ => None,
    }
}

/// How a tensor is written that has one number in all its components.
fn filled_advice(shape: &Shape) -> String {
    /// Longer vectors are not written out.
    const LONGEST: usize = 9;
    let zeros: Vec<String> = shape.dims().iter().map(usize::to_string).collect();
    let zeros = format!("`zeros[{}]` is 0 in all", zeros.join(","));
    match shape.dims() {
        &[n] if n <= LONGEST => format!(
            "a tensor is written by its components: `[{}]`; {zeros}",
            vec!["a"; n].join(", ")
        ),
        _ => format!("a number is not a tensor; {zeros}"),
    }
}

/// The kernels that give fields of at least this continuity.
pub(super) fn kernel_advice(continuity: Continuity) -> String {
    let names: Vec<String> = KERNELS
        .iter()
        .filter(|kernel| kernel.declared() >= continuity)
        .map(|kernel| format!("`{}` has {}", kernel.name, kernel.continuity))
        .collect();
    let Continuity::Finite(k) = continuity else {
        return "no kernel gives a C^∞ field; declare the field with `#k`".to_owned();
    };
    if names.is_empty() {
        return format!("no kernel has {k} continuous derivatives");
    }
    format!(
        "kernels with at least {k} continuous {}: {}",
        plural(k as usize, "derivative"),
        names.join(", ")
    )
}

/// `1 argument`, `2 arguments`: the noun that goes with a number.
pub(super) fn plural(n: usize, noun: &str) -> String {
    match n {
        1 => noun.to_owned(),
        _ => format!("{noun}s"),
    }
}

/// Types as they are listed in messages.
pub(super) fn list(types: &[Type]) -> String {
    let names: Vec<String> = types.iter().map(|ty| format!("`{ty}`")).collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
