//! Milliseconds to read a raw file of 256³ floats: its bytes, its samples, and images of one and of three
//! components made from it. The last column is the time over that of the bytes alone.

use runtime::image::Image;
use runtime::nrrd::{self, Format, Header, Kind, Nrrd, SampleType, Samples};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

const SIZE: usize = 256;
const ROUNDS: usize = 5;

/// The least time of several rounds, in milliseconds; the file stays in the system's cache.
fn time(mut work: impl FnMut()) -> f64 {
    let round = |_| {
        let begin = Instant::now();
        work();
        begin.elapsed().as_secs_f64() * 1e3
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

fn write(path: &Path, sizes: &[usize], first: Kind) {
    let count = sizes.iter().product();
    let samples = Samples::F32((0..count).map(|n| n as f32).collect());
    let mut header = Header::new(SampleType::F32, sizes);
    header.axes[0].kind = Some(first);
    let nrrd = Nrrd::new(header, samples).expect("an array");
    let mut file = std::fs::File::create(path).expect("a file");
    nrrd::write_attached(&nrrd, Format::default(), &mut file).expect("space for the file");
}

fn main() {
    let path = std::env::temp_dir().join(format!("bench-{}.nrrd", std::process::id()));
    write(&path, &[SIZE; 3], Kind::Space);
    let bytes = time(|| {
        black_box(std::fs::read(&path).expect("the bytes"));
    });
    let row = |what: &str, time: f64| println!("{what:<28} {time:8.1} ms {:6.2}", time / bytes);
    row("bytes", bytes);
    row(
        "samples",
        time(|| {
            black_box(nrrd::read(&path).expect("the samples"));
        }),
    );
    row(
        "image of f32",
        time(|| {
            black_box(Image::<f32>::read(&path, 3, &[]).expect("an image"));
        }),
    );
    row(
        "image of f64",
        time(|| {
            black_box(Image::<f64>::read(&path, 3, &[]).expect("an image"));
        }),
    );
    // As many bytes again, read as vectors.
    write(&path, &[3, SIZE, SIZE, SIZE / 3], Kind::Vector3);
    row(
        "image of f32, 3 components",
        time(|| {
            black_box(Image::<f32>::read(&path, 3, &[3]).expect("an image"));
        }),
    );
    std::fs::remove_file(&path).expect("the file");
}
