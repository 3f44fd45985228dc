//! A whole function: its beginning, its stores, and the loop over super-steps.

use super::{
    Checked, Checker,
    control::{Changing, Round},
    lanes::LaneSet,
    record::{Event, Instr},
    state::{Content, Known, Reading},
};
use crate::codegen::{
    abi::offset,
    vector::{
        encode::{Address, Condition, Gpr, Scalar},
        tree::{Class, Finish, Home, Logic, Store, Val},
    },
};
use rustc_hash::FxHashSet;

/// A mask that is computed at the end of a function and is not in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    value: Val,
    op: Logic,
    args: [Val; 2],
}

/// Where a function stores the lanes that ended: stable and dead ones.
const TOLD: [i32; 2] = [offset::STABLE, offset::DEAD];

impl<'a> Checker<'a> {
    pub(super) fn function(&mut self) -> Checked {
        if !matches!(self.next_scalar()?, Scalar::Bind(_)) {
            return Err("a function should begin here".into());
        }
        let active = LaneSet::drawn(0, LaneSet::NONE) | !LaneSet::drawn(1, LaneSet::NONE);
        self.set_outcome(Val::ACTIVE, active);
        let bits = Gpr::RBX.at(offset::MASK);
        let lanes = Self::address(self.tree.bits);
        match *self.next_operation()? {
            Instr::LanesOfBits { to, bits: b, table } if b == bits && table == lanes => {
                self.write(Class::Mask, to, Content::of(Val::ACTIVE, LaneSet::ALL));
            }
            _ => return Err("a function should find out which lanes run".into()),
        }
        self.running = active;
        if self.tree.repeats {
            return self.super_steps();
        }
        let tree = self.tree;
        self.block(&tree.body)?;
        match &tree.finish {
            Finish::Results(values) => self.results(values),
            Finish::State { ended, stores } => self.stores_once(*ended, stores),
        }
    }

    /// Planes of results, one after the other.
    fn results(&mut self, values: &[Val]) -> Checked {
        let mut stored: Vec<Option<Content>> = vec![None; values.len()];
        loop {
            self.moves_and_arguments()?;
            match self.next()? {
                Event::Vector(Instr::Store(Class::Vector, to, from)) => {
                    let plane = to.displacement / self.shape.bytes;
                    let is_there = self.known(to.base) == Known::Member(offset::RESULTS)
                        && to.displacement % self.shape.bytes == 0;
                    let content = self.held(Class::Vector, *from);
                    match stored.get_mut(plane as usize) {
                        Some(stored) if is_there => *stored = Some(content),
                        _ => return Err("a result goes somewhere else".into()),
                    }
                }
                Event::Scalar(Scalar::Leaving) => break,
                _ => return Err("results should be stored here".into()),
            }
        }
        for (content, &v) in stored.iter().zip(values) {
            let content = content.as_ref().ok_or("a result is not stored")?;
            self.require(content, v, self.running, "a result")?;
        }
        Ok(())
    }

    /// A mask that the end of a function computes.
    fn ending(&mut self, op: Logic, args: [Val; 2]) -> Val {
        let outcome = self.logic_outcome(op, args);
        let value = self.make(Class::Mask, Some(outcome));
        self.endings.push(Ending { value, op, args });
        value
    }

    /// Follows an operation on masks that is not in the tree.
    fn end_logic(&mut self, op: Logic, to: u8, regs: [u8; 2]) {
        let held = regs.map(|r| self.held(Class::Mask, r));
        let mut content = Content::default();
        for ending in self.endings.clone() {
            if ending.op != op {
                continue;
            }
            let [a, b] = ending.args;
            let args = [
                (a, self.lanes_of(&held[0], a)),
                (b, self.lanes_of(&held[1], b)),
            ];
            if args.iter().all(|(_, lanes)| !lanes.is_empty()) {
                let lanes = self.logic_lanes(op, args);
                content.set(ending.value, lanes);
            }
        }
        self.write(Class::Mask, to, content);
    }

