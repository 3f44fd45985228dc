//! Random programs on the ranks of a cluster give the results of a run alone: values, text, counts, and the error that is reported.
//!
//! Every case follows from its number, which a failure prints.

mod common;

use common::program::{Fate, Program, Strand, Strands, sequence, tensor};
use common::ranks::on_ranks;
use runtime::abi::FailureKind;
use runtime::cluster::Team;
use runtime::strands::blocks::lanes_mut;
use runtime::strands::{Counts, Scalar, Sharing, StateLayout, StrandSet};
use runtime::world::{
    Abilities, Completion, Control, Creation, GlobalSequences, Taker, Wanted, Workers, World,
    complete,
};
use std::sync::{Arc, Mutex};

const NAME: usize = 0;
const TRACE: usize = 1;
const PATH: usize = 2;

/// Some number that follows from others.
fn mix(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0x9E3779B97F4A7C15, |hash, number| {
        let hash = (hash ^ number).wrapping_mul(0xBF58476D1CE4E5B9);
        hash ^ hash >> 29
    })
}

/// Strands that do something random in every super-step, as their names say.
struct Random {
    seed: u64,
    layout: StateLayout,
    abilities: Abilities,
    /// One in this number of updates fails.
    failures: Option<u64>,
    /// Whether strands have paths.
    has_paths: bool,
}

impl Random {
    /// The program of a case. Strands of those that are kept may have paths; those that are together print, count and create.
    fn new(seed: u64, is_kept: bool, is_together: bool) -> Random {
        let dice = |what: u64| mix(&[seed, what]);
        let has_paths = is_kept && dice(1).is_multiple_of(2);
        let mut variables = vec![
            tensor("name", Scalar::I64, 1, Sharing::Private),
            tensor("trace", Scalar::F32, 3, Sharing::Private),
        ];
        if has_paths {
            variables.push(sequence("path", Scalar::I64));
        }
        let width = [1, 4, 8, 16][dice(2) as usize % 4];
        Random {
            seed,
            layout: StateLayout::new(width, variables, None).unwrap(),
            abilities: Abilities {
                stabilizes: true,
                dies: dice(3).is_multiple_of(2),
                prints: is_together && dice(4).is_multiple_of(2),
                creates: is_together && dice(5).is_multiple_of(2),
                counts: is_together,
                ..Abilities::default()
            },
            failures: dice(6).is_multiple_of(4).then(|| 500 + dice(7) % 5000),
            has_paths,
        }
    }

    /// The creation clause of the case.
    fn creation(&self) -> Creation {
        let dice = |what: u64| mix(&[self.seed, what]) as usize;
        let sizes = match dice(8) % 4 {
            0 => vec![dice(9) % 12, 1 + dice(10) % 3],
            1 => vec![1 + dice(9) % 300, 1 + dice(10) % 20],
            _ => vec![1 + dice(9) % 60, 1 + dice(10) % 60],
        };
        match self.abilities.creates || dice(11).is_multiple_of(3) {
            true => Creation::Collection(sizes),
            false => Creation::Grid(sizes),
        }
    }
}

impl Strands for Random {
    const AXES: usize = 2;

    fn layout(&self) -> &StateLayout {
        &self.layout
    }

    fn abilities(&self) -> Abilities {
        self.abilities
    }

    fn create(&self, strand: &mut Strand<'_, '_>, at: &[u32]) {
        let name = mix(&[self.seed, at[0].into(), at[1].into()]) as i64;
        strand.set(NAME, 0, name);
        strand.set(TRACE, 0, at[0] as f32);
        strand.set(TRACE, 1, at[1] as f32);
        if self.has_paths {
            strand.append(PATH, name);
        }
    }

