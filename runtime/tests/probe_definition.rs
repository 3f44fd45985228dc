//! Every version of the primitives against the definition of a probe, inside, at and beyond the border.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

mod kernels;
mod probing;

use kernels::{Kernel, kernel, kernels};
use probing::{Version, Volume, naive, noise, run, slots, versions};
use runtime::probe::{Border, Isa};
use runtime::simd::Float;

const BORDERS: [Border<'static>; 4] = [
    Border::Clamp,
    Border::Mirror,
    Border::Wrap,
    Border::Constant(&CONSTANTS),
];

/// One value for each component of a 3×3 matrix, no two alike.
const CONSTANTS: [f64; 9] = [0.5, -0.25, 0.875, -1.0, 0.125, 0.75, -0.625, 1.0, -0.375];

/// How far results with samples up to one may be off: rounding of the primitive, growing with the weights of high
/// derivatives, and of the definition, whose polynomials are evaluated far from their centres.
fn tolerance<T: Float>(order: usize) -> f64 {
    (200.0 * T::EPSILON.to_f64() + 4e-13) * 4f64.powi(order as i32)
}

fn volume<T: Float>(sizes: &[usize], components: usize, border: Border<'static>) -> Volume<T> {
    let count = sizes.iter().product::<usize>() * components;
    let border = match border {
        Border::Constant(values) => Border::Constant(&values[..components]),
        other => other,
    };
    Volume {
        samples: noise(count as u64).take(count).map(T::from_f64).collect(),
        sizes: sizes.to_vec(),
        components,
        border,
    }
}

/// Positions inside, on sample points, around the edges and far outside, per axis combined at random.
fn positions<T: Float>(sizes: &[usize], count: usize) -> Vec<[T; 3]> {
    let mut random = noise(99);
    let mut points = Vec::new();
    for i in 0..count {
        let mut point = [T::from_f64(0.0); 3];
        for (axis, &n) in sizes.iter().enumerate() {
            let n = n as f64;
            let r = random.next().unwrap_or(0.0);
            let x = match (i + 3 * axis) % 8 {
                0..=2 => (r + 1.0) / 2.0 * (n - 1.0),
                3 => (r * n).round(),
                4 => n - 1.0 + 3.0 * r,
                5 => 3.0 * r,
                6 => 40.0 * n * r,
                _ => 1e7 * r,
            };
            point[axis] = T::from_f64(x);
        }
        points.push(point);
    }
    points
}

fn check<T: Float>(
    version: Version,
    volume: &Volume<T>,
    axes: &[&Kernel],
    orders: u32,
    points: &[[T; 3]],
    idle: usize,
) {
    let slots = slots(volume, axes, orders);
    let results = run(version, volume, axes, orders, points, idle);
    assert_eq!(results.len(), points.len());
    for (point, result) in points.iter().zip(&results) {
        for (slot, &value) in slots.iter().zip(result) {
            let wanted = naive(volume, axes, slot, point);
            assert!(
                (value - wanted).abs() <= tolerance::<T>(slot.order),
                "{version:?} {} {:?} {:?} at {point:?}, {slot:?}: {value} instead of {wanted}",
                axes[0].name,
                volume.sizes,
                volume.border
            );
        }
    }
}

/// All kernels, dimensions and borders in one version and real type.
fn sweep<T: Float>(version: Version) {
    for kernel in kernels() {
        let highest = (1u32 << (kernel.continuity + 1)) - 1;
        for sizes in [&[13][..], &[9, 8], &[8, 7, 9]] {
            for border in BORDERS {
                let volume = volume::<T>(sizes, 1, border);
                let axes = vec![&kernel; sizes.len()];
                // The full block takes the specialized version only if all its lanes are inside.
                let mut points = positions::<T>(sizes, 24);
                points.extend(vec![
                    [T::from_f64(3.25), T::from_f64(3.5), T::from_f64(2.75)];
                    16
                ]);
                check(version, &volume, &axes, highest, &points, 0);
            }
        }
    }
}

#[test]
fn singles_agree_with_the_definition_in_every_version() {
    versions().into_iter().for_each(sweep::<f32>);
}

#[test]
fn doubles_agree_with_the_definition_in_every_version() {
    versions().into_iter().for_each(sweep::<f64>);
}

