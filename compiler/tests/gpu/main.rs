//! Programs on a GPU that is none: what the compiler prints for NVIDIA GPUs is read, checked and run by an interpreter, by
//! the same launches and copies, and gives the bits of the CPU.

#[cfg(unix)]
mod c;
mod contact;
mod errors;
mod events;
mod kept;
mod machine;
mod made;
mod meshes;
mod near;
#[path = "../random/program/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod program;
mod ptx;
mod ranks;
mod reduced;
mod sequences;
#[path = "../stages/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod stages;
mod steps;
#[path = "../time/cases.rs"]
mod time;

use compiler::{
    codegen::{
        Target,
        gpu::{Cuda, Machine},
    },
    device::Construct,
    front::source::Source,
    pipeline::{self, Compiled, Options, Session},
    run::{ImageSource, Images, Inputs, Run},
};
use machine::Interpreter;
use program::Purpose;
use runtime::image::{ImageArray, Orientation};
use stages::{Case, programs, read};
use std::sync::{Arc, atomic::Ordering::Relaxed};

fn compiled(case: &Case, options: &Options) -> Compiled {
    pipeline::compile(&mut Session::default(), &case.source, options)
        .unwrap_or_else(|e| panic!("{}: {e:?}", case.name))
}

/// Runs a case on both and compares; says whether it ran on the machine.
fn agrees(case: &Case, options: &Options) -> bool {
    let machine = Arc::new(Interpreter::default());
    compare(case, options, machine.clone());
    assert!(machine.is_empty(), "{}: memory is left", case.name);
    machine.launches.load(Relaxed) > 0
}

/// Runs a case on the CPU and on a machine, and compares.
fn compare(case: &Case, options: &Options, machine: Arc<dyn Machine>) {
    let options = Options {
        target: Target::Cuda,
        ..options.clone()
    };
    let mut program = compiled(case, &options);
    let cpu = case.run(
        &Options {
            target: Target::Cpu,
            ..options.clone()
        },
        1,
    );
    program.machines = vec![machine];
    let gpu = case.finish(case.begin(program, 1));
    case.assert_same_bits(&gpu, &cpu);
}

/// All programs of a folder, in both precisions.
fn folder(folder: &str, at_least: usize) {
    let mut ran = 0;
    for path in programs(folder) {
        let mut case = Case::new(read(&path));
        case.ints = vec![
            ("size", 5),
            ("xres", 4),
            ("yres", 4),
            ("res", 4),
            ("count", 2),
        ];
        for double in [false, true] {
            let options = Options {
                double,
                ..Options::default()
            };
            ran += usize::from(agrees(&case, &options));
        }
    }
    assert!(ran >= at_least, "only {ran} runs on the machine");
}

#[test]
fn checks_give_the_same_bits() {
    folder("programs/checks", 100);
}

#[test]
fn generators_give_the_same_bits() {
    folder("programs/synth", 10);
}

/// How often a kernel loads samples: one of a precision, or two or four at once.
#[derive(Debug, PartialEq)]
struct Loads {
    single: usize,
    double: usize,
    pairs: usize,
    fours: usize,
}

