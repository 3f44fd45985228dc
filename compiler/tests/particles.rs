//! The programs in `programs/particles`: their results are compared with mathematics or with a direct simulation.

use compiler::{
    front::source::Source,
    pipeline::{self, Options, Session, Stopped},
    run::{Inputs, Run},
};
use std::{
    collections::BTreeSet,
    f64::consts::{PI, TAU},
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// An output: its numbers, and the lengths if its sequences vary in length.
struct Found {
    name: String,
    numbers: Vec<f64>,
    lengths: Option<Vec<usize>>,
}

/// Runs a program of the directory on the defaults of its inputs.
fn run(name: &str, options: &Options, workers: usize) -> Vec<Found> {
    let path = root().join(format!("programs/particles/{name}.diderot"));
    // Programs name their data from the root of the repository, where tests do not run.
    let text = std::fs::read_to_string(&path).expect("a program");
    let data = format!("\"{}/data/", root().display());
    let source = Source::new(path, text.replace("\"data/", &data));
    let program = match pipeline::compile(&mut Session::default(), &source, options) {
        Ok(program) => program,
        Err(Stopped::Errors(errors)) => panic!("{name}: {errors:?}"),
        Err(Stopped::Asked) => unreachable!("no stop was requested"),
    };
    let inputs = Inputs::of(&program);
    let mut running =
        Run::new(&program, &inputs, workers).unwrap_or_else(|e| panic!("{name}: {e}"));
    running
        .run(None, &mut std::io::sink(), &mut [])
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let outputs = running.outputs().expect("strands").into_iter();
    outputs
        .map(|data| Found {
            name: data.output.name.clone(),
            numbers: data.numbers(),
            lengths: data.lengths,
        })
        .collect()
}

/// Both precisions, one strand at a time and as many as there can be.
fn every_way() -> Vec<Options> {
    let ways = [(false, 1), (false, 16), (true, 1), (true, 8)];
    ways.map(|(double, width)| Options {
        double,
        width: Some(width),
        ..Options::default()
    })
    .into()
}

fn points<const N: usize>(found: &Found) -> Vec<[f64; N]> {
    found.numbers.as_chunks::<N>().0.to_vec()
}

fn distance<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| (x - y).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// Mean and relative standard deviation.
fn statistics(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
    (mean, variance.sqrt() / mean)
}

/// The gaps between neighbours on a circle around the origin, as angles.
fn gaps(points: &[[f64; 2]]) -> Vec<f64> {
    let mut angles: Vec<f64> = points.iter().map(|p| p[1].atan2(p[0])).collect();
    angles.sort_by(f64::total_cmp);
    let around = angles.iter().zip(angles.iter().cycle().skip(1));
    around.map(|(a, b)| (b - a).rem_euclid(TAU)).collect()
}

#[test]
fn particles_spread_evenly_on_a_circle() {
    for options in every_way() {
        let found = run("circle", &options, 2);
        let dots: Vec<[f64; 2]> = points(&found[0]);
        assert!((34..=56).contains(&dots.len()), "{} dots", dots.len());
        for dot in &dots {
            assert!((distance(dot, &[0.0; 2]) - 1.0).abs() < 1e-5, "{dot:?}");
        }
        let (_, deviation) = statistics(&gaps(&dots));
        assert!(deviation < 0.02, "gaps deviate by {deviation}");
    }
}

#[test]
fn particles_spread_evenly_on_a_sphere() {
    for options in every_way() {
        let found = run("sphere", &options, 2);
        let dots: Vec<[f64; 3]> = points(&found[0]);
        assert!((50..=150).contains(&dots.len()), "{} dots", dots.len());
        let nearest: Vec<f64> = dots
            .iter()
            .map(|a| {
                assert!((distance(a, &[0.0; 3]) - 1.0).abs() < 1e-5, "{a:?}");
                let others = dots.iter().filter(|b| *b != a).map(|b| distance(a, b));
                others.fold(f64::INFINITY, f64::min)
            })
            .collect();
        let (mean, deviation) = statistics(&nearest);
        // As many discs as there are dots, in the densest packing of the plane, are this far apart.
        let densest = (8.0 * PI / (3.0f64.sqrt() * dots.len() as f64)).sqrt();
        assert!(mean > 0.8 * densest, "{mean} of at most {densest}");
        assert!(deviation < 0.1, "distances deviate by {deviation}");
    }
}

#[test]
fn particles_sample_an_isocontour_evenly() {
    for options in every_way() {
        let found = run("isocontour", &options, 2);
        let dots: Vec<[f64; 2]> = points(&found[0]);
        let half_width = 0.6 * 2f64.ln().sqrt();
        for (radius, count) in [(2.0 - half_width, 40..100), (2.0 + half_width, 70..160)] {
            let ring: Vec<[f64; 2]> = dots
                .iter()
                .copied()
                .filter(|dot| (distance(dot, &[0.0; 2]) - radius).abs() < 0.03)
                .collect();
            assert!(count.contains(&ring.len()), "{} dots", ring.len());
            let (_, deviation) = statistics(&gaps(&ring));
            assert!(deviation < 0.1, "gaps deviate by {deviation}");
        }
        for value in &found[1].numbers {
            assert!((value - 0.5).abs() < 0.005, "{value}");
        }
    }
}

#[test]
fn streamlines_of_a_rotation_are_circles() {
    for options in every_way() {
        let found = run("streamlines", &options, 2);
        let lengths = found[0].lengths.as_ref().expect("a sequence");
        assert_eq!(lengths, &[101; 5]);
        let all: Vec<[f64; 2]> = points(&found[0]);
        for line in all.chunks(101) {
            for (k, point) in line.iter().enumerate() {
                let (sin, cos) = (0.05 * k as f64).sin_cos();
                let [x, y] = line[0];
                let wanted = [x * cos - y * sin, x * sin + y * cos];
                let tolerance = if options.double { 1e-6 } else { 1e-5 };
                assert!(distance(point, &wanted) < tolerance, "{point:?} {wanted:?}");
            }
        }
    }
}

#[test]
fn the_game_of_life_is_played_by_its_rules() {
    let (width, height) = (48usize, 40usize);
    let text = std::fs::read_to_string(root().join("data/check-gun.txt")).expect("the cells");
    let number = |word: &str| word.parse::<usize>().expect("a number");
    let mut alive: BTreeSet<(usize, usize)> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(x, y)| (number(x), number(y)))
        .collect();
    for _ in 0..100 {
        let around = |x: usize, y: usize| {
            let near = |(a, b): &&(usize, usize)| {
                a.abs_diff(x) <= 1 && b.abs_diff(y) <= 1 && (*a, *b) != (x, y)
            };
            alive.iter().filter(near).count()
        };
        let cells = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let next = cells.filter(|&(x, y)| match around(x, y) {
            3 => true,
            2 => alive.contains(&(x, y)),
            _ => false,
        });
        alive = next.collect();
    }
    assert!(alive.len() > 36, "the gun has fired");
    for options in every_way() {
        let found = run("life", &options, 2);
        for y in 0..height {
            for x in 0..width {
                let wanted = f64::from(u8::from(alive.contains(&(x, y))));
                assert_eq!(found[0].numbers[y * width + x], wanted, "cell {x} {y}");
            }
        }
    }
}