#[test]
fn every_component_has_its_own_results() {
    for version in versions() {
        for components in [2, 3, 4, 9] {
            let sizes = [7, 8, 6];
            for (name, orders) in [("ctmr", 0b11), ("bspln5", 0b10100), ("tent", 1)] {
                let kernel = kernel(name);
                let volume = volume::<f64>(&sizes, components, Border::Mirror);
                check(
                    version,
                    &volume,
                    &[&kernel; 3],
                    orders,
                    &positions(&sizes, 17),
                    0,
                );
            }
        }
    }
}

#[test]
fn every_component_has_its_own_value_beyond_the_border() {
    fn check_components<T: Float>(version: Version) {
        for sizes in [&[6][..], &[6, 7], &[7, 5, 6]] {
            for components in [2, 3, 4, 9] {
                let volume = volume::<T>(sizes, components, Border::Constant(&CONSTANTS));
                // Without a specialized version, then with one, which leaves these positions to the other.
                for (name, orders) in [("bspln5", 0b10100), ("ctmr", 0b11)] {
                    let kernel = kernel(name);
                    let axes = vec![&kernel; sizes.len()];
                    check(version, &volume, &axes, orders, &positions(sizes, 17), 0);
                }
            }
        }
    }
    for version in versions() {
        check_components::<f32>(version);
        check_components::<f64>(version);
    }
}

#[test]
fn any_set_of_orders_can_be_asked_for() {
    let sizes = [8, 9, 7];
    for version in versions() {
        for orders in 1..32 {
            let kernel = kernel("c4hexic");
            let volume = volume::<f64>(&sizes, 2, Border::Clamp);
            check(
                version,
                &volume,
                &[&kernel; 3],
                orders,
                &positions(&sizes, 9),
                0,
            );
        }
        for orders in 1..8 {
            let kernel = kernel("bspln3");
            let volume = volume::<f32>(&sizes[..2], 1, Border::Clamp);
            check(
                version,
                &volume,
                &[&kernel; 2],
                orders,
                &positions(&sizes[..2], 9),
                0,
            );
        }
    }
}

#[test]
fn derivatives_beyond_the_degree_are_zero() {
    let sizes = [8, 8];
    for version in versions() {
        let kernel = kernel("ctmr");
        let volume = volume::<f64>(&sizes, 1, Border::Clamp);
        check(
            version,
            &volume,
            &[&kernel; 2],
            0b1_1111_1111,
            &positions(&sizes, 9),
            0,
        );
    }
}

#[test]
fn axes_may_have_different_kernels() {
    let sizes = [8, 9, 7];
    let (a, b, c) = (kernel("tent"), kernel("bspln5"), kernel("ctmr"));
    for version in versions() {
        for border in BORDERS {
            let volume = volume::<f64>(&sizes, 2, border);
            check(
                version,
                &volume,
                &[&a, &b, &c],
                0b11,
                &positions(&sizes, 19),
                0,
            );
            check(
                version,
                &volume,
                &[&c, &a, &b],
                0b11,
                &positions(&sizes, 19),
                0,
            );
        }
    }
}

#[test]
fn images_smaller_than_the_kernel_are_probed_safely() {
    for version in versions() {
        for sizes in [&[1][..], &[2, 9], &[3, 1, 2], &[9, 9, 1]] {
            for border in BORDERS {
                for name in ["tent", "bspln3", "c4hexic"] {
                    let kernel = kernel(name);
                    let volume = volume::<f64>(sizes, 1, border);
                    let axes = vec![&kernel; sizes.len()];
                    check(version, &volume, &axes, 1, &positions(sizes, 16), 0);
                }
            }
        }
    }
}

#[test]
fn idle_lanes_neither_disturb_nor_are_read() {
    for version in versions() {
        for border in BORDERS {
            for idle in 0..version.width {
                let sizes = [8, 7, 9];
                let kernel = kernel("ctmr");
                let volume = volume::<f32>(&sizes, 1, border);
                check(
                    version,
                    &volume,
                    &[&kernel; 3],
                    0b11,
                    &positions(&sizes, 11),
                    idle,
                );
                // All active lanes inside: the idle ones must not force the general version or be trusted.
                check(
                    version,
                    &volume,
                    &[&kernel; 3],
                    0b11,
                    &[[3.5, 2.25, 4.0]; 5],
                    idle,
                );
            }
        }
    }
}

