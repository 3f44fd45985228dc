//! The same cases in two ways: samples of what `datm differential` and `datm --through` do at length.

mod judging;

use datm::{
    Arithmetic, Case, Difference, Form, Precision, RunOptions, SpaceOptions, Stream, TreeSpace,
    UserRunner, check, check_difference, share_leaves,
};
use judging::none_fails;
use std::path::PathBuf;
use std::process::Command;

/// Random cases of two operators, in trees and programs of every form, with shared leaves.
fn cases(count: usize) -> Vec<Case> {
    let space = TreeSpace::new(&SpaceOptions::full(2, Form::Any));
    let settings: datm::Settings = "pos=3|prog=any|seed=21".parse().expect("settings");
    (0..count)
        .map(|n| {
            let mut stream = Stream::new(&["differential", &n.to_string()]);
            let tree = space.draw_stratified(&mut stream).expect("a tree");
            Case {
                tree: share_leaves(&tree, &mut stream),
                settings: settings.clone(),
            }
        })
        .collect()
}

#[test]
fn two_ways_agree() {
    for difference in Difference::ALL {
        // Version 1.0 has no program for some forms.
        let share = if difference == Difference::Language {
            2
        } else {
            10
        };
        none_fails(cases(40), share, |case| {
            check_difference(case, difference, &RunOptions::default(), Arithmetic::Near)
        });
    }
}

/// The command, built as the tests are.
fn diderotc() -> PathBuf {
    let datm = PathBuf::from(env!("CARGO_BIN_EXE_datm"));
    let command = datm.with_file_name(format!("diderotc{}", std::env::consts::EXE_SUFFIX));
    let mut cargo = Command::new(env!("CARGO"));
    // The whole workspace is named so that crates are built with the features that the tests have built them with.
    cargo.args(["build", "--quiet", "--workspace", "--bin", "diderotc"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    assert!(cargo.status().expect("cargo runs").success());
    command
}

#[test]
fn the_command_computes_what_is_true_from_files() {
    let runner = UserRunner {
        command: diderotc(),
    };
    for (precision, width) in [(Precision::Double, 0), (Precision::Single, 4)] {
        let options = RunOptions { precision, width };
        none_fails(cases(6), 5, |case| {
            check(case, &runner, &options, Arithmetic::Near)
        });
    }
}

#[test]
fn a_command_that_rejects_programs_fails_at_the_type_stage() {
    let runner = UserRunner {
        command: diderotc(),
    };
    // A field of a dimension that its image does not have is wrong at run time, an unknown operator before.
    let case: Case = "neg(F2#4[])|pos=1".parse().expect("a label");
    let experiment = datm::prepare(&case, Arithmetic::Near).expect("not vacuous");
    let mut program = datm::program(&experiment);
    program.version2 = program.version2.replace("-F0", "frobnicate(F0)");
    let job = datm::Job {
        case: &case,
        result: experiment.result,
        program: &program,
        data: &experiment.data,
        positions: &experiment.positions,
    };
    let failure =
        datm::Runner::run(&runner, &job, &RunOptions::default()).expect_err("no such function");
    assert_eq!(failure.stage, datm::Stage::Type, "{failure:?}");
    assert!(failure.message.contains("frobnicate"), "{failure:?}");
    let job = datm::Job {
        program: &datm::program(&experiment),
        data: &[],
        ..job
    };
    let failure = datm::Runner::run(&runner, &job, &RunOptions::default()).expect_err("no image");
    assert_eq!(failure.stage, datm::Stage::Run, "{failure:?}");
}
