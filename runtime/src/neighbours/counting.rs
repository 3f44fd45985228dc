//! Sorting points by cell on all workers: takes the cell of each point, gives the place of each point and the first place
//! of each cell. Points of one cell keep their order, so the result does not depend on how many workers there are.
//!
//! Cells are dealt to *shelves* of equally many, one after the other. First the points are put on their shelves, by pieces of
//! the points in parallel; then every shelf is sorted by counting, in parallel again.

use super::PIECE;
use crate::memory::Room;
use rayon::prelude::*;

/// Shelves, at most.
const SHELVES: usize = 1 << 10;
/// Pieces of the points, at most.
const PIECES: usize = 64;

/// Points in cell order, and the buffers of the sort, which are kept for the next time.
#[derive(Debug, Default)]
pub(super) struct Counting {
    /// First place of each cell, with the end of the last.
    pub(super) starts: Vec<u32>,
    /// Place of each point.
    pub(super) places: Vec<u32>,
    /// The cell of each point.
    numbers: Vec<u32>,
    /// For every piece and shelf, where its next point goes.
    next: Vec<u32>,
    /// Points by shelves.
    shelved: Vec<u32>,
}

impl Counting {
    /// Sorts `count` points, given the number of the cell of each, which is below `cells`. Gives the sum of the squares of the
    /// cells' numbers of points.
    pub(super) fn sort(
        &mut self,
        count: usize,
        cells: usize,
        number: impl Fn(usize) -> u32 + Sync,
    ) -> u64 {
        let shift = cells.div_ceil(SHELVES).next_power_of_two().trailing_zeros();
        let shelves = (cells >> shift) + 1;
        let shelf = |number: u32| (number >> shift) as usize;
        let piece = count.div_ceil(PIECES).max(PIECE);
        for column in [&mut self.numbers, &mut self.shelved, &mut self.places] {
            column.resize(count, 0);
        }
        self.starts.resize(cells + 1, 0);
        self.next.resize(count.div_ceil(piece) * shelves, 0);
        let numbers = self.numbers.par_chunks_mut(piece);
        let counts = self.next.par_chunks_mut(shelves);
        let pieces = numbers.zip(counts).enumerate();
        pieces.for_each(|(n, (numbers, counts))| {
            counts.fill(0);
            for (point, cell) in (n * piece..).zip(numbers) {
                *cell = number(point);
                counts[shelf(*cell)] += 1;
            }
        });
        let ends = first_places(&mut self.next, shelves);
        let numbers = &self.numbers;
        let room = Room::new(self.shelved.as_mut_ptr());
        let pieces = numbers.par_chunks(piece);
        let pieces = pieces.zip(self.next.par_chunks_mut(shelves)).enumerate();
        pieces.for_each(|(n, (numbers, next))| {
            for (point, &number) in (n * piece..).zip(numbers) {
                let place = &mut next[shelf(number)];
                // SAFETY: the counts give every point a place of its own.
                unsafe { room.put(*place as usize, point as u32) };
                *place += 1;
            }
        });
        let shelved = &self.shelved;
        let room = Room::new(self.places.as_mut_ptr());
        let crowding = self.starts[..cells]
            .par_chunks_mut(1 << shift)
            .enumerate()
            .map(|(shelf, starts)| {
                let begin = if shelf == 0 { 0 } else { ends[shelf - 1] };
                let points = &shelved[begin as usize..ends[shelf] as usize];
                let local = |point: u32| numbers[point as usize] as usize - (shelf << shift);
                starts.fill(0);
                points.iter().for_each(|&point| starts[local(point)] += 1);
                let mut crowding = 0;
                let mut total = begin;
                for start in &mut *starts {
                    crowding += u64::from(*start).pow(2);
                    total += std::mem::replace(start, total);
                }
                let mut next = starts.to_vec();
                for &point in points {
                    let place = &mut next[local(point)];
                    // SAFETY: every point is on one shelf.
                    unsafe { room.put(point as usize, *place) };
                    *place += 1;
                }
                crowding
            })
            .sum();
        self.starts[cells] = count as u32;
        crowding
    }
}

/// Makes the numbers of points that pieces have on shelves the places of the first of them; gives the ends of the shelves.
fn first_places(counts: &mut [u32], shelves: usize) -> Vec<u32> {
    let mut total = 0;
    (0..shelves)
        .map(|shelf| {
            for count in counts.iter_mut().skip(shelf).step_by(shelves) {
                total += std::mem::replace(count, total);
            }
            total
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_in_the_order_of_a_stable_sort() {
        let mut state = 7u64;
        // The contents from before must not matter.
        let mut sorted = Counting::default();
        for (count, cells) in [
            (0, 1),
            (1, 1),
            (10, 3),
            (1000, 5000),
            (50_000, 20_000),
            (70_000, 2),
        ] {
            let numbers: Vec<u32> = (0..count)
                .map(|_| {
                    state = state
                        .wrapping_mul(6364136223846793005)
                        .wrapping_add(1442695040888963407);
                    ((state >> 33) % cells as u64) as u32
                })
                .collect();
            let mut order: Vec<usize> = (0..count).collect();
            order.sort_by_key(|&point| numbers[point]);
            let crowding = sorted.sort(count, cells, |point| numbers[point]);
            let Counting { starts, places, .. } = &sorted;
            for (place, &point) in order.iter().enumerate() {
                assert_eq!(places[point] as usize, place);
            }
            let mut squares = 0;
            for cell in 0..cells {
                let before = numbers.iter().filter(|&&n| (n as usize) < cell).count();
                if count <= 1000 || cell < 3 {
                    assert_eq!(starts[cell] as usize, before);
                }
                squares += u64::from(starts[cell + 1] - starts[cell]).pow(2);
            }
            assert_eq!(crowding, squares);
        }
    }
}