/// If several components of an image are read, each sample takes one load or a few; the checks compare the bits.
#[test]
fn components_that_are_read_lie_side_by_side() {
    let loads = |shape: &str, read: &str, double: bool| {
        let text = format!(
            "#version 2.0
input image(2){shape} img;
field#0(2){shape} F = img ⊛ tent;
strand s (int i) {{ output real x = 0; update {{ if (inside([i, 0], F)) {{ x = {read}; }} stabilize; }} }}
create_array {{ s(i) | i in 0..9 }}
"
        );
        let case = Case::new(Source::new("beside.diderot", text));
        let options = Options {
            target: Target::Cuda,
            double,
            ..Options::default()
        };
        let kernel = compiled(&case, &options).kernel.expect("asked for");
        let kernel = kernel.expect("for a GPU");
        let of = |form: &str| kernel.text.matches(form).count();
        let packs = kernel.packs.iter().map(|pack| pack.components.clone());
        let loads = Loads {
            single: of(".nc.f32"),
            double: of(".nc.f64"),
            pairs: of(".nc.v2"),
            fours: of(".nc.v4"),
        };
        (packs.collect::<Vec<_>>(), loads)
    };
    const NONE: Loads = Loads {
        single: 0,
        double: 0,
        pairs: 0,
        fours: 0,
    };
    let single = |single, pairs, fours| Loads {
        single,
        pairs,
        fours,
        ..NONE
    };
    // The entry point that puts samples side by side reads them one by one.
    let three = "|F([i, 0])|";
    assert_eq!(
        loads("[3]", three, false),
        (vec![vec![0, 1, 2]], single(1, 0, 4))
    );
    assert_eq!(
        loads("[3]", three, true),
        (
            vec![vec![0, 1, 2]],
            Loads {
                double: 1,
                pairs: 8,
                ..NONE
            }
        )
    );
    assert_eq!(
        loads("[2]", three, false),
        (vec![vec![0, 1]], single(1, 4, 0))
    );
    let one = "F([i, 0])[1]";
    assert_eq!(loads("[3]", one, false), (vec![], single(4, 0, 0)));
    let two = "F([i, 0])[2] + F([i, 0])[0]";
    assert_eq!(
        loads("[3]", two, false),
        (vec![vec![0, 2]], single(1, 4, 0))
    );
    let five = "trace(F([i, 0])) + F([i, 0])[0,2] + F([i, 0])[2,0]";
    let read = vec![vec![0, 2, 4, 6, 8]];
    assert_eq!(loads("[3,3]", five, false), (read, single(1, 0, 8)));
}

/// Other programs in every run; `DIDEROT_SEED` chooses them.
/// A program that is printed only if something is wrong with it.
struct ShownInPanic<'a>(&'a str);

impl Drop for ShownInPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.0);
        }
    }
}

#[test]
fn random_programs_give_the_same_bits() {
    const PROGRAMS: u64 = 100;
    let seed = program::seed_of_run();
    println!("DIDEROT_SEED={seed}");
    let mut ran = 0;
    for n in 0..PROGRAMS {
        let text = program::program(program::nth_seed(seed, n), Purpose::Gpu);
        let _shown = ShownInPanic(&text);
        let mut case = Case::new(Source::new(format!("random-{n}.diderot"), &text));
        case.limit = program::STEPS;
        let options = Options {
            double: n % 2 == 1,
            ..Options::default()
        };
        ran += u64::from(agrees(&case, &options));
    }
    assert!(ran > PROGRAMS / 2, "only {ran} runs on the machine");
}

#[test]
fn integers_of_64_bits_give_the_same() {
    let text = "#version 2.0
strand s (int i) {
    int factor = (i - 3)*65537;
    output int p = 1;
    output int q = 0;
    output int odds = 0;
    bool odd = false;
    int n = 0;
    update {
        p = p*factor;
        q = p / (i + 1) + p % 7;
        if (odd) { odds += 1; }
        odd = p % 2 == 1;
        n += 1;
        if (n == 3) stabilize;
    }
}
create_array { s(i) | i in 0..20 }
";
    let mut case = Case::new(Source::new("long.diderot", text));
    for (long_int, double) in [(false, false), (false, true), (true, false), (true, true)] {
        case.long_int = long_int;
        let options = Options {
            long_int,
            double,
            ..Options::default()
        };
        assert!(agrees(&case, &options));
    }
}

