//! EIN operators as operations: the operator and what is known of its result.

use super::Ty;
use ein_ir::{Ein, Param};
use std::{fmt, str::FromStr};

/// An EIN operator with the symmetry of its result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operator {
    /// The operator.
    pub ein: Ein,
    /// Groups of result axes that may be permuted freely without changing a component.
    pub symmetry: Vec<Vec<usize>>,
}

impl From<Ein> for Operator {
    fn from(ein: Ein) -> Operator {
        Operator {
            ein,
            symmetry: Vec::new(),
        }
    }
}

/// What an EIN operator's parameter or result is, as a type.
fn ty_of(param: Param) -> Ty {
    match param {
        Param::Tensor(shape) => Ty::Tensor(shape),
        Param::Field { dim, shape } => Ty::Field { dim, shape },
    }
}

/// Whether a value of a type can be the argument for a parameter.
fn fits(ty: &Ty, param: &Param) -> bool {
    match (ty, param) {
        (Ty::Tensor(own), Param::Tensor(wanted)) => own == wanted,
        (Ty::Field { dim, shape }, Param::Field { dim: d, shape: s }) => dim == d && shape == s,
        _ => false,
    }
}

impl Operator {
    /// The type of the result, or why the arguments do not fit.
    pub fn type_of(&self, args: &[&Ty]) -> Result<Ty, String> {
        let params = &self.ein.params;
        if args.len() == params.len() && args.iter().zip(params).all(|(ty, p)| fits(ty, p)) {
            Ok(ty_of(self.ein.result()))
        } else {
            let wanted: Vec<Ty> = params.iter().cloned().map(ty_of).collect();
            Err(format!("arguments {args:?}, wanted {wanted:?}"))
        }
    }

    /// The index tuple that stands for all components equal to this one by symmetry.
    pub fn representative(&self, index: &[usize]) -> Vec<usize> {
        let mut index = index.to_vec();
        for group in &self.symmetry {
            let mut values: Vec<usize> = group.iter().map(|&axis| index[axis]).collect();
            values.sort_unstable();
            for (&axis, value) in group.iter().zip(values) {
                index[axis] = value;
            }
        }
        index
    }

    /// Whether a text is that of an EIN operator.
    pub fn is_written(text: &str) -> bool {
        text.ends_with('⟩')
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for group in &self.symmetry {
            let axes: Vec<String> = group.iter().map(usize::to_string).collect();
            write!(f, "symmetric {} ", axes.join("~"))?;
        }
        write!(f, "ein ⟨{}⟩", self.ein)
    }
}

impl FromStr for Operator {
    type Err = String;

    fn from_str(text: &str) -> Result<Operator, String> {
        let bad = || format!("cannot read operator `{text}`");
        let mut rest = text;
        let mut symmetry = Vec::new();
        while let Some(after) = rest.strip_prefix("symmetric ") {
            let (group, after) = after.split_once(' ').ok_or_else(bad)?;
            symmetry.push(
                group
                    .split('~')
                    .map(|a| a.parse().map_err(|_| bad()))
                    .collect::<Result<_, _>>()?,
            );
            rest = after;
        }
        let inner = rest
            .strip_prefix("ein ⟨")
            .and_then(|r| r.strip_suffix('⟩'))
            .ok_or_else(bad)?;
        Ok(Operator {
            ein: inner.parse::<Ein>().map_err(|e| e.to_string())?,
            symmetry,
        })
    }
}
