//! The scales at which images are smoothed, which are known before all other values.

use super::{Failure, Images, Inputs, placement::Placement, strands::Strands, values::Initial};
use crate::{codegen::Compiled, front::tree::Constant, ssa::Role};
use runtime::world::GlobalSequences;

/// The scales of the images that a program smooths, in their order; `None` if there are no such images.
///
/// # Errors
/// An error in an input, or a run-time error in the computation of a scale.
pub(super) fn of_run(
    program: &Compiled,
    inputs: &Inputs,
    images: &Images,
) -> Result<Option<Vec<Vec<f64>>>, Failure> {
    let mut scales = program.interface.scales().peekable();
    if scales.peek().is_none() {
        return Ok(None);
    }
    let mut sequences = GlobalSequences::default();
    let initial = Initial::new(program, inputs.values(), images, &mut sequences)?;
    let placement = Placement::default();
    let mut strands = Strands::new(program.clone(), initial, images.clone(), placement);
    strands.run_once(Role::Scales, &mut sequences)?;
    let numbers = scales.map(|(_, blur)| match strands.global(blur.scale) {
        Some(Constant::Tensor(_, numbers)) => numbers,
        other => unreachable!("a scale is {other:?}"),
    });
    Ok(Some(numbers.collect()))
}
