//! Control flow: all nestings to depth 3 as machine code of every sort, against an evaluator of their own, to the bit.

use datm::{Extent, control, control_nests};

#[test]
fn all_nestings_of_control_flow_to_depth_three() {
    let report = control(3, Extent::InTurn, &|_| {});
    assert_eq!(report.nests, 11_200);
    let wrong: Vec<String> = report
        .wrong
        .iter()
        .map(|(label, text, wrong)| format!("{label}\n{}\n{}\n{text}", wrong.how, wrong.what))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} nests are wrong, the first of them:\n{}",
        wrong.len(),
        wrong[0]
    );
}

/// The number that the README has.
#[test]
fn the_whole_space_has_as_many_nests_as_the_table_says() {
    assert_eq!(control_nests(3, Extent::All), 74_432);
}
