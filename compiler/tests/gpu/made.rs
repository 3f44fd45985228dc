//! Strands that are made on the machine, run there and are forgotten.

use super::{machine::Interpreter, stages::Case};
use compiler::{
    codegen::{Target, gpu::Kernel},
    front::source::Source,
    pipeline::Options,
    run::{Images, Inputs, Run},
};
use std::sync::{Arc, atomic::Ordering::Relaxed};

const PROGRAM: &str = "#version 2.0
input int size = 13;
input vec2 from = [0.25, -1.5];
input string kind = \"even\";
strand S (int i, int j) {
    output vec2 at = from + [0.5*i, sqrt(|real(j)|)];
    int n = (-i if i < 0 else i);
    output int count = (i + j) % 5;
    output bool even = j % 2 == 0;
    bool odd = (\"odd\" if i % 2 == 1 else kind) == \"odd\";
    update {
        at += [0.125, (1 if odd else -1)];
        n -= 1;
        count += 1;
        // DIE
        // TURN
        if (n <= 0) { even = (count % 3 == 0); stabilize; }
    }
}
create_array { S(i, j) | j in -2..size, i in -3..22 }
";

/// Outputs as numbers, printed text, super-steps, and what became of the strands.
type Results = (Vec<(String, Vec<f64>)>, String, u64, [u64; 3]);

fn results(text: &str, options: &Options, machine: Option<&Arc<Interpreter>>) -> Results {
    let case = Case::new(Source::new("made.diderot", text.to_string()));
    let mut program = super::compiled(&case, options);
    program.machines = machine
        .map(|machine| machine.clone() as _)
        .into_iter()
        .collect();
    let mut run = Run::new(&program, &Inputs::of(&program), 1).expect("a run");
    let mut printed = Vec::new();
    run.run(None, &mut printed, &mut []).expect("an end");
    let outputs = run.outputs().expect("outputs").into_iter();
    let outputs = outputs.map(|data| (data.output.name.clone(), data.numbers()));
    let counts = run.counts();
    (
        outputs.collect(),
        String::from_utf8(printed).expect("text"),
        run.steps(),
        [counts.active, counts.stable, counts.dead],
    )
}

/// Runs a program on the CPU and on a machine, in both precisions, and compares.
fn compare(text: &str, machine: impl Fn() -> Interpreter, check: impl Fn(&Interpreter)) {
    for double in [false, true] {
        let cpu = Options {
            double,
            ..Options::default()
        };
        let gpu = Options {
            target: Target::Cuda,
            ..cpu.clone()
        };
        let machine = Arc::new(machine());
        let expected = results(text, &cpu, None);
        assert_eq!(
            results(text, &gpu, Some(&machine)),
            expected,
            "double: {double}"
        );
        assert!(machine.is_empty(), "memory is left");
        check(&machine);
    }
}

fn dying() -> String {
    let text = PROGRAM.replace("create_array", "create_collection");
    text.replace("// DIE", "if (count > 9) { die; }")
}

#[test]
fn strands_are_made_on_the_machine_and_only_their_outputs_come_back() {
    compare(PROGRAM, Interpreter::default, |machine| {
        assert_eq!(machine.runs_of(Kernel::CREATE), 1);
        // The state has nine numbers, the outputs four, and each strand has a rank. Fates stay there, as all strands are stable.
        let strands = 15 * 26;
        let [to, from] = [&machine.written, &machine.read].map(|bytes| bytes.load(Relaxed));
        assert!(to < strands * 8, "{to} bytes to the machine");
        assert!(
            from < strands * (4 * 8 + 4),
            "{from} bytes from the machine"
        );
    });
}

#[test]
fn strands_that_were_made_on_the_machine_may_die() {
    compare(&dying(), Interpreter::default, |machine| {
        assert_eq!(machine.runs_of(Kernel::CREATE), 1);
    });
}

#[test]
fn strands_that_the_machine_leaves_run_here_from_their_beginning() {
    // The angle is too large for the machine.
    let turn = "if (count == 4 && i % 3 == 0) { at += [sin(1.0e30*at[0]), 0]; }";
    for text in [PROGRAM.to_string(), dying()] {
        let text = text.replace("// TURN", turn);
        compare(&text, Interpreter::default, |machine| {
            assert_eq!(machine.runs_of(Kernel::CREATE), 1);
            let left = machine.left.load(Relaxed);
            assert!(0 < left && left < 15 * 26 / 2, "{left} are left");
        });
    }
}

#[test]
fn strands_that_print_and_end_at_once_are_left() {
    let text = "#version 2.0
strand S (int i) {
    output real x = 0.5*i;
    update { if (i % 7 == 3) { print(\"strand \", i, \" has \", x, \"\\n\"); } x = x*x; stabilize; }
}
create_array { S(i) | i in 0..40 }
";
    compare(text, Interpreter::default, |machine| {
        assert_eq!(machine.runs_of(Kernel::CREATE), 1);
        assert_eq!(machine.left.load(Relaxed), 6);
    });
}

#[test]
fn strands_may_be_made_a_few_at_a_time() {
    for few in [1, 40, 300] {
        let machine = || Interpreter::default().with_few(few);
        compare(&dying(), machine, |machine| {
            assert!(machine.runs_of(Kernel::CREATE) > 1);
        });
    }
}

#[test]
fn a_machine_that_is_lost_leaves_all_strands_to_the_cpu() {
    for launches in 0..5 {
        compare(PROGRAM, || Interpreter::lost_after(launches), |_| {});
    }
    for reads in 0..4 {
        compare(&dying(), || Interpreter::lost_after_reads(reads), |_| {});
    }
}

#[test]
fn other_runs_with_the_same_images_find_the_places_of_strands_there() {
    let case = Case::new(Source::new("made.diderot", PROGRAM.to_string()));
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    let machine = Arc::new(Interpreter::default());
    let mut program = super::compiled(&case, &options);
    program.machines = vec![machine.clone()];
    let images = Images::load(&program, &Inputs::of(&program)).expect("no images");
    let mut written = Vec::new();
    for size in [13i64, 13, 9] {
        let mut inputs = Inputs::of(&program);
        inputs.set("size", size).expect("an input");
        let before = machine.written.load(Relaxed);
        let run = Run::with_images(&program, &inputs, &images, &1.into());
        run.expect("a run")
            .run(None, &mut std::io::sink(), &mut [])
            .expect("an end");
        written.push(machine.written.load(Relaxed) - before);
    }
    let ranks = 4 * 15 * 26;
    assert!(
        written[0] > ranks && written[1] < ranks && written[2] > ranks / 2,
        "{written:?}"
    );
}

/// What a creation may read of images and sequences stays on the CPU, which hands the states on.
#[test]
fn strands_that_the_machine_cannot_make_are_sent_there() {
    let text = PROGRAM
        .replace(
            "input int size",
            "int[] primes = {2, 3, 5, 7, 11, 13, 17};\ninput int size",
        )
        .replace(
            "output int count = (i + j) % 5",
            "output int count = primes[(i + j + 5) % 7]",
        );
    compare(&text, Interpreter::default, |machine| {
        assert_eq!(machine.runs_of(Kernel::CREATE), 0);
        assert!(machine.launches.load(Relaxed) > 0);
    });
}
