//! A text that two terms share if they are the same up to the names of summation indices, the order and nesting of sums and
//! products, rotations of ε, and exchanges of symmetric axes.

use crate::{Groups, Index, Term};
use std::collections::BTreeMap;

/// More summation indices of one product than this keep the order they came in.
const PERMUTED: usize = 5;

type Names = BTreeMap<u32, String>;

/// The key of a term; `symmetry` has the symmetric axes of each parameter.
pub(super) fn key(term: &Term, symmetry: &[Groups]) -> String {
    Writer { symmetry }.term(term, &Names::new())
}

struct Writer<'a> {
    symmetry: &'a [Groups],
}

impl Writer<'_> {
    fn term(&self, term: &Term, names: &Names) -> String {
        let one = |term: &Term| self.term(term, names);
        let all = |terms: &[Term]| terms.iter().map(one).collect::<Vec<_>>();
        match term {
            Term::Const(value) => value.to_string(),
            Term::Access { param, indices } => {
                let mut indices: Vec<String> = indices.iter().map(|i| name(i, names)).collect();
                for group in self.symmetry.get(*param).into_iter().flatten() {
                    let mut sorted: Vec<String> =
                        group.iter().map(|&axis| indices[axis].clone()).collect();
                    sorted.sort_unstable();
                    for (&axis, index) in group.iter().zip(sorted) {
                        indices[axis] = index;
                    }
                }
                format!("p{param}[{}]", indices.join(" "))
            }
            Term::Eigen {
                part,
                param,
                indices,
            } => {
                let indices: Vec<String> = indices.iter().map(|i| name(i, names)).collect();
                format!("{}(p{param})[{}]", part.name(), indices.join(" "))
            }
            Term::Position { dim, index } => format!("pos{dim}[{}]", name(index, names)),
            Term::Delta(i, j) => {
                let mut both = [name(i, names), name(j, names)];
                both.sort_unstable();
                format!("δ[{}]", both.join(" "))
            }
            Term::Epsilon(indices) => {
                let indices: Vec<String> = indices.iter().map(|i| name(i, names)).collect();
                let turns = if indices.len() == 3 { 3 } else { 1 };
                let turned = |turn: usize| {
                    let mut turned = indices.clone();
                    turned.rotate_left(turn);
                    format!("ε[{}]", turned.join(" "))
                };
                (0..turns).map(turned).min().unwrap_or_default()
            }
            Term::Neg(body) => format!("(neg {})", one(body)),
            Term::Add(_) => {
                let mut terms = Vec::new();
                flatten_sum(term, &mut terms);
                let mut keys: Vec<String> = terms.into_iter().map(one).collect();
                keys.sort_unstable();
                format!("(+ {})", keys.join(" "))
            }
            Term::Sub(a, b) => format!("(- {} {})", one(a), one(b)),
            Term::Mul(_) | Term::Sum { .. } => self.product(term, names),
            Term::Div(a, b) => format!("(/ {} {})", one(a), one(b)),
            Term::Pow(body, exponent) => format!("(^ {} {exponent})", one(body)),
            Term::Apply(function, args) => {
                format!("({} {})", function.def().name, all(args).join(" "))
            }
            Term::Cond {
                test,
                sides,
                then,
                otherwise,
            } => {
                let sides = all(&sides[..]).join(" ");
                format!("(if {test} {sides} {} {})", one(then), one(otherwise))
            }
            Term::Deriv { index, body } => format!("(∂ {} {})", name(index, names), one(body)),
            Term::Probe { field, at } => format!("(@ {} {})", one(field), all(at).join(" ")),
        }
    }

    /// The least text over all orders of the summation indices.
    fn product(&self, term: &Term, names: &Names) -> String {
        let (binders, factors) = factors(term);
        let text = |order: &[usize]| {
            let mut names = names.clone();
            let depth = names.len();
            for (place, &k) in order.iter().enumerate() {
                let (binder, range) = binders[k];
                names.insert(binder, format!("s{}:{range}", depth + place));
            }
            let mut keys: Vec<String> = factors.iter().map(|f| self.term(f, &names)).collect();
            keys.sort_unstable();
            format!("(Σ{} {})", binders.len(), keys.join(" "))
        };
        let count = binders.len();
        if count > PERMUTED {
            return text(&(0..count).collect::<Vec<_>>());
        }
        let orders = permutations(count);
        orders
            .iter()
            .map(|order| text(order))
            .min()
            .unwrap_or_default()
    }
}

fn name(index: &Index, names: &Names) -> String {
    match index {
        Index::Bound(binder) => names
            .get(binder)
            .cloned()
            .unwrap_or_else(|| index.to_string()),
        Index::Axis(_) | Index::Const(_) => index.to_string(),
    }
}

fn flatten_sum<'t>(term: &'t Term, terms: &mut Vec<&'t Term>) {
    match term {
        Term::Add(inner) => inner.iter().for_each(|term| flatten_sum(term, terms)),
        other => terms.push(other),
    }
}

/// The summation indices, with their ranges, and the factors of a product of sums.
pub(super) fn factors(term: &Term) -> (Vec<(u32, usize)>, Vec<&Term>) {
    fn collect<'t>(term: &'t Term, binders: &mut Vec<(u32, usize)>, factors: &mut Vec<&'t Term>) {
        match term {
            Term::Mul(inner) => inner.iter().for_each(|f| collect(f, binders, factors)),
            Term::Sum {
                binder,
                range,
                body,
            } => {
                binders.push((*binder, *range));
                collect(body, binders, factors);
            }
            other => factors.push(other),
        }
    }
    let (mut binders, mut found) = (Vec::new(), Vec::new());
    collect(term, &mut binders, &mut found);
    (binders, found)
}

/// All orders of 0..n.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let insert = |place: usize, order: &Vec<usize>| {
        let mut order = order.clone();
        order.insert(place, n - 1);
        order
    };
    shorter
        .iter()
        .flat_map(|order| (0..n).map(move |place| insert(place, order)))
        .collect()
}
