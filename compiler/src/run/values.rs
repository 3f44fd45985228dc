//! Inputs: from the user's values, or the program's defaults, to what generated code reads.

use super::{Failure, Images, facts::data_fact};
use crate::{
    codegen::Compiled,
    front::tree::{Constant, InputDefault},
    ir::{
        interface::{Fact, Input, InputTarget},
        load::{Scalars, scalars_from_file},
        tensor::Ty,
    },
    low,
};
use ein_ir::{Shape, Type};
use runtime::{
    input::{InputType, InputValue},
    sequence::Sequence,
    world::GlobalSequences,
};
use std::{path::Path, sync::Arc};

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
        Type::Image { dim, timed, shape } => InputType::Image {
            dim: *dim,
            timed: *timed,
            shape: shape.dims().to_vec(),
        },
        Type::Fem { .. } | Type::Mesh(_) => InputType::Mesh(ty.to_string()),
        Type::Kernel(_) | Type::Kernels(_) | Type::Field { .. } | Type::Strand(_) => {
            panic!("an input of type {ty}")
        }
    }
}

/// Says that an input has no value.
pub(super) fn missing(input: &Input) -> Failure {
    Failure::input(format!(
        "the input `{0}` is required: give it by `-{0}`",
        input.name
    ))
}

/// The global variables as a run begins with them.
pub(super) struct Initial {
    /// Their cells; those of inputs and loaded sequences are filled.
    pub(super) cells: Vec<u64>,
    /// The strings by their numbers: those of the program, then those of the inputs.
    pub(super) strings: Vec<Arc<str>>,
}

impl Initial {
    /// Takes the values of inputs, in their order; an input without a value has its default.
    ///
    /// # Errors
    /// An input is missing, or the file of a sequence cannot be read.
    pub(super) fn new(
        program: &Compiled,
        inputs: &[Option<InputValue>],
        images: &Images,
        sequences: &mut GlobalSequences,
    ) -> Result<Initial, Failure> {
        let interface = &program.interface;
        let scalars = interface.globals.iter().map(|v| v.ty.scalars().len()).sum();
        let mut filling = Filling {
            program,
            initial: Initial {
                cells: vec![0; scalars],
                strings: program.code.linker().strings().to_vec(),
            },
            sequences,
        };
        let (long_int, double) = (program.lanes.long_int, program.lanes.double);
        for (n, input) in interface.inputs.iter().enumerate() {
            let InputTarget::Global(global) = input.target else {
                continue;
            };
            let load = |file: &Path| {
                let loaded = scalars_from_file(file, &input.ty, long_int, double);
                loaded.map_err(|error| Failure::input(format!("input `{}`: {error}", input.name)))
            };
            match (inputs.get(n), &input.default) {
                (Some(Some(InputValue::File(file))), _) => {
                    filling.set_sequence(global, &load(file)?)?;
                }
                (Some(Some(value)), _) => {
                    let constant = constant_of(value, &interface.globals[global as usize].ty);
                    filling.set(global, &constant)?;
                }
                (_, Some(InputDefault::Value(constant))) => filling.set(global, constant)?,
                (_, Some(InputDefault::File(file))) => {
                    filling.set_sequence(global, &load(Path::new(file))?)?;
                }
                // The program computes it.
                (_, Some(InputDefault::Computed(_))) => {}
                (_, None) => return Err(missing(input)),
            }
        }
        for load in &interface.loads {
            let loaded = scalars_from_file(Path::new(&load.file), &load.ty, long_int, double);
            let scalars = loaded.map_err(|error| Failure {
                place: Some(load.span.start),
                ..Failure::input(error.to_string())
            })?;
            filling.set_sequence(load.global, &scalars)?;
        }
        for known in &interface.facts {
            let ty = &interface.globals[known.global as usize].ty;
            let constant = match known.fact {
                Fact::Given(global) => {
                    let target = InputTarget::Global(global);
                    let input = interface.inputs.iter().position(|i| i.target == target);
                    let value = input.and_then(|n| inputs.get(n)?.as_ref());
                    Constant::Bool(value.is_some())
                }
                fact => data_fact(images, fact, ty),
            };
            filling.set(known.global, &constant)?;
        }
        Ok(filling.initial)
    }
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

/// Scalars as words, in the precision of a program.
#[derive(Clone, Copy)]
struct Words {
    long_int: bool,
    double: bool,
}

impl Words {
    fn of(program: &Compiled) -> Words {
        Words {
            long_int: program.lanes.lane_bytes(low::Ty::Int) == 8,
            double: program.lanes.double,
        }
    }

