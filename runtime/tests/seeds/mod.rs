//! Numbers from the environment for random tests.

use std::time::UNIX_EPOCH;

/// A number of the environment.
pub(crate) fn given(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}

/// `DIDEROT_SEED`, or another number in every run; it is printed.
pub(crate) fn seed_of_run() -> u64 {
    let now = || UNIX_EPOCH.elapsed().expect("a time after 1970").as_nanos() as u64;
    let seed = given("DIDEROT_SEED").unwrap_or_else(now);
    println!("DIDEROT_SEED={seed}");
    seed
}
