//! The conversation of the ranks of a run. Every rank makes the same calls in the same order.

use super::carry::Cluster;
use super::mailbox::Need;
use super::wire::{Reader, put, put_bytes};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The ranks of a run, as one of them sees them.
pub struct Team {
    cluster: Box<dyn Cluster>,
    /// The farewells that have been read, by rank.
    departed: Mutex<Vec<Option<Farewell>>>,
    /// Whether something was expected of a rank that did not come.
    is_broken: AtomicBool,
    /// Bytes of the parts that were sent to each other rank, together.
    sent: AtomicU64,
}

/// The subject of parts. A rank that gets a part on another subject than it expects does not use it: the ranks have taken different
/// ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Topic {
    /// The command line and the machine.
    Facts,
    /// Blocks of strands.
    Blocks,
    /// The states of strands.
    States,
    /// How many strands wait.
    Waiting,
    /// Whether there is memory for new strands.
    Memory,
    /// The part of space that a rank looks at.
    Sight,
    /// What strands read of each other.
    Ghosts,
    /// Values of strands, to be reduced.
    Values,
    /// Tiles of strands.
    Tiles,
    /// Files that all ranks write.
    Files,
    /// Probes of images.
    Probes,
    /// GPUs, and their failures.
    Devices,
    /// The end of one of several runs.
    Runs,
}

/// The run cannot go on, because a rank has left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// That rank.
    pub rank: usize,
    /// Its last words.
    pub message: String,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.is_empty() {
            true => write!(f, "rank {} has left the run", self.rank),
            false => write!(f, "rank {}: {}", self.rank, self.message),
        }
    }
}

impl std::error::Error for Lost {}

/// The end of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Farewell {
    /// The exit status.
    pub status: u8,
    /// The rank that was the first to leave, and its message to the user.
    pub cause: Lost,
}

/// The last byte of a farewell; that of a part is its topic.
const FAREWELL: u8 = u8::MAX;

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank(), self.size())
    }
}

impl Team {
    /// The team over a cluster of several ranks.
    pub fn new(cluster: impl Cluster + 'static) -> Team {
        Team {
            departed: Mutex::new(vec![None; cluster.size()]),
            is_broken: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            cluster: Box::new(cluster),
        }
    }

    /// The number of this rank.
    pub fn rank(&self) -> usize {
        self.cluster.rank()
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.cluster.size()
    }

    /// Whether this is the rank that writes and prints.
    pub fn is_root(&self) -> bool {
        self.rank() == 0
    }

    fn others(&self) -> impl Iterator<Item = usize> {
        let here = self.rank();
        (0..self.size()).filter(move |&rank| rank != here)
    }

    /// Gives a part of every rank to all of them, in the order of ranks.
    ///
    /// # Errors
    /// A rank has left.
    pub fn gather(&self, topic: Topic, mine: Vec<u8>) -> Result<Vec<Part>, Lost> {
        let mine = Part::new(topic, mine);
        for other in self.others() {
            self.count(&mine);
            self.cluster.send(other, Arc::clone(&mine.0));
        }
        let part = |rank: usize| match rank == self.rank() {
            true => Ok(mine.clone()),
            false => self.from(rank, topic),
        };
        (0..self.size()).map(part).collect()
    }

    /// Sends something to one rank, which takes it by [`Team::from`], [`Team::in_time`] or [`Team::any`]. Any thread may call it.
    pub fn send(&self, to: usize, topic: Topic, part: Vec<u8>) {
        let part = Part::new(topic, part);
        self.count(&part);
        self.cluster.send(to, part.0);
    }

    fn count(&self, part: &Part) {
        self.sent.fetch_add(part.bytes().len() as u64, Relaxed);
    }

