//! The reference meaning of the operations of High-IR and Mid-IR, one strand at a time and in double precision.

use super::{
    fem::{EvalFem, EvalMeshes},
    low,
    primitives::{EvalImage, extremes, reconstruct, reconstruct_at_time},
    surroundings::Surroundings,
};
use crate::{
    ir::{
        Orders,
        fem::{FemField, FemProbe},
        leaf::{Convolution, ImageInfo, Leaf, distinct_derivatives},
        print_piece::Piece,
        tensor::Base,
    },
    low::{Low, Op},
    ssa::{self, Evaluate, Interrupt},
};
use ein_ir::{Ein, Input, Jet, LeafField, Param, Shape, Tensor};
use std::sync::Arc;

/// A value at run time, or a field.
#[derive(Clone, Debug)]
pub enum Datum {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A string.
    Str(Arc<str>),
    /// A tensor.
    Tensor(Tensor<f64>),
    /// A sequence; a strand among its elements is its number.
    Seq(Vec<Datum>),
    /// A field.
    Field(Arc<Field>),
}

/// A field: an image with kernels, values on a mesh, or an operator on fields and tensors.
#[derive(Clone, Debug)]
pub enum Field {
    /// A leaf field.
    Leaf(Arc<EvalImage>, Arc<Convolution>, Option<f64>),
    /// Values on a mesh.
    Fem(EvalFem, Arc<FemField>, Option<f64>),
    /// What an operator makes of others.
    Made(Ein, Vec<Datum>),
}

impl Datum {
    /// The truth value.
    pub fn bool(&self) -> bool {
        match self {
            Datum::Bool(b) => *b,
            other => panic!("{other:?} is not a bool"),
        }
    }

    /// The integer.
    pub fn int(&self) -> i64 {
        match self {
            Datum::Int(n) => *n,
            other => panic!("{other:?} is not an int"),
        }
    }

    /// The components of a tensor.
    pub fn components(&self) -> &[f64] {
        match self {
            Datum::Tensor(tensor) => tensor.components(),
            other => panic!("{other:?} is not a tensor"),
        }
    }

    /// The scalars that the value consists of, as Low-IR has them.
    pub fn scalars(&self) -> Vec<low::Datum> {
        match self {
            Datum::Bool(b) => vec![low::Datum::Bool(*b)],
            Datum::Int(n) => vec![low::Datum::Int(*n)],
            Datum::Str(s) => vec![low::Datum::Str(s.clone())],
            Datum::Tensor(tensor) => tensor
                .components()
                .iter()
                .map(|&x| low::Datum::Real(x))
                .collect(),
            Datum::Seq(elements) => elements.iter().flat_map(Datum::scalars).collect(),
            Datum::Field(_) => panic!("a field has no scalars"),
        }
    }

