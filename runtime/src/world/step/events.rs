//! Events of a running block that take effect at the end of the super-step: printed text, new
//! strands, run-time errors.
//!
//! Each worker keeps its own log; entries carry the rank of their strand, and since one strand runs
//! on one worker during a super-step, sorting by rank gives an order that does not depend on the
//! workers.

use crate::abi::Failure;

/// Printed text, piece by piece.
#[derive(Debug, Default)]
pub(crate) struct PrintLog {
    pub(crate) text: String,
    /// Rank of the strand that printed, and where its piece ends.
    pub(crate) pieces: Vec<(u32, usize)>,
}

impl PrintLog {
    /// Takes back what some strands have printed since there were this many pieces.
    pub(crate) fn take_back(&mut self, since: usize, is_of: impl Fn(u32) -> bool) {
        let begin = since.checked_sub(1).map_or(0, |last| self.pieces[last].1);
        let text = self.text.split_off(begin);
        let mut from = begin;
        let pieces = self.pieces.split_off(since);
        for (rank, end) in pieces {
            if !is_of(rank) {
                self.text.push_str(&text[from - begin..end - begin]);
                self.pieces.push((rank, self.text.len()));
            }
            from = end;
        }
    }

    /// Takes over the text of another log, behind the text that is here.
    pub(crate) fn append(&mut self, other: &mut PrintLog) {
        let before = self.text.len();
        let PrintLog { text, pieces } = std::mem::take(other);
        self.text.push_str(&text);
        let pieces = pieces.into_iter().map(|(rank, end)| (rank, before + end));
        self.pieces.extend(pieces);
    }

    /// The text of all logs in strand order; empties them.
    pub(crate) fn merge<'a>(logs: impl Iterator<Item = &'a mut PrintLog>) -> String {
        let logs: Vec<PrintLog> = logs.map(std::mem::take).collect();
        let mut pieces = Vec::new();
        for log in &logs {
            let mut begin = 0;
            for &(rank, end) in &log.pieces {
                pieces.push((rank, &log.text[begin..end]));
                begin = end;
            }
        }
        pieces.sort_by_key(|&(rank, _)| rank);
        pieces.into_iter().map(|(_, text)| text).collect()
    }
}

/// Strands made by `new`, as records of their initial state.
#[derive(Debug, Default)]
pub(crate) struct Nursery {
    pub(crate) parents: Vec<u32>,
    /// The rank of the cluster that ran each parent.
    pub(crate) makers: Vec<u32>,
    pub(crate) records: Vec<u8>,
}

/// New strands in the order of their parents.
pub(crate) struct Children {
    pub(crate) makers: Vec<u32>,
    pub(crate) records: Vec<u8>,
}

impl Nursery {
    /// Takes back the children that some strands have made since there were this many, whose records have this many bytes; calls
    /// `drop` with each record.
    pub(crate) fn take_back(
        &mut self,
        since: usize,
        bytes: usize,
        is_of: impl Fn(u32) -> bool,
        mut drop: impl FnMut(&[u8]),
    ) {
        let records = self.records.split_off(since * bytes);
        let makers = self.makers.split_off(since);
        let parents = self.parents.split_off(since);
        for (n, (parent, maker)) in parents.into_iter().zip(makers).enumerate() {
            let record = &records[n * bytes..(n + 1) * bytes];
            if is_of(parent) {
                drop(record);
            } else {
                self.parents.push(parent);
                self.makers.push(maker);
                self.records.extend_from_slice(record);
            }
        }
    }

    /// Takes over the children that another nursery has, behind those that are here.
    pub(crate) fn append(&mut self, other: &mut Nursery) {
        let Nursery {
            parents,
            makers,
            records,
        } = std::mem::take(other);
        self.parents.extend(parents);
        self.makers.extend(makers);
        self.records.extend(records);
    }

