//! Tests of numbers with error bounds.

use super::*;
use crate::random::Stream;

fn ratio(stream: &mut Stream) -> BigRational {
    let numerator = loop {
        match stream.between(-999, 999) {
            0 => continue,
            n => break n,
        }
    };
    BigRational::new(BigInt::from(numerator), BigInt::from(stream.between(1, 64)))
}

#[test]
fn close_arithmetic_stays_within_its_own_bound_of_the_exact_one() {
    let mut stream = Stream::new(&["number"]);
    for _ in 0..500 {
        let (a, b, c) = (ratio(&mut stream), ratio(&mut stream), ratio(&mut stream));
        let formula = |arithmetic| {
            let [a, b, c] = [&a, &b, &c].map(|x| Number::leaf(x.clone(), arithmetic));
            a.times(&b)
                .minus(&c.over(&a))
                .plus(&b.scaled(2, 3))
                .reciprocal()
                .times(&c)
        };
        let (exact, near) = (formula(Arithmetic::Exact), formula(Arithmetic::Near));
        let exact = exact.to_rational().expect("only field operations");
        let Value::Near(value, error) = near.value else {
            panic!("exact result of close arithmetic")
        };
        let off = (BigRational::from_float(value.to_f64()).expect("finite")
            + BigRational::from_float(value.tail()).expect("finite")
            - &exact)
            .to_f64()
            .expect("finite")
            .abs();
        assert!(off <= error, "{off:e} > {error:e}");
        assert!(error <= 1e-24 * exact.to_f64().expect("finite").abs().max(1e-3));
    }
}

#[test]
fn noise_bounds_the_rounding_of_single_precision() {
    let mut stream = Stream::new(&["noise"]);
    let unit = f64::from(f32::EPSILON) / 2.0;
    for _ in 0..2000 {
        let [a, b, c] = [(); 3].map(|()| (stream.between(1, 4096) as f32) / 64.0);
        let number = |x: f32| Number::exact(BigRational::from_float(f64::from(x)).expect("finite"));
        let (x, y, z) = (number(a), number(b), number(c));
        // Each operation alone, so that none hides behind the noise of another.
        let formulas = [
            (x.times(&y).times(&z), a * b * c),
            (x.plus(&z.scaled(1, 3)).minus(&y), a + c / 3.0 - b),
            (x.over(&y), a / b),
            (x.over(&z).apply(Function::Sqrt), (a / c).sqrt()),
            (
                x.times(&y).minus(&z).over(&y).apply(Function::Sin),
                ((a * b - c) / b).sin(),
            ),
            (
                Number::root_of_squares(&[x, y, z]),
                (a * a + b * b + c * c).sqrt(),
            ),
        ];
        for (truth, observed) in formulas {
            let (off, bound) = (truth.distance(f64::from(observed)), truth.noise() * unit);
            assert!(off <= bound, "{a} {b} {c}: {off:e} > {bound:e}");
        }
    }
}

#[test]
fn noise_covers_what_is_left_where_a_slope_vanishes() {
    let unit = f64::from(f32::EPSILON) / 2.0;
    for units in [1e3, 1e4, 1e5] {
        // An argument that is zero and that a program computes with an error.
        let truth = Number::zero().with_noise(units).apply(Function::Cos);
        let off = truth.distance((units * unit).cos());
        let bound = truth.noise() * unit;
        assert!(off <= bound, "{units}: {off:e} > {bound:e}");
    }
}

#[test]
fn floor_refuses_to_guess() {
    assert_eq!(
        Number::exact(BigRational::new(BigInt::from(-7), BigInt::from(2))).floor(),
        Some(-4)
    );
    let third = Number::leaf(
        BigRational::new(BigInt::from(1), BigInt::from(3)),
        Arithmetic::Near,
    );
    assert_eq!(third.scaled(3, 1).floor(), None);
    assert_eq!(third.floor(), Some(0));
}
