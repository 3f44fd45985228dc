//! An executor for tests: it runs strands in plain Rust, away from their methods, and leaves some of them to these. The results are
//! those of the methods.

mod common;

use common::program::{Fate, Program, Strand, Strands, tensor};
use common::ranks::on_ranks;
use runtime::cluster::Team;
use runtime::reduce::{Reduction, Values};
use runtime::strands::blocks::lanes_mut;
use runtime::strands::{Counts, Scalar, Sharing, StateLayout, StrandSet};
use runtime::world::{
    Abilities, Batch, Completion, Creation, Executor, Gathered, GlobalContext, GlobalSequences,
    Job, RunEnd, RunError, ValueMap, Wanted, Workers, World, complete, fate,
};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

const STRANDS: usize = 100;

/// The end of a strand: its number counts down, and it stabilizes at 0.
fn first(strand: u32) -> i32 {
    strand as i32 % 7 + 1
}

/// The number that new strands begin with.
const CHILD: i32 = 2;

fn line(number: i32) -> String {
    format!("at {number}\n")
}

/// A program that counts down, by its methods or by an executor.
struct Countdown {
    layout: StateLayout,
    /// Whether strands take super-steps together.
    together: bool,
    /// Whether some strands die.
    deadly: bool,
    /// Whether global code adds the numbers up after each super-step.
    adds: bool,
    /// Whether strands print odd numbers, and make another one at 2.
    talks: bool,
    sums: Vec<i32>,
    executor: Option<Remote>,
}

/// The number from which strands count down that die, if any do.
const DEADLY: i32 = 3;

/// A memory of its own for the states, as another machine has.
#[derive(Default)]
struct Remote {
    states: Mutex<Vec<u8>>,
    stride: usize,
    plane: usize,
    deadly: bool,
    /// The place of the first numbers in a block, if strands print and make others.
    talks: Option<usize>,
    /// Whether it makes no strands.
    declines: bool,
    /// Whether it loses the values of a reduction.
    forgets: bool,
    reduced: AtomicU64,
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
            if let Some(first) = self.talks {
                if number % 2 == 1 {
                    strands.events.print(slot, &line(number));
                }
                if number == 2 {
                    let mut block = vec![0; self.stride];
                    for plane in [self.plane, first] {
                        block[plane..plane + 4].copy_from_slice(&CHILD.to_le_bytes());
                    }
                    strands.spawn(slot, &block);
                }
            }
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

    fn make_and_run(&self, job: &mut Job<'_>) -> bool {
        self.runs.fetch_add(1, Relaxed);
        if self.declines {
            return false;
        }
        let ranks = (job.ranks)();
        assert_eq!(ranks.len(), job.places);
        let leaves = job.strands.is_multiple_of(2);
        job.fates = vec![fate::IDLE; job.places];
        for (place, &rank) in ranks.iter().enumerate() {
            if rank as usize == job.strands {
                continue;
            }
            // Every fifth place is left to the methods.
            if leaves && place % 5 == 0 {
                job.fates[place] = fate::LEFT;
                continue;
            }
            let number = first(rank);
            let at = 4 * rank as usize..4 * rank as usize + 4;
            for (values, number) in [(&mut job.initial, number), (&mut job.outputs, 0)] {
                for (variable, values) in values {
                    assert_eq!(*variable, 0);
                    values[at.clone()].write_copy_of_slice(&i32::to_le_bytes(number));
                }
            }
            let kind = match self.deadly && number == DEADLY {
                true => fate::DEAD,
                false => fate::STABLE,
            };
            job.fates[place] = kind | (number as u32) << fate::BITS;
            job.steps = job.steps.max(number as u64);
        }
        let is_stable = |word: &u32| matches!(fate::kind(*word), fate::STABLE | fate::IDLE);
        if job.fates.iter().all(is_stable) {
            job.fates.clear();
        }
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

    fn needs_states(&self) -> bool {
        false
    }
}

impl Countdown {
    fn new(width: usize, together: bool, remote: bool) -> Countdown {
        let number = tensor("number", Scalar::I32, 1, Sharing::Private);
        let first = tensor("first", Scalar::I32, 1, Sharing::Private);
        let layout = StateLayout::new(width, vec![number, first], None).unwrap();
        let executor = remote.then(|| Remote {
            stride: layout.stride(),
            plane: layout.plane(0, 0).offset,
            ..Remote::default()
        });
        Countdown {
            layout,
            together,
            deadly: false,
            adds: false,
            talks: false,
            sums: Vec::new(),
            executor,
        }
    }

