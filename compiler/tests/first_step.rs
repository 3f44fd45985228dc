//! Strands that end with their first update are made and run by one function. Their outputs, texts and errors are those of strands that are
//! made first, kept, and run then.

use compiler::{
    front::source::Source,
    pipeline::{self, Options, Session},
    run::{Inputs, Run},
    ssa::Role,
};

/// Declarations of a strand, an update, and whether one function does both.
const STRANDS: &[(&str, &str, bool)] = &[
    ("", "n = 90*j + i; stabilize;", true),
    ("", "stabilize;", true),
    ("", "real t = x; x = y; y = z; z = t; stabilize;", true),
    (
        "",
        "if (i > j) { x = y; } else { z = x; n = i; } stabilize;",
        true,
    ),
    (
        "",
        "if (i > j) { if (x > 3) { x = y; } n = 1; } else if (f) { z = x; } f = x > z; stabilize;",
        true,
    ),
    (
        "",
        "if (!f) { n = i if i > j else j; } x = sqrt(x*x + y); stabilize;",
        true,
    ),
    ("", "v = m • v; m = m • m; x = |v|; stabilize;", true),
    (
        "",
        "if (inside(p, F)) { x = F(p); v = [∇F(p)[0], ∇F(p)[1]]; } stabilize;",
        true,
    ),
    ("", "x += 1; die;", true),
    ("", "n = 10 / (i - 7); stabilize;", true),
    ("", "n = few[i]; stabilize;", true),
    (
        "",
        "n = max(0, min(11, n)); x = few[n]; y = x + k; stabilize;",
        true,
    ),
    ("stabilize { n += j; x = -x; }", "n += i; stabilize;", true),
    ("stabilize { n += few[i]; }", "n += i; stabilize;", true),
    ("int q = 10 / (i - 7);", "n = q; stabilize;", false),
    ("start { n = 5; }", "n += i; stabilize;", false),
    ("", "if (i > j) stabilize; else { n = 3; die; }", false),
    ("", "n += 1; if (n > 40) stabilize;", false),
    ("", "foreach (int k in 0..i) { n += k; } stabilize;", false),
    ("", "print(n); stabilize;", false),
    ("", "n = many[i]; stabilize;", false),
];

fn program(declarations: &str, update: &str) -> String {
    let (method, state) = match declarations.contains('{') {
        true => (declarations, ""),
        false => ("", declarations),
    };
    let start = if method.starts_with("start") {
        method
    } else {
        ""
    };
    let end = if method.starts_with("stabilize") {
        method
    } else {
        ""
    };
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../data");
    // Programs with errors at different strands, a grid that ends within blocks and tiles, and iterators that do not begin at 0.
    format!(
        "#version 2.0
input int k = 3;
field#1(2)[] F = c1tent ⊛ load_image(\"{data}/check-rings.nrrd\");
int[12] few = {{4, 2, 7, 9, 1, 0, 3, 8, 5, 6, 2, 2}};
int[] many = {{3, 1}};
strand s (int j, int i) {{
    output int n = i - 2*j;
    output real x = 0.5*i + k;
    output real y = real(j) - i;
    output real z = 2;
    output vec2 v = [i, j];
    output tensor[2,2] m = [[1, 0.25*i], [j, -1]];
    bool f = i > 20;
    vec2 p = [3*i - 20, 2*j];
    {state}
    {start}
    update {{ {update} }}
    {end}
}}
create_collection {{ s(j, i) | j in -3..41, i in 2..90 }}
"
    )
}

#[test]
fn strands_that_end_at_once_are_those_that_are_made_first() {
    let mut ended = [0, 0];
    for &(declarations, update, is_joined) in STRANDS {
        let source = Source::new("p.diderot", program(declarations, update));
        for (width, double) in [(1, false), (4, true), (8, false), (8, true), (16, false)] {
            let options = Options {
                width: Some(width),
                double,
                ..Options::default()
            };
            let program = pipeline::compile(&mut Session::default(), &source, &options);
            let program = program.unwrap_or_else(|stopped| panic!("{update}: {stopped:?}"));
            let has = program.code.has(Role::FirstStep);
            assert_eq!(has, is_joined, "{declarations} {update}");
            let run = |limit: Option<u64>| {
                let mut printed = Vec::new();
                let inputs = Inputs::of(&program);
                let mut running = Run::new(&program, &inputs, 2).expect("strands");
                let end = running.run(limit, &mut printed, &mut []);
                let end = end.map_err(|failure| failure.to_string());
                let outputs = end.is_ok().then(|| {
                    let outputs = running.outputs().expect("outputs");
                    let numbers = outputs.iter().map(|output| output.numbers());
                    numbers.collect::<Vec<_>>()
                });
                assert!(outputs.is_none() || running.keeps() == limit.is_some());
                (String::from_utf8(printed).expect("text"), end, outputs)
            };
            let (kept, streamed) = (run(Some(1000)), run(None));
            assert_eq!(streamed, kept, "{width} {declarations} {update}");
            ended[usize::from(kept.1.is_ok())] += 1;
        }
    }
    assert!(ended[0] >= 15 && ended[1] >= 60, "{ended:?}");
}
