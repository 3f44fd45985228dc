//! The model of runs on a cluster, in cases whose answers are known: by arithmetic, by bounds that hold for every schedule, and by
//! letters that were counted.

#[path = "../benches/cluster/model.rs"]
mod model;

use model::{
    Cluster, Picture, Prediction, SuperStep, independent, letters_of_super_step, super_step,
};
use runtime::{
    cluster::{Cluster as Carrier, Mailbox, Team, Threads},
    world::{batch_of, share_of},
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// A cluster on which letters take no time and files take everything.
const IDEAL: Cluster = Cluster {
    ranks: 1,
    workers: 1,
    latency: 0.0,
    bandwidth: f64::INFINITY,
    ticket: 0.0,
    unpacking: f64::INFINITY,
    writing: f64::INFINITY,
};

fn picture(tiles: &[f64]) -> Picture<'_> {
    Picture {
        tiles,
        neighbours: 1,
        bytes: 0.0,
    }
}

/// Costs that follow from a number.
fn uneven(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        1.0 + (state >> 40) as f64 / (1u64 << 22) as f64
    };
    (0..count).map(|_| next()).collect()
}

fn assert_near(found: f64, expected: f64, label: &str) {
    let difference = (found - expected).abs();
    assert!(
        difference <= 1e-9 * expected.abs(),
        "{label}: {found}, not {expected}"
    );
}

#[test]
fn one_rank_takes_the_time_of_its_work() {
    let tiles = uneven(1000, 7);
    let work: f64 = tiles.iter().sum();
    let alone = independent(picture(&tiles), &IDEAL);
    assert_near(alone.seconds, work, "one worker");
    assert_eq!(alone.batches, 0);
    let even = vec![0.25; 64];
    let four = Cluster {
        workers: 4,
        ..IDEAL
    };
    assert_near(
        independent(picture(&even), &four).seconds,
        4.0,
        "four workers",
    );
}

/// No schedule is faster than the work divided by the workers, or than the longest tile. A worker that takes tiles while there are some
/// waits at the end for no more than the tiles that another holds: the last batch has as many as a rank has workers.
#[test]
fn times_are_between_the_bounds_of_all_schedules() {
    for (ranks, workers, seed) in [(2, 1, 1), (3, 2, 2), (8, 4, 3), (16, 1, 4), (5, 7, 5)] {
        let tiles = uneven(4000, seed);
        let work: f64 = tiles.iter().sum();
        let longest = tiles.iter().copied().fold(0.0, f64::max);
        let cluster = Cluster {
            ranks,
            workers,
            ..IDEAL
        };
        let fair = work / (ranks * workers) as f64;
        let found = independent(picture(&tiles), &cluster);
        let label = format!("{ranks} ranks, {workers} workers: {found:?}, fair {fair}");
        assert!(found.seconds >= fair.max(longest) * (1.0 - 1e-9), "{label}");
        // Tiles in the stock of a rank, behind those that its workers run.
        let held = 3.0 * longest;
        assert!(found.seconds <= fair + held, "{label}");
        assert!(found.efficiency(work, &cluster) <= 1.0 + 1e-9, "{label}");
    }
}

/// Two ranks of one worker, two tiles of a second, and letters that take half a second.
#[test]
fn a_run_that_is_followed_by_hand() {
    assert_eq!([batch_of(1, 2, 1), share_of(2, 2, 1)], [1, 1]);
    let cluster = Cluster {
        ranks: 2,
        latency: 0.5,
        ..IDEAL
    };
    let found = independent(picture(&[1.0; 2]), &cluster);
    // Rank 0 runs the first tile; the letter comes at 0.5, the tile is there at 1 and runs until 2, its values come at 2.5.
    let expected = Prediction {
        seconds: 2.5,
        computing: 2.0,
        batches: 1,
    };
    assert_eq!(found, expected);
}

