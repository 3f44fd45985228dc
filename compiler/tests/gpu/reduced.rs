//! Reductions over strands whose states stay on the machine.

use super::{agrees, c::Compiler, compare, compiled, machine::Interpreter};
use crate::stages::Case;
use compiler::{
    codegen::{Target, gpu::Kernel},
    front::source::Source,
    pipeline::Options,
};
use std::sync::{Arc, atomic::Ordering::Relaxed};

/// All reductions over values of all types, of all sets, with what their values are given.
const PROGRAM: &str = "#version 2.0
int round = 0;
vec3 scale = [1, 0.5, -2];
bool flip = true;
int turns = 3;
real total = 0;
vec3 mid = [0, 0, 0];
real spread = 0;
real best = 0;
int most = 0;
int times = 1;
bool some = false;
bool every = true;
string kind = \"even\";
strand s (int i) {
    output vec3 at = [0.5*i, sqrt(real(i)), 1.0/(1 + i)];
    output real seen = 0;
    int n = i % 7;
    bool odd = i % 2 == 1;
    update {
        at += 0.125*mid - [0, spread, 0];
        seen += total - best + most + times + (1 if some else 0) - (2 if every else 0);
        n += 1;
        odd = !odd;
        if (i % 5 == 3 && round == 4) die;
        if (n > 9 && i % 3 == 0) stabilize;
    }
}
update {
    real factor = 0.25*round;
    int add = round - 5;
    bool told = round % 2 == 0;
    total = sum { factor*(q.at • scale) | q in s.all };
    mid = mean { q.at if (q.odd || told) else factor*q.at | q in s.active };
    spread = variance { q.at[1] | q in s.active };
    best = max { q.seen | q in s.stable };
    best = 0 if (best < -1.0e6) else best;
    most = max { q.n + add | q in s.all };
    times = product { 2*(q.n + add) + 1 | q in s.active };
    some = exists { ((\"odd\" if q.odd else kind) == \"odd\") == flip && q.n > turns | q in s.stable };
    every = all { q.n > add || told | q in s.all };
    round += 1;
    flip = !flip;
    if (round > 12) stabilize;
}
create_collection { s(i) | i in 0..COUNT }
";

fn case(count: usize) -> Case {
    let text = PROGRAM.replace("COUNT", &count.to_string());
    Case::new(Source::new("reduced.diderot", text))
}

#[test]
fn reductions_give_the_same_bits_without_the_states() {
    for double in [false, true] {
        for long_int in [false, true] {
            let options = Options {
                double,
                long_int,
                ..Options::default()
            };
            let case = case(149);
            let machine = Arc::new(Interpreter::default());
            compare(&case, &options, machine.clone());
            assert!(machine.is_empty(), "memory is left");
            // Seven a round, one of them in two steps; all of them, because some strands go on to the end.
            assert!(machine.runs_of(Kernel::REDUCE) >= 12 * 7);
        }
    }
}

#[test]
fn reductions_bring_back_values_alone() {
    // Strands that do not end have their states copied once, at the end.
    let text = "#version 2.0
real total = 0;
int round = 0;
strand s (int i) {
    output real x = 0.5*i;
    tensor[3,3] m = i*identity[3];
    tensor[3,3] n = identity[3];
    update {
        m = 0.5*m + total*n;
        n = 0.25*n + m;
        x = m : n;
    }
}
update { total = max { 0.0001*q.x | q in s.all }; round += 1; if (round == 40) stabilize; }
create_collection { s(i) | i in 0..999 }
";
    let case = Case::new(Source::new("values.diderot", text));
    let machine = Arc::new(Interpreter::default());
    compare(&case, &Options::default(), machine.clone());
    assert_eq!(machine.runs_of(Kernel::REDUCE), 40);
    let read = machine.read.load(Relaxed);
    // A value of four bytes for each strand and round, and the states once.
    let (values, states) = (40 * 1008 * 4, 1008 * 4 * 24);
    assert!(read < values + 2 * states, "{read} bytes from the machine");
}

/// The bodies of these reductions may need the CPU for a strand: the states are copied.
#[test]
fn reductions_that_need_the_cpu_give_the_same_bits() {
    let bodies = [
        "sum { real(q.n / (q.i + 1)) | q in s.all }",
        "sum { 10*sin(q.x) | q in s.all }",
        "max { real(q.n % 3) | q in s.active } + sum { q.x | q in s.all }",
    ];
    for body in bodies {
        let text = format!(
            "#version 2.0
real total = 0;
int round = 0;
strand s (int k) {{
    int i = k;
    int n = 0;
    output real x = k;
    update {{ n += k; x += 0.5*n + 0.001*total; if (n > 50*k) stabilize; }}
}}
update {{ total = {body}; round += 1; if (round > 6) stabilize; }}
create_collection {{ s(k) | k in 0..40 }}
"
        );
        let case = Case::new(Source::new("needs.diderot", text));
        assert!(agrees(&case, &Options::default()), "{body}");
    }
}

/// Strands look for each other, print, and make others, so that some states are here and some there.
#[test]
fn reductions_over_states_here_and_there_give_the_same_bits() {
    let text = "#version 2.0
real total = 0;
int round = 0;
strand s (vec2 from, int i, int depth) {
    output vec2 pos = from;
    output real x = i;
    update {
        int near = 0;
        foreach (s other in sphere(1.5)) { near += 1; }
        x = 0.5*x + total + near;
        if (i % 13 == 5 && round == 2) { print(i, \" \", x, \"\\n\"); x = sin(1.0e30*(2 + x)); }
        if (depth < 2 && round == 3 && i % 7 == 3) { new s(pos + [0.25, 0], 100 + i, depth + 1); }
        if (i % 11 == 10 && round == 4) die;
        if (i % 4 == 1 && round > 4) stabilize;
        pos += [0.01*x/(1 + |x|), 0.02];
    }
}
update { total = mean { q.x - 0.5*q.pos[0] | q in s.all }; round += 1; if (round > 8) stabilize; }
create_collection { s([real(i % 8), real(i / 8)], i, 0) | i in 0..63 }
";
    for double in [false, true] {
        let options = Options {
            double,
            ..Options::default()
        };
        let case = Case::new(Source::new("both.diderot", text));
        let machine = Arc::new(Interpreter::default());
        compare(&case, &options, machine.clone());
        // In a few of nine rounds strands of all blocks ran here.
        assert!(machine.runs_of(Kernel::REDUCE) >= 7);
    }
}

#[test]
fn reductions_in_c_give_the_same_bits() {
    for double in [false, true] {
        let options = Options {
            double,
            ..Options::default()
        };
        compare(&case(40), &options, Arc::new(Compiler::default()));
    }
}

#[test]
fn a_machine_that_is_lost_in_a_reduction_ends_the_run_with_an_error() {
    let case = case(40);
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    for launches in 1..9 {
        let mut program = compiled(&case, &options);
        let machine = Arc::new(Interpreter::lost_after(launches));
        program.machines = vec![machine.clone()];
        let mut running = case.begin(program, 1);
        let ended = running.run(Some(1000), &mut Vec::new(), &mut []);
        let failure = ended.expect_err("an error").to_string();
        assert!(
            failure.contains("it is lost"),
            "{launches} launches: {failure}"
        );
    }
}
