//! Exact sums of reals, rounded once.
//!
//! A total is an integer in units of the least double, as limbs 32 bits apart that may overlap, so that an addition has no
//! carries. No addition rounds: a sum does not depend on the order of its terms, nor on how they are shared among threads or ranks.

use super::CHUNK;
use rayon::prelude::*;

/// Bits between the beginnings of limbs.
const APART: usize = 32;

/// The bits of all doubles, and of any sum of them that can be made in practice.
const LIMBS: usize = 68;

/// Additions after which limbs are carried: each adds less than 2³² to a limb.
const MOST: u32 = 1 << 30;

/// Bits of the fraction of a double.
const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;

/// A type of reals, as it is rounded to.
pub(super) trait Rounded: Copy + Into<f64> + Send + Sync {
    /// Binary digits.
    const DIGITS: usize;
    /// The place of the lowest bit of its least number, in units of the least double.
    const LOWEST: usize;
    /// The bits of infinity.
    const INFINITE: u64;
    /// The number of these bits.
    fn from_bits(bits: u64, is_negative: bool) -> Self;
}

impl Rounded for f32 {
    const DIGITS: usize = f32::MANTISSA_DIGITS as usize;
    const LOWEST: usize = 1074 - 149;
    const INFINITE: u64 = f32::INFINITY.to_bits() as u64;

    fn from_bits(bits: u64, is_negative: bool) -> f32 {
        let magnitude = f32::from_bits(bits as u32);
        if is_negative { -magnitude } else { magnitude }
    }
}

impl Rounded for f64 {
    const DIGITS: usize = f64::MANTISSA_DIGITS as usize;
    const LOWEST: usize = 0;
    const INFINITE: u64 = f64::INFINITY.to_bits();

    fn from_bits(bits: u64, is_negative: bool) -> f64 {
        let magnitude = f64::from_bits(bits);
        if is_negative { -magnitude } else { magnitude }
    }
}

/// The sum of a term for each value, by component. Runs on the current rayon pool.
pub(super) fn sum<T: Rounded>(
    values: &[T],
    components: usize,
    term: &(dyn Fn(usize, T) -> T + Sync),
) -> Vec<T> {
    let none = || vec![Total::ZERO; components];
    let add = |mut totals: Vec<Total>, chunk: &[T]| {
        for value in chunk.chunks_exact(components) {
            for (component, (total, &scalar)) in totals.iter_mut().zip(value).enumerate() {
                total.add(term(component, scalar).into());
            }
        }
        totals
    };
    let merge = |mut totals: Vec<Total>, others: Vec<Total>| {
        let pairs = totals.iter_mut().zip(others);
        pairs.for_each(|(total, other)| total.merge(other));
        totals
    };
    let chunks = values.par_chunks(CHUNK * components.max(1));
    let totals = chunks.fold(none, add).reduce(none, merge);
    totals.into_iter().map(Total::rounded).collect()
}

/// A sum in the making.
#[derive(Clone)]
struct Total {
    limbs: [i64; LIMBS],
    /// Additions since limbs were carried.
    additions: u32,
    /// Whether a term was not a number, or infinite with either sign.
    is_nan: bool,
    infinite: [bool; 2],
}

impl Total {
    const ZERO: Total = Total {
        limbs: [0; LIMBS],
        additions: 0,
        is_nan: false,
        infinite: [false; 2],
    };

    fn add(&mut self, x: f64) {
        let bits = x.to_bits();
        let exponent = (bits >> FRACTION & 0x7ff) as usize;
        let fraction = bits & ((1 << FRACTION) - 1);
        if exponent == 0x7ff {
            self.is_nan |= fraction != 0;
            self.infinite[usize::from(x < 0.0)] |= fraction == 0;
            return;
        }
        let digits = fraction | u64::from(exponent != 0) << FRACTION;
        let place = exponent.saturating_sub(1);
        let wide = u128::from(digits) << (place % APART);
        let sign = 1 - 2 * (bits >> 63) as i64;
        for (n, limb) in self.limbs[place / APART..][..3].iter_mut().enumerate() {
            *limb += sign * i64::from((wide >> (n * APART)) as u32);
        }
        self.additions += 1;
        if self.additions == MOST {
            self.carry();
        }
    }

    fn merge(&mut self, mut other: Total) {
        if self.additions + other.additions >= MOST {
            self.carry();
            other.carry();
        }
        for (limb, more) in self.limbs.iter_mut().zip(other.limbs) {
            *limb += more;
        }
        self.additions += other.additions;
        self.is_nan |= other.is_nan;
        for (infinite, more) in self.infinite.iter_mut().zip(other.infinite) {
            *infinite |= more;
        }
    }

