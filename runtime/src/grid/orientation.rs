//! The transforms between index space and world space.

use std::fmt;

/// The place of a grid in world space: `world = B index + o` and `index = W world + t`, in double precision.
///
/// Column `a` of `B` is the step from one sample to the next along axis `a`; `W` is the inverse of `B` and `t = -W o`.
/// Matrices are row-major. Built only from an invertible `B`.
#[derive(Clone, Debug, PartialEq)]
pub struct Orientation {
    dim: usize,
    directions: Vec<f64>,
    origin: Vec<f64>,
    inverse: Vec<f64>,
    offset: Vec<f64>,
}

/// Why directions and an origin place no grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrientationError {
    message: String,
}

impl fmt::Display for OrientationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OrientationError {}

fn written(vector: &[f64]) -> String {
    let entries: Vec<_> = vector.iter().map(f64::to_string).collect();
    format!("({})", entries.join(","))
}

impl Orientation {
    /// The orientation of a grid of dimension 1 to 3 whose axis `a` steps by `directions[a]` from sample to sample, and
    /// whose first sample is at `origin`. There are as many directions as each has coordinates.
    pub fn new(directions: &[Vec<f64>], origin: &[f64]) -> Result<Orientation, OrientationError> {
        let dim = directions.len();
        let shown: Vec<_> = directions.iter().map(|d| written(d)).collect();
        let shown = shown.join(" ");
        let fail = |message| Err(OrientationError { message });
        let square = directions.iter().all(|d| d.len() == dim) && origin.len() == dim;
        if !square || !(1..=3).contains(&dim) {
            return fail(format!(
                "found directions {shown} and origin {}, expected as many directions as coordinates, 1 to 3",
                written(origin)
            ));
        }
        let matrix: Vec<f64> = (0..dim * dim)
            .map(|k| directions[k % dim][k / dim])
            .collect();
        let Some(inverse) = invert(&matrix, dim) else {
            return fail(format!(
                "directions {shown} do not span a space of dimension {dim}"
            ));
        };
        // Subtracting from zero, unlike negating, keeps a grid at the origin free of -0.
        let offset: Vec<f64> = apply(&inverse, origin).iter().map(|x| 0.0 - x).collect();
        if !offset.iter().all(|x| x.is_finite()) {
            return fail(format!(
                "origin {} is too far away for its steps",
                written(origin)
            ));
        }
        Ok(Orientation {
            dim,
            directions: matrix,
            origin: origin.to_vec(),
            inverse,
            offset,
        })
    }

    /// World space the same as index space.
    pub fn identity(dim: usize) -> Orientation {
        let unit = identity(dim);
        Orientation {
            dim,
            directions: unit.clone(),
            origin: vec![0.0; dim],
            inverse: unit,
            offset: vec![0.0; dim],
        }
    }

    /// The dimension of both spaces.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// `B`, row-major.
    pub fn index_to_world(&self) -> &[f64] {
        &self.directions
    }

    /// `o`, the world position of the first sample.
    pub fn origin(&self) -> &[f64] {
        &self.origin
    }

    /// `W`, row-major.
    pub fn world_to_index(&self) -> &[f64] {
        &self.inverse
    }

    /// `t`, the index position of the origin of world space.
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// The world position of an index position.
    pub fn to_world(&self, index: &[f64]) -> Vec<f64> {
        let world = apply(&self.directions, index);
        world.iter().zip(&self.origin).map(|(a, b)| a + b).collect()
    }

    /// The least and the greatest coordinates of the samples of a grid of these sizes, fastest axis first.
    pub fn world_box(&self, sizes: &[usize]) -> Vec<(f64, f64)> {
        let last = |&size: &usize| (0.0, size.saturating_sub(1) as f64);
        self.world_box_of(&sizes.iter().map(last).collect::<Vec<_>>())
    }