    /// A method that runs once: how lanes ended, then the state of those that run.
    fn stores_once(&mut self, ended: Option<[Val; 2]>, stores: &'a [Store]) -> Checked {
        let told: Vec<(i32, Val)> = ended
            .into_iter()
            .flatten()
            .zip(TOLD)
            .map(|(lanes, at)| (at, self.ending(Logic::And, [lanes, Val::ACTIVE])))
            .collect();
        let mut heard = Vec::new();
        loop {
            if let Some(at) = self.end_event(stores, &[Val::ACTIVE], &told)? {
                heard.push(at);
                continue;
            }
            match self.next_scalar()? {
                Scalar::Leaving => break,
                _ => return Err("the function should end here".into()),
            }
        }
        if told.iter().any(|(at, _)| !heard.contains(at)) {
            return Err("the lanes that ended are not reported".into());
        }
        self.are_stored(stores, Val::ACTIVE)
    }

    /// Follows entries at the end of a function up to a store of the lanes that ended, and gives the place of that store; or
    /// nothing, if another entry comes first. State is stored for one of `masks`.
    fn end_event(
        &mut self,
        stores: &'a [Store],
        masks: &[Val],
        told: &[(i32, Val)],
    ) -> Result<Option<i32>, String> {
        loop {
            self.moves_and_arguments()?;
            let event = self.peek()?;
            self.at += 1;
            match *event {
                Event::Vector(Instr::Logic(op, to, a, b)) => self.end_logic(op, to, [a, b]),
                Event::Vector(Instr::StoreUnder { to, from, mask }) => {
                    self.store(stores, masks, to, from, mask)?;
                }
                Event::Vector(ref instr @ Instr::Merge { .. }) => {
                    self.is_merge_or_move(instr)?;
                }
                Event::Scalar(Scalar::Load32(_, from)) => {
                    self.at -= 1;
                    self.words(stores, from)?;
                }
                Event::Scalar(Scalar::Store32(to, r) | Scalar::OrMemory32(to, r)) => {
                    let found = told.iter().find(|(at, _)| to == Gpr::RBX.at(*at));
                    let Some(&(at, lanes)) = found else {
                        return Err("lanes are reported that are not wanted".into());
                    };
                    let Known::Bits(content) = self.known(r) else {
                        return Err("lanes should be reported".into());
                    };
                    self.require_mask(&content, lanes, "the lanes that ended")?;
                    return Ok(Some(at));
                }
                _ => {
                    self.at -= 1;
                    return Ok(None);
                }
            }
        }
    }

    /// Words of the state that are 64 bits apart are read, or written.
    fn words(&mut self, stores: &[Store], from: Address) -> Checked {
        if from.base == Gpr::R15 {
            self.unpacked(from.displacement)?;
            return Ok(());
        }
        let to = match self.events.get(self.at + 1) {
            Some(Event::Scalar(Scalar::Store32(to, _))) => *to,
            _ => return Err("a word is read for nothing".into()),
        };
        let is_wanted = |store: &&Store| store.packed && to == Gpr::R15.at(store.at);
        if !stores.iter().any(|store| is_wanted(&store)) {
            return Err("a word of the state is written that is not wanted".into());
        }
        self.repacked(from, to.displacement)
    }

    /// A plane of the state is stored in the lanes of a mask.
    fn store(
        &mut self,
        stores: &[Store],
        masks: &[Val],
        to: Address,
        from: u8,
        mask: u8,
    ) -> Checked {
        let is_wanted = |store: &&Store| !store.packed && to == Gpr::R15.at(store.at);
        let store = stores.iter().find(|store| is_wanted(store));
        let store = store.ok_or("a plane of the state is stored that is not wanted")?;
        let mask = self.held(Class::Mask, mask);
        let is_mask = |&&m: &&Val| self.require_mask(&mask, m, "").is_ok();
        let Some(&lanes) = masks.iter().find(is_mask) else {
            return self.require_mask(&mask, masks[0], "the lanes of a store");
        };
        let content = self.held(Class::Vector, from);
        let stored = self.outcome(lanes);
        self.require(&content, store.value, stored, "a plane of the state")?;
        let place = self.memory(Reading::Whole, to)?;
        let before = self.state.content(place).clone();
        let after = content.chosen(stored, LaneSet::ALL, &before);
        self.state.write(place, after);
        Ok(())
    }

