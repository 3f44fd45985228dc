//! Sampling grids: integer matrices over a power of two, so that orientation and sample positions are exact in binary.
//!
//! The columns of a rotated grid are those of a rational rotation times its common denominator (3-4-5, 5-12-13, integer
//! quaternions), stretched differently on each axis; a sheared grid adds a quarter or a half of the first column to the others.

use crate::frame::Orientation;
use crate::kernel::AxisKernels;
use crate::random::Stream;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

/// World coordinates of grids are multiples of 2^−GRID_BITS.
pub(crate) const GRID_BITS: u32 = 10;

/// Fractional index coordinates of positions are multiples of 2^−INDEX_BITS.
const INDEX_BITS: u32 = 6;

/// World coordinates of positions are multiples of 2^−POSITION_BITS.
pub(crate) const POSITION_BITS: u32 = GRID_BITS + INDEX_BITS;

/// A regular grid in 1 to 3 dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Samples on each axis, fastest first.
    pub sizes: Vec<usize>,
    /// For each index axis, the step in the world in units of 2^−GRID_BITS.
    directions: Vec<Vec<i64>>,
    /// The place of the first sample, in the same units.
    origin: Vec<i64>,
    /// The inverse of the matrix whose columns are the directions, exactly: this matrix over the determinant, in
    /// units of 2^GRID_BITS.
    adjugate: Vec<Vec<i128>>,
    determinant: i128,
    inverse: Vec<Vec<BigRational>>,
    inverse_magnitudes: Vec<Vec<f64>>,
    aligned: bool,
}

/// A point in the world with coordinates in units of 2^−POSITION_BITS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The coordinates as integers.
    pub numerators: Vec<i64>,
}

impl Position {
    /// The coordinates, exact in double and in single precision.
    pub fn to_f64(&self) -> Vec<f64> {
        self.numerators
            .iter()
            .map(|&n| n as f64 / f64::from(1u32 << POSITION_BITS))
            .collect()
    }

    /// The coordinates as rationals.
    pub fn to_rationals(&self) -> Vec<BigRational> {
        let unit = BigInt::from(1u64 << POSITION_BITS);
        self.numerators
            .iter()
            .map(|&n| BigRational::new(BigInt::from(n), unit.clone()))
            .collect()
    }
}

/// Integer columns of a rational rotation and their common length.
fn rotation(dim: usize, stream: &mut Stream) -> (Vec<Vec<i64>>, i64) {
    if dim == 2 {
        let (a, b, c) = *stream.choose(&[
            (3, 4, 5),
            (4, 3, 5),
            (5, 12, 13),
            (12, 5, 13),
            (-3, 4, 5),
            (5, -12, 13),
        ]);
        return (vec![vec![a, b], vec![-b, a]], c);
    }
    loop {
        let [a, b, c, d] = [(); 4].map(|()| stream.between(-2, 3));
        let norm = a * a + b * b + c * c + d * d;
        // Small norms are multiples of quarter turns; large ones make coordinates long.
        if !(6..=20).contains(&norm) {
            continue;
        }
        let rows = [
            [
                a * a + b * b - c * c - d * d,
                2 * (b * c - a * d),
                2 * (b * d + a * c),
            ],
            [
                2 * (b * c + a * d),
                a * a - b * b + c * c - d * d,
                2 * (c * d - a * b),
            ],
            [
                2 * (b * d - a * c),
                2 * (c * d + a * b),
                a * a - b * b - c * c + d * d,
            ],
        ];
        let columns = (0..3)
            .map(|j| rows.iter().map(|row| row[j]).collect())
            .collect();
        return (columns, norm);
    }
}

/// Spacings of the axes in units of 2^−GRID_BITS: around a quarter, different from axis to axis.
fn spacings(dim: usize, stream: &mut Stream) -> Vec<i64> {
    let mut choices = vec![256, 192, 320, 384];
    (0..dim)
        .map(|_| choices.remove(stream.below(choices.len() as u64) as usize))
        .collect()
}

