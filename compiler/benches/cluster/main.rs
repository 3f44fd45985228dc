//! The expected times of runs on clusters: programs are measured here, on one worker, and a model predicts the rest.
//!
//! ```text
//! cargo bench -p diderot-compiler --bench cluster
//! cargo bench -p diderot-compiler --bench cluster -- workers=16 latency=1e-5 bandwidth=1.2e9 writing=3e8
//! ```
//!
//! Each property of the cluster has a default, which is printed. A picture is cut into bands whose times are measured one by one, so
//! that the model knows which parts take longer. Tiles of a band differ by up to a fifth at random.

mod model;

use compiler::{
    front::source::Source,
    pipeline::{Compiled, Options, Session, compile},
    run::{ImageSource, Inputs, Observer, Rows, Run},
};
use model::{Cluster, Picture, SuperStep, independent, letters_of_super_step, super_step};
use ndarray::ArrayD;
use runtime::image::{ImageArray, Orientation};
use std::{
    path::Path,
    sync::Mutex,
    time::{Duration, Instant},
};

/// Pixels along an edge of the pictures that are measured, and of those that are predicted.
const MEASURED: usize = 1024;
const PREDICTED: usize = 8192;
/// Strands of a tile, and along its edge.
const TILE: usize = 1024;
const EDGE: usize = 32;
/// Particles that are measured.
const PARTICLES: usize = 200_000;
const RANKS: [usize; 5] = [1, 4, 16, 64, 256];

fn main() {
    let cluster = cluster_of(std::env::args().skip(1));
    println!("{cluster:?}");
    println!("\npictures of {PREDICTED}²: milliseconds, efficiency, batches that rank 0 gives out");
    for (name, program, inputs, bytes) in pictures() {
        let bands = bands(&program, &inputs);
        let tiles = tiles(&bands);
        let work: f64 = tiles.iter().sum();
        let of_strand = work / (PREDICTED * PREDICTED) as f64;
        println!("{name}: {:.2} µs per strand", of_strand * 1e6);
        let picture = Picture {
            tiles: &tiles,
            neighbours: PREDICTED / EDGE,
            bytes: (TILE * bytes) as f64,
        };
        for ranks in RANKS {
            let cluster = Cluster { ranks, ..cluster };
            let predicted = independent(picture, &cluster);
            println!(
                "  {ranks:>4} ranks {:>10.1} ms {:>4.0} % (strands alone {:.1} ms), {} batches",
                predicted.seconds * 1e3,
                predicted.efficiency(work, &cluster) * 100.0,
                predicted.computing * 1e3,
                predicted.batches
            );
        }
    }
    let step = particles();
    println!(
        "\nparticles with 30 neighbours: {:.0} ns for an update and {:.0} ns on every rank that sees it, {} bytes",
        step.update * 1e9,
        step.looked_at * 1e9,
        step.bytes
    );
    for strands in [1e6, 1e7] {
        let step = SuperStep {
            strands,
            radius: radius(strands),
            ..step
        };
        for ranks in RANKS {
            let seconds = super_step(step, &Cluster { ranks, ..cluster });
            println!(
                "  {strands:.0e} particles, {ranks:>4} ranks {:>10.1} ms per super-step, {:>9.0} ghosts per rank, {} letters",
                seconds * 1e3,
                step.ghosts(ranks),
                letters_of_super_step(ranks, true)
            );
        }
    }
}

/// The cluster that words of the form `name=number` describe.
fn cluster_of(words: impl Iterator<Item = String>) -> Cluster {
    let mut cluster = Cluster {
        ranks: 1,
        workers: 64,
        // The thread that answers letters sleeps for up to a millisecond while others compute.
        latency: 1e-3,
        bandwidth: 12.5e9,
        ticket: 5e-6,
        unpacking: 2e9,
        writing: 1e9,
    };
    for word in words {
        let Some((name, number)) = word.split_once('=') else {
            // Words of cargo.
            continue;
        };
        let number: f64 = number.parse().expect("a number");
        match name {
            "workers" => cluster.workers = number as usize,
            "latency" => cluster.latency = number,
            "bandwidth" => cluster.bandwidth = number,
            "ticket" => cluster.ticket = number,
            "unpacking" => cluster.unpacking = number,
            "writing" => cluster.writing = number,
            other => panic!("{other} is not a property of the cluster"),
        }
    }
    cluster
}

fn compiled(file: impl AsRef<Path>, text: &str) -> Compiled {
    let source = Source::new(file.as_ref(), text);
    let program = compile(&mut Session::default(), &source, &Options::default());
    program.unwrap_or_else(|stopped| panic!("{stopped:?}"))
}

/// Programs with their inputs, and the bytes of the outputs of a strand.
fn pictures() -> Vec<(&'static str, Compiled, Inputs, usize)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let begin = |name: &str| {
        let file = root.join(format!("programs/methods/{name}.diderot"));
        let text = std::fs::read_to_string(&file).expect("a program");
        let program = compiled(&file, &text);
        let mut inputs = Inputs::of(&program);
        for axis in ["xres", "yres"] {
            inputs.set(axis, MEASURED as i64).expect("a size");
        }
        (program, inputs)
    };
    let (iso, mut of_iso) = begin("iso");
    of_iso.set_image("vol", tangle()).expect("a volume");
    let (mandelbrot, mut of_mandelbrot) = begin("mandelbrot");
    let colours = ImageSource::File(root.join("data/heat.nrrd").into());
    of_mandelbrot.set_image("cmap", colours).expect("colours");
    vec![
        ("iso", iso, of_iso, 12),
        ("mandelbrot", mandelbrot, of_mandelbrot, 16),
    ]
}