    /// The same with strands that print and make others.
    fn talking(mut self) -> Countdown {
        self.talks = true;
        let first = self.layout.plane(1, 0).offset;
        self.executor
            .iter_mut()
            .for_each(|remote| remote.talks = Some(first));
        self
    }

    /// The same with strands that die.
    fn deadly(mut self) -> Countdown {
        self.deadly = true;
        self.executor
            .iter_mut()
            .for_each(|remote| remote.deadly = true);
        self
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
            dies: self.deadly,
            global_update: self.adds,
            prints: self.talks,
            creates: self.talks,
            ..Abilities::default()
        }
    }

    fn executor(&self) -> Option<&dyn Executor> {
        Some(self.executor.as_ref()?)
    }

    fn create(&self, strand: &mut Strand<'_, '_>, at: &[u32]) {
        strand.set(0, 0, first(at[0]));
        strand.set(1, 0, first(at[0]));
    }

    fn global_update(&mut self, cx: &mut GlobalContext<'_>) {
        let (width, plane) = (self.layout.width(), self.layout.plane(0, 0));
        let there = |blocks: usize, values: &mut [u8]| {
            let remote = self.executor.as_ref().expect("states are away");
            remote.reduced.fetch_add(1, Relaxed);
            let mut states = remote.states.lock().unwrap();
            for slot in 0..blocks * width {
                let number = remote.number(&mut states, width, slot);
                values[4 * slot..4 * slot + 4].copy_from_slice(number);
            }
            !remote.forgets
        };
        let map = ValueMap {
            // SAFETY: the plane is in the block, and there is room for one.
            here: &|block, _, values| unsafe {
                let numbers = block.add(plane.offset);
                numbers.copy_to_nonoverlapping(values, width * plane.bytes);
            },
            there: &there,
        };
        let (strands, _) = cx.split();
        for set in [StrandSet::All, StrandSet::Active, StrandSet::Stable] {
            let sum = strands.reduce_map(Reduction::Sum, set, (Scalar::I32, 1), map);
            let Some(Values::I32(sum)) = sum else {
                panic!("integers")
            };
            self.sums.extend(sum);
        }
    }

    fn update(&self, strand: &mut Strand<'_, '_>) -> Fate {
        let number = strand.get::<i32>(0, 0) - 1;
        strand.set(0, 0, number);
        if self.talks && number % 2 == 1 {
            strand.cx.print_text(1 << strand.lane, &line(number));
        }
        if self.talks && number == 2 {
            let staging = strand.cx.staging();
            for variable in 0..2 {
                let plane = self.layout.plane(variable, 0);
                // SAFETY: the planes are in the staging block.
                unsafe { lanes_mut(staging, plane, self.layout.width())[strand.lane] = CHILD };
            }
            // SAFETY: the lane is initialized.
            unsafe { strand.cx.spawn(1 << strand.lane, staging) };
        }
        match number {
            0 if self.deadly && strand.get::<i32>(1, 0) == DEADLY => Fate::Dead,
            0 => Fate::Stable,
            _ => Fate::Active,
        }
    }
}

/// The values of all strands in the beginning and in the end, the super-steps and what became of the strands, of strands that are made and
/// forgotten; nothing if the executor declines.
fn forgotten(program: Countdown, sizes: &[usize]) -> Option<(Vec<Values>, u64, Counts)> {
    let wanted = Wanted {
        initial: &[0],
        outputs: &[0],
        taker: None,
    };
    let creation = Creation::Collection(sizes.to_vec());
    let globals = GlobalSequences::new();
    let ended = complete(
        &Program(program),
        &creation,
        &globals,
        2,
        wanted,
        Arc::default(),
    );
    match ended.unwrap() {
        Completion::Completed(mut all) => {
            let outputs = std::mem::take(&mut all.outputs).into_iter().flatten();
            let values = all.initial.drain(..).chain(outputs).collect();
            Some((values, all.steps, all.counts))
        }
        Completion::Declined => None,
        Completion::Failed | Completion::Cancelled => panic!("it ends"),
    }
}

