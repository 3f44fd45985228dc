//! Kernels reproduce polynomials with all their derivatives in world space, on rotated, sheared and anisotropic
//! grids.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

mod kernels;
mod probing;

use kernels::{Kernel, kernels};
use probing::{Version, Volume, noise, run, slots, versions};
use runtime::probe::{Border, Isa};
use runtime::simd::Float;
use std::collections::BTreeMap;

/// Sum of coefficient times monomial, by exponents.
type Polynomial = BTreeMap<[usize; 3], f64>;

/// The highest total degree of polynomials whose derivatives of an order a kernel reproduces exactly.
fn exact_degree(kernel: &Kernel, order: usize) -> usize {
    match kernel.name {
        "tent" => 1,
        "ctmr" => 2,
        // B-splines blur: a derivative forgives one more degree than the derivative before it.
        "bspln3" | "bspln5" => order + 1,
        "c4hexic" => 3,
        name => unreachable!("no kernel is called {name}"),
    }
}

fn random_polynomial(
    dim: usize,
    degree: usize,
    random: &mut impl Iterator<Item = f64>,
) -> Polynomial {
    let mut polynomial = Polynomial::new();
    for x in 0..degree + 1 {
        for y in 0..if dim > 1 { degree - x + 1 } else { 1 } {
            for z in 0..if dim > 2 { degree - x - y + 1 } else { 1 } {
                polynomial.insert([x, y, z], random.next().unwrap_or(1.0));
            }
        }
    }
    polynomial
}

fn eval(polynomial: &Polynomial, p: [f64; 3]) -> f64 {
    polynomial
        .iter()
        .map(|(e, c)| c * (0..3).map(|a| p[a].powi(e[a] as i32)).product::<f64>())
        .sum()
}

fn derivative(polynomial: &Polynomial, axis: usize) -> Polynomial {
    let lower = |(e, c): (&[usize; 3], &f64)| {
        let mut lowered = *e;
        lowered[axis] = e[axis].checked_sub(1)?;
        Some((lowered, c * e[axis] as f64))
    };
    polynomial.iter().filter_map(lower).collect()
}

/// A grid in world space: `p = B x + o`, columns of `B` are the directions of the axes.
struct Grid {
    directions: [[f64; 3]; 3],
    origin: [f64; 3],
}

