//! EIN operators of the forms that depend on more than the shapes of their arguments.

use crate::mutants;
use crate::{Comparison, Ein, Elementary, Index, Param, Rational, Shape, Term};

/// The part of a tensor or field where some indices are fixed: `Some` selects along an axis, `None` keeps it.
///
/// The mask has one entry per axis, with components inside the extents.
pub fn slice(param: Param, mask: &[Option<usize>]) -> Ein {
    let dims = param.shape().dims();
    assert_eq!(
        dims.len(),
        mask.len(),
        "a mask for the shape {}",
        param.shape()
    );
    let (mut axes, mut indices) = (Vec::new(), Vec::new());
    for (&n, selected) in dims.iter().zip(mask) {
        match selected {
            Some(component) => indices.push(Index::Const(*component)),
            None => {
                indices.push(Index::Axis(axes.len()));
                axes.push(n);
            }
        }
    }
    Ein {
        axes,
        body: Term::Access { param: 0, indices },
        params: vec![param],
    }
}

/// The tensor or field whose parts along a new first axis are the parameters, all of one shape.
pub fn concat(params: &[Param]) -> Ein {
    let shape = params.first().expect("parts to concatenate").shape();
    let mut axes = shape.dims().to_vec();
    if let [_] = params {
        return Ein {
            params: params.to_vec(),
            body: access(0, 0..axes.len()),
            axes,
        };
    }
    axes.insert(0, params.len());
    let part = |m| {
        let place = mutants::place_of_part(m, params.len());
        let selected = Term::Delta(Index::Const(place), Index::Axis(0));
        Term::Mul(vec![access(m, 1..axes.len()), selected])
    };
    Ein {
        params: params.to_vec(),
        body: Term::Add((0..params.len()).map(part).collect()),
        axes,
    }
}

/// A constant tensor with these components, row-major: a multiple of a product of δ for each one that is not zero.
pub fn literal(shape: &Shape, components: &[Rational]) -> Ein {
    assert_eq!(shape.size(), components.len(), "components of {shape}");
    let (first, zero) = (components[0], Rational::from_integer(0));
    let unit = |(index, value): (Vec<usize>, &Rational)| {
        let places = index.into_iter().enumerate();
        let deltas = places.map(|(k, c)| Term::Delta(Index::Const(c), Index::Axis(k)));
        Term::Mul(std::iter::once(Term::Const(*value)).chain(deltas).collect())
    };
    let body = if components.iter().all(|value| *value == first) {
        Term::Const(first)
    } else {
        let placed = shape.indices().zip(components);
        Term::Add(
            placed
                .filter(|(_, value)| **value != zero)
                .map(unit)
                .collect(),
        )
    };
    Ein {
        params: Vec::new(),
        axes: shape.dims().to_vec(),
        body,
    }
}

/// A scalar to an integer power; the zeroth power is 1 everywhere.
pub fn power(param: Param, n: i32) -> Ein {
    assert!(
        param.shape().is_scalar(),
        "a power of the shape {}",
        param.shape()
    );
    Ein {
        params: vec![param],
        axes: Vec::new(),
        body: Term::Pow(Box::new(access(0, 0..0)), mutants::exponent(n)),
    }
}

/// A field at a position; if the position is a field, their composition.
pub fn probe(field: Param, position: Param) -> Ein {
    let axes = field.shape().dims().to_vec();
    let body = Term::Probe {
        field: Box::new(access(0, 0..axes.len())),
        at: position
            .shape()
            .indices()
            .map(|index| component(1, &index))
            .collect(),
    };
    Ein {
        params: vec![field, position],
        axes,
        body,
    }
}

/// The identity field: every position itself.
pub fn position(dim: usize) -> Ein {
    let (axes, index) = match dim {
        1 => (Vec::new(), Index::Const(0)),
        _ => (vec![dim], Index::Axis(0)),
    };
    Ein {
        params: Vec::new(),
        axes,
        body: Term::Position { dim, index },
    }
}

/// The parameter after the first, a number, which that number says, counted from 1; the first or last if there is none.
pub fn swap(params: &[Param]) -> Ein {
    let (_, choices) = params.split_first().expect("a number and its choices");
    let axes = choices
        .first()
        .expect("something to select from")
        .shape()
        .dims()
        .to_vec();
    let choice = |k: usize| access(k, 0..axes.len());
    let last = choice(choices.len());
    let body = (1..choices.len())
        .rev()
        .fold(last, |otherwise, k| Term::Cond {
            test: Comparison::Less,
            sides: Box::new([
                access(0, 0..0),
                Term::Const(Rational::new(2 * k as i128 + 1, 2)),
            ]),
            then: Box::new(choice(k)),
            otherwise: Box::new(otherwise),
        });
    Ein {
        params: params.to_vec(),
        axes,
        body,
    }
}

/// An elementary function of scalars.
pub fn elementary(function: Elementary, params: &[Param]) -> Ein {
    let args = (0..params.len()).map(|k| access(k, 0..0)).collect();
    Ein {
        params: params.to_vec(),
        axes: Vec::new(),
        body: Term::Apply(function, args),
    }
}

/// A component whose indices are result axes.
fn access(param: usize, axes: std::ops::Range<usize>) -> Term {
    Term::Access {
        param,
        indices: axes.map(Index::Axis).collect(),
    }
}

fn component(param: usize, index: &[usize]) -> Term {
    Term::Access {
        param,
        indices: index.iter().map(|&c| Index::Const(c)).collect(),
    }
}
