//! Operators and built-in functions: the row of the operator table that fits, and what to say if none does.

use super::{
    coerce::coerce,
    constant,
    context::{Cx, Place},
    expr::typed,
    messages::{kernel_advice, list, plural},
    tree::{Constant, Expr, ExprKind},
    types,
};
use crate::front::{source::Span, syntax::ast::Operator};
use ein_ir::{
    Continuity, Kernel, Type,
    ops::{self, Form, Instance, Lift, Meaning, Mismatch, OpDef, Rejection, Syntax},
};

/// The spelling of `|a|` in the operator table.
pub(super) const NORM: &str = "|";

/// Whether the table has a function of this name.
pub(super) fn is_function(name: &str) -> bool {
    let is_call = |syntax: &Syntax| matches!(syntax, Syntax::Call(call) if *call == name);
    ops::candidates(name).any(|row| row.syntax.iter().any(is_call))
}

/// An operator or built-in function applied to its arguments; `op_span` is where its name or symbol stands.
pub(super) fn apply(
    cx: &mut Cx<'_>,
    spelling: &str,
    op_span: Span,
    args: Vec<Expr>,
    span: Span,
) -> Option<Expr> {
    let found: Vec<Type> = args.iter().map(|arg| arg.ty.clone()).collect();
    match ops::resolve(spelling, &found) {
        Ok(instance) => build(cx, instance, args, span),
        Err(rejection) => {
            report(cx, spelling, op_span, &args, &rejection);
            None
        }
    }
}

/// The application of a row that accepts the arguments.
fn build(cx: &mut Cx<'_>, op: Instance, args: Vec<Expr>, span: Span) -> Option<Expr> {
    types::limit_size(cx, &op.result, span)?;
    let args = args
        .into_iter()
        .zip(&op.args)
        .map(|(arg, wanted)| coerce(arg, wanted))
        .collect();
    Some(typed(op.result.clone(), ExprKind::Op { op, args }, span))
}

