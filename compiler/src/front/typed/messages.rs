//! Messages that several parts of the checker give, and the advice that goes with them.

use super::context::Cx;
use crate::front::source::Span;
use ein_ir::{Continuity, Type, kernel::KERNELS};

/// How an image becomes a field.
pub(super) const CONVOLVE: &str =
    "a field is made from an image by convolution with a kernel, for example `bspln3 ⊛ …`";

/// Reports that a value has a type that does not convert to the one that is wanted.
pub(super) fn mismatch(cx: &mut Cx<'_>, span: Span, what: &str, wanted: &Type, found: &Type) {
    cx.error(
        "type-mismatch",
        span,
        format!("{what} must have type `{wanted}`, but has type `{found}`"),
    )
    .hints(conversion_advice(found, wanted));
}

/// What to do about a value that has one type where another is wanted.
pub(super) fn conversion_advice(found: &Type, wanted: &Type) -> Option<String> {
    match (found, wanted) {
        (Type::Tensor(shape), Type::Int) if shape.is_scalar() => Some(
            "a real is never converted to an int; `floor`, `round` and the like return reals"
                .to_owned(),
        ),
        (Type::Int, Type::Bool) => Some("compare with 0 to get a truth value".to_owned()),
        (Type::Image { .. }, Type::Field { .. }) => Some(CONVOLVE.to_owned()),
        (Type::Field { shape, .. }, Type::Tensor(wanted)) if shape == wanted => {
            Some("probe the field at a position to get a value: `F(x)`".to_owned())
        }
        (
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
        ) if d == dim && s == shape && has < continuity => kernel_advice(*continuity),
        (Type::Kernel(k), Type::Kernel(_)) => Some(format!("declare it as `kernel{k}`")),
        (Type::Seq(_, None), Type::Seq(_, Some(_))) => Some(format!(
            "the length of the sequence is known only at run time; declare it as `{found}`"
        )),
        (Type::Seq(from, None), Type::Seq(to, None))
            if **from == Type::Int && **to == Type::REAL =>
        {
            Some("convert the elements: `{ real(i) | i in … }`".to_owned())
        }
        _ => None,
    }
}

/// The kernels that give fields of at least this continuity.
pub(super) fn kernel_advice(continuity: Continuity) -> Option<String> {
    let names: Vec<String> = KERNELS
        .iter()
        .filter(|kernel| kernel.declared() >= continuity)
        .map(|kernel| format!("`{}` has {}", kernel.name, kernel.continuity))
        .collect();
    let Continuity::Finite(k) = continuity else {
        return Some("no kernel gives a C^∞ field; declare the field with `#k`".to_owned());
    };
    if names.is_empty() {
        return Some(format!("no kernel has {k} continuous derivatives"));
    }
    Some(format!(
        "kernels with at least {k} continuous {}: {}",
        plural(k as usize, "derivative"),
        names.join(", ")
    ))
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
