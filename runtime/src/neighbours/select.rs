//! The inner loop of queries: tests candidates in groups, collects those inside the sphere and puts
//! them into strand order.

use super::lanes::{GROUP, count_below};
use super::{Coordinate, Points};
use std::ops::Range;

/// Up to this many results are ordered by counting, which has no unpredictable branches and needs no memory but that of
/// the results.
const COUNTED: usize = 40;

/// Results of one query. The memory is kept from query to query.
#[derive(Debug, Default)]
pub struct Hits {
    /// Places of the candidates.
    pub(super) ranges: Vec<Range<usize>>,
    /// First place of each group of candidates.
    begins: Vec<u32>,
    /// Which candidates are inside, four groups to a word.
    inside: Vec<u64>,
    /// Ranks with the top bit flipped, so that signed comparison orders them: vector units compare
    /// signed numbers only.
    keys: Vec<i32>,
    found: Vec<u32>,
    ordered: Vec<u32>,
    scratch: Vec<u64>,
    marks: Marks,
}

/// A set of ranks as bits, for putting many results into order: a bit of `full` says which words of `words` are not zero.
/// Both are all zero between queries.
#[derive(Debug, Default)]
struct Marks {
    words: Vec<u64>,
    full: Vec<u64>,
}

impl Marks {
    /// Writes the values that `slot_of` gives for these ranks, all below its length, to `ordered`, by increasing rank.
    fn order(&mut self, ranks: impl Iterator<Item = u32>, slot_of: &[u32], ordered: &mut Vec<u32>) {
        let words = slot_of.len().div_ceil(64);
        if self.words.len() < words {
            self.words.resize(words, 0);
            self.full.resize(words.div_ceil(64), 0);
        }
        for rank in ranks {
            let word = rank as usize / 64;
            self.words[word] |= 1 << (rank % 64);
            self.full[word / 64] |= 1 << (word % 64);
        }
        for (first, full) in (0..).step_by(64).zip(&mut self.full) {
            for word in ones(std::mem::take(full)).map(|bit| first + bit) {
                let marked = std::mem::take(&mut self.words[word]);
                ordered.extend(ones(marked).map(|bit| slot_of[word * 64 + bit]));
            }
        }
    }
}

/// The places of the bits that are set, from the lowest.
#[inline(always)]
fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}

impl Hits {
    /// The slots found, in rank order.
    pub fn slots(&self) -> &[u32] {
        &self.ordered
    }

    pub(super) fn clear(&mut self) {
        self.ranges.clear();
        self.ordered.clear();
    }
}

/// Tests the candidates at the places in `hits.ranges` and leaves those nearer to `centre` than the
/// root of `square`, except the strand at `own`, in `hits` in rank order. `slot_of` gives the slot of a rank; it is empty
/// when ranks are too far apart for such a table.
pub(super) fn select<T: Coordinate, const D: usize>(
    points: &Points<T, D>,
    slot_of: &[u32],
    centre: [T; D],
    square: T,
    own: u32,
    hits: &mut Hits,
) {
    test(points, centre, square, hits);
    let count = collect(&points.ranks, &points.slots, own, hits);
    order(hits, count, slot_of);
}

/// Fills `begins` and `inside`.
fn test<T: Coordinate, const D: usize>(
    points: &Points<T, D>,
    centre: [T; D],
    square: T,
    hits: &mut Hits,
) {
    let Hits {
        ranges,
        begins,
        inside,
        ..
    } = hits;
    begins.clear();
    for places in ranges.iter() {
        begins.extend(places.clone().step_by(GROUP).map(|begin| begin as u32));
    }
    inside.clear();
    inside.resize(begins.len().div_ceil(4), 0);
    let mut group = 0;
    for places in ranges {
        let mut begin = places.start;
        while begin < places.end {
            let mut bits = T::bits_below(&square_distances(points, begin, centre), square);
            let left = places.end - begin;
            if left < GROUP {
                bits &= (1 << left) - 1;
            }
            inside[group / 4] |= u64::from(bits) << (group % 4 * GROUP);
            group += 1;
            begin += GROUP;
        }
    }
}

#[inline(always)]
fn square_distances<T: Coordinate, const D: usize>(
    points: &Points<T, D>,
    begin: usize,
    centre: [T; D],
) -> [T; GROUP] {
    let mut squares = [T::default(); GROUP];
    for (column, middle) in points.coordinates.iter().zip(centre) {
        for (square, &x) in squares.iter_mut().zip(&column[begin..begin + GROUP]) {
            let along = x - middle;
            *square = *square + along * along;
        }
    }
    squares
}

/// Writes keys and slots of what is inside to the front of `keys` and `found`; gives their number.
fn collect(ranks: &[u32], slots: &[u32], own: u32, hits: &mut Hits) -> usize {
    // Room for everything, for the strand itself, and for padding to a full group.
    let most: u32 = hits.inside.iter().map(|word| word.count_ones()).sum();
    let room = most as usize + GROUP;
    if room > hits.keys.len() {
        hits.keys.resize(2 * room, 0);
        hits.found.resize(2 * room, 0);
    }
    let mut count = 0;
    for (&word, begins) in hits.inside.iter().zip(hits.begins.chunks(4)) {
        let mut word = word;
        while word != 0 {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            let place = begins[bit / GROUP] as usize + bit % GROUP;
            hits.keys[count] = (ranks[place] ^ 1 << 31) as i32;
            hits.found[count] = slots[place];
            // The strand itself is overwritten by the next result.
            count += usize::from(slots[place] != own);
        }
    }
    count
}

/// Puts the first `count` slots found into the order of their keys.
fn order(hits: &mut Hits, count: usize, slot_of: &[u32]) {
    let Hits {
        keys,
        found,
        ordered,
        scratch,
        marks,
        ..
    } = hits;
    let rank = |key: i32| key as u32 ^ 1 << 31;
    if count == 0 {
        return;
    }
    if count <= COUNTED {
        // Padding comes after every result; it all lands in one place behind them, which is cut
        // off.
        let padded = count.next_multiple_of(GROUP);
        keys[count..padded].fill(i32::MAX);
        ordered.resize(count + 1, 0);
        let (groups, _) = keys[..padded].as_chunks::<GROUP>();
        for (group, slots) in groups.iter().zip(found.chunks_exact(GROUP)) {
            for (before, &slot) in count_below(&keys[..count], group).into_iter().zip(slots) {
                ordered[before as usize] = slot;
            }
        }
        ordered.truncate(count);
    } else if !slot_of.is_empty() {
        marks.order(keys[..count].iter().map(|&key| rank(key)), slot_of, ordered);
    } else {
        scratch.clear();
        let keyed = keys[..count].iter().zip(&*found);
        scratch.extend(keyed.map(|(&key, &slot)| u64::from(rank(key)) << 32 | u64::from(slot)));
        scratch.sort_unstable();
        ordered.extend(scratch.iter().map(|&keyed| keyed as u32));
    }
}
