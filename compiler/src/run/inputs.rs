//! Values for the inputs of a program.

use super::{
    Failure,
    fems::{FemSource, FemSources},
    images::ImageSource,
    values::input_type,
};
use crate::{
    codegen::Compiled,
    ir::interface::{Input, Interface, Target, file_and_array},
};
use runtime::{
    image::Reading,
    input::{InputType, InputValue, IntWidth},
};
use std::sync::Arc;

/// Values for the inputs of a program, by name; an input that is not set has its default.
#[derive(Clone, Debug)]
pub struct Inputs {
    interface: Arc<Interface>,
    ints: IntWidth,
    values: Vec<Option<InputValue>>,
    images: Vec<Option<ImageSource>>,
    /// How the file of each image is read.
    readings: Vec<Reading>,
    meshes: Vec<Option<FemSource>>,
    /// The arrays of values on meshes.
    arrays: Vec<Option<String>>,
}

impl Inputs {
    /// The defaults of a program.
    pub fn of(program: &Compiled) -> Inputs {
        Inputs::from_values(program, Vec::new())
    }

    /// Values in the order of the program's inputs, as its command line gives them; missing ones count as not set.
    pub(crate) fn from_values(program: &Compiled, values: Vec<Option<InputValue>>) -> Inputs {
        let interface = program.interface.clone();
        let files = interface.images.iter().map(|image| image.file.clone());
        let ints = if program.lanes.long_int {
            IntWidth::Bits64
        } else {
            IntWidth::Bits32
        };
        let mut inputs = Inputs {
            ints,
            images: files.map(|file| file.map(ImageSource::File)).collect(),
            values: vec![None; interface.inputs.len()],
            readings: vec![Reading::default(); interface.images.len()],
            meshes: interface
                .meshes
                .iter()
                .map(|mesh| mesh.file.clone().map(FemSource::File))
                .collect(),
            arrays: interface.fems.iter().map(|fem| fem.array.clone()).collect(),
            interface,
        };
        for input in &inputs.interface.inputs {
            if let Target::Image(image) = input.target {
                inputs.readings[image as usize].name = Some(input.name.clone());
            }
        }
        for (n, value) in values.into_iter().enumerate() {
            match (inputs.interface.inputs[n].target, value) {
                (target @ (Target::Mesh(_) | Target::Fem(_)), Some(InputValue::File(file))) => {
                    inputs.set_mesh_file(target, &file);
                }
                (Target::Image(image), Some(InputValue::File(file))) => {
                    inputs.images[image as usize] = Some(ImageSource::File(file));
                }
                (_, value) => inputs.values[n] = value,
            }
        }
        inputs
    }

    /// Sets an input. Numbers and texts are given as such, tensors as slices of their components (row-major), sequences as
    /// slices of all their elements' components, images, meshes and sequences in files as [`InputValue::File`]; values on a mesh are
    /// `file` or `file#array`.
    ///
    /// # Errors
    /// There is no such input, or the value does not suit its type.
    pub fn set(&mut self, name: &str, value: impl Into<InputValue>) -> Result<(), Failure> {
        let (n, input) = self.find(name)?;
        let wanted = input_type(&input.ty);
        let wrong = |found: String| {
            Failure::input(format!(
                "the input `{name}` is of type {}, not {found}",
                input.ty
            ))
        };
        let value = value.into();
        match (input.target, &value) {
            (Target::Image(image), InputValue::File(file)) => {
                self.images[image as usize] = Some(ImageSource::File(file.clone()));
            }
            (target @ (Target::Mesh(_) | Target::Fem(_)), InputValue::File(file)) => {
                self.set_mesh_file(target, file);
            }
            (Target::Image(_) | Target::Mesh(_) | Target::Fem(_), other) => {
                return Err(wrong(format!("{other:?}")));
            }
            (Target::Global(_), _) => {
                let fitted =
                    fit(&value, &wanted, self.ints).ok_or_else(|| wrong(format!("{value:?}")))?;
                self.values[n] = Some(fitted);
            }
        }
        Ok(())
    }

