//! A whole function: its beginning, its end, and the loop over super-steps.

use super::{Emitter, slots::HEADER};
use crate::codegen::{
    abi::offset,
    vector::{
        encode::{Address, Condition, Gpr, Label, Operand},
        fault::{Fault, is_seeded},
        target::Target,
        tree::{Class, Finish, Home, Logic, Store, Val},
    },
};

/// Registers that belong to the caller.
const CALLERS: [Gpr; 6] = [Gpr::RBP, Gpr::RBX, Gpr::R12, Gpr::R13, Gpr::R14, Gpr::R15];
/// Bytes that can be taken from the stack before looking whether they are there.
const PAGE: i32 = 4096;
/// The most bytes that a function takes from the stack.
const MOST_STACK: usize = 1 << 18;
/// The greatest share of registers that variables of the loop over super-steps have at first; the others are for intermediate
/// values.
const SHARE: (usize, usize) = (3, 5);

impl<T: Target> Emitter<'_, T> {
    /// Emits the function; gives the place of its entry.
    pub(super) fn function(&mut self) -> Result<usize, String> {
        let asm = self.target.asm();
        let [body, constants] = [asm.label(), asm.label()];
        asm.bind(body);
        self.begin();
        if self.tree.repeats {
            self.steps();
        } else {
            let tree = self.tree;
            self.block(&tree.body);
            self.at = self.uses.end;
            self.finish();
        }
        let left = self.left;
        let asm = self.target.asm();
        asm.bind(left);
        // How many super-steps are left, if the caller needs it.
        asm.mov(Gpr::RAX, Gpr::RBP);
        self.leave();
        let slots = self.rare_calls();
        let stack = HEADER as usize + slots * T::BYTES as usize;
        if stack > MOST_STACK {
            return Err(format!("{stack} bytes of memory for values"));
        }
        let entry = self.target.asm().len();
        self.enter(stack as i32, body, constants);
        let asm = self.target.asm();
        asm.align(64);
        asm.bind(constants);
        asm.data(&self.tree.constants);
        Ok(entry)
    }

    /// The entry: saves the caller's registers, takes memory, and loads what all code refers to.
    fn enter(&mut self, stack: i32, body: Label, constants: Label) {
        let asm = self.target.asm();
        for r in CALLERS {
            asm.push(r);
        }
        asm.mov(Gpr::RAX, Gpr::RSP);
        let mut left = stack;
        while left > PAGE {
            asm.sub(Gpr::RSP, PAGE);
            asm.store64(Gpr::RSP.at(0), Gpr::RAX);
            left -= PAGE;
        }
        asm.sub(Gpr::RSP, left);
        asm.and(Gpr::RSP, -64);
        asm.store64(Gpr::RSP.at(0), Gpr::RAX);
        asm.mov(Gpr::RBX, Gpr::RDI);
        if self.tree.repeats {
            asm.mov(Gpr::RBP, Gpr::RSI);
        } else {
            asm.load64(Gpr::RBP, Gpr::RBX.at(offset::ARGS));
        }
        for (r, at) in [
            (Gpr::R12, offset::GLOBALS),
            (Gpr::R13, offset::IMAGES),
            (Gpr::R15, offset::STATE),
        ] {
            asm.load64(r, Gpr::RBX.at(at));
        }
        asm.lea_label(Gpr::R14, constants);
        asm.jump(body);
    }

    fn leave(&mut self) {
        let asm = self.target.asm();
        asm.vzeroupper();
        asm.load64(Gpr::RSP, Gpr::RSP.at(0));
        for r in CALLERS.into_iter().rev() {
            asm.pop(r);
        }
        asm.ret();
    }

    /// Finds out which lanes run.
    fn begin(&mut self) {
        let r = self.free_register(T::file(Class::Mask), &[]);
        let table = self.place_address(self.tree.bits);
        let bits = Gpr::RBX.at(offset::MASK);
        self.target.lanes_of_bits(r, bits, table);
        self.bind(Val::ACTIVE, r);
        self.spill(Val::ACTIVE, r);
    }

    /// Stores the results of a function that runs once.
    fn finish(&mut self) {
        match &self.tree.finish {
            Finish::Results(values) => {
                self.target
                    .asm()
                    .load64(Gpr::RCX, Gpr::RBX.at(offset::RESULTS));
                for (n, &v) in values.iter().enumerate() {
                    self.pinned.clear();
                    let r = self.in_scratch(v);
                    let to = Gpr::RCX.at(n as i32 * T::BYTES);
                    self.target.store(Class::Vector, to, r);
                }
            }
            Finish::State { ended, stores } => {
                for (lanes, at) in ended.iter().flatten().zip([offset::STABLE, offset::DEAD]) {
                    self.pinned.clear();
                    let lanes = self.reg(*lanes);
                    let active = self.reg(Val::ACTIVE);
                    let scratch = T::scratch(Class::Mask);
                    self.target.logic(Logic::And, scratch, lanes, active);
                    self.target.bits_of_lanes(Gpr::RAX, scratch);
                    self.target.asm().store32(Gpr::RBX.at(at), Gpr::RAX);
                }
                for store in stores {
                    self.pinned.clear();
                    let active = self.reg(Val::ACTIVE);
                    self.store_state(store, active);
                }
            }
        }
        self.leave();
    }

    /// Stores a plane of the state for some lanes.
    fn store_state(&mut self, store: &Store, lanes: u8) {
        if store.packed {
            return self.pack(store, lanes);
        }
        let r = self.in_scratch(store.value);
        self.target.store_under(Gpr::R15.at(store.at), r, lanes);
    }

    /// Stores words of 32 bits that are 64 bits apart, one by one; lanes that do not run get their old words back.
    fn pack(&mut self, store: &Store, lanes: u8) {
        let slot = self.memory.take(1);
        self.unpack_to(slot, store.at);
        let from = self.slot_address(slot);
        let value = Operand::Register(self.reg(store.value));
        self.target.load(Class::Vector, T::SCRATCH, from);
        self.target.merge(T::SCRATCH, value, lanes);
        self.target.store(Class::Vector, from, T::SCRATCH);
        let count = self.lanes();
        let asm = self.target.asm();
        for lane in 0..count {
            let half = Address {
                base: from.base,
                displacement: from.displacement + lane * T::BYTES / count,
            };
            asm.load32(Gpr::RAX, half);
            asm.store32(Gpr::R15.at(store.at + lane * 8), Gpr::RAX);
        }
        self.memory.give_back(slot);
    }

    /// Runs as many super-steps as wanted, or until no lane is left. The state is in registers meanwhile; that of lanes that
    /// end is stored when they do.
    fn steps(&mut self) {
        let Finish::State {
            ended: Some(ended),
            stores,
        } = &self.tree.finish
        else {
            unreachable!("methods are repeated");
        };
        let carried: Vec<(Val, Val, i32)> = stores
            .iter()
            .filter_map(|store| Some((store.before?, store.value, store.at)))
            .filter(|(before, ..)| self.uses.last(*before).is_some())
            .collect();
        let most = T::registers(T::file(Class::Vector)).len() * SHARE.0 / SHARE.1;
        for (n, &(v, next, at)) in carried.iter().enumerate() {
            let from = Gpr::R15.at(at);
            if n < most {
                let r = self.free_register(self.file(v), &[]);
                self.target.load(Class::Vector, r, from);
                self.bind(v, r);
                self.hints[next.index()] = Some(r);
            } else {
                let slot = self.memory.take(1);
                let to = self.slot_address(slot);
                self.target.load(Class::Vector, T::SCRATCH, from);
                self.target.store(Class::Vector, to, T::SCRATCH);
                self.bind_slot(v, slot);
            }
        }
        let before = self.remember();
        let asm = self.target.asm();
        let [head, back, some_end, out, done] = [(); 5].map(|()| asm.label());
        asm.align(32);
        asm.bind(head);
        let tree = self.tree;
        self.block(&tree.body);
        self.at = self.uses.end;
        let active = self.reg(Val::ACTIVE);
        let mut endings: Vec<(u8, i32)> = Vec::new();
        for (&lanes, at) in ended.iter().zip([offset::STABLE, offset::DEAD]) {
            if self.home(lanes) != Home::Truth(false) {
                endings.push((self.reg(lanes), at));
            }
        }
        let ending = self.temporary(Class::Mask);
        if let Some(&(first, _)) = endings.first() {
            let (last, _) = endings[endings.len() - 1];
            self.target.logic(Logic::Or, ending, first, last);
            self.target.logic(Logic::And, ending, ending, active);
            self.target.test(ending);
            self.target.asm().jump_if(Condition::NotZero, some_end);
        }
        let at_end = self.remember();
        let asm = self.target.asm();
        asm.bind(back);
        asm.dec(Gpr::RBP);
        asm.jump_if(Condition::Zero, out);
        let next: Vec<(Val, Val)> = carried.iter().map(|&(v, next, _)| (v, next)).collect();
        self.again(&before, &next);
        self.target.asm().jump(head);

        self.reset(&at_end);
        self.target.asm().bind(some_end);
        if !endings.is_empty() {
            let forgotten = usize::from(is_seeded(Fault::EndedNotStored));
            for store in stores.iter().skip(forgotten) {
                self.store_state(store, ending);
            }
            for (lanes, at) in endings {
                let scratch = T::scratch(Class::Mask);
                self.target.logic(Logic::And, scratch, lanes, active);
                self.target.bits_of_lanes(Gpr::RAX, scratch);
                self.target.asm().or_memory32(Gpr::RBX.at(at), Gpr::RAX);
            }
            if !is_seeded(Fault::ActiveNotUpdated) {
                self.target.logic(Logic::AndNot, active, ending, active);
            }
            let slot = self.slot_of[Val::ACTIVE.index()].expect("it has one from the beginning");
            let to = self.slot_address(slot);
            self.target.store(Class::Mask, to, active);
            self.target.test(active);
            let asm = self.target.asm();
            asm.jump_if(Condition::NotZero, back);
            asm.dec(Gpr::RBP);
            asm.jump(done);
        }
        self.target.asm().bind(out);
        let seeded = is_seeded(Fault::StoredForOthers);
        let stored = if seeded { ending } else { active };
        for store in stores {
            self.store_state(store, stored);
        }
        let asm = self.target.asm();
        asm.bind(done);
        asm.mov(Gpr::RAX, Gpr::RBP);
        self.leave();
    }
}
