//! Plans: which instructions move into a guard, where it stands, and its condition.

use super::{Guarding, slice::comparison};
use crate::{
    ir::Simple,
    low::{Low, Op, Ty},
    ssa::{Dialect, Inst, Kind, Value},
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// How a probe of a block is guarded.
pub(super) struct Plan {
    /// The instructions that move, by their numbers in the block.
    pub(super) moved: FxHashSet<usize>,
    /// The instruction before which the guard stands.
    pub(super) place: usize,
    /// The instructions that compute its condition.
    pub(super) before: Vec<Inst<Low>>,
    /// The condition.
    pub(super) guard: Value,
    /// The values that are used outside, and their substitutes if the guard does not hold.
    pub(super) escaping: Vec<(Value, Substitute)>,
    /// Whether the instruction at the place moves too: a branch whose other side computes nothing. It is the side that is
    /// needed.
    pub(super) within: Option<bool>,
    /// The comparisons that it asks about, by number.
    pub(super) comparisons: Vec<usize>,
}

/// What a value is if the guard does not hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum Substitute {
    /// What this value is.
    Value(Value),
    /// A truth value that is known.
    Truth(bool),
    /// Anything: it is not used then.
    Unused,
}

/// A truth value that code computes, or that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Truth {
    Known(bool),
    Value(Value),
}

/// Why there is no plan.
enum Obstacle {
    /// The selection with this number may stay outside the guard, and perhaps there is one then.
    Selection(usize),
    /// A value is needed in any case.
    Needed,
}

/// The instructions of a block.
#[derive(Clone, Copy)]
struct Insts<'a> {
    insts: &'a [Inst<Low>],
    yields: &'a [Value],
    /// The probe.
    at: usize,
}

/// The instructions that depend on a probe.
struct Dependents {
    moved: FxHashSet<usize>,
    place: usize,
    values: FxHashSet<Value>,
    /// The instruction that defines a value of the block.
    places: FxHashMap<Value, usize>,
}

impl Dependents {
    /// Whether a value that does not depend on the probe is known before the guard.
    fn is_before(&self, v: Value) -> bool {
        self.places.get(&v).is_none_or(|&n| n < self.place)
    }
}

/// The uses of values outside the guard.
#[derive(Default)]
struct Uses {
    escaping: Vec<Value>,
    /// Conditions and the sides of them on which a value is used that is not a truth value.
    demands: Vec<(Value, bool)>,
}

impl Uses {
    fn escape(&mut self, v: Value) {
        if !self.escaping.contains(&v) {
            self.escaping.push(v);
        }
    }

    fn demand(&mut self, condition: Value, side: bool) {
        if !self.demands.contains(&(condition, side)) {
            self.demands.push((condition, side));
        }
    }

    fn side_of(&self, v: Value) -> Option<bool> {
        let demand = self.demands.iter().find(|(condition, _)| *condition == v);
        demand.map(|(_, side)| *side)
    }
}

