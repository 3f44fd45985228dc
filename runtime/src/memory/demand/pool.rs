//! The parts that are kept, of all memory on demand together.
//!
//! Parts are *active* or at *rest*. The pages of a part at rest cannot be loaded, although its bytes are still there: the first load
//! makes it active again. So the parts at rest that stay so are those that nothing uses, and they are given up first. The parts that go
//! to rest are chosen at random: if the oldest ones were, strands that go through more parts than are kept, again and again, would find
//! none of them.
//!
//! One instruction may load from several parts, and is repeated as a whole until all of them are there. So a part stays for some
//! milliseconds at least, and while there is no room for another, the threads that want one wait.
//!
//! Threads that want more parts together than are kept would make the same ones again and again. So a part is made again only for a few
//! threads at a time, which have their turns; the others wait, or go on with the parts that are there.

use super::requests::ThreadId;
use super::{Room, page};
use crate::memory::{self, Claim, end_with};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A part stays for this time at least.
const STAY: Duration = Duration::from_millis(10);
/// The turn of a thread lasts as long as it takes to make this number of parts, but no less than [`STAY`].
const TURN: u32 = 32;
/// This number of parts is kept whatever the capacity is: one for each lane of an instruction.
const FEW: usize = 16;

/// The pool of this process.
pub(super) static POOL: Pool = Pool {
    state: Mutex::new(State {
        capacity: Capacity::Half,
        used: 0,
        at_rest: 0,
        kept_parts: 0,
        rooms: BTreeMap::new(),
        next_number: 0,
        active: Vec::new(),
        random: 1,
        resting: VecDeque::new(),
        turns: Vec::new(),
        usual: Duration::ZERO,
        claim: None,
    }),
    changed: Condvar::new(),
};

pub(super) struct Pool {
    state: Mutex<State>,
    /// Parts that were being made are there.
    changed: Condvar,
}

/// The bytes that may be kept.
#[derive(Clone, Copy)]
enum Capacity {
    /// Half of the memory that is available when memory on demand is made.
    Half,
    /// That half.
    Found(u64),
    /// The user's choice.
    Given(u64),
}

struct State {
    capacity: Capacity,
    /// Bytes of all parts that are there, and of those at rest.
    used: u64,
    at_rest: u64,
    /// The number of parts that are there or being made.
    kept_parts: usize,
    rooms: BTreeMap<usize, Kept>,
    next_number: usize,
    active: Vec<Place>,
    /// The last of a row of random numbers.
    random: u64,
    /// Parts in the order in which they came to rest. Those that have been active since then have another turn.
    resting: VecDeque<Place>,
    /// The threads for which parts are made again, and the ends of their turns.
    turns: Vec<(ThreadId, Instant)>,
    /// The time that it usually takes to make a part.
    usual: Duration,
    claim: Option<Claim>,
}

/// A room and the conditions of its parts.
struct Kept {
    room: Arc<Room>,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Default)]
struct Part {
    condition: Condition,
    /// The number of places that it has had in queues.
    places: u32,
    was_made: bool,
    /// Until then it is not given up.
    stays: Option<Instant>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Condition {
    #[default]
    Absent,
    BeingMade,
    Active,
    AtRest,
}

/// The place of a part in a queue.
#[derive(Clone, Copy)]
struct Place {
    room: usize,
    part: usize,
    /// The number of places that it had before.
    number: u32,
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_capacity(&self, bytes: u64) {
        self.lock().capacity = Capacity::Given(bytes);
    }

    /// Adds a room, and gives its number.
    ///
    /// # Errors
    /// There is no memory for its parts.
    pub(super) fn enter(&self, room: &Arc<Room>) -> io::Result<usize> {
        let mut state = self.lock();
        if let Capacity::Half | Capacity::Found(_) = state.capacity {
            let left = memory::available().unwrap_or(u64::MAX) / 2;
            state.capacity = Capacity::Found(left.saturating_add(state.used));
        }
        let all = state.rooms.values().map(|kept| kept.room.bytes as u64);
        let all = all.sum::<u64>().saturating_add(room.bytes as u64);
        let wanted = all.min(state.capacity());
        state
            .claim
            .get_or_insert_default()
            .keep(wanted)
            .map_err(|shortage| io::Error::new(io::ErrorKind::OutOfMemory, shortage.to_string()))?;
        let number = state.next_number;
        state.next_number += 1;
        let kept = Kept {
            room: Arc::clone(room),
            parts: vec![Part::default(); room.parts.count()],
        };
        state.rooms.insert(number, kept);
        Ok(number)
    }

