//! Calls of the runtime. They preserve no vector or mask register, so values that are needed afterwards go to memory first.
//!
//! Rare calls are placed at the end of the code and save all registers themselves, so that the usual path does not pay for
//! them.

use super::{Emitter, registers::MOST, slots::Slot};
use crate::codegen::{
    abi::offset,
    vector::{
        encode::{Condition, Gpr, Label, Operand},
        fault::{Fault, is_seeded},
        target::{TENT_ROOM, TENT_VECTORS, Target, Tent},
        tree::{Argument, Call, Class, Val},
    },
};
use runtime::probe::{Linear, ProbeImage};
use std::mem::offset_of;

/// The registers of arguments.
const ARGUMENTS: [Gpr; 5] = [Gpr::RDI, Gpr::RSI, Gpr::RDX, Gpr::RCX, Gpr::R8];

/// A call that is made only if it has lanes.
pub(super) struct Rare {
    call: Call,
    /// Where its code begins, and where it goes on afterwards.
    start: Label,
    back: Label,
    lanes: u8,
    /// Where the values are that it is given.
    values: Vec<Operand>,
    /// The registers that must not change.
    held: Vec<(Class, u8)>,
    /// The register for its result, if it has one.
    result: Option<u8>,
}

impl<T: Target> Emitter<'_, T> {
    pub(super) fn call(&mut self, call: &Call) {
        let values = self.memory.take(call.values.len());
        for (n, &v) in call.values.iter().enumerate() {
            self.pinned.clear();
            let seeded = is_seeded(Fault::WrongArgument);
            let r = self.in_scratch(if seeded { call.values[0] } else { v });
            let to = self.slot_address(values.after(n));
            self.target.store(Class::Vector, to, r);
        }
        self.pinned.clear();
        let lanes = call
            .arguments
            .contains(&Argument::Lanes)
            .then(|| self.reg(call.lanes));
        let results = self.memory.take(call.results.len());
        self.arguments(call, lanes, values, results);
        self.leave_registers();
        let asm = self.target.asm();
        asm.mov_number(Gpr::RAX, call.function as u64);
        asm.call(Gpr::RAX);
        for n in 0..call.values.len() {
            self.memory.give_back(values.after(n));
        }
        for (n, &v) in call.results.iter().enumerate() {
            self.bind_slot(v, results.after(n));
        }
        self.release(&call.values);
        self.release(&[call.lanes]);
        self.release(&call.results);
    }

    /// Puts arguments where a called function looks for them.
    fn arguments(&mut self, call: &Call, lanes: Option<u8>, values: Slot, results: Slot) {
        for (&argument, to) in call.arguments.iter().zip(ARGUMENTS) {
            match argument {
                Argument::Frame => self.target.asm().mov(to, Gpr::RBX),
                Argument::Lanes => {
                    let lanes = lanes.expect("the lanes are in a register");
                    self.target.bits_of_lanes(to, lanes);
                }
                Argument::Number(number) => self.target.asm().mov_number(to, number),
                Argument::Field(index) => {
                    let asm = self.target.asm();
                    asm.load64(to, Gpr::RBX.at(offset::FIELDS));
                    asm.load64(to, to.at(index as i32 * 8));
                }
                Argument::Values => {
                    let at = self.slot_address(values);
                    self.target.asm().lea(to, at);
                }
                Argument::Results(first) => {
                    let at = self.slot_address(results.after(first));
                    self.target.asm().lea(to, at);
                }
            }
        }
    }

    /// Everything that is used later goes to memory.
    fn leave_registers(&mut self) {
        let held: Vec<Val> = self.files.iter().flatten().flatten().copied().collect();
        let forgotten = usize::from(is_seeded(Fault::CallNotSaved));
        for v in held.into_iter().skip(forgotten) {
            if self.is_used_later(v) {
                self.leave_register(v);
            } else {
                self.drop_register(v);
            }
        }
        self.pinned.clear();
    }

    pub(super) fn report(&mut self, call: &Call) {
        let lanes = self.reg(call.lanes);
        let values = call.values.iter().map(|&v| self.operand(v)).collect();
        let (start, back) = self.rarely(call, lanes, values, None);
        self.target.test(lanes);
        self.target.asm().jump_if(Condition::NotZero, start);
        self.target.asm().bind(back);
        self.release(&call.values);
        self.release(&[call.lanes]);
    }

    /// Prepares a call that is rarely made: where its code begins, and where it goes on afterwards.
    fn rarely(
        &mut self,
        call: &Call,
        lanes: u8,
        values: Vec<Operand>,
        result: Option<u8>,
    ) -> (Label, Label) {
        let registers = self.files.iter().flatten().enumerate();
        let held = registers
            .filter_map(|(n, v)| Some((self.class((*v)?), (n % MOST) as u8)))
            .collect();
        let asm = self.target.asm();
        let [start, back] = [asm.label(), asm.label()];
        self.rare.push(Rare {
            call: call.clone(),
            start,
            back,
            lanes,
            values,
            held,
            result,
        });
        (start, back)
    }

    /// Interpolates linearly in place, if the image allows it and no lane is outside.
    pub(super) fn tent(&mut self, call: &Call, inside: bool) {
        let one = self.tree.one.expect("made with the first probe in place");
        let lanes = self.reg(call.lanes);
        let positions: Vec<u8> = call.values.iter().map(|&v| self.reg(v)).collect();
        let to = self.temporary(Class::Vector);
        let vectors = [(); TENT_VECTORS].map(|()| self.temporary(Class::Vector));
        let active = self.reg(Val::ACTIVE);
        let mask = self.temporary(Class::Mask);
        let operands = positions.iter().map(|&r| Operand::Register(r)).collect();
        let (start, back) = self.rarely(call, lanes, operands, Some(to));
        let Some(&Argument::Field(index)) = call.arguments.first() else {
            unreachable!("a probe is given its image first");
        };
        let image = Gpr::RDI;
        let usable = ProbeImage::LINEAR + offset_of!(Linear, usable);
        let asm = self.target.asm();
        asm.load64(image, Gpr::RBX.at(offset::FIELDS));
        asm.load64(image, image.at(index as i32 * 8));
        asm.compare_byte(image.at(usable as i32), 0);
        asm.jump_if(Condition::Zero, start);
        let one = self.place_address(one);
        let slots = self.memory.take(TENT_ROOM);
        let room = self.slot_address(slots);
        self.target.tent(&Tent {
            to,
            image,
            positions: &positions,
            elsewhere: (!inside).then_some(start),
            one,
            room,
            vectors,
            lanes,
            active,
            mask,
        });
        for n in 0..TENT_ROOM {
            self.memory.give_back(slots.after(n));
        }
        self.target.asm().bind(back);
        self.bind(call.results[0], to);
        self.release(&call.values);
        self.release(&[call.lanes]);
        self.release(&call.results);
    }

    /// Emits the calls that are rarely made; they use slots of their own. Gives the number of slots in all.
    pub(super) fn rare_calls(&mut self) -> usize {
        let first = Slot(self.memory.len() as u32);
        let mut most = 0;
        for rare in std::mem::take(&mut self.rare) {
            let Rare {
                call, held, values, ..
            } = &rare;
            most = most.max(held.len() + values.len() + call.results.len());
            self.target.asm().bind(rare.start);
            for (n, &(class, r)) in held.iter().enumerate() {
                let to = self.slot_address(first.after(n));
                self.target.store(class, to, r);
            }
            let given = first.after(held.len());
            for (n, &value) in values.iter().enumerate() {
                let to = self.slot_address(given.after(n));
                let r = match value {
                    Operand::Register(r) => r,
                    Operand::Memory(at) => {
                        self.target.load(Class::Vector, T::SCRATCH, at);
                        T::SCRATCH
                    }
                    Operand::Broadcast(at) => {
                        self.target.broadcast(T::SCRATCH, at);
                        T::SCRATCH
                    }
                };
                self.target.store(Class::Vector, to, r);
            }
            let results = given.after(values.len());
            self.arguments(call, Some(rare.lanes), given, results);
            let asm = self.target.asm();
            asm.mov_number(Gpr::RAX, call.function as u64);
            asm.call(Gpr::RAX);
            let forgotten = usize::from(is_seeded(Fault::RareCallNotSaved));
            for (n, &(class, r)) in held.iter().enumerate().skip(forgotten) {
                let from = self.slot_address(first.after(n));
                self.target.load(class, r, from);
            }
            if let Some(to) = rare.result {
                let from = self.slot_address(results);
                self.target.load(Class::Vector, to, from);
            }
            self.target.asm().jump(rare.back);
        }
        first.0 as usize + most
    }
}
