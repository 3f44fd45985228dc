//! The reference interpreter: runs a whole program in any IR, strand by strand, as the evaluators define it.
//!
//! It is slow and plain on purpose: generated code, the scheduler and every pass are tested against it.

use crate::{
    high::High,
    jit::status,
    low::{self, Low},
    mid::Mid,
    program::{Input, Program, Role, Target},
    reference::EvalImage,
    ssa::{Datum, Dialect, Interrupt, evaluate},
    tensor,
    typed::tree::{Constant, InputDefault},
};
use std::sync::Arc;

/// A dialect whose programs can be run: how its evaluator keeps the variables.
pub trait Runnable: Dialect {
    /// An evaluator's world with these images.
    fn world(images: &[Arc<EvalImage>], double: bool) -> Self::World;
    /// The global variables, the state and the arguments.
    fn variables(world: &mut Self::World) -> [&mut Vec<Self::Datum>; 3];
    /// What was printed.
    fn printed(world: &Self::World) -> &str;
    /// A constant as values of the IR.
    fn constant(constant: &Constant) -> Vec<Self::Datum>;
    /// A value as numbers.
    fn numbers(datum: &Self::Datum) -> Vec<f64>;
}

/// What a program gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// For every output, its numbers for all strands in order.
    pub outputs: Vec<(String, Vec<f64>)>,
    /// What was printed.
    pub printed: String,
}

/// What a strand has become.
#[derive(Clone, Copy, PartialEq)]
enum Life {
    Active,
    Stable,
    Dead,
}

/// Runs a program on the defaults of its inputs, at most `limit` super-steps.
///
/// # Errors
/// The run-time error that ended it.
pub fn interpret<D: Runnable>(
    program: &Program<D>,
    images: &[Arc<EvalImage>],
    double: bool,
    limit: usize,
) -> Result<Outcome, Interrupt> {
    let mut world = D::world(images, double);
    *D::variables(&mut world)[0] = program
        .interface
        .inputs
        .iter()
        .flat_map(|input| default::<D>(input))
        .collect();
    let mut call = |role: Role, globals: &[D::Datum], state: &[D::Datum], args: &[D::Datum]| {
        let [g, s, a] = D::variables(&mut world);
        (*g, *s, *a) = (globals.to_vec(), state.to_vec(), args.to_vec());
        if role.is_strand_code()
            && let Some(invariants) = program.function(Role::Invariants)
        {
            let invariants = evaluate(invariants, &mut world)?;
            D::variables(&mut world)[0].extend(invariants);
        }
        let function = program.function(role).expect("a function of the program");
        let results = evaluate(function, &mut world);
        results.map(|r| (r, D::printed(&world).to_string()))
    };
    let inputs: Vec<D::Datum> = spread_inputs::<D>(program);
    let (mut globals, mut printed) = call(Role::Globals, &inputs, &[], &[])?;
    let bounds: Vec<i64> = call(Role::Domain, &globals, &[], &[])?
        .0
        .iter()
        .map(Datum::as_int)
        .collect();
    let mut strands: Vec<(Life, Vec<D::Datum>)> = Vec::new();
    for index in iterate(&bounds) {
        let args: Vec<D::Datum> = index.into_iter().map(D::Datum::from_int).collect();
        strands.push((Life::Active, call(Role::Create, &globals, &[], &args)?.0));
    }
    let mut act =
        |role: Role, globals: &[D::Datum], state: &mut Vec<D::Datum>| -> Result<Life, Interrupt> {
            let (mut results, text) = call(role, globals, state, &[])?;
            printed = text;
            let code = results.remove(0).as_int();
            *state = results;
            Ok(match code {
                status::STABILIZE => Life::Stable,
                status::DIE => Life::Dead,
                _ => Life::Active,
            })
        };
    if program.function(Role::GlobalStart).is_some() {
        act_globally::<D>(
            &mut act,
            program,
            Role::GlobalStart,
            &mut globals,
            &mut strands,
        )?;
    }
    for step in 0..limit {
        if strands.iter().all(|(life, _)| *life != Life::Active) {
            break;
        }
        for (life, state) in strands.iter_mut().filter(|(life, _)| *life == Life::Active) {
            if step == 0 && program.function(Role::Start).is_some() {
                *life = act(Role::Start, &globals, state)?;
            }
            if *life == Life::Active {
                *life = act(Role::Update, &globals, state)?;
            }
            if *life == Life::Stable && program.function(Role::Stabilize).is_some() {
                act(Role::Stabilize, &globals, state)?;
            }
        }
        if program.function(Role::GlobalUpdate).is_some() {
            act_globally::<D>(
                &mut act,
                program,
                Role::GlobalUpdate,
                &mut globals,
                &mut strands,
            )?;
        }
    }
    Ok(Outcome {
        outputs: outputs::<D>(program, &strands),
        printed,
    })
}

/// Runs a function on globals and state, changing the state; says what the strand has become.
type Act<'a, D> = dyn FnMut(
        Role,
        &[<D as Dialect>::Datum],
        &mut Vec<<D as Dialect>::Datum>,
    ) -> Result<Life, Interrupt>
    + 'a;

