//! Ranks that have a GPU each, or some of them: the results are those of a plain run on the CPU, and messages name ranks and machines.
//! The ranks are threads here.

use super::{
    MIXED,
    machine::Interpreter,
    program::{self, Purpose},
    stages::Case,
};
use compiler::{
    codegen::{
        Target,
        gpu::{Machine, device_of},
    },
    front::source::Source,
    pipeline::{self, Compiled, Options, Session},
    run::{Inputs, Run},
};
use runtime::{
    cluster::{Team, Threads, host_name},
    world::Workers,
};
use std::sync::{Arc, atomic::Ordering::Relaxed};

/// What a rank has seen of a run.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    /// The ends of its legs.
    ends: Vec<String>,
    /// The bits of all outputs after each leg; those of rank 0 alone are current.
    outputs: Vec<Vec<Vec<u64>>>,
    steps: u64,
    troubles: Vec<String>,
    absence: Option<String>,
    gpus: Vec<String>,
}

fn seen(program: &Compiled, legs: &[Option<u64>], workers: Workers) -> Seen {
    let mut run = Run::new(program, &Inputs::of(program), workers).expect("globals");
    let mut seen = Seen::default();
    for limit in legs {
        let end = run.run(*limit, &mut std::io::sink(), &mut []);
        let end = end.map_or_else(|failure| failure.plain(), |end| format!("{end:?}"));
        seen.ends.push(end);
        // One that is not a number has many forms.
        let canonical = |x: f64| if x.is_nan() { f64::NAN } else { x }.to_bits();
        let bits = |numbers: Vec<f64>| numbers.into_iter().map(canonical).collect();
        let outputs = run.outputs().into_iter().flatten();
        seen.outputs
            .push(outputs.map(|data| bits(data.numbers())).collect());
    }
    seen.steps = run.steps();
    seen.troubles = run.troubles().collect();
    seen.absence = run.absence();
    seen.gpus = run.gpus_of_ranks();
    seen
}

fn on_cpu(case: &Case, options: &Options) -> Compiled {
    let options = Options {
        target: Target::Cpu,
        ..options.clone()
    };
    let compiled = pipeline::compile(&mut Session::default(), &case.source, &options);
    compiled.unwrap_or_else(|e| panic!("{}: {e:?}", case.name))
}

