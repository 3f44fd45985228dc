//! The part of space that is known to a rank of a cluster: coarse cells, each known as a whole or not at all.
//!
//! As in the grid of the queries, the cell of a coordinate is a monotone function of it, and numbers are clamped. So every point
//! within a distance of a centre is in one of the cells between those of the centre minus and plus the distance, on every axis,
//! also where points are outside of the box that the cells were made for.

use crate::cluster::wire::{Reader, put};
use std::ops::Range;

/// Cells along an axis, at most, by the number of axes.
const FINEST: [f64; 3] = [4096.0, 512.0, 128.0];
/// Cells along an axis from one with a point to the farthest ones that a query about this point reaches, at most.
const REACH: usize = 2;
/// Parts of a cell by which distances may seem shorter than they are, because numbers are rounded. Where coordinates are so far
/// away that more is lost, they are all in the last cell.
const SLACK: f64 = 1e-6;

/// The cells from the first to the last number along each axis, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span<const D: usize> {
    low: [i64; D],
    high: [i64; D],
}

/// Coarse cells of space; all ranks have the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lattice<const D: usize> {
    low: [f64; D],
    /// Cells per unit length.
    inverse: f64,
    /// Largest cell number per axis.
    last: [i64; D],
    /// The difference of the numbers of neighbours along each axis. Every row is followed by numbers without cells, so that a place a
    /// few cells beyond its end is not at the beginning of the next one.
    steps: [usize; D],
}

impl<const D: usize> Lattice<D> {
    /// Cells over a box, not much smaller than what queries reach. They decide how much is known, never what a query finds.
    pub(crate) fn new(bounds: &[(f64, f64); D], reach: f64) -> Lattice<D> {
        let extent = bounds.map(|(low, high)| if low <= high { high - low } else { 0.0 });
        let longest = extent.into_iter().fold(0.0, f64::max);
        let edge = (longest / (FINEST[D - 1] - 1.0)).max(reach / (REACH as f64 - 2.0 * SLACK));
        let inverse = match edge > 0.0 && edge.is_finite() {
            true => (1.0 / edge).min(f64::MAX),
            false => 0.0,
        };
        // The cast takes NaN to 0.
        let last = extent.map(|length| ((length * inverse) as i64).min(FINEST[D - 1] as i64 - 1));
        let low = bounds.map(|(low, high)| if low <= high { low } else { 0.0 });
        let mut step = 1;
        let steps = last.map(|last| {
            let row = step * (last as usize + 1 + REACH);
            std::mem::replace(&mut step, row)
        });
        Lattice {
            low,
            inverse,
            last,
            steps,
        }
    }

    #[inline(always)]
    fn number(&self, axis: usize, x: f64) -> i64 {
        (((x - self.low[axis]) * self.inverse) as i64).clamp(0, self.last[axis])
    }

    /// The numbers of cells are below this one.
    pub(crate) fn cells(&self) -> usize {
        self.steps[D - 1] * (self.last[D - 1] as usize + 1)
    }

    /// The cell of a position.
    #[inline(always)]
    pub(crate) fn cell(&self, position: [f64; D]) -> usize {
        self.linear(std::array::from_fn(|axis| {
            self.number(axis, position[axis])
        }))
    }

    /// How many cells there are at most along an axis from one with a point to the farthest ones with points within a distance, unless
    /// there are more than [`Lattice::around`] can add.
    pub(crate) fn cells_within(&self, reach: f64) -> Option<usize> {
        // The cast saturates, and takes NaN to 0: there is one cell then.
        let cells = (reach * self.inverse + SLACK).ceil() as usize;
        (cells <= REACH).then_some(cells)
    }

    /// The cells that may have points within a distance of a centre.
    pub(crate) fn span(&self, centre: [f64; D], reach: f64) -> Span<D> {
        Span {
            low: std::array::from_fn(|axis| self.number(axis, centre[axis] - reach)),
            high: std::array::from_fn(|axis| self.number(axis, centre[axis] + reach)),
        }
    }

    /// The cells of a set, and all that are at most `around` cells away from one of them along each axis. Numbers without cells may be
    /// in it as well.
    pub(crate) fn around(&self, set: &CellSet, around: usize) -> CellSet {
        debug_assert!(around <= REACH);
        let mut all = set.clone();
        for step in self.steps {
            let row = all.clone();
            for away in 1..=around {
                all.unite_after(&row, away * step);
                all.unite_before(&row, away * step);
            }
        }
        all
    }