    /// Leaves less than 2³² in all limbs but the last, which has the sign.
    fn carry(&mut self) {
        let mut carried = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            let all = *limb + carried;
            carried = all >> APART;
            *limb = all & ((1 << APART) - 1);
        }
        self.limbs[LIMBS - 1] += carried;
        self.additions = 1;
    }

    /// The nearest number, of two equally near ones the even one; +0 if the terms cancel each other.
    fn rounded<T: Rounded>(mut self) -> T {
        let bits_of_nan = T::INFINITE | 1 << (T::DIGITS - 2);
        match (self.is_nan, self.infinite) {
            (true, _) | (_, [true, true]) => return T::from_bits(bits_of_nan, false),
            (_, [false, false]) => {}
            (_, [_, is_negative]) => return T::from_bits(T::INFINITE, is_negative),
        }
        self.carry();
        let is_negative = self.limbs[LIMBS - 1] < 0;
        if is_negative {
            self.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            self.carry();
        }
        let Some(highest) = self.limbs.iter().rposition(|&limb| limb != 0) else {
            return T::from_bits(0, false);
        };
        let top = APART * highest + self.limbs[highest].ilog2() as usize;
        let dropped = (top + 1).saturating_sub(T::DIGITS).max(T::LOWEST);
        let mut digits = self.bits_from(dropped);
        if dropped > 0 && self.bits_from(dropped - 1) & 1 == 1 {
            let is_tie = (0..dropped - 1).all(|place| self.bits_from(place) & 1 == 0);
            digits += u64::from(!is_tie || digits & 1 == 1);
        }
        // A digit above the fraction is the exponent's one, and so is that of a carry.
        let bits = ((dropped - T::LOWEST) as u64) << (T::DIGITS - 1);
        T::from_bits((bits + digits).min(T::INFINITE), is_negative)
    }

    /// The lowest 64 bits or so from a place on, after carrying.
    fn bits_from(&self, place: usize) -> u64 {
        let limbs = self.limbs[place / APART..].iter().take(3).enumerate();
        let wide = limbs.fold(0, |all, (n, &limb)| all | (limb as u128) << (n * APART));
        (wide >> (place % APART)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<T: Rounded>(values: &[f64]) -> T {
        let mut total = Total::ZERO;
        values.iter().for_each(|&value| total.add(value));
        total.rounded()
    }

    #[test]
    fn sums_of_one_term_are_the_term() {
        let ends = [f64::MIN_POSITIVE, 5e-324, f64::MAX, 1.0, 0.1];
        for x in ends.into_iter().flat_map(|x| [x, -x]) {
            assert_eq!(of::<f64>(&[x]).to_bits(), x.to_bits());
            assert_eq!(of::<f32>(&[x]).to_bits(), (x as f32).to_bits(), "{x:e}");
        }
    }

    #[test]
    fn terms_that_cancel_leave_the_others() {
        assert_eq!(of::<f64>(&[1e300, 1.0, -1e300, 5e-324]), 1.0);
        assert_eq!(of::<f64>(&[1e300, 5e-324, -1e300]), 5e-324);
        assert_eq!(of::<f64>(&[-0.0, -0.0]).to_bits(), 0);
        assert_eq!(of::<f64>(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
        assert_eq!(of::<f64>(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(of::<f32>(&[-1e308]), f32::NEG_INFINITY);
    }

    #[test]
    fn ties_go_to_even_and_are_broken_by_any_further_bit() {
        let half = f64::EPSILON / 2.0;
        assert_eq!(of::<f64>(&[1.0, half]), 1.0);
        assert_eq!(of::<f64>(&[1.0, half, 5e-324]), 1.0 + f64::EPSILON);
        assert_eq!(of::<f64>(&[1.0, half, -5e-324]), 1.0);
        let odd = 1.0 + f64::EPSILON;
        assert_eq!(of::<f64>(&[odd, half]), 1.0 + 2.0 * f64::EPSILON);
        // Rounding twice, to double and then to single precision, would give 1.
        let half = f64::from(f32::EPSILON) / 2.0;
        assert_eq!(of::<f32>(&[1.0, half, 1e-30]), 1.0 + f32::EPSILON);
    }

    #[test]
    fn infinities_and_nan_remain() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        assert_eq!(of::<f64>(&[1.0, inf]), inf);
        assert_eq!(of::<f32>(&[-inf, 1e300]), f32::NEG_INFINITY);
        assert!(of::<f64>(&[inf, -inf]).is_nan() && of::<f32>(&[nan, inf]).is_nan());
    }

    #[test]
    fn parts_can_be_merged_after_any_number_of_additions() {
        let terms: Vec<f64> = (0..1000)
            .map(|i| (f64::from(i) * 0.7).sin() * 10f64.powi(i * 7 % 600 - 300))
            .collect();
        for cut in [0, 1, 500, 1000] {
            let mut parts = [Total::ZERO, Total::ZERO];
            for (n, &term) in terms.iter().enumerate() {
                parts[usize::from(n >= cut)].add(term);
            }
            let [mut first, mut second] = parts;
            second.additions = MOST - 1;
            second.add(0.0);
            first.merge(second);
            assert_eq!(first.rounded::<f64>(), of::<f64>(&terms), "{cut}");
        }
    }
}
