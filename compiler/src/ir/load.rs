//! Sequences that come from files, as constants.

use super::{Scalar, tensor::Ty};
use crate::front::typed::tree::Constant;
use ein_ir::{Shape, Type};
use runtime::input::{
    IntWidth,
    sequence::{self, SequenceError},
};
use std::path::Path;

/// The sequence in a file, by its type in the source, for a program of these numbers.
///
/// # Errors
/// The file cannot be read, or does not fit the type.
pub fn sequence_from_file(
    path: &Path,
    ty: &Type,
    long_int: bool,
    double: bool,
) -> Result<Constant, SequenceError> {
    let Type::Seq(element, None) = ty else {
        panic!("a value of type {ty} from a file")
    };
    let types = Ty::of(element).scalars();
    let ints = if long_int {
        IntWidth::Bits64
    } else {
        IntWidth::Bits32
    };
    // Scalars by their kind, then as many of them as an element takes.
    let scalars: Vec<Constant> = match types.first() {
        Some(Scalar::Int) => {
            let values = sequence::read_ints(path, types.len(), ints)?;
            values.into_iter().map(Constant::Int).collect()
        }
        Some(Scalar::Bool) => {
            let values = sequence::read_bools(path, types.len())?;
            values.into_iter().map(Constant::Bool).collect()
        }
        _ => {
            let values = sequence::read_reals(path, types.len())?;
            sequence::check_range(path, &values, double)?;
            let real = |x| Constant::Tensor(Shape::SCALAR, vec![x]);
            values.into_iter().map(real).collect()
        }
    };
    let mut scalars = scalars.into_iter().peekable();
    let mut elements = Vec::new();
    while scalars.peek().is_some() {
        elements.push(assemble(element, &mut scalars));
    }
    Ok(Constant::Seq(elements))
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
