//! Operands, and entries of the record that move values without computing any.

use super::{
    Checked, Checker,
    lanes::LaneSet,
    record::{Event, Instr},
    state::{Content, Flags, Known, Location, Reading, State},
};
use crate::codegen::vector::{
    encode::{Address, Gpr, Operand, Scalar},
    tree::{Base, Class, Home, Logic, MemoryPlace, Val},
};

/// The first slot's place after the stack pointer.
const FIRST_SLOT: i32 = 64;

impl Checker<'_> {
    pub(super) fn register(&self, class: Class, r: u8) -> Location {
        let file = match class {
            Class::Mask if self.shape.files > 1 => 1,
            _ => 0,
        };
        State::register(file, r)
    }

    pub(super) fn held(&self, class: Class, r: u8) -> Content {
        self.state.content(self.register(class, r)).clone()
    }

    /// The register that a general register's name stands for in addresses of the tree.
    fn base(base: Base) -> Gpr {
        match base {
            Base::Frame => Gpr::RBX,
            Base::Globals => Gpr::R12,
            Base::Images => Gpr::R13,
            Base::Constants => Gpr::R14,
            Base::State => Gpr::R15,
            Base::Args => Gpr::RBP,
        }
    }

    pub(super) fn address(place: MemoryPlace) -> Address {
        Self::base(place.base).at(place.at)
    }

    /// A place in memory.
    pub(super) fn memory(&mut self, reading: Reading, at: Address) -> Result<Location, String> {
        let is_slot = at.base == Gpr::RSP;
        let distance = at.displacement - FIRST_SLOT;
        if is_slot
            && (distance < 0 || distance % self.shape.bytes != 0 || reading != Reading::Whole)
        {
            return Err(format!("{at:?} is not a slot"));
        }
        let home = self.homes.get(&(reading, at));
        Ok(self.state.memory(reading, at, || {
            home.map_or_else(Content::default, |v| Content::of(*v, LaneSet::ALL))
        }))
    }

    /// The content read from memory. Masks and vectors are stored in different ways, unless masks are vectors.
    pub(super) fn read(
        &mut self,
        class: Class,
        reading: Reading,
        at: Address,
    ) -> Result<Content, String> {
        let place = self.memory(reading, at)?;
        let mut content = self.state.content(place).clone();
        self.only(class, &mut content);
        if at.base != Gpr::RSP {
            for &(from, to) in &self.aliases {
                let lanes = self.lanes_of(&content, from);
                content.set(to, lanes);
            }
        }
        Ok(content)
    }

    /// Removes the values of another class from a content.
    fn only(&self, class: Class, content: &mut Content) {
        if self.shape.files > 1 {
            content.retain(|fact| self.class(fact.value) == class);
        }
    }

    pub(super) fn operand(&mut self, operand: Operand) -> Result<Content, String> {
        match operand {
            Operand::Register(r) => Ok(self.held(Class::Vector, r)),
            Operand::Memory(at) => self.read(Class::Vector, Reading::Whole, at),
            Operand::Broadcast(at) => self.read(Class::Vector, Reading::Spread, at),
        }
    }

    pub(super) fn write(&mut self, class: Class, r: u8, content: Content) {
        let place = self.register(class, r);
        self.state.write(place, content);
    }

    /// Sequences of instructions may use the scratch registers.
    pub(super) fn forget_scratch(&mut self) {
        for (class, r) in [Class::Vector, Class::Mask]
            .into_iter()
            .zip(self.shape.scratch)
        {
            self.write(class, r, Content::default());
        }
    }

    pub(super) fn is_scratch(&self, class: Class, r: u8) -> bool {
        r == self.shape.scratch[usize::from(class == Class::Mask)]
    }

    /// Operands of sequences that use the scratch register must be in others.
    pub(super) fn refuse_scratch(&self, registers: &[(Class, u8)]) -> Checked {
        match registers
            .iter()
            .find(|(class, r)| self.is_scratch(*class, *r))
        {
            Some(_) => Err("an operand is in the scratch register".into()),
            None => Ok(()),
        }
    }

    /// The registers among operands.
    pub(super) fn registers_of(operands: &[Operand]) -> impl Iterator<Item = (Class, u8)> {
        operands.iter().filter_map(|operand| match operand {
            Operand::Register(r) => Some((Class::Vector, *r)),
            Operand::Memory(_) | Operand::Broadcast(_) => None,
        })
    }

    /// Follows entries that move values, up to the first that does something else.
    pub(super) fn moves(&mut self) -> Checked {
        while let Event::Vector(instr) = self.peek()? {
            if !self.is_move(instr)? {
                break;
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Follows an entry, if it is a move.
    fn is_move(&mut self, instr: &Instr) -> Result<bool, String> {
        match *instr {
            Instr::Copy(class, to, from) => {
                let content = self.held(class, from);
                self.write(class, to, content);
            }
            Instr::Load(class, to, from) => {
                let content = self.read(class, Reading::Whole, from)?;
                self.write(class, to, content);
            }
            Instr::Store(class, to, from) if to.base == Gpr::RSP => {
                let mut content = self.held(class, from);
                self.only(class, &mut content);
                let place = self.memory(Reading::Whole, to)?;
                self.state.write(place, content);
            }
            Instr::Broadcast(to, from) => {
                let content = self.read(Class::Vector, Reading::Spread, from)?;
                self.write(Class::Vector, to, content);
            }
            Instr::Truth(to, truth) => {
                let mut content = self.constant(truth);
                for &(from, alias) in &self.aliases {
                    let lanes = self.lanes_of(&content, from);
                    content.set(alias, lanes);
                }
                self.write(Class::Mask, to, content);
            }
            Instr::TruthAt(to, from) => {
                let content = self.read(Class::Mask, Reading::Byte, from)?;
                self.write(Class::Mask, to, content);
                self.know(Gpr::RAX, Known::Nothing);
                self.state.flags = Flags::Unknown;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A truth value that is the same for all.
    pub(super) fn constant(&self, truth: bool) -> Content {
        let value = self.truths[usize::from(truth)];
        value.map_or_else(Content::default, |v| Content::of(v, LaneSet::ALL))
    }

    /// Follows an entry that changes a value in the lanes of a mask, or a move; whether it was one.
    pub(super) fn is_merge_or_move(&mut self, instr: &Instr) -> Result<bool, String> {
        let (class, to, from, mask) = match *instr {
            Instr::Merge { to, from, mask } => {
                if !matches!(from, Operand::Register(_)) {
                    self.refuse_scratch(&[(Class::Vector, to)])?;
                }
                (Class::Vector, to, self.operand(from)?, mask)
            }
            Instr::SelectMask { to, mask, a, b } if b == to => {
                self.refuse_scratch(&[to, mask, a].map(|r| (Class::Mask, r)))?;
                (Class::Mask, to, self.held(Class::Mask, a), mask)
            }
            Instr::Logic(Logic::Or, to, a, mask) if a == to => {
                (Class::Mask, to, self.constant(true), mask)
            }
            Instr::Logic(Logic::AndNot, to, mask, b) if b == to => {
                (Class::Mask, to, self.constant(false), mask)
            }
            _ => return self.is_move(instr),
        };
        let mask = self.held(Class::Mask, mask);
        let before = self.held(class, to);
        let merged = self.merged(&from, &mask, &before);
        let is_scratch = self.is_scratch(class, to);
        if !is_scratch {
            self.forget_scratch();
        }
        self.write(class, to, merged);
        Ok(true)
    }

    /// A content in the lanes of what a mask register holds, and another one in the others.
    pub(super) fn merged(&mut self, from: &Content, mask: &Content, before: &Content) -> Content {
        let mut set = LaneSet::NONE;
        let mut certain = LaneSet::NONE;
        for fact in mask.iter() {
            if self.class(fact.value) == Class::Mask
                && let Some(outcome) = self.outcome_of(fact.value)
            {
                set = fact.lanes.choose(outcome, set);
                certain = certain | fact.lanes;
            }
        }
        from.chosen(set, certain, before)
    }

    /// When a mask holds, if that is known yet; it is not for results of a branch that is open.
    fn outcome_of(&mut self, v: Val) -> Option<LaneSet> {
        let v = self.name(v);
        match self.tree.values.len() > v.index() && self.tree.values.home(v) != Home::None {
            true => Some(self.outcome(v)),
            false => self.outcomes[v.index()],
        }
    }

    pub(super) fn known(&self, r: Gpr) -> Known {
        self.state.general[usize::from(r.number())].clone()
    }

    pub(super) fn know(&mut self, r: Gpr, what: Known) {
        self.state.general[usize::from(r.number())] = what;
    }

    /// Follows an instruction on general registers that changes nothing else; whether it was one.
    pub(super) fn is_general(&mut self, scalar: Scalar) -> Result<bool, String> {
        let (to, known) = match scalar {
            Scalar::Move(to, Gpr::RBX) => (to, Known::Frame),
            Scalar::Number(to, number) => (to, Known::Number(number)),
            Scalar::Load64(to, from) if from.base == Gpr::RBX => {
                (to, Known::Member(from.displacement))
            }
            Scalar::Load64(to, from) => {
                let known = match self.known(from.base) {
                    Known::Member(crate::codegen::abi::offset::FIELDS) => {
                        Known::Field(from.displacement / 8)
                    }
                    _ => Known::Nothing,
                };
                (to, known)
            }
            Scalar::AddressOf(to, of) => {
                let known = match (of.base, self.known(of.base)) {
                    (Gpr::RSP, _) => Known::Stack(of.displacement),
                    (_, Known::Member(member)) => Known::Beyond(member, of.displacement),
                    _ => Known::Nothing,
                };
                (to, known)
            }
            Scalar::CompareByte(at, number) => {
                self.state.flags = Flags::Byte(at, number);
                return Ok(true);
            }
            _ => return Ok(false),
        };
        self.write_general(to)?;
        self.know(to, known);
        Ok(true)
    }

    /// The registers that addresses are relative to never change.
    fn write_general(&self, to: Gpr) -> Checked {
        let fixed = [
            Gpr::RSP,
            Gpr::RBX,
            Gpr::RBP,
            Gpr::R12,
            Gpr::R13,
            Gpr::R14,
            Gpr::R15,
        ];
        if fixed.contains(&to) {
            return Err(format!("{to:?} is overwritten"));
        }
        Ok(())
    }

    /// Follows entries that move values or set general registers, up to the first that does something else.
    pub(super) fn moves_and_arguments(&mut self) -> Checked {
        loop {
            match self.peek()? {
                Event::Vector(Instr::BitsOfLanes(to, mask)) => {
                    let bits = Known::Bits(self.held(Class::Mask, *mask));
                    self.write_general(*to)?;
                    self.know(*to, bits);
                }
                Event::Vector(instr) => {
                    if !self.is_move(instr)? {
                        return Ok(());
                    }
                }
                Event::Scalar(scalar) => {
                    if !self.is_general(*scalar)? {
                        return Ok(());
                    }
                }
            }
            self.at += 1;
        }
    }
}
