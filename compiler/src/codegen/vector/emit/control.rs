//! Branches and loops.

use super::{
    Emitter,
    registers::{Arrival, Snapshot, Spot},
};
use crate::codegen::{
    abi::offset,
    vector::{
        encode::{Condition, Gpr},
        fault::{Fault, is_seeded},
        target::Target,
        tree::{Arm, Block, Class, For, Home, If, Kind, Logic, Merge, Test, Val, Variable},
    },
};

/// A branch that is being emitted.
pub(super) struct Around<'a> {
    branch: &'a If,
    arm: usize,
    /// How its results began.
    starts: Vec<Start>,
}

/// How a result of a branch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// The first arm that gives it decides where it is.
    Open,
    /// It has a place of its own from the beginning.
    Own,
    /// It takes the place of a value that is not used afterwards.
    InPlaceOf(Val),
}

impl<'a, T: Target> Emitter<'a, T> {
    pub(super) fn branch(&mut self, branch: &'a If) {
        let mut starts: Vec<Start> = branch
            .merges
            .iter()
            .map(|merge| self.start(branch, merge))
            .collect();
        for (merge, start) in branch.merges.iter().zip(&starts) {
            if let (Some(from), Start::Own) = (merge.start, start) {
                self.pinned.clear();
                self.copy_to(merge.result, from);
            }
        }
        for (n, arm) in branch.arms.iter().enumerate() {
            self.at = arm.start;
            self.pinned.clear();
            let skip = self.target.asm().label();
            match arm.test {
                Test::Lanes => {
                    let mask = self.reg(arm.mask);
                    self.target.test(mask);
                    self.target.asm().jump_if(Condition::Zero, skip);
                }
                Test::Byte(place, truth) => {
                    let at = self.place_address(place);
                    let asm = self.target.asm();
                    asm.compare_byte(at, 0);
                    let otherwise = if truth {
                        Condition::Zero
                    } else {
                        Condition::NotZero
                    };
                    asm.jump_if(otherwise, skip);
                }
            }
            let before = self.remember();
            self.around.push(Around {
                branch,
                arm: n,
                starts: starts.clone(),
            });
            self.block(&arm.block);
            self.around.pop();
            self.meet(branch, n, &mut starts, &before);
            self.unreserve(&before);
            self.target.asm().bind(skip);
        }
        self.sweep();
    }

    /// Puts a copy of a value into a register for another one.
    fn copy_to(&mut self, to: Val, from: Val) {
        let file = self.file(to);
        match self.registers[from.index()] {
            Some(source) if is_seeded(Fault::InPlaceThoughUsed) => {
                self.files[file][usize::from(source)] = Some(to);
                self.registers[to.index()] = Some(source);
            }
            Some(source) => {
                self.pin(from, source);
                let r = self.free_register(file, &[self.hints[to.index()]]);
                let class = self.class(to);
                self.target.copy(class, r, source);
                self.bind(to, r);
            }
            None => {
                let r = self.free_register(file, &[self.hints[to.index()]]);
                self.fetch(from, r);
                self.bind(to, r);
            }
        }
    }

    /// How a result begins.
    fn start(&mut self, branch: &If, merge: &Merge) -> Start {
        let Some(from) = merge.start else {
            return Start::Open;
        };
        let arm = merge.yields.iter().position(Option::is_some);
        let end = branch.arms[arm.expect("some arm changes it")].block.end;
        let yields = branch.merges.iter().flat_map(|m| m.yields.iter().flatten());
        let starts = branch.merges.iter().filter_map(|m| m.start.as_ref());
        let elsewhere = yields.chain(starts).filter(|&&v| v == from).count() > 1
            || branch.arms.iter().any(|arm| arm.mask == from);
        if elsewhere || self.home(from) != Home::None || from == Val::ACTIVE {
            return Start::Own;
        }
        // A branch around this one may have a result in the place of the same value, and get this result: then it stands where that
        // branch wants it, and the value is not needed for itself.
        let mut later = self.uses.later(from, end).iter();
        let mut result = merge.result;
        for around in self.around.iter().rev() {
            let around_end = around.branch.arms[around.arm].block.end;
            let merges = around.branch.merges.iter().zip(&around.starts);
            let mut givens = merges.filter(|(m, _)| m.yields[around.arm] == Some(result));
            match (givens.next(), givens.next()) {
                (Some((outer, Start::InPlaceOf(place))), None) if *place == from => {
                    if later.next() != Some(&around_end) {
                        return Start::Own;
                    }
                    result = outer.result;
                }
                _ => break,
            }
        }
        if later.next().is_some() {
            return Start::Own;
        }
        if result != merge.result {
            self.in_place.insert(merge.result);
        }
        Start::InPlaceOf(from)
    }

