//! Reductions of few elements that are numbered by constants, as expressions of these elements: then a field function with one has a
//! closed form.

use super::{copy::give, turns::values};
use crate::front::{
    source::Span,
    tree::{Constant, Domain, Expr, ExprKind, convert::coerce, literal},
};
use ein_ir::{
    Shape, Type,
    ops::{self, Builtin, Instance, Meaning, Reduction},
};

/// The most elements that are written out.
const MOST: usize = 64;

/// The reduction that an operator is, as an expression of the elements.
pub(super) fn written_out(
    op: &Instance,
    args: &[Expr],
    span: Span,
    long_int: bool,
) -> Option<Expr> {
    let (Meaning::Builtin(Builtin::Reduce(reduction)), [sequence]) = (op.row.meaning, args) else {
        return None;
    };
    let join = match reduction {
        Reduction::Sum | Reduction::Mean => "+",
        Reduction::Product => "*",
        Reduction::Min => "min",
        Reduction::Max => "max",
        _ => return None,
    };
    let mut elements = numbered(sequence, long_int)?.into_iter();
    let count = elements.len();
    let mut joined = elements.next()?;
    for element in elements {
        joined = applied(join, vec![joined, element], span)?;
    }
    if reduction != Reduction::Mean {
        return Some(joined);
    }
    let count = Constant::Tensor(Shape::SCALAR, vec![count as f64]);
    applied("/", vec![joined, literal(Type::REAL, count, span)], span)
}

/// The elements of a comprehension over a range that is known, if they are few and are tensors.
fn numbered(sequence: &Expr, long_int: bool) -> Option<Vec<Expr>> {
    let ExprKind::Comprehension {
        body,
        var,
        domain: Domain::Seq(source),
    } = &sequence.kind
    else {
        return None;
    };
    let is_tensor = matches!(body.ty, Type::Tensor(_));
    let is_range = matches!(source.builtin(), Some((Builtin::Range, _)));
    let values = values(source, &Vec::new(), long_int).filter(|_| is_tensor && is_range)?;
    let element = |n: i64| {
        let mut element = (**body).clone();
        give(&mut element, &vec![(*var, Constant::Int(n))]);
        element
    };
    (values.len() <= MOST).then(|| values.into_iter().map(element).collect())
}

fn applied(spelling: &str, args: Vec<Expr>, span: Span) -> Option<Expr> {
    let types: Vec<Type> = args.iter().map(|arg| arg.ty.clone()).collect();
    let op = ops::resolve(spelling, &types).ok()?;
    let args = args.into_iter().zip(&op.args);
    let args = args.map(|(arg, wanted)| coerce(arg, wanted)).collect();
    Some(Expr::applied(op, args, span))
}
