//! Messages for arguments that no row of the operator table accepts.

use super::{
    context::Cx,
    indexed,
    messages::{conversion_advice, kernel_advice, list, plural},
    overload::is_function,
    tree::recurrence::int,
    tree::{Expr, ExprKind},
};
use crate::front::{codes, diag::Fix, source::Span};
use ein_ir::{
    Continuity, Type,
    ops::{self, Lift, Mismatch, OpDef, Reduction, Rejection, spelling},
};

/// Reports that no row accepts the arguments.
pub(super) fn report(
    cx: &mut Cx<'_>,
    spelling: &str,
    op_span: Span,
    args: &[Expr],
    rejection: &Rejection,
) {
    let fitting = rejection.of_this_arity();
    if fitting.is_empty() {
        let message = format!(
            "`{}` cannot take {} {}",
            shown(spelling),
            args.len(),
            plural(args.len(), "argument")
        );
        let found: Vec<Type> = args.iter().map(|arg| arg.ty.clone()).collect();
        let hints = match advice(spelling, &found) {
            Some(advice) => vec![advice.to_owned()],
            None => usages(spelling, &rejection.reasons.iter().collect::<Vec<_>>()),
        };
        let fix = replacement(spelling, &found, op_span);
        cx.error(codes::ARGUMENT_COUNT, op_span, message)
            .hints(hints)
            .fix(fix);
        return;
    }
    let found: Vec<Type> = args.iter().map(|arg| arg.ty.clone()).collect();
    let advice = advice(spelling, &found).map(str::to_owned);
    let fix = replacement(spelling, &found, op_span);
    let are_parts = matches!(
        spelling,
        spelling::CONCAT | "concat" | spelling::SEQUENCE | spelling::SELECT
    );
    match (rejection.only_type(), rejection.nearest()) {
        (_, Some((row, Mismatch::NoDerivative { argument, .. }))) if row.time_derivatives > 0 => {
            no_derivative_by_time(cx, &args[*argument], op_span);
        }
        (_, Some((row, Mismatch::NoDerivative { argument, .. }))) => {
            no_derivative(cx, row.derivatives, &args[*argument], op_span);
        }
        // If there is only one way to use it, the message names the argument that must have one certain type.
        (Some((argument, wanted)), _)
            if (fitting.len() == 1 || spelling == spelling::ELEMENT)
                && (!are_parts || *wanted == Type::Bool) =>
        {
            let (at, found) = (args[argument].span, &found[argument]);
            let what = role(spelling, argument);
            let message = format!("{what} must have type `{wanted}`, but has type `{found}`");
            cx.error(codes::TYPE_MISMATCH, at, message)
                .label(at, format!("`{found}`, wanted `{wanted}`"))
                .hints(advice.or_else(|| conversion_advice(found, wanted)))
                .fix(fix);
        }
        (_, Some((_, near))) if are_parts => elements_differ(cx, spelling, args, near),
        (_, near) => {
            let hints = match near {
                _ if advice.is_some() => advice.into_iter().collect(),
                // What the first arguments ask of the others says more than what the operator could be applied to.
                Some((
                    _,
                    near
                    @ (Mismatch::Shape { argument, .. } | Mismatch::Dimension { argument, .. }),
                )) if *argument > 0 => vec![near.to_string()],
                _ => usages(spelling, &fitting),
            };
            let message = match found.as_slice() {
                [Type::Seq(element, _)] if Reduction::named(spelling).is_some() => {
                    format!("`{spelling}` cannot reduce elements of type `{element}`")
                }
                _ => format!(
                    "`{}` cannot be applied to {}",
                    shown(spelling),
                    list(&found)
                ),
            };
            let mut report = cx.error(codes::NO_OVERLOAD, op_span, message);
            for arg in args {
                report = report.label(arg.span, format!("`{}`", arg.ty));
            }
            report.hints(hints).fix(fix);
        }
    }
}

/// How messages write an operator.
fn shown(spelling: &str) -> &str {
    match spelling {
        spelling::NORM => "|…|",
        _ => spelling,
    }
}

