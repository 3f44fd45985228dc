//! Congruence closure that can say why: which of the given equations make two terms equal.
//!
//! Equal arguments make equal results. Every merge of two classes is an edge of a forest over terms, with its reason: an
//! equation, or equal arguments. The path between two terms in that forest is the explanation of their equality; edges
//! by congruence are explained by their arguments in turn.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Why two neighbouring terms of the forest are equal.
#[derive(Clone, Copy, Debug)]
enum Reason {
    /// By the equation with this number.
    Equation(usize),
    /// The same head, and equal arguments.
    Congruence,
}

/// Terms and the equalities among them.
pub(crate) struct Closure {
    /// Head and arguments of each term; arguments come first.
    terms: Vec<(u32, Vec<usize>)>,
    /// The class of each term, named by one of its terms.
    class: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// The terms with an argument in the class.
    users: Vec<Vec<usize>>,
    /// A term for each head with classes as arguments.
    signatures: FxHashMap<(u32, Vec<usize>), usize>,
    /// The neighbour on the way to the root of the term's tree.
    forest: Vec<Option<(usize, Reason)>>,
}

impl Closure {
    /// All terms, without equalities yet.
    pub(crate) fn new(terms: Vec<(u32, Vec<usize>)>) -> Closure {
        let count = terms.len();
        let mut closure = Closure {
            class: (0..count).collect(),
            members: (0..count).map(|term| vec![term]).collect(),
            users: vec![Vec::new(); count],
            signatures: FxHashMap::default(),
            forest: vec![None; count],
            terms,
        };
        for term in 0..count {
            let mut args = closure.terms[term].1.clone();
            args.sort_unstable();
            args.dedup();
            args.into_iter()
                .for_each(|arg| closure.users[arg].push(term));
        }
        for term in 0..count {
            closure.look_up(term);
        }
        closure
    }

    /// Whether two terms are known to be equal.
    pub(crate) fn are_equal(&self, a: usize, b: usize) -> bool {
        self.class[a] == self.class[b]
    }

    /// Learns an equation, and all that follows from it.
    pub(crate) fn equate(&mut self, a: usize, b: usize, equation: usize) {
        self.merge(a, b, Reason::Equation(equation));
    }

    /// A term of another class with the same signature, if there is one.
    fn look_up(&mut self, term: usize) {
        let (head, args) = &self.terms[term];
        let key = (*head, args.iter().map(|&arg| self.class[arg]).collect());
        let other = *self.signatures.entry(key).or_insert(term);
        self.merge(other, term, Reason::Congruence);
    }

    fn merge(&mut self, a: usize, b: usize, reason: Reason) {
        let mut work = vec![(a, b, reason)];
        while let Some((mut a, mut b, reason)) = work.pop() {
            if self.are_equal(a, b) {
                continue;
            }
            if self.members[self.class[a]].len() < self.members[self.class[b]].len() {
                std::mem::swap(&mut a, &mut b);
            }
            self.make_root(b);
            self.forest[b] = Some((a, reason));
            let (kept, absorbed) = (self.class[a], self.class[b]);
            for member in std::mem::take(&mut self.members[absorbed]) {
                self.class[member] = kept;
                self.members[kept].push(member);
            }
            for user in std::mem::take(&mut self.users[absorbed]) {
                let (head, args) = &self.terms[user];
                let key = (*head, args.iter().map(|&arg| self.class[arg]).collect());
                let other = *self.signatures.entry(key).or_insert(user);
                work.push((other, user, Reason::Congruence));
                self.users[kept].push(user);
            }
        }
    }

    /// Turns the edges around on the way from a term to the root of its tree.
    fn make_root(&mut self, term: usize) {
        let mut at = term;
        let mut edge = self.forest[at].take();
        while let Some((next, reason)) = edge {
            edge = self.forest[next].replace((at, reason));
            at = next;
        }
    }

    /// The equations that make two equal terms equal.
    pub(crate) fn explain(&self, pairs: &[(usize, usize)]) -> BTreeSet<usize> {
        let mut equations = BTreeSet::new();
        let mut explained: FxHashSet<usize> = FxHashSet::default();
        let mut work = pairs.to_vec();
        while let Some((a, b)) = work.pop() {
            if a == b {
                continue;
            }
            debug_assert!(self.are_equal(a, b), "terms {a} and {b} are not equal");
            let way: Vec<usize> = self.way_up(a).collect();
            let Some(meeting) = self.way_up(b).find(|term| way.contains(term)) else {
                continue;
            };
            let up = |from: usize| self.way_up(from).take_while(move |&term| term != meeting);
            for term in up(a).chain(up(b)) {
                let (Some((next, reason)), true) = (self.forest[term], explained.insert(term))
                else {
                    continue;
                };
                match reason {
                    Reason::Equation(number) => {
                        equations.insert(number);
                    }
                    Reason::Congruence => {
                        let (left, right) = (&self.terms[term].1, &self.terms[next].1);
                        work.extend(left.iter().copied().zip(right.iter().copied()));
                    }
                }
            }
        }
        equations
    }

    /// A term and those on the way to the root of its tree.
    fn way_up(&self, term: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(term), |&term| self.forest[term].map(|(next, _)| next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// f(f(f(a))) = a and f(f(f(f(f(a))))) = a make f(a) = a; an equation about others is not part of the reason.
    #[test]
    fn an_explanation_names_the_equations_that_are_needed() {
        const F: u32 = 9;
        let mut terms: Vec<(u32, Vec<usize>)> = vec![(0, vec![])];
        terms.extend((0..5).map(|k| (F, vec![k])));
        terms.extend([(1, vec![]), (2, vec![])]);
        let mut closure = Closure::new(terms);
        closure.equate(6, 7, 0);
        closure.equate(3, 0, 1);
        assert!(!closure.are_equal(1, 0));
        closure.equate(5, 0, 2);
        assert!(closure.are_equal(1, 0) && !closure.are_equal(0, 6));
        assert_eq!(closure.explain(&[(1, 0)]), BTreeSet::from([1, 2]));
        assert_eq!(closure.explain(&[(6, 7)]), BTreeSet::from([0]));
        assert_eq!(closure.explain(&[(2, 2)]), BTreeSet::new());
    }

    #[test]
    fn equal_arguments_explain_equal_results() {
        // g(a, b), g(b, a), a, b with a = b.
        let mut closure = Closure::new(vec![
            (0, vec![]),
            (1, vec![]),
            (5, vec![0, 1]),
            (5, vec![1, 0]),
        ]);
        assert!(!closure.are_equal(2, 3));
        closure.equate(0, 1, 7);
        assert_eq!(closure.explain(&[(2, 3)]), BTreeSet::from([7]));
    }
}
