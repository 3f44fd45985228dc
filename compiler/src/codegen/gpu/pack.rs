//! Packed images: if strands read several components of an image, these are interleaved in the memory of the machine, so
//! that a tap is one load, or a few.

use super::{
    driver::DriverError, header::Header, kernel::Kernel, launch::Machine, memory::Memory,
    samples::Samples,
};
use crate::device::{self, Device};
use crate::ssa::Function;
use std::sync::Arc;

/// The components of an image that are read, if they are several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pack {
    /// The image.
    pub image: u32,
    /// The components, in the order of memory.
    pub components: Vec<u32>,
    /// Reals that one load takes.
    pub vector: usize,
}

impl Pack {
    /// Those of some methods.
    pub(super) fn all(methods: &[Option<Function<Device>>], double: bool) -> Vec<Pack> {
        let functions: Vec<Function<Device>> = methods.iter().flatten().cloned().collect();
        let mut packs: Vec<Pack> = Vec::new();
        for (image, component) in device::planes(&functions) {
            match packs.iter_mut().find(|pack| pack.image == image) {
                Some(pack) => pack.components.push(component),
                None => packs.push(Pack {
                    image,
                    components: vec![component],
                    vector: 0,
                }),
            }
        }
        packs.retain(|pack| pack.components.len() > 1);
        for pack in &mut packs {
            pack.components.sort_unstable();
            // A load takes at most 16 bytes.
            pack.vector = match (pack.components.len(), double) {
                (2, _) | (_, true) => 2,
                _ => 4,
            };
        }
        packs
    }

    /// Reals from one sample to the next.
    pub fn stride(&self) -> usize {
        self.components.len().next_multiple_of(self.vector)
    }

    /// The position of a component among those of a sample.
    pub fn place(&self, component: u32) -> usize {
        let known = self.components.binary_search(&component);
        known.expect("a component that is read")
    }

    /// Copies an image to the machine, component by component; `entry` is the handle of [`Kernel::PACK`].
    pub(super) fn copy(
        &self,
        machine: &Arc<dyn Machine>,
        kernel: &Kernel,
        entry: u64,
        image: &Samples<'_>,
    ) -> Result<Memory, DriverError> {
        let real = kernel.lanes.bytes();
        let count = image.count();
        let packed = Memory::new(machine, count * self.stride() * real)?;
        let plane = Memory::new(machine, count * real)?;
        for (n, &component) in self.components.iter().enumerate() {
            image.copy_component(machine, component as usize, plane.address)?;
            let header = Header {
                state: plane.address,
                places: packed.address + (n * real) as u64,
                count: count as u32,
                steps: (self.stride() * real) as u32,
                ..Header::default()
            };
            let parameters = kernel.parameters(&header, &vec![0; kernel.cells.len()]);
            machine.launch(&[(entry, header.count)], &parameters)?;
        }
        Ok(packed)
    }
}
