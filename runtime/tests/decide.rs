//! Decisions from bounds are those that a probe would make: for all kernels, precisions, instruction sets, borders and types of samples, at
//! random positions, on the surfaces of bricks, at the edges and outside. Thresholds are values of probes, where the least error shows.

mod kernels;
mod probing;

use kernels::{Kernel, kernel, kernels};
use probing::{Dice, Version, Volume, run, versions};
use runtime::probe::{
    Border, Decisions, EDGE, Judge, ProbeImage, Range, Spread, Verdict, lookup_decide_for,
};
use runtime::simd::Float;

/// Whether the first component is greater than a threshold.
fn above(threshold: f64) -> Judge {
    Box::new(move |ranges| match ranges[0] {
        Range { low, .. } if low > threshold => Verdict::True,
        Range { high, .. } if high <= threshold => Verdict::False,
        _ => Verdict::Open,
    })
}

/// A volume with parts that are empty, constant, and full of noise of all magnitudes, or of two numbers, between which kernels overshoot most.
fn volume<T: Float>(dice: &mut Dice, dim: usize, border: Border<'static>) -> Volume<T> {
    let sizes: Vec<usize> = (0..dim).map(|_| 3 + dice.below(24)).collect();
    let scale = 10f64.powi(dice.below(9) as i32 - 4);
    let count = sizes.iter().product();
    let (first, second) = (dice.next(), dice.next());
    let has_two = dice.below(2) == 0;
    let samples = (0..count).map(|n| {
        let part = n as f64 / count as f64;
        T::from_f64(match part {
            _ if part < first.min(second) => 0.0,
            _ if part < first.max(second) => scale * first,
            _ if has_two => scale * (dice.next().round() - 0.4),
            _ => scale * (dice.next() - 0.4),
        })
    });
    Volume {
        samples: samples.collect(),
        sizes,
        components: 1,
        border,
    }
}

fn positions<T: Float>(dice: &mut Dice, sizes: &[usize]) -> Vec<[T; 3]> {
    let count = 400;
    let mut at = |axis: usize| {
        let size = sizes.get(axis).copied().unwrap_or(1);
        let x = (size as f64 + 3.0) * dice.next() - 1.5;
        T::from_f64(match dice.below(8) {
            // Just below, on, and just above the surface of a brick.
            0 => (x / EDGE as f64).round() * EDGE as f64,
            1 => (x / EDGE as f64).round() * EDGE as f64 * (1.0 - T::EPSILON.to_f64()),
            2 => (x / EDGE as f64).round() * EDGE as f64 * (1.0 + T::EPSILON.to_f64()),
            3 => x.round(),
            4 if x > size as f64 + 1.0 => [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e30][axis],
            _ => x,
        })
    };
    (0..count).map(|_| [at(0), at(1), at(2)]).collect()
}

/// The verdicts of all positions, when all bricks were looked at.
fn verdicts<T: Float>(
    version: Version,
    image: &ProbeImage<'_>,
    kernels: &[&Kernel],
    points: &[[T; 3]],
    judge: Judge,
) -> Vec<f64> {
    let mut support = [1; 3];
    for (s, kernel) in support.iter_mut().zip(kernels) {
        *s = kernel.pieces.support();
    }
    let pieces: Vec<_> = kernels.iter().map(|k| k.pieces.clone()).collect();
    let spread = Spread::new(&pieces, T::REAL);
    let table = Decisions::new(image, support, spread, judge);
    let decide = lookup_decide_for(version.isa, T::REAL, version.width).expect("a primitive");
    let (width, dim) = (version.width, kernels.len());
    let mut found = Vec::new();
    // Bricks are looked at in the first rounds.
    for _ in 0..3 {
        found.clear();
        for block in points.chunks(width) {
            let mut planes = vec![T::from_f64(f64::NAN); dim * width];
            for (lane, point) in block.iter().enumerate() {
                for axis in 0..dim {
                    planes[axis * width + lane] = point[axis];
                }
            }
            let mask = (1u32 << block.len()) - 1;
            let mut out = vec![T::from_f64(7.0); width];
            // SAFETY: the buffers have the sizes of the lookup and the instruction set is available.
            unsafe {
                decide(
                    &table,
                    mask,
                    planes.as_ptr().cast(),
                    out.as_mut_ptr().cast(),
                )
            };
            found.extend(out[..block.len()].iter().map(|x| x.to_f64()));
        }
    }
    found
}

