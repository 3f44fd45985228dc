//! The strand, its methods, and the creation of the initial strands.

use super::{
    build::iteration,
    call::arguments,
    context::{Cx, Place, StrandInfo, Target},
    expr::{check_against, infer},
    flow::{Exits, Flow},
    indexed,
    stmt::block,
    tree::{Block, Create, Expr, StateVar, Strand, VarId, VarKind},
    types,
};
use crate::front::{
    codes,
    diag::Fix,
    facts::DefinitionKind,
    source::Span,
    syntax::ast::{self, ExprKind as Written, MethodKind},
};
use ein_ir::Type;
use std::collections::{BTreeSet, HashMap};

/// Which global code stabilizes all strands, so that `stabilize` methods run without a `stabilize;` in the strand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GlobalStabilize {
    /// The `start` block, before any method ran.
    pub(super) before_steps: bool,
    /// The `update` block, after `update` methods ran.
    pub(super) between_steps: bool,
}

/// The strand definition. Its scope is open only meanwhile.
pub(super) fn strand<'a>(
    cx: &mut Cx<'a>,
    written: &'a ast::Strand,
    stabilized: GlobalStabilize,
) -> Strand {
    cx.strand = Some(StrandInfo {
        name: &written.name.text,
        span: written.name.span,
        params: Vec::new(),
        state: HashMap::new(),
        position: None,
    });
    let places = written.params.iter().map(|param| param.name.span);
    cx.define(
        &written.name,
        DefinitionKind::Strand,
        None,
        places.collect(),
    );
    cx.scopes.push(written.span);
    let outside = cx.flow.clone();
    let params: Vec<VarId> = written
        .params
        .iter()
        .map(|param| parameter(cx, param))
        .collect();
    if let Some(info) = &mut cx.strand {
        info.params = params.clone();
    }
    cx.place = Place::StateValue;
    let state: Vec<StateVar> = written
        .state
        .iter()
        .map(|var| state_variable(cx, var))
        .collect();
    let position = position(cx);
    cx.place = Place::StrandInitialize;
    let initialize = written.initialize.as_ref().map(|body| block(cx, body));
    require_outputs(cx, written, &state);
    let methods = methods(cx, written, stabilized);
    cx.scopes.pop();
    cx.flow = outside;
    Strand {
        name: written.name.text.clone(),
        params,
        state,
        initialize,
        methods,
        position,
    }
}

fn parameter<'a>(cx: &mut Cx<'a>, param: &'a ast::Param) -> VarId {
    let labels = types::labels(cx, &param.ty);
    let ty = types::resolve(cx, &param.ty).filter(|ty| {
        if !ty.is_value() {
            cx.error(
                codes::PARAMETER_TYPE,
                param.ty.span,
                format!("a parameter of a strand cannot have type `{ty}`"),
            )
            .hint("a strand keeps values; fields, images and kernels are globals");
        }
        ty.is_value()
    });
    let var = cx.declare(&param.name, ty, VarKind::Param);
    cx.vars[var.0].labels = labels;
    var
}

fn state_variable<'a>(cx: &mut Cx<'a>, written: &'a ast::StateVar) -> StateVar {
    let labels = types::labels(cx, &written.ty);
    let ty = types::resolve(cx, &written.ty).filter(|ty| {
        if !ty.is_value() {
            cx.error(
                codes::STATE_TYPE,
                written.ty.span,
                format!("a state variable cannot have type `{ty}`"),
            )
            .hint("state has value types; fields, images and kernels are globals");
        }
        ty.is_value()
    });
    let is_text = ty.as_ref().is_some_and(has_text);
    if let (true, Some(ty)) = (written.output && is_text, &ty) {
        let message = format!("an output cannot have type `{ty}`: files of outputs have no texts");
        cx.error(codes::OUTPUT_TYPE, written.ty.span, message)
            .hint("write a number that stands for the text, or `print` the text");
    }
    let what = format!("the value of `{}`", written.name.text);
    cx.target = Some(Target {
        name: &written.name.text,
        span: written.name.span,
        labels: labels.clone(),
    });
    let value = written
        .value
        .as_ref()
        .map(|value| check_against(cx, value, ty.as_ref(), &what));
    cx.target = None;
    let var = cx.declare(&written.name, ty, VarKind::State);
    cx.facts.known_from(written.name.span, written.span.end);
    cx.vars[var.0].labels = labels;
    if let Some(Some(value)) = &value {
        indexed::defines(cx, var, value);
    }
    if let Some(info) = &mut cx.strand {
        info.state.insert(&written.name.text, var);
    }
    if value.is_none() {
        cx.flow.declare_without_value(var);
    }
    // An output counts as used.
    cx.vars[var.0].read = written.output;
    StateVar {
        var,
        output: written.output,
        value: value.flatten(),
    }
}

