//! Probes with known exact results: spot values of the kernels, and a tilted image computed in rationals.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

mod kernels;
mod probing;

use kernels::kernel;
use probing::{Volume, run, versions};
use runtime::probe::Border;
use runtime::simd::Float;

/// Kernel, position, value and first two derivatives as fractions.
type Spot = (&'static str, f64, [(f64, f64); 3]);

#[rustfmt::skip]
const SPOTS: &[Spot] = &[
    ("ctmr", 0.25, [(111.0, 128.0), (-31.0, 32.0), (-11.0, 4.0)]),
    ("ctmr", 0.5, [(9.0, 16.0), (-11.0, 8.0), (-1.0, 2.0)]),
    ("ctmr", 1.25, [(-9.0, 128.0), (-3.0, 32.0), (5.0, 4.0)]),
    ("ctmr", 1.5, [(-1.0, 16.0), (1.0, 8.0), (1.0, 2.0)]),
    ("bspln3", 0.25, [(235.0, 384.0), (-13.0, 32.0), (-5.0, 4.0)]),
    ("bspln3", 0.5, [(23.0, 48.0), (-5.0, 8.0), (-1.0, 2.0)]),
    ("bspln3", 1.25, [(9.0, 128.0), (-9.0, 32.0), (3.0, 4.0)]),
    ("bspln3", 1.5, [(1.0, 48.0), (-1.0, 8.0), (1.0, 2.0)]),
    ("bspln5", 0.25, [(31927.0, 61440.0), (-725.0, 3072.0), (-161.0, 192.0)]),
    ("bspln5", 0.5, [(841.0, 1920.0), (-77.0, 192.0), (-11.0, 24.0)]),
    ("bspln5", 1.25, [(15349.0, 122880.0), (-1915.0, 6144.0), (181.0, 384.0)]),
    ("bspln5", 1.5, [(79.0, 1280.0), (-25.0, 128.0), (7.0, 16.0)]),
    ("bspln5", 2.5, [(1.0, 3840.0), (-1.0, 384.0), (1.0, 48.0)]),
    ("c4hexic", 0.25, [(763567.0, 983040.0), (-16111.0, 24576.0), (-13267.0, 6144.0)]),
    ("c4hexic", 0.5, [(8603.0, 15360.0), (-779.0, 768.0), (-251.0, 384.0)]),
    ("c4hexic", 1.25, [(-50261.0, 1966080.0), (-13775.0, 49152.0), (16937.0, 12288.0)]),
    ("c4hexic", 1.5, [(-603.0, 10240.0), (-7.0, 512.0), (187.0, 256.0)]),
    ("c4hexic", 2.5, [(-37.0, 30720.0), (17.0, 1536.0), (-59.0, 768.0)]),
];

/// A kernel is what a probe sees of a single sample.
fn check_spots<T: Float>(tolerance: f64) {
    let mut samples = vec![T::from_f64(0.0); 16];
    samples[7] = T::from_f64(1.0);
    let volume = Volume {
        samples,
        sizes: vec![16],
        components: 1,
        border: Border::Clamp,
    };
    for version in versions() {
        for &(name, x, wanted) in SPOTS {
            let kernel = kernel(name);
            for side in [1.0, -1.0] {
                let position = [
                    T::from_f64(7.0 + side * x),
                    T::from_f64(0.0),
                    T::from_f64(0.0),
                ];
                let result = &run(version, &volume, &[&kernel], 0b111, &[position], 0)[0];
                for (order, &(numerator, denominator)) in wanted.iter().enumerate() {
                    let wanted = numerator / denominator * f64::powi(side, order as i32);
                    let off = (result[order] - wanted).abs();
                    assert!(
                        off <= tolerance,
                        "{version:?} {name} at {x}, order {order}: {} not {wanted}",
                        result[order]
                    );
                }
            }
        }
    }
}

#[test]
fn kernels_have_their_exact_spot_values() {
    check_spots::<f64>(2e-15);
    check_spots::<f32>(1e-6);
}

#[test]
fn a_jump_of_a_derivative_takes_its_right_hand_limit() {
    let volume = Volume {
        samples: vec![1.0, 4.0, 6.0, 7.0],
        sizes: vec![4],
        components: 1,
        border: Border::Clamp,
    };
    let tent = kernel("tent");
    for version in versions() {
        let points = [1.0, 2.0].map(|x| [x, 0.0, 0.0]);
        assert_eq!(
            run(version, &volume, &[&tent], 0b10, &points, 0),
            [[2.0], [1.0]]
        );
    }
}

/// Kernel, value, gradient and Hessian (00, 01, 11) in world space.
type Tilted = (&'static str, f64, [f64; 2], Option<[f64; 3]>);

const TILTED: &[Tilted] = &[
    (
        "tent",
        3.761869978086,
        [0.014609203798, -15.748721694668],
        None,
    ),
    (
        "ctmr",
        3.156485218608,
        [0.350065968394, -16.772992955930],
        Some([-9.681908294221, -9.612293077504, 66.430750255414]),
    ),
    (
        "bspln3",
        5.012043647822,
        [0.298978955424, -6.458964585443],
        Some([-11.099525758776, -5.712851786763, 18.474060783358]),
    ),
    (
        "bspln5",
        5.444570655544,
        [0.522469358857, -3.534746209101],
        Some([-9.131928762711, -3.614885363242, 9.917821820540]),
    ),
    (
        "c4hexic",
        4.289455964954,
        [0.986165871880, -12.160592375868],
        Some([-17.426922852641, -9.736414075347, 38.318181303040]),
    ),
];

/// The inverse of the matrix whose columns are the directions (0.5, 0.1) and (−0.2, 0.7) of the grid, transposed.
const COVARIANT: [[f64; 2]; 2] = [[0.7 / 0.37, -0.1 / 0.37], [0.2 / 0.37, 0.5 / 0.37]];

#[test]
fn a_tilted_image_has_its_exact_value_gradient_and_hessian() {
    let samples: Vec<f64> = (0..72)
        .map(|n| (n % 8, n / 8))
        .map(|(i, j)| f64::from((7 * i + 13 * j + 3 * i * j) % 17))
        .collect();
    let volume = Volume {
        samples,
        sizes: vec![8, 9],
        components: 1,
        border: Border::Clamp,
    };
    let position = [123.0 / 37.0, 104.0 / 37.0, 0.0];
    for version in versions() {
        for (name, value, gradient, hessian) in TILTED {
            let kernel = kernel(name);
            let t = &run(version, &volume, &[&kernel; 2], 0b111, &[position], 0)[0];
            let index_gradient = [t[1], t[2]];
            let index_hessian = [[t[3], t[4]], [t[4], t[5]]];
            let p = COVARIANT;
            assert!((t[0] - value).abs() < 1e-11, "{version:?} {name}: {}", t[0]);
            for m in 0..2 {
                let d = p[m][0] * index_gradient[0] + p[m][1] * index_gradient[1];
                assert!((d - gradient[m]).abs() < 1e-11, "{version:?} {name}: {d}");
            }
            for (slot, (m, n)) in [(0, 0), (0, 1), (1, 1)].into_iter().enumerate() {
                let Some(hessian) = hessian else { continue };
                let mut d = 0.0;
                for i in 0..2 {
                    for j in 0..2 {
                        d += p[m][i] * p[n][j] * index_hessian[i][j];
                    }
                }
                assert!((d - hessian[slot]).abs() < 1e-11, "{version:?} {name}: {d}");
            }
        }
    }
}
