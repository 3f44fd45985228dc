//! Ground truth: the value of an expression at a point, from jets of its variables.
//!
//! Each node is evaluated once to the derivative order that the nodes above it need. Nothing is simplified
//! and no differentiation rule is used: `∇` takes coefficients of a jet that was carried one order further.

use crate::data::{Datum, Point, rational};
use crate::jet::{Jet, Space};
use crate::number::{Arithmetic, Number};
use crate::operator::{JetTensor, Truth, Undefined};
use crate::tensor::Tensor;
use crate::tree::{Constant, Tree};
use crate::types::{Shape, Type};
use num_bigint::BigInt;
use num_rational::BigRational;

/// Evaluates trees on given data.
pub struct Evaluator<'a> {
    data: &'a [Datum],
    arithmetic: Arithmetic,
}

/// A place of evaluation: the series space about a point; tensors alone have no point.
struct Place<'a> {
    space: &'a Space,
    point: Option<&'a Point>,
}

/// Values beyond this are outside the range in which single precision is a fair test.
const LARGEST_VALUE: f64 = 1e12;

/// The extents of a shape.
pub(crate) fn extents(shape: Shape) -> Vec<usize> {
    shape.extents().iter().map(|&n| usize::from(n)).collect()
}

fn tensor_of(shape: Shape, components: Vec<Jet>) -> JetTensor {
    let mut components = components.into_iter();
    let zero = || Jet::from_coefficients(vec![Number::zero()]);
    Tensor::from_fn(&extents(shape), |_| components.next().unwrap_or_else(zero))
}

impl<'a> Evaluator<'a> {
    /// An evaluator for the data of a case's variables.
    pub fn new(data: &'a [Datum], arithmetic: Arithmetic) -> Evaluator<'a> {
        Evaluator { data, arithmetic }
    }

    /// The components of a tree's value, row-major, at a point of the world (none if it is a tensor).
    pub fn value(
        &self,
        tree: &Tree,
        result: Type,
        point: Option<&Point>,
    ) -> Result<Vec<Number>, Undefined> {
        let space = Space::shared(usize::from(result.dim), tree.derivative_order());
        let jets = self.evaluate(tree, &Place { space, point }, 0)?;
        let values: Vec<Number> = jets
            .components()
            .iter()
            .map(|jet| jet.value().clone())
            .collect();
        if values
            .iter()
            .all(|value| value.to_f64().abs() < LARGEST_VALUE)
        {
            Ok(values)
        } else {
            Err(Undefined("value of excessive size"))
        }
    }

    fn evaluate(
        &self,
        tree: &Tree,
        place: &Place<'_>,
        order: usize,
    ) -> Result<JetTensor, Undefined> {
        let length = place.space.count(order);
        match tree {
            Tree::Variable { ty, number } => self.variable(*ty, *number, place, order),
            Tree::Constant(constant) => {
                let jet = |value| place.space.constant(value).truncated(length);
                Ok(constant_value(*constant, self.arithmetic).map(|value| jet(value.clone())))
            }
            Tree::Apply(operator, arguments) => match operator.truth {
                Truth::Pointwise(meaning) | Truth::Derivative(_, meaning) => {
                    let order = order + operator.lowers();
                    let jets: Result<Vec<JetTensor>, Undefined> = arguments
                        .iter()
                        .map(|argument| self.evaluate(argument, place, order))
                        .collect();
                    meaning(place.space, &jets?)
                }
                Truth::Compose => self.compose(&arguments[0], &arguments[1], place, order),
            },
        }
    }

    fn variable(
        &self,
        ty: Type,
        number: usize,
        place: &Place<'_>,
        order: usize,
    ) -> Result<JetTensor, Undefined> {
        match (&self.data[number], place.point) {
            (Datum::Tensor(components), _) => {
                let length = place.space.count(order);
                let jet = |&x: &f64| {
                    let value = Number::leaf(rational(x), self.arithmetic);
                    place.space.constant(value).truncated(length)
                };
                Ok(tensor_of(ty.shape, components.iter().map(jet).collect()))
            }
            (Datum::Field(field), Some(point)) => Ok(tensor_of(
                ty.shape,
                field.jets(place.space, point, order, self.arithmetic)?,
            )),
            (Datum::Field(_), None) => Err(Undefined("field without a position")),
        }
    }

    /// F∘G: the series of F about the value of G, with the series of G put in.
    fn compose(
        &self,
        outer: &Tree,
        inner: &Tree,
        place: &Place<'_>,
        order: usize,
    ) -> Result<JetTensor, Undefined> {
        let inner = self.evaluate(inner, place, order)?;
        let point = Point::Computed(
            inner
                .components()
                .iter()
                .map(|jet| jet.value().clone())
                .collect(),
        );
        let outer_space = Space::shared(inner.components().len(), order + outer.derivative_order());
        let jets = self.evaluate(
            outer,
            &Place {
                space: outer_space,
                point: Some(&point),
            },
            order,
        )?;
        Ok(jets.map(|jet| place.space.compose(outer_space, jet, inner.components())))
    }
}

fn constant_value(constant: Constant, arithmetic: Arithmetic) -> Tensor<Number> {
    match constant {
        Constant::Decimal { digits, places } => {
            let value = BigRational::new(BigInt::from(digits), BigInt::from(10).pow(places));
            let number = Number::leaf(value, arithmetic);
            let rounding = if places > 0 {
                number.to_f64().abs()
            } else {
                0.0
            };
            Tensor::scalar(number.with_noise(rounding))
        }
        Constant::Zeros(shape) => Tensor::from_fn(&extents(shape), |_| Number::zero()),
        Constant::Identity(n) => {
            let n = usize::from(n);
            Tensor::from_fn(&[n, n], |i| Number::integer(i64::from(i[0] == i[1])))
        }
    }
}
