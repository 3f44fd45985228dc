//! Runs every variant in turn and prints the table.

use crate::by_hand::{Hand, Scalar};
use crate::kernels::{self, Kernel};
use runtime::probe::{Border, Isa, ProbeFn, ProbeImage, ProbeKernel, ProbeSpec, lookup, outputs};
use runtime::simd::Float;
use std::hint::black_box;
use std::time::Instant;

const SIZE: usize = 128;
const POINTS: usize = 1 << 15;
const REPETITIONS: usize = 15;

/// Kernel and orders of one line of the table.
const CASES: [(&str, usize); 4] = [("bspln3", 2), ("ctmr", 1), ("tent", 0), ("c4hexic", 1)];

/// Prints the table.
pub(crate) fn print_table() {
    println!(
        "volume {SIZE}^3, {POINTS} points, best of {REPETITIONS}, ns per probe; {:?}",
        Isa::detect()
    );
    println!(
        "{:<24} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>11}",
        "", "W=1", "W=4", "W=8", "W=16", "scalar", "by hand", "W=16/hand"
    );
    for (name, order) in CASES {
        let kernel = kernels::kernel(name);
        line::<f32>(&kernel, order, "f32");
        line::<f64>(&kernel, order, "f64");
    }
}

fn line<T: Float + Hand + Scalar>(kernel: &Kernel, order: usize, real: &str) {
    for coherent in [true, false] {
        let points = points(coherent);
        let samples: Vec<T> = noise(3).take(SIZE * SIZE * SIZE).map(T::from_f64).collect();
        let axes: Vec<Vec<T>> = (0..3)
            .map(|a| points.iter().map(|p| T::from_f64(p[a])).collect())
            .collect();
        let mut primitives =
            [1, 4, 8, 16].map(|w| Primitive::<T>::new(kernel, order, w, &samples, &points));
        let count = primitives[0].count;
        let mut scalar_out = vec![T::from_f64(0.0); count * POINTS];
        let mut hand_out = scalar_out.clone();
        let has_hand = Isa::detect() == Isa::Avx512;
        // The variants take turns, so that a busy machine slows all of them alike; the best run counts.
        let mut times = [f64::INFINITY; 6];
        for _ in 0..REPETITIONS {
            for (time, primitive) in times.iter_mut().zip(&mut primitives) {
                *time = time.min(nanoseconds(|| primitive.run()));
            }
            let scalar = || T::scalar(kernel.name, order, &samples, SIZE, &axes, &mut scalar_out);
            times[4] = times[4].min(nanoseconds(scalar));
            if has_hand {
                let hand = || T::by_hand(kernel.name, order, &samples, SIZE, &axes, &mut hand_out);
                times[5] = times[5].min(nanoseconds(hand));
            }
        }
        check_agreement(&primitives[3].by_output(), &scalar_out);
        if has_hand {
            check_agreement(
                &primitives[3].by_output(),
                &by_output(&hand_out, count, T::LANES),
            );
        }
        let title = format!(
            "{} D{order} {real} {}",
            kernel.name,
            if coherent { "coherent" } else { "random" }
        );
        let columns: String = times.iter().map(|t| format!(" {t:>8.2}")).collect();
        println!("{title:<24}{columns} {:>11.2}", times[3] / times[5]);
    }
}

/// A primitive with its data.
struct Primitive<'a, T> {
    probe: ProbeFn,
    table: ProbeKernel,
    image: ProbeImage<'a>,
    width: usize,
    count: usize,
    /// Positions as strands hold them, in blocks of `[axis][width]`.
    blocks: Vec<T>,
    /// Results, in blocks of `[output][width]`.
    out: Vec<T>,
}

impl<'a, T: Float> Primitive<'a, T> {
    fn new(
        kernel: &Kernel,
        order: usize,
        width: usize,
        samples: &'a [T],
        points: &[[f64; 3]],
    ) -> Primitive<'a, T> {
        let spec = ProbeSpec {
            real: T::REAL,
            width,
            dim: 3,
            support: [kernel.pieces.support(); 3],
            degree: kernel.pieces.degree(),
            orders: (2 << order) - 1,
            components: 1,
            frames: 0,
        };
        let mut blocks = Vec::new();
        for block in points.chunks(width) {
            for axis in 0..3 {
                blocks.extend(block.iter().map(|p| T::from_f64(p[axis])));
            }
        }
        let count = outputs(&spec).len();
        Primitive {
            probe: lookup(&spec).expect("a primitive"),
            table: ProbeKernel::new(&spec, &[&kernel.pieces; 3])
                .expect("a kernel for the specification"),
            image: ProbeImage::new(samples, &[SIZE; 3], 1, Border::Clamp).expect("an image"),
            width,
            count,
            blocks,
            out: vec![T::from_f64(0.0); count * POINTS],
        }
    }

    fn run(&mut self) {
        let probe = black_box(self.probe);
        let results = self.out.chunks_mut(self.count * self.width);
        for (block, out) in self.blocks.chunks(3 * self.width).zip(results) {
            // SAFETY: the buffers have the sizes of the specification, the primitive is for this processor.
            unsafe {
                probe(
                    &self.image,
                    &self.table,
                    u32::MAX,
                    block.as_ptr().cast(),
                    out.as_mut_ptr().cast(),
                )
            }
        }
    }

    /// The results as `[output][point]`.
    fn by_output(&self) -> Vec<T> {
        by_output(&self.out, self.count, self.width)
    }
}

/// Results in blocks of `[output][width]` as `[output][point]`.
fn by_output<T: Float>(out: &[T], count: usize, width: usize) -> Vec<T> {
    let mut by_output = Vec::with_capacity(out.len());
    for slot in 0..count {
        for block in out.chunks(count * width) {
            by_output.extend_from_slice(&block[slot * width..(slot + 1) * width]);
        }
    }
    by_output
}

/// Nanoseconds per point of one run.
fn nanoseconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e9 / POINTS as f64
}

/// Positions with all taps inside: anywhere in random order, or in a slab and sorted by brick.
fn points(coherent: bool) -> Vec<[f64; 3]> {
    let depth = if coherent { 16 } else { SIZE };
    let mut random = noise(17);
    let mut coordinate = |size: usize| 3.0 + random.next().unwrap_or(0.0) * (size as f64 - 7.0);
    let mut points: Vec<[f64; 3]> = (0..POINTS)
        .map(|_| [coordinate(SIZE), coordinate(SIZE), coordinate(depth)])
        .collect();
    if coherent {
        points.sort_by_key(|p| [2, 1, 0].map(|a| (p[a] / 4.0) as usize));
    }
    points
}

/// Reproducible numbers in [0, 1).
fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    })
}

/// A benchmark of wrong results is worth nothing.
fn check_agreement<T: Float>(a: &[T], b: &[T]) {
    let tolerance = 400.0 * T::EPSILON.to_f64();
    for (a, b) in a.iter().zip(b) {
        assert!(
            (a.to_f64() - b.to_f64()).abs() <= tolerance,
            "{a:?} differs from {b:?}"
        );
    }
}
