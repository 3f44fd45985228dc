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