/// What messages call an argument.
fn role(spelling: &str, argument: usize) -> String {
    match spelling {
        spelling::PROBE => "the position of a probe".to_owned(),
        spelling::ELEMENT => "the index of a sequence".to_owned(),
        spelling::SELECT => "a condition".to_owned(),
        _ if is_function(spelling) => format!("argument {} of `{spelling}`", argument + 1),
        _ => format!("an operand of `{spelling}`"),
    }
}

/// Reports what does not go with the first element of a tensor or sequence, or with the other branch of a conditional.
fn elements_differ(cx: &mut Cx<'_>, spelling: &str, args: &[Expr], mismatch: &Mismatch) {
    let argument = match mismatch {
        Mismatch::Kind { argument, .. }
        | Mismatch::Shape { argument, .. }
        | Mismatch::Dimension { argument, .. } => *argument,
        _ => args.len() - 1,
    };
    let (first, other) = (&args[0], &args[argument]);
    let (code, alien, hint) = match spelling {
        spelling::SELECT => (
            codes::CONDITIONAL_BRANCH,
            "a conditional cannot choose between values",
            "fields, images, kernels and strands cannot be chosen; choose between probed values instead",
        ),
        spelling::SEQUENCE => (
            codes::SEQUENCE_ELEMENT,
            "a sequence cannot have elements",
            "elements have value types, such as `int` and tensors, or are strands",
        ),
        _ => (
            codes::TENSOR_ELEMENT,
            "a tensor cannot have elements",
            "elements of `[…]` are numbers, tensors, or fields; a sequence is written `{…}`",
        ),
    };
    let is_alien = |arg: &&Expr| match spelling {
        spelling::SELECT => !arg.ty.is_value(),
        spelling::SEQUENCE => !arg.ty.is_element(),
        _ => !matches!(arg.ty, Type::Int | Type::Tensor(_) | Type::Field { .. }),
    };
    if let Some(arg) = args.iter().find(is_alien) {
        let message = format!("{alien} of type `{}`", arg.ty);
        cx.error(code, arg.span, message).hint(hint);
        return;
    }
    let whole = match spelling {
        spelling::SELECT => "the branches of a conditional",
        spelling::SEQUENCE => "the elements of a sequence",
        _ => "the elements of a tensor",
    };
    let message = format!("{whole} differ: `{}` and `{}`", first.ty, other.ty);
    let is_tensor = !matches!(spelling, spelling::SELECT | spelling::SEQUENCE);
    let hint = is_tensor.then(|| joined_advice(cx, args)).flatten();
    cx.error(codes::ELEMENTS_DIFFER, other.span, message)
        .label(first.span, format!("`{}`", first.ty))
        .label(other.span, format!("`{}`", other.ty))
        .hints(hint);
}

/// How vectors and numbers are put one after the other: `[v[0], v[1], v[2], 1]`.
fn joined_advice(cx: &Cx<'_>, args: &[Expr]) -> Option<String> {
    /// Longer vectors are not written out.
    const LONGEST: usize = 9;
    let is_vector = |arg: &Expr| matches!(&arg.ty, Type::Tensor(shape) if shape.order() == 1);
    // Rows of different lengths are not meant to be joined.
    if args.iter().all(is_vector) {
        return None;
    }
    let mut parts = Vec::new();
    for (n, arg) in args.iter().enumerate() {
        let name = match (indexed::name_of(cx, arg), int(arg)) {
            (Some(name), _) => name.to_owned(),
            (None, Some(number)) => number.to_string(),
            (None, None) => ["a", "b", "c", "d"].get(n)?.to_string(),
        };
        match &arg.ty {
            Type::Tensor(shape) if is_vector(arg) => {
                parts.extend((0..shape.size()).map(|k| format!("{name}[{k}]")));
            }
            Type::Int => parts.push(name),
            Type::Tensor(shape) if shape.is_scalar() => parts.push(name),
            _ => return None,
        }
    }
    (parts.len() <= LONGEST).then(|| {
        format!(
            "`[…]` does not join vectors; write the components: `[{}]`",
            parts.join(", ")
        )
    })
}

