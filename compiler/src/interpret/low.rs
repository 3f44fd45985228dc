//! The reference meaning of Low operations, one strand at a time.
//!
//! Reconstruction is the defining sum over taps, with kernels from the exact table; it shares nothing with the primitives
//! that generated code calls.

pub use super::low_dynamic::Heap;
use super::{
    fem::EvalMeshes,
    primitives::{EvalImage, extremes, reconstruct},
    surroundings::Surroundings,
};
use crate::{
    ir::{Simple, leaf::ImageInfo, print_piece::Piece},
    low::{Op, Ty},
    ssa::{self, Interrupt},
};
use ein_ir::eigensystem;
use runtime::print::{write_f32, write_f64};
use std::{collections::BTreeMap, sync::Arc};

/// A scalar at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// A real number, already rounded to the program's precision.
    Real(f64),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A string.
    Str(Arc<str>),
}

impl Datum {
    /// The real number.
    pub fn real(&self) -> f64 {
        match self {
            Datum::Real(x) => *x,
            other => panic!("{other:?} is not a real"),
        }
    }

    /// The integer.
    pub fn int(&self) -> i64 {
        match self {
            Datum::Int(n) => *n,
            other => panic!("{other:?} is not an int"),
        }
    }

    /// The truth value.
    pub fn bool(&self) -> bool {
        match self {
            Datum::Bool(b) => *b,
            other => panic!("{other:?} is not a bool"),
        }
    }
}

impl ssa::Datum for Datum {
    fn as_bool(&self) -> bool {
        self.bool()
    }

    fn as_int(&self) -> i64 {
        self.int()
    }

    fn from_int(value: i64) -> Datum {
        Datum::Int(value)
    }
}

/// What Low operations see besides their arguments.
#[derive(Debug, Default)]
pub struct Machine {
    /// Whether reals have 64 bits rather than 32.
    pub double: bool,
    /// Whether integers have 64 bits rather than 32.
    pub long_int: bool,
    /// The global variables, by slot.
    pub globals: Vec<Datum>,
    /// The strand's state, by slot.
    pub state: Vec<Datum>,
    /// What the function is given.
    pub args: Vec<Datum>,
    /// The images.
    pub images: Vec<EvalImage>,
    /// The meshes and the values on them.
    pub meshes: EvalMeshes,
    /// The cells of meshes that strands were in last.
    pub cells: BTreeMap<u32, i64>,
    /// The printed text.
    pub printed: String,
    /// What sequences refer to.
    pub heap: Heap,
    /// The other strands.
    pub surroundings: Surroundings<Machine, Datum>,
}

impl Machine {
    /// A real in the program's precision.
    ///
    /// Rounding the f64 result of one operation on f32 values gives the f32 result, because 53 ≥ 2·24 + 2.
    pub fn round(&self, x: f64) -> Datum {
        Datum::Real(if self.double { x } else { f64::from(x as f32) })
    }

    fn wrap(&self, n: i64) -> Datum {
        Datum::Int(if self.long_int {
            n
        } else {
            i64::from(n as i32)
        })
    }

    pub(super) fn eval(&mut self, op: &Op, args: &[&Datum]) -> Result<Vec<Datum>, Interrupt> {
        Ok(vec![match op {
            Op::Real(bits) => self.round(bits.get()),
            Op::Int(n) => self.wrap(*n),
            Op::Bool(b) => Datum::Bool(*b),
            Op::Str(s) => Datum::Str(s.clone()),
            Op::Global(slot, _) => self.globals[*slot as usize].clone(),
            Op::State(slot, _) => self.state[*slot as usize].clone(),
            Op::Arg(slot, _) => self.args[*slot as usize].clone(),
            Op::Image(image, info) => {
                let image = &self.images[*image as usize];
                match info {
                    ImageInfo::Size(axis) => Datum::Int(image.sizes[usize::from(*axis)] as i64),
                    ImageInfo::ToIndex(row, column) => self.round(
                        image.to_index
                            [usize::from(*row) * image.sizes.len() + usize::from(*column)],
                    ),
                    ImageInfo::Offset(row) => self.round(image.offset[usize::from(*row)]),
                    ImageInfo::Frames => Datum::Int(image.times.len() as i64),
                    ImageInfo::Start => self.round(image.start()),
                    ImageInfo::End => self.round(image.end()),
                    ImageInfo::Rate => self.round(image.rate()),
                }
            }
            Op::Simple(simple) => self.simple(*simple, args),
            Op::Math(f) => {
                let args: Vec<f64> = args.iter().map(|a| a.real()).collect();
                self.round((f.def().value)(&args))
            }
            Op::Select(_) => {
                if args[0].bool() {
                    args[1].clone()
                } else {
                    args[2].clone()
                }
            }
            Op::IntDiv(place) => self.wrap(divide(args, *place)?.0),
            Op::IntRem(place) => self.wrap(divide(args, *place)?.1),
            Op::Probe(field, orders) => {
                let at: Vec<f64> = args.iter().map(|a| a.real()).collect();
                let values = reconstruct(&self.images[field.image as usize], field, *orders, &at);
                return Ok(values.into_iter().map(|x| self.round(x)).collect());
            }
            Op::Frame(field) => {
                let image = &self.images[field.image as usize];
                let (position, rate) = image.place_of(args[0].real());
                // So far away all frames that count are the same.
                let position = position.clamp(-4.0, image.times.len() as f64 + 3.0);
                let frame = position.floor();
                let parts = [frame, position - frame, rate];
                return Ok(parts.into_iter().map(|x| self.round(x)).collect());
            }
            Op::Extremes(field) => {
                let places: Vec<f64> = args.iter().map(|a| a.real()).collect();
                let extremes = extremes(&self.images[field.image as usize], field, &places);
                return Ok(extremes.map(|x| self.round(x)).to_vec());
            }
            // The reference takes no notice of positions.
            Op::Ask(..) => return Ok(vec![]),
            // A decision only saves a probe, and the reference saves nothing.
            Op::Decide(..) => Datum::Real(0.0),
            Op::Locate(mesh, _) => {
                let at: Vec<f64> = args.iter().map(|a| a.real()).collect();
                let (cell, xi) = self.meshes.meshes[*mesh as usize].locate(&at);
                let cell = std::iter::once(Datum::Int(cell));
                return Ok(cell.chain(xi.into_iter().map(|x| self.round(x))).collect());
            }
            Op::CellNumber(mesh) => {
                Datum::Int(self.meshes.meshes[*mesh as usize].number(args[0].int()))
            }
            Op::FemProbe(probe) => {
                let mut xi: Vec<f64> = args[1..].iter().map(|a| a.real()).collect();
                let times = xi.split_off(probe.dim);
                let place = (args[0].int(), xi);
                let results = probe.results_at(&times).into_iter();
                let values = results.flat_map(|(field, order, time)| {
                    self.meshes.fems[field.fem as usize].derivatives(field, &place, time, order)
                });
                return Ok(values.map(|x| self.round(x)).collect());
            }
            Op::Eigen(_) => return Ok(self.eigen(args)),
            Op::CheckIndex(place) => {
                let (index, length) = (args[0].int(), args[1].int());
                if !(0..length).contains(&index) {
                    let message = format!("index {index} of a sequence of length {length}");
                    return Err(Interrupt::Error {
                        message,
                        place: *place,
                    });
                }
                return Ok(vec![]);
            }
            Op::Print(pieces) => {
                self.print(pieces, args);
                return Ok(vec![]);
            }
            Op::Dynamic(dynamic) => return self.dynamic(dynamic, args),
        }])
    }

