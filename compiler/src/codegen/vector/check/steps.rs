//! Steps that work lane by lane, gathers, and words that are unpacked.

use super::{
    Checked, Checker,
    lanes::LaneSet,
    record::{Event, Instr},
    state::{Content, Known, Location, Reading},
};
use crate::codegen::vector::{
    encode::{Address, Gpr, Operand, Scalar},
    tree::{Block, Class, Gather, Kind, Logic, Node, Op, Val},
};

impl<'a> Checker<'a> {
    pub(super) fn block(&mut self, block: &'a Block) -> Checked {
        block.nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'a Node) -> Checked {
        match &node.kind {
            Kind::Op { op, result, args } => self.op(*op, *result, args),
            Kind::Call(call) => self.call(call),
            Kind::Report(call) => self.report(call),
            Kind::Tent { call, .. } => self.tent(call),
            Kind::Gather(gather) => self.gather(gather),
            Kind::Unpack { result, at } => self.unpack(*result, *at),
            Kind::If(branch) => self.branch(branch),
            Kind::For(repeat) => self.repeat(repeat),
        }
    }

    /// The lanes in which an operation of masks has the outcome of its operands: one of them may decide alone.
    pub(super) fn logic_lanes(&mut self, op: Logic, args: [(Val, LaneSet); 2]) -> LaneSet {
        let [(a, certain_a), (b, certain_b)] = args;
        let [a, b] = [a, b].map(|v| self.outcome(v));
        let decides = match op {
            Logic::And => [!a, !b],
            Logic::Or => [a, b],
            Logic::AndNot => [a, !b],
        };
        certain_a & certain_b | certain_a & decides[0] | certain_b & decides[1]
    }

    /// When an operation of masks holds.
    pub(super) fn logic_outcome(&mut self, op: Logic, args: [Val; 2]) -> LaneSet {
        let [a, b] = args.map(|v| self.outcome(v));
        match op {
            Logic::And => a & b,
            Logic::Or => a | b,
            Logic::AndNot => b.without(a),
        }
    }

    fn op(&mut self, op: Op, result: Val, args: &[Val]) -> Checked {
        self.moves()?;
        let instr = self.next_operation()?;
        let mask = |this: &Self, r: u8| (Class::Mask, this.held(Class::Mask, r));
        let wrong = || format!("{op:?} is wanted for {result:?}");
        // What the instruction reads, in the order of the arguments, and where its result goes.
        let (to, operands, registers) = match (op, instr) {
            (Op::Binary(op), &Instr::Binary(done, to, a, b)) if op == done => {
                let contents = [self.operand(Operand::Register(a))?, self.operand(b)?];
                let mut contents = contents.map(|content| (Class::Vector, content));
                let fits = |contents: &[(Class, Content); 2]| {
                    let lanes = self.lanes_of(&contents[0].1, args[0])
                        & self.lanes_of(&contents[1].1, args[1]);
                    (self.running & self.state.possible).is_inside(lanes)
                };
                if op.commutes() && !fits(&contents) {
                    contents.swap(0, 1);
                }
                (to, contents.to_vec(), vec![Operand::Register(a), b])
            }
            (Op::Unary(op), &Instr::Unary(done, to, a)) if op == done => {
                (to, vec![(Class::Vector, self.operand(a)?)], vec![a])
            }
            (Op::Compare(op), &Instr::Compare(done, to, a, b, under)) if op == done => {
                let registers = vec![Operand::Register(a), b];
                let mut contents = Vec::new();
                for &operand in &registers {
                    contents.push((Class::Vector, self.operand(operand)?));
                }
                contents.extend(under.map(|r| mask(self, r)));
                (to, contents, registers)
            }
            (Op::Select, &Instr::Select { to, mask: m, a, b }) => {
                let registers = vec![a, Operand::Register(b)];
                let mut contents = vec![mask(self, m)];
                for &operand in &registers {
                    contents.push((Class::Vector, self.operand(operand)?));
                }
                (to, contents, registers)
            }
            (Op::Logic(op), &Instr::Logic(done, to, a, b)) if op == done => {
                (to, vec![mask(self, a), mask(self, b)], vec![])
            }
            (Op::Not, &Instr::Not(to, a)) => (to, vec![mask(self, a)], vec![]),
            (Op::SelectMask, &Instr::SelectMask { to, mask: m, a, b }) => {
                (to, [m, a, b].map(|r| mask(self, r)).to_vec(), vec![])
            }
            (Op::ToMask, &Instr::ToMask(to, a)) => {
                (to, vec![(Class::Vector, self.operand(a)?)], vec![a])
            }
            (Op::ToWord, &Instr::ToWord(to, a)) => (to, vec![mask(self, a)], vec![]),
            _ => return Err(wrong()),
        };
        if operands.len() != args.len() {
            return Err(wrong());
        }
        let class = self.class(result);
        let registers: Vec<_> = Self::registers_of(&registers)
            .chain([(class, to)])
            .collect();
        self.refuse_scratch(&registers)?;
        let lanes: Vec<LaneSet> = operands
            .iter()
            .zip(args)
            .map(|((_, content), v)| self.lanes_of(content, *v))
            .collect();
        let right = self.right_lanes(op, args, &lanes);
        if !(self.running & self.state.possible).is_inside(right) {
            for ((_, content), &v) in operands.iter().zip(args) {
                self.require(
                    content,
                    v,
                    self.running,
                    &format!("an operand of {result:?}"),
                )?;
            }
            return Err(format!("{result:?} is not right in all lanes"));
        }
        if class == Class::Mask {
            let outcome = self.op_outcome(op, result, args);
            self.set_outcome(result, outcome);
        }
        self.forget_scratch();
        self.write(class, to, Content::of(result, right));
        Ok(())
    }

