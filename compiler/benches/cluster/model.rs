//! A model of runs on the ranks of a cluster. It takes costs of tiles or strands, measured on one worker, and the properties of a
//! cluster, and gives times.
//!
//! Independent strands are followed event by event, by the rules of `runtime::world` for batches of tiles. Strands that notice each
//! other take a sum of terms per super-step. No noise of machines is in it: real runs are slower.

use runtime::world::{batch_of, share_of};
use std::{cmp::Reverse, collections::BinaryHeap, collections::VecDeque, ops::Range};

/// A cluster of equal machines, with one rank on each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cluster {
    pub(crate) ranks: usize,
    /// Worker threads of a rank.
    pub(crate) workers: usize,
    /// Seconds until a letter is there, and until the thread that waits for it has noticed.
    pub(crate) latency: f64,
    /// Bytes per second that a rank receives.
    pub(crate) bandwidth: f64,
    /// Seconds that rank 0 takes to answer a letter that asks for tiles.
    pub(crate) ticket: f64,
    /// Bytes per second that a rank takes out of letters.
    pub(crate) unpacking: f64,
    /// Bytes per second that a rank writes to a file.
    pub(crate) writing: f64,
}

/// Independent strands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picture<'a> {
    /// Seconds of one worker for each tile.
    pub(crate) tiles: &'a [f64],
    /// Tiles side by side that should stay together.
    pub(crate) neighbours: usize,
    /// Bytes of the outputs of a tile.
    pub(crate) bytes: f64,
}

/// The prediction for a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prediction {
    /// Seconds from the first tile to the last byte in the file.
    pub(crate) seconds: f64,
    /// Seconds until all tiles have run.
    pub(crate) computing: f64,
    /// Batches of tiles that rank 0 gave to others.
    pub(crate) batches: usize,
}

impl Prediction {
    /// The part of the workers' time in which they compute, if they take this many seconds together.
    pub(crate) fn efficiency(&self, work: f64, cluster: &Cluster) -> f64 {
        work / (self.seconds * (cluster.ranks * cluster.workers) as f64)
    }
}

/// Seconds as a key of a queue: they are not negative, so their bits are in their order.
fn key(seconds: f64) -> u64 {
    (seconds + 0.0).to_bits()
}

/// Something that happens at a time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A worker of a rank has nothing to do.
    Free(usize),
    /// Rank 0 has read that a rank asks for tiles.
    Asked(usize),
    /// Tiles have come to a rank.
    Given(usize, usize, usize),
    /// No more tiles will come to a rank.
    Closed(usize),
    /// The values of a tile have come to rank 0.
    Values,
}

/// The tiles of a rank, and its workers that wait.
#[derive(Clone, Default)]
struct Stock {
    batches: VecDeque<Range<usize>>,
    asked: bool,
    closed: bool,
    idle: usize,
}

