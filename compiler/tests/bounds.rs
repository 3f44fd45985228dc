//! Branches that bounds of images decide: programs with branches of many shapes give the same bits with decisions and without, for all widths and
//! instruction sets, in both precisions, on volumes with empty parts, NaN and infinities, and the results of the interpreter.

#[allow(dead_code, reason = "shared with other tests")]
mod stages;

use compiler::{
    front::source::Source,
    low::{Bounds, Op},
    pipeline::Options,
    run::ImageSource,
};
use ndarray::{ArrayD, IxDyn};
use runtime::{
    image::{ImageArray, Orientation},
    simd::Isa,
};
use stages::{Case, WIDTHS};

/// A statement about the fields `F`, `V` and `m` at `x`, and whether bounds can decide about its branch.
const SHAPES: &[(&str, bool)] = &[
    ("if (F(x) > iso) { n += 1; }", true),
    ("if (F(x) < iso) { n += 1; }", true),
    ("if (F(x) >= iso) { r += F(x); }", true),
    ("if (F(x) <= iso) { r += t*F(x); } else { n += 1; }", true),
    ("if (!(F(x) > iso)) { n += 1; } else { r += F(x); }", true),
    ("if (F(x) > iso) { } else { n += 1; }", true),
    ("if (F(x) > iso && t > 2) { r += F(x); }", true),
    ("if (t > 2 && F(x) > iso) { r += F(x); }", true),
    ("if (F(x) > iso || t > 5) { n += 1; }", true),
    ("if (F(x) > iso || F(x) < -iso) { r += F(x); }", true),
    (
        "if (F(x) > 0.5*iso && F(x) < iso) { r += sqrt(F(x)); }",
        true,
    ),
    (
        "if (!(F(x) > iso && F(x) < 2*iso) || t < 1) { n += 1; }",
        true,
    ),
    ("if (F(x) == 0) { n += 1; }", true),
    ("if (F(x) != 0) { r += F(x); }", true),
    (
        "real v = F(x); if (v > iso) { r += v; } if (v > 2*iso) { n += 1; }",
        true,
    ),
    (
        "real v = F(x); if (v > iso) { r += exp(v); } if (v > 2*iso) { r += log(v); }",
        true,
    ),
    (
        "real v = F(x); if (v > iso) { r += v; } r += 0.01*v;",
        false,
    ),
    (
        "real v = F(x); if (v > iso) { if (v > 2*iso) { n += 1; } else { r += v; } }",
        true,
    ),
    (
        "real v = F(x); if (v > iso) { r += exp(v); } else { r -= sin(v); }",
        false,
    ),
    (
        "real a = clamp(0.0, 1.0, (F(x) - iso)/0.5); if (a > 0) { r += a; }",
        true,
    ),
    (
        "real a = max(0.0, F(x) - iso); if (a > 0) { r += a; n += 2; }",
        true,
    ),
    ("real a = |F(x)|; if (a > iso) { r += a; }", true),
    ("real a = -F(x)*F(x); if (a < -iso) { r += a; }", true),
    (
        "real a = 1 - exp(-max(0.0, F(x) - iso)*t); if (a > 0.001) { r += a; }",
        true,
    ),
    (
        "vec2 c = m(F(x)); if (c[1] > 0) { r += c[0]; n += 1; }",
        true,
    ),
    ("if (V(x)[1] > iso) { r += V(x)[0]; }", true),
    ("if (V(x)[0] + V(x)[1] > iso) { n += 1; }", true),
    ("if (F(x) > r) { r = F(x); }", false),
    ("if (F(x) > best) { best = F(x) + 1; n += 1; }", false),
    ("bool b = F(x) > iso; if (b) { n += 1; }", true),
    (
        "bool old = was; was = F(x) > iso; if (was != old) { n += 1; }",
        true,
    ),
    ("n += 1 if F(x) > iso else 2;", true),
    ("r += F(x) if F(x) > iso else 0.5;", true),
    (
        "foreach (int k in 0..5) { vec3 y = x + 0.3*k*[1, -1, 0.5]; if (F(y) > iso) { n += k; } }",
        true,
    ),
    (
        "foreach (int k in 0..5) { if (F(x - k*[0.5, 0, 0]) > iso) { n += 1; stabilize; } }",
        true,
    ),
    ("if (F(x) > iso) { vec3 g = ∇F(x); r += |g|; }", true),
    (
        "real v = F(x); vec3 g = ∇F(x); if (v > iso) { r += |g|/(1 + v^2); }",
        true,
    ),
    ("if (F(x) > iso) { r = F(x); stabilize; }", true),
    ("if (F(x) > iso) { n = 7; if (t > 1) { stabilize; } }", true),
    (
        "if (inside(x, F)) { if (F(x) > iso) { r += F(x + [0.1, 0, 0]); } }",
        true,
    ),
    ("if (F(x) > iso) { print(n, \"\\n\"); }", true),
];

