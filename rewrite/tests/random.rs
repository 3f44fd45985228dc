//! Random well-typed operators: normalization ends in the normal form, keeps values, is deterministic and idempotent.

mod common;

use common::generate::{compare, quick_options, random_region};
use rewrite::{Engine, Options, normalize, verify_normal_form};

/// Operators tried; the example `random_operators` tries ten thousand.
const COUNT: u64 = 500;
/// Every so many operators the slower properties are checked as well.
const SAMPLE: u64 = 8;

#[test]
fn random_operators_keep_their_values_in_a_deterministic_normal_form() {
    let mut compared = 0;
    for seed in 1..=COUNT {
        let region = random_region(seed);
        assert_eq!(region.verify(), [], "seed {seed}");
        let normalized = normalize(&region, &quick_options());
        assert_eq!(
            verify_normal_form(&normalized.region),
            Vec::<String>::new(),
            "seed {seed}"
        );
        assert_eq!(
            normalized.region.verify(),
            [],
            "seed {seed}\n{}",
            normalized.region
        );
        compared += usize::from(compare(&region, &normalized.region, seed));
        if seed % SAMPLE == 0 {
            let again = normalize(&region, &quick_options());
            assert_eq!(
                again.region, normalized.region,
                "seed {seed} is not deterministic"
            );
            assert_eq!(
                again.symmetry, normalized.symmetry,
                "seed {seed} is not deterministic"
            );
            let twice = normalize(&normalized.region, &quick_options());
            assert_eq!(
                twice.region, normalized.region,
                "seed {seed} is not idempotent\n{region}"
            );
            assert_eq!(twice.symmetry, normalized.symmetry, "seed {seed}");
            let directed = Options {
                engine: Engine::Directed,
                ..quick_options()
            };
            compare(&region, &normalize(&region, &directed).region, seed);
        }
    }
    assert!(
        compared as u64 * 10 > COUNT * 8,
        "only {compared} operators had values to compare"
    );
}
