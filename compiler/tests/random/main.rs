//! Random programs that reach every construct of the language, run in many ways that must agree, most of them to the bit.
//!
//! Every run of the tests has other programs; its seed is printed. A program that is wrong is made smaller and printed.
//!
//! ```text
//! DIDEROT_SEED=42 cargo test --test random                         the programs of a seed
//! DIDEROT_CASES=100000 cargo test --test random -- --ignored       that many, in all ways
//! ```

mod check;
mod coverage;
mod layout;
mod on_demand;
mod one_step;
mod program;
mod reduce;
#[path = "../stages/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod stages;
mod walk;

use check::{COMPILING, Ways, Wrong, check};
use compiler::{
    front::{
        source::Source,
        syntax::{self, ast, print::print},
    },
    low::{Bounds, Op},
    pipeline::Options,
};
use coverage::Coverage;
use program::{Purpose, from_environment, nth_seed, program, seed_of_run};
use stages::Case;
use std::{
    cell::RefCell,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Instant,
};

/// Programs in every run of the tests.
const EVERY_DAY: u64 = 1000;

fn tree(text: &str) -> ast::Program {
    let (tree, messages) = syntax::parse(&Source::new("random.diderot", text));
    assert!(messages.is_empty(), "{messages:?}\n{text}");
    tree
}

/// Makes a wrong program smaller as long as it is wrong in the same way.
fn reduced(text: &str, ways: Ways, wrong: &Wrong) -> (String, Wrong) {
    // A smaller program may have errors of its own, so the first words of a message count.
    let sort = |wrong: &Wrong| {
        let letters = wrong.what.chars().filter(char::is_ascii_alphabetic);
        let words: String = letters
            .take(if wrong.way == COMPILING { 40 } else { 0 })
            .collect();
        (wrong.way.clone(), words)
    };
    let last = RefCell::new(wrong.clone());
    let small = reduce::reduce(tree(text), &|text| match check(text, ways) {
        Err(found) if sort(&found) == sort(wrong) => {
            last.replace(found);
            true
        }
        _ => false,
    });
    (print(&small), last.into_inner())
}

/// Runs programs on all cores; panics if one is wrong.
fn campaign(count: u64, all: bool) {
    let seed = seed_of_run();
    let jobs = from_environment("DIDEROT_JOBS").map_or_else(
        || thread::available_parallelism().map_or(1, usize::from),
        |jobs| jobs as usize,
    );
    println!("DIDEROT_SEED={seed}, {count} programs");
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let wrong = Mutex::new(Vec::new());
    let sensitive = AtomicU64::new(0);
    let work = || {
        loop {
            let n = next.fetch_add(1, Relaxed);
            // Some wrong programs are enough.
            if n >= count || wrong.lock().unwrap().len() >= 5 {
                return;
            }
            let seed = nth_seed(seed, n);
            let text = program(seed, Purpose::Any);
            let ways = if all { Ways::All } else { Ways::Few(seed) };
            if let Err(found) = check(&text, ways) {
                if found.is_rounding() {
                    println!("program {n}: {}: {}\n{text}", found.way, found.what);
                    sensitive.fetch_add(1, Relaxed);
                    continue;
                }
                let (small, last) = reduced(&text, ways, &found);
                let told = format!(
                    "program {n}: {}: {}\nmade smaller, {}: {}\n{small}",
                    found.way, found.what, last.way, last.what
                );
                println!("{told}");
                wrong.lock().unwrap().push(told);
            }
            if n > 0 && n.is_multiple_of(10_000) {
                println!("{n} programs, {:.0} s", start.elapsed().as_secs_f64());
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(work);
        }
    });
    println!("{:.1} s", start.elapsed().as_secs_f64());
    let wrong = wrong.into_inner().unwrap();
    // A comparison or a chaotic loop may turn a rounding of normalization into another result. Few programs have that.
    let sensitive = sensitive.into_inner();
    assert!(
        sensitive <= 2 + count / 500,
        "DIDEROT_SEED={seed}: {sensitive} programs differ from High-IR"
    );
    assert!(
        wrong.is_empty(),
        "DIDEROT_SEED={seed}\n{}",
        wrong.join("\n")
    );
}

