//! Branches and loops.
//!
//! A result of a branch is the arms' value in their lanes and its initial value in the others. Its place is not recorded: it
//! is found where the right values have been merged.

use super::{
    Checked, Checker, Lost,
    lanes::LaneSet,
    record::Event,
    state::{Content, Flags, Location, Mark, State, Way},
};
use crate::codegen::{
    abi::offset,
    vector::{
        encode::{Condition, Gpr, Label, Scalar},
        tree::{Class, For, If, Test, Val},
    },
};
use rustc_hash::FxHashSet;

/// A value that changes from one round to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changing {
    pub(super) value: Val,
    pub(super) next: Val,
    /// Whether lanes that do not run keep their values.
    pub(super) kept: bool,
}

/// The variables and the mask of a round of a loop.
pub(super) struct Round<'v> {
    pub(super) variables: &'v [Changing],
    /// The lanes that go through it.
    pub(super) mask: LaneSet,
}

impl<'a> Checker<'a> {
    /// From here to the next branch or loop, values are known by other names, too.
    fn alias(&mut self, aliases: Vec<(Val, Val)>) {
        self.aliases = aliases;
        let aliases = &self.aliases;
        let names = &self.names;
        self.state.change_each(|content| {
            let mut changed = None;
            for &(from, to) in aliases {
                let lanes = content.lanes(names[from.index()]);
                if !lanes.is_empty() {
                    let changed = changed.get_or_insert_with(|| content.clone());
                    changed.set(to, lanes);
                }
            }
            changed
        });
    }

    pub(super) fn branch(&mut self, branch: &'a If) -> Checked {
        let starts = branch.merges.iter();
        let starts = starts.filter_map(|merge| Some((merge.start?, merge.result)));
        self.alias(starts.collect());
        let outer = self.running;
        for (n, arm) in branch.arms.iter().enumerate() {
            let mask = self.outcome(arm.mask);
            let (skip, taken, skipped) = self.arm_test(arm.test, arm.mask)?;
            self.aliases.clear();
            let end = self.place_of(skip)?;
            let possible = self.state.possible;
            let mark = self.state.mark();
            self.state.possible = possible & taken;
            self.running = mask;
            self.enter_block();
            self.block(&arm.block)?;
            self.merges_until(end)?;
            let whole = matches!(arm.test, Test::Byte(..));
            self.appear(branch, n, if whole { LaneSet::ALL } else { mask });
            let way = self.state.back_to(&mark);
            self.state.end(&mark);
            let other = State::nothing(possible & skipped);
            self.state.join([&way, &other]);
            self.running = outer;
            self.at = end + 1;
        }
        self.finish_results(branch);
        Ok(())
    }

    /// Counts a block that no sample enters.
    fn enter_block(&mut self) {
        if (self.running & self.state.possible).is_empty() {
            self.unseen += 1;
        }
    }

    /// The test of an arm: where it jumps if the arm does not run, and the samples in which it may and may not run.
    fn arm_test(&mut self, test: Test, mask: Val) -> Result<(Label, LaneSet, LaneSet), String> {
        match test {
            Test::Lanes => {
                self.moves()?;
                let tested = self.tested()?;
                self.require_mask(&tested, mask, "the test of a branch")?;
                let skip = self.jump_if(Condition::Zero)?;
                // If it does not run, no lane wants it.
                Ok((skip, LaneSet::ALL, !self.outcome(mask)))
            }
            Test::Byte(place, truth) => {
                self.moves_and_arguments()?;
                let at = Self::address(place);
                if self.state.flags != Flags::Byte(at, 0) {
                    return Err("the condition of a branch is not tested".into());
                }
                let otherwise = if truth {
                    Condition::Zero
                } else {
                    Condition::NotZero
                };
                let skip = self.jump_if(otherwise)?;
                let holds = match self.homes.get(&(super::Reading::Byte, at)) {
                    Some(&v) => self.outcome(v),
                    None => return Err("no value is the condition of a branch".into()),
                };
                let taken = if truth { holds } else { !holds };
                Ok((skip, taken, !taken))
            }
        }
    }

    /// At the end of an arm, a place holds a result if it holds the arm's yield in the lanes of the arm and the result in the others.
    fn appear(&mut self, branch: &If, arm: usize, mask: LaneSet) {
        let merges = branch.merges.iter();
        let given: Vec<(Val, Val)> = merges
            .filter_map(|merge| Some((merge.result, self.name(merge.yields[arm]?))))
            .collect();
        self.state.change_each(|content| {
            let mut changed: Option<Content> = None;
            for &(result, y) in &given {
                let [before, given] = [content.lanes(result), content.lanes(y)];
                if before.is_empty() && given.is_empty() {
                    continue;
                }
                let changed = changed.get_or_insert_with(|| content.clone());
                changed.set(result, mask.choose(given, before));
            }
            changed
        });
    }