impl Guarding<'_> {
    /// How to guard the probe that is the instruction `at` of a block.
    pub(super) fn plan(
        &mut self,
        insts: &[Inst<Low>],
        yields: &[Value],
        at: usize,
    ) -> Option<Plan> {
        let block = Insts { insts, yields, at };
        let mut outside = FxHashSet::default();
        const TRIES: usize = 8;
        for _ in 0..TRIES {
            let dependents = self.dependents(block, &outside);
            match self.uses(block, &dependents, &outside) {
                Ok(uses) => return self.guard(block, dependents, uses),
                Err(Obstacle::Selection(n)) => outside.insert(n),
                Err(Obstacle::Needed) => return None,
            };
        }
        None
    }

    /// The instructions that move into a guard, with the probe, and the first one that stays and needs one of them.
    fn dependents(&self, block: Insts<'_>, outside: &FxHashSet<usize>) -> Dependents {
        let mut places = FxHashMap::default();
        for (n, inst) in block.insts.iter().enumerate() {
            places.extend(inst.results.iter().map(|&v| (v, n)));
        }
        let mut found = Dependents {
            moved: [block.at].into_iter().collect(),
            place: block.insts.len(),
            values: block.insts[block.at].results.iter().copied().collect(),
            places,
        };
        for (n, inst) in block.insts.iter().enumerate().skip(block.at + 1) {
            let mut depends = (false, false);
            each_use(inst, &mut |v| {
                if found.values.contains(&v) {
                    match self.ty(v) {
                        Ty::Bool => depends.0 = true,
                        _ => depends.1 = true,
                    }
                }
            });
            let moves = match (&inst.kind, depends) {
                (_, (false, false)) => continue,
                (Kind::Op(op, args), (_, number)) => {
                    let stays = Low::has_effect(op) || outside.contains(&n);
                    // What depends on truth values only can follow the guard, which decides about them.
                    let is_truth = inst.results.iter().all(|&v| self.ty(v) == Ty::Bool);
                    let known = |v: &Value| found.values.contains(v) || found.is_before(*v);
                    !stays && (number || is_truth) && args.iter().all(known)
                }
                _ => false,
            };
            if moves {
                found.moved.insert(n);
                found.values.extend(&inst.results);
            } else {
                found.place = found.place.min(n);
            }
        }
        found
    }

    /// The uses of values in the guard by instructions outside it.
    fn uses(
        &self,
        block: Insts<'_>,
        found: &Dependents,
        outside: &FxHashSet<usize>,
    ) -> Result<Uses, Obstacle> {
        let mut uses = Uses::default();
        let in_guard = |v: &Value| found.values.contains(v);
        for (n, inst) in block.insts.iter().enumerate().skip(block.at + 1) {
            if found.moved.contains(&n) {
                continue;
            }
            match &inst.kind {
                Kind::Op(Op::Select(_), args) => {
                    if in_guard(&args[0]) {
                        uses.escape(args[0]);
                    }
                    for (&v, side) in args[1..].iter().zip([true, false]) {
                        if in_guard(&v) {
                            uses.escape(v);
                            if self.ty(v) != Ty::Bool {
                                uses.demand(args[0], side);
                            }
                        }
                    }
                }
                Kind::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    if in_guard(condition) {
                        uses.escape(*condition);
                    }
                    for (side, holds) in [(then, true), (otherwise, false)] {
                        let mut visit = |v: Value| {
                            if in_guard(&v) {
                                uses.escape(v);
                                if self.ty(v) != Ty::Bool {
                                    uses.demand(*condition, holds);
                                }
                            }
                        };
                        side.insts
                            .iter()
                            .for_each(|inst| each_use(inst, &mut visit));
                        side.yields.iter().for_each(|&v| visit(v));
                    }
                }
                _ => {
                    let mut used = Vec::new();
                    each_use(inst, &mut |v| used.push(v));
                    self.free(block, found, outside, &used, &mut uses)?;
                }
            }
        }
        self.free(block, found, outside, block.yields, &mut uses)?;
        for &(condition, side) in &uses.demands {
            let is_known = in_guard(&condition) || found.is_before(condition);
            if !is_known || uses.demands.contains(&(condition, !side)) {
                return Err(Obstacle::Needed);
            }
        }
        Ok(uses)
    }

    /// Uses in any case: only truth values may be.
    fn free(
        &self,
        block: Insts<'_>,
        found: &Dependents,
        outside: &FxHashSet<usize>,
        values: &[Value],
        uses: &mut Uses,
    ) -> Result<(), Obstacle> {
        for &v in values.iter().filter(|v| found.values.contains(v)) {
            if self.ty(v) != Ty::Bool {
                return Err(self.selection_of(block, found, outside, v));
            }
            uses.escape(v);
        }
        Ok(())
    }

    /// The last selection that a value is made of: if it stays outside, the value does too.
    fn selection_of(
        &self,
        block: Insts<'_>,
        found: &Dependents,
        outside: &FxHashSet<usize>,
        v: Value,
    ) -> Obstacle {
        let (mut waiting, mut seen) = (vec![v], FxHashSet::default());
        let mut last = None;
        while let Some(v) = waiting.pop() {
            let Some(&n) = found.places.get(&v) else {
                continue;
            };
            if !found.moved.contains(&n) || n == block.at || !seen.insert(n) {
                continue;
            }
            if let Kind::Op(op, args) = &block.insts[n].kind {
                if matches!(op, Op::Select(_)) && !outside.contains(&n) {
                    last = last.max(Some(n));
                }
                waiting.extend(args);
            }
        }
        last.map_or(Obstacle::Needed, Obstacle::Selection)
    }

    /// The plan with these uses, if bounds can tell about their conditions.
    fn guard(&mut self, block: Insts<'_>, found: Dependents, uses: Uses) -> Option<Plan> {
        let known = self.comparisons.len();
        let mut asking = Asking {
            found: &found,
            probe: &block.insts[block.at],
            before: Vec::new(),
            verdicts: FxHashMap::default(),
            comparisons: Vec::new(),
        };
        let mut guard = Truth::Known(false);
        let mut escaping = Vec::new();
        for &v in &uses.escaping {
            let substitute = match (self.ty(v), uses.side_of(v)) {
                (Ty::Bool, Some(side)) => Substitute::Truth(!side),
                (Ty::Bool, None) => {
                    let [may, may_not] = [true, false].map(|side| self.may(&mut asking, v, side));
                    let open = self.both(&mut asking, may, may_not);
                    guard = self.either(&mut asking, guard, open);
                    match may {
                        Truth::Known(truth) => Substitute::Truth(truth),
                        Truth::Value(v) => Substitute::Value(v),
                    }
                }
                _ => Substitute::Unused,
            };
            escaping.push((v, substitute));
        }
        for &(condition, side) in &uses.demands {
            let may = self.may(&mut asking, condition, side);
            guard = self.either(&mut asking, guard, may);
        }
        let Asking {
            before,
            comparisons,
            ..
        } = asking;
        let Truth::Value(guard) = guard else {
            self.comparisons.truncate(known);
            return None;
        };
        if comparisons.is_empty() {
            self.comparisons.truncate(known);
            return None;
        }
        let within = within(block, &found, &uses);
        Some(Plan {
            moved: found.moved,
            place: found.place,
            before,
            guard,
            escaping,
            within,
            comparisons,
        })
    }

    /// Whether a truth value may be the one of a side, as far as is known before the guard.
    fn may(&mut self, asking: &mut Asking<'_>, v: Value, side: bool) -> Truth {
        if !asking.found.values.contains(&v) {
            return match asking.found.is_before(v) {
                true => self.same(asking, v, side),
                false => Truth::Known(true),
            };
        }
        let Some((op, args, _)) = self.definitions.get(&v).cloned() else {
            return Truth::Known(true);
        };
        match op {
            Op::Bool(truth) => Truth::Known(truth == side),
            Op::Simple(Simple::Not) => self.may(asking, args[0], !side),
            Op::Simple(op @ (Simple::And | Simple::Or)) => {
                let [a, b] = [args[0], args[1]].map(|v| self.may(asking, v, side));
                match (op == Simple::And) == side {
                    true => self.both(asking, a, b),
                    false => self.either(asking, a, b),
                }
            }
            Op::Select(Ty::Bool) => {
                let [chosen, other] = [(true, args[1]), (false, args[2])].map(|(choice, v)| {
                    let choice = self.may(asking, args[0], choice);
                    let value = self.may(asking, v, side);
                    self.both(asking, choice, value)
                });
                self.either(asking, chosen, other)
            }
            Op::Simple(Simple::Less | Simple::LessEqual | Simple::Equal) => {
                let Some(verdict) = self.verdict(asking, v) else {
                    return Truth::Known(true);
                };
                let none = self.op(Op::Real(0.0.into()), smallvec![], &mut asking.before);
                let args = if side {
                    [none, verdict]
                } else {
                    [verdict, none]
                };
                let may = Op::Simple(Simple::LessEqual);
                Truth::Value(self.op(may, args[..].into(), &mut asking.before))
            }
            _ => Truth::Known(true),
        }
    }

    /// The result of the decision about a comparison, if bounds can tell about it.
    fn verdict(&mut self, asking: &mut Asking<'_>, v: Value) -> Option<Value> {
        if let Some(known) = asking.verdicts.get(&v) {
            return *known;
        }
        let Kind::Op(Op::Probe(field, _), position) = &asking.probe.kind else {
            unreachable!("a guard is about a probe")
        };
        let function = comparison(self, asking.probe, &asking.found.values, v);
        let verdict = function.and_then(|function| {
            let comparison = (field.clone(), function);
            let known = self
                .comparisons
                .iter()
                .position(|known| *known == comparison);
            let number = known.unwrap_or_else(|| {
                self.comparisons.push(comparison);
                self.comparisons.len() - 1
            });
            if self.around.contains(&number) {
                return None;
            }
            asking.comparisons.push(number);
            let decide = Op::Decide(number as u32, field.clone());
            Some(self.op(decide, position.clone(), &mut asking.before))
        });
        asking.verdicts.insert(v, verdict);
        verdict
    }

    fn same(&mut self, asking: &mut Asking<'_>, v: Value, side: bool) -> Truth {
        match side {
            true => Truth::Value(v),
            false => {
                Truth::Value(self.op(Op::Simple(Simple::Not), smallvec![v], &mut asking.before))
            }
        }
    }

    fn both(&mut self, asking: &mut Asking<'_>, a: Truth, b: Truth) -> Truth {
        match (a, b) {
            (Truth::Known(false), _) | (_, Truth::Known(false)) => Truth::Known(false),
            (Truth::Known(true), other) | (other, Truth::Known(true)) => other,
            (Truth::Value(a), Truth::Value(b)) => {
                let both = Op::Simple(Simple::And);
                Truth::Value(self.op(both, smallvec![a, b], &mut asking.before))
            }
        }
    }

    fn either(&mut self, asking: &mut Asking<'_>, a: Truth, b: Truth) -> Truth {
        match (a, b) {
            (Truth::Known(true), _) | (_, Truth::Known(true)) => Truth::Known(true),
            (Truth::Known(false), other) | (other, Truth::Known(false)) => other,
            (Truth::Value(a), Truth::Value(b)) => {
                let either = Op::Simple(Simple::Or);
                Truth::Value(self.op(either, smallvec![a, b], &mut asking.before))
            }
        }
    }
}

