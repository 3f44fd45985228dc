//! Sets of lanes, represented by samples.
//!
//! A sample is one lane of one call. It has an outcome for every comparison and every truth value in memory, drawn at random, so
//! a mask is the set of samples in which it holds, and the inclusion of one mask in another, or the cover of a
//! third one, is a question about sets of bits. A fact about all lanes holds for all samples, so correct code is
//! never reported. A fault in some lanes is found if a sample has those outcomes.

use std::ops::{BitAnd, BitOr, Not};

const WORDS: usize = 8;

/// A set of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneSet([u64; WORDS]);

impl LaneSet {
    pub(super) const ALL: LaneSet = LaneSet([u64::MAX; WORDS]);
    pub(super) const NONE: LaneSet = LaneSet([0; WORDS]);

    /// An outcome for every sample by a seed. Some samples are mostly in it and some mostly not, so that there are samples inside
    /// of many conditions; of those in `within` some are in it and some are not, if there are two.
    pub(super) fn drawn(seed: u64, within: LaneSet) -> LaneSet {
        let mut random = seed;
        let mut set = LaneSet(std::array::from_fn(|n| {
            let [a, b, c] = std::array::from_fn(|_| next(&mut random));
            match n {
                0..2 => a,
                2..5 => a | b | c,
                _ => a & b & c,
            }
        }));
        if within.is_inside(set) || (within & set).is_empty() {
            for (n, sample) in within.iter().enumerate() {
                set.put(sample, n % 2 == 0);
            }
        }
        set
    }

    fn iter(self) -> impl Iterator<Item = usize> {
        (0..WORDS * 64).filter(move |n| self.0[n / 64] >> (n % 64) & 1 == 1)
    }

    fn put(&mut self, n: usize, value: bool) {
        let bit = 1 << (n % 64);
        if value {
            self.0[n / 64] |= bit;
        } else {
            self.0[n / 64] &= !bit;
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self == LaneSet::NONE
    }

    /// The samples that are not in another set.
    pub(super) fn without(self, other: LaneSet) -> LaneSet {
        self & !other
    }

    pub(super) fn is_inside(self, other: LaneSet) -> bool {
        self.without(other).is_empty()
    }

    /// `a` in the samples of this set, `b` in the others.
    pub(super) fn choose(self, a: LaneSet, b: LaneSet) -> LaneSet {
        self & a | b.without(self)
    }
}

impl BitAnd for LaneSet {
    type Output = LaneSet;

    fn bitand(self, other: LaneSet) -> LaneSet {
        LaneSet(std::array::from_fn(|n| self.0[n] & other.0[n]))
    }
}

impl BitOr for LaneSet {
    type Output = LaneSet;

    fn bitor(self, other: LaneSet) -> LaneSet {
        LaneSet(std::array::from_fn(|n| self.0[n] | other.0[n]))
    }
}

impl Not for LaneSet {
    type Output = LaneSet;

    fn not(self) -> LaneSet {
        LaneSet(self.0.map(|word| !word))
    }
}

/// The next of a sequence of random numbers (SplitMix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    #[test]
    fn outcomes_split_even_the_smallest_sets() {
        let mut seed = UNIX_EPOCH.elapsed().expect("a time after 1970").as_nanos() as u64;
        println!("seed {seed}");
        for _ in 0..2000 {
            let mut within = LaneSet::ALL;
            while within.iter().nth(1).is_some() {
                let drawn = LaneSet::drawn(next(&mut seed), within);
                let (yes, no) = (within & drawn, within.without(drawn));
                assert!(!yes.is_empty() && !no.is_empty(), "{within:?}");
                assert_eq!(yes | no, within);
                assert!(yes.is_inside(within) && !within.is_inside(yes));
                assert_eq!(drawn.choose(LaneSet::ALL, LaneSet::NONE), drawn);
                within = if next(&mut seed) & 1 == 0 { yes } else { no };
            }
        }
    }
}
