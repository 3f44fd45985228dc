//! Expressions: from the syntax tree to typed expressions.
//!
//! Types are found from the inside out. An expression without a type of its own (a file to load, the empty sequence) takes
//! it from the *hint*, the type that its surroundings expect. A hint never decides anything else, so the caller still
//! compares the resulting type. A wrong expression is reported and has no result; the expressions around it are
//! then not reported again.

use super::{
    build, call,
    coerce::implicitly,
    constant,
    context::{Cx, Place},
    foreign_names, indexed,
    messages::mismatch,
    overload::{self, operation},
    reduce, request,
    scope::Entity,
    subscript,
    tree::{Constant, Expr, ExprKind, Notation, VarId, VarKind, int_range},
    types,
};
use crate::front::{
    codes,
    diag::Fix,
    facts::Referent,
    source::Span,
    syntax::ast::{self, ExprKind as Written, Operator},
};
use ein_ir::{
    Kernel, Shape, Type,
    kernel::KERNELS,
    ops::{self, StrandSet, spelling},
};

pub(super) use super::tree::{literal, typed};

/// The meaning and type of an expression.
pub(super) fn infer<'a>(
    cx: &mut Cx<'a>,
    written: &'a ast::Expr,
    hint: Option<&Type>,
) -> Option<Expr> {
    let found = meaning(cx, written, hint)?;
    cx.facts.expression(written.span, &found.ty);
    Some(found)
}

fn meaning<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr, hint: Option<&Type>) -> Option<Expr> {
    let span = written.span;
    match &written.kind {
        Written::Name(name) => named(cx, name, span),
        Written::KernelAs { kernel, continuity } => kernel_as(cx, kernel, continuity, span),
        Written::Int(digits) => integer(cx, digits, false, span),
        Written::Real(digits) => real(cx, digits, span),
        Written::String(text) => Some(literal(Type::String, Constant::String(text.clone()), span)),
        Written::Bool(value) => Some(literal(Type::Bool, Constant::Bool(*value), span)),
        Written::Prefix { op, operand } => prefix(cx, *op, operand, hint, span),
        Written::Partial { indices, operand } => indexed::partial(cx, indices, operand, span),
        Written::Request { target, parameter } => request::request(cx, target, parameter, span),
        Written::Differential(_) => request::lone(cx, span),
        Written::Clauses(clauses) => indexed::clauses(cx, clauses, hint, span),
        Written::Indexed { binders, body } => indexed::definition(cx, binders, body, hint, span),
        Written::Infix { op, left, right } => {
            operation(cx, op.symbol, op.span, &[left, right], hint, span)
        }
        Written::And(left, right) => operation(cx, "&&", span, &[left, right], None, span),
        Written::Or(left, right) => operation(cx, "||", span, &[left, right], None, span),
        Written::If {
            then,
            condition,
            otherwise,
        } => operation(
            cx,
            spelling::SELECT,
            span,
            &[then, condition, otherwise],
            hint,
            span,
        ),
        Written::Range(first, last) => operation(cx, "..", span, &[first, last], None, span),
        Written::Norm(operand) => operation(cx, spelling::NORM, span, &[operand], hint, span),
        Written::Call { callee, args } => call::call(cx, callee, args, hint, span),
        Written::Subscript { base, subscripts } => subscript::subscript(cx, base, subscripts, span),
        Written::BraceIndex { base, index } => subscript::brace_index(cx, base, index, span),
        Written::CallComprehension { callee, body, iter } => {
            call::call_comprehension(cx, callee, body, iter, span)
        }
        Written::Select { base, member } => select(cx, base, member, span),
        Written::Tensor(elements) => {
            let elements: Vec<&ast::Expr> = elements.iter().collect();
            operation(cx, spelling::CONCAT, span, &elements, hint, span)
        }
        Written::Sequence(elements) => build::sequence(cx, elements, hint, span),
        Written::Comprehension { body, iter } => build::comprehension(cx, body, iter, hint, span),
        Written::RealCast(operand) => operation(cx, "real", span, &[operand], hint, span),
        Written::Identity(n) => {
            let what = "the size of an identity matrix";
            let n = types::number(cx, n, what, 2, types::LARGEST_MATRIX)? as usize;
            constant_tensor(cx, spelling::IDENTITY, Shape::new([n, n]), span)
        }
        Written::Zeros(dims) => {
            let shape = types::shape(cx, dims)?;
            constant_tensor(cx, spelling::ZEROS, shape, span)
        }
        Written::Nan(dims) => {
            let shape = types::shape(cx, dims)?;
            constant_tensor(cx, spelling::NAN, shape, span)
        }
        Written::LoadImage(file) => {
            build::load(cx, "load_image", std::slice::from_ref(&**file), hint, span)
        }
        Written::LoadSequence(file) => build::load(
            cx,
            "load_sequence",
            std::slice::from_ref(&**file),
            hint,
            span,
        ),
        Written::Error => None,
    }
}