/// Reports a derivative too many: how many are taken of how smooth a field, and which kernels have enough.
fn no_derivative(cx: &mut Cx<'_>, derivatives: u32, operand: &Expr, op_span: Span) {
    let (mut field, mut taken) = (operand, derivatives);
    while let ExprKind::Op { op, args } = &field.kind
        && op.row.lift == Lift::Derivative
    {
        (field, taken) = (&args[0], taken + op.row.derivatives);
    }
    let has = match field.ty {
        Type::Field {
            continuity: Continuity::Finite(k),
            ..
        } => k,
        _ => 0,
    };
    let message = match has {
        0 => format!(
            "cannot differentiate a field of type `{}`: it has no continuous derivative",
            field.ty
        ),
        _ => format!(
            "cannot take {taken} {} of a field of type `{}`: it has only {has} continuous {}",
            plural(taken as usize, "derivative"),
            field.ty,
            plural(has as usize, "derivative"),
        ),
    };
    let field_span = field.span;
    cx.error(codes::NO_DERIVATIVE, op_span, message)
        .label(field_span, format!("C{}", superscript(has)))
        .hint(kernel_advice(Continuity::Finite(taken)));
}

/// The same for a derivative by time.
fn no_derivative_by_time(cx: &mut Cx<'_>, field: &Expr, op_span: Span) {
    let message = format!(
        "cannot differentiate a field of type `{}` by time: it has no continuous derivative by time",
        field.ty
    );
    let kernels = kernel_advice(Continuity::Finite(1));
    cx.error(codes::NO_DERIVATIVE, op_span, message)
        .hint(format!("in time, {kernels}: `KRNS(…, ctmr) ⊛ …`"))
        .hint("a field on a mesh is linear between frames, so it has no such derivative");
}

fn superscript(n: u32) -> String {
    n.to_string()
        .chars()
        .filter_map(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize - '0' as usize))
        .collect()
}

