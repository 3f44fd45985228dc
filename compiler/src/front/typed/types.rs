//! From written types to types: dimensions are evaluated, and what no value could have is refused.

use super::{constant::constant_int, context::Cx, foreign_names, indices::Labels, scope::Entity};
use crate::front::{
    codes,
    facts::Referent,
    source::Span,
    syntax::ast::{self, TimeAxis, TypeExprKind},
};
use ein_ir::{Continuity, Shape, Type};

/// The largest extent, length or continuity a type may name; beyond it a value could not be stored anyway.
pub(super) const LARGEST: i64 = 1 << 24;

/// The largest number of components of a tensor. Every component is computed by code of its own.
const LARGEST_TENSOR: usize = 1 << 16;

/// The largest extent of a square matrix.
pub(super) const LARGEST_MATRIX: i64 = 1 << 8;

/// The type that is written, or nothing if it is wrong, which is then reported.
pub(super) fn resolve<'a>(cx: &mut Cx<'a>, written: &'a ast::TypeExpr) -> Option<Type> {
    Some(match &written.kind {
        TypeExprKind::Bool => Type::Bool,
        TypeExprKind::Int => Type::Int,
        TypeExprKind::String => Type::String,
        TypeExprKind::Real => Type::REAL,
        TypeExprKind::Tensor(dims) => Type::Tensor(shape(cx, dims)?),
        TypeExprKind::Vec(n) => Type::tensor(&[usize::from(*n)]),
        TypeExprKind::Mat(n) => Type::tensor(&[usize::from(*n); 2]),
        TypeExprKind::Image {
            dim,
            time,
            shape: dims,
        } => {
            let (dim, shape) = (space_dimension(cx, dim), shape(cx, dims));
            let timed = has_frames(cx, time.as_ref(), "an image has samples");
            Type::Image {
                dim: dim?,
                timed: timed?,
                shape: shape?,
            }
        }
        TypeExprKind::Field {
            continuity: k,
            dim,
            time,
            shape: dims,
        } => {
            let k = match k {
                Some(k) => continuity(cx, k),
                None => Some(Continuity::Infinite),
            };
            let (dim, shape) = (space_dimension(cx, dim), shape(cx, dims));
            name_time(cx, time.as_ref());
            let time = match time {
                Some(TimeAxis {
                    continuity: Some(m),
                    ..
                }) => Some(continuity(cx, m)?),
                Some(_) => Some(Continuity::Finite(0)),
                None => None,
            };
            Type::Field {
                continuity: k?,
                dim: dim?,
                time,
                shape: shape?,
            }
        }
        TypeExprKind::Data {
            name,
            continuity,
            dim,
            time,
            shape,
        } => data(
            cx,
            name,
            continuity.as_deref(),
            (dim, time.as_ref()),
            shape.as_deref(),
        )?,
        TypeExprKind::Kernel(k) => Type::Kernel(continuity(cx, k)?),
        TypeExprKind::Named(name) => named(cx, name)?,
        TypeExprKind::Seq { element, length } => sequence(cx, element, length.as_deref())?,
        TypeExprKind::Grid { element, lengths } => {
            let mut ty = resolve(cx, element)?;
            for length in lengths.iter().rev() {
                let n = number(cx, length, "the length of a sequence", 0, LARGEST)?;
                ty = sequence_of(cx, ty, Some(n as usize), written.span)?;
            }
            ty
        }
    })
}

/// Takes note of the word `time` for editors.
fn name_time(cx: &mut Cx<'_>, time: Option<&TimeAxis>) {
    if let Some(time) = time {
        cx.facts.name(time.span, Referent::Word);
    }
}

/// Whether data have frames; `#m` is an error there, for a reason.
fn has_frames(cx: &mut Cx<'_>, time: Option<&TimeAxis>, reason: &str) -> Option<bool> {
    name_time(cx, time);
    if let Some(k) = time.and_then(|time| time.continuity.as_ref()) {
        let message = format!("{reason}, so it has no derivatives by time");
        cx.error(codes::BAD_DIMENSION, k.span, message)
            .hint("`#m` stands in the type of a field: `field#1(3,time#1)[]`");
        return None;
    }
    Some(time.is_some())
}

