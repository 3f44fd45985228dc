//! Leaf fields: what the reference evaluation takes as given.

use crate::{Jet, Shape};

/// A field that is known by its Taylor series.
pub trait LeafField {
    /// The dimension of the domain.
    fn dim(&self) -> usize;

    /// The shape of a value.
    fn shape(&self) -> Shape;

    /// Every component, row-major, as a jet of at least this order around a position.
    fn expand(&self, at: &[f64], order: usize) -> Vec<Jet>;
}

/// A field whose components are polynomials in the coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct PolynomialField {
    dim: usize,
    shape: Shape,
    /// Every component around the origin.
    components: Vec<Jet>,
}

impl PolynomialField {
    /// The field with these components, given as jets around the origin whose order is the degree.
    pub fn new(dim: usize, shape: Shape, components: Vec<Jet>) -> PolynomialField {
        assert_eq!(shape.size(), components.len(), "components of {shape}");
        assert!(
            components.iter().all(|jet| jet.dim() == dim),
            "polynomials in {dim} variables"
        );
        PolynomialField {
            dim,
            shape,
            components,
        }
    }

    /// A field with coefficients between −1 and 1 that are determined by the seed.
    pub fn random(dim: usize, shape: Shape, degree: usize, seed: u64) -> PolynomialField {
        let mut numbers = random_numbers(seed);
        let components = (0..shape.size())
            .map(|_| Jet::from_fn(dim, degree, |_| numbers.next().unwrap_or(0.0)))
            .collect();
        PolynomialField {
            dim,
            shape,
            components,
        }
    }
}

impl LeafField for PolynomialField {
    fn dim(&self) -> usize {
        self.dim
    }

    fn shape(&self) -> Shape {
        self.shape.clone()
    }

    fn expand(&self, at: &[f64], order: usize) -> Vec<Jet> {
        let coordinates: Vec<Jet> = at
            .iter()
            .enumerate()
            .map(|(axis, &x)| Jet::variable(self.dim, order, axis, x))
            .collect();
        let zero = Jet::constant(self.dim, order, 0.0);
        let around = |polynomial: &Jet| {
            polynomial
                .terms()
                .fold(zero.clone(), |sum, (exponents, coefficient)| {
                    let one = Jet::constant(self.dim, order, coefficient);
                    let powers = coordinates.iter().zip(exponents);
                    &sum + &powers.fold(one, |product, (x, e)| &product * &x.powi(e as i32))
                })
        };
        self.components.iter().map(around).collect()
    }
}

/// Numbers between −1 and 1, the same for the same seed on every machine.
pub fn random_numbers(seed: u64) -> impl Iterator<Item = f64> {
    // The generator of Steele, Lea and Flood ("splitmix"), whose state only counts.
    (1u64..).map(move |k| {
        let mut z = seed.wrapping_add(k.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    })
}
