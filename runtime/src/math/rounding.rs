//! `floor`, `ceil`, `round`, `trunc`, `sqrt` and `fmod`: exact, or correctly rounded.

use super::{lane_by_lane, num};
use crate::simd::{Doubles, Mask};

#[inline(always)]
pub(super) fn floor<V: Doubles>(x: V) -> V {
    x.floor()
}

#[inline(always)]
pub(super) fn ceil<V: Doubles>(x: V) -> V {
    -(-x).floor()
}

#[inline(always)]
pub(super) fn trunc<V: Doubles>(x: V) -> V {
    x.abs().floor().copysign(x)
}

/// The nearest integer, halves away from zero.
#[inline(always)]
pub(super) fn round<V: Doubles>(x: V) -> V {
    let a = x.abs();
    let below = a.floor();
    let up = num::<V>(0.5).le(a - below);
    V::select(up, below + num(1.0), below).copysign(x)
}

#[inline(always)]
pub(super) fn sqrt<V: Doubles>(x: V) -> V {
    x.sqrt()
}

/// The remainder of `x / y` with the sign of `x`.
#[inline(always)]
pub(super) fn fmod<V: Doubles>(x: V, y: V) -> V {
    let zero = num::<V>(0.0);
    let (ax, ay) = (x.abs(), y.abs());
    // Rounding may have made the quotient one too large; then the difference is negative. The fused operations
    // are exact as long as the quotient has all its bits.
    let count = (ax / ay).floor();
    let rest = (-count).mul_add(ay, ax);
    let rest = V::select(rest.lt(zero), rest + ay, rest);
    let exact = if V::FUSED {
        count.lt(num(2f64.powi(52))) & rest.lt(ay) & zero.le(rest)
    } else {
        V::mask(0)
    };
    lane_by_lane(
        (!exact).bits() & V::ALL_LANES,
        x,
        y,
        rest.copysign(x),
        |x, y| x % y,
    )
}
