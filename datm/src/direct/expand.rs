//! From expression trees to scalar components: every operator by its index formula.

use super::eigen;
use super::expression::{Binary, Graph, Node, Unary};
use crate::tensor::Tensor;
use crate::tree::{Constant, Rules, Tree};
use crate::truth::extents;
use crate::types::Type;
use std::collections::HashMap;

/// The components of a tensor as nodes.
pub(super) type Components = Tensor<Node>;

/// The permutation symbol on three indices.
fn epsilon(i: usize, j: usize, k: usize) -> f64 {
    match (i, j, k) {
        (0, 1, 2) | (1, 2, 0) | (2, 0, 1) => 1.0,
        (0, 2, 1) | (2, 1, 0) | (1, 0, 2) => -1.0,
        _ => 0.0,
    }
}

/// The components of a tree as nodes of the graph, values of tensors being variables without position.
pub(super) fn expand(graph: &mut Graph, tree: &Tree) -> Result<Components, String> {
    match tree {
        Tree::Variable { ty, number } => {
            let mut component = 0;
            Ok(Tensor::from_fn(&extents(ty.shape), |_| {
                component += 1;
                graph.probe(*number, component - 1)
            }))
        }
        Tree::Constant(constant) => Ok(expand_constant(graph, *constant)),
        Tree::Apply(operator, arguments) => {
            let parts: Result<Vec<Components>, String> = arguments
                .iter()
                .map(|argument| expand(graph, argument))
                .collect();
            let field = arguments[0]
                .type_of(Rules::Language)
                .ok_or("argument without a type")?;
            apply(graph, operator.name, &parts?, field)
        }
    }
}

fn expand_constant(graph: &mut Graph, constant: Constant) -> Components {
    match constant {
        Constant::Decimal { digits, places } => {
            Tensor::scalar(graph.constant(digits as f64 / 10f64.powi(places as i32)))
        }
        Constant::Zeros(shape) => Tensor::from_fn(&extents(shape), |_| graph.constant(0.0)),
        Constant::Identity(n) => {
            let n = usize::from(n);
            Tensor::from_fn(&[n, n], |i| {
                graph.constant(if i[0] == i[1] { 1.0 } else { 0.0 })
            })
        }
    }
}

pub(super) fn total(graph: &mut Graph, terms: impl IntoIterator<Item = Node>) -> Node {
    let terms: Vec<Node> = terms.into_iter().collect();
    let zero = graph.constant(0.0);
    terms
        .into_iter()
        .fold(zero, |sum, term| graph.add(sum, term))
}

fn each(graph: &mut Graph, a: &Components, function: Unary) -> Components {
    a.map(|&x| graph.unary(function, x))
}

fn pairwise(graph: &mut Graph, a: &[Components], function: Binary) -> Components {
    Tensor::from_fn(a[0].extents(), |i| {
        graph.binary(function, *a[0].at(i), *a[1].at(i))
    })
}