    fn update(&self, strand: &mut Strand<'_, '_>) -> Fate {
        let name: i64 = strand.get(NAME, 0);
        let head = strand.cx.head();
        let (step, all) = (head.step, head.all as u64);
        let seen = if self.abilities.counts { all } else { 0 };
        let deed = mix(&[name as u64, step, seen]);
        let last: f32 = strand.get(TRACE, 2);
        strand.set(TRACE, 2, (last + deed as f32).sqrt());
        if self.has_paths && deed.is_multiple_of(3) {
            strand.append(PATH, deed as i64);
        }
        if self.abilities.prints && deed.is_multiple_of(7) {
            let lane = 1 << strand.lane;
            strand.cx.print_text(lane, &format!("{name} in {step}\n"));
        }
        if self.abilities.creates && deed.is_multiple_of(11) && step < 6 {
            spawn(strand, &self.layout, deed as i64);
        }
        if self
            .failures
            .is_some_and(|odds| (deed >> 7).is_multiple_of(odds))
        {
            strand.fail(FailureKind::IndexOutOfRange, 3, [name, step as i64]);
        }
        match deed >> 20 & 15 {
            0 if self.abilities.dies => Fate::Dead,
            0..4 => Fate::Stable,
            _ => Fate::Active,
        }
    }

    fn stabilize(&self, strand: &mut Strand<'_, '_>) {
        let last: f32 = strand.get(TRACE, 2);
        strand.set(TRACE, 2, -last);
    }
}

/// Makes a strand of another name.
fn spawn(strand: &mut Strand<'_, '_>, layout: &StateLayout, name: i64) {
    let (lane, width) = (strand.lane, layout.width());
    let path = (layout.variables().len() > PATH).then(|| {
        let old = strand.get::<u64>(PATH, 0);
        strand.append(PATH, name);
        let path = strand.get::<u64>(PATH, 0);
        strand.set(PATH, 0, old);
        path
    });
    let staging = strand.cx.staging();
    // SAFETY: the staging block is the method's, and every plane of the lane gets a value.
    unsafe {
        lanes_mut::<i64>(staging, layout.plane(NAME, 0), width)[lane] = name;
        for component in 0..3 {
            lanes_mut::<f32>(staging, layout.plane(TRACE, component), width)[lane] = name as f32;
        }
        if let Some(path) = path {
            lanes_mut::<u64>(staging, layout.plane(PATH, 0), width)[lane] = path;
        }
        strand.cx.spawn(1 << lane, staging);
    }
}

/// Everything that is visible of a world after some super-steps.
#[derive(Debug, PartialEq)]
struct View {
    end: String,
    text: Vec<u8>,
    steps: u64,
    counts: Counts,
    /// Of every variable; as text, where numbers that are not numbers are equal.
    values: Vec<String>,
}

/// The workers of a rank; other ranks may have more or fewer.
fn workers(case: u64, team: Option<Arc<Team>>) -> Workers {
    let rank = team.as_ref().map_or(0, |team| team.rank());
    let workers = Workers::from(1 + (case as usize + rank) % 3);
    match team {
        Some(team) => workers.with_team(team),
        None => workers,
    }
}

/// Runs a case leg by leg; gives a view after each. After a failure the strands are not looked at.
fn legs(case: u64, is_together: bool, team: Option<Arc<Team>>) -> Vec<View> {
    let program = Random::new(case, true, is_together);
    let variables = if program.has_paths { 3 } else { 2 };
    let creation = program.creation();
    let is_first = team.as_ref().is_none_or(|team| team.rank() == 0);
    let workers = workers(case, team);
    let mut world =
        World::new(Program(program), &creation, GlobalSequences::new(), workers).unwrap();
    let mut views = Vec::new();
    for limit in [Some(1), Some(2 + case % 5), None] {
        let mut text = Vec::new();
        let end = world.run(limit, &mut text);
        let has_failed = end.is_err();
        let values = match has_failed || !is_first {
            true => Vec::new(),
            false => (0..variables)
                .map(|variable| format!("{:?}", world.gather(variable, StrandSet::All)))
                .collect(),
        };
        views.push(View {
            end: format!("{end:?}"),
            text,
            steps: world.steps(),
            counts: if has_failed {
                Counts::default()
            } else {
                world.counts()
            },
            values,
        });
        if has_failed {
            break;
        }
    }
    views
}