fn columns(dim: usize, orientation: Orientation, stream: &mut Stream) -> (Vec<Vec<i64>>, bool) {
    let orientation = match orientation {
        Orientation::Any => *stream.choose(&[
            Orientation::Axis,
            Orientation::Rotated,
            Orientation::Sheared,
        ]),
        fixed => fixed,
    };
    let spacings = spacings(dim, stream);
    let turned = dim > 1 && orientation != Orientation::Axis;
    let (unit, length) = if turned {
        rotation(dim, stream)
    } else {
        let reversed = stream.below(4) == 0;
        let step = |i, j| {
            if i == j {
                if reversed { -1 } else { 1 }
            } else {
                0
            }
        };
        (
            (0..dim)
                .map(|j| (0..dim).map(|i| step(i, j)).collect())
                .collect(),
            1,
        )
    };
    // A factor that is a multiple of eight keeps halves and quarters of columns, and half sizes, integral.
    let factor = |spacing: i64| ((spacing / length + 4) / 8).max(1) * 8;
    let mut columns: Vec<Vec<i64>> = unit
        .iter()
        .zip(&spacings)
        .map(|(column, &s)| column.iter().map(|x| x * factor(s)).collect())
        .collect();
    if turned && orientation == Orientation::Sheared {
        let first = columns[0].clone();
        for column in columns.iter_mut().skip(1) {
            let share = *stream.choose(&[1, -1, 2]);
            for (entry, x) in column.iter_mut().zip(&first) {
                *entry += x * share / 4;
            }
        }
    }
    (columns, !turned)
}

/// The determinant and the adjugate of the matrix with these columns.
fn cramer(columns: &[Vec<i64>]) -> (i128, Vec<Vec<i128>>) {
    let at = |i: usize, j: usize| i128::from(columns[j][i]);
    match columns.len() {
        1 => (at(0, 0), vec![vec![1]]),
        2 => {
            let determinant = at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0);
            (
                determinant,
                vec![vec![at(1, 1), -at(0, 1)], vec![-at(1, 0), at(0, 0)]],
            )
        }
        _ => {
            let minor = |i: usize, j: usize| {
                let (i1, i2, j1, j2) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
                at(i1, j1) * at(i2, j2) - at(i1, j2) * at(i2, j1)
            };
            let determinant = (0..3).map(|j| at(0, j) * minor(0, j)).sum();
            (
                determinant,
                (0..3)
                    .map(|i| (0..3).map(|j| minor(j, i)).collect())
                    .collect(),
            )
        }
    }
}

impl Grid {
    /// Draws a grid around the origin of the world.
    pub fn draw(dim: usize, samples: usize, orientation: Orientation, stream: &mut Stream) -> Grid {
        Grid::of_cells(dim, samples, 1, orientation, stream)
    }

    /// The same with at least this many samples, in cells of this many steps.
    pub(crate) fn of_cells(
        dim: usize,
        samples: usize,
        steps: usize,
        orientation: Orientation,
        stream: &mut Stream,
    ) -> Grid {
        let (directions, aligned) = columns(dim, orientation, stream);
        let sizes: Vec<usize> = (0..dim)
            .map(|axis| (samples + axis - 1).next_multiple_of(steps) + 1)
            .collect();
        let origin = (0..dim).map(|i| {
            let centre: i64 = directions
                .iter()
                .zip(&sizes)
                .map(|(d, &n)| d[i] * (n as i64 - 1) / 2)
                .sum();
            stream.between(-16, 16) - centre
        });
        let origin = origin.collect();
        let (determinant, adjugate) = cramer(&directions);
        // Directions are in units of 2^−GRID_BITS, so the inverse is in units of 2^GRID_BITS.
        let ratio =
            |&x: &i128| BigRational::new(BigInt::from(x) << GRID_BITS, BigInt::from(determinant));
        let inverse: Vec<Vec<BigRational>> = adjugate
            .iter()
            .map(|row| row.iter().map(ratio).collect())
            .collect();
        let inverse_magnitudes = inverse
            .iter()
            .map(|row| row.iter().map(|x| float(x).abs()).collect())
            .collect();
        Grid {
            adjugate,
            determinant,
            inverse,
            inverse_magnitudes,
            sizes,
            origin,
            directions,
            aligned,
        }
    }

