//! The Mid-IR dialect: EIN operators over tensors only, and probes.

use crate::{
    ir::{
        Orders,
        fem::FemProbe,
        leaf::Convolution,
        tensor::{Base, Operator, Ty},
    },
    ssa::{Dialect, Types},
};
use ein_ir::{Param, Shape};
use smallvec::smallvec;
use std::{fmt, str::FromStr, sync::Arc};

/// The Mid-IR dialect.
#[derive(Clone, Debug, PartialEq)]
pub struct Mid;

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// An operation that is not about images.
    Base(Base),
    /// An EIN operator on tensors.
    Ein(Arc<Operator>),
    /// World coordinates to index coordinates of an image of this dimension.
    ToIndex(u32, u8),
    /// The matrix P of an image of this dimension that takes derivatives in index space to derivatives in the world:
    /// ∂ᵢ = Σⱼ P\[i,j\] ∂ⱼ.
    Gradient(u32, u8),
    /// The derivatives of the wanted orders at a position in index space, one tensor per order, the derivative axes last. A field over
    /// time has a time beside the position.
    Probe(Arc<Convolution>, Orders),
    /// Fields on a mesh at a reference position of a cell: the derivatives of the wanted orders in the world, one tensor per
    /// field and order, the derivative axes last. Each field over time has a time after the position.
    FemProbe(Arc<FemProbe>),
}

impl Dialect for Mid {
    const NAME: &'static str = "mid";
    const BOOL: Ty = Ty::Bool;
    const INT: Ty = Ty::Int;
    type Op = Op;
    type Ty = Ty;

    fn type_of(op: &Op, args: &[&Ty]) -> Result<Types<Ty>, String> {
        let vector = |n: usize| Ty::Tensor(Shape::new([n]));
        let wants = |wanted: &[Ty], result: Types<Ty>| {
            if args.len() == wanted.len() && args.iter().zip(wanted).all(|(a, w)| *a == w) {
                Ok(result)
            } else {
                Err(format!("arguments {args:?}, wanted {wanted:?}"))
            }
        };
        match op {
            Op::Base(base) => base.type_of(args),
            Op::Ein(operator) => {
                if operator
                    .ein
                    .params
                    .iter()
                    .any(|p| matches!(p, Param::Field { .. }))
                {
                    return Err("a field in Mid-IR".into());
                }
                operator.type_of(args).map(|ty| smallvec![ty])
            }
            Op::ToIndex(_, dim) => wants(
                &[vector(usize::from(*dim))],
                smallvec![vector(usize::from(*dim))],
            ),
            Op::Gradient(_, dim) => wants(
                &[],
                smallvec![Ty::Tensor(Shape::new([usize::from(*dim); 2]))],
            ),
            Op::Probe(field, orders) => {
                let results = orders
                    .iter()
                    .map(|m| Ty::Tensor(field.shape.append(&vec![field.dim(); m])));
                let mut wanted = vec![vector(field.dim())];
                wanted.extend(field.time.map(|_| Ty::REAL));
                wants(&wanted, results.collect())
            }
            Op::FemProbe(probe) => {
                let results = probe
                    .results()
                    .map(|(field, order)| Ty::Tensor(field.shape.append(&vec![field.dim; order])));
                let mut wanted = vec![Ty::Int, vector(probe.dim)];
                wanted.extend(vec![Ty::REAL; probe.times()]);
                wants(&wanted, results.collect())
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
            Op::Ein(operator) => write!(f, "{operator}"),
            Op::ToIndex(image, dim) => write!(f, "to-index {image} {dim}"),
            Op::Gradient(image, dim) => write!(f, "gradient {image} {dim}"),
            Op::Probe(field, orders) => write!(f, "probe {field} orders {}", orders.0),
            Op::FemProbe(probe) => write!(f, "fem-probe {probe}"),
        }
    }
}

impl FromStr for Op {
    type Err = String;

    fn from_str(text: &str) -> Result<Op, String> {
        let bad = || format!("cannot read operation `{text}`");
        if Operator::is_written(text) {
            return Ok(Op::Ein(Arc::new(text.parse()?)));
        }
        if let Some((field, orders)) = text
            .strip_prefix("probe ")
            .and_then(|t| t.split_once(" orders "))
        {
            return Ok(Op::Probe(
                Arc::new(field.parse()?),
                Orders(orders.parse().map_err(|_| bad())?),
            ));
        }
        if let Some(probe) = text.strip_prefix("fem-probe ") {
            return Ok(Op::FemProbe(Arc::new(probe.parse()?)));
        }
        for (word, make) in [
            ("to-index ", Op::ToIndex as fn(u32, u8) -> Op),
            ("gradient ", Op::Gradient),
        ] {
            if let Some((image, dim)) = text.strip_prefix(word).and_then(|t| t.split_once(' ')) {
                return Ok(make(
                    image.parse().map_err(|_| bad())?,
                    dim.parse().map_err(|_| bad())?,
                ));
            }
        }
        text.parse().map(Op::Base)
    }
}
