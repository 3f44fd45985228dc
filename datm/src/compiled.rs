//! The compiler under test: cases go through its public interface, from source text to machine code, with images in memory.

use crate::data::{Datum, SampledField, TIMES};
use crate::davm::{Picture, Scene};
use crate::program::{FRAMES, ProgramText};
use crate::runner::{Failure, Job, Observed, Precision, RunOptions, Runner, Stage};
use compiler::codegen::Target;
use compiler::front::source::Source;
use compiler::pipeline::{self, Compiled, Engine, Options, Session, Stopped};
use compiler::run::{FemSource, ImageSource, Inputs, OutputData, Run};
use ndarray::ArrayD;
use runtime::fem::FemFile;
use runtime::grid::TimeAxis;
use runtime::image::{ImageArray, Orientation};
use runtime::reduce::Values;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The text of a case that is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// In version 1.0.
    Version1,
    /// In version 2.0.
    #[default]
    Version2,
}

impl Language {
    fn text(self, program: &ProgramText) -> Option<&str> {
        match self {
            Language::Version1 => program.version1.as_deref(),
            Language::Version2 => Some(&program.version2),
        }
    }
}

/// How operators are normalized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalization {
    /// By equality saturation, as in products.
    #[default]
    EGraph,
    /// By one directed walk.
    Directed,
}

/// Compiles programs and runs them in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompiledRunner {
    /// Which text is compiled.
    pub language: Language,
    /// How operators are normalized.
    pub normalization: Normalization,
    /// Where strands run.
    pub target: Target,
}

/// The code of a failure that says that strands cannot run on a GPU.
pub(crate) const NEEDS_CPU: &str = "needs the CPU";

impl Runner for CompiledRunner {
    fn name(&self) -> &'static str {
        match (self.language, self.normalization) {
            _ if self.target != Target::Cpu => "compiled for a GPU",
            (Language::Version2, Normalization::EGraph) => "compiled",
            (Language::Version2, Normalization::Directed) => "compiled, directed",
            (Language::Version1, Normalization::EGraph) => "compiled from 1.0",
            (Language::Version1, Normalization::Directed) => "compiled from 1.0, directed",
        }
    }

    fn run(&self, job: &Job<'_>, options: &RunOptions) -> Result<Observed, Failure> {
        let text = self.language.text(job.program);
        let text = text.ok_or_else(|| run_failed("no program in this version".to_string()))?;
        let (outputs, rules) = self.execute(text, job.data, options)?;
        let values = output(&outputs, "value")?;
        let valid = output(&outputs, "valid")?;
        Ok(Observed::from_outputs(&values, &valid, rules))
    }

    fn render(&self, scene: &Scene, options: &RunOptions) -> Result<Picture, Failure> {
        let (outputs, _) = self.execute(&scene.program(), &scene.data, options)?;
        let pixels = output(&outputs, "value")?;
        Ok(Picture {
            width: scene.width,
            pixels,
        })
    }
}

impl CompiledRunner {
    /// Compiles and runs a program; gives its outputs and the rewrite rules that fired.
    fn execute(
        &self,
        text: &str,
        data: &[Datum],
        options: &RunOptions,
    ) -> Result<(Vec<OutputData>, Vec<&'static str>), Failure> {
        let mut session = Session::default();
        let options = self.options(options);
        let program = guarded(Stage::Compile, || {
            pipeline::compile(&mut session, &source(text), &options).map_err(rejected)
        })?;
        if let Some(Err(unsupported)) = &program.kernel {
            return Err(Failure {
                stage: Stage::Run,
                code: NEEDS_CPU.into(),
                message: unsupported.construct.to_string(),
            });
        }
        let outputs = guarded(Stage::Run, || run(program, data))?;
        Ok((outputs, session.rules.into_keys().collect()))
    }

    fn options(&self, options: &RunOptions) -> Options {
        let mut wanted = Options {
            double: options.precision == Precision::Double,
            width: (options.width != 0).then_some(options.width),
            target: self.target,
            ..Options::default()
        };
        if self.normalization == Normalization::Directed {
            wanted.normalization.engine = Engine::Directed;
        }
        wanted
    }
}

