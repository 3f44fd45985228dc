//! Run-time errors of strands on the machine: the CPU finds them, with the text before.

use super::{compiled, machine::Interpreter};
use crate::stages::Case;
use compiler::{
    codegen::Target,
    front::source::Source,
    pipeline::{Compiled, Options},
};
use std::sync::Arc;

/// Runs a program that fails on the CPU and on the machine: errors and texts are the same.
fn fails_alike(text: &str) {
    let case = Case::new(Source::new("errors.diderot", text));
    let fails = |program: Compiled| {
        let mut running = case.begin(program, 1);
        let mut printed = Vec::new();
        let failure = running.run(None, &mut printed, &mut []);
        (failure.expect_err("a run-time error"), printed)
    };
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    let mut program = compiled(&case, &options);
    program.machines = vec![Arc::new(Interpreter::default())];
    let cpu = fails(compiled(&case, &Options::default()));
    assert_eq!(fails(program), cpu);
}

#[test]
fn run_time_errors_are_those_of_the_cpu() {
    fails_alike(
        "#version 2.0
strand s (int i) {
    output int q = 0;
    int n = 10;
    update { n -= 1; q = 100 / (n - i); if (n == 0) stabilize; }
}
create_array { s(i) | i in 0..20 }
",
    );
}

#[test]
fn an_error_after_an_event_is_that_of_the_cpu() {
    fails_alike(
        "#version 2.0
int[4] numbers = {1, 2, 3, 4};
strand s (int i) {
    output int x = i;
    int n = 0;
    update {
        n += 1;
        print(i, \" in \", n, \"\\n\");
        if (n == 3) x = numbers[i/5];
        if (n == 5) stabilize;
    }
}
create_collection { s(i) | i in 0..29 }
",
    );
}
