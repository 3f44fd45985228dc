//! From a tree of machine operations to code: one pass in order that chooses registers and emits.

mod calls;
mod control;
mod finish;
mod registers;
mod slots;

use super::{
    encode::{Gpr, Label, Operand},
    fault::{Fault, is_seeded},
    live::Uses,
    target::{Target, Temporaries},
    tree::{Block, Class, Gather, Kind, Node, Op, Tree, Val},
};
use control::Around;
use registers::{Files, MOST};
use rustc_hash::FxHashSet;
use slots::{Slot, Slots};

/// Emits a function for a machine. Gives the machine with the code, and where the code is entered.
pub(super) fn emit<T: Target>(
    mut target: T,
    tree: &Tree,
    uses: &Uses,
) -> Result<(T, usize), String> {
    let left = target.asm().label();
    let mut emitter = Emitter {
        target,
        tree,
        uses,
        at: 0,
        files: [[None; MOST]; 2],
        registers: vec![None; tree.values.len()],
        slot_of: vec![None; tree.values.len()],
        in_slots: Vec::new(),
        memory: Slots::default(),
        pinned: Vec::new(),
        hints: vec![None; tree.values.len()],
        around: Vec::new(),
        in_place: FxHashSet::default(),
        rare: Vec::new(),
        left,
    };
    let entry = emitter.function()?;
    Ok((emitter.target, entry))
}

/// The state of emitting one function.
struct Emitter<'a, T> {
    target: T,
    tree: &'a Tree,
    uses: &'a Uses,
    /// The current step.
    at: u32,
    files: Files,
    /// The register and the slot of each value.
    registers: Vec<Option<u8>>,
    slot_of: Vec<Option<Slot>>,
    in_slots: Vec<Val>,
    memory: Slots,
    /// Registers, by file, that the current step uses.
    pinned: Vec<(usize, u8)>,
    /// The register in which a value would best be.
    hints: Vec<Option<u8>>,
    /// The branches around the current step.
    around: Vec<Around<'a>>,
    /// Results of branches that have taken the place of what a branch around them starts with.
    in_place: FxHashSet<Val>,
    /// Calls that are rarely made; their code is at the end.
    rare: Vec<calls::Rare>,
    /// Where the function ends without storing anything.
    left: Label,
}

impl<'a, T: Target> Emitter<'a, T> {
    fn block(&mut self, block: &'a Block) {
        for node in &block.nodes {
            self.node(node);
        }
        self.at = block.end;
        self.pinned.clear();
    }

    fn node(&mut self, node: &'a Node) {
        self.at = node.at;
        self.pinned.clear();
        match &node.kind {
            Kind::Op { op, result, args } => self.op(*op, *result, args),
            Kind::Call(call) => self.call(call),
            Kind::Report(call) => self.report(call),
            Kind::Tent { call, inside } => self.tent(call, *inside),
            Kind::Gather(gather) => self.gather(gather),
            Kind::Unpack { result, at } => self.unpack(*result, *at),
            Kind::If(branch) => self.branch(branch),
            Kind::For(repeat) => self.repeat(repeat),
        }
    }

    /// A register for the result of the current step; those of its operands that are not used later are free.
    fn result(&mut self, v: Val, args: &[Val], best: Option<u8>) -> u8 {
        self.release_registers(args);
        let wanted = [self.hints[v.index()], best];
        let r = self.free_register(self.file(v), &wanted);
        self.bind(v, r);
        r
    }