    /// The dimension.
    pub fn dim(&self) -> usize {
        self.sizes.len()
    }

    /// Whether the axes are those of the world.
    pub fn is_aligned(&self) -> bool {
        self.aligned
    }

    /// The world coordinates of a sample, in units of 2^−GRID_BITS.
    pub fn sample_place(&self, index: &[usize]) -> Vec<i64> {
        let step = |i: usize| -> i64 {
            self.directions
                .iter()
                .zip(index)
                .map(|(d, &n)| d[i] * n as i64)
                .sum()
        };
        (0..self.dim()).map(|i| self.origin[i] + step(i)).collect()
    }

    /// A bound of the coordinates of samples, in units of 2^−GRID_BITS.
    pub(crate) fn reach(&self) -> i64 {
        let along = |i: usize| -> i64 {
            let steps = self.directions.iter().zip(&self.sizes);
            steps.map(|(d, &n)| d[i].abs() * n as i64).sum()
        };
        let reach = (0..self.dim()).map(|i| self.origin[i].abs() + along(i));
        reach.max().unwrap_or(0).max(1 << GRID_BITS)
    }

    /// The directions as doubles, exactly: one vector per index axis.
    pub fn directions(&self) -> Vec<Vec<f64>> {
        self.directions
            .iter()
            .map(|column| column.iter().copied().map(world).collect())
            .collect()
    }

    /// The origin as doubles, exactly.
    pub fn origin(&self) -> Vec<f64> {
        self.origin.iter().copied().map(world).collect()
    }

    /// The origin as rationals.
    pub fn exact_origin(&self) -> Vec<BigRational> {
        let unit = BigInt::from(1u64 << GRID_BITS);
        self.origin
            .iter()
            .map(|&n| BigRational::new(BigInt::from(n), unit.clone()))
            .collect()
    }

    /// The matrix from world to index coordinates.
    pub fn inverse(&self) -> &[Vec<BigRational>] {
        &self.inverse
    }

    /// The magnitudes of its entries.
    pub(crate) fn inverse_magnitudes(&self) -> &[Vec<f64>] {
        &self.inverse_magnitudes
    }

    /// The index coordinates of a position as integers over the second of the pair, which is positive.
    pub fn index_ratios(&self, position: &Position) -> (Vec<i128>, i128) {
        let sign = self.determinant.signum();
        let row = |row: &Vec<i128>| -> i128 {
            let terms = row.iter().zip(position.numerators.iter().zip(&self.origin));
            terms
                .map(|(w, (p, o))| sign * w * i128::from(p - (o << INDEX_BITS)))
                .sum()
        };
        let indices = self.adjugate.iter().map(row).collect();
        (indices, (sign * self.determinant) << INDEX_BITS)
    }

    /// The index coordinates of a point.
    pub fn index_of(&self, point: &[BigRational]) -> Vec<BigRational> {
        let offset: Vec<BigRational> = point
            .iter()
            .zip(self.exact_origin())
            .map(|(p, o)| p - o)
            .collect();
        let row = |row: &Vec<BigRational>| {
            row.iter()
                .zip(&offset)
                .fold(BigRational::zero(), |sum, (w, p)| sum + w * p)
        };
        self.inverse.iter().map(row).collect()
    }

