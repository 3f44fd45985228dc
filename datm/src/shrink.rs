//! Shrinking: from a failing case to a smaller one that fails in the same way.
//!
//! Deterministic: candidates are tried in a fixed order and the first that fails with the same (stage, cause) is taken,
//! until none does. Every candidate is a label of its own, and every step lowers a weight, so it ends.

use crate::border::{Border, CONTINUED};
use crate::compare::{FailedAt, Verdict};
use crate::frame::{Coefficients, DataKind, Orientation};
use crate::kernel::KERNELS;
use crate::label::Case;
use crate::program::{FormChoice, PROGRAM_FORMS};
use crate::tree::{Rules, Tree};
use crate::types::{Shape, Type, argument_shapes};

/// What failures are grouped by.
pub type ClusterKey = (FailedAt, String);

/// The key of a failure.
pub fn cluster_key(verdict: &Verdict) -> Option<ClusterKey> {
    match verdict {
        Verdict::Fail { at, cause, .. } => Some((*at, cause.clone())),
        Verdict::Pass { .. } | Verdict::Vacuous { .. } => None,
    }
}

/// The smallest case found that fails like the given one, and how many cases were tried; none if it does not fail.
pub fn shrink(case: &Case, verdict_of: &dyn Fn(&Case) -> Verdict) -> Option<(Case, usize)> {
    let key = cluster_key(&verdict_of(case))?;
    let (mut smallest, mut tried) = (case.clone(), 1);
    loop {
        let next = candidates(&smallest).into_iter().find(|candidate| {
            tried += 1;
            cluster_key(&verdict_of(candidate)).as_ref() == Some(&key)
        });
        match next {
            Some(case) => smallest = case,
            None => return Some((smallest, tried)),
        }
    }
}

/// Operators, fields, dimensions, components, then settings: what shrinking lowers, most important first.
fn weight(case: &Case) -> [usize; 11] {
    let variables = case.tree.variables();
    let sum = |measure: fn(&Type) -> usize| variables.iter().map(measure).sum();
    let settings = &case.settings;
    let kernels: usize = settings
        .kernels
        .iter()
        .flatten()
        .map(|k| k.support() * 10 + usize::from(k.continuity))
        .sum();
    [
        case.tree.operators(),
        sum(|ty| usize::from(ty.is_field())),
        variables.len(),
        sum(|ty| usize::from(ty.dim)),
        sum(|ty| ty.shape.components()),
        match settings.program {
            FormChoice::PLAIN => 0,
            FormChoice::One(_) => 1,
            FormChoice::Any => 2,
        },
        usize::from(settings.coefficients == Coefficients::Full),
        match settings.grid {
            Orientation::Axis => 0,
            Orientation::Rotated => 1,
            Orientation::Sheared => 2,
            Orientation::Any => 3,
        },
        kernels * 10
            + usize::from(settings.degree)
            + match settings.data {
                DataKind::Polynomial => 0,
                DataKind::Image | DataKind::Formula => 5,
                DataKind::Mesh(_) => 6,
            }
            + match settings.border {
                Border::Plain => 0,
                Border::Any => 2,
                _ => 1,
            },
        sum(|ty| usize::from(ty.continuity)),
        settings.positions,
    ]
}

/// Smaller cases, those that remove most first.
fn candidates(case: &Case) -> Vec<Case> {
    let with_tree = |tree: Tree| Case {
        tree: tree.numbered(),
        settings: case.settings.clone(),
    };
    let mut found: Vec<Case> = Vec::new();
    found.extend(subtrees(&case.tree).into_iter().map(with_tree));
    found.extend(cut(&case.tree).into_iter().map(with_tree));
    found.extend(retyped(&case.tree).into_iter().map(with_tree));
    found.extend(simpler_settings(case));
    let limit = weight(case);
    found.retain(|candidate| {
        let computed = matches!(candidate.tree, Tree::Apply(..));
        computed && weight(candidate) < limit && candidate.tree.type_of(Rules::Language).is_some()
    });
    found.dedup();
    found
}

/// All proper subtrees, largest first.
fn subtrees(tree: &Tree) -> Vec<Tree> {
    let Tree::Apply(_, arguments) = tree else {
        return Vec::new();
    };
    let mut found: Vec<Tree> = arguments.to_vec();
    found.extend(arguments.iter().flat_map(subtrees));
    found.sort_by_key(|tree| std::cmp::Reverse(tree.operators()));
    found
}

/// The tree with one computed argument replaced: by a variable of its type, or by one of its own arguments.
fn cut(tree: &Tree) -> Vec<Tree> {
    let Tree::Apply(operator, arguments) = tree else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let fresh = tree.variables().len() + 1000;
    for (place, argument) in arguments.iter().enumerate() {
        let mut replace = |part: Tree| {
            let mut parts = arguments.clone();
            parts[place] = part;
            found.push(Tree::Apply(operator, parts));
        };
        if let Tree::Apply(_, inner) = argument {
            let ty = argument.type_of(Rules::Language);
            let is_argument = |ty: &Type| !ty.probed && argument_shapes().contains(&ty.shape);
            if let Some(ty) = ty.filter(is_argument) {
                replace(Tree::variable(ty, fresh));
            }
            inner.iter().cloned().for_each(&mut replace);
        }
        cut(argument).into_iter().for_each(&mut replace);
    }
    found
}

