//! An executor for tests: it runs strands in plain Rust, away from their methods, and leaves some of them to these. The results are
//! those of the methods.

mod common;

use common::program::{Fate, Program, Strand, Strands, tensor};
use common::ranks::on_ranks;
use runtime::cluster::Team;
use runtime::reduce::Values;
use runtime::strands::{Scalar, Sharing, StateLayout, StrandSet};
use runtime::world::{
    Abilities, Batch, Creation, Executor, Gathered, GlobalSequences, RunEnd, Workers, World, fate,
};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

const STRANDS: usize = 100;

/// The end of a strand: its number counts down, and it stabilizes at 0.
fn first(strand: u32) -> i32 {
    strand as i32 % 7 + 1
}

/// A program that counts down, by its methods or by an executor.
struct Countdown {
    layout: StateLayout,
    /// Whether strands take super-steps together.
    together: bool,
    executor: Option<Remote>,
}

/// A memory of its own for the states, as another machine has.
#[derive(Default)]
struct Remote {
    states: Mutex<Vec<u8>>,
    stride: usize,
    plane: usize,
    runs: AtomicU64,
    fetched: AtomicU64,
}

impl Remote {
    fn number<'s>(&self, states: &'s mut [u8], width: usize, slot: usize) -> &'s mut [u8] {
        let at = slot / width * self.stride + self.plane + 4 * (slot % width);
        &mut states[at..at + 4]
    }
}

impl Executor for Remote {
    fn is_ready(&self) -> bool {
        true
    }

    fn run(&self, strands: &mut Batch<'_>) -> bool {
        self.runs.fetch_add(1, Relaxed);
        let mut states = self.states.lock().unwrap();
        states.resize(strands.state.len(), 0);
        for blocks in strands.changed() {
            let bytes = blocks.start * self.stride..blocks.end * self.stride;
            states[bytes.clone()].copy_from_slice(&strands.state[bytes]);
        }
        let mut fates = strands.told(0..strands.blocks());
        for (slot, word) in fates.iter_mut().enumerate() {
            if *word != fate::RUNNING {
                continue;
            }
            // Every fifth strand is left to its methods.
            if slot % 5 == 0 {
                *word = fate::LEFT;
                continue;
            }
            let bytes = self.number(&mut states, strands.width, slot);
            let mut number = i32::from_le_bytes(bytes.try_into().unwrap());
            let mut steps = 0;
            while number > 0 && u64::from(steps) < strands.limit {
                number -= 1;
                steps += 1;
            }
            bytes.copy_from_slice(&number.to_le_bytes());
            let kind = if number == 0 {
                fate::STABLE
            } else {
                fate::RUNNING
            };
            *word = kind | steps << fate::BITS;
        }
        if strands.independent {
            strands.state.copy_from_slice(&states);
        }
        strands.fates = fates;
        true
    }

    fn bring_back(&self, strands: &mut Batch<'_>, blocks: &[Range<usize>]) -> bool {
        self.fetched.fetch_add(1, Relaxed);
        let states = self.states.lock().unwrap();
        for blocks in blocks {
            let bytes = blocks.start * self.stride..blocks.end * self.stride;
            strands.state[bytes.clone()].copy_from_slice(&states[bytes]);
        }
        true
    }

    fn bring_published(&self, _: &mut Batch<'_>) -> bool {
        unreachable!("the strands do not look at each other")
    }

    fn reduces(&self) -> bool {
        false
    }
}

impl Countdown {
    fn new(width: usize, together: bool, remote: bool) -> Countdown {
        let number = tensor("number", Scalar::I32, 1, Sharing::Private);
        let layout = StateLayout::new(width, vec![number], None).unwrap();
        let executor = remote.then(|| Remote {
            stride: layout.stride(),
            plane: layout.plane(0, 0).offset,
            ..Remote::default()
        });
        Countdown {
            layout,
            together,
            executor,
        }
    }
}

impl Strands for Countdown {
    const AXES: usize = 1;

