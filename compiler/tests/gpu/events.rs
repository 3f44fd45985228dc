//! Strands that print and that make others on the machine: in every method and nesting, with values of all types, with more events than
//! there is room for, and beside strands that the machine leaves.

use super::{compare, machine::Interpreter};
use crate::stages::Case;
use compiler::{codegen::gpu::Kernel, front::source::Source, pipeline::Options};
use std::sync::{Arc, atomic::Ordering::Relaxed};

/// Runs a program with numbers of all sizes; gives the most strands that a launch has left.
fn most_left(text: &str, machine: impl Fn() -> Interpreter) -> usize {
    let mut most = 0;
    let mut case = Case::new(Source::new("events.diderot", text));
    for (double, long_int) in [(false, false), (true, false), (false, true), (true, true)] {
        case.long_int = long_int;
        let options = Options {
            double,
            long_int,
            ..Options::default()
        };
        let machine = Arc::new(machine());
        compare(&case, &options, machine.clone());
        assert!(machine.launches.load(Relaxed) > 0, "on the CPU");
        assert!(machine.is_empty(), "memory is left");
        most = most.max(machine.left.load(Relaxed));
    }
    most
}

/// Values of all types, in loops and under conditions, in all methods.
const TALES: &str = "#version 2.0
input string kind = \"plain\";
int round = 0;
strand s (int i, real weight, bool odd) {
    output real x = weight;
    output vec3 at = [i, 0.5*i, -1.0e-7*i];
    int n = 0;
    string name = \"even\";
    start {
        if (odd) { name = \"odd\"; }
        if (i % 4 == 1) print(\"start \", i, \" is \", name, \" and \", kind, \"\\n\");
    }
    update {
        n += 1;
        x = 0.75*x - 0.5;
        at += [x, -x, 0];
        foreach (int k in 0..(i % 3)) {
            if (k == n % 3) { print(k, \" of \", i, \": \", at, \" \", odd, \"\\n\"); }
            else { if (n == 2) { new s(100*n + 10*k + i % 10, x, k == 1); } }
        }
        if (n == 3 && i % 5 == 0 && i > 0) { print(identity[2]*x, -7*i, \"\\n\"); new s(-i, x/3, odd); }
        // TURN
        if (i % 11 == 10) die;
        if (n > 4 + i % 3 || i > 60) stabilize;
    }
    stabilize { if (i % 6 == 2) { print(\"end \", i, \" \", x, \"\\n\"); } x = -x; }
}
update { round += 1; }
create_collection { s(i, 0.125*i, i % 2 == 1) | i in 0..59 }
";

#[test]
fn strands_print_and_make_others_on_the_machine() {
    let alone = TALES.replace("update { round += 1; }\n", "");
    for text in [TALES, &alone] {
        assert_eq!(most_left(text, Interpreter::default), 0);
    }
}

/// The events of strands that are left are those of the CPU.
#[test]
fn strands_that_are_left_tell_of_their_events_once() {
    let text = TALES.replace(
        "// TURN",
        "if (i % 7 == n) { print(\"turn \", i, \"\\n\"); x = 0.5*sin(1.0e30*(x + 2)); }",
    );
    let left = most_left(&text, Interpreter::default);
    assert!(0 < left && left < 30, "{left}");
}

/// The first super-steps have more events than there is room for, later ones have not.
#[test]
fn more_events_than_there_is_room_for_are_those_of_the_cpu() {
    let text = "#version 2.0
strand s (int i, int depth) {
    output real x = i;
    int n = 0;
    update {
        n += 1;
        x = 0.5*x + n;
        if (n < 4) print(i, \" \", n, \" \", x, \"\\n\");
        if (depth == 0 && n == 5 && i % 3 != 0) { new s(i, 1); new s(-i, 1); }
        if (n > 6) stabilize;
    }
}
create_collection { s(i, 0) | i in 0..3999 }
";
    let left = most_left(text, Interpreter::default);
    // Each takes four of 8,192 units.
    assert_eq!(left, 4000 - 8192 / 4);
    assert_eq!(most_left(text, || Interpreter::with_memory(300_000)), 4000);
}

/// Strands that wait for memory tell of the super-step once.
#[test]
fn strands_that_wait_tell_of_their_events_once() {
    let text = "#version 2.0
strand s (int i) {
    output vec2[] line = {};
    vec2 x = [i, 1];
    int n = 0;
    start { if (i % 7 == 2) print(\"start \", i, \"\\n\"); }
    update {
        n += 1;
        x = [0.75*x[0] - 0.5*x[1], 0.5*x[0] + 0.875*x[1]];
        if (i % 3 == n % 3) print(i, \" has \", length(line), \" \", x, \"\\n\");
        line @= x;
        if (n % 10 == i % 10) print(line[n/2], \"\\n\");
        if (n > 40 + i % 13) stabilize;
    }
}
create_collection { s(i) | i in 0..199 }
";
    let case = Case::new(Source::new("wait.diderot", text));
    let mut waits = 0;
    for memory in [2_000_000, 1_400_000, 900_000, 700_000, 300_000] {
        let machine = Arc::new(Interpreter::with_memory(memory));
        compare(&case, &Options::default(), machine.clone());
        let is_left = machine.left.load(Relaxed) > 0;
        waits += usize::from(!is_left && machine.runs_of(Kernel::COMPACT) > 0);
    }
    assert!(waits > 1, "{waits}");
}
