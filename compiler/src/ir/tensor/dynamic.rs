//! Operations on sequences of varying length and on other strands, in High-IR and Mid-IR.

use super::Ty;
use crate::ir::words::Words;
use ein_ir::{
    Shape,
    ops::{Reduction, StrandSet},
};
use std::{fmt, str::FromStr, sync::Arc};

/// An operation on sequences of varying length or on strands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Dynamic {
    /// A sequence of the arguments, whose elements have this type.
    List(Ty),
    /// A sequence (first argument) with an element (second argument) after it.
    Append(Ty),
    /// A sequence (first argument) with an element (second argument) before it.
    Prepend(Ty),
    /// Two sequences, one after the other.
    Concatenate(Ty),
    /// The number of elements of a sequence of this type.
    Length(Ty),
    /// The element of a sequence of this type at an index that is in range; some value elsewhere.
    Item(Ty),
    /// No strands.
    NoStrands,
    /// The other strands closer to a centre (first argument) than a radius (second argument), by their positions at the
    /// start of the super-step.
    Sphere {
        /// The state variable with the positions.
        position: u32,
        /// Their dimension.
        dim: u8,
    },
    /// A state variable of another strand, as it was at the start of the super-step.
    Other(u32, Ty),
    /// Makes a strand with this initial state.
    New(Arc<[Ty]>),
    /// How many strands there were at the start of the super-step.
    Count(StrandSet),
    /// A reduction over the strands of a set; the arguments are what its body reads of the code around it.
    Reduce(Arc<StrandReduction>),
}

/// A reduction over strands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StrandReduction {
    /// How the values become one.
    pub reduction: Reduction,
    /// The strands.
    pub set: StrandSet,
    /// The number of the function that gives the value of a strand.
    pub body: u32,
    /// The type of a value.
    pub element: Ty,
    /// The types of what the body reads of the code around it.
    pub captured: Vec<Ty>,
}

impl Dynamic {
    /// Argument and result types, given the number of arguments.
    pub(super) fn signature(&self, count: usize) -> (Vec<Ty>, Vec<Ty>) {
        let list = |element: &Ty| Ty::List(Box::new(element.clone()));
        match self {
            Dynamic::List(element) => (vec![element.clone(); count], vec![list(element)]),
            Dynamic::Append(element) | Dynamic::Prepend(element) => {
                (vec![list(element), element.clone()], vec![list(element)])
            }
            Dynamic::Concatenate(element) => (vec![list(element); 2], vec![list(element)]),
            Dynamic::Length(sequence) => (vec![sequence.clone()], vec![Ty::Int]),
            Dynamic::Item(sequence) => {
                let element = sequence.element().expect("a sequence has elements");
                (vec![sequence.clone(), Ty::Int], vec![element.clone()])
            }
            Dynamic::NoStrands => (vec![], vec![Ty::Strands]),
            Dynamic::Sphere { dim, .. } => {
                let centre = match dim {
                    1 => Ty::REAL,
                    _ => Ty::Tensor(Shape::new([usize::from(*dim)])),
                };
                (vec![centre, Ty::REAL], vec![Ty::Strands])
            }
            Dynamic::Other(_, ty) => (vec![Ty::Strand], vec![ty.clone()]),
            Dynamic::New(state) => (state.to_vec(), vec![]),
            Dynamic::Count(_) => (vec![], vec![Ty::Int]),
            Dynamic::Reduce(reduction) => {
                (reduction.captured.clone(), vec![reduction.element.clone()])
            }
        }
    }

    /// Whether it must happen exactly as often and in the order written.
    pub(super) fn has_effect(&self) -> bool {
        matches!(self, Dynamic::New(_))
    }
}

impl fmt::Display for Dynamic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = |f: &mut fmt::Formatter<'_>, types: &[Ty]| {
            types.iter().try_for_each(|ty| write!(f, " {ty}"))
        };
        match self {
            Dynamic::List(ty) => write!(f, "list {ty}"),
            Dynamic::Append(ty) => write!(f, "append {ty}"),
            Dynamic::Prepend(ty) => write!(f, "prepend {ty}"),
            Dynamic::Concatenate(ty) => write!(f, "concatenate {ty}"),
            Dynamic::Length(ty) => write!(f, "length {ty}"),
            Dynamic::Item(ty) => write!(f, "item {ty}"),
            Dynamic::NoStrands => f.write_str("no-strands"),
            Dynamic::Sphere { position, dim } => write!(f, "sphere {position} {dim}"),
            Dynamic::Other(n, ty) => write!(f, "other {n} {ty}"),
            Dynamic::New(state) => {
                f.write_str("new")?;
                types(f, state)
            }
            Dynamic::Count(set) => write!(f, "count {}", set.name()),
            Dynamic::Reduce(r) => {
                let (how, set) = (r.reduction.name(), r.set.name());
                write!(f, "reduce {how} {set} {} {}", r.body, r.element)?;
                types(f, &r.captured)
            }
        }
    }
}

impl FromStr for Dynamic {
    type Err = String;

    fn from_str(text: &str) -> Result<Dynamic, String> {
        let words = Words::of(text);
        Ok(match words.name() {
            "list" => Dynamic::List(words.read(1)?),
            "append" => Dynamic::Append(words.read(1)?),
            "prepend" => Dynamic::Prepend(words.read(1)?),
            "concatenate" => Dynamic::Concatenate(words.read(1)?),
            "length" => Dynamic::Length(words.read(1)?),
            "item" => Dynamic::Item(words.read(1)?),
            "no-strands" => Dynamic::NoStrands,
            "sphere" => Dynamic::Sphere {
                position: words.number(1)?,
                dim: words.number(2)?,
            },
            "other" => Dynamic::Other(words.number(1)?, words.read(2)?),
            "new" => Dynamic::New(words.rest(1)?.into()),
            "count" => Dynamic::Count(words.set(1)?),
            "reduce" => Dynamic::Reduce(Arc::new(StrandReduction {
                reduction: words.reduction(1)?,
                set: words.set(2)?,
                body: words.number(3)?,
                element: words.read(4)?,
                captured: words.rest(5)?,
            })),
            _ => return Err(words.bad()),
        })
    }
}
