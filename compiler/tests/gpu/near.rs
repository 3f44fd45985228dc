//! Strands that look for each other.

use super::{agrees, compare, compiled, machine::Interpreter};
use crate::stages::{Case, programs, read};
use compiler::{
    codegen::{Target, gpu::Near},
    front::source::Source,
    pipeline::Options,
};
use std::sync::{Arc, atomic::Ordering::Relaxed};

fn both_precisions(case: &Case) {
    for double in [false, true] {
        let options = Options {
            double,
            ..Options::default()
        };
        assert!(agrees(case, &options));
    }
}

/// Particles in a space of some dimension, given by type, position and a shift: they move and see each other in order. Some stop,
/// some die, some create others, and some print the neighbours that they see.
fn particles(vector: &str, position: &str, shift: &str, body: &str) -> Case {
    let text = format!(
        "#version 2.0
int round = 0;
strand p (int i, {vector} at) {{
    output {vector} pos = at;
    int number = i;
    bool odd = i % 2 == 1;
    real weight = 1;
    output int first = 0;
    output int seen = 0;
    output int order = 0;
    output real others = 0;
    start {{ foreach (p q in sphere(0.4)) {{ first = (first*31 + q.number) % 10007; }} }}
    update {{
        {vector} push = 0.0*pos;
        foreach (p q in sphere(0.35)) {{
            seen += 1;
            order = (order*31 + q.number) % 10007;
            if (q.odd) {{ push += 0.1*(pos - q.pos); }}
        }}
        others = sum {{ q.weight*|q.pos| | q in sphere(pos + {shift}, 0.3 + 0.05*round) }};
        weight = 0.9*weight + 0.01*others;
        pos += push;
        {body}
        if (round == 2 && i % 7 == 0) stabilize;
        if (round == 3 && i % 11 == 0) die;
    }}
}}
update {{ round += 1; if (round > 6) stabilize; }}
create_collection {{ p(i, {position}) | i in 0..149 }}
"
    );
    Case::new(Source::new("particles.diderot", text))
}

const SPACES: [[&str; 3]; 3] = [
    ["real", "3*cos(i*1.7)", "0.1"],
    ["vec2", "[cos(i*1.7), 2*sin(i*2.3)]", "[0.1, 0]"],
    [
        "vec3",
        "[cos(i*1.7), sin(i*2.3), cos(i*3.1)]",
        "[0.1, 0, -0.1]",
    ],
];

#[test]
fn strands_see_each_other_in_order_in_every_dimension() {
    for [vector, position, shift] in SPACES {
        both_precisions(&particles(vector, position, shift, ""));
    }
}

#[test]
fn strands_that_are_left_see_the_others_as_they_were() {
    let body = "if (i % 40 == round) { print(i, \" sees \", order, \"\\n\"); weight += sin(1.0e30*(1 + weight)); }
        if (i < 150 && i % 30 == round + 3) new p(i + 1000, pos + SHIFT);";
    for [vector, position, shift] in SPACES {
        let body = body.replace("SHIFT", shift);
        both_precisions(&particles(vector, position, shift, &body));
    }
}

