//! How long it takes from source to the first strand, for every program of the gallery and every generator of data; and how
//! fast whole programs are, against the same algorithms written by hand in Rust.
//!
//!     cargo bench -p compiler --bench programs [compile|run]

mod by_hand;

use compiler::{
    front::source::Source,
    pipeline::{self, Compiled, Options, Session},
    run::{ImageSource, Inputs, Running},
};
use ndarray::{ArrayD, IxDyn};
use runtime::{
    image::{Image, ImageArray, Orientation},
    reduce::Values,
    simd::Isa,
};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Repetitions; the best counts, because the machine may have other things to do.
const TIMES: usize = 7;

fn main() {
    std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the root");
    let wanted = std::env::args().nth(1);
    let all = !matches!(wanted.as_deref(), Some("compile" | "run"));
    if all || wanted.as_deref() == Some("compile") {
        compile_all();
    }
    if all || wanted.as_deref() == Some("run") {
        run_all();
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn read(path: &Path) -> Source {
    Source::new(path, std::fs::read_to_string(path).expect("a program"))
}

fn compile(session: &mut Session, source: &Source) -> Compiled {
    compile_with(session, source, &Options::default())
}

fn compile_with(session: &mut Session, source: &Source, options: &Options) -> Compiled {
    match pipeline::compile(session, source, options) {
        Ok(compiled) => compiled,
        Err(stopped) => panic!("{}: {stopped:?}", source.path.display()),
    }
}

fn compile_all() {
    println!("Milliseconds from source to the first strand, best of {TIMES}");
    print!("{:22}", "");
    for stage in pipeline::STAGES {
        print!("{:>12}", stage.name);
    }
    println!("{:>12}{:>12}", "first step", "total");
    for folder in ["programs/gallery", "programs/synth"] {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
            .expect(folder)
            .map(|entry| entry.expect("a directory entry").path())
            .collect();
        paths.sort();
        for path in paths {
            compile_one(&path);
        }
    }
}

fn compile_one(path: &Path) {
    let source = read(path);
    let mut best: Option<(Duration, Vec<Duration>)> = None;
    for _ in 0..TIMES {
        let start = Instant::now();
        let mut session = Session::default();
        let compiled = compile(&mut session, &source);
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

fn run_all() {
    let vol: Image<f32> = Image::read(Path::new("data/phantom.nrrd"), 3, &[])
        .expect("the phantom")
        .image;
    let rgba: Image<f32> = Image::read(Path::new("data/phantom-rgba.nrrd"), 1, &[4])
        .expect("its transfer function")
        .image;
    println!(
        "\nMilliseconds for whole pictures on all cores, best of {TIMES}: compiled program, its portable code, by hand; the first \
         relative to the others"
    );
    let projection = || by_hand::maximum_intensity_projection(&vol, 1000);
    race("mip", 1000, &["data/phantom.nrrd"], &projection);
    let rendering = || by_hand::volume_rendering(&vol, &rgba, 400);
    let files = ["data/phantom.nrrd", "data/phantom-rgba.nrrd"];
    race("vr", 400, &files, &rendering);
}

/// A whole picture by a program of the gallery, with code for an instruction set, and how long it ran.
fn picture(source: &Source, isa: Option<Isa>, size: usize, files: &[&str]) -> (Vec<f32>, Duration) {
    let options = Options {
        isa,
        width: Some(Options::default().lanes().width),
        ..Options::default()
    };
    let compiled = compile_with(&mut Session::default(), source, &options);
    let mut inputs = Inputs::of(&compiled);
    for (n, file) in files.iter().enumerate() {
        inputs.set_source(n, ImageSource::File((*file).into()));
    }
    for resolution in ["xres", "yres"] {
        inputs.set(resolution, size as i64).expect("a resolution");
    }
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut running = Running::new(&compiled, &inputs, workers).expect("strands");
    let start = Instant::now();
    running
        .run(None, &mut std::io::sink())
        .expect("a run without errors");
    let time = start.elapsed();
    let Values::F32(values) = running.outputs(false).remove(0).values else {
        panic!("a picture of single precision");
    };
    (values, time)
}

/// Runs a program of the gallery, the same in portable code, and its counterpart in turns, and compares their pictures.
fn race(name: &str, size: usize, files: &[&str], by_hand: &dyn Fn() -> Vec<f32>) {
    let source = read(Path::new(&format!("programs/gallery/{name}.diderot")));
    let mut best = [Duration::MAX; 3];
    let mut pictures = [Vec::new(), Vec::new()];
    for _ in 0..TIMES {
        let (ours, time) = picture(&source, None, size, files);
        best[0] = best[0].min(time);
        let (portable, time) = picture(&source, Some(Isa::Baseline), size, files);
        best[1] = best[1].min(time);
        let bits = [&ours, &portable].map(|p| p.iter().map(|x| x.to_bits()).collect::<Vec<u32>>());
        assert!(bits[0] == bits[1], "{name}: portable code gives other bits");
        let start = Instant::now();
        pictures = [ours, by_hand()];
        best[2] = best[2].min(start.elapsed());
    }
    let [ours, portable, theirs] = best.map(milliseconds);
    let [a, b] = &pictures;
    assert_eq!(a.len(), b.len(), "{name}: sizes of the pictures");
    let differences = || a.iter().zip(b).map(|(x, y)| (x - y).abs());
    let mean = differences().map(f64::from).sum::<f64>() / a.len() as f64;
    // Rounding decides for a few rays whether a sample is still inside, or which sample is the last.
    let far = differences().filter(|d| d.is_nan() || *d > 2e-3).count();
    println!(
        "{name:6} {size:4}² {ours:9.1} {portable:9.1} {theirs:9.1} {:6.2} {:6.2}   mean difference by hand {mean:.1e}, {far} of {} numbers \
         differ by more than 0.002",
        ours / portable,
        ours / theirs,
        a.len()
    );
    assert!(
        mean < 1e-4 && far * 1000 < a.len(),
        "{name}: the pictures differ"
    );
}