/// A surface with holes, around the origin.
fn tangle() -> ImageSource {
    const SIZE: usize = 64;
    let along = |n: usize| 5.0 * n as f32 / (SIZE - 1) as f32 - 2.5;
    let samples = ArrayD::from_shape_fn(vec![SIZE; 3], |at| {
        let of_axis = |axis: usize| along(at[axis]).powi(4) - 5.0 * along(at[axis]).powi(2);
        -(of_axis(0) + of_axis(1) + of_axis(2) + 11.8)
    });
    let step = 5.0 / (SIZE - 1) as f64;
    let direction = |axis: usize| (0..3).map(|n| if n == axis { step } else { 0.0 }).collect();
    let directions: Vec<Vec<f64>> = (0..3).map(direction).collect();
    let orientation = Orientation::new(&directions, &[-2.5; 3]).expect("a grid");
    ImageSource::Array(ImageArray::new(samples, orientation))
}

/// Notes when the values of the first output come.
struct Clock {
    start: Instant,
    ends: Mutex<Vec<(usize, Duration)>>,
}

impl Rows for Clock {
    fn take(&self, output: usize, before: usize, values: &[u8]) {
        if output == 0 {
            let mut ends = self.ends.lock().expect("a clock");
            ends.push((before + values.len(), self.start.elapsed()));
        }
    }

    fn is_last(&self, _: usize) -> bool {
        false
    }
}

impl Observer for Clock {
    fn rows(&self) -> Option<&dyn Rows> {
        Some(self)
    }
}

/// The bands of a picture: the part of the picture at which each ends, and its seconds per strand of one worker.
fn bands(program: &Compiled, inputs: &Inputs) -> Vec<(f64, f64)> {
    let mut run = Run::new(program, inputs, 1).expect("a run");
    let mut clock = Clock {
        start: Instant::now(),
        ends: Mutex::default(),
    };
    run.run(None, &mut std::io::sink(), &mut [&mut clock])
        .expect("a picture");
    let ends = clock.ends.into_inner().expect("a clock");
    let all = ends.last().expect("a band").0 as f64;
    let (mut before, mut since) = (0.0, Duration::ZERO);
    let band = ends.into_iter().map(|(bytes, time)| {
        let end = bytes as f64 / all;
        let strands = (end - before) * (MEASURED * MEASURED) as f64;
        let cost = (time - since).as_secs_f64() / strands;
        (before, since) = (end, time);
        (end, cost)
    });
    band.collect()
}

/// The seconds of the tiles of the picture that is predicted.
fn tiles(bands: &[(f64, f64)]) -> Vec<f64> {
    let row = PREDICTED / EDGE;
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let tile = |n: usize| {
        let place = (n / row) as f64 / row as f64;
        let band = bands.iter().find(|(end, _)| place < *end);
        let (_, cost) = band.or(bands.last()).expect("a band");
        TILE as f64 * cost * (0.8 + 0.4 * random())
    };
    (0..row * row).map(tile).collect()
}

const PROGRAM: &str = "#version 2.0
input vec3[] places;
input real rad;
strand particle (vec3 p) {
    vec3 pos = p;
    output vec3 force = [0, 0, 0];
    update {
        vec3 total = [0, 0, 0];
        foreach (particle q in sphere(rad)) { total += (1 - |pos - q.pos|/rad)*(pos - q.pos); }
        force = total;
        if (|total| > 1000000.0) { pos += total; }
    }
}
create_collection { particle(p) | p in places }";

/// The radius in which a particle has 30 neighbours, in a cube with edges of 1.
fn radius(particles: f64) -> f64 {
    (30.0 / particles * 0.75 / std::f64::consts::PI).cbrt()
}

/// The costs of particles that have 30 neighbours. The part of a super-step that does not become shorter on two workers is taken for the part that a rank spends on all particles that it sees.
fn particles() -> SuperStep {
    let program = compiled("particles.diderot", PROGRAM);
    let mut state = 42u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let places: Vec<f64> = (0..3 * PARTICLES).map(|_| next()).collect();
    let mut inputs = Inputs::of(&program);
    inputs.set("places", places.as_slice()).expect("positions");
    inputs
        .set("rad", radius(PARTICLES as f64))
        .expect("a radius");
    let seconds = |workers: usize| {
        let mut run = Run::new(&program, &inputs, workers).expect("particles");
        let mut step = || {
            let start = Instant::now();
            run.run(Some(1), &mut std::io::sink(), &mut [])
                .expect("a super-step");
            start.elapsed().as_secs_f64()
        };
        let steps: Vec<f64> = (0..6).map(|_| step()).collect();
        steps.into_iter().fold(f64::INFINITY, f64::min) / PARTICLES as f64
    };
    let (one, two) = (seconds(1), seconds(2));
    let looked_at = (2.0 * two - one).clamp(0.0, one);
    SuperStep {
        strands: PARTICLES as f64,
        update: one - looked_at,
        looked_at,
        // The position, and which strand of its block it is.
        bytes: 16.0,
        radius: radius(PARTICLES as f64),
    }
}