    /// The planes of the state must hold their values in the lanes of a mask; words of other lanes must be unchanged.
    fn are_stored(&mut self, stores: &[Store], lanes: Val) -> Checked {
        let lanes = self.outcome(lanes);
        for store in stores {
            if store.packed {
                let place = self.packed(store.at)?;
                let content = self.state.content(place).clone();
                self.require(&content, store.value, lanes, "words of the state")?;
                let old = self.old(store.at);
                self.require(&content, old, !lanes, "words of other lanes")?;
            } else {
                let place = self.memory(Reading::Whole, Gpr::R15.at(store.at))?;
                let content = self.state.content(place).clone();
                self.require(
                    &content,
                    store.value,
                    lanes,
                    "a plane that should be stored",
                )?;
            }
        }
        Ok(())
    }

    /// Several super-steps in one call. The state is in registers or in the function's own memory meanwhile; that of lanes that
    /// end is stored when they do.
    fn super_steps(&mut self) -> Checked {
        let tree = self.tree;
        let Finish::State {
            ended: Some(ended),
            stores,
        } = &tree.finish
        else {
            return Err("a method that is repeated should say who ends".into());
        };
        for store in stores {
            if let Some(before) = store.before {
                let place = self.memory(Reading::Whole, Gpr::R15.at(store.at))?;
                self.state.write(place, Content::of(before, LaneSet::ALL));
            }
        }
        self.moves()?;
        let Scalar::Bind(head) = self.next_scalar()? else {
            return Err("the loop over super-steps should begin here".into());
        };
        for store in stores {
            let place = self.memory(Reading::Whole, Gpr::R15.at(store.at))?;
            self.state.write(place, Content::default());
        }
        self.forget_scratch();
        let start = self.at;
        let rest = self.make(Class::Mask, None);
        let mut changing: Vec<Changing> = stores
            .iter()
            .filter_map(|store| Some((store.before?, store.value)))
            .chain([(Val::ACTIVE, rest)])
            .map(|(value, next)| Changing {
                value,
                next,
                kept: false,
            })
            .collect();
        changing.retain(|v| v.value != v.next);
        let round = Round {
            variables: &changing,
            mask: self.outcome(Val::ACTIVE),
        };
        let mut only_running = FxHashSet::default();
        let mut mark = self.state.mark();
        loop {
            self.at = start;
            self.block(&tree.body)?;
            self.end_of_step(*ended, stores, rest)?;
            if self.next_scalar()? != Scalar::Jump(head) {
                return Err("the next super-step should begin here".into());
            }
            let way = self.state.back_to(&mark);
            if !self.goes_round(start, &mut mark, &way, &round, &mut only_running) {
                break;
            }
        }
        self.state.end(&mark);
        Ok(())
    }