    /// The lanes in which a result is right if its operands are right in some.
    fn right_lanes(&mut self, op: Op, args: &[Val], lanes: &[LaneSet]) -> LaneSet {
        match op {
            Op::Select | Op::SelectMask => {
                let mask = self.outcome(args[0]);
                lanes[0] & mask.choose(lanes[1], lanes[2])
            }
            Op::Logic(logic) => self.logic_lanes(logic, [(args[0], lanes[0]), (args[1], lanes[1])]),
            Op::Compare(_) if args.len() == 3 => {
                let mask = self.outcome(args[2]);
                lanes[2] & (lanes[0] & lanes[1] | !mask)
            }
            _ => lanes.iter().fold(LaneSet::ALL, |all, &one| all & one),
        }
    }

    fn op_outcome(&mut self, op: Op, result: Val, args: &[Val]) -> LaneSet {
        match op {
            Op::Logic(logic) => self.logic_outcome(logic, [args[0], args[1]]),
            Op::Not => !self.outcome(args[0]),
            Op::SelectMask => {
                let [mask, a, b] = [0, 1, 2].map(|n| self.outcome(args[n]));
                mask.choose(a, b)
            }
            Op::Compare(_) if args.len() == 3 => {
                let mask = self.outcome(args[2]);
                self.draw(result) & mask
            }
            _ => self.draw(result),
        }
    }

    fn gather(&mut self, gather: &Gather) -> Checked {
        self.moves_and_arguments()?;
        let &Instr::Gather {
            to,
            base,
            ref addresses,
            lanes,
            narrow,
            temporaries,
        } = self.next_operation()?
        else {
            return Err(format!("a gather is wanted for {:?}", gather.result));
        };
        let origin = match gather.origin {
            Some(origin) => Known::Beyond(origin, gather.displacement),
            None => Known::Number(0),
        };
        if self.known(base) != origin || narrow != gather.narrow {
            return Err("a gather reads somewhere else".into());
        }
        self.require_mask(
            &self.held(Class::Mask, lanes),
            gather.lanes,
            "the lanes of a gather",
        )?;
        let wanted = self.outcome(gather.lanes);
        let mut right = LaneSet::ALL;
        if addresses.len() != gather.addresses.len() {
            return Err("a gather has other addresses".into());
        }
        for (&r, &v) in addresses.iter().zip(&gather.addresses) {
            let content = self.held(Class::Vector, r);
            self.require(&content, v, wanted, "an address")?;
            right = right & (self.lanes_of(&content, v) | !wanted);
        }
        let read: Vec<Location> = addresses
            .iter()
            .map(|&r| self.register(Class::Vector, r))
            .chain([self.register(Class::Mask, lanes)])
            .collect();
        let written = [
            (Class::Vector, to),
            (Class::Vector, temporaries.vector),
            (Class::Mask, temporaries.mask),
        ];
        self.refuse_scratch(&written)?;
        self.distinct(&read, &written)?;
        for (class, r) in written {
            self.write(class, r, Content::default());
        }
        self.forget_scratch();
        self.write(Class::Vector, to, Content::of(gather.result, right));
        Ok(())
    }

