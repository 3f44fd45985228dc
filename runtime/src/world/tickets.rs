//! Tiles for the ranks of a cluster: rank 0 gives them out, batch by batch, and gets the values of their strands.
//!
//! A rank asks for a batch before it has run out of tiles, so that its workers need not wait. Batches become smaller towards the
//! end. Which rank ran a tile shows in no result. Rank 0 ends the run for all ranks, once it has all values or a strand has failed.

use super::control::Control;
use super::core::take_some;
use crate::cluster::wire::{Reader, put};
use crate::cluster::{Lost, Team, Topic};
use crate::strands::Counts;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The part of the tiles left that is given out in one batch, divided by the number of ranks.
const SHARE: usize = 4;
/// How often a rank that waits looks whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(5);

/// The kinds of letters: first to rank 0, then from it.
const ASK: u64 = 0;
const TILE: u64 = 1;
const DONE: u64 = 2;
const GIVE: u64 = 3;
const CLOSE: u64 = 4;
const VERDICT: u64 = 5;

/// Why ranks stop before all tiles have run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    /// They do not.
    #[default]
    None,
    /// The run was cancelled.
    Cancelled,
    /// A strand failed.
    Failed,
}

impl Trouble {
    const ALL: [Trouble; 3] = [Trouble::None, Trouble::Cancelled, Trouble::Failed];

    fn read(reader: &mut Reader<'_>) -> Option<Trouble> {
        Trouble::ALL.get(reader.count()?).copied()
    }
}

/// How the tiles of all ranks ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Verdict {
    pub(super) trouble: Trouble,
    /// The largest number of super-steps any strand took.
    pub(super) steps: u64,
    pub(super) counts: Counts,
}

/// The run of tiles on one rank.
pub(super) trait Tiles: Sync {
    /// How many tiles there are, and how many side by side should stay together.
    fn tiles(&self) -> [usize; 2];

    /// The workers of this rank.
    fn workers(&self) -> usize;

    /// Runs the tiles that `take` gives on all workers, until it has no more.
    fn work_off(&self, take: &(dyn Fn() -> Option<Range<usize>> + Sync));

    /// Takes the values of a tile that another rank has sent; nothing if the letter is damaged.
    fn receive(&self, reader: &mut Reader<'_>) -> Option<()>;

    /// The trouble on this rank.
    fn trouble(&self) -> Trouble;

    /// Something has gone wrong elsewhere: the tiles here need not run to their ends.
    fn heed(&self, trouble: Trouble);

    /// How far this rank is.
    fn control(&self) -> &Control;

    /// The largest number of super-steps that a strand took here.
    fn steps(&self) -> u64;
}

/// The head of a letter with the values of a tile.
pub(super) fn tile_letter(letter: &mut Vec<u8>, tile: usize) {
    put(letter, TILE);
    put(letter, tile as u64);
}

/// Runs all tiles on all ranks.
///
/// # Errors
/// A rank has left.
pub(super) fn run(tiles: &dyn Tiles, team: &Team) -> Result<Verdict, Lost> {
    match team.is_root() {
        true => give_out(tiles, team),
        false => work_for_root(tiles, team),
    }
}

/// Rank 0: its workers run tiles, while this thread gives tiles to the other ranks and takes their values.
fn give_out(tiles: &dyn Tiles, team: &Team) -> Result<Verdict, Lost> {
    let next = AtomicUsize::new(0);
    let [count, neighbours] = tiles.tiles();
    let all_workers = tiles.workers() * team.size();
    let take = || take_some(&next, count, neighbours, all_workers);
    std::thread::scope(|scope| {
        let own = scope.spawn(|| tiles.work_off(&take));
        let mut at_work: Vec<usize> = (1..team.size()).collect();
        let mut told = Trouble::None;
        while !at_work.is_empty() {
            let trouble = tiles.trouble();
            if trouble > told {
                told = trouble;
                next.store(count, Relaxed);
                for &rank in &at_work {
                    team.send(rank, Topic::Tiles, words(&[CLOSE, trouble as u64]));
                }
            }
            // If a rank has left, the workers here end too, because this scope waits for them.
            let stop = |lost: Lost| {
                tiles.heed(Trouble::Cancelled);
                lost
            };
            let Some((rank, part)) = team.any(Topic::Tiles, PATIENCE).map_err(stop)? else {
                continue;
            };
            let mut reader = Reader(part.bytes());
            let mut answer = || {
                match reader.number()? {
                    ASK => {
                        let workers = reader.count()?;
                        let batch = take_batch(&next, count, team.size(), workers);
                        let letter = match batch {
                            Some(batch) => words(&[GIVE, batch.start as u64, batch.end as u64]),
                            None => words(&[CLOSE, told as u64]),
                        };
                        team.send(rank, Topic::Tiles, letter);
                    }
                    TILE => tiles.receive(&mut reader)?,
                    DONE => {
                        at_work.retain(|&other| other != rank);
                        tiles.heed(Trouble::read(&mut reader)?);
                    }
                    _ => return None,
                }
                Some(())
            };
            answer().ok_or_else(|| stop(damaged(rank)))?;
        }
        if let Err(panic) = own.join() {
            std::panic::resume_unwind(panic);
        }
        let (_, counts) = tiles.control().progress();
        let verdict = Verdict {
            trouble: tiles.trouble(),
            steps: tiles.steps(),
            counts,
        };
        let Counts {
            active,
            stable,
            dead,
        } = counts;
        let trouble = verdict.trouble as u64;
        for rank in 1..team.size() {
            let letter = words(&[VERDICT, trouble, verdict.steps, active, stable, dead]);
            team.send(rank, Topic::Tiles, letter);
        }
        Ok(verdict)
    })
}

/// Another rank: its workers run the tiles that rank 0 gives, while this thread listens to rank 0.
fn work_for_root(tiles: &dyn Tiles, team: &Team) -> Result<Verdict, Lost> {
    let stock = Stock {
        tiles,
        team,
        state: Mutex::default(),
        change: Condvar::new(),
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Also if a worker panics: rank 0 waits for it.
            let _done = Done(&stock);
            tiles.work_off(&|| stock.take());
        });
        loop {
            let stop = |lost: Lost| {
                tiles.heed(Trouble::Cancelled);
                stock.close();
                lost
            };
            let part = team.in_time(0, Topic::Tiles).map_err(stop)?;
            let mut reader = Reader(part.bytes());
            let mut answer = || {
                match reader.number()? {
                    GIVE => stock.add(reader.count()?..reader.count()?),
                    CLOSE => {
                        tiles.heed(Trouble::read(&mut reader)?);
                        stock.close();
                    }
                    VERDICT => {
                        let trouble = Trouble::read(&mut reader)?;
                        let mut next = || reader.number();
                        let steps = next()?;
                        let counts = Counts {
                            active: next()?,
                            stable: next()?,
                            dead: next()?,
                        };
                        return Some(Some(Verdict {
                            trouble,
                            steps,
                            counts,
                        }));
                    }
                    _ => return None,
                }
                Some(None)
            };
            if let Some(verdict) = answer().ok_or_else(|| stop(damaged(0)))? {
                tiles.control().show(verdict.steps, verdict.counts);
                return Ok(verdict);
            }
        }
    })
}

