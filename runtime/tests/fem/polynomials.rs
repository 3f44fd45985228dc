//! Polynomials in the world, with all their derivatives.

use std::collections::BTreeMap;

/// Coefficients by exponents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polynomial(pub BTreeMap<[usize; 3], f64>);

impl Polynomial {
    /// Reads sums of products like `-3*x**2*y/4`.
    pub(crate) fn parse(text: &str) -> Polynomial {
        let mut polynomial = Polynomial::default();
        let text = text.replace(" - ", " + -").replace("**", "^");
        for term in text.split(" + ") {
            let (mut factor, term) = match term.strip_prefix('-') {
                Some(rest) => (-1.0, rest),
                None => (1.0, term),
            };
            let mut parts = term.split('/');
            let product = parts.next().unwrap();
            for divisor in parts {
                factor /= divisor.parse::<f64>().unwrap();
            }
            let mut exponents = [0; 3];
            for part in product.split('*') {
                let (base, power) = part.split_once('^').unwrap_or((part, "1"));
                match "xyz".find(base) {
                    Some(axis) => exponents[axis] += power.parse::<usize>().unwrap(),
                    None => factor *= base.parse::<f64>().unwrap(),
                }
            }
            *polynomial.0.entry(exponents).or_default() += factor;
        }
        polynomial
    }

    /// The derivative with this many derivatives along each axis.
    pub(crate) fn derivative(&self, counts: [usize; 3], x: &[f64; 3]) -> f64 {
        let falling = |n: usize, k: usize| (0..k).map(|i| (n - i) as f64).product::<f64>();
        let mut sum = 0.0;
        for (e, c) in &self.0 {
            if (0..3).all(|a| e[a] >= counts[a]) {
                let factor =
                    |a: usize| falling(e[a], counts[a]) * x[a].powi((e[a] - counts[a]) as i32);
                sum += c * factor(0) * factor(1) * factor(2);
            }
        }
        sum
    }
}

/// The distinct derivatives of an order: most along the first axis first.
pub(crate) fn distinct(dim: usize, order: usize) -> Vec<[usize; 3]> {
    let mut all = Vec::new();
    for x in (0..order + 1).rev() {
        for y in (0..order - x + 1).rev() {
            let z = order - x - y;
            if dim == 3 || z == 0 {
                all.push([x, y, z]);
            }
        }
    }
    all
}
