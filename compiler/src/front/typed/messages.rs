//! Messages that several parts of the checker give, and the advice that goes with them.

use super::{
    context::Cx,
    tree::{Expr, ExprKind},
};
use crate::front::codes;
use ein_ir::{Continuity, Type, kernel::KERNELS, ops::Lift};

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
        },
        Type::Field {
            continuity,
            dim,
            shape,
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
