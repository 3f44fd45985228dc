//! The normal form, as a check that knows nothing of how it was reached.
//!
//! Every definition is one operation deep: a probe of a whole derivative of a leaf field, a contraction, a rational
//! linear combination, an elementary function, a part of an eigensystem or a conditional, over accesses to values defined before. No derivative
//! and no probe stands anywhere else, no two definitions probe the same thing, and in contractions no δ or ε is left
//! that the index rules of ein could remove.

use ein_ir::{
    Ein, Index, Param, Term,
    region::{Def, Region},
};

/// Everything in which a region is not in normal form, as messages.
pub fn verify_normal_form(region: &Region) -> Vec<String> {
    let mut violations = Vec::new();
    let inputs = region.inputs.len();
    let mut probes: Vec<&Def> = Vec::new();
    for (k, def) in region.defs.iter().enumerate() {
        let mut report =
            |message: String| violations.push(format!("definition v{}: {message}", inputs + k));
        if def.op.params.len() != def.args.len() {
            report(format!(
                "{} parameters but {} arguments",
                def.op.params.len(),
                def.args.len()
            ));
            continue;
        }
        for (param, arg) in def.op.params.iter().zip(&def.args) {
            match value_kind(region, arg.0) {
                _ if arg.0 >= inputs + k => {
                    report(format!("argument v{} is not defined before", arg.0))
                }
                Some(kind) if kind != *param => report(format!(
                    "parameter for v{} is {param:?}, not {kind:?}",
                    arg.0
                )),
                _ => {}
            }
        }
        if let Some(problem) = operator_problem(&def.op) {
            report(problem);
        }
        if matches!(def.op.body, Term::Probe { .. }) {
            if probes.contains(&def) {
                report("the same probe occurs twice".to_string());
            }
            probes.push(def);
        }
    }
    for root in &region.roots {
        match value_kind(region, root.0) {
            None => violations.push(format!("root v{} does not exist", root.0)),
            Some(Param::Field { .. }) => {
                violations.push(format!("root v{} is a field, not a tensor", root.0))
            }
            Some(Param::Tensor(_)) => {}
        }
    }
    violations
}

/// What a value is; definitions of a normal form are tensors.
fn value_kind(region: &Region, value: usize) -> Option<Param> {
    match region.inputs.get(value) {
        Some(input) => Some(input.clone()),
        None => {
            let def = region.defs.get(value - region.inputs.len())?;
            Some(Param::Tensor(def.op.axes[..].into()))
        }
    }
}

/// The error in an operator, if any.
fn operator_problem(op: &Ein) -> Option<String> {
    match &op.body {
        Term::Probe { field, at } => probe_problem(op, field, at),
        Term::Apply(_, arguments) => arguments
            .iter()
            .find_map(|argument| leaf_problem(op, argument)),
        Term::Eigen { param, indices, .. } => {
            let is_whole = (0..op.axes.len())
                .map(Index::Axis)
                .eq(indices.iter().copied());
            let is_tensor = matches!(op.params.get(*param), Some(Param::Tensor(_)));
            (!is_whole || !is_tensor)
                .then(|| "a part of an eigensystem, or one of no tensor".to_string())
        }
        Term::Cond {
            sides,
            then,
            otherwise,
            ..
        } => [&sides[0], &sides[1], then, otherwise]
            .into_iter()
            .find_map(|part| leaf_problem(op, part)),
        Term::Add(_) | Term::Sub(..) | Term::Neg(_) => combination_problem(op, &op.body),
        Term::Div(a, b) => factors_problem(op, a).or_else(|| factors_problem(op, b)),
        Term::Mul(_) | Term::Sum { .. } | Term::Pow(..) => contraction_problem(op),
        Term::Const(_) | Term::Access { .. } | Term::Delta(..) | Term::Epsilon(_) => {
            leaf_problem(op, &op.body)
        }
        Term::Position { .. } | Term::Deriv { .. } => {
            Some("a field stands outside of a probe".to_string())
        }
    }
}

/// A probe of the whole m-th derivative of a leaf field at one position value.
fn probe_problem(op: &Ein, field: &Term, at: &[Term]) -> Option<String> {
    let mut indices = Vec::new();
    let mut inner = field;
    while let Term::Deriv { index, body } = inner {
        indices.insert(0, *index);
        inner = body;
    }
    let Term::Access {
        param,
        indices: axes,
    } = inner
    else {
        return Some("something else than a leaf field is probed".to_string());
    };
    let Some(Param::Field { dim, shape }) = op.params.get(*param) else {
        return Some("a tensor is probed".to_string());
    };
    let (dim, order) = (*dim, shape.order());
    let derivatives: Vec<Index> = if dim > 1 {
        (0..indices.len()).map(|k| Index::Axis(order + k)).collect()
    } else {
        vec![Index::Const(0); indices.len()]
    };
    let whole: Vec<Index> = (0..order).map(Index::Axis).collect();
    if *axes != whole || indices != derivatives {
        return Some("a part of a derivative is probed, not the whole".to_string());
    }
    let mut extents = shape.dims().to_vec();
    if dim > 1 {
        extents.extend(std::iter::repeat_n(dim, indices.len()));
    }
    if op.axes != extents {
        return Some(format!("the axes are {:?}, not {extents:?}", op.axes));
    }
    let coordinate = |component: usize| {
        if dim > 1 {
            vec![Index::Const(component)]
        } else {
            Vec::new()
        }
    };
    let position = at.iter().enumerate().map(|(component, term)| match term {
        Term::Access { param, indices } if *indices == coordinate(component) => Some(*param),
        _ => None,
    });
    let params: Vec<Option<usize>> = position.collect();
    let is_one_value = params.len() == dim
        && params[0].is_some()
        && params.iter().all(|param| *param == params[0]);
    (!is_one_value).then(|| "the position is not one value".to_string())
}

