//! Reading the state of strands from outside: takes a variable and a strand set, gives values in
//! strand order.

use super::World;
use super::program::StrandProgram;
use crate::reduce::Values;
use crate::sequence::Sequence;
use crate::strands::{Kind, StrandSet};

/// The values of a state variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Gathered {
    /// One value of `components` scalars per strand.
    Tensors {
        /// Scalars per strand.
        components: usize,
        /// All values.
        values: Values,
    },
    /// One sequence per strand.
    Sequences {
        /// Number of elements of each strand's sequence.
        lengths: Vec<usize>,
        /// Scalars per element.
        components: usize,
        /// All elements of all strands, one after the other.
        values: Values,
    },
}

impl<P: StrandProgram> World<P> {
    /// The values of a state variable over a set: for a grid all strands in row-major order, for a
    /// collection in creation order.
    pub fn gather(&self, variable: usize, set: StrandSet) -> Gathered {
        let core = &self.core;
        let slots = core.roster.slots(set);
        let lane = |slot: u32, component: usize| {
            let (block, lane) = core.roster.place(slot);
            let plane = core.layout.plane(variable, component);
            // SAFETY: no method runs while the world is borrowed, and the address lies in the
            // plane.
            unsafe {
                std::slice::from_raw_parts(
                    core.state
                        .block(block)
                        .add(plane.offset + lane * plane.bytes),
                    plane.bytes,
                )
            }
        };
        match core.layout.variables()[variable].kind {
            Kind::Tensor { scalar, components } => {
                let mut bytes = Vec::with_capacity(slots.len() * components * scalar.bytes());
                for &slot in &slots {
                    (0..components)
                        .for_each(|component| bytes.extend_from_slice(lane(slot, component)));
                }
                Gathered::Tensors {
                    components,
                    values: Values::from_bytes(scalar, &bytes),
                }
            }
            Kind::Sequence { scalar, components } => {
                let mut bytes = Vec::new();
                let mut lengths = Vec::with_capacity(slots.len());
                for &slot in &slots {
                    let handle = lane(slot, 0).try_into().expect("a handle has eight bytes");
                    let sequence = Sequence::from_bits(u64::from_ne_bytes(handle));
                    lengths.push(sequence.len());
                    // SAFETY: the state of a living strand holds live sequences.
                    bytes.extend_from_slice(unsafe {
                        core.sequences.bytes(sequence, components * scalar.bytes())
                    });
                }
                Gathered::Sequences {
                    lengths,
                    components,
                    values: Values::from_bytes(scalar, &bytes),
                }
            }
        }
    }
}
