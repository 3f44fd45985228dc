//! The library: inputs from slices and arrays, steps, outputs while running.

use compiler::library::{
    Compiled, Event, Failure, ImageArray, InputValue, Inputs, Options, Orientation, OutputData,
    Run, RunEnd, Running, attended, compile,
};
use ndarray::Array;
use std::{sync::Arc, time::Duration};

fn program(text: &str, double: bool) -> Compiled {
    let options = Options {
        double,
        ..Options::default()
    };
    compile("test.diderot", text, &options).unwrap_or_else(|errors| panic!("{errors}"))
}

const WALK: &str = "#version 2.0
    input vec2[] seeds (\"starts\");
    input tensor[2,2] turn (\"one step\") = [[0,-1],[1,0]];
    input real[3] weights = {1, 1, 1};
    input bool keep = true;
    input int turns = 6;
    input string name = \"none\";
    strand walk (vec2 seed) {
        output vec2 at = seed;
        output vec2[] path = {};
        int n = 0;
        update {
            at = turn • at * weights[n % 3];
            if (keep) { path = path @ at; }
            n += 1;
            if (n == turns) { print(name, \" \"); stabilize; }
        }
    }
    create_array { walk(s) | s in seeds }";

#[test]
fn inputs_come_from_slices_and_outputs_can_be_read_while_it_runs() {
    for double in [false, true] {
        let program = program(WALK, double);
        let mut inputs = Inputs::of(&program);
        inputs.set("seeds", &[1.0, 0.0, 2.0, 1.0][..]).unwrap();
        inputs.set("weights", vec![1.0, 2.0, 0.5]).unwrap();
        inputs.set("turn", &[0.0, 1.0, -1.0, 0.0][..]).unwrap();
        inputs.set("name", "done").unwrap();
        let mut running = Running::new(&program, &inputs, 2).unwrap();
        let (mut printed, mut steps) = (Vec::new(), 0);
        loop {
            let outputs = running.outputs(true);
            let path = outputs[1].lengths.as_ref().expect("a sequence");
            assert_eq!(path, &[steps; 2]);
            if running.run(Some(1), &mut printed).unwrap() == RunEnd::Finished {
                break;
            }
            steps += 1;
        }
        assert_eq!(running.steps(), 6);
        assert_eq!(String::from_utf8(printed).unwrap(), "done done ");
        let outputs = running.outputs(false);
        // Six quarter turns are half a turn; the weights multiply to one, twice.
        assert_eq!(outputs[0].numbers(), [-1.0, 0.0, -2.0, -1.0]);
        assert_eq!(outputs[1].numbers()[..4], [0.0, -1.0, -2.0, 0.0]);
    }
}

#[test]
fn images_come_from_arrays() {
    let text = "#version 2.0
        input image(2)[2] img (\"a vector image\");
        field#1(2)[2] V = ctmr ⊛ img;
        strand s (int i) {
            output vec2 v = [0, 0];
            output real d = 0;
            update { vec2 p = [2.5 + 0.25*i, 3.0]; v = V(p); d = ∇•V(p); stabilize; }
        }
        create_array { s(i) | i in 0..2 }";
    let program = program(text, true);
    let mut inputs = Inputs::of(&program);
    // At column x and row y, the vector [x y, 3 x + y] on a grid of unit spacing.
    let samples = Array::from_shape_fn((8, 7, 2), |(y, x, c)| {
        let (x, y) = (x as f64, y as f64);
        if c == 0 { x * y } else { 3.0 * x + y }
    });
    let image = ImageArray::new(samples.into_dyn(), Orientation::identity(2));
    inputs.set_image("img", image).unwrap();
    let mut running = Running::new(&program, &inputs, 1).unwrap();
    running.run(None, &mut std::io::sink()).unwrap();
    let outputs = running.outputs(false);
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(near(
        &outputs[0].numbers(),
        &[7.5, 10.5, 8.25, 11.25, 9.0, 12.0]
    ));
    assert!(
        near(&outputs[1].numbers(), &[4.0; 3]),
        "{:?}",
        outputs[1].numbers()
    );
}

#[test]
fn images_that_no_position_is_inside_are_told_after_the_run() {
    let text = "#version 2.0
        input image(2)[] img;
        input real at = 3;
        field#1(2)[] F = ctmr ⊛ img;
        strand s (int i) {
            output real v = 0;
            update { vec2 p = [at, 2 + 0.5*i]; if (inside(p, F)) { v = F(p); } stabilize; }
        }
        create_array { s(i) | i in 0..4 }";
    let program = program(text, false);
    let warnings = |at: f64| {
        let mut inputs = Inputs::of(&program);
        let image = ImageArray::new(
            Array::<f32, _>::zeros((8, 7)).into_dyn(),
            Orientation::identity(2),
        );
        inputs.set_image("img", image).unwrap();
        inputs.set("at", at).unwrap();
        let mut run = Run::new(&program, &inputs, Some(1)).unwrap();
        assert_eq!(run.warnings(), [""; 0], "before the run");
        run.advance(None, &mut std::io::sink()).unwrap();
        run.warnings()
    };
    assert_eq!(warnings(3.0), [""; 0]);
    let expected = "no probe was inside the image `img`; its world box is [0, 6] × [0, 7]";
    assert_eq!(warnings(30.0), [expected]);
}

#[test]
fn wrong_inputs_are_named() {
    let message = |result: Result<(), Failure>| result.expect_err("a wrong input").to_string();
    let program = program(WALK, false);
    let mut inputs = Inputs::of(&program);
    assert!(message(inputs.set("seed", 1.0)).contains("no input `seed`; there are: seeds"));
    assert!(message(inputs.set("seeds", &[1.0, 2.0, 3.0][..])).contains("`seeds`"));
    assert!(message(inputs.set("turn", 1.0)).contains("`turn`"));
    assert!(message(inputs.set("keep", 1)).contains("`keep`"));
    // Integers of this program have 32 bits.
    assert!(message(inputs.set("turns", 1i64 << 40)).contains("`turns`"));
    assert!(message(inputs.set("weights", &[1.0, 2.0][..])).contains("`weights`"));
    let missing = Running::new(&program, &inputs, 1)
        .err()
        .expect("`seeds` is missing");
    assert!(missing.to_string().contains("`seeds`"), "{missing}");
    let program = self::program(WALK, false);
    let mut inputs = Inputs::of(&program);
    inputs
        .set("seeds", InputValue::File("/nowhere/seeds.txt".into()))
        .unwrap();
    let absent = Running::new(&program, &inputs, 1)
        .err()
        .expect("no such file");
    assert!(
        absent.to_string().contains("/nowhere/seeds.txt"),
        "{absent}"
    );
}

#[test]
fn errors_of_a_program_can_be_shown() {
    let errors = compile(
        "bad.diderot",
        "#version 2.0\nint n = 1.5;\n",
        &Options::default(),
    )
    .expect_err("a real is not an int");
    let text = errors.to_string();
    assert!(text.contains("bad.diderot:2:"), "{text}");
}

/// A strand that makes sequences in every step and keeps some of them.
const CHURN: &str = "#version 2.0
    int rounds = 0;
    strand s (int i) {
        output real[] kept = {};
        int n = 0;
        update {
            real[] scratch = { real(k) | k in 0..9 } @ real(n);
            kept = (kept @ scratch[n % 10]) if n % 20 != 0 else { 0.5, 1.5 };
            n += 1;
        }
    }
    update { rounds += 1; int[] also = { k | k in 0..rounds % 5 }; }
    create_collection { s(i) | i in 0..4 }";

#[test]
fn a_million_steps_leave_nothing_behind() {
    let program = program(CHURN, false);
    let inputs = Inputs::of(&program);
    let mut running = Running::new(&program, &inputs, 1).unwrap();
    running.run(Some(1000), &mut std::io::sink()).unwrap();
    let early = running.sequence_bytes();
    // 200,000 super-steps of five strands are a million steps of a strand.
    running.run(Some(199_000), &mut std::io::sink()).unwrap();
    assert_eq!(running.sequence_bytes(), early);
    assert!(
        early <= 5 * 256,
        "{early} bytes for at most 21 numbers of five strands"
    );
}

/// Every strand carries a sequence, makes a strand in its third step, and dies in its fourth.
const GENERATIONS: &str = "#version 2.0
    strand s (real[] carried) {
        output real[] kept = carried;
        int n = 0;
        update {
            n += 1;
            kept = kept @ real(n);
            if (n == 3) { new s({ x + 1 | x in kept }); }
            if (n == 4) { die; }
            if (length(kept) > 40) { kept = {}; }
        }
    }
    create_collection { s({ real(i) }) | i in 0..19 }";

#[test]
fn the_dead_leave_nothing_behind() {
    let program = program(GENERATIONS, true);
    let inputs = Inputs::of(&program);
    let mut running = Running::new(&program, &inputs, 2).unwrap();
    let mut most = 0;
    for _ in 0..300 {
        running.run(Some(10), &mut std::io::sink()).unwrap();
        most = most.max(running.sequence_bytes());
        assert!(running.counts().all() <= 40);
    }
    // A strand keeps its parameter too: two sequences of at most 44 numbers.
    assert!(most <= 40 * 2 * 512, "{most} bytes for 40 strands");
}

/// Strands that go on until they are stopped.
const ENDLESS: &str = "#version 2.0
    strand s (int i) {
        output int n = i;
        update { n += 1; if (n < 0) { stabilize; } }
    }
    create_array { s(i) | i in 0..999 }";

#[test]
fn a_run_that_is_stopped_has_the_values_of_all_strands() {
    let program = program(ENDLESS, false);
    let mut run = Run::new(&program, &Inputs::of(&program), Some(2)).unwrap();
    let control = Arc::clone(run.control());
    let end = attended(
        Duration::from_millis(20),
        |printer| run.advance(None, printer),
        |event| match event {
            Event::Tick => control.stop(),
            Event::Text(_) => {}
        },
    );
    assert_eq!(end, Ok(RunEnd::Stopped));
    let outputs = run.outputs().unwrap().expect("it can be read");
    let numbers = outputs[0].numbers();
    assert_eq!((numbers.len(), run.counts().active), (1000, 1000));
    assert!((0..).zip(&numbers).all(|(i, &n)| n >= f64::from(i)));
}

#[test]
fn a_run_goes_to_its_end_or_step_by_step_with_the_same_result() {
    let program = program(WALK, true);
    let mut inputs = Inputs::of(&program);
    inputs.set("seeds", &[1.0, 0.0, 2.0, 1.0][..]).unwrap();
    let mut at_once = Run::new(&program, &inputs, Some(1)).unwrap();
    let mut printed = Vec::new();
    assert_eq!(at_once.advance(None, &mut printed), Ok(RunEnd::Finished));
    let mut in_steps = Run::new(&program, &inputs, Some(3)).unwrap();
    while !in_steps.is_over() {
        in_steps.advance(Some(1), &mut std::io::sink()).unwrap();
    }
    assert_eq!((at_once.steps(), in_steps.steps()), (6, 6));
    let values = |run: &mut Run| -> Vec<Vec<f64>> {
        let outputs = run.outputs().unwrap().expect("it can be read");
        outputs.iter().map(OutputData::numbers).collect()
    };
    assert_eq!(values(&mut at_once), values(&mut in_steps));
    assert_eq!(printed, b"none none ");
}
