//! Definitions at the top level: constants, inputs, globals, field functions and functions.

use super::{
    build, constant,
    context::{Cx, FunctionInfo, Place, Target},
    expr::{check_against, constant_string, infer},
    given_constant,
    stmt::{block, declared},
    tree::{
        Block, Constant, Expr, ExprKind, FunctionId, Global, InputDefault, Stmt, StmtKind, VarId,
        VarKind,
    },
    types,
};
use crate::front::{
    codes,
    facts::DefinitionKind,
    source::Span,
    syntax::ast::{self, ExprKind as Written, FunctionBody, ItemKind},
};
use ein_ir::{Shape, Type};

/// A definition at the top level. Constants and functions leave nothing among the globals; an input whose default is computed
/// leaves two.
pub(super) fn item<'a>(cx: &mut Cx<'a>, written: &'a ast::Item) -> Vec<Global> {
    cx.place = Place::Item;
    let made = definition(cx, written);
    // A name is known only after its definition.
    cx.facts.known_from(written.name().span, written.span.end);
    made
}

fn definition<'a>(cx: &mut Cx<'a>, written: &'a ast::Item) -> Vec<Global> {
    let global = match &written.kind {
        ItemKind::Const { ty, name, value } => {
            constant_item(cx, ty, name, value.as_ref());
            None
        }
        ItemKind::Input {
            ty,
            name,
            description,
            default,
        } => {
            let labels = types::labels(cx, ty);
            let (ty, default) = input(cx, ty, name, default.as_ref());
            let var = cx.declare(name, ty.clone(), VarKind::Input);
            cx.vars[var.0].labels = labels;
            let description = description.clone();
            let Some(Default::Computed(value)) = default else {
                let default = default.and_then(Default::known);
                return vec![Global::Input {
                    var,
                    description,
                    default,
                }];
            };
            return computed_input(cx, name, (var, ty), description, *value);
        }
        ItemKind::Axis { name, extent } => {
            axis(cx, name, extent);
            None
        }
        ItemKind::Global { ty, name, value } => global(cx, ty, name, value.as_ref()),
        ItemKind::FieldFunction {
            ty,
            name,
            param,
            time,
            body,
        } => field_function(cx, ty, name, (param, time.as_ref()), body),
        ItemKind::Function {
            ty,
            name,
            params,
            body,
        } => {
            function(cx, ty, name, params, body);
            None
        }
    };
    global.into_iter().collect()
}

/// The default of an input.
enum Default {
    /// It is known before the program runs.
    Known(InputDefault),
    /// It is computed.
    Computed(Box<Expr>),
}

impl Default {
    fn known(self) -> Option<InputDefault> {
        match self {
            Default::Known(default) => Some(default),
            Default::Computed(_) => None,
        }
    }
}

/// An input whose default is computed: the value that the user may give, and the variable that the program sees.
fn computed_input(
    cx: &mut Cx<'_>,
    name: &ast::Name,
    (var, ty): (VarId, Option<Type>),
    description: Option<String>,
    value: Expr,
) -> Vec<Global> {
    let input = cx.fresh(&name.text, ty, VarKind::Input, name.span);
    cx.vars[input.0].read = true;
    let value = Expr {
        ty: value.ty.clone(),
        span: value.span,
        kind: ExprKind::Given {
            input,
            otherwise: Box::new(value),
        },
    };
    let default = Some(InputDefault::Computed(Vec::new()));
    vec![
        Global::Input {
            var: input,
            description,
            default,
        },
        Global::Variable {
            var,
            value: Some(value),
        },
    ]
}

fn constant_item<'a>(
    cx: &mut Cx<'a>,
    ty: &'a ast::TypeExpr,
    name: &'a ast::Name,
    value: Option<&'a ast::Expr>,
) {
    let type_span = ty.span;
    let ty = types::resolve(cx, ty).filter(|ty| {
        if !ty.is_value() {
            cx.error(
                codes::CONSTANT_TYPE,
                type_span,
                format!("a constant cannot have type `{ty}`"),
            )
            .hint("constants have value types, such as `int` and tensors");
        }
        ty.is_value()
    });
    let written = value.map(|value| {
        let value = check_against(
            cx,
            value,
            ty.as_ref(),
            &format!("the value of `{}`", name.text),
        )?;
        constant::require(cx, &value, &format!("the value of `{}`", name.text))
    });
    let options = cx.options;
    let given = options
        .constants
        .iter()
        .rev()
        .find(|(given, _)| *given == name.text);
    let value = match (given, written, &ty) {
        (Some((_, text)), _, Some(ty)) => match given_constant::read(text, ty, options.long_int) {
            Ok(value) => Some(value),
            Err(reason) => {
                let message = format!(
                    "`--C{}={text}` is not a value of type `{ty}`: {reason}",
                    name.text
                );
                cx.error(codes::GIVEN_CONSTANT, name.span, message);
                None
            }
        },
        (None, Some(written), _) => written,
        (None, None, Some(_)) => {
            cx.error(
                codes::CONSTANT_WITHOUT_VALUE,
                name.span,
                format!("constant `{}` has no value", name.text),
            )
            .hint(format!(
                "give it one here, or on the command line with `--C{}=…`",
                name.text
            ));
            None
        }
        (_, _, None) => None,
    };
    cx.declare_constant(name, ty.zip(value), false);
}

