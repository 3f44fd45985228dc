//! The dialects with their meanings: how operations are evaluated and how a whole program keeps its variables.

use super::{
    fem::EvalMeshes,
    low,
    primitives::EvalImage,
    program::{Numbers, Runnable},
    surroundings::Surroundings,
    tensor,
};
use crate::{
    front::tree::Constant,
    high::{self, High},
    ir::tensor::Ty,
    low::{Element, Low},
    mid::{self, Mid},
    ssa::{Evaluate, Interrupt},
};
use std::sync::Arc;

impl Evaluate for High {
    type Datum = tensor::Datum;
    type World = tensor::Store;

    fn eval(
        op: &high::Op,
        args: &[&tensor::Datum],
        store: &mut tensor::Store,
    ) -> Result<Vec<tensor::Datum>, Interrupt> {
        match op {
            high::Op::Base(base) => store.base(base, args),
            high::Op::Field(field) => {
                let time = args.first().map(|time| time.components()[0]);
                Ok(vec![store.leaf(field, time)])
            }
            high::Op::Ein(operator) => Ok(vec![store.ein(&operator.ein, args)]),
            high::Op::Inside { image, supports } => {
                Ok(vec![store.inside(*image, supports, args[0])])
            }
            high::Op::Variable(_) | high::Op::Defined => Ok(vec![args[0].clone()]),
            high::Op::Derivative(_) => panic!("a derivative has a value after the stage `derive`"),
        }
    }
}

impl Evaluate for Mid {
    type Datum = tensor::Datum;
    type World = tensor::Store;

    fn eval(
        op: &mid::Op,
        args: &[&tensor::Datum],
        store: &mut tensor::Store,
    ) -> Result<Vec<tensor::Datum>, Interrupt> {
        match op {
            mid::Op::Base(base) => store.base(base, args),
            mid::Op::Ein(operator) => Ok(vec![store.ein(&operator.ein, args)]),
            mid::Op::ToIndex(image, _) => Ok(vec![store.to_index(*image, args[0])]),
            mid::Op::Gradient(image, _) => Ok(vec![store.gradient(*image)]),
            mid::Op::Probe(field, orders) => {
                let time = args.get(1).map(|time| time.components()[0]);
                Ok(store.probe(field, *orders, args[0], time))
            }
            mid::Op::FemProbe(probe) => {
                let times: Vec<f64> = args[2..].iter().map(|t| t.components()[0]).collect();
                Ok(store.fem_probe(probe, args[0], args[1], &times))
            }
        }
    }
}

impl Evaluate for Low {
    type Datum = low::Datum;
    type World = low::Machine;

    fn eval(
        op: &crate::low::Op,
        args: &[&low::Datum],
        world: &mut low::Machine,
    ) -> Result<Vec<low::Datum>, Interrupt> {
        world.eval(op, args)
    }
}

impl Runnable for Low {
    fn world(images: &[Arc<EvalImage>], meshes: EvalMeshes, numbers: Numbers) -> low::Machine {
        low::Machine {
            double: numbers.double,
            long_int: numbers.long_int,
            images: images.iter().map(|i| (**i).clone()).collect(),
            meshes,
            ..low::Machine::default()
        }
    }

    fn variables(world: &mut low::Machine) -> [&mut Vec<low::Datum>; 3] {
        [&mut world.globals, &mut world.state, &mut world.args]
    }

    fn surroundings(world: &mut low::Machine) -> &mut Surroundings<low::Machine, low::Datum> {
        &mut world.surroundings
    }

    fn printed(world: &low::Machine) -> &str {
        &world.printed
    }

    fn width(ty: &Ty) -> usize {
        ty.scalars().len()
    }

    fn constant(world: &mut low::Machine, constant: &Constant, ty: &Ty) -> Vec<low::Datum> {
        let in_precision = |datum: low::Datum| match datum {
            low::Datum::Real(x) => world.round(x),
            other => other,
        };
        let scalars = tensor_datum(constant).scalars();
        let scalars: Vec<low::Datum> = scalars.into_iter().map(in_precision).collect();
        match (constant, ty) {
            (Constant::Seq(elements), Ty::List(_)) => world.heap.list(scalars, elements.len()),
            _ => scalars,
        }
    }

    fn numbers(world: &low::Machine, ty: &Ty, values: &[low::Datum]) -> (Vec<f64>, Option<usize>) {
        let Ty::List(element) = ty else {
            return (values.iter().map(number).collect(), None);
        };
        let types = element.scalars();
        let element = Element {
            ty: types[0],
            scalars: types.len() as u32,
        };
        let scalars = world.heap.scalars(&values[0], &values[1], element);
        (
            scalars.iter().map(number).collect(),
            Some(values[1].int() as usize),
        )
    }
}

fn number(datum: &low::Datum) -> f64 {
    match datum {
        low::Datum::Real(x) => *x,
        low::Datum::Int(n) => *n as f64,
        low::Datum::Bool(b) => f64::from(u8::from(*b)),
        low::Datum::Str(_) => f64::NAN,
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
            fn world(
                images: &[Arc<EvalImage>],
                meshes: EvalMeshes,
                numbers: Numbers,
            ) -> tensor::Store {
                tensor::Store {
                    long_int: numbers.long_int,
                    images: images.to_vec(),
                    meshes,
                    ..tensor::Store::default()
                }
            }

            fn variables(world: &mut tensor::Store) -> [&mut Vec<tensor::Datum>; 3] {
                [&mut world.globals, &mut world.state, &mut world.args]
            }

            fn surroundings(
                world: &mut tensor::Store,
            ) -> &mut Surroundings<tensor::Store, tensor::Datum> {
                &mut world.surroundings
            }

            fn printed(world: &tensor::Store) -> &str {
                &world.printed
            }

            fn width(_ty: &Ty) -> usize {
                1
            }

            fn constant(
                _world: &mut tensor::Store,
                constant: &Constant,
                _ty: &Ty,
            ) -> Vec<tensor::Datum> {
                vec![tensor_datum(constant)]
            }

            fn numbers(
                _world: &tensor::Store,
                ty: &Ty,
                values: &[tensor::Datum],
            ) -> (Vec<f64>, Option<usize>) {
                let length = match (&values[0], ty) {
                    (tensor::Datum::Seq(elements), Ty::List(_)) => Some(elements.len()),
                    _ => None,
                };
                (values[0].scalars().iter().map(number).collect(), length)
            }
        }
    };
}

run_tensors!(High);
run_tensors!(Mid);
