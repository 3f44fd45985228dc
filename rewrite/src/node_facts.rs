//! The facts about a class that follow from one of its nodes.

use crate::{
    class::{Facts, Leaf, normal_size, pair},
    mutants,
    node::{Extents, Function, Node, Op, Slots, Spec},
    numbers::Power,
    product::{position_shape, with_derivative_axis},
    sparsity::{Contributions, Zeros, is_sparse, vanishes},
};
use egg::Id;
use ein_ir::{Eigen, Rational};
use num_traits::Signed;
use smallvec::SmallVec;

/// The facts that follow from one node, but for the symmetries that a contraction has by its structure: they are found
/// by [`crate::symmetry::symmetries_of`] and added by [`Facts::learn`].
pub(crate) fn facts_of<'a>(node: &Node, facts: impl Fn(Id) -> &'a Facts + Copy) -> Facts {
    let child = |k: usize| facts(node.children[k]);
    let mut result = match &node.op {
        Op::Contract(spec) => of_contraction(spec, &node.children, facts),
        Op::Sum(coefficients) => of_sum(coefficients, &node.children, facts),
        Op::Apply(function) => Facts {
            nonnegative: match function {
                Function::Elementary(function) => function.def().nonnegative,
                Function::Power(power) => power.is_even() || !power.is_integer(),
            },
            ..by_components(&node.children, facts)
        },
        Op::Cond(_) => {
            let sides = &node.children[2..];
            Facts {
                zero: sides.iter().all(|&side| facts(side).zero),
                zeros: common_zeros(&child(2).shape, sides, facts),
                nonnegative: sides.iter().all(|&side| facts(side).nonnegative),
                shape: child(2).shape.clone(),
                ..by_components(&node.children, facts)
            }
        }
        Op::Eigen(part) => Facts {
            dim: child(0).dim,
            symmetric: match part {
                Eigen::Values | Eigen::Vectors => 0,
                Eigen::Resolvents => pair(1, 2),
            },
            ..Facts::tensor(Extents::from_elem(child(0).shape[0], part.order()))
        },
        Op::Inverse => Facts {
            dim: child(0).dim,
            symmetric: child(0).symmetric,
            inverse: Some(node.children[0]),
            ..Facts::tensor(child(0).shape.clone())
        },
        Op::Deriv { dim } => of_derivative(child(0), *dim),
        Op::Probe => of_probe(child(0), child(1)),
        Op::Tuple => Facts::tensor(Extents::new()),
        leaf @ (Op::One | Op::Zero(_) | Op::Tensor { .. } | Op::Position { .. }) => of_leaf(leaf),
        leaf @ (Op::Delta(_) | Op::Epsilon(_) | Op::Field { .. }) => of_leaf(leaf),
    };
    result.size = normal_size(node, facts);
    result.reconcile_zeros();
    result
}

/// The dimension of what depends on all of these classes.
fn dimension<'a>(children: &[Id], facts: impl Fn(Id) -> &'a Facts) -> u8 {
    let dims = children.iter().map(|&child| facts(child).dim);
    dims.max().unwrap_or(0)
}

/// Facts of a class with the shape of the first one that is computed component by component from all of them.
fn by_components<'a>(children: &[Id], facts: impl Fn(Id) -> &'a Facts + Copy) -> Facts {
    Facts {
        dim: dimension(children, facts),
        symmetric: children.iter().fold(!0, |all, &c| all & facts(c).symmetric),
        ..Facts::tensor(facts(children[0]).shape.clone())
    }
}

/// Facts of a node without children.
fn of_leaf(op: &Op) -> Facts {
    let mut result = Facts::tensor(Extents::new());
    match op {
        Op::One => {
            result.leaf = Leaf::One;
            result.constant = true;
            result.nonnegative = true;
        }
        Op::Zero(shape) => {
            result.shape = shape.clone();
            result.zero = true;
            result.constant = true;
            result.nonnegative = true;
        }
        Op::Tensor { shape, .. } => result.shape = shape.clone(),
        Op::Position { dim } => {
            result.shape = position_shape(*dim);
            result.dim = *dim;
            result.leaf = Leaf::Position;
        }
        Op::Delta(n) => {
            result.shape = [*n; 2].into_iter().collect();
            result.leaf = Leaf::Delta;
            result.constant = true;
            result.symmetric = pair(0, 1);
        }
        Op::Epsilon(n) => {
            let order = *n as usize;
            result.shape = std::iter::repeat_n(*n, order).collect();
            result.leaf = Leaf::Epsilon;
            result.constant = true;
            for j in 0..order {
                (0..j).for_each(|i| result.antisymmetric |= pair(i, j));
            }
        }
        Op::Field {
            dim, shape, order, ..
        } => {
            result.shape = shape.clone();
            result.dim = *dim;
            result.field = true;
            if *dim > 1 {
                let derivatives = std::iter::repeat_n(u32::from(*dim), (*order).into());
                result.shape.extend(derivatives);
                result.derivatives = *order;
                result.mark_last_axes_symmetric(*order);
            }
        }
        other => unreachable!("{other:?} has children"),
    }
    result
}

