//! The High-IR dialect: EIN operators over tensors and fields.

use crate::{
    ir::{
        leaf::Leaf,
        tensor::{Base, Operator, Ty},
    },
    ssa::{Dialect, Types},
};
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
    /// A leaf field.
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
            Op::Field(field) if args.is_empty() => Ok(smallvec![Ty::Field {
                dim: field.dim(),
                shape: field.shape().clone(),
            }]),
            Op::Field(_) => Err("a leaf field has no arguments".into()),
            Op::Ein(operator) => operator.type_of(args).map(|ty| smallvec![ty]),
            Op::Inside { supports, .. } => {
                let wanted = Ty::Tensor(ein_ir::Shape::new([supports.len()]));
                if args == [&wanted] {
                    Ok(smallvec![Ty::Bool])
                } else {
                    Err(format!("arguments {args:?}, wanted {wanted}"))
                }
            }
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
        text.parse().map(Op::Base)
    }
}
