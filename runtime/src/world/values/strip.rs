//! Values of several tiles that a worker has run: they are passed on together, those of strands that follow each other in one piece.

use super::parts::Taker;

/// Bytes of values that are worth passing on.
const WORTHWHILE: usize = 1 << 20;

/// The values of a worker's last tiles.
#[derive(Default)]
pub(crate) struct Strip {
    /// The strands, as they come.
    ranks: Vec<u32>,
    /// Of each output, the values of these strands.
    values: Vec<Vec<u8>>,
    /// The strands in creation order: their ranks, and their places here.
    order: Vec<u64>,
    /// The values of strands that follow each other.
    piece: Vec<u8>,
}

impl Strip {
    /// Bytes of memory of the strips of all workers, if there are this many strands, with this many bytes of all outputs, in tiles
    /// of this many at most.
    pub(crate) fn most(workers: usize, strands: usize, of_strand: usize, tile: usize) -> usize {
        let in_strip = WORTHWHILE / of_strand.max(1) + tile;
        let here = strands.min(workers * in_strip);
        here * (2 * of_strand + size_of::<u32>() + size_of::<u64>())
    }

    /// Room for the values of further strands: their ranks, and each output's values in the order of these.
    pub(crate) fn room(&mut self, outputs: usize) -> (&mut Vec<u32>, &mut [Vec<u8>]) {
        self.values.resize_with(outputs, Vec::new);
        (&mut self.ranks, &mut self.values)
    }

    /// Whether it is time to pass them on.
    pub(crate) fn is_full(&self) -> bool {
        self.values.iter().map(Vec::len).sum::<usize>() >= WORTHWHILE
    }

    /// Passes all values on.
    pub(crate) fn pass_on(&mut self, taker: Taker<'_>) {
        let strands = self.ranks.len();
        let places = self.ranks.drain(..).zip(0u32..);
        self.order.clear();
        self.order
            .extend(places.map(|(rank, place)| u64::from(rank) << 32 | u64::from(place)));
        self.order.sort_unstable();
        for (output, values) in self.values.iter_mut().enumerate() {
            let bytes = values.len() / strands.max(1);
            let follow = |one: &u64, next: &u64| (one >> 32) + 1 == next >> 32;
            for run in self.order.chunk_by(follow) {
                self.piece.clear();
                for &strand in run {
                    let place = strand as u32 as usize * bytes;
                    self.piece.extend_from_slice(&values[place..place + bytes]);
                }
                (taker.take)(output, (run[0] >> 32) as usize * bytes, &self.piece);
            }
            values.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn strands_that_follow_each_other_are_one_piece() {
        let mut strip = Strip::default();
        for ranks in [[7, 3, 4], [9, 2, 8]] {
            let (all, values) = strip.room(2);
            all.extend(ranks);
            for rank in ranks {
                values[0].push(rank as u8);
                values[1].extend([rank as u8, 100 + rank as u8]);
            }
        }
        let taken = Mutex::new(Vec::new());
        let take = |output: usize, before: usize, values: &[u8]| {
            taken
                .lock()
                .unwrap()
                .push((output, before, values.to_vec()));
        };
        let taker = Taker {
            take: &take,
            passing: &[true; 2],
            is_shared: true,
        };
        strip.pass_on(taker);
        strip.pass_on(taker);
        let expected = [
            (0, 2, vec![2, 3, 4]),
            (0, 7, vec![7, 8, 9]),
            (1, 4, vec![2, 102, 3, 103, 4, 104]),
            (1, 14, vec![7, 107, 8, 108, 9, 109]),
        ];
        assert_eq!(taken.into_inner().unwrap(), expected);
    }
}
