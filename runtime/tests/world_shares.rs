//! Strands that look at each other on the ranks of a cluster: every rank knows what its strands may look at, and no more, and the
//! results are those of a run alone.
//!
//! Every run of the tests has other swarms; the seed is printed, and `DIDEROT_SEED` sets it.

mod common;
mod seeds;

use common::program::{Fate, Program, Strand, Strands, sequence, tensor};
use common::ranks::on_ranks;
use runtime::abi::FailureKind;
use runtime::cluster::Team;
use runtime::strands::blocks::lanes_mut;
use runtime::strands::{Counts, Scalar, Sharing, StateLayout, StrandSet};
use runtime::world::{Abilities, Creation, Exchanges, GlobalSequences, Workers, World};
use seeds::seed_of_run;
use std::sync::Arc;

const POS: usize = 0;
const MASS: usize = 1;
const TAG: usize = 2;
const PATH: usize = 3;

/// Some number that follows from others.
fn mix(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0x9E3779B97F4A7C15, |hash, number| {
        let hash = (hash ^ number).wrapping_mul(0xBF58476D1CE4E5B9);
        hash ^ hash >> 29
    })
}

/// A number from 0 to 1.
fn part(numbers: &[u64]) -> f32 {
    (mix(&[mix(numbers), 1]) >> 40) as f32 / (1 << 24) as f32
}

/// What a swarm does.
#[derive(Clone, Copy, Debug)]
struct Habits {
    count: u32,
    /// The length of the square in which it is.
    side: f32,
    width: usize,
    radius: f32,
    /// One in this many super-steps has a larger radius.
    growth: u64,
    /// One in this many strands jumps to another place, or to no place.
    jumps: u64,
    /// One in this many looks elsewhere, too.
    strays: u64,
    moves: bool,
    lives: bool,
    prints: bool,
    has_paths: bool,
    /// One in this many fails.
    failures: u64,
}

struct Swarm {
    seed: u64,
    habits: Habits,
    layout: StateLayout,
}

impl Swarm {
    fn new(seed: u64) -> Swarm {
        let dice = |what: u64, below: u64| mix(&[seed, what]) % below;
        let count = match dice(0, 5) {
            0 => dice(1, 9) as u32,
            _ => 40 + dice(1, 900) as u32,
        };
        let density = 1.0 + 5.0 * part(&[seed, 2]);
        Swarm::with(
            seed,
            Habits {
                count,
                side: match dice(3, 8) {
                    0 => 0.0,
                    1 => 1e-3,
                    _ => (count as f32 / density).sqrt(),
                },
                width: [1, 4, 8, 16][dice(4, 4) as usize],
                radius: 0.3 + part(&[seed, 5]),
                growth: 3 + dice(6, 8),
                jumps: [50, 500, u64::MAX][dice(7, 3) as usize],
                strays: [20, 200, u64::MAX][dice(8, 3) as usize],
                moves: dice(9, 4) > 0,
                lives: dice(10, 2) > 0,
                prints: dice(11, 3) == 0,
                has_paths: dice(12, 2) == 0,
                failures: [2000, u64::MAX][usize::from(dice(13, 5) > 0)],
            },
        )
    }

    fn with(seed: u64, habits: Habits) -> Swarm {
        let place = match habits.moves {
            true => Sharing::Communicated,
            false => Sharing::Constant,
        };
        let mut variables = vec![
            tensor("pos", Scalar::F32, 2, place),
            tensor("mass", Scalar::F64, 1, Sharing::Communicated),
            tensor("tag", Scalar::I64, 1, Sharing::Constant),
        ];
        if habits.has_paths {
            let mut path = sequence("path", Scalar::I64);
            path.sharing = [Sharing::Private, Sharing::Communicated][mix(&[seed, 14]) as usize % 2];
            variables.push(path);
        }
        Swarm {
            seed,
            habits,
            layout: StateLayout::new(habits.width, variables, Some(POS)).unwrap(),
        }
    }

    /// What a strand sees: of the others in a disc, in their order.
    fn look(&self, strand: &mut Strand<'_, '_>, centre: [f32; 2], radius: f32) -> f64 {
        let [x, y] = [0, 1].map(|axis| self.layout.plane(POS, axis));
        let (mass, tag) = (self.layout.plane(MASS, 0), self.layout.plane(TAG, 0));
        let reads_paths =
            self.habits.has_paths && self.layout.variables()[PATH].sharing == Sharing::Communicated;
        let mut seen = 0.0;
        for slot in strand.sphere(centre, radius) {
            // SAFETY: the slot comes from a query, and others may read these planes.
            unsafe {
                let cx = &*strand.cx;
                let place: [f32; 2] = [cx.other(x, slot), cx.other(y, slot)];
                let away = f64::from(place[0] - centre[0]) + 2.0 * f64::from(place[1] - centre[1]);
                seen = seen * 0.9 + away + cx.other::<f64>(mass, slot);
                seen += (cx.other::<i64>(tag, slot) % 100) as f64;
                if reads_paths {
                    let path: runtime::sequence::Sequence =
                        cx.other(self.layout.plane(PATH, 0), slot);
                    if !path.is_empty() {
                        let last = cx.sequence_data(path).cast::<i64>().add(path.len() - 1);
                        seen += (*last % 7) as f64 + path.len() as f64;
                    }
                }
            }
        }
        seen
    }

