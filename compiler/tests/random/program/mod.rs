//! Random programs: every construct of the language, well typed by construction, on values whose size stays bounded.

mod dice;
mod fields;
mod indices;
mod others;
mod parts;
mod scalars;
mod sequences;
mod statements;
mod tensors;
mod types;
mod writer;

pub(crate) use dice::Dice;
pub(crate) use writer::Purpose;

use std::time::{SystemTime, UNIX_EPOCH};
use writer::Writer;

/// Super-steps of a program, at most.
pub(crate) const STEPS: usize = 6;

/// The program of a seed.
pub(crate) fn program(seed: u64, purpose: Purpose) -> String {
    Writer::new(seed, purpose).program()
}

/// A number that a variable of the environment has.
pub(crate) fn from_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

/// The seed of a run of the tests: `DIDEROT_SEED`, or another one in every run.
pub(crate) fn seed_of_run() -> u64 {
    from_environment("DIDEROT_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(1, |time| time.as_nanos() as u64 % 1_000_000_000)
    })
}

/// The seed of the n-th program of a run.
pub(crate) fn nth_seed(seed: u64, n: u64) -> u64 {
    Dice::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(n)).next()
}
