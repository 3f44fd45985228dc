//! Reductions: takes values in strand order, gives one value that does not depend on how many workers helped.
//!
//! Sums of reals are exact and rounded once to the type of the values, and so are the sums in means and variances. Other reductions
//! are ordered: the values are cut into chunks of [`CHUNK`], each chunk is folded from left to right starting at
//! the identity, and the results of the chunks are folded from left to right. The shape depends on
//! the number of values only; up to one chunk it is the plain left-to-right fold. Tensor values are
//! reduced component by component. Arithmetic is that of the values' own type; integers wrap.

mod exact;

use crate::strands::Scalar;
use rayon::prelude::*;
use std::fmt;
use std::ops::{Mul, Sub};

/// Values folded in one piece.
pub const CHUNK: usize = 4096;

/// The reductions of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// True when every value is; true of none.
    All,
    /// True when some value is; false of none.
    Exists,
    /// Largest value; the least of the type for none.
    Max,
    /// Smallest value; the greatest of the type for none.
    Min,
    /// Sum divided by number; NaN for none.
    Mean,
    /// Sum; 0 for none.
    Sum,
    /// Product; 1 for none.
    Product,
    /// Mean square of the distance from the mean; NaN for none.
    Variance,
    /// The whole value whose first component is least, the first of equals; NaN for none.
    ArgMin,
    /// The whole value whose first component is greatest, the first of equals; NaN for none.
    ArgMax,
}

impl Reduction {
    /// Every reduction with its name in the language.
    pub const ALL: [(Reduction, &str); 10] = [
        (Reduction::All, "all"),
        (Reduction::Exists, "exists"),
        (Reduction::Max, "max"),
        (Reduction::Min, "min"),
        (Reduction::Mean, "mean"),
        (Reduction::Sum, "sum"),
        (Reduction::Product, "product"),
        (Reduction::Variance, "variance"),
        (Reduction::ArgMin, "argmin"),
        (Reduction::ArgMax, "argmax"),
    ];

    /// True when values of this type can be reduced so.
    pub fn accepts(self, scalar: Scalar) -> bool {
        match self {
            Reduction::All | Reduction::Exists => scalar == Scalar::Bool,
            Reduction::Max | Reduction::Min | Reduction::Sum | Reduction::Product => {
                scalar != Scalar::Bool
            }
            Reduction::Mean | Reduction::Variance | Reduction::ArgMin | Reduction::ArgMax => {
                matches!(scalar, Scalar::F32 | Scalar::F64)
            }
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, name) = Reduction::ALL
            .into_iter()
            .find(|(reduction, _)| reduction == self)
            .expect("every reduction has a row");
        f.write_str(name)
    }
}

/// Values of one type: components of one value contiguous, value after value.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// 32-bit integers.
    I32(Vec<i32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Truth values, 0 or 1.
    Bool(Vec<u8>),
}

impl Values {
    /// The type of the values.
    pub fn scalar(&self) -> Scalar {
        match self {
            Values::F32(_) => Scalar::F32,
            Values::F64(_) => Scalar::F64,
            Values::I32(_) => Scalar::I32,
            Values::I64(_) => Scalar::I64,
            Values::Bool(_) => Scalar::Bool,
        }
    }

    /// Number of scalars.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::I32(values) => values.len(),
            Values::I64(values) => values.len(),
            Values::Bool(values) => values.len(),
        }
    }

    /// True when there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads packed values of a type, in the machine's byte order.
    pub fn from_bytes(scalar: Scalar, bytes: &[u8]) -> Values {
        fn read<const N: usize, T>(bytes: &[u8], value: fn([u8; N]) -> T) -> Vec<T> {
            bytes
                .as_chunks()
                .0
                .iter()
                .map(|&bytes| value(bytes))
                .collect()
        }
        match scalar {
            Scalar::F32 => Values::F32(read(bytes, f32::from_ne_bytes)),
            Scalar::F64 => Values::F64(read(bytes, f64::from_ne_bytes)),
            Scalar::I32 => Values::I32(read(bytes, i32::from_ne_bytes)),
            Scalar::I64 => Values::I64(read(bytes, i64::from_ne_bytes)),
            Scalar::Bool => Values::Bool(bytes.to_vec()),
        }
    }
}

