//! Random well-typed operators: normalization ends in the normal form, keeps values, is deterministic and idempotent.

mod common;

use common::generate::{check, compare, quick_options, random_region};
use rewrite::{Engine, Options, normalize};

/// Operators tried; the example `random_operators` tries ten thousand.
const COUNT: u64 = 500;

#[test]
fn random_operators_keep_their_values_in_a_deterministic_normal_form() {
    let checked = (1..=COUNT).map(|seed| check(seed).unwrap_or_else(|failure| panic!("{failure}")));
    let compared = checked.filter(|checked| checked.compared).count();
    assert!(
        compared as u64 * 10 > COUNT * 8,
        "only {compared} operators had values to compare"
    );
}

#[test]
fn the_directed_engine_keeps_the_values_of_random_operators() {
    let directed = Options {
        engine: Engine::Directed,
        ..quick_options()
    };
    for seed in 1..=COUNT {
        let region = random_region(seed);
        let normalized = normalize(&region, &directed);
        compare(&region, &normalized.region, seed).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

/// Operators on which an earlier version failed, and how.
const ONCE_WRONG: &[(u64, &str)] = &[(
    7850,
    "a number times a power, 2·a², was not taken for one operation",
)];

#[test]
fn operators_that_once_were_wrong_stay_right() {
    for &(seed, what) in ONCE_WRONG {
        check(seed).unwrap_or_else(|failure| panic!("{what}: {failure}"));
    }
}
