//! Outputs: from the state of strands to arrays and files.

use super::Running;
use crate::{ir::tensor::Ty, low};
use runtime::{
    output::{Domain, Length, Output, Values},
    reduce,
    strands::StrandSet,
    world::Gathered,
};

/// An output with its values.
#[derive(Clone, Debug)]
pub struct OutputData {
    /// What it is.
    pub output: Output,
    /// Over what it is given.
    pub domain: Domain,
    /// One value per strand; for a sequence of varying length, the elements of all strands.
    pub values: reduce::Values,
    /// The number of elements of each strand, for a sequence of varying length.
    pub lengths: Option<Vec<usize>>,
}

impl OutputData {
    /// The values as numbers: of one strand after the other, components row-major.
    pub fn numbers(&self) -> Vec<f64> {
        match &self.values {
            reduce::Values::F32(values) => values.iter().map(|&x| x.into()).collect(),
            reduce::Values::F64(values) => values.clone(),
            reduce::Values::I32(values) => values.iter().map(|&n| n.into()).collect(),
            reduce::Values::I64(values) => values.iter().map(|&n| n as f64).collect(),
            reduce::Values::Bool(values) => values.iter().map(|&b| b.into()).collect(),
        }
    }

    /// The values, as files take them.
    pub fn values(&self) -> Values<'_> {
        match &self.values {
            reduce::Values::F32(values) => Values::F32(values),
            reduce::Values::F64(values) => Values::F64(values),
            reduce::Values::I32(values) => Values::I32(values),
            reduce::Values::I64(values) => Values::I64(values),
            reduce::Values::Bool(values) => Values::Bool(values),
        }
    }
}

impl Running {
    /// The outputs of the program as they are now: of all strands of a grid; of a collection those that are stable, or for
    /// a snapshot all that are alive.
    pub fn outputs(&self, snapshot: bool) -> Vec<OutputData> {
        let program = self.world.program().program();
        let grid = program.interface.grid;
        let set = if grid || snapshot {
            StrandSet::All
        } else {
            StrandSet::Stable
        };
        let states = program
            .interface
            .state
            .iter()
            .enumerate()
            .filter(|(_, state)| state.output);
        states
            .map(|(n, state)| {
                let variable = program.state.variables[n];
                let (values, lengths, count) = match self.world.gather(variable, set) {
                    Gathered::Tensors { components, values } => {
                        let count = values.len() / components.max(1);
                        (values, None, count)
                    }
                    Gathered::Sequences {
                        lengths, values, ..
                    } => {
                        let count = lengths.len();
                        (values, Some(lengths), count)
                    }
                };
                let values = in_own_type(values, &state.variable.ty, program.lanes.long_int);
                let domain = if grid {
                    Domain::Grid(self.sizes.clone())
                } else {
                    Domain::List(count)
                };
                let (shape, length) = layout(&state.variable.ty);
                OutputData {
                    output: Output {
                        name: state.variable.name.clone(),
                        shape,
                        length,
                    },
                    domain,
                    values,
                    lengths,
                }
            })
            .collect()
    }
}

fn layout(ty: &Ty) -> (Vec<usize>, Length) {
    match ty {
        Ty::Tensor(shape) => (shape.dims().to_vec(), Length::One),
        Ty::Seq(element, n) => match layout(element) {
            (shape, Length::Fixed(m)) => (shape, Length::Fixed(n * m)),
            (shape, _) => (shape, Length::Fixed(*n)),
        },
        // An element that is a sequence itself is written with all its components.
        Ty::List(element) => match layout(element) {
            (shape, Length::Fixed(n)) => ([vec![n], shape].concat(), Length::Dynamic),
            (shape, _) => (shape, Length::Dynamic),
        },
        Ty::Bool | Ty::Int | Ty::Str | Ty::Strand | Ty::Strands | Ty::Field { .. } => {
            (vec![], Length::One)
        }
    }
}

/// Lanes are as wide as reals; in files integers have their own width and truth values are bytes.
fn in_own_type(values: reduce::Values, ty: &Ty, long_int: bool) -> reduce::Values {
    let integers = |values: reduce::Values| -> Vec<i64> {
        match values {
            reduce::Values::I32(values) => values.into_iter().map(i64::from).collect(),
            reduce::Values::I64(values) => values,
            other => panic!("{other:?} are not integers"),
        }
    };
    let scalars = match ty {
        Ty::List(element) => element.scalars(),
        _ => ty.scalars(),
    };
    match scalars.first() {
        Some(low::Ty::Bool) => reduce::Values::Bool(
            integers(values)
                .into_iter()
                .map(|n| u8::from(n != 0))
                .collect(),
        ),
        Some(low::Ty::Int | low::Ty::Str) if long_int => reduce::Values::I64(integers(values)),
        Some(low::Ty::Int | low::Ty::Str) => {
            reduce::Values::I32(integers(values).into_iter().map(|n| n as i32).collect())
        }
        Some(low::Ty::Real) | None => values,
    }
}