    /// The bytes of all parts that this rank has sent so far, counted once for every rank that got them.
    pub fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }

    /// Whether a rank has left, or has taken another way, so that the conversation can only end.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Relaxed)
    }

    /// The next part from a rank, once it has come.
    ///
    /// # Errors
    /// The rank has left.
    pub fn from(&self, rank: usize, topic: Topic) -> Result<Part, Lost> {
        self.needed(rank, topic, Need::Urgent)
    }

    /// The next part from a rank, once it has come, for a thread beside others that work.
    ///
    /// # Errors
    /// The rank has left.
    pub fn in_time(&self, rank: usize, topic: Topic) -> Result<Part, Lost> {
        self.needed(rank, topic, Need::Leisurely)
    }

    fn needed(&self, rank: usize, topic: Topic, need: Need) -> Result<Part, Lost> {
        match self.farewell_of(rank) {
            Some(farewell) => Err(farewell.cause),
            None => self.opened(rank, topic, self.cluster.mailbox().from(rank, need)),
        }
    }

    /// The next part from any rank, for a thread beside others that work; none if none comes within this time.
    ///
    /// # Errors
    /// A rank has left.
    pub fn any(&self, topic: Topic, patience: Duration) -> Result<Option<(usize, Part)>, Lost> {
        let letter = self.cluster.mailbox().any(patience);
        letter
            .map(|(rank, letter)| Ok((rank, self.opened(rank, topic, letter)?)))
            .transpose()
    }

    fn opened(&self, rank: usize, topic: Topic, letter: Arc<Vec<u8>>) -> Result<Part, Lost> {
        let lost = match farewell_in(&letter) {
            Some(farewell) => {
                let cause = farewell.cause.clone();
                self.departed()[rank] = Some(farewell);
                cause
            }
            None if letter.last() == Some(&(topic as u8)) => return Ok(Part(letter)),
            None => Lost {
                rank,
                message: "it has taken another way through the program".into(),
            },
        };
        self.is_broken.store(true, Relaxed);
        Err(lost)
    }

    /// Ends the conversation, with an exit status and the message of a failure, and waits until all ranks have done so. Parts that no
    /// rank has read are dropped. Rank 0 sees the farewells of the others and decides on the exit status, which every rank gets.
    pub fn leave(&self, status: u8, message: &str, decide: impl FnOnce(&[Farewell]) -> u8) -> u8 {
        // A rank that leaves because another has left repeats the words of that one.
        let known = self.departed().iter().flatten().next().cloned();
        let cause = known.map_or_else(
            || Lost {
                rank: self.rank(),
                message: message.to_string(),
            },
            |farewell| farewell.cause,
        );
        let mut letter = Vec::new();
        put(&mut letter, status.into());
        put(&mut letter, cause.rank as u64);
        put_bytes(&mut letter, cause.message.as_bytes());
        letter.push(FAREWELL);
        let letter = Arc::new(letter);
        for other in self.others() {
            self.cluster.send(other, Arc::clone(&letter));
        }
        let farewells: Vec<Farewell> = self.others().map(|rank| self.last_of(rank)).collect();
        if self.is_root() {
            let status = decide(&farewells);
            for other in self.others() {
                self.send(other, Topic::Runs, vec![status]);
            }
            return status;
        }
        // The decision of rank 0 comes after its farewell.
        let decision = self.cluster.mailbox().from(0, Need::Urgent);
        decision.first().copied().unwrap_or(status)
    }

    /// The farewell of a rank, once it has come.
    fn last_of(&self, rank: usize) -> Farewell {
        loop {
            if let Some(farewell) = self.farewell_of(rank) {
                return farewell;
            }
            // A farewell is noted, and parts are not needed any more.
            let letter = self.cluster.mailbox().from(rank, Need::Urgent);
            let _ = self.opened(rank, Topic::Runs, letter);
        }
    }

    fn farewell_of(&self, rank: usize) -> Option<Farewell> {
        self.departed()[rank].clone()
    }

    fn departed(&self) -> MutexGuard<'_, Vec<Option<Farewell>>> {
        self.departed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a rank has sent.
#[derive(Clone)]
pub struct Part(Arc<Vec<u8>>);

impl Part {
    fn new(topic: Topic, mut bytes: Vec<u8>) -> Part {
        bytes.push(topic as u8);
        Part(Arc::new(bytes))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.split_last().map_or(&[], |(_, bytes)| bytes)
    }
}

fn farewell_in(letter: &[u8]) -> Option<Farewell> {
    let (&FAREWELL, contents) = letter.split_last()? else {
        return None;
    };
    let mut reader = Reader(contents);
    Some(Farewell {
        status: reader.number()? as u8,
        cause: Lost {
            rank: reader.count()?,
            message: String::from_utf8_lossy(reader.bytes()?).into_owned(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::threads::Threads;
    use super::*;

    /// Does something on every rank, each in a thread; gives the results in the order of ranks.
    fn on_ranks<R: Send>(size: usize, seed: u64, work: impl Fn(&Team) -> R + Sync) -> Vec<R> {
        let work = &work;
        std::thread::scope(|scope| {
            let ranks = Threads::ranks(size, seed).into_iter();
            let ranks: Vec<_> = ranks
                .map(|rank| scope.spawn(move || work(&Team::new(rank))))
                .collect();
            let ended = ranks.into_iter().map(|rank| rank.join().unwrap());
            ended.collect()
        })
    }

    #[test]
    fn every_rank_gets_the_parts_of_all_in_order() {
        for size in 1..=8 {
            let rounds = on_ranks(size, size as u64, |team| {
                let round = |n: u8| {
                    let parts = team
                        .gather(Topic::Facts, vec![team.rank() as u8, n])
                        .unwrap();
                    parts.iter().map(|part| part.bytes().to_vec()).collect()
                };
                (0..5).map(round).collect::<Vec<Vec<Vec<u8>>>>()
            });
            for rounds in rounds {
                for (n, parts) in rounds.iter().enumerate() {
                    let expected = (0..size).map(|rank| vec![rank as u8, n as u8]);
                    assert_eq!(*parts, expected.collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn ranks_that_take_different_ways_notice_it() {
        let ends = on_ranks(3, 7, |team| {
            let topic = if team.rank() == 1 {
                Topic::Tiles
            } else {
                Topic::Blocks
            };
            let gathered = team.gather(topic, Vec::new());
            assert!(gathered.is_err() && team.is_broken());
            team.leave(1, "", |_| 1)
        });
        assert_eq!(ends, [1; 3]);
    }

    #[test]
    fn the_words_of_a_rank_that_leaves_reach_all_and_rank_0_decides() {
        for size in 2..=8 {
            let ends = on_ranks(size, 99, |team| {
                let is_first = team.rank() == size / 2;
                let lost = match is_first {
                    true => None,
                    false => Some(team.gather(Topic::Blocks, Vec::new()).err().unwrap()),
                };
                let status = u8::from(is_first);
                let words = if is_first { "no memory" } else { "" };
                let decide = |farewells: &[Farewell]| {
                    farewells.iter().map(|end| end.status + 3).max().unwrap()
                };
                (lost, team.leave(status, words, decide))
            });
            let cause = Lost {
                rank: size / 2,
                message: "no memory".into(),
            };
            for (rank, (lost, status)) in ends.into_iter().enumerate() {
                assert_eq!(status, 4, "{size}");
                assert_eq!(lost, (rank != size / 2).then(|| cause.clone()));
            }
        }
    }
}
