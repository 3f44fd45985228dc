//! The weights of a blur: a Gaussian at whole numbers, cut off and normalized.

/// The part of a Gaussian that is left out.
pub const TAIL: f64 = 1e-6;

/// A symmetric sequence of weights with sum 1.
#[derive(Clone, Debug)]
pub(super) struct Gaussian {
    sigma: f64,
    /// The weight at distance 0, 1, … up to the radius.
    weights: Vec<f64>,
}

impl Gaussian {
    /// The Gaussian of a standard deviation in samples; for 0 the one that changes nothing.
    pub(super) fn new(sigma: f64) -> Gaussian {
        let at = |k: usize| match sigma > 0.0 {
            true => (-0.5 * (k as f64 / sigma).powi(2)).exp(),
            false => f64::from(k == 0),
        };
        // The rest is less than the rounding errors of this part.
        let last = (9.0 * sigma).ceil() as usize;
        let mut weights: Vec<f64> = (0..=last).map(at).collect();
        let tail = |weights: &[f64]| 2.0 * weights.iter().rev().sum::<f64>();
        let all = weights[0] + tail(&weights[1..]);
        let mut left_out = 0.0;
        while let Some(&farthest) = weights.last().filter(|_| weights.len() > 1) {
            left_out += 2.0 * farthest;
            if left_out >= TAIL * all {
                break;
            }
            weights.pop();
        }
        let sum = weights[0] + tail(&weights[1..]);
        weights.iter_mut().for_each(|weight| *weight /= sum);
        Gaussian { sigma, weights }
    }

    /// The standard deviation in samples.
    pub(super) fn sigma(&self) -> f64 {
        self.sigma
    }

    /// The weight at distance 0, 1, … up to the radius.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The greatest distance that has a weight.
    pub(super) fn radius(&self) -> usize {
        self.weights.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_sum_1_and_end_where_the_tail_is_small() {
        for (sigma, radius) in [
            (0.0, 0),
            (0.1, 0),
            (0.5, 2),
            (1.0, 5),
            (2.0, 10),
            (3.0, 15),
            (10.0, 49),
        ] {
            let gaussian = Gaussian::new(sigma);
            assert_eq!(gaussian.radius(), radius, "σ = {sigma}");
            let sum = gaussian.weights[0] + 2.0 * gaussian.weights[1..].iter().sum::<f64>();
            assert!((sum - 1.0).abs() < 1e-15);
            let ratio = |k: usize| gaussian.weights[k] / gaussian.weights[0];
            assert!((1..=radius).all(|k| {
                let exact = (-((k * k) as f64) / (2.0 * sigma * sigma)).exp();
                (ratio(k) - exact).abs() < 1e-15
            }));
        }
    }
}