/// `axis x = n;`: a constant that labels the axes whose extent it is.
fn axis<'a>(cx: &mut Cx<'a>, name: &'a ast::Name, extent: &'a ast::Expr) {
    let what = format!("the extent of the axis `{}`", name.text);
    let value = types::number(cx, extent, &what, 2, types::LARGEST);
    let value = value.map(|n| (Type::Int, Constant::Int(n)));
    cx.declare_constant(name, value, true);
}

fn input<'a>(
    cx: &mut Cx<'a>,
    ty: &'a ast::TypeExpr,
    name: &ast::Name,
    default: Option<&'a ast::Expr>,
) -> (Option<Type>, Option<Default>) {
    let span = ty.span;
    let ty = types::resolve(cx, ty).filter(|ty| {
        let allowed = ty.is_value() || is_from_file(ty);
        if !allowed {
            cx.error(
                codes::INPUT_TYPE,
                span,
                format!("an input cannot have type `{ty}`"),
            )
            .hint(
                "inputs are values, images, or values on meshes; a field is made from an image input by convolution",
            );
        }
        allowed
    });
    let what = format!("the default of `{}`", name.text);
    let default = default.and_then(|written| match (&written.kind, &ty) {
        (Written::LoadImage(file), Some(Type::Image { .. }))
        | (Written::LoadSequence(file), Some(Type::Seq(_, None))) => {
            let file = constant_string(cx, file, "the name of a file")?;
            Some(Default::Known(InputDefault::File(file)))
        }
        (Written::Call { callee, args }, Some(Type::Fem { .. } | Type::Mesh(_)))
            if build::is_loader(callee) && args.len() <= 2 =>
        {
            if let Written::Name(name) = &callee.kind {
                cx.names_operator(callee.span, name);
            }
            // A file and an array in it are one name, as on the command line.
            let names: Option<Vec<String>> = args
                .iter()
                .map(|name| constant_string(cx, name, "the name of a file or array"))
                .collect();
            Some(Default::Known(InputDefault::File(names?.join("#"))))
        }
        (Written::LoadImage(_) | Written::LoadSequence(_), Some(ty)) => {
            let loaded = if matches!(written.kind, Written::LoadImage(_)) {
                "an image"
            } else {
                "a sequence"
            };
            let hint = match ty {
                Type::Seq(element, Some(_)) => Some(format!(
                    "the length of a loaded sequence is not known; declare `{element}[]`"
                )),
                _ => None,
            };
            cx.error(
                codes::TYPE_MISMATCH,
                written.span,
                format!("{what} must have type `{ty}`, but is {loaded} from a file"),
            )
            .hints(hint);
            None
        }
        (_, Some(ty)) if is_from_file(ty) => {
            // Anything else may be wrong in another way, whose message is more exact.
            infer(cx, written, None)?;
            let wanted = match ty {
                Type::Image { .. } => "an image from a file",
                _ => "from a file: `load_fem(\"…\", \"…\")` or `load_mesh(\"…\")`",
            };
            cx.error(
                codes::TYPE_MISMATCH,
                written.span,
                format!("{what} must be {wanted}"),
            );
            None
        }
        (_, ty) => {
            let value = check_against(cx, written, ty.as_ref(), &what)?;
            match constant::evaluate(cx, &value) {
                Ok(value) => Some(Default::Known(InputDefault::Value(value))),
                Err(reason) if reason.is_known_later() => Some(Default::Computed(Box::new(value))),
                Err(_) => {
                    constant::require(cx, &value, &what);
                    None
                }
            }
        }
    });
    (ty, default)
}

/// Whether an input of this type is the name of a file.
fn is_from_file(ty: &Type) -> bool {
    matches!(ty, Type::Image { .. } | Type::Fem { .. } | Type::Mesh(_))
}

fn global<'a>(
    cx: &mut Cx<'a>,
    ty: &'a ast::TypeExpr,
    name: &'a ast::Name,
    value: Option<&'a ast::Expr>,
) -> Option<Global> {
    let (var, value) = declared(cx, ty, name, value, VarKind::Global)?;
    Some(Global::Variable { var, value })
}