    fn layout(&self) -> &StateLayout {
        &self.layout
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            counts: self.together,
            ..Abilities::default()
        }
    }

    fn executor(&self) -> Option<&dyn Executor> {
        Some(self.executor.as_ref()?)
    }

    fn create(&self, strand: &mut Strand<'_, '_>, at: &[u32]) {
        strand.set(0, 0, first(at[0]));
    }

    fn update(&self, strand: &mut Strand<'_, '_>) -> Fate {
        let number = strand.get::<i32>(0, 0) - 1;
        strand.set(0, 0, number);
        match number {
            0 => Fate::Stable,
            _ => Fate::Active,
        }
    }
}

/// The numbers after up to `limit` super-steps, the super-steps, and how the run ended.
fn ran(program: Countdown, limit: Option<u64>) -> (Vec<i32>, u64, RunEnd, [u64; 2]) {
    let creation = Creation::Grid(vec![STRANDS]);
    let mut world = World::new(Program(program), &creation, GlobalSequences::new(), 2).unwrap();
    let end = world.run(limit, &mut std::io::sink()).unwrap();
    let Gathered::Tensors {
        values: Values::I32(numbers),
        ..
    } = world.gather(0, StrandSet::All)
    else {
        panic!("integers")
    };
    let calls = world.program().executor.as_ref().map_or([0; 2], |remote| {
        [&remote.runs, &remote.fetched].map(|count| count.load(Relaxed))
    });
    (numbers, world.steps(), end, calls)
}

#[test]
fn an_executor_gives_the_results_of_the_methods() {
    for width in [1, 4, 16] {
        for together in [false, true] {
            for limit in [None, Some(1), Some(3), Some(9)] {
                let (numbers, steps, end, _) = ran(Countdown::new(width, together, false), limit);
                let (found, taken, ended, [runs, _]) =
                    ran(Countdown::new(width, together, true), limit);
                let what = format!("width {width}, together {together}, limit {limit:?}");
                assert_eq!((found, taken, ended), (numbers, steps, end), "{what}");
                assert!(runs > 0, "{what}: the executor ran nothing");
            }
        }
    }
}

#[test]
fn states_stay_with_the_executor_until_they_are_needed() {
    let (.., [runs, fetched]) = ran(Countdown::new(4, true, true), Some(6));
    assert_eq!(runs, 6, "a call for every super-step");
    assert!(fetched > 0);
}

/// Some ranks have executors and run the strands of a world leg by leg; rank 0 has the results of a run alone.
#[test]
fn ranks_with_executors_run_the_strands_of_all() {
    let legs = [Some(1), Some(3), None];
    let run = |with_executor: bool, team: Option<(Arc<Team>, Vec<usize>)>| {
        let creation = Creation::Grid(vec![STRANDS]);
        let workers = Workers::from(2);
        let workers = match &team {
            Some((team, _)) => workers.with_team(Arc::clone(team)),
            None => workers,
        };
        let program = Program(Countdown::new(4, false, with_executor));
        let mut world = World::new(program, &creation, GlobalSequences::new(), workers).unwrap();
        if let Some((_, runners)) = &team {
            world.set_runners(runners.clone());
        }
        let views: Vec<String> = legs
            .iter()
            .map(|limit| {
                let end = world.run(*limit, &mut std::io::sink()).unwrap();
                let values = world.gather(0, StrandSet::All);
                format!("{end:?} {} {:?} {values:?}", world.steps(), world.counts())
            })
            .collect();
        let runs = world.program().executor.as_ref();
        (views, runs.map_or(0, |remote| remote.runs.load(Relaxed)))
    };
    let (alone, _) = run(false, None);
    for size in 1..=8 {
        for runners in [vec![0], vec![size - 1], (0..size).collect::<Vec<_>>()] {
            let shared = on_ranks(size, size as u64, |team| {
                let has_one = runners.contains(&team.rank());
                run(has_one, Some((team, runners.clone())))
            });
            let label = format!("{size} ranks, executors on {runners:?}");
            assert_eq!(shared[0].0, alone, "{label}");
            for (rank, (_, runs)) in shared.iter().enumerate() {
                assert_eq!(*runs > 0, runners.contains(&rank), "{label}: rank {rank}");
            }
        }
    }
}
