//! Requirements of some operators beyond the types in their rows: the places where they may be used, and arguments that
//! must be constant.

use super::{
    constant,
    context::{Cx, Place},
    expr::{literal, typed, variable},
    messages::{mismatch, plural},
    overload::apply,
    reduce,
    tree::{Constant, Expr, ExprKind, convert::coerce},
    unroll,
};
use crate::front::{codes, source::Span, syntax::ast::Operator};
use ein_ir::{
    Kernel, Type,
    ops::{Border, Builtin, Form, Instance, Meaning},
};

/// A row applied to arguments of its types, if it may be here; `op_span` is where its name or symbol stands.
pub(super) fn restricted(
    cx: &mut Cx<'_>,
    op: Instance,
    mut args: Vec<Expr>,
    op_span: Span,
    span: Span,
) -> Option<Expr> {
    let symbol = Operator {
        symbol: op.row.syntax[0].spelling(),
        span: op_span,
    };
    match op.row.meaning {
        Meaning::Form(Form::Power) => return power(cx, op, args, symbol, span),
        // One part is the whole.
        Meaning::Form(Form::Concat) if args.len() == 1 => return args.pop(),
        Meaning::Builtin(builtin) => match builtin {
            Builtin::IntToReal => return args.pop().map(|arg| as_real(arg, span)),
            Builtin::Convolve => require_kernel_per_axis(cx, &args, span)?,
            Builtin::Blur => require_definition(cx, span)?,
            Builtin::AxisKernels => return axis_kernels(cx, op, &args, symbol, span),
            Builtin::Border(Border::Constant(())) => fold(cx, &mut args[1]),
            Builtin::Element => element_index(cx, &mut args)?,
            Builtin::Count(_) => require_strands(cx, symbol, span)?,
            Builtin::Sphere => require_position(cx, &args, span)?,
            Builtin::ReduceAtPoints(how) => return reduce::at_points(cx, how, args, symbol, span),
            Builtin::Nothing => return Some(literal(Type::Int, Constant::Int(0), span)),
            _ => {}
        },
        Meaning::Ein(_) | Meaning::Elementary(_) | Meaning::Form(_) => {}
    }
    Some(Expr::applied(op, args, span))
}

fn as_real(int: Expr, span: Span) -> Expr {
    Expr {
        span,
        ..coerce(int, &Type::REAL)
    }
}

/// `a ^ b`. An integer exponent that is known now becomes part of the operator.
fn power(
    cx: &mut Cx<'_>,
    op: Instance,
    mut args: Vec<Expr>,
    symbol: Operator,
    span: Span,
) -> Option<Expr> {
    let is_field = matches!(op.result, Type::Field { .. });
    let exponent = &args[1];
    let known = match constant::evaluate(cx, exponent) {
        Ok(Constant::Int(n)) => Some(n),
        _ => None,
    };
    match known.and_then(|n| i32::try_from(n).ok()) {
        Some(n) => {
            args.truncate(1);
            Some(Expr::applied(op.with_exponent(n), args, span))
        }
        None if is_field => {
            unroll::needs_value(cx, |var| exponent.mentions(var));
            let message = match known {
                None => "the exponent of a field must be a constant".to_owned(),
                Some(_) => format!("the exponent of a field must be at most {}", i32::MAX),
            };
            cx.error(codes::NON_CONSTANT_EXPONENT, exponent.span, message);
            None
        }
        None if cx.place == Place::FieldFunction => {
            // The base may depend on the position and is then differentiated, which needs the general power.
            let exponent = args.pop().map(|exponent| as_real(exponent, span))?;
            args.push(exponent);
            apply(cx, symbol.symbol, symbol.span, args, None, span)
        }
        None => Some(Expr::applied(op, args, span)),
    }
}

/// The kernels an expression of kernel type stands for, as far as that is known: one for all axes, or one per axis.
pub(super) fn kernels<'c>(cx: &'c Cx<'_>, expr: &'c Expr) -> Option<&'c Vec<&'static Kernel>> {
    match &expr.kind {
        ExprKind::Kernel(kernels) => Some(kernels),
        ExprKind::Var(var) => cx.var(*var).kernels.as_ref(),
        _ => None,
    }
}

/// An image is smoothed once, before there are strands.
fn require_definition(cx: &mut Cx<'_>, span: Span) -> Option<()> {
    if cx.place == Place::Item {
        return Some(());
    }
    let message = format!("an image cannot be smoothed in {}", cx.place.describe());
    cx.error(codes::BLUR_PLACE, span, message)
        .hint("define a global variable: `image(3)[] smooth = blur(img, …);`");
    None
}