/// Runs a program on ranks. Each has the machine of its number.
fn on_ranks(
    case: &Case,
    options: &Options,
    legs: &[Option<u64>],
    size: usize,
    machines: &[Arc<Interpreter>],
) -> Vec<Seen> {
    let program = pipeline::compile(&mut Session::default(), &case.source, options);
    let program = program.unwrap_or_else(|e| panic!("{}: {e:?}", case.name));
    std::thread::scope(|scope| {
        let ranks = Threads::ranks(size, size as u64).into_iter();
        let ranks: Vec<_> = ranks
            .enumerate()
            .map(|(rank, cluster)| {
                let mut program = program.clone();
                let machine = Arc::clone(&machines[device_of(rank, machines.len())]);
                program.machines = vec![machine as Arc<dyn Machine>];
                let workers = Workers::from(1).with_team(Arc::new(Team::new(cluster)));
                scope.spawn(move || seen(&program, legs, workers))
            })
            .collect();
        let ended = ranks.into_iter().map(|rank| rank.join());
        ended
            .map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn machines(count: usize) -> Vec<Arc<Interpreter>> {
    (0..count).map(|_| Arc::default()).collect()
}

/// Compares rank 0 with a run alone.
fn compare(found: &Seen, wanted: &Seen, label: &str) {
    assert_eq!(found.ends, wanted.ends, "{label}");
    if wanted.ends.last().is_some_and(|end| end == "Finished") {
        assert_eq!(found.steps, wanted.steps, "{label}");
    }
    assert!(found.outputs == wanted.outputs, "values: {label}");
}

fn cuda() -> Options {
    Options {
        target: Target::Cuda,
        ..Options::default()
    }
}

fn mixed() -> Case {
    Case::new(Source::new("mixed.diderot", MIXED))
}

#[test]
fn ranks_take_the_devices_of_their_machine_in_turn() {
    let chosen = |processes: usize, devices: usize| -> Vec<usize> {
        (0..processes)
            .map(|process| device_of(process, devices))
            .collect()
    };
    assert_eq!(chosen(4, 4), [0, 1, 2, 3]);
    assert_eq!(chosen(5, 2), [0, 1, 0, 1, 0]);
    assert_eq!(chosen(2, 4), [0, 1]);
    // The attempt to use the first reports that there is none.
    assert_eq!(chosen(2, 0), [0, 0]);
}

#[test]
fn ranks_with_devices_of_their_own_or_shared_give_the_bits_of_the_cpu() {
    let case = mixed();
    for double in [false, true] {
        let options = Options { double, ..cuda() };
        for legs in [vec![Some(5000)], vec![Some(1), Some(7), Some(5000)]] {
            let alone = seen(&on_cpu(&case, &options), &legs, Workers::from(1));
            for (size, devices) in [(1, 1), (2, 2), (3, 2), (5, 5), (8, 1)] {
                let machines = machines(devices);
                let ranks = on_ranks(&case, &options, &legs, size, &machines);
                let label = format!("{size} ranks, {devices} devices, legs {legs:?}");
                compare(&ranks[0], &alone, &label);
                for (rank, seen) in ranks.iter().enumerate() {
                    assert_eq!(seen.ends, alone.ends, "{label}");
                    assert!(
                        seen.troubles.is_empty() && seen.absence.is_none(),
                        "{label}"
                    );
                    // A rank alone is a plain run.
                    let listed = if size == 1 { 0 } else { size };
                    assert_eq!(seen.gpus.len(), listed, "rank {rank}, {label}");
                }
                for (n, machine) in machines.iter().enumerate() {
                    assert!(machine.launches.load(Relaxed) > 0, "machine {n}, {label}");
                    assert!(machine.is_empty(), "memory of machine {n} is left, {label}");
                }
            }
        }
    }
}

#[test]
fn random_programs_on_the_devices_of_ranks_give_the_bits_of_the_cpu() {
    const PROGRAMS: u64 = 40;
    let seed = program::seed_of_run();
    println!("DIDEROT_SEED={seed}");
    let mut ran = 0;
    for n in 0..PROGRAMS {
        let text = program::program(program::nth_seed(seed, n), Purpose::Gpu);
        let case = Case::new(Source::new(format!("random-{n}.diderot"), &text));
        let options = Options {
            double: n % 2 == 1,
            ..cuda()
        };
        let legs = [Some(1 + n % 3), Some(program::STEPS as u64)];
        let alone = seen(&on_cpu(&case, &options), &legs, Workers::from(1));
        let (size, devices) = (2 + n as usize % 4, 1 + n as usize % 3);
        let machines = machines(devices);
        let ranks = on_ranks(&case, &options, &legs, size, &machines);
        compare(
            &ranks[0],
            &alone,
            &format!("program {n}, {size} ranks\n{text}"),
        );
        let launches: usize = machines.iter().map(|m| m.launches.load(Relaxed)).sum();
        ran += usize::from(launches > 0);
    }
    // The others notice each other, so that the processors of the ranks run them.
    assert!(ran > 4, "only {ran} programs ran on machines");
}

#[test]
fn ranks_without_a_device_leave_the_strands_to_the_others_and_are_named() {
    let case = mixed();
    let legs = [Some(2), Some(5000)];
    let alone = seen(&on_cpu(&case, &cuda()), &legs, Workers::from(1));
    for absent in [vec![1], vec![0], vec![0, 2]] {
        let machine = |rank: usize| match absent.contains(&rank) {
            true => Arc::new(Interpreter::absent()),
            false => Arc::default(),
        };
        let machines: Vec<_> = (0..3).map(machine).collect();
        let ranks = on_ranks(&case, &cuda(), &legs, 3, &machines);
        compare(
            &ranks[0],
            &alone,
            &format!("without the devices of {absent:?}"),
        );
        let first = format!("rank {} on {}: looking for", absent[0], host_name());
        for seen in &ranks {
            let absence = seen.absence.as_ref().expect("a remark");
            assert!(absence.contains(&first), "{absence}");
            assert_eq!(seen.gpus.len(), 3 - absent.len());
        }
        let only = Options {
            target: Target::CudaOnly,
            ..cuda()
        };
        for seen in on_ranks(&case, &only, &legs, 3, &machines) {
            assert!(seen.ends[0].contains(&first), "{:?}", seen.ends);
        }
    }
}

#[test]
fn without_any_device_the_processors_of_all_ranks_run_the_strands() {
    let case = mixed();
    let legs = [Some(5000)];
    let alone = seen(&on_cpu(&case, &cuda()), &legs, Workers::from(1));
    let none = vec![Arc::new(Interpreter::absent())];
    let ranks = on_ranks(&case, &cuda(), &legs, 3, &none);
    compare(&ranks[0], &alone, "no device at all");
    let absence = ranks[0].absence.as_ref().expect("a remark");
    let as_alone = "this program runs on the CPU: looking for NVIDIA GPUs: there is none";
    assert_eq!(absence, as_alone);
    assert!(ranks[0].gpus.is_empty());
}

#[test]
fn a_device_that_is_lost_loses_nothing_and_is_named() {
    let case = mixed();
    let legs = [Some(5000)];
    let alone = seen(&on_cpu(&case, &cuda()), &legs, Workers::from(1));
    for lost in 0..3 {
        let machines = || -> Vec<Arc<Interpreter>> {
            let machine = |rank: usize| match rank == lost {
                true => Arc::new(Interpreter::lost_after(0)),
                false => Arc::default(),
            };
            (0..3).map(machine).collect()
        };
        let name = format!("rank {lost} on {}: running on the GPU", host_name());
        let ranks = on_ranks(&case, &cuda(), &legs, 3, &machines());
        compare(&ranks[0], &alone, &format!("device of rank {lost} is lost"));
        for seen in &ranks {
            assert_eq!(seen.troubles.len(), 1);
            assert!(seen.troubles[0].contains(&name), "{:?}", seen.troubles);
        }
        let only = Options {
            target: Target::CudaOnly,
            ..cuda()
        };
        for seen in on_ranks(&case, &only, &legs, 3, &machines()) {
            assert!(seen.ends[0].contains(&name), "{:?}", seen.ends);
        }
    }
}

#[test]
fn strands_that_notice_each_other_run_on_the_processors_of_ranks() {
    let text = "#version 2.0
strand s (int i) {
    output int n = 0;
    update { n += numActive(); if (n > 20*i) stabilize; }
}
create_collection { s(i) | i in 0..99 }
";
    let case = Case::new(Source::new("together.diderot", text));
    let legs = [Some(500)];
    let alone = seen(&on_cpu(&case, &cuda()), &legs, Workers::from(1));
    let machines = machines(3);
    let ranks = on_ranks(&case, &cuda(), &legs, 3, &machines);
    compare(&ranks[0], &alone, "together");
    assert!(machines.iter().all(|m| m.launches.load(Relaxed) == 0));
}
