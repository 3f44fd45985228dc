//! Where strands are, as others see them.

use crate::neighbours::Coordinate;
use crate::strands::blocks::Blocks;
use crate::strands::{Plane, Sharing, StateLayout};
use std::marker::PhantomData;

/// The two places where planes of others are read.
#[derive(Clone, Copy)]
pub(crate) struct Homes<'a> {
    pub(crate) state: &'a Blocks,
    pub(crate) published: &'a Blocks,
}

impl Homes<'_> {
    /// Where others read a plane of block `block`.
    pub(crate) fn visible(self, plane: Plane, block: usize) -> *const u8 {
        let base = match plane.sharing {
            Sharing::Communicated => self.published.block(block),
            Sharing::Private | Sharing::Constant => self.state.block(block),
        };
        // SAFETY: a plane is inside its block.
        unsafe { base.add(plane.offset) }
    }
}

/// The positions of strands, as others see them.
pub(crate) struct Positions<'a, T, const D: usize> {
    planes: [Plane; D],
    homes: Homes<'a>,
    scalar: PhantomData<T>,
}

impl<'a, T: Coordinate, const D: usize> Positions<'a, T, D> {
    pub(super) fn new(layout: &StateLayout, homes: Homes<'a>) -> Positions<'a, T, D> {
        let position = layout
            .position()
            .expect("a program that queries has positions");
        Positions {
            planes: std::array::from_fn(|axis| layout.plane(position.variable, axis)),
            homes,
            scalar: PhantomData,
        }
    }

    pub(super) fn at(&self, block: usize, lane: u32) -> [T; D] {
        // SAFETY: the position's planes hold `T` in every lane of the block, and nothing writes them between super-steps.
        self.planes.map(|plane| unsafe {
            let lanes = self.homes.visible(plane, block).cast::<T>();
            *lanes.add(lane as usize)
        })
    }
}
