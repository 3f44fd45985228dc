//! How long it takes from source to the first strand, for every program of the gallery and every generator of data.

use super::milliseconds;
use super::ours::{compile, read};
use compiler::{
    pipeline::{self, Compiled, Session},
    run::{ImageSource, Inputs, Running},
};
use ndarray::{ArrayD, IxDyn};
use runtime::image::{ImageArray, Orientation};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Repetitions; the best counts, because the machine may have other things to do.
const TIMES: usize = 7;

/// Prints the table.
pub(crate) fn print_table() {
    println!("Milliseconds from source to the first strand, best of {TIMES}");
    print!("{:22}", "");
    for stage in pipeline::STAGES {
        print!("{:>12}", stage.name);
    }
    println!("{:>12}{:>12}", "first step", "total");
    for folder in ["programs/gallery", "programs/methods", "programs/synth"] {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
            .expect(folder)
            .map(|entry| entry.expect("a directory entry").path())
            .collect();
        paths.sort();
        for path in paths {
            one(&path);
        }
    }
}

fn one(path: &Path) {
    let source = read(path);
    let mut best: Option<(Duration, Vec<Duration>)> = None;
    for _ in 0..TIMES {
        let start = Instant::now();
        let mut session = Session::default();
        let compiled = compile(&mut session, &source, None);
        let compiled_in = start.elapsed();
        let inputs = small_world(&compiled);
        let start = Instant::now();
        let mut running = Running::new(&compiled, &inputs, 1)
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        running
            .run(Some(1), &mut std::io::sink())
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let first = start.elapsed();
        let total = compiled_in + first;
        if best.as_ref().is_none_or(|(least, _)| total < *least) {
            let times = session.times.iter().map(|(_, time)| *time).chain([first]);
            best = Some((total, times.collect()));
        }
    }
    let (total, times) = best.expect("it ran");
    let name = path.file_stem().expect("a name").to_string_lossy();
    print!("{name:22}");
    for time in times {
        print!("{:12.2}", milliseconds(time));
    }
    println!("{:12.2}", milliseconds(total));
}

/// Few strands and small images, so that what is measured is how long it takes to begin.
fn small_world(compiled: &Compiled) -> Inputs {
    const FEW: i64 = 4;
    let sizes = ["size", "res", "xres", "yres", "across"];
    let mut inputs = Inputs::of(compiled);
    for input in &compiled.interface.inputs {
        if input.ty == ein_ir::Type::Int && sizes.contains(&input.name.as_str()) {
            inputs.set(&input.name, FEW).expect("a size");
        }
    }
    for (n, image) in compiled.interface.images.iter().enumerate() {
        let shape = [&vec![8; image.dim][..], image.shape.dims()].concat();
        let zeros = ArrayD::<f32>::zeros(IxDyn(&shape));
        let zeros = ImageArray::new(zeros, Orientation::identity(image.dim));
        inputs.set_source(n, ImageSource::Array(zeros));
    }
    inputs
}
