//! Inverses against exact ones: matrices of small integers in rational arithmetic, others in twice the precision
//! of doubles, in every version.
#![allow(
    clippy::needless_range_loop,
    reason = "rows and columns index several arrays at once"
)]

use runtime::inverse::lookup_for;
use runtime::simd::{Float, Isa, WIDTHS};

/// Inverses of `size` × `size` matrices, each given row by row, through one version.
fn invert<T: Float>(isa: Isa, width: usize, size: usize, matrices: &[Vec<T>]) -> Vec<Vec<T>> {
    let primitive = lookup_for(isa, size, T::REAL, width).expect("a primitive");
    let mut results = Vec::new();
    for block in matrices.chunks(width) {
        let mut matrix = vec![T::from_f64(1.0); size * size * width];
        for (lane, m) in block.iter().enumerate() {
            for (i, &x) in m.iter().enumerate() {
                matrix[i * width + lane] = x;
            }
        }
        let mut inverse = vec![T::from_f64(123.25); size * size * width];
        // SAFETY: the buffers have the sizes of the contract and the instruction set is available.
        unsafe {
            primitive(matrix.as_ptr().cast(), inverse.as_mut_ptr().cast());
            // The result may replace the matrix.
            primitive(matrix.as_ptr().cast(), matrix.as_mut_ptr().cast());
        }
        for lane in 0..block.len() {
            let get = |buffer: &[T], i: usize| buffer[i * width + lane];
            for i in 0..size * size {
                let (apart, in_place) = (get(&inverse, i).to_f64(), get(&matrix, i).to_f64());
                assert_eq!(apart.to_bits(), in_place.to_bits());
            }
            results.push((0..size * size).map(|i| get(&inverse, i)).collect());
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

/// Whether a version fuses multiply and add.
fn fuses(isa: Isa) -> bool {
    isa != Isa::Baseline || cfg!(target_arch = "aarch64")
}

/// A number as the exact sum of a double and a much smaller one, with about 100 bits.
#[derive(Clone, Copy, Debug)]
struct Exact(f64, f64);

impl Exact {
    fn sum(a: f64, b: f64) -> Exact {
        let s = a + b;
        let t = s - a;
        Exact(s, (a - (s - t)) + (b - t))
    }

    fn product(a: f64, b: f64) -> Exact {
        let p = a * b;
        Exact(p, a.mul_add(b, -p))
    }

    fn plus(self, b: Exact) -> Exact {
        let s = Exact::sum(self.0, b.0);
        let t = Exact::sum(self.1, b.1);
        let u = Exact::sum(s.0, s.1 + t.0);
        Exact::sum(u.0, u.1 + t.1)
    }

    fn times(self, b: Exact) -> Exact {
        let p = Exact::product(self.0, b.0);
        Exact::sum(p.0, p.1 + (self.0 * b.1 + self.1 * b.0))
    }

    fn negated(self) -> Exact {
        Exact(-self.0, -self.1)
    }

    /// The quotient, to the precision of a double.
    fn over(self, b: Exact) -> f64 {
        let q = self.0 / b.0;
        let rest = self.plus(b.times(Exact(-q, 0.0)));
        q + rest.0 / b.0
    }
}

/// Cofactors of a matrix, transposed, and its determinant.
fn adjugate(size: usize, m: &[f64]) -> (Vec<Exact>, Exact) {
    let entry = |i: usize, j: usize| Exact(m[size * (i % size) + j % size], 0.0);
    let minor = |i: usize, j: usize| match size {
        2 if i == j => entry(i + 1, j + 1),
        2 => entry(i + 1, j + 1).negated(),
        _ => {
            let kept = entry(i + 1, j + 1).times(entry(i + 2, j + 2));
            kept.plus(entry(i + 1, j + 2).times(entry(i + 2, j + 1)).negated())
        }
    };
    let terms = (0..size).map(|j| entry(0, j).times(minor(0, j)));
    let determinant = terms.fold(Exact(0.0, 0.0), Exact::plus);
    let places = (0..size).flat_map(|i| (0..size).map(move |j| (j, i)));
    (places.map(|(i, j)| minor(i, j)).collect(), determinant)
}

/// How many times larger the parts of a sum are than the sum: of the determinant of a 2×2 matrix, and at most of
/// the determinant and of any cofactor of a 3×3 matrix.
fn cancellation(size: usize, m: &[f64]) -> (f64, f64) {
    let (adjugate, determinant) = adjugate(size, m);
    let parts = |row: usize| {
        let terms = (0..size).map(|j| (m[size * row + j] * adjugate[size * j + row].0).abs());
        terms.sum::<f64>() / determinant.0.abs()
    };
    let of_determinant = parts(0);
    if size == 2 {
        return (of_determinant, 1.0);
    }
    let mut of_cofactors = 1.0f64;
    for (at, cofactor) in adjugate.iter().enumerate() {
        let (j, i) = (at / 3, at % 3);
        let entry = |i: usize, j: usize| m[3 * (i % 3) + j % 3];
        let size = (entry(i + 1, j + 1) * entry(i + 2, j + 2)).abs()
            + (entry(i + 1, j + 2) * entry(i + 2, j + 1)).abs();
        of_cofactors = of_cofactors.max(size / cofactor.0.abs());
    }
    (of_determinant, of_cofactors)
}

fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    }
}

/// Random matrices, and ones whose last row is nearly a combination of the others.
fn matrices<T: Float>(size: usize) -> Vec<Vec<T>> {
    let mut next = noise(7);
    let mut matrices = Vec::new();
    for n in 0..240 {
        let mut m: Vec<f64> = (0..size * size).map(|_| next()).collect();
        if n % 3 > 0 {
            let gap = 10f64.powi(-(n % 13));
            for j in 0..size {
                let others: f64 = (0..size - 1).map(|i| m[size * i + j]).sum();
                m[size * (size - 1) + j] = others + gap * next();
            }
        }
        if n % 3 == 2 {
            m.iter_mut().for_each(|x| *x *= 1e3);
        }
        matrices.push(m.into_iter().map(T::from_f64).collect());
    }
    matrices
}

fn check_accuracy<T: Float>(isa: Isa, width: usize, size: usize) {
    let matrices = matrices::<T>(size);
    for (m, inverse) in matrices.iter().zip(invert(isa, width, size, &matrices)) {
        let m: Vec<f64> = m.iter().map(|x| x.to_f64()).collect();
        let (adjugate, determinant) = adjugate(size, &m);
        // Rounding to singles has made some exactly singular.
        if determinant.0 == 0.0 {
            continue;
        }
        let (of_determinant, of_cofactors) = cancellation(size, &m);
        let roundings = match (fuses(isa), size) {
            (true, 2) => 1.25,
            (true, _) => 2.0 + 3.0 * of_determinant,
            (false, _) => (2.0 + 3.0 * of_determinant) * of_cofactors,
        };
        // Beyond that no digit of the determinant is left.
        if roundings * T::EPSILON.to_f64() > 0.1 {
            continue;
        }
        for (cofactor, entry) in adjugate.iter().zip(&inverse) {
            let wanted = cofactor.over(determinant);
            let off = (entry.to_f64() - wanted).abs() / (wanted.abs() * T::EPSILON.to_f64());
            assert!(
                off <= roundings,
                "{isa:?} {width}: {entry:?} is {off} roundings from {wanted}, {roundings} allowed, for {m:?}"
            );
        }
    }
}

#[test]
fn inverses_are_as_accurate_as_promised() {
    for_every_version(|isa, width| {
        for size in [2, 3] {
            check_accuracy::<f32>(isa, width, size);
            check_accuracy::<f64>(isa, width, size);
        }
    });
}

#[test]
fn inverses_of_small_integers_are_rounded_once() {
    // All cofactors and determinants are integers that any real type holds.
    let mut next = noise(3);
    for_every_version(|isa, width| {
        for size in [2, 3] {
            let mut integers = Vec::new();
            let mut wanted = Vec::new();
            while integers.len() < 40 {
                let m: Vec<f64> = (0..size * size).map(|_| (9.0 * next()).round()).collect();
                let (adjugate, determinant) = adjugate(size, &m);
                if determinant.0 != 0.0 {
                    wanted.push(
                        adjugate
                            .iter()
                            .map(|c| c.0 / determinant.0)
                            .collect::<Vec<_>>(),
                    );
                    integers.push(m);
                }
            }
            assert_eq!(
                invert(isa, width, size, &integers),
                wanted,
                "{isa:?} {width}"
            );
        }
    });
}

#[test]
fn singular_matrices_give_infinities_and_nan() {
    for_every_version(|isa, width| {
        let classes = |m: &[f64]| -> String {
            let size = if m.len() == 4 { 2 } else { 3 };
            let inverse = &invert(isa, width, size, &[m.to_vec()])[0];
            let class = |x: &f64| match x {
                x if x.is_nan() => '?',
                x if x.is_infinite() && *x > 0.0 => '+',
                x if x.is_infinite() => '-',
                _ => '0',
            };
            inverse.iter().map(class).collect()
        };
        assert_eq!(classes(&[1.0, 2.0, 2.0, 4.0]), "+--+");
        assert_eq!(classes(&[1.0, 0.0, 0.0, 0.0]), "???+");
        assert_eq!(classes(&[0.0; 4]), "????");
        // Rank two, cofactors −3 6 −3, 6 −12 6, −3 6 −3.
        let rank_two = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        assert_eq!(classes(&rank_two), "-+-+-+-+-");
        let rank_one = [1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0, 9.0];
        assert_eq!(classes(&rank_one), "?????????");
        assert_eq!(classes(&[0.0; 9]), "?????????");
    });
}

#[test]
fn a_matrix_that_is_not_finite_gives_nan_and_leaves_its_neighbours_alone() {
    for_every_version(|isa, width| {
        for size in [2, 3] {
            let mut good = vec![0.0f32; size * size];
            (0..size).for_each(|i| good[size * i + i] = 4.0);
            let wanted: Vec<f32> = good.iter().map(|x| x / 16.0).collect();
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                for place in 0..size * size {
                    let mut broken = good.clone();
                    broken[place] = bad;
                    let results = invert(isa, width, size, &[good.clone(), broken, good.clone()]);
                    assert!(results[1].iter().all(|x| x.is_nan()), "{bad} at {place}");
                    assert_eq!(results[0], wanted);
                    assert_eq!(results[2], wanted);
                }
            }
        }
    });
}

