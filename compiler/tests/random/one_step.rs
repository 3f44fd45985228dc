//! Strands that end with their first update, which one function makes and runs if they are not kept.

use super::program::{Purpose, nth_seed, program, seed_of_run};
use compiler::{
    front::source::Source,
    pipeline::{self, Options, Session, WIDTHS},
    run::{Inputs, Run},
    ssa::Role,
};

/// Programs in every run of the tests.
const PROGRAMS: u64 = 200;

/// The end of a run and the bits of the outputs.
fn outcome(program: &compiler::codegen::Compiled, limit: Option<u64>) -> (String, Vec<Vec<u64>>) {
    let mut running = Run::new(program, &Inputs::of(program), 2).expect("strands");
    let end = running.run(limit, &mut std::io::sink(), &mut []);
    let outputs = running.outputs().expect("outputs");
    assert_eq!(running.keeps(), limit.is_some());
    let outputs = outputs.iter().map(|output| output.numbers().into_iter());
    let bits = outputs.map(|numbers| numbers.map(f64::to_bits).collect());
    (format!("{end:?}"), bits.collect())
}

#[test]
fn strands_of_one_step_are_the_same_made_first_and_made_and_run_at_once() {
    let seed = seed_of_run();
    println!("DIDEROT_SEED={seed}");
    let data = concat!("\"", env!("CARGO_MANIFEST_DIR"), "/../data/");
    let mut joined = 0;
    for n in 0..PROGRAMS {
        let text = program(nth_seed(seed, n), Purpose::OneStep).replace("\"data/", data);
        let options = Options {
            double: n % 4 == 3,
            width: Some(WIDTHS[n as usize % WIDTHS.len()]),
            ..Options::default()
        };
        let source = Source::new("random.diderot", text.clone());
        let program = pipeline::compile(&mut Session::default(), &source, &options);
        let program = program.unwrap_or_else(|stopped| panic!("{stopped:?}\n{text}"));
        joined += u64::from(program.code.has(Role::FirstStep));
        let (kept, streamed) = (outcome(&program, Some(9)), outcome(&program, None));
        assert_eq!(streamed, kept, "DIDEROT_SEED={seed}, program {n}\n{text}");
    }
    println!("{joined} of {PROGRAMS} programs have one function");
    assert!(16 * joined > PROGRAMS, "{joined}");
}
