//! The numbers of the ground truth: a value known exactly or to 30 digits, with what a program may lose on the way to it.
//!
//! A [`Number`] carries three things:
//!
//! * its **value**, an exact rational as long as only field operations were used, else a double-double
//!   with a bound of its own error;
//! * its **size**, a majorant of the value: the sum of the magnitudes of the terms that any
//!   re-association of the same formula may form, so that a compiler which expands
//!   `(a×b)•(c×d)` is judged by the terms it really adds;
//! * its **noise**, a first-order bound of the rounding error of a program that computes it, in units of the
//!   program's unit roundoff. The same evaluation therefore serves single and double precision.

mod double_double;
mod elementary;

pub use double_double::DoubleDouble;

use double_double::UNIT;
use elementary::ELEMENTARY_ERROR;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

/// How far elementary functions of a program may be from the true value, in units of roundoff of the result.
const FUNCTION_ROUNDINGS: f64 = 4.0;

/// Second-order products of errors are covered by adding this fraction of the noise to the size, and where a function bends
/// this fraction of the square of the noise: the unit roundoff of single precision, the larger of the two.
const SECOND_ORDER: f64 = 1.0 / (1u32 << 24) as f64;

/// A value known exactly or closely.
#[derive(Clone, Debug)]
enum Value {
    /// A small integer; most numbers of a jet are zero or one, and these should cost nothing.
    Integer(i64),
    Exact(BigRational),
    /// A double-double and a bound of its distance from the true value.
    Near(DoubleDouble, f64),
}

/// Whether leaves supply exact rationals or double-doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Rationals of any length.
    Exact,
    /// Double-doubles with an error bound: about a hundred times faster, and sharp to 10⁻²⁵.
    Near,
}

/// An elementary function of one real variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Square root of a positive number.
    Sqrt,
    /// Exponential.
    Exp,
    /// Natural logarithm of a positive number.
    Ln,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Arc sine.
    Asin,
    /// Arc cosine.
    Acos,
    /// Arc tangent.
    Atan,
    /// Error function.
    Erf,
}

/// A true value with the size of its terms and the noise a program may have at this place.
#[derive(Clone, Debug)]
pub struct Number {
    value: Value,
    size: f64,
    noise: f64,
}

impl Value {
    fn near(&self) -> (DoubleDouble, f64) {
        match self {
            Value::Integer(value) => small(*value),
            Value::Exact(value) => nearest(value),
            Value::Near(value, error) => (*value, *error),
        }
    }

    /// The value as a rational, if it is known exactly.
    fn exact(&self) -> Option<BigRational> {
        match self {
            Value::Integer(value) => Some(BigRational::from(BigInt::from(*value))),
            Value::Exact(value) => Some(value.clone()),
            Value::Near(..) => None,
        }
    }

    /// Combines two values: small integers and rationals exactly, others closely.
    fn combine(
        &self,
        other: &Value,
        integer: fn(i64, i64) -> Option<i64>,
        exact: fn(BigRational, BigRational) -> BigRational,
        near: impl Fn((DoubleDouble, f64), (DoubleDouble, f64)) -> Value,
    ) -> Value {
        match (self, other) {
            (Value::Near(..), _) | (_, Value::Near(..)) => return near(self.near(), other.near()),
            (Value::Integer(a), Value::Integer(b)) => {
                if let Some(value) = integer(*a, *b) {
                    return Value::Integer(value);
                }
            }
            (Value::Integer(_) | Value::Exact(_), Value::Integer(_) | Value::Exact(_)) => {}
        }
        match (self.exact(), other.exact()) {
            (Some(a), Some(b)) => Value::Exact(exact(a, b)),
            _ => near(self.near(), other.near()),
        }
    }

    /// A double-double result with the rounding of one more operation.
    fn rounded(value: DoubleDouble, error: f64) -> Value {
        Value::Near(value, error + value.to_f64().abs() * UNIT)
    }

    fn to_f64(&self) -> f64 {
        match self {
            Value::Integer(value) => *value as f64,
            Value::Exact(value) => value.to_f64().unwrap_or(f64::NAN),
            Value::Near(value, _) => value.to_f64(),
        }
    }
}

/// A small integer as a double-double, exactly.
fn small(value: i64) -> (DoubleDouble, f64) {
    let hi = value as f64;
    let rest = i128::from(value) - hi as i128;
    (DoubleDouble::sum(hi, rest as f64), 0.0)
}