    /// Ends an arm: merges its results and brings all values back to where they are if the arm does not run.
    fn meet(&mut self, branch: &If, n: usize, starts: &mut [Start], before: &Snapshot) {
        let arm = &branch.arms[n];
        // What stood somewhere before, what stands there now, and from where it comes.
        let mut replaced: Vec<(Val, Val, Val)> = Vec::new();
        let mut opened: Vec<(Val, Val)> = Vec::new();
        for (merge, start) in branch.merges.iter().zip(starts) {
            let (Some(y), result) = (merge.yields[n], merge.result) else {
                continue;
            };
            self.pinned.clear();
            // An arm for all lanes may replace a value as a whole, but not where the value belongs to a branch around this
            // one, whose other lanes still need it.
            let all = matches!(arm.test, Test::Byte(..))
                && (!self.in_place.contains(&result) || is_seeded(Fault::LostMask));
            match *start {
                Start::Open => {
                    opened.push((result, y));
                    *start = Start::Own;
                }
                Start::InPlaceOf(from) if self.in_place.remove(&y) => {
                    self.rename(y, result);
                    replaced.push((from, result, result));
                }
                Start::InPlaceOf(from) if all => replaced.push((from, result, y)),
                Start::InPlaceOf(from) => {
                    self.merge(from, y, arm);
                    self.drop_slot(from);
                    self.rename(from, result);
                    replaced.push((from, result, result));
                }
                Start::Own if all => replaced.push((result, result, y)),
                Start::Own => {
                    self.merge(result, y, arm);
                    self.drop_slot(result);
                    replaced.push((result, result, result));
                }
            }
        }
        self.pinned.clear();
        self.restore(before, &replaced, &opened);
    }

    /// Changes a value in the lanes of an arm.
    fn merge(&mut self, v: Val, y: Val, arm: &Arm) {
        let seeded = is_seeded(Fault::MergeUnderActive);
        self.merge_under(v, y, if seeded { Val::ACTIVE } else { arm.mask });
    }

    fn merge_under(&mut self, v: Val, y: Val, mask: Val) {
        let to = self.reg(v);
        let mask = self.reg(mask);
        match (self.class(v), self.home(y)) {
            (Class::Vector, _) => {
                let from = self.operand(y);
                if !is_seeded(Fault::MergeOmitted) {
                    self.target.merge(to, from, mask);
                }
            }
            (Class::Mask, Home::Truth(true)) => self.target.logic(Logic::Or, to, to, mask),
            (Class::Mask, Home::Truth(false)) => self.target.logic(Logic::AndNot, to, mask, to),
            (Class::Mask, _) => {
                let from = self.reg(y);
                self.target.select_mask(to, mask, from, to);
            }
        }
    }

    fn restore(&mut self, before: &Snapshot, replaced: &[(Val, Val, Val)], opened: &[(Val, Val)]) {
        let mut arrivals = Vec::new();
        let mut kept = Vec::new();
        let find = |v: Val| replaced.iter().find(|(old, ..)| *old == v);
        let mut in_registers = Vec::new();
        for (file, registers) in before.files.iter().enumerate() {
            for (r, v) in registers.iter().enumerate() {
                let Some(v) = *v else { continue };
                in_registers.push(v);
                let (value, from) = match find(v) {
                    Some(&(_, value, from)) => (value, from),
                    None if self.is_used_later(v) => (v, v),
                    None => continue,
                };
                debug_assert_eq!(self.file(value), file);
                let spot = Spot::Register(r as u8);
                arrivals.push(Arrival { spot, value, from });
            }
        }
        for &(v, slot) in &before.slots {
            match find(v) {
                // Its place is the register.
                Some(_) if in_registers.contains(&v) => {}
                Some(&(_, value, from)) => {
                    let spot = Spot::Slot(slot);
                    arrivals.push(Arrival { spot, value, from });
                }
                None if self.is_used_later(v) => kept.push((v, slot)),
                None => {}
            }
        }
        for &(value, from) in opened {
            let spot = self.open_spot(value, from, &arrivals);
            arrivals.push(Arrival { spot, value, from });
        }
        self.settle(&arrivals, &kept);
    }

    /// A place for a result that is where nothing else will be.
    fn open_spot(&mut self, value: Val, from: Val, arrivals: &[Arrival]) -> Spot {
        let file = self.file(value);
        let is_free = |r: &u8, this: &Self| {
            let taken = |a: &Arrival| a.spot == Spot::Register(*r) && this.file(a.value) == file;
            !arrivals.iter().any(taken)
        };
        let there = self.registers[from.index()].filter(|r| is_free(r, self));
        let hint = self.hints[value.index()].filter(|r| is_free(r, self));
        there
            .or(hint)
            .or_else(|| T::registers(file).find(|r| is_free(r, self)))
            .map_or_else(|| Spot::Slot(self.memory.take(1)), Spot::Register)
    }