    /// Draws a position inside the domain of a field with these kernels, or `beyond` it; with `boundary`, some index
    /// coordinates are whole.
    pub fn draw_position(
        &self,
        kernels: &AxisKernels,
        beyond: bool,
        boundary: bool,
        stream: &mut Stream,
    ) -> Position {
        let unit = 1i64 << INDEX_BITS;
        let index: Vec<i64> = self
            .sizes
            .iter()
            .zip(kernels.supports())
            .map(|(&n, support)| {
                let (n, support) = (n as i64, support as i64);
                // Strictly inside: support − 1 < x < n − support.
                let inside = (support - 1, n - support);
                let (low, high) = match if beyond { stream.below(4) } else { 0 } {
                    0 => inside,
                    1 => (-support, support),
                    2 => (n - 1 - support, n - 1 + support),
                    _ => (-2 * n, 3 * n),
                };
                if boundary && high - low > 1 && stream.below(3) == 0 {
                    stream.between(low + 1, high - 1) * unit
                } else {
                    let cell = stream.between(low, high - 1);
                    cell * unit + stream.between(1, unit - 1)
                }
            })
            .collect();
        let along = |i: usize| -> i64 {
            self.directions
                .iter()
                .zip(&index)
                .map(|(d, &x)| d[i] * x)
                .sum()
        };
        Position {
            numerators: (0..self.dim())
                .map(|i| (self.origin[i] << INDEX_BITS) + along(i))
                .collect(),
        }
    }
}

fn world(n: i64) -> f64 {
    n as f64 / f64::from(1u32 << GRID_BITS)
}

/// The nearest double of a rational.
pub(crate) fn float(x: &BigRational) -> f64 {
    x.to_f64().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::kernel;

    fn grids() -> Vec<Grid> {
        let mut grids = Vec::new();
        for dim in 1..=3 {
            for orientation in [
                Orientation::Axis,
                Orientation::Rotated,
                Orientation::Sheared,
            ] {
                let mut stream = Stream::new(&["grids", &dim.to_string()]);
                grids.extend((0..20).map(|_| Grid::draw(dim, 10, orientation, &mut stream)));
            }
        }
        grids
    }

    #[test]
    fn the_inverse_undoes_the_directions_exactly() {
        for grid in grids() {
            let index: Vec<usize> = (0..grid.dim()).map(|a| 2 * a + 3).collect();
            let unit = BigInt::from(1u64 << GRID_BITS);
            let place: Vec<BigRational> = grid
                .sample_place(&index)
                .iter()
                .map(|&n| BigRational::new(BigInt::from(n), unit.clone()))
                .collect();
            let wanted: Vec<BigRational> = index
                .iter()
                .map(|&n| BigRational::from(BigInt::from(n)))
                .collect();
            assert_eq!(grid.index_of(&place), wanted);
            let shifted = grid
                .sample_place(&index)
                .into_iter()
                .map(|n| n << INDEX_BITS);
            let (numerators, denominator) = grid.index_ratios(&Position {
                numerators: shifted.collect(),
            });
            let found: Vec<BigRational> = numerators
                .into_iter()
                .map(|n| BigRational::new(BigInt::from(n), BigInt::from(denominator)))
                .collect();
            assert_eq!(found, wanted);
            assert!(denominator > 0);
        }
    }

    #[test]
    fn spacings_are_moderate_and_columns_of_rotations_are_orthogonal() {
        for grid in grids() {
            for column in grid.directions() {
                let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
                assert!((0.1..0.8).contains(&length), "{grid:?}");
            }
        }
        let mut stream = Stream::new(&["orthogonal"]);
        for _ in 0..50 {
            let grid = Grid::draw(3, 10, Orientation::Rotated, &mut stream);
            let d = grid.directions();
            let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
            assert_eq!(
                [dot(&d[0], &d[1]), dot(&d[1], &d[2]), dot(&d[0], &d[2])],
                [0.0; 3]
            );
        }
    }

    #[test]
    fn positions_are_inside_and_sometimes_on_cell_boundaries() {
        let mut stream = Stream::new(&["positions"]);
        for grid in grids() {
            let mut whole = 0;
            let kernels = AxisKernels::new(&[kernel("c4hexic").expect("a row")], grid.dim());
            for _ in 0..40 {
                let position = grid.draw_position(&kernels, false, true, &mut stream);
                for (x, &n) in grid
                    .index_of(&position.to_rationals())
                    .iter()
                    .zip(&grid.sizes)
                {
                    assert!(float(x) > 2.0 && float(x) < n as f64 - 3.0);
                    whole += usize::from(x.is_integer());
                }
            }
            assert!(whole > 0);
        }
    }
}
