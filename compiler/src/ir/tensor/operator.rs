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
    /// Groups of result axes of which the exchange of two changes the sign of a component.
    pub antisymmetry: Vec<Vec<usize>>,
}

impl From<Ein> for Operator {
    fn from(ein: Ein) -> Operator {
        Operator {
            ein,
            symmetry: Vec::new(),
            antisymmetry: Vec::new(),
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

    /// Whether components are known to be equal or opposite to others.
    pub fn has_symmetry(&self) -> bool {
        !(self.symmetry.is_empty() && self.antisymmetry.is_empty())
    }

    /// The index tuple that stands for all components equal or opposite to this one by symmetry, and whether this one is the
    /// opposite; nothing if it is its own opposite, hence zero.
    pub fn representative(&self, index: &[usize]) -> Option<(Vec<usize>, bool)> {
        let mut index = index.to_vec();
        for group in &self.symmetry {
            sort_along(&mut index, group);
        }
        let mut negative = false;
        for group in &self.antisymmetry {
            let pairs = || (1..group.len()).flat_map(|b| (0..b).map(move |a| (group[a], group[b])));
            if pairs().any(|(a, b)| index[a] == index[b]) {
                return None;
            }
            negative ^= pairs().filter(|&(a, b)| index[a] > index[b]).count() % 2 == 1;
            sort_along(&mut index, group);
        }
        Some((index, negative))
    }

    /// Whether a text is that of an EIN operator.
    pub fn is_written(text: &str) -> bool {
        text.ends_with('⟩')
    }
}

/// Sorts the numbers in these places.
fn sort_along(numbers: &mut [usize], places: &[usize]) {
    let mut sorted: Vec<usize> = places.iter().map(|&place| numbers[place]).collect();
    sorted.sort_unstable();
    for (&place, number) in places.iter().zip(sorted) {
        numbers[place] = number;
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = self.symmetry.iter().map(|group| (SYMMETRIC, group));
        let opposite = self.antisymmetry.iter().map(|group| (ANTISYMMETRIC, group));
        for (word, group) in groups.chain(opposite) {
            let axes: Vec<String> = group.iter().map(usize::to_string).collect();
            write!(f, "{word}{} ", axes.join("~"))?;
        }
        write!(f, "ein ⟨{}⟩", self.ein)
    }
}

impl FromStr for Operator {
    type Err = String;

    fn from_str(text: &str) -> Result<Operator, String> {
        let bad = || format!("cannot read operator `{text}`");
        let mut rest = text;
        let mut groups_after = |word: &str| -> Result<Vec<Vec<usize>>, String> {
            let mut groups = Vec::new();
            while let Some(after) = rest.strip_prefix(word) {
                let (group, after) = after.split_once(' ').ok_or_else(bad)?;
                let axes = group.split('~').map(|a| a.parse().map_err(|_| bad()));
                groups.push(axes.collect::<Result<_, _>>()?);
                rest = after;
            }
            Ok(groups)
        };
        let symmetry = groups_after(SYMMETRIC)?;
        let antisymmetry = groups_after(ANTISYMMETRIC)?;
        let inner = rest
            .strip_prefix("ein ⟨")
            .and_then(|r| r.strip_suffix('⟩'))
            .ok_or_else(bad)?;
        Ok(Operator {
            ein: inner.parse::<Ein>().map_err(|e| e.to_string())?,
            symmetry,
            antisymmetry,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_found_by_their_symmetry() {
        let text = "symmetric 0~2 antisymmetric 1~3~4 ein ⟨λ(a:[3,3,3,3,3]) i:3 j:3 k:3 l:3 m:3 | a[i j k l m]⟩";
        let operator: Operator = text.parse().expect("an operator");
        assert_eq!(operator.to_string(), text);
        let of = |index: [usize; 5]| operator.representative(&index);
        assert_eq!(of([2, 0, 1, 1, 2]), Some((vec![1, 0, 2, 1, 2], false)));
        assert_eq!(of([0, 1, 0, 0, 2]), Some((vec![0, 0, 0, 1, 2], true)));
        assert_eq!(of([0, 1, 0, 2, 0]), Some((vec![0, 0, 0, 1, 2], false)));
        assert_eq!(of([0, 2, 0, 1, 2]), None);
    }
}