    /// After a branch: when masks hold that it gives. Results that are not where they could be used are forgotten.
    fn finish_results(&mut self, branch: &If) {
        for merge in &branch.merges {
            if self.class(merge.result) == Class::Mask {
                let mut outcome = merge.start.map_or(LaneSet::NONE, |v| self.outcome(v));
                for (arm, y) in branch.arms.iter().zip(&merge.yields) {
                    let Some(y) = *y else { continue };
                    let y = self.outcome(y);
                    let mask = match arm.test {
                        Test::Lanes => self.outcome(arm.mask),
                        Test::Byte(place, truth) => {
                            let key = (super::Reading::Byte, Self::address(place));
                            let holds = self.homes.get(&key).copied();
                            let holds = holds.map_or(LaneSet::NONE, |v| self.outcome(v));
                            if truth { holds } else { !holds }
                        }
                    };
                    outcome = mask.choose(y, outcome);
                }
                self.set_outcome(merge.result, outcome);
            }
        }
        let needed = self.running & self.state.possible;
        let results: Vec<Val> = branch.merges.iter().map(|merge| merge.result).collect();
        self.state.change_each(|content| {
            let useless =
                |value: Val, lanes: LaneSet| results.contains(&value) && !needed.is_inside(lanes);
            if !content.iter().any(|fact| useless(fact.value, fact.lanes)) {
                return None;
            }
            let mut content = content.clone();
            content.retain(|fact| !useless(fact.value, fact.lanes));
            Some(content)
        });
    }

    pub(super) fn repeat(&mut self, repeat: &'a For) -> Checked {
        let variables = &repeat.variables;
        self.alias(variables.iter().map(|v| (v.init, v.value)).collect());
        self.moves()?;
        self.aliases.clear();
        let Scalar::Bind(head) = self.next_scalar()? else {
            return Err("a loop should begin here".into());
        };
        let start = self.at;
        self.forget_scratch();
        let outer = self.running;
        let enters = variables.iter().find(|v| v.value == repeat.mask);
        let enters = enters.ok_or("a loop without a mask")?.init;
        let enters = self.outcome(enters);
        let goes_on = self.draw(repeat.mask) & enters;
        self.set_outcome(repeat.mask, goes_on);
        let mask = self.outcome(repeat.mask);
        // If no lanes keep their values, all lanes leave the loop at the same time.
        let mut results = variables.iter().filter(|v| v.result.is_some()).peekable();
        let together = results.peek().is_some() && results.all(|v| !v.kept);
        let changing: Vec<Changing> = variables
            .iter()
            .map(|v| Changing {
                value: v.value,
                next: v.next,
                kept: v.kept,
            })
            .collect();
        let round = Round {
            variables: &changing,
            mask,
        };
        let mut only_running = FxHashSet::default();
        let mut mark = self.state.mark();
        self.lose_again(start, &mut mark, mask, &mut only_running);
        let exit = loop {
            self.at = start;
            let tested = self.tested()?;
            self.require_mask(&tested, repeat.mask, "the test of a loop")?;
            let exit = self.jump_if(Condition::Zero)?;
            self.running = mask;
            if together {
                self.state.possible = self.state.possible & (mask | !outer);
            }
            self.enter_block();
            self.block(&repeat.body)?;
            self.end_of_round(repeat.is_long, head)?;
            let way = self.state.back_to(&mark);
            if !self.goes_round(start, &mut mark, &way, &round, &mut only_running) {
                break exit;
            }
        };
        self.state.end(&mark);
        self.running = outer;
        self.leave_loop(repeat, together, &only_running, enters);
        self.at = self.place_of(exit)? + 1;
        Ok(())
    }

    /// The end of a round, up to the jump to the head.
    fn end_of_round(&mut self, is_long: bool, head: Label) -> Checked {
        loop {
            match self.next()? {
                Event::Vector(instr) => {
                    if !self.is_merge_or_move(instr)? {
                        return Err("something that does not belong to the end of a round".into());
                    }
                }
                Event::Scalar(Scalar::Load64(Gpr::RAX, from)) if is_long => {
                    let asks = *from == Gpr::RBX.at(offset::STOP)
                        && self.next_scalar()? == Scalar::CompareByte(Gpr::RAX.at(0), 0);
                    if !asks {
                        return Err("a long loop should ask whether it is to be left".into());
                    }
                    let left = self.jump_if(Condition::NotZero)?;
                    self.leaves_at(left)?;
                }
                Event::Scalar(Scalar::Jump(to)) if *to == head => return Ok(()),
                Event::Scalar(_) => return Err("a round should end here".into()),
            }
        }
    }