    fn int(self, n: i64) -> u64 {
        match self.long_int {
            true => n as u64,
            false => u64::from(n as u32),
        }
    }

    fn real(self, x: f64) -> u64 {
        match self.double {
            true => x.to_bits(),
            false => u64::from((x as f32).to_bits()),
        }
    }
}

/// The words of a sequence of varying length.
fn handle(sequence: Sequence) -> [u64; 2] {
    let bits = sequence.to_bits();
    [bits >> 32, bits & 0xffff_ffff]
}

/// Writes constants into cells.
struct Filling<'a> {
    program: &'a Compiled,
    initial: Initial,
    sequences: &'a mut GlobalSequences,
}

impl Filling<'_> {
    /// Fills the cells of a global variable.
    fn set(&mut self, global: u32, constant: &Constant) -> Result<(), Failure> {
        let program = self.program;
        let words = self.words(constant, &program.interface.globals[global as usize].ty)?;
        self.put(global, &words);
        Ok(())
    }

    /// Fills the cells of a global variable that is a sequence of varying length.
    fn set_sequence(&mut self, global: u32, scalars: &Scalars) -> Result<(), Failure> {
        let Ty::List(element) = &self.program.interface.globals[global as usize].ty else {
            panic!("a file for a variable that is not a sequence")
        };
        let words = Words::of(self.program);
        let sequence = match scalars {
            Scalars::Ints(ints) => self.list(ints.iter().map(|&n| words.int(n)), element),
            Scalars::Bools(bools) => self.list(bools.iter().map(|&b| u64::from(b)), element),
            Scalars::Reals(reals) => self.list(reals.iter().map(|&x| words.real(x)), element),
        };
        self.put(global, &handle(sequence?));
        Ok(())
    }

    fn put(&mut self, global: u32, words: &[u64]) {
        let first = self.program.slots.globals[global as usize] as usize;
        self.initial.cells[first..first + words.len()].copy_from_slice(words);
    }

    /// The words of a value: one per scalar, in the program's precision.
    fn words(&mut self, constant: &Constant, ty: &Ty) -> Result<Vec<u64>, Failure> {
        let of = Words::of(self.program);
        Ok(match (constant, ty) {
            (Constant::Bool(b), _) => vec![u64::from(*b)],
            (Constant::Int(n), _) => vec![of.int(*n)],
            (Constant::String(s), _) => vec![of.int(self.intern(s))],
            (Constant::Tensor(_, values), _) => values.iter().map(|&x| of.real(x)).collect(),
            (Constant::Seq(elements), Ty::List(element)) => {
                let mut words = Vec::new();
                for constant in elements {
                    words.extend(self.words(constant, element)?);
                }
                handle(self.list(words.into_iter(), element)?).to_vec()
            }
            (Constant::Seq(elements), Ty::Seq(element, _)) => {
                let mut words = Vec::new();
                for constant in elements {
                    words.extend(self.words(constant, element)?);
                }
                words
            }
            (constant, ty) => panic!("the constant {constant:?} of type {ty}"),
        })
    }

    /// The number of a string, which may be one the program does not mention.
    fn intern(&mut self, text: &str) -> i64 {
        let strings = &mut self.initial.strings;
        let known = strings.iter().position(|s| **s == *text);
        known.unwrap_or_else(|| {
            strings.push(text.into());
            strings.len() - 1
        }) as i64
    }

    /// A sequence of varying length, from the words of all elements.
    fn list(
        &mut self,
        words: impl Iterator<Item = u64>,
        element: &Ty,
    ) -> Result<Sequence, Failure> {
        let types = element.scalars();
        let width = types
            .first()
            .map_or(0, |&ty| self.program.lanes.lane_bytes(ty));
        let is_truth = types.first() == Some(&low::Ty::Bool);
        let mut bytes = Vec::with_capacity(words.size_hint().0 * width);
        for word in words {
            // In memory a truth value is all ones.
            let word = if is_truth { word.wrapping_neg() } else { word };
            bytes.extend(&word.to_le_bytes()[..width]);
        }
        let made = self.sequences.create(&bytes, width * types.len());
        made.map_err(|error| Failure::input(error.to_string()))
    }
}