/// The tree with other types of variables: fields become tensors, dimensions and axes become smaller.
fn retyped(tree: &Tree) -> Vec<Tree> {
    let count = tree.variables().len();
    let mut found = Vec::new();
    for number in 0..count {
        let as_tensor = |ty: Type| Some(Type::tensor(ty.shape));
        found.extend(map_types(tree, &|ty, n| {
            if n == number { as_tensor(ty) } else { Some(ty) }
        }));
    }
    let smaller = |from: u8, to: u8| {
        move |ty: Type| -> Option<Type> {
            let axes: Vec<u8> = ty
                .shape
                .extents()
                .iter()
                .map(|&n| if n == from { to } else { n })
                .collect();
            Some(ty.with_shape(Shape::new(&axes)?))
        }
    };
    let lower = |to: u8| {
        move |ty: Type| {
            Some(if ty.dim > to {
                Type { dim: to, ..ty }
            } else {
                ty
            })
        }
    };
    for to in [1, 2] {
        found.extend(map_types(tree, &|ty, _| lower(to)(ty)));
        found.extend(map_types(tree, &|ty, _| smaller(3, 2)(lower(to)(ty)?)));
    }
    for (from, to) in [(3, 2), (4, 2), (4, 3)] {
        found.extend(map_types(tree, &|ty, _| smaller(from, to)(ty)));
        for number in 0..count {
            found.extend(map_types(tree, &|ty, n| {
                if n == number {
                    smaller(from, to)(ty)
                } else {
                    Some(ty)
                }
            }));
        }
    }
    let scalar = |ty: Type| Some(ty.with_shape(Shape::SCALAR));
    found.extend(map_types(tree, &|ty, _| scalar(ty)));
    for number in 0..count {
        found.extend(map_types(tree, &|ty, n| {
            if n == number { scalar(ty) } else { Some(ty) }
        }));
    }
    found
}

fn map_types(tree: &Tree, change: &dyn Fn(Type, usize) -> Option<Type>) -> Option<Tree> {
    let mut possible = true;
    let changed = tree.map_variables(&mut |ty, number| match change(ty, number) {
        Some(ty) => Tree::variable(ty, number),
        None => {
            possible = false;
            Tree::variable(ty, number)
        }
    });
    possible.then_some(changed)
}

/// The case with one setting made simpler.
fn simpler_settings(case: &Case) -> Vec<Case> {
    let mut found = Vec::new();
    let mut change = |edit: &dyn Fn(&mut Case)| {
        let mut simpler = case.clone();
        edit(&mut simpler);
        found.push(simpler);
    };
    for form in PROGRAM_FORMS {
        change(&|case| case.settings.program = FormChoice::One(form));
    }
    change(&|case| case.settings.coefficients = Coefficients::Unit);
    for grid in [
        Orientation::Axis,
        Orientation::Rotated,
        Orientation::Sheared,
    ] {
        change(&|case| case.settings.grid = grid);
    }
    change(&|case| case.settings.border = Border::Plain);
    for border in CONTINUED {
        change(&|case| case.settings.border = border);
    }
    change(&|case| {
        case.settings.border = Border::Plain;
        case.settings.data = DataKind::Polynomial;
    });
    for kernel in KERNELS {
        change(&|case| {
            case.settings.kernels = vec![vec![kernel]];
            let capped = |ty: Type, number| {
                Tree::variable(
                    Type {
                        continuity: ty.continuity.min(kernel.continuity),
                        ..ty
                    },
                    number,
                )
            };
            case.tree = case
                .tree
                .map_variables(&mut |ty, number| capped(ty, number));
        });
    }
    for degree in 0..case.settings.degree {
        change(&|case| case.settings.degree = degree);
    }
    change(&|case| case.settings.positions = 1);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(condition: impl Fn(&Case) -> bool) -> impl Fn(&Case) -> Verdict {
        move |case| {
            if condition(case) {
                Verdict::Fail {
                    at: FailedAt::Value,
                    cause: "wrong value".to_string(),
                    message: String::new(),
                }
            } else {
                Verdict::Pass {
                    ratio: 0.0,
                    looseness: 0.0,
                    rules: Vec::new(),
                }
            }
        }
    }

    #[track_caller]
    fn check(label: &str, condition: impl Fn(&Case) -> bool, wanted: &str) {
        let case: Case = label.parse().expect(label);
        let (small, _) = shrink(&case, &failing(condition)).expect("a failing case");
        assert_eq!(small.tree.to_string(), wanted);
        assert_eq!(small.to_string().parse::<Case>(), Ok(small));
    }

    #[test]
    fn a_fault_of_one_operator_shrinks_to_that_operator() {
        let uses =
            |name: &'static str| move |case: &Case| case.tree.operator_names().contains(&name);
        check(
            "add(trace(outer(F3#4[3],F3#4[3])),F3#4[])",
            uses("trace"),
            "trace(T[2,2])",
        );
        check("sin(det(mul(T[],F2#4[3,3])))", uses("det"), "det(T[2,2])");
        check(
            "inner(grad(sin(F3#4[])),T[3])",
            uses("grad"),
            "grad(F1#1[])",
        );
    }

    #[test]
    fn a_fault_of_a_pair_keeps_the_pair() {
        let pair = |case: &Case| {
            case.tree
                .operator_pairs()
                .contains(&("transpose", "jacobian"))
        };
        check(
            "inner(transpose(jacobian(neg(F3#4[3]))),T[3])",
            pair,
            "transpose(jacobian(F2#1[2]))",
        );
    }

    #[test]
    fn a_case_that_passes_is_not_shrunk() {
        let case: Case = "neg(T[])".parse().expect("a label");
        assert!(shrink(&case, &failing(|_| false)).is_none());
    }
}