/// A program with a statement in its update.
fn program(kernel: &str, statement: &str) -> String {
    format!(
        "#version 2.0
input image(3)[] vol;
input image(3)[2] pairs;
input image(1)[2] table;
input real iso = 0.3;
field#1(3)[] F = {kernel} ⊛ clamp(vol);
field#0(3)[2] V = {kernel} ⊛ mirror(pairs);
field#0(1)[2] m = tent ⊛ clamp(table);
strand s (int i, int j) {{
    vec3 from = [0.5*i - 2, 0.75*j - 1, -2];
    real t = 0;
    real best = 0;
    bool was = false;
    output real r = 0;
    output int n = 0;
    update {{
        vec3 x = from + t*[0.25, 0.125, 1];
        {statement}
        t += 0.5;
        if (t > 14) {{ stabilize; }}
    }}
    stabilize {{ r += 0.001*best; if (was) {{ n += 100; }} }}
}}
create_array {{ s(i, j) | i in 0..27, j in 0..16 }}
"
    )
}

/// A volume of two balls in empty space, one of negative values, with a sample that is not finite if one is given.
fn balls(components: usize, odd: Option<f64>) -> ImageSource {
    let sizes = [13, 11, 9];
    let mut samples = Vec::new();
    for n in 0..13 * 11 * 9 {
        let at = [n / 99, n / 9 % 11, n % 9].map(f64::from);
        let ball = |center: [f64; 3], radius: f64| {
            let away: f64 = at.iter().zip(center).map(|(a, c)| (a - c).powi(2)).sum();
            (radius - away.sqrt()).max(0.0)
        };
        let value = ball([3.0, 4.0, 4.0], 2.5) - 0.7 * ball([9.0, 7.0, 4.0], 2.0);
        samples.extend((0..components).map(|c| value * (1.0 - 0.5 * c as f64)));
    }
    if let Some(odd) = odd {
        let at = (6 * 99 + 5 * 9 + 4) * components;
        samples[at] = odd;
    }
    let mut extents = sizes.to_vec();
    if components > 1 {
        extents.push(components);
    }
    let samples = ArrayD::from_shape_vec(IxDyn(&extents), samples).expect("all samples");
    let axes: Vec<Vec<f64>> = (0..3)
        .map(|axis| (0..3).map(|k| f64::from(u8::from(k == axis))).collect())
        .collect();
    let orientation = Orientation::new(&axes, &[0.0; 3]).expect("a grid");
    ImageSource::Array(ImageArray::new(samples, orientation))
}

/// A transfer function that is zero below 0.4.
fn table() -> ImageSource {
    let samples = (0..24).map(|n| {
        let (sample, component) = (n / 2, n % 2);
        match component {
            0 => f64::from(sample),
            _ => f64::from((sample - 4).max(0)),
        }
    });
    let samples = ArrayD::from_shape_vec(IxDyn(&[12, 2]), samples.collect()).expect("all samples");
    let orientation = Orientation::new(&[vec![0.1]], &[0.0]).expect("a grid");
    ImageSource::Array(ImageArray::new(samples, orientation))
}