    /// Registers that are written before others have been read must be other ones, and different.
    pub(super) fn distinct(&self, read: &[Location], written: &[(Class, u8)]) -> Checked {
        let mut seen = read.to_vec();
        for &(class, r) in written {
            let place = self.register(class, r);
            if seen.contains(&place) {
                return Err("an operand is overwritten before it has been read".into());
            }
            seen.push(place);
        }
        Ok(())
    }

    fn unpack(&mut self, result: Val, at: i32) -> Checked {
        self.moves()?;
        let old = self.old(at);
        let slot = self.unpacked(at)?;
        let lanes = self.state.content(slot).lanes(old);
        let mut content = self.state.content(slot).clone();
        content.set(result, lanes);
        self.state.write(slot, content);
        Ok(())
    }

    /// Follows the instructions that read words of the state into a slot.
    pub(super) fn unpacked(&mut self, at: i32) -> Result<Location, String> {
        let from = self.packed(at)?;
        let mut slot = None;
        for lane in 0..self.tree.width as i32 {
            let read = self.next_scalar()?;
            if read != Scalar::Load32(Gpr::RAX, Gpr::R15.at(at + lane * 8)) {
                return Err("a word of the state is not read".into());
            }
            let bytes = self.shape.bytes / self.tree.width as i32;
            let to = match self.next_scalar()? {
                Scalar::Store64(to, Gpr::RAX) if bytes == 8 => to,
                Scalar::Store32(to, Gpr::RAX) if bytes == 4 => to,
                _ => return Err("a word of the state is not kept".into()),
            };
            let first = *slot.get_or_insert(to);
            if to != first.base.at(first.displacement + lane * bytes) {
                return Err("a word of the state goes somewhere else".into());
            }
        }
        let slot = slot.ok_or("no lanes")?;
        let place = self.memory(Reading::Whole, slot)?;
        self.know(Gpr::RAX, Known::Nothing);
        let content = self.state.content(from).clone();
        self.state.write(place, content);
        Ok(place)
    }

    /// Follows the instructions that write a slot to words of the state; gives where they are.
    pub(super) fn repacked(&mut self, from: Address, at: i32) -> Checked {
        let slot = self.memory(Reading::Whole, from)?;
        let bytes = self.shape.bytes / self.tree.width as i32;
        for lane in 0..self.tree.width as i32 {
            let half = from.base.at(from.displacement + lane * bytes);
            let word = Gpr::R15.at(at + lane * 8);
            let wanted = [
                Scalar::Load32(Gpr::RAX, half),
                Scalar::Store32(word, Gpr::RAX),
            ];
            for wanted in wanted {
                if self.next_scalar()? != wanted {
                    return Err("a word of the state is not written".into());
                }
            }
        }
        self.know(Gpr::RAX, Known::Nothing);
        let place = self.packed(at)?;
        let content = self.state.content(slot).clone();
        self.state.write(place, content);
        Ok(())
    }

    /// The words of the state at a distance from its start.
    pub(super) fn packed(&mut self, at: i32) -> Result<Location, String> {
        let old = self.old(at);
        let place = self.state.memory(Reading::Packed, Gpr::R15.at(at), || {
            Content::of(old, LaneSet::ALL)
        });
        Ok(place)
    }

    /// What words of the state were when the function was entered.
    pub(super) fn old(&mut self, at: i32) -> Val {
        if let Some(&old) = self.old.get(&at) {
            return old;
        }
        let old = self.make(Class::Vector, None);
        self.old.insert(at, old);
        old
    }

    /// Follows entries up to a place of the record; they may move values and change them in the lanes of masks.
    pub(super) fn merges_until(&mut self, end: usize) -> Checked {
        while self.at < end {
            let Event::Vector(instr) = self.next()? else {
                return Err("something that does not belong to the end of a branch".into());
            };
            if !self.is_merge_or_move(instr)? {
                return Err("something that does not belong to the end of a branch".into());
            }
        }
        Ok(())
    }
}
