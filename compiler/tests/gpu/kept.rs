//! Outputs that stay on the machine.

use super::{compiled, machine::Interpreter, stages::Case};
use compiler::{
    codegen::{Target, gpu::Machine},
    front::source::Source,
    pipeline::{Compiled, Options},
    run::{ImageSource, Inputs, LastImages, Run},
};
use ndarray::{ArrayD, IxDyn};
use runtime::image::{ImageArray, Orientation};
use std::sync::{Arc, atomic::Ordering::Relaxed};

const PROGRAM: &str = "#version 2.0
strand S (int i, int j) {
    output vec3 v = [0, 0, 0];
    int n = 0;
    output int count = 0;
    output bool even = false;
    real unseen = 0.5*i;
    real hidden = 0.25*j;
    real more = i - j;
    update {
        n += 1;
        v += [unseen, hidden*n, more/(n + 1)];
        // DIE
        if (n > i % 5) { count = n; even = j % 2 == 0; stabilize; }
    }
}
create_array { S(i, j) | j in 0..6, i in 0..22 }
";

fn run(options: &Options, machine: Option<Arc<dyn Machine>>, dies: bool, keeps: bool) -> Run {
    let text = match dies {
        true => PROGRAM
            .replace("// DIE", "if (n > 3) { die; }")
            .replace("create_array", "create_collection"),
        false => PROGRAM.to_string(),
    };
    let case = Case::new(Source::new("kept.diderot", text));
    let mut program = compiled(&case, options);
    program.machines = machine.into_iter().collect();
    let mut run = Run::new(&program, &Inputs::of(&program), 1).expect("a run");
    if keeps {
        run.keep_on_device();
    }
    run.run(None, &mut std::io::sink(), &mut [])
        .expect("an end");
    run
}

fn numbers(run: &Run) -> Vec<(String, Vec<f64>)> {
    let outputs = run.outputs().expect("outputs").into_iter();
    let named = outputs.map(|data| (data.output.name.clone(), data.numbers()));
    named.collect()
}

#[test]
fn outputs_stay_on_the_machine_and_come_back_when_they_are_asked_for() {
    for double in [false, true] {
        let cpu = Options {
            double,
            ..Options::default()
        };
        let gpu = Options {
            target: Target::Cuda,
            ..cpu.clone()
        };
        let expected = numbers(&run(&cpu, None, false, false));
        let machine = Arc::new(Interpreter::default());
        let kept = run(&gpu, Some(machine.clone()), false, true);
        let outputs = kept.device_outputs().expect("outputs on the machine");
        assert_eq!(numbers(&kept), expected);
        for (output, (name, expected)) in outputs.iter().zip(&expected) {
            assert_eq!(&output.output.name, name);
            assert_eq!(output.sizes()[..2], [7, 23]);
            let bytes = output.number_bytes();
            assert_eq!(bytes, if double { 8 } else { 4 });
            // As another library would find it.
            let mut all = vec![0; expected.len() * bytes];
            machine.read(output.address(), &mut all).expect("numbers");
            let found = all
                .chunks(bytes)
                .map(|bytes| match (output.is_real(), bytes) {
                    (true, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
                    (false, &[a, b, c, d]) => i32::from_le_bytes([a, b, c, d]).into(),
                    (true, bytes) => f64::from_le_bytes(bytes.try_into().expect("8 bytes")),
                    (false, bytes) => i64::from_le_bytes(bytes.try_into().expect("8 bytes")) as f64,
                });
            // Truth values have all bits or none.
            let found = found.map(|x| if name == "even" { x.abs() } else { x });
            assert_eq!(found.collect::<Vec<f64>>(), *expected, "{name}");
            assert_eq!(output.read(), Ok(all), "{name}");
        }
        // The memory is there as long as an output is.
        drop(kept);
        assert!(outputs[0].read().is_ok());
        drop(outputs);
        assert!(machine.is_empty(), "memory is left");
    }
}

#[test]
fn outputs_of_strands_that_die_come_back() {
    let gpu = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    let expected = numbers(&run(&Options::default(), None, true, false));
    let machine = Arc::new(Interpreter::default());
    let came_back = run(&gpu, Some(machine), true, true);
    assert!(came_back.device_outputs().is_none());
    assert_eq!(numbers(&came_back), expected);
}

/// Images of the same samples are copied once for all runs of a program; others are copied.
#[test]
fn images_stay_on_the_machine_from_run_to_run() {
    let text = "#version 2.0
input image(2)[] img;
input real level = 0.25;
field#1(2)[] F = ctmr ⊛ img;
strand S (int i) {
    output real x = 0;
    update { if (inside([0.1*i, 3], F)) { x = F([0.1*i, 3]) - level; } stabilize; }
}
create_array { S(i) | i in 0..40 }
";
    let case = Case::new(Source::new("images.diderot", text.to_string()));
    let image = |scale: f64| {
        let samples = (0..64).map(|n| scale * f64::from(n * n % 17)).collect();
        let samples = ArrayD::from_shape_vec(IxDyn(&[8, 8]), samples).expect("all samples");
        let axes = [vec![1.0, 0.0], vec![0.0, 1.0]];
        let orientation = Orientation::new(&axes, &[0.0; 2]).expect("a grid");
        ImageSource::Array(ImageArray::new(samples, orientation))
    };
    for double in [false, true] {
        let cpu = Options {
            double,
            ..Options::default()
        };
        let gpu = Options {
            target: Target::Cuda,
            ..cpu.clone()
        };
        let machine = Arc::new(Interpreter::default());
        let mut program = compiled(&case, &gpu);
        program.machines = vec![machine.clone()];
        let last = LastImages::default();
        let mut written = 0;
        for (scale, level, are_copied) in [
            (1.0, 0.25, true),
            (1.0, 0.5, false),
            (1.0, 0.5, false),
            (2.0, 0.5, true),
            (1.0, 0.5, true),
        ] {
            let run = |program: &Compiled, last: &LastImages| {
                let mut inputs = Inputs::of(program);
                inputs.set("level", level).expect("an input");
                inputs.set_source(0, image(scale));
                let mut run = Run::after(last, program, &inputs, &1.into()).expect("a run");
                run.run(None, &mut std::io::sink(), &mut [])
                    .expect("an end");
                numbers(&run)
            };
            let found = run(&program, &last);
            assert_eq!(found, run(&compiled(&case, &cpu), &LastImages::default()));
            let now = machine.written.load(Relaxed);
            let samples = 64 * if double { 8 } else { 4 };
            assert_eq!(now - written >= samples, are_copied, "{scale}, {level}");
            written = now;
        }
        drop((last, program));
        assert!(machine.is_empty(), "memory is left");
    }
}
