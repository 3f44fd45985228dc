//! Sequences of varying length on the machine: values and memory. Little memory makes strands wait, and the heap grow, be copied, and
//! in the end be given up.

use super::{compare, compiled, machine::Interpreter};
use crate::stages::Case;
use compiler::{
    codegen::{Target, gpu::Kernel},
    front::source::Source,
    pipeline::Options,
    run::Run,
};
use std::sync::{Arc, atomic::Ordering::Relaxed};

/// Runs a program on the CPU and on machines with ever less memory, with reals and integers of both sizes; gives how often the
/// heap was copied, by memory.
fn agrees(name: &str, text: &str, limit: usize, memory: &[usize]) -> Vec<usize> {
    let mut case = Case::new(Source::new(name, text));
    case.limit = limit;
    let mut copies = vec![0; memory.len()];
    for (double, long_int) in [(false, false), (true, false), (false, true)] {
        case.long_int = long_int;
        let options = Options {
            double,
            long_int,
            ..Options::default()
        };
        for (copies, bytes) in copies.iter_mut().zip(memory) {
            let machine = Arc::new(Interpreter::with_memory(*bytes));
            compare(&case, &options, machine.clone());
            assert!(machine.is_empty(), "{name}: memory is left");
            assert!(machine.runs_of(Kernel::STRANDS) > 0, "{name} on the CPU");
            // Each time it is measured first.
            *copies += machine.runs_of(Kernel::COMPACT) / 2;
        }
    }
    copies
}

const PLENTY: usize = 1 << 30;

/// Lines that grow at different speeds; strands end at different times.
const LINES: &str = "#version 2.0
strand s (int i) {
    vec2 x = [i, 0.25*i];
    output vec2[] line = {x};
    int n = 0;
    update {
        x = [0.75*x[0] - 0.5*x[1], 0.5*x[0] + 0.875*x[1]];
        line @= x;
        n += 1;
        if (n > 20 + 7*(i % 13)) stabilize;
    }
}
create_collection { s(i) | i in 0..99 }
";

#[test]
fn lines_grow() {
    let copies = agrees("lines.diderot", LINES, 10_000, &[PLENTY, 400_000, 200_000]);
    assert_eq!(copies[0], 0, "there is plenty of memory");
    assert!(copies[1] >= 3 && copies[2] >= 3, "{copies:?}");
}

