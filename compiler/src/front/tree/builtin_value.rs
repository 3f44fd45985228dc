//! Evaluates the operators that EIN cannot express on constants: ints, truth values, strings, sequences.

use super::{Constant, int_range};
use ein_ir::{
    Shape, Type,
    ops::{Builtin, Reduction, Relation},
};
use std::cmp::Ordering;

/// The value of a built-in operator, if it depends on its arguments alone and is defined for them. Ints have 64 bits if
/// they are long, else 32; they wrap.
pub(super) fn builtin_value(
    builtin: Builtin,
    args: &[Constant],
    result: &Type,
    long_int: bool,
) -> Option<Constant> {
    let int = |value: i64| Constant::Int(wrapped(value, long_int));
    Some(match (builtin, args) {
        (Builtin::IntAdd, [Constant::Int(a), Constant::Int(b)]) => int(a.wrapping_add(*b)),
        (Builtin::IntSub, [Constant::Int(a), Constant::Int(b)]) => int(a.wrapping_sub(*b)),
        (Builtin::IntMul, [Constant::Int(a), Constant::Int(b)]) => int(a.wrapping_mul(*b)),
        (Builtin::IntDiv | Builtin::IntRem, [_, Constant::Int(0)]) => return None,
        (Builtin::IntDiv, [Constant::Int(a), Constant::Int(b)]) => int(a.wrapping_div(*b)),
        (Builtin::IntRem, [Constant::Int(a), Constant::Int(b)]) => int(a.wrapping_rem(*b)),
        (Builtin::IntNeg, [Constant::Int(a)]) => int(a.wrapping_neg()),
        (Builtin::IntAbs, [Constant::Int(a)]) => int(a.wrapping_abs()),
        (Builtin::IntMin, [Constant::Int(a), Constant::Int(b)]) => int(*a.min(b)),
        (Builtin::IntMax, [Constant::Int(a), Constant::Int(b)]) => int(*a.max(b)),
        (Builtin::IntToReal, [Constant::Int(a)]) => real(*a as f64),
        (Builtin::Compare(relation), [a, b]) => Constant::Bool(compare(relation, a, b)?),
        (Builtin::Not, [Constant::Bool(a)]) => Constant::Bool(!a),
        (Builtin::Pi, []) => real(std::f64::consts::PI),
        (Builtin::Infinity, []) => real(f64::INFINITY),
        (Builtin::Nan, []) => match result {
            Type::Tensor(shape) => Constant::Tensor(shape.clone(), vec![f64::NAN; shape.size()]),
            _ => return None,
        },
        (Builtin::Sequence, elements) => Constant::Seq(elements.to_vec()),
        (Builtin::Prepend, [element, Constant::Seq(rest)]) => {
            joined(std::slice::from_ref(element), rest)
        }
        (Builtin::Append, [Constant::Seq(rest), element]) => {
            joined(rest, std::slice::from_ref(element))
        }
        (Builtin::Concatenate, [Constant::Seq(a), Constant::Seq(b)]) => joined(a, b),
        (Builtin::Length, [Constant::Seq(elements)]) => int(elements.len() as i64),
        (Builtin::Element, [Constant::Seq(elements), Constant::Int(at)]) => {
            elements.get(usize::try_from(*at).ok()?)?.clone()
        }
        (Builtin::Reduce(reduction), [Constant::Seq(elements)]) => {
            reduce(reduction, elements, result, long_int)?
        }
        _ => return None,
    })
}

/// The int of the language that a number becomes.
fn wrapped(value: i64, long_int: bool) -> i64 {
    match long_int {
        true => value,
        false => i64::from(value as i32),
    }
}

fn real(value: f64) -> Constant {
    Constant::Tensor(Shape::SCALAR, vec![value])
}

fn joined(a: &[Constant], b: &[Constant]) -> Constant {
    Constant::Seq([a, b].concat())
}

