//! Calls of the runtime, usual and rare ones, and interpolation in place.

use super::{
    Checked, Checker,
    lanes::LaneSet,
    record::{Event, Instr},
    state::{Content, Flags, Known, Location, Reading},
};
use crate::codegen::vector::{
    encode::{Condition, Gpr, Label, Scalar},
    target::TENT_ROOM,
    tree::{Argument, Call, Class, Val},
};

/// The registers of arguments.
const ARGUMENTS: [Gpr; 5] = [Gpr::RDI, Gpr::RSI, Gpr::RDX, Gpr::RCX, Gpr::R8];

impl<'a> Checker<'a> {
    /// A call, from the moves before it to its return.
    pub(super) fn call(&mut self, call: &Call) -> Checked {
        self.moves_and_arguments()?;
        let Scalar::Call(address) = self.next_scalar()? else {
            return Err(format!("a call is wanted for {:?}", call.results));
        };
        if self.known(address) != Known::Number(call.function as u64) {
            return Err("another function is called".into());
        }
        let running = self.outcome(call.lanes);
        let mut values: Option<i32> = None;
        let mut results: Option<i32> = None;
        for (&argument, r) in call.arguments.iter().zip(ARGUMENTS) {
            let known = self.known(r);
            let is_right = match (argument, known) {
                (Argument::Frame, known) => known == Known::Frame,
                (Argument::Number(number), known) => known == Known::Number(number),
                (Argument::Field(index), known) => known == Known::Field(index as i32),
                (Argument::Lanes, Known::Bits(content)) => {
                    self.require_mask(&content, call.lanes, "the lanes of a call")?;
                    true
                }
                (Argument::Values, Known::Stack(at)) => {
                    values = Some(at);
                    true
                }
                (Argument::Results(first), Known::Stack(at)) => {
                    let start = at - first as i32 * self.shape.bytes;
                    *results.get_or_insert(start) == start
                }
                _ => false,
            };
            if !is_right {
                return Err(format!("{r:?} is not the argument {argument:?}"));
            }
        }
        let given = self.planes(values, call.values.len())?;
        let mut right = LaneSet::ALL;
        for (&place, &v) in given.iter().zip(&call.values) {
            let content = self.state.content(place).clone();
            self.require(&content, v, running, "a value that is handed over")?;
            right = right & self.lanes_of(&content, v);
        }
        if call.arguments.contains(&Argument::Lanes) {
            right = running;
        }
        let planes = self.planes(results, call.results.len())?;
        if planes.iter().any(|place| given.contains(place)) {
            return Err("results of a call go where its values are".into());
        }
        self.state.forget_registers();
        for (&place, &v) in planes.iter().zip(&call.results) {
            self.state.write(place, Content::of(v, right));
        }
        Ok(())
    }

