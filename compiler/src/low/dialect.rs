//! Low-IR: scalars only. Real arithmetic, comparison and selection are explicit; reconstruction, elementary functions and
//! eigensystems are single operations that the back end calls as primitives.
//!
//! Nothing here knows how many strands run together or what the machine's vectors look like: an operation is stated for one
//! strand. A tensor of the earlier IRs is as many values as it has components, in row-major order.

use super::{Dynamic, Ty};
use crate::{
    ir::{
        Bits, Orders, Simple,
        fem::FemProbe,
        leaf::{Convolution, ImageInfo},
        print_piece::{self, Piece},
    },
    ssa::{Dialect, Types},
};
use ein_ir::Elementary;
use smallvec::smallvec;
use std::{fmt, str::FromStr, sync::Arc};

/// The Low-IR dialect.
#[derive(Clone, Debug, PartialEq)]
pub struct Low;

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A real constant.
    Real(Bits),
    /// An integer constant.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A string constant.
    Str(Arc<str>),
    /// A scalar of the global variables, by slot.
    Global(u32, Ty),
    /// A scalar of the strand's state, by slot.
    State(u32, Ty),
    /// What the function was given: for the creation of a strand, the value of an iterator.
    Arg(u32, Ty),
    /// A property of an image that is known once it is loaded.
    Image(u32, ImageInfo),
    /// An operation without attributes.
    Simple(Simple),
    /// An elementary function.
    Math(Elementary),
    /// The second argument where the first holds, else the third.
    Select(Ty),
    /// Integer quotient, truncated; zero divisors are an error at this place.
    IntDiv(u32),
    /// Integer remainder with the sign of the dividend; zero divisors are an error at this place.
    IntRem(u32),
    /// The field's derivatives of the wanted orders at a position in index space; results as the primitive gives them:
    /// by order, then component, then distinct derivative. A field over time has a frame beside the position, the last one that
    /// is not after the time, and then the weights of the frames that count; in place of samples there are their sums.
    Probe(Arc<Convolution>, Orders),
    /// The place of a time among the frames of a field's image: the last frame that is not after it, the fraction of the way to the next
    /// one, and the number of frames in a unit of time there.
    Frame(Arc<Convolution>),
    /// The least and the greatest of the samples of all components in a box: the numbers of its first samples along all axes, then those of
    /// its last ones. Beyond the image there is what its border says; along an axis on which it is repeated or reflected, a box that leaves it has all
    /// samples. From −∞ to ∞ if a sample is not finite, or no number tells where the box is; zeros are not negative.
    Extremes(Arc<Convolution>),
    /// Takes notice of a coordinate, in index space, that was compared with the end of an axis of a field's image.
    Ask(Arc<Convolution>, u8),
    /// What the comparison of the function [`Role::Decide`](crate::ssa::Role::Decide) of this number gives for the field at a position in index
    /// space, if bounds of the field around the position tell: −1 if it is false, 1 if it is true, and 0 if they do not tell.
    Decide(u32, Arc<Convolution>),
    /// The cell of a mesh of this dimension that a position in the world is in, or −1, and the position in the reference cell.
    Locate(u32, u8),
    /// The number of a cell of a mesh in its file; −1 stays.
    CellNumber(u32),
    /// Fields on a mesh at a reference position of a cell: derivatives in the world, by field, then order, component and
    /// distinct derivative. Each field over time has a time after the position.
    FemProbe(Arc<FemProbe>),
    /// The eigenvalues, descending, and then the eigenvectors, one after the other, of a matrix of this size, row-major;
    /// only its upper triangle counts.
    Eigen(u8),
    /// Reports an index (first argument) that is not below a length (second argument) as an error at this place.
    CheckIndex(u32),
    /// Prints the pieces, taking an argument for every scalar.
    Print(Arc<[Piece]>),
    /// An operation on sequences of varying length, or on other strands.
    Dynamic(Dynamic),
}

impl Op {
    /// Whether this reads something that does not change while a function runs.
    pub fn is_constant(&self) -> bool {
        matches!(
            self,
            Op::Real(_)
                | Op::Int(_)
                | Op::Bool(_)
                | Op::Str(_)
                | Op::Global(..)
                | Op::State(..)
                | Op::Arg(..)
                | Op::Image(..)
        )
    }
}

impl Dialect for Low {
    const NAME: &'static str = "low";
    const BOOL: Ty = Ty::Bool;
    const INT: Ty = Ty::Int;
    type Op = Op;
    type Ty = Ty;

