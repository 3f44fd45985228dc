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

/// Strands that print and end in one super-step are not kept. Their text and outputs are those of a run that keeps them, also if one
/// fails.
#[test]
fn text_of_strands_that_end_at_once_is_in_their_order() {
    let program = |update: &str| {
        let kind = if update.contains("die") {
            "collection"
        } else {
            "array"
        };
        format!(
            "#version 2.0
input int last = 1000;
int[] few = {{1, 2}};
strand s (int j, int i) {{
    output int n = 0;
    update {{ {update} }}
}}
create_{kind} {{ s(j, i) | j in 0..69, i in 0..89 }}
"
        )
    };
    for (update, is_streamed) in [
        (
            "n = 90*j + i; if (n % 7 == 0) { print(n, \"\\n\"); } stabilize;",
            true,
        ),
        (
            "if (i > j) { print(i); die; } else { if (i == j) { print(\"=\"); } n = j; stabilize; }",
            true,
        ),
        (
            "print(i); if (i == 3) { stabilize; } else if (j == 2) { die; } else { n = 1; stabilize; }",
            true,
        ),
        (
            "n += 1; if (i == 0) { print(j, \" \"); } if (n > i) { stabilize; }",
            false,
        ),
        ("n = few[i if j == 50 else 0]; print(n); stabilize;", true),
    ] {
        let text = program(update);
        let run = |limit: Option<u64>| {
            let mut printed = Vec::new();
            let mut running = running(&text);
            let ended = running.run(limit, &mut printed, &mut []);
            let ended = ended.map_err(|failure| failure.to_string());
            let outputs = ended.is_ok().then(|| {
                let outputs = running.outputs().expect("outputs");
                outputs
                    .iter()
                    .map(|output| output.numbers())
                    .collect::<Vec<_>>()
            });
            (
                String::from_utf8(printed).expect("text"),
                ended,
                outputs,
                running.keeps(),
            )
        };
        let (kept, streamed) = (run(Some(1000)), run(None));
        assert!(!kept.0.is_empty() || kept.1.is_err());
        assert_eq!(streamed.0, kept.0, "{update}");
        assert_eq!(streamed.1, kept.1, "{update}");
        assert_eq!(streamed.2, kept.2, "{update}");
        if kept.1.is_ok() {
            assert!(kept.3 && streamed.3 != is_streamed, "{update}");
        }
    }
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
