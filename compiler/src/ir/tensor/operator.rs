//! EIN operators as operations: the operator and the facts about its result.

use super::Ty;
use ein_ir::{Ein, Groups, Param, Symmetry};
use std::{fmt, str::FromStr};

/// An EIN operator with the symmetry of its result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operator {
    /// The operator.
    pub ein: Ein,
    /// Which components of the result are equal or opposite to others.
    pub symmetry: Symmetry,
}

impl From<Ein> for Operator {
    fn from(ein: Ein) -> Operator {
        Operator {
            ein,
            symmetry: Symmetry::default(),
        }
    }
}

/// What stands before groups of axes in the text of an operator.
const SYMMETRIC: &str = "symmetric ";
const ANTISYMMETRIC: &str = "antisymmetric ";

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

    /// Whether a text is that of an EIN operator.
    pub fn is_written(text: &str) -> bool {
        text.ends_with('⟩')
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Symmetry {
            symmetric,
            antisymmetric,
        } = &self.symmetry;
        for (word, groups) in [(SYMMETRIC, symmetric), (ANTISYMMETRIC, antisymmetric)] {
            for group in groups {
                let axes: Vec<String> = group.iter().map(usize::to_string).collect();
                write!(f, "{word}{} ", axes.join("~"))?;
            }
        }
        write!(f, "ein ⟨{}⟩", self.ein)
    }
}

impl FromStr for Operator {
    type Err = String;

    fn from_str(text: &str) -> Result<Operator, String> {
        let bad = || format!("cannot read operator `{text}`");
        let mut rest = text;
        let mut groups_after = |word: &str| -> Result<Groups, String> {
            let mut groups = Groups::new();
            while let Some(after) = rest.strip_prefix(word) {
                let (group, after) = after.split_once(' ').ok_or_else(bad)?;
                let axes = group.split('~').map(|a| a.parse().map_err(|_| bad()));
                groups.push(axes.collect::<Result<_, _>>()?);
                rest = after;
            }
            Ok(groups)
        };
        let symmetry = Symmetry {
            symmetric: groups_after(SYMMETRIC)?,
            antisymmetric: groups_after(ANTISYMMETRIC)?,
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetries_are_read_as_they_are_written() {
        let text = "symmetric 0~2 antisymmetric 1~3~4 ein ⟨λ(a:[3,3,3,3,3]) i:3 j:3 k:3 l:3 m:3 | a[i j k l m]⟩";
        let operator: Operator = text.parse().expect("an operator");
        assert_eq!(operator.to_string(), text);
        assert_eq!(operator.symmetry.symmetric, [[0, 2]]);
        assert_eq!(operator.symmetry.antisymmetric, [[1, 3, 4]]);
    }
}
