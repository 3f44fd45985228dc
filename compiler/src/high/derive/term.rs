//! The derivative of a term by its parameters: the rules, once more, for derivatives that are not by the position.

use ein_ir::{
    ELEMENTARY, Eigen, Elementary, ElementaryDef, FreshBinders, Index, Rational, Term, ops::Lift,
};

/// The reason why a term has no derivative, in words for messages.
pub(super) type Obstacle = String;

/// How the parameters of a term depend on the variable of the derivative.
pub(super) struct Active<'a> {
    /// For each parameter that depends on it, the parameter that is its derivative.
    pub(super) tangents: &'a [Option<usize>],
    /// The axes of the variable, after those of a parameter.
    pub(super) by: &'a [Index],
}

fn number(n: i128) -> Term {
    Term::Const(Rational::from_integer(n))
}

/// The derivative of a term; none if it is zero.
pub(super) fn derivative(term: &Term, active: &Active<'_>) -> Result<Option<Term>, Obstacle> {
    let d = |term: &Term| derivative(term, active);
    Ok(match term {
        Term::Const(_) | Term::Position { .. } | Term::Delta(..) | Term::Epsilon(_) => None,
        Term::Access { param, indices } => active.tangents[*param].map(|param| Term::Access {
            param,
            indices: indices.iter().chain(active.by).copied().collect(),
        }),
        // The parts of an eigensystem that depend on the variable are values of their own.
        Term::Eigen { .. } => None,
        Term::Neg(body) => d(body)?.map(|body| Term::Neg(Box::new(body))),
        Term::Add(terms) => {
            let mut found = Vec::new();
            for term in terms {
                found.extend(d(term)?);
            }
            (!found.is_empty()).then_some(Term::Add(found))
        }
        Term::Sub(a, b) => match (d(a)?, d(b)?) {
            (None, None) => None,
            (Some(a), None) => Some(a),
            (None, Some(b)) => Some(Term::Neg(Box::new(b))),
            (Some(a), Some(b)) => Some(Term::Sub(Box::new(a), Box::new(b))),
        },
        Term::Mul(factors) => {
            let mut found = Vec::new();
            for (k, factor) in factors.iter().enumerate() {
                if let Some(factor) = d(factor)? {
                    let mut product = factors.clone();
                    product[k] = factor;
                    found.push(Term::Mul(product));
                }
            }
            (!found.is_empty()).then_some(Term::Add(found))
        }
        Term::Div(a, b) => {
            let first = d(a)?.map(|a| Term::Div(Box::new(a), b.clone()));
            let second = d(b)?.map(|by| {
                let square = Term::Pow(b.clone(), 2);
                Term::Div(
                    Box::new(Term::Mul(vec![(**a).clone(), by])),
                    Box::new(square),
                )
            });
            match (first, second) {
                (None, None) => None,
                (Some(first), None) => Some(first),
                (None, Some(second)) => Some(Term::Neg(Box::new(second))),
                (Some(first), Some(second)) => Some(Term::Sub(Box::new(first), Box::new(second))),
            }
        }
        Term::Pow(_, 0) => None,
        Term::Pow(body, n) => d(body)?.map(|inner| {
            let power = match n - 1 {
                0 => number(1),
                rest => Term::Pow(body.clone(), rest),
            };
            Term::Mul(vec![number((*n).into()), power, inner])
        }),
        Term::Apply(function, args) => {
            let mut found = Vec::new();
            for (k, arg) in args.iter().enumerate() {
                if let Some(inner) = d(arg)? {
                    let outer = outer(*function, k, args)?;
                    found.push(Term::Mul(vec![outer, inner]));
                }
            }
            (!found.is_empty()).then_some(Term::Add(found))
        }
        Term::Cond {
            test,
            sides,
            then,
            otherwise,
        } => match (d(then)?, d(otherwise)?) {
            (None, None) => None,
            (a, b) => Some(Term::Cond {
                test: *test,
                sides: sides.clone(),
                then: Box::new(a.unwrap_or(number(0))),
                otherwise: Box::new(b.unwrap_or(number(0))),
            }),
        },
        Term::Sum {
            binder,
            range,
            body,
        } => d(body)?.map(|body| Term::Sum {
            binder: *binder,
            range: *range,
            body: Box::new(body),
        }),
        Term::Deriv { index, body } => d(body)?.map(|body| Term::Deriv {
            index: *index,
            body: Box::new(body),
        }),
        Term::Probe { field, at } => {
            let mut found = Vec::new();
            if let Some(field) = d(field)? {
                let at = at.clone();
                let field = Box::new(field);
                found.push(Term::Probe { field, at });
            }
            for (axis, coordinate) in at.iter().enumerate() {
                if let Some(moved) = d(coordinate)? {
                    let slope = Term::Probe {
                        field: Box::new(Term::Deriv {
                            index: Index::Const(axis),
                            body: field.clone(),
                        }),
                        at: at.clone(),
                    };
                    found.push(Term::Mul(vec![slope, moved]));
                }
            }
            (!found.is_empty()).then_some(Term::Add(found))
        }
    })
}

/// The parts of eigensystems in a term, each once, with the parameter that is the matrix.
pub(super) fn eigensystems(term: &Term) -> Vec<(Eigen, usize)> {
    let mut found = match term {
        Term::Eigen { part, param, .. } => vec![(*part, *param)],
        _ => Vec::new(),
    };
    found.extend(term.children().into_iter().flat_map(eigensystems));
    found.sort_unstable();
    found.dedup();
    found
}

