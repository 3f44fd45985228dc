//! The facts about every register and every place in memory: which values it holds, and in which lanes.
//!
//! A state can be reset to a mark, and two ways from a mark to the same place can be joined: the facts afterwards are those
//! that hold on both. Knowledge that is dropped can only make the checker refuse more.

use super::lanes::LaneSet;
use crate::codegen::vector::{
    encode::{Address, Gpr},
    tree::Val,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A place holds a value in some lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) value: Val,
    pub(super) lanes: LaneSet,
}

/// All that is known of a place; no value twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Content(SmallVec<[Fact; 2]>);

impl Content {
    pub(super) fn of(value: Val, lanes: LaneSet) -> Content {
        let mut content = Content::default();
        content.set(value, lanes);
        content
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Fact> {
        self.0.iter().copied()
    }

    /// The lanes in which it is a value.
    pub(super) fn lanes(&self, value: Val) -> LaneSet {
        let fact = self.0.iter().find(|fact| fact.value == value);
        fact.map_or(LaneSet::NONE, |fact| fact.lanes)
    }

    /// Says in which lanes it is a value.
    pub(super) fn set(&mut self, value: Val, lanes: LaneSet) {
        match self.0.iter().position(|fact| fact.value == value) {
            Some(n) if lanes.is_empty() => {
                self.0.swap_remove(n);
            }
            Some(n) => self.0[n].lanes = lanes,
            None if lanes.is_empty() => {}
            None => self.0.push(Fact { value, lanes }),
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(Fact) -> bool) {
        self.0.retain(|fact| keep(*fact));
    }

    /// This content in the lanes of a set and another one in the others. Where the set itself is not certain, it is either.
    pub(super) fn chosen(&self, set: LaneSet, certain: LaneSet, other: &Content) -> Content {
        let mut result = Content::default();
        for fact in self.iter().chain(other.iter()) {
            let [a, b] = [self, other].map(|content| content.lanes(fact.value));
            let chosen = certain.choose(set.choose(a, b), a & b);
            result.set(fact.value, chosen);
        }
        result
    }
}

/// How a place in memory is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reading {
    /// A vector or a mask.
    Whole,
    /// One lane for all.
    Spread,
    /// A byte that is a truth value for all.
    Byte,
    /// Words of 32 bits that are 64 bits apart.
    Packed,
}

/// A register or a place in memory, by its number in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Location(u32);

/// Registers per file, the most that a machine has.
const FILE: u32 = 32;
/// Files of registers.
const FILES: u32 = 2;

/// What a general register holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Known {
    #[default]
    Nothing,
    /// The address of the frame.
    Frame,
    Number(u64),
    /// A member of the frame.
    Member(i32),
    /// The address in a member of the frame, plus a number of bytes.
    Beyond(i32, i32),
    /// The probe image with this place in the table of them.
    Field(i32),
    /// An address in the function's own memory.
    Stack(i32),
    /// The lanes of a mask as bits.
    Bits(Content),
}

/// What the last test was about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Flags {
    #[default]
    Unknown,
    Byte(Address, u8),
}

/// The state at one place of the code.
#[derive(Debug)]
pub(super) struct State {
    contents: Vec<Content>,
    /// Where in memory a place is; none for registers.
    memory: Vec<Option<(Reading, Address)>>,
    numbers: FxHashMap<(Reading, Address), Location>,
    /// What places held before, newest last.
    journal: Vec<(Location, Content)>,
    /// How many marks are open.
    marks: usize,
    /// The samples in which the code gets here.
    pub(super) possible: LaneSet,
    pub(super) general: [Known; 16],
    pub(super) flags: Flags,
}

/// A state to go back to.
pub(super) struct Mark {
    journal: usize,
    possible: LaneSet,
}

/// What a way has changed, and the samples that take it.
pub(super) struct Way {
    contents: FxHashMap<Location, Content>,
    possible: LaneSet,
}

impl State {
    pub(super) fn new() -> State {
        let registers = (FILE * FILES) as usize;
        State {
            contents: vec![Content::default(); registers],
            memory: vec![None; registers],
            numbers: FxHashMap::default(),
            journal: Vec::new(),
            marks: 0,
            possible: LaneSet::ALL,
            general: std::array::from_fn(|_| Known::Nothing),
            flags: Flags::Unknown,
        }
    }

    pub(super) fn register(file: usize, r: u8) -> Location {
        Location(file as u32 * FILE + u32::from(r))
    }

    /// A place in memory; `initial` gives its content if it has not been seen before.
    pub(super) fn memory(
        &mut self,
        reading: Reading,
        at: Address,
        initial: impl FnOnce() -> Content,
    ) -> Location {
        let next = Location(self.contents.len() as u32);
        let place = *self.numbers.entry((reading, at)).or_insert(next);
        if place == next {
            self.contents.push(initial());
            self.memory.push(Some((reading, at)));
        }
        place
    }

