//! Counter-based random numbers: every draw is a pure function of a text key and a counter.
//!
//! A [`Stream`] is keyed by hashing texts (a case's label, a purpose); its n-th number depends on
//! nothing else, so data are the same whatever the order of cases or the number of threads.

/// A stream of random numbers for one purpose.
#[derive(Clone, Debug)]
pub struct Stream {
    key: u64,
    counter: u64,
}

/// Increment of the Weyl sequence behind splitmix64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The output function of splitmix64: a bijection on 64 bits that passes the usual batteries.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A 64-bit hash of texts; the separation between them counts.
pub fn hash(parts: &[&str]) -> u64 {
    let mut state = GOLDEN;
    for part in parts {
        for byte in part.bytes() {
            state = mix(state ^ u64::from(byte)).wrapping_add(GOLDEN);
        }
        state = mix(state ^ 0x1_0000).wrapping_add(GOLDEN);
    }
    state
}

impl Stream {
    /// The stream keyed by these texts.
    pub fn new(parts: &[&str]) -> Stream {
        Stream {
            key: hash(parts),
            counter: 0,
        }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(1);
        mix(self.key ^ mix(self.counter.wrapping_mul(GOLDEN)))
    }

    /// A number in `0..bound`; 0 if the bound is 0. The bias is below 2⁻⁶⁴·bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `0..bound` for bounds beyond 64 bits.
    pub fn below_wide(&mut self, bound: u128) -> u128 {
        if bound <= u128::from(u64::MAX) {
            return u128::from(self.below(bound as u64));
        }
        let wide = (u128::from(self.bits()) << 64) | u128::from(self.bits());
        wide % bound
    }

    /// An integer in `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// One of the items; the caller guarantees there is one.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_key() {
        let draw = |parts: &[&str]| -> Vec<u64> {
            let mut stream = Stream::new(parts);
            (0..8).map(|_| stream.bits()).collect()
        };
        assert_eq!(draw(&["a", "b"]), draw(&["a", "b"]));
        assert_ne!(draw(&["a", "b"]), draw(&["ab", ""]));
        assert_ne!(draw(&["a", "b"]), draw(&["b", "a"]));
    }

    #[test]
    fn integers_cover_their_range_evenly() {
        let mut stream = Stream::new(&["uniform"]);
        let mut counts = [0usize; 11];
        for _ in 0..11_000 {
            counts[(stream.between(-5, 5) + 5) as usize] += 1;
        }
        assert!(
            counts.iter().all(|&n| (850..1150).contains(&n)),
            "{counts:?}"
        );
    }
}
