//! One program that does everything at once (neighbours, `new`, `die`, `stabilize`, reductions,
//! sequences, printing, global code), compared bit for bit with a plain sequential simulation, for
//! every block width and many numbers of workers.

#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "one for all: methods get what the protocol promises and touch their own lanes only"
)]
mod program;
#[path = "../common/ranks.rs"]
mod ranks;
mod rules;
mod simulation;

use program::{AGE, ENERGY, Flock, KIND, PATH, POS, TIRED};
use rules::{Bird, LAST_ROUND};
use runtime::reduce::Values;
use runtime::strands::StrandSet;
use runtime::world::{Creation, Gathered, GlobalSequences, RunEnd, Workers, World};
use simulation::{Simulation, State};

fn world(width: usize, workers: impl Into<Workers>, rows: usize) -> World<Flock> {
    World::new(
        Flock::new(width),
        &Creation::Collection(vec![rows, 5]),
        GlobalSequences::new(),
        workers,
    )
    .unwrap()
}

#[track_caller]
fn assert_same(world: &World<Flock>, simulation: &Simulation, label: &str) {
    let birds = |pick: &dyn Fn(&Bird) -> Vec<f64>, set: StrandSet| -> Vec<u64> {
        let chosen = simulation
            .birds
            .iter()
            .filter(|(_, state)| set == StrandSet::All || *state == State::Stable);
        chosen
            .flat_map(|(bird, _)| pick(bird))
            .map(f64::to_bits)
            .collect()
    };
    for set in [StrandSet::All, StrandSet::Stable] {
        let reals = |gathered| match gathered {
            Gathered::Tensors {
                values: Values::F64(values),
                ..
            }
            | Gathered::Sequences {
                values: Values::F64(values),
                ..
            } => values.into_iter().map(f64::to_bits).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            reals(world.gather(POS, set)),
            birds(&|bird| bird.pos.to_vec(), set),
            "positions, {label}"
        );
        assert_eq!(
            reals(world.gather(ENERGY, set)),
            birds(&|bird| vec![bird.energy], set),
            "energies, {label}"
        );
        assert_eq!(
            reals(world.gather(PATH, set)),
            birds(&|bird| bird.path.concat(), set),
            "paths, {label}"
        );
    }
    let Gathered::Sequences { lengths, .. } = world.gather(PATH, StrandSet::All) else {
        panic!("paths are sequences")
    };
    assert!(
        lengths
            .into_iter()
            .eq(simulation.birds.iter().map(|(bird, _)| bird.path.len())),
        "lengths, {label}"
    );
    let ints = |variable| match world.gather(variable, StrandSet::All) {
        Gathered::Tensors {
            values: Values::I32(values),
            ..
        } => values,
        Gathered::Tensors {
            values: Values::Bool(values),
            ..
        } => values.into_iter().map(i32::from).collect(),
        other => panic!("{other:?}"),
    };
    assert!(
        ints(KIND)
            .into_iter()
            .eq(simulation.birds.iter().map(|(bird, _)| bird.kind)),
        "kinds, {label}"
    );
    assert!(
        ints(AGE)
            .into_iter()
            .eq(simulation.birds.iter().map(|(bird, _)| bird.age)),
        "ages, {label}"
    );
    assert!(
        ints(TIRED).into_iter().eq(simulation
            .birds
            .iter()
            .map(|(bird, _)| i32::from(bird.tired))),
        "tired, {label}"
    );
    assert_eq!(
        world.program().climate,
        simulation.climate,
        "climate, {label}"
    );
}

#[test]
fn every_width_and_worker_count_gives_the_bytes_of_the_plain_simulation() {
    let mut simulation = Simulation::new(300);
    while simulation.any_active() {
        simulation.step();
    }
    assert_eq!(
        simulation.climate.round, LAST_ROUND,
        "the run should last as long as the global block lets it"
    );
    assert!(
        simulation.text.matches("bird").count() > 100,
        "birds should speak"
    );
    for width in [1, 4, 8, 16] {
        for workers in [1, 2, 3, 8, 64] {
            let label = format!("width {width}, {workers} workers");
            assert_runs_alike(width, workers, &simulation, &label);
        }
    }
}

