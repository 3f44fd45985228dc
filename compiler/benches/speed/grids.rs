//! Grids of strands with one step: the command beside Rust by hand that computes the same numbers and writes them.

use super::cases::{self, Case};
use super::{PATIENCE, TIMES, command, pool};
use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    time::{Duration, Instant},
};

/// Prints the table.
pub(crate) fn print_table() {
    println!(
        "Milliseconds from the first strand made to the last file written, best of {TIMES} or more: the command, and Rust by hand; \
         nanoseconds per strand and core of both; gigabytes of the file per second of both, and in the write by hand alone"
    );
    println!(
        "{:<12}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "", "threads", "ours", "hand", "ratio", "ns", "ns hand", "GB/s", "GB/s hand", "write"
    );
    for case in cases::all().iter().filter(|case| case.one_step) {
        for threads in [1, 2] {
            race(case, threads);
        }
    }
}

fn race(case: &Case, threads: usize) {
    let workers = pool(threads);
    let mut best = [f64::MAX; 3];
    let mut bytes = 0;
    let start = Instant::now();
    for _ in (0..).take_while(|&n| n < TIMES || start.elapsed() < PATIENCE) {
        let ours = command::milliseconds(case, threads);
        let by_hand = workers.install(|| by_hand(case)).expect("a file");
        bytes = by_hand.bytes;
        let times = [by_hand.whole, by_hand.writing].map(super::milliseconds);
        for (best, time) in best.iter_mut().zip([ours, times[0], times[1]]) {
            *best = best.min(time);
        }
    }
    let [ours, hand, _] = best;
    let of_strand = |time: f64| time * 1e6 / case.strands as f64 * threads as f64;
    let [rate, hand_rate, write_rate] = best.map(|time| bytes as f64 / time / 1e6);
    println!(
        "{:<12}{threads:>8}{ours:>10.1}{hand:>10.1}{:>10.2}{:>10.2}{:>10.2}{rate:>10.2}{hand_rate:>10.2}{write_rate:>10.2}",
        case.name,
        ours / hand,
        of_strand(ours),
        of_strand(hand),
    );
}

/// A run by hand: how long it took as a whole, how long it wrote, and what.
struct ByHand {
    whole: Duration,
    writing: Duration,
    bytes: usize,
}

fn by_hand(case: &Case) -> io::Result<ByHand> {
    let path = cases::folder().join("by-hand.nrrd");
    let start = Instant::now();
    let values = (case.by_hand)();
    let computed = start.elapsed();
    write(&path, &values)?;
    let whole = start.elapsed();
    // To replace a file takes longer than to make a new one.
    std::fs::remove_file(&path)?;
    Ok(ByHand {
        whole,
        writing: whole - computed,
        bytes: size_of_val(&values[..]),
    })
}

/// Writes numbers as an image of one axis.
fn write(path: &Path, values: &[f32]) -> io::Result<()> {
    let mut file = File::create(path)?;
    write!(
        file,
        "NRRD0004\ntype: float\ndimension: 1\nsizes: {}\nendian: little\nencoding: raw\n\n",
        values.len()
    )?;
    // SAFETY: floats have no padding, and a byte may have any value and any address.
    let bytes =
        unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
    file.write_all(bytes)
}