/// The computation of a guard's condition.
struct Asking<'a> {
    found: &'a Dependents,
    probe: &'a Inst<Low>,
    before: Vec<Inst<Low>>,
    /// The results of decisions, by comparison; none where bounds cannot tell.
    verdicts: FxHashMap<Value, Option<Value>>,
    /// The comparisons that are asked about, by number.
    comparisons: Vec<usize>,
}

/// The side of the branch at the place of a guard that is needed, if the branch can move into the guard: it alone uses values in there, and its
/// other side computes nothing.
fn within(block: Insts<'_>, found: &Dependents, uses: &Uses) -> Option<bool> {
    let Some(Inst {
        kind: Kind::If {
            condition,
            then,
            otherwise,
        },
        ..
    }) = block.insts.get(found.place)
    else {
        return None;
    };
    let &[(demanded, side)] = &uses.demands[..] else {
        return None;
    };
    let (needed, other) = match side {
        true => (then, otherwise),
        false => (otherwise, then),
    };
    let mut own: FxHashSet<Value> = [*condition].into_iter().collect();
    let mut add = |v: Value| {
        own.insert(v);
    };
    needed
        .insts
        .iter()
        .for_each(|inst| each_use(inst, &mut add));
    needed.yields.iter().for_each(|&v| add(v));
    let mut elsewhere = block.yields.iter().any(|v| found.values.contains(v));
    for (n, inst) in block.insts.iter().enumerate().skip(found.place + 1) {
        if !found.moved.contains(&n) {
            each_use(inst, &mut |v| elsewhere |= found.values.contains(&v));
        }
    }
    let skips = other.insts.is_empty() && !other.yields.iter().any(|v| found.values.contains(v));
    let is_alone = uses.escaping.iter().all(|v| own.contains(v));
    (demanded == *condition && found.values.contains(condition) && skips && is_alone && !elsewhere)
        .then_some(side)
}

/// Visits the values that an instruction reads, those of nested blocks included.
fn each_use(inst: &Inst<Low>, visit: &mut impl FnMut(Value)) {
    inst.kind.operands().into_iter().for_each(&mut *visit);
    for block in inst.kind.blocks() {
        block
            .walk(&mut |inner: &Inst<Low>| inner.kind.operands().into_iter().for_each(&mut *visit));
        each_yield(block, visit);
    }
}

fn each_yield(block: &crate::ssa::Block<Low>, visit: &mut impl FnMut(Value)) {
    block.yields.iter().for_each(|&v| visit(v));
    for inst in &block.insts {
        for inner in inst.kind.blocks() {
            each_yield(inner, visit);
        }
    }
}
