//! Runs of compiled programs, and how long their parts take.

use compiler::{
    front::source::Source,
    pipeline::{self, Compiled, Options, Session},
    run::{Images, Inputs, Run},
};
use runtime::{input::InputValue, reduce::Values, simd::Isa};
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

/// A value for an input.
#[derive(Clone)]
pub(crate) enum Given {
    Int(&'static str, usize),
    File(&'static str, String),
}

/// A program with its inputs.
pub(crate) struct Prepared {
    pub(crate) compiled: Compiled,
    inputs: Inputs,
}

/// How long a run took, from the first strand made to the last value taken, and what came out.
pub(crate) struct Ran {
    pub(crate) time: Duration,
    pub(crate) values: Arc<Values>,
}

impl Ran {
    pub(crate) fn numbers(&self) -> &[f32] {
        match &*self.values {
            Values::F32(values) => values,
            _ => panic!("an output of single precision"),
        }
    }
}

/// A program from a file.
pub(crate) fn read(path: &Path) -> Source {
    Source::new(path, std::fs::read_to_string(path).expect("a program"))
}

/// Compiles a program, for an instruction set if one is given.
pub(crate) fn compile(session: &mut Session, source: &Source, isa: Option<Isa>) -> Compiled {
    let options = Options {
        isa,
        width: Some(Options::default().lanes().width),
        ..Options::default()
    };
    match pipeline::compile(session, source, &options) {
        Ok(compiled) => compiled,
        Err(stopped) => panic!("{}: {stopped:?}", source.path.display()),
    }
}

/// Compiles a program and gives it its inputs.
pub(crate) fn prepare(file: &str, isa: Option<Isa>, given: &[Given]) -> Prepared {
    let compiled = compile(&mut Session::default(), &read(Path::new(file)), isa);
    let mut inputs = Inputs::of(&compiled);
    for value in given {
        match value.clone() {
            Given::Int(name, n) => inputs.set(name, n as i64),
            Given::File(name, path) => inputs.set(name, InputValue::File(path.into())),
        }
        .expect("an input of that name");
    }
    Prepared { compiled, inputs }
}

impl Prepared {
    /// Runs it on this many workers; what comes out is its first output.
    pub(crate) fn run(&self, workers: usize) -> Ran {
        let images = Images::load(&self.compiled, &self.inputs).expect("images");
        let start = Instant::now();
        let run = Run::with_images(&self.compiled, &self.inputs, &images, &workers.into());
        let mut run = run.expect("globals");
        run.run(None, &mut std::io::sink(), &mut [])
            .expect("no error");
        let values = run.output(0).expect("an output").values;
        Ran {
            time: start.elapsed(),
            values,
        }
    }
}
