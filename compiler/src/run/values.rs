//! Inputs: from the user's values, or the program's defaults, to what generated code reads.

use super::Failure;
use crate::{
    pipeline::Compiled,
    program::{Input, Interface, Target},
    tensor::Ty,
    typed::tree::{Constant, InputDefault},
};
use ein_ir::Type;
use runtime::input::{InputType, InputValue, options::OutputName};

/// An input's type as the command line knows it.
pub fn input_type(ty: &Type) -> InputType {
    match ty {
        Type::Bool => InputType::Bool,
        Type::Int => InputType::Int,
        Type::String => InputType::String,
        Type::Tensor(shape) if shape.is_scalar() => InputType::Real,
        Type::Tensor(shape) => InputType::Tensor(shape.dims().to_vec()),
        Type::Seq(element, len) => InputType::Seq {
            elem: Box::new(input_type(element)),
            len: *len,
        },
        Type::Image { dim, shape } => InputType::Image {
            dim: *dim,
            shape: shape.dims().to_vec(),
        },
        Type::Kernel(_) | Type::Field { .. } | Type::Strand(_) => panic!("an input of type {ty}"),
    }
}

/// The outputs of a program by name.
pub fn output_names(interface: &Interface) -> Vec<OutputName> {
    let outputs = interface.state.iter().filter(|state| state.output);
    outputs
        .map(|state| OutputName {
            name: state.variable.name.clone(),
            dynamic: false,
        })
        .collect()
}

/// The file of each image: what the user gave, or the one named in the program.
pub(super) fn image_files(
    interface: &Interface,
    inputs: &[Option<InputValue>],
) -> Result<Vec<String>, Failure> {
    let mut files: Vec<Option<String>> = interface
        .images
        .iter()
        .map(|image| image.file.clone())
        .collect();
    for (n, input) in interface.inputs.iter().enumerate() {
        let Target::Image(image) = input.target else {
            continue;
        };
        if let Some(Some(InputValue::File(file))) = inputs.get(n) {
            files[image as usize] = Some(file.clone());
        } else if files[image as usize].is_none() {
            return Err(missing(input));
        }
    }
    Ok(files
        .into_iter()
        .map(|file| file.expect("an image has a file or an input"))
        .collect())
}

fn missing(input: &Input) -> Failure {
    Failure::Input(format!(
        "the input `{0}` is required: give it by `-{0}`",
        input.name
    ))
}

/// The cells of the global variables, those of inputs filled.
pub(super) fn global_cells(
    program: &mut Compiled,
    inputs: &[Option<InputValue>],
) -> Result<Vec<u64>, Failure> {
    let interface = program.interface.clone();
    let scalars = interface.globals.iter().map(|v| v.ty.scalars().len()).sum();
    let mut cells = vec![0; scalars];
    for (n, input) in interface.inputs.iter().enumerate() {
        let Target::Global(global) = input.target else {
            continue;
        };
        let constant = match (inputs.get(n), &input.default) {
            (Some(Some(value)), _) => constant_of(value, &interface.globals[global as usize].ty),
            (_, Some(InputDefault::Value(constant))) => constant.clone(),
            (_, Some(InputDefault::File(_)) | None) => return Err(missing(input)),
        };
        let mut words = Vec::new();
        write_cells(program, &constant, &mut words);
        let first = program.slots.globals[global as usize] as usize;
        cells[first..first + words.len()].copy_from_slice(&words);
    }
    Ok(cells)
}

fn constant_of(value: &InputValue, ty: &Ty) -> Constant {
    match (value, ty) {
        (InputValue::Bool(b), _) => Constant::Bool(*b),
        (InputValue::Int(n), _) => Constant::Int(*n),
        (InputValue::String(s), _) => Constant::String(s.clone()),
        (InputValue::Real(x), _) => Constant::Tensor(ein_ir::Shape::SCALAR, vec![*x]),
        (InputValue::Tensor(values), Ty::Tensor(shape)) => {
            Constant::Tensor(shape.clone(), values.clone())
        }
        (InputValue::Seq(elements), Ty::Seq(element, _)) => {
            Constant::Seq(elements.iter().map(|e| constant_of(e, element)).collect())
        }
        (value, ty) => panic!("the value {value:?} for a variable of type {ty}"),
    }
}

/// The cells of a value: a scalar each, in the program's precision.
fn write_cells(program: &mut Compiled, constant: &Constant, cells: &mut Vec<u64>) {
    let lanes = program.lanes;
    let int = |n: i64| {
        if lanes.double || lanes.long_int {
            n as u64
        } else {
            u64::from(n as u32)
        }
    };
    match constant {
        Constant::Bool(b) => cells.push(u64::from(*b)),
        Constant::Int(n) => cells.push(int(*n)),
        Constant::String(s) => {
            let id = program.code.intern(s);
            cells.push(int(id));
        }
        Constant::Tensor(_, values) => {
            let bits = |x: f64| {
                if lanes.double {
                    x.to_bits()
                } else {
                    u64::from((x as f32).to_bits())
                }
            };
            cells.extend(values.iter().map(|&x| bits(x)));
        }
        Constant::Seq(elements) => elements.iter().for_each(|e| write_cells(program, e, cells)),
    }
}
