//! Expressions: from what is written to what it means, with its type.
//!
//! Types are found from the inside out. What has no type of its own (a file to load, the empty sequence) takes it from
//! the *hint*, the type that the surroundings would like; a hint never decides anything else, so whoever gives one
//! still compares the type that was found. Where an expression is wrong, that is reported and there is no result;
//! what contains it is then not reported again.

use super::{
    build, call,
    coerce::{coerce, common},
    constant,
    context::{Cx, Place, strand_set},
    hint,
    messages::mismatch,
    overload, reduce,
    scope::Entity,
    subscript,
    tree::{Constant, Expr, ExprKind, VarId, VarKind},
    types,
};
use crate::front::{
    source::Span,
    syntax::ast::{self, ExprKind as Written, Operator},
};
use ein_ir::{Kernel, Shape, Type, kernel::KERNELS};

/// The meaning and type of an expression.
pub(super) fn infer<'a>(
    cx: &mut Cx<'a>,
    written: &'a ast::Expr,
    hint: Option<&Type>,
) -> Option<Expr> {
    let span = written.span;
    match &written.kind {
        Written::Name(name) => named(cx, name, span),
        Written::KernelAs { kernel, continuity } => kernel_as(cx, kernel, continuity, span),
        Written::Int(digits) => integer(cx, digits, false, span),
        Written::Real(digits) => real(cx, digits, span),
        Written::String(text) => Some(literal(Type::String, Constant::String(text.clone()), span)),
        Written::Bool(value) => Some(literal(Type::Bool, Constant::Bool(*value), span)),
        Written::Prefix { op, operand } => prefix(cx, *op, operand, hint, span),
        Written::Infix { op, left, right } => infix(cx, *op, [left, right], hint, span),
        Written::And(left, right) => {
            let (left, right) = (
                operand_of_logic(cx, left, "&&"),
                operand_of_logic(cx, right, "&&"),
            );
            Some(typed(Type::Bool, ExprKind::And(left?, right?), span))
        }
        Written::Or(left, right) => {
            let (left, right) = (
                operand_of_logic(cx, left, "||"),
                operand_of_logic(cx, right, "||"),
            );
            Some(typed(Type::Bool, ExprKind::Or(left?, right?), span))
        }
        Written::If {
            then,
            condition,
            otherwise,
        } => conditional(cx, then, condition, otherwise, hint, span),
        Written::Range(first, last) => {
            let first = exactly(cx, first, &Type::Int, "the first number of a range");
            let last = exactly(cx, last, &Type::Int, "the last number of a range");
            let ty = Type::Seq(Box::new(Type::Int), None);
            Some(typed(
                ty,
                ExprKind::Range(Box::new(first?), Box::new(last?)),
                span,
            ))
        }
        Written::Norm(operand) => {
            let operand = infer(cx, operand, None)?;
            overload::apply(cx, overload::NORM, span, vec![operand], span)
        }
        Written::Call { callee, args } => call::call(cx, callee, args, hint, span),
        Written::Subscript { base, subscripts } => subscript::subscript(cx, base, subscripts, span),
        Written::BraceIndex { base, index } => subscript::brace_index(cx, base, index, span),
        Written::CallComprehension { callee, body, iter } => {
            call::call_comprehension(cx, callee, body, iter, span)
        }
        Written::Select { base, member } => select(cx, base, member, span),
        Written::Tensor(elements) => build::tensor(cx, elements, hint, span),
        Written::Sequence(elements) => build::sequence(cx, elements, hint, span),
        Written::Comprehension { body, iter } => build::comprehension(cx, body, iter, hint, span),
        Written::RealCast(operand) => real_cast(cx, operand, span),
        Written::Identity(n) => {
            let n = types::number(
                cx,
                n,
                "the size of an identity matrix",
                2,
                types::LARGEST_MATRIX,
            )? as usize;
            Some(typed(Type::tensor(&[n, n]), ExprKind::Identity(n), span))
        }
        Written::Zeros(dims) => Some(typed(
            Type::Tensor(types::shape(cx, dims)?),
            ExprKind::Zeros,
            span,
        )),
        Written::Nan(dims) => Some(typed(
            Type::Tensor(types::shape(cx, dims)?),
            ExprKind::Nan,
            span,
        )),
        Written::LoadImage(file) => build::load_image(cx, file, hint, span),
        Written::LoadSequence(file) => build::load_sequence(cx, file, hint, span),
        Written::Error => None,
    }
}

/// An expression that must convert to a type, converted; `what` names its role in messages.
fn check<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr, wanted: &Type, what: &str) -> Option<Expr> {
    let found = infer(cx, written, Some(wanted))?;
    converted(cx, found, wanted, what)
}

