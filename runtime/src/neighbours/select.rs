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
    /// Writes the slots of these ranks, which are below the length of the table `slot_of`, to the front of `ordered`, by
    /// increasing rank and without the slot `own`. There is room for all; gives how many they are.
    fn order(
        &mut self,
        ranks: impl Iterator<Item = u32>,
        slot_of: &[u32],
        own: u32,
        ordered: &mut [u32],
    ) -> usize {
        let words = slot_of.len().div_ceil(64);
        if self.words.len() < words {
            self.words.resize(words, 0);
            self.full.resize(words.div_ceil(64), 0);
        }
        ranks.for_each(|rank| {
            let number = rank as usize / 64;
            let word = &mut self.words[number];
            // Results that follow each other often share a word: then there is one memory cell to wait for and not two.
            if *word == 0 {
                self.full[number / 64] |= 1 << (number % 64);
            }
            *word |= 1 << (rank % 64);
        });
        let mut count = 0;
        for (first, full) in (0..).step_by(64).zip(&mut self.full) {
            for word in ones(std::mem::take(full)).map(|bit| first + bit) {
                for bit in ones(std::mem::take(&mut self.words[word])) {
                    let slot = slot_of[word * 64 + bit];
                    ordered[count] = slot;
                    // The strand itself is overwritten by the next.
                    count += usize::from(slot != own);
                }
            }
        }
        count
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
    let most: u32 = hits.inside.iter().map(|word| word.count_ones()).sum();
    let most = most as usize;
    if most > COUNTED && !slot_of.is_empty() {
        let Hits {
            begins,
            inside,
            ordered,
            marks,
            ..
        } = hits;
        ordered.resize(most, 0);
        let found = places(inside, begins).map(|place| points.ranks[place]);
        let count = marks.order(found, slot_of, own, ordered);
        ordered.truncate(count);
    } else {
        let count = collect(&points.ranks, &points.slots, own, most, hits);
        order(hits, count);
    }
}

/// The places of those that are inside.
#[inline(always)]
fn places(inside: &[u64], begins: &[u32]) -> impl Iterator<Item = usize> {
    let words = inside.iter().zip(begins.chunks(4));
    words.flat_map(|(&word, begins)| {
        ones(word).map(|bit| begins[bit / GROUP] as usize + bit % GROUP)
    })
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

/// Writes the keys and slots of the points inside, at most `most`, to the front of `keys` and `found`; returns their number.
fn collect(ranks: &[u32], slots: &[u32], own: u32, most: usize, hits: &mut Hits) -> usize {
    let Hits {
        begins,
        inside,
        keys,
        found,
        ..
    } = hits;
    // Room for everything, for the strand itself, and for padding to a full group.
    let room = most + GROUP;
    if room > keys.len() {
        keys.resize(2 * room, 0);
        found.resize(2 * room, 0);
    }
    let mut count = 0;
    places(inside, begins).for_each(|place| {
        keys[count] = (ranks[place] ^ 1 << 31) as i32;
        found[count] = slots[place];
        // The strand itself is overwritten by the next result.
        count += usize::from(slots[place] != own);
    });
    count
}

/// Puts the first `count` slots found into the order of their keys.
fn order(hits: &mut Hits, count: usize) {
    let Hits {
        keys,
        found,
        ordered,
        scratch,
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
    } else {
        scratch.clear();
        let keyed = keys[..count].iter().zip(&*found);
        scratch.extend(keyed.map(|(&key, &slot)| u64::from(rank(key)) << 32 | u64::from(slot)));
        scratch.sort_unstable();
        ordered.extend(scratch.iter().map(|&keyed| keyed as u32));
    }
}
