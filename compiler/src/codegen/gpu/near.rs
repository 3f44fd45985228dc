//! Memory of the machine for strands that look for each other, and the boxes into which space is cut for that.

use super::{
    driver::DriverError,
    header::Header,
    kernel::Near,
    launch::{Accelerator, Machine},
    memory::Memory,
};
use crate::codegen::abi::Lanes;
use runtime::world::Batch;
use std::sync::Arc;

/// Boxes at most, as a power of two.
const MOST_BITS: u32 = 24;
/// How many strands should be in a box.
const IN_A_BOX: usize = 8;
/// Strands that are looked at for a first guess of the edge of a box.
const SAMPLES: usize = 4096;

/// What the parts of [`Header`] about neighbours refer to.
pub(super) struct NearRoom {
    pub(super) published: Memory,
    pub(super) ranks: Memory,
    boxes: Memory,
    seats: Memory,
    order: Memory,
    places: Memory,
    seen: Memory,
    bits: u32,
    pub(super) chunks: u32,
    /// The edge of a box: about the radius that strands ask for. Any is right.
    pub(super) edge: Option<f64>,
}

impl NearRoom {
    /// Room for the strands of this many blocks.
    pub(super) fn new(
        machine: &Arc<dyn Machine>,
        near: Near,
        blocks: usize,
        lanes: Lanes,
    ) -> Result<NearRoom, DriverError> {
        let strands = blocks * lanes.width;
        let dim = u32::from(near.dim);
        // A box for a few strands, and a whole number of chunks.
        let wanted = (strands / IN_A_BOX).next_power_of_two().trailing_zeros();
        let bits = wanted.clamp(6, MOST_BITS).div_ceil(dim);
        let chunks = (1 << (bits * dim)) / Near::BOXES + 1;
        let memory = |count: usize, bytes: usize| Memory::new(machine, count * bytes);
        Ok(NearRoom {
            published: memory(blocks, near.stride)?,
            ranks: memory(strands, 4)?,
            boxes: memory((chunks * Near::BOXES) as usize, 8)?,
            seats: memory(strands, 8)?,
            order: memory(strands, 4)?,
            // Queries load some places ahead.
            places: memory(strands + Near::AHEAD, 4 * lanes.bytes())?,
            seen: memory(strands, near.record)?,
            bits,
            chunks,
            edge: None,
        })
    }

    /// Tells a launch where everything is.
    pub(super) fn describe(&self, header: &mut Header) {
        header.published = self.published.address;
        header.ranks = self.ranks.address;
        header.boxes = self.boxes.address;
        header.seats = self.seats.address;
        header.order = self.order.address;
        header.places = self.places.address;
        header.seen = self.seen.address;
        header.per_unit = 1.0 / self.edge.unwrap_or(1.0);
        header.bits = self.bits;
        header.chunks = self.chunks;
    }
}

impl Accelerator {
    /// The radius whose first bits a launch has reported.
    pub(super) fn radius(&self, bits: u32) -> f64 {
        match self.kernel.lanes.double {
            true => f64::from_bits(u64::from(bits) << 32),
            false => f32::from_bits(bits).into(),
        }
    }

    /// An edge that would put some strands into each box if those here filled their bounds evenly. It is for the first
    /// super-step, when no radius is known yet.
    pub(super) fn guess_edge(&self, near: Near, batch: &Batch<'_>) -> f64 {
        let first = near.position as usize;
        let planes = &self.kernel.planes[first..first + usize::from(near.dim)];
        let strands = batch.blocks() * batch.width;
        let (mut volume, mut axes) = (IN_A_BOX as f64 / strands.max(1) as f64, 0);
        for plane in planes {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for slot in (0..strands).step_by((strands / SAMPLES).max(1)) {
                let block = slot / batch.width * batch.stride;
                let at = block + plane.offset + slot % batch.width * plane.stride;
                let x = read_real(&batch.state[at..], self.kernel.lanes.double);
                if x.is_finite() {
                    (low, high) = (low.min(x), high.max(x));
                }
            }
            if low < high {
                volume *= high - low;
                axes += 1;
            }
        }
        let edge = volume.powf(1.0 / f64::from(axes.max(1)));
        if axes > 0 && edge > 0.0 { edge } else { 1.0 }
    }
}

fn read_real(bytes: &[u8], double: bool) -> f64 {
    match double {
        true => f64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")),
        false => f32::from_le_bytes(bytes[..4].try_into().expect("four bytes")).into(),
    }
}