/// An expression that must convert to a type that may itself be wrong; then only the expression's own mistakes count.
pub(super) fn check_against<'a>(
    cx: &mut Cx<'a>,
    written: &'a ast::Expr,
    wanted: Option<&Type>,
    what: &str,
) -> Option<Expr> {
    match wanted {
        Some(wanted) => check(cx, written, wanted, what),
        None => {
            let outer = std::mem::replace(&mut cx.hint_lost, true);
            infer(cx, written, None);
            cx.hint_lost = outer;
            None
        }
    }
}

/// An expression at a type it must convert to.
pub(super) fn converted(cx: &mut Cx<'_>, found: Expr, wanted: &Type, what: &str) -> Option<Expr> {
    if found.ty.coerces_to(wanted) {
        return Some(coerce(found, wanted));
    }
    mismatch(cx, found.span, what, wanted, &found.ty);
    None
}

/// An expression that must have a type as it is.
pub(super) fn exactly<'a>(
    cx: &mut Cx<'a>,
    written: &'a ast::Expr,
    wanted: &Type,
    what: &str,
) -> Option<Expr> {
    let found = infer(cx, written, Some(wanted))?;
    if found.ty == *wanted {
        return Some(found);
    }
    mismatch(cx, found.span, what, wanted, &found.ty);
    None
}

/// An expression with its type.
pub(super) fn typed(ty: Type, kind: ExprKind, span: Span) -> Expr {
    Expr { ty, kind, span }
}

/// A value that is known.
pub(super) fn literal(ty: Type, value: Constant, span: Span) -> Expr {
    typed(ty, ExprKind::Constant(value), span)
}

fn named(cx: &mut Cx<'_>, name: &str, span: Span) -> Option<Expr> {
    match cx.scopes.value(name) {
        Some(Entity::Var(var)) => variable(cx, var, span),
        Some(Entity::Const(id)) => {
            let constant = &mut cx.consts[id.0];
            constant.read = true;
            constant
                .value
                .clone()
                .map(|(ty, value)| literal(ty, value, span))
        }
        None => match Kernel::named(name) {
            Some(kernel) => Some(typed(
                Type::Kernel(kernel.declared()),
                ExprKind::Kernel(vec![kernel]),
                span,
            )),
            None => {
                undeclared(cx, name, span);
                None
            }
        },
    }
}

/// The value of a variable, which must have one by now.
pub(super) fn variable(cx: &mut Cx<'_>, var: VarId, span: Span) -> Option<Expr> {
    cx.vars[var.0].read = true;
    require_value(cx, var, span);
    for needed in cx.var(var).needs.clone() {
        require_value(cx, needed, span);
    }
    let ty = cx.var(var).ty.clone()?;
    Some(typed(ty, ExprKind::Var(var), span))
}

/// Reports a variable that may lack a value here, once. A function is judged where it is called.
pub(super) fn require_value(cx: &mut Cx<'_>, var: VarId, span: Span) {
    if !cx.flow.may_lack_value(var) {
        return;
    }
    let (name, kind, declared) = (cx.var(var).name.clone(), cx.var(var).kind, cx.var(var).span);
    if kind == VarKind::Global && matches!(cx.place, Place::Function | Place::FieldFunction) {
        cx.needs.insert(var);
        return;
    }
    if cx.incomplete || std::mem::replace(&mut cx.vars[var.0].reported, true) {
        return;
    }
    let hint = match kind {
        VarKind::Global => "assign it on every path of the global `initialize` block",
        VarKind::State => {
            "give it an initial value, or assign it on every path of the strand's `initialize` block"
        }
        VarKind::Local | VarKind::Input | VarKind::Param => {
            "assign it on every path that leads here; the body of a `foreach` may not run at all"
        }
    };
    cx.error(
        "maybe-unassigned",
        span,
        format!("`{name}` may be used before it has a value"),
    )
    .label(declared, "declared here without a value")
    .hint(hint);
}

fn undeclared(cx: &mut Cx<'_>, name: &str, span: Span) {
    if cx.incomplete {
        return;
    }
    let is_function = cx.scopes.function(name).is_some() || overload::is_function(name);
    let is_strand = cx.strand.as_ref().is_some_and(|strand| strand.name == name);
    let names: Vec<&str> = cx
        .scopes
        .value_names()
        .chain(KERNELS.iter().map(|kernel| kernel.name))
        .collect();
    let hint = if is_function {
        Some(format!("`{name}` is a function; call it: `{name}(…)`"))
    } else if is_strand {
        Some(format!(
            "`{name}` is the strand; its sets are `{name}.all`, `{name}.active` and `{name}.stable`"
        ))
    } else {
        cx.similar_name(name, names.into_iter())
    };
    cx.error(
        "undeclared-variable",
        span,
        format!("undeclared variable `{name}`"),
    )
    .hints(hint);
}