fn require_kernel_per_axis(cx: &mut Cx<'_>, args: &[Expr], span: Span) -> Option<()> {
    let axes = args
        .iter()
        .find_map(|arg| kernels(cx, arg))
        .map_or(1, Vec::len);
    let (dim, timed) = args.iter().find_map(|arg| match arg.ty {
        Type::Image { dim, timed, .. } => Some((dim, timed)),
        _ => None,
    })?;
    let fits = match timed {
        false => axes == 1 || axes == dim,
        true => axes <= 2 || axes == dim + 1,
    };
    if fits {
        return Some(());
    }
    let over_time = if timed { " over time" } else { "" };
    let message = format!(
        "{axes} kernels cannot reconstruct an image of {dim} {}{over_time}",
        plural(dim, "dimension")
    );
    let hint = match timed {
        false => "`KRNS` takes one kernel per axis of the image",
        true => {
            "`KRNS` takes a kernel of space and one of time, or one per axis of the image and then one of time"
        }
    };
    cx.error(codes::AXIS_KERNELS, span, message).hint(hint);
    None
}

/// `KRNS(h, …)`: kernels that are known now, one per axis.
fn axis_kernels(
    cx: &mut Cx<'_>,
    op: Instance,
    args: &[Expr],
    symbol: Operator,
    span: Span,
) -> Option<Expr> {
    if args.len() > 4 {
        let message = format!(
            "`{}` takes one kernel per axis, from 1 to 3, and perhaps one of time, found {}",
            symbol.symbol,
            args.len()
        );
        cx.error(codes::ARGUMENT_COUNT, symbol.span, message);
        return None;
    }
    let mut found = Vec::new();
    for arg in args {
        let Some([kernel]) = kernels(cx, arg).map(Vec::as_slice) else {
            let message = format!(
                "`{}` wants kernels that are known at compile time",
                symbol.symbol
            );
            cx.error(codes::AXIS_KERNELS, arg.span, message);
            return None;
        };
        found.push(*kernel);
    }
    Some(typed(op.result, ExprKind::Kernel(found), span))
}

/// Replaces an expression by its value, if that is known.
fn fold(cx: &Cx<'_>, expr: &mut Expr) {
    if let Ok(value) = constant::evaluate(cx, expr) {
        expr.kind = ExprKind::Constant(value);
    }
}

/// An index that is known now is compared with a length that is known now. That of a field must be.
fn element_index(cx: &mut Cx<'_>, args: &mut [Expr]) -> Option<()> {
    let [sequence, index] = args else {
        return Some(());
    };
    let Type::Seq(element, _) = &sequence.ty else {
        return Some(());
    };
    if matches!(**element, Type::Field { .. }) {
        constant::require(cx, index, "the index of a sequence of fields")?;
    }
    fold(cx, index);
    let ExprKind::Constant(Constant::Int(at)) = index.kind else {
        unroll::note_element(cx, index, &sequence.ty);
        return Some(());
    };
    element_at(cx, at, &sequence.ty, index.span)
}

/// An element at a place of a sequence, which must have it if its length is known.
pub(super) fn element_at(cx: &mut Cx<'_>, at: i64, sequence: &Type, span: Span) -> Option<()> {
    let is_inside = match sequence {
        Type::Seq(_, Some(length)) => at < *length as i64,
        _ => true,
    };
    if at >= 0 && is_inside {
        return Some(());
    }
    let message = format!("index {at} is out of range for a sequence of type `{sequence}`");
    cx.error(codes::INDEX_RANGE, span, message)
        .hint("elements are counted from 0");
    None
}

/// `numActive()` and its kin: only where there are strands.
fn require_strands(cx: &mut Cx<'_>, symbol: Operator, span: Span) -> Option<()> {
    if matches!(cx.place, Place::Method(_)) || cx.place.is_between_steps() {
        return Some(());
    }
    let message = format!("strands cannot be counted in {}", cx.place.describe());
    cx.error(codes::COUNT_PLACE, span, message).hint(format!(
        "`{}` can be used in methods and in the global `start` and `update` blocks",
        symbol.symbol
    ));
    None
}

/// `sphere(r)`, `sphere(c, r)`: around the strand's position or a point of the same space.
fn require_position(cx: &mut Cx<'_>, args: &[Expr], span: Span) -> Option<()> {
    let position = cx.strand.as_ref()?.position?;
    let Some([center, _]) = args.first_chunk() else {
        variable(cx, position, span);
        return Some(());
    };
    cx.vars[position.0].read = true;
    let wanted = cx.var(position).ty.clone()?;
    if center.ty == wanted {
        return Some(());
    }
    mismatch(cx, "the centre of a sphere", &wanted, center);
    None
}
