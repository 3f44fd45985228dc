//! The values of strands for a reduction over them, computed where their states are.

use super::{
    driver::DriverError,
    header::Header,
    kernel::{Cell, Kernel},
    launch::Accelerator,
};
use crate::{
    codegen::abi::Lanes,
    device::{Device, Ty},
    low,
    ssa::Function,
};
use std::{
    sync::PoisonError,
    time::{Duration, Instant},
};

/// Bytes of a scalar of the values that the body of a reduction gives.
pub(super) fn scalar_bytes(body: &Function<Device>, lanes: Lanes) -> usize {
    let first = body.body.yields.first();
    match first.map(|value| *body.type_of(*value)) {
        None | Some(Ty::Scalar(low::Ty::Bool)) => 1,
        Some(Ty::Scalar(ty)) => lanes.lane_bytes(ty),
        Some(Ty::Double) => unreachable!("a value of a strand is one of the program"),
    }
}

impl Kernel {
    /// Bytes of the values of a block, of the reduction with the largest.
    pub(super) fn reduced_bytes(&self) -> usize {
        let bytes = |(_, body): &(u32, Function<Device>)| {
            body.body.yields.len() * scalar_bytes(body, self.lanes) * self.lanes.width
        };
        self.reductions.iter().map(bytes).max().unwrap_or(0)
    }
}

impl Accelerator {
    /// Computes the values of strands for the reduction with this number, those of the first blocks that are there, from their states
    /// there; `value` gives the cells as for [`Accelerator::run`]. `values` is a plane for each scalar of a block, block after block.
    ///
    /// # Errors
    /// The values are lost.
    pub fn reduce(
        &self,
        number: u32,
        blocks: usize,
        values: &mut [u8],
        value: &dyn Fn(Cell) -> u64,
    ) -> Result<(), DriverError> {
        let start = Instant::now();
        let kept = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let room = kept.as_ref().filter(|room| room.blocks >= blocks);
        let (Some(room), Some(entry)) = (room, self.entry(Kernel::REDUCE)) else {
            return Err(DriverError::new("reducing on the GPU", "nothing is there"));
        };
        let cells = self.cells(value);
        let mut spent = Duration::ZERO;
        let mut reduce = || {
            self.send_more(room, &cells)?;
            let header = Header {
                state: room.state.address,
                places: room.reduced.address,
                more: room.more.address,
                count: (blocks * self.kernel.lanes.width) as u32,
                bits: number,
                ..Header::default()
            };
            let parameters = self.kernel.parameters(&header, &cells);
            spent = (self.machine).launch(&[(entry, header.count)], &parameters)?;
            self.machine.read(room.reduced.address, values)
        };
        let reduced = reduce();
        self.took(start, spent);
        reduced
    }
}