/// `fem#k(d)[σ]`, `fem#k(d,time)[σ]` or `mesh(d)`; these words are not keywords, and have other meanings elsewhere.
fn data<'a>(
    cx: &mut Cx<'a>,
    name: &'a ast::Name,
    k: Option<&'a ast::Expr>,
    (dim, time): (&'a ast::Expr, Option<&'a TimeAxis>),
    dims: Option<&'a [ast::Expr]>,
) -> Option<Type> {
    let wrong = |cx: &mut Cx<'a>, form: &str| {
        let message = format!("the type `{}` is written `{form}`", name.text);
        cx.error(codes::UNKNOWN_TYPE, name.span, message);
    };
    cx.facts.name(name.span, Referent::Word);
    match (name.text.as_str(), dims) {
        ("fem", Some(dims)) => {
            let k = match k {
                Some(k) => continuity(cx, k),
                None => Some(Continuity::Infinite),
            };
            let dim = number(cx, dim, "the dimension of a mesh", 2, 3);
            let shape = shape(cx, dims);
            let timed = has_frames(cx, time, "a mesh has values at frames");
            Some(Type::Fem {
                continuity: k?,
                dim: dim? as usize,
                timed: timed?,
                shape: shape?,
            })
        }
        ("mesh", None) if k.is_none() && time.is_none() => {
            let dim = number(cx, dim, "the dimension of a mesh", 2, 3)?;
            Some(Type::Mesh(dim as usize))
        }
        ("fem", None) => {
            wrong(cx, "fem#k(d)[σ]` or `fem#k(d,time)[σ]");
            None
        }
        ("mesh", _) => {
            wrong(cx, "mesh(d)");
            None
        }
        _ => {
            unknown(cx, name);
            None
        }
    }
}

/// The labels of the axes of a written type: an extent that is the name of an axis is labelled with it.
pub(super) fn labels(cx: &Cx<'_>, written: &ast::TypeExpr) -> Labels {
    let label = |extent: &ast::Expr| match &extent.kind {
        ast::ExprKind::Name(name) => match cx.scopes.value(name) {
            Some(Entity::Const(id)) if cx.consts[id.0].is_axis => Some(name.clone()),
            _ => None,
        },
        _ => None,
    };
    let all = |extents: &[ast::Expr]| extents.iter().map(label).collect();
    match &written.kind {
        TypeExprKind::Tensor(shape) => Labels {
            domain: None,
            axes: all(shape),
        },
        TypeExprKind::Image { dim, shape, .. } | TypeExprKind::Field { dim, shape, .. } => Labels {
            domain: label(dim),
            axes: all(shape),
        },
        TypeExprKind::Seq { element, length } => {
            let mut axes = vec![length.as_deref().and_then(label)];
            axes.extend(labels(cx, element).axes);
            Labels { domain: None, axes }
        }
        TypeExprKind::Grid { element, lengths } => {
            let mut axes: Vec<Option<String>> = all(lengths);
            axes.extend(labels(cx, element).axes);
            Labels { domain: None, axes }
        }
        _ => Labels::default(),
    }
}

/// The type a name stands for: only the strand is one.
fn named(cx: &mut Cx<'_>, name: &ast::Name) -> Option<Type> {
    if cx.names_strand(&name.text, name.span) {
        return Some(Type::Strand(name.text.clone()));
    }
    unknown(cx, name);
    None
}

/// Reports a name that is not a type.
fn unknown(cx: &mut Cx<'_>, name: &ast::Name) {
    if cx.incomplete {
        return;
    }
    let strand = cx.strand.as_ref().map(|strand| strand.name);
    let types = [
        "bool", "int", "string", "real", "tensor", "vec2", "vec3", "vec4", "image", "field",
        "kernel", "fem", "mesh",
    ];
    let similar = cx.similar_name(&name.text, types.into_iter().chain(strand));
    let message = format!("unknown type `{}`", name.text);
    let report = cx.error(codes::UNKNOWN_TYPE, name.span, message);
    if let Some(foreign) = foreign_names::ty(&name.text) {
        report.foreign(foreign);
        return;
    }
    match (strand, similar) {
        (_, Some(similar)) => report.did_you_mean(Some(similar)),
        (Some(strand), None) => {
            report.hint(format!("the only named type is the strand `{strand}`"))
        }
        (None, None) => report.hint("a strand is a type only inside and after its definition"),
    };
}

fn sequence<'a>(
    cx: &mut Cx<'a>,
    element: &'a ast::TypeExpr,
    length: Option<&'a ast::Expr>,
) -> Option<Type> {
    let length = match length {
        None => Some(None),
        Some(length) => {
            number(cx, length, "the length of a sequence", 0, LARGEST).map(|n| Some(n as usize))
        }
    };
    let ty = resolve(cx, element);
    let (ty, length) = (ty?, length?);
    sequence_of(cx, ty, length, element.span)
}