/// An infix operator applied to its operands.
pub(super) fn infix(
    cx: &mut Cx<'_>,
    op: Operator,
    left: Expr,
    right: Expr,
    span: Span,
) -> Option<Expr> {
    match op.symbol {
        "^" => power(cx, op, left, right, span),
        "⊛" => {
            for (kernel, image) in [(&left, &right), (&right, &left)] {
                let axes = kernels(cx, kernel).map_or(1, |kernels| kernels.len());
                if let Type::Image { dim, .. } = image.ty
                    && axes != 1
                    && axes != dim
                {
                    let message = format!(
                        "{axes} kernels cannot reconstruct an image of {dim} {}",
                        plural(dim, "dimension")
                    );
                    cx.error("axis-kernels", span, message)
                        .hint("`KRNS` takes one kernel per axis of the image");
                    return None;
                }
            }
            apply(cx, op.symbol, op.span, vec![left, right], span)
        }
        symbol => apply(cx, symbol, op.span, vec![left, right], span),
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

/// `a ^ b`. An integer exponent that is known now becomes part of the operator.
fn power(cx: &mut Cx<'_>, op: Operator, base: Expr, exponent: Expr, span: Span) -> Option<Expr> {
    let found = [base.ty.clone(), exponent.ty.clone()];
    let instance = match ops::resolve(op.symbol, &found) {
        Ok(instance) => instance,
        Err(rejection) => {
            report(cx, op.symbol, op.span, &[base, exponent], &rejection);
            return None;
        }
    };
    if !matches!(instance.row.meaning, Meaning::Form(Form::Power)) {
        return build(cx, instance, vec![base, exponent], span);
    }
    let known = match constant::evaluate(&exponent) {
        Ok(Constant::Int(n)) => i32::try_from(n).ok(),
        _ => None,
    };
    match known {
        Some(n) => {
            let base = Box::new(coerce(base, &instance.args[0]));
            Some(typed(
                instance.result,
                ExprKind::Power { base, exponent: n },
                span,
            ))
        }
        None if matches!(instance.result, Type::Field { .. }) => {
            cx.error(
                "non-constant-exponent",
                exponent.span,
                "the exponent of a field must be a constant",
            );
            None
        }
        None if cx.place == Place::FieldFunction => {
            // The base may depend on the position and is then differentiated, which needs the general power.
            let exponent = coerce(exponent, &Type::REAL);
            apply(cx, op.symbol, op.span, vec![base, exponent], span)
        }
        None => build(cx, instance, vec![base, exponent], span),
    }
}

/// Reports that no row accepts the arguments.
pub(super) fn report(
    cx: &mut Cx<'_>,
    spelling: &str,
    op_span: Span,
    args: &[Expr],
    rejection: &Rejection,
) {
    let found: Vec<Type> = args.iter().map(|arg| arg.ty.clone()).collect();
    let shown = if spelling == NORM { "|…|" } else { spelling };
    if let Some((_, Mismatch::NoDerivative { argument, .. })) = rejection.nearest() {
        no_derivative(cx, &args[*argument], op_span);
        return;
    }
    let arities: Vec<usize> = rejection
        .reasons
        .iter()
        .filter_map(|(_, mismatch)| match mismatch {
            Mismatch::Arity { wanted, .. } => Some(*wanted),
            _ => None,
        })
        .collect();
    if arities.len() == rejection.reasons.len() {
        let usages = usages(spelling, &rejection.reasons);
        let message = format!(
            "`{shown}` cannot take {} {}",
            found.len(),
            plural(found.len(), "argument")
        );
        cx.error("argument-count", op_span, message).hints(usages);
        return;
    }
    let fitting: Vec<(&'static OpDef, Mismatch)> = rejection
        .reasons
        .iter()
        .filter(|(_, mismatch)| !matches!(mismatch, Mismatch::Arity { .. }))
        .cloned()
        .collect();
    let hints = match (advice(spelling, &found), rejection.nearest()) {
        (Some(advice), _) => vec![advice.to_owned()],
        // What the first arguments ask of the others says more than what the operator could be applied to.
        (
            None,
            Some((
                _,
                near @ (Mismatch::Shape { argument, .. } | Mismatch::Dimension { argument, .. }),
            )),
        ) if *argument > 0 => {
            vec![near.to_string()]
        }
        (None, _) => usages(spelling, &fitting),
    };
    let message = format!("`{shown}` cannot be applied to {}", list(&found));
    let mut report = cx.error("no-overload", op_span, message);
    for arg in args {
        report = report.label(arg.span, format!("`{}`", arg.ty));
    }
    report.hints(hints);
}

/// Reports a derivative too many: how many are taken of how smooth a field, and which kernels have enough.
fn no_derivative(cx: &mut Cx<'_>, operand: &Expr, op_span: Span) {
    let (mut field, mut taken) = (operand, 1);
    while let ExprKind::Op { op, args } = &field.kind
        && op.row.lift == Lift::Derivative
    {
        (field, taken) = (&args[0], taken + 1);
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
    cx.error("no-derivative", op_span, message)
        .label(field_span, format!("C{}", superscript(has)))
        .hints(kernel_advice(Continuity::Finite(taken)));
}

fn superscript(n: u32) -> String {
    n.to_string()
        .chars()
        .filter_map(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize - '0' as usize))
        .collect()
}

/// What is probably meant where an operator is applied to these types.
fn advice(spelling: &str, found: &[Type]) -> Option<&'static str> {
    let order = |ty: &Type| match ty {
        Type::Tensor(shape) | Type::Field { shape, .. } => Some(shape.order()),
        Type::Int => Some(0),
        _ => None,
    };
    let is_field = |ty: &Type| matches!(ty, Type::Field { .. });
    match (spelling, found) {
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
        ("∇" | "∇⊗" | "∇×" | "∇•", [_]) => Some("only fields can be differentiated"),
        ("*", [a, b]) if order(a) >= Some(1) && order(b) >= Some(1) => Some(
            "`*` scales by a number; products of tensors are `•`, `⊗`, `×`, `:` and `modulate`",
        ),
        ("/", [_, b]) if order(b) >= Some(1) => Some("only a number can divide"),
        ("%", [a, b]) if order(a) == Some(0) && order(b) == Some(0) => {
            Some("the remainder of reals is `fmod(a, b)`")
        }
        ("==" | "!=" | "<" | "<=" | ">" | ">=", [a, b]) if is_field(a) || is_field(b) => {
            Some("fields cannot be compared; probe them at a position first")
        }
        ("==" | "!=", [a, b]) if order(a) >= Some(1) && order(b) >= Some(1) => {
            Some("tensors cannot be compared; compare the norm of their difference: `|a - b| < …`")
        }
        ("⊛", [..]) => Some("`⊛` wants a kernel and an image"),
        ("mean" | "variance", [Type::Seq(element, _)]) if **element == Type::Int => {
            Some("convert the elements to reals: `real(…)`")
        }
        _ => None,
    }
}

/// At most this many usages are listed.
const USAGES: usize = 4;

/// How rows are used, as a hint.
fn usages(spelling: &str, reasons: &[(&'static OpDef, Mismatch)]) -> Vec<String> {
    let mut usages: Vec<String> = Vec::new();
    for (row, _) in reasons {
        let usage = format!("`{}`", usage(row, spelling));
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

/// How a row is used, with surface types in the place of arguments.
fn usage(row: &OpDef, spelling: &str) -> String {
    let (args, _) = row.sig.split_once("->").unwrap_or((row.sig, ""));
    let args: Vec<String> = patterns(args)
        .iter()
        .map(|pattern| surface(pattern))
        .collect();
    let syntax = row
        .syntax
        .iter()
        .find(|syntax| syntax.spelling() == spelling);
    match (syntax, args.as_slice()) {
        (Some(Syntax::Infix(symbol, _)), [left, right]) => format!("{left} {symbol} {right}"),
        (Some(Syntax::Prefix(symbol, _)), [operand]) => format!("{symbol}{operand}"),
        (Some(Syntax::Form(NORM, ..)), [operand]) => format!("|{operand}|"),
        _ => format!("{spelling}({})", args.join(", ")),
    }
}

/// The patterns of a signature's arguments: blanks inside brackets do not separate.
fn patterns(args: &str) -> Vec<String> {
    let mut patterns = vec![String::new()];
    let mut depth = 0;
    for c in args.chars() {
        depth += i32::from("[({".contains(c)) - i32::from("])}".contains(c));
        match patterns.last_mut() {
            Some(last) if c != ' ' || depth > 0 => last.push(c),
            _ => patterns.push(String::new()),
        }
    }
    patterns.retain(|pattern| !pattern.is_empty());
    patterns
}

/// A pattern of the table in the notation of types.
fn surface(pattern: &str) -> String {
    let (times, pattern) = match pattern.split_once('×') {
        Some((_, repeated)) => ("…", repeated),
        None => ("", pattern),
    };
    let pattern = pattern
        .replace(' ', ",")
        .replace('{', "[")
        .replace('}', "]")
        .replace(['τ', 'ν'], "T");
    let named = match pattern.strip_prefix("[]") {
        Some(rest) => format!("real{rest}"),
        None if pattern.starts_with('[') => format!("tensor{pattern}"),
        None => pattern,
    };
    format!("{named}{times}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usages_are_written_in_surface_types() {
        let show = |name: &str, spelling: &str| {
            OpDef::named(name)
                .map(|row| usage(row, spelling))
                .unwrap_or_default()
        };
        assert_eq!(show("add_int", "+"), "int + int");
        assert_eq!(show("inner", "•"), "tensor[α,n] • tensor[n,β]");
        assert_eq!(show("length", "length"), "length(T[])");
        assert_eq!(show("inside", "inside"), "inside(tensor[d], field(d)[α])");
    }

    #[test]
    fn only_calls_are_functions() {
        assert!(is_function("sqrt") && is_function("length"));
        assert!(!is_function("+") && !is_function("π") && !is_function("nothing"));
    }
}
