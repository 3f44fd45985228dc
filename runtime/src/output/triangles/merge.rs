//! Corners of triangles that are the same point become one point.
//!
//! Takes the coordinates of corners, triangle by triangle. Points are numbered in the order of their first appearance, so the
//! result depends on nothing but the order of the triangles.

use crate::memory::{self, Claim, Shortage};

/// A coordinate in the precision in which it is compared and written.
pub(super) trait Coordinate: Copy + Default {
    /// The same number, with 0 for -0.
    fn plain(self) -> Self;

    /// Bits that are equal only for equal coordinates.
    fn bits(self) -> u64;
}

impl Coordinate for f32 {
    fn plain(self) -> f32 {
        self + 0.0
    }

    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Coordinate for f64 {
    fn plain(self) -> f64 {
        self + 0.0
    }

    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// Points, and triangles among them.
pub(super) struct Merged<T> {
    /// Three coordinates for each point.
    pub(super) points: Vec<T>,
    /// The corner at which each point appears first; corner `k` of triangle `n` is `3 n + k`.
    pub(super) first: Vec<usize>,
    /// The points of the triangles that are kept.
    pub(super) triangles: Vec<[u32; 3]>,
    /// The numbers of these among all triangles.
    pub(super) kept: Vec<usize>,
    /// The memory of all this.
    pub(super) claim: Claim,
}

/// The points and triangles of corners of `dim` coordinates, 2 or 3. Triangles with two equal corners are left out.
///
/// # Errors
/// There is no memory for them, or there are more points than 32 bits count.
pub(super) fn merge<S: Copy, T: Coordinate>(
    corners: &[S],
    dim: usize,
    convert: impl Fn(S) -> T,
) -> Result<Merged<T>, String> {
    let count = corners.len() / (3 * dim);
    let mut merging = Merging::new(count).map_err(|shortage| refused(&shortage))?;
    for (n, triangle) in corners.chunks_exact(3 * dim).enumerate() {
        let corner = |k: usize| {
            let mut point = [T::default(); 3];
            let given = &triangle[k * dim..(k + 1) * dim];
            (point.iter_mut().zip(given)).for_each(|(x, &given)| *x = convert(given).plain());
            point
        };
        let corners = [corner(0), corner(1), corner(2)];
        let [a, b, c] = corners.map(|corner| corner.map(T::bits));
        if a == b || b == c || c == a {
            continue;
        }
        let mut points = [0; 3];
        for (k, (point, corner)) in points.iter_mut().zip(corners).enumerate() {
            *point = merging.number(corner, 3 * n + k)?;
        }
        merging.merged.triangles.push(points);
        merging.merged.kept.push(n);
    }
    Ok(merging.merged)
}

fn refused(shortage: &Shortage) -> String {
    format!("the points of the triangles: {shortage}")
}

/// Points so far, with a table in which they are found by their coordinates.
struct Merging<T> {
    merged: Merged<T>,
    /// Places for twice as many points as there may be before it grows. A place has the hash of a point in its upper half and the
    /// number of the point in its lower half, or is empty.
    places: Vec<u64>,
}

/// A place without a point. There are fewer points than this would need.
const EMPTY: u64 = u64::MAX;

/// The places of the first table.
const FIRST_PLACES: usize = 1 << 10;

impl<T: Coordinate> Merging<T> {
    fn new(triangles: usize) -> Result<Merging<T>, Shortage> {
        let bytes = triangles * (size_of::<[u32; 3]>() + size_of::<usize>());
        let merged = Merged {
            claim: memory::claim(bytes as u64)?,
            points: Vec::new(),
            first: Vec::new(),
            triangles: Vec::with_capacity(triangles),
            kept: Vec::with_capacity(triangles),
        };
        let mut merging = Merging {
            merged,
            places: Vec::new(),
        };
        // Closed surfaces have half as many points as triangles.
        merging.grow(triangles.next_power_of_two().max(FIRST_PLACES))?;
        Ok(merging)
    }

    /// Makes a larger table, and room for the points that it may have.
    fn grow(&mut self, places: usize) -> Result<(), Shortage> {
        let Merged {
            points,
            first,
            claim,
            ..
        } = &mut self.merged;
        let more = places / 2 - first.len();
        let of_point = size_of::<[T; 3]>() + size_of::<usize>();
        claim.grow((more * of_point + (places - self.places.len()) * size_of::<u64>()) as u64)?;
        points.reserve_exact(3 * more);
        first.reserve_exact(more);
        let old = std::mem::replace(&mut self.places, vec![EMPTY; places]);
        for place in old.into_iter().filter(|&place| place != EMPTY) {
            let mut at = (place >> 32) as usize & (places - 1);
            while self.places[at] != EMPTY {
                at = (at + 1) & (places - 1);
            }
            self.places[at] = place;
        }
        Ok(())
    }

    /// The number of a point, which is a new one if no corner before was there.
    fn number(&mut self, point: [T; 3], corner: usize) -> Result<u32, String> {
        let bits = point.map(T::bits);
        let hash = hash(bits);
        let last = self.places.len() - 1;
        let mut at = hash as usize & last;
        loop {
            let place = self.places[at];
            if place == EMPTY {
                break;
            }
            let start = 3 * (place as u32 as usize);
            let known = &self.merged.points[start..start + 3];
            if (place >> 32) as u32 == hash && [0, 1, 2].map(|k| known[k].bits()) == bits {
                return Ok(place as u32);
            }
            at = (at + 1) & last;
        }
        let number = u32::try_from(self.merged.first.len())
            .ok()
            .filter(|&number| number < u32::MAX)
            .ok_or("the triangles have more points than 32 bits count")?;
        self.places[at] = u64::from(hash) << 32 | u64::from(number);
        self.merged.points.extend(point);
        self.merged.first.push(corner);
        if 2 * self.merged.first.len() >= self.places.len() {
            self.grow(2 * self.places.len())
                .map_err(|shortage| refused(&shortage))?;
        }
        Ok(number)
    }
}

/// Bits in which the coordinates of neighbouring grid points differ at random.
fn hash(coordinates: [u64; 3]) -> u32 {
    // Odd numbers without a pattern: the fractional parts of the square roots of 2, 3 and 5.
    const FACTORS: [u64; 3] = [
        0x6a09_e667_f3bc_c909,
        0xbb67_ae85_84ca_a73b,
        0x3c6e_f372_fe94_f82b,
    ];
    let mut hash = 0_u64;
    for (bits, factor) in coordinates.into_iter().zip(FACTORS) {
        let product = u128::from(hash ^ bits ^ factor) * u128::from(factor);
        hash = (product >> 64) as u64 ^ product as u64;
    }
    (hash >> 32) as u32 ^ hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_grids_have_different_hashes() {
        let mut hashes = Vec::new();
        for (x, y, z) in (0..64 * 64 * 64).map(|n| (n % 64, n / 64 % 64, n / 4096)) {
            let point = [x, y, z].map(|k| f64::from(k) * 0.25 - 8.0);
            hashes.push(hash(point.map(Coordinate::bits)) & 0xf_ffff);
        }
        hashes.sort_unstable();
        hashes.dedup();
        // 2^18 balls in 2^20 boxes occupy (1 - e^(-1/4)) of them: 231,949.
        assert!(hashes.len() > 230_000, "{} different", hashes.len());
    }

    #[test]
    fn corners_are_merged_across_any_number_of_growths() {
        let count = 5000;
        let corner = |n: usize| [n as f32, -0.0, 0.5];
        let corners: Vec<f32> = (0..count)
            .flat_map(|n| [corner(n), corner(n + 1), corner((n + 2) % count)])
            .flatten()
            .collect();
        let merged = merge(&corners, 3, |x| x).expect("little memory");
        assert_eq!(merged.first.len(), count + 1);
        let points: Vec<f32> = (0..=count).flat_map(corner).collect();
        assert_eq!(merged.points, points);
        assert!(merged.points.iter().all(|x| x.is_sign_positive()));
        assert_eq!(merged.triangles[5], [5, 6, 7]);
        assert_eq!(merged.triangles[count - 1][2], 1);
    }
}
