//! Parts of a grid whose values are passed on as soon as all their strands have ended, while others still run.

use super::writer_queue::{WriterQueue, lock};
use crate::strands::tiles::Walk;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Takes values of outputs while others are computed.
#[derive(Clone, Copy)]
pub struct Taker<'a> {
    /// Is called by any worker, but for one output by one at a time, with the number of the output among those wanted, how many bytes of its values come before,
    /// and the bytes of these, in creation order.
    pub take: &'a (dyn Fn(usize, usize, &[u8]) + Sync),
    /// Outputs whose values are not needed again.
    pub passing: &'a [bool],
    /// Whether every rank of a cluster takes the values of its own strands: in any order, and those of one output by several workers at
    /// once. All ranks agree on it, all outputs are passing, and strands do not die.
    pub is_shared: bool,
}

/// Bytes that are worth handing on.
const WORTHWHILE: usize = 1 << 18;

/// Rows of tiles, several together if they are short: the strands of each part follow each other in creation order.
pub(crate) struct Parts<'a> {
    taker: Taker<'a>,
    /// Of every output, the parts that wait to be taken.
    queues: Vec<WriterQueue<usize>>,
    /// How far every part is.
    states: Vec<State>,
    /// Tiles of a part, and strands; the last may have fewer.
    tiles: usize,
    strands: usize,
    /// Strands of the grid.
    all: usize,
    /// Whether a strand died: then values are not where they will be.
    spoilt: AtomicBool,
    /// Memory that each worker has used before, and has in its cache.
    unused: Vec<Mutex<Vec<Memory>>>,
    /// Words of such memory, and where in it, in bytes, the values of each of those outputs begin.
    words: usize,
    begins: Vec<usize>,
}

/// How far a part is, in lines of the cache that those who have other parts do not write.
#[repr(align(128))]
struct State {
    /// Tiles that have not ended.
    left: AtomicUsize,
    /// Outputs that have not been taken.
    untaken: AtomicUsize,
    /// If some tiles have begun, memory for values that are only streamed, and the worker that owns it.
    memory: Mutex<(Memory, usize)>,
}

/// Memory for the values of a part.
type Memory = Vec<u64>;

/// A part that has begun: its first strand, and its memory.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) first: usize,
    memory: *mut u8,
    begins: &'a [usize],
}

impl Part<'_> {
    /// Where the values of an output begin, by its number among those that are only streamed.
    pub(crate) fn room(self, output: usize) -> *mut u8 {
        self.memory.wrapping_add(self.begins[output])
    }
}