    /// The children in all nurseries, with records of this many bytes; empties them.
    pub(crate) fn merge<'a>(
        nurseries: impl Iterator<Item = &'a mut Nursery>,
        bytes: usize,
    ) -> Children {
        let nurseries: Vec<Nursery> = nurseries.map(std::mem::take).collect();
        let mut children: Vec<(u32, u32, &[u8])> = Vec::new();
        for nursery in &nurseries {
            let records = (0..nursery.parents.len())
                .map(|index| &nursery.records[index * bytes..(index + 1) * bytes]);
            let kin = nursery.parents.iter().zip(&nursery.makers);
            children.extend(kin.zip(records).map(|((p, m), record)| (*p, *m, record)));
        }
        children.sort_by_key(|&(parent, ..)| parent);
        let mut records = Vec::with_capacity(children.len() * bytes);
        for (.., record) in &children {
            records.extend_from_slice(record);
        }
        Children {
            makers: children.iter().map(|&(_, maker, _)| maker).collect(),
            records,
        }
    }
}

/// A run-time error and where it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StrandFailure {
    pub(crate) step: u64,
    pub(crate) rank: u32,
    pub(crate) id: u64,
    pub(crate) failure: Failure,
}

impl StrandFailure {
    /// Keeps the earlier of two: first by super-step, then by strand. Of one strand the first noted
    /// stays.
    pub(crate) fn keep_first(noted: &mut Option<StrandFailure>, other: StrandFailure) {
        if noted.is_none_or(|noted| (other.step, other.rank) < (noted.step, noted.rank)) {
            *noted = Some(other);
        }
    }
}

/// Lists handed to generated code for the duration of one method. Memory is reused and never moves
/// while a list is in use.
#[derive(Debug, Default)]
pub(crate) struct ListArena {
    chunks: Vec<Box<[u32]>>,
    chunk: usize,
    used: usize,
}

impl ListArena {
    const CHUNK: usize = 1 << 14;

    /// A copy of `list` that stays where it is until `reset`.
    pub(crate) fn keep(&mut self, list: &[u32]) -> *const u32 {
        while self
            .chunks
            .get(self.chunk)
            .is_some_and(|chunk| chunk.len() - self.used < list.len())
        {
            self.chunk += 1;
            self.used = 0;
        }
        if self.chunk == self.chunks.len() {
            self.chunks
                .push(vec![0; list.len().max(Self::CHUNK)].into_boxed_slice());
        }
        let place = &mut self.chunks[self.chunk][self.used..self.used + list.len()];
        place.copy_from_slice(list);
        self.used += list.len();
        place.as_ptr()
    }

    /// Ends the use of all lists.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.chunk = 0;
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_merged_in_strand_order_and_stays_in_order_within_a_strand() {
        let mut logs = [
            PrintLog {
                text: "cCa".into(),
                pieces: vec![(2, 1), (2, 2), (0, 3)],
            },
            PrintLog {
                text: "b".into(),
                pieces: vec![(1, 1)],
            },
        ];
        assert_eq!(PrintLog::merge(logs.iter_mut()), "abcC");
        assert_eq!(PrintLog::merge(logs.iter_mut()), "");
    }

    #[test]
    fn text_that_is_taken_back_leaves_the_text_of_others() {
        let mut log = PrintLog::default();
        for (rank, text) in [(3, "before "), (1, "one "), (3, "gone "), (2, "two ")] {
            log.text.push_str(text);
            log.pieces.push((rank, log.text.len()));
        }
        log.take_back(1, |rank| rank == 3);
        assert_eq!(log.text, "before one two ");
        log.take_back(3, |_| true);
        log.take_back(0, |rank| rank == 1);
        assert_eq!(PrintLog::merge([&mut log].into_iter()), "two before ");
    }

    #[test]
    fn lists_stay_in_place_until_the_arena_is_reset() {
        let mut arena = ListArena::default();
        let lists: Vec<Vec<u32>> = (0..40).map(|i| vec![i; 1000 * (i as usize % 30)]).collect();
        let kept: Vec<*const u32> = lists.iter().map(|list| arena.keep(list)).collect();
        for (list, kept) in lists.iter().zip(kept) {
            // SAFETY: the arena has not been reset.
            let found = unsafe { std::slice::from_raw_parts(kept, list.len()) };
            assert_eq!(found, list);
        }
        let chunks = arena.chunks.len();
        arena.reset();
        lists.iter().for_each(|list| {
            arena.keep(list);
        });
        assert_eq!(arena.chunks.len(), chunks);
    }
}
