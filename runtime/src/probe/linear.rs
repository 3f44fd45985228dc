//! Linear interpolation without a call: what generated code has to know of an image.
//!
//! A probe with the kernel `tent` is little work, so code may do it in place. It then does what the primitive does, operation by
//! operation, for the images that [`Linear::usable`] tells and positions whose samples all exist; else it calls the primitive.

use super::{Border, Stored};
use crate::simd::small::Small;
use crate::simd::{Float, Real};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// An image of one component, as linear interpolation in place wants it.
#[repr(C)]
#[derive(Debug)]
pub struct Linear {
    /// The first samples of the rows that a cell at the origin has: the next along y, then along z.
    pub rows: [*const u8; 4],
    /// The last position of each axis.
    pub ends: [f32; 3],
    /// Samples from one row to the next, and from one slice to the next.
    pub strides: [i32; 2],
    /// The number of the last cell, counted in samples.
    pub farthest: u32,
    /// 0 if a probe may not be done in place, [`LANE_BY_LANE`] if it may, [`FROM_BOX`] if lanes may also share a box. It is 0
    /// until the primitive has seen a position inside the image, so that code in place need not look.
    pub usable: AtomicU32,
    /// What that will be.
    soon: u32,
    /// The samples, if they are smaller than reals; they are those of a volume then.
    pub small: SmallSamples,
    /// The box that lanes near each other may share, of a volume.
    pub shared: SharedBox,
}

/// Samples of one or two bytes, and how they become reals: the bits of a sample, and then the difference of two numbers.
#[repr(C)]
#[derive(Debug)]
pub struct SmallSamples {
    /// The bytes of a sample; 0 for reals.
    pub bytes: u32,
    /// The power of two that this is.
    pub shift: u32,
    /// The number of bits of a sample.
    pub bits: u32,
    /// These bits.
    pub mask: u32,
    /// The bits that make a number of those of a sample, by an exclusive or.
    pub flip: u32,
    /// The number to subtract from it.
    pub base: f32,
}

impl SmallSamples {
    fn new(small: Option<Small>) -> SmallSamples {
        let bytes = small.map_or(0, |small| small.bytes() as u32);
        let (flip, base) = small.map_or((0, 0.0), |small| small.parts());
        SmallSamples {
            bytes,
            shift: bytes.trailing_zeros(),
            bits: 8 * bytes,
            mask: (1 << (8 * bytes)) - 1,
            flip,
            base,
        }
    }
}

/// A box that has all samples of lanes near each other: [`SharedBox::ROW`] along x, three along y and z.
#[repr(C)]
#[derive(Debug)]
pub struct SharedBox {
    /// The first samples of the rows that a box at the origin has: along y, then along z.
    pub rows: [*const u8; 9],
    /// The last place along each axis where a box may begin.
    pub lasts: [i32; 3],
    /// How many cells along each axis have all their samples in a box.
    pub cells: [i32; 3],
    /// How many cells before that of a lane a box begins along x, so that others find room on both sides.
    pub before: i32,
    /// From a sample to the next.
    pub next: i32,
}

impl SharedBox {
    /// Samples of a row.
    pub const ROW: usize = 8;

    /// Of a volume that has three samples along each axis, and those of a row along x.
    fn new(samples: &Stored, sizes: [i64; 3], strides: [i64; 3]) -> SharedBox {
        let row = |n: usize| {
            let distance = (n % 3) as i64 * strides[1] + (n / 3) as i64 * strides[2];
            samples.at::<f32>(distance)
        };
        let room = [Self::ROW as i32, 3, 3];
        SharedBox {
            rows: std::array::from_fn(row),
            lasts: [0, 1, 2].map(|axis| sizes[axis] as i32 - room[axis]),
            cells: room.map(|samples| samples - 1),
            before: (Self::ROW as i32 - 2) / 2,
            next: 1,
        }
    }
}

/// Every lane reads its own samples.
pub const LANE_BY_LANE: u32 = 1;

/// Lanes may share a box.
pub const FROM_BOX: u32 = 2;

impl Linear {
    /// For samples of type `real`, or smaller ones, with these lengths and strides of the axes. None is usable over time.
    pub(super) fn new(
        samples: &Stored,
        real: Real,
        sizes: [i64; 3],
        strides: [i64; 3],
        (dim, components): (usize, usize),
        border: Border<'_>,
        timed: bool,
    ) -> Linear {
        let count: i64 = sizes.iter().product();
        let is_usable = real == Real::F32
            && !timed
            && components == 1
            && matches!(border, Border::Clamp)
            && sizes[..dim].iter().all(|&size| size >= 2)
            && i32::try_from(count).is_ok();
        let none = Linear {
            rows: [samples.first; 4],
            ends: [0.0; 3],
            strides: [0; 2],
            farthest: 0,
            usable: AtomicU32::new(0),
            soon: 0,
            small: SmallSamples::new(None),
            shared: SharedBox::new(samples, [0; 3], [0; 3]),
        };
        if !is_usable {
            return none;
        }
        let row = |n: usize| {
            let steps = [n & 1, n >> 1];
            let distance: i64 = (1..dim).map(|a| steps[a - 1] as i64 * strides[a]).sum();
            // Rows of axes that do not exist are the first; the others are in the image, which has two of each.
            samples.at::<f32>(distance)
        };
        let shared = SharedBox::new(samples, sizes, strides);
        Linear {
            rows: [0, 1, 2, 3].map(row),
            ends: sizes.map(|size| f32::from_index(size - 1)),
            strides: [strides[1] as i32, strides[2] as i32],
            farthest: (0..dim).map(|a| (sizes[a] - 2) * strides[a]).sum::<i64>() as u32,
            usable: AtomicU32::new(0),
            soon: if shared.lasts.iter().all(|&last| last >= 0) {
                FROM_BOX
            } else {
                LANE_BY_LANE
            },
            small: SmallSamples::new(samples.small),
            shared,
        }
    }

    /// Lets probes be done in place from now on, if they can be.
    pub(super) fn open(&self) {
        self.usable.store(self.soon, Relaxed);
    }
}