#[test]
fn rank_0_is_the_limit_where_values_are_many() {
    let tiles = vec![1e-3; 1000];
    let many = Picture {
        bytes: 1e6,
        ..picture(&tiles)
    };
    let cluster = Cluster {
        ranks: 10,
        workers: 10,
        ..IDEAL
    };
    let slow_file = Cluster {
        writing: 1e9,
        ..cluster
    };
    assert_near(independent(many, &slow_file).seconds, 1.0, "1 GB at 1 GB/s");
    let slow_reader = Cluster {
        unpacking: 1e9,
        ..cluster
    };
    let seconds = independent(many, &slow_reader).seconds;
    // The first batches of the others have 19 tiles or more each, and rank 0 takes a millisecond for the values of each tile.
    assert!((9.0 * 0.019..=1.0).contains(&seconds), "{seconds}");
}

#[test]
fn super_steps_are_sums_of_their_terms() {
    let step = SuperStep {
        strands: 1e6,
        update: 7e-7,
        looked_at: 0.0,
        bytes: 0.0,
        radius: 0.0,
    };
    for ranks in [1, 2, 10] {
        let cluster = Cluster {
            ranks,
            workers: 2,
            ..IDEAL
        };
        assert_near(
            super_step(step, &cluster),
            0.35 / ranks as f64,
            "no letters",
        );
    }
    let cluster = Cluster {
        ranks: 8,
        latency: 1e-3,
        bandwidth: 1e9,
        ..IDEAL
    };
    let step = SuperStep {
        update: 0.0,
        looked_at: 1e-8,
        bytes: 100.0,
        radius: 0.05,
        ..step
    };
    // A rank has a cube with edges of 0.5 and sees one with edges of 0.6: 216,000 strands, and 125,000 are its own. The others are
    // sent at 1 GB/s, and seven ranks write four letters each.
    assert_near(step.ghosts(8), 91_000.0, "ghosts");
    assert_near(
        super_step(step, &cluster),
        0.00216 + 0.0091 + 0.028,
        "all terms",
    );
    // With a radius beyond everything, a rank sees the strands of all others.
    let all = SuperStep {
        radius: 1.0,
        ..step
    };
    assert_near(all.ghosts(4), 750_000.0, "everything");
    assert_near(all.ghosts(1), 0.0, "one rank");
}

/// Counts the letters of a rank.
struct Counting(Threads, Arc<AtomicUsize>);

impl Carrier for Counting {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn send(&self, to: usize, letter: Arc<Vec<u8>>) {
        self.1.fetch_add(1, Relaxed);
        self.0.send(to, letter);
    }

    fn mailbox(&self) -> &Mailbox {
        self.0.mailbox()
    }
}

/// Real super-steps send the letters of the model, on up to 256 ranks.
#[test]
fn super_steps_send_as_many_letters_as_the_model_says() {
    use compiler::{
        front::source::Source,
        pipeline::{Compiled, Options, Session, compile},
        run::{Inputs, Run},
    };
    let counting = "#version 2.0
strand s (int i) { output int n = 0; update { n += numActive(); } }
create_collection { s(i) | i in 0..999 }";
    let looking = "#version 2.0
strand s (int i) { vec2 pos = [real(i % 32), real(i / 32)]; output int n = 0; update { n += length(sphere(1.5)); } }
create_collection { s(i) | i in 0..999 }";
    let compiled = |text: &str| {
        let source = Source::new("letters.diderot", text);
        compile(&mut Session::default(), &source, &Options::default()).expect("right")
    };
    let letters = |program: &Compiled, ranks: usize, steps: u64| {
        let count = Arc::new(AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for rank in Threads::ranks(ranks, 3) {
                let count = Arc::clone(&count);
                scope.spawn(move || {
                    let team = Arc::new(Team::new(Counting(rank, count)));
                    let workers = runtime::world::Workers::from(1).with_team(team);
                    let mut run =
                        Run::new(program, &Inputs::of(program), workers).expect("globals");
                    run.run(Some(steps), &mut std::io::sink(), &mut [])
                        .expect("super-steps");
                });
            }
        });
        count.load(Relaxed)
    };
    let programs = [(compiled(counting), false), (compiled(looking), true)];
    for (program, looks) in &programs {
        // In the first super-step all ranks have all states.
        for (ranks, steps) in [(2, 5), (7, 3), (100, 2)] {
            let more = letters(program, ranks, steps + 1) - letters(program, ranks, steps);
            assert_eq!(more, letters_of_super_step(ranks, *looks), "{ranks} ranks");
        }
    }
}
