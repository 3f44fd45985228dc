//! Eigensystems: reference values, residuals and orthogonality for matrices with known or random spectra, in
//! every version.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

use runtime::eigen::lookup_for;
use runtime::simd::{Float, Isa, WIDTHS};

/// Values and vectors of `size` × `size` matrices, each given row by row, through one version.
fn solve<T: Float>(
    isa: Isa,
    width: usize,
    size: usize,
    matrices: &[Vec<f64>],
) -> Vec<(Vec<f64>, Vec<Vec<f64>>)> {
    let primitive = lookup_for(isa, size, T::REAL, width).expect("a primitive");
    let mut results = Vec::new();
    for block in matrices.chunks(width) {
        let zero = T::from_f64(0.0);
        let mut matrix = vec![zero; size * size * width];
        for (lane, m) in block.iter().enumerate() {
            for (i, &x) in m.iter().enumerate() {
                matrix[i * width + lane] = T::from_f64(x);
            }
        }
        let (mut values, mut vectors) = (vec![zero; size * width], vec![zero; size * size * width]);
        // SAFETY: the buffers have the sizes of the contract and the instruction set is available.
        unsafe {
            primitive(
                matrix.as_ptr().cast(),
                values.as_mut_ptr().cast(),
                vectors.as_mut_ptr().cast(),
            )
        };
        for lane in 0..block.len() {
            let get = |buffer: &[T], slot: usize| buffer[slot * width + lane].to_f64();
            results.push((
                (0..size).map(|i| get(&values, i)).collect(),
                (0..size)
                    .map(|i| (0..size).map(|j| get(&vectors, size * i + j)).collect())
                    .collect(),
            ));
        }
    }
    results
}

fn for_every_version(mut check: impl FnMut(Isa, usize)) {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for width in WIDTHS {
            check(isa, width);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn determinant(e: &[Vec<f64>]) -> f64 {
    match e {
        [a, b] => a[0] * b[1] - a[1] * b[0],
        [a, b, c] => {
            a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                + a[2] * (b[0] * c[1] - b[1] * c[0])
        }
        _ => unreachable!("systems have two or three vectors"),
    }
}

/// Checks everything that defines an eigensystem, in units of the rounding of the largest entry.
fn check_system<T: Float>(
    size: usize,
    m: &[f64],
    values: &[f64],
    vectors: &[Vec<f64>],
    roundings: f64,
) {
    let rounded: Vec<f64> = m.iter().map(|&x| T::from_f64(x).to_f64()).collect();
    let scale = rounded.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    let unit = roundings * T::EPSILON.to_f64();
    assert!(
        values.windows(2).all(|v| v[0] >= v[1]),
        "{values:?} do not descend for {m:?}"
    );
    for (i, e) in vectors.iter().enumerate() {
        for (j, f) in vectors.iter().enumerate() {
            let wanted = if i == j { 1.0 } else { 0.0 };
            assert!(
                (dot(e, f) - wanted).abs() <= unit,
                "vectors {vectors:?} of {m:?} are not orthonormal"
            );
        }
        for row in 0..size {
            let product: f64 = (0..size)
                .map(|c| {
                    rounded[if row <= c {
                        row * size + c
                    } else {
                        c * size + row
                    }] * e[c]
                })
                .sum();
            let residual = (product - values[i] * e[row]).abs();
            assert!(
                residual <= unit * scale,
                "residual {residual} of {values:?} {vectors:?} for {m:?}"
            );
        }
    }
    assert!(
        (determinant(vectors) - 1.0).abs() <= 3.0 * unit,
        "{vectors:?} is not right-handed"
    );
}

/// Rotation × diagonal × its transpose, from three angles.
fn from_spectrum(spectrum: [f64; 3], angles: [f64; 3]) -> Vec<f64> {
    let [(sa, ca), (sb, cb), (sc, cc)] = angles.map(f64::sin_cos);
    let r = [
        [cb * cc, sa * sb * cc - ca * sc, ca * sb * cc + sa * sc],
        [cb * sc, sa * sb * sc + ca * cc, ca * sb * sc - sa * cc],
        [-sb, sa * cb, ca * cb],
    ];
    let mut m = Vec::new();
    for i in 0..3 {
        for j in 0..3 {
            m.push((0..3).map(|k| r[i][k] * spectrum[k] * r[j][k]).sum());
        }
    }
    m
}

fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    })
}

