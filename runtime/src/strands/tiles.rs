//! The order in which a grid is walked: takes axis sizes, gives grid indices so that consecutive
//! strands are spatial neighbours.
//!
//! Inside a tile of up to 4096 strands the walk is a Z-order curve (axis bits interleaved, fastest
//! axis first), so any aligned run of 4, 8 or 16 strands is a small square or box; the tiles follow
//! each other row by row. Points outside the grid are left out, not padded.

use crate::abi::MAX_WIDTH;
use rayon::prelude::*;

/// Bits of the Z-order curve inside one tile, where all tiles are walked in one go.
const TILE_BITS: u32 = 12;

/// Row-major indices (last axis fastest) of all points of a grid with the given axis sizes, each
/// once, in walking order. Runs on the current rayon pool.
///
/// The number of points must fit `u32`.
pub fn walk(sizes: &[usize]) -> Vec<u32> {
    let walk = Walk::new(sizes, TILE_BITS);
    // Room for a last block that is not full, see `Roster::new`.
    let mut order = Vec::with_capacity(walk.points() + MAX_WIDTH);
    order.resize(walk.points(), 0);
    let mut rest = &mut order[..];
    let parts: Vec<(Tile, &mut [u32])> = (0..walk.tiles())
        .map(|number| {
            let tile = walk.tile(number);
            let part = rest.split_off_mut(..tile.points);
            (tile, part.expect("tiles cover the grid"))
        })
        .collect();
    parts.into_par_iter().for_each(|(tile, part)| {
        let ranks = walk.ranks_in(&tile).zip(part);
        ranks.for_each(|(rank, index)| *index = rank);
    });
    order
}

/// A grid in tiles of up to this many strands.
pub(crate) struct Walk {
    sizes: Vec<usize>,
    bits: Vec<u32>,
    /// Tiles along each axis.
    counts: Vec<usize>,
    /// Of every axis the coordinates inside a tile, in Z order.
    steps: Vec<Vec<u32>>,
    /// What the points of a tile are behind its first, in row-major order of the grid.
    offsets: Vec<u32>,
}

/// One of the tiles: its first point, and how many there are.
pub(crate) struct Tile {
    corner: Vec<u32>,
    points: usize,
}

/// The points of a tile in walking order, for blocks of this many lanes. Lanes of a last block that have no point repeat the first.
#[derive(Default)]
pub(crate) struct TilePoints {
    /// How many there are.
    pub(crate) count: usize,
    /// Their row-major indices.
    pub(crate) ranks: Vec<u32>,
    /// The first of them.
    corner: Vec<u32>,
    /// The tables of the last tile that was not whole: most such tiles are alike.
    part: PartTables,
    /// Whether these are those of this tile.
    is_part: bool,
}

/// The tables of a walk for tiles with these numbers of points along each axis.
#[derive(Default)]
struct PartTables {
    room: Vec<u32>,
    steps: Vec<Vec<u32>>,
    offsets: Vec<u32>,
}

impl Walk {
    /// The walk over a grid in tiles of at most 2 to the `tile_bits` points. The number of points must fit `u32`.
    pub(crate) fn new(sizes: &[usize], tile_bits: u32) -> Walk {
        let points: usize = sizes.iter().product();
        assert!(
            points <= u32::MAX as usize,
            "a grid has fewer than 2³² strands"
        );
        let bits = bits_of_axes(sizes, tile_bits);
        let points = tile_points(&bits);
        let axes = sizes.len();
        Walk {
            counts: sizes
                .iter()
                .zip(&bits)
                .map(|(&size, &bits)| size.div_ceil(1 << bits))
                .collect(),
            steps: (0..axes)
                .map(|axis| points.iter().skip(axis).step_by(axes).copied().collect())
                .collect(),
            offsets: points
                .chunks_exact(axes.max(1))
                .map(|point| row_major(point, sizes))
                .collect(),
            bits,
            sizes: sizes.to_vec(),
        }
    }