    /// Sets an input to an image in memory, of samples of any type.
    ///
    /// # Errors
    /// There is no input of that name, or it is not an image.
    pub fn set_image(&mut self, name: &str, image: impl Into<ImageSource>) -> Result<(), Failure> {
        let number = self.find_image(name)?;
        self.images[number] = Some(image.into());
        Ok(())
    }

    /// Takes a mesh, or values on one, from the file of a name.
    fn set_mesh_file(&mut self, target: Target, name: &str) {
        let (file, array) = file_and_array(name);
        self.set_mesh_source(target, FemSource::File(file.to_string()), array);
    }

    fn set_mesh_source(&mut self, target: Target, source: FemSource, array: Option<&str>) {
        let mesh = match target {
            Target::Mesh(mesh) => mesh,
            Target::Fem(fem) => {
                self.arrays[fem as usize] = array.map(str::to_string);
                self.interface.fems[fem as usize].mesh
            }
            Target::Global(_) | Target::Image(_) => return,
        };
        self.meshes[mesh as usize] = Some(source);
    }

    /// Sets an input to a mesh, or to values on one: those of an array by name, or of the only one that fits.
    ///
    /// # Errors
    /// There is no input of that name, or it is neither.
    pub fn set_fem(
        &mut self,
        name: &str,
        source: FemSource,
        array: Option<&str>,
    ) -> Result<(), Failure> {
        let (_, input) = self.find(name)?;
        if !matches!(input.target, Target::Mesh(_) | Target::Fem(_)) {
            let message = format!("the input `{name}` is of type {}, not a mesh", input.ty);
            return Err(Failure::input(message));
        }
        self.set_mesh_source(input.target, source, array);
        Ok(())
    }

    /// Where the meshes come from.
    ///
    /// # Errors
    /// A mesh has no file and was not set.
    pub(super) fn fems(&self) -> Result<FemSources, Failure> {
        let source = |(n, source): (usize, &Option<FemSource>)| {
            let missing = || {
                let is_own = |input: &&Input| match input.target {
                    Target::Mesh(mesh) => mesh as usize == n,
                    Target::Fem(fem) => self.interface.fems[fem as usize].mesh as usize == n,
                    Target::Global(_) | Target::Image(_) => false,
                };
                let input = self.interface.inputs.iter().find(is_own);
                super::values::missing(input.expect("a mesh has a file or an input"))
            };
            source.clone().ok_or_else(missing)
        };
        let meshes = self.meshes.iter().enumerate().map(source);
        Ok(FemSources {
            meshes: meshes.collect::<Result<_, _>>()?,
            arrays: self.arrays.clone(),
        })
    }

    /// Says how the file of an image is read.
    ///
    /// # Errors
    /// There is no input of that name, or it is not an image.
    pub fn set_reading(&mut self, name: &str, reading: Reading) -> Result<(), Failure> {
        let number = self.find_image(name)?;
        let name = Some(name.to_string());
        self.readings[number] = Reading { name, ..reading };
        Ok(())
    }

    /// Says how files of images are read: for each input, and for those that the program names itself.
    pub(crate) fn set_readings(&mut self, of_inputs: &[Reading], others: &Reading) {
        let mut readings = vec![others.clone(); self.readings.len()];
        for (input, reading) in self.interface.inputs.iter().zip(of_inputs) {
            if let Target::Image(image) = input.target {
                readings[image as usize] = reading.clone();
            }
        }
        self.readings = readings;
    }

    /// Takes an image of the program from elsewhere: the one with this number among [`Interface::images`].
    pub fn set_source(&mut self, image: usize, source: ImageSource) {
        self.images[image] = Some(source);
    }

    /// Takes a mesh of the program from elsewhere: the one with this number among [`Interface::meshes`].
    pub fn set_mesh(&mut self, mesh: usize, source: FemSource) {
        self.meshes[mesh] = Some(source);
    }

    fn find(&self, name: &str) -> Result<(usize, Input), Failure> {
        let inputs = &self.interface.inputs;
        let found = inputs.iter().position(|input| input.name == name);
        match found {
            Some(n) => Ok((n, inputs[n].clone())),
            None => {
                let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
                let message = format!(
                    "there is no input `{name}`; there are: {}",
                    names.join(", ")
                );
                Err(Failure::input(message))
            }
        }
    }

