//! Sequences that come from files.

use super::{Scalar, tensor::Ty};
use crate::front::tree::Constant;
use ein_ir::{Shape, Type};
use runtime::input::{
    IntWidth,
    sequence::{self, SequenceError},
};
use std::path::Path;

/// The scalars of a sequence, of one element after the other.
#[derive(Debug)]
pub enum Scalars {
    /// Integers.
    Ints(Vec<i64>),
    /// Truth values.
    Bools(Vec<bool>),
    /// Real numbers.
    Reals(Vec<f64>),
}

/// The sequence in a file, by its type in the source, for a program of these numbers.
///
/// # Errors
/// The file cannot be read, or does not fit the type.
pub fn scalars_from_file(
    path: &Path,
    ty: &Type,
    long_int: bool,
    double: bool,
) -> Result<Scalars, SequenceError> {
    let types = Ty::of(element_of(ty)).scalars();
    let ints = if long_int {
        IntWidth::Bits64
    } else {
        IntWidth::Bits32
    };
    Ok(match types.first() {
        Some(Scalar::Int) => Scalars::Ints(sequence::read_ints(path, types.len(), ints)?),
        Some(Scalar::Bool) => Scalars::Bools(sequence::read_bools(path, types.len())?),
        _ => {
            let values = sequence::read_reals(path, types.len())?;
            sequence::check_range(path, &values, double)?;
            Scalars::Reals(values)
        }
    })
}

/// The same as a constant.
///
/// # Errors
/// As there.
pub fn sequence_from_file(
    path: &Path,
    ty: &Type,
    long_int: bool,
    double: bool,
) -> Result<Constant, SequenceError> {
    let real = |x| Constant::Tensor(Shape::SCALAR, vec![x]);
    let scalars: Vec<Constant> = match scalars_from_file(path, ty, long_int, double)? {
        Scalars::Ints(values) => values.into_iter().map(Constant::Int).collect(),
        Scalars::Bools(values) => values.into_iter().map(Constant::Bool).collect(),
        Scalars::Reals(values) => values.into_iter().map(real).collect(),
    };
    let mut scalars = scalars.into_iter().peekable();
    let mut elements = Vec::new();
    while scalars.peek().is_some() {
        elements.push(assemble(element_of(ty), &mut scalars));
    }
    Ok(Constant::Seq(elements))
}

fn element_of(ty: &Type) -> &Type {
    match ty {
        Type::Seq(element, None) => element,
        _ => panic!("a value of type {ty} from a file"),
    }
}

/// A constant of a type from its scalars.
fn assemble(ty: &Type, scalars: &mut impl Iterator<Item = Constant>) -> Constant {
    let mut next = || scalars.next().expect("a file has whole elements");
    match ty {
        Type::Tensor(shape) if !shape.is_scalar() => {
            let components = (0..shape.size()).map(|_| match next() {
                Constant::Tensor(_, values) => values[0],
                other => panic!("{other:?} is not a real"),
            });
            Constant::Tensor(shape.clone(), components.collect())
        }
        Type::Seq(element, Some(n)) => {
            Constant::Seq((0..*n).map(|_| assemble(element, scalars)).collect())
        }
        _ => next(),
    }
}
