//! Grids: strands that cannot notice each other run to their end on their own, in tiles, packed,
//! and this cannot be observed.

mod common;

use common::program::{Fate, Program, Strand, Strands, sequence, tensor};
use runtime::abi::FailureKind;
use runtime::reduce::Values;
use runtime::strands::{Counts, Scalar, Sharing, StateLayout, StrandSet};
use runtime::world::{
    Abilities, Control, Creation, Gathered, GlobalSequences, RunEnd, RunError, World, WorldError,
};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Counts the steps of the Collatz sequence from a number made of the grid position, and remembers
/// every odd number met.
struct Collatz {
    layout: StateLayout,
    abilities: Abilities,
    /// Strands whose start number is in this list fail after as many steps as the second number
    /// says.
    failing: Vec<(i64, i64)>,
    updates: Arc<AtomicU64>,
    /// After how many updates to cancel the run, and through whom.
    cancel_after: Option<(u64, Arc<OnceLock<Arc<Control>>>)>,
}

const START: usize = 0;
const NUMBER: usize = 1;
const STEPS: usize = 2;
const ODD: usize = 3;

/// In step or on their own: the same program except for its declared abilities.
const ON_THEIR_OWN: Abilities = Abilities {
    starts: false,
    stabilizes: true,
    communicates: false,
    creates: false,
    dies: false,
    counts: false,
    prints: false,
    ends_at_once: false,
    reductions_fail: false,
    global_start: false,
    global_update: false,
};
const IN_STEP: Abilities = Abilities {
    counts: true,
    ..ON_THEIR_OWN
};

impl Collatz {
    fn new(width: usize, abilities: Abilities) -> Collatz {
        let variables = vec![
            tensor("start", Scalar::I64, 1, Sharing::Private),
            tensor("number", Scalar::I64, 1, Sharing::Private),
            tensor("steps", Scalar::I32, 1, Sharing::Private),
            sequence("odd", Scalar::I64),
        ];
        Collatz {
            layout: StateLayout::new(width, variables, None).unwrap(),
            abilities,
            failing: vec![],
            updates: Arc::default(),
            cancel_after: None,
        }
    }
}

impl Strands for Collatz {
    const AXES: usize = 2;

    fn layout(&self) -> &StateLayout {
        &self.layout
    }

    fn abilities(&self) -> Abilities {
        self.abilities
    }

    fn create(&self, strand: &mut Strand<'_, '_>, at: &[u32]) {
        let start = i64::from(at[0]) * 1000 + i64::from(at[1]) + 1;
        strand.set(START, 0, start);
        strand.set(NUMBER, 0, start);
        if self.failing.contains(&(start, -1)) {
            strand.fail(FailureKind::DivisionByZero, 4, [0; 2]);
        }
    }

    fn before_update(&self) {
        let done = self.updates.fetch_add(1, Relaxed);
        if let Some((after, control)) = &self.cancel_after
            && done == *after
        {
            control.get().unwrap().cancel();
        }
    }

    fn update(&self, strand: &mut Strand<'_, '_>) -> Fate {
        let (start, number): (i64, i64) = (strand.get(START, 0), strand.get(NUMBER, 0));
        let steps: i32 = strand.get(STEPS, 0);
        if self.failing.contains(&(start, i64::from(steps))) {
            strand.fail(FailureKind::IndexOutOfRange, 17, [start, 3]);
        }
        if number % 2 == 1 {
            strand.append(ODD, number);
        }
        if number == 1 {
            return Fate::Stable;
        }
        let next = if number % 2 == 0 {
            number / 2
        } else {
            number * 3 + 1
        };
        strand.set(NUMBER, 0, next);
        strand.set(STEPS, 0, steps + 1);
        Fate::Active
    }

    fn stabilize(&self, strand: &mut Strand<'_, '_>) {
        strand.set(NUMBER, 0, -1_i64);
    }
}