    /// The files of the images and meshes that come from files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        let images = self.images.iter().filter_map(|source| match source {
            Some(ImageSource::File(file)) => Some(file.as_str()),
            _ => None,
        });
        let meshes = self.meshes.iter().filter_map(|source| match source {
            Some(FemSource::File(file)) => Some(file.as_str()),
            _ => None,
        });
        images.chain(meshes)
    }

    /// The number of the image of an input.
    fn find_image(&self, name: &str) -> Result<usize, Failure> {
        let (_, input) = self.find(name)?;
        match input.target {
            Target::Image(number) => Ok(number as usize),
            Target::Global(_) | Target::Mesh(_) | Target::Fem(_) => {
                let message = format!("the input `{name}` is of type {}, not an image", input.ty);
                Err(Failure::input(message))
            }
        }
    }

    /// The values that were set, in the order of the inputs.
    pub(super) fn values(&self) -> &[Option<InputValue>] {
        &self.values
    }

    /// Where the images come from and how they are read, in the order of the interface.
    ///
    /// # Errors
    /// An image has no file and was not set.
    pub(super) fn images(&self) -> Result<Vec<(ImageSource, Reading)>, Failure> {
        let images = self.images.iter().zip(&self.readings).enumerate();
        images
            .map(|(n, (source, reading))| {
                let target = Target::Image(n as u32);
                let missing = || {
                    let input = self.interface.inputs.iter().find(|i| i.target == target);
                    super::values::missing(input.expect("an image has a file or an input"))
                };
                let source = source.clone().ok_or_else(missing)?;
                Ok((source, reading.clone()))
            })
            .collect()
    }
}

/// A value in the form that an input's type wants, if it suits it.
fn fit(value: &InputValue, wanted: &InputType, ints: IntWidth) -> Option<InputValue> {
    let (least, greatest) = ints.bounds();
    match (value, wanted) {
        (InputValue::Int(n), InputType::Real) => Some(InputValue::Real(*n as f64)),
        (InputValue::Int(n), InputType::Int) => {
            (least..=greatest).contains(n).then(|| value.clone())
        }
        (InputValue::Bool(_), InputType::Bool)
        | (InputValue::Real(_), InputType::Real)
        | (InputValue::String(_), InputType::String) => Some(value.clone()),
        (InputValue::Tensor(components), InputType::Real) if components.len() == 1 => {
            Some(InputValue::Real(components[0]))
        }
        (InputValue::Tensor(components), InputType::Tensor(shape)) => {
            (components.len() == shape.iter().product::<usize>()).then(|| value.clone())
        }
        (InputValue::File(_), InputType::Seq { len: None, .. }) => Some(value.clone()),
        (InputValue::Tensor(components), InputType::Seq { elem, len }) => {
            let width = components_of(elem).filter(|&width| width > 0)?;
            let whole = components.len() % width == 0;
            let fits = len.is_none_or(|n| n * width == components.len());
            if !whole || !fits {
                return None;
            }
            let elements = components
                .chunks(width)
                .map(|chunk| fit(&InputValue::Tensor(chunk.to_vec()), elem, ints));
            elements.collect::<Option<_>>().map(InputValue::Seq)
        }
        (InputValue::Seq(elements), InputType::Seq { elem, len }) => {
            let fitted = elements
                .iter()
                .map(|e| fit(e, elem, ints))
                .collect::<Option<_>>();
            let fits = len.is_none_or(|n| n == elements.len());
            fitted.filter(|_| fits).map(InputValue::Seq)
        }
        _ => None,
    }
}

/// The number of reals of an element, if it is made of reals.
fn components_of(ty: &InputType) -> Option<usize> {
    match ty {
        InputType::Real => Some(1),
        InputType::Tensor(shape) => Some(shape.iter().product()),
        InputType::Seq {
            elem,
            len: Some(len),
        } => components_of(elem).map(|width| width * len),
        _ => None,
    }
}
