//! The library: inputs from slices and arrays, steps, outputs while running.

use diderot::{
    Config, Domain, End, Engine, Error, Event, FileOptions, InputValue, Observed, Observer,
    OutputData, Program, Rows, Run, attended,
    image::{ImageArray, Orientation},
};
use ndarray::Array;
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

fn program(text: &str, double: bool) -> Program {
    let engine = Engine::new(Config::new().double(double));
    let compiled = engine.compile("test.diderot", text);
    compiled.unwrap_or_else(|error| panic!("{error}"))
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
        let mut inputs = program.new_inputs();
        inputs.set("seeds", &[1.0, 0.0, 2.0, 1.0][..]).unwrap();
        inputs.set("weights", vec![1.0, 2.0, 0.5]).unwrap();
        inputs.set("turn", &[0.0, 1.0, -1.0, 0.0][..]).unwrap();
        inputs.set("name", "done").unwrap();
        let mut running = program.start_on(&inputs, 2).unwrap();
        let (mut printed, mut steps) = (Vec::new(), 0);
        loop {
            let outputs = running.outputs().unwrap();
            let path = outputs[1].lengths.as_ref().expect("a sequence");
            assert_eq!(path, &[steps; 2]);
            if running.advance(Some(1), &mut printed).unwrap() == End::Finished {
                break;
            }
            steps += 1;
        }
        assert_eq!(running.steps(), 6);
        assert_eq!(String::from_utf8(printed).unwrap(), "done done ");
        let outputs = running.outputs().unwrap();
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
    let mut inputs = program.new_inputs();
    // At column x and row y, the vector [x y, 3 x + y] on a grid of unit spacing.
    let samples = Array::from_shape_fn((8, 7, 2), |(y, x, c)| {
        let (x, y) = (x as f64, y as f64);
        if c == 0 { x * y } else { 3.0 * x + y }
    });
    let image = ImageArray::new(samples.into_dyn(), Orientation::identity(2));
    inputs.set_image("img", image).unwrap();
    let mut running = program.start_on(&inputs, 1).unwrap();
    running.advance(None, &mut std::io::sink()).unwrap();
    let outputs = running.outputs().unwrap();
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
        let mut inputs = program.new_inputs();
        let image = ImageArray::new(
            Array::<f32, _>::zeros((8, 7)).into_dyn(),
            Orientation::identity(2),
        );
        inputs.set_image("img", image).unwrap();
        inputs.set("at", at).unwrap();
        let mut run = program.start_on(&inputs, 1).unwrap();
        assert_eq!(run.warnings(), [""; 0], "before the run");
        run.advance(None, &mut std::io::sink()).unwrap();
        run.warnings()
    };
    assert_eq!(warnings(3.0), [""; 0]);
    let expected = "no probe was inside the image `img`; its world box is [0, 6] × [0, 7]; \
        the positions of the probes were in [30, 30] × [2, 4]";
    assert_eq!(warnings(30.0), [expected]);
}

#[test]
fn wrong_inputs_are_named() {
    let message = |result: Result<(), Error>| result.expect_err("a wrong input").to_string();
    let program = program(WALK, false);
    let mut inputs = program.new_inputs();
    assert!(message(inputs.set("seed", 1.0)).contains("no input `seed`; there are: seeds"));
    assert!(message(inputs.set("seeds", &[1.0, 2.0, 3.0][..])).contains("`seeds`"));
    assert!(message(inputs.set("turn", 1.0)).contains("`turn`"));
    assert!(message(inputs.set("keep", 1)).contains("`keep`"));
    // Integers of this program have 32 bits.
    assert!(message(inputs.set("turns", 1i64 << 40)).contains("`turns`"));
    assert!(message(inputs.set("weights", &[1.0, 2.0][..])).contains("`weights`"));
    let missing = program
        .start_on(&inputs, 1)
        .err()
        .expect("`seeds` is missing");
    assert!(missing.to_string().contains("`seeds`"), "{missing}");
    let program = self::program(WALK, false);
    let mut inputs = program.new_inputs();
    inputs
        .set("seeds", InputValue::File("/nowhere/seeds.txt".into()))
        .unwrap();
    let absent = program.start_on(&inputs, 1).err().expect("no such file");
    assert!(
        absent.to_string().contains("/nowhere/seeds.txt"),
        "{absent}"
    );
}