#[test]
fn programs_of_this_run_agree() {
    campaign(
        from_environment("DIDEROT_CASES").unwrap_or(EVERY_DAY),
        false,
    );
}

#[test]
#[ignore = "for as long as one wants"]
fn programs_agree_in_all_ways() {
    campaign(from_environment("DIDEROT_CASES").unwrap_or(EVERY_DAY), true);
}

/// A part of the language that programs do not have is not tested by them.
#[test]
fn every_construct_is_reached() {
    let mut coverage = Coverage::default();
    for n in 0..3000 {
        coverage.add(&mut tree(&program(nth_seed(1, n), Purpose::Any)));
    }
    assert_eq!(coverage.gaps(), Vec::<&str>::new());
}

/// In enough programs bounds of images decide about a branch.
#[test]
fn bounds_decide_in_some_programs() {
    let options = Options {
        bounds: Bounds::All,
        ..Options::default()
    };
    let decides = |n: &u64| {
        let case = Case::new(Source::new(
            "random.diderot",
            program(nth_seed(2, *n), Purpose::Any),
        ));
        let mut decides = false;
        for (_, function) in &case.lower(&options).bounded.functions {
            function.each_op(&mut |op, _, _| decides |= matches!(op, Op::Decide(..)));
        }
        decides
    };
    let found = (0..200).filter(decides).count();
    assert!(found >= 20, "{found} of 200");
}

/// Only the parts of a program that its fault needs are left.
#[test]
fn wrong_programs_are_made_smaller() {
    let is_wrong = |text: &str| text.contains("foreach") && text.contains("sin(");
    let text = (0..)
        .map(|n| program(n, Purpose::Any))
        .find(|text| is_wrong(text))
        .expect("a program");
    let small = print(&reduce::reduce(tree(&text), &is_wrong));
    assert!(is_wrong(&small) && small.lines().count() < 16, "{small}");
}

/// Every deliberate fault in masks makes a program of some hundred wrong.
#[cfg(feature = "mutants")]
#[test]
#[ignore = "no other test may run at the same time"]
fn faults_of_masks_are_found() {
    use compiler::codegen::mutants::{of_masks, switch_on};
    let seed = seed_of_run();
    println!("DIDEROT_SEED={seed}");
    let mut missed = Vec::new();
    for &(fault, what) in of_masks() {
        switch_on(Some(fault));
        let found = (0..600).find_map(|n| {
            let seed = nth_seed(seed, n);
            let text = program(seed, Purpose::Gpu);
            Some((n, check(&text, Ways::Few(seed)).err()?))
        });
        switch_on(None);
        match found {
            Some((n, wrong)) => println!("{fault:?}: program {n}: {}: {}", wrong.way, wrong.what),
            None => missed.push(format!("{fault:?}: {what}")),
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Writes programs for GPUs into the folder that `DIDEROT_FOLDER` names, for machines that only run them (`.ci/gpu random`).
#[test]
#[ignore = "writes files"]
fn programs_for_gpus_are_written() {
    let folder = std::env::var("DIDEROT_FOLDER").expect("a folder");
    let seed = seed_of_run();
    println!("DIDEROT_SEED={seed}");
    for n in 0..from_environment("DIDEROT_CASES").unwrap_or(EVERY_DAY) {
        let text = program(nth_seed(seed, n), Purpose::Gpu);
        std::fs::write(format!("{folder}/random-{n:05}.diderot"), text).expect("a file");
    }
}

/// Prints the program of a seed, for a look at it.
#[test]
#[ignore = "prints"]
fn prints_a_program() {
    println!("{}", program(seed_of_run(), Purpose::Any));
}
