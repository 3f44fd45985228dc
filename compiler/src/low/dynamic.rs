//! Low operations on sequences of varying length and on other strands.
//!
//! A sequence is two integers, the number of its buffer and its length; it behaves as a value, so only operations here look
//! into buffers. A strand is its number among the living ones. The strands that a query found are three integers: the first
//! two say where their numbers are, and the third how many there are.

use super::Ty;
use crate::ir::words::Words;
use ein_ir::ops::{Reduction, StrandSet};
use std::{fmt, str::FromStr, sync::Arc};

/// The elements of a sequence: each is `scalars` numbers of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// The type of a scalar.
    pub ty: Ty,
    /// Scalars per element.
    pub scalars: u32,
}

impl Element {
    /// The types of the scalars of an element.
    pub fn types(self) -> Vec<Ty> {
        vec![self.ty; self.scalars as usize]
    }
}

/// An operation on sequences of varying length or on strands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Dynamic {
    /// A sequence of that many elements, given by their scalars.
    List(Element, u32),
    /// A sequence with an element after it.
    Append(Element),
    /// A sequence with an element before it; the sequence is the first argument.
    Prepend(Element),
    /// Two sequences, one after the other.
    Concatenate(Element),
    /// The scalars of a sequence's element at an index; zeros if it is out of range.
    Item(Element),
    /// The other strands closer to a centre than a radius.
    Sphere {
        /// The first state slot of the positions.
        position: u32,
        /// Their dimension.
        dim: u8,
    },
    /// The strand at an index among those a query found; some strand if it is out of range.
    StrandAt,
    /// A state slot of another strand, as it was at the start of the super-step.
    Other(u32, Ty),
    /// Makes a strand with these state slots.
    New(Arc<[Ty]>),
    /// How many strands there were at the start of the super-step.
    Count(StrandSet),
    /// A reduction over the strands of a set.
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
    /// The scalars of a value.
    pub element: Element,
    /// The types of what the body is given.
    pub captured: Vec<Ty>,
}

impl Dynamic {
    /// Argument and result types.
    pub(super) fn signature(&self) -> (Vec<Ty>, Vec<Ty>) {
        let ints = |n: usize| vec![Ty::Int; n];
        match self {
            Dynamic::List(element, count) => (element.types().repeat(*count as usize), ints(2)),
            Dynamic::Append(element) | Dynamic::Prepend(element) => {
                ([ints(2), element.types()].concat(), ints(2))
            }
            Dynamic::Concatenate(_) => (ints(4), ints(2)),
            Dynamic::Item(element) => (ints(3), element.types()),
            Dynamic::Sphere { dim, .. } => (vec![Ty::Real; usize::from(*dim) + 1], ints(3)),
            Dynamic::StrandAt => (ints(4), ints(1)),
            Dynamic::Other(_, ty) => (ints(1), vec![*ty]),
            Dynamic::New(state) => (state.to_vec(), vec![]),
            Dynamic::Count(_) => (vec![], ints(1)),
            Dynamic::Reduce(r) => (r.captured.clone(), r.element.types()),
        }
    }

    /// Whether it must happen exactly as often and in the order written.
    pub(super) fn has_effect(&self) -> bool {
        matches!(self, Dynamic::New(_))
    }

    /// Whether its results differ between strands even if the arguments do not: sequences have owners, and a strand does
    /// not find itself.
    pub(super) fn is_own(&self) -> bool {
        matches!(
            self,
            Dynamic::List(..)
                | Dynamic::Append(_)
                | Dynamic::Prepend(_)
                | Dynamic::Concatenate(_)
                | Dynamic::Sphere { .. }
        )
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}*{}", self.ty, self.scalars)
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(text: &str) -> Result<Element, String> {
        let bad = || format!("unknown element `{text}`");
        let (ty, scalars) = text.split_once('*').ok_or_else(bad)?;
        Ok(Element {
            ty: ty.parse()?,
            scalars: scalars.parse().map_err(|_| bad())?,
        })
    }
}

impl fmt::Display for Dynamic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = |f: &mut fmt::Formatter<'_>, types: &[Ty]| {
            types.iter().try_for_each(|ty| write!(f, " {ty}"))
        };
        match self {
            Dynamic::List(element, count) => write!(f, "list {element} {count}"),
            Dynamic::Append(element) => write!(f, "append {element}"),
            Dynamic::Prepend(element) => write!(f, "prepend {element}"),
            Dynamic::Concatenate(element) => write!(f, "concatenate {element}"),
            Dynamic::Item(element) => write!(f, "item {element}"),
            Dynamic::Sphere { position, dim } => write!(f, "sphere {position} {dim}"),
            Dynamic::StrandAt => f.write_str("strand-at"),
            Dynamic::Other(slot, ty) => write!(f, "other {slot} {ty}"),
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
            "list" => Dynamic::List(words.read(1)?, words.number(2)?),
            "append" => Dynamic::Append(words.read(1)?),
            "prepend" => Dynamic::Prepend(words.read(1)?),
            "concatenate" => Dynamic::Concatenate(words.read(1)?),
            "item" => Dynamic::Item(words.read(1)?),
            "sphere" => Dynamic::Sphere {
                position: words.number(1)?,
                dim: words.number(2)?,
            },
            "strand-at" => Dynamic::StrandAt,
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