/// The kernels printed as C do the same, compiled by the C compiler of this machine.
#[cfg(unix)]
#[test]
fn kernels_in_c_give_the_same_bits() {
    let names = [
        "math",
        "eigen2",
        "eigen3",
        "borders",
        "border-constant",
        "kernels",
        "image-tensors",
        "int-division",
        "strings",
        "conditionals",
        "count-strands",
        "methods",
    ];
    let file = |name: &str| stages::root().join(format!("programs/checks/{name}.diderot"));
    let mut cases: Vec<Case> = names.iter().map(|n| Case::new(read(&file(n)))).collect();
    let mut mixed = Case::new(Source::new("mixed.diderot", MIXED));
    mixed.limit = 5000;
    cases.push(mixed);
    let mut launches = 0;
    for (n, case) in cases.iter().enumerate() {
        let options = Options {
            double: n % 2 == 1,
            ..Options::default()
        };
        let machine = Arc::new(c::Compiler::default());
        compare(case, &options, machine.clone());
        launches += machine.launches.load(Relaxed);
    }
    assert!(launches >= cases.len(), "only {launches} launches");
}

/// Strands that take different numbers of steps. Some die, and the machine leaves some to the CPU, because of a huge argument of a
/// sine.
const MIXED: &str = "#version 2.0
strand s (int i) {
    real x = i;
    output real y = 0;
    output int steps = 0;
    start { if (i == 3) stabilize; }
    update {
        steps += 1;
        y += sin(x);
        if (i % 7 == 5) { x = x*1000; }
        if (i % 11 == 10 && steps > 2) die;
        if (steps > 30*i) stabilize;
    }
    stabilize { y = y*2; }
}
create_collection { s(i) | i in 0..99 }
";

#[test]
fn strands_that_the_machine_leaves_are_run_by_the_cpu() {
    let mut case = Case::new(Source::new("mixed.diderot", MIXED));
    // Several launches.
    case.limit = 5000;
    for double in [false, true] {
        let options = Options {
            double,
            ..Options::default()
        };
        assert!(agrees(&case, &options));
    }
}

#[test]
fn limits_stop_strands_where_the_cpu_stops_them() {
    for limit in [1, 2, 40, 200] {
        let mut case = Case::new(Source::new("mixed.diderot", MIXED));
        case.limit = limit;
        assert!(agrees(&case, &Options::default()));
    }
}

#[test]
fn a_machine_that_is_lost_loses_nothing() {
    let mut case = Case::new(Source::new("mixed.diderot", MIXED));
    case.limit = 5000;
    let cpu = case.run(&Options::default(), 1);
    for target in [Target::Cuda, Target::CudaOnly] {
        let options = Options {
            target,
            ..Options::default()
        };
        let mut program = compiled(&case, &options);
        program.machines = vec![Arc::new(Interpreter::lost_after(0))];
        let mut running = case.begin(program, 1);
        let end = running.run(None, &mut std::io::sink(), &mut []);
        if target == Target::CudaOnly {
            let failure = end.expect_err("an error");
            assert_eq!(failure.to_string(), "running on the GPU: it is lost");
            assert!(failure.hints[0].contains("CPU"), "{failure:?}");
        } else {
            end.expect("the CPU finishes it");
            assert_eq!(running.troubles().len(), 1);
            assert_eq!(
                running.outputs().expect("strands")[1].numbers(),
                cpu.outputs[1].1
            );
        }
    }
}