    #[inline(always)]
    fn linear(&self, numbers: [i64; D]) -> usize {
        let parts = self.steps.into_iter().zip(numbers);
        parts.map(|(step, number)| step * number as usize).sum()
    }

    /// Whether something holds for all runs of cells of a span; the runs after one for which it does not hold are left out.
    pub(crate) fn all_runs(
        &self,
        Span { low, high }: Span<D>,
        mut holds: impl FnMut(Range<usize>) -> bool,
    ) -> bool {
        let length = (high[0] - low[0]) as usize + 1;
        let mut row = low;
        loop {
            let first = self.linear(row);
            if !holds(first..first + length) {
                return false;
            }
            let mut axis = 1;
            loop {
                if axis >= D {
                    return true;
                }
                if row[axis] < high[axis] {
                    row[axis] += 1;
                    break;
                }
                row[axis] = low[axis];
                axis += 1;
            }
        }
    }
}

/// A set of cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellSet {
    words: Vec<u64>,
}

impl CellSet {
    /// None of this many cells.
    pub(crate) fn none(cells: usize) -> CellSet {
        CellSet {
            words: vec![0; cells.div_ceil(64)],
        }
    }

    /// Whether a cell is in it.
    pub(crate) fn has(&self, cell: usize) -> bool {
        let word = self.words.get(cell / 64);
        word.is_some_and(|word| word >> (cell % 64) & 1 == 1)
    }

    /// Whether all of some cells next to each other are in it.
    pub(crate) fn has_all(&self, cells: Range<usize>) -> bool {
        pieces(cells).all(|(word, bits)| self.words[word] & bits == bits)
    }

    /// Adds a cell.
    pub(crate) fn insert(&mut self, cell: usize) {
        self.words[cell / 64] |= 1 << (cell % 64);
    }

    /// Adds all cells of another set.
    pub(crate) fn unite(mut self, other: &CellSet) -> CellSet {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
        self
    }

    /// Adds the cells of another set, each with a number that is larger by some.
    fn unite_after(&mut self, other: &CellSet, by: usize) {
        let (words, bits) = (by / 64, by % 64);
        let mut before = 0;
        for (word, &more) in self.words.iter_mut().skip(words).zip(&other.words) {
            let pair = u128::from(more) << 64 | u128::from(before);
            *word |= (pair >> (64 - bits)) as u64;
            before = more;
        }
    }

    /// The same with numbers that are smaller; those below 0 are left out.
    fn unite_before(&mut self, other: &CellSet, by: usize) {
        let (words, bits) = (by / 64, by % 64);
        let from = other.words.get(words..).unwrap_or_default();
        for (n, (word, &first)) in self.words.iter_mut().zip(from).enumerate() {
            let next = from.get(n + 1).copied().unwrap_or(0);
            let pair = u128::from(next) << 64 | u128::from(first);
            *word |= (pair >> bits) as u64;
        }
    }

    /// Appends the set to a letter to another rank. Most words are empty, and these are left out.
    pub(crate) fn put(&self, letter: &mut Vec<u8>) {
        put(letter, self.words.len() as u64);
        let full = || (0..).zip(&self.words).filter(|(_, word)| **word != 0);
        put(letter, full().count() as u64);
        for (place, &word) in full() {
            put(letter, place);
            put(letter, word);
        }
    }

    /// Reads a set from such a letter.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<CellSet> {
        let count = reader.count()?;
        let row = FINEST[2] as usize;
        let most = row * (row + REACH).pow(2) / 64;
        let mut words = vec![0; (count <= most).then_some(count)?];
        for _ in 0..reader.count()? {
            let place = reader.count()?;
            *words.get_mut(place)? = reader.number()?;
        }
        Some(CellSet { words })
    }
}