    fn op(&mut self, op: Op, result: Val, args: &[Val]) {
        match op {
            Op::Binary(binary) => {
                let (mut x, mut y) = (args[0], args[1]);
                let held = |v: Val| self.registers[v.index()].is_some();
                if binary.commutes() && !held(x) && held(y) {
                    std::mem::swap(&mut x, &mut y);
                }
                let a = self.reg(x);
                let b = self.operand(y);
                let to = self.result(result, args, Some(a));
                let (a, b) = match b {
                    Operand::Register(b) if is_seeded(Fault::OperandsSwapped) => {
                        (b, Operand::Register(a))
                    }
                    _ => (a, b),
                };
                self.target.binary(binary, to, a, b);
            }
            Op::Unary(unary) => {
                let a = self.operand(args[0]);
                let to = self.result(result, args, None);
                self.target.unary(unary, to, a);
            }
            Op::Compare(compare) => {
                let a = self.reg(args[0]);
                let under = args.get(2).map(|&mask| self.reg(mask));
                let b = self.operand(args[1]);
                let to = self.result(result, args, under);
                self.target.compare(compare, to, a, b, under);
            }
            Op::Select => {
                let mask = self.reg(args[0]);
                let b = self.reg(args[2]);
                let a = self.operand(args[1]);
                let to = self.result(result, args, Some(b));
                self.target.select(to, mask, a, b);
            }
            Op::Logic(logic) => {
                let [a, b] = [0, 1].map(|n| self.reg(args[n]));
                let to = self.result(result, args, Some(a));
                self.target.logic(logic, to, a, b);
            }
            Op::Not => {
                let a = self.reg(args[0]);
                let to = self.result(result, args, Some(a));
                self.target.not(to, a);
            }
            Op::SelectMask => {
                let [mask, a, b] = [0, 1, 2].map(|n| self.reg(args[n]));
                let to = self.result(result, args, None);
                self.target.select_mask(to, mask, a, b);
            }
            Op::ToMask => {
                let a = self.operand(args[0]);
                let to = self.result(result, args, None);
                self.target.to_mask(to, a);
            }
            Op::ToWord => {
                let a = self.reg(args[0]);
                let to = self.result(result, args, None);
                self.target.to_word(to, a);
            }
        }
        self.release(args);
        self.release(&[result]);
    }

    fn gather(&mut self, gather: &Gather) {
        let lanes = self.reg(gather.lanes);
        let addresses: Vec<u8> = gather.addresses.iter().map(|&v| self.reg(v)).collect();
        // None of these may be a register that is still read.
        let to = self.temporary(Class::Vector);
        let temporaries = Temporaries {
            vector: self.temporary(Class::Vector),
            mask: self.temporary(Class::Mask),
        };
        let base = Gpr::RAX;
        match gather.origin {
            Some(origin) => {
                let asm = self.target.asm();
                asm.load64(base, Gpr::RBX.at(origin));
                asm.lea(base, base.at(gather.displacement));
            }
            None => self.target.asm().mov_number(base, 0),
        }
        self.target
            .gather(to, base, &addresses, lanes, gather.narrow, temporaries);
        self.bind(gather.result, to);
        self.release(&gather.addresses);
        self.release(&[gather.lanes, gather.result]);
    }

    /// A register that is free during this step.
    fn temporary(&mut self, class: Class) -> u8 {
        let file = T::file(class);
        let r = self.free_register(file, &[]);
        self.pinned.push((file, r));
        r
    }

    /// Loads lanes from memory, one by one: words of 32 bits that are 64 bits apart.
    fn unpack(&mut self, result: Val, at: i32) {
        let slot = self.memory.take(1);
        self.unpack_to(slot, at);
        self.bind_slot(result, slot);
        self.release(&[result]);
    }

    fn unpack_to(&mut self, slot: Slot, at: i32) {
        let lanes = self.lanes();
        let to = self.slot_address(slot);
        let asm = self.target.asm();
        for lane in 0..lanes {
            asm.load32(Gpr::RAX, Gpr::R15.at(at + lane * 8));
            let to = to.base.at(to.displacement + lane * T::BYTES / lanes);
            if T::BYTES / lanes == 8 {
                asm.store64(to, Gpr::RAX);
            } else {
                asm.store32(to, Gpr::RAX);
            }
        }
    }

    fn lanes(&self) -> i32 {
        self.tree.width as i32
    }

    /// Makes a vector operand be in a register, which is the scratch register if it was in none.
    fn in_scratch(&mut self, v: Val) -> u8 {
        match self.operand(v) {
            Operand::Register(r) => r,
            Operand::Memory(_) | Operand::Broadcast(_) => {
                self.fetch(v, T::SCRATCH);
                T::SCRATCH
            }
        }
    }
}