/// A tensor of a shape that its operator does not tell.
fn constant_tensor(cx: &mut Cx<'_>, spelling: &str, shape: Shape, span: Span) -> Option<Expr> {
    overload::apply(
        cx,
        spelling,
        span,
        Vec::new(),
        Some(&Type::Tensor(shape)),
        span,
    )
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
        return Some(implicitly(cx, found, wanted));
    }
    mismatch(cx, what, wanted, &found);
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
    mismatch(cx, what, wanted, &found);
    None
}

fn named(cx: &mut Cx<'_>, name: &str, span: Span) -> Option<Expr> {
    match cx.scopes.value(name) {
        Some(Entity::Var(var)) => {
            cx.refers(span, var);
            variable(cx, var, span)
        }
        Some(Entity::Const(id)) => {
            let constant = &mut cx.consts[id.0];
            constant.read = true;
            cx.facts.name(span, Referent::Defined(constant.span));
            constant
                .value
                .clone()
                .map(|(ty, value)| literal(ty, value, span))
        }
        None => match Kernel::named(name) {
            Some(kernel) => {
                cx.facts.name(span, Referent::Kernel(kernel));
                let ty = Type::Kernel(kernel.declared());
                Some(typed(ty, ExprKind::Kernel(vec![kernel]), span))
            }
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
    if cx.indices.known.contains_key(&var) {
        return Some(Notation::Index(var).at(ty, span));
    }
    if cx.indices.defined.contains(&var) {
        return Some(Notation::Itself(var).at(ty, span));
    }
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
        codes::MAYBE_UNASSIGNED,
        span,
        format!("`{name}` may be used before it has a value"),
    )
    .label(declared, "declared here without a value")
    .hint(hint);
}

pub(super) fn undeclared(cx: &mut Cx<'_>, name: &str, span: Span) {
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
    let is_target = cx.target.as_ref().is_some_and(|target| target.name == name);
    if is_target && !cx.indices.live().is_empty() {
        let message = format!("the definition of `{name}` reads `{name}` itself");
        cx.error(codes::READS_ITSELF, span, message)
            .hint("it is known only after its definition; a sequence whose elements depend on those before is given by clauses: `real[9] x { … }`");
        return;
    }
    let indices: Vec<String> = cx
        .indices
        .live()
        .iter()
        .map(|var| format!("`{}`", cx.var(*var).name))
        .collect();
    let indices =
        (!indices.is_empty()).then(|| format!("the indices in scope are {}", indices.join(", ")));
    let foreign = foreign_names::value(name);
    let similar = cx.similar_name(name, names);
    let message = format!("undeclared variable `{name}`");
    let report = cx.error(codes::UNDECLARED_VARIABLE, span, message);
    let report = if is_function {
        report.hint(format!("`{name}` is a function; call it: `{name}(…)`"))
    } else if is_strand {
        report.hint(format!(
            "`{name}` is the strand; its sets are `{name}.all`, `{name}.active` and `{name}.stable`"
        ))
    } else if let Some(foreign) = foreign {
        report.foreign(foreign)
    } else {
        report.did_you_mean(similar)
    };
    report.hints(indices);
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
            cx.refers(name.span, var);
            cx.vars[var.0].read = true;
            cx.var(var).kernels.clone()
        }
        Some(Entity::Const(_)) => None,
        None => Kernel::named(&name.text).map(|kernel| {
            cx.facts.name(name.span, Referent::Kernel(kernel));
            vec![kernel]
        }),
    };
    let Some(kernels) = known else {
        let similar = cx.similar_name(&name.text, KERNELS.iter().map(|kernel| kernel.name));
        cx.error(
            codes::UNKNOWN_KERNEL,
            name.span,
            format!("unknown kernel `{}`", name.text),
        )
        .did_you_mean(similar);
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
    let (least, most) = int_range(cx.options.long_int);
    let value = digits.parse::<i128>().ok();
    let value = value.map(|value| if negative { -value } else { value });
    match value.and_then(|value| i64::try_from(value).ok()) {
        Some(value) if (least..=most).contains(&value) => {
            Some(literal(Type::Int, Constant::Int(value), span))
        }
        _ => {
            let longer = match cx.options.long_int {
                true => "",
                false => "; `--long-int` makes ints 64 bits wide",
            };
            cx.error(
                codes::INTEGER_RANGE,
                span,
                format!("`{digits}` is too large for an int"),
            )
            .hint(format!(
                "the largest int is {most}{longer}; a real is written with a dot: `{digits}.0`"
            ));
            None
        }
    }
}

