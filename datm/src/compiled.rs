//! The compiler under test: cases go through its public interface, from source text to machine code, with images in memory.

use crate::data::{Datum, SampledField};
use crate::davm::{Picture, Scene};
use crate::runner::{Failure, Job, Observed, Precision, RunOptions, Runner, Stage};
use compiler::pipeline::{self, Compiled, Options, Session, Stopped};
use compiler::run::{ImageSource, Inputs, OutputData, Running};
use compiler::source::Source;
use ndarray::ArrayD;
use runtime::image::Orientation;
use runtime::reduce::Values;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Compiles programs and runs them in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompiledRunner;

impl Runner for CompiledRunner {
    fn name(&self) -> &'static str {
        "compiled"
    }

    fn run(&self, job: &Job<'_>, options: &RunOptions) -> Result<Observed, Failure> {
        let outputs = execute(&job.program.version2, job.data, options)?;
        let values = output(&outputs, "value")?;
        let valid = output(&outputs, "valid")?;
        let size = values.len() / valid.len().max(1);
        Ok(Observed {
            values: values.chunks(size.max(1)).map(<[f64]>::to_vec).collect(),
            valid: valid.iter().map(|&v| v != 0.0).collect(),
        })
    }

    fn render(&self, scene: &Scene, options: &RunOptions) -> Result<Picture, Failure> {
        let outputs = execute(&scene.program(), &scene.data, options)?;
        let pixels = output(&outputs, "value")?;
        Ok(Picture {
            width: scene.width,
            pixels,
        })
    }
}

/// Compiles and runs a program; a panic of the compiler is a failure of its stage like any other.
fn execute(text: &str, data: &[Datum], options: &RunOptions) -> Result<Vec<OutputData>, Failure> {
    let program = guarded(Stage::Compile, || compile(text, options))?;
    guarded(Stage::Run, || run(program, data))
}

fn guarded<T>(stage: Stage, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_default();
        Err(Failure {
            stage,
            code: "panic".into(),
            message,
        })
    })
}

fn compile(text: &str, options: &RunOptions) -> Result<Compiled, Failure> {
    let source = Source {
        path: "case.diderot".into(),
        text: text.to_string(),
    };
    let options = Options {
        double: options.precision == Precision::Double,
        width: (options.width != 0).then_some(options.width),
        ..Options::default()
    };
    pipeline::compile(&mut Session::default(), &source, &options).map_err(|stopped| {
        let (code, message) = match stopped {
            Stopped::Errors(diagnostics) => {
                let first = diagnostics.iter().find(|d| d.is_error());
                first.map_or_else(Default::default, |d| {
                    (d.code.to_string(), d.message.clone())
                })
            }
            Stopped::Asked => Default::default(),
        };
        Failure {
            stage: Stage::Type,
            code,
            message,
        }
    })
}

fn run(program: Compiled, data: &[Datum]) -> Result<Vec<OutputData>, Failure> {
    let failed = |message: String| Failure {
        stage: Stage::Run,
        code: "run".into(),
        message,
    };
    let images: Vec<&SampledField> = data
        .iter()
        .filter_map(|datum| match datum {
            Datum::Field(field) => Some(&field.image),
            Datum::Tensor(_) => None,
        })
        .collect();
    let mut inputs = Inputs::of(&program);
    for image in &program.interface.images {
        let file = image.file.as_deref().unwrap_or_default();
        let found = images
            .iter()
            .find(|i| file.strip_suffix(".nrrd") == Some(&i.name))
            .ok_or_else(|| failed(format!("the program asks for the image {file}")))?;
        inputs.replace_file(file, &source_of(found).map_err(failed)?);
    }
    let mut running = Running::new(program, &inputs, 1).map_err(|e| failed(e.to_string()))?;
    running
        .run(None, &mut std::io::sink())
        .map_err(|e| failed(e.to_string()))?;
    Ok(running.outputs(false))
}

fn source_of(image: &SampledField) -> Result<ImageSource, String> {
    let voxel: Vec<usize> = image.shape.extents().iter().map(|&n| n.into()).collect();
    let shape: Vec<usize> = image.sizes.iter().rev().copied().chain(voxel).collect();
    let samples =
        ArrayD::from_shape_vec(shape, image.samples.clone()).map_err(|e| e.to_string())?;
    let orientation =
        Orientation::new(&image.directions, &image.origin).map_err(|e| e.to_string())?;
    Ok(ImageSource::Array {
        samples,
        orientation,
    })
}

/// The numbers of an output.
fn output(outputs: &[OutputData], name: &str) -> Result<Vec<f64>, Failure> {
    let found = outputs.iter().find(|data| data.output.name == name);
    let data = found.ok_or_else(|| Failure {
        stage: Stage::Run,
        code: "output".into(),
        message: format!("the program has no output `{name}`"),
    })?;
    Ok(match &data.values {
        Values::F32(values) => values.iter().map(|&x| x.into()).collect(),
        Values::F64(values) => values.clone(),
        Values::I32(values) => values.iter().map(|&n| n.into()).collect(),
        Values::I64(values) => values.iter().map(|&n| n as f64).collect(),
        Values::Bool(values) => values.iter().map(|&b| b.into()).collect(),
    })
}
