//! Regions that only read components of vectors which are written by their components: `[a, b, c][1]` is `b`.
//!
//! The engines come to the same, but only after they have looked at every component of every vector.

use ein_ir::{
    Ein, Index, Param, Term,
    region::{Region, ValueId},
};

/// What a value of such a region is.
enum Known {
    /// An input.
    Input(ValueId),
    /// A vector of these inputs.
    Vector(Vec<ValueId>),
}

/// The normal form of a region each of whose roots is a component that is an input; nothing for other regions.
pub(crate) fn read_components(region: &Region) -> Option<Region> {
    let inputs = (0..region.inputs.len()).map(|n| Known::Input(ValueId(n)));
    let mut values: Vec<Known> = inputs.collect();
    for def in &region.defs {
        let known = match component(&def.op) {
            Some(component) => match &values[def.args[0].0] {
                Known::Vector(parts) => Known::Input(parts[component]),
                Known::Input(_) => return None,
            },
            None => {
                let input = |&param: &usize| as_input(&values[def.args[param].0]);
                let parts = components(&def.op)?;
                Known::Vector(parts.iter().map(input).collect::<Option<_>>()?)
            }
        };
        values.push(known);
    }
    let roots = region.roots.iter().map(|root| as_input(&values[root.0]));
    Some(Region {
        inputs: region.inputs.clone(),
        defs: Vec::new(),
        roots: roots.collect::<Option<_>>()?,
    })
}

fn as_input(known: &Known) -> Option<ValueId> {
    match known {
        Known::Input(input) => Some(*input),
        Known::Vector(_) => None,
    }
}

/// The component of a vector that an operator reads, if it does nothing else.
fn component(op: &Ein) -> Option<usize> {
    match &op.body {
        Term::Access { param: 0, indices } if op.axes.is_empty() => match indices[..] {
            [Index::Const(component)] => Some(component),
            _ => None,
        },
        _ => None,
    }
}

/// The parameters that are the components of the vector an operator gives, in order.
fn components(op: &Ein) -> Option<Vec<usize>> {
    let (Term::Add(terms), [extent]) = (&op.body, &op.axes[..]) else {
        return None;
    };
    let mut parts: Vec<Option<usize>> = vec![None; *extent];
    for term in terms {
        let (param, place) = placed(term)?;
        let is_first = parts.get_mut(place)?.replace(param).is_none();
        if !is_first || !matches!(op.params[param], Param::Tensor(_)) {
            return None;
        }
    }
    parts.into_iter().collect()
}

/// The scalar parameter and the component at which a term has it: `a δ[1 i]`.
fn placed(term: &Term) -> Option<(usize, usize)> {
    let Term::Mul(factors) = term else {
        return None;
    };
    match &factors[..] {
        [
            Term::Access { param, indices },
            Term::Delta(Index::Const(place), Index::Axis(0)),
        ] if indices.is_empty() => Some((*param, *place)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The roots of what a region comes to.
    fn roots(text: &str) -> Option<Vec<usize>> {
        let region: Region = text.parse().expect("a region");
        let read = read_components(&region)?;
        assert!(read.defs.is_empty());
        Some(read.roots.iter().map(|root| root.0).collect())
    }

    const INPUTS: &str = "input v0: []\ninput v1: []\ninput v2: [2]\n";

    #[test]
    fn a_component_is_what_the_vector_has_there() {
        let text = "v3 = (λ(a:[], b:[]) i:2 | a δ[1 i] + b δ[0 i])(v0, v1)
            v4 = (λ(a:[2]) | a[0])(v3)
            v5 = (λ(a:[], b:[]) i:2 | a δ[0 i] + b δ[1 i])(v4, v4)
            v6 = (λ(a:[2]) | a[1])(v5)
            return v4, v6, v0\n";
        assert_eq!(roots(&format!("{INPUTS}{text}")), Some(vec![1, 1, 0]));
    }

    #[test]
    fn other_regions_are_left_to_the_engines() {
        let others = [
            "v3 = (λ(a:[2]) | a[0])(v2)\nreturn v3\n",
            "v3 = (λ(a:[], b:[]) i:2 | a δ[0 i] + b δ[1 i])(v0, v1)\nreturn v3\n",
            "v3 = (λ(a:[], b:[]) i:2 | a δ[0 i] + b δ[0 i])(v0, v1)\nv4 = (λ(a:[2]) | a[0])(v3)\nreturn v4\n",
            "v3 = (λ(a:[], b:[]) i:2 | a δ[0 i] + 2 b δ[1 i])(v0, v1)\nv4 = (λ(a:[2]) | a[1])(v3)\nreturn v4\n",
        ];
        for text in others {
            assert_eq!(roots(&format!("{INPUTS}{text}")), None, "{text}");
        }
    }
}
