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

/// Points in cell order.
pub(super) struct Sorted {
    /// First place of each cell, with the end of the last.
    pub(super) starts: Vec<u32>,
    /// Place of each point.
    pub(super) places: Vec<u32>,
    /// The sum of the squares of the cells' numbers of points.
    pub(super) crowding: u64,
}

/// Sorts points, given by the numbers of their cells, which are below `cells`.
pub(super) fn sort(numbers: &[u32], cells: usize) -> Sorted {
    let shift = cells.div_ceil(SHELVES).next_power_of_two().trailing_zeros();
    let shelves = (cells >> shift) + 1;
    let shelf = |number: u32| (number >> shift) as usize;
    // How many points of each piece go to each shelf, and then where the first of them goes.
    let mut firsts: Vec<Vec<u32>> = numbers
        .par_chunks(PIECE)
        .map(|piece| {
            let mut counts = vec![0; shelves];
            piece.iter().for_each(|&number| counts[shelf(number)] += 1);
            counts
        })
        .collect();
    let mut ends = vec![0; shelves];
    let mut total = 0;
    for (shelf, end) in ends.iter_mut().enumerate() {
        for first in &mut firsts {
            total += std::mem::replace(&mut first[shelf], total);
        }
        *end = total as usize;
    }
    let mut shelved = vec![0u32; numbers.len()];
    let room = Room::new(shelved.as_mut_ptr());
    let pieces = numbers.par_chunks(PIECE).zip(firsts).enumerate();
    pieces.for_each(|(piece, (numbers, mut next))| {
        for (point, &number) in (piece * PIECE..).zip(numbers) {
            let place = &mut next[shelf(number)];
            // SAFETY: the counts give every point a place of its own.
            unsafe { room.put(*place as usize, point as u32) };
            *place += 1;
        }
    });
    let mut starts = vec![0u32; cells + 1];
    let mut places = vec![0u32; numbers.len()];
    let room = Room::new(places.as_mut_ptr());
    let crowding = starts[..cells]
        .par_chunks_mut(1 << shift)
        .enumerate()
        .map(|(shelf, starts)| {
            let begin = if shelf == 0 { 0 } else { ends[shelf - 1] };
            let points = &shelved[begin..ends[shelf]];
            let local = |point: u32| numbers[point as usize] as usize - (shelf << shift);
            points.iter().for_each(|&point| starts[local(point)] += 1);
            let mut crowding = 0;
            let mut total = begin as u32;
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
    starts[cells] = numbers.len() as u32;
    Sorted {
        starts,
        places,
        crowding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_in_the_order_of_a_stable_sort() {
        let mut state = 7u64;
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
            let Sorted {
                starts,
                places,
                crowding,
            } = sort(&numbers, cells);
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
