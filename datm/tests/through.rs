//! Cases through the command `diderotc` and files, as users run it: a sample of what `datm --through` does at length.
//!
//! The executable of these tests is the command as well: its main function is a function of the compiler's library, so
//! nothing else has to be built or found.

mod judging;
mod random;

use datm::{Arithmetic, Case, Precision, RunOptions, UserRunner, check};
use judging::none_fails;
use libtest_mimic::{Arguments, Trial};
use random::random_cases;
use std::process::ExitCode;

/// Set in the environment of children: they are the command.
const BE_THE_COMMAND: &str = "DATM_TESTS_BE_THE_COMMAND";

fn main() -> ExitCode {
    if std::env::var_os(BE_THE_COMMAND).is_some() {
        return compiler::command::main();
    }
    // SAFETY: no other thread exists yet.
    unsafe { std::env::set_var(BE_THE_COMMAND, "1") };
    let trial = |name: &str, test: fn(&UserRunner)| {
        Trial::test(name, move || {
            let command = std::env::current_exe().map_err(|error| error.to_string())?;
            test(&UserRunner { command });
            Ok(())
        })
    };
    let trials = vec![
        trial(
            "computes_what_is_true_from_files",
            computes_what_is_true_from_files,
        ),
        trial(
            "rejects_programs_at_the_type_stage",
            rejects_programs_at_the_type_stage,
        ),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn computes_what_is_true_from_files(runner: &UserRunner) {
    for (precision, width) in [(Precision::Double, 0), (Precision::Single, 4)] {
        let options = RunOptions { precision, width };
        none_fails(random_cases(6), 0.2, |case| {
            check(case, runner, &options, Arithmetic::Near)
        });
    }
}

fn rejects_programs_at_the_type_stage(runner: &UserRunner) {
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
        datm::Runner::run(runner, &job, &RunOptions::default()).expect_err("no such function");
    assert_eq!(failure.stage, datm::Stage::Type, "{failure:?}");
    assert!(failure.message.contains("frobnicate"), "{failure:?}");
    let job = datm::Job {
        program: &datm::program(&experiment),
        data: &[],
        ..job
    };
    let failure = datm::Runner::run(runner, &job, &RunOptions::default()).expect_err("no image");
    assert_eq!(failure.stage, datm::Stage::Run, "{failure:?}");
}
