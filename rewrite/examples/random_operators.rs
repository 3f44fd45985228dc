//! Normalizes ten thousand random operators of depth up to 6 and looks at everything that must hold for each: normal
//! form, types, values, determinism, idempotence.
//!
//! `cargo run --release -p diderot-rewrite --example random_operators [COUNT [FIRST]]`. Ends with a line of counts; the exit
//! status says whether there was no failure.

#[path = "../tests/common/mod.rs"]
mod common;

use common::generate::check;
use std::{
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Operators that take longer are reported.
const SLOW: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Seen {
    checked: u64,
    compared: u64,
    failures: Vec<String>,
    nodes: usize,
    iterations: usize,
    slowest: (Duration, u64),
}

impl Seen {
    fn add(
        &mut self,
        seed: u64,
        time: Duration,
        result: Result<common::generate::Checked, String>,
    ) {
        self.checked += 1;
        self.slowest = self.slowest.max((time, seed));
        if time > SLOW {
            println!("seed {seed} took {:.1} s", time.as_secs_f64());
        }
        match result {
            Ok(checked) => {
                self.compared += u64::from(checked.compared);
                self.nodes = self.nodes.max(checked.stats.nodes);
                self.iterations = self.iterations.max(checked.stats.iterations);
            }
            Err(failure) => {
                println!("FAILURE {failure}");
                self.failures.push(failure);
            }
        }
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse());
    let mut argument = |default: u64| arguments.next().map_or(default, |n| n.unwrap_or(default));
    let count = argument(10_000);
    let first = argument(1);
    let step = (count / 20).max(1);
    let start = Instant::now();
    let next = AtomicU64::new(first);
    let seen = Mutex::new(Seen::default());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return;
            }
            let begin = Instant::now();
            let result = std::panic::catch_unwind(|| check(seed))
                .unwrap_or_else(|_| Err(format!("seed {seed}: panicked")));
            let mut seen = seen.lock().expect("no panic while counting");
            seen.add(seed, begin.elapsed(), result);
            if seen.checked % step == 0 {
                println!(
                    "{} of {count}, {} failures, {:.0} s",
                    seen.checked,
                    seen.failures.len(),
                    start.elapsed().as_secs_f64()
                );
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            // Deep operators recurse deeply in the reference evaluator.
            let builder = std::thread::Builder::new().stack_size(64 << 20);
            builder.spawn_scoped(scope, work).expect("a thread");
        }
    });
    let seen = seen.into_inner().expect("no panic while counting");
    println!(
        "at most {} nodes and {} iterations; slowest seed {} with {:.2} s for three normalizations and two evaluations",
        seen.nodes,
        seen.iterations,
        seen.slowest.1,
        seen.slowest.0.as_secs_f64()
    );
    println!(
        "{} operators in normal form, deterministic and idempotent, {} of them with finite values that agree, {} failures, {:.0} s",
        seen.checked - seen.failures.len() as u64,
        seen.compared,
        seen.failures.len(),
        start.elapsed().as_secs_f64()
    );
    if seen.failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