#[test]
fn several_machines_share_the_strands() {
    let mut case = Case::new(Source::new("mixed.diderot", MIXED));
    case.limit = 5000;
    let cpu = case.run(&Options::default(), 1);
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    for lost in [None, Some(0), Some(2)] {
        let machine = |n: usize| match lost == Some(n) {
            true => Interpreter::lost_after(0).with_few(16),
            false => Interpreter::default().with_few(16),
        };
        let machines: Vec<Arc<Interpreter>> = (0..3).map(|n| Arc::new(machine(n))).collect();
        let mut program = compiled(&case, &options);
        let all = machines
            .iter()
            .map(|machine| machine.clone() as Arc<dyn Machine>);
        program.machines = all.collect();
        let mut running = case.begin(program, 1);
        running
            .run(None, &mut std::io::sink(), &mut [])
            .expect("what a machine has not done, the CPU does");
        assert_eq!(running.troubles().len(), usize::from(lost.is_some()));
        let outputs = running.outputs().expect("strands");
        let bits = |numbers: &[f64]| -> Vec<u64> { numbers.iter().map(|x| x.to_bits()).collect() };
        for (n, (name, numbers)) in cpu.outputs.iter().enumerate() {
            assert_eq!(bits(&outputs[n].numbers()), bits(numbers), "{name}");
        }
        drop(outputs);
        drop(running);
        for (n, machine) in machines.iter().enumerate() {
            assert!(machine.launches.load(Relaxed) > 0, "machine {n}");
            assert!(machine.is_empty(), "memory of machine {n} is left");
        }
    }
}

/// The sizes of images are numbers in the text that a machine gets.
#[test]
fn kernels_know_the_sizes_of_images() {
    let mut case = Case::new(Source::new(
        "sizes.diderot",
        "#version 2.0
input image(2)[] img;
field#0(2)[] F = tent ⊛ img;
strand s (int i) { output real x = 0; update { x = F([0.75*i, 0.5]); stabilize; } }
create_array { s(i) | i in 0..9 }",
    ));
    let sizes = [7, 11];
    let samples =
        ndarray::ArrayD::from_shape_fn(sizes.to_vec(), |at| (at[0] * at[0] + at[1]) as f32);
    let image = ImageArray::new(samples, Orientation::identity(2));
    case.images = vec![ImageSource::Array(image)];
    let machine = Arc::new(Interpreter::default());
    compare(&case, &Options::default(), machine.clone());
    let text = machine.text();
    assert!(!text.is_empty());
    // One less than the sizes is where the last cells end.
    for number in ["0f40C00000", "0f41200000"] {
        assert!(text.contains(number), "{number}: {text}");
    }
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    let program = compiled(&case, &options);
    let general = program.kernel.expect("a kernel was asked for");
    let general = general.expect("the program has a kernel");
    let loads = |text: &str| text.matches("ld.param").count();
    assert!(loads(&text) < loads(&general.text), "{text}");
}

#[test]
fn a_machine_that_is_lost_while_results_are_copied_loses_nothing() {
    // Values of two parts: one may be here already when the other never comes.
    let text = "#version 2.0
strand s (int i) { output vec3 x = [0, 0, 0]; update { x += [0.5 + i, 0.25 - i, 1.5*i]; stabilize; } }
create_array { s(i) | i in 0..99999 }";
    let case = Case::new(Source::new("many.diderot", text));
    let cpu = case.run(&Options::default(), 1);
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    // The word that says whether strands go on, then the fates, then the parts.
    for reads in 1..4 {
        let mut program = compiled(&case, &options);
        program.machines = vec![Arc::new(Interpreter::lost_after_reads(reads))];
        let mut running = case.begin(program, 1);
        let end = running.run(None, &mut std::io::sink(), &mut []);
        end.expect("the CPU finishes it");
        assert_eq!(running.troubles().len(), 1, "{reads}");
        assert_eq!(
            running.outputs().expect("strands")[0].numbers(),
            cpu.outputs[0].1
        );
    }
}

#[test]
fn what_only_the_cpu_does_is_named() {
    let text = "#version 2.0
strand s (int i) {
    output vec2 pos = [i, 0];
    output int q = 0;
    update { int[] seen = {}; foreach (s o in sphere(1.5)) { seen @= 1; } q = length(seen); stabilize; }
}
create_collection { s(i) | i in 0..2 }
";
    let case = Case::new(Source::new("lists.diderot", text));
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    let kernel = compiled(&case, &options).kernel;
    let reason = kernel.expect("asked for").expect_err("not for a GPU");
    assert_eq!(reason.construct, Construct::Sequences);
    let place = reason.place.expect("a place");
    assert_eq!(case.source.line_of(place), "lists.diderot:5");
}

