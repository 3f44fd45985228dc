//! Strands that are forgotten when they have ended leave the same values as strands that are kept.

mod common;

use common::program::{Fate, Program, Strand, Strands, sequence, tensor};
use runtime::abi::FailureKind;
use runtime::reduce::Values;
use runtime::strands::{Counts, Scalar, Sharing, StateLayout};
use runtime::world::{
    Abilities, Completion, Control, Creation, GlobalSequences, Taker, Wanted, can_be_forgotten,
    complete,
};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Counts down from a number made of the position; in the end it stabilizes with its trace, or dies if the number was odd.
struct Countdown {
    layout: StateLayout,
    /// Whether odd ones die.
    deadly: bool,
    /// The number at which to fail: when it is made, or when it has come there.
    fails_at: Option<(i32, bool)>,
    updates: AtomicU64,
    cancels: Option<(u64, Arc<Control>)>,
    /// Whether that is a request to stop, and not to end at once.
    gently: bool,
}

const FROM: usize = 0;
const LEFT: usize = 1;
const TRACE: usize = 2;

impl Countdown {
    fn new(width: usize) -> Countdown {
        let variables = vec![
            tensor("from", Scalar::I32, 1, Sharing::Private),
            tensor("left", Scalar::I32, 1, Sharing::Private),
            tensor("trace", Scalar::F64, 2, Sharing::Private),
        ];
        Countdown {
            layout: StateLayout::new(width, variables, None).unwrap(),
            deadly: false,
            fails_at: None,
            updates: AtomicU64::new(0),
            cancels: None,
            gently: false,
        }
    }
}

/// The number of a strand: different ones next to each other, so that lanes idle.
fn number(row: usize, column: usize) -> i32 {
    ((row * 31 + column * 17) % 97) as i32
}

impl Strands for Countdown {
    const AXES: usize = 2;

    fn layout(&self) -> &StateLayout {
        &self.layout
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            stabilizes: true,
            dies: self.deadly,
            ..Abilities::default()
        }
    }

    fn create(&self, strand: &mut Strand<'_, '_>, at: &[u32]) {
        let from = number(at[0] as usize, at[1] as usize);
        strand.set(FROM, 0, from);
        // Blocks must be zero before strands are made in them.
        let left: i32 = strand.get(LEFT, 0);
        strand.set(LEFT, 0, left + from);
        if self.fails_at == Some((from, true)) {
            strand.fail(FailureKind::DivisionByZero, 0, [0; 2]);
        }
    }

    fn before_update(&self) {
        let done = self.updates.fetch_add(1, Relaxed);
        if let Some((after, control)) = &self.cancels
            && done == *after
        {
            match self.gently {
                true => control.stop(),
                false => control.cancel(),
            }
        }
    }

    fn update(&self, strand: &mut Strand<'_, '_>) -> Fate {
        let (from, left) = (strand.get::<i32>(FROM, 0), strand.get::<i32>(LEFT, 0));
        if self.fails_at == Some((left, false)) {
            strand.fail(FailureKind::DivisionByZero, 0, [0; 2]);
        }
        if left > 0 {
            strand.set(LEFT, 0, left - 1);
            Fate::Active
        } else if self.deadly && from % 2 == 1 {
            Fate::Dead
        } else {
            Fate::Stable
        }
    }

    fn stabilize(&self, strand: &mut Strand<'_, '_>) {
        let from = f64::from(strand.get::<i32>(FROM, 0));
        strand.set(TRACE, 0, from);
        strand.set(TRACE, 1, 0.5 * from);
    }
}

fn run(program: &Program<Countdown>, creation: &Creation, workers: usize) -> Completion {
    run_with(program, creation, workers, None)
}

fn run_with(
    program: &Program<Countdown>,
    creation: &Creation,
    workers: usize,
    taker: Option<Taker<'_>>,
) -> Completion {
    let wanted = Wanted {
        initial: &[LEFT],
        outputs: &[TRACE, LEFT],
        taker,
    };
    let control = match &program.cancels {
        Some((_, control)) => Arc::clone(control),
        None => Arc::default(),
    };
    let globals = GlobalSequences::new();
    complete(program, creation, &globals, workers, wanted, control).unwrap()
}

#[test]
fn values_are_those_of_the_strands_in_creation_order() {
    for sizes in [[1, 1], [3, 5], [37, 29], [100, 70], [200, 300], [0, 4]] {
        let numbers: Vec<i32> = (0..sizes[0])
            .flat_map(|row| (0..sizes[1]).map(move |column| number(row, column)))
            .collect();
        for (width, workers) in [(1, 1), (4, 2), (16, 1), (16, 2), (16, 7)] {
            for deadly in [false, true] {
                let creations = [
                    Creation::Grid(sizes.to_vec()),
                    Creation::Collection(sizes.to_vec()),
                ];
                for creation in creations {
                    let program = Program(Countdown {
                        deadly,
                        ..Countdown::new(width)
                    });
                    let Completion::Completed(completed) = run(&program, &creation, workers) else {
                        panic!("it ends")
                    };
                    let lives = |n: &&i32| !(deadly && **n % 2 == 1);
                    let living: Vec<i32> = numbers.iter().filter(lives).copied().collect();
                    let traces = living
                        .iter()
                        .flat_map(|&n| [f64::from(n), 0.5 * f64::from(n)]);
                    let expected = [
                        Values::F64(traces.collect()),
                        Values::I32(vec![0; living.len()]),
                    ];
                    assert_eq!(completed.outputs, expected.map(Some));
                    assert_eq!(completed.initial, [Values::I32(numbers.clone())]);
                    let longest = numbers.iter().max().map_or(0, |n| *n as u64 + 1);
                    assert_eq!(completed.steps, longest);
                    let counts = Counts {
                        active: 0,
                        stable: living.len() as u64,
                        dead: (numbers.len() - living.len()) as u64,
                    };
                    assert_eq!(completed.counts, counts);
                }
            }
        }
    }
}

