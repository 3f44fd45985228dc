//! Running programs from another program: watching and stopping them.

use compiler::{
    front::{source::Source, syntax::MAX_DEPTH},
    pipeline::{self, Options, Session},
    run::{Inputs, Run},
};
use runtime::world::RunEnd;
use std::sync::Arc;

fn running(text: &str) -> Run {
    let source = Source::new("p.diderot", text);
    let program = pipeline::compile(&mut Session::default(), &source, &Options::default());
    let program = program.unwrap_or_else(|stopped| panic!("{stopped:?}"));
    let inputs = Inputs::of(&program);
    Run::new(&program, &inputs, 2).expect("strands")
}

#[test]
fn progress_moves_while_strands_run_on_their_own() {
    // Half of the strands end at once, the others never: only who watches can stop them.
    let mut running = running(
        "#version 2.0
strand s (int i) { output int n = 0; update { n += 1; if (i % 2 == 0) stabilize; } }
create_array { s(i) | i in 0..199 }
",
    );
    let control = Arc::clone(running.control());
    let watcher = std::thread::spawn(move || {
        loop {
            let (step, counts) = control.progress();
            if step > 1000 && counts.stable > 0 {
                control.cancel();
                return counts;
            }
            std::thread::yield_now();
        }
    });
    let end = running
        .run(None, &mut std::io::sink(), &mut [])
        .expect("no error");
    let counts = watcher.join().expect("no panic");
    assert_eq!(end, RunEnd::Cancelled);
    assert!(0 < counts.stable && counts.stable <= 100, "{counts:?}");
}

#[test]
fn long_integers_exceed_32_bits() {
    let source = Source::new(
        "p.diderot",
        "#version 2.0
const int big = 4000000000;
const int given;
input int n = big + 1;
strand s (int i) {
    output int x = n;
    update {
        x = 2*x + given - i;
        print(x, \" \", 3000000000 + i, \" \", big % 7, \" \", sum { j*big | j in 1..3 });
        stabilize;
    }
}
create_array { s(i) | i in 1..1 }
",
    );
    let options = Options {
        long_int: true,
        constants: vec![("given".into(), "5000000000".into())],
        ..Options::default()
    };
    let program = pipeline::compile(&mut Session::default(), &source, &options);
    let program = program.unwrap_or_else(|stopped| panic!("{stopped:?}"));
    let inputs = Inputs::of(&program);
    let mut running = Run::new(&program, &inputs, 1).expect("strands");
    let mut printed = Vec::new();
    running.run(None, &mut printed, &mut []).expect("no error");
    assert_eq!(
        String::from_utf8_lossy(&printed),
        "13000000001 3000000001 3 24000000000"
    );
}

/// A way to nest in a method.
struct Nest {
    start: &'static str,
    before: &'static str,
    middle: &'static str,
    after: &'static str,
    end: &'static str,
    /// Levels of the syntax tree that one repetition takes.
    levels: u32,
}

#[rustfmt::skip]
const NESTS: &[Nest] = &[
    Nest { start: "a = ", before: "(a + ", middle: "a", after: ")", end: ";", levels: 2 },
    Nest { start: "a = ", before: "f(", middle: "a", after: ")", end: ";", levels: 2 },
    Nest { start: "a = ", before: "(a if a > 0 else ", middle: "a", after: ")", end: ";", levels: 2 },
    Nest { start: "a = ", before: "max(a, ", middle: "a", after: ")", end: ";", levels: 2 },
    Nest { start: "b = ", before: "(a > 0 && ", middle: "b", after: ")", end: ";", levels: 2 },
    Nest { start: "a = ", before: "(F(", middle: "a", after: "))", end: ";", levels: 3 },
    Nest { start: "", before: "if (a < 2) { a += 0.001; ", middle: "a += 1;", after: "}", end: "", levels: 2 },
    Nest { start: "", before: "foreach (int k in 0..0) { ", middle: "a += 1;", after: "}", end: "", levels: 2 },
];

#[test]
fn programs_as_deep_as_allowed_compile_and_run() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../data");
    for nest in NESTS {
        let count = ((MAX_DEPTH - 16) / nest.levels) as usize;
        let statement = [
            nest.start,
            &nest.before.repeat(count),
            nest.middle,
            &nest.after.repeat(count),
            nest.end,
        ]
        .concat();
        let mut running = running(&format!(
            "#version 2.0
field#1(1)[] F = ctmr ⊛ clamp(load_image(\"{data}/check-line.nrrd\"));
function real f (real x) {{ return 0.5*x + 1; }}
strand s (int i) {{
    output real a = i;
    bool b = true;
    update {{ {statement} if (b) stabilize; }}
}}
create_array {{ s(i) | i in 0..3 }}
"
        ));
        running
            .run(Some(2), &mut std::io::sink(), &mut [])
            .expect("no error");
    }
}
