//! Programs on the ranks of a cluster give the results of a plain run: values, printed text, and the error that is reported. The ranks
//! are threads here, and letters between them are delayed at random.
//!
//! Every run of the tests has other random programs; its seed is printed.
//!
//! ```text
//! DIDEROT_SEED=42 DIDEROT_CASES=1000 cargo test --test ranks
//! ```

#[path = "random/program/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod program;
#[path = "stages/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod stages;

use compiler::{
    front::source::Source,
    pipeline::{self, Compiled, Options, Session},
    run::{Inputs, Run},
};
use program::{Dice, Purpose, STEPS, from_environment, nth_seed, program, seed_of_run};
use runtime::{
    cluster::{Team, Threads},
    world::Workers,
};
use stages::Case;
use std::sync::Arc;

/// Random programs in every run of the tests.
const EVERY_DAY: u64 = 200;

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
struct Results {
    end: String,
    printed: String,
    steps: u64,
    /// The bits of every output, and the lengths of sequences.
    outputs: Vec<(Vec<u64>, Option<Vec<usize>>)>,
}

fn results(compiled: &Compiled, limit: Option<u64>, workers: Workers) -> Results {
    let is_root = workers.team().is_none_or(|team| team.is_root());
    let mut printed = Vec::new();
    let run = Run::new(compiled, &Inputs::of(compiled), workers);
    let (end, steps, outputs) = match run {
        Err(failure) => (failure.plain(), 0, None),
        Ok(mut run) => {
            let end = run.run(limit, &mut printed, &mut []);
            let end = end.map_or_else(|failure| failure.plain(), |end| format!("{end:?}"));
            // The others do not have the states of all strands.
            let outputs = is_root.then(|| run.outputs()).flatten();
            (end, run.steps(), outputs)
        }
    };
    let bits = |numbers: Vec<f64>| numbers.into_iter().map(f64::to_bits).collect();
    let outputs = outputs.unwrap_or_default().into_iter();
    Results {
        end,
        printed: String::from_utf8(printed).expect("text"),
        steps,
        outputs: outputs
            .map(|data| (bits(data.numbers()), data.lengths))
            .collect(),
    }
}

/// Runs a program on ranks and compares; the label says which it is.
fn compare(
    compiled: &Compiled,
    limit: Option<u64>,
    size: usize,
    seed: u64,
    label: &str,
) -> Results {
    let alone = results(compiled, limit, Workers::from(2));
    let shared: Vec<Results> = std::thread::scope(|scope| {
        let ranks = Threads::ranks(size, seed).into_iter();
        let ranks: Vec<_> = ranks
            .enumerate()
            .map(|(n, rank)| {
                let workers = Workers::from(1 + n % 2).with_team(Arc::new(Team::new(rank)));
                scope.spawn(move || results(compiled, limit, workers))
            })
            .collect();
        let ended = ranks.into_iter().map(|rank| rank.join());
        ended
            .map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    assert!(
        shared[0] == alone,
        "{label}: {size} ranks\n{:?}\nalone\n{alone:?}",
        shared[0]
    );
    for results in &shared {
        // The others come to the same end, and rank 0 alone has the outputs.
        assert_eq!(results.end, alone.end, "{label}: {size} ranks");
        assert_eq!(results.printed, alone.printed, "{label}: {size} ranks");
    }
    alone
}

fn compiled(source: &Source, options: &Options) -> Option<Compiled> {
    pipeline::compile(&mut Session::default(), source, options).ok()
}

#[test]
fn random_programs_give_the_results_of_a_plain_run() {
    let seed = seed_of_run();
    let count = from_environment("DIDEROT_CASES").unwrap_or(EVERY_DAY);
    println!("DIDEROT_SEED={seed}, {count} programs");
    let mut finished = 0;
    for n in 0..count {
        let seed = nth_seed(seed, n);
        let text = program(seed, Purpose::Any);
        let mut dice = Dice::new(!seed);
        let options = Options {
            double: dice.below(2) == 0,
            ..Options::default()
        };
        let case = Case::new(Source::new("random.diderot", &text));
        let Some(compiled) = compiled(&case.source, &options) else {
            continue;
        };
        let size = 1 + dice.below(8);
        let limit = Some(STEPS as u64);
        let label = format!("program {n}\n{text}");
        let alone = compare(&compiled, limit, size, seed, &label);
        if alone.end == "Finished" {
            // Then strands that do not notice each other need not be kept.
            compare(&compiled, None, size, seed, &label);
            finished += 1;
        }
    }
    assert!(
        finished > count / 4,
        "only {finished} programs come to their ends"
    );
}

#[test]
fn checks_give_the_results_of_a_plain_run() {
    for (n, path) in stages::programs("programs/checks").iter().enumerate() {
        let case = Case::new(stages::read(path));
        let compiled = compiled(&case.source, &Options::default()).expect("a right program");
        let label = path.display().to_string();
        compare(&compiled, None, 2 + n % 6, n as u64, &label);
    }
}
