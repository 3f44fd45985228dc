//! Spatial queries against a search through all points, for every dimension, precision and kind of
//! distribution.

use proptest::prelude::*;
use runtime::neighbours::{CellGrid, Coordinate, Hits, Points};

/// The definition: strictly closer than `radius` in the precision of `T`, without `own`, in rank
/// order.
fn by_definition<T: Coordinate, const D: usize>(
    points: &[[T; D]],
    ranks: &[u32],
    centre: [T; D],
    radius: T,
    own: u32,
) -> Vec<u32> {
    let mut found: Vec<u32> = (0..points.len() as u32)
        .filter(|&slot| {
            let distance = (0..D).fold(T::default(), |sum, axis| {
                let along = points[slot as usize][axis] - centre[axis];
                sum + along * along
            });
            slot != own && radius > T::default() && distance < radius * radius
        })
        .collect();
    found.sort_by_key(|&slot| ranks[slot as usize]);
    found
}

/// Queries around every point with every radius, and around some positions that are not points.
fn check<T: Coordinate + std::fmt::Debug, const D: usize>(
    positions: &[[T; D]],
    radii: &[T],
    expected_radius: Option<f64>,
) {
    check_ranks(positions, 1, radii, expected_radius);
}

/// The same, with this many ranks for each strand.
fn check_ranks<T: Coordinate + std::fmt::Debug, const D: usize>(
    positions: &[[T; D]],
    apart: u32,
    radii: &[T],
    expected_radius: Option<f64>,
) {
    let count = positions.len() as u32;
    // Any permutation will do: a stride prime to the count.
    let stride = (1..)
        .map(|k| 2 * k + 1)
        .find(|&k| (2..=k).all(|d| k % d != 0 || !count.is_multiple_of(d)))
        .unwrap();
    let ranks: Vec<u32> = (0..count)
        .map(|slot| (slot * stride + 1) % count.max(1) * apart)
        .collect();
    let mut points = Points::default();
    for (slot, &position) in (0..).zip(positions) {
        points.push(position, slot, ranks[slot as usize]);
    }
    let grid = CellGrid::build(&points, expected_radius, None);
    let mut hits = Hits::default();
    for own in 0..count {
        for (turn, &radius) in radii.iter().enumerate() {
            let from = positions[own as usize];
            let to = positions[(own as usize * 7 + turn) % positions.len()];
            let shifted = std::array::from_fn(|axis| from[axis] + (to[axis] - from[axis]) * radius);
            for centre in [from, shifted] {
                grid.sphere(centre, radius, own, &mut hits);
                let expected = by_definition(positions, &ranks, centre, radius, own);
                assert_eq!(
                    hits.slots(),
                    expected,
                    "{centre:?} within {radius:?} of {positions:?}"
                );
            }
        }
    }
}

fn check_both<const D: usize>(positions: &[[f64; D]], radii: &[f64], expected_radius: Option<f64>) {
    check(positions, radii, expected_radius);
    let single: Vec<[f32; D]> = positions
        .iter()
        .map(|position| position.map(|x| x as f32))
        .collect();
    let radii: Vec<f32> = radii.iter().map(|&radius| radius as f32).collect();
    check(&single, &radii, expected_radius);
}

/// Coordinates of every scale, with repetitions, and some that are not finite.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -1.0..1.0,
        2 => (-4i32..4).prop_map(f64::from),
        1 => -1e9..1e9,
        1 => -1e-20..1e-20f64,
        1 => prop::sample::select(vec![0.0, -0.0, 1e30, -1e30, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -f64::MAX]),
    ]
}