/// Works; a panic of the compiler is a failure of its stage like any other.
pub(crate) fn guarded<T>(
    stage: Stage,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
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

/// The source of a case.
pub(crate) fn source(text: &str) -> Source {
    Source::new("case.diderot", text.to_string())
}

/// A program that does not pass the front end: the first of its errors.
pub(crate) fn rejected(stopped: Stopped) -> Failure {
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
}

/// A failure of the run itself.
pub(crate) fn run_failed(message: String) -> Failure {
    Failure {
        stage: Stage::Run,
        code: "run".into(),
        message,
    }
}

/// The image among the data that a program asks for by its file's name.
pub(crate) fn image_named(data: &[Datum], file: Option<&str>) -> Result<ImageArray, Failure> {
    let name = file.and_then(|file| file.strip_suffix(".nrrd"));
    let over_time = name.and_then(|name| name.strip_suffix(FRAMES));
    let name = over_time.or(name);
    let found = data.iter().find_map(|datum| match datum {
        Datum::Field(field) if Some(field.image.name.as_str()) == name => Some(&field.image),
        Datum::Field(_) | Datum::Tensor(_) => None,
    });
    let missing = || run_failed(format!("the program asks for the image {file:?}"));
    array(found.ok_or_else(missing)?, over_time.is_some())
}

/// The mesh among the data that a program asks for by its file's name.
pub(crate) fn mesh_named(data: &[Datum], file: Option<&str>) -> Result<Arc<FemFile>, Failure> {
    let name = file.and_then(|file| file.strip_suffix(".vtu"));
    let found = data.iter().find_map(|datum| match datum {
        Datum::Field(field) if Some(field.image.name.as_str()) == name => field.mesh.clone(),
        Datum::Field(_) | Datum::Tensor(_) => None,
    });
    found.ok_or_else(|| run_failed(format!("the program asks for the mesh {file:?}")))
}

fn run(program: Compiled, data: &[Datum]) -> Result<Vec<OutputData>, Failure> {
    let mut inputs = Inputs::of(&program);
    for (n, image) in program.interface.images.iter().enumerate() {
        let image = image_named(data, image.file.as_deref())?;
        inputs.set_source(n, ImageSource::Array(image));
    }
    for (n, mesh) in program.interface.meshes.iter().enumerate() {
        inputs.set_mesh(
            n,
            FemSource::Memory(mesh_named(data, mesh.file.as_deref())?),
        );
    }
    let mut running = Run::new(&program, &inputs, 1).map_err(|e| run_failed(e.to_string()))?;
    running
        .run(None, &mut std::io::sink(), &mut [])
        .map_err(|e| run_failed(e.to_string()))?;
    let outputs = running.outputs();
    outputs.ok_or_else(|| run_failed("the run has no outputs".to_string()))
}

/// An image as the runtime takes it, alone or as the frames of one over time.
fn array(image: &SampledField, is_over_time: bool) -> Result<ImageArray, Failure> {
    let fail = |error: &dyn std::fmt::Display| run_failed(error.to_string());
    let voxel: Vec<usize> = image.shape.extents().iter().map(|&n| n.into()).collect();
    let mut shape: Vec<usize> = image.sizes.iter().rev().copied().chain(voxel).collect();
    let samples = match is_over_time {
        true => {
            shape.insert(0, TIMES.len());
            image.frames()
        }
        false => image.samples.clone(),
    };
    let samples = ArrayD::from_shape_vec(shape, samples).map_err(|e| fail(&e))?;
    let orientation = Orientation::new(&image.directions, &image.origin).map_err(|e| fail(&e))?;
    let array = ImageArray::new(samples, orientation);
    Ok(match is_over_time {
        true => array.over_time(TimeAxis::of_times(&TIMES).map_err(|e| fail(&e))?),
        false => array,
    })
}

/// The numbers of an output.
fn output(outputs: &[OutputData], name: &str) -> Result<Vec<f64>, Failure> {
    let found = outputs.iter().find(|data| data.output.name == name);
    let data = found.ok_or_else(|| run_failed(format!("the program has no output `{name}`")))?;
    Ok(match &*data.values {
        Values::F32(values) => values.iter().map(|&x| x.into()).collect(),
        Values::F64(values) => values.clone(),
        Values::I32(values) => values.iter().map(|&n| n.into()).collect(),
        Values::I64(values) => values.iter().map(|&n| n as f64).collect(),
        Values::Bool(values) => values.iter().map(|&b| b.into()).collect(),
    })
}