    /// From the end of the body to the moves before the next super-step. `rest` are the lanes that go on.
    fn end_of_step(&mut self, ended: [Val; 2], stores: &'a [Store], rest: Val) -> Checked {
        let ended = ended.into_iter().zip(TOLD);
        let may_end: Vec<(Val, i32)> = ended
            .filter(|(lanes, _)| self.tree.values.home(*lanes) != Home::Truth(false))
            .collect();
        self.endings.clear();
        let [Some(first), Some(last)] = [may_end.first(), may_end.last()] else {
            self.set_outcome(rest, self.running);
            self.also_known(Val::ACTIVE, rest);
            // The lanes that run may be brought back into a register.
            self.moves()?;
            return self.count_down(stores, rest);
        };
        let either = self.ending(Logic::Or, [first.0, last.0]);
        let ending = self.ending(Logic::And, [either, Val::ACTIVE]);
        let told: Vec<(i32, Val)> = may_end
            .iter()
            .map(|&(lanes, at)| (at, self.ending(Logic::And, [lanes, Val::ACTIVE])))
            .collect();
        let [active, end] = [Val::ACTIVE, ending].map(|v| self.outcome(v));
        self.set_outcome(rest, active.without(end));
        self.endings.push(Ending {
            value: rest,
            op: Logic::AndNot,
            args: [ending, Val::ACTIVE],
        });
        self.end_event(stores, &[], &[])?;
        let tested = self.tested()?;
        self.require_mask(&tested, ending, "whether lanes end")?;
        let some_end = self.jump_if(Condition::NotZero)?;
        let back = self.at;
        let possible = self.state.possible;
        let mark = self.state.mark();
        self.at = self.place_of(some_end)? + 1;
        self.lanes_end(stores, (ending, rest), &told, back)?;
        let some = self.state.back_to(&mark);
        self.state.possible = possible.without(end);
        self.also_known(Val::ACTIVE, rest);
        let none = self.state.back_to(&mark);
        self.state.end(&mark);
        self.state.join([&some, &none]);
        self.at = back + 1;
        self.count_down(stores, rest)
    }

    /// Wherever a value is, another one is, too.
    fn also_known(&mut self, v: Val, other: Val) {
        self.state.change_each(|content| {
            let lanes = content.lanes(v);
            (!lanes.is_empty()).then(|| {
                let mut content = content.clone();
                content.set(other, lanes);
                content
            })
        });
    }

    /// Some lanes end: their state is stored, and the others go on, or none is left.
    fn lanes_end(
        &mut self,
        stores: &'a [Store],
        (ending, rest): (Val, Val),
        told: &[(i32, Val)],
        back: usize,
    ) -> Checked {
        let mut heard = Vec::new();
        while let Some(at) = self.end_event(stores, &[ending], told)? {
            heard.push(at);
        }
        if told.iter().any(|(at, _)| !heard.contains(at)) {
            return Err("the lanes that ended are not reported".into());
        }
        self.are_stored(stores, ending)?;
        let tested = self.tested()?;
        self.require_mask(&tested, rest, "whether lanes are left")?;
        let to = self.jump_if(Condition::NotZero)?;
        if self.place_of(to)? != back {
            return Err("lanes that are left go on somewhere else".into());
        }
        let counts = self.next_scalar()? == Scalar::Decrement(Gpr::RBP);
        match self.next_scalar()? {
            Scalar::Jump(done) if counts => self.returns_at(self.place_of(done)?),
            _ => Err("without lanes the function should end".into()),
        }
    }

    /// The counter of super-steps; at its end the state of the lanes that run is stored. Then the moves before the next one.
    fn count_down(&mut self, stores: &'a [Store], rest: Val) -> Checked {
        if self.endings.is_empty() && !matches!(self.next_scalar()?, Scalar::Bind(_)) {
            return Err("a super-step should end here".into());
        }
        if self.next_scalar()? != Scalar::Decrement(Gpr::RBP) {
            return Err("super-steps should be counted".into());
        }
        let out = self.jump_if(Condition::Zero)?;
        let next = self.at;
        let mark = self.state.mark();
        self.at = self.place_of(out)? + 1;
        if self.end_event(stores, &[rest], &[])?.is_some() {
            return Err("nothing is to be told here".into());
        }
        self.are_stored(stores, rest)?;
        self.returns_at(self.at)?;
        self.state.back_to(&mark);
        self.state.end(&mark);
        self.at = next;
        self.moves()
    }

    /// The function returns here with the number of super-steps that are left.
    fn returns_at(&self, at: usize) -> Checked {
        let expected = [Scalar::Move(Gpr::RAX, Gpr::RBP), Scalar::Leaving];
        let events = self.events[at..].iter();
        let mut events = events.skip_while(|e| matches!(e, Event::Scalar(Scalar::Bind(_))));
        let is_there = expected.iter().all(
            |expected| matches!(events.next(), Some(Event::Scalar(scalar)) if scalar == expected),
        );
        is_there
            .then_some(())
            .ok_or_else(|| "the function should return here".into())
    }
}