fn kernel_as<'a>(
    cx: &mut Cx<'a>,
    name: &'a ast::Name,
    continuity: &'a ast::Expr,
    span: Span,
) -> Option<Expr> {
    let continuity = types::continuity(cx, continuity);
    let known = match cx.scopes.value(&name.text) {
        Some(Entity::Var(var)) => {
            cx.vars[var.0].read = true;
            cx.var(var).kernels.clone()
        }
        Some(Entity::Const(_)) => None,
        None => Kernel::named(&name.text).map(|kernel| vec![kernel]),
    };
    let Some(kernels) = known else {
        let similar = cx.similar_name(&name.text, KERNELS.iter().map(|kernel| kernel.name));
        cx.error(
            "unknown-kernel",
            name.span,
            format!("unknown kernel `{}`", name.text),
        )
        .hints(similar);
        return None;
    };
    Some(typed(
        Type::Kernel(continuity?),
        ExprKind::Kernel(kernels),
        span,
    ))
}

/// An integer literal; a negative one can be one larger.
fn integer(cx: &mut Cx<'_>, digits: &str, negative: bool, span: Span) -> Option<Expr> {
    let largest = i64::from(i32::MAX) + i64::from(negative);
    match digits.parse::<i64>().ok().filter(|value| *value <= largest) {
        Some(value) => {
            let value = if negative { -value } else { value };
            Some(literal(Type::Int, Constant::Int(value), span))
        }
        None => {
            cx.error(
                "integer-range",
                span,
                format!("`{digits}` is too large for an int"),
            )
            .hint(format!(
                "the largest int is {}; a real is written with a dot: `{digits}.0`",
                i32::MAX
            ));
            None
        }
    }
}

fn real(cx: &mut Cx<'_>, digits: &str, span: Span) -> Option<Expr> {
    let value = match digits {
        "π" => std::f64::consts::PI,
        "∞" | "inf" => f64::INFINITY,
        _ => match digits.parse() {
            Ok(value) => value,
            Err(_) => {
                cx.error(
                    "real-literal",
                    span,
                    format!("`{digits}` is not a real number"),
                );
                return None;
            }
        },
    };
    Some(literal(
        Type::REAL,
        Constant::Tensor(Shape::SCALAR, vec![value]),
        span,
    ))
}

fn prefix<'a>(
    cx: &mut Cx<'a>,
    op: Operator,
    operand: &'a ast::Expr,
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    if let ("-", Written::Int(digits)) = (op.symbol, &operand.kind) {
        return integer(cx, digits, true, span);
    }
    let operand = infer(cx, operand, hint::of_prefix(op.symbol, hint).as_ref())?;
    overload::apply(cx, op.symbol, op.span, vec![operand], span)
}

/// `a op b`. The operand that has a type of its own is looked at first, so that it can give the other one a hint.
fn infix<'a>(
    cx: &mut Cx<'a>,
    op: Operator,
    operands: [&'a ast::Expr; 2],
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let [left, right] = operands;
    let swapped = hint::needs_context(left) && !hint::needs_context(right);
    let (first, second) = if swapped {
        (right, left)
    } else {
        (left, right)
    };
    let first = infer(cx, first, hint::of_infix(op.symbol, hint, None).as_ref());
    let sibling = first.as_ref().map(|first| &first.ty);
    let second = infer(
        cx,
        second,
        hint::of_infix(op.symbol, hint, sibling).as_ref(),
    );
    let (left, right) = if swapped {
        (second, first)
    } else {
        (first, second)
    };
    overload::infix(cx, op, left?, right?, span)
}

fn operand_of_logic<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr, op: &str) -> Option<Box<Expr>> {
    exactly(cx, written, &Type::Bool, &format!("an operand of `{op}`")).map(Box::new)
}

/// The condition of a statement or expression.
pub(super) fn condition<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr) -> Option<Expr> {
    exactly(cx, written, &Type::Bool, "a condition")
}