/// `field#k(d)[σ] F(x) = e;` The field is known only after its body. The declared continuity is taken on trust.
fn field_function<'a>(
    cx: &mut Cx<'a>,
    ty: &'a ast::TypeExpr,
    name: &'a ast::Name,
    (param, time): (&'a ast::Name, Option<&'a ast::Name>),
    body: &'a ast::Expr,
) -> Option<Global> {
    let span = ty.span;
    let labels = types::labels(cx, ty);
    let ty = types::resolve(cx, ty).filter(|ty| {
        let is_field = matches!(ty, Type::Field { .. });
        if !is_field {
            cx.error(
                codes::FIELD_FUNCTION_TYPE,
                span,
                format!("a field function must have a field type, not `{ty}`"),
            )
            .hint(format!(
                "a function of other types is written `function {ty} {} (…) = …;`",
                name.text
            ));
        }
        is_field
    });
    let (position, value) = match &ty {
        Some(Type::Field { dim, shape, .. }) => (
            Some(Type::Tensor(Shape::new([*dim]))),
            Some(Type::Tensor(shape.clone())),
        ),
        _ => (None, None),
    };
    if let Some(ty) = &ty
        && ty.is_timed_field() != time.is_some()
    {
        let (message, hint) = match time {
            Some(time) => (
                format!(
                    "`{ty}` is not a field over time, so its function has no time `{}`",
                    time.text
                ),
                format!(
                    "write `,time` after the dimension, or `{}({})`",
                    name.text, param.text
                ),
            ),
            None => (
                format!("a function of type `{ty}` has a position and a time"),
                format!("write `{}({}, t) = …`", name.text, param.text),
            ),
        };
        cx.error(codes::TIME, name.span, message).hint(hint);
        return None;
    }
    cx.place = Place::FieldFunction;
    cx.scopes.push(body.span);
    let param = cx.declare(param, position, VarKind::Param);
    cx.vars[param.0].read = true;
    cx.vars[param.0].labels.axes = vec![labels.domain.clone()];
    let time = time.map(|time| {
        let time = cx.declare(time, Some(Type::REAL), VarKind::Param);
        cx.vars[time.0].read = true;
        time
    });
    let what = format!("the value of the field function `{}`", name.text);
    cx.defining = Some(&name.text);
    cx.target = Some(Target {
        name: &name.text,
        span: name.span,
        labels: labels.clone(),
    });
    let body = check_against(cx, body, value.as_ref(), &what);
    cx.target = None;
    cx.defining = None;
    cx.scopes.pop();
    let var = cx.declare(name, ty, VarKind::Global);
    cx.vars[var.0].labels = labels;
    cx.vars[var.0].needs = std::mem::take(&mut cx.needs);
    let body = body?;
    Some(Global::FieldFunction {
        var,
        param,
        time,
        body,
    })
}

/// A function; its name is known only after its body, so there is no recursion.
fn function<'a>(
    cx: &mut Cx<'a>,
    ty: &'a ast::TypeExpr,
    name: &'a ast::Name,
    params: &'a [ast::Param],
    body: &'a FunctionBody,
) {
    let result = types::resolve(cx, ty);
    cx.place = Place::Function;
    cx.result = result.clone();
    let outside = cx.flow.clone();
    cx.scopes.push(match body {
        FunctionBody::Expr(value) => value.span,
        FunctionBody::Block(block) => block.span,
    });
    let params: Vec<VarId> = params
        .iter()
        .map(|param| {
            let labels = types::labels(cx, &param.ty);
            let ty = types::resolve(cx, &param.ty);
            let var = cx.declare(&param.name, ty, VarKind::Param);
            cx.vars[var.0].labels = labels;
            var
        })
        .collect();
    cx.defining = Some(&name.text);
    let body = match body {
        FunctionBody::Expr(value) => {
            let what = format!("the value of function `{}`", name.text);
            let returned = check_against(cx, value, result.as_ref(), &what);
            let stmts = returned.map(|returned| Stmt {
                kind: StmtKind::Return(returned),
                span: value.span,
            });
            Block {
                stmts: stmts.into_iter().collect(),
            }
        }
        FunctionBody::Block(written) => {
            let body = block(cx, written);
            if cx.flow.is_reachable() && !cx.incomplete {
                let message = format!("function `{}` can end without `return`", name.text);
                cx.error(codes::MISSING_RETURN, name.span, message)
                    .label(end_of(written.span), "the end is reached here")
                    .hint("every path must end with `return …;`");
            }
            body
        }
    };
    cx.defining = None;
    cx.scopes.pop();
    cx.flow = outside;
    let needs = std::mem::take(&mut cx.needs);
    let places = params.iter().map(|&param| cx.var(param).span).collect();
    cx.define(name, DefinitionKind::Function, result.as_ref(), places);
    let id = FunctionId(cx.functions.len());
    cx.functions.push(FunctionInfo {
        name: name.text.clone(),
        params,
        result,
        body,
        span: name.span,
        needs,
    });
    let earlier = cx.scopes.declare_function(&name.text, id, name.span);
    cx.redefinition(name, earlier);
}

/// The last character of a block: its closing brace.
fn end_of(block: Span) -> Span {
    Span {
        start: block.end.saturating_sub(1).max(block.start),
        end: block.end,
    }
}
