//! Components that are zero by structure: δ, ε or a constant leaves them out.
//!
//! Lowering computes no product with such a component, so facts know them and costs do not count them.

use crate::{
    class::{Facts, Leaf},
    node::{Slot, Slots},
};
use smallvec::SmallVec;

/// Contractions with more assignments of the indices of sparse operands than this are taken for full.
const ENUMERATION_LIMIT: u64 = 7_000;

/// One bit for each component, row-major, that is zero whatever the inputs are; tensors of more components than there are
/// bits have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Zeros(u128);

impl Zeros {
    /// The components for which `is_zero` holds.
    pub(crate) fn of(shape: &[u32], mut is_zero: impl FnMut(&[u32]) -> bool) -> Zeros {
        let mut zeros = Zeros::default();
        if size(shape) > u64::from(u128::BITS) {
            return zeros;
        }
        for_each_index(shape, |flat, index| {
            zeros.0 |= u128::from(is_zero(index)) << flat;
        });
        zeros
    }

    pub(crate) fn with(self, other: Zeros) -> Zeros {
        Zeros(self.0 | other.0)
    }

    /// Whether these are all components of a tensor of this shape.
    pub(crate) fn are_all(self, shape: &[u32]) -> bool {
        let count = size(shape);
        count <= u64::from(u128::BITS) && u64::from(self.0.count_ones()) == count
    }
}

/// Whether some component of a class is known to be zero.
pub(crate) fn is_sparse(facts: &Facts) -> bool {
    facts.zero || is_symbol(facts) || facts.zeros != Zeros::default()
}

/// Whether a class is δ or ε, whose components need not be multiplied with.
pub(crate) fn is_symbol(facts: &Facts) -> bool {
    matches!(facts.leaf, Leaf::Delta | Leaf::Epsilon)
}

/// Whether this component of a class is known to be zero.
pub(crate) fn vanishes(facts: &Facts, index: &[u32]) -> bool {
    let flat = || {
        let axes = index.iter().zip(&facts.shape);
        axes.fold(0, |flat, (&i, &n)| flat * n + i)
    };
    facts.zero
        || match facts.leaf {
            Leaf::Delta => index[0] != index[1],
            Leaf::Epsilon => (1..index.len()).any(|k| index[..k].contains(&index[k])),
            Leaf::No | Leaf::One | Leaf::Position => {
                facts.zeros != Zeros::default() && facts.zeros.0 >> flat() & 1 == 1
            }
        }
}

/// For each component of a contraction, how many assignments of its summation indices contribute to it.
pub(crate) struct Contributions {
    /// The axes of the result that sparse operands mention; on no other does the number depend.
    axes: SmallVec<[usize; 4]>,
    extents: SmallVec<[u32; 4]>,
    counts: Vec<u64>,
}

impl Contributions {
    /// Of a contraction with these operands; the first `results` labels are the axes of its result.
    pub(crate) fn new<'a>(
        results: usize,
        extents: &[u32],
        operands: impl Iterator<Item = (&'a Facts, &'a Slots)>,
    ) -> Contributions {
        let mut sparse: Vec<(&Facts, &Slots)> =
            operands.filter(|(facts, _)| is_sparse(facts)).collect();
        let mut mentioned = labels_of(&sparse);
        let range = |labels: &[usize]| size_of(labels.iter().map(|&label| extents[label]));
        if range(&mentioned) > ENUMERATION_LIMIT {
            sparse.clear();
            mentioned.clear();
        }
        let free = (results..extents.len()).filter(|label| !mentioned.contains(label));
        let factor = size_of(free.map(|label| extents[label]));
        let axes: SmallVec<[usize; 4]> = mentioned
            .iter()
            .copied()
            .take_while(|&label| label < results)
            .collect();
        let mut counts = vec![0; range(&axes) as usize];
        let dummies = range(&mentioned[axes.len()..]) as usize;
        let all: SmallVec<[u32; 8]> = mentioned.iter().map(|&label| extents[label]).collect();
        // Where the values of the labels will be found.
        let place = |slot: &Slot| match *slot {
            Slot::Fixed(component) => Slot::Fixed(component),
            Slot::Label(label) => {
                let place = mentioned.binary_search(&usize::from(label));
                Slot::Label(place.expect("labels of sparse operands are mentioned") as u8)
            }
        };
        let placed = sparse.iter();
        let placed = placed.map(|(facts, slots)| (*facts, slots.iter().map(place).collect()));
        let placed: SmallVec<[(&Facts, Slots); 4]> = placed.collect();
        let mut index: SmallVec<[u32; 4]> = SmallVec::new();
        for_each_index(&all, |flat, values| {
            let is_live = placed.iter().all(|(facts, slots)| {
                index.clear();
                for slot in slots {
                    index.push(match *slot {
                        Slot::Fixed(component) => component,
                        Slot::Label(place) => values[usize::from(place)],
                    });
                }
                !vanishes(facts, &index)
            });
            counts[flat / dummies] += u64::from(is_live) * factor;
        });
        Contributions {
            extents: axes.iter().map(|&axis| extents[axis]).collect(),
            axes,
            counts,
        }
    }

    /// The number for every component, if it is the same for all.
    pub(crate) fn uniform(&self) -> Option<u64> {
        self.axes.is_empty().then(|| self.counts[0])
    }

    pub(crate) fn at(&self, index: &[u32]) -> u64 {
        let axes = self.axes.iter().zip(&self.extents);
        let flat = axes.fold(0, |flat, (&axis, &n)| flat * n + index[axis]);
        self.counts[flat as usize]
    }

    /// The number for all components of a result of this shape together.
    pub(crate) fn total(&self, shape: &[u32]) -> u64 {
        let others = (0..shape.len()).filter(|axis| !self.axes.contains(axis));
        let repeated = size_of(others.map(|axis| shape[axis]));
        self.counts.iter().sum::<u64>().saturating_mul(repeated)
    }
}

fn labels_of(operands: &[(&Facts, &Slots)]) -> Vec<usize> {
    let slots = operands.iter().flat_map(|(_, slots)| slots.iter());
    let mut labels: Vec<usize> = slots
        .filter_map(|slot| match *slot {
            Slot::Label(label) => Some(label.into()),
            Slot::Fixed(_) => None,
        })
        .collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// Calls `visit` with every index of a shape, row-major, and its number.
pub(crate) fn for_each_index(shape: &[u32], mut visit: impl FnMut(usize, &[u32])) {
    let mut index: SmallVec<[u32; 8]> = shape.iter().map(|_| 0).collect();
    for flat in 0..size(shape) as usize {
        visit(flat, &index);
        for (place, &extent) in index.iter_mut().zip(shape).rev() {
            *place += 1;
            if *place < extent {
                break;
            }
            *place = 0;
        }
    }
}

/// The number of components of a shape.
pub(crate) fn size(shape: &[u32]) -> u64 {
    size_of(shape.iter().copied())
}

fn size_of(extents: impl Iterator<Item = u32>) -> u64 {
    extents.fold(1, |size, n| u64::saturating_mul(size, n.into()))
}