fn radius() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.0..2.0,
        1 => prop::sample::select(vec![0.0, -1.0, 1.0, 1e-22, 1e-170, 1e9, 1e30, f64::MAX, f64::INFINITY, f64::NAN]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn queries_in_one_dimension_find_what_the_definition_says(
        positions in prop::collection::vec(prop::array::uniform1(coordinate()), 1..60),
        radii in prop::collection::vec(radius(), 3),
        expected in prop::option::of(radius()),
    ) {
        check_both(&positions, &radii, expected);
    }

    #[test]
    fn queries_in_two_dimensions_find_what_the_definition_says(
        positions in prop::collection::vec(prop::array::uniform2(coordinate()), 1..80),
        radii in prop::collection::vec(radius(), 3),
        expected in prop::option::of(radius()),
    ) {
        check_both(&positions, &radii, expected);
    }

    #[test]
    fn queries_in_three_dimensions_find_what_the_definition_says(
        positions in prop::collection::vec(prop::array::uniform3(coordinate()), 1..80),
        radii in prop::collection::vec(radius(), 3),
        expected in prop::option::of(radius()),
    ) {
        check_both(&positions, &radii, expected);
    }
}

/// A sequence of numbers in [0, 1) that looks random.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
fn a_point_at_exactly_the_radius_is_outside() {
    let positions = [[0.0, 0.0], [3.0, 4.0], [3.0, 3.9999999999999996]];
    let ranks = [0, 1, 2];
    assert_eq!(by_definition(&positions, &ranks, [0.0, 0.0], 5.0, 0), [2]);
    check_both(&positions, &[5.0, 5.000001, 4.999999], Some(5.0));
}

#[test]
fn thousands_of_points_in_a_cube_are_found() {
    let mut next = numbers(1);
    let positions: Vec<[f64; 3]> = (0..1500).map(|_| [next(), next(), next()]).collect();
    for expected in [None, Some(0.15), Some(0.02), Some(3.0)] {
        check_both(&positions, &[0.15], expected);
    }
}

#[test]
fn dense_clusters_far_apart_are_searched_by_rows() {
    // Two small clusters at a distance that no dense grid of cells can resolve.
    let mut next = numbers(2);
    let cluster = |next: &mut dyn FnMut() -> f64, far: f64| [far + next(), next(), far + next()];
    let positions: Vec<[f64; 3]> = (0..700)
        .map(|i| cluster(&mut next, if i % 2 == 0 { 0.0 } else { 1e7 }))
        .collect();
    for expected in [None, Some(0.1), Some(1e-9)] {
        check(&positions, &[0.1, 0.3, 1e8], expected);
    }
    let flat: Vec<[f64; 2]> = positions.iter().map(|&[x, y, _]| [y, x]).collect();
    check(&flat, &[0.05, 2.0], Some(0.05));
    let line: Vec<[f64; 1]> = positions.iter().map(|&[x, ..]| [x]).collect();
    check(&line, &[0.05, 2.0], Some(0.05));
}

#[test]
fn strands_all_in_one_place_find_each_other() {
    check_both(&vec![[0.25, -3.0, 1e5]; 300], &[0.0, 1e-3, 1.0], Some(1e-3));
}

#[test]
fn many_neighbours_come_in_order_of_ranks_however_far_apart_these_are() {
    let mut next = numbers(4);
    let positions: Vec<[f64; 2]> = (0..400).map(|_| [next(), next()]).collect();
    for apart in [1, 2, 1000] {
        check_ranks(&positions, apart, &[0.1, 0.3, 2.0], Some(0.3));
    }
}

#[test]
fn sorting_pays_for_scattered_points_only() {
    let mut next = numbers(3);
    let mut positions: Vec<[f32; 3]> = (0..20_000)
        .map(|_| [next() as f32, next() as f32, next() as f32])
        .collect();
    let grid = |positions: &[[f32; 3]]| {
        let mut points = Points::default();
        (0..)
            .zip(positions)
            .for_each(|(slot, &position)| points.push(position, slot, slot));
        CellGrid::build(&points, Some(0.07), None)
    };
    let scattered = grid(&positions);
    assert!(scattered.sorting_pays());
    positions = scattered
        .slots()
        .iter()
        .map(|&slot| positions[slot as usize])
        .collect();
    assert!(!grid(&positions).sorting_pays());
}
