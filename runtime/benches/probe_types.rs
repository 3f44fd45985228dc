//! Nanoseconds per probe of volumes that keep the type of their file, against the same volumes in `float`.
//!
//! For each kernel, at positions in random order and sorted by bricks of 4³ cells, with the best instruction set and with AVX2.

#[path = "../tests/kernels/mod.rs"]
mod kernels;

use runtime::image::{Declared, Image, Reading};
use runtime::probe::{Border, Isa, KeptImage, ProbeKernel, ProbeSpec, lookup_for, outputs};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const SIZE: usize = 256;
const POINTS: usize = 1 << 15;
const REPETITIONS: usize = 21;

/// Kernel and highest order of one line of the table.
const CASES: [(&str, usize); 5] = [
    ("tent", 0),
    ("tent", 1),
    ("ctmr", 1),
    ("bspln3", 2),
    ("c4hexic", 1),
];

/// The types, with the bytes of a sample.
const TYPES: [(&str, usize); 4] = [("float", 4), ("uchar", 1), ("ushort", 2), ("short", 2)];

fn main() {
    println!(
        "volume {SIZE}^3, {POINTS} points, best of {REPETITIONS}, ns per probe, and % against float"
    );
    print!("{:<34}", "");
    TYPES.iter().for_each(|(name, _)| print!("{name:>16}"));
    println!();
    let images = TYPES.map(|(name, bytes)| kept(name, bytes));
    for isa in [Isa::Avx2, Isa::Avx512] {
        for (name, order) in CASES {
            for coherent in [true, false] {
                if isa.is_available() {
                    line(&images, isa, name, order, coherent);
                }
            }
        }
    }
}

/// A volume of small integers in a type.
fn kept(name: &str, bytes: usize) -> KeptImage<f32> {
    let header = format!(
        "NRRD0004\ntype: {name}\ndimension: 3\nsizes: {SIZE} {SIZE} {SIZE}\nencoding: raw\nendian: little\n\n"
    );
    let mut file = header.into_bytes();
    for number in noise(3).take(SIZE * SIZE * SIZE).map(|x| (x * 255.0) as u8) {
        match bytes {
            4 => file.extend(f32::from(number).to_le_bytes()),
            _ => file.extend(&u16::from(number).to_le_bytes()[..bytes]),
        }
    }
    let image = Image::from_bytes(&file, Declared::new(3, &[]), &Reading::default());
    let image = image.expect("an image").image;
    assert_eq!(image.sample_size(), bytes);
    KeptImage::new(Arc::new(image), Border::Clamp).expect("an image")
}

fn line(images: &[KeptImage<f32>; 4], isa: Isa, name: &str, order: usize, coherent: bool) {
    let kernel = kernels::kernel(name);
    let width = if isa == Isa::Avx512 { 16 } else { 8 };
    let spec = ProbeSpec {
        real: runtime::simd::Real::F32,
        width,
        dim: 3,
        support: [kernel.pieces.support(); 3],
        degree: kernel.pieces.degree(),
        orders: (2 << order) - 1,
        components: 1,
        frames: 0,
    };
    let table = ProbeKernel::new(&spec, &[&kernel.pieces; 3]).expect("a kernel");
    let probe = black_box(lookup_for(isa, &spec).expect("a primitive"));
    let mut blocks: Vec<f32> = Vec::new();
    for block in points(coherent).chunks(width) {
        (0..3).for_each(|axis| blocks.extend(block.iter().map(|p| p[axis] as f32)));
    }
    let count = outputs(&spec).len() * width;
    let mut out = vec![0.0_f32; count * POINTS / width];
    let (mut times, mut sums) = ([f64::INFINITY; 4], [0.0; 4]);
    // The types take turns, so that a busy machine slows all of them alike; the best run counts.
    for _ in 0..REPETITIONS {
        for ((image, time), sum) in images.iter().zip(&mut times).zip(&mut sums) {
            let start = Instant::now();
            for (block, out) in blocks.chunks(3 * width).zip(out.chunks_mut(count)) {
                // SAFETY: the buffers have the sizes of the specification, and the instruction set is available.
                unsafe {
                    probe(
                        image.description(),
                        &table,
                        u32::MAX,
                        block.as_ptr().cast(),
                        out.as_mut_ptr().cast(),
                    );
                }
            }
            *time = time.min(start.elapsed().as_secs_f64() * 1e9 / POINTS as f64);
            *sum = out.iter().map(|&x| f64::from(x)).sum();
        }
    }
    // A benchmark of wrong results is worth nothing.
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    let order = format!(
        "{name} D{order} {isa:?} {}",
        if coherent { "coherent" } else { "random" }
    );
    print!("{order:<34}");
    for time in times {
        print!("{time:>9.2} {:>+5.0}%", 100.0 * (time / times[0] - 1.0));
    }
    println!();
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
