//! Compiled programs and their descriptions.

use crate::{Diagnostic, Engine, Error, Inputs, Run, error};
use compiler::{
    explain::{self, Unexplained},
    front::{
        report,
        source::Source,
        tree::{Constant, InputDefault},
    },
    pipeline::{self, Compiled, Options, STAGES, Session, Stopped},
    run::{self, LastImages},
};
use runtime::{input::InputType, output::Output, world::Workers};
use std::{path::Path, sync::Arc};

/// A compiled program. It never changes; any number of threads may run it at the same time.
#[derive(Clone)]
pub struct Program(Arc<Contents>);

struct Contents {
    source: Arc<Source>,
    compiled: Compiled,
    options: Options,
    workers: Workers,
    last_images: LastImages,
}

/// An input of a program.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its type as programs spell it.
    pub type_name: String,
    /// Its type.
    pub ty: InputType,
    /// Its description.
    pub description: Option<String>,
    /// Its default; without one it is required.
    pub default: Option<DefaultValue>,
}

/// The default of an input.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DefaultValue {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A text.
    String(String),
    /// A tensor: its shape and its components, row-major. A real number has no axes.
    Tensor(Vec<usize>, Vec<f64>),
    /// The elements of a sequence.
    Sequence(Vec<DefaultValue>),
    /// The name of a file.
    File(String),
    /// An expression that depends on these inputs; [`Run::input`](crate::Run::input) gives its value in a run.
    Computed(Vec<String>),
}

impl From<&Constant> for DefaultValue {
    fn from(constant: &Constant) -> DefaultValue {
        match constant {
            Constant::Bool(value) => DefaultValue::Bool(*value),
            Constant::Int(value) => DefaultValue::Int(*value),
            Constant::String(text) => DefaultValue::String(text.clone()),
            Constant::Tensor(shape, values) => {
                DefaultValue::Tensor(shape.dims().to_vec(), values.clone())
            }
            Constant::Seq(elements) => {
                DefaultValue::Sequence(elements.iter().map(DefaultValue::from).collect())
            }
        }
    }
}

impl Program {
    pub(crate) fn new(engine: &Engine, source: Source) -> Result<Program, Error> {
        let options = engine.options.clone();
        match pipeline::compile(&mut Session::default(), &source, &options) {
            Ok(compiled) => Ok(Program(Arc::new(Contents {
                source: Arc::new(source),
                compiled,
                options,
                workers: engine.workers.clone(),
                last_images: LastImages::default(),
            }))),
            Err(Stopped::Errors(diagnostics)) => Err(Error::of_program(&source, diagnostics)),
            Err(Stopped::Asked) => unreachable!("this session asks for every stage"),
        }
    }

    pub(crate) fn last_images(&self) -> &LastImages {
        &self.0.last_images
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.0.source
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    pub(crate) fn compiled(&self) -> &Compiled {
        &self.0.compiled
    }

    /// The path that names it in messages.
    pub fn path(&self) -> &Path {
        &self.0.source.path
    }

    /// Its text, with the texts of its imports.
    pub fn text(&self) -> &str {
        &self.0.source.text
    }

    /// Whether its reals have 64 bits.
    pub fn is_double(&self) -> bool {
        self.0.options.double
    }

    /// Its inputs, in the order of their declarations.
    pub fn inputs(&self) -> Vec<Input> {
        let inputs = self.0.compiled.interface.inputs.iter();
        let described = inputs.map(|input| Input {
            name: input.name.clone(),
            type_name: input.ty.to_string(),
            ty: run::input_type(&input.ty),
            description: input.description.clone(),
            default: input.default.as_ref().map(|default| match default {
                InputDefault::Value(constant) => constant.into(),
                InputDefault::File(file) => DefaultValue::File(file.clone()),
                InputDefault::Computed(inputs) => DefaultValue::Computed(inputs.clone()),
            }),
        });
        described.collect()
    }

    /// Its outputs, in the order of their declarations.
    pub fn outputs(&self) -> Vec<Output> {
        run::outputs(&self.0.compiled.interface)
    }

    /// The names of the axes of the strands' grid, the slowest first; nothing for a collection.
    pub fn axes(&self) -> Option<&[String]> {
        let interface = &self.0.compiled.interface;
        interface.grid.then_some(&interface.axes)
    }

    /// Its warnings.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        report::located(&self.0.source, self.0.compiled.warnings.to_vec())
    }

    /// Each warning as a line of JSON and as text with the lines of the program.
    pub fn rendered_warnings(&self) -> Vec<(String, String)> {
        let one = |warning: &compiler::front::diag::Diagnostic| {
            let warning = vec![warning.clone()];
            let text = report::render(&self.0.source, warning.clone(), false);
            (error::json(&report::located(&self.0.source, warning)), text)
        };
        self.0.compiled.warnings.iter().map(one).collect()
    }

    /// Values for its inputs: none yet.
    pub fn new_inputs(&self) -> Inputs {
        Inputs::new(self)
    }

    /// Loads images, takes inputs and computes the globals. Strands are created by the first step.
    ///
    /// # Errors
    /// An error in an input, or a run-time error of the initialization.
    pub fn start(&self, inputs: &Inputs) -> Result<Run, Error> {
        Run::new(self, inputs, &self.0.workers)
    }

    /// The same with another number of threads than the engine's.
    ///
    /// # Errors
    /// As for [`Program::start`].
    pub fn start_on(&self, inputs: &Inputs, workers: usize) -> Result<Run, Error> {
        Run::new(self, inputs, &workers.into())
    }

    /// The transformations of the program's mathematics, or of one field or tensor: as text, with details or without, or as LaTeX.
    ///
    /// # Errors
    /// It has no such name, or the name stands for a plain number.
    pub fn explain(
        &self,
        name: Option<&str>,
        is_latex: bool,
        details: bool,
    ) -> Result<String, Error> {
        let named = name.unwrap_or_default();
        match explain::explain(&self.0.source, &self.0.options, name) {
            Ok(explanation) if is_latex => Ok(explanation.latex()),
            Ok(explanation) => Ok(explanation.text(details)),
            Err(Unexplained::Errors(errors)) => Err(Error::of_program(&self.0.source, errors)),
            Err(Unexplained::NoSuchName(known)) => Err(Error::Misuse(format!(
                "the program has no tensor or field `{named}`; it has {}",
                known.join(", ")
            ))),
            Err(Unexplained::PlainNumber(others)) => Err(Error::Misuse(format!(
                "`{named}` is computed from plain numbers, which are compiled as written; there is something to explain of {}",
                others.join(", ")
            ))),
        }
    }

    /// The program after a stage of the compiler, as text.
    ///
    /// # Errors
    /// There is no such stage, or it has no text.
    pub fn emit(&self, stage: &str) -> Result<String, Error> {
        let known = || STAGES.iter().filter(|stage| stage.has_text);
        if !known().any(|known| known.name == stage) {
            let names: Vec<&str> = known().map(|stage| stage.name).collect();
            let names = names.join(", ");
            let message = format!("there is no stage `{stage}`; there are {names}");
            return Err(Error::Misuse(message));
        }
        let mut session = Session {
            stop_after: Some(stage.to_string()),
            ..Session::default()
        };
        match pipeline::compile(&mut session, &self.0.source, &self.0.options) {
            Err(Stopped::Errors(errors)) => Err(Error::of_program(&self.0.source, errors)),
            Err(Stopped::Asked) | Ok(_) => {
                Ok(session.dumps.into_iter().map(|(_, text)| text).collect())
            }
        }
    }
}