    fn as_input(&self) -> Input<'_> {
        match self {
            Datum::Tensor(tensor) => Input::Tensor(tensor.clone()),
            Datum::Field(field) => Input::Field(&**field),
            other => panic!("{other:?} under an EIN operator"),
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

fn scalar(x: f64) -> Datum {
    Datum::Tensor(Tensor::scalar(x))
}

/// What the operations see besides their arguments.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// Whether integers have 64 bits rather than 32.
    pub long_int: bool,
    /// The global variables.
    pub globals: Vec<Datum>,
    /// The strand's state.
    pub state: Vec<Datum>,
    /// What the function is given.
    pub args: Vec<Datum>,
    /// The images.
    pub images: Vec<Arc<EvalImage>>,
    /// The meshes and the values on them.
    pub meshes: EvalMeshes,
    /// The printed text.
    pub printed: String,
    /// The other strands.
    pub surroundings: Surroundings<Store, Datum>,
}

impl Store {
    /// The meaning of a shared operation.
    ///
    /// # Errors
    /// The run-time error it ends in.
    pub fn base(&mut self, op: &Base, args: &[&Datum]) -> Result<Vec<Datum>, Interrupt> {
        Ok(vec![match op {
            Base::Tensor(shape, values) => Datum::Tensor(Tensor::new(
                shape.clone(),
                values.iter().map(|b| b.get()).collect(),
            )),
            Base::Global(n, _) => self.globals[*n as usize].clone(),
            Base::State(n, _) => self.state[*n as usize].clone(),
            Base::Arg(n, _) => self.args[*n as usize].clone(),
            Base::Select(_) => {
                if args[0].bool() {
                    args[1].clone()
                } else {
                    args[2].clone()
                }
            }
            Base::Sequence(_) => Datum::Seq(args.iter().map(|&a| a.clone()).collect()),
            Base::Element(place) => {
                let (Datum::Seq(elements), index) = (args[0], args[1].int()) else {
                    panic!("an element of no sequence")
                };
                match usize::try_from(index).ok().and_then(|n| elements.get(n)) {
                    Some(element) => element.clone(),
                    None => {
                        let message =
                            format!("index {index} of a sequence of length {}", elements.len());
                        return Err(Interrupt::Error {
                            message,
                            place: *place,
                        });
                    }
                }
            }
            Base::Image(image, info) => {
                let image = &self.images[*image as usize];
                match info {
                    ImageInfo::Size(axis) => Datum::Int(image.sizes[usize::from(*axis)] as i64),
                    ImageInfo::ToIndex(row, column) => scalar(
                        image.to_index
                            [usize::from(*row) * image.sizes.len() + usize::from(*column)],
                    ),
                    ImageInfo::Offset(row) => scalar(image.offset[usize::from(*row)]),
                    ImageInfo::Frames => Datum::Int(image.times.len() as i64),
                    ImageInfo::Start => scalar(image.start()),
                    ImageInfo::End => scalar(image.end()),
                    ImageInfo::Rate => scalar(image.rate()),
                }
            }
            Base::Extremes(field) => {
                let places: Vec<f64> = args.iter().map(|a| a.components()[0]).collect();
                let extremes = extremes(&self.images[field.image as usize], field, &places);
                return Ok(extremes.map(scalar).to_vec());
            }
            Base::Locate(mesh, dim) => {
                let (cell, xi) = self.meshes.meshes[*mesh as usize].locate(args[0].components());
                let shape = Shape::new([usize::from(*dim)]);
                return Ok(vec![
                    Datum::Int(cell),
                    Datum::Tensor(Tensor::new(shape, xi)),
                ]);
            }
            Base::CellNumber(mesh) => {
                Datum::Int(self.meshes.meshes[*mesh as usize].number(args[0].int()))
            }
            Base::Dynamic(dynamic) => return self.dynamic(dynamic, args),
            Base::Int(_)
            | Base::Bool(_)
            | Base::Str(_)
            | Base::Simple(_)
            | Base::IntDiv(_)
            | Base::IntRem(_)
            | Base::CheckIndex(_)
            | Base::Print(_) => return self.scalar_op(op, args),
        }])
    }

    /// Operations on scalars mean the same as in Low-IR, in double precision.
    fn scalar_op(&mut self, op: &Base, args: &[&Datum]) -> Result<Vec<Datum>, Interrupt> {
        let op = match op {
            Base::Int(n) => Op::Int(*n),
            Base::Bool(b) => Op::Bool(*b),
            Base::Str(s) => Op::Str(s.clone()),
            Base::Simple(simple) => Op::Simple(*simple),
            Base::IntDiv(place) => Op::IntDiv(*place),
            Base::IntRem(place) => Op::IntRem(*place),
            Base::CheckIndex(place) => Op::CheckIndex(*place),
            Base::Print(pieces) => Op::Print(Arc::<[Piece]>::clone(pieces)),
            other => panic!("`{other}` is not an operation on scalars"),
        };
        let scalars: Vec<low::Datum> = args.iter().flat_map(|a| a.scalars()).collect();
        let mut machine = low::Machine {
            double: true,
            long_int: self.long_int,
            ..Default::default()
        };
        let results = Low::eval(&op, &scalars.iter().collect::<Vec<_>>(), &mut machine)?;
        self.printed.push_str(&machine.printed);
        Ok(results
            .into_iter()
            .map(|datum| match datum {
                low::Datum::Real(x) => scalar(x),
                low::Datum::Int(n) => Datum::Int(n),
                low::Datum::Bool(b) => Datum::Bool(b),
                low::Datum::Str(s) => Datum::Str(s),
            })
            .collect())
    }