/// Whether values of a type are texts or sequences of texts.
fn has_text(ty: &Type) -> bool {
    match ty {
        Type::String => true,
        Type::Seq(element, _) => has_text(element),
        _ => false,
    }
}

/// The state variable `pos`, if it can serve spatial queries.
fn position(cx: &mut Cx<'_>) -> Option<VarId> {
    let var = *cx.strand.as_ref()?.state.get("pos")?;
    let shape = match &cx.var(var).ty {
        Some(Type::Tensor(shape)) => shape.clone(),
        _ => return None,
    };
    let position = matches!(shape.dims(), [] | [2] | [3]).then_some(var);
    if let Some(info) = &mut cx.strand {
        info.position = position;
    }
    position
}

/// Outputs exist, and have values when a strand is created.
fn require_outputs(cx: &mut Cx<'_>, written: &ast::Strand, state: &[StateVar]) {
    if cx.incomplete {
        return;
    }
    if !state.iter().any(|var| var.output) {
        let message = format!("strand `{}` does not have any outputs", written.name.text);
        cx.error(codes::NO_OUTPUT, written.name.span, message)
            .hint("mark what the program computes with `output`");
    }
    for (written, state) in written.state.iter().zip(state) {
        if written.output && cx.flow.may_lack_value(state.var) {
            cx.flow.assign(state.var);
            let message = format!(
                "output `{}` may have no value when a strand is created",
                written.name.text
            );
            cx.error(codes::OUTPUT_UNASSIGNED, written.name.span, message)
                .hint("give it an initial value, or assign it on every path of the strand's `initialize` block");
        }
    }
}

/// The methods, in the order in which they run, so that what `start` assigns counts in `update`.
fn methods<'a>(
    cx: &mut Cx<'a>,
    written: &'a ast::Strand,
    stabilized: GlobalStabilize,
) -> Vec<(MethodKind, Block)> {
    let kinds = [MethodKind::Start, MethodKind::Update, MethodKind::Stabilize];
    let created = cx.flow.lacking();
    cx.exits = Exits::default();
    let (mut entering, mut finished): (BTreeSet<VarId>, BTreeSet<VarId>) =
        (created.clone(), created.clone());
    let mut checked = Vec::new();
    for kind in kinds {
        let mut bodies = written.methods.iter().filter(|method| method.kind == kind);
        let Some(method) = bodies.next() else {
            if kind == MethodKind::Update && !cx.incomplete {
                let message = format!(
                    "strand `{}` is missing an `update` method",
                    written.name.text
                );
                cx.error(codes::NO_UPDATE, written.name.span, message);
            }
            continue;
        };
        for duplicate in bodies {
            let name = method_name(kind);
            cx.error(
                codes::DUPLICATE_METHOD,
                head(duplicate),
                format!("strand `{}` has two `{name}` methods", written.name.text),
            )
            .label(head(method), "first defined here");
        }
        if kind == MethodKind::Stabilize {
            entering = std::mem::take(&mut cx.exits.stabilized);
            entering.extend(
                stabilized
                    .before_steps
                    .then_some(created.clone())
                    .into_iter()
                    .flatten(),
            );
            entering.extend(
                stabilized
                    .between_steps
                    .then_some(finished.clone())
                    .into_iter()
                    .flatten(),
            );
        }
        cx.place = Place::Method(kind);
        let name = ast::Name {
            text: method_name(kind).to_owned(),
            span: head(method),
        };
        cx.define(&name, DefinitionKind::Method, None, Vec::new());
        cx.flow = Flow::entering(entering.clone());
        checked.push((kind, block(cx, &method.body)));
        finished = cx.flow.lacking();
        finished.extend(std::mem::take(&mut cx.exits.continued));
        entering = finished.clone();
    }
    checked
}

