//! The reference evaluator: the program as its operators are defined, before anything is normalized or lowered.

use crate::compiled::{guarded, image_named, mesh_named, rejected, run_failed, source};
use crate::data::Datum;
use crate::davm::{Picture, Scene};
use crate::runner::{Failure, Job, Observed, Precision, RunOptions, Runner, Stage};
use compiler::interpret::primitives::EvalImage;
use compiler::interpret::{
    Numbers, Outcome,
    fem::{EvalFile, EvalMeshes},
    interpret_with,
};
use compiler::ir::interface::Image as ImageSlot;
use compiler::pipeline::{self, Options, Session};
use runtime::image::{Declared, Image, ImageArray};
use std::sync::Arc;

/// Interprets High-IR as it is before normalization; always in double precision.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterpretedRunner;

/// More super-steps than a generated program needs: some have one for each position.
const LIMIT: usize = 100;

impl Runner for InterpretedRunner {
    fn name(&self) -> &'static str {
        "interpreted"
    }

    fn run(&self, job: &Job<'_>, options: &RunOptions) -> Result<Observed, Failure> {
        let outcome = execute(&job.program.version2, job.data, options)?;
        let (values, valid) = (output(&outcome, "value")?, output(&outcome, "valid")?);
        Ok(Observed::from_outputs(values, valid, Vec::new()))
    }

    fn render(&self, scene: &Scene, options: &RunOptions) -> Result<Picture, Failure> {
        let outcome = execute(&scene.program(), &scene.data, options)?;
        Ok(Picture {
            width: scene.width,
            pixels: output(&outcome, "value")?.to_vec(),
        })
    }
}

fn execute(text: &str, data: &[Datum], options: &RunOptions) -> Result<Outcome, Failure> {
    let compile = Options {
        double: options.precision == Precision::Double,
        ..Options::default()
    };
    let lowered = guarded(Stage::Compile, || {
        pipeline::lower(&mut Session::default(), &source(text), &compile).map_err(rejected)
    })?;
    let program = &lowered.derived;
    let slots = program.interface.images.iter();
    let images = slots
        .map(|slot| load(slot, &image_named(data, slot.file.as_deref())?))
        .collect::<Result<Vec<_>, Failure>>()?;
    let slots = program.interface.meshes.iter();
    let files = slots
        .map(|slot| mesh_named(data, slot.file.as_deref()).map(EvalFile::from))
        .collect::<Result<Vec<_>, Failure>>()?;
    guarded(Stage::Run, || {
        let meshes = EvalMeshes::new(&program.interface, &files, true);
        interpret_with(
            program,
            &images,
            meshes,
            Numbers {
                double: true,
                long_int: false,
            },
            LIMIT,
        )
        .map_err(|error| run_failed(format!("{error:?}")))
    })
}

fn load(slot: &ImageSlot, image: &ImageArray) -> Result<Arc<EvalImage>, Failure> {
    let declared = Declared {
        timed: slot.timed,
        ..Declared::new(slot.dim, slot.shape.dims())
    };
    let loaded: Image<f64> = image
        .image(declared)
        .map_err(|error| run_failed(error.to_string()))?;
    Ok(Arc::new(EvalImage::of(&loaded)))
}

fn output<'a>(outcome: &'a Outcome, name: &str) -> Result<&'a [f64], Failure> {
    let found = outcome.outputs.iter().find(|(known, _)| known == name);
    found.map_or_else(
        || Err(run_failed(format!("the program has no output `{name}`"))),
        |(_, values)| Ok(&values[..]),
    )
}