/// The value of `reduction` over `values`, `components` scalars each. `None` when the type does not
/// suit the reduction.
///
/// Runs on the current rayon pool.
pub fn reduce(reduction: Reduction, values: &Values, components: usize) -> Option<Values> {
    if !reduction.accepts(values.scalar()) {
        return None;
    }
    Some(match values {
        Values::F32(values) => Values::F32(reduce_numbers(reduction, values, components)),
        Values::F64(values) => Values::F64(reduce_numbers(reduction, values, components)),
        Values::I32(values) => Values::I32(reduce_numbers(reduction, values, components)),
        Values::I64(values) => Values::I64(reduce_numbers(reduction, values, components)),
        Values::Bool(values) => Values::Bool(vec![match reduction {
            Reduction::All => u8::from(values.iter().all(|&value| value != 0)),
            _ => u8::from(values.iter().any(|&value| value != 0)),
        }]),
    })
}

/// The arithmetic a reduction needs.
trait Number: Copy + PartialOrd + Send + Sync {
    const ZERO: Self;
    const ONE: Self;
    const LEAST: Self;
    const GREATEST: Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Division by a count; only reals are asked. Of no values the mean is NaN.
    fn over(self, count: usize) -> Self;
    /// The sums of a term for each value, by component.
    fn sum(values: &[Self], components: usize, term: Term<'_, Self>) -> Vec<Self>;
}

/// A number that depends on the component of a value and on its scalar there.
type Term<'a, T> = &'a (dyn Fn(usize, T) -> T + Sync);

macro_rules! numbers {
    ($($type:ty: $zero:literal, $one:literal, $least:expr, $greatest:expr, $minus:path, $times:path, $sum:expr;)*) => { $(
        impl Number for $type {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            const LEAST: Self = $least;
            const GREATEST: Self = $greatest;
            fn minus(self, other: Self) -> Self {
                $minus(self, other)
            }
            fn times(self, other: Self) -> Self {
                $times(self, other)
            }
            fn over(self, count: usize) -> Self {
                self / count as $type
            }
            fn sum(values: &[Self], components: usize, term: Term<'_, Self>) -> Vec<Self> {
                $sum(values, components, term)
            }
        }
    )* };
}

numbers! {
    f32: 0.0, 1.0, f32::NEG_INFINITY, f32::INFINITY, Sub::sub, Mul::mul, exact::sum;
    f64: 0.0, 1.0, f64::NEG_INFINITY, f64::INFINITY, Sub::sub, Mul::mul, exact::sum;
    i32: 0, 1, i32::MIN, i32::MAX, i32::wrapping_sub, i32::wrapping_mul, |v, n, term| fold(v, n, 0, term, i32::wrapping_add);
    i64: 0, 1, i64::MIN, i64::MAX, i64::wrapping_sub, i64::wrapping_mul, |v, n, term| fold(v, n, 0, term, i64::wrapping_add);
}

fn reduce_numbers<T: Number>(reduction: Reduction, values: &[T], components: usize) -> Vec<T> {
    let count = values.len() / components.max(1);
    let sum = |term: Term<'_, T>| T::sum(values, components, term);
    let mean = || {
        sum(&|_, value| value)
            .into_iter()
            .map(|total| total.over(count))
            .collect::<Vec<T>>()
    };
    match reduction {
        Reduction::Sum => sum(&|_, value| value),
        Reduction::Mean => mean(),
        Reduction::Variance => {
            let mean = mean();
            let squares = sum(&|component, value| {
                let distance = value.minus(mean[component]);
                distance.times(distance)
            });
            squares.into_iter().map(|total| total.over(count)).collect()
        }
        Reduction::Product => fold(values, components, T::ONE, &|_, value| value, T::times),
        // The language's `max` and `min`: a NaN never replaces the value so far.
        Reduction::Max => fold(values, components, T::LEAST, &|_, value| value, |a, b| {
            if a < b { b } else { a }
        }),
        Reduction::Min => fold(
            values,
            components,
            T::GREATEST,
            &|_, value| value,
            |a, b| if b < a { b } else { a },
        ),
        Reduction::ArgMin => winner(values, components, |a, b| a < b),
        Reduction::ArgMax => winner(values, components, |a, b| a > b),
        Reduction::All | Reduction::Exists => unreachable!("`accepts` admits truth values only"),
    }
}

/// The value whose first component is better than those of all others, the first of equals. A NaN never wins; if there is
/// nothing else, or nothing at all, every component is NaN.
fn winner<T: Number>(values: &[T], components: usize, better: impl Fn(T, T) -> bool) -> Vec<T> {
    let mut best: Option<&[T]> = None;
    for value in values.chunks_exact(components.max(1)) {
        let is_number = value[0].partial_cmp(&value[0]).is_some();
        if is_number && best.is_none_or(|best| better(value[0], best[0])) {
            best = Some(value);
        }
    }
    match best {
        Some(best) => best.to_vec(),
        None => vec![T::ZERO.over(0); components],
    }
}

/// The fold described at the head of this file, one result per component.
fn fold<T: Number>(
    values: &[T],
    components: usize,
    identity: T,
    term: Term<'_, T>,
    combine: impl Fn(T, T) -> T + Sync,
) -> Vec<T> {
    let fold_chunk = |chunk: &[T]| {
        let mut totals = vec![identity; components];
        for value in chunk.chunks_exact(components) {
            for (component, (total, &scalar)) in totals.iter_mut().zip(value).enumerate() {
                *total = combine(*total, term(component, scalar));
            }
        }
        totals
    };
    let chunks: Vec<Vec<T>> = values
        .par_chunks(CHUNK * components.max(1))
        .map(fold_chunk)
        .collect();
    let mut chunks = chunks.into_iter();
    let first = chunks.next().unwrap_or_else(|| vec![identity; components]);
    chunks.fold(first, |totals, chunk| {
        totals
            .into_iter()
            .zip(chunk)
            .map(|(total, part)| combine(total, part))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(reduction: Reduction, values: &[f64]) -> f64 {
        match reduce(reduction, &Values::F64(values.to_vec()), 1) {
            Some(Values::F64(result)) => result[0],
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_empty_set_gives_the_identity() {
        let rows = [
            (Reduction::Sum, Values::I32(vec![]), Values::I32(vec![0])),
            (
                Reduction::Product,
                Values::I64(vec![]),
                Values::I64(vec![1]),
            ),
            (
                Reduction::Max,
                Values::I32(vec![]),
                Values::I32(vec![i32::MIN]),
            ),
            (
                Reduction::Min,
                Values::I64(vec![]),
                Values::I64(vec![i64::MAX]),
            ),
            (
                Reduction::Max,
                Values::F32(vec![]),
                Values::F32(vec![f32::NEG_INFINITY]),
            ),
            (
                Reduction::Min,
                Values::F64(vec![]),
                Values::F64(vec![f64::INFINITY]),
            ),
            (Reduction::All, Values::Bool(vec![]), Values::Bool(vec![1])),
            (
                Reduction::Exists,
                Values::Bool(vec![]),
                Values::Bool(vec![0]),
            ),
        ];
        for (reduction, values, expected) in rows {
            assert_eq!(reduce(reduction, &values, 1), Some(expected), "{reduction}");
        }
        assert!(real(Reduction::Mean, &[]).is_nan());
        assert!(real(Reduction::Variance, &[]).is_nan());
    }

    #[test]
    fn moments_of_an_arithmetic_progression_are_exact() {
        let values: Vec<f64> = (1..=10_001).map(f64::from).collect();
        assert_eq!(real(Reduction::Sum, &values), 10_001.0 * 10_002.0 / 2.0);
        assert_eq!(real(Reduction::Mean, &values), 5001.0);
        assert_eq!(
            real(Reduction::Variance, &values),
            (10_001f64.powi(2) - 1.0) / 12.0
        );
        assert_eq!(real(Reduction::Max, &values), 10_001.0);
        assert_eq!(real(Reduction::Min, &values), 1.0);
        assert_eq!(real(Reduction::Product, &[2.0, 3.0, 7.0]), 42.0);
    }

    #[test]
    fn products_follow_the_documented_shape() {
        let values: Vec<f64> = (0..3 * CHUNK + 17)
            .map(|i| 1.0 + (i as f64 * 0.7).sin() / 64.0)
            .collect();
        let by_chunks = values
            .chunks(CHUNK)
            .map(|chunk| chunk.iter().fold(1.0, |a, b| a * b))
            .reduce(|a, b| a * b)
            .unwrap();
        let product = real(Reduction::Product, &values);
        assert_eq!(product.to_bits(), by_chunks.to_bits());
    }

    #[test]
    fn sums_are_exact_in_any_order() {
        let values: Vec<f64> = (0..3 * CHUNK + 17)
            .map(|i| (i as f64 * 0.7).sin() * 1e3f64.powi(i as i32 % 5))
            .collect();
        let large = [values.clone(), vec![1e300, 1e-300]].concat();
        let backwards: Vec<f64> = large.iter().rev().copied().collect();
        let without: Vec<f64> = [backwards, vec![-1e300, -1e-300]].concat();
        let sum = real(Reduction::Sum, &values);
        assert_eq!(real(Reduction::Sum, &without).to_bits(), sum.to_bits());
    }

    #[test]
    fn tensors_are_reduced_by_component() {
        let values = Values::F32(vec![1.0, 10.0, 2.0, 20.0, 3.0, 60.0]);
        assert_eq!(
            reduce(Reduction::Sum, &values, 2),
            Some(Values::F32(vec![6.0, 90.0]))
        );
        assert_eq!(
            reduce(Reduction::Mean, &values, 2),
            Some(Values::F32(vec![2.0, 30.0]))
        );
    }

    #[test]
    fn integers_wrap_and_nan_never_wins_a_comparison() {
        assert_eq!(
            reduce(Reduction::Sum, &Values::I32(vec![i32::MAX, 1]), 1),
            Some(Values::I32(vec![i32::MIN]))
        );
        assert_eq!(real(Reduction::Max, &[f64::NAN, 1.0, f64::NAN]), 1.0);
        assert_eq!(real(Reduction::Min, &[1.0, f64::NAN]), 1.0);
    }

    #[test]
    fn the_first_of_equals_wins_with_all_its_components() {
        let rows = Values::F64(vec![
            f64::NAN,
            1.0,
            3.0,
            2.0,
            -1.0,
            3.0,
            5.0,
            4.0,
            -1.0,
            5.0,
        ]);
        let winner = |reduction| reduce(reduction, &rows, 2);
        assert_eq!(
            winner(Reduction::ArgMin),
            Some(Values::F64(vec![-1.0, 3.0]))
        );
        assert_eq!(winner(Reduction::ArgMax), Some(Values::F64(vec![5.0, 4.0])));
        assert!(real(Reduction::ArgMin, &[]).is_nan());
        assert!(real(Reduction::ArgMax, &[f64::NAN]).is_nan());
        assert_eq!(real(Reduction::ArgMin, &[f64::INFINITY]), f64::INFINITY);
    }

    #[test]
    fn unsuitable_types_are_refused() {
        assert_eq!(reduce(Reduction::Mean, &Values::I32(vec![1]), 1), None);
        assert_eq!(reduce(Reduction::Sum, &Values::Bool(vec![1]), 1), None);
        assert_eq!(reduce(Reduction::All, &Values::F32(vec![1.0]), 1), None);
    }

    #[test]
    fn worker_counts_do_not_change_a_bit() {
        let values = Values::F32((0..50_000).map(|i| (i as f32).sin()).collect());
        let results: Vec<_> = [1, 2, 3, 8]
            .into_iter()
            .map(|workers| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(workers)
                    .build()
                    .unwrap();
                pool.install(|| reduce(Reduction::Variance, &values, 2))
            })
            .collect();
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