    pub(super) fn simple(&self, op: Simple, args: &[&Datum]) -> Datum {
        let real = |n: usize| args[n].real();
        let int = |n: usize| args[n].int();
        let bool = |n: usize| args[n].bool();
        match op {
            Simple::Add => self.round(real(0) + real(1)),
            Simple::Sub => self.round(real(0) - real(1)),
            Simple::Mul => self.round(real(0) * real(1)),
            Simple::Div => self.round(real(0) / real(1)),
            Simple::Neg => self.round(-real(0)),
            Simple::Less => Datum::Bool(real(0) < real(1)),
            Simple::LessEqual => Datum::Bool(real(0) <= real(1)),
            Simple::Equal => Datum::Bool(real(0) == real(1)),
            Simple::IntAdd => self.wrap(int(0).wrapping_add(int(1))),
            Simple::IntSub => self.wrap(int(0).wrapping_sub(int(1))),
            Simple::IntMul => self.wrap(int(0).wrapping_mul(int(1))),
            Simple::IntNeg => self.wrap(int(0).wrapping_neg()),
            Simple::IntLess => Datum::Bool(int(0) < int(1)),
            Simple::IntLessEqual => Datum::Bool(int(0) <= int(1)),
            Simple::IntEqual => Datum::Bool(int(0) == int(1)),
            Simple::ToReal => self.round(int(0) as f64),
            Simple::And => Datum::Bool(bool(0) && bool(1)),
            Simple::Or => Datum::Bool(bool(0) || bool(1)),
            Simple::Not => Datum::Bool(!bool(0)),
            Simple::StrEqual => Datum::Bool(args[0] == args[1]),
        }
    }

    /// Eigenvalues and eigenvectors as EIN defines them, in f64.
    fn eigen(&self, args: &[&Datum]) -> Vec<Datum> {
        let matrix: Vec<f64> = args.iter().map(|x| x.real()).collect();
        let (values, vectors) = eigensystem(&matrix);
        values
            .into_iter()
            .chain(vectors.concat())
            .map(|x| self.round(x))
            .collect()
    }

    fn print(&mut self, pieces: &[Piece], args: &[&Datum]) {
        let mut args = args.iter();
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.printed.push_str(text),
                Piece::Scalar(_) => {
                    let datum = args.next().expect("an argument for every scalar");
                    let text = match datum {
                        Datum::Real(x) => {
                            let mut text = String::new();
                            if self.double {
                                write_f64(&mut text, *x);
                            } else {
                                write_f32(&mut text, *x as f32);
                            }
                            text
                        }
                        Datum::Int(n) => n.to_string(),
                        Datum::Bool(b) => b.to_string(),
                        Datum::Str(s) => s.to_string(),
                    };
                    self.printed.push_str(&text);
                }
            }
        }
    }
}

impl Ty {
    /// A value for slots that nothing has been stored in.
    pub fn default_datum(self) -> Datum {
        match self {
            Ty::Real => Datum::Real(0.0),
            Ty::Int => Datum::Int(0),
            Ty::Bool => Datum::Bool(false),
            Ty::Str => Datum::Str("".into()),
        }
    }
}

fn divide(args: &[&Datum], place: u32) -> Result<(i64, i64), Interrupt> {
    let (a, b) = (args[0].int(), args[1].int());
    if b == 0 {
        return Err(Interrupt::Error {
            message: "integer division by zero".into(),
            place,
        });
    }
    Ok((a.wrapping_div(b), a.wrapping_rem(b)))
}
