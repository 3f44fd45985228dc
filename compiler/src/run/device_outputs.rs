//! Outputs that stay on a GPU, for programs that go on with them there.

use super::{Run, stage::Stage};
use crate::{codegen::gpu::KeptResults, ir::interface::Interface};
use runtime::{
    output::{Domain, Length, Output, Scalar},
    reduce::Values,
    strands::Kind,
};
use std::{ops::Range, sync::Arc};

/// An output in the memory of a GPU. The memory is there as long as this or a clone is.
#[derive(Clone, Debug)]
pub struct DeviceOutput {
    /// Its name and type.
    pub output: Output,
    /// The domain of its values.
    pub domain: Domain,
    kept: Arc<KeptResults>,
    /// Its scalars, by their numbers in the state, and the address of its array.
    slots: Range<usize>,
    address: u64,
}

impl DeviceOutput {
    /// The address of the first number on the GPU.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The number of the GPU.
    pub fn device(&self) -> usize {
        self.kept.machine().number()
    }

    /// Bytes of a number: 4 or 8.
    pub fn number_bytes(&self) -> usize {
        self.kept.number()
    }

    /// Whether the numbers are reals; otherwise they are integers.
    pub fn is_real(&self) -> bool {
        self.output.scalar == Scalar::Real
    }

    /// Whether the integers are truth values: all bits of them are set, or none.
    pub fn is_truth(&self) -> bool {
        self.output.scalar == Scalar::Bool
    }

    /// The bytes of all numbers, in their order: they come back now.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn read(&self) -> Result<Vec<u8>, String> {
        let read = self.kept.read(&self.slots, self.domain.strand_count());
        let bytes = read.map_err(|error| error.to_string())?;
        Ok(bytes.unwrap_or_default())
    }

    /// The sizes of the array, row-major: the domain, then the components.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = match &self.domain {
            Domain::Grid(sizes) => sizes.clone(),
            Domain::List(count) => vec![*count],
        };
        if let Length::Fixed(n) = self.output.length {
            sizes.push(n);
        }
        sizes.extend(&self.output.shape);
        sizes
    }
}

/// The scalars of each output, by their numbers in the state.
pub(super) fn slots(interface: &Interface) -> Vec<Range<usize>> {
    let all = interface.state.iter().zip(all_slots(interface));
    let outputs = all.filter(|(state, _)| state.output);
    outputs.map(|(_, slots)| slots).collect()
}

/// The scalars of each variable of the state, by their numbers.
pub(super) fn all_slots(interface: &Interface) -> impl Iterator<Item = Range<usize>> {
    interface.state.iter().scan(0, |end, state| {
        let start = *end;
        *end += state.variable.ty.scalars().len();
        Some(start..*end)
    })
}

impl Run {
    /// Lets the outputs stay on the GPU, if strands run there independently of each other and all become stable. To be called before
    /// strands are created.
    pub fn keep_on_device(&mut self) {
        if let Stage::Prepared(prepared) = &mut self.stage {
            prepared.0.keep_outputs();
        }
    }

    /// The outputs that have stayed on the GPU, after the end. Nothing if they have come back.
    pub fn device_outputs(&self) -> Option<Vec<DeviceOutput>> {
        let strands = self.stage.strands()?;
        let kept = strands.placement().kept()?;
        let outputs = super::outputs(&self.program.interface).into_iter();
        let places = slots(&self.program.interface).into_iter();
        outputs
            .zip(places)
            .map(|(output, slots)| {
                Some(DeviceOutput {
                    output,
                    domain: self.domain(),
                    kept: Arc::clone(&kept),
                    address: kept.address(&slots)?,
                    slots,
                })
            })
            .collect()
    }

    /// The values of a variable of the state that have stayed on the GPU: they come back now.
    pub(super) fn kept_values(&self, variable: usize) -> Option<Arc<Values>> {
        let program = self.stage.strands()?.program();
        let kept = self.stage.strands()?.placement().kept()?;
        let slots = all_slots(&program.interface).nth(variable)?;
        let bytes = kept.read(&slots, self.domain().strand_count()).ok()??;
        let layout = program.state.layout.variables();
        match layout[program.state.variables[variable]].kind {
            Kind::Tensor { scalar, .. } => Some(Arc::new(Values::from_bytes(scalar, &bytes))),
            _ => None,
        }
    }
}