    /// Forgets a room. Nothing loads from it any more.
    pub(super) fn leave(&self, number: usize) {
        let mut state = self.lock();
        let Some(kept) = state.rooms.remove(&number) else {
            return;
        };
        for (part, known) in kept.parts.iter().enumerate() {
            let bytes = size(&kept.room, part);
            match known.condition {
                Condition::Absent | Condition::BeingMade => {}
                Condition::Active => {
                    state.used -= bytes;
                    state.kept_parts -= 1;
                }
                Condition::AtRest => {
                    state.used -= bytes;
                    state.at_rest -= bytes;
                    state.kept_parts -= 1;
                }
            }
        }
        state.active.retain(|place| place.room != number);
        state.resting.retain(|place| place.room != number);
        let all = state.rooms.values().map(|kept| kept.room.bytes as u64);
        let wanted = all.sum::<u64>().min(state.capacity());
        if let Some(claim) = &mut state.claim {
            // It becomes smaller, which is never refused.
            let _ = claim.keep(wanted);
        }
    }

    /// Makes the page with an address appear for a thread; whether it does, or the thread has to try again later.
    pub(super) fn fetch(&self, number: usize, address: usize, thread: ThreadId) -> bool {
        let mut state = self.lock();
        loop {
            let Some(kept) = state.rooms.get(&number) else {
                return true;
            };
            let room = Arc::clone(&kept.room);
            let wanted = room.parts_of((address - room.reader as usize) / page());
            let condition = |part: &usize| kept.parts[*part].condition;
            if wanted.iter().any(|p| condition(p) == Condition::BeingMade) {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let is_missing = |part: &&usize| condition(part) == Condition::Absent;
            let missing: Vec<usize> = wanted.iter().filter(is_missing).copied().collect();
            if missing.is_empty() {
                for part in wanted {
                    state.activate(number, part);
                }
                return true;
            }
            let again = missing.iter().any(|&part| kept.parts[part].was_made);
            let bytes: u64 = missing.iter().map(|&part| size(&room, part)).sum();
            if again && !state.has_turn(thread) || !state.make_room(bytes) {
                return false;
            }
            for &part in &missing {
                state.part(number, part).condition = Condition::BeingMade;
            }
            state.used += bytes;
            state.kept_parts += missing.len();
            drop(state);
            let began = Instant::now();
            for &part in &missing {
                // SAFETY: the part is marked, so that no other thread makes it, and its pages cannot be loaded.
                unsafe { room.make(part) };
            }
            state = self.lock();
            let took = began.elapsed() / missing.len() as u32;
            for &part in &missing {
                state.arrive(number, part, took);
            }
            self.changed.notify_all();
        }
    }
}

/// Bytes of a part.
fn size(room: &Room, part: usize) -> u64 {
    let ranges = room.parts.ranges(part);
    ranges.iter().map(|range| range.len() as u64).sum()
}

impl State {
    fn capacity(&self) -> u64 {
        match self.capacity {
            Capacity::Half => u64::MAX,
            Capacity::Found(bytes) | Capacity::Given(bytes) => bytes,
        }
    }

    fn part(&mut self, number: usize, part: usize) -> &mut Part {
        let kept = self.rooms.get_mut(&number);
        &mut kept.expect("rooms stay while loads wait").parts[part]
    }

    /// Takes note of a part that was made in some time.
    fn arrive(&mut self, number: usize, part: usize, took: Duration) {
        self.at_rest += size(&self.rooms[&number].room, part);
        let known = self.part(number, part);
        known.condition = Condition::AtRest;
        known.stays = Some(Instant::now() + STAY);
        known.was_made = true;
        self.usual = (self.usual * 3 + took) / 4;
        self.activate(number, part);
    }

    /// Lets a part that is there be loaded.
    fn activate(&mut self, number: usize, part: usize) {
        let known = self.part(number, part);
        if known.condition == Condition::AtRest {
            known.condition = Condition::Active;
            known.places += 1;
            let place = Place {
                room: number,
                part,
                number: known.places,
            };
            self.active.push(place);
            self.at_rest -= size(&self.rooms[&number].room, part);
            self.show(number, part);
        }
    }

