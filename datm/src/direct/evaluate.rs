//! Numerical values of scalar expressions in single or double precision, with probes by direct convolution.

use super::expression::{Binary, Graph, Node, Operation, Unary};
use crate::border::Border;
use crate::data::{Datum, FieldData, for_each_index};
use num_traits::Float;
use std::collections::HashMap;

/// Evaluates a graph at positions.
pub(super) struct Evaluation<'a> {
    graph: &'a Graph,
    data: &'a [Datum],
    /// The nodes that the results need, in order.
    needed: Vec<Node>,
}

fn real<T: Float>(x: f64) -> T {
    T::from(x).unwrap_or_else(T::nan)
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(graph: &'a Graph, data: &'a [Datum], results: &[Node]) -> Evaluation<'a> {
        let mut wanted = vec![false; graph.operations.len()];
        for &result in results {
            wanted[result] = true;
        }
        // Nodes refer only to earlier ones, so one pass from the end marks everything.
        for node in (0..wanted.len()).rev() {
            if wanted[node] {
                for child in children(graph, node) {
                    wanted[child] = true;
                }
            }
        }
        let needed = (0..wanted.len()).filter(|&node| wanted[node]).collect();
        Evaluation {
            graph,
            data,
            needed,
        }
    }

    /// Whether a position is inside all of these variables.
    pub(super) fn inside<T: Float>(&self, position: &[f64], variables: &[usize]) -> bool {
        let at: Vec<T> = position.iter().map(|&x| real(x)).collect();
        variables
            .iter()
            .all(|&variable| match &self.data[variable] {
                Datum::Tensor(_) => true,
                Datum::Field(field) => {
                    Stencil::new(field, &at).is_some_and(|stencil: Stencil<T>| stencil.inside)
                }
            })
    }

    /// The values of all needed nodes; not a number where there are no samples.
    pub(super) fn values<T: Float>(&self, position: &[f64]) -> Vec<T> {
        let mut values = vec![T::nan(); self.graph.operations.len()];
        let mut stencils: HashMap<(usize, usize), Option<Stencil<T>>> = HashMap::new();
        for &node in &self.needed {
            values[node] = match self.graph.operations[node] {
                Operation::Constant(bits) => real(f64::from_bits(bits)),
                Operation::Unary(function, a) => unary(function, values[a]),
                Operation::Binary(function, a, b) => binary(function, values[a], values[b]),
                Operation::Choose { low, high, yes, no } => {
                    if values[low] < values[high] {
                        values[yes]
                    } else {
                        values[no]
                    }
                }
                Operation::Probe {
                    variable,
                    component,
                    orders,
                    point,
                } => match &self.data[variable] {
                    Datum::Tensor(components) if orders == [0; 3] => real(components[component]),
                    Datum::Tensor(_) => T::zero(),
                    Datum::Field(field) => {
                        let stencil = stencils.entry((variable, point)).or_insert_with(|| {
                            let at: Vec<T> = if point == 0 {
                                position.iter().map(|&x| real(x)).collect()
                            } else {
                                self.graph.points[point]
                                    .iter()
                                    .map(|&node| values[node])
                                    .collect()
                            };
                            Stencil::new(field, &at)
                        });
                        match stencil {
                            Some(stencil) => stencil.derivative(field, component, orders),
                            None => T::nan(),
                        }
                    }
                },
            };
        }
        values
    }
}

fn children(graph: &Graph, node: Node) -> Vec<Node> {
    match graph.operations[node] {
        Operation::Constant(_) => Vec::new(),
        Operation::Probe { point, .. } => graph.points[point].clone(),
        Operation::Unary(_, a) => vec![a],
        Operation::Binary(_, a, b) => vec![a, b],
        Operation::Choose { low, high, yes, no } => vec![low, high, yes, no],
    }
}

fn unary<T: Float>(function: Unary, x: T) -> T {
    match function {
        Unary::Neg => -x,
        Unary::Sqrt => x.sqrt(),
        Unary::Exp => x.exp(),
        Unary::Ln => x.ln(),
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tan => x.tan(),
        Unary::Asin => x.asin(),
        Unary::Acos => x.acos(),
        Unary::Atan => x.atan(),
        Unary::Abs => x.abs(),
        Unary::Sign if x == T::zero() => T::zero(),
        Unary::Sign => x.signum(),
        Unary::Log2 => x.log2(),
        Unary::Log10 => x.log10(),
        Unary::Erf => erf(x),
        Unary::Erfc => T::one() - erf(x),
        Unary::Floor => x.floor(),
        Unary::Ceil => x.ceil(),
        Unary::Round => x.round(),
        Unary::Trunc => x.trunc(),
    }
}