#[test]
fn the_sieve_leaves_the_primes() {
    let is_prime = |n: &u32| (2..*n).all(|d| !n.is_multiple_of(d));
    let primes: Vec<f64> = (2..=200).filter(is_prime).map(f64::from).collect();
    for options in every_way() {
        assert_eq!(run("sieve", &options, 2)[0].numbers, primes);
    }
}

#[test]
fn heron_finds_square_roots() {
    for options in every_way() {
        let found = run("heron", &options, 2);
        for (n, root) in (1..).zip(&found[0].numbers) {
            assert!((root - f64::from(n).sqrt()).abs() < 1e-5, "{n}: {root}");
        }
        assert!(
            found[1]
                .numbers
                .iter()
                .all(|steps| (1.0..10.0).contains(steps))
        );
    }
}

#[test]
fn halftone_dots_keep_their_distance_and_leave_no_gap() {
    for options in every_way() {
        let found = run("halftone", &options, 2);
        let (dots, wanted) = (points::<2>(&found[0]), &found[1].numbers);
        for (n, a) in dots.iter().enumerate() {
            for (m, b) in dots.iter().enumerate().skip(n + 1) {
                let least = wanted[n].max(wanted[m]);
                assert!(distance(a, b) > 0.999 * least, "{a:?} {b:?}");
            }
        }
        // Dark is dense: the ridge of the image, at radius 2, is its bright part.
        let density = |low: f64, high: f64| {
            let inside = |dot: &&[f64; 2]| (low..high).contains(&distance(dot, &[0.0; 2]));
            dots.iter().filter(inside).count() as f64 / (high * high - low * low)
        };
        assert!(density(0.0, 1.0) > 4.0 * density(1.8, 2.2));
        assert!((200..2000).contains(&dots.len()), "{} dots", dots.len());
    }
}

#[test]
fn ridge_points_lie_on_the_ridge() {
    for options in every_way() {
        let found = run("ridges", &options, 2);
        let dots: Vec<[f64; 2]> = points(&found[0]);
        assert!(dots.len() > 100, "only {} points", dots.len());
        for dot in dots {
            let radius = distance(&dot, &[0.0; 2]);
            assert!((radius - 2.0).abs() < 0.02, "{dot:?} at {radius}");
        }
    }
}

#[test]
fn a_fountain_has_as_many_drops_as_fall() {
    for options in every_way() {
        let found = run("fountain", &options, 2);
        // A drop falls below the ground in its 18th step, so every source has 18 in the air.
        assert_eq!(found[1].numbers.len(), 5 + 5 * 18);
        let ages: BTreeSet<i64> = found[1].numbers.iter().map(|&age| age as i64).collect();
        assert_eq!(ages, (0..18).chain([60]).collect());
    }
}

#[test]
fn any_number_of_workers_gives_the_same_bits() {
    let programs = [
        "circle",
        "sphere",
        "isocontour",
        "streamlines",
        "life",
        "sieve",
        "heron",
        "halftone",
        "ridges",
        "fountain",
    ];
    for name in programs {
        let one = run(name, &Options::default(), 1);
        for workers in [2, 3, 8] {
            for (a, b) in one.iter().zip(run(name, &Options::default(), workers)) {
                assert_eq!(a.name, b.name);
                assert_eq!(a.lengths, b.lengths, "{name}");
                let bits = |found: &[f64]| found.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert!(
                    bits(&a.numbers) == bits(&b.numbers),
                    "{name} with {workers} workers"
                );
            }
        }
    }
}
