//! How long it takes from source to the first strand, for every program of the gallery and every generator of data.

use super::milliseconds;
use super::ours::{compile, read};
use compiler::{
    pipeline::{Compiled, Session},
    run::{ImageSource, Inputs, Run},
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
    println!("(programs on meshes or lists from files: to the end of compilation)");
    let mut header = true;
    for folder in ["programs/gallery", "programs/methods", "programs/synth"] {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
            .expect(folder)
            .map(|entry| entry.expect("a directory entry").path())
            .collect();
        paths.sort();
        for path in paths {
            one(&path, std::mem::take(&mut header));
        }
    }
}

/// Prints the row of one program, under the names of its columns if it is the first.
fn one(path: &Path, header: bool) {
    let source = read(path);
    let mut best: Option<(Duration, Vec<(&str, Duration)>)> = None;
    for _ in 0..TIMES {
        let start = Instant::now();
        let mut session = Session::default();
        let compiled = compile(&mut session, &source, None);
        let compiled_in = start.elapsed();
        let inputs = small_world(&compiled);
        let start = Instant::now();
        // Meshes and lists come from files; without them it ends where they would be read.
        if let Ok(mut running) = Run::new(&compiled, &inputs, 1) {
            running
                .run(Some(1), &mut std::io::sink(), &mut [])
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
        let first = start.elapsed();
        let total = compiled_in + first;
        if best.as_ref().is_none_or(|(least, _)| total < *least) {
            let times = session.times.iter().copied();
            best = Some((total, times.chain([("first step", first)]).collect()));
        }
    }
    let (total, times) = best.expect("it ran");
    let name = path.file_stem().expect("a name").to_string_lossy();
    if header {
        print!("{:22}", "");
        for (stage, _) in &times {
            print!("{stage:>12}");
        }
        println!("{:>12}", "total");
    }
    print!("{name:22}");
    for (_, time) in times {
        print!("{:12.2}", milliseconds(time));
    }
    println!("{:12.2}", milliseconds(total));
}

/// Few strands and small images, so that the measured time is that until the first strand runs.
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
