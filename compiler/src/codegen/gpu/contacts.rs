//! Whether strands on a machine probed images, and whether that was ever inside.

use super::{
    driver::DriverError,
    launch::Machine,
    memory::{Memory, words_as_bytes, words_as_bytes_mut},
};
use std::sync::Arc;

/// Two words for each image in the memory of a machine: whether it was probed, and whether a probe was inside.
pub(super) struct Contacts {
    memory: Memory,
    images: usize,
}

impl Contacts {
    /// Images that were not probed.
    pub(super) fn new(machine: &Arc<dyn Machine>, images: usize) -> Result<Contacts, DriverError> {
        let words = vec![0; 2 * images];
        let memory = Memory::new(machine, size_of_val(&words[..]))?;
        machine.write(memory.address, words_as_bytes(&words))?;
        Ok(Contacts { memory, images })
    }

    /// Forgets all probes.
    pub(super) fn forget(&self) -> Result<(), DriverError> {
        let Memory { machine, address } = &self.memory;
        machine.write(*address, words_as_bytes(&vec![0; 2 * self.images]))
    }

    /// The address of the words of an image.
    pub(super) fn address(&self, image: u32) -> u64 {
        self.memory.address + u64::from(image) * 8
    }

    /// The words of all images, as truth values.
    pub(super) fn read(&self) -> Result<Vec<[bool; 2]>, DriverError> {
        let mut words = vec![0; 2 * self.images];
        let Memory { machine, address } = &self.memory;
        machine.read(*address, words_as_bytes_mut(&mut words))?;
        let (images, _) = words.as_chunks();
        Ok(images
            .iter()
            .map(|words| words.map(|word| word != 0))
            .collect())
    }
}