/// A hint about the probable meaning of an operator that is applied to these types.
fn advice(spelling: &str, found: &[Type]) -> Option<&'static str> {
    let order = |ty: &Type| match ty {
        Type::Tensor(shape) | Type::Field { shape, .. } => Some(shape.order()),
        Type::Int => Some(0),
        _ => None,
    };
    let is_field = |ty: &Type| matches!(ty, Type::Field { .. });
    let is_fem = |ty: &Type| matches!(ty, Type::Fem { .. });
    let is_image = |ty: &Type| matches!(ty, Type::Image { .. });
    // All ways to write an operator have the advice of its symbol.
    let symbol = ops::candidates(spelling).next()?.syntax[0].spelling();
    match (symbol, found) {
        ("∇", [ty]) if is_field(ty) => {
            Some("`∇` is the gradient of a scalar field; `∇⊗` differentiates vectors and tensors")
        }
        ("∇⊗", [ty]) if is_field(ty) => Some(
            "`∇⊗` differentiates fields of vectors and tensors; the gradient of a scalar field is `∇`",
        ),
        ("∇×", [ty]) if is_field(ty) => Some("`∇×` wants `field#k(2)[2]` or `field#k(3)[3]`"),
        ("∇•", [ty]) if is_field(ty) => {
            Some("`∇•` wants a field whose last axis is as long as its domain has dimensions")
        }
        ("∇" | "∇⊗" | "∇×" | "∇•" | "∇²", [_]) => {
            Some("only fields can be differentiated")
        }
        ("*" | "@", [a, b]) if is_image(a) || is_image(b) => {
            Some("a kernel and an image make a field by convolution: `⊛`, or `\\conv`")
        }
        ("*", [a, b]) if order(a) >= Some(1) && order(b) >= Some(1) => Some(
            "`*` scales by a number; products of tensors are `•`, `⊗`, `×`, `:` and `modulate`",
        ),
        ("/", [_, b]) if order(b) >= Some(1) => Some("only a number can divide"),
        (":", [a, b]) if order(a) == Some(0) && order(b) == Some(0) => Some(
            "`:` in brackets selects components: `m[0,:]` is a row, `v[0:2]` the components 0 and 1",
        ),
        ("%", [a, b]) if order(a) == Some(0) && order(b) == Some(0) => {
            Some("the remainder of reals is `fmod(a, b)`")
        }
        ("==" | "!=" | "<" | "<=" | ">" | ">=", [a, b]) if is_field(a) || is_field(b) => {
            Some("fields cannot be compared; probe them at a position first")
        }
        ("==" | "!=", [a, b]) if order(a) >= Some(1) && order(b) >= Some(1) => {
            Some("tensors cannot be compared; compare the norm of their difference: `|a - b| < …`")
        }
        ("⊛", [a, b]) if is_fem(a) || is_fem(b) => {
            Some("values on a mesh have a basis of their own; their field is `toField(g)`")
        }
        ("clamp" | "wrap" | "mirror", [ty]) if is_fem(ty) => {
            Some("outside a mesh only a constant can be given: `border(g, c)`")
        }
        ("⊛", [..]) => Some("`⊛` wants a kernel and an image"),
        ("length", [ty]) if order(ty) >= Some(1) => {
            Some("`length` counts the elements of a sequence; the length of a vector is `|v|`")
        }
        ("size", [Type::Seq(..)]) => Some("the number of elements of a sequence is `length(s)`"),
        ("inside", [_, Type::Field { time: Some(_), .. }]) => {
            Some("a field over time is asked at a position and a time: `inside(x, t, F)`")
        }
        ("inside", [_, _, Type::Field { time: None, .. }]) => {
            Some("the field does not change over time: `inside(x, F)`")
        }
        ("atan", [_, _]) => Some("the angle of a vector is `atan2(y, x)`"),
        ("real", [ty]) if *ty == Type::REAL => Some("it is a real already"),
        ("mean" | "variance", [Type::Seq(element, _)]) if **element == Type::Int => {
            Some("convert the elements to reals: `real(…)`")
        }
        _ => None,
    }
}

/// The operator that is probably meant, in the place of one that is applied to these types.
fn replacement(spelling: &str, found: &[Type], op_span: Span) -> Option<Fix> {
    let symbol = ops::candidates(spelling).next()?.syntax[0].spelling();
    let is_image = |ty: &Type| matches!(ty, Type::Image { .. });
    let meant = match (symbol, found) {
        ("∇", [Type::Field { shape, .. }]) if !shape.is_scalar() => "∇⊗",
        ("∇⊗", [Type::Field { shape, .. }]) if shape.is_scalar() => "∇",
        ("*" | "@", [Type::Kernel(_), image]) if is_image(image) => "⊛",
        ("*" | "@", [image, Type::Kernel(_)]) if is_image(image) => "⊛",
        ("size", [Type::Seq(..)]) => "length",
        ("atan", [_, _]) => "atan2",
        _ => return None,
    };
    Some(Fix::replace(op_span, meant))
}

/// At most this many usages are listed.
const USAGES: usize = 4;

/// How rows are used, as a hint.
fn usages(spelling: &str, reasons: &[&(&'static OpDef, Mismatch)]) -> Vec<String> {
    let mut usages: Vec<String> = Vec::new();
    for (row, _) in reasons {
        let usage = format!("`{}`", row.usage(spelling));
        if !usages.contains(&usage) {
            usages.push(usage);
        }
    }
    usages.truncate(USAGES);
    let liftable = reasons.iter().any(|(row, _)| row.lift == Lift::Pointwise);
    let fields = if liftable {
        "; fields may stand for tensors"
    } else {
        ""
    };
    match usages.is_empty() {
        true => Vec::new(),
        false => vec![format!("wanted: {}{fields}", usages.join(" or "))],
    }
}