fn method_name(kind: MethodKind) -> &'static str {
    match kind {
        MethodKind::Start => "start",
        MethodKind::Update => "update",
        MethodKind::Stabilize => "stabilize",
    }
}

/// The place of a method's name.
fn head(method: &ast::Method) -> Span {
    let length = method_name(method.kind).len();
    Span::new(
        method.span.start as usize,
        method.span.start as usize + length,
    )
}

/// The creation of the initial strands. The iterators do not see each other.
pub(super) fn create<'a>(cx: &mut Cx<'a>, written: &'a ast::Create) -> Option<Create> {
    cx.place = Place::Create;
    let sources: Vec<Option<Expr>> = written
        .iters
        .iter()
        .map(|iter| iteration(cx, &iter.source, None))
        .collect();
    cx.scopes.push(written.spawn.span);
    let vars: Vec<VarId> = written
        .iters
        .iter()
        .zip(&sources)
        .map(|(iter, source)| {
            let ty = source.as_ref().map(super::build::element_type);
            let var = cx.declare(&iter.name, ty, VarKind::Local);
            cx.vars[var.0].read = true;
            var
        })
        .collect();
    let args = spawn(cx, &written.spawn);
    cx.scopes.pop();
    let sources: Option<Vec<Expr>> = sources.into_iter().collect();
    let iters = vars.into_iter().zip(sources?).collect();
    Some(Create {
        grid: written.grid,
        iters,
        args: args?,
    })
}

/// The arguments of the strand that is created.
fn spawn<'a>(cx: &mut Cx<'a>, written: &'a ast::Expr) -> Option<Vec<Expr>> {
    let (callee, args) = match &written.kind {
        Written::Call { callee, args } => (callee, args),
        _ if cx.incomplete => return None,
        _ => {
            cx.error(
                codes::CREATION,
                written.span,
                "expected the creation of a strand, such as `S(…)`",
            );
            return None;
        }
    };
    let name = match &callee.kind {
        Written::Name(name) => name,
        _ => {
            cx.error(
                codes::CREATION,
                callee.span,
                "expected the name of a strand",
            );
            return None;
        }
    };
    let unknown = format!("`{name}` is not the name of a strand");
    created_with(cx, name, callee.span, args, &unknown)
}

/// The arguments of a strand that is created, at the types of its parameters; `unknown` is the message for another name than the
/// strand's.
pub(super) fn created_with<'a>(
    cx: &mut Cx<'a>,
    name: &str,
    span: Span,
    args: &'a [ast::Expr],
    unknown: &str,
) -> Option<Vec<Expr>> {
    cx.names_strand(name, span);
    let strand = cx.strand.as_ref();
    let known = strand.filter(|strand| strand.name == name);
    let known = known.map(|strand| (strand.params.clone(), strand.span));
    let args: Vec<Option<Expr>> = args
        .iter()
        .enumerate()
        .map(|(k, arg)| {
            let param = known.as_ref().and_then(|(params, _)| params.get(k));
            let hint = param.and_then(|&param| cx.var(param).ty.clone());
            infer(cx, arg, hint.as_ref())
        })
        .collect();
    let Some((params, defined)) = known else {
        if let Some(strand) = cx.strand.as_ref().map(|strand| strand.name) {
            cx.error(codes::UNKNOWN_STRAND, span, unknown)
                .hint(format!("the strand is called `{strand}`"))
                .fix(Fix::replace(span, strand));
        }
        return None;
    };
    arguments(
        cx,
        &params,
        args,
        &format!("strand `{name}`"),
        (span, defined),
    )
}