    /// A leaf field, perhaps at a time.
    pub fn leaf(&self, leaf: &Leaf, time: Option<f64>) -> Datum {
        Datum::Field(Arc::new(match leaf {
            Leaf::Convolution(field) => {
                let image = self.images[field.image as usize].clone();
                Field::Leaf(image, field.clone(), time)
            }
            Leaf::Fem(field) => {
                let fem = self.meshes.fems[field.fem as usize].clone();
                Field::Fem(fem, field.clone(), time)
            }
        }))
    }

    /// What an EIN operator makes of its arguments.
    pub fn ein(&self, ein: &Ein, args: &[&Datum]) -> Datum {
        match ein.result() {
            Param::Field { .. } => Datum::Field(Arc::new(Field::Made(
                ein.clone(),
                args.iter().map(|&a| a.clone()).collect(),
            ))),
            Param::Tensor(_) => {
                let inputs: Vec<Input<'_>> = args.iter().map(|a| a.as_input()).collect();
                Datum::Tensor(ein.eval(&inputs))
            }
        }
    }

    /// Whether an image has samples around a position in the world.
    pub fn inside(&self, image: u32, supports: &[u8], at: &Datum) -> Datum {
        let sizes = &self.images[image as usize].sizes;
        let index = self.to_index(image, at);
        let mut axes = index.components().iter().zip(sizes).zip(supports);
        let within = axes.all(|((&x, &n), &support)| {
            let support = f64::from(support);
            support - 1.0 < x && x < n as f64 - support
        });
        Datum::Bool(within)
    }

    /// World coordinates to index coordinates.
    pub fn to_index(&self, image: u32, at: &Datum) -> Datum {
        let image = &self.images[image as usize];
        Datum::Tensor(Tensor::new(
            Shape::new([image.sizes.len()]),
            image.index_of(at.components()),
        ))
    }

    /// The matrix that takes derivatives in index space to derivatives in the world.
    pub fn gradient(&self, image: u32) -> Datum {
        let image = &self.images[image as usize];
        let dim = image.sizes.len();
        let transposed = (0..dim * dim)
            .map(|k| image.to_index[k % dim * dim + k / dim])
            .collect();
        Datum::Tensor(Tensor::new(Shape::new([dim, dim]), transposed))
    }

    /// Derivatives in index space, one tensor per order.
    pub fn probe(
        &self,
        field: &Convolution,
        orders: Orders,
        at: &Datum,
        time: Option<f64>,
    ) -> Vec<Datum> {
        let image = &self.images[field.image as usize];
        orders
            .iter()
            .map(|order| {
                let distinct = derivatives(image, field, order, (at.components(), time));
                spread(&field.shape, field.dim(), order, &distinct)
            })
            .collect()
    }

