//! The same cases in two ways: a sample of what `datm differential` does at length.

mod judging;
mod random;

use datm::{Arithmetic, Difference, RunOptions, check_difference};
use judging::none_fails;
use random::random_cases;

#[test]
fn two_ways_agree() {
    for difference in Difference::ANYWHERE {
        // Version 1.0 has no program for more than a third of the forms.
        let share = match difference {
            Difference::Language => 0.7,
            _ => 0.1,
        };
        none_fails(random_cases(40), share, |case| {
            check_difference(case, difference, &RunOptions::default(), Arithmetic::Near)
        });
    }
}