#[test]
fn strands_that_are_kept_are_those_of_a_run_alone() {
    let mut failures = 0;
    for case in 0..140 {
        let is_together = case % 2 == 0;
        let alone = legs(case, is_together, None);
        failures += usize::from(alone.last().unwrap().end.starts_with("Err"));
        let size = 1 + case as usize / 2 % 8;
        let views = on_ranks(size, case, |team| legs(case, is_together, Some(team)));
        for (rank, views) in views.into_iter().enumerate() {
            for (leg, (view, alone)) in views.iter().zip(&alone).enumerate() {
                let label = format!("case {case}, leg {leg}, rank {rank} of {size}");
                assert_eq!(view.end, alone.end, "{label}");
                assert_eq!(view.text, alone.text, "{label}");
                assert_eq!(
                    (view.steps, view.counts),
                    (alone.steps, alone.counts),
                    "{label}"
                );
                // Rank 0 alone has the values.
                if rank == 0 {
                    assert!(view.values == alone.values, "values: {label}");
                }
            }
            assert_eq!(views.len(), alone.len(), "case {case}");
        }
    }
    assert!(failures > 10, "only {failures} cases fail");
}

/// What comes of strands that are forgotten.
#[derive(Debug, PartialEq)]
enum Stream {
    Failed,
    Completed {
        values: String,
        taken: Vec<u8>,
        steps: u64,
        counts: Counts,
        handed_on: bool,
    },
}

fn stream(case: u64, team: Option<Arc<Team>>) -> Stream {
    let program = Random::new(case, false, false);
    let creation = program.creation();
    let workers = workers(case, team);
    let taken = Mutex::new(Vec::new());
    let take = |output: usize, before: usize, values: &[u8]| {
        if output == 0 {
            let mut taken = taken.lock().unwrap();
            let end = before + values.len();
            if taken.len() < end {
                taken.resize(end, 0);
            }
            taken[before..end].copy_from_slice(values);
        }
    };
    // Half of the cases only stream the first output.
    let passing = [case.is_multiple_of(2), false];
    let wanted = Wanted {
        initial: &[TRACE],
        outputs: &[NAME, TRACE],
        taker: Some(Taker {
            take: &take,
            passing: &passing,
            is_shared: false,
        }),
    };
    let globals = GlobalSequences::new();
    let control = Arc::new(Control::default());
    let program = Program(program);
    match complete(&program, &creation, &globals, workers, wanted, control).unwrap() {
        Completion::Failed => Stream::Failed,
        Completion::Cancelled | Completion::Declined => panic!("case {case} was not run"),
        Completion::Completed(completed) => Stream::Completed {
            values: format!("{:?} {:?}", completed.initial, completed.outputs),
            taken: taken.into_inner().unwrap(),
            steps: completed.steps,
            counts: completed.counts,
            handed_on: completed.handed_on,
        },
    }
}

#[test]
fn strands_that_are_forgotten_leave_the_values_of_a_run_alone() {
    let mut failures = 0;
    for case in 0..120 {
        let alone = stream(case, None);
        failures += usize::from(alone == Stream::Failed);
        let size = 1 + case as usize % 8;
        let streams = on_ranks(size, !case, |team| stream(case, Some(team)));
        for (rank, shared) in streams.into_iter().enumerate() {
            let label = format!("case {case}, rank {rank} of {size}");
            match (&shared, &alone) {
                _ if rank == 0 => assert!(shared == alone, "{label}"),
                (
                    Stream::Completed { steps, counts, .. },
                    Stream::Completed {
                        steps: expected_steps,
                        counts: expected_counts,
                        ..
                    },
                ) => {
                    let expected = (expected_steps, expected_counts);
                    assert_eq!((steps, counts), expected, "{label}");
                }
                _ => assert_eq!(shared, alone, "{label}"),
            }
        }
    }
    assert!(failures > 10, "only {failures} cases fail");
}

