//! Runs a program in every way that there is: machine code of every back end, for every number of strands per call, in both
//! precisions, and the interpreter of Low-IR and Device-IR. Each must give the truth to the bit.

use super::evaluate::{self, INPUTS, Inputs, Outcome, SAMPLES};
use super::tree::Program;
use crate::compiled::{guarded, rejected, run_failed, source};
use crate::runner::{Failure, Stage};
use compiler::codegen::{self, Compiled};
use compiler::device;
use compiler::front::tree::{Constant, InputDefault};
use compiler::interpret::primitives::EvalImage;
use compiler::interpret::{self, Numbers, Runnable, interpret};
use compiler::ir::interface::Interface;
use compiler::low::{self, Low, Zeros};
use compiler::pipeline::{self, Options, Session, WIDTHS};
use compiler::run::{ImageSource, Inputs as Given, Run};
use compiler::ssa;
use ein_ir::Type;
use ndarray::ArrayD;
use runtime::image::{ImageArray, Orientation};
use runtime::simd::Isa;
use std::sync::Arc;

/// Machine code of one sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    isa: Isa,
    width: usize,
    double: bool,
}

/// A way to run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// As machine code.
    Machine(Variant),
    /// In the interpreter of Low-IR, in double precision or not.
    LowIr { double: bool },
    /// The same of Device-IR.
    DeviceIr { double: bool },
}

/// Code for vectors that hold as many strands as they have lanes, as far as this machine runs it.
pub(super) fn for_vectors() -> Vec<Way> {
    let mut all = Vec::new();
    for (double, bytes) in [(false, 4), (true, 8)] {
        for (isa, length) in [(Isa::Avx2, 32), (Isa::Avx512, 64)] {
            if isa.is_available() {
                let width = length / bytes;
                all.push(Way::Machine(Variant { isa, width, double }));
            }
        }
    }
    all
}

/// Portable code, for every width.
fn portable() -> Vec<Way> {
    let precisions = [false, true].into_iter();
    let all = precisions.flat_map(|double| {
        WIDTHS.map(|width| {
            Way::Machine(Variant {
                isa: Isa::Baseline,
                width,
                double,
            })
        })
    });
    all.collect()
}

fn interpreters() -> [Way; 4] {
    [
        Way::LowIr { double: false },
        Way::DeviceIr { double: false },
        Way::LowIr { double: true },
        Way::DeviceIr { double: true },
    ]
}

/// All ways.
pub(super) fn all_ways() -> Vec<Way> {
    [for_vectors(), portable(), interpreters().to_vec()].concat()
}

/// Fewer ways for the n-th program: all code for vectors, and one of the portable codes and of the interpreters, which take longest;
/// others for the next program.
pub(super) fn in_turn(n: usize) -> Vec<Way> {
    let mut ways = for_vectors();
    let portable = portable();
    ways.push(portable[n % portable.len()]);
    let interpreters = interpreters();
    ways.push(interpreters[n / portable.len() % interpreters.len()]);
    ways
}

/// A difference between the results of a program and the expected ones.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// How it was run.
    pub how: String,
    /// What differs.
    pub what: String,
}

/// Compiles a program and runs it in some ways; gives the first that is wrong.
pub(super) fn check(program: &Program, ways: &[Way]) -> Result<(), Wrong> {
    let text = program.text();
    let failed = |how: &str, failure: Failure| Wrong {
        how: how.to_string(),
        what: format!("{:?}: {}: {}", failure.stage, failure.code, failure.message),
    };
    let lowered = guarded(Stage::Compile, || {
        pipeline::lower(&mut Session::default(), &source(&text), &Options::default())
            .map_err(rejected)
    });
    let hoisted = lowered
        .map_err(|failure| failed("compiling", failure))?
        .hoisted;
    let truths = INPUTS.map(|inputs| evaluate::run(program, &inputs));
    for way in ways {
        let how = format!("{way:?}");
        let runs = ready(&hoisted, *way, program.steps).map_err(|failure| failed(&how, failure))?;
        for (inputs, truth) in INPUTS.iter().zip(&truths) {
            let found = guarded(Stage::Run, || runs(inputs));
            let found = found.map_err(|failure| failed(&how, failure))?;
            compare(&how, inputs, &found, truth)?;
        }
    }
    Ok(())
}

/// What runs a program with any inputs.
type Ready = Box<dyn Fn(&Inputs) -> Result<Outcome, Failure>>;

/// Prepares a program to run in a way.
fn ready(program: &ssa::Program<Low>, way: Way, steps: usize) -> Result<Ready, Failure> {
    guarded(Stage::Compile, || {
        Ok(match way {
            Way::Machine(variant) => {
                let compiled = generate(program, variant);
                Box::new(move |inputs: &Inputs| run(&compiled, inputs, steps)) as Ready
            }
            Way::LowIr { double } => {
                let program = program.clone();
                Box::new(move |inputs: &Inputs| interpreted(&program, inputs, double, steps))
            }
            Way::DeviceIr { double } => {
                let program = program.clone().map(|_, f| device::expand(&f, double));
                Box::new(move |inputs: &Inputs| interpreted(&program, inputs, double, steps))
            }
        })
    })
}