fn case(kernel: &str, statement: &str, odd: Option<f64>) -> Case {
    let mut case = Case::new(Source::new("bounds.diderot", program(kernel, statement)));
    case.images = vec![balls(1, odd), balls(2, odd), table()];
    // Images that the program does not use are not loaded.
    let uses = |field: &str| statement.contains(field);
    if !uses("m(") {
        case.source.text = case.source.text.replace("input image(1)[2] table;\n", "");
        case.source.text = case
            .source
            .text
            .replace("field#0(1)[2] m = tent ⊛ clamp(table);\n", "");
        case.images.pop();
    }
    case
}

/// Decisions in the code of a program.
fn decisions(case: &Case) -> usize {
    let options = Options {
        bounds: Bounds::All,
        ..Options::default()
    };
    let mut count = 0;
    for (_, function) in &case.lower(&options).bounded.functions {
        function.each_op(&mut |op, _, _| count += usize::from(matches!(op, Op::Decide(..))));
    }
    count
}

/// Every statement with every kernel in both precisions, and with every width and set of instructions, but not with all
/// of them at once.
#[test]
fn decisions_change_no_bit() {
    let fields = [
        ("bspln3", None),
        ("c4hexic", None),
        ("ctmr", Some(f64::NAN)),
        ("c1tent", Some(f64::INFINITY)),
    ];
    let codes: Vec<(usize, Isa)> = WIDTHS
        .iter()
        .flat_map(|&width| [(width, Isa::Baseline), (width, Isa::detect())])
        .collect();
    for (n, &(statement, decided)) in SHAPES.iter().enumerate() {
        let found = decisions(&case("bspln3", statement, None));
        assert_eq!(found > 0, decided, "{statement}: {found} decisions");
        for (k, (kernel, odd)) in fields.into_iter().enumerate() {
            let case = case(kernel, statement, odd);
            for double in [false, true] {
                let first = n + 2 * k + usize::from(double);
                for &(width, isa) in codes.iter().cycle().skip(first).step_by(4).take(2) {
                    let run = |bounds| {
                        let options = Options {
                            double,
                            width: Some(width),
                            isa: Some(isa),
                            bounds,
                            ..Options::default()
                        };
                        format!("{:?}", case.run(&options, 2))
                    };
                    assert!(
                        run(Bounds::All) == run(Bounds::None),
                        "{statement} with {kernel}, {odd:?}, double {double}, width {width}, {isa:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_interpreter_agrees() {
    for &(statement, _) in SHAPES {
        // Printing strands print in any order of their blocks.
        let mut case = case("bspln3", statement, None);
        case.source.text = case
            .source
            .text
            .replace("0..27", "0..5")
            .replace("0..16", "0..4");
        let agreed = case.stages_agree();
        case.machine_code_agrees(&agreed, 2);
    }
}

/// The globals that a comparison reads may change between super-steps.
#[test]
fn decisions_follow_globals_that_change() {
    let text = program("bspln3", "if (F(x) > level) { n += 1; r += F(x); }")
        .replace("strand s", "real level = 2.0;\nstrand s")
        .replace(
            "create_array",
            "update { level = level - 0.25; }\ncreate_array",
        );
    let mut case = Case::new(Source::new("globals.diderot", text));
    case.source.text = case.source.text.replace("input image(1)[2] table;\n", "");
    case.source.text = case
        .source
        .text
        .replace("field#0(1)[2] m = tent ⊛ clamp(table);\n", "");
    case.images = vec![balls(1, None), balls(2, None)];
    assert!(decisions(&case) > 0);
    let run = |bounds| {
        let options = Options {
            bounds,
            ..Options::default()
        };
        case.run(&options, 2)
    };
    let (decided, probed) = (run(Bounds::All), run(Bounds::None));
    assert!(probed.outputs[1].1.iter().any(|&n| n > 0.0));
    assert_eq!(format!("{decided:?}"), format!("{probed:?}"));
}
