//! Elementary functions with hundreds of bits, by series over big integers.
//!
//! Takes doubles, gives [`Exact`] numbers whose relative error is below 2^−150, for any argument for which the function is
//! defined and neither overflows nor vanishes by far. It shares nothing with the code under test.

use num_bigint::{BigInt, Sign};
use std::sync::OnceLock;

/// Fraction bits of sums of series.
const BITS: i64 = 800;
/// Below 2^−TINY the first term of a series is the sum, to twice as many bits.
const TINY: i64 = 200;

/// `mantissa · 2^exponent`.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    mantissa: BigInt,
    exponent: i64,
}

impl Exact {
    /// A finite double.
    pub(crate) fn of(x: f64) -> Exact {
        let bits = x.to_bits();
        let (field, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
        let magnitude = fraction | if field > 0 { 1 << 52 } else { 0 };
        let sign = if x < 0.0 { Sign::Minus } else { Sign::Plus };
        Exact {
            mantissa: BigInt::from_biguint(sign, magnitude.into()),
            exponent: field.max(1) - 1075,
        }
    }

    fn new(mantissa: BigInt, exponent: i64) -> Exact {
        Exact { mantissa, exponent }
    }

    fn is_zero(&self) -> bool {
        self.mantissa.sign() == Sign::NoSign
    }

    fn is_negative(&self) -> bool {
        self.mantissa.sign() == Sign::Minus
    }

    fn abs(&self) -> Exact {
        Exact::new(self.mantissa.magnitude().clone().into(), self.exponent)
    }

    /// The exponent of the power of two that is not above the magnitude.
    pub(crate) fn binade(&self) -> i64 {
        self.mantissa.bits() as i64 - 1 + self.exponent
    }

    /// The mantissa for another exponent; bits below it are lost.
    fn at(&self, exponent: i64) -> BigInt {
        let shift = self.exponent - exponent;
        match shift {
            0.. => &self.mantissa << shift,
            _ => &self.mantissa >> -shift,
        }
    }

    /// The integer nearest to the number times 2^bits.
    fn fixed(&self, bits: i64) -> BigInt {
        self.at(-bits)
    }

    fn plus(&self, other: &Exact) -> Exact {
        let exponent = self.exponent.min(other.exponent);
        Exact::new(self.at(exponent) + other.at(exponent), exponent)
    }

    fn minus(&self, other: &Exact) -> Exact {
        self.plus(&Exact::new(-&other.mantissa, other.exponent))
    }

    fn times(&self, other: &Exact) -> Exact {
        Exact::new(
            &self.mantissa * &other.mantissa,
            self.exponent + other.exponent,
        )
    }

    /// The quotient to `BITS` bits.
    fn over(&self, other: &Exact) -> Exact {
        let shift = BITS + other.mantissa.bits() as i64;
        Exact::new(
            (&self.mantissa << shift) / &other.mantissa,
            self.exponent - other.exponent - shift,
        )
    }

    /// The square root to `BITS` bits.
    fn root(&self) -> Exact {
        let shift = 2 * BITS + (self.exponent & 1);
        Exact::new(
            (&self.mantissa << shift).sqrt(),
            (self.exponent - shift) / 2,
        )
    }

    /// How far a double is from this, in units in the last place of this as a number of `digits` bits whose normal numbers
    /// begin at 2^`least`. Infinity counts as the power of two after the greatest number.
    fn distance(&self, result: f64, digits: i64, least: i64, overflow: i64) -> f64 {
        if result.is_nan() {
            return f64::INFINITY;
        }
        if result.is_infinite() && self.binade() >= overflow {
            return if self.is_negative() == (result < 0.0) {
                0.0
            } else {
                f64::INFINITY
            };
        }
        let found = match result.is_infinite() {
            true => {
                let sign = if result < 0.0 { -1 } else { 1 };
                Exact::new(sign.into(), overflow)
            }
            false => Exact::of(result),
        };
        let unit = match self.is_zero() {
            true => least,
            false => self.binade().max(least),
        } - (digits - 1);
        // Six digits after the point are enough.
        let difference = self.minus(&found).abs().at(unit - 20);
        let words = difference.to_u64_digits().1;
        match words[..] {
            [] => 0.0,
            [word] => word as f64 / (1u64 << 20) as f64,
            _ => f64::INFINITY,
        }
    }

    /// How far a double is from this, in units in the last place.
    pub(crate) fn units(&self, result: f64) -> f64 {
        self.distance(result, 53, -1022, 1024)
    }

    /// The same for a single.
    pub(crate) fn single_units(&self, result: f32) -> f64 {
        self.distance(result.into(), 24, -126, 128)
    }
}

/// A sum of terms, each made from the one before and its number, until they vanish.
fn series(first: BigInt, mut next: impl FnMut(&BigInt, u64) -> BigInt) -> BigInt {
    let (mut sum, mut term) = (first.clone(), first);
    for n in 1.. {
        term = next(&term, n);
        if term.sign() == Sign::NoSign || term == BigInt::from(-1) {
            break;
        }
        sum += &term;
    }
    sum
}

/// The arc tangent (`sign` −1) or its hyperbolic cousin (`sign` 1) of a small number, in fixed point.
fn arc_series(t: &BigInt, sign: i32, bits: i64) -> BigInt {
    let square: BigInt = (t * t) >> bits;
    let mut power = t.clone();
    let mut sum = t.clone();
    for n in 1u64.. {
        power = ((&power * &square) >> bits) * sign;
        if power.bits() <= 1 {
            break;
        }
        sum += &power / BigInt::from(2 * n + 1);
    }
    sum
}

/// Bits of the constants, enough to reduce any double.
const CONSTANT_BITS: i64 = 2400;

/// π.
fn pi() -> Exact {
    static PI: OnceLock<BigInt> = OnceLock::new();
    let value = PI.get_or_init(|| {
        let of = |n: u32| arc_series(&((BigInt::from(1) << CONSTANT_BITS) / n), -1, CONSTANT_BITS);
        of(5) * 16 - of(239) * 4
    });
    Exact::new(value.clone(), -CONSTANT_BITS)
}

/// ln 2.
fn ln2() -> Exact {
    static LN2: OnceLock<BigInt> = OnceLock::new();
    let value = LN2.get_or_init(|| {
        let third = (BigInt::from(1) << CONSTANT_BITS) / 3;
        arc_series(&third, 1, CONSTANT_BITS) * 2
    });
    Exact::new(value.clone(), -CONSTANT_BITS)
}

/// The natural logarithm of a positive number.
fn log(x: &Exact) -> Exact {
    // x = m · 2^k with m from 3/4 to 3/2.
    let mut k = x.binade();
    let mut m = Exact::new(x.mantissa.clone(), x.exponent - k);
    let one = Exact::new(1.into(), 0);
    if !m.minus(&Exact::new(3.into(), -1)).is_negative() {
        m.exponent -= 1;
        k += 1;
    }
    let t = m.minus(&one).over(&m.plus(&one)).fixed(BITS);
    let sum = Exact::new(arc_series(&t, 1, BITS) * 2, -BITS);
    sum.plus(&ln2().times(&Exact::new(k.into(), 0)))
}

/// e^x to this many bits, for magnitudes below 1000.
fn exp(x: &Exact, bits: i64) -> Exact {
    let ratio = x.over(&ln2()).fixed(1);
    let n: BigInt = (ratio + 1) >> 1;
    let rest = x.minus(&ln2().times(&Exact::new(n.clone(), 0))).fixed(bits);
    let one = BigInt::from(1) << bits;
    let sum = series(one, |term, n| ((term * &rest) >> bits) / BigInt::from(n));
    Exact::new(sum, i64::try_from(n).expect("a small exponent") - bits)
}

/// The sine and the cosine.
fn sine_and_cosine(x: &Exact) -> (Exact, Exact) {
    let one = Exact::new(1.into(), 0);
    if x.is_zero() || x.binade() < -TINY {
        return (x.clone(), one);
    }
    let half_pi = Exact::new(pi().mantissa, pi().exponent - 1);
    // The quotient to one bit after the point, with all bits of the argument.
    let scale = CONSTANT_BITS / 2;
    let quotient: BigInt = (x.fixed(2 * scale) << 1) / half_pi.fixed(2 * scale);
    let n: BigInt = (quotient + 1) >> 1;
    let rest = x.minus(&half_pi.times(&Exact::new(n.clone(), 0)));
    let r = rest.fixed(BITS);
    let square: BigInt = -((&r * &r) >> BITS);
    let next = |from: u64| {
        let square = square.clone();
        move |term: &BigInt, k: u64| {
            let divisor = (2 * k + from - 1) * (2 * k + from);
            ((term * &square) >> BITS) / BigInt::from(divisor)
        }
    };
    let sine = Exact::new(series(r.clone(), next(1)), -BITS);
    let cosine = Exact::new(series(BigInt::from(1) << BITS, next(0)), -BITS);
    let quadrant: BigInt = n & BigInt::from(3);
    let minus = |x: &Exact| Exact::new(-&x.mantissa, x.exponent);
    match quadrant.to_u64_digits().1.first() {
        None => (sine, cosine),
        Some(1) => (cosine, minus(&sine)),
        Some(2) => (minus(&sine), minus(&cosine)),
        _ => (minus(&cosine), sine),
    }
}

/// The angle of a point that is not the origin.
fn angle(y: &Exact, x: &Exact) -> Exact {
    let (ay, ax) = (y.abs(), x.abs());
    let half_pi = Exact::new(pi().mantissa, pi().exponent - 1);
    let steep = ax.minus(&ay).is_negative();
    let (small, large) = if steep { (&ax, &ay) } else { (&ay, &ax) };
    let ratio = small.over(large);
    let acute = if ratio.is_zero() || ratio.binade() < -TINY {
        ratio
    } else {
        // Halving the angle a few times makes the series short.
        let one = BigInt::from(1) << BITS;
        let mut t = ratio.fixed(BITS);
        for _ in 0..6 {
            let root = ((&one * &one) + &t * &t).sqrt();
            t = (&t << BITS) / (&one + root);
        }
        Exact::new(arc_series(&t, -1, BITS) << 6, -BITS)
    };
    let upper = if steep { half_pi.minus(&acute) } else { acute };
    let right = if x.is_negative() {
        pi().minus(&upper)
    } else {
        upper
    };
    if y.is_negative() {
        Exact::new(-right.mantissa, right.exponent)
    } else {
        right
    }
}

/// 1 − x² as it is.
fn other_leg(x: &Exact) -> Exact {
    Exact::new(1.into(), 0).minus(&x.times(x)).root()
}

/// The error function of a number of magnitude below 30, with enough bits for its complement.
fn erf(x: &Exact) -> Exact {
    let bits = 2 * BITS;
    let factor = (BigInt::from(2) << (2 * bits)) / pi().fixed(2 * bits).sqrt();
    let factor = Exact::new(factor, -bits);
    if x.is_zero() || x.binade() < -TINY {
        return x.times(&factor);
    }
    // 2/√π e^(−x²) Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1)), all terms of one sign.
    let square = x.times(x);
    let twice = square.fixed(bits) << 1;
    let sum = series(x.fixed(bits + TINY), |term, n| {
        ((term * &twice) >> bits) / BigInt::from(2 * n + 1)
    });
    let sum = Exact::new(sum, -bits - TINY);
    let negative = Exact::new(-&square.mantissa, square.exponent);
    factor.times(&exp(&negative, bits)).times(&sum)
}

/// The value of a function, by the name it has in the runtime; nothing where it is not a finite real number, or so large or
/// small that no double is near.
pub(crate) fn value(name: &str, args: &[f64]) -> Option<Exact> {
    if !args.iter().all(|x| x.is_finite()) {
        return None;
    }
    let x = Exact::of(args[0]);
    let (a, one) = (args[0], Exact::new(1.into(), 0));
    Some(match name {
        "sin" => sine_and_cosine(&x).0,
        "cos" => sine_and_cosine(&x).1,
        "tan" => {
            let (sine, cosine) = sine_and_cosine(&x);
            sine.over(&cosine)
        }
        "asin" if a.abs() <= 1.0 => angle(&x, &other_leg(&x)),
        "acos" if a.abs() <= 1.0 => angle(&other_leg(&x), &x),
        "atan" => angle(&x, &one),
        "atan2" if a != 0.0 => angle(&x, &Exact::of(args[1])),
        "exp" if a.abs() < 800.0 => exp(&x, BITS),
        "log" if a > 0.0 => log(&x),
        "log2" if a > 0.0 => log(&x).over(&ln2()),
        "log10" if a > 0.0 => log(&x).over(&log(&Exact::of(10.0))),
        "pow" if a != 0.0 && (a > 0.0 || args[1].fract() == 0.0) => {
            let exponent = Exact::of(args[1]).times(&log(&x.abs()));
            if exponent.binade() > 10 && !exponent.is_zero() {
                return None;
            }
            let magnitude = exp(&exponent, BITS);
            match a < 0.0 && args[1] % 2.0 != 0.0 {
                true => Exact::new(-magnitude.mantissa, magnitude.exponent),
                false => magnitude,
            }
        }
        "erf" if a.abs() < 28.0 => erf(&x),
        "erfc" if a.abs() < 28.0 => one.minus(&erf(&x)),
        "sqrt" if a >= 0.0 => x.root(),
        _ => return None,
    })
}