/// Number of steps to 1 within `limit` updates, the number reached, and the odd numbers met.
fn expected(start: i64, limit: usize) -> (i32, i64, Vec<i64>) {
    let (mut number, mut steps, mut odd) = (start, 0, vec![]);
    for _ in 0..limit {
        if number % 2 == 1 {
            odd.push(number);
        }
        if number == 1 {
            return (steps, -1, odd);
        }
        number = if number % 2 == 0 {
            number / 2
        } else {
            number * 3 + 1
        };
        steps += 1;
    }
    (steps, number, odd)
}

#[track_caller]
fn assert_expected(world: &World<Program<Collatz>>, sizes: [usize; 2], limit: usize) {
    let starts = (0..sizes[0])
        .flat_map(|row| (0..sizes[1]).map(move |column| (row * 1000 + column + 1) as i64));
    let all: Vec<_> = starts.map(|start| expected(start, limit)).collect();
    let tensors = |variable| match world.gather(variable, StrandSet::All) {
        Gathered::Tensors {
            values,
            components: 1,
        } => values,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        tensors(STEPS),
        Values::I32(all.iter().map(|(steps, ..)| *steps).collect())
    );
    assert_eq!(
        tensors(NUMBER),
        Values::I64(all.iter().map(|(_, number, _)| *number).collect())
    );
    let odd = Gathered::Sequences {
        lengths: all.iter().map(|(.., odd)| odd.len()).collect(),
        components: 1,
        values: Values::I64(all.iter().flat_map(|(.., odd)| odd.clone()).collect()),
    };
    assert_eq!(world.gather(ODD, StrandSet::All), odd);
}

fn world(program: Collatz, sizes: [usize; 2], workers: usize) -> World<Program<Collatz>> {
    World::new(
        Program(program),
        &Creation::Grid(sizes.to_vec()),
        GlobalSequences::new(),
        workers,
    )
    .unwrap()
}

#[test]
fn strands_run_alike_in_step_and_on_their_own() {
    let sizes = [37, 29];
    let longest = (0..37)
        .flat_map(|row| (1..30).map(move |column| expected(row * 1000 + column, 10_000).0))
        .max()
        .unwrap();
    for abilities in [ON_THEIR_OWN, IN_STEP] {
        for width in [1, 4, 8, 16] {
            for workers in [1, 2, 3, 8, 64] {
                let mut world = world(Collatz::new(width, abilities), sizes, workers);
                assert_eq!(
                    world.run(None, &mut std::io::sink()).unwrap(),
                    RunEnd::Finished
                );
                assert_eq!(world.steps(), longest as u64 + 1);
                assert_eq!(
                    world.counts(),
                    Counts {
                        active: 0,
                        stable: 37 * 29,
                        dead: 0
                    }
                );
                assert_expected(&world, sizes, 10_000);
            }
        }
    }
}

#[test]
fn a_step_limit_counts_updates_per_strand_and_a_run_can_go_on() {
    let sizes = [20, 31];
    for abilities in [ON_THEIR_OWN, IN_STEP] {
        for width in [4, 16] {
            let mut world = world(Collatz::new(width, abilities), sizes, 2);
            for limit in [1, 17, 40, 41] {
                let more = limit as u64 - world.steps();
                assert_eq!(
                    world.run(Some(more), &mut std::io::sink()).unwrap(),
                    RunEnd::StepLimit
                );
                assert_eq!(world.steps(), limit as u64);
                assert_expected(&world, sizes, limit);
            }
            assert_eq!(
                world.run(None, &mut std::io::sink()).unwrap(),
                RunEnd::Finished
            );
            assert_expected(&world, sizes, 10_000);
        }
    }
}

#[test]
fn idle_lanes_are_filled_with_strands_that_still_run() {
    let sizes = [64, 64];
    let mut all = 0;
    for row in 0..64 {
        for column in 0..64 {
            all += expected(row * 1000 + column + 1, 10_000).0 as u64 + 1;
        }
    }
    for abilities in [ON_THEIR_OWN, IN_STEP] {
        let program = Collatz::new(16, abilities);
        let updates = Arc::clone(&program.updates);
        let mut world = world(program, sizes, 1);
        world.run(None, &mut std::io::sink()).unwrap();
        assert_expected(&world, sizes, 10_000);
        // Without packing, blocks run as long as their slowest strand: far more than half of the
        // lanes would idle in the end.
        let lanes = updates.load(Relaxed) * 16;
        assert!(lanes < 2 * all, "{lanes} lanes run for {all} updates");
    }
}