/// Runs a global block, and what it does to all strands.
fn act_globally<D: Runnable>(
    act: &mut Act<'_, D>,
    program: &Program<D>,
    role: Role,
    globals: &mut Vec<D::Datum>,
    strands: &mut [(Life, Vec<D::Datum>)],
) -> Result<(), Interrupt> {
    let before = globals.clone();
    let outcome = act(role, &before, globals)?;
    for (life, state) in strands.iter_mut().filter(|(life, _)| *life == Life::Active) {
        *life = outcome;
        if outcome == Life::Stable && program.function(Role::Stabilize).is_some() {
            act(Role::Stabilize, globals, state)?;
        }
    }
    Ok(())
}

fn default<D: Runnable>(input: &Input) -> Vec<D::Datum> {
    match &input.default {
        Some(InputDefault::Value(constant)) => D::constant(constant),
        Some(InputDefault::File(_)) | None => Vec::new(),
    }
}

/// The global variables with the defaults of the inputs at their places; the others are not read.
fn spread_inputs<D: Runnable>(program: &Program<D>) -> Vec<D::Datum> {
    let mut globals = Vec::new();
    for (n, variable) in program.interface.globals.iter().enumerate() {
        let input = program
            .interface
            .inputs
            .iter()
            .find(|i| i.target == Target::Global(n as u32));
        let values = input.map(default::<D>).unwrap_or_default();
        if values.is_empty() {
            let filler = D::constant(&Constant::Int(0));
            let count = if D::NAME == Low::NAME {
                variable.ty.scalars().len()
            } else {
                1
            };
            globals.extend(std::iter::repeat_n(filler[0].clone(), count));
        } else {
            globals.extend(values);
        }
    }
    globals
}

/// All index tuples between pairs of bounds, the last fastest.
fn iterate(bounds: &[i64]) -> Vec<Vec<i64>> {
    bounds.chunks(2).fold(vec![vec![]], |tuples, range| {
        tuples
            .into_iter()
            .flat_map(|tuple| {
                (range[0]..=range[1]).map(move |n| tuple.iter().copied().chain([n]).collect())
            })
            .collect()
    })
}

fn outputs<D: Runnable>(
    program: &Program<D>,
    strands: &[(Life, Vec<D::Datum>)],
) -> Vec<(String, Vec<f64>)> {
    let grid = program.interface.grid;
    let written: Vec<&Vec<D::Datum>> = strands
        .iter()
        .filter(|(life, _)| grid || *life == Life::Stable)
        .map(|(_, state)| state)
        .collect();
    let mut first = 0;
    let mut outputs = Vec::new();
    for state in &program.interface.state {
        let count = if D::NAME == Low::NAME {
            state.variable.ty.scalars().len()
        } else {
            1
        };
        if state.output {
            let numbers = written
                .iter()
                .flat_map(|s| s[first..first + count].iter().flat_map(D::numbers));
            outputs.push((state.variable.name.clone(), numbers.collect()));
        }
        first += count;
    }
    outputs
}

impl Runnable for Low {
    fn world(images: &[Arc<EvalImage>], double: bool) -> low::Machine {
        low::Machine {
            double,
            images: images.iter().map(|i| (**i).clone()).collect(),
            ..low::Machine::default()
        }
    }

    fn variables(world: &mut low::Machine) -> [&mut Vec<low::Datum>; 3] {
        [&mut world.globals, &mut world.state, &mut world.args]
    }

    fn printed(world: &low::Machine) -> &str {
        &world.printed
    }

    fn constant(constant: &Constant) -> Vec<low::Datum> {
        tensor_datum(constant).scalars()
    }

    fn numbers(datum: &low::Datum) -> Vec<f64> {
        vec![match datum {
            low::Datum::Real(x) => *x,
            low::Datum::Int(n) => *n as f64,
            low::Datum::Bool(b) => f64::from(u8::from(*b)),
            low::Datum::Str(_) => f64::NAN,
        }]
    }
}

fn tensor_datum(constant: &Constant) -> tensor::Datum {
    match constant {
        Constant::Bool(b) => tensor::Datum::Bool(*b),
        Constant::Int(n) => tensor::Datum::Int(*n),
        Constant::String(s) => tensor::Datum::Str(s.as_str().into()),
        Constant::Tensor(shape, values) => {
            tensor::Datum::Tensor(ein_ir::Tensor::new(shape.clone(), values.clone()))
        }
        Constant::Seq(elements) => tensor::Datum::Seq(elements.iter().map(tensor_datum).collect()),
    }
}

/// High-IR and Mid-IR are evaluated by the same store.
macro_rules! run_tensors {
    ($dialect:ident) => {
        impl Runnable for $dialect {
            fn world(images: &[Arc<EvalImage>], _double: bool) -> tensor::Store {
                tensor::Store {
                    images: images.to_vec(),
                    ..tensor::Store::default()
                }
            }

            fn variables(world: &mut tensor::Store) -> [&mut Vec<tensor::Datum>; 3] {
                [&mut world.globals, &mut world.state, &mut world.args]
            }

            fn printed(world: &tensor::Store) -> &str {
                &world.printed
            }

            fn constant(constant: &Constant) -> Vec<tensor::Datum> {
                vec![tensor_datum(constant)]
            }

            fn numbers(datum: &tensor::Datum) -> Vec<f64> {
                datum
                    .scalars()
                    .iter()
                    .flat_map(|scalar| <Low as Runnable>::numbers(scalar))
                    .collect()
            }
        }
    };
}

run_tensors!(High);
run_tensors!(Mid);