    /// The function ends at a label without storing anything.
    fn leaves_at(&mut self, label: Label) -> Checked {
        let at = self.place_of(label)?;
        let expected = [Scalar::Move(Gpr::RAX, Gpr::RBP), Scalar::Leaving];
        for (event, expected) in self.events[at + 1..].iter().zip(expected) {
            if !matches!(event, Event::Scalar(scalar) if *scalar == expected) {
                return Err("a loop is left to where something is done".into());
            }
        }
        Ok(())
    }

    /// Compares the facts at the head of a loop with the end of a round, after which the state has gone back to the head. Facts that
    /// do not hold again are forgotten; returns whether there were any, so that the round must be checked again.
    pub(super) fn goes_round(
        &mut self,
        start: usize,
        mark: &mut Mark,
        way: &Way,
        round: &Round<'_>,
        only_running: &mut FxHashSet<(Location, Val)>,
    ) -> bool {
        let possible = self.state.possible;
        let impossible = possible.without(way.possible());
        let mut changes: Vec<(Location, Content)> = Vec::new();
        let mut lost: Vec<Lost> = Vec::new();
        for (place, head, written) in self.state.compare(way) {
            let end = written.unwrap_or(head);
            let mut content = None;
            for fact in head.iter() {
                let variable = round.variables.iter().find(|v| v.value == fact.value);
                if variable.is_none() && written.is_none() {
                    continue;
                }
                let again = match variable {
                    Some(v) => {
                        let next = self.lanes_of(end, v.next);
                        match v.kept {
                            true => round.mask.choose(next, end.lanes(v.value)),
                            false => next,
                        }
                    }
                    None => end.lanes(fact.value),
                };
                let again = again | impossible;
                let held = fact.lanes & possible;
                if held.is_inside(again) {
                    continue;
                }
                let beside = (held & round.mask).is_inside(again).then_some(impossible);
                let lanes = match beside {
                    Some(beside) => {
                        only_running.insert((place, fact.value));
                        held & (round.mask | beside)
                    }
                    None => LaneSet::NONE,
                };
                lost.push(Lost {
                    place,
                    value: fact.value,
                    beside,
                });
                let content = content.get_or_insert_with(|| head.clone());
                content.set(fact.value, lanes);
            }
            if let Some(content) = content {
                changes.push((place, content));
            }
        }
        let again = !changes.is_empty();
        self.state.correct(mark, changes);
        self.lost.entry(start).or_default().extend(lost);
        again
    }

    /// Forgets at the head of a loop what did not hold again when the loop was entered before.
    fn lose_again(
        &mut self,
        start: usize,
        mark: &mut Mark,
        mask: LaneSet,
        only_running: &mut FxHashSet<(Location, Val)>,
    ) {
        let mut changes: Vec<(Location, Content)> = Vec::new();
        for lost in self.lost.get(&start).into_iter().flatten() {
            let content = self.state.content(lost.place);
            let held = content.lanes(lost.value);
            if held.is_empty() {
                continue;
            }
            let lanes = match lost.beside {
                Some(beside) => {
                    only_running.insert((lost.place, lost.value));
                    held & (mask | beside)
                }
                None => LaneSet::NONE,
            };
            let known = changes.iter().rposition(|change| change.0 == lost.place);
            let known = known.unwrap_or_else(|| {
                changes.push((lost.place, content.clone()));
                changes.len() - 1
            });
            changes[known].1.set(lost.value, lanes);
        }
        self.state.correct(mark, changes);
    }

    /// After a loop: variables are known as its results.
    fn leave_loop(
        &mut self,
        repeat: &For,
        together: bool,
        only_running: &FxHashSet<(Location, Val)>,
        enters: LaneSet,
    ) {
        for variable in &repeat.variables {
            if let Some(result) = variable.result
                && self.class(result) == Class::Mask
            {
                let outcome = self.outcome(variable.value);
                self.set_outcome(result, outcome);
            }
        }
        if !together {
            for &(place, v) in only_running {
                let mut content = self.state.content(place).clone();
                let lanes = content.lanes(v).without(enters);
                content.set(v, lanes);
                self.state.write(place, content);
            }
        }
        let variables = &repeat.variables;
        self.state.change_each(|content| {
            let mut changed: Option<Content> = None;
            for variable in variables {
                let lanes = content.lanes(variable.value);
                if lanes.is_empty() {
                    continue;
                }
                let changed = changed.get_or_insert_with(|| content.clone());
                changed.set(variable.value, LaneSet::NONE);
                if let Some(result) = variable.result {
                    changed.set(result, lanes);
                }
            }
            changed
        });
    }
}
