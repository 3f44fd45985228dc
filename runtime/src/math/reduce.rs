//! Reduction of huge arguments of trigonometric functions, one number at a time.
//!
//! `x · 2/π` is formed in integers from just those bits of 2/π that matter: those before have products divisible
//! by four, which are whole turns, and those after do not reach the result. This is exact enough for every
//! double; the worst of them comes within 2^−61 of a multiple of π/2.

/// The first 1344 bits of 2/π.
const TWO_OVER_PI: [u64; 21] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
    0xa9e3_9161_5ee6_1b08,
];

/// π/2 as a pair.
const HALF_PI: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123233995736766e-17);

/// Words of the window of 2/π that is multiplied.
const WINDOW: usize = 4;

/// `x` minus the nearest multiple of π/2, as a sum of two doubles, and the number of that multiple modulo 4; for
/// finite `x` of magnitude at least 2^20. NaN for any `x` that is not finite.
pub(super) fn reduce(x: f64) -> (f64, f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN, 0.0);
    }
    debug_assert!(x.abs() >= 1_048_576.0);
    let bits = x.to_bits();
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let exponent = (bits >> 52 & 0x7ff) as i64 - 1075;
    // Bit j of 2/π has weight 2^−j; its product is a multiple of four if j ≤ exponent − 2.
    let skipped = (exponent - 2).max(0);
    let fixed = shifted(
        multiply(window(skipped as usize), mantissa),
        exponent - skipped,
    );
    // 256 bits of fraction below the integer: round to the nearest one.
    let mut quadrant = fixed[WINDOW] & 3;
    let mut fraction = [fixed[0], fixed[1], fixed[2], fixed[3]];
    let negative = fraction[WINDOW - 1] >> 63 == 1;
    if negative {
        quadrant = (quadrant + 1) & 3;
        fraction = negated(fraction);
    }
    let (hi, lo) = turns_to_radians(fraction);
    let sign = if negative { -1.0 } else { 1.0 };
    if x < 0.0 {
        (-sign * hi, -sign * lo, ((4 - quadrant) & 3) as f64)
    } else {
        (sign * hi, sign * lo, quadrant as f64)
    }
}

/// 256 bits of 2/π from bit `skipped` on, least word first.
fn window(skipped: usize) -> [u64; WINDOW] {
    let (word, bit) = (skipped / 64, skipped % 64);
    let mut window = [0; WINDOW];
    for (i, out) in window.iter_mut().rev().enumerate() {
        let (high, low) = (TWO_OVER_PI[word + i], TWO_OVER_PI[word + i + 1]);
        *out = if bit == 0 {
            high
        } else {
            high << bit | low >> (64 - bit)
        };
    }
    window
}

/// The product of a long number and a word.
fn multiply(a: [u64; WINDOW], b: u64) -> [u64; WINDOW + 1] {
    let mut product = [0; WINDOW + 1];
    let mut carry = 0;
    for (i, &word) in a.iter().enumerate() {
        let p = u128::from(word) * u128::from(b) + carry;
        product[i] = p as u64;
        carry = p >> 64;
    }
    product[WINDOW] = carry as u64;
    product
}

/// `a · 2^shift`, for shifts from −63 to 2; the bits shifted out do not matter.
fn shifted(a: [u64; WINDOW + 1], shift: i64) -> [u64; WINDOW + 1] {
    let mut result = a;
    for i in (0..WINDOW + 1).rev() {
        result[i] = match shift {
            0 => a[i],
            1.. => a[i] << shift | if i > 0 { a[i - 1] >> (64 - shift) } else { 0 },
            _ => {
                a[i] >> -shift
                    | if i < WINDOW {
                        a[i + 1] << (64 + shift)
                    } else {
                        0
                    }
            }
        };
    }
    result
}

/// The two's complement.
fn negated(a: [u64; WINDOW]) -> [u64; WINDOW] {
    let mut carry = true;
    a.map(|word| {
        let (negated, overflow) = (!word).overflowing_add(u64::from(carry));
        carry = overflow;
        negated
    })
}

/// A fraction of a quarter turn, least word first, in radians.
fn turns_to_radians(fraction: [u64; WINDOW]) -> (f64, f64) {
    let (mut hi, mut lo) = (0.0, 0.0);
    // Halves of words are exact doubles, each smaller than the bits before.
    for (i, word) in fraction.iter().rev().enumerate() {
        for (half, bits) in [word >> 32, word & 0xffff_ffff].into_iter().enumerate() {
            let part = bits as f64 * 2f64.powi(-32 * (2 * i + half + 1) as i32);
            let sum = hi + part;
            lo += part - (sum - hi);
            hi = sum;
        }
    }
    let (hi, lo) = (hi + lo, lo - ((hi + lo) - hi));
    // A fused multiply-add is exact here whether or not the processor has one.
    let radians = hi * HALF_PI.0;
    let rest = hi.mul_add(HALF_PI.0, -radians) + (hi * HALF_PI.1 + lo * HALF_PI.0);
    (radians, rest)
}