/// The query is in Low-IR, and not in the kernel.
#[test]
fn strands_whose_queries_are_useless_can_be_left_to_the_cpu() {
    let text = "#version 2.0
strand p (int i) {
    vec2 pos = [cos(i*1.7), sin(i*2.3)];
    real weight = i;
    output real seen = 0;
    real[2] s = {1.0*i, 0.5};
    int n = 0;
    update {
        n += 1;
        foreach (real k in s) {
            if (n > 1 && (2 > 3)) { seen = sum {q.weight | q in sphere(pos, 0.5)}; stabilize; }
        }
        weight += 1;
        if (n > i % 3) stabilize;
    }
    stabilize { print(weight, \"\\n\"); }
}
create_collection { p(i) | i in 0..20 }
";
    both_precisions(&Case::new(Source::new("useless.diderot", text)));
}

#[test]
fn long_integers_name_strands_too() {
    let [vector, position, shift] = SPACES[2];
    let mut case = particles(vector, position, shift, "");
    case.long_int = true;
    for double in [false, true] {
        let options = Options {
            double,
            long_int: true,
            ..Options::default()
        };
        assert!(agrees(&case, &options));
    }
}

/// Positions that are not finite, far away or all the same; radii that find nothing, everything, or too many to keep.
#[test]
fn odd_positions_and_radii_find_what_the_cpu_finds() {
    let text = "#version 2.0
strand p (int i) {
    real far = 10.0^(i % 35);
    output vec2 pos = [i % 13, (i / 13) % 5];
    output int seen = 0;
    output int order = 0;
    int number = i;
    int round = 0;
    update {
        real zero = real(i - i);
        real radius = 1.5;
        if (round == 1) { radius = zero; } else if (round == 2) { radius = -1; } else if (round == 3) { radius = 1/zero; }
        else if (round == 4) { radius = zero/zero; } else if (round == 5) { radius = far; } else if (round == 6) { radius = 1.0e-20; }
        foreach (p q in sphere(radius)) { seen += 1; order = (order*31 + q.number) % 10007; }
        round += 1;
        if (i % 9 == 1) { pos = [zero/zero, 1]; }
        if (i % 9 == 2) { pos = [1, -1/zero]; }
        if (i % 9 == 3) { pos = [far, -far]; }
        if (i % 9 == 4) { pos = [2, 2]; }
        if (round == 8) stabilize;
    }
}
create_collection { p(i) | i in 0..COUNT }
";
    for count in ["129", "399"] {
        let text = text.replace("COUNT", count);
        both_precisions(&Case::new(Source::new("odd.diderot", text)));
    }
}

/// Only a strand that finds more neighbours than it can keep is left to the CPU.
#[test]
fn queries_beyond_192_hits_fall_back_to_the_cpu() {
    let text = "#version 2.0
strand p (int i) {
    output real pos = i;
    output real x = 0;
    update {
        foreach (p q in sphere(60.2)) { x += 0.1*q.pos; }
        foreach (p q in sphere(RADIUS)) { x = 0.5*x + q.pos; }
        pos += 0*x;
        stabilize;
    }
}
create_collection { p(i) | i in 0..249 }
";
    assert_eq!(Near::HITS, 192);
    // 120 and 72 neighbours fit, 120 and 74 do not.
    let read = ["36.5", "37.5"].map(|radius| {
        let text = text.replace("RADIUS", radius);
        let case = Case::new(Source::new("long.diderot", text));
        let machine = Arc::new(Interpreter::default());
        compare(&case, &Options::default(), machine.clone());
        machine.read.load(Relaxed)
    });
    // Strands that are left to the CPU need the published state of all strands, so it is read back.
    assert!(read[1] >= read[0] + 250 * 4, "{read:?}");
}

#[test]
fn particle_programs_give_the_same_bits() {
    let mut ran = 0;
    for path in programs("programs/particles") {
        let mut case = Case::new(read(&path));
        case.ints = vec![
            ("grow", 60),
            ("relax", 20),
            ("n", 20),
            ("size", 12),
            ("steps", 6),
        ];
        case.limit = 60;
        ran += usize::from(agrees(&case, &Options::default()));
    }
    assert!(ran >= 4, "only {ran} ran on the machine");
}

#[test]
fn a_machine_that_is_lost_before_anything_ran_loses_nothing() {
    let [vector, position, shift] = SPACES[1];
    let case = particles(vector, position, shift, "");
    let cpu = case.run(&Options::default(), 1);
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    let mut program = compiled(&case, &options);
    program.machines = vec![Arc::new(Interpreter::lost_after(0))];
    let running = case.begin(program, 1);
    case.assert_same_bits(&case.finish(running), &cpu);
}
