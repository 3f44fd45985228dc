//! The reference meaning of Device operations, one strand at a time: what Low-IR has as well means the same, and the rest
//! is one operation of the machine each.

use super::{
    fem::EvalMeshes,
    low::{Datum, Machine},
    primitives::EvalImage,
    program::{Numbers, Runnable},
    surroundings::Surroundings,
};
use crate::{
    device::{Arithmetic, Device, Op, Table, Width},
    front::tree::Constant,
    ir::{tensor::Ty, weights::weights},
    low::Low,
    ssa::{Evaluate, Interrupt},
};
use rustc_hash::FxHashMap;
use std::{cell::RefCell, sync::Arc};

/// What ends the evaluation of a strand that is left to the CPU.
pub const LEFT: &str = "the strand is left to the CPU";

/// The weights of all taps, by table and precision.
type Tables = FxHashMap<(Table, bool), Vec<Vec<f64>>>;

thread_local! {
    static TABLES: RefCell<Tables> = RefCell::default();
}

impl Evaluate for Device {
    type Datum = Datum;
    type World = Machine;

    fn eval(op: &Op, args: &[&Datum], world: &mut Machine) -> Result<Vec<Datum>, Interrupt> {
        let real = |n: usize| args[n].real();
        let bits = |n: usize| args[n].real().to_bits();
        let double = |bits: u64| Datum::Real(f64::from_bits(bits));
        Ok(vec![match op {
            Op::Low(op) => return Low::eval(op, args, world),
            Op::Arithmetic(arithmetic, width) => {
                let single = *width == Width::Real && !world.double;
                let args: Vec<f64> = args.iter().map(|x| x.real()).collect();
                compute(*arithmetic, &args, single)
            }
            Op::Double(x) => Datum::Real(x.get()),
            Op::SelectDouble => args[if args[0].bool() { 1 } else { 2 }].clone(),
            Op::BitAnd => double(bits(0) & bits(1)),
            Op::BitOr => double(bits(0) | bits(1)),
            Op::ShiftLeft(n) => double(bits(0) << n),
            Op::ShiftRight(n) => double(bits(0) >> n),
            Op::Widen => args[0].clone(),
            Op::Narrow => world.round(real(0)),
            Op::ToInt => Datum::Int(real(0) as i64),
            Op::Load {
                image,
                component,
                ahead,
            } => {
                let image = &world.images[*image as usize];
                let at = args[0].int() + i64::from(*ahead);
                let at = usize::try_from(at).expect("an offset in the image");
                let samples: usize = image.sizes.iter().product();
                let components = image.planes.len() / image.times.len().max(1);
                let plane = &image.planes[at / samples * components + *component as usize];
                world.round(plane[at % samples])
            }
            Op::Coefficient(table, power) => {
                let (tap, double) = (args[0].int() as usize, world.double);
                Datum::Real(TABLES.with_borrow_mut(|tables| {
                    let make = || weights(table.kernel, table.order, double);
                    tables.entry((*table, double)).or_insert_with(make)[tap][*power as usize]
                }))
            }
            Op::Intervals(image) => {
                Datum::Int(world.images[*image as usize].intervals().len() as i64)
            }
            Op::IntervalBegin(image) => {
                let intervals = world.images[*image as usize].intervals();
                world.round(intervals[args[0].int() as usize].0)
            }
            Op::IntervalRate(image) => {
                let intervals = world.images[*image as usize].intervals();
                world.round(intervals[args[0].int() as usize].1)
            }
            Op::Mesh(op) => return Ok(world.mesh(*op, args)),
            Op::Leave if args[0].bool() => {
                return Err(Interrupt::Error {
                    message: LEFT.into(),
                    place: 0,
                });
            }
            Op::Notice(_) | Op::Leave => return Ok(vec![]),
        }])
    }
}

/// Arithmetic in double precision, or in single precision. Results of one operation in double precision round to those in
/// single precision, except for the fused one.
fn compute(arithmetic: Arithmetic, x: &[f64], single: bool) -> Datum {
    let value = match arithmetic {
        Arithmetic::Less => return Datum::Bool(x[0] < x[1]),
        Arithmetic::LessEqual => return Datum::Bool(x[0] <= x[1]),
        Arithmetic::Equal => return Datum::Bool(x[0] == x[1]),
        Arithmetic::Add => x[0] + x[1],
        Arithmetic::Sub => x[0] - x[1],
        Arithmetic::Mul => x[0] * x[1],
        Arithmetic::Div => x[0] / x[1],
        Arithmetic::Neg => -x[0],
        Arithmetic::Fma if single => (x[0] as f32).mul_add(x[1] as f32, x[2] as f32).into(),
        Arithmetic::Fma => x[0].mul_add(x[1], x[2]),
        Arithmetic::Min => {
            if x[0] < x[1] {
                x[0]
            } else {
                x[1]
            }
        }
        Arithmetic::Max => {
            if x[0] > x[1] {
                x[0]
            } else {
                x[1]
            }
        }
        Arithmetic::Sqrt => x[0].sqrt(),
        Arithmetic::Floor => x[0].floor(),
        Arithmetic::Abs => x[0].abs(),
        Arithmetic::CopySign => x[0].copysign(x[1]),
    };
    Datum::Real(if single {
        f64::from(value as f32)
    } else {
        value
    })
}

/// Variables are those of Low-IR.
impl Runnable for Device {
    fn world(images: &[Arc<EvalImage>], meshes: EvalMeshes, numbers: Numbers) -> Machine {
        Low::world(images, meshes, numbers)
    }

    fn variables(world: &mut Machine) -> [&mut Vec<Datum>; 3] {
        Low::variables(world)
    }

    fn surroundings(world: &mut Machine) -> &mut Surroundings<Machine, Datum> {
        Low::surroundings(world)
    }

    fn printed(world: &Machine) -> &str {
        Low::printed(world)
    }

    fn width(ty: &Ty) -> usize {
        Low::width(ty)
    }

    fn constant(world: &mut Machine, constant: &Constant, ty: &Ty) -> Vec<Datum> {
        Low::constant(world, constant, ty)
    }

    fn numbers(world: &Machine, ty: &Ty, values: &[Datum]) -> (Vec<f64>, Option<usize>) {
        Low::numbers(world, ty, values)
    }
}
