//! Every stage means the same: the programs in `programs/checks` give what they say they give, in every IR under the
//! reference interpreter, and as machine code for every number of strands per call in both precisions. The programs of the
//! gallery, the generators of data and random programs agree with themselves in the same way.

mod stages;
mod stages_random;

use compiler::front::source::Source;
use compiler::pipeline::Options;
use compiler::run::ImageSource;
use stages::{Case, generated, programs, read, root};
use std::path::Path;

/// The numbers that a program says its outputs have, in lines `// expect NAME: …`.
fn expected(path: &Path) -> Vec<(String, Vec<f64>)> {
    let text = std::fs::read_to_string(path).expect("a program");
    text.lines()
        .filter_map(|line| line.strip_prefix("// expect "))
        .map(|line| {
            let (name, values) = line.split_once(':').expect("a name and values");
            let values = values
                .split_whitespace()
                .map(|v| v.parse().expect("a number"))
                .collect();
            (name.trim().to_string(), values)
        })
        .collect()
}

#[test]
fn every_stage_and_the_machine_code_agree() {
    std::env::set_current_dir(root()).expect("the root of the repository");
    let programs = programs("programs/checks");
    assert!(programs.len() >= 20, "only {} programs", programs.len());
    for path in &programs {
        let case = Case::new(read(path));
        let agreed = case.stages_agree();
        for (name, values) in expected(path) {
            let (_, found) = agreed
                .1
                .outputs
                .iter()
                .find(|(n, _)| *n == name)
                .expect("an output of that name");
            assert_eq!(
                found.len(),
                values.len(),
                "{}: `{name}` is {found:?}",
                case.name
            );
            for (f, w) in found.iter().zip(&values) {
                assert!(
                    (f - w).abs() <= 1e-4 * (1.0 + w.abs()),
                    "{}: `{name}` is {found:?}",
                    case.name
                );
            }
        }
        case.machine_code_agrees(&agreed, 0);
        case.long_integers_agree(&agreed.1);
    }
}

#[test]
fn integers_of_64_bits_agree_where_32_would_wrap() {
    let text = "#version 2.0
strand s (int i) {
    int factor = (i + 3)*65537;
    output int p = 1;
    int n = 0;
    update { p = p*factor; n += 1; if (n == 2) stabilize; }
}
create_array { s(i) | i in 0..20 }
";
    let mut case = Case::new(Source {
        path: "long.diderot".into(),
        text: text.into(),
    });
    case.long_int = true;
    let agreed = case.stages_agree();
    let squares = (0..21).map(|i| f64::from(i + 3).powi(2) * 65537f64.powi(2));
    assert_eq!(agreed.1.outputs[0].1, squares.collect::<Vec<_>>());
    case.machine_code_agrees(&agreed, 0);
}

#[test]
fn any_number_of_workers_gives_the_same_bits() {
    std::env::set_current_dir(root()).expect("the root of the repository");
    for path in programs("programs/checks") {
        let case = Case::new(read(&path));
        let one = case.run(&Options::default(), 1);
        for workers in [2, 3, 8, 64] {
            let many = case.run(&Options::default(), workers);
            assert_eq!(
                format!("{many:?}"),
                format!("{one:?}"),
                "{} with {workers} workers",
                case.name
            );
        }
    }
}

/// Pixels along each edge of the gallery's pictures here, and super-steps.
const PIXELS: i64 = 4;
const STEPS: usize = 24;

/// A program of the gallery on small data: few rays with long steps.
fn small(name: &str, images: Vec<ImageSource>) -> Case {
    let mut case = Case::new(read(
        &root().join(format!("programs/gallery/{name}.diderot")),
    ));
    let sizes = ["xres", "yres", "res", "across", "size"];
    case.ints = sizes.iter().map(|&size| (size, PIXELS)).collect();
    case.ints.extend([("most", 8), ("steps", 3)]);
    case.reals = vec![("step", 0.18), ("fov", 14.0)];
    case.images = images;
    case.limit = STEPS;
    case
}

