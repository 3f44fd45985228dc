//! Values for the inputs of a program.

use crate::{Error, InputValue, Program, image::ImageSource, image::Reading};
use compiler::{front::source::Source, run};
use runtime::file_name::FileName;
use std::sync::Arc;

/// Values for the inputs of a program, by name. An input that is not set has its default.
#[derive(Clone, Debug)]
pub struct Inputs {
    source: Arc<Source>,
    pub(crate) values: run::Inputs,
}

impl Inputs {
    pub(crate) fn new(program: &Program) -> Inputs {
        Inputs {
            source: Arc::clone(program.source()),
            values: run::Inputs::of(program.compiled()),
        }
    }

    /// Sets an input. Numbers and texts are given as such, tensors as slices of their components (row-major), sequences as slices of
    /// all their elements' components, images, meshes and sequences in files as [`InputValue::File`]. The name of a file is spelled
    /// as for the command: also `std:viridis` for a colour map, `slice%03d.png 1 120` for numbered pictures, `file#frame` or
    /// `file#array`.
    ///
    /// # Errors
    /// There is no such input, or the value does not suit its type.
    pub fn set(&mut self, name: &str, value: impl Into<InputValue>) -> Result<(), Error> {
        let set = self.values.set(name, value);
        self.checked(set)
    }

    /// Sets an input to an image in memory.
    ///
    /// # Errors
    /// There is no input of that name, or it is not an image.
    pub fn set_image(&mut self, name: &str, image: impl Into<ImageSource>) -> Result<(), Error> {
        let set = self.values.set_image(name, image);
        self.checked(set)
    }

    /// Chooses how the image of an input is read.
    ///
    /// # Errors
    /// There is no input of that name, or it is not an image.
    pub fn set_reading(&mut self, name: &str, reading: Reading) -> Result<(), Error> {
        let set = self.values.set_reading(name, reading);
        self.checked(set)
    }

    /// The files that are set and cannot be opened.
    pub fn unreadable_files(&self) -> impl Iterator<Item = FileName> {
        self.values.unreadable_files()
    }

    /// Whether these are inputs of a program.
    pub fn are_of(&self, program: &Program) -> bool {
        Arc::ptr_eq(&self.source, program.source())
    }

    fn checked(&self, set: Result<(), run::Failure>) -> Result<(), Error> {
        set.map_err(|failure| Error::of_run(&self.source, failure))
    }
}
