//! The place of a grid, derived from the positions of its strands.

use super::Place;
use super::vectors::{are_independent, beside, diagonal, length};
use crate::nrrd::Space;

/// The place of a grid, with sizes from the fastest axis on, whose strands have these positions of `coordinates` numbers
/// each, in the order of the strands. `precision` is the relative precision of the numbers.
///
/// # Errors
/// Why the positions are not those of a grid.
pub fn fit(
    positions: &[f64],
    coordinates: usize,
    sizes: &[usize],
    precision: f64,
) -> Result<Place, String> {
    let dim = sizes.len();
    let at = |strand: usize| &positions[strand * coordinates..(strand + 1) * coordinates];
    let count: usize = sizes.iter().product();
    if dim > coordinates || count == 0 || positions.len() != count * coordinates {
        return Err(format!(
            "positions of {coordinates} coordinates cannot place a grid of {dim} axes"
        ));
    }
    let largest = positions.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if !largest.is_finite() || positions.iter().any(|x| x.is_nan()) {
        return Err("not all positions are finite".to_string());
    }
    let origin = at(0).to_vec();
    let mut stride = 1;
    let mut directions: Vec<Option<Vec<f64>>> = Vec::new();
    for &n in sizes {
        let last = at((n - 1) * stride);
        let step = last
            .iter()
            .zip(&origin)
            .map(|(l, o)| (l - o) / (n - 1) as f64);
        directions.push((n > 1).then(|| step.collect()));
        stride *= n;
    }
    let known: Vec<Vec<f64>> = directions.iter().flatten().cloned().collect();
    if !are_independent(&known) {
        return Err("the axes of the grid do not span a space".to_string());
    }
    let shortest = known
        .iter()
        .map(|d| length(d))
        .fold(f64::INFINITY, f64::min);
    let shortest = if shortest.is_finite() { shortest } else { 0.0 };
    let tolerance = (1e-4 * shortest).max(8.0 * precision * largest);
    for strand in 0..count {
        let mut expected = origin.clone();
        let mut rest = strand;
        for (direction, &n) in directions.iter().zip(sizes) {
            let index = (rest % n) as f64;
            rest /= n;
            for (e, d) in expected.iter_mut().zip(direction.iter().flatten()) {
                *e += index * d;
            }
        }
        let off: Vec<f64> = at(strand)
            .iter()
            .zip(&expected)
            .map(|(p, e)| p - e)
            .collect();
        if length(&off) > tolerance {
            return Err(format!("strand {strand} is not where an even grid has it"));
        }
    }
    Ok(Place {
        space: Space::Dimension(coordinates),
        directions: completed(directions, coordinates),
        origin,
        units: Vec::new(),
    })
}

/// Axes of one sample get unit directions orthogonal to the others.
fn completed(directions: Vec<Option<Vec<f64>>>, coordinates: usize) -> Vec<Vec<f64>> {
    let mut known: Vec<Vec<f64>> = directions.iter().flatten().cloned().collect();
    let mut all = Vec::new();
    for direction in directions {
        all.push(direction.unwrap_or_else(|| {
            let units = diagonal(&vec![1.0; coordinates]);
            let rest = units.iter().map(|unit| (beside(unit, &known), unit));
            // The unit vector that the others say least about.
            let best = rest
                .filter_map(|(rest, _)| rest)
                .max_by(|a, b| length(a).total_cmp(&length(b)));
            let best = best.expect("fewer directions than coordinates leave one free");
            let norm = length(&best);
            let unit: Vec<f64> = best.iter().map(|x| x / norm).collect();
            known.push(unit.clone());
            unit
        }));
    }
    all
}