fn real(cx: &mut Cx<'_>, digits: &str, span: Span) -> Option<Expr> {
    // Some numbers have names.
    if ops::candidates(digits).next().is_some() {
        cx.names_operator(span, digits);
        return overload::apply(cx, digits, span, Vec::new(), None, span);
    }
    let Ok(value) = digits.parse() else {
        let message = format!("`{digits}` is not a real number");
        cx.error(codes::REAL_LITERAL, span, message);
        return None;
    };
    let value = Constant::Tensor(Shape::SCALAR, vec![value]);
    Some(literal(Type::REAL, value, span))
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
    operation(cx, op.symbol, op.span, &[operand], hint, span)
}

/// The condition of a statement.
pub(super) fn condition<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr) -> Option<Expr> {
    exactly(cx, written, &Type::Bool, "a condition")
}

/// `q.x`: the state of another strand. Strand sets are handled where they are reduced.
fn select<'a>(
    cx: &mut Cx<'a>,
    base: &'a ast::Expr,
    member: &'a ast::Name,
    span: Span,
) -> Option<Expr> {
    if let Written::Name(name) = &base.kind
        && cx.names_strand(name, base.span)
    {
        if StrandSet::named(&member.text).is_none() {
            reduce::unknown_strand_set(cx, name, member);
        } else {
            cx.error(
                codes::STRAND_SET,
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
        let component = component(&strand.ty, &member.text);
        let selection = Span {
            start: base.span.end,
            end: member.span.end,
        };
        let fix = |at: usize| Fix::replace(selection, format!("[{at}]"));
        cx.error(codes::SELECT_FROM_VALUE, span, message)
            .hints(component_advice(&strand.ty, component))
            .fix(component.map(fix));
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
        let similar = cx.similar_name(&member.text, names);
        let report = cx.error(codes::UNKNOWN_STATE, member.span, message);
        match is_parameter {
            true => report.hint(
                "parameters are not visible outside the strand; copy it into a state variable",
            ),
            false => report.did_you_mean(similar),
        };
        return None;
    };
    cx.refers(member.span, var);
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

/// The component that `.x` probably means on a vector.
fn component(ty: &Type, member: &str) -> Option<usize> {
    let (Type::Tensor(shape) | Type::Field { shape, .. }) = ty else {
        return None;
    };
    let at = ["xr", "yg", "zb", "wa"]
        .iter()
        .position(|names| member.len() == 1 && names.contains(member));
    at.filter(|&at| shape.order() == 1 && at < shape.dims()[0])
}

fn component_advice(ty: &Type, component: Option<usize>) -> Option<String> {
    let (Type::Tensor(shape) | Type::Field { shape, .. }) = ty else {
        return None;
    };
    match component {
        Some(at) => Some(format!("components are counted from 0: `v[{at}]`")),
        None if shape.order() > 0 => Some("components are selected by numbers: `v[0]`".to_owned()),
        None => None,
    }
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