/// The type of sequences of `element`, if there are such.
pub(super) fn sequence_of(
    cx: &mut Cx<'_>,
    element: Type,
    length: Option<usize>,
    span: Span,
) -> Option<Type> {
    if !element.is_element() {
        cx.error(
            codes::SEQUENCE_ELEMENT,
            span,
            format!("a sequence cannot have elements of type `{element}`"),
        )
        .hint("elements have value types, such as `int` and tensors, or are strands");
        return None;
    }
    if length.is_none() && element.is_dynamic() {
        cx.error(
            codes::NESTED_DYNAMIC_SEQUENCE,
            span,
            format!("a sequence of unknown length cannot have elements of type `{element}`"),
        )
        .hint("only the outermost sequence may have no fixed length");
        return None;
    }
    let numbers = length.and_then(|length| components(&element)?.checked_mul(length));
    if length.is_some() && numbers.is_none_or(|numbers| numbers > LARGEST_TENSOR) {
        cx.error(
            codes::TOO_LARGE,
            span,
            format!(
                "a sequence of fixed length has at most {LARGEST_TENSOR} numbers in its elements"
            ),
        )
        .hint(format!(
            "a sequence of type `{element}[]` may have any length"
        ));
        return None;
    }
    Some(Type::Seq(Box::new(element), length))
}

/// How many numbers a value has; a sequence of varying length counts as one.
fn components(ty: &Type) -> Option<usize> {
    match ty {
        Type::Tensor(shape) => shape
            .dims()
            .iter()
            .try_fold(1, |n: usize, d| n.checked_mul(*d)),
        Type::Seq(element, Some(length)) => components(element)?.checked_mul(*length),
        _ => Some(1),
    }
}

/// A written shape.
pub(super) fn shape<'a>(cx: &mut Cx<'a>, dims: &'a [ast::Expr]) -> Option<Shape> {
    let (Some(first), Some(last)) = (dims.first(), dims.last()) else {
        return Some(Shape::SCALAR);
    };
    let dims: Vec<Option<i64>> = dims
        .iter()
        .map(|dim| number(cx, dim, "a dimension of a tensor", 2, LARGEST))
        .collect();
    let dims: Option<Vec<usize>> = dims
        .into_iter()
        .map(|dim| dim.map(|n| n as usize))
        .collect();
    let shape = Shape::from(dims?.as_slice());
    if !is_storable(&shape) {
        let span = first.span.to(last.span);
        cx.error(
            codes::TOO_LARGE,
            span,
            format!("a tensor has at most {LARGEST_TENSOR} components"),
        );
        return None;
    }
    Some(shape)
}

/// Refuses tensors and fields with too many components.
pub(super) fn limit_size(cx: &mut Cx<'_>, ty: &Type, span: Span) -> Option<()> {
    match ty {
        Type::Tensor(shape) | Type::Field { shape, .. } if !is_storable(shape) => {
            cx.error(
                codes::TOO_LARGE,
                span,
                format!("a tensor has at most {LARGEST_TENSOR} components; this is a `{ty}`"),
            );
            None
        }
        _ => Some(()),
    }
}

fn is_storable(shape: &Shape) -> bool {
    let size = shape
        .dims()
        .iter()
        .try_fold(1usize, |size, &n| size.checked_mul(n));
    size.is_some_and(|size| size <= LARGEST_TENSOR)
}

fn space_dimension<'a>(cx: &mut Cx<'a>, dim: &'a ast::Expr) -> Option<usize> {
    number(cx, dim, "the dimension of a field or image", 1, 3).map(|n| n as usize)
}

/// A written continuity.
pub(super) fn continuity<'a>(cx: &mut Cx<'a>, k: &'a ast::Expr) -> Option<Continuity> {
    number(cx, k, "continuity", 0, LARGEST).map(|n| Continuity::Finite(n as u32))
}

/// A constant integer in a range.
pub(super) fn number<'a>(
    cx: &mut Cx<'a>,
    written: &'a ast::Expr,
    what: &str,
    least: i64,
    most: i64,
) -> Option<i64> {
    let value = constant_int(cx, written, what)?;
    if (least..=most).contains(&value) {
        return Some(value);
    }
    let wanted = match most {
        LARGEST if value < least => format!("at least {least}"),
        LARGEST => format!("at most {LARGEST}"),
        _ => format!("from {least} to {most}"),
    };
    cx.error(
        codes::BAD_DIMENSION,
        written.span,
        format!("{what} must be {wanted}, not {value}"),
    );
    None
}