fn binary<T: Float>(function: Binary, a: T, b: T) -> T {
    match function {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Atan2 => a.atan2(b),
        Binary::Fmod => a % b,
        Binary::Pow => a.powf(b),
    }
}

/// erf x = 2/√π · e^(−x²) · Σ 2ⁿ x²ⁿ⁺¹ / (2n+1)!!, a series of positive terms.
fn erf<T: Float>(x: T) -> T {
    let square = real::<T>(2.0) * x * x;
    let (mut term, mut sum) = (x, x);
    for n in 1..80 {
        term = term * square / real(f64::from(2 * n + 1));
        sum = sum + term;
    }
    real::<T>(std::f64::consts::FRAC_2_SQRT_PI) * (-x * x).exp() * sum
}

/// The taps around a point of one image.
struct Stencil<T> {
    floor: Vec<i64>,
    fraction: Vec<T>,
    inverse: Vec<Vec<T>>,
    inside: bool,
}

impl<T: Float> Stencil<T> {
    /// None where there are no samples.
    fn new(field: &FieldData, point: &[T]) -> Option<Stencil<T>> {
        let inverse: Vec<Vec<T>> = field
            .grid
            .inverse()
            .iter()
            .map(|row| row.iter().map(|w| real(crate::grid::float(w))).collect())
            .collect();
        let origin = field.grid.origin();
        let (mut floor, mut fraction, mut inside) = (Vec::new(), Vec::new(), true);
        for (axis, row) in field.grid.inverse().iter().enumerate() {
            let translation: f64 = row
                .iter()
                .zip(&origin)
                .map(|(w, o)| -crate::grid::float(w) * o)
                .sum();
            let moved = inverse[axis]
                .iter()
                .zip(point)
                .fold(T::zero(), |sum, (&w, &p)| sum + w * p);
            let x = moved + real(translation);
            let support = field.kernels.on(axis).support();
            let (low, high) = (
                real(support as f64 - 1.0),
                real(field.grid.sizes[axis] as f64 - support as f64),
            );
            inside &= x > low && x < high;
            floor.push(x.floor().to_i64()?);
            fraction.push(x - x.floor());
        }
        (inside || field.border != Border::Plain).then_some(Stencil {
            floor,
            fraction,
            inverse,
            inside,
        })
    }

    /// A derivative in the world: every world direction is a combination of index directions.
    fn derivative(&self, field: &FieldData, component: usize, orders: [u8; 3]) -> T {
        let directions: Vec<usize> = orders
            .iter()
            .enumerate()
            .flat_map(|(axis, &n)| std::iter::repeat_n(axis, usize::from(n)))
            .collect();
        self.expand(field, component, &directions, [0; 3])
    }

    fn expand(
        &self,
        field: &FieldData,
        component: usize,
        directions: &[usize],
        orders: [u8; 3],
    ) -> T {
        let Some((&direction, rest)) = directions.split_first() else {
            return self.convolve(field, component, orders);
        };
        let mut sum = T::zero();
        for (axis, row) in self.inverse.iter().enumerate() {
            let mut raised = orders;
            raised[axis] += 1;
            if row[direction] != T::zero() {
                sum = sum + row[direction] * self.expand(field, component, rest, raised);
            }
        }
        sum
    }

    /// Σ over the taps of all axes of sample times weights.
    fn convolve(&self, field: &FieldData, component: usize, orders: [u8; 3]) -> T {
        let weights: Vec<Vec<T>> = self
            .fraction
            .iter()
            .zip(orders)
            .enumerate()
            .map(|(axis, (&f, m))| {
                let kernel = field.kernels.on(axis);
                let taps = kernel.weights(usize::from(m)).floats.iter();
                taps.map(|c| c.iter().rev().fold(T::zero(), |sum, &c| sum * f + real(c)))
                    .collect()
            })
            .collect();
        let mut sum = T::zero();
        let counts: Vec<usize> = weights.iter().map(Vec::len).collect();
        for_each_index(&counts, |index| {
            let taps = index.iter().zip(field.kernels.supports());
            let sample: Vec<i64> = taps
                .zip(&self.floor)
                .map(|((&tap, support), n)| n + 1 + tap as i64 - support as i64)
                .collect();
            let weight = weights
                .iter()
                .zip(index)
                .fold(T::one(), |product, (w, &tap): (_, &usize)| product * w[tap]);
            sum = sum + weight * real(field.sample(&sample, component));
        });
        sum
    }
}
