//! The algebra of masks: truth values that follow from known ones need not be computed.

use super::{Lowering, Op};
use crate::codegen::vector::tree::{Compare, Home, Logic, Val};
use rustc_hash::FxHashMap;

/// Truth values that are known for all lanes that run.
#[derive(Default)]
pub(super) struct Facts {
    known: FxHashMap<Val, bool>,
    /// The truth values that were known before, newest last.
    before: Vec<(Val, Option<bool>)>,
}

impl Facts {
    /// A mark to go back to.
    pub(super) fn mark(&self) -> usize {
        self.before.len()
    }

    /// Forgets the facts learnt since a mark.
    pub(super) fn forget(&mut self, mark: usize) {
        while self.before.len() > mark {
            let (v, before) = self.before.pop().expect("more than at the mark");
            match before {
                Some(truth) => self.known.insert(v, truth),
                None => self.known.remove(&v),
            };
        }
    }

    fn learn(&mut self, v: Val, truth: bool) {
        let before = self.known.insert(v, truth);
        self.before.push((v, before));
    }
}

impl Lowering<'_> {
    /// A truth value that is the same for all lanes that run and known.
    pub(super) fn truth(&self, v: Val) -> Option<bool> {
        match self.values.home(v) {
            Home::Truth(truth) => Some(truth),
            _ => self.facts.known.get(&v).copied(),
        }
    }

    pub(super) fn constant_truth(&self, truth: bool) -> Val {
        self.truths[usize::from(truth)]
    }

    /// The value, or the constant it is known to be.
    pub(super) fn simplest(&self, v: Val) -> Val {
        self.truth(v).map_or(v, |truth| self.constant_truth(truth))
    }

    /// Learns that a condition holds, or not, and what follows.
    pub(super) fn assume(&mut self, v: Val, truth: bool) {
        self.facts.learn(v, truth);
        let Some(definition) = self.definition(v) else {
            return;
        };
        let [a, b, mask] = definition.args;
        match (definition.op, truth) {
            (Op::Not, _) => self.assume(a, !truth),
            (Op::Logic(Logic::And), true) | (Op::Logic(Logic::Or), false) => {
                self.assume(a, truth);
                self.assume(b, truth);
            }
            (Op::Logic(Logic::AndNot), true) => {
                self.assume(a, false);
                self.assume(b, true);
            }
            (Op::Compare(_), true) if definition.count == 3 => self.assume(mask, true),
            _ => {}
        }
    }

    /// The pairs of reals whose first is known to be less.
    pub(super) fn known_to_be_less(&self) -> impl Iterator<Item = [Val; 2]> {
        let known = self.facts.known.iter().filter(|(_, truth)| **truth);
        known.filter_map(|(&v, _)| {
            let definition = self.definition(v)?;
            let [a, b, _] = definition.args;
            (definition.op == Op::Compare(Compare::Less)).then_some([a, b])
        })
    }

    pub(super) fn not(&mut self, a: Val) -> Val {
        if let Some(truth) = self.truth(a) {
            return self.constant_truth(!truth);
        }
        match self.definition(a) {
            Some(definition) if definition.op == Op::Not => definition.args[0],
            _ => self.op(Op::Not, &[a]),
        }
    }

    /// Both. A comparison that is not needed otherwise can be made under the other mask.
    pub(super) fn and(&mut self, a: Val, b: Val, alone: [bool; 2]) -> Val {
        match (self.truth(a), self.truth(b)) {
            (Some(false), _) | (_, Some(false)) => return self.constant_truth(false),
            (Some(true), _) => return b,
            (_, Some(true)) => return a,
            _ if a == b => return a,
            _ => {}
        }
        for (x, mask, alone) in [(b, a, alone[1]), (a, b, alone[0])] {
            match self.definition(x) {
                Some(d) if d.op == Op::Not => {
                    return self.op(Op::Logic(Logic::AndNot), &[d.args[0], mask]);
                }
                Some(d)
                    if alone
                        && matches!(d.op, Op::Compare(_))
                        && d.count == 2
                        && d.block == self.block =>
                {
                    return self.op(d.op, &[d.args[0], d.args[1], mask]);
                }
                _ => {}
            }
        }
        self.op(Op::Logic(Logic::And), &[a, b])
    }

    /// Not the first, and the second.
    pub(super) fn and_not(&mut self, a: Val, b: Val) -> Val {
        match (self.truth(a), self.truth(b)) {
            (Some(true), _) | (_, Some(false)) => self.constant_truth(false),
            (Some(false), _) => b,
            (_, Some(true)) => self.not(a),
            _ => match self.definition(a) {
                Some(d) if d.op == Op::Not => self.and(d.args[0], b, [false; 2]),
                _ => self.op(Op::Logic(Logic::AndNot), &[a, b]),
            },
        }
    }

    pub(super) fn or(&mut self, a: Val, b: Val) -> Val {
        match (self.truth(a), self.truth(b)) {
            (Some(true), _) | (_, Some(true)) => self.constant_truth(true),
            (Some(false), _) => b,
            (_, Some(false)) => a,
            _ if a == b => a,
            _ => self.op(Op::Logic(Logic::Or), &[a, b]),
        }
    }

    /// The mask `a` where `c` holds, else `b`.
    pub(super) fn select_mask(&mut self, c: Val, a: Val, b: Val) -> Val {
        if a == b {
            return a;
        }
        match (self.truth(c), self.truth(a), self.truth(b)) {
            (Some(true), ..) => a,
            (Some(false), ..) => b,
            (_, Some(true), _) => self.or(c, b),
            (_, Some(false), _) => self.and_not(c, b),
            (_, _, Some(false)) => self.and(c, a, [false; 2]),
            (_, _, Some(true)) => {
                let not = self.not(c);
                self.or(not, a)
            }
            _ => self.op(Op::SelectMask, &[c, a, b]),
        }
    }
}