    fn spawn(&self, strand: &mut Strand<'_, '_>, deed: u64) {
        let (lane, width) = (strand.lane, self.layout.width());
        let place = [0, 1].map(|axis| {
            let at: f32 = strand.get(POS, axis);
            at + 0.1 * part(&[deed, axis as u64])
        });
        let path = self.habits.has_paths.then(|| {
            let old = strand.get::<u64>(PATH, 0);
            strand.append(PATH, deed as i64 >> 8);
            let path = strand.get::<u64>(PATH, 0);
            strand.set(PATH, 0, old);
            path
        });
        let staging = strand.cx.staging();
        let plane = |variable, component| self.layout.plane(variable, component);
        // SAFETY: the staging block is the method's, and every plane of the lane gets a value.
        unsafe {
            for (axis, &coordinate) in place.iter().enumerate() {
                lanes_mut::<f32>(staging, plane(POS, axis), width)[lane] = coordinate;
            }
            lanes_mut::<f64>(staging, plane(MASS, 0), width)[lane] = 1.0;
            lanes_mut::<i64>(staging, plane(TAG, 0), width)[lane] = (deed >> 1) as i64;
            if let Some(path) = path {
                lanes_mut::<u64>(staging, plane(PATH, 0), width)[lane] = path;
            }
            strand.cx.spawn(1 << lane, staging);
        }
    }
}

impl Strands for Swarm {
    const AXES: usize = 1;

    fn layout(&self) -> &StateLayout {
        &self.layout
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            stabilizes: true,
            communicates: true,
            creates: self.habits.lives,
            dies: self.habits.lives,
            prints: self.habits.prints,
            ..Abilities::default()
        }
    }

    fn create(&self, strand: &mut Strand<'_, '_>, at: &[u32]) {
        let tag = mix(&[self.seed, at[0].into()]) >> 1;
        for axis in 0..2 {
            strand.set(POS, axis, self.habits.side * part(&[tag, axis as u64]));
        }
        strand.set(MASS, 0, f64::from(part(&[tag])));
        strand.set(TAG, 0, tag as i64);
        if self.habits.has_paths {
            strand.append(PATH, tag as i64);
        }
    }

    fn update(&self, strand: &mut Strand<'_, '_>) -> Fate {
        let Habits { side, jumps, .. } = self.habits;
        let tag = strand.get::<i64>(TAG, 0) as u64;
        let step = strand.cx.head().step;
        let deed = mix(&[tag, step]);
        let dice = |what: u64| mix(&[deed, what]);
        let place: [f32; 2] = [strand.get(POS, 0), strand.get(POS, 1)];
        let mut radius = self.habits.radius;
        if mix(&[self.seed, step]).is_multiple_of(self.habits.growth) {
            radius *= 1.0 + 4.0 * part(&[self.seed, step, 1]);
        }
        // Some of this has to be taken back when a strand waits.
        if self.habits.prints && dice(1).is_multiple_of(5) {
            strand.cx.print_text(1 << strand.lane, &format!("{tag}:"));
        }
        if self.habits.lives && dice(2).is_multiple_of(43) {
            self.spawn(strand, dice(3));
        }
        let mut seen = self.look(strand, place, radius);
        if dice(4).is_multiple_of(self.habits.strays) {
            let far = [0, 1].map(|axis| side * part(&[dice(5), axis]));
            seen += self.look(strand, far, radius);
        }
        let mass: f64 = strand.get(MASS, 0);
        strand.set(MASS, 0, 0.5 * mass + 0.01 * seen);
        if self.habits.has_paths && dice(6).is_multiple_of(3) {
            strand.append(PATH, seen as i64);
        }
        if self.habits.prints && dice(7).is_multiple_of(4) {
            let text = format!("{tag} {seen} in {step}\n");
            strand.cx.print_text(1 << strand.lane, &text);
        }
        if self.habits.lives && dice(8).is_multiple_of(47) {
            self.spawn(strand, dice(9));
        }
        if dice(10).is_multiple_of(self.habits.failures) {
            strand.fail(FailureKind::IndexOutOfRange, 3, [seen as i64, step as i64]);
        }
        if self.habits.moves {
            for (axis, x) in (0..).zip(place) {
                let sway = 0.1 * (part(&[dice(11), axis]) - 0.5) + 1e-4 * (seen as f32 % 10.0);
                strand.set(POS, axis as usize, x + sway);
            }
            if dice(12).is_multiple_of(jumps) {
                let far = match dice(13) % 8 {
                    0 => f32::NAN,
                    1 => f32::INFINITY,
                    2 => -2.0 * side,
                    _ => side * part(&[dice(14)]),
                };
                strand.set(POS, dice(15) as usize % 2, far);
            }
        }
        match dice(16) % 50 {
            0 | 1 if self.habits.lives => Fate::Dead,
            2 => Fate::Stable,
            _ => Fate::Active,
        }
    }

    fn stabilize(&self, strand: &mut Strand<'_, '_>) {
        let place: [f32; 2] = [strand.get(POS, 0), strand.get(POS, 1)];
        let seen = self.look(strand, place, 2.0 * self.habits.radius);
        strand.set(MASS, 0, seen);
    }
}