#[test]
fn errors_of_a_program_can_be_shown() {
    let compiled =
        Engine::new(Config::new()).compile("bad.diderot", "#version 2.0\nint n = 1.5;\n");
    let error = compiled.err().expect("a real is not an int");
    let text = error.to_string();
    assert!(text.contains("bad.diderot:2:"), "{text}");
    let diagnostics = error.failure().expect("details").diagnostics();
    assert!(
        diagnostics
            .iter()
            .all(|diagnostic| diagnostic.location.line == 2)
    );
    assert!(matches!(error, Error::Compile(_)) && !diagnostics.is_empty());
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
    let inputs = program.new_inputs();
    let mut running = program.start_on(&inputs, 1).unwrap();
    running.advance(Some(1000), &mut std::io::sink()).unwrap();
    let early = running.sequence_bytes();
    // 200,000 super-steps of five strands are a million steps of a strand.
    running
        .advance(Some(199_000), &mut std::io::sink())
        .unwrap();
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
    let inputs = program.new_inputs();
    let mut running = program.start_on(&inputs, 2).unwrap();
    let mut most = 0;
    for _ in 0..300 {
        running.advance(Some(10), &mut std::io::sink()).unwrap();
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
    let mut run = program.start_on(&program.new_inputs(), 2).unwrap();
    let control = Arc::clone(run.control());
    let end = attended(
        Duration::from_millis(20),
        |printer| run.advance(None, printer),
        |event| match event {
            Event::Tick => control.stop(),
            Event::Text(_) => {}
        },
    );
    assert_eq!(end.unwrap(), End::Stopped);
    let outputs = run.outputs().unwrap();
    let numbers = outputs[0].numbers();
    assert_eq!((numbers.len(), run.counts().active), (1000, 1000));
    assert!((0..).zip(&numbers).all(|(i, &n)| n >= f64::from(i)));
}

#[test]
fn a_run_goes_to_its_end_or_step_by_step_with_the_same_result() {
    let program = program(WALK, true);
    let mut inputs = program.new_inputs();
    inputs.set("seeds", &[1.0, 0.0, 2.0, 1.0][..]).unwrap();
    let mut at_once = program.start_on(&inputs, 1).unwrap();
    let mut printed = Vec::new();
    assert_eq!(at_once.advance(None, &mut printed).unwrap(), End::Finished);
    let mut in_steps = program.start_on(&inputs, 3).unwrap();
    while !in_steps.is_over() {
        in_steps.advance(Some(1), &mut std::io::sink()).unwrap();
    }
    assert_eq!((at_once.steps(), in_steps.steps()), (6, 6));
    let values = |run: &mut Run| -> Vec<Vec<f64>> {
        let outputs = run.outputs().unwrap();
        outputs.iter().map(OutputData::numbers).collect()
    };
    assert_eq!(values(&mut at_once), values(&mut in_steps));
    assert_eq!(printed, b"none none ");
}

/// A picture that grows brighter for four super-steps.
const BRIGHTER: &str = "#version 2.0
    strand s (int row, int col) {
        output real v = (row + col)/16.0;
        int n = 0;
        update { v += 0.1; n += 1; if (n == 4) { stabilize; } }
    }
    create_array { s(row, col) | row in 0..4, col in 0..5 }";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a program to its end with files; gives their names and contents.
fn recorded(name: &str, program: &Program, options: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    let folder = folder(name);
    let mut chosen = FileOptions::new(program);
    for (option, word) in options {
        match *option {
            "output" => chosen.set(None, option, folder.join(word)).unwrap(),
            _ => chosen.set(None, option, word).unwrap(),
        };
    }
    let mut run = program.start(&program.new_inputs()).unwrap();
    assert_eq!(run.record(&chosen).unwrap(), [""; 0]);
    assert_eq!(run.advance(None, &mut io::sink()).unwrap(), End::Finished);
    let written: Vec<String> = run.written().iter().map(|w| w.file.to_string()).collect();
    assert!(!written.is_empty());
    // Streamed values can be read, too.
    assert_eq!(run.outputs().unwrap()[0].numbers().len(), 30);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn results_snapshots_and_films_are_written_while_a_run_goes_on() {
    let program = program(BRIGHTER, false);
    let result = recorded("result", &program, &[("output", "v.nrrd")]);
    let names: Vec<&str> = result.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["v.nrrd"]);
    // The same bytes whether strands are streamed or kept for snapshots.
    let both = recorded(
        "snapshots",
        &program,
        &[("output", "v.nrrd"), ("snapshot", "3")],
    );
    let names: Vec<&str> = both.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        names,
        ["v-0000.nrrd", "v-0003.nrrd", "v-0004.nrrd", "v.nrrd"]
    );
    assert_eq!(both[3], result[0]);
    assert_eq!(both[2].1, result[0].1);
    let film = recorded(
        "film",
        &program,
        &[("output", "v.y4m"), ("snapshot", "2"), ("fps", "5")],
    );
    let frames = film[0].1.windows(5).filter(|bytes| bytes == b"FRAME");
    assert_eq!(frames.count(), 3, "before, after the second and the fourth");
}