#[test]
fn a_lane_gives_the_same_bits_at_every_width_and_in_any_company() {
    let sizes = [9, 8, 10];
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for kernel in kernels() {
            for border in [Border::Clamp, Border::Mirror] {
                let volume = volume::<f32>(&sizes, 2, border);
                let axes = [&kernel; 3];
                let points = positions(&sizes, 40);
                let alone = run(Version { isa, width: 1 }, &volume, &axes, 0b111, &points, 0);
                for width in [4, 8, 16] {
                    for idle in [0, 3] {
                        let together =
                            run(Version { isa, width }, &volume, &axes, 0b111, &points, idle);
                        assert_eq!(
                            alone, together,
                            "{isa:?} {width} {} {border:?}",
                            kernel.name
                        );
                    }
                }
            }
        }
    }
}

/// Lanes that are so near each other that they may share samples: around places in the middle, at the edges and at the corners of an
/// image, a fraction of a cell or a few cells apart.
fn neighbours<T: Float>(sizes: &[usize], lanes: usize) -> Vec<[T; 3]> {
    let mut random = noise(7);
    let mut points = Vec::new();
    for place in 0..60 {
        let spread = [0.3, 0.8, 2.5, 6.0][place % 4];
        let mut centre = [0.0; 3];
        for (axis, &n) in sizes.iter().enumerate() {
            centre[axis] = match random.next().unwrap_or(0.0) {
                r if r < -0.6 => 0.0,
                r if r > 0.6 => n as f64,
                r => (r + 0.6) / 1.2 * n as f64,
            };
        }
        for _ in 0..lanes {
            points.push(centre.map(|c| T::from_f64(c + spread * random.next().unwrap_or(0.0))));
        }
    }
    points
}