    /// Points of the grid.
    pub(crate) fn points(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Number of tiles, which follow each other row by row.
    pub(crate) fn tiles(&self) -> usize {
        self.counts.iter().product()
    }

    /// The numbers of tiles and of points in a row: the tiles that are side by side along all axes but the slowest. The points of
    /// such rows follow each other in row-major order; the last row may have fewer.
    pub(crate) fn row(&self) -> (usize, usize) {
        let thickness = 1 << self.bits.first().copied().unwrap_or(0);
        let [tiles, points]: [usize; 2] =
            [&self.counts, &self.sizes].map(|all| all.iter().skip(1).product());
        (tiles, points * thickness)
    }

    /// Points that a tile has at most.
    pub(crate) fn largest(&self) -> usize {
        self.offsets.len()
    }

    fn tile(&self, number: usize) -> Tile {
        let mut corner = vec![0; self.sizes.len()];
        let (mut number, mut points) = (number, 1);
        for axis in (0..self.sizes.len()).rev() {
            let first = (number % self.counts[axis]) << self.bits[axis];
            number /= self.counts[axis];
            points *= (self.sizes[axis] - first).min(1 << self.bits[axis]);
            corner[axis] = first as u32;
        }
        Tile { corner, points }
    }

    /// How many points a tile has along each axis.
    fn room(&self, tile: &Tile) -> Vec<u32> {
        let axes = tile.corner.iter().zip(&self.sizes).zip(&self.bits);
        axes.map(|((&at, &size), &bits)| (size as u32 - at).min(1 << bits))
            .collect()
    }

    /// The positions on the curve of those points of a tile that are in the grid.
    fn codes<'a>(&'a self, tile: &Tile) -> impl Iterator<Item = usize> + use<'a> {
        let whole = tile.points == self.offsets.len();
        let room = self.room(tile);
        (0..self.offsets.len()).filter(move |&code| {
            whole || (self.steps.iter().zip(&room)).all(|(steps, &room)| steps[code] < room)
        })
    }

    /// The row-major indices of the points of a tile.
    fn ranks_in<'a>(&'a self, tile: &Tile) -> impl Iterator<Item = u32> + use<'a> {
        let first = row_major(&tile.corner, &self.sizes);
        self.codes(tile)
            .map(move |code| first.wrapping_add(self.offsets[code]))
    }

    /// The row-major indices of the points of a tile, by its number.
    pub(crate) fn ranks(&self, number: usize) -> impl Iterator<Item = u32> {
        self.ranks_in(&self.tile(number))
    }

    /// How many points a tile has.
    pub(crate) fn points_of(&self, number: usize) -> usize {
        self.tile(number).points
    }

    /// The points of a tile, for blocks of `width` lanes.
    pub(crate) fn visit(&self, number: usize, width: usize, points: &mut TilePoints) {
        let tile = self.tile(number);
        let first = row_major(&tile.corner, &self.sizes);
        let lanes = tile.points.next_multiple_of(width);
        points.count = tile.points;
        points.is_part = tile.points < self.offsets.len() || tile.points < lanes;
        if points.is_part {
            self.prepare(&mut points.part, &tile, lanes);
        }
        points.corner = tile.corner;
        let offsets = match points.is_part {
            true => &points.part.offsets,
            false => &self.offsets,
        };
        points.ranks.clear();
        let ranks = offsets.iter().map(|offset| first.wrapping_add(*offset));
        points.ranks.extend(ranks);
    }

    /// Writes the coordinates of the points in one block of a tile, axis by axis.
    pub(crate) fn coordinates(
        &self,
        points: &TilePoints,
        block: usize,
        width: usize,
        coordinates: &mut Vec<u32>,
    ) {
        coordinates.resize(self.sizes.len() * width, 0);
        let steps = match points.is_part {
            true => &points.part.steps,
            false => &self.steps,
        };
        let mut rest = &mut coordinates[..];
        for (steps, corner) in steps.iter().zip(&points.corner) {
            let (plane, after) = std::mem::take(&mut rest).split_at_mut(width);
            put_shifted(&steps[block * width..][..width], *corner, plane);
            rest = after;
        }
    }

    /// Makes the tables for a tile that is not whole, in this many lanes.
    fn prepare(&self, part: &mut PartTables, tile: &Tile, lanes: usize) {
        let room = self.room(tile);
        if part.room == room && part.offsets.len() == lanes {
            return;
        }
        let codes: Vec<usize> = self.codes(tile).collect();
        let of_points = |table: &Vec<u32>| {
            let mut some: Vec<u32> = codes.iter().map(|&code| table[code]).collect();
            some.resize(lanes, 0);
            some
        };
        *part = PartTables {
            steps: self.steps.iter().map(of_points).collect(),
            offsets: of_points(&self.offsets),
            room,
        };
    }
}

/// Writes the sums of some numbers and one number.
#[inline(always)]
fn put_shifted(numbers: &[u32], shift: u32, sums: &mut [u32]) {
    // Without a loop for the number of lanes that most machines have.
    if let (Ok(numbers), Ok(sums)) = (
        <&[u32; MAX_WIDTH]>::try_from(numbers),
        <&mut [u32; MAX_WIDTH]>::try_from(&mut *sums),
    ) {
        *sums = numbers.map(|number| number.wrapping_add(shift));
        return;
    }
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum = number.wrapping_add(shift);
    }
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
fn bits_of_axes(sizes: &[usize], total: u32) -> Vec<u32> {
    let needed: Vec<u32> = sizes
        .iter()
        .map(|size| size.next_power_of_two().trailing_zeros())
        .collect();
    let mut bits = vec![0; sizes.len()];
    for _ in 0..total {
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
        for level in 0..total {
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
    fn tiles_of_any_size_cover_the_grid_with_the_coordinates_of_their_points() {
        for sizes in [
            vec![],
            vec![7],
            vec![5, 9],
            vec![33, 70],
            vec![3, 4, 5],
            vec![1, 50, 1],
            vec![4, 0, 3],
        ] {
            for (bits, width) in [(0, 1), (0, 4), (4, 4), (10, 16)] {
                let walk = Walk::new(&sizes, bits);
                let (mut points, mut seen) = (TilePoints::default(), Vec::new());
                let mut coordinates = Vec::new();
                for tile in 0..walk.tiles() {
                    walk.visit(tile, width, &mut points);
                    assert!(points.count <= walk.largest());
                    assert_eq!(points.ranks.len(), points.count.next_multiple_of(width));
                    assert!(
                        walk.ranks(tile)
                            .eq(points.ranks[..points.count].iter().copied())
                    );
                    let axes = sizes.len();
                    for (n, &rank) in points.ranks.iter().enumerate() {
                        walk.coordinates(&points, n / width, width, &mut coordinates);
                        let at = (0..axes).map(|axis| coordinates[axis * width + n % width]);
                        let at: Vec<u32> = at.collect();
                        assert_eq!(row_major(&at, &sizes), rank, "{sizes:?}");
                    }
                    seen.extend_from_slice(&points.ranks[..points.count]);
                }
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..walk.points() as u32), "{sizes:?}");
            }
        }
    }

    #[test]
    fn a_single_row_is_walked_in_order() {
        assert!(walk(&[1, 9000]).into_iter().eq(0..9000));
    }
}
