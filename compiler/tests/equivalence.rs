//! Every stage means the same: the programs in `programs/checks` give what they say they give, in every IR under the
//! reference interpreter, and as machine code for every number of strands per call in both precisions.

use compiler::{
    interpret::{Outcome, interpret},
    pipeline::{self, Lowered, Options, Session},
    program::Program,
    reference::EvalImage,
    run::{Inputs, Running},
    source::Source,
    ssa::{Dialect, parse_function},
};
use runtime::image::Image;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Rounding: of single precision relative to the size of the numbers, and of double precision.
const SINGLE: f64 = 2e-4;
const DOUBLE: f64 = 1e-9;

/// More super-steps than any of the programs needs.
const LIMIT: usize = 1000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn programs() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(root().join("programs/checks"))
        .expect("programs/checks")
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "diderot"))
        .collect();
    found.sort();
    found
}

fn lower(path: &Path, options: &Options) -> Lowered {
    let source = Source {
        path: path.into(),
        text: std::fs::read_to_string(path).expect("a program"),
    };
    match pipeline::lower(&mut Session::default(), &source, options) {
        Ok(lowered) => lowered,
        Err(stopped) => panic!("{}: {stopped:?}", path.display()),
    }
}

fn images(lowered: &Lowered) -> Vec<Arc<EvalImage>> {
    let load = |image: &compiler::program::Image| {
        let file = image.file.as_ref().expect("an image with a file");
        let loaded = Image::<f64>::read(Path::new(file), image.dim, image.shape.dims())
            .expect("a readable image")
            .image;
        let plane = loaded.plane_stride();
        let planes =
            (0..loaded.components()).map(|c| loaded.samples()[c * plane..(c + 1) * plane].to_vec());
        Arc::new(EvalImage {
            sizes: loaded.sizes().to_vec(),
            planes: planes.collect(),
            to_index: loaded.orientation().world_to_index().to_vec(),
            offset: loaded.orientation().offset().to_vec(),
        })
    };
    lowered
        .translated
        .interface
        .images
        .iter()
        .map(load)
        .collect()
}

/// The text of a program in any IR is read back as the same text.
#[track_caller]
fn survives_printing<D: Dialect>(path: &Path, program: &Program<D>) {
    for (_, function) in &program.functions {
        let text = function.to_string();
        let again = parse_function::<D>(&text)
            .unwrap_or_else(|e| panic!("{}: {e}\n{text}", path.display()));
        assert_eq!(again.to_string(), text, "{}", path.display());
    }
}

/// What machine code gives.
fn compiled(path: &Path, options: &Options, workers: usize) -> Outcome {
    let source = Source {
        path: path.into(),
        text: std::fs::read_to_string(path).expect("a program"),
    };
    let Ok(program) = pipeline::compile(&mut Session::default(), &source, options) else {
        panic!("{} does not compile", path.display())
    };
    let inputs = Inputs::of(&program);
    let mut running = Running::new(program, &inputs, workers)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut printed = Vec::new();
    running
        .run(Some(LIMIT as u64), &mut printed)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let outputs = running.outputs(false).into_iter().flat_map(|data| {
        let values = (data.output.name.clone(), data.numbers());
        let lengths = data.lengths.map(|lengths| {
            let lengths = lengths.into_iter().map(|n| n as f64).collect();
            (format!("{}-len", data.output.name), lengths)
        });
        [values].into_iter().chain(lengths)
    });
    Outcome {
        outputs: outputs.collect(),
        printed: String::from_utf8(printed).expect("text"),
    }
}