fn compare(relation: Relation, a: &Constant, b: &Constant) -> Option<bool> {
    let order: Option<Ordering> = match (a, b) {
        (Constant::Int(a), Constant::Int(b)) => Some(a.cmp(b)),
        (Constant::Bool(a), Constant::Bool(b)) => Some(a.cmp(b)),
        (Constant::String(a), Constant::String(b)) => Some(a.cmp(b)),
        (Constant::Tensor(_, a), Constant::Tensor(_, b)) if a.len() == 1 && b.len() == 1 => {
            a[0].partial_cmp(&b[0])
        }
        _ => return None,
    };
    // Without an order, one of the two is NaN.
    Some(match relation {
        Relation::Less => order == Some(Ordering::Less),
        Relation::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Relation::Equal => order == Some(Ordering::Equal),
        Relation::NotEqual => order != Some(Ordering::Equal),
        Relation::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Relation::Greater => order == Some(Ordering::Greater),
    })
}

fn reduce(
    reduction: Reduction,
    elements: &[Constant],
    result: &Type,
    long_int: bool,
) -> Option<Constant> {
    if let Some(extreme) = reduction.extreme() {
        return Some(Constant::Int(place_of(extreme, elements)?));
    }
    match result {
        Type::Bool => {
            let mut truths = elements
                .iter()
                .map(|element| *element == Constant::Bool(true));
            match reduction {
                Reduction::All => Some(Constant::Bool(truths.all(|truth| truth))),
                Reduction::Exists => Some(Constant::Bool(truths.any(|truth| truth))),
                _ => None,
            }
        }
        Type::Int => {
            let ints: Option<Vec<i64>> = elements
                .iter()
                .map(|element| match element {
                    Constant::Int(n) => Some(*n),
                    _ => None,
                })
                .collect();
            let ints = ints?.into_iter();
            let (least, most) = int_range(long_int);
            Some(Constant::Int(match reduction {
                Reduction::Sum => ints.fold(0, |a, b| wrapped(a.wrapping_add(b), long_int)),
                Reduction::Product => ints.fold(1, |a, b| wrapped(a.wrapping_mul(b), long_int)),
                Reduction::Min => ints.fold(most, i64::min),
                Reduction::Max => ints.fold(least, i64::max),
                _ => return None,
            }))
        }
        Type::Tensor(shape) => {
            let tensors: Option<Vec<&Vec<f64>>> = elements
                .iter()
                .map(|element| match element {
                    Constant::Tensor(_, components) => Some(components),
                    _ => None,
                })
                .collect();
            let tensors = tensors?;
            let by_component = |k: usize| {
                reals(
                    reduction,
                    &tensors.iter().map(|x| x[k]).collect::<Vec<f64>>(),
                )
            };
            let components: Option<Vec<f64>> = (0..shape.size()).map(by_component).collect();
            Some(Constant::Tensor(shape.clone(), components?))
        }
        _ => None,
    }
}

fn reals(reduction: Reduction, x: &[f64]) -> Option<f64> {
    let mean = || x.iter().sum::<f64>() / x.len() as f64;
    Some(match reduction {
        Reduction::Sum => x.iter().fold(0.0, |a, b| a + b),
        Reduction::Product => x.iter().product(),
        Reduction::Min => x
            .iter()
            .fold(f64::INFINITY, |least, &x| if x < least { x } else { least }),
        Reduction::Max => x.iter().fold(
            f64::NEG_INFINITY,
            |most, &x| if x > most { x } else { most },
        ),
        Reduction::Mean => mean(),
        Reduction::Variance => {
            let mean = mean();
            x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / x.len() as f64
        }
        Reduction::All | Reduction::Exists | Reduction::ArgMin | Reduction::ArgMax => return None,
    })
}

/// Where the least or the greatest element is, the first of equals; −1 if there is none.
fn place_of(extreme: Reduction, elements: &[Constant]) -> Option<i64> {
    let better = match extreme {
        Reduction::Min => Relation::Less,
        _ => Relation::Greater,
    };
    let mut found: Option<usize> = None;
    for (at, element) in elements.iter().enumerate() {
        let wins = match found {
            Some(best) => compare(better, element, &elements[best])?,
            None => compare(Relation::Equal, element, element)?,
        };
        if wins {
            found = Some(at);
        }
    }
    Some(found.map_or(-1, |at| at as i64))
}
