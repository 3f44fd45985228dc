//! Outputs: from the state of strands to arrays and files.

use super::Run;
use crate::{
    ir::{
        interface::{Interface, State},
        tensor::Ty,
    },
    low,
};
use runtime::{
    grid::{Place, Placement},
    output::{Column, Domain, Length, Output, Scalar, Values, options::OutputOptions},
    reduce,
    strands::{Kind, StrandSet},
};
use std::{mem::discriminant, sync::Arc};

/// An output with its values.
#[derive(Clone, Debug)]
pub struct OutputData {
    /// Its name and type.
    pub output: Output,
    /// The domain of its values.
    pub domain: Domain,
    /// One value per strand; for a sequence of varying length, the elements of all strands.
    pub values: Arc<reduce::Values>,
    /// The number of elements of each strand, for a sequence of varying length.
    pub lengths: Option<Vec<usize>>,
}

impl OutputData {
    /// The values as numbers: of one strand after the other, components row-major.
    pub fn numbers(&self) -> Vec<f64> {
        Values::from(&*self.values).numbers()
    }

    /// The output as files take it.
    pub fn column(&self, options: &OutputOptions) -> Column<'_> {
        Column {
            output: &self.output,
            values: Values::from(&*self.values),
            lengths: self.lengths.as_deref(),
            range: options.range,
            colours: options.colours,
        }
    }
}

/// The outputs of a program.
pub fn outputs(interface: &Interface) -> Vec<Output> {
    let outputs = interface.state.iter().filter(|state| state.output);
    outputs.map(describe).collect()
}

/// The type of an output as programs spell it.
pub fn output_type(output: &Output) -> String {
    let Output {
        shape,
        scalar,
        length,
        ..
    } = output;
    let element = match (scalar, &shape[..]) {
        (Scalar::Int, _) => "int".to_string(),
        (Scalar::Bool, _) => "bool".to_string(),
        (_, []) => "real".to_string(),
        (_, [n @ 2..=4]) => format!("vec{n}"),
        _ => format!("tensor{shape:?}").replace(' ', ""),
    };
    match length {
        Length::One => element,
        Length::Fixed(n) => format!("{element}[{n}]"),
        Length::Dynamic => format!("{element}[]"),
    }
}

fn describe(state: &State) -> Output {
    let variable = &state.variable;
    let (shape, length) = layout(&variable.ty);
    Output {
        name: variable.name.clone(),
        shape,
        length,
        scalar: match scalar(&variable.ty) {
            Some(low::Ty::Bool) => Scalar::Bool,
            Some(low::Ty::Int | low::Ty::Str) => Scalar::Int,
            Some(low::Ty::Real) | None => Scalar::Real,
        },
        is_position: state.is_position,
    }
}

impl Run {
    /// An output without its values, and the place of its grid, if that is known before there are strands and if its values are
    /// kept as files have them.
    pub(super) fn early_output(
        &self,
        number: usize,
        placement: Option<&Placement>,
    ) -> Option<(OutputData, Option<Place>)> {
        let program = self.stage.strands()?.program();
        let state = program.interface.state.iter().enumerate();
        let (n, state) = state.filter(|(_, state)| state.output).nth(number)?;
        let place = self.known_place(placement)?;
        let layout = program.state.layout.variables();
        let Kind::Tensor { scalar, .. } = layout[program.state.variables[n]].kind else {
            return None;
        };
        let kept = Arc::new(reduce::Values::from_bytes(scalar, &[]));
        let ty = &state.variable.ty;
        let values = in_own_type(Arc::clone(&kept), ty, program.lanes.long_int);
        let data = OutputData {
            output: describe(state),
            domain: self.domain(),
            values,
            lengths: None,
        };
        (discriminant(&*data.values) == discriminant(&*kept)).then_some((data, place))
    }

    /// The outputs as they are now, of all strands that are alive. Nothing if there are no strands yet, or if the run was cancelled
    /// or has failed.
    pub fn outputs(&self) -> Option<Vec<OutputData>> {
        let count = outputs(&self.program.interface).len();
        let outputs = (0..count).map(|number| self.output(number));
        self.is_readable().then(|| outputs.collect()).flatten()
    }

    /// One of them, by its number among the outputs.
    pub fn output(&self, number: usize) -> Option<OutputData> {
        let state = &self.program.interface.state;
        let mut outputs = (0..state.len()).filter(|&n| state[n].output);
        self.variable(outputs.nth(number)?)
    }

    /// A variable of the strands' state.
    fn variable(&self, n: usize) -> Option<OutputData> {
        let program = self.stage.strands()?.program();
        let state = &program.interface.state[n];
        let (values, lengths) = match self.kept_values(n) {
            Some(values) => (values, None),
            None => {
                let variable = program.state.variables[n];
                self.stage.gather(variable, StrandSet::All)?
            }
        };
        let domain = if program.interface.grid {
            Domain::Grid(self.sizes.clone())
        } else {
            let components = describe(state).strand_size().max(1);
            Domain::List(lengths.as_ref().map_or(values.len() / components, Vec::len))
        };
        Some(OutputData {
            output: describe(state),
            domain,
            values: in_own_type(values, &state.variable.ty, program.lanes.long_int),
            lengths,
        })
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

/// What the components of a value are.
fn scalar(ty: &Ty) -> Option<low::Ty> {
    match ty {
        Ty::List(element) => scalar(element),
        _ => ty.scalars().first().copied(),
    }
}

/// Lanes are as wide as reals; in files integers have their own width and truth values are bytes.
fn in_own_type(values: Arc<reduce::Values>, ty: &Ty, long_int: bool) -> Arc<reduce::Values> {
    use reduce::Values;
    fn truths<T: PartialEq + Default>(values: &[T]) -> Arc<Values> {
        let truths = values.iter().map(|n| u8::from(*n != T::default()));
        Arc::new(Values::Bool(truths.collect()))
    }
    match (scalar(ty), &*values) {
        (Some(low::Ty::Bool), Values::I32(values)) => truths(values),
        (Some(low::Ty::Bool), Values::I64(values)) => truths(values),
        (Some(low::Ty::Int | low::Ty::Str), Values::I64(values)) if !long_int => {
            Arc::new(Values::I32(values.iter().map(|&n| n as i32).collect()))
        }
        (Some(low::Ty::Int | low::Ty::Str), Values::I32(values)) if long_int => {
            Arc::new(Values::I64(values.iter().map(|&n| n.into()).collect()))
        }
        _ => values,
    }
}