fn apply(
    graph: &mut Graph,
    name: &str,
    a: &[Components],
    field: Type,
) -> Result<Components, String> {
    let scalar = |at: usize| *a[at].at(&[]);
    let d = usize::from(field.dim);
    Ok(match name {
        "copy" | "probe" => a[0].clone(),
        "neg" => each(graph, &a[0], Unary::Neg),
        "add" => pairwise(graph, a, Binary::Add),
        "sub" => pairwise(graph, a, Binary::Sub),
        "modulate" => pairwise(graph, a, Binary::Mul),
        "mul" if a[0].extents().is_empty() => a[1].map(|&x| graph.mul(x, scalar(0))),
        "mul" => a[0].map(|&x| graph.mul(x, scalar(1))),
        "div" => a[0].map(|&x| graph.div(x, scalar(1))),
        "outer" => contract(graph, &a[0], &a[1], 0),
        "inner" => contract(graph, &a[0], &a[1], 1),
        "colon" => contract(graph, &a[0], &a[1], 2),
        "cross" => cross(graph, &a[0], &a[1]),
        "concat2" | "concat3" | "concat4" => {
            Tensor::from_fn(&[&[a.len()], a[0].extents()].concat(), |i| {
                *a[i[0]].at(&i[1..])
            })
        }
        "transpose" => {
            let e = a[0].extents();
            Tensor::from_fn(&[e[1], e[0]], |i| *a[0].at(&[i[1], i[0]]))
        }
        "trace" => {
            let order = a[0].extents().len() - 2;
            let n = a[0].extents()[order];
            Tensor::from_fn(&a[0].extents()[..order], |i| {
                total(graph, (0..n).map(|k| *a[0].at(&[i, &[k, k]].concat())))
            })
        }
        "det" => Tensor::scalar(determinant(graph, &a[0])),
        "inv" => inverse(graph, &a[0]),
        "norm" => Tensor::scalar(norm(graph, &a[0])),
        "normalize" => {
            let norm = norm(graph, &a[0]);
            a[0].map(|&x| graph.div(x, norm))
        }
        "grad" if d == 1 => a[0].map(|&x| graph.derivative(x, 0)),
        "grad" | "jacobian" => jacobian(graph, &a[0], d),
        "hessian" => {
            let gradient = jacobian(graph, &a[0], d);
            jacobian(graph, &gradient, d)
        }
        "laplacian" => a[0].map(|&x| {
            let terms: Vec<Node> = (0..d)
                .map(|k| {
                    let slope = graph.derivative(x, k);
                    graph.derivative(slope, k)
                })
                .collect();
            total(graph, terms)
        }),
        "divergence" => {
            let kept = &a[0].extents()[..a[0].extents().len() - 1];
            Tensor::from_fn(kept, |i| {
                let terms: Vec<Node> = (0..d)
                    .map(|k| graph.derivative(*a[0].at(&[i, &[k]].concat()), k))
                    .collect();
                total(graph, terms)
            })
        }
        "curl" => {
            let jacobian = jacobian(graph, &a[0], d);
            curl(graph, &jacobian)
        }
        "compose" => {
            let point = graph.point(a[1].components().to_vec());
            let mut done = HashMap::new();
            a[0].map(|&x| graph.moved(x, point, &mut done))
        }
        "max" => Tensor::scalar(graph.choose(scalar(1), scalar(0), scalar(0), scalar(1))),
        "min" => Tensor::scalar(graph.choose(scalar(0), scalar(1), scalar(0), scalar(1))),
        "atan2" => pairwise(graph, a, Binary::Atan2),
        "fmod" => pairwise(graph, a, Binary::Fmod),
        "pow" | "power" => pairwise(graph, a, Binary::Pow),
        "lerp" => interpolate(graph, a, scalar(2)),
        "lerp5" => {
            let t = parameter(graph, a);
            interpolate(graph, a, t)
        }
        "clerp" => {
            let x = interpolate(graph, a, scalar(2));
            clamp(graph, &a[0], &a[1], &x)
        }
        "clerp5" => {
            let t = parameter(graph, a);
            let x = interpolate(graph, a, t);
            clamp(graph, &a[0], &a[1], &x)
        }
        "clamp" => clamp(graph, &a[0], &a[1], &a[2]),
        "choice" => {
            let zero = graph.constant(0.0);
            Tensor::from_fn(a[0].extents(), |i| {
                graph.choose(zero, scalar(2), *a[0].at(i), *a[1].at(i))
            })
        }
        "swap[1]" => a[0].clone(),
        "swap[2]" | "swap[7]" => a[1].clone(),
        _ => return apply_named(graph, name, &a[0]),
    })
}