impl<'a> Parts<'a> {
    /// The parts of a grid whose strands have `bytes` of each output, and `passing` of each that is only streamed.
    pub(crate) fn new(
        walk: &Walk,
        workers: usize,
        bytes: &[usize],
        passing: &[usize],
        taker: Taker<'a>,
    ) -> Parts<'a> {
        let (tiles, strands) = walk.row();
        let rows = WORTHWHILE.div_ceil((strands * bytes.iter().sum::<usize>()).max(1));
        let tiles = (rows * tiles).max(1);
        let strands = (rows * strands).min(walk.points());
        let whole = |part: usize| State {
            left: AtomicUsize::new(tiles.min(walk.tiles() - part * tiles)),
            untaken: AtomicUsize::new(bytes.len()),
            memory: Mutex::default(),
        };
        let parts = walk.tiles().div_ceil(tiles);
        let mut words = 0;
        let begins = passing.iter().map(|bytes| {
            let before = words * size_of::<u64>();
            words += (strands * bytes).div_ceil(size_of::<u64>());
            before
        });
        Parts {
            begins: begins.collect(),
            words,
            taker,
            queues: bytes.iter().map(|_| WriterQueue::default()).collect(),
            states: (0..parts).map(whole).collect(),
            unused: (0..workers).map(|_| Mutex::default()).collect(),
            tiles,
            strands,
            all: walk.points(),
            spoilt: AtomicBool::new(false),
        }
    }

    /// Bytes of memory that this many open parts have, or all parts if they are fewer.
    pub(crate) fn bytes(&self, open: usize) -> usize {
        open.min(self.states.len()) * self.words * size_of::<u64>()
    }

    /// The part of a tile that a worker has, with its memory.
    pub(crate) fn begin(&self, tile: usize, worker: usize) -> Part<'_> {
        let part = tile / self.tiles;
        let mut state = lock(&self.states[part].memory);
        let (memory, owner) = &mut *state;
        if memory.is_empty() && self.words > 0 {
            let used = lock(&self.unused[worker]).pop();
            *memory = used.unwrap_or_else(|| vec![0; self.words]);
            *owner = worker;
        }
        drop(state);
        self.begun(part)
    }

    /// Nothing more is passed on.
    pub(crate) fn spoil(&self) {
        self.spoilt.store(true, Ordering::Relaxed);
    }

    /// Notes that a tile has ended and that its values are written. If it was the last of its part, they are passed on: `values`
    /// gives those of some strands of an output, and how many bytes come before.
    pub(crate) fn end<'v>(
        &self,
        tile: usize,
        values: impl Fn(usize, Part<'_>, Range<usize>) -> (usize, &'v [u8]),
    ) {
        let part = tile / self.tiles;
        // The worker that ends a part sees the writes of the others.
        let left = self.states[part].left.fetch_sub(1, Ordering::AcqRel) - 1;
        if left > 0 || self.spoilt.load(Ordering::Relaxed) {
            return;
        }
        let most = self.unused.len();
        for (output, queue) in self.queues.iter().enumerate() {
            queue.write(part, most, |part| {
                let first = part * self.strands;
                let strands = first..(first + self.strands).min(self.all);
                let (before, bytes) = values(output, self.begun(part), strands);
                (self.taker.take)(output, before, bytes);
                self.taken(part);
            });
        }
    }

    /// A part that has begun.
    fn begun(&self, part: usize) -> Part<'_> {
        let mut state = lock(&self.states[part].memory);
        Part {
            first: part * self.strands,
            memory: state.0.as_mut_ptr().cast(),
            begins: &self.begins,
        }
    }

    /// Notes that an output of a part has been taken.
    fn taken(&self, part: usize) {
        let state = &self.states[part];
        if state.untaken.fetch_sub(1, Ordering::AcqRel) == 1 {
            let (memory, owner) = std::mem::take(&mut *lock(&state.memory));
            lock(&self.unused[owner]).push(memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: Taker<'_> = Taker {
        take: &|_, _, _| {},
        passing: &[],
        is_shared: false,
    };

    /// Ends a tile; gives the parts that it ended.
    fn ended(parts: &Parts<'_>, tile: usize) -> Vec<Range<usize>> {
        let ended: Mutex<Vec<Range<usize>>> = Mutex::default();
        parts.end(tile, |output, _, strands| {
            if output == 0 {
                lock(&ended).push(strands);
            }
            (0, &[])
        });
        ended.into_inner().unwrap()
    }

    #[test]
    fn memory_is_that_of_the_part_and_is_used_again_by_its_worker() {
        let walk = Walk::new(&[4099, 256], 8);
        let parts = Parts::new(&walk, 2, &[1, 8], &[1, 8], NOBODY);
        let (tiles, strands) = (parts.tiles, parts.strands);
        assert_eq!(parts.bytes(2), 2 * strands * 9);
        let [first, same, second] =
            [(0, 0), (tiles - 1, 1), (tiles, 1)].map(|(tile, worker)| parts.begin(tile, worker));
        assert_eq!([first.first, second.first], [0, strands]);
        assert_eq!(first.room(1), same.room(1));
        assert_eq!(first.room(1), first.room(0).wrapping_add(strands));
        assert_ne!(first.room(0), second.room(0));
        (0..tiles).for_each(|tile| drop(ended(&parts, tile)));
        assert_ne!(parts.begin(2 * tiles, 1).room(0), first.room(0));
        assert_eq!(parts.begin(3 * tiles, 0).room(0), first.room(0));
    }

    #[test]
    fn parts_have_no_more_memory_than_the_grid_needs() {
        for (sizes, all) in [(vec![2], 2 * 4), (vec![3, 5], 15 * 4), (vec![4, 0], 0)] {
            let parts = Parts::new(&Walk::new(&sizes, 8), 64, &[4], &[4], NOBODY);
            let words = usize::div_ceil(all, size_of::<u64>());
            assert_eq!(parts.bytes(3 * 64), words * size_of::<u64>(), "{sizes:?}");
        }
    }

    #[test]
    fn parts_end_with_their_last_tiles_and_cover_the_grid() {
        for (sizes, bytes) in [
            (vec![70, 300], 4000),
            (vec![33, 40, 50], 1000),
            (vec![5000], 8000),
            (vec![3], 1),
            (vec![], 4),
            (vec![4, 0, 3], 4),
        ] {
            let walk = Walk::new(&sizes, 8);
            let parts = Parts::new(&walk, 1, &[bytes, 4], &[bytes], NOBODY);
            let (mut covered, mut over) = (vec![0; walk.points()], vec![false; walk.points()]);
            // From the last tile to the first, so that order does not matter.
            for tile in (0..walk.tiles()).rev() {
                walk.ranks(tile).for_each(|rank| over[rank as usize] = true);
                for strand in ended(&parts, tile).into_iter().flatten() {
                    assert!(over[strand], "{sizes:?}: {strand} has not ended");
                    covered[strand] += 1;
                }
            }
            assert!(covered.iter().all(|&times| times == 1), "{sizes:?}");
        }
    }

    #[test]
    fn nothing_is_handed_on_after_a_death() {
        let walk = Walk::new(&[40, 40], 4);
        let parts = Parts::new(&walk, 1, &[4], &[4], NOBODY);
        parts.spoil();
        assert!((0..walk.tiles()).all(|tile| ended(&parts, tile).is_empty()));
    }
}