    /// Slots side by side.
    fn planes(&mut self, first: Option<i32>, count: usize) -> Result<Vec<Location>, String> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let first = first.ok_or("a call is not told where its planes are")?;
        (0..count as i32)
            .map(|n| self.memory(Reading::Whole, Gpr::RSP.at(first + n * self.shape.bytes)))
            .collect()
    }

    /// A call that is made only if it has lanes; its code is elsewhere.
    pub(super) fn report(&mut self, call: &Call) -> Checked {
        self.moves()?;
        let lanes = self.tested()?;
        self.require_mask(&lanes, call.lanes, "the lanes of a report")?;
        let start = self.jump_if(Condition::NotZero)?;
        let back = self.at;
        let none = self.outcome(call.lanes);
        let mark = self.state.mark();
        self.rare(call, start, back, None)?;
        let made = self.state.back_to(&mark);
        self.state.end(&mark);
        let not_made = super::State::nothing(self.state.possible.without(none));
        self.state.join([&made, &not_made]);
        self.at = back + 1;
        Ok(())
    }

    /// Interpolation in place, or a call where that cannot be done.
    pub(super) fn tent(&mut self, call: &Call) -> Checked {
        self.moves_and_arguments()?;
        let Flags::Byte(usable, 0) = self.state.flags else {
            return Err("nothing says whether the image can be used in place".into());
        };
        let field = call.arguments.first();
        let image = self.known(usable.base);
        if !matches!((field, &image), (Some(Argument::Field(n)), Known::Field(m)) if *n as i32 == *m)
        {
            return Err("another image is asked whether it can be used in place".into());
        }
        let start = self.jump_if(Condition::Zero)?;
        let mark = self.state.mark();
        let general = self.state.general.clone();
        let to = self.interpolation(call, &image)?;
        let back = self.at;
        let in_place = self.state.back_to(&mark);
        self.state.general = general;
        self.rare(call, start, back, Some(to))?;
        let called = self.state.back_to(&mark);
        self.state.end(&mark);
        self.state.join([&in_place, &called]);
        self.at = back + 1;
        Ok(())
    }

    /// Interpolation itself; gives the register of its result.
    fn interpolation(&mut self, call: &Call, wanted: &Known) -> Result<u8, String> {
        let Instr::Tent {
            to,
            image,
            positions,
            room,
            vectors,
            lanes,
            active,
            mask,
        } = self.next_operation()?
        else {
            return Err("an interpolation is wanted".into());
        };
        if self.known(*image) != *wanted || positions.len() != call.values.len() {
            return Err("another image is interpolated".into());
        }
        let running = self.outcome(call.lanes);
        let lanes_held = self.held(Class::Mask, *lanes);
        self.require_mask(&lanes_held, call.lanes, "the lanes of an interpolation")?;
        let active_held = self.held(Class::Mask, *active);
        self.require_mask(&active_held, Val::ACTIVE, "the lanes that run at all")?;
        let mut read = vec![
            self.register(Class::Mask, *lanes),
            self.register(Class::Mask, *active),
        ];
        for (&r, &v) in positions.iter().zip(&call.values) {
            let content = self.held(Class::Vector, r);
            self.require(&content, v, running, "a position")?;
            read.push(self.register(Class::Vector, r));
        }
        let mut written: Vec<(Class, u8)> = vectors.iter().map(|&r| (Class::Vector, r)).collect();
        written.extend([(Class::Vector, *to), (Class::Mask, *mask)]);
        self.refuse_scratch(&written)?;
        self.distinct(&read, &written)?;
        for (class, r) in written {
            self.write(class, r, Content::default());
        }
        for place in self.planes(Some(room.displacement), TENT_ROOM)? {
            self.state.write(place, Content::default());
        }
        self.forget_scratch();
        self.write(Class::Vector, *to, Content::of(call.results[0], running));
        Ok(*to)
    }

    /// A call whose code is elsewhere, up to its jump back. Its result is brought into a register.
    fn rare(&mut self, call: &Call, start: Label, back: usize, result: Option<u8>) -> Checked {
        self.at = self.place_of(start)? + 1;
        self.call(call)?;
        self.moves()?;
        let Scalar::Jump(to) = self.next_scalar()? else {
            return Err("a call that is rarely made does not go back".into());
        };
        if self.place_of(to)? != back {
            return Err("a call that is rarely made goes back to another place".into());
        }
        if let Some(r) = result {
            let running = self.outcome(call.lanes);
            let content = self.held(Class::Vector, r);
            self.require(&content, call.results[0], running, "the result of a call")?;
        }
        Ok(())
    }

    /// What the mask holds that is tested next.
    pub(super) fn tested(&mut self) -> Result<Content, String> {
        match self.next()? {
            Event::Vector(Instr::Test(mask)) => Ok(self.held(Class::Mask, *mask)),
            _ => Err("a mask should be tested".into()),
        }
    }

    /// The target of the jump that is next.
    pub(super) fn jump_if(&mut self, wanted: Condition) -> Result<Label, String> {
        match self.next_scalar()? {
            Scalar::JumpIf(condition, label) if condition == wanted => Ok(label),
            _ => Err(format!("a jump is wanted if {wanted:?}")),
        }
    }
}
