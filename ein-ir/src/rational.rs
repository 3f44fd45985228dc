//! Exact rational numbers.

/// A rational with 128-bit parts. Arithmetic that could overflow goes through the `checked_*` operations of
/// `num-traits`; whoever gets `None` leaves the constants unfolded.
pub type Rational = num_rational::Ratio<i128>;

/// The nearest `f64`: numerator and denominator are rounded, then divided.
///
/// Exact to the last bit while both parts fit in 53 bits, which holds for every kernel coefficient.
pub fn to_f64(q: Rational) -> f64 {
    *q.numer() as f64 / *q.denom() as f64
}