    pub(super) fn repeat(&mut self, repeat: &'a For) {
        for variable in &repeat.variables {
            self.pinned.clear();
            let init = variable.init;
            let inits = repeat.variables.iter().filter(|v| v.init == init);
            let is_free = self.home(init) == Home::None
                && !self.is_used_later(init)
                && self.registers[init.index()].is_some()
                && inits.count() == 1;
            if is_free {
                self.drop_slot(init);
                self.rename(init, variable.value);
            } else {
                self.copy_to(variable.value, init);
            }
        }
        let variables: Vec<Val> = repeat.variables.iter().map(|v| v.value).collect();
        self.sweep();
        self.leave_before(&repeat.body, &variables);
        self.at = repeat.start;
        self.pinned.clear();
        let mask = self.reg(repeat.mask);
        self.forget_slots(&variables);
        let [head, exit] = [(); 2].map(|()| self.target.asm().label());
        let before = self.remember();
        for variable in &repeat.variables {
            self.hints[variable.next.index()] = self.registers[variable.value.index()];
        }
        self.target.asm().bind(head);
        self.target.test(mask);
        self.target.asm().jump_if(Condition::Zero, exit);
        self.block(&repeat.body);
        let keeps = |v: &&Variable| v.kept && !is_seeded(Fault::VariableNotKept);
        for variable in repeat.variables.iter().filter(keeps) {
            if variable.next != variable.value {
                self.pinned.clear();
                self.merge_under(variable.value, variable.next, repeat.mask);
                self.drop_slot(variable.value);
            }
        }
        self.pinned.clear();
        let next: Vec<(Val, Val)> = repeat
            .variables
            .iter()
            .map(|v| (v.value, if keeps(&v) { v.value } else { v.next }))
            .collect();
        self.again(&before, &next);
        if repeat.is_long {
            let left = self.left;
            let asm = self.target.asm();
            asm.load64(Gpr::RAX, Gpr::RBX.at(offset::STOP));
            asm.compare_byte(Gpr::RAX.at(0), 0);
            asm.jump_if(Condition::NotZero, left);
        }
        self.target.asm().jump(head);
        self.target.asm().bind(exit);
        self.reset(&before);
        self.unreserve(&before);
        self.at = repeat.body.end + 1;
        for variable in &repeat.variables {
            if let Some(result) = variable.result {
                self.rename(variable.value, result);
            }
        }
        self.sweep();
    }

    /// Before a loop, values that it does not use leave the registers. If it calls the runtime, all values but its variables do:
    /// otherwise they would be stored and loaded in every round.
    pub(super) fn leave_before(&mut self, body: &Block, variables: &[Val]) {
        let calls = has_call(body);
        let held: Vec<Val> = self.files.iter().flatten().flatten().copied().collect();
        for v in held {
            let next = self.uses.next(v, self.at + 1);
            let used = next.is_some_and(|p| p <= body.end);
            if !variables.contains(&v) && (calls || !used) {
                self.leave_register(v);
            }
        }
    }

    /// Values that change and are in registers have no copy in memory.
    pub(super) fn forget_slots(&mut self, variables: &[Val]) {
        for &v in variables {
            if self.registers[v.index()].is_some() {
                self.drop_slot(v);
            }
        }
    }

    /// Brings everything back to where it was at the beginning of a loop, variables with their next values.
    pub(super) fn again(&mut self, before: &Snapshot, next: &[(Val, Val)]) {
        let from = |v: Val| {
            next.iter()
                .find(|(value, _)| *value == v)
                .map(|(_, next)| *next)
        };
        let mut arrivals = Vec::new();
        let mut kept = Vec::new();
        for registers in &before.files {
            for (r, v) in registers.iter().enumerate() {
                if let Some(value) = *v {
                    let spot = Spot::Register(r as u8);
                    let from = from(value).unwrap_or(value);
                    arrivals.push(Arrival { spot, value, from });
                }
            }
        }
        for &(value, slot) in &before.slots {
            match from(value) {
                Some(from) => {
                    let spot = Spot::Slot(slot);
                    arrivals.push(Arrival { spot, value, from });
                }
                None => kept.push((value, slot)),
            }
        }
        self.settle(&arrivals, &kept);
    }
}

fn has_call(block: &Block) -> bool {
    block.nodes.iter().any(|node| match &node.kind {
        Kind::Call(_) => true,
        Kind::If(branch) => branch.arms.iter().any(|arm| has_call(&arm.block)),
        Kind::For(repeat) => has_call(&repeat.body),
        _ => false,
    })
}
