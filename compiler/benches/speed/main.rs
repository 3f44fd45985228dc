//! How fast programs are: one command, a few minutes, ratios that were taken in one run.
//!
//!     cargo bench -p diderot-compiler --bench speed -- [memory] [programs] [workers] [grids] [projection] [probes] [first-strand]
//!
//! `programs` compares one program of every class with straightforward Rust on as many threads, and `workers` one thread with
//! all, as the command runs them, creation and writing included; `grids` compares the command with Rust that writes files, too,
//! where strands take one step;
//! `projection` and `probes` compare with AVX-512 intrinsics by hand; `memory` compares the peak with the data; and
//! `first-strand` is the time from source to the first strand for the whole gallery. Sides take turns and the best of several
//! runs counts, because the machine may have other things to do.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

mod cases;
mod command;
mod first_strand;
mod grids;
#[cfg(target_arch = "x86_64")]
mod intrinsics;
mod jets;
mod ours;
mod planes;
mod points;
mod rays;

#[path = "../../src/allocator.rs"]
mod allocator;
#[cfg(target_arch = "x86_64")]
#[path = "../../../runtime/benches/probe/by_hand.rs"]
mod by_hand;
#[cfg(target_arch = "x86_64")]
#[path = "../../../runtime/tests/kernels/mod.rs"]
mod kernels;
#[cfg(target_arch = "x86_64")]
#[path = "../../../runtime/benches/probe/measure.rs"]
mod measure;

use cases::{Case, PROJECTION};
use ours::{Prepared, Ran, prepare};
use runtime::simd::Isa;
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// The least number of repetitions, and the least time that they take together; the best counts.
const TIMES: usize = 5;
const PATIENCE: Duration = Duration::from_secs(3);
/// Repetitions of slow runs that only serve as a comparison.
const FEW_TIMES: usize = 2;

fn main() {
    std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the root");
    // Cargo adds options of its own.
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let sections: [(&str, fn()); 7] = [
        // First, before there is memory that was freed and is used again.
        ("memory", memory),
        ("programs", programs),
        ("workers", command::print_table),
        ("grids", grids::print_table),
        ("projection", projection),
        ("probes", probes),
        ("first-strand", first_strand::print_table),
    ];
    for (name, print) in sections {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            print();
            println!();
        }
    }
    std::fs::remove_dir_all(cases::folder()).expect("the folder made here");
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A pool of this many threads for code by hand.
fn pool(threads: usize) -> rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().expect("threads")
}

/// The time that some work takes, and its result.
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn programs() {
    let threads = cores();
    println!(
        "Milliseconds from the first strand made to the last value taken, best of {TIMES} or more; 1 and {threads} threads, Rust by \
         hand on {threads}; nanoseconds per strand and core beyond those by hand, where strands take one step"
    );
    println!(
        "{:<12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "", 1, threads, "hand", "1/n", "n/hand", "beyond"
    );
    for case in cases::all() {
        race(&case, threads);
    }
}

fn race(case: &Case, threads: usize) {
    let prepared = prepare(&case.file, None, &case.given);
    let workers = pool(threads);
    let mut best = [Duration::MAX; 3];
    let start = Instant::now();
    for n in (0..).take_while(|&n| n < TIMES || start.elapsed() < PATIENCE) {
        let [alone, together] = [1, threads].map(|threads| prepared.run(threads));
        let bits = |ran: &Ran| -> Vec<u32> { ran.numbers().iter().map(|x| x.to_bits()).collect() };
        assert!(
            bits(&alone) == bits(&together),
            "{}: other bits with more workers",
            case.name
        );
        best[0] = best[0].min(alone.time);
        best[1] = best[1].min(together.time);
        if n < FEW_TIMES || case.one_step {
            let (time, theirs) = timed(|| workers.install(|| (case.by_hand)()));
            best[2] = best[2].min(time);
            compare(case, together.numbers(), &theirs);
        }
    }
    let [one, all, hands] = best.map(milliseconds);
    let beyond = match case.one_step {
        true => format!(
            "{:.1}",
            (all - hands) * 1e6 / case.strands as f64 * threads as f64
        ),
        false => String::new(),
    };
    println!(
        "{:<12}{one:>10.1}{all:>10.1}{hands:>10.1}{:>10.2}{:>10.2}{beyond:>10}",
        case.name,
        one / all,
        all / hands,
    );
}

