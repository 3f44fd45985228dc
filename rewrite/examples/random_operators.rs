//! Normalizes ten thousand random operators of depth up to 6 and compares every one with the reference evaluator.
//!
//! `cargo run --release -p rewrite --example random_operators`; a number as argument tries that many instead.

#[path = "../tests/common/mod.rs"]
mod common;

use common::generate::{compare, quick_options, random_region};
use rewrite::{normalize, verify_normal_form};

fn main() {
    let count = std::env::args()
        .nth(1)
        .and_then(|count| count.parse().ok())
        .unwrap_or(10_000);
    let (mut compared, mut nodes, mut iterations) = (0, 0, 0);
    for seed in 1..=count {
        let region = random_region(seed);
        let normalized = normalize(&region, &quick_options());
        let violations = verify_normal_form(&normalized.region);
        assert!(violations.is_empty(), "seed {seed}: {violations:?}");
        let twice = normalize(&normalized.region, &quick_options());
        assert_eq!(
            twice.region, normalized.region,
            "seed {seed} is not idempotent"
        );
        compared += usize::from(compare(&region, &normalized.region, seed));
        nodes = nodes.max(normalized.stats.nodes);
        iterations = iterations.max(normalized.stats.iterations);
    }
    println!("{count} operators in normal form, {compared} of them with finite values, all equal;");
    println!("at most {nodes} nodes and {iterations} iterations");
}