/// Operators whose name carries their parameters, and the scalar functions.
fn apply_named(graph: &mut Graph, name: &str, a: &Components) -> Result<Components, String> {
    if let Some(pattern) = name
        .strip_prefix("slice[")
        .and_then(|rest| rest.strip_suffix(']'))
    {
        let pattern: Vec<Option<usize>> =
            pattern.split(',').map(|part| part.parse().ok()).collect();
        let kept: Vec<usize> = pattern
            .iter()
            .zip(a.extents())
            .filter(|(fixed, _)| fixed.is_none())
            .map(|(_, &n)| n)
            .collect();
        return Ok(Tensor::from_fn(&kept, |i| {
            let mut free = i.iter();
            let index: Vec<usize> = pattern
                .iter()
                .map(|fixed| fixed.or_else(|| free.next().copied()).unwrap_or(0))
                .collect();
            *a.at(&index)
        }));
    }
    if let Some(place) = parameter_of(name, "evals") {
        return Ok(Tensor::scalar(eigen::value(graph, a, place)));
    }
    if let Some(place) = parameter_of(name, "eigenprojector") {
        return Ok(eigen::projector(graph, a, place));
    }
    if let Some(exponent) = name
        .strip_prefix("power[")
        .and_then(|rest| rest.strip_suffix(']'))
    {
        let exponent: i32 = exponent
            .parse()
            .map_err(|_| format!("found power `{name}`"))?;
        let x = *a.at(&[]);
        let one = graph.constant(1.0);
        let product = (0..exponent.unsigned_abs()).fold(one, |product, _| graph.mul(product, x));
        return Ok(Tensor::scalar(if exponent < 0 {
            graph.div(one, product)
        } else {
            product
        }));
    }
    let function = match name {
        "sqrt" => Unary::Sqrt,
        "exp" => Unary::Exp,
        "log" => Unary::Ln,
        "log2" => Unary::Log2,
        "log10" => Unary::Log10,
        "sin" => Unary::Sin,
        "cos" => Unary::Cos,
        "tan" => Unary::Tan,
        "asin" => Unary::Asin,
        "acos" => Unary::Acos,
        "atan" => Unary::Atan,
        "abs" => Unary::Abs,
        "erf" => Unary::Erf,
        "erfc" => Unary::Erfc,
        "floor" => Unary::Floor,
        "ceil" => Unary::Ceil,
        "round" => Unary::Round,
        "trunc" => Unary::Trunc,
        _ => return Err(format!("no formula for operator `{name}`")),
    };
    Ok(each(graph, a, function))
}

/// The number in a name such as `evals[0]`.
fn parameter_of(name: &str, operator: &str) -> Option<usize> {
    let rest = name.strip_prefix(operator)?.strip_prefix('[')?;
    rest.strip_suffix(']')?.parse().ok()
}

/// Σ over `count` adjacent axes; none for the outer product.
fn contract(graph: &mut Graph, a: &Components, b: &Components, count: usize) -> Components {
    let split = a.extents().len() - count;
    let summed = a.extents()[split..].to_vec();
    let extents = [&a.extents()[..split], &b.extents()[count..]].concat();
    Tensor::from_fn(&extents, |i| {
        let terms = Tensor::from_fn(&summed, |k| {
            let (left, right) = ([&i[..split], k].concat(), [k, &i[split..]].concat());
            graph.mul(*a.at(&left), *b.at(&right))
        });
        total(graph, terms.components().iter().copied())
    })
}

/// Σ εᵢⱼₖ aⱼ bₖ.
pub(super) fn cross(graph: &mut Graph, a: &Components, b: &Components) -> Components {
    if a.extents() == [2] {
        let (left, right) = (
            graph.mul(*a.at(&[0]), *b.at(&[1])),
            graph.mul(*a.at(&[1]), *b.at(&[0])),
        );
        return Tensor::scalar(graph.sub(left, right));
    }
    Tensor::from_fn(&[3], |i| {
        permuted(graph, i[0], |graph, j, k| {
            graph.mul(*a.at(&[j]), *b.at(&[k]))
        })
    })
}

/// Σⱼₖ εᵢⱼₖ term(j, k).
fn permuted(
    graph: &mut Graph,
    i: usize,
    mut term: impl FnMut(&mut Graph, usize, usize) -> Node,
) -> Node {
    let mut sum = graph.constant(0.0);
    for j in 0..3 {
        for k in 0..3 {
            let sign = epsilon(i, j, k);
            if sign != 0.0 {
                let value = term(graph, j, k);
                sum = if sign > 0.0 {
                    graph.add(sum, value)
                } else {
                    graph.sub(sum, value)
                };
            }
        }
    }
    sum
}