/// The words that have some bits next to each other, and these bits in each.
fn pieces(bits: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let Range { start, end } = bits;
    let words = start / 64..end.div_ceil(64);
    words.map(move |word| {
        let from = start.saturating_sub(word * 64);
        let to = (end - word * 64).min(64);
        (word, u64::MAX << from & u64::MAX >> (64 - to))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_the_cells_that_were_added() {
        let ranges = [0..1, 63..65, 70..70, 100..300, 299..301, 511..512];
        let mut set = CellSet::none(512);
        let added = ranges.iter().cloned().flatten();
        added.for_each(|cell| set.insert(cell));
        for cell in 0..512 {
            let expected = ranges.iter().any(|range| range.contains(&cell));
            assert_eq!(set.has(cell), expected, "{cell}");
        }
        assert!(set.has_all(100..301) && set.has_all(63..65) && set.has_all(9..9));
        assert!(!set.has_all(62..65) && !set.has_all(99..120) && !set.has_all(200..302));
        let mut letter = Vec::new();
        set.put(&mut letter);
        assert_eq!(CellSet::read(&mut Reader(&letter)), Some(set));
    }

    #[test]
    fn cells_around_a_set_are_those_near_one_of_it() {
        let mut state = 5u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for round in 0..60 {
            let lengths = [1 + random(30), random(7), 3];
            let lattice = Lattice::new(&lengths.map(|length| (0.0, length as f64)), 1.0);
            let last = lattice.last;
            let cells: Vec<[i64; 3]> = (0..=last[2])
                .flat_map(|z| (0..=last[1]).map(move |y| [y, z]))
                .flat_map(|[y, z]| (0..=last[0]).map(move |x| [x, y, z]))
                .collect();
            let chosen: Vec<[i64; 3]> = cells
                .iter()
                .copied()
                .filter(|_| random(20 + round) == 0)
                .collect();
            let mut set = CellSet::none(lattice.cells());
            for &cell in &chosen {
                set.insert(lattice.linear(cell));
            }
            let around = random(3) as usize;
            let found = lattice.around(&set, around);
            for cell in cells {
                let is_near =
                    |other: &[i64; 3]| (0..3).all(|n| cell[n].abs_diff(other[n]) <= around as u64);
                let expected = chosen.iter().any(is_near);
                assert_eq!(
                    found.has(lattice.linear(cell)),
                    expected,
                    "{round}: {cell:?}"
                );
            }
        }
    }

    #[test]
    fn all_points_within_a_distance_are_in_the_runs_also_outside_of_the_box() {
        let mut state = 3u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let lattices = [
            Lattice::new(&[(0.0, 1.0), (-2.0, 0.5), (3.0, 3.0)], 0.1),
            Lattice::new(&[(0.0, 1e-300), (-2.0, 0.5), (3.0, 1e300)], 0.0),
            Lattice::new(&[(f64::INFINITY, f64::NEG_INFINITY); 3], 0.1),
            Lattice::new(&[(-f64::MAX, f64::MAX); 3], 0.1),
            Lattice::new(&[(0.0, 1.0); 3], f64::INFINITY),
        ];
        let mut surrounded = 0;
        for lattice in lattices {
            assert!(lattice.cells() <= 130 * 130 * 128);
            for _ in 0..200 {
                let centre = [random() * 2.0 - 0.5, random() * 4.0 - 3.0, random() * 5.0];
                let reach = random() * random() * 2.0;
                let span = lattice.span(centre, reach);
                let mut found = CellSet::none(lattice.cells());
                lattice.all_runs(span, |run| {
                    run.for_each(|cell| found.insert(cell));
                    true
                });
                let mut all = vec![found];
                if let Some(around) = lattice.cells_within(reach) {
                    let mut own = CellSet::none(lattice.cells());
                    own.insert(lattice.cell(centre));
                    all.push(lattice.around(&own, around));
                    surrounded += 1;
                }
                let inside = (0..20).map(|_| [(); 3].map(|()| reach * (2.0 * random() - 1.0)));
                let corners = [[-reach; 3], [reach; 3]].into_iter();
                for away in inside.chain(corners) {
                    let point = std::array::from_fn(|axis| centre[axis] + away[axis]);
                    let cell = lattice.cell(point);
                    for found in &all {
                        assert!(found.has(cell), "{lattice:?} {centre:?} {reach}");
                    }
                }
            }
        }
        assert!(surrounded > 300, "{surrounded}");
    }

    #[test]
    fn queries_that_end_where_cells_begin_reach_no_farther_than_the_cells_around() {
        // Points of a lattice whose distances are those of cells, and one that is far from the origin.
        for (low, spacing) in [(0.0, 1.0), (0.1, 0.1), (1e9, 0.25), (-3e6, 1e-2)] {
            let bounds = [(low, low + 60.0 * spacing)];
            for reach in [spacing, 2.0 * spacing, 3.0 * spacing] {
                let lattice = Lattice::new(&bounds, reach);
                for part in [0.25, 0.5, 1.0] {
                    let around = lattice.cells_within(part * reach).expect("few");
                    for n in 0..240 {
                        let centre = low + 0.25 * f64::from(n) * spacing;
                        let middle = lattice.cell([centre]);
                        for end in [centre - part * reach, centre + part * reach] {
                            let cell = lattice.cell([end]);
                            assert!(
                                cell.abs_diff(middle) <= around,
                                "{lattice:?} {centre} {end}"
                            );
                        }
                    }
                }
            }
        }
    }
}
