//! Values for the inputs of a program.

use super::{
    Failure,
    fems::{FemSource, FemSources},
    image_files::ImageSource,
    values::input_type,
};
use crate::{
    codegen::Compiled,
    front::tree::InputDefault,
    ir::interface::{Input, InputTarget, Interface},
};
use runtime::{
    fem::mesh_files,
    file_name::FileName,
    file_reference::{library_name, mesh_and_array},
    image::{GivenTimes, Reading, files_of},
    input::{InputType, InputValue, IntWidth},
    output::FileUse,
};
use std::{fs::File, sync::Arc};

/// Values for the inputs of a program, by name; an input that is not set has its default.
#[derive(Clone, Debug)]
pub struct Inputs {
    interface: Arc<Interface>,
    ints: IntWidth,
    double: bool,
    values: Arc<Vec<Option<InputValue>>>,
    images: Vec<Option<ImageSource>>,
    /// How the file of each image is read.
    readings: Vec<Reading>,
    meshes: Vec<Option<FemSource>>,
    /// The times of the frames of each mesh, which override those of its file.
    times: Vec<Option<GivenTimes>>,
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
            double: program.lanes.double,
            images: files
                .map(|file| file.map(|file| ImageSource::File(file.into())))
                .collect(),
            values: Arc::default(),
            readings: vec![Reading::default(); interface.images.len()],
            meshes: interface
                .meshes
                .iter()
                .map(|mesh| mesh.file.as_ref().map(|file| FemSource::File(file.into())))
                .collect(),
            times: vec![None; interface.meshes.len()],
            arrays: interface.fems.iter().map(|fem| fem.array.clone()).collect(),
            interface,
        };
        for input in &inputs.interface.inputs {
            if let InputTarget::Image(image) = input.target {
                inputs.readings[image as usize].name = Some(input.name.clone());
            }
        }
        let mut kept = vec![None; inputs.interface.inputs.len()];
        for (n, value) in values.into_iter().enumerate() {
            match (inputs.interface.inputs[n].target, value) {
                (
                    target @ (InputTarget::Mesh(_) | InputTarget::Fem(_)),
                    Some(InputValue::File(file)),
                ) => {
                    inputs.set_mesh_file(target, &file);
                }
                (InputTarget::Image(image), Some(InputValue::File(file))) => {
                    inputs.images[image as usize] = Some(ImageSource::File(file));
                }
                (_, value) => kept[n] = value,
            }
        }
        inputs.values = Arc::new(kept);
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
        let wrong = |reason: String| {
            Failure::input(format!(
                "the input `{name}` is of type {}: {reason}",
                input.ty
            ))
        };
        let value = value.into();
        match (input.target, &value) {
            (InputTarget::Image(image), InputValue::File(file)) => {
                self.images[image as usize] = Some(ImageSource::File(file.clone()));
            }
            (target @ (InputTarget::Mesh(_) | InputTarget::Fem(_)), InputValue::File(file)) => {
                self.set_mesh_file(target, file);
            }
            (InputTarget::Image(_) | InputTarget::Mesh(_) | InputTarget::Fem(_), other) => {
                return Err(wrong(format!("found {other}, expected a file")));
            }
            (InputTarget::Global(_), _) => {
                let fitted = fit(&value, &wanted, self.ints).map_err(wrong)?;
                fitted.check_range(self.double).map_err(wrong)?;
                Arc::make_mut(&mut self.values)[n] = Some(fitted);
            }
        }
        Ok(())
    }

    /// Gives an input its default again. Images and meshes stay.
    ///
    /// # Errors
    /// There is no such input.
    pub fn unset(&mut self, name: &str) -> Result<(), Failure> {
        let (n, _) = self.find(name)?;
        Arc::make_mut(&mut self.values)[n] = None;
        Ok(())
    }

    /// The value that an input was set to.
    pub fn value(&self, name: &str) -> Option<&InputValue> {
        let (n, _) = self.find(name).ok()?;
        self.values[n].as_ref()
    }

    /// The file of an input's image or mesh, if it comes from one.
    pub fn file(&self, name: &str) -> Option<&FileName> {
        let (_, input) = self.find(name).ok()?;
        let mesh = |mesh: u32| match self.meshes[mesh as usize].as_ref()? {
            FemSource::File(file) => Some(file),
            FemSource::Memory(_) => None,
        };
        match input.target {
            InputTarget::Global(_) => None,
            InputTarget::Image(image) => match self.images[image as usize].as_ref()? {
                ImageSource::File(file) => Some(file),
                _ => None,
            },
            InputTarget::Mesh(n) => mesh(n),
            InputTarget::Fem(fem) => mesh(self.interface.fems[fem as usize].mesh),
        }
    }

    /// The integers of the program.
    pub fn ints(&self) -> IntWidth {
        self.ints
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
    fn set_mesh_file(&mut self, target: InputTarget, name: &FileName) {
        let (file, array) = mesh_and_array(name);
        self.set_mesh_source(target, FemSource::File(file.into()), array);
    }

    fn set_mesh_source(&mut self, target: InputTarget, source: FemSource, array: Option<&str>) {
        if let InputTarget::Fem(fem) = target {
            self.arrays[fem as usize] = array.map(str::to_string);
        }
        if let Some(mesh) = self.mesh_of(target) {
            self.meshes[mesh] = Some(source);
        }
    }

    /// The mesh that an input gives, by its number.
    fn mesh_of(&self, target: InputTarget) -> Option<usize> {
        match target {
            InputTarget::Mesh(mesh) => Some(mesh as usize),
            InputTarget::Fem(fem) => Some(self.interface.fems[fem as usize].mesh as usize),
            InputTarget::Global(_) | InputTarget::Image(_) => None,
        }
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
        if !matches!(input.target, InputTarget::Mesh(_) | InputTarget::Fem(_)) {
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
                    InputTarget::Mesh(mesh) => mesh as usize == n,
                    InputTarget::Fem(fem) => self.interface.fems[fem as usize].mesh as usize == n,
                    InputTarget::Global(_) | InputTarget::Image(_) => false,
                };
                let input = self.interface.inputs.iter().find(is_own);
                super::values::missing(input.expect("a mesh has a file or an input"))
            };
            source.clone().ok_or_else(missing)
        };
        let meshes = self.meshes.iter().enumerate().map(source);
        Ok(FemSources {
            meshes: meshes.collect::<Result<_, _>>()?,
            times: self.times.clone(),
            arrays: self.arrays.clone(),
        })
    }

    /// Says how the file of an image is read. Of a mesh only the times count.
    ///
    /// # Errors
    /// There is no input of that name, or it is neither an image nor a mesh.
    pub fn set_reading(&mut self, name: &str, reading: Reading) -> Result<(), Failure> {
        let (_, input) = self.find(name)?;
        if let Some(mesh) = self.mesh_of(input.target) {
            self.times[mesh] = reading.times;
            return Ok(());
        }
        let number = self.find_image(name)?;
        let name = Some(name.to_string());
        self.readings[number] = Reading { name, ..reading };
        Ok(())
    }

    /// Says how files of images and meshes are read: for each input, and for those that the program names itself.
    pub(crate) fn set_readings(&mut self, of_inputs: &[Reading], others: &Reading) {
        let mut readings = vec![others.clone(); self.readings.len()];
        for (input, reading) in self.interface.inputs.iter().zip(of_inputs) {
            if let InputTarget::Image(image) = input.target {
                readings[image as usize] = reading.clone();
            }
        }
        self.readings = readings;
        self.times.fill(others.times.clone());
        for (n, reading) in of_inputs.iter().enumerate() {
            if let Some(mesh) = self.mesh_of(self.interface.inputs[n].target) {
                self.times[mesh] = reading.times.clone();
            }
        }
    }

    /// Takes an image of the program from elsewhere: the one with this number among [`Interface::images`].
    pub fn set_source(&mut self, image: usize, source: ImageSource) {
        self.images[image] = Some(source);
    }

    /// Says how the file of an image is read: the one with this number among [`Interface::images`].
    pub fn set_reading_of(&mut self, image: usize, reading: Reading) {
        self.readings[image] = reading;
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
    pub(crate) fn files(&self) -> impl Iterator<Item = &FileName> {
        let images = self.images.iter().filter_map(|source| match source {
            Some(ImageSource::File(file)) => Some(file),
            _ => None,
        });
        let meshes = self.meshes.iter().filter_map(|source| match source {
            Some(FemSource::File(file)) => Some(file),
            _ => None,
        });
        images.chain(meshes)
    }

    /// The files that a run reads, each with its purpose. Names of frames and arrays are left out.
    pub fn files_read(&self) -> Vec<FileUse> {
        let interface = &self.interface;
        let of_input = |target: InputTarget| {
            let found = interface.inputs.iter().find(|input| input.target == target);
            found.map(|input| format!("the input `{}`", input.name))
        };
        let named = || "a file that the program names".to_string();
        let mut all = Vec::new();
        let mut add = |file: FileName, purpose: String| {
            all.push(FileUse {
                file,
                ..FileUse::of("", purpose)
            });
        };
        for (n, source) in self.images.iter().enumerate() {
            if let Some(ImageSource::File(file)) = source {
                let purpose = of_input(InputTarget::Image(n as u32)).unwrap_or_else(named);
                for file in files_of(file) {
                    add(file.into(), purpose.clone());
                }
            }
        }
        for (n, source) in self.meshes.iter().enumerate() {
            if let Some(FemSource::File(file)) = source {
                let input = super::fems::input_of_mesh(interface, n as u32);
                let purpose = input.map_or_else(named, |name| format!("the input `{name}`"));
                for file in mesh_files(file) {
                    add(file.into(), purpose.clone());
                }
            }
        }
        for (input, value) in interface.inputs.iter().zip(&*self.values) {
            let purpose = format!("the input `{}`", input.name);
            match (input.target, value, &input.default) {
                (InputTarget::Global(_), Some(InputValue::File(file)), _) => {
                    add(file.clone(), purpose);
                }
                (InputTarget::Global(_), None, Some(InputDefault::File(file))) => {
                    add(file.into(), purpose);
                }
                _ => {}
            }
        }
        for load in &interface.loads {
            add((&load.file).into(), named());
        }
        all
    }

    /// The files that a run reads and that do not exist or cannot be opened.
    pub fn unreadable_files(&self) -> impl Iterator<Item = FileName> {
        let is_unreadable = |file: &FileName| match file.to_str() {
            Some("-") => false,
            _ if library_name(file).is_some() => false,
            // A pipe is not opened: that would take from it.
            _ if file.is_file() => File::open(file).is_err(),
            _ => !file.exists(),
        };
        let files = self.files_read().into_iter().map(|used| used.file);
        files.filter(is_unreadable)
    }

    /// The number of the image of an input.
    fn find_image(&self, name: &str) -> Result<usize, Failure> {
        let (_, input) = self.find(name)?;
        match input.target {
            InputTarget::Image(number) => Ok(number as usize),
            InputTarget::Global(_) | InputTarget::Mesh(_) | InputTarget::Fem(_) => {
                let message = format!("the input `{name}` is of type {}, not an image", input.ty);
                Err(Failure::input(message))
            }
        }
    }

    /// The values that were set, in the order of the inputs.
    pub(super) fn values(&self) -> &Arc<Vec<Option<InputValue>>> {
        &self.values
    }

    /// Whether an image comes from memory that is converted once for all runs.
    pub(super) fn is_shared(&self, image: usize) -> bool {
        matches!(self.images.get(image), Some(Some(ImageSource::Shared(_))))
    }

    /// Where the images come from and how they are read, in the order of the interface.
    ///
    /// # Errors
    /// An image has no file and was not set.
    pub(super) fn images(&self) -> Result<Vec<(ImageSource, Reading)>, Failure> {
        let images = self.images.iter().zip(&self.readings).enumerate();
        images
            .map(|(n, (source, reading))| {
                if let Some(blur) = &self.interface.images[n].blur {
                    return Ok((ImageSource::Blurred(blur.of), Reading::default()));
                }
                let target = InputTarget::Image(n as u32);
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

/// A value in the form that an input's type wants.
///
/// # Errors
/// Why it does not suit it.
fn fit(value: &InputValue, wanted: &InputType, ints: IntWidth) -> Result<InputValue, String> {
    let (least, greatest) = ints.bounds();
    let counted = |found: usize, expected: usize| match found == expected {
        true => Ok(()),
        false => Err(format!("found {value}, expected {expected}")),
    };
    match (value, wanted) {
        (InputValue::Int(n), InputType::Real) => Ok(InputValue::Real(*n as f64)),
        (InputValue::Int(n), InputType::Int) if !(least..=greatest).contains(n) => Err(format!(
            "found {n}, expected an integer from {least} to {greatest}"
        )),
        (InputValue::Int(_), InputType::Int)
        | (InputValue::Bool(_), InputType::Bool)
        | (InputValue::Real(_), InputType::Real)
        | (InputValue::String(_), InputType::String)
        | (InputValue::File(_), InputType::Seq { len: None, .. }) => Ok(value.clone()),
        (InputValue::Tensor(components), InputType::Real) => {
            counted(components.len(), 1)?;
            Ok(InputValue::Real(components[0]))
        }
        (InputValue::Tensor(components), InputType::Tensor(shape)) => {
            counted(components.len(), shape.iter().product())?;
            Ok(value.clone())
        }
        // A list of one stands for the one.
        (InputValue::Seq(elements), InputType::Int | InputType::Bool | InputType::Real)
            if elements.len() == 1 =>
        {
            fit(&elements[0], wanted, ints)
        }
        (InputValue::Tensor(components), InputType::Seq { elem, len })
            if let Some(width) = components_of(elem).filter(|&width| width > 0) =>
        {
            if let Some(len) = len {
                counted(components.len(), len * width)?;
            }
            if !components.len().is_multiple_of(width) {
                return Err(format!("found {value}, expected {width} for each element"));
            }
            let elements = components
                .chunks(width)
                .map(|chunk| fit(&InputValue::Tensor(chunk.to_vec()), elem, ints));
            elements.collect::<Result<_, _>>().map(InputValue::Seq)
        }
        (InputValue::Seq(elements), InputType::Seq { elem, len }) => {
            if let Some(len) = len {
                counted(elements.len(), *len)?;
            }
            let fitted = elements.iter().map(|e| fit(e, elem, ints));
            fitted.collect::<Result<_, _>>().map(InputValue::Seq)
        }
        _ => Err(format!("found {value}")),
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
