//! Finds the globals that are the position of the end of an axis of an image.
//!
//! `inside` compares a position with such a global, which the function `invariants` computes from the image's own size. Where
//! the comparison holds, a probe need not test whether its samples exist.

use crate::{
    ir::{Simple, leaf::ImageInfo},
    low::{Low, Op},
    ssa::{Block, Function, Kind, Value},
};
use rustc_hash::FxHashMap;

/// The ends of images among the globals.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    /// The image and axis of a slot, and how many samples before its size the end is.
    slots: FxHashMap<u32, End>,
}

/// How many samples before the size of an image along an axis something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) image: u32,
    pub(super) axis: u8,
    pub(super) margin: i64,
}

impl Ends {
    /// Those that the function `invariants` computes once and for all, for globals from a slot on.
    pub(super) fn of(invariants: Option<&Function<Low>>, first: u32) -> Ends {
        let body = invariants.map(|function| &function.body);
        let ends = body.into_iter().flat_map(|body| {
            let yields = (first..).zip(&body.yields);
            yields.filter_map(|(slot, &v)| Some((slot, end(body, v)?)))
        });
        Ends {
            slots: ends.collect(),
        }
    }

    /// The end that a slot is.
    pub(super) fn get(&self, slot: u32) -> Option<End> {
        self.slots.get(&slot).copied()
    }

    /// Whether a slot is the last position of an axis of an image, or one before.
    pub(super) fn is_end(&self, slot: u32, image: u32, axis: usize) -> bool {
        self.get(slot).is_some_and(|end| {
            end.image == image && usize::from(end.axis) == axis && end.margin >= 1
        })
    }
}

/// The end that a value is: the size of an image less a number, as a real.
fn end(body: &Block<Low>, v: Value) -> Option<End> {
    let (Op::Simple(Simple::ToReal), [whole]) = definition(body, v)? else {
        return None;
    };
    let (Op::Simple(Simple::IntSub), [size, margin]) = definition(body, *whole)? else {
        return None;
    };
    match (definition(body, *size)?.0, definition(body, *margin)?.0) {
        (&Op::Image(image, ImageInfo::Size(axis)), &Op::Int(margin)) => Some(End {
            image,
            axis,
            margin,
        }),
        _ => None,
    }
}

/// The operation that gives a value, if it stands in the block itself.
fn definition(body: &Block<Low>, v: Value) -> Option<(&Op, &[Value])> {
    body.insts.iter().find_map(|inst| match &inst.kind {
        Kind::Op(op, args) if inst.results.first() == Some(&v) => Some((op, &args[..])),
        _ => None,
    })
}