/// Everything that is visible of a swarm after some super-steps.
#[derive(Debug, PartialEq)]
struct View {
    end: String,
    text: String,
    steps: u64,
    counts: Counts,
    values: Vec<String>,
}

/// Runs a swarm leg by leg; gives a view after each, and the numbers about exchanges.
fn legs(
    swarm: Swarm,
    limits: &[u64],
    workers: usize,
    team: Option<Arc<Team>>,
) -> (Vec<View>, Exchanges) {
    let is_first = team.as_ref().is_none_or(|team| team.is_root());
    let creation = Creation::Collection(vec![swarm.habits.count as usize]);
    let variables = swarm.layout.variables().len();
    let workers = match team {
        Some(team) => Workers::from(1 + (workers + team.rank()) % 3).with_team(team),
        None => Workers::from(workers),
    };
    let mut world = World::new(Program(swarm), &creation, GlobalSequences::new(), workers).unwrap();
    let mut views = Vec::new();
    for &limit in limits {
        let mut text = Vec::new();
        let end = world.run(Some(limit), &mut text);
        let has_failed = end.is_err();
        let values = match has_failed || !is_first {
            true => Vec::new(),
            false => (0..variables)
                .map(|variable| format!("{:?}", world.gather(variable, StrandSet::All)))
                .collect(),
        };
        views.push(View {
            end: format!("{end:?}"),
            text: String::from_utf8(text).unwrap(),
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
    (views, world.exchanges())
}

/// Compares a swarm on ranks with a run alone.
fn compare(swarm: impl Fn() -> Swarm + Sync, limits: &[u64], size: usize, seed: u64) -> Exchanges {
    let (alone, _) = legs(swarm(), limits, 2, None);
    let shared = on_ranks(size, seed, |team| legs(swarm(), limits, 1, Some(team)));
    let mut exchanges = Exchanges::default();
    for (rank, (views, numbers)) in shared.into_iter().enumerate() {
        for (leg, (view, alone)) in views.iter().zip(&alone).enumerate() {
            let label = format!("seed {seed}, leg {leg}, rank {rank} of {size}");
            let label = format!("{label}: {:?}", swarm().habits);
            assert_eq!(view.end, alone.end, "{label}");
            assert_eq!(view.text, alone.text, "{label}");
            let counted = (view.steps, view.counts);
            assert_eq!(counted, (alone.steps, alone.counts), "{label}");
            if rank == 0 {
                assert!(view.values == alone.values, "values: {label}");
            }
        }
        assert_eq!(views.len(), alone.len(), "seed {seed}");
        assert!(rank == 0 || numbers == exchanges, "ranks agree about these");
        exchanges = numbers;
    }
    exchanges
}

#[test]
fn random_swarms_are_those_of_a_run_alone() {
    let seed = seed_of_run();
    let (mut waits, mut ghosts, mut sparse) = (0, 0, 0);
    for case in 0..60 {
        let seed = mix(&[seed, case]);
        let size = 1 + case as usize % 8;
        let exchanges = compare(|| Swarm::new(seed), &[1, 2 + case % 5, 20], size, seed);
        waits += exchanges.waits;
        ghosts += exchanges.ghosts;
        sparse += usize::from(exchanges.ghosts > 0 && 2 * exchanges.ghosts < exchanges.most_ghosts);
    }
    // Strands wait, and ranks do not know everything.
    assert!(waits > 100, "{waits} strands waited");
    assert!(ghosts > 1000, "{ghosts} ghosts");
    assert!(sparse > 0, "no swarm with few ghosts");
}

#[test]
fn large_swarms_get_new_shares_and_few_ghosts() {
    let seed = seed_of_run();
    let swarm = |lives: bool| {
        let habits = Habits {
            count: 6000,
            side: 60.0,
            width: 8,
            radius: 1.0,
            growth: u64::MAX,
            jumps: u64::MAX,
            strays: u64::MAX,
            moves: true,
            lives,
            prints: false,
            has_paths: true,
            failures: u64::MAX,
        };
        Swarm::with(seed, habits)
    };
    for (size, lives) in [(3, false), (8, true)] {
        let exchanges = compare(|| swarm(lives), &[40], size, seed);
        assert_eq!(exchanges.waits, 0, "the radius never changes");
        assert!(
            5 * exchanges.ghosts < exchanges.most_ghosts,
            "{exchanges:?}"
        );
        assert!(!lives || exchanges.shares > 1, "{exchanges:?}");
    }
}
