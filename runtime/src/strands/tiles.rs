//! The order in which a grid is walked: takes axis sizes, gives grid indices so that consecutive
//! strands are spatial neighbours.
//!
//! Inside a tile of up to 4096 strands the walk is a Z-order curve (axis bits interleaved, fastest
//! axis first), so any aligned run of 4, 8 or 16 strands is a small square or box; the tiles follow
//! each other row by row. Points outside the grid are left out, not padded.

use crate::abi::MAX_WIDTH;
use rayon::prelude::*;

/// Bits of the Z-order curve inside one tile.
const TILE_BITS: u32 = 12;

/// Row-major indices (last axis fastest) of all points of a grid with the given axis sizes, each
/// once, in walking order. Runs on the current rayon pool.
///
/// The number of points must fit `u32`.
pub fn walk(sizes: &[usize]) -> Vec<u32> {
    let count: usize = sizes.iter().product();
    assert!(
        count <= u32::MAX as usize,
        "a grid has fewer than 2³² strands"
    );
    // Room for a last block that is not full, see `Roster::new`.
    let mut order = Vec::with_capacity(count + MAX_WIDTH);
    order.resize(count, 0);
    let bits = tile_bits(sizes);
    let points = tile_points(&bits);
    let offsets: Vec<u32> = points
        .chunks_exact(sizes.len().max(1))
        .map(|point| row_major(point, sizes))
        .collect();
    tiles(sizes, &bits, &mut order)
        .into_par_iter()
        .for_each(|Tile { corner, order }| {
            let first = row_major(&corner, sizes);
            if order.len() == offsets.len() {
                for (index, offset) in order.iter_mut().zip(&offsets) {
                    *index = first.wrapping_add(*offset);
                }
                return;
            }
            let inside = |point: &[u32]| {
                let axes = corner.iter().zip(point).zip(sizes);
                axes.into_iter()
                    .all(|((&corner, &step), &size)| ((corner + step) as usize) < size)
            };
            let offsets = points.chunks_exact(sizes.len()).zip(&offsets);
            let offsets = offsets.filter(|(point, _)| inside(point));
            for (index, (_, offset)) in order.iter_mut().zip(offsets) {
                *index = first.wrapping_add(*offset);
            }
        });
    order
}

/// A tile of a grid: its first point, and its part of the walk.
struct Tile<'a> {
    corner: Vec<u32>,
    order: &'a mut [u32],
}

/// The tiles of a grid, row by row.
fn tiles<'a>(sizes: &[usize], bits: &[u32], order: &'a mut [u32]) -> Vec<Tile<'a>> {
    let counts: Vec<usize> = sizes
        .iter()
        .zip(bits)
        .map(|(&size, &bits)| size.div_ceil(1 << bits))
        .collect();
    let mut rest = order;
    let tile = |number: usize| {
        let mut corner = vec![0; sizes.len()];
        let (mut number, mut points) = (number, 1);
        for axis in (0..sizes.len()).rev() {
            let first = (number % counts[axis]) << bits[axis];
            number /= counts[axis];
            points *= (sizes[axis] - first).min(1 << bits[axis]);
            corner[axis] = first as u32;
        }
        Tile {
            corner,
            order: rest.split_off_mut(..points).expect("tiles cover the grid"),
        }
    };
    (0..counts.iter().product()).map(tile).collect()
}

/// The row-major index of a point. That of a point outside means nothing, and may not fit.
fn row_major(point: &[u32], sizes: &[usize]) -> u32 {
    let axes = point.iter().zip(sizes);
    axes.fold(0u32, |index, (&at, &size)| {
        index.wrapping_mul(size as u32).wrapping_add(at)
    })
}

/// How many bits of the curve each axis gets: dealt round from the fastest axis, no axis more than
/// it needs.
fn tile_bits(sizes: &[usize]) -> Vec<u32> {
    let needed: Vec<u32> = sizes
        .iter()
        .map(|size| size.next_power_of_two().trailing_zeros())
        .collect();
    let mut bits = vec![0; sizes.len()];
    for _ in 0..TILE_BITS {
        // The axis with the fewest bits that still has a use for one; the last of equals, which is
        // the fastest.
        let Some(axis) = (0..sizes.len())
            .rev()
            .filter(|&axis| bits[axis] < needed[axis])
            .min_by_key(|&axis| bits[axis])
        else {
            break;
        };
        bits[axis] += 1;
    }
    bits
}

/// Coordinates inside one tile in Z order, one group of axes after the other.
fn tile_points(bits: &[u32]) -> Vec<u32> {
    let axes = bits.len();
    if axes == 0 {
        return vec![0];
    }
    let total: u32 = bits.iter().sum();
    let mut points = vec![0; axes << total];
    for (code, point) in points.chunks_exact_mut(axes).enumerate() {
        let mut rest = code;
        for level in 0..TILE_BITS {
            for axis in (0..axes).rev().filter(|&axis| level < bits[axis]) {
                point[axis] |= ((rest & 1) as u32) << level;
                rest >>= 1;
            }
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_walked_once() {
        for sizes in [
            vec![],
            vec![1],
            vec![7],
            vec![5, 9],
            vec![100, 3],
            vec![70, 130],
            vec![3, 4, 5],
            vec![1, 200, 1],
            vec![2, 3, 2, 3],
            vec![4, 0, 3],
        ] {
            let mut order = walk(&sizes);
            order.sort_unstable();
            let count: usize = sizes.iter().product();
            assert!(order.iter().copied().eq(0..count as u32), "{sizes:?}");
        }
    }

    #[test]
    fn a_block_of_sixteen_is_a_four_by_four_square() {
        let order = walk(&[64, 64]);
        for block in order.chunks_exact(16) {
            let (rows, columns): (Vec<_>, Vec<_>) =
                block.iter().map(|index| (index / 64, index % 64)).unzip();
            for axis in [rows, columns] {
                assert_eq!(axis.iter().max().unwrap() - axis.iter().min().unwrap(), 3);
            }
        }
    }

    #[test]
    fn a_block_of_eight_is_a_cube_in_three_dimensions() {
        for block in walk(&[16, 16, 16]).chunks_exact(8) {
            for stride in [1, 16, 256] {
                let axis = || block.iter().map(|index| index / stride % 16);
                assert_eq!(axis().max().unwrap() - axis().min().unwrap(), 1);
            }
        }
    }

    #[test]
    fn a_single_row_is_walked_in_order() {
        assert!(walk(&[1, 9000]).into_iter().eq(0..9000));
    }
}