#[track_caller]
fn assert_close(path: &Path, what: &str, found: &Outcome, wanted: &Outcome, tolerance: f64) {
    assert_eq!(
        found.outputs.len(),
        wanted.outputs.len(),
        "{} {what}",
        path.display()
    );
    for ((name, found), (_, wanted)) in found.outputs.iter().zip(&wanted.outputs) {
        assert_eq!(
            found.len(),
            wanted.len(),
            "{} {what}: length of `{name}`",
            path.display()
        );
        for (n, (f, w)) in found.iter().zip(wanted).enumerate() {
            let near = (f - w).abs() <= tolerance * (1.0 + w.abs())
                || (f.is_nan() && w.is_nan())
                || f == w;
            assert!(
                near,
                "{} {what}: `{name}`[{n}] is {f}, wanted {w}",
                path.display()
            );
        }
    }
}

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
    let programs = programs();
    assert!(programs.len() >= 20, "only {} programs", programs.len());
    for path in &programs {
        let options = Options {
            double: true,
            ..Options::default()
        };
        let lowered = lower(path, &options);
        let images = images(&lowered);
        let run = |what: &str, outcome: Result<Outcome, compiler::ssa::Interrupt>| {
            outcome.unwrap_or_else(|e| panic!("{} {what}: {e:?}", path.display()))
        };
        let reference = run(
            "translated",
            interpret(&lowered.translated, &images, true, LIMIT),
        );
        for (name, values) in expected(path) {
            let (_, found) = reference
                .outputs
                .iter()
                .find(|(n, _)| *n == name)
                .expect("an output of that name");
            assert_eq!(
                found.len(),
                values.len(),
                "{}: `{name}` is {found:?}",
                path.display()
            );
            for (f, w) in found.iter().zip(&values) {
                assert!(
                    (f - w).abs() <= 1e-4 * (1.0 + w.abs()),
                    "{}: `{name}` is {found:?}",
                    path.display()
                );
            }
        }
        let stages = [
            (
                "normalized",
                run(
                    "normalized",
                    interpret(&lowered.normalized, &images, true, LIMIT),
                ),
            ),
            (
                "reconstructed",
                run(
                    "reconstructed",
                    interpret(&lowered.reconstructed, &images, true, LIMIT),
                ),
            ),
            (
                "scalarized",
                run(
                    "scalarized",
                    interpret(&lowered.scalarized, &images, true, LIMIT),
                ),
            ),
        ];
        for (what, outcome) in &stages {
            assert_close(path, what, outcome, &reference, DOUBLE);
            assert_eq!(
                outcome.printed,
                reference.printed,
                "{} {what}",
                path.display()
            );
        }
        survives_printing(path, &lowered.translated);
        survives_printing(path, &lowered.normalized);
        survives_printing(path, &lowered.reconstructed);
        survives_printing(path, &lowered.scalarized);
        for width in [1, 4, 8, 16] {
            for (double, tolerance) in [(true, DOUBLE), (false, SINGLE)] {
                let options = Options {
                    double,
                    width: Some(width),
                    ..Options::default()
                };
                let outcome = compiled(path, &options, 2);
                let what = format!("width {width}, double {double}");
                assert_close(path, &what, &outcome, &reference, tolerance);
                if double {
                    assert_eq!(
                        outcome.printed,
                        reference.printed,
                        "{} {what}",
                        path.display()
                    );
                }
            }
        }
        // With 64-bit integers; in single precision these run one strand at a time.
        for (double, tolerance) in [(true, DOUBLE), (false, SINGLE)] {
            let options = Options {
                double,
                long_int: true,
                ..Options::default()
            };
            let outcome = compiled(path, &options, 2);
            let what = format!("long integers, double {double}");
            assert_close(path, &what, &outcome, &reference, tolerance);
        }
    }
}

#[test]
fn any_number_of_workers_gives_the_same_bits() {
    std::env::set_current_dir(root()).expect("the root of the repository");
    for path in programs() {
        let one = compiled(&path, &Options::default(), 1);
        for workers in [2, 3, 8] {
            let many = compiled(&path, &Options::default(), workers);
            assert_eq!(
                format!("{many:?}"),
                format!("{one:?}"),
                "{} with {workers} workers",
                path.display()
            );
        }
    }
}