#[test]
fn without_a_driver_the_message_names_what_was_looked_for() {
    // On a machine that has one there is nothing to see.
    if let Err(error) = Cuda::devices()
        && error.what.contains("not found")
    {
        assert!(error.to_string().contains("NVIDIA driver"), "{error}");
    }
}

/// Runs with the same images copy the samples to the machine once.
#[test]
fn runs_that_share_images_copy_them_once() {
    let mut case = Case::new(Source::new(
        "shared.diderot",
        "#version 2.0
input image(2)[] img;
input real at = 0.5;
field#0(2)[] F = tent ⊛ img;
strand s (int i) { output real x = 0; update { x = F([0.75*i, at]); stabilize; } }
create_array { s(i) | i in 0..9 }",
    ));
    let samples = ndarray::ArrayD::from_shape_fn(vec![64, 50], |at| (at[0] * at[0] + at[1]) as f32);
    let bytes = samples.len() * size_of::<f32>();
    let image = ImageArray::new(samples, Orientation::identity(2));
    case.images = vec![ImageSource::Array(image)];
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    let machine = Arc::new(Interpreter::default());
    let mut program = compiled(&case, &options);
    program.machines = vec![machine.clone()];
    let mut inputs = Inputs::of(&program);
    inputs.set_source(0, case.images[0].clone());
    let images = Images::load(&program, &inputs).expect("the image");
    for (run, at) in [0.5, 7.25, 30.0].into_iter().enumerate() {
        inputs.set("at", at).expect("a number");
        case.reals = vec![("at", at)];
        let before = machine.written.load(Relaxed);
        let running = Run::with_images(&program, &inputs, &images, &1.into()).expect("a run");
        let found = case.finish(running);
        case.assert_same_bits(&found, &case.run(&Options::default(), 1));
        let written = machine.written.load(Relaxed) - before;
        assert_eq!(
            written >= bytes,
            run == 0,
            "run {run} wrote {written} bytes"
        );
    }
    drop(images);
    assert!(machine.is_empty(), "memory is left");
}

/// The private state of strands that have all ended stays on the machine.
#[test]
fn only_outputs_come_back_from_strands_that_have_ended() {
    let text = "#version 2.0
strand s (int i) {
    tensor[3,3] m = identity[3] * i;
    tensor[3,3] n = zeros[3,3];
    output real x = 0;
    update { m = m + i*identity[3]; n = m • m; x = trace(n); if (x > 1000) stabilize; if (i == 0) stabilize; }
}
create_array { s(i) | i in 0..9999 }";
    let case = Case::new(Source::new("private.diderot", text));
    let machine = Arc::new(Interpreter::default());
    compare(&case, &Options::default(), machine.clone());
    let read = machine.read.load(Relaxed);
    // An output and the fate of each strand, and a few words; the private state has 18 numbers.
    assert!(read < 10_000 * 3 * size_of::<f32>(), "{read} bytes");
}

#[test]
fn fields_over_time_give_the_same_bits() {
    let mut ran = 0;
    for case in time::cases() {
        println!("{}", case.name);
        for double in [false, true] {
            let options = Options {
                double,
                ..Options::default()
            };
            ran += usize::from(agrees(&case, &options));
        }
    }
    assert!(ran > 40, "only {ran} runs on the machine");
}

/// Times in a table are found by a search, which every time has to end in the same interval as on the CPU.
#[test]
fn irregular_times_give_the_same_bits() {
    for case in [time::at_and_beside_frames(), {
        let [_, irregular] = time::axes();
        time::case("own times", 2, &irregular)
    }] {
        for double in [false, true] {
            let options = Options {
                double,
                ..Options::default()
            };
            assert!(agrees(&case, &options), "{} on the CPU", case.name);
            #[cfg(unix)]
            compare(&case, &options, Arc::new(c::Compiler::default()));
        }
    }
}