/// The values of both outputs as they are taken, and the bytes of the letters of this rank. On ranks, each takes those of its own
/// strands if they are `shared`.
fn taken(
    case: u64,
    creation: &Creation,
    team: Option<Arc<Team>>,
    is_shared: bool,
) -> ([Vec<u8>; 2], u64) {
    let mut program = Random::new(case, false, false);
    program.abilities.dies = false;
    program.failures = None;
    let taken = [const { Mutex::new(Vec::new()) }; 2];
    let take = |output: usize, before: usize, values: &[u8]| {
        let mut taken = taken[output].lock().unwrap();
        let end = before + values.len();
        if taken.len() < end {
            taken.resize(end, 0);
        }
        let room = &mut taken[before..end];
        assert!(room.iter().all(|byte| *byte == 0), "no value comes twice");
        room.copy_from_slice(values);
    };
    let wanted = Wanted {
        initial: &[],
        outputs: &[NAME, TRACE],
        taker: Some(Taker {
            take: &take,
            passing: &[true; 2],
            is_shared,
        }),
    };
    let workers = workers(case, team.clone());
    let globals = GlobalSequences::new();
    let control = Arc::new(Control::default());
    let program = Program(program);
    let ended = complete(&program, creation, &globals, workers, wanted, control);
    let Ok(Completion::Completed(completed)) = ended else {
        panic!("case {case} ends")
    };
    let is_root = team.as_ref().is_none_or(|team| team.is_root());
    assert_eq!(completed.handed_on, is_root, "case {case}");
    let sent = team.map_or(0, |team| team.sent());
    (taken.map(|taken| taken.into_inner().unwrap()), sent)
}

#[test]
fn ranks_that_take_the_values_of_their_own_strands_have_all_together() {
    for case in 0..24 {
        let creation = Creation::Grid(match case % 3 {
            0 => vec![70 + case as usize, 300],
            1 => vec![1, 20000],
            _ => vec![9000, 2],
        });
        let (alone, _) = taken(case, &creation, None, false);
        let size = 1 + case as usize % 8;
        let ranks = on_ranks(size, case, |team| taken(case, &creation, Some(team), true));
        for (output, alone) in alone.iter().enumerate() {
            let mut all = vec![0; alone.len()];
            for (taken, _) in &ranks {
                for (byte, taken) in all.iter_mut().zip(&taken[output]) {
                    assert!(
                        *byte == 0 || *taken == 0,
                        "case {case}: a value comes twice"
                    );
                    *byte |= taken;
                }
            }
            assert!(all == *alone, "case {case}, {size} ranks, output {output}");
        }
        // Of 20 bytes of values per strand none is in a letter.
        let values: usize = alone.iter().map(Vec::len).sum();
        let sent: u64 = ranks[1..].iter().map(|(_, sent)| sent).sum();
        assert!((sent as usize) < values / 10, "case {case}: {sent} bytes");
    }
}

#[test]
fn all_ranks_end_when_one_is_cancelled_or_leaves() {
    for size in 2..=5 {
        for leaver in 0..size {
            let ends = on_ranks(size, leaver as u64, |team| {
                let is_leaver = team.rank() == leaver;
                let program = Program(Random::new(12, false, false));
                let globals = GlobalSequences::new();
                let control = Arc::new(Control::default());
                if is_leaver {
                    control.cancel();
                }
                let wanted = Wanted {
                    initial: &[],
                    outputs: &[NAME],
                    taker: None,
                };
                let creation = Creation::Grid(vec![200, 200]);
                let workers = Workers::from(2).with_team(Arc::clone(&team));
                let ended = complete(&program, &creation, &globals, workers, wanted, control);
                assert!(matches!(ended, Ok(Completion::Cancelled)));
                // Then one rank fails by itself, while the others begin another world.
                let status = match is_leaver {
                    true => 3,
                    false => {
                        let workers = Workers::from(1).with_team(Arc::clone(&team));
                        let program = Program(Random::new(2, true, true));
                        let globals = GlobalSequences::new();
                        let mut world = World::new(program, &creation, globals, workers).unwrap();
                        let error = world.run(None, &mut std::io::sink()).unwrap_err();
                        assert_eq!(error.to_string(), format!("rank {leaver}: a reason"));
                        1
                    }
                };
                team.leave(status, "a reason", |farewells| {
                    farewells.iter().map(|end| end.status).sum()
                })
            });
            let others = if leaver == 0 { size - 1 } else { size + 1 };
            assert_eq!(ends, vec![others as u8; size]);
        }
    }
}