/// The double-double nearest to a rational, and how far it may be.
fn nearest(value: &BigRational) -> (DoubleDouble, f64) {
    let hi = value.to_f64().unwrap_or(f64::NAN);
    let rest = BigRational::from_float(hi)
        .map_or(f64::NAN, |hi| (value - hi).to_f64().unwrap_or(f64::NAN));
    (DoubleDouble::sum(hi, rest), hi.abs() * UNIT)
}

impl Number {
    /// Exactly zero, free of noise.
    pub fn zero() -> Number {
        Number::integer(0)
    }

    /// An integer that a program writes as a literal.
    pub fn integer(value: i64) -> Number {
        Number {
            value: Value::Integer(value),
            size: (value as f64).abs(),
            noise: 0.0,
        }
    }

    /// The ratio of two integers, the second not zero, in the wanted arithmetic.
    pub fn ratio(numerator: i128, denominator: i128, arithmetic: Arithmetic) -> Number {
        match arithmetic {
            Arithmetic::Exact => Number::exact(BigRational::new(
                BigInt::from(numerator),
                BigInt::from(denominator),
            )),
            Arithmetic::Near => {
                let [above, below] = [numerator, denominator]
                    .map(|n| Number::dyadic(n, 0, Arithmetic::Near).value.near().0);
                let value = above.over(below);
                let size = value.to_f64().abs();
                // Integers that two doubles do not hold are off by a unit of their own.
                let error = if value.tail() == 0.0 && numerator % denominator == 0 {
                    0.0
                } else {
                    4.0 * size * UNIT
                };
                Number {
                    value: Value::Near(value, error),
                    size,
                    noise: 0.0,
                }
            }
        }
    }

    /// A rational that programs hold without error.
    pub fn exact(value: BigRational) -> Number {
        let size = value.to_f64().unwrap_or(f64::NAN).abs();
        Number {
            value: Value::Exact(value),
            size,
            noise: 0.0,
        }
    }

    /// A rational that programs hold without error, in the wanted arithmetic.
    pub fn leaf(value: BigRational, arithmetic: Arithmetic) -> Number {
        let number = Number::exact(value);
        match arithmetic {
            Arithmetic::Exact => number,
            Arithmetic::Near => {
                let (value, error) = number.value.near();
                // A value that two doubles hold exactly has no error of its own.
                let error = if value.tail() == 0.0 { 0.0 } else { error };
                Number {
                    value: Value::Near(value, error),
                    ..number
                }
            }
        }
    }

    /// The number `mantissa`·2^−`shift`, in the wanted arithmetic.
    pub fn dyadic(mantissa: i128, shift: u32, arithmetic: Arithmetic) -> Number {
        match arithmetic {
            Arithmetic::Exact => Number::exact(BigRational::new(
                BigInt::from(mantissa),
                BigInt::from(1) << shift,
            )),
            Arithmetic::Near => {
                let hi = mantissa as f64;
                let rest = mantissa - hi as i128;
                let lo = rest as f64;
                // The rest after two doubles is zero for all but the longest mantissas.
                let error = if lo as i128 == rest {
                    0.0
                } else {
                    hi.abs() * UNIT
                };
                let scale = 2.0_f64.powi(-(shift as i32));
                let value = DoubleDouble::sum(hi * scale, lo * scale);
                Number {
                    value: Value::Near(value, error * scale),
                    size: (hi * scale).abs(),
                    noise: 0.0,
                }
            }
        }
    }

    /// The same value as a program holds it after rounding it or computing it with this additional noise.
    pub fn with_noise(self, extra: f64) -> Number {
        let noise = self.noise + extra;
        Number {
            noise,
            size: self.size + SECOND_ORDER * extra,
            ..self
        }
    }

    /// The same value as an atom: whatever was needed to find it, a program's own way there is accounted for elsewhere.
    pub fn silenced(self) -> Number {
        let size = self.to_f64().abs();
        Number {
            size,
            noise: 0.0,
            ..self
        }
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        self.value.to_f64()
    }

    /// The value as a rational, if it is known exactly.
    pub fn to_rational(&self) -> Option<BigRational> {
        self.value.exact()
    }

    /// A bound of the distance between [`Number::to_f64`] and the true value.
    pub fn truth_error(&self) -> f64 {
        let (value, error) = self.value.near();
        value.tail().abs() + error
    }