#[test]
fn files_that_cannot_be_written_are_reported_before_the_first_strand() {
    let program = program(BRIGHTER, false);
    let mut run = program.start(&program.new_inputs()).unwrap();
    let mut options = FileOptions::new(&program);
    options
        .set(Some("v"), "output", "no/such/folder/v.nrrd")
        .unwrap();
    assert!(matches!(run.record(&options), Err(Error::Files(problems)) if problems.len() == 1));
    let unknown = options
        .set(None, "colour", "red")
        .err()
        .map(|e| e.to_string());
    assert!(unknown.is_some_and(|text| text.contains("there are output, snapshot")));
}

/// Writes down its calls.
#[derive(Default)]
struct Diary {
    period: Option<u64>,
    seen: Vec<String>,
    rows: Heap,
}

/// The bytes of an output, as they came.
#[derive(Default)]
struct Heap(Mutex<Vec<(usize, Vec<u8>)>>);

impl Rows for Heap {
    fn take(&self, output: usize, before: usize, values: &[u8]) {
        assert_eq!(output, 0);
        self.0.lock().unwrap().push((before, values.to_vec()));
    }

    fn is_last(&self, _: usize) -> bool {
        true
    }
}

impl Observer for Diary {
    fn period(&self) -> Option<u64> {
        self.period
    }

    fn streams(&mut self, _: &Observed) {
        self.seen.push("streams".to_string());
    }

    fn rows(&self) -> Option<&dyn Rows> {
        Some(&self.rows)
    }

    fn created(&mut self, run: &Observed) -> Result<(), String> {
        self.seen.push(format!("created, kept: {}", run.keeps()));
        Ok(())
    }

    fn stepped(&mut self, run: &Observed) -> Result<(), String> {
        self.seen.push(format!("step {}", run.steps()));
        Ok(())
    }

    fn ended(&mut self, run: &Observed, end: End) -> Result<(), String> {
        self.seen.push(format!("{end:?} after {}", run.steps()));
        Ok(())
    }
}

#[test]
fn observers_see_a_run_on_its_way() {
    let program = program(BRIGHTER, true);
    let mut run = program.start_on(&program.new_inputs(), 2).unwrap();
    assert_eq!(run.domain(), &Domain::Grid(vec![5, 6]));
    let mut diary = Diary::default();
    run.observed(None, &mut io::sink(), &mut diary).unwrap();
    assert_eq!(
        diary.seen,
        ["streams", "created, kept: false", "Finished after 4"]
    );
    let mut rows = diary.rows.0.into_inner().unwrap();
    rows.sort();
    let bytes: Vec<u8> = rows.into_iter().flat_map(|(_, bytes)| bytes).collect();
    let streamed: Vec<f64> = bytes
        .as_chunks()
        .0
        .iter()
        .map(|n| f64::from_ne_bytes(*n))
        .collect();
    // The run itself kept nothing of what the observer took.
    assert!(run.outputs().is_err());

    let mut run = program.start_on(&program.new_inputs(), 2).unwrap();
    let mut diary = Diary {
        period: Some(3),
        ..Diary::default()
    };
    run.observed(None, &mut io::sink(), &mut diary).unwrap();
    let expected = [
        "created, kept: true",
        "step 0",
        "step 3",
        "Finished after 4",
    ];
    assert_eq!(diary.seen, expected);
    assert_eq!(run.outputs().unwrap()[0].numbers(), streamed);
}

#[test]
fn a_recording_does_not_depend_on_the_steps_of_its_calls() {
    let program = program(BRIGHTER, false);
    let at_once = recorded(
        "at-once",
        &program,
        &[("output", "v.nrrd"), ("snapshot", "3")],
    );
    let folder = folder("one-by-one");
    let mut options = FileOptions::new(&program);
    options.set(None, "output", folder.join("v.nrrd")).unwrap();
    options.set(None, "snapshot", "3").unwrap();
    let mut run = program.start(&program.new_inputs()).unwrap();
    run.record(&options).unwrap();
    assert!(matches!(run.finish_recording(), Err(Error::Misuse(_))));
    while run.advance(Some(1), &mut io::sink()).unwrap() == End::StepLimit {}
    assert_eq!(run.written().len(), 1);
    let found = fs::read_dir(&folder).unwrap().count();
    assert_eq!(found, at_once.len());
    for (name, bytes) in at_once {
        assert_eq!(fs::read(folder.join(&name)).unwrap(), bytes, "{name}");
    }
    // Strands whose creation was not observed have no recorded places.
    let mut run = program.start(&program.new_inputs()).unwrap();
    run.create().unwrap();
    assert!(matches!(run.record(&options), Err(Error::Misuse(_))));
}
