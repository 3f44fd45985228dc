//! The High-IR dialect: EIN operators over tensors and fields.

use crate::{
    ir::{
        leaf::Leaf,
        tensor::{Base, Operator, Ty},
    },
    ssa::{Dialect, Types},
};
use ein_ir::Shape;
use smallvec::smallvec;
use std::{fmt, str::FromStr, sync::Arc};

/// The High-IR dialect.
#[derive(Clone, Debug, PartialEq)]
pub struct High;

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// An operation that is not about fields.
    Base(Base),
    /// A leaf field; that of an image over time is the field at a time, its argument.
    Field(Leaf),
    /// An EIN operator; fields among its arguments make it a field unless it probes them.
    Ein(Arc<Operator>),
    /// Whether an image has samples for this support around a position in the world.
    Inside {
        /// The image.
        image: u32,
        /// The support of the kernel of each axis.
        supports: Vec<u8>,
    },
    /// The value itself, as that of a variable which derivatives are taken by. Values of one variable have one number.
    Variable(u32),
    /// The first argument, which is known to be computed as the second one is.
    Defined,
    /// The derivative of the first argument by the second, which is a [`Op::Variable`]; the number of the request. The stage `derive`
    /// replaces it.
    Derivative(u32),
}

/// The type of the derivative of a value by one of a shape: the axes of the latter come last. None if there is none.
pub(super) fn tangent_type(ty: &Ty, by: &Shape) -> Option<Ty> {
    Some(match ty {
        Ty::Tensor(shape) => Ty::Tensor(shape.append(by.dims())),
        Ty::Field { dim, shape } => Ty::Field {
            dim: *dim,
            shape: shape.append(by.dims()),
        },
        Ty::Seq(element, n) => Ty::Seq(Box::new(tangent_type(element, by)?), *n),
        Ty::List(element) => Ty::List(Box::new(tangent_type(element, by)?)),
        Ty::Bool | Ty::Int | Ty::Str | Ty::Strand | Ty::Strands => return None,
    })
}

impl Dialect for High {
    const NAME: &'static str = "high";
    const BOOL: Ty = Ty::Bool;
    const INT: Ty = Ty::Int;
    type Op = Op;
    type Ty = Ty;

    fn type_of(op: &Op, args: &[&Ty]) -> Result<Types<Ty>, String> {
        match op {
            Op::Base(base) => base.type_of(args),
            Op::Field(field) => {
                let wanted: &[&Ty] = if field.is_timed() { &[&Ty::REAL] } else { &[] };
                if args != wanted {
                    return Err(format!("arguments {args:?}, wanted {wanted:?}"));
                }
                Ok(smallvec![Ty::Field {
                    dim: field.dim(),
                    shape: field.shape().clone(),
                }])
            }
            Op::Ein(operator) => operator.type_of(args).map(|ty| smallvec![ty]),
            Op::Inside { supports, .. } => {
                let wanted = Ty::Tensor(Shape::new([supports.len()]));
                if args == [&wanted] {
                    Ok(smallvec![Ty::Bool])
                } else {
                    Err(format!("arguments {args:?}, wanted {wanted}"))
                }
            }
            Op::Variable(_) => match args {
                [ty @ (Ty::Tensor(_) | Ty::Field { .. })] => Ok(smallvec![(*ty).clone()]),
                _ => Err(format!("arguments {args:?}, wanted a tensor or a field")),
            },
            Op::Defined => match args {
                [ty, definition] if ty == definition => Ok(smallvec![(*ty).clone()]),
                _ => Err(format!("arguments {args:?}, wanted two of one type")),
            },
            Op::Derivative(_) => match args {
                [ty, Ty::Tensor(by) | Ty::Field { shape: by, .. }] => tangent_type(ty, by)
                    .map(|ty| smallvec![ty])
                    .ok_or_else(|| format!("{ty} has no derivative")),
                _ => Err(format!("arguments {args:?}, wanted a value and a tensor")),
            },
        }
    }

    fn has_effect(op: &Op) -> bool {
        matches!(op, Op::Base(base) if base.has_effect())
    }

    fn commutes(op: &Op) -> bool {
        matches!(op, Op::Base(Base::Simple(simple)) if simple.commutes())
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Base(base) => write!(f, "{base}"),
            Op::Field(field) => write!(f, "field {field}"),
            Op::Ein(operator) => write!(f, "{operator}"),
            Op::Inside { image, supports } => {
                write!(f, "inside {image}")?;
                supports
                    .iter()
                    .try_for_each(|support| write!(f, " {support}"))
            }
            Op::Variable(number) => write!(f, "variable {number}"),
            Op::Defined => f.write_str("defined"),
            Op::Derivative(request) => write!(f, "derivative {request}"),
        }
    }
}

impl FromStr for Op {
    type Err = String;

    fn from_str(text: &str) -> Result<Op, String> {
        if Operator::is_written(text) {
            return Ok(Op::Ein(Arc::new(text.parse()?)));
        }
        if let Some(field) = text.strip_prefix("field ") {
            return Ok(Op::Field(field.parse()?));
        }
        if let Some(rest) = text.strip_prefix("inside ") {
            let bad = || format!("cannot read operation `{text}`");
            let (image, supports) = rest.split_once(' ').ok_or_else(bad)?;
            let supports: Result<Vec<u8>, _> = supports.split(' ').map(str::parse).collect();
            return Ok(Op::Inside {
                image: image.parse().map_err(|_| bad())?,
                supports: supports.map_err(|_| bad())?,
            });
        }
        let number = |rest: &str| {
            let parsed = rest.parse::<u32>();
            parsed.map_err(|_| format!("cannot read operation `{text}`"))
        };
        if let Some(rest) = text.strip_prefix("variable ") {
            return number(rest).map(Op::Variable);
        }
        if let Some(rest) = text.strip_prefix("derivative ") {
            return number(rest).map(Op::Derivative);
        }
        if text == "defined" {
            return Ok(Op::Defined);
        }
        text.parse().map(Op::Base)
    }
}
