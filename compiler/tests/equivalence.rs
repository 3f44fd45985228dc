//! Every stage means the same: the programs in `programs/checks` have the results that their comments state, in every IR under the
//! reference interpreter, and as machine code for every number of strands per call in both precisions. For the programs of the
//! gallery and the generators of data, all of these agree with each other. Random programs have a test of their own.

mod stages;

use compiler::front::source::Source;
use compiler::interpret::Outcome;
use compiler::pipeline::Options;
use compiler::run::ImageSource;
use libtest_mimic::{Arguments, Trial};
use stages::{Case, generated, programs, read, root};
use std::{path::Path, process::ExitCode};

/// The numbers that a program says its outputs have, in lines `// expect NAME: …`.
fn expected(source: &Source) -> Vec<(String, Vec<f64>)> {
    let lines = source.text.lines();
    lines
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

/// What a program says it prints, in lines `// expect-print: …`.
fn expected_print(source: &Source) -> String {
    let lines = source.text.lines();
    lines
        .filter_map(|line| line.strip_prefix("// expect-print: "))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The check programs say everything that they print and something that they compute; whatever else begins with `expect` is
/// a mistake that no reader would notice.
#[track_caller]
fn says_what_it_expects(source: &Source) {
    let name = source.path.display();
    let lines = source.text.lines().filter(|line| line.starts_with("//"));
    for line in lines.filter(|line| line.contains("expect")) {
        let known = ["// expect ", "// expect-print: "];
        assert!(
            known.iter().any(|prefix| line.starts_with(prefix)),
            "{name}: {line}"
        );
    }
    assert!(!expected(source).is_empty(), "{name} expects nothing");
}

/// A check program has its stated results in every IR and as machine code, with any number of workers.
fn check_program(path: &Path) {
    let source = read(path);
    says_what_it_expects(&source);
    let (expected, printed) = (expected(&source), expected_print(&source));
    let case = Case::new(source);
    let agreed = case.stages_agree();
    assert_eq!(agreed.1.printed, printed, "the printed text");
    for (name, values) in expected {
        let outputs = &agreed.1.outputs;
        let found = outputs.iter().find(|(n, _)| *n == name);
        let (_, found) = found.expect("an output of that name");
        assert_eq!(found.len(), values.len(), "`{name}` is {found:?}");
        for (f, w) in found.iter().zip(&values) {
            let near = (f - w).abs() <= 1e-4 * (1.0 + w.abs());
            assert!(near, "`{name}` is {found:?}");
        }
    }
    case.machine_code_agrees(&agreed, 0);
    case.device_agrees();
    case.long_integers_agree(&agreed.1);
    let program = case.compile(&Options::default());
    let run = |workers| format!("{:?}", case.finish(case.begin(program.clone(), workers)));
    let one = run(1);
    for workers in [2, 3, 8, 64] {
        assert_eq!(run(workers), one, "{workers} workers");
    }
}

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
    let mut case = Case::new(Source::new("long.diderot", text));
    case.long_int = true;
    let agreed = case.stages_agree();
    let squares = (0..21).map(|i| f64::from(i + 3).powi(2) * 65537f64.powi(2));
    assert_eq!(agreed.1.outputs[0].1, squares.collect::<Vec<_>>());
    case.machine_code_agrees(&agreed, 0);
}

/// Pixels along each edge of the gallery's pictures here, and super-steps.
const PIXELS: i64 = 4;
const STEPS: usize = 24;

/// A program of the gallery on small data: few rays with long steps.
fn small(name: &str, images: Vec<ImageSource>) -> Case {
    let mut case = Case::new(read(
        &root().join(format!("programs/methods/{name}.diderot")),
    ));
    let sizes = ["xres", "yres", "res", "across", "size"];
    case.ints = sizes.iter().map(|&size| (size, PIXELS)).collect();
    case.ints.extend([("most", 8), ("steps", 3)]);
    case.reals = vec![("step", 0.18), ("fov", 14.0)];
    case.images = images;
    case.limit = STEPS;
    case
}

/// Every program of the gallery, with its images.
type Images = fn() -> Vec<ImageSource>;
const GALLERY: [(&str, Images); 15] = [
    ("mip", || vec![volume("knot")]),
    ("vr", || vec![volume("phantom"), table("phantom-rgba")]),
    ("iso", || vec![volume("tangle")]),
    ("curvature", || vec![volume("tangle"), table("curvature")]),
    ("canny", || vec![volume("phantom")]),
    ("crest", || vec![volume("cubes")]),
    ("sample", || vec![volume("phantom")]),
    ("lic", || {
        vec![
            generated("flow2", 2, &[2], 14, ""),
            generated("noise", 2, &[], 14, ""),
            table("diverging"),
        ]
    }),
    ("helicity", || {
        vec![generated("flow3", 3, &[3], 14, ""), table("diverging")]
    }),
    ("tensor", || {
        vec![generated("tensors", 3, &[3, 3], 14, ""), table("diverging")]
    }),
    ("corner", || vec![scene()]),
    ("isocontour", || vec![scene()]),
    ("contours", || vec![scene(), table("heat")]),
    ("plot1d", || {
        vec![generated("signal", 1, &[], 20, ""), table("diverging")]
    }),
    ("mandelbrot", || vec![table("heat")]),
];

fn volume(shape: &str) -> ImageSource {
    generated("volume", 3, &[], 14, shape)
}

fn scene() -> ImageSource {
    generated("scene", 2, &[], 14, "")
}

fn table(file: &str) -> ImageSource {
    ImageSource::File(root().join(format!("data/{file}.nrrd")).into())
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

/// A program with every construct of the language.
fn language(path: &Path) {
    let mut source = read(path);
    for (written, here) in FILES {
        source.text = source.text.replace(written, here);
    }
    let mut case = Case::new(source);
    case.ints = vec![("count", 2)];
    case.limit = 3;
    let agreed = agrees_with_itself(&case);
    assert!(
        agreed
            .outputs
            .iter()
            .any(|(_, numbers)| !numbers.is_empty())
    );
}

fn agrees_with_itself(case: &Case) -> Outcome {
    let agreed = case.stages_agree();
    case.machine_code_agrees(&agreed, 0);
    case.device_agrees();
    agreed.1
}

fn main() -> ExitCode {
    let mut trials = vec![Trial::test("integers_of_64_bits", || {
        integers_of_64_bits_agree_where_32_would_wrap();
        Ok(())
    })];
    let mut add = |name: String, work: Box<dyn FnOnce() + Send>| {
        trials.push(Trial::test(name, || {
            work();
            Ok(())
        }));
    };
    let checks = programs("programs/checks");
    assert!(checks.len() >= 20, "only {} programs", checks.len());
    for path in checks {
        add(named(&path), Box::new(move || check_program(&path)));
    }
    for path in programs("programs/language") {
        add(named(&path), Box::new(move || language(&path)));
    }
    for path in programs("programs/synth") {
        add(
            named(&path),
            Box::new(move || {
                let mut case = Case::new(read(&path));
                case.ints = vec![("size", 5)];
                agrees_with_itself(&case);
            }),
        );
    }
    assert_eq!(GALLERY.len(), programs("programs/methods").len());
    for (name, images) in GALLERY {
        add(
            format!("methods/{name}"),
            Box::new(move || {
                agrees_with_itself(&small(name, images()));
            }),
        );
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A program's folder and name.
fn named(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    let name = path.file_stem().unwrap_or_default();
    format!("{}/{}", folder.to_string_lossy(), name.to_string_lossy())
}