fn conditional<'a>(
    cx: &mut Cx<'a>,
    then: &'a ast::Expr,
    condition: &'a ast::Expr,
    otherwise: &'a ast::Expr,
    hint: Option<&Type>,
    span: Span,
) -> Option<Expr> {
    let condition = self::condition(cx, condition);
    let swapped = hint.is_none() && hint::needs_context(then);
    let (first, second) = if swapped {
        (otherwise, then)
    } else {
        (then, otherwise)
    };
    let first = infer(cx, first, hint);
    let sibling = first.as_ref().map(|first| first.ty.clone());
    let second = infer(cx, second, hint.or(sibling.as_ref()));
    let (then, otherwise) = if swapped {
        (second, first)
    } else {
        (first, second)
    };
    let (then, otherwise) = (then?, otherwise?);
    for branch in [&then, &otherwise] {
        if !branch.ty.is_value() {
            let ty = branch.ty.clone();
            cx.error("conditional-branch", branch.span, format!("a conditional cannot choose between values of type `{ty}`"))
                .hint("fields, images, kernels and strands cannot be chosen; choose between probed values instead");
            return None;
        }
    }
    // Where neither side converts to the other, both may still convert to what is wanted.
    let both_fit = |ty: &&Type| then.ty.coerces_to(ty) && otherwise.ty.coerces_to(ty);
    let Some(ty) = common(&then.ty, &otherwise.ty).or_else(|| hint.filter(both_fit).cloned())
    else {
        let message = format!(
            "the branches of a conditional differ: `{}` and `{}`",
            then.ty, otherwise.ty
        );
        cx.error("conditional-branch", span, message)
            .label(then.span, format!("`{}`", then.ty))
            .label(otherwise.span, format!("`{}`", otherwise.ty));
        return None;
    };
    let kind = ExprKind::If {
        condition: Box::new(condition?),
        then: Box::new(coerce(then, &ty)),
        otherwise: Box::new(coerce(otherwise, &ty)),
    };
    Some(typed(ty, kind, span))
}

fn real_cast<'a>(cx: &mut Cx<'a>, operand: &'a ast::Expr, span: Span) -> Option<Expr> {
    let operand = infer(cx, operand, Some(&Type::Int))?;
    if operand.ty != Type::Int {
        let hint = (operand.ty == Type::REAL).then(|| "it is a real already".to_owned());
        cx.error(
            "bad-cast",
            operand.span,
            format!(
                "`real(…)` converts an `int`, not a value of type `{}`",
                operand.ty
            ),
        )
        .hints(hint);
        return None;
    }
    let mut real = coerce(operand, &Type::REAL);
    real.span = span;
    Some(real)
}

/// `q.x`: the state of another strand. Strand sets are handled where they are reduced.
fn select<'a>(
    cx: &mut Cx<'a>,
    base: &'a ast::Expr,
    member: &'a ast::Name,
    span: Span,
) -> Option<Expr> {
    if let Written::Name(name) = &base.kind
        && cx.strand.as_ref().is_some_and(|strand| strand.name == name)
    {
        if strand_set(&member.text).is_none() {
            reduce::unknown_strand_set(cx, name, member);
        } else {
            cx.error(
                "strand-set",
                span,
                format!(
                    "the strand set `{name}.{}` can only be reduced",
                    member.text
                ),
            )
            .hint(format!(
                "for example `sum {{ 1 | q in {name}.{} }}` in a global `update` block",
                member.text
            ));
        }
        return None;
    }
    let strand = infer(cx, base, None)?;
    if !matches!(strand.ty, Type::Strand(_)) {
        let message = format!(
            "`.{}` selects from a strand, not from a value of type `{}`",
            member.text, strand.ty
        );
        cx.error("select-from-value", span, message);
        return None;
    }
    let info = cx.strand.as_ref()?;
    let Some(&var) = info.state.get(member.text.as_str()) else {
        let names: Vec<&str> = info.state.keys().copied().collect();
        let message = format!(
            "strand `{}` does not have a state variable `{}`",
            info.name, member.text
        );
        let is_parameter = info
            .params
            .iter()
            .any(|&param| cx.var(param).name == member.text);
        let hint = match is_parameter {
            true => Some(
                "parameters are not visible outside the strand; copy it into a state variable"
                    .to_owned(),
            ),
            false => cx.similar_name(&member.text, names.into_iter()),
        };
        cx.error("unknown-state", member.span, message).hints(hint);
        return None;
    };
    cx.vars[var.0].read = true;
    let ty = cx.var(var).ty.clone()?;
    Some(typed(
        ty,
        ExprKind::Select {
            strand: Box::new(strand),
            var,
        },
        span,
    ))
}

/// A constant string, such as the name of a file.
pub(super) fn constant_string<'a>(
    cx: &mut Cx<'a>,
    written: &'a ast::Expr,
    what: &str,
) -> Option<String> {
    let found = exactly(cx, written, &Type::String, what)?;
    match constant::require(cx, &found, what)? {
        Constant::String(text) => Some(text),
        Constant::Bool(_) | Constant::Int(_) | Constant::Tensor(..) | Constant::Seq(_) => None,
    }
}