    /// Shows the pages all of whose parts are active.
    fn show(&mut self, number: usize, part: usize) {
        let kept = &self.rooms[&number];
        let Kept { room, parts } = kept;
        let is_whole = |page: usize| {
            let mut others = room.parts_of(page).into_iter();
            others.all(|other| parts[other].condition == Condition::Active)
        };
        for range in room.parts.ranges(part) {
            let pages = touched(&range);
            let inner = within(&range, room.bytes);
            let first = match pages.start < inner.start && is_whole(pages.start) {
                true => pages.start,
                false => inner.start,
            };
            let end = match inner.end < pages.end && is_whole(pages.end - 1) {
                true => pages.end,
                false => inner.end,
            };
            if first < end && room.protect(first..end, libc::PROT_READ).is_err() {
                end_with("error: the system does not let more pages be loaded on demand\n");
            }
        }
    }

    /// Hides the pages with bytes of a part.
    fn hide(&self, number: usize, part: usize) {
        let room = &self.rooms[&number].room;
        for range in room.parts.ranges(part) {
            if room.protect(touched(&range), libc::PROT_NONE).is_err() {
                end_with("error: the system does not let more pages be loaded on demand\n");
            }
        }
    }

    /// Whether it is the turn of a thread to have parts made again.
    fn has_turn(&mut self, thread: ThreadId) -> bool {
        let now = Instant::now();
        self.turns.retain(|&(_, end)| now < end);
        if self.turns.iter().any(|&(other, _)| other == thread) {
            return true;
        }
        let is_free = self.turns.len() < (self.kept_parts / FEW).max(1);
        if is_free {
            self.turns.push((thread, now + STAY.max(self.usual * TURN)));
        }
        is_free
    }

    /// Gives parts up until there is room for some bytes more; whether there is.
    fn make_room(&mut self, bytes: u64) -> bool {
        let most = self.capacity();
        while self.used + bytes > most && self.kept_parts >= FEW {
            if self.resting.is_empty() {
                self.let_rest();
            }
            let Some(oldest) = self.oldest_at_rest() else {
                // All parts are being made.
                return false;
            };
            let stays = self.part(oldest.room, oldest.part).stays;
            if stays.is_some_and(|until| Instant::now() < until) {
                self.resting.push_front(oldest);
                return false;
            }
            self.give_up(oldest);
        }
        // If all are kept easily, none has to rest.
        while self.used + bytes > most / 4 * 3
            && self.at_rest < self.used / 4
            && self.active.len() > 1
        {
            self.let_rest();
        }
        true
    }

    /// The part that has been at rest for the longest time.
    fn oldest_at_rest(&mut self) -> Option<Place> {
        loop {
            let place = self.resting.pop_front()?;
            let known = self.part(place.room, place.part);
            if known.condition == Condition::AtRest && known.places == place.number {
                return Some(place);
            }
        }
    }

    /// Lets one of the active parts rest.
    fn let_rest(&mut self) {
        if self.active.is_empty() {
            return;
        }
        let choice = self.next_random() % self.active.len() as u64;
        let Place { room, part, .. } = self.active.swap_remove(choice as usize);
        self.hide(room, part);
        let known = self.part(room, part);
        known.condition = Condition::AtRest;
        known.places += 1;
        let number = known.places;
        self.at_rest += size(&self.rooms[&room].room, part);
        self.resting.push_back(Place { room, part, number });
    }

    /// A number that looks random, by shifts (Marsaglia 2003).
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    fn give_up(&mut self, given_up: Place) {
        let (number, part) = (given_up.room, given_up.part);
        self.part(number, part).condition = Condition::Absent;
        let Kept { room, parts } = &self.rooms[&number];
        let bytes = size(room, part);
        let is_empty = |page: usize| {
            let mut others = room.parts_of(page).into_iter();
            others.all(|other| parts[other].condition == Condition::Absent)
        };
        for range in room.parts.ranges(part) {
            let (mut pages, inner) = (touched(&range), within(&range, room.bytes));
            // Pages at the ends may have bytes of others.
            if pages.start < inner.start && !is_empty(pages.start) {
                pages.start += 1;
            }
            if inner.end < pages.end && pages.start < pages.end && !is_empty(pages.end - 1) {
                pages.end -= 1;
            }
            room.forget(pages);
        }
        self.used -= bytes;
        self.at_rest -= bytes;
        self.kept_parts -= 1;
    }
}

/// The pages with bytes of a range.
fn touched(range: &Range<usize>) -> Range<usize> {
    range.start / page()..range.end.div_ceil(page())
}

/// The pages all of whose bytes are in a range, or after the last byte of all; empty if there is none.
fn within(range: &Range<usize>, bytes: usize) -> Range<usize> {
    let start = range.start.div_ceil(page());
    let end = match range.end == bytes {
        true => range.end.div_ceil(page()),
        false => range.end / page(),
    };
    start..end.max(start)
}