fn check_neighbours<T: Float>() {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for kernel in kernels() {
            for sizes in [
                &[13][..],
                &[50],
                &[11, 9],
                &[30, 7],
                &[13, 9, 8],
                &[8, 7, 20],
            ] {
                for border in [Border::Clamp, Border::Wrap] {
                    let axes = vec![&kernel; sizes.len()];
                    for orders in [0b1, 0b11, 0b111] {
                        let volume = volume::<T>(sizes, 2, border);
                        let points = neighbours(sizes, 16);
                        let version = |width| Version { isa, width };
                        let alone = run(version(1), &volume, &axes, orders, &points, 0);
                        for (width, idle) in [(8, 0), (16, 0), (16, 5)] {
                            let together =
                                run(version(width), &volume, &axes, orders, &points, idle);
                            let name = kernel.name;
                            assert_eq!(
                                alone, together,
                                "{isa:?} {width} {name} {sizes:?} {border:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn neighbours_give_the_bits_that_they_give_alone() {
    check_neighbours::<f32>();
    check_neighbours::<f64>();
}

#[test]
fn nan_positions_give_nan_everywhere() {
    let sizes = [8, 9, 7];
    for version in versions() {
        for kernel in kernels() {
            for border in BORDERS {
                let volume = volume::<f32>(&sizes, 1, border);
                for axis in 0..3 {
                    let mut point = [3.5, 4.0, 2.5];
                    point[axis] = f32::NAN;
                    let points = [[3.5, 4.0, 2.5], point];
                    let results = run(version, &volume, &[&kernel; 3], 0b111, &points, 0);
                    assert!(results[0].iter().all(|x| x.is_finite()));
                    assert!(
                        results[1].iter().all(|x| x.is_nan()),
                        "{version:?} {} {border:?}",
                        kernel.name
                    );
                }
            }
        }
    }
}

#[test]
fn infinite_positions_give_the_border_or_nan_if_it_is_periodic() {
    let sizes = [8, 9];
    for version in versions() {
        for border in BORDERS {
            let kernel = kernel("bspln3");
            let volume = volume::<f64>(&sizes, 1, border);
            let points = [[f64::INFINITY, 4.5, 0.0], [3.25, f64::NEG_INFINITY, 0.0]];
            match border {
                Border::Clamp | Border::Constant(_) => {
                    check(version, &volume, &[&kernel; 2], 0b111, &points, 0);
                }
                Border::Mirror | Border::Wrap => {
                    let results = run(version, &volume, &[&kernel; 2], 0b111, &points, 0);
                    assert!(results.iter().flatten().all(|x| x.is_nan()));
                }
            }
        }
    }
}

#[test]
fn the_largest_positions_are_defined() {
    let sizes = [8, 9];
    for version in versions() {
        for border in BORDERS {
            let kernel = kernel("ctmr");
            let points = [
                [f64::MAX, -f64::MAX, 0.0],
                [1e300, 4.5, 0.0],
                [9007199254740993.0, -4e18, 0.0],
            ];
            check(
                version,
                &volume::<f64>(&sizes, 1, border),
                &[&kernel; 2],
                0b11,
                &points,
                0,
            );
            let points = [
                [f32::MAX, -f32::MAX, 0.0],
                [3e9, 4.5, 0.0],
                [-16777219.0, 1e30, 0.0],
            ];
            check(
                version,
                &volume::<f32>(&sizes, 1, border),
                &[&kernel; 2],
                0b11,
                &points,
                0,
            );
        }
    }
}

/// The samples that the book's page on borders has.
const SAMPLES: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 3.0, 5.0, 9.0];

fn samples() -> Volume<f64> {
    Volume {
        samples: SAMPLES.to_vec(),
        sizes: vec![SAMPLES.len()],
        components: 1,
        border: Border::Clamp,
    }
}

#[test]
fn kernels_that_interpolate_do_so_at_every_sample() {
    for version in versions() {
        for name in ["tent", "ctmr"] {
            let kernel = kernel(name);
            let points: Vec<_> = (0..SAMPLES.len()).map(|n| [n as f64, 0.0, 0.0]).collect();
            let results = run(version, &samples(), &[&kernel], 1, &points, 0);
            assert_eq!(results.concat(), SAMPLES, "{version:?} {name}");
        }
    }
}

#[test]
fn beyond_the_edge_samples_are_the_nearest() {
    for version in versions() {
        let kernel = kernel("bspln3");
        let points = [-9.0, -1.0, -0.5, 0.0, 6.0, 7.5, 99.0].map(|x| [x, 0.0, 0.0]);
        let results = run(version, &samples(), &[&kernel], 0b11, &points, 0);
        // Sums of samples with weights 1/6, 4/6, 1/6 at samples, and 1/48, 23/48, 23/48, 1/48 between them.
        let wanted = [
            [1.0, 0.0],
            [1.0, 0.0],
            [49.0 / 48.0, 1.0 / 8.0],
            [7.0 / 6.0, 1.0 / 2.0],
            [50.0 / 6.0, 2.0],
            [9.0, 0.0],
            [9.0, 0.0],
        ];
        for (result, wanted) in results.iter().flatten().zip(wanted.as_flattened()) {
            assert!((result - wanted).abs() < 1e-14, "{version:?} {results:?}");
        }
    }
}

#[test]
fn the_gradient_is_the_derivative_at_and_beyond_every_edge() {
    let sizes = [7, 6, 8];
    let h = 1e-5;
    for version in versions() {
        for kernel in kernels().into_iter().filter(|kernel| kernel.continuity > 0) {
            let volume = volume::<f64>(&sizes, 1, Border::Clamp);
            let axes = [&kernel; 3];
            for centre in positions::<f64>(&sizes, 16) {
                let gradient = &run(version, &volume, &axes, 0b10, &[centre], 0)[0];
                for axis in 0..3 {
                    let mut ends = [centre; 2];
                    ends[0][axis] -= h;
                    ends[1][axis] += h;
                    let values = run(version, &volume, &axes, 1, &ends, 0);
                    let slope = (values[1][0] - values[0][0]) / (ends[1][axis] - ends[0][axis]);
                    // The second derivative may jump where cells meet.
                    let difference = (gradient[axis] - slope).abs();
                    assert!(
                        difference < 20.0 * h,
                        "{version:?} {} at {centre:?}: {gradient:?}, {slope} along {axis}",
                        kernel.name
                    );
                }
            }
        }
    }
}
