//! Strands that keep in step: super-step by super-step on the machine, with what the CPU does between and for them.

use super::{agrees, compare, compiled, machine::Interpreter};
use crate::stages::Case;
use compiler::{codegen::Target, front::source::Source, pipeline::Options};
use runtime::world::RunEnd;
use std::sync::{Arc, atomic::Ordering::Relaxed};

/// Global code runs between super-steps, strands are counted, some die.
#[test]
fn strands_that_run_step_by_step_give_the_same_bits() {
    let text = "#version 2.0
int round = 0;
real total = 0;
strand s (int i) {
    output real x = i;
    output int seen = 0;
    update {
        x = 0.5*(x + total/(1 + numActive()));
        seen += numStable() + round;
        if (i % 5 == 3 && round == 4) die;
        if (i == round) stabilize;
    }
}
update {
    total = sum { 0.1*q.x | q in s.all };
    round += 1;
    if (round > 30) stabilize;
}
create_collection { s(i) | i in 0..49 }
";
    let case = Case::new(Source::new("steps.diderot", text));
    for double in [false, true] {
        let options = Options {
            double,
            ..Options::default()
        };
        assert!(agrees(&case, &options));
    }
}

/// Strands that print in every method, make others, and die; few of them in any super-step.
const FAMILY: &str = "#version 2.0
int round = 0;
strand s (int i, int depth) {
    output int steps = 0;
    output real x = i;
    start { if (i % 4 == 1) print(\"start \", i, \"\\n\"); }
    update {
        steps += 1;
        x = 0.5*x + sqrt(x);
        if (steps == i % 5 && i % 3 == 0) print(i, \" at \", steps, \", \", round, \": \", x, \"\\n\");
        if (depth < 2 && steps == 2 && i % 7 == 3) { new s(100*(depth + 1) + i, depth + 1); }
        if (i % 13 == steps) x = 2 + sin(1.0e30*x);
        if (i % 11 == 10) die;
        if (steps > i % 9) stabilize;
    }
    stabilize { if (i % 6 == 2) print(\"end \", i, \" \", x, \"\\n\"); x = -x; }
}
update { round += 1; }
create_collection { s(i, 0) | i in 0..59 }
";

#[test]
fn strands_that_print_and_make_others_give_the_same_bits_and_texts() {
    // Without a global update it is printing alone that keeps strands in step.
    let alone = FAMILY.replace("update { round += 1; }\n", "");
    for text in [FAMILY, &alone] {
        for (limit, double) in [(1, false), (3, true), (1000, false), (1000, true)] {
            let mut case = Case::new(Source::new("family.diderot", text));
            case.limit = limit;
            let options = Options {
                double,
                ..Options::default()
            };
            assert!(agrees(&case, &options));
        }
    }
}

#[test]
fn runs_in_pieces_give_the_same_bits_and_texts() {
    let case = Case::new(Source::new("family.diderot", FAMILY));
    let whole = case.run(&Options::default(), 1);
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    let mut program = compiled(&case, &options);
    program.machines = vec![Arc::new(Interpreter::default())];
    let mut running = case.begin(program, 1);
    let mut printed = Vec::new();
    while running.run(Some(2), &mut printed, &mut []).expect("a run") != RunEnd::Finished {
        // What a snapshot would show.
        running.outputs().expect("strands");
    }
    assert_eq!(String::from_utf8(printed).unwrap(), whole.printed);
    let outputs = running.outputs().expect("strands");
    assert!(whole.outputs.len() == 2 && whole.outputs[0].1.len() > 60);
    for (output, (_, numbers)) in outputs.iter().zip(&whole.outputs) {
        assert_eq!(output.numbers(), *numbers);
    }
}

/// A run that is asked to stop finishes its super-step, also of strands that the machine leaves.
#[test]
fn a_stop_comes_after_the_super_step() {
    let mut case = Case::new(Source::new("family.diderot", FAMILY));
    case.limit = 1;
    let cpu = case.run(&Options::default(), 1);
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    let mut program = compiled(&case, &options);
    let machine = Arc::new(Interpreter::default());
    program.machines = vec![machine.clone()];
    let running = case.begin(program, 1);
    machine
        .stops
        .set(Arc::clone(running.control()))
        .expect("once");
    case.limit = 1000;
    case.assert_same_bits(&case.finish(running), &cpu);
}

/// Strands that keep in step. More and more of them end, so that the others are moved together in memory.
const CROWD: &str = "#version 2.0
int round = 0;
strand s (int i) {
    output real x = i;
    output int seen = 0;
    update {
        x = 0.5*x + sqrt(x + numActive());
        seen += numStable() + round;
        if (i % 16 >= 4 && round > 2) stabilize;
        if (i % 16 == 3 && round > 5) die;
        if (i % 1500 == 7) { if (round == 4) print(i, x); }
    }
    stabilize { x = -x; }
}
update { round += 1; if (round > 9) END; }
create_collection { s(i) | i in 0..2999 }
";

#[test]
fn strands_that_move_and_end_together_give_the_same_bits() {
    for end in ["stabilize", "die"] {
        let text = CROWD.replace("END", end);
        for limit in [4, 6, 1000] {
            let mut case = Case::new(Source::new("crowd.diderot", text.as_str()));
            case.limit = limit;
            assert!(agrees(&case, &Options::default()));
        }
    }
}

/// States stay on the machine: the copies of forty super-steps are little more than those of one.
#[test]
fn states_stay_on_the_machine() {
    let text = "#version 2.0
strand s (int i) {
    output vec3 x = [i, 0, 1];
    int n = 0;
    update { n += 1; x += x*numActive()/4000.0; if (n == 40) stabilize; }
}
create_collection { s(i) | i in 0..3999 }
";
    let case = Case::new(Source::new("stay.diderot", text));
    let machine = Arc::new(Interpreter::default());
    compare(&case, &Options::default(), machine.clone());
    assert_eq!(machine.launches.load(Relaxed), 40);
    let states = 4000 * 16;
    for copied in [&machine.written, &machine.read] {
        let copied = copied.load(Relaxed);
        assert!((states..2 * states).contains(&copied), "{copied}");
    }
}

/// Only few blocks are copied for strands that the machine leaves, near each other or not.
#[test]
fn strands_that_are_left_are_copied_alone() {
    let text = "#version 2.0
strand s (int i) {
    output vec3 x = [i, 0, 1];
    int n = 0;
    update {
        n += 1;
        x += x/numActive();
        if (i % 20 == n && (i < 200 || i > 23900)) x += [0, sin(1.0e30*x[0]), 0];
        if (n == 10) stabilize;
    }
}
create_collection { s(i) | i in 0..23999 }
";
    let case = Case::new(Source::new("alone.diderot", text));
    let machine = Arc::new(Interpreter::default());
    compare(&case, &Options::default(), machine.clone());
    let states = 24000 * 16;
    let written = machine.written.load(Relaxed);
    assert!((states..2 * states).contains(&written), "{written}");
}

#[test]
fn a_machine_that_is_lost_between_super_steps_is_an_error() {
    let text = CROWD.replace("END", "stabilize");
    let case = Case::new(Source::new("crowd.diderot", text));
    let cpu = case.run(&Options::default(), 1);
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    for launches in [0, 2] {
        let mut program = compiled(&case, &options);
        program.machines = vec![Arc::new(Interpreter::lost_after(launches))];
        let mut running = case.begin(program, 1);
        let mut printed = Vec::new();
        let end = running.run(None, &mut printed, &mut []);
        if launches == 0 {
            // Everything is here still.
            end.expect("the CPU finishes it");
            assert_eq!(running.troubles().len(), 1);
            assert_eq!(
                running.outputs().expect("strands")[0].numbers(),
                cpu.outputs[0].1
            );
            assert_eq!(String::from_utf8(printed).unwrap(), cpu.printed);
        } else {
            let failure = end.expect_err("an error");
            assert_eq!(failure.to_string(), "running on the GPU: it is lost");
            assert!(failure.hints[0].contains("CPU"), "{failure:?}");
            let again = running.run(None, &mut printed, &mut []);
            assert_eq!(again, Err(failure), "the run is over");
        }
    }
}