#[test]
fn an_empty_grid_is_finished_at_once() {
    for sizes in [[0, 5], [5, 0]] {
        let mut world = world(Collatz::new(8, ON_THEIR_OWN), sizes, 2);
        assert_eq!(
            world.run(None, &mut std::io::sink()).unwrap(),
            RunEnd::Finished
        );
        assert_eq!(world.steps(), 0);
        assert_eq!(world.counts(), Counts::default());
    }
}

#[test]
fn too_many_strands_are_refused() {
    let program = Collatz::new(8, ON_THEIR_OWN);
    let error = World::new(
        Program(program),
        &Creation::Grid(vec![1 << 20, 1 << 20]),
        GlobalSequences::new(),
        1,
    )
    .err()
    .unwrap();
    assert_eq!(error, WorldError::TooManyStrands(vec![1 << 20, 1 << 20]));
    assert_eq!(
        error.to_string(),
        "1048576 × 1048576 strands are too many; there must be fewer than 2^32"
    );
}

#[test]
fn the_first_error_wins_whoever_runs_it() {
    // Strand 1003 fails in step 12, 5001 and 2020 in step 9: the smallest strand of the earliest
    // step is 2020, at row 2, column 19.
    for abilities in [ON_THEIR_OWN, IN_STEP] {
        for width in [1, 4, 16] {
            for workers in [1, 2, 8] {
                let mut program = Collatz::new(width, abilities);
                program.failing = vec![(1003, 12), (5001, 9), (2020, 9)];
                let mut world = world(program, [12, 40], workers);
                let error = world.run(None, &mut std::io::sink()).unwrap_err();
                let RunError::Strand { id, step, failure } = error else {
                    panic!("{error}")
                };
                assert_eq!((id, step, failure.position), (2 * 40 + 19, 9, 17));
                let message = "strand 99 in super-step 10: index 2020 is out of range for a sequence of length 3";
                assert_eq!(RunError::Strand { id, step, failure }.to_string(), message);
            }
        }
    }
}

#[test]
fn an_error_in_creation_is_reported() {
    let mut program = Collatz::new(8, ON_THEIR_OWN);
    program.failing = vec![(3002, -1), (1007, -1)];
    let error = World::new(
        Program(program),
        &Creation::Grid(vec![12, 40]),
        GlobalSequences::new(),
        2,
    )
    .err()
    .unwrap();
    assert_eq!(error.to_string(), "strand 46: integer division by zero");
}

#[test]
fn a_cancelled_run_stops_between_blocks() {
    for abilities in [ON_THEIR_OWN, IN_STEP] {
        let control = Arc::new(OnceLock::new());
        let mut program = Collatz::new(4, abilities);
        program.cancel_after = Some((10, Arc::clone(&control)));
        let updates = Arc::clone(&program.updates);
        let mut world = world(program, [50, 50], 1);
        assert!(control.set(world.control()).is_ok());
        assert_eq!(
            world.run(None, &mut std::io::sink()).unwrap(),
            RunEnd::Cancelled
        );
        assert_eq!(updates.load(Relaxed), 11);
    }
}

#[test]
fn progress_is_visible_from_outside() {
    let mut world = world(Collatz::new(8, IN_STEP), [10, 10], 2);
    let control = world.control();
    assert_eq!(
        control.progress(),
        (
            0,
            Counts {
                active: 100,
                stable: 0,
                dead: 0
            }
        )
    );
    world.run(Some(3), &mut std::io::sink()).unwrap();
    let (step, counts) = control.progress();
    assert_eq!((step, counts), (3, world.counts()));
    // 1 is done after one update, 2 after two, 4 after three.
    assert_eq!(counts.stable, 3);
}