    fn type_of(op: &Op, args: &[&Ty]) -> Result<Types<Ty>, String> {
        // The most frequent operations, whose types need no allocation.
        match op {
            Op::Simple(simple) => {
                let (wanted, result) = simple.signature();
                if args.iter().copied().eq(wanted) {
                    return Ok(smallvec![result]);
                }
            }
            Op::Real(_) if args.is_empty() => return Ok(smallvec![Ty::Real]),
            Op::Global(_, ty) | Op::State(_, ty) if args.is_empty() => return Ok(smallvec![*ty]),
            Op::Select(ty) if args == [&Ty::Bool, ty, ty] => return Ok(smallvec![*ty]),
            _ => {}
        }
        let (wanted, results) = signature(op);
        if args.len() == wanted.len() && args.iter().zip(&wanted).all(|(a, w)| *a == w) {
            Ok(results.into())
        } else {
            Err(format!("arguments {args:?}, wanted {wanted:?}"))
        }
    }

    fn has_effect(op: &Op) -> bool {
        match op {
            Op::Print(_) | Op::IntDiv(_) | Op::IntRem(_) | Op::CheckIndex(_) | Op::Ask(..) => true,
            Op::Dynamic(dynamic) => dynamic.has_effect(),
            _ => false,
        }
    }

    fn commutes(op: &Op) -> bool {
        matches!(op, Op::Simple(simple) if simple.commutes())
    }
}

/// Argument and result types of an operation.
pub fn signature(op: &Op) -> (Vec<Ty>, Vec<Ty>) {
    match op {
        Op::Real(_) => (vec![], vec![Ty::Real]),
        Op::Int(_) => (vec![], vec![Ty::Int]),
        Op::Bool(_) => (vec![], vec![Ty::Bool]),
        Op::Str(_) => (vec![], vec![Ty::Str]),
        Op::Global(_, ty) | Op::State(_, ty) | Op::Arg(_, ty) => (vec![], vec![*ty]),
        Op::Image(_, info) => match info.is_int() {
            true => (vec![], vec![Ty::Int]),
            false => (vec![], vec![Ty::Real]),
        },
        Op::Simple(simple) => {
            let (args, result) = simple.signature();
            (args.to_vec(), vec![result])
        }
        Op::Math(f) => (vec![Ty::Real; f.arity()], vec![Ty::Real]),
        Op::Select(ty) => (vec![Ty::Bool, *ty, *ty], vec![*ty]),
        Op::IntDiv(_) | Op::IntRem(_) => (vec![Ty::Int; 2], vec![Ty::Int]),
        Op::Probe(field, orders) => (
            vec![Ty::Real; field.dim() + field.time.map_or(0, |time| 1 + time.taps())],
            vec![Ty::Real; orders.iter().map(|m| field.outputs(m)).sum()],
        ),
        Op::Frame(_) => (vec![Ty::Real], vec![Ty::Real; 3]),
        Op::Extremes(field) => (vec![Ty::Real; 2 * field.dim()], vec![Ty::Real; 2]),
        Op::Ask(..) => (vec![Ty::Real], vec![]),
        Op::Decide(_, field) => (vec![Ty::Real; field.dim()], vec![Ty::Real]),
        Op::Locate(_, dim) => {
            let position = vec![Ty::Real; usize::from(*dim)];
            (position.clone(), [vec![Ty::Int], position].concat())
        }
        Op::CellNumber(_) => (vec![Ty::Int], vec![Ty::Int]),
        Op::FemProbe(probe) => {
            let outputs = probe.results().map(|(field, order)| field.outputs(order));
            (
                [vec![Ty::Int], vec![Ty::Real; probe.dim + probe.times()]].concat(),
                vec![Ty::Real; outputs.sum()],
            )
        }
        Op::Eigen(n) => (
            vec![Ty::Real; usize::from(n * n)],
            vec![Ty::Real; usize::from(n + n * n)],
        ),
        Op::CheckIndex(_) => (vec![Ty::Int; 2], vec![]),
        Op::Print(pieces) => (pieces.iter().flat_map(Piece::scalars).collect(), vec![]),
        Op::Dynamic(dynamic) => dynamic.signature(),
    }
}