impl Grid {
    /// Rotated about an oblique axis, sheared and stretched differently along each axis.
    fn oblique(dim: usize) -> Grid {
        let (s, c) = 0.7f64.sin_cos();
        let directions = match dim {
            1 => [[-0.3, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            2 => [
                [0.4 * c, 0.4 * s, 0.0],
                [-0.25 * s + 0.1, 0.25 * c, 0.0],
                [0.0, 0.0, 1.0],
            ],
            _ => [
                [0.4 * c, 0.4 * s, 0.05],
                [-0.25 * s + 0.1, 0.25 * c, 0.1],
                [0.08, -0.06, 0.6],
            ],
        };
        Grid {
            directions,
            origin: [0.4, -0.3, 0.2],
        }
    }

    fn world(&self, x: [f64; 3]) -> [f64; 3] {
        let mut p = self.origin;
        for axis in 0..3 {
            for i in 0..3 {
                p[i] += self.directions[axis][i] * x[axis];
            }
        }
        p
    }

    /// `∂x_i / ∂p_m` as `[m][i]`: the inverse of `B`, transposed.
    fn covariant(&self) -> [[f64; 3]; 3] {
        // Row i of the inverse is the cross product of the other two columns over the determinant.
        let [a, b, c] = self.directions;
        let cross = |u: [f64; 3], v: [f64; 3]| {
            [
                u[1] * v[2] - u[2] * v[1],
                u[2] * v[0] - u[0] * v[2],
                u[0] * v[1] - u[1] * v[0],
            ]
        };
        let determinant: f64 = (0..3).map(|i| a[i] * cross(b, c)[i]).sum();
        let rows = [cross(b, c), cross(c, a), cross(a, b)];
        let mut p = [[0.0; 3]; 3];
        for m in 0..3 {
            for i in 0..3 {
                p[m][i] = rows[i][m] / determinant;
            }
        }
        p
    }
}

/// All tuples of `order` axes.
fn tuples(dim: usize, order: usize) -> Vec<Vec<usize>> {
    (0..order).fold(vec![vec![]], |tuples, _| {
        tuples
            .iter()
            .flat_map(|t| (0..dim).map(|a| [t.as_slice(), &[a]].concat()))
            .collect()
    })
}

/// Samples one polynomial per component, probes, transforms to world space and compares with calculus.
fn check<T: Float>(
    version: Version,
    kernel: &Kernel,
    dim: usize,
    components: usize,
    order: usize,
    tolerance: f64,
) {
    let mut random = noise((dim * 100 + order) as u64);
    let grid = Grid::oblique(dim);
    let degree = exact_degree(kernel, order);
    let polynomials: Vec<Polynomial> = (0..components)
        .map(|_| random_polynomial(dim, degree, &mut random))
        .collect();
    let sizes = [9, 8, 10][..dim].to_vec();
    let mut samples = Vec::new();
    for polynomial in &polynomials {
        for z in 0..*sizes.get(2).unwrap_or(&1) {
            for y in 0..*sizes.get(1).unwrap_or(&1) {
                for x in 0..sizes[0] {
                    samples.push(T::from_f64(eval(
                        polynomial,
                        grid.world([x, y, z].map(|i| i as f64)),
                    )));
                }
            }
        }
    }
    let volume = Volume {
        samples,
        sizes,
        components,
        border: Border::Clamp,
    };
    let axes = vec![kernel; dim];
    let points: Vec<[T; 3]> = (0..5)
        .map(|_| {
            let mut point = [T::from_f64(0.0); 3];
            for (x, &n) in point.iter_mut().zip(&volume.sizes) {
                let s = kernel.pieces.support() as f64;
                let r = (random.next().unwrap_or(0.0) + 1.0) / 2.0;
                *x = T::from_f64(s - 1.0 + r * (n as f64 - 2.0 * s + 1.0));
            }
            point
        })
        .collect();
    let slots = slots(&volume, &axes, 1 << order);
    let results = run(version, &volume, &axes, 1 << order, &points, 0);
    let covariant = grid.covariant();
    for (point, result) in points.iter().zip(&results) {
        let p = grid.world(point.map(|x| x.to_f64()));
        for (component, polynomial) in polynomials.iter().enumerate() {
            for world in tuples(dim, order) {
                let mut derived = polynomial.clone();
                for &axis in &world {
                    derived = derivative(&derived, axis);
                }
                let wanted = eval(&derived, p);
                let mut value = 0.0;
                for index in tuples(dim, order) {
                    let factor: f64 = world
                        .iter()
                        .zip(&index)
                        .map(|(&m, &i)| covariant[m][i])
                        .product();
                    let counts = [0, 1, 2].map(|axis| index.iter().filter(|&&i| i == axis).count());
                    let slot = slots
                        .iter()
                        .position(|s| s.component == component && s.counts == counts);
                    value += factor * result[slot.expect("a slot for every derivative")];
                }
                assert!(
                    (value - wanted).abs() <= tolerance,
                    "{version:?} {} {dim}-D component {component} ∂{world:?}: {value} instead of {wanted}",
                    kernel.name
                );
            }
        }
    }
}

#[test]
fn every_kernel_reproduces_its_polynomials_with_all_derivatives() {
    for version in versions() {
        for kernel in kernels() {
            for dim in 1..4 {
                for order in 0..kernel.continuity + 1 {
                    check::<f64>(
                        version,
                        &kernel,
                        dim,
                        1,
                        order,
                        1e-11 * 6f64.powi(order as i32),
                    );
                }
            }
        }
    }
}

#[test]
fn singles_reproduce_polynomials_to_their_precision() {
    for version in versions() {
        for kernel in kernels() {
            for dim in 1..4 {
                // Dividing by small spacings amplifies rounding by about ten per order.
                for (order, tolerance) in [(0, 1e-4), (1, 1e-3), (2, 3e-2)] {
                    if order <= kernel.continuity {
                        check::<f32>(version, &kernel, dim, 1, order, tolerance);
                    }
                }
            }
        }
    }
}

#[test]
fn one_to_nine_components_are_reproduced_alike() {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for kernel in kernels() {
            for components in 1..10 {
                for order in 0..kernel.continuity.min(2) + 1 {
                    check::<f64>(
                        Version { isa, width: 8 },
                        &kernel,
                        3,
                        components,
                        order,
                        1e-10,
                    );
                }
            }
        }
    }
}