/// Random matrices, and ones with nearly or exactly equal eigenvalues.
fn spatial_matrices() -> Vec<Vec<f64>> {
    let mut random = noise(5);
    let mut next = || random.next().unwrap_or(0.5);
    let mut matrices = Vec::new();
    for i in 0..150 {
        let gap = 10f64.powi(-(i % 18));
        let spectrum = match i % 5 {
            0 => [next(), next(), next()],
            1 => [1.0, 1.0 - gap, next()],
            2 => [1.0, 1.0 + gap, 1.0 - gap * next()],
            3 => [1.0, gap, gap * gap],
            _ => [-2.0, -2.0, 3.0],
        };
        matrices.push(from_spectrum(
            spectrum,
            [3.0 * next(), 3.0 * next(), 3.0 * next()],
        ));
    }
    matrices.extend((0..64).map(|_| (0..9).map(|_| next()).collect()));
    matrices
}

#[test]
fn spatial_systems_are_accurate_to_rounding() {
    for_every_version(|isa, width| {
        let matrices = spatial_matrices();
        for (m, (values, vectors)) in matrices.iter().zip(solve::<f32>(isa, width, 3, &matrices)) {
            check_system::<f32>(3, m, &values, &vectors, 12.0);
        }
        for (m, (values, vectors)) in matrices.iter().zip(solve::<f64>(isa, width, 3, &matrices)) {
            check_system::<f64>(3, m, &values, &vectors, 12.0);
        }
    });
}

#[test]
fn planar_systems_are_accurate_to_rounding() {
    let mut random = noise(8);
    let mut next = || random.next().unwrap_or(0.5);
    let mut matrices = Vec::new();
    for i in 0..120 {
        let (mean, gap, angle) = (next(), 10f64.powi(-(i % 19)) * next(), 3.0 * next());
        let (s, c) = (2.0 * angle).sin_cos();
        matrices.push(vec![mean + gap * c, gap * s, 77.0, mean - gap * c]);
    }
    for_every_version(|isa, width| {
        for (m, (values, vectors)) in matrices.iter().zip(solve::<f32>(isa, width, 2, &matrices)) {
            check_system::<f32>(2, &[m[0], m[1], m[1], m[3]], &values, &vectors, 6.0);
        }
        for (m, (values, vectors)) in matrices.iter().zip(solve::<f64>(isa, width, 2, &matrices)) {
            check_system::<f64>(2, &[m[0], m[1], m[1], m[3]], &values, &vectors, 6.0);
        }
    });
}

#[test]
fn eigenvalues_match_the_spectrum_a_matrix_was_made_from() {
    for_every_version(|isa, width| {
        let spectra = [
            [5.0, 3.0, 1.0],
            [2.0, -1.0, -4.0],
            [1.0, 1.0 - 1e-9, -1.0],
            [7.0, 7.0, 7.0],
        ];
        let matrices: Vec<_> = spectra
            .iter()
            .map(|&s| from_spectrum(s, [0.3, -1.1, 2.0]))
            .collect();
        for (spectrum, (values, _)) in spectra.iter().zip(solve::<f64>(isa, width, 3, &matrices)) {
            for (wanted, value) in spectrum.iter().zip(values) {
                assert!(
                    (wanted - value).abs() < 2e-14,
                    "{value} instead of {wanted}"
                );
            }
        }
    });
}

#[test]
fn planar_reference_systems_have_their_vectors() {
    let h = 0.5f64.sqrt();
    let (u, v) = (0.5257311121191336, 0.8506508083520399);
    let table = [
        (vec![2.0, 1.0, 1.0, 2.0], [3.0, 1.0], [[h, h], [-h, h]]),
        (
            vec![1.0, 0.0, 0.0, 2.0],
            [2.0, 1.0],
            [[0.0, 1.0], [-1.0, 0.0]],
        ),
        (
            vec![2.0, 0.0, 0.0, 1.0],
            [2.0, 1.0],
            [[1.0, 0.0], [0.0, 1.0]],
        ),
        (
            vec![2.0, 1.0, 7.0, 3.0],
            [3.618033988749895, 1.381966011250105],
            [[u, v], [-v, u]],
        ),
        (vec![2.0, -1.0, -1.0, 2.0], [3.0, 1.0], [[-h, h], [-h, -h]]),
        (
            vec![2.0, 0.0, 0.0, 2.0],
            [2.0, 2.0],
            [[1.0, 0.0], [0.0, 1.0]],
        ),
        (vec![0.0; 4], [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]),
    ];
    for_every_version(|isa, width| {
        let matrices: Vec<_> = table.iter().map(|row| row.0.clone()).collect();
        for ((m, lambda, e), (values, vectors)) in
            table.iter().zip(solve::<f64>(isa, width, 2, &matrices))
        {
            let close = |a: f64, b: f64| (a - b).abs() < 1e-15 * 4.0;
            assert!(
                values.iter().zip(lambda).all(|(a, b)| close(*a, *b)),
                "{values:?} for {m:?}"
            );
            let flat = vectors.iter().flatten().zip(e.iter().flatten());
            assert!(
                flat.into_iter().all(|(a, b)| close(*a, *b)),
                "{vectors:?} for {m:?}"
            );
        }
    });
}