/// The tiles that a rank has got and not begun.
struct Stock<'a> {
    tiles: &'a dyn Tiles,
    team: &'a Team,
    state: Mutex<StockState>,
    change: Condvar,
}

#[derive(Default)]
struct StockState {
    batches: VecDeque<Range<usize>>,
    /// Whether a batch is on its way.
    asked: bool,
    /// Whether there will be no more.
    closed: bool,
}

impl Stock<'_> {
    fn lock(&self) -> MutexGuard<'_, StockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, batch: Range<usize>) {
        let mut state = self.lock();
        state.batches.push_back(batch);
        state.asked = false;
        self.change.notify_all();
    }

    fn close(&self) {
        self.lock().closed = true;
        self.change.notify_all();
    }

    /// The next tiles for a worker, which may have to wait for them.
    fn take(&self) -> Option<Range<usize>> {
        let [_, neighbours] = self.tiles.tiles();
        let workers = self.tiles.workers();
        let mut state = self.lock();
        loop {
            if self.tiles.trouble() != Trouble::None {
                return None;
            }
            let left: usize = state.batches.iter().map(Range::len).sum();
            if left <= workers && !state.asked && !state.closed {
                state.asked = true;
                self.team
                    .send(0, Topic::Tiles, words(&[ASK, workers as u64]));
            }
            if let Some(batch) = state.batches.front_mut() {
                let share = share_of(left, workers, neighbours);
                let taken = batch.start..batch.end.min(batch.start + share);
                batch.start = taken.end;
                if batch.start == batch.end {
                    state.batches.pop_front();
                }
                return Some(taken);
            }
            if state.closed {
                return None;
            }
            let waited = self.change.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Tells rank 0 that the workers of this rank have ended.
struct Done<'a, 's>(&'a Stock<'s>);

impl Drop for Done<'_, '_> {
    fn drop(&mut self) {
        let Stock { tiles, team, .. } = self.0;
        let trouble = match std::thread::panicking() {
            true => Trouble::Cancelled,
            false => tiles.trouble(),
        };
        team.send(0, Topic::Tiles, words(&[DONE, trouble as u64]));
    }
}

/// The next batch for a rank with this many workers.
fn take_batch(
    next: &AtomicUsize,
    tiles: usize,
    ranks: usize,
    workers: usize,
) -> Option<Range<usize>> {
    let taken = next.fetch_update(Relaxed, Relaxed, |first| {
        let left = tiles.checked_sub(first).filter(|&left| left > 0)?;
        Some(first + batch_of(left, ranks, workers))
    });
    let first = taken.ok()?;
    Some(first..first + batch_of(tiles - first, ranks, workers))
}

/// The tiles of a batch for a rank with this many workers, if this many are left.
pub fn batch_of(left: usize, ranks: usize, workers: usize) -> usize {
    (left / (SHARE * ranks)).max(workers).min(left)
}

/// The tiles that a worker takes of those that its rank has, if this many are left; up to `neighbours` that are side by side stay together.
pub fn share_of(left: usize, workers: usize, neighbours: usize) -> usize {
    (left / (2 * workers)).clamp(1, neighbours.max(1))
}

fn words(words: &[u64]) -> Vec<u8> {
    let mut letter = Vec::with_capacity(8 * words.len());
    words.iter().for_each(|&word| put(&mut letter, word));
    letter
}

fn damaged(rank: usize) -> Lost {
    Lost {
        rank,
        message: "a letter about tiles is damaged".into(),
    }
}
