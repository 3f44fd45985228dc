//! The order in which a grid is walked: takes axis sizes, gives grid indices so that consecutive
//! strands are spatial neighbours.
//!
//! Inside a tile of up to 4096 strands the walk is a Z-order curve (axis bits interleaved, fastest
//! axis first), so any aligned run of 4, 8 or 16 strands is a small square or box; the tiles follow
//! each other row by row. Points outside the grid are left out, not padded.

/// Bits of the Z-order curve inside one tile.
const TILE_BITS: u32 = 12;

/// Row-major indices (last axis fastest) of all points of a grid with the given axis sizes, each
/// once, in walking order.
///
/// The number of points must fit `u32`.
pub fn walk(sizes: &[usize]) -> Vec<u32> {
    let count: usize = sizes.iter().product();
    assert!(
        count <= u32::MAX as usize,
        "a grid has fewer than 2³² strands"
    );
    let bits = tile_bits(sizes);
    let inside = tile_points(&bits);
    let tiles: Vec<usize> = sizes
        .iter()
        .zip(&bits)
        .map(|(&size, &bits)| size.div_ceil(1 << bits))
        .collect();
    let mut order = Vec::with_capacity(count);
    let mut corner = vec![0; sizes.len()];
    for tile in 0..tiles.iter().product() {
        let mut rest: usize = tile;
        for axis in (0..sizes.len()).rev() {
            corner[axis] = (rest % tiles[axis]) << bits[axis];
            rest /= tiles[axis];
        }
        for point in inside.chunks_exact(sizes.len().max(1)) {
            let index = corner.iter().zip(point).zip(sizes).try_fold(
                0,
                |index, ((&corner, &step), &size)| {
                    let at = corner + step as usize;
                    (at < size).then_some(index * size + at)
                },
            );
            order.extend(index.map(|index| index as u32));
        }
    }
    order
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