/// Every program of the gallery.
fn gallery() -> Vec<Case> {
    let volume = |shape: &str| generated("volume", 3, &[], 14, shape);
    let table = |file: &str| ImageSource::File(format!("data/{file}.nrrd"));
    let scene = || generated("scene", 2, &[], 14, "");
    vec![
        small("mip", vec![volume("knot")]),
        small("vr", vec![volume("phantom"), table("phantom-rgba")]),
        small("iso", vec![volume("tangle")]),
        small("curvature", vec![volume("tangle"), table("curvature")]),
        small("canny", vec![volume("phantom")]),
        small("crest", vec![volume("cubes")]),
        small("sample", vec![volume("phantom")]),
        small(
            "lic",
            vec![
                generated("flow2", 2, &[2], 14, ""),
                generated("noise", 2, &[], 14, ""),
                table("diverging"),
            ],
        ),
        small(
            "helicity",
            vec![generated("flow3", 3, &[3], 14, ""), table("diverging")],
        ),
        small(
            "tensor",
            vec![generated("tensors", 3, &[3, 3], 14, ""), table("diverging")],
        ),
        small("corner", vec![scene()]),
        small("isocontour", vec![scene()]),
        small("contours", vec![scene(), table("heat")]),
        small(
            "plot1d",
            vec![generated("signal", 1, &[], 20, ""), table("diverging")],
        ),
        small("mandelbrot", vec![table("heat")]),
    ]
}

#[test]
fn the_gallery_agrees_with_itself() {
    std::env::set_current_dir(root()).expect("the root of the repository");
    let cases = gallery();
    assert_eq!(cases.len(), programs("programs/gallery").len());
    for case in cases {
        let agreed = case.stages_agree();
        // A ray that just touches a surface hits it or not as rounding decides.
        case.machine_code_agrees(&agreed, 0);
    }
}

/// What the programs of the language read, from `data` rather than from files that the user would have.
const FILES: &[(&str, &str)] = &[
    ("\"points.nrrd\"", "\"data/check-points.txt\""),
    ("\"pic.nrrd\"", "\"data/check-rings.nrrd\""),
    ("\"wind.nrrd\"", "\"data/check-wind.nrrd\""),
    ("\"ramp.nrrd\"", "\"data/heat.nrrd\""),
    (
        "[3] required;",
        "[3] required = image(\"data/check-flow.nrrd\");",
    ),
    (
        "[N] flow;",
        "[N] flow = load_image(\"data/check-flow.nrrd\");",
    ),
    (
        "(\"seed points\")",
        "(\"\") = load(\"data/check-seeds.txt\")",
    ),
    (
        "(\"initial points\")",
        "(\"\") = load_sequence(\"data/check-points.txt\")",
    ),
];

#[test]
fn programs_with_every_construct_of_the_language_agree_with_themselves() {
    std::env::set_current_dir(root()).expect("the root of the repository");
    for path in programs("programs/language") {
        let mut source = read(&path);
        for (written, here) in FILES {
            source.text = source.text.replace(written, here);
        }
        let mut case = Case::new(source);
        case.ints = vec![("count", 2)];
        case.limit = 3;
        let agreed = case.stages_agree();
        assert!(
            agreed
                .1
                .outputs
                .iter()
                .any(|(_, numbers)| !numbers.is_empty())
        );
        case.machine_code_agrees(&agreed, 0);
    }
}

#[test]
fn the_generators_of_data_agree_with_themselves() {
    std::env::set_current_dir(root()).expect("the root of the repository");
    for path in programs("programs/synth") {
        let mut case = Case::new(read(&path));
        case.ints = vec![("size", 5)];
        let agreed = case.stages_agree();
        case.machine_code_agrees(&agreed, 0);
    }
}

#[test]
fn random_programs_agree_with_themselves() {
    std::env::set_current_dir(root()).expect("the root of the repository");
    for seed in 0..40 {
        let case = stages_random::program(seed);
        let agreed = case.stages_agree();
        case.machine_code_agrees(&agreed, 0);
    }
}
