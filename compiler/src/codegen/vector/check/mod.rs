//! A checker of register assignments: does the emitted code compute its tree?
//!
//! Takes a tree and the record of the code emitted for it; knows nothing of the emitter's own tables. It walks along both and
//! keeps, for every register and every place in memory, which values of the tree are there and in which lanes. Every step must
//! find its operands in all lanes that run there; both ways of every branch are followed, and the facts where they meet are
//! those that hold on both; the facts at the head of a loop must hold again when a round ends. Masks decide which lanes are
//! stored, passed to calls and merged, so they must be exact: a lane too many is as wrong as one that is missing.
//!
//! It finds, for instance, a register that was freed too early, a value that was not restored where ways meet, a
//! register that is in use during a call, a slot that is used twice, moves in the wrong order, and a value that was replaced in lanes
//! that do not take part. It cannot find a wrong tree, or a wrong sequence of instructions for an operation.
//!
//! [`record`] records the emitted code, [`lanes`] has sets of lanes, [`state`] has the facts; [`steps`], [`calls`], [`control`]
//! and [`finish`] follow the tree.

mod calls;
mod control;
mod finish;
mod lanes;
mod operands;
mod record;
mod state;
mod steps;
#[cfg(test)]
mod tests;

pub(super) use record::{Record, Recorded};

use super::{
    encode::{Address, Label, Scalar},
    tree::{Block, Class, Home, Kind, Tree, Val},
};
use lanes::LaneSet;
use record::{Event, Instr, Shape};
use rustc_hash::FxHashMap;
use state::{Content, Location, Reading, State};

/// An error names the fault.
type Checked = Result<(), String>;

/// The deepest nesting of branches and loops. Time grows with its third power, and only a test of limits has more.
const MOST_LEVELS: usize = 64;

/// Checks the code emitted for a tree. Returns the number of blocks that were not checked because no sample runs there. Trees
/// with more than [`MOST_LEVELS`] are not checked.
///
/// # Errors
/// The fault, and its place.
pub(super) fn check(tree: &Tree, record: &Record) -> Result<usize, String> {
    if levels(&tree.body) > MOST_LEVELS {
        return Ok(0);
    }
    let mut checker = Checker::new(tree, record);
    checker.function().map_err(|why| {
        let at = checker.at.saturating_sub(1);
        let event = checker.events.get(at);
        format!("{why}; entry {at} of the record: {event:?}")
    })?;
    Ok(checker.unseen)
}

/// How many branches and loops are inside of each other.
fn levels(block: &Block) -> usize {
    let inside = block.nodes.iter().map(|node| match &node.kind {
        Kind::If(branch) => {
            let arms = branch.arms.iter().map(|arm| levels(&arm.block));
            1 + arms.max().unwrap_or(0)
        }
        Kind::For(repeat) => 1 + levels(&repeat.body),
        _ => 0,
    });
    inside.max().unwrap_or(0)
}

struct Checker<'a> {
    tree: &'a Tree,
    events: &'a [Event],
    shape: Shape,
    /// The next entry of the record.
    at: usize,
    /// Where labels are.
    labels: FxHashMap<Label, usize>,
    state: State,
    /// For every value the one by which it is known: values that are at the same place in memory are the same.
    names: Vec<Val>,
    /// The samples in which a mask holds.
    outcomes: Vec<Option<LaneSet>>,
    /// Values that are not of the tree: their classes.
    extra: Vec<Class>,
    /// Values in memory, by where they are.
    homes: FxHashMap<(Reading, Address), Val>,
    /// The truth values that are the same for all: false and true.
    truths: [Option<Val>; 2],
    /// The lanes that run here.
    running: LaneSet,
    /// Values as which others are also known until the next branch or loop begins.
    aliases: Vec<(Val, Val)>,
    /// The operations on masks at the end of a function.
    endings: Vec<finish::Ending>,
    /// What words of the state were before, by their place.
    old: FxHashMap<i32, Val>,
    /// Blocks that no sample enters.
    unseen: usize,
    /// What did not hold again after a round of a loop, by where the loop begins. A loop that is entered again, in a further round of
    /// one around it, starts without it: otherwise nested loops would take twice as many rounds with every level.
    lost: FxHashMap<usize, Vec<Lost>>,
}

/// A value that a place no longer holds after a round of a loop.
#[derive(Clone, Copy)]
struct Lost {
    place: Location,
    value: Val,
    /// The lanes beside those that go round in which it still holds; none if it holds in no lane.
    beside: Option<LaneSet>,
}

