//! Values of regions by the reference evaluator, on inputs that a seed determines.

use ein_ir::{Input, Jet, LeafField, Param, PolynomialField, Region, Tensor, random_numbers};

/// The degree of the leaf fields: every derivative that the tests take of them is different from zero.
const DEGREE: usize = 5;

/// The roots of a region for random inputs.
pub(crate) fn values(region: &Region, seed: u64) -> Vec<Tensor<f64>> {
    enum Given {
        Tensor(Tensor<f64>),
        Field(PolynomialField),
    }
    let given: Vec<Given> = region
        .inputs
        .iter()
        .enumerate()
        .map(|(k, param)| {
            let seed = seed.wrapping_mul(1009).wrapping_add(k as u64);
            match param {
                Param::Tensor(shape) => {
                    let mut numbers = random_numbers(seed);
                    Given::Tensor(Tensor::from_fn(shape, |_| {
                        numbers.next().unwrap_or_default()
                    }))
                }
                Param::Field { dim, shape } => {
                    // Coefficients fall with the degree, so that compositions of fields stay of moderate size.
                    let mut numbers = random_numbers(seed);
                    let mut coefficient = |exponents: &[usize]| {
                        let degree: usize = exponents.iter().sum();
                        numbers.next().unwrap_or_default() * 0.5f64.powi(degree as i32)
                    };
                    let components =
                        (0..shape.size()).map(|_| Jet::from_fn(*dim, DEGREE, &mut coefficient));
                    Given::Field(PolynomialField::new(
                        *dim,
                        shape.clone(),
                        components.collect(),
                    ))
                }
            }
        })
        .collect();
    let inputs: Vec<Input> = given
        .iter()
        .map(|given| match given {
            Given::Tensor(tensor) => Input::Tensor(tensor.clone()),
            Given::Field(field) => Input::Field(field as &dyn LeafField),
        })
        .collect();
    region.eval(&inputs)
}

/// The largest difference of components, relative to the largest component; infinite if one side is not finite where
/// the other is.
pub(crate) fn distance(a: &[Tensor<f64>], b: &[Tensor<f64>]) -> f64 {
    assert_eq!(a.len(), b.len());
    let mut worst: f64 = 0.0;
    for (a, b) in a.iter().zip(b) {
        assert_eq!(a.shape(), b.shape());
        let both = || a.components().iter().zip(b.components());
        let size = both().fold(1e-3f64, |size, (x, y)| size.max(x.abs()).max(y.abs()));
        for (x, y) in both() {
            let difference = (x - y).abs() / size;
            worst = worst.max(if difference.is_nan() {
                f64::INFINITY
            } else {
                difference
            });
        }
    }
    worst
}

/// Whether every component is a number.
pub(crate) fn is_finite(values: &[Tensor<f64>]) -> bool {
    values
        .iter()
        .all(|tensor| tensor.components().iter().all(|x| x.is_finite()))
}