/// A world of 60 birds runs to its end as the simulation did, in state and text.
fn assert_runs_alike(
    width: usize,
    workers: impl Into<Workers>,
    simulation: &Simulation,
    label: &str,
) {
    let mut world = world(width, workers, 60);
    let mut text = Vec::new();
    let end = world.run(None, &mut text).unwrap();
    assert_eq!(end, RunEnd::Finished, "{label}");
    assert_eq!(world.steps(), LAST_ROUND as u64, "{label}");
    assert_same(&world, simulation, label);
    let is_same = String::from_utf8(text).unwrap() == simulation.text;
    assert!(is_same, "text differs, {label}");
}

#[test]
fn ranks_that_share_a_flock_give_the_bytes_of_the_plain_simulation() {
    let mut simulation = Simulation::new(300);
    while simulation.any_active() {
        simulation.step();
    }
    for (size, width) in [
        (2, 8),
        (3, 4),
        (4, 16),
        (5, 1),
        (6, 8),
        (7, 4),
        (8, 16),
        (1, 8),
    ] {
        ranks::on_ranks(size, width as u64, |team| {
            let label = format!("rank {} of {size}, width {width}", team.rank());
            // Ranks may have different numbers of workers.
            let workers = Workers::from(1 + team.rank() % 3).with_team(team);
            assert_runs_alike(width, workers, &simulation, &label);
        });
    }
}

#[test]
fn ranks_move_large_flocks_into_cell_order_alike() {
    let mut simulation = Simulation::new(5000);
    (0..3).for_each(|_| simulation.step());
    ranks::on_ranks(3, 5, |team| {
        let is_root = team.is_root();
        let workers = Workers::from(1 + team.rank()).with_team(team);
        let mut world = world(8, workers, 1000);
        for _ in 0..3 {
            world.run(Some(1), &mut std::io::sink()).unwrap();
        }
        // The others have the states of their own birds.
        if is_root {
            assert_same(&world, &simulation, "rank 0 of 3");
        }
    });
}

#[test]
fn every_super_step_agrees_with_the_plain_simulation() {
    let mut simulation = Simulation::new(150);
    let mut world = world(8, 2, 30);
    let mut text = Vec::new();
    while simulation.any_active() {
        simulation.step();
        world.run(Some(1), &mut text).unwrap();
        assert_same(
            &world,
            &simulation,
            &format!("step {}", simulation.climate.round),
        );
        assert_eq!(world.counts().all() as usize, simulation.birds.len());
    }
    assert_eq!(world.run(None, &mut text).unwrap(), RunEnd::Finished);
}

#[test]
fn large_scattered_flocks_that_are_moved_into_cell_order_agree_too() {
    let mut simulation = Simulation::new(5000);
    simulation.step();
    simulation.step();
    for (width, workers) in [(1, 2), (8, 3), (16, 1)] {
        let mut world = world(width, workers, 1000);
        world.run(Some(2), &mut std::io::sink()).unwrap();
        assert_same(
            &world,
            &simulation,
            &format!("width {width}, {workers} workers"),
        );
    }
}

#[test]
fn sequences_of_the_dead_are_given_back() {
    let mut alone = world(8, 2, 60);
    alone.run(None, &mut std::io::sink()).unwrap();
    assert_little_is_held(&alone);
    ranks::on_ranks(3, 1, |team| {
        let mut shared = world(8, Workers::from(2).with_team(team), 60);
        shared.run(None, &mut std::io::sink()).unwrap();
        assert_little_is_held(&shared);
    });
}

#[track_caller]
fn assert_little_is_held(world: &World<Flock>) {
    let Gathered::Sequences { lengths, .. } = world.gather(PATH, StrandSet::All) else {
        panic!("paths are sequences")
    };
    // The live buffers: one per strand, of the next power of two or the one above it, and the
    // diary.
    let least: usize = lengths
        .iter()
        .map(|length| (16 * length).next_power_of_two().max(32))
        .sum();
    let live = world.live_sequence_bytes() as usize;
    assert!(
        live >= least && live <= 4 * least + 1024,
        "{live} bytes for {least}"
    );
}