/// The same term with a parameter in place of a part of an eigensystem.
pub(super) fn with_part(term: Term, place: (Eigen, usize), by: usize) -> Term {
    match term {
        Term::Eigen {
            part,
            param,
            indices,
        } if (part, param) == place => Term::Access { param: by, indices },
        other => other.map(&mut |inner| with_part(inner, place, by)),
    }
}

/// The derivative of an elementary function by one of its arguments, at the given arguments.
pub(super) fn outer(
    function: Elementary,
    argument: usize,
    args: &[Term],
) -> Result<Term, Obstacle> {
    let known = |row: &&ElementaryDef| row.function == function;
    if let Some(row) = ELEMENTARY.iter().find(known)
        && row.lift == Lift::None
    {
        return Err(format!("`{}`", row.name));
    }
    let body = function.derivative(argument);
    body.substitute(args, &mut binders_above(args))
        .ok_or_else(|| "a function".to_owned())
}

/// Numbers for sums that no index of some terms has.
fn binders_above(terms: &[Term]) -> FreshBinders {
    fn greatest(term: &Term) -> u32 {
        let own = match term {
            Term::Sum { binder, .. } => *binder,
            _ => 0,
        };
        let inside = term.children().into_iter().map(greatest);
        inside.max().unwrap_or(0).max(own).max(greatest_index(term))
    }
    fn greatest_index(term: &Term) -> u32 {
        let mut indices: Vec<Index> = Vec::new();
        match term {
            Term::Access { indices: found, .. } | Term::Epsilon(found) => indices.extend(found),
            Term::Delta(i, j) => indices.extend([*i, *j]),
            Term::Deriv { index, .. } | Term::Position { index, .. } => indices.push(*index),
            _ => {}
        }
        let bound = indices.into_iter().filter_map(|index| match index {
            Index::Bound(id) => Some(id),
            _ => None,
        });
        bound.max().unwrap_or(0)
    }
    let most = terms.iter().map(greatest).max().unwrap_or(0);
    let mut binders = FreshBinders::default();
    while binders.fresh() < most {}
    binders
}

/// The same term with a number of its own for every sum.
pub(super) fn with_unique_binders(term: Term) -> Term {
    fn renumbered(term: Term, binders: &mut FreshBinders) -> Term {
        let term = match term {
            Term::Sum {
                binder,
                range,
                body,
            } => {
                let fresh = binders.fresh();
                let body = body.with_index(Index::Bound(binder), Index::Bound(fresh));
                Term::Sum {
                    binder: fresh,
                    range,
                    body: Box::new(body),
                }
            }
            other => other,
        };
        term.map(&mut |inner| renumbered(inner, binders))
    }
    let mut binders = binders_above(std::slice::from_ref(&term));
    renumbered(term, &mut binders)
}

/// The same term with equal products of a sum combined.
pub(super) fn collected(term: Term) -> Term {
    let Term::Add(_) = &term else {
        return term.map(&mut collected);
    };
    let mut products: Vec<(Rational, Vec<Term>, Vec<String>)> = Vec::new();
    flatten_sum(
        term,
        Rational::from_integer(1),
        &mut |coefficient, factors| {
            let mut key: Vec<String> = factors.iter().map(|factor| format!("{factor:?}")).collect();
            key.sort_unstable();
            match products.iter_mut().find(|(_, _, known)| *known == key) {
                Some((sum, ..)) => *sum += coefficient,
                None => products.push((coefficient, factors, key)),
            }
        },
    );
    let terms = products.into_iter().map(|(coefficient, mut factors, _)| {
        if coefficient != Rational::from_integer(1) || factors.is_empty() {
            factors.insert(0, Term::Const(coefficient));
        }
        match factors.len() {
            1 => factors.remove(0),
            _ => Term::Mul(factors),
        }
    });
    let mut terms: Vec<Term> = terms.collect();
    match terms.len() {
        1 => terms.remove(0),
        _ => Term::Add(terms),
    }
}

/// Calls a function for the coefficient and the factors of every product of a sum.
fn flatten_sum(term: Term, sign: Rational, found: &mut dyn FnMut(Rational, Vec<Term>)) {
    match term {
        Term::Add(terms) => {
            for term in terms {
                flatten_sum(term, sign, found);
            }
        }
        Term::Sub(a, b) => {
            flatten_sum(*a, sign, found);
            flatten_sum(*b, -sign, found);
        }
        Term::Neg(body) => flatten_sum(*body, -sign, found),
        product => {
            let (mut coefficient, mut factors) = (sign, Vec::new());
            flatten_product(product, &mut coefficient, &mut factors);
            found(coefficient, factors);
        }
    }
}

fn flatten_product(term: Term, coefficient: &mut Rational, factors: &mut Vec<Term>) {
    match term {
        Term::Mul(terms) => {
            for term in terms {
                flatten_product(term, coefficient, factors);
            }
        }
        Term::Const(value) => *coefficient *= value,
        Term::Neg(body) => {
            *coefficient = -*coefficient;
            flatten_product(*body, coefficient, factors);
        }
        other => factors.push(collected(other)),
    }
}
