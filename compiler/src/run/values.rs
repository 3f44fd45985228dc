//! Inputs: from the user's values, or the program's defaults, to what generated code reads.

use super::Failure;
use crate::{
    front::typed::tree::{Constant, InputDefault},
    ir::{
        interface::{Input, Interface, Target},
        load::sequence_from_file,
        tensor::Ty,
    },
    low,
    pipeline::Compiled,
};
use ein_ir::{Shape, Type};
use runtime::{
    input::{InputType, InputValue, options::OutputName},
    sequence::Sequence,
    world::GlobalSequences,
};

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
            dynamic: matches!(state.variable.ty, Ty::List(_)),
        })
        .collect()
}

/// Says that an input has no value.
pub(super) fn missing(input: &Input) -> Failure {
    Failure::Input(format!(
        "the input `{0}` is required: give it by `-{0}`",
        input.name
    ))
}

/// The cells of the global variables, those of inputs and loaded sequences filled.
pub(super) fn global_cells(
    program: &mut Compiled,
    inputs: &[Option<InputValue>],
    sequences: &mut GlobalSequences,
) -> Result<Vec<u64>, Failure> {
    let interface = program.interface.clone();
    let scalars = interface.globals.iter().map(|v| v.ty.scalars().len()).sum();
    let mut cells = vec![0; scalars];
    for (n, input) in interface.inputs.iter().enumerate() {
        let Target::Global(global) = input.target else {
            continue;
        };
        let load = |file: &str| {
            let loaded = sequence_from_file(file, &input.ty, program.lanes.long_int);
            loaded.map_err(|error| Failure::Input(format!("input `{}`: {error}", input.name)))
        };
        let constant = match (inputs.get(n), &input.default) {
            (Some(Some(InputValue::File(file))), _) => load(file)?,
            (Some(Some(value)), _) => constant_of(value, &interface.globals[global as usize].ty),
            (_, Some(InputDefault::Value(constant))) => constant.clone(),
            (_, Some(InputDefault::File(file))) => load(file)?,
            (_, None) => return Err(missing(input)),
        };
        set_global(program, global, &constant, &mut cells, sequences)?;
    }
    for load in &interface.loads {
        let loaded = sequence_from_file(&load.file, &load.ty, program.lanes.long_int);
        let constant = loaded.map_err(|error| Failure::Input(error.to_string()))?;
        set_global(program, load.global, &constant, &mut cells, sequences)?;
    }
    Ok(cells)
}

/// Fills the cells of a global variable.
fn set_global(
    program: &mut Compiled,
    global: u32,
    constant: &Constant,
    cells: &mut [u64],
    sequences: &mut GlobalSequences,
) -> Result<(), Failure> {
    let mut words = Vec::new();
    let ty = program.interface.globals[global as usize].ty.clone();
    write_cells(program, constant, &ty, sequences, &mut words)?;
    let first = program.slots.globals[global as usize] as usize;
    cells[first..first + words.len()].copy_from_slice(&words);
    Ok(())
}

fn constant_of(value: &InputValue, ty: &Ty) -> Constant {
    match (value, ty) {
        (InputValue::Bool(b), _) => Constant::Bool(*b),
        (InputValue::Int(n), _) => Constant::Int(*n),
        (InputValue::String(s), _) => Constant::String(s.clone()),
        (InputValue::Real(x), _) => Constant::Tensor(Shape::SCALAR, vec![*x]),
        (InputValue::Tensor(values), Ty::Tensor(shape)) => {
            Constant::Tensor(shape.clone(), values.clone())
        }
        (InputValue::Seq(elements), Ty::Seq(element, _) | Ty::List(element)) => {
            Constant::Seq(elements.iter().map(|e| constant_of(e, element)).collect())
        }
        (value, ty) => panic!("the value {value:?} for a variable of type {ty}"),
    }
}

/// The cells of a value: a scalar each, in the program's precision.
fn write_cells(
    program: &mut Compiled,
    constant: &Constant,
    ty: &Ty,
    sequences: &mut GlobalSequences,
    cells: &mut Vec<u64>,
) -> Result<(), Failure> {
    let lanes = program.lanes;
    let int = |n: i64| {
        if lanes.lane_bytes(low::Ty::Int) == 8 {
            n as u64
        } else {
            u64::from(n as u32)
        }
    };
    match (constant, ty) {
        (Constant::Bool(b), _) => cells.push(u64::from(*b)),
        (Constant::Int(n), _) => cells.push(int(*n)),
        (Constant::String(s), _) => {
            let id = program.code.intern(s);
            cells.push(int(id));
        }
        (Constant::Tensor(_, values), _) => {
            let bits = |x: f64| {
                if lanes.double {
                    x.to_bits()
                } else {
                    u64::from((x as f32).to_bits())
                }
            };
            cells.extend(values.iter().map(|&x| bits(x)));
        }
        (Constant::Seq(elements), Ty::List(element)) => {
            let sequence = make_list(program, elements, element, sequences)?;
            cells.extend([sequence.to_bits() >> 32, sequence.to_bits() & 0xffff_ffff]);
        }
        (Constant::Seq(elements), Ty::Seq(element, _)) => {
            for e in elements {
                write_cells(program, e, element, sequences, cells)?;
            }
        }
        (constant, ty) => panic!("the constant {constant:?} of type {ty}"),
    }
    Ok(())
}

/// A sequence of varying length in a global variable.
fn make_list(
    program: &mut Compiled,
    elements: &[Constant],
    element: &Ty,
    sequences: &mut GlobalSequences,
) -> Result<Sequence, Failure> {
    let types = element.scalars();
    let lanes = program.lanes;
    let width = types.first().map_or(0, |&ty| lanes.lane_bytes(ty));
    let mut words = Vec::new();
    for constant in elements {
        write_cells(program, constant, element, sequences, &mut words)?;
    }
    let is_truth = types.first() == Some(&low::Ty::Bool);
    let bytes: Vec<u8> = words
        .into_iter()
        // In memory a truth value is all ones.
        .map(|word| if is_truth { word.wrapping_neg() } else { word })
        .flat_map(|word| word.to_le_bytes()[..width].to_vec())
        .collect();
    let made = sequences.create(&bytes, width * types.len());
    made.map_err(|error| Failure::Input(error.to_string()))
}