#[test]
fn a_taker_gets_every_value_of_a_grid_once_and_at_its_place() {
    for sizes in [[1, 1], [37, 29], [300, 400], [0, 4], [4, 0]] {
        let creation = Creation::Grid(sizes.to_vec());
        let complete = |width: usize, workers: usize, taker: Option<Taker<'_>>| match run_with(
            &Program(Countdown::new(width)),
            &creation,
            workers,
            taker,
        ) {
            Completion::Completed(completed) => completed,
            _ => panic!("it ends"),
        };
        let expected = complete(16, 1, None).outputs;
        for (width, workers) in [(1, 1), (4, 2), (16, 1), (16, 3)] {
            for passing in [[false, false], [true, false], [false, true], [true, true]] {
                let taken = Mutex::new([Vec::new(), Vec::new()]);
                let take = |output: usize, before: usize, bytes: &[u8]| {
                    taken.lock().unwrap()[output].push((before, bytes.to_vec()));
                };
                let taker = Taker {
                    take: &take,
                    passing: &passing,
                    is_shared: false,
                };
                let completed = complete(width, workers, Some(taker));
                assert!(completed.handed_on);
                let taken = taken.into_inner().unwrap();
                for (n, mut parts) in taken.into_iter().enumerate() {
                    match passing[n] {
                        true => assert_eq!(completed.outputs[n], None),
                        false => assert_eq!(completed.outputs[n], expected[n]),
                    }
                    parts.sort();
                    let mut bytes = Vec::new();
                    for (before, part) in parts {
                        assert_eq!(before, bytes.len(), "{sizes:?}");
                        bytes.extend(part);
                    }
                    let scalar = [Scalar::F64, Scalar::I32][n];
                    let values = Values::from_bytes(scalar, &bytes);
                    assert!(Some(values) == expected[n], "{sizes:?}");
                }
            }
        }
    }
}

#[test]
fn nobody_is_told_that_all_came_if_strands_died_or_are_a_collection() {
    let sizes = vec![300, 400];
    for (deadly, creation) in [
        (true, Creation::Grid(sizes.clone())),
        (false, Creation::Collection(sizes)),
    ] {
        let program = Program(Countdown {
            deadly,
            ..Countdown::new(16)
        });
        let taker = Taker {
            take: &|_, _, _| {},
            passing: &[true, true],
            is_shared: false,
        };
        let ended = run_with(&program, &creation, 2, Some(taker));
        let Completion::Completed(completed) = ended else {
            panic!("it ends")
        };
        assert!(!completed.handed_on);
    }
}

#[test]
fn failures_when_strands_are_made_or_run_are_seen() {
    for fails_at in [Some((13, true)), Some((13, false))] {
        for workers in [1, 3] {
            let program = Program(Countdown {
                fails_at,
                ..Countdown::new(8)
            });
            let ended = run(&program, &Creation::Grid(vec![50, 60]), workers);
            assert!(matches!(ended, Completion::Failed));
        }
    }
}

#[test]
fn a_cancelled_run_stops() {
    let program = Program(Countdown {
        cancels: Some((40, Arc::default())),
        ..Countdown::new(8)
    });
    let ended = run(&program, &Creation::Grid(vec![500, 600]), 2);
    assert!(matches!(ended, Completion::Cancelled));
    let all = 500 * 600 * 50 / 8;
    assert!(program.updates.load(Relaxed) < all / 10);
}

#[test]
fn who_is_asked_to_stop_has_values_all_the_same() {
    let program = Program(Countdown {
        cancels: Some((40, Arc::default())),
        gently: true,
        ..Countdown::new(8)
    });
    let Completion::Completed(completed) = run(&program, &Creation::Grid(vec![500, 600]), 2) else {
        panic!("it was not cancelled")
    };
    assert!(program.updates.load(Relaxed) < 500 * 600 * 50 / 8 / 10);
    let Counts {
        active,
        stable,
        dead,
    } = completed.counts;
    assert!(active > 0 && dead == 0 && active + stable == 500 * 600);
    let [Values::I32(from)] = &completed.initial[..] else {
        panic!("one variable was asked for")
    };
    let expected: Vec<i32> = (0..500 * 600).map(|n| number(n / 600, n % 600)).collect();
    assert_eq!(from, &expected);
}

#[test]
fn strands_that_notice_each_other_or_have_sequences_are_kept() {
    let program = Countdown::new(4);
    let abilities = program.abilities();
    assert!(can_be_forgotten(program.layout(), abilities));
    let counts = Abilities {
        counts: true,
        ..abilities
    };
    assert!(!can_be_forgotten(program.layout(), counts));
    let layout = StateLayout::new(4, vec![sequence("all", Scalar::F32)], None).unwrap();
    assert!(!can_be_forgotten(&layout, abilities));
}
