//! Images on their way to a machine.

use super::{driver::DriverError, launch::Machine, memory::Memory};
use runtime::grid::TimeAxis;
use std::{ops::Range, sync::Arc};

/// The samples of an image in memory: all of one component, then of the next, of one frame after the other.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// Samples per axis, fastest first.
    pub sizes: &'a [usize],
    /// The number of frames, 1 if it is not over time.
    pub frames: usize,
    /// Their times, if it is over time.
    pub time: Option<&'a TimeAxis>,
    /// Whether they are loaded when they are first touched.
    pub is_on_demand: bool,
    /// All components and frames.
    pub contents: &'a dyn Contents,
}

/// Samples that may have to be converted before they are copied.
pub trait Contents: std::fmt::Debug {
    /// The number of all samples.
    fn count(&self) -> usize;

    /// Gives the bytes of samples that follow one another, in the real type of the program and in as few pieces as there is memory for.
    fn pieces(&self, samples: Range<usize>, take: &mut dyn FnMut(&[u8]));
}

impl Samples<'_> {
    /// The samples of a component. On a machine all frames of a component are one array, and then those of the next.
    pub(super) fn count(&self) -> usize {
        self.sizes.iter().product::<usize>() * self.frames
    }

    /// Copies a component to an address of a machine, frame by frame; gives the address after it.
    pub(super) fn copy_component(
        &self,
        machine: &Arc<dyn Machine>,
        component: usize,
        mut at: u64,
    ) -> Result<u64, DriverError> {
        let plane = self.sizes.iter().product::<usize>();
        let components = self.contents.count() / self.count();
        for frame in 0..self.frames {
            let start = (frame * components + component) * plane;
            at = self.copy_range(machine, start..start + plane, at)?;
        }
        Ok(at)
    }

    /// Copies samples that follow one another; gives the address after them.
    fn copy_range(
        &self,
        machine: &Arc<dyn Machine>,
        samples: Range<usize>,
        mut at: u64,
    ) -> Result<u64, DriverError> {
        let mut result = Ok(());
        self.contents.pieces(samples, &mut |bytes| {
            if result.is_ok() {
                result = machine.write(at, bytes);
                at += bytes.len() as u64;
            }
        });
        result.map(|()| at)
    }

    /// Copies all components to a machine.
    pub(super) fn copy(
        &self,
        machine: &Arc<dyn Machine>,
        real: usize,
    ) -> Result<Memory, DriverError> {
        let count = self.contents.count();
        let memory = Memory::new(machine, count * real)?;
        if self.frames == 1 {
            self.copy_range(machine, 0..count, memory.address)?;
            return Ok(memory);
        }
        let mut at = memory.address;
        for component in 0..count / self.count() {
            at = self.copy_component(machine, component, at)?;
        }
        Ok(memory)
    }
}