    pub(super) fn content(&self, place: Location) -> &Content {
        &self.contents[place.0 as usize]
    }

    pub(super) fn write(&mut self, place: Location, content: Content) {
        let before = std::mem::replace(&mut self.contents[place.0 as usize], content);
        if self.marks > 0 {
            self.journal.push((place, before));
        }
    }

    /// Changes the content of every register and of every place in the function's own memory for which `change` gives one.
    pub(super) fn change_each(&mut self, change: impl Fn(&Content) -> Option<Content>) {
        for n in 0..self.contents.len() {
            if self.is_own(n)
                && let Some(changed) = change(&self.contents[n])
            {
                self.write(Location(n as u32), changed);
            }
        }
    }

    fn is_own(&self, n: usize) -> bool {
        self.memory[n].is_none_or(|(_, at)| at.base == Gpr::RSP)
    }

    /// Forgets all registers, as after a call.
    pub(super) fn forget_registers(&mut self) {
        for n in 0..FILE * FILES {
            if !self.contents[n as usize].0.is_empty() {
                self.write(Location(n), Content::default());
            }
        }
        self.forget_general();
    }

    /// Forgets the general registers and the last test.
    pub(super) fn forget_general(&mut self) {
        self.general = std::array::from_fn(|_| Known::Nothing);
        self.flags = Flags::Unknown;
    }

    pub(super) fn mark(&mut self) -> Mark {
        self.marks += 1;
        Mark {
            journal: self.journal.len(),
            possible: self.possible,
        }
    }

    /// What places held at a mark that have been written since.
    fn since(&self, mark: &Mark) -> FxHashMap<Location, Content> {
        let mut before = FxHashMap::default();
        for (place, content) in &self.journal[mark.journal..] {
            before.entry(*place).or_insert_with(|| content.clone());
        }
        before
    }

    /// Goes back to a mark; gives what the way since then has changed.
    pub(super) fn back_to(&mut self, mark: &Mark) -> Way {
        let before = self.since(mark);
        let way = |(place, content): (Location, Content)| {
            let n = place.0 as usize;
            (place, std::mem::replace(&mut self.contents[n], content))
        };
        let way = Way {
            contents: before.into_iter().map(way).collect(),
            possible: self.possible,
        };
        self.journal.truncate(mark.journal);
        self.possible = mark.possible;
        self.forget_general();
        way
    }

    /// Ends a mark to which the state has gone back.
    pub(super) fn end(&mut self, mark: &Mark) {
        debug_assert_eq!(self.journal.len(), mark.journal);
        self.marks -= 1;
    }

    /// Changes the facts at a mark to which the state has gone back.
    pub(super) fn correct(&mut self, mark: &mut Mark, changes: Vec<(Location, Content)>) {
        self.marks -= 1;
        for (place, content) in changes {
            self.write(place, content);
        }
        self.marks += 1;
        mark.journal = self.journal.len();
    }

    /// Two ways from here have led to the same place.
    pub(super) fn join(&mut self, ways: [&Way; 2]) {
        let possible = ways.map(|way| way.possible);
        let mut places: Vec<Location> = ways[0].contents.keys().copied().collect();
        places.extend(
            ways[1]
                .contents
                .keys()
                .filter(|place| !ways[0].contents.contains_key(place)),
        );
        self.possible = possible[0] | possible[1];
        for place in places {
            let sides = ways.map(|way| way.contents.get(&place).unwrap_or(self.content(place)));
            let mut joined = Content::default();
            for fact in sides[0].iter().chain(sides[1].iter()) {
                let [a, b] = [0, 1].map(|n| sides[n].lanes(fact.value) | !possible[n]);
                joined.set(fact.value, a & b & self.possible);
            }
            self.write(place, joined);
        }
    }

    /// The way that does nothing, for these samples.
    pub(super) fn nothing(possible: LaneSet) -> Way {
        Way {
            contents: FxHashMap::default(),
            possible,
        }
    }

    /// All places with known contents, each with its content at the end of a way from here, if that way has written it.
    pub(super) fn compare<'a>(
        &'a self,
        way: &'a Way,
    ) -> impl Iterator<Item = (Location, &'a Content, Option<&'a Content>)> {
        let contents = self.contents.iter().enumerate();
        contents.filter_map(|(n, now)| {
            let place = Location(n as u32);
            (!now.0.is_empty()).then(|| (place, now, way.contents.get(&place)))
        })
    }
}

impl Way {
    /// The samples that have taken it.
    pub(super) fn possible(&self) -> LaneSet {
        self.possible
    }
}
