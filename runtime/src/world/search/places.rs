//! Where strands are, as others see them.

use crate::neighbours::Coordinate;
use crate::strands::blocks::Blocks;
use crate::strands::{Plane, Scalar, Sharing, StateLayout};
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

/// Those of the strands of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockPositions<'a, T, const D: usize> {
    columns: [*const T; D],
    homes: PhantomData<Homes<'a>>,
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

    pub(super) fn of_block(&self, block: usize) -> BlockPositions<'a, T, D> {
        BlockPositions {
            columns: self
                .planes
                .map(|plane| self.homes.visible(plane, block).cast::<T>()),
            homes: PhantomData,
        }
    }
}

impl<T: Coordinate, const D: usize> BlockPositions<'_, T, D> {
    #[inline(always)]
    pub(super) fn at(&self, lane: u32) -> [T; D] {
        // SAFETY: the position's planes hold `T` in every lane of the block, and nothing writes them between super-steps.
        self.columns
            .map(|column| unsafe { *column.add(lane as usize) })
    }
}

/// The positions of strands as points in three dimensions, whatever their type.
pub(crate) struct Places<'a> {
    planes: Vec<Plane>,
    scalar: Scalar,
    homes: Homes<'a>,
}

impl<'a> Places<'a> {
    /// None if strands have no positions.
    pub(crate) fn new(layout: &StateLayout, homes: Homes<'a>) -> Option<Places<'a>> {
        let position = layout.position()?;
        let axes = 0..position.dimension;
        Some(Places {
            planes: axes
                .map(|axis| layout.plane(position.variable, axis))
                .collect(),
            scalar: position.scalar,
            homes,
        })
    }

    /// Where a strand is, if its position is finite. Axes that there are not are 0.
    pub(crate) fn at(&self, block: usize, lane: u32) -> Option<[f64; 3]> {
        let mut place = [0.0; 3];
        for (place, &plane) in place.iter_mut().zip(&self.planes) {
            let lanes = self.homes.visible(plane, block);
            // SAFETY: the plane has a number of this type in every lane, and no method runs.
            *place = unsafe {
                match self.scalar {
                    Scalar::F64 => *lanes.cast::<f64>().add(lane as usize),
                    _ => f64::from(*lanes.cast::<f32>().add(lane as usize)),
                }
            };
        }
        place.iter().all(|x| x.is_finite()).then_some(place)
    }
}
