//! The kernels in exact arithmetic: what a reconstruction kernel must be, and the values of the specification.

use ein_ir::{Continuity, KERNELS, Kernel, Rational};

type Q = Rational;

fn q(numerator: i128, denominator: i128) -> Q {
    Q::new(numerator, denominator)
}

fn value(polynomial: &[Q], at: Q) -> Q {
    polynomial.iter().rev().fold(q(0, 1), |sum, c| sum * at + c)
}

/// All taps of a kernel, in order.
fn taps(kernel: &Kernel) -> std::ops::RangeInclusive<i32> {
    let support = kernel.support as i32;
    1 - support..=support
}

/// The derivative of h at x, from the tap whose interval holds x.
fn h(kernel: &Kernel, x: Q, derivative: u32) -> Q {
    let below = x.floor();
    let j = -below.to_integer() as i32;
    if taps(kernel).contains(&j) {
        value(&kernel.tap(j, derivative), x - below)
    } else {
        q(0, 1)
    }
}

/// What the samples nᵐ reconstruct to at k + f, k an integer.
fn reconstruct(kernel: &Kernel, m: u32, k: i128, f: Q, derivative: u32) -> Q {
    let weighted = taps(kernel).map(|j| {
        let sample = Q::from_integer((k + i128::from(j)).pow(m));
        sample * value(&kernel.tap(j, derivative), f)
    });
    weighted.sum()
}

/// Enough places to tell polynomials of these degrees apart.
fn places() -> impl Iterator<Item = (i128, Q)> {
    (-3..=3).flat_map(|k| (0..8).map(move |n| (k, q(n, 8))))
}

#[test]
fn every_kernel_integrates_to_one() {
    for kernel in KERNELS {
        let integral: Q = taps(kernel)
            .map(|j| {
                kernel
                    .tap(j, 0)
                    .iter()
                    .zip(1..)
                    .map(|(c, k)| c / Q::from_integer(k))
                    .sum::<Q>()
            })
            .sum();
        assert_eq!(integral, q(1, 1), "{}", kernel.name);
    }
}

#[test]
fn weights_of_the_taps_add_up_to_one_and_their_derivatives_to_zero() {
    for kernel in KERNELS {
        for derivative in 0..=7 {
            for (k, f) in places() {
                let sum = reconstruct(kernel, 0, k, f, derivative);
                assert_eq!(sum, q(i128::from(derivative == 0), 1), "{}", kernel.name);
            }
        }
    }
}

#[test]
fn every_kernel_is_even() {
    for kernel in KERNELS {
        for n in 0..=64 {
            // Not at knots, where a derivative may jump.
            let x = q(2 * n + 1, 32);
            for derivative in 0..=6 {
                let mirrored = h(kernel, -x, derivative) * q((-1i128).pow(derivative), 1);
                assert_eq!(h(kernel, x, derivative), mirrored, "{} at {x}", kernel.name);
            }
        }
    }
}

/// Whether a derivative has the same limit from both sides at every knot.
fn is_continuous(kernel: &Kernel, derivative: u32) -> bool {
    let support = kernel.support as i32;
    (-support..=support).all(|knot| {
        // On [knot − 1, knot] it is tap 1 − knot, on [knot, knot + 1] tap −knot; outside the support it is zero.
        let side = |tap: i32, at: i128| match taps(kernel).contains(&tap) {
            true => value(&kernel.tap(tap, derivative), q(at, 1)),
            false => q(0, 1),
        };
        side(1 - knot, 1) == side(-knot, 0)
    })
}

#[test]
fn continuity_is_as_declared_and_no_more() {
    let honest = ["tent", "ctmr", "bspln3", "bspln5", "c4hexic"];
    for kernel in KERNELS {
        let truth = (0..).take_while(|&k| is_continuous(kernel, k)).count() as u32 - 1;
        if honest.contains(&kernel.name) {
            assert_eq!(truth, kernel.continuity, "{}", kernel.name);
        } else {
            assert!(
                truth < kernel.continuity,
                "{} claims too little",
                kernel.name
            );
        }
        assert_eq!(kernel.declared(), Continuity::Finite(kernel.continuity));
    }
}

#[test]
fn the_kernels_that_claim_more_are_other_kernels() {
    for (claims, other) in [("c1tent", "tent"), ("c2tent", "tent"), ("c2ctmr", "ctmr")] {
        let [claims, other] = [claims, other].map(|name| Kernel::named(name).expect("a kernel"));
        assert_eq!(claims.support, other.support);
        for j in taps(claims) {
            assert_eq!(claims.tap(j, 0), other.tap(j, 0), "{}", claims.name);
        }
    }
    assert!(Kernel::named("gauss").is_none());
}

#[test]
fn polynomials_are_reproduced_up_to_the_degree_of_the_table_and_no_further() {
    for kernel in KERNELS {
        let reproduces = |m: u32| {
            places().all(|(k, f)| reconstruct(kernel, m, k, f, 0) == (q(k, 1) + f).pow(m as i32))
        };
        let degree = (0..).take_while(|&m| reproduces(m)).count() as u32 - 1;
        assert_eq!(degree, kernel.reproduces, "{}", kernel.name);
    }
}