/// Predicts the run of independent strands.
pub(crate) fn independent(picture: Picture<'_>, cluster: &Cluster) -> Prediction {
    let Cluster { ranks, workers, .. } = *cluster;
    let count = picture.tiles.len();
    let mut next = 0;
    let mut stocks = vec![Stock::default(); ranks];
    let mut events = BinaryHeap::new();
    let mut order = 0u64;
    let mut at = |events: &mut BinaryHeap<_>, time: f64, event: Event| {
        order += 1;
        events.push(Reverse((key(time), order, event)));
    };
    for rank in 0..ranks {
        for _ in 0..workers {
            at(&mut events, 0.0, Event::Free(rank));
        }
    }
    let travel = cluster.latency + picture.bytes / cluster.bandwidth;
    // The thread of rank 0 that reads letters does one thing after the other.
    let (mut reader, mut computing, mut batches) = (0.0f64, 0.0f64, 0);
    while let Some(Reverse((time, _, event))) = events.pop() {
        let now = f64::from_bits(time);
        match event {
            Event::Free(0) => {
                if next < count {
                    let fair = share_of(count - next, workers * ranks, picture.neighbours);
                    let tiles = next..count.min(next + fair);
                    next = tiles.end;
                    let end = now + picture.tiles[tiles].iter().sum::<f64>();
                    computing = computing.max(end);
                    at(&mut events, end, Event::Free(0));
                }
            }
            Event::Free(rank) => {
                let stock = &mut stocks[rank];
                let left: usize = stock.batches.iter().map(Range::len).sum();
                if left <= workers && !stock.asked && !stock.closed {
                    stock.asked = true;
                    at(&mut events, now + cluster.latency, Event::Asked(rank));
                }
                let Some(batch) = stock.batches.front_mut() else {
                    stock.idle += usize::from(!stock.closed);
                    continue;
                };
                let share = share_of(left, workers, picture.neighbours);
                let taken = batch.start..batch.end.min(batch.start + share);
                batch.start = taken.end;
                if batch.start == batch.end {
                    stock.batches.pop_front();
                }
                let mut end = now;
                for tile in taken {
                    end += picture.tiles[tile];
                    at(&mut events, end + travel, Event::Values);
                }
                computing = computing.max(end);
                at(&mut events, end, Event::Free(rank));
            }
            Event::Asked(rank) => {
                reader = reader.max(now) + cluster.ticket;
                let there = reader + cluster.latency;
                if next == count {
                    at(&mut events, there, Event::Closed(rank));
                    continue;
                }
                let end = next + batch_of(count - next, ranks, workers);
                batches += 1;
                at(&mut events, there, Event::Given(rank, next, end));
                next = end;
            }
            Event::Given(rank, ..) | Event::Closed(rank) => {
                let stock = &mut stocks[rank];
                match event {
                    Event::Given(_, start, end) => {
                        stock.batches.push_back(start..end);
                        stock.asked = false;
                    }
                    _ => stock.closed = true,
                }
                for _ in 0..std::mem::take(&mut stock.idle) {
                    at(&mut events, now, Event::Free(rank));
                }
            }
            Event::Values => reader = reader.max(now) + picture.bytes / cluster.unpacking,
        }
    }
    // Rank 0 writes while values come, but not faster than the file takes them.
    let written = picture.bytes * count as f64 / cluster.writing;
    Prediction {
        seconds: computing.max(reader).max(written),
        computing,
        batches,
    }
}

/// Strands that notice each other, in one super-step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuperStep {
    pub(crate) strands: f64,
    /// Seconds of one worker for the update of a strand.
    pub(crate) update: f64,
    /// Seconds of a rank for a strand that it can look at: the index, births and deaths.
    pub(crate) looked_at: f64,
    /// Bytes that others read of a strand.
    pub(crate) bytes: f64,
    /// How far strands look, if they fill a cube with edges of 1.
    pub(crate) radius: f64,
}

/// Times that every rank writes to every other in a super-step of strands that look at each other: how many wait, where it looks, the
/// strands there, and the news.
const LETTERS: usize = 4;

impl SuperStep {
    /// Strands that each rank can look at but does not run. Ranks have cubes.
    pub(crate) fn ghosts(&self, ranks: usize) -> f64 {
        let own = 1.0 / ranks as f64;
        let seen = (own.cbrt() + 2.0 * self.radius).powi(3).min(1.0);
        self.strands * (seen - own)
    }
}

/// Seconds of a super-step. Every rank updates its share, and gets the strands of others that are near it.
pub(crate) fn super_step(step: SuperStep, cluster: &Cluster) -> f64 {
    let own = step.strands / cluster.ranks as f64;
    let ghosts = step.ghosts(cluster.ranks);
    let update = own * step.update / cluster.workers as f64;
    let foreign = ghosts * step.bytes;
    let others = (cluster.ranks - 1) as f64;
    let waiting = LETTERS as f64 * others * cluster.latency;
    let exchange = foreign / cluster.bandwidth + foreign / cluster.unpacking + waiting;
    update + (own + ghosts) * step.looked_at + exchange
}

/// Letters that all ranks send in a super-step, of strands that look at each other or of others.
pub(crate) fn letters_of_super_step(ranks: usize, look: bool) -> usize {
    let times = if look { LETTERS } else { 1 };
    times * ranks * (ranks - 1)
}