    /// The least and the greatest coordinates in the world of a box of index positions.
    pub fn world_box_of(&self, ranges: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let bounds = |(coordinate, &origin): (usize, &f64)| {
            let row = &self.directions[coordinate * self.dim..][..self.dim];
            let reach = row.iter().zip(ranges);
            reach.fold((origin, origin), |(low, high), (step, &(first, last))| {
                let (first, last) = (step * first, step * last);
                (low + first.min(last), high + first.max(last))
            })
        };
        self.origin.iter().enumerate().map(bounds).collect()
    }

    /// The index position of a world position.
    pub fn to_index(&self, world: &[f64]) -> Vec<f64> {
        let index = apply(&self.inverse, world);
        index.iter().zip(&self.offset).map(|(a, b)| a + b).collect()
    }
}

/// The matrix that changes nothing, row-major.
pub(crate) fn identity(dim: usize) -> Vec<f64> {
    (0..dim * dim)
        .map(|k| f64::from(u8::from(k % (dim + 1) == 0)))
        .collect()
}

fn apply(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    let row = |r: &[f64]| r.iter().zip(vector).map(|(a, b)| a * b).sum();
    matrix.chunks(vector.len().max(1)).map(row).collect()
}

/// The inverse of a matrix, by elimination with complete pivoting; `None` if a pivot is as small as
/// rounding makes it, or anything is not finite.
///
/// Columns are first scaled by powers of two, which is exact: what counts as small then depends on the angles between
/// the directions and not on their lengths.
pub(crate) fn invert(matrix: &[f64], dim: usize) -> Option<Vec<f64>> {
    if !matrix.iter().all(|x| x.is_finite()) {
        return None;
    }
    let scales: Vec<f64> = (0..dim)
        .map(|c| column_scale(matrix, dim, c))
        .collect::<Option<_>>()?;
    let mut a: Vec<f64> = (0..dim * dim)
        .map(|k| matrix[k] * scales[k % dim])
        .collect();
    let mut inverse = identity(dim);
    // Row `r` of `a` determines unknown `unknown[r]` once its pivot has been chosen.
    let mut unknown = vec![usize::MAX; dim];
    for _ in 0..dim {
        let (row, column) = largest_entry(&a, dim, &unknown)?;
        unknown[row] = column;
        let pivot = a[row * dim + column];
        if pivot.abs() <= 16.0 * f64::EPSILON {
            return None;
        }
        for other in (0..dim).filter(|r| *r != row) {
            let factor = a[other * dim + column] / pivot;
            if factor != 0.0 {
                for c in 0..dim {
                    a[other * dim + c] -= factor * a[row * dim + c];
                    inverse[other * dim + c] -= factor * inverse[row * dim + c];
                }
            }
        }
    }
    let mut result = vec![0.0; dim * dim];
    for (row, &column) in unknown.iter().enumerate() {
        let pivot = a[row * dim + column];
        for c in 0..dim {
            result[column * dim + c] = inverse[row * dim + c] / pivot * scales[column];
        }
    }
    result.iter().all(|x| x.is_finite()).then_some(result)
}

/// The power of two that brings the largest entry of a column near 1.
fn column_scale(matrix: &[f64], dim: usize, column: usize) -> Option<f64> {
    let entries = matrix.iter().skip(column).step_by(dim);
    let largest = entries.fold(0.0_f64, |m, x| m.max(x.abs()));
    if largest == 0.0 {
        return None;
    }
    let scale = 2_f64.powi(-(largest.log2().floor() as i32));
    (scale.is_finite() && scale > 0.0).then_some(scale)
}

/// The largest entry in the rows and columns that have no pivot yet.
fn largest_entry(a: &[f64], dim: usize, unknown: &[usize]) -> Option<(usize, usize)> {
    let free = (0..dim * dim)
        .map(|k| (k / dim, k % dim))
        .filter(|(r, c)| unknown[*r] == usize::MAX && !unknown.contains(c));
    free.max_by(|x, y| {
        let size = |&(r, c): &(usize, usize)| a[r * dim + c].abs();
        size(x).total_cmp(&size(y))
    })
}