/// The two sides compute the same, up to rounding and what rounding decides.
fn compare(case: &Case, ours: &[f32], theirs: &[f32]) {
    let longer = ours.len().max(theirs.len());
    if ours.len() != theirs.len() {
        // Particles: rounding decides whether one survives.
        let missing = ours.len().abs_diff(theirs.len());
        assert!(
            missing as f64 <= case.tolerance * longer as f64,
            "{}: {} numbers, {} by hand",
            case.name,
            ours.len(),
            theirs.len()
        );
        return;
    }
    let differences = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs());
    let far = differences.filter(|d| d.is_nan() || *d > 2e-3).count();
    assert!(
        far as f64 <= case.tolerance * longer as f64,
        "{}: {far} of {longer} numbers differ by more than 0.002",
        case.name
    );
}

fn projection() {
    let mut cases = cases::all();
    let case = cases.swap_remove(0);
    let [vectors, portable] =
        [None, Some(Isa::Baseline)].map(|isa| prepare(&case.file, isa, &case.given));
    let alone = pool(1);
    let mut best = [Duration::MAX; 4];
    let volume = cases::volume();
    for n in 0..TIMES {
        let ours = vectors.run(1);
        let (packets, theirs) = timed(|| alone.install(|| by_intrinsics(&volume)));
        best[0] = best[0].min(ours.time);
        best[3] = best[3].min(packets);
        if n < FEW_TIMES {
            let (plain, _) = timed(|| alone.install(|| (case.by_hand)()));
            best[1] = best[1].min(portable.run(1).time);
            best[2] = best[2].min(plain);
        }
        if let Some(theirs) = theirs {
            compare(&case, ours.numbers(), &theirs);
        }
    }
    let [ours, slow, plain, packets] = best.map(milliseconds);
    println!(
        "Projection {PROJECTION}² on one thread, milliseconds, best of {TIMES}: compiled {ours:.1}, its portable code {slow:.1}, \
         Rust {plain:.1}, AVX-512 by hand {packets:.1}; the first over the others {:.2}, {:.2}, {:.2}",
        ours / slow,
        ours / plain,
        ours / packets
    );
}

#[cfg(target_arch = "x86_64")]
fn by_intrinsics(volume: &runtime::image::Image<f32>) -> Option<Vec<f32>> {
    let has = Isa::detect() == Isa::Avx512;
    has.then(|| intrinsics::projection(volume, PROJECTION))
}

#[cfg(not(target_arch = "x86_64"))]
fn by_intrinsics(_: &runtime::image::Image<f32>) -> Option<Vec<f32>> {
    None
}

#[cfg(target_arch = "x86_64")]
fn probes() {
    measure::print_table();
}

#[cfg(not(target_arch = "x86_64"))]
fn probes() {
    println!("the intrinsics to compare probes with are those of x86-64");
}

/// The peak of memory during a run above the memory before it, over the bytes of its values.
fn memory() {
    println!(
        "Peak of memory above that before the run, over the bytes of the output, {} threads",
        cores()
    );
    for case in cases::all().iter().filter(|case| case.one_step) {
        let prepared: Prepared = prepare(&case.file, None, &case.given);
        let Some(before) = resident() else {
            println!("not known on this system");
            return;
        };
        let ran = prepared.run(cores());
        let data = size_of_val(ran.numbers());
        let peak = status("VmHWM").unwrap_or(0).saturating_sub(before);
        println!(
            "{:<12}{:>8.1} MB for {:.1} MB: {:.2}",
            case.name,
            peak as f64 / 1e6,
            data as f64 / 1e6,
            peak as f64 / data as f64
        );
    }
}

/// Bytes in memory now; resets the peak.
fn resident() -> Option<usize> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    status("VmRSS")
}

/// A line of the process's state, in bytes.
fn status(name: &str) -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}
