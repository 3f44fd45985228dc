//! `erf` and `erfc`.

use super::double_double::{Pair, ordered_sum, product, quotient, sum};
use super::exponential::{exp_parts, scale};
use super::{num, polynomial};
use crate::simd::Doubles;

/// `erf(x)/x − 1` in `z = x²`, for `|x| ≤ 1`.
const ERF: [f64; 14] = [
    0.1283791670955126,
    -0.37612638903183754,
    0.1128379167095512,
    -0.02686617064512984,
    0.0052239776254232985,
    -0.000854832702193483,
    0.00012055332902888736,
    -1.4925647567519332e-05,
    1.6462045441468412e-06,
    -1.6364642158167534e-07,
    1.4792401209404102e-08,
    -1.2164560057279405e-09,
    8.709045129039628e-11,
    -4.23094582427538e-12,
];

/// `(1 + 2x) e^(x²) erfc x` in `t = (x − 4)/(x + 4)`, for `x` from ¼ to 28: the constant, as a pair, and the rest
/// divided by `t`.
const ERFC_CONSTANT: (f64, f64) = (1.2329951186255526, -4.625863000121584e-17);
const ERFC: [f64; 23] = [
    -0.1396211168405625,
    0.01537965210262004,
    0.06809705425469166,
    -0.10103906603632458,
    0.09373283499839068,
    -0.06633036581167369,
    0.03716751553676699,
    -0.016197734065372244,
    0.005031969984359261,
    -0.0007577732267057916,
    -0.00019925672479934837,
    0.00015062136070128596,
    -2.4399146538997853e-05,
    -1.1221005308034099e-05,
    5.709728115288021e-06,
    2.916855478720019e-07,
    -8.25772695646791e-07,
    7.735807763981453e-08,
    1.1088423142883783e-07,
    -1.989486197151226e-08,
    -1.495149480383064e-08,
    2.4605242443910866e-09,
    1.60234540536836e-09,
];

/// The error function of `|x| ≤ 1`.
#[inline(always)]
fn near_zero<V: Doubles>(x: V) -> V {
    x.mul_add(polynomial(x * x, &ERF), x)
}

/// The complement of the error function from ¼ on; NaN stays.
#[inline(always)]
fn tail<V: Doubles>(x: V) -> V {
    let (one, four) = (num::<V>(1.0), num::<V>(4.0));
    // Beyond 28 the result has vanished.
    let x = num::<V>(28.0).min(x);
    let t = (x - four) / (x + four);
    let g = ordered_sum(num(ERFC_CONSTANT.0), t * polynomial(t, &ERFC));
    let g = Pair {
        hi: g.hi,
        lo: g.lo + num(ERFC_CONSTANT.1),
    };
    let square = product(x, x);
    let (n, e) = exp_parts(Pair {
        hi: -square.hi,
        lo: -square.lo,
    });
    let value = quotient(e.times(g), sum(one, x + x)).value();
    scale(value, n)
}

#[inline(always)]
pub(super) fn erf<V: Doubles>(x: V) -> V {
    let one = num::<V>(1.0);
    let a = x.abs();
    let far = (one - tail(a)).copysign(x);
    let value = V::select(a.le(one), near_zero(x), far);
    V::select(x.same(num(0.0)), x, value)
}

#[inline(always)]
pub(super) fn erfc<V: Doubles>(x: V) -> V {
    let (one, two) = (num::<V>(1.0), num::<V>(2.0));
    let a = x.abs();
    let far = tail(a);
    let middle = one - near_zero(x);
    let right = V::select(x.lt(num(0.25)), middle, far);
    V::select(x.le(num(-1.0)), two - far, right)
}