/// Checks some volumes; gives how many positions were decided, and how many there were.
fn check<T: Float>(seed: u64) -> [usize; 2] {
    let mut dice = Dice(seed);
    let borders = [
        Border::Clamp,
        Border::Mirror,
        Border::Wrap,
        Border::Constant(&[0.25]),
    ];
    let mut counts = [0; 2];
    for kernel in &kernels() {
        for dim in 1..=3 {
            let border = borders[dice.below(4)];
            let mut volume: Volume<T> = volume(&mut dice, dim, border);
            if dice.below(4) == 0 {
                let n = dice.below(volume.samples.len());
                volume.samples[n] = T::from_f64([f64::NAN, f64::INFINITY][dice.below(2)]);
            }
            let kernels = vec![kernel; dim];
            let points = positions::<T>(&mut dice, &volume.sizes);
            let image = ProbeImage::new(&volume.samples, &volume.sizes, 1, border).unwrap();
            for version in versions() {
                let values = run(version, &volume, &kernels, 1, &points, 0);
                let mut sorted: Vec<f64> = values.iter().map(|value| value[0]).collect();
                sorted.sort_by(f64::total_cmp);
                let finite = sorted.iter().filter(|x| x.is_finite());
                let threshold = match dice.below(4) {
                    0 => 0.0,
                    // The bounds are tested most where a value is beyond nearly all others.
                    1 => finite.rev().nth(1).copied().unwrap_or(0.0),
                    2 => finite.clone().nth(1).copied().unwrap_or(0.0),
                    _ => values[dice.below(values.len())][0],
                };
                if threshold.is_nan() {
                    continue;
                }
                let found = verdicts(version, &image, &kernels, &points, above(threshold));
                for ((point, value), verdict) in points.iter().zip(&values).zip(found) {
                    let is_above = value[0] > threshold;
                    let told = format!(
                        "seed {seed}, {version:?}, {}, {dim} dimensions: {value:?} > {threshold:?} at {point:?}, decided {verdict}",
                        kernel.name
                    );
                    assert!([-1.0, 0.0, 1.0].contains(&verdict), "{told}");
                    assert!(verdict == 0.0 || (verdict == 1.0) == is_above, "{told}");
                    counts[0] += usize::from(verdict != 0.0);
                    counts[1] += 1;
                }
            }
        }
    }
    counts
}

#[test]
fn decisions_are_those_of_probes_in_single_precision() {
    let counts = (0..40)
        .map(check::<f32>)
        .reduce(|a, b| [a[0] + b[0], a[1] + b[1]]);
    let [decided, all] = counts.unwrap();
    assert!(decided > all / 20, "{decided} of {all}");
}

#[test]
fn decisions_are_those_of_probes_in_double_precision() {
    let counts = (40..80)
        .map(check::<f64>)
        .reduce(|a, b| [a[0] + b[0], a[1] + b[1]]);
    let [decided, all] = counts.unwrap();
    assert!(decided > all / 20, "{decided} of {all}");
}

#[test]
fn a_table_that_decides_nothing_is_given_up_until_it_is_renewed() {
    let samples: Vec<f32> = (0..64 * 64 * 64).map(|n| (n % 7) as f32).collect();
    let image = ProbeImage::new(&samples, &[64; 3], 1, Border::Clamp).unwrap();
    let spread = Spread::new(&vec![kernel("bspln3").pieces; 3], f32::REAL);
    let table = Decisions::new(&image, [2; 3], spread, above(3.0));
    let decide = lookup_decide_for(runtime::simd::Isa::Baseline, f32::REAL, 1).unwrap();
    let visit = || {
        for n in 0..16 * 16 * 16 {
            let at = [n % 16, n / 16 % 16, n / 256].map(|b| (b as f32 * 4.0).clamp(1.0, 60.0));
            for _ in 0..4 {
                let mut out = [7.0f32];
                // SAFETY: there is one lane, and the baseline is always available.
                unsafe { decide(&table, 1, at.as_ptr().cast(), out.as_mut_ptr().cast()) };
                assert_eq!(out, [0.0]);
            }
        }
        table.statistics()
    };
    let (seen, decided) = visit();
    assert!(
        (500..600).contains(&seen) && decided == 0,
        "{seen}, {decided}"
    );
    table.forget();
    assert_eq!(table.statistics(), (0, 0));
    assert_eq!(visit(), (seen, 0));
}
