//! One super-step of neighbour work in a compiled program: a million particles in three dimensions, about thirty
//! neighbours each, against a cell grid written by hand for exactly this problem, on as many threads. Prints times and
//! ratios.
//!
//! Both sides build their cells, find for every particle the others within the radius, and add up a force.

use compiler::{
    front::source::Source,
    pipeline::{Options, Session, compile},
    run::{Inputs, Run},
};
use std::time::{Duration, Instant};

const COUNT: usize = 1_000_000;
const NEIGHBOURS: f64 = 30.0;
const ROUNDS: u32 = 5;

const PROGRAM: &str = "#version 2.0
    input vec3[] places (\"where the particles are\");
    input real rad (\"radius of interaction\");
    strand particle (vec3 p) {
        vec3 pos = p;
        output vec3 force = [0, 0, 0];
        update {
            vec3 total = [0, 0, 0];
            foreach (particle q in sphere(rad)) {
                vec3 away = pos - q.pos;
                total += (1 - |away|/rad) * away;
            }
            force = total;
            // The position can change, so it is kept twice.
            if (|total| > 1000000.0) { pos += total; }
        }
    }
    create_collection { particle(p) | p in places }";

type Vec3 = [f32; 3];

fn radius() -> f64 {
    (NEIGHBOURS / COUNT as f64 * 0.75 / std::f64::consts::PI).cbrt()
}

/// Uniform in the unit cube, in random order.
fn positions() -> Vec<Vec3> {
    let mut state = 42u64;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u32 << 24) as f32
    };
    (0..COUNT).map(|_| [next(), next(), next()]).collect()
}

/// Cells of one radius, points sorted by cell, neighbours added cell by cell; slabs of cells are shared by the threads.
fn by_hand(positions: &[Vec3], radius: f32, threads: usize) -> Vec<Vec3> {
    let size = (1.0 / radius).floor() as usize;
    let cell_of = |position: &Vec3| position.map(|x| ((x * size as f32) as usize).min(size - 1));
    let index = |[x, y, z]: [usize; 3]| (z * size + y) * size + x;
    let mut starts = vec![0u32; size * size * size + 1];
    for position in positions {
        starts[index(cell_of(position)) + 1] += 1;
    }
    for cell in 1..starts.len() {
        starts[cell] += starts[cell - 1];
    }
    let mut next = starts.clone();
    let mut sorted = vec![([0.0f32; 3], 0u32); positions.len()];
    for (particle, position) in positions.iter().enumerate() {
        let place = &mut next[index(cell_of(position))];
        sorted[*place as usize] = (*position, particle as u32);
        *place += 1;
    }
    let (starts, sorted) = (&starts, &sorted);
    let slab = |from: usize, to: usize| {
        let mut forces = Vec::new();
        for z in from..to {
            for (y, x) in (0..size).flat_map(|y| (0..size).map(move |x| (y, x))) {
                for own in starts[index([x, y, z])]..starts[index([x, y, z]) + 1] {
                    let (position, particle) = sorted[own as usize];
                    let mut force = [0.0f32; 3];
                    for nz in z.saturating_sub(1)..(z + 2).min(size) {
                        for ny in y.saturating_sub(1)..(y + 2).min(size) {
                            let first = starts[index([x.saturating_sub(1), ny, nz])];
                            let last = starts[index([(x + 1).min(size - 1), ny, nz]) + 1];
                            for (other_position, other) in &sorted[first as usize..last as usize] {
                                let away: Vec3 = std::array::from_fn(|axis| {
                                    position[axis] - other_position[axis]
                                });
                                let square =
                                    away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
                                if square < radius * radius && *other != particle {
                                    let strength = 1.0 - square.sqrt() / radius;
                                    for (force, away) in force.iter_mut().zip(away) {
                                        *force += strength * away;
                                    }
                                }
                            }
                        }
                    }
                    forces.push((particle, force));
                }
            }
        }
        forces
    };
    let mut forces = vec![[0.0; 3]; positions.len()];
    std::thread::scope(|scope| {
        let bounds = |n: usize| n * size / threads;
        let workers: Vec<_> = (0..threads)
            .map(|n| scope.spawn(move || slab(bounds(n), bounds(n + 1))))
            .collect();
        for worker in workers {
            for (particle, force) in worker.join().expect("a worker") {
                forces[particle as usize] = force;
            }
        }
    });
    forces
}

fn main() {
    let places = positions();
    let flat: Vec<f64> = places.iter().flatten().map(|&x| x.into()).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in if cores > 1 { vec![1, cores] } else { vec![1] } {
        let source = Source::new("particles.diderot", PROGRAM);
        let program = compile(&mut Session::default(), &source, &Options::default());
        let program = program.unwrap_or_else(|stopped| panic!("{stopped:?}"));
        let mut inputs = Inputs::of(&program);
        inputs
            .set("places", flat.as_slice())
            .expect("a sequence of positions");
        inputs.set("rad", radius()).expect("a radius");
        let mut running = Run::new(&program, &inputs, threads).expect("particles");
        let mut forces = Vec::new();
        let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
        // Turn by turn, so that both meet the same machine.
        for _ in 0..ROUNDS {
            ours = ours.min(timed(|| {
                running
                    .run(Some(1), &mut std::io::sink(), &mut [])
                    .expect("a super-step");
            }));
            theirs = theirs.min(timed(|| {
                forces = by_hand(&places, radius() as f32, threads)
            }));
        }
        let found = running.outputs().expect("strands")[0].numbers();
        let wanted = forces.iter().flatten().map(|&x| f64::from(x));
        let worst = found
            .iter()
            .zip(wanted)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(
            worst < 1e-4 * radius() * NEIGHBOURS,
            "forces differ by {worst}"
        );
        println!(
            "{threads} threads: compiled {:.1} ms, by hand {:.1} ms, ratio {:.2}",
            ours.as_secs_f64() * 1e3,
            theirs.as_secs_f64() * 1e3,
            ours.as_secs_f64() / theirs.as_secs_f64()
        );
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}