fn generate(program: &ssa::Program<Low>, variant: Variant) -> Compiled {
    let options = Options {
        double: variant.double,
        width: Some(variant.width),
        ..Options::default()
    };
    let zeros = Zeros::aligned(&program.interface);
    codegen::generate(
        program.clone(),
        low::fit(program, zeros),
        options.lanes(),
        variant.isa,
        Vec::new(),
    )
}

/// The image as the runtime takes it.
fn image() -> Result<ImageArray, Failure> {
    let samples = ArrayD::from_shape_vec(vec![SAMPLES.len()], SAMPLES.map(|n| n as f32).to_vec());
    Ok(ImageArray::new(
        samples.map_err(|e| run_failed(e.to_string()))?,
        Orientation::identity(1),
    ))
}

fn run(program: &Compiled, inputs: &Inputs, steps: usize) -> Result<Outcome, Failure> {
    let mut given = Given::of(program);
    let failed = |error: compiler::run::Failure| run_failed(error.to_string());
    for n in 0..3 {
        given.set(&format!("on{n}"), inputs.on[n]).map_err(failed)?;
        given
            .set(&format!("h{n}"), inputs.h[n].to_f64())
            .map_err(failed)?;
    }
    given.set("m", inputs.m).map_err(failed)?;
    if !program.interface.images.is_empty() {
        given.set_source(0, ImageSource::Array(image()?));
    }
    let mut running = Run::new(program, &given, 1).map_err(failed)?;
    let mut printed = Vec::new();
    running
        .run(Some(steps as u64), &mut printed, &mut [])
        .map_err(failed)?;
    let outputs = running.outputs().into_iter().flatten().flat_map(|data| {
        let values = (data.output.name.clone(), data.numbers());
        let lengths = data.lengths.map(|lengths| {
            let lengths = lengths.into_iter().map(|n| n as f64).collect();
            (format!("{}-len", data.output.name), lengths)
        });
        [values].into_iter().chain(lengths)
    });
    let printed = String::from_utf8(printed).map_err(|e| run_failed(e.to_string()))?;
    Ok(Outcome {
        outputs: outputs.collect(),
        printed,
    })
}

/// What the interpreter gives, which takes inputs from their defaults.
fn interpreted<D: Runnable>(
    program: &ssa::Program<D>,
    inputs: &Inputs,
    double: bool,
    steps: usize,
) -> Result<Outcome, Failure> {
    let mut interface = Interface::clone(&program.interface);
    for input in &mut interface.inputs {
        let digit = input
            .name
            .as_bytes()
            .last()
            .map_or(0, |digit| usize::from(digit.wrapping_sub(b'0')));
        let value = match &input.ty {
            Type::Bool => Constant::Bool(inputs.on[digit]),
            Type::Int => Constant::Int(inputs.m),
            Type::Tensor(shape) => Constant::Tensor(shape.clone(), vec![inputs.h[digit].to_f64()]),
            _ => continue,
        };
        input.default = Some(InputDefault::Value(value));
    }
    let program = ssa::Program {
        interface: Arc::new(interface),
        ..program.clone()
    };
    let image = EvalImage {
        sizes: vec![SAMPLES.len()],
        planes: vec![SAMPLES.map(|n| n as f64).to_vec()],
        times: Vec::new(),
        to_index: vec![1.0],
        offset: vec![0.0],
        to_world: vec![1.0],
        origin: vec![0.0],
    };
    let image = Arc::new(image);
    let images: Vec<Arc<EvalImage>> =
        std::iter::repeat_n(image, program.interface.images.len()).collect();
    let numbers = Numbers {
        double,
        long_int: false,
    };
    let found = interpret(&program, &images, numbers, steps);
    let interpret::Outcome { outputs, printed } =
        found.map_err(|e| run_failed(format!("{e:?}")))?;
    Ok(Outcome { outputs, printed })
}

/// Compares to the bit, signs of zeros included.
fn compare(how: &str, inputs: &Inputs, found: &Outcome, truth: &Outcome) -> Result<(), Wrong> {
    let wrong = |what: String| Wrong {
        how: format!("{how}, {inputs:?}"),
        what,
    };
    if found.printed != truth.printed {
        return Err(wrong(format!(
            "prints {:?}, wanted {:?}",
            found.printed, truth.printed
        )));
    }
    if found.outputs.len() != truth.outputs.len() {
        return Err(wrong(format!("{} outputs", found.outputs.len())));
    }
    let bits =
        |numbers: &[f64]| -> Vec<u64> { numbers.iter().map(|x| (x + 0.0).to_bits()).collect() };
    for ((name, found), (_, wanted)) in found.outputs.iter().zip(&truth.outputs) {
        if bits(found) != bits(wanted) {
            return Err(wrong(format!("{name} is {found:?}, wanted {wanted:?}")));
        }
    }
    Ok(())
}