/// All operations, on sequences of numbers, vectors, truth values and strings, also empty ones; older values stay as they were.
const EVERYTHING: &str = "#version 2.0
input int most = 9;
real[] weights = { 0.5*k | k in 1..most };
vec2[] corners = {[0, 1], [1, 0]};
real[] others = {7.0, 0.25};
int[] known = {1, 2, 3};
strand s (int i) {
    output real[] a = {};
    output vec2[] b = corners;
    output int[] c = {i, i + 1};
    output bool[] odd = {};
    output int names = 0;
    output real total = 0;
    output mat2[] turned = {};
    real[] old = {};
    int n = 0;
    start { if (i == 5) { a = {1.5}; stabilize; } }
    update {
        // One buffer has two ends.
        real[] one = a @ (0.5*n);
        real[] two = a @ (-0.25*n);
        a = one if n % 3 != 1 else two;
        if (n % 4 == 2) { a = (i*0.125) @ a; a = (n*1.0) @ a; }
        if (n % 5 == 3) { a = a @ two @ {} @ one; }
        if (n % 7 == 6) { old = a; a = weights; }
        if (length(a) > 40) { a = {}; }
        b @= corners[n % 2] * n;
        c = (c @ n) if i % 2 == 0 else (n @ c);
        c = c @ (known if n % 2 == 0 else {n});
        foreach (real w in weights if most > 5 else others) { total -= 0.25*w; }
        odd @= length(c) % 2 == 1;
        if (n % 6 == 0) { turned = [[n, i], [1, -n]] @ turned; }
        string[] words = {\"a\", \"b\"};
        foreach (string w in words @ \"a\") { if (w == \"a\") { names += 1; } }
        foreach (real w in weights) { total += w; }
        foreach (real x in old) { total += 0.5*x; }
        total += max { x | x in a @ 0.0 } + sum { x*x | x in one };
        n += 1;
        if (n == 11 + i % 17) { if (i % 7 == 6) die; stabilize; }
    }
    stabilize { c = c @ length(odd) @ 7; a = 1.0 @ a @ old; }
}
create_collection { s(i) | i in 0..40 }
";

#[test]
fn all_operations_give_the_same_bits() {
    let copies = agrees(
        "everything.diderot",
        EVERYTHING,
        10_000,
        &[PLENTY, 300_000, 150_000],
    );
    assert_eq!(copies[0], 0, "there is plenty of memory");
    assert!(copies[1] >= 1 && copies[2] >= 1, "{copies:?}");
    // Every pause is before the end of some strands.
    for limit in [1, 2, 13] {
        agrees("everything.diderot", EVERYTHING, limit, &[PLENTY, 150_000]);
    }
}

/// What a super-step makes and drops takes no more memory than that of one super-step.
#[test]
fn what_is_dropped_is_taken_again() {
    let text = "#version 2.0
strand s (int i) {
    output real x = i;
    int n = 0;
    update {
        real[] some = {x, 1.0, 0.5*x};
        some = 2.0 @ some @ { 0.5*k | k in 0..length(some) };
        x = mean { 0.75*y | y in some };
        n += 1;
        if (n == 300) stabilize;
    }
}
create_collection { s(i) | i in 0..30 }
";
    let copies = agrees("dropped.diderot", text, 10_000, &[2_000_000]);
    assert_eq!(copies, [0]);
}

/// If there is no memory for a larger heap, the CPU runs the strands that wait.
#[test]
fn without_memory_the_cpu_takes_over() {
    for (bytes, text) in [(30_000, LINES), (90_000, EVERYTHING)] {
        agrees("little.diderot", text, 10_000, &[bytes]);
    }
}

/// Strands that keep in step, print, make others that have their sequences, and die.
const STEPS: &str = "#version 2.0
int round = 0;
real[] known = {1.0};
strand s (int i, real[] first) {
    output real[] line = first;
    output int seen = 0;
    int n = 0;
    update {
        n += 1;
        line @= known[n % length(known)] * i;
        seen += length(line) + numActive();
        if (n == 3 && i % 5 == 2) { print(i, \": \", line, \"\\n\"); }
        if (n == 4 && i % 6 == 3 && i < 60) { new s(i + 60, line); }
        if (n == 5 && i % 7 == 1) die;
        if (n > 6 + i % 30) stabilize;
    }
    stabilize { line = 0.5 @ line; }
}
update {
    known @= sum { 0.5*q.seen | q in s.all };
    if (round % 3 == 2) { known = {0.25}; }
    round += 1;
}
create_collection { s(i, { 0.5*k | k in 1..i % 4 }) | i in 0..59 }
";

#[test]
fn strands_in_step_give_the_same_bits_and_texts() {
    let memory = [PLENTY, 100_000, 60_000, 40_000];
    let copies = agrees("steps.diderot", STEPS, 10_000, &memory);
    assert_eq!(copies[0], 0, "there is plenty of memory");
    assert!(copies[1..].iter().any(|&copies| copies > 0), "{copies:?}");
    for limit in [1, 4, 9] {
        agrees("steps.diderot", STEPS, limit, &memory);
    }
}

/// Strands that are stable have the states of the machine, also when the others of their block are killed.
#[test]
fn a_global_die_keeps_the_states_of_stable_strands() {
    let text = "#version 2.0
real h = 0;
strand s (int i) {
    output real x = i;
    output real y = 0;
    real[] xs = {};
    update {
        x = 0.75*x + h;
        xs @= x;
        y = sum{z | z in xs};
        if (i % 3 == 0 && y > 2*i + 3) stabilize;
    }
}
update { h += 0.125; if (h > 1) die; }
create_collection { s(i) | i in 0..99 }
";
    agrees("killed.diderot", text, 10_000, &[PLENTY]);
}

#[test]
fn runs_in_pieces_bring_sequences_back() {
    let case = Case::new(Source::new("lines.diderot", LINES));
    let whole = case.run(&Options::default(), 1);
    let mut program = compiled(
        &case,
        &Options {
            target: Target::Cuda,
            ..Options::default()
        },
    );
    let machine = Arc::new(Interpreter::default());
    program.machines = vec![machine.clone()];
    let mut running: Run = case.begin(program, 2);
    let mut pieces = 0;
    while running
        .run(Some(9), &mut std::io::sink(), &mut [])
        .expect("a run")
        != runtime::world::RunEnd::Finished
    {
        running.outputs().expect("strands");
        pieces += 1;
    }
    assert!(pieces > 5 && machine.launches.load(Relaxed) > pieces);
    assert_eq!(
        running.outputs().expect("strands")[0].numbers(),
        whole.outputs[0].1
    );
}
