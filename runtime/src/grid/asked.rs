//! The box of positions that many threads ask for.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The box of the positions that were asked for so far, empty at first. A coordinate that is not finite is left out.
///
/// The least and the greatest of numbers do not depend on their order, so the box is the same for any number of threads.
#[derive(Debug)]
pub struct AskedBox([[AtomicU64; 2]; 3]);

/// A box as bits, for other ranks: the least and the greatest number along each axis.
pub type BoxBits = [[u64; 2]; 3];

impl Default for AskedBox {
    fn default() -> AskedBox {
        let ends = [f64::INFINITY, f64::NEG_INFINITY];
        AskedBox(array::from_fn(|_| {
            ends.map(|end| AtomicU64::new(end.to_bits()))
        }))
    }
}

impl AskedBox {
    /// Includes a range of coordinates along an axis; one that is empty changes nothing.
    pub fn include(&self, axis: usize, [low, high]: [f64; 2]) {
        let [least, greatest] = &self.0[axis];
        improve(least, low, |new, old| new < old);
        improve(greatest, high, |new, old| new > old);
    }

    /// Includes the coordinates along an axis that are finite.
    pub fn include_all(&self, axis: usize, coordinates: impl Iterator<Item = f64>) {
        let none = [f64::INFINITY, f64::NEG_INFINITY];
        let finite = coordinates.filter(|x| x.is_finite());
        let range = finite.fold(none, |[low, high], x| [low.min(x), high.max(x)]);
        self.include(axis, range);
    }

    /// The least and the greatest coordinate along each axis of a space, if there were some along all of them.
    pub fn get(&self, dim: usize) -> Option<Vec<(f64, f64)>> {
        let range = |ends: [f64; 2]| (ends[0] <= ends[1]).then_some(ends.into());
        let ends = self.bits().map(|ends| ends.map(f64::from_bits));
        ends.into_iter().take(dim).map(range).collect()
    }

    /// The box, for other ranks.
    pub fn bits(&self) -> BoxBits {
        array::from_fn(|axis| array::from_fn(|end| self.0[axis][end].load(Relaxed)))
    }

    /// Includes the box of another rank.
    pub fn learn(&self, bits: BoxBits) {
        for (axis, ends) in bits.into_iter().enumerate() {
            self.include(axis, ends.map(f64::from_bits));
        }
    }
}

/// Replaces a number by a better one.
fn improve(kept: &AtomicU64, new: f64, is_better: impl Fn(f64, f64) -> bool) {
    let better = |old| is_better(new, f64::from_bits(old)).then_some(new.to_bits());
    // An error means that the kept number is at least as good.
    let _ = kept.fetch_update(Relaxed, Relaxed, better);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_holds_all_finite_positions_of_all_ranks() {
        let (here, there) = (AskedBox::default(), AskedBox::default());
        assert_eq!(here.get(1), None);
        here.include_all(0, [3.0, -1.0, f64::NAN, f64::INFINITY].into_iter());
        assert_eq!(here.get(1), Some(vec![(-1.0, 3.0)]));
        assert_eq!(here.get(2), None, "nothing along the second axis");
        there.include_all(0, [7.0].into_iter());
        there.include_all(1, [-2.0].into_iter());
        here.learn(there.bits());
        assert_eq!(here.get(2), Some(vec![(-1.0, 7.0), (-2.0, -2.0)]));
        here.learn(AskedBox::default().bits());
        assert_eq!(here.get(2), Some(vec![(-1.0, 7.0), (-2.0, -2.0)]));
    }
}