#[test]
fn huge_and_tiny_matrices_neither_overflow_nor_vanish() {
    fn check<T: Float>(isa: Isa, width: usize, exponents: &[i32]) {
        for size in [2, 3] {
            let base = &matrices::<T>(size)[0];
            let inverse = &invert(isa, width, size, std::slice::from_ref(base))[0];
            for &exponent in exponents {
                // Two factors, since the smallest number has no inverse.
                let scaled = |m: &[T], exponent: i32| -> Vec<T> {
                    let half = 2f64.powi(exponent / 2);
                    let rest = 2f64.powi(exponent - exponent / 2);
                    m.iter()
                        .map(|x| T::from_f64(x.to_f64() * half * rest))
                        .collect()
                };
                let result = &invert(isa, width, size, &[scaled(base, exponent)])[0];
                let wanted = scaled(inverse, -exponent);
                for (x, y) in result.iter().zip(&wanted) {
                    assert_eq!(x.to_f64(), y.to_f64(), "{isa:?} {width}, 2^{exponent}");
                }
            }
        }
    }
    for_every_version(|isa, width| {
        check::<f32>(isa, width, &[-100, -60, -17, 17, 40, 65, 100, 119]);
        check::<f64>(isa, width, &[-960, -600, -400, -33, 33, 500, 700, 1000]);
    });
}

#[test]
fn a_lane_gives_the_same_bits_at_every_width() {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for size in [2, 3] {
            // Matrices of all magnitudes side by side.
            let mut matrices = matrices::<f32>(size);
            for (n, m) in matrices.iter_mut().enumerate() {
                let factor = 2f32.powi(n as i32 % 17 * 12 - 96);
                m.iter_mut().for_each(|x| *x *= factor);
            }
            let bits = |inverses: Vec<Vec<f32>>| -> Vec<u32> {
                inverses.iter().flatten().map(|x| x.to_bits()).collect()
            };
            let alone = bits(invert(isa, 1, size, &matrices));
            for width in [4, 8, 16] {
                assert_eq!(
                    alone,
                    bits(invert(isa, width, size, &matrices)),
                    "{isa:?} {width}"
                );
            }
        }
    }
}

#[test]
fn other_sizes_and_widths_are_refused() {
    assert!(lookup_for(Isa::Baseline, 4, f32::REAL, 8).is_err());
    assert!(lookup_for(Isa::Baseline, 3, f32::REAL, 5).is_err());
}