#[test]
fn splines_blur_powers_as_the_specification_says() {
    type Claim = (&'static str, u32, fn(Q) -> Q);
    let claims: [Claim; 6] = [
        ("bspln3", 2, |x| x * x + q(1, 3)),
        ("bspln3", 3, |x| x.pow(3) + x),
        ("bspln5", 2, |x| x * x + q(1, 2)),
        ("bspln5", 3, |x| x.pow(3) + q(3, 2) * x),
        ("bspln5", 4, |x| x.pow(4) + q(3, 1) * x * x + q(7, 10)),
        ("bspln5", 5, |x| x.pow(5) + q(5, 1) * x.pow(3) + q(7, 2) * x),
    ];
    for (name, m, wanted) in claims {
        let kernel = Kernel::named(name).expect("a kernel");
        for (k, f) in places() {
            assert_eq!(
                reconstruct(kernel, m, k, f, 0),
                wanted(q(k, 1) + f),
                "{name}, power {m}"
            );
        }
    }
}

#[test]
fn derivatives_of_powers_are_exact_as_far_as_the_specification_says() {
    // Kernel, order of the derivative, highest power whose derivative is exact.
    let claims = [
        ("bspln3", 1, 2),
        ("bspln3", 2, 3),
        ("bspln5", 1, 2),
        ("bspln5", 2, 3),
        ("bspln5", 3, 4),
        ("bspln5", 4, 5),
        ("c4hexic", 1, 3),
        ("c4hexic", 2, 3),
        ("c4hexic", 3, 3),
        ("c4hexic", 4, 3),
    ];
    for (name, derivative, highest) in claims {
        let kernel = Kernel::named(name).expect("a kernel");
        for m in 0..=highest {
            for (k, f) in places() {
                let falling: i128 = (0..i128::from(derivative))
                    .map(|n| i128::from(m) - n)
                    .product();
                let power = i32::try_from(m).expect("small") - derivative as i32;
                let wanted = if power < 0 {
                    q(0, 1)
                } else {
                    q(falling, 1) * (q(k, 1) + f).pow(power)
                };
                assert_eq!(
                    reconstruct(kernel, m, k, f, derivative),
                    wanted,
                    "{name}, {derivative} of {m}"
                );
            }
        }
    }
}

#[test]
fn values_at_integers_are_those_of_the_specification() {
    let table = [
        ("tent", [q(1, 1), q(0, 1), q(0, 1)]),
        ("ctmr", [q(1, 1), q(0, 1), q(0, 1)]),
        ("bspln3", [q(2, 3), q(1, 6), q(0, 1)]),
        ("bspln5", [q(11, 20), q(13, 60), q(1, 120)]),
        ("c4hexic", [q(69, 80), q(11, 120), q(-11, 480)]),
    ];
    for (name, wanted) in table {
        let kernel = Kernel::named(name).expect("a kernel");
        for (n, wanted) in (0..).zip(wanted) {
            assert_eq!(
                [h(kernel, q(n, 1), 0), h(kernel, q(-n, 1), 0)],
                [wanted; 2],
                "{name} at {n}"
            );
        }
    }
}

#[test]
fn spot_values_are_those_of_the_specification() {
    let none = [(0, 1), (0, 1), (0, 1)];
    // At x: h, h′, h″ of ctmr, bspln3, bspln5, c4hexic.
    let table = [
        (
            q(1, 4),
            [
                [(111, 128), (-31, 32), (-11, 4)],
                [(235, 384), (-13, 32), (-5, 4)],
                [(31927, 61440), (-725, 3072), (-161, 192)],
                [(763567, 983040), (-16111, 24576), (-13267, 6144)],
            ],
        ),
        (
            q(1, 2),
            [
                [(9, 16), (-11, 8), (-1, 2)],
                [(23, 48), (-5, 8), (-1, 2)],
                [(841, 1920), (-77, 192), (-11, 24)],
                [(8603, 15360), (-779, 768), (-251, 384)],
            ],
        ),
        (
            q(5, 4),
            [
                [(-9, 128), (-3, 32), (5, 4)],
                [(9, 128), (-9, 32), (3, 4)],
                [(15349, 122880), (-1915, 6144), (181, 384)],
                [(-50261, 1966080), (-13775, 49152), (16937, 12288)],
            ],
        ),
        (
            q(3, 2),
            [
                [(-1, 16), (1, 8), (1, 2)],
                [(1, 48), (-1, 8), (1, 2)],
                [(79, 1280), (-25, 128), (7, 16)],
                [(-603, 10240), (-7, 512), (187, 256)],
            ],
        ),
        (
            q(5, 2),
            [
                none,
                none,
                [(1, 3840), (-1, 384), (1, 48)],
                [(-37, 30720), (17, 1536), (-59, 768)],
            ],
        ),
    ];
    for (x, kernels) in table {
        for (name, wanted) in ["ctmr", "bspln3", "bspln5", "c4hexic"]
            .into_iter()
            .zip(kernels)
        {
            let kernel = Kernel::named(name).expect("a kernel");
            for (derivative, (numerator, denominator)) in (0..).zip(wanted) {
                let found = h(kernel, x, derivative);
                assert_eq!(
                    found,
                    q(numerator, denominator),
                    "{name}, derivative {derivative} at {x}"
                );
            }
        }
    }
}
