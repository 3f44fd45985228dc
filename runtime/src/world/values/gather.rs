//! Reading the state of strands from outside: takes a variable and a strand set, gives values in
//! strand order.

use crate::reduce::Values;
use crate::sequence::Sequence;
use crate::strands::{Kind, Scalar, StrandSet};
use crate::world::core::Core;

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

impl Core {
    /// See [`World::gather`](crate::world::World::gather).
    pub(crate) fn gather(&self, variable: usize, set: StrandSet) -> Gathered {
        let core = self;
        let offsets = |planes: usize| -> Vec<usize> {
            let planes = (0..planes).map(|n| core.layout.plane(variable, n).offset);
            planes.collect()
        };
        let collect = |scalar: Scalar, planes: usize| {
            let block = |block: usize, _: &mut [u64]| core.state.block(block).cast_const();
            // SAFETY: no method runs while the world is borrowed, and these are the planes of the variable.
            unsafe { core.collect(set, scalar, &offsets(planes), 0, &block) }
        };
        match core.layout.variables()[variable].kind {
            Kind::Tensor { scalar, components } => Gathered::Tensors {
                components,
                values: collect(scalar, components),
            },
            Kind::Sequence { scalar, components } => {
                let Values::I64(handles) = collect(Scalar::I64, 1) else {
                    unreachable!("handles are collected as integers")
                };
                let mut bytes = Vec::new();
                let mut lengths = Vec::with_capacity(handles.len());
                for handle in handles {
                    let sequence = Sequence::from_bits(handle as u64);
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