#[test]
fn spatial_reference_systems_have_their_vectors_up_to_sign() {
    let h = 0.5f64.sqrt();
    type Row = ([f64; 9], [f64; 3], Option<[[f64; 3]; 3]>);
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let table: [Row; 6] = [
        (
            [2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 5.0],
            [5.0, 3.0, 1.0],
            Some([[0.0, 0.0, 1.0], [h, h, 0.0], [-h, h, 0.0]]),
        ),
        (
            [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0],
            [3.0, 2.0, 1.0],
            Some([axes[2], axes[1], axes[0]]),
        ),
        (
            [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 5.0],
            [5.0, 2.0, 2.0],
            None,
        ),
        (
            [2.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 5.0],
            [5.0, 5.0, 2.0],
            None,
        ),
        (
            [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0],
            [2.0; 3],
            Some(axes),
        ),
        ([0.0; 9], [0.0; 3], Some(axes)),
    ];
    for_every_version(|isa, width| {
        let matrices: Vec<_> = table.iter().map(|row| row.0.to_vec()).collect();
        for ((m, lambda, e), (values, vectors)) in
            table.iter().zip(solve::<f64>(isa, width, 3, &matrices))
        {
            check_system::<f64>(3, m, &values, &vectors, 8.0);
            assert!(
                values
                    .iter()
                    .zip(lambda)
                    .all(|(a, b)| (a - b).abs() < 4e-15),
                "{values:?} for {m:?}"
            );
            for (vector, wanted) in vectors.iter().zip(e.iter().flatten()) {
                assert!(
                    (dot(vector, wanted).abs() - 1.0).abs() < 1e-15 * 4.0,
                    "{vectors:?} for {m:?}"
                );
            }
        }
    });
}

#[test]
fn the_lower_triangle_is_not_read() {
    for_every_version(|isa, width| {
        let upper = vec![2.0, 1.0, 0.5, 9.0, 3.0, -1.0, f64::NAN, 8.0, 1.0];
        let symmetric = vec![2.0, 1.0, 0.5, 1.0, 3.0, -1.0, 0.5, -1.0, 1.0];
        assert_eq!(
            solve::<f64>(isa, width, 3, &[upper]),
            solve::<f64>(isa, width, 3, &[symmetric])
        );
    });
}

#[test]
fn huge_and_tiny_matrices_neither_overflow_nor_vanish() {
    for_every_version(|isa, width| {
        let base = from_spectrum([3.0, 2.0, -1.0], [0.4, 0.5, 0.6]);
        for exponent in [-100, -30, 30, 120] {
            let m: Vec<f64> = base.iter().map(|x| x * 2f64.powi(exponent)).collect();
            let planar = vec![m[0], m[1], m[1], m[4]];
            let (values, vectors) = &solve::<f32>(isa, width, 3, std::slice::from_ref(&m))[0];
            check_system::<f32>(3, &m, values, vectors, 12.0);
            let (values, vectors) = &solve::<f32>(isa, width, 2, std::slice::from_ref(&planar))[0];
            check_system::<f32>(2, &planar, values, vectors, 6.0);
        }
    });
}

#[test]
fn a_matrix_that_is_not_finite_gives_nan_and_leaves_its_neighbours_alone() {
    for_every_version(|isa, width| {
        for bad in [f64::NAN, f64::INFINITY] {
            let good = from_spectrum([3.0, 2.0, -1.0], [0.4, 0.5, 0.6]);
            let mut broken = good.clone();
            broken[1] = bad;
            let results = solve::<f32>(isa, width, 3, &[good.clone(), broken, good.clone()]);
            assert!(
                results[1]
                    .0
                    .iter()
                    .chain(results[1].1.iter().flatten())
                    .all(|x| x.is_nan())
            );
            assert_eq!(
                results[0],
                solve::<f32>(isa, width, 3, std::slice::from_ref(&good))[0]
            );
            let planar = solve::<f32>(
                isa,
                width,
                2,
                &[vec![1.0, bad, bad, 2.0], vec![1.0, 0.0, 0.0, 2.0]],
            );
            assert!(
                planar[0]
                    .0
                    .iter()
                    .chain(planar[0].1.iter().flatten())
                    .all(|x| x.is_nan())
            );
            assert_eq!(planar[1].0, [2.0, 1.0]);
        }
    });
}

#[test]
fn a_lane_gives_the_same_bits_at_every_width() {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let matrices = spatial_matrices();
        let alone = solve::<f32>(isa, 1, 3, &matrices);
        for width in [4, 8, 16] {
            assert_eq!(
                alone,
                solve::<f32>(isa, width, 3, &matrices),
                "{isa:?} {width}"
            );
        }
    }
}