    /// Derivatives in the world of fields on a mesh, one tensor per field and order; those over time at these times.
    pub fn fem_probe(
        &self,
        probe: &FemProbe,
        cell: &Datum,
        at: &Datum,
        times: &[f64],
    ) -> Vec<Datum> {
        let place = (cell.int(), at.components().to_vec());
        let one = |(field, order, time): (&FemField, usize, Option<f64>)| {
            let fem = &self.meshes.fems[field.fem as usize];
            let distinct = fem.derivatives(field, &place, time, order);
            spread(&field.shape, field.dim, order, &distinct)
        };
        probe.results_at(times).into_iter().map(one).collect()
    }
}

/// The distinct derivatives of an order at a position in index space, and at a time.
fn derivatives(
    image: &EvalImage,
    field: &Convolution,
    order: usize,
    (at, time): (&[f64], Option<f64>),
) -> Vec<f64> {
    let orders = Orders(1 << order);
    match time {
        Some(time) => reconstruct_at_time(image, field, orders, at, time),
        None => reconstruct(image, field, orders, at),
    }
}

/// The tensor of all derivatives of an order from the distinct ones of each component.
fn spread(value: &Shape, dim: usize, order: usize, distinct: &[f64]) -> Datum {
    let shape = value.append(&vec![dim; order]);
    let derivatives = distinct_derivatives(dim, order);
    let own = value.order();
    Datum::Tensor(Tensor::from_fn(&shape, |index| {
        let mut axes = index[own..].to_vec();
        axes.resize(order, 0);
        axes.sort_unstable();
        let place = derivatives
            .iter()
            .position(|d| *d == axes)
            .expect("a derivative of this order");
        distinct[value.offset(&index[..own]) * derivatives.len() + place]
    }))
}

impl LeafField for Field {
    fn dim(&self) -> usize {
        match self {
            Field::Leaf(_, field, _) => field.dim(),
            Field::Fem(_, field, _) => field.dim,
            Field::Made(ein, _) => match ein.result() {
                Param::Field { dim, .. } => dim,
                Param::Tensor(_) => panic!("an operator that gives no field"),
            },
        }
    }

    fn shape(&self) -> Shape {
        match self {
            Field::Leaf(_, field, _) => field.shape.clone(),
            Field::Fem(_, field, _) => field.shape.clone(),
            Field::Made(ein, _) => ein.result().shape().clone(),
        }
    }

    fn expand(&self, at: &[f64], order: usize) -> Vec<Jet> {
        match self {
            Field::Made(ein, args) => {
                let inputs: Vec<Input<'_>> = args.iter().map(Datum::as_input).collect();
                ein.expand(&inputs, at, order).components().to_vec()
            }
            Field::Leaf(image, field, time) => expand_leaf(image, field, (at, *time), order),
            Field::Fem(fem, field, time) => fem.expand(field, &fem.locate(at), *time, order),
        }
    }
}

/// The Taylor series of a leaf field in the world: that in index space at the linear map between the two.
fn expand_leaf(
    image: &EvalImage,
    field: &Convolution,
    (at, time): (&[f64], Option<f64>),
    order: usize,
) -> Vec<Jet> {
    let dim = field.dim();
    let index = image.index_of(at);
    let coordinates: Vec<Jet> = (0..dim)
        .map(|row| {
            Jet::from_fn(dim, order, |exponents| {
                match exponents.iter().sum::<usize>() {
                    0 => index[row],
                    1 => {
                        let axis = exponents
                            .iter()
                            .position(|&e| e == 1)
                            .expect("one exponent is 1");
                        image.to_index[row * dim + axis]
                    }
                    _ => 0.0,
                }
            })
        })
        .collect();
    let by_order: Vec<Vec<f64>> = (0..order + 1)
        .map(|m| derivatives(image, field, m, (&index, time)))
        .collect();
    (0..field.shape.size())
        .map(|component| {
            let series = Jet::from_fn(dim, order, |exponents| {
                let m = exponents.iter().sum();
                let axes: Vec<usize> = (0..dim).flat_map(|a| vec![a; exponents[a]]).collect();
                let derivatives = crate::ir::leaf::distinct_derivatives(dim, m);
                let place = derivatives
                    .iter()
                    .position(|d| *d == axes)
                    .expect("a derivative of this order");
                let factorials: f64 = exponents
                    .iter()
                    .map(|&e| (1..=e).product::<usize>() as f64)
                    .product();
                by_order[m][component * derivatives.len() + place] / factorials
            });
            series.compose(&coordinates)
        })
        .collect()
}