/// The operation that gives a zero of a type.
pub fn zero(ty: Ty) -> Op {
    match ty {
        Ty::Real => Op::Real(0.0.into()),
        Ty::Int => Op::Int(0),
        Ty::Bool => Op::Bool(false),
        Ty::Str => Op::Str("".into()),
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Real(bits) => write!(f, "real {:?}", bits.get()),
            Op::Int(n) => write!(f, "int {n}"),
            Op::Bool(b) => write!(f, "bool {b}"),
            Op::Str(s) => write!(f, "str {s:?}"),
            Op::Global(slot, ty) => write!(f, "global {slot} {ty}"),
            Op::State(slot, ty) => write!(f, "state {slot} {ty}"),
            Op::Arg(slot, ty) => write!(f, "arg {slot} {ty}"),
            Op::Image(image, info) => write!(f, "image {image} {info}"),
            Op::Simple(simple) => f.write_str(simple.name()),
            Op::Math(function) => write!(f, "math {}", function.def().name),
            Op::Select(ty) => write!(f, "select {ty}"),
            Op::IntDiv(place) => write!(f, "int-div {place}"),
            Op::IntRem(place) => write!(f, "int-rem {place}"),
            Op::Probe(field, orders) => write!(f, "probe {field} orders {}", orders.0),
            Op::Frame(field) => write!(f, "frame {field}"),
            Op::Extremes(field) => write!(f, "extremes {field}"),
            Op::Ask(field, axis) => write!(f, "ask {axis} {field}"),
            Op::Decide(number, field) => write!(f, "decide {number} {field}"),
            Op::Locate(mesh, dim) => write!(f, "locate {mesh} {dim}"),
            Op::CellNumber(mesh) => write!(f, "cell-number {mesh}"),
            Op::FemProbe(probe) => write!(f, "fem-probe {probe}"),
            Op::Eigen(n) => write!(f, "eigen {n}"),
            Op::CheckIndex(place) => write!(f, "check-index {place}"),
            Op::Print(pieces) => {
                f.write_str("print")?;
                pieces.iter().try_for_each(|piece| write!(f, " {piece}"))
            }
            Op::Dynamic(dynamic) => write!(f, "{dynamic}"),
        }
    }
}

impl FromStr for Op {
    type Err = String;

    fn from_str(text: &str) -> Result<Op, String> {
        if let Some(simple) = Simple::ALL.iter().find(|s| s.name() == text) {
            return Ok(Op::Simple(*simple));
        }
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let bad = || format!("cannot read operation `{text}`");
        let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
        let slot = || -> Result<(u32, Ty), String> {
            let (slot, ty) = rest.split_once(' ').ok_or_else(bad)?;
            Ok((number(slot)?, ty.parse()?))
        };
        Ok(match word {
            "real" => Op::Real(rest.parse::<f64>().map_err(|_| bad())?.into()),
            "int" => Op::Int(rest.parse().map_err(|_| bad())?),
            "bool" => Op::Bool(rest.parse().map_err(|_| bad())?),
            "str" => Op::Str(print_piece::unquote(rest).ok_or_else(bad)?.into()),
            "global" => slot().map(|(n, ty)| Op::Global(n, ty))?,
            "state" => slot().map(|(n, ty)| Op::State(n, ty))?,
            "arg" => slot().map(|(n, ty)| Op::Arg(n, ty))?,
            "image" => {
                let (image, info) = rest.split_once(' ').ok_or_else(bad)?;
                Op::Image(number(image)?, info.parse()?)
            }
            "math" => Op::Math(Elementary::named(rest).ok_or_else(bad)?),
            "select" => Op::Select(rest.parse()?),
            "int-div" => Op::IntDiv(number(rest)?),
            "int-rem" => Op::IntRem(number(rest)?),
            "probe" => {
                let (field, orders) = rest.split_once(" orders ").ok_or_else(bad)?;
                Op::Probe(Arc::new(field.parse()?), Orders(number(orders)?))
            }
            "frame" => Op::Frame(Arc::new(rest.parse()?)),
            "extremes" => Op::Extremes(Arc::new(rest.parse()?)),
            "ask" => {
                let (axis, field) = rest.split_once(' ').ok_or_else(bad)?;
                let axis = axis.parse().map_err(|_| bad())?;
                Op::Ask(Arc::new(field.parse()?), axis)
            }
            "decide" => {
                let (comparison, field) = rest.split_once(' ').ok_or_else(bad)?;
                Op::Decide(number(comparison)?, Arc::new(field.parse()?))
            }
            "locate" => {
                let (mesh, dim) = rest.split_once(' ').ok_or_else(bad)?;
                Op::Locate(number(mesh)?, dim.parse().map_err(|_| bad())?)
            }
            "cell-number" => Op::CellNumber(number(rest)?),
            "fem-probe" => Op::FemProbe(Arc::new(rest.parse()?)),
            "eigen" => Op::Eigen(rest.parse().map_err(|_| bad())?),
            "check-index" => Op::CheckIndex(number(rest)?),
            "print" => Op::Print(print_piece::parse_pieces(rest)?.into()),
            _ => return text.parse().map(Op::Dynamic),
        })
    }
}
