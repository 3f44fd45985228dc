//! Linear interpolation without a call: what generated code has to know of an image.
//!
//! A probe with the kernel `tent` is little work, so code may do it in place. It then does what the primitive does, operation by
//! operation, for the images that [`Linear::is_usable`] tells; for all others it calls the primitive.

use super::Border;
use crate::simd::{Float, Real};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// An image of one component, as linear interpolation in place wants it.
#[repr(C)]
#[derive(Debug)]
pub struct Linear {
    /// The first samples of the rows that a cell at the origin has: the next along y, then along z.
    pub rows: [*const f32; 4],
    /// The last position of each axis.
    pub ends: [f32; 3],
    /// The last cell of each axis.
    pub lasts: [f32; 3],
    /// Samples from one row to the next, and from one slice to the next.
    pub strides: [i32; 2],
    /// The number of the last cell, counted in samples.
    pub farthest: u32,
    /// 1 if a probe may be done in place, else 0. It is 0 until the primitive has seen a position inside the image, so that
    /// code in place need not look.
    pub is_usable: AtomicU32,
    /// Whether it can ever be 1.
    may_be_usable: bool,
}

impl Linear {
    /// Of samples with these lengths and strides of the axes; `real` is what they are.
    pub(super) fn new(
        samples: *const f32,
        real: Real,
        sizes: [i64; 3],
        strides: [i64; 3],
        (dim, components): (usize, usize),
        border: Border<'_>,
    ) -> Linear {
        let count: i64 = sizes.iter().product();
        let is_usable = real == Real::F32
            && components == 1
            && matches!(border, Border::None)
            && sizes[..dim].iter().all(|&size| size >= 2)
            && i32::try_from(count).is_ok();
        let none = Linear {
            rows: [samples; 4],
            ends: [0.0; 3],
            lasts: [0.0; 3],
            strides: [0; 2],
            farthest: 0,
            is_usable: AtomicU32::new(0),
            may_be_usable: false,
        };
        if !is_usable {
            return none;
        }
        let row = |n: usize| {
            let steps = [n & 1, n >> 1];
            let distance: i64 = (1..dim).map(|a| steps[a - 1] as i64 * strides[a]).sum();
            // Rows of axes that do not exist are the first; the others are in the image, which has two of each.
            samples.wrapping_offset(distance as isize)
        };
        Linear {
            rows: [0, 1, 2, 3].map(row),
            ends: sizes.map(|size| f32::from_index(size - 1)),
            lasts: sizes.map(|size| f32::from_index((size - 2).max(0))),
            strides: [strides[1] as i32, strides[2] as i32],
            farthest: (0..dim).map(|a| (sizes[a] - 2) * strides[a]).sum::<i64>() as u32,
            is_usable: AtomicU32::new(0),
            may_be_usable: true,
        }
    }

    /// Lets probes be done in place from now on, if they can be.
    pub(super) fn open(&self) {
        if self.may_be_usable {
            self.is_usable.store(1, Relaxed);
        }
    }
}
