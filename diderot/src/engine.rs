//! Choices about compilations and runs, and the engine that makes programs with them.

use crate::{Error, Program};
use compiler::{
    codegen::Target,
    front::{codes::Code, source::Source},
    pipeline::{Options, WIDTHS},
};
use runtime::world::Workers;
use std::{fs, path::Path, path::PathBuf};

/// Choices about compilations and runs; at first those of the command without options.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub(crate) options: Options,
    workers: Option<usize>,
}

impl Config {
    /// The defaults.
    pub fn new() -> Config {
        Config::default()
    }

    /// Whether reals have 64 bits rather than 32.
    pub fn double(&mut self, is_on: bool) -> &mut Config {
        self.options.double = is_on;
        self
    }

    /// Whether integers have 64 bits rather than 32.
    pub fn long_int(&mut self, is_on: bool) -> &mut Config {
        self.options.long_int = is_on;
        self
    }

    /// The processor that runs strands.
    pub fn target(&mut self, target: Target) -> &mut Config {
        self.options.target = target;
        self
    }

    /// Strands per call of the generated code: 1, 4, 8 or 16. Results do not depend on it.
    ///
    /// # Errors
    /// Code cannot be made for this number.
    pub fn width(&mut self, width: usize) -> Result<&mut Config, Error> {
        if !WIDTHS.contains(&width) {
            return Err(Error::Misuse(format!(
                "found the width {width}, expected one of {WIDTHS:?}"
            )));
        }
        self.options.width = Some(width);
        Ok(self)
    }

    /// Another value for a constant of the program, spelled as in `--Cname=value`.
    pub fn constant(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut Config {
        let name = name.into();
        let constants = &mut self.options.constants;
        constants.retain(|(other, _)| *other != name);
        constants.push((name, value.into()));
        self
    }

    /// Requests a warning that is off by default, by its code.
    ///
    /// # Errors
    /// There is no such code.
    pub fn warn(&mut self, code: &str) -> Result<&mut Config, Error> {
        let unknown = || Error::Misuse(format!("there is no warning `{code}`"));
        self.options
            .warn
            .push(Code::named(code).ok_or_else(unknown)?);
        Ok(self)
    }

    /// The number of threads; one for each core if not given.
    pub fn workers(&mut self, workers: Option<usize>) -> &mut Config {
        self.workers = workers;
        self
    }
}

/// Compiles programs. Its programs share their threads, which are started when they are first needed.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) options: Options,
    pub(crate) workers: Workers,
}

impl Engine {
    /// An engine with a configuration.
    pub fn new(config: impl AsRef<Config>) -> Engine {
        let config = config.as_ref();
        Engine {
            options: config.options.clone(),
            workers: config.workers.into(),
        }
    }

    /// Compiles the text of a program. The path names it in messages, and imports are searched beside it.
    ///
    /// # Errors
    /// The errors of the program.
    pub fn compile(
        &self,
        path: impl Into<PathBuf>,
        text: impl Into<String>,
    ) -> Result<Program, Error> {
        Program::new(self, Source::new(path, text))
    }

    /// Compiles a file.
    ///
    /// # Errors
    /// The file cannot be read, or the program has errors.
    pub fn compile_file(&self, path: impl AsRef<Path>) -> Result<Program, Error> {
        let path = path.as_ref();
        let unreadable = |error| Error::Files(vec![format!("{}: {error}", path.display())]);
        let text = fs::read_to_string(path).map_err(unreadable)?;
        self.compile(path, text)
    }
}

impl AsRef<Config> for Config {
    fn as_ref(&self) -> &Config {
        self
    }
}
