//! Images that are frames of files: pages choose others of the same files.

use crate::{
    codegen::Compiled,
    ir::interface::InputTarget,
    run::{Failure, Inputs},
};
use runtime::{file_name::FileName, image::ChosenFrame, input::InputValue};
use serde_json::Value;
use std::collections::BTreeMap;

/// The inputs whose images are frames, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameInputs(BTreeMap<String, FrameInput>);

/// An image that is a frame of a file.
#[derive(Clone, Debug)]
struct FrameInput {
    file: FileName,
    chosen: ChosenFrame,
}

impl FrameInputs {
    /// Those of a program whose inputs are given.
    pub(super) fn of(program: &Compiled, inputs: &Inputs) -> FrameInputs {
        let interface = &program.interface;
        let all = interface.inputs.iter().filter_map(|input| {
            let InputTarget::Image(image) = input.target else {
                return None;
            };
            let image = &interface.images[image as usize];
            let file = inputs.file(&input.name)?.clone();
            let chosen = ChosenFrame::of(&file, image.dim, image.shape.dims())?;
            Some((input.name.clone(), FrameInput { file, chosen }))
        });
        FrameInputs(all.collect())
    }

    /// The number of frames that an input can have.
    pub(super) fn count(&self, input: &str) -> Option<usize> {
        self.0.get(input).map(|input| input.chosen.count)
    }

    /// The frame of an input among the values that pages have set, or else the one that was given.
    pub(super) fn frame(&self, input: &str, set: &serde_json::Map<String, Value>) -> Option<usize> {
        let own = self.0.get(input)?;
        let frame = set.get(input).and_then(Value::as_f64);
        let frame = frame.map(|x| x.clamp(0.0, own.chosen.count as f64 - 1.0) as usize);
        Some(frame.unwrap_or(own.chosen.frame))
    }

    /// Sets the frames that pages have chosen.
    ///
    /// # Errors
    /// An input has been lost.
    pub(super) fn choose(
        &self,
        inputs: &mut Inputs,
        set: &serde_json::Map<String, Value>,
    ) -> Result<(), Failure> {
        for (name, own) in &self.0 {
            let frame = self.frame(name, set).unwrap_or(own.chosen.frame);
            if let Some(file) = ChosenFrame::name_of(&own.file, frame) {
                inputs.set(name, InputValue::File(FileName::from(file)))?;
            }
        }
        Ok(())
    }

    /// The words of a command line with the files that pages have chosen instead of those that were given.
    pub(super) fn replace(&self, words: &mut [String], inputs: &Inputs) {
        for (name, own) in &self.0 {
            let given = own.file.to_string();
            if let Some(file) = inputs.file(name) {
                let words = words.iter_mut().filter(|word| **word == given);
                words.for_each(|word| *word = file.to_string());
            }
        }
    }
}