/// An access, a constant, δ or ε, with no summation index.
fn leaf_problem(op: &Ein, term: &Term) -> Option<String> {
    let indices = leaf_indices(op, term)?;
    match indices {
        Ok(indices) if indices.iter().any(|index| matches!(index, Index::Bound(_))) => {
            Some("a summation index is not bound".to_string())
        }
        Ok(_) => None,
        Err(problem) => Some(problem),
    }
}

/// The indices of a leaf; nothing for constants.
fn leaf_indices(op: &Ein, term: &Term) -> Option<Result<Vec<Index>, String>> {
    match term {
        Term::Const(_) => None,
        Term::Access { param, indices } => Some(match op.params.get(*param) {
            Some(Param::Tensor(shape)) if shape.order() == indices.len() => Ok(indices.clone()),
            Some(Param::Tensor(_)) => Err("an access has the wrong number of indices".to_string()),
            Some(Param::Field { .. }) => Err("a field stands outside of a probe".to_string()),
            None => Err("an access names no parameter".to_string()),
        }),
        Term::Delta(a, b) => Some(Ok(vec![*a, *b])),
        Term::Epsilon(indices) => Some(Ok(indices.clone())),
        _ => Some(Err("more than one operation in a definition".to_string())),
    }
}

/// Sums and differences of multiples of leaves.
fn combination_problem(op: &Ein, term: &Term) -> Option<String> {
    match term {
        Term::Add(terms) => terms.iter().find_map(|term| combination_problem(op, term)),
        Term::Sub(a, b) => combination_problem(op, a).or_else(|| combination_problem(op, b)),
        Term::Neg(body) => combination_problem(op, body),
        Term::Mul(factors) if matches!(factors[..], [Term::Const(_), _]) => {
            leaf_problem(op, &factors[1])
        }
        Term::Div(body, by) if matches!(**by, Term::Const(_)) => leaf_problem(op, body),
        _ => leaf_problem(op, term),
    }
}

/// Products of powers of leaves.
fn factors_problem(op: &Ein, term: &Term) -> Option<String> {
    match term {
        Term::Mul(factors) => factors
            .iter()
            .find_map(|factor| factors_problem(op, factor)),
        Term::Pow(base, _) => leaf_problem(op, base),
        _ => leaf_problem(op, term),
    }
}

/// Σ of a product of leaves without an index symbol that could be removed.
fn contraction_problem(op: &Ein) -> Option<String> {
    let mut binders = Vec::new();
    let mut body = &op.body;
    while let Term::Sum {
        binder,
        body: inner,
        ..
    } = body
    {
        binders.push(Index::Bound(*binder));
        body = inner;
    }
    let single = [body.clone()];
    let factors = match body {
        Term::Mul(factors) => factors.as_slice(),
        _ => single.as_slice(),
    };
    let mut epsilons: Vec<Vec<Index>> = Vec::new();
    let mut used: Vec<Index> = Vec::new();
    for factor in factors {
        let leaf = if let Term::Pow(base, _) = factor {
            base
        } else {
            factor
        };
        let indices = match leaf_indices(op, leaf) {
            None => continue,
            Some(Err(problem)) => return Some(problem),
            Some(Ok(indices)) => indices,
        };
        used.extend(&indices);
        match leaf {
            Term::Delta(a, b) if binders.contains(a) || binders.contains(b) || a == b => {
                return Some("a δ is left that can be eliminated".to_string());
            }
            Term::Epsilon(indices) => {
                let shares = |other: &Vec<Index>| {
                    other.len() == indices.len()
                        && (indices.len() == 2 || other.iter().any(|i| indices.contains(i)))
                };
                if epsilons.iter().any(shares) {
                    return Some("a pair of ε is left that can be expanded".to_string());
                }
                if indices.iter().any(|index| matches!(index, Index::Const(_))) {
                    return Some("an ε with a fixed component is left".to_string());
                }
                epsilons.push(indices.clone());
            }
            _ => {}
        }
    }
    if let Some(binder) = binders.iter().find(|binder| !used.contains(binder)) {
        return Some(format!("a sum over {binder:?} has a constant summand"));
    }
    let unbound = used
        .iter()
        .find(|index| matches!(index, Index::Bound(_)) && !binders.contains(index));
    unbound.map(|_| "a summation index is not bound".to_string())
}