/// From ∂ᵢVⱼ stored as [j, i].
fn curl(graph: &mut Graph, jacobian: &Components) -> Components {
    if jacobian.extents() == [2, 2] {
        return Tensor::scalar(graph.sub(*jacobian.at(&[1, 0]), *jacobian.at(&[0, 1])));
    }
    Tensor::from_fn(&[3], |i| {
        permuted(graph, i[0], |_, j, k| *jacobian.at(&[k, j]))
    })
}

fn jacobian(graph: &mut Graph, a: &Components, d: usize) -> Components {
    let order = a.extents().len();
    Tensor::from_fn(&[a.extents(), &[d]].concat(), |i| {
        graph.derivative(*a.at(&i[..order]), i[order])
    })
}

pub(super) fn determinant(graph: &mut Graph, m: &Components) -> Node {
    if m.extents() == [2, 2] {
        let (left, right) = (
            graph.mul(*m.at(&[0, 0]), *m.at(&[1, 1])),
            graph.mul(*m.at(&[0, 1]), *m.at(&[1, 0])),
        );
        return graph.sub(left, right);
    }
    let columns: Vec<Node> = (0..3)
        .map(|i| {
            let cofactor = permuted(graph, i, |graph, j, k| {
                graph.mul(*m.at(&[j, 1]), *m.at(&[k, 2]))
            });
            graph.mul(*m.at(&[i, 0]), cofactor)
        })
        .collect();
    total(graph, columns)
}

/// The transposed cofactors over the determinant: ½ ε ε A A in three dimensions.
fn inverse(graph: &mut Graph, m: &Components) -> Components {
    if m.extents().is_empty() {
        let one = graph.constant(1.0);
        return m.map(|&x| graph.div(one, x));
    }
    let determinant = determinant(graph, m);
    let half = graph.constant(0.5);
    Tensor::from_fn(m.extents(), |index| {
        let (i, j) = (index[1], index[0]);
        let cofactor = if m.extents()[0] == 2 {
            let other = *m.at(&[1 - i, 1 - j]);
            if i == j {
                other
            } else {
                graph.unary(Unary::Neg, other)
            }
        } else {
            let twice = permuted(graph, i, |graph, a, b| {
                permuted(graph, j, |graph, c, d| {
                    graph.mul(*m.at(&[a, c]), *m.at(&[b, d]))
                })
            });
            graph.mul(half, twice)
        };
        graph.div(cofactor, determinant)
    })
}

fn norm(graph: &mut Graph, a: &Components) -> Node {
    if let [x] = a.components() {
        return graph.unary(Unary::Abs, *x);
    }
    let squares: Vec<Node> = a.components().iter().map(|&x| graph.mul(x, x)).collect();
    let sum = total(graph, squares);
    graph.unary(Unary::Sqrt, sum)
}

fn interpolate(graph: &mut Graph, a: &[Components], t: Node) -> Components {
    Tensor::from_fn(a[0].extents(), |i| {
        let range = graph.sub(*a[1].at(i), *a[0].at(i));
        let part = graph.mul(t, range);
        graph.add(*a[0].at(i), part)
    })
}

fn parameter(graph: &mut Graph, a: &[Components]) -> Node {
    let [low, at, high] = [2, 3, 4].map(|n| *a[n].at(&[]));
    let (part, whole) = (graph.sub(at, low), graph.sub(high, low));
    graph.div(part, whole)
}

fn clamp(graph: &mut Graph, low: &Components, high: &Components, x: &Components) -> Components {
    let bound = |bound: &Components, i: &[usize]| {
        if bound.extents().is_empty() {
            *bound.at(&[])
        } else {
            *bound.at(i)
        }
    };
    Tensor::from_fn(x.extents(), |i| {
        let (low, high, x) = (bound(low, i), bound(high, i), *x.at(i));
        let upper = graph.choose(x, high, x, high);
        graph.choose(low, upper, upper, low)
    })
}