fn of_contraction<'a>(
    spec: &Spec,
    children: &[Id],
    facts: impl Fn(Id) -> &'a Facts + Copy,
) -> Facts {
    let operands = || spec.operands.iter().zip(children);
    let indexed = || operands().filter(|((slots, _), _)| !slots.is_empty());
    let mut result = Facts::tensor(spec.extents[..spec.results].into());
    result.dim = dimension(children, facts);
    result.zero = operands().any(|((_, power), &child)| facts(child).zero && power.is_positive());
    result.constant =
        operands().all(|((_, power), &child)| facts(child).constant && power.is_one());
    if indexed().any(|(_, &child)| is_sparse(facts(child))) {
        let contributions = Contributions::new(
            spec.results,
            &spec.extents,
            indexed().map(|((slots, _), &child)| (facts(child), slots)),
        );
        result.zeros = Zeros::of(&result.shape, |index| contributions.at(index) == 0);
    }
    if spec.results == 0 {
        result.nonnegative = is_nonnegative(spec, children, facts);
    }
    result
}

fn of_sum<'a>(
    coefficients: &[Rational],
    children: &[Id],
    facts: impl Fn(Id) -> &'a Facts + Copy,
) -> Facts {
    let mut result = by_components(children, facts);
    result.symmetric = mutants::addends(children)
        .iter()
        .fold(!0, |all, &c| all & facts(c).symmetric);
    result.antisymmetric = children
        .iter()
        .fold(!0, |all, &c| all & facts(c).antisymmetric);
    result.zero = children.iter().all(|&c| facts(c).zero);
    result.zeros = common_zeros(&result.shape, children, facts);
    result.constant = children.iter().all(|&c| facts(c).constant);
    result.nonnegative = (coefficients.iter().zip(children))
        .all(|(coefficient, &c)| !coefficient.is_negative() && facts(c).nonnegative);
    if let [coefficient] = coefficients[..] {
        result.scale = Some((coefficient, children[0]));
    }
    result
}

fn of_derivative(field: &Facts, dim: u8) -> Facts {
    let mut result = Facts::tensor(with_derivative_axis(&field.shape, dim));
    result.zero = field.dim == 0 || field.zero;
    result.dim = if result.zero { 0 } else { field.dim };
    result.symmetric = field.symmetric;
    result.antisymmetric = field.antisymmetric;
    if dim > 1 {
        result.derivatives = field.derivatives + 1;
        result.mark_last_axes_symmetric(result.derivatives);
    }
    result
}

fn of_probe(field: &Facts, position: &Facts) -> Facts {
    Facts {
        dim: if field.dim == 0 { 0 } else { position.dim },
        zero: field.zero,
        zeros: field.zeros,
        symmetric: field.symmetric,
        antisymmetric: field.antisymmetric,
        nonnegative: field.nonnegative,
        ..Facts::tensor(field.shape.clone())
    }
}

/// The components that are zero in all of these classes.
fn common_zeros<'a>(shape: &Extents, children: &[Id], facts: impl Fn(Id) -> &'a Facts) -> Zeros {
    if !children.iter().all(|&child| is_sparse(facts(child))) {
        return Zeros::default();
    }
    Zeros::of(shape, |index| {
        children.iter().all(|&child| vanishes(facts(child), index))
    })
}

/// Even powers, pairs of equal factors and factors that are known to be nonnegative make a scalar nonnegative.
fn is_nonnegative<'a>(spec: &Spec, children: &[Id], facts: impl Fn(Id) -> &'a Facts) -> bool {
    let operands = children.iter().zip(&spec.operands);
    let mut factors: SmallVec<[(Id, &Slots, Power); 8]> = operands
        .map(|(&id, (slots, power))| (id, slots, *power))
        .collect();
    factors.sort_unstable();
    factors
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .all(|equal| {
            let total = equal
                .iter()
                .try_fold(Power::integer(0), |sum, factor| sum.plus(factor.2));
            let (id, slots, _) = equal[0];
            let even = total.is_some_and(Power::is_even);
            even || slots.is_empty()
                && (facts(id).nonnegative || total.is_some_and(|power| !power.is_integer()))
        })
}