#[test]
fn strands_that_an_executor_makes_have_the_values_of_the_methods() {
    for width in [1, 4, 16] {
        for size in [0, 1, 15, 100, 3000] {
            for deadly in [false, true] {
                let program = |remote| {
                    let program = Countdown::new(width, false, remote);
                    if deadly { program.deadly() } else { program }
                };
                let expected = forgotten(program(false), &[size]);
                let found = forgotten(program(true), &[size]);
                assert_eq!(
                    found, expected,
                    "width {width}, {size} strands, deadly: {deadly}"
                );
            }
        }
    }
}

#[test]
fn an_executor_may_decline_to_make_strands() {
    let mut program = Countdown::new(4, false, true);
    program
        .executor
        .iter_mut()
        .for_each(|remote| remote.declines = true);
    assert_eq!(forgotten(program, &[STRANDS]), None);
}

/// The text, the numbers, the super-steps, and how the run ended.
type Results = (String, Vec<i32>, u64, RunEnd);

/// The results of up to `limit` super-steps, and the calls of the executor.
fn ran(program: Countdown, limit: Option<u64>) -> (Results, [u64; 2]) {
    let creation = match program.talks {
        true => Creation::Collection(vec![STRANDS]),
        false => Creation::Grid(vec![STRANDS]),
    };
    let mut world = World::new(Program(program), &creation, GlobalSequences::new(), 2).unwrap();
    let mut text = Vec::new();
    let end = world.run(limit, &mut text).unwrap();
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
    let text = String::from_utf8(text).unwrap();
    ((text, numbers, world.steps(), end), calls)
}

#[test]
fn an_executor_gives_the_results_of_the_methods() {
    for width in [1, 4, 16] {
        for together in [false, true] {
            for limit in [None, Some(1), Some(3), Some(9)] {
                let (expected, _) = ran(Countdown::new(width, together, false), limit);
                let (found, [runs, _]) = ran(Countdown::new(width, together, true), limit);
                let what = format!("width {width}, together {together}, limit {limit:?}");
                assert_eq!(found, expected, "{what}");
                assert!(runs > 0, "{what}: the executor ran nothing");
            }
        }
    }
}

#[test]
fn text_and_new_strands_of_an_executor_come_in_the_order_of_strands() {
    for width in [1, 4, 16] {
        for adds in [false, true] {
            for limit in [None, Some(1), Some(4)] {
                let program = |remote| Countdown {
                    adds,
                    ..Countdown::new(width, true, remote).talking()
                };
                let (expected, _) = ran(program(false), limit);
                let (found, [runs, _]) = ran(program(true), limit);
                let what = format!("width {width}, limit {limit:?}, adds: {adds}");
                assert_eq!(found, expected, "{what}");
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

#[test]
fn reductions_take_values_from_where_states_are() {
    let sums = |width: usize, remote: bool| {
        let mut program = Countdown::new(width, true, remote);
        program.adds = true;
        let creation = Creation::Grid(vec![STRANDS]);
        let mut world = World::new(Program(program), &creation, GlobalSequences::new(), 2).unwrap();
        world.run(None, &mut std::io::sink()).unwrap();
        let executor = world.program().executor.as_ref();
        let calls = executor
            .map(|remote| [&remote.reduced, &remote.fetched].map(|count| count.load(Relaxed)));
        (world.program().sums.clone(), calls)
    };
    for width in [1, 4, 16] {
        let (expected, _) = sums(width, false);
        assert_eq!(expected.len(), 3 * 7);
        let (found, calls) = sums(width, true);
        assert_eq!(found, expected, "width {width}");
        let [reduced, _] = calls.expect("an executor");
        assert!(reduced > 7, "width {width}: {reduced} reductions there");
    }
}

#[test]
fn values_that_are_lost_end_the_run() {
    let mut program = Countdown::new(4, true, true);
    program.adds = true;
    program
        .executor
        .iter_mut()
        .for_each(|remote| remote.forgets = true);
    let creation = Creation::Grid(vec![STRANDS]);
    let mut world = World::new(Program(program), &creation, GlobalSequences::new(), 2).unwrap();
    let ended = world.run(None, &mut std::io::sink());
    assert!(
        matches!(ended, Err(RunError::Lost { step: 1 })),
        "{ended:?}"
    );
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
