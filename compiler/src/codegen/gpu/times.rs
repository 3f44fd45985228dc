//! The times of an image's frames on a machine: for each interval in which frames follow each other evenly, when it begins and
//! its frames in a unit of time.

use super::{driver::DriverError, launch::Machine, memory::Memory};
use runtime::{
    grid::TimeAxis,
    probe::{Real, TimeSteps},
};
use std::sync::Arc;

/// The intervals of an image's times, in the memory of a machine.
pub(super) struct Intervals {
    memory: Memory,
    count: usize,
}

impl Intervals {
    /// Copies the times of an image to a machine, in the real type of the program.
    pub(super) fn copy(
        machine: &Arc<dyn Machine>,
        axis: &TimeAxis,
        double: bool,
    ) -> Result<Intervals, DriverError> {
        let real = if double { Real::F64 } else { Real::F32 };
        let intervals = match TimeSteps::new(axis, real) {
            TimeSteps::Regular { start, rate } => vec![[start, rate]],
            TimeSteps::Table { times, rates } => {
                let pairs = times.into_iter().zip(rates);
                pairs.map(|(begin, rate)| [begin, rate]).collect()
            }
        };
        let numbers = intervals.as_flattened().iter();
        let bytes: Vec<u8> = match real {
            Real::F32 => numbers.flat_map(|&x| (x as f32).to_le_bytes()).collect(),
            Real::F64 => numbers.flat_map(|x| x.to_le_bytes()).collect(),
        };
        let memory = Memory::new(machine, bytes.len())?;
        machine.write(memory.address, &bytes)?;
        Ok(Intervals {
            memory,
            count: intervals.len(),
        })
    }

    /// The value of the cell with their number.
    pub(super) fn count(&self) -> u64 {
        self.count as u64
    }

    /// The address of the first.
    pub(super) fn address(&self) -> u64 {
        self.memory.address
    }
}