impl<'a> Checker<'a> {
    fn new(tree: &'a Tree, record: &'a Record) -> Checker<'a> {
        let values = tree.values.len();
        let mut labels = FxHashMap::default();
        for (n, event) in record.events.iter().enumerate() {
            if let Event::Scalar(Scalar::Bind(label)) = event {
                labels.insert(*label, n);
            }
        }
        let mut checker = Checker {
            tree,
            events: &record.events,
            shape: record.shape,
            at: 0,
            labels,
            state: State::new(),
            names: (0..values as u32).map(Val).collect(),
            outcomes: vec![None; values],
            extra: Vec::new(),
            homes: FxHashMap::default(),
            truths: [None; 2],
            running: LaneSet::ALL,
            aliases: Vec::new(),
            endings: Vec::new(),
            old: FxHashMap::default(),
            unseen: 0,
            lost: FxHashMap::default(),
        };
        checker.find_homes();
        checker
    }

    /// Finds the values that are in memory.
    fn find_homes(&mut self) {
        for v in (0..self.tree.values.len() as u32).map(Val) {
            let (reading, place) = match self.tree.values.home(v) {
                Home::None => continue,
                Home::Truth(truth) => {
                    let known = &mut self.truths[usize::from(truth)];
                    self.names[v.index()] = *known.get_or_insert(v);
                    continue;
                }
                Home::Broadcast(place) => (Reading::Spread, place),
                Home::Plane(place) => (Reading::Whole, place),
                Home::TruthAt(place) => (Reading::Byte, place),
            };
            let key = (reading, Self::address(place));
            self.names[v.index()] = *self.homes.entry(key).or_insert(v);
        }
    }

    /// The name by which a value is known.
    fn name(&self, v: Val) -> Val {
        self.names.get(v.index()).copied().unwrap_or(v)
    }

    /// A value that is not of the tree; for a mask, when it holds.
    fn make(&mut self, class: Class, outcome: Option<LaneSet>) -> Val {
        self.extra.push(class);
        self.outcomes.push(outcome);
        Val(self.outcomes.len() as u32 - 1)
    }

    fn class(&self, v: Val) -> Class {
        match v.index().checked_sub(self.tree.values.len()) {
            Some(n) => self.extra[n],
            None => self.tree.values.class(v),
        }
    }

    /// The samples in which a mask holds; if it is not computed of others, they are drawn.
    fn outcome(&mut self, v: Val) -> LaneSet {
        let v = self.name(v);
        if let Some(outcome) = self.outcomes[v.index()] {
            return outcome;
        }
        let drawn = match v.index() < self.names.len() {
            true => match self.tree.values.home(v) {
                Home::Truth(true) => LaneSet::ALL,
                Home::Truth(false) => LaneSet::NONE,
                _ => self.draw(v),
            },
            false => self.draw(v),
        };
        self.outcomes[v.index()] = Some(drawn);
        drawn
    }

    fn draw(&self, v: Val) -> LaneSet {
        let seed = u64::from(v.0).wrapping_mul(0xd1b5_4a32_d192_ed03);
        LaneSet::drawn(seed, self.running & self.state.possible)
    }

    /// Says when a mask holds, unless that has been said before.
    fn set_outcome(&mut self, v: Val, outcome: LaneSet) {
        let known = &mut self.outcomes[v.index()];
        *known = known.or(Some(outcome));
    }

    /// The lanes in which a content is a value.
    fn lanes_of(&self, content: &Content, v: Val) -> LaneSet {
        content.lanes(self.name(v))
    }

    /// The next entry.
    fn peek(&self) -> Result<&'a Event, String> {
        let event = self.events.get(self.at);
        event.ok_or_else(|| "the record ends too early".to_owned())
    }

    fn next(&mut self) -> Result<&'a Event, String> {
        let event = self.peek()?;
        self.at += 1;
        Ok(event)
    }

    /// The next entry, which must be an operation on vectors or masks.
    fn next_operation(&mut self) -> Result<&'a Instr, String> {
        match self.next()? {
            Event::Vector(instr) => Ok(instr),
            Event::Scalar(_) => Err("an operation on vectors is missing".into()),
        }
    }

    /// The next entry, which must be an instruction on general registers.
    fn next_scalar(&mut self) -> Result<Scalar, String> {
        match self.next()? {
            Event::Scalar(scalar) => Ok(*scalar),
            Event::Vector(_) => Err("an instruction on general registers is missing".into()),
        }
    }

    /// Where a label is.
    fn place_of(&self, label: Label) -> Result<usize, String> {
        let place = self.labels.get(&label).copied();
        place.ok_or_else(|| "a jump to nowhere".to_owned())
    }

    /// A content must be a value in some lanes.
    fn require(&self, content: &Content, v: Val, lanes: LaneSet, what: &str) -> Checked {
        let needed = lanes & self.state.possible;
        if needed.is_inside(self.lanes_of(content, v)) {
            return Ok(());
        }
        let found: Vec<Val> = content.iter().map(|fact| fact.value).collect();
        Err(format!(
            "{what}: {v:?} is not there in all lanes; some lanes have {found:?}"
        ))
    }

    /// A content must be a mask exactly, in lanes that do not run, too.
    fn require_mask(&self, content: &Content, v: Val, what: &str) -> Checked {
        self.require(content, v, LaneSet::ALL, what)
    }
}
