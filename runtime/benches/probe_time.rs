//! Nanoseconds per probe of images over time against those of one frame, by the width of the machine.
//!
//! Value and gradient (value for `tent`) in 64³ samples per frame. Lanes are near each other and in one frame, near each other and
//! each in a frame of its own, or anywhere in space and time; those near each other go along rays. Variants take turns, and the best run counts.

#![allow(
    clippy::needless_range_loop,
    reason = "lanes and axes index several arrays at once"
)]

#[path = "../tests/kernels/mod.rs"]
mod kernels;

use kernels::{Kernel, kernel};
use runtime::grid::TimeAxis;
use runtime::probe::{Border, ProbeImage, ProbeKernel, ProbeSpec, Real, lookup, outputs};
use std::time::Instant;

const SIZE: usize = 64;
const FRAMES: usize = 8;
const POINTS: usize = 1 << 14;
const WIDTH: usize = 16;
/// Axes, frames, and the weights of at most six taps in time.
const ROWS: usize = 3 + 1 + 6;
const REPETITIONS: usize = 25;

/// The lanes of a call.
#[derive(Clone, Copy, Debug)]
enum Lanes {
    Near,
    NearInOtherFrames,
    Apart,
}

fn main() {
    println!("f32, W={WIDTH}, {FRAMES} frames of {SIZE}^3, ns per probe");
    println!(
        "{:<28} {:>8} {:>16} {:>16} {:>16}",
        "", "1 frame", "2 taps", "4 taps", "6 taps"
    );
    for (name, orders) in [("tent", 0b1), ("bspln3", 0b11), ("ctmr", 0b11)] {
        for lanes in [Lanes::Near, Lanes::NearInOtherFrames, Lanes::Apart] {
            let times = measure(&kernel(name), orders, lanes);
            let ratio = |time: f64| format!("{time:>8.2} (×{:.2})", time / times[0]);
            let columns: Vec<String> = times[1..]
                .iter()
                .map(|&time| format!(" {:>16}", ratio(time)))
                .collect();
            let title = format!("{name} {lanes:?}");
            println!("{title:<28} {:>8.2}{}", times[0], columns.concat());
        }
    }
}

/// Nanoseconds of a probe of one frame, and with 2, 4 and 6 taps in time.
fn measure(kernel: &Kernel, orders: u32, lanes: Lanes) -> [f64; 4] {
    let samples: Vec<f32> = noise(3)
        .take(SIZE.pow(3) * FRAMES)
        .map(|x| x as f32)
        .collect();
    let axis = TimeAxis::NUMBERS;
    let film = ProbeImage::over_time(&samples, &[SIZE; 3], 1, (FRAMES, &axis), Border::Clamp);
    let film = film.expect("an image");
    // Those of one frame are in as much memory: the image of each call is the frame of its first lane.
    let frame = |samples| ProbeImage::new(samples, &[SIZE; 3], 1, Border::Clamp);
    let frames = samples.chunks(SIZE.pow(3)).map(frame);
    let frames: Vec<ProbeImage<'_>> = frames.map(|image| image.expect("an image")).collect();
    let points = points(lanes);
    let runs = [0, 2, 4, 6].map(|taps| {
        let spec = ProbeSpec {
            real: Real::F32,
            width: WIDTH,
            dim: 3,
            support: [kernel.pieces.support(); 3],
            degree: kernel.pieces.degree(),
            orders,
            components: 1,
            frames: taps,
        };
        let table = ProbeKernel::new(&spec, &[&kernel.pieces; 3]).expect("a kernel");
        let probe = lookup(&spec).expect("a primitive");
        (table, probe, vec![0.0_f32; outputs(&spec).len() * WIDTH])
    });
    let mut best = [f64::INFINITY; 4];
    let mut runs = runs;
    for _ in 0..REPETITIONS {
        for (best, (table, probe, out)) in best.iter_mut().zip(&mut runs) {
            let start = Instant::now();
            for block in points.chunks_exact(ROWS * WIDTH) {
                let image = match table.spec().frames {
                    0 => &frames[block[3 * WIDTH] as usize],
                    _ => &film,
                };
                // SAFETY: the buffers have the sizes of the specification, the primitive is for this processor.
                unsafe {
                    probe(
                        image,
                        table,
                        (1 << WIDTH) - 1,
                        block.as_ptr().cast(),
                        out.as_mut_ptr().cast(),
                    )
                };
            }
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / POINTS as f64);
        }
    }
    best
}

/// Positions, frames and weights in blocks of `[ROWS][WIDTH]`.
fn points(lanes: Lanes) -> Vec<f32> {
    let mut random = noise(17);
    let mut next = || random.next().unwrap_or(0.0);
    let mut points = Vec::new();
    let room = SIZE as f64 - 8.0;
    for call in 0..POINTS / WIDTH {
        // As rays do it: step by step along z, then beside that.
        let steps = [
            (call / 64) as f64,
            (call / 64 / 8) as f64,
            0.8 * (call % 64) as f64,
        ];
        let corner = steps.map(|step| 3.0 + step % room);
        let frame = (call * FRAMES / (POINTS / WIDTH)) as f64;
        let mut block = [[0.25_f32; WIDTH]; ROWS];
        for lane in 0..WIDTH {
            for axis in 0..3 {
                block[axis][lane] = match lanes {
                    Lanes::Near | Lanes::NearInOtherFrames => corner[axis] + 0.9 * next(),
                    Lanes::Apart => 3.0 + next() * room,
                } as f32;
            }
            block[3][lane] = match lanes {
                Lanes::Near => frame,
                Lanes::NearInOtherFrames | Lanes::Apart => (next() * FRAMES as f64).floor(),
            } as f32;
        }
        points.extend(block.concat());
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
