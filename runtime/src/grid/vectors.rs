//! Small vectors: lengths, independence, and the steps of axes that are parallel to the coordinates.

/// A direction for each step, along the coordinate of the same number.
pub(crate) fn diagonal(steps: &[f64]) -> Vec<Vec<f64>> {
    let row = |a: usize| (0..steps.len()).map(move |c| if c == a { steps[a] } else { 0.0 });
    (0..steps.len()).map(|a| row(a).collect()).collect()
}

pub(super) fn length(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The part of a vector orthogonal to the directions, which need not be orthogonal themselves; nothing if it is in their span.
pub(super) fn beside(v: &[f64], directions: &[Vec<f64>]) -> Option<Vec<f64>> {
    /// The least part of a vector that counts as lying outside.
    const LEAST: f64 = 1e-6;
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for d in directions {
        basis.extend(remainder(d, &basis));
    }
    let rest = remainder_of(v, &basis);
    (length(&rest) > LEAST * length(v)).then_some(rest)
}

/// The part of a vector orthogonal to orthogonal unit vectors, as a unit vector.
fn remainder(v: &[f64], basis: &[Vec<f64>]) -> Option<Vec<f64>> {
    let rest = remainder_of(v, basis);
    let norm = length(&rest);
    (norm > 0.0).then(|| rest.iter().map(|x| x / norm).collect())
}

fn remainder_of(v: &[f64], basis: &[Vec<f64>]) -> Vec<f64> {
    let mut rest = v.to_vec();
    for unit in basis {
        let along = dot(&rest, unit);
        rest.iter_mut().zip(unit).for_each(|(r, u)| *r -= along * u);
    }
    rest
}

/// Whether the directions span as many dimensions as there are directions.
pub(super) fn are_independent(directions: &[Vec<f64>]) -> bool {
    (0..directions.len()).all(|n| beside(&directions[n], &directions[..n]).is_some())
}

/// The directions of the axes of space: those that are given, at most three, and for the others unit vectors at right angles to all
/// before them. Coordinates that are missing are 0.
pub(crate) fn in_space(directions: &[Vec<f64>]) -> [[f64; 3]; 3] {
    let coordinate = |v: &[f64], n: usize| v.get(n).copied().unwrap_or(0.0);
    let padded = |v: &Vec<f64>| (0..3).map(|n| coordinate(v, n)).collect::<Vec<_>>();
    let mut all: Vec<Vec<f64>> = directions.iter().take(3).map(padded).collect();
    while all.len() < 3 {
        let units = diagonal(&[1.0; 3]);
        let rests = units.iter().filter_map(|unit| beside(unit, &all));
        // The last coordinate counts first where several are as far away: it is the one that a plane does not have.
        let farthest = rests.max_by(|a, b| length(a).total_cmp(&length(b)));
        let farthest = farthest.unwrap_or_else(|| vec![0.0; 3]);
        let norm = length(&farthest);
        all.push(farthest.iter().map(|x| x / norm).collect());
    }
    std::array::from_fn(|axis| std::array::from_fn(|n| all[axis][n]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_axes_of_space_are_at_right_angles() {
        assert_eq!(in_space(&[])[0], [0.0, 0.0, 1.0]);
        let flat = in_space(&[vec![0.5, 0.0], vec![0.1, 2.0]]);
        assert_eq!(flat, [[0.5, 0.0, 0.0], [0.1, 2.0, 0.0], [0.0, 0.0, 1.0]]);
        let slanted = [vec![1.0, 2.0, 2.0], vec![0.0, 1.0, -1.0]];
        let [a, b, c] = in_space(&slanted);
        assert!(dot(&a, &c).abs() < 1e-12 && dot(&b, &c).abs() < 1e-12);
        assert!((length(&c) - 1.0).abs() < 1e-12);
    }
}
