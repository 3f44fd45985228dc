//! Where images end: which globals are known to be a position at the end of an axis of an image.
//!
//! Whether a position is inside is asked by comparing it with such a global, which the function `invariants` computes from the
//! image's own size. Where the answer was yes, a probe need not move its position into the image.

use crate::{
    codegen::{Sink, Task},
    ir::{Simple, leaf::ImageInfo},
    low::{Low, Op},
    ssa::{Block, Kind, Role, Value},
};
use rustc_hash::FxHashMap;

/// The ends of images among the globals.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// The image and axis of a slot, and how many samples before its size the end is.
    slots: FxHashMap<u32, End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    image: u32,
    axis: u8,
    margin: i64,
}

impl Ends {
    /// Those that the functions of a program compute once and for all.
    pub(super) fn of(tasks: &[Task<'_>]) -> Ends {
        let invariants = tasks.iter().find(|task| task.role == Role::Invariants);
        let Some((task, Sink::Globals { slots, .. })) = invariants.map(|task| (task, &task.sink))
        else {
            return Ends::default();
        };
        let body = &task.function.body;
        let yields = body.yields.iter().zip(slots);
        let ends = yields.filter_map(|(&v, &slot)| Some((slot, end(body, v)?)));
        Ends {
            slots: ends.collect(),
        }
    }

    /// Whether a slot is the last position of an axis of an image, or one before.
    pub(super) fn is_end(&self, slot: u32, image: u32, axis: usize) -> bool {
        let end = self.slots.get(&slot);
        end.is_some_and(|end| {
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