    /// The distance of an observed double from the true value, up to the error of the truth itself.
    pub fn distance(&self, observed: f64) -> f64 {
        let (value, _) = self.value.near();
        (value - DoubleDouble::from(observed)).abs().to_f64()
    }

    /// A bound of the rounding error of a program at this place, in units of its unit roundoff.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The sum of the magnitudes of the terms behind the value.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Whether the value is exactly zero and no program can see it otherwise.
    pub fn is_silent_zero(&self) -> bool {
        let zero = match &self.value {
            Value::Integer(value) => *value == 0,
            Value::Exact(value) => value.is_zero(),
            Value::Near(value, error) => value.to_f64() == 0.0 && *error == 0.0,
        };
        zero && self.noise == 0.0 && self.size == 0.0
    }

    fn sum_of(&self, other: &Number, value: Value) -> Number {
        let size = self.size + other.size;
        // Adding nothing rounds nothing.
        let rounding = if self.is_silent_zero() || other.is_silent_zero() {
            0.0
        } else {
            size
        };
        Number {
            value,
            size,
            noise: self.noise + other.noise + rounding,
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Number) -> Number {
        let value = self.value.combine(
            &other.value,
            i64::checked_add,
            |a, b| a + b,
            |(a, ea), (b, eb)| Value::rounded(a + b, ea + eb),
        );
        self.sum_of(other, value)
    }

    /// The difference.
    pub fn minus(&self, other: &Number) -> Number {
        self.plus(&other.negated())
    }

    /// The negative.
    pub fn negated(&self) -> Number {
        let value = match &self.value {
            Value::Integer(a) if *a > i64::MIN => Value::Integer(-a),
            Value::Integer(a) => Value::Exact(-BigRational::from(BigInt::from(*a))),
            Value::Exact(a) => Value::Exact(-a),
            Value::Near(a, error) => Value::Near(-*a, *error),
        };
        Number { value, ..*self }
    }

    /// The product.
    pub fn times(&self, other: &Number) -> Number {
        let value = self.value.combine(
            &other.value,
            i64::checked_mul,
            |a, b| a * b,
            |(a, ea), (b, eb)| {
                let error = ea * b.to_f64().abs() + eb * a.to_f64().abs() + ea * eb;
                Value::rounded(a * b, error)
            },
        );
        let size = self.size * other.size;
        Number {
            value,
            size,
            noise: self.size * other.noise + other.size * self.noise + size,
        }
    }

    /// The value times a small integer ratio, e.g. the factor of a power series; counted as one rounding.
    pub fn scaled(&self, numerator: i64, denominator: i64) -> Number {
        let weight = (numerator as f64 / denominator as f64).abs();
        let value = match &self.value {
            Value::Integer(0) => Value::Integer(0),
            Value::Integer(_) | Value::Exact(_) => {
                let factor = BigRational::new(BigInt::from(numerator), BigInt::from(denominator));
                self.value
                    .exact()
                    .map_or(Value::Near(DoubleDouble::ZERO, f64::INFINITY), |a| {
                        Value::Exact(a * factor)
                    })
            }
            Value::Near(a, error) => {
                let scaled = a
                    .scale(numerator as f64)
                    .over(DoubleDouble::from(denominator as f64));
                Value::rounded(scaled, error * weight)
            }
        };
        let size = self.size * weight;
        let rounding = if weight == 1.0 { 0.0 } else { size };
        Number {
            value,
            size,
            noise: self.noise * weight + rounding,
        }
    }

    /// The reciprocal of a number that is not zero.
    pub fn reciprocal(&self) -> Number {
        let value = match &self.value {
            Value::Integer(1) => Value::Integer(1),
            Value::Integer(a) => Value::Exact(BigRational::new(BigInt::from(1), BigInt::from(*a))),
            Value::Exact(a) => Value::Exact(a.recip()),
            Value::Near(a, error) => {
                let inverse = DoubleDouble::ONE.over(*a);
                Value::rounded(inverse, error * inverse.to_f64().powi(2) * (1.0 + 1e-9))
            }
        };
        let magnitude = value.to_f64().abs();
        let slope = magnitude * magnitude;
        Number {
            value,
            size: magnitude.max(slope * self.size),
            noise: slope * self.noise * (1.0 + magnitude * SECOND_ORDER * self.noise) + magnitude,
        }
    }

    /// The quotient by a number that is not zero.
    pub fn over(&self, other: &Number) -> Number {
        self.times(&other.reciprocal())
    }

    /// An elementary function; the argument is inside its domain.
    pub fn apply(&self, function: Function) -> Number {
        let (x, error) = self.value.near();
        let at = x.to_f64();
        // The first two derivatives, without signs.
        let (value, slope, bend) = match function {
            Function::Sqrt => (x.sqrt(), 0.5 / at.sqrt(), 0.25 / at.powf(1.5)),
            Function::Exp => (elementary::exp(x), at.exp(), at.exp()),
            Function::Ln => (elementary::ln(x), 1.0 / at.abs(), 1.0 / (at * at)),
            Function::Sin => (elementary::sin_cos(x).0, at.cos().abs(), at.sin().abs()),
            Function::Cos => (elementary::sin_cos(x).1, at.sin().abs(), at.cos().abs()),
            Function::Asin | Function::Acos => {
                let slope = 1.0 / (1.0 - at * at).sqrt();
                let value = match function {
                    Function::Asin => elementary::asin(x),
                    _ => elementary::acos(x),
                };
                (value, slope, at.abs() * slope.powi(3))
            }
            Function::Atan => {
                let slope = 1.0 / (1.0 + at * at);
                (elementary::atan(x), slope, 2.0 * at.abs() * slope * slope)
            }
            Function::Erf => {
                let slope = std::f64::consts::FRAC_2_SQRT_PI * (-at * at).exp();
                (elementary::erf(x), slope, 2.0 * at.abs() * slope)
            }
        };
        let magnitude = value.to_f64().abs();
        Number {
            value: Value::Near(
                value,
                2.0 * slope * error + ELEMENTARY_ERROR * magnitude.max(1.0),
            ),
            size: magnitude + slope * self.size,
            // The argument itself is rounded once by any range reduction.
            noise: slope * (self.noise + at.abs())
                + 0.5 * bend * SECOND_ORDER * self.noise * self.noise
                + FUNCTION_ROUNDINGS * magnitude,
        }
    }

    /// The square root of a sum of squares, whose error stays bounded even where the sum vanishes.
    pub fn root_of_squares(components: &[Number]) -> Number {
        let mut square = Number::zero();
        let (mut noise, mut size) = (0.0, 0.0);
        for component in components {
            square = square.plus(&component.times(component));
            noise += component.noise * component.noise;
            size += component.size * component.size;
        }
        let (x, error) = square.value.near();
        let value = x.sqrt();
        let magnitude = value.to_f64().abs();
        // |√(x+e) − √x| is at most e/√x and at most √e.
        let slack = if magnitude > 0.0 {
            (error / magnitude).min(error.sqrt())
        } else {
            error.sqrt()
        };
        Number {
            value: Value::rounded(value, slack),
            size: f64::sqrt(size),
            noise: f64::sqrt(noise) + (components.len() as f64 + 2.0) * f64::sqrt(size),
        }
    }

    /// Whether the value is surely greater than a double.
    pub fn exceeds(&self, bound: f64) -> bool {
        match &self.value {
            Value::Integer(value) => {
                let (value, _) = small(*value);
                (value - DoubleDouble::from(bound)).to_f64() > 0.0
            }
            Value::Exact(value) => {
                BigRational::from_float(bound).is_some_and(|bound| (value - bound).is_positive())
            }
            Value::Near(value, error) => (*value - DoubleDouble::from(bound)).to_f64() > *error,
        }
    }

    /// The magnitude.
    pub fn magnitude(&self) -> Number {
        if self.to_f64() < 0.0 {
            self.negated()
        } else {
            self.clone()
        }
    }

    /// The greatest integer that is not above the value, if the value is surely between integers or known exactly.
    pub fn floor(&self) -> Option<i64> {
        match &self.value {
            Value::Integer(value) => Some(*value),
            Value::Exact(value) => value.floor().to_integer().to_i64(),
            Value::Near(value, error) => {
                let below = (*value - DoubleDouble::from(*error)).floor();
                let above = (*value + DoubleDouble::from(*error)).floor();
                (below == above && below.abs() < 1e15).then_some(below as i64)
            }
        }
    }
}

#[cfg(test)]
mod tests;
