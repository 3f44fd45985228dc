//! The slow way in: source text and image files in a folder of their own, and the command `diderotc` as a user would call it.

use crate::compiled::run_failed;
use crate::data::Datum;
use crate::davm::{Picture, Scene};
use crate::runner::{Failure, Job, Observed, Precision, RunOptions, Runner, Stage};
use runtime::nrrd::read;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs cases with the command.
#[derive(Clone, Debug)]
pub struct UserRunner {
    /// The command `diderotc`.
    pub command: PathBuf,
}

/// A folder that is removed when it is no longer needed.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, Failure> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("datm-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).map_err(|e| run_failed(format!("{}: {e}", path.display())))?;
        Ok(Folder(path))
    }

    fn write(&self, name: &str, contents: &[u8]) -> Result<(), Failure> {
        fs::write(self.0.join(name), contents).map_err(|e| run_failed(format!("{name}: {e}")))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the system.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Runner for UserRunner {
    fn name(&self) -> &'static str {
        "diderotc"
    }

    fn run(&self, job: &Job<'_>, options: &RunOptions) -> Result<Observed, Failure> {
        let folder = self.execute(&job.program.version2, job.data, options)?;
        let (values, valid) = (numbers(&folder.0, "value")?, numbers(&folder.0, "valid")?);
        Ok(Observed::from_outputs(&values, &valid, Vec::new()))
    }

    fn render(&self, scene: &Scene, options: &RunOptions) -> Result<Picture, Failure> {
        let folder = self.execute(&scene.program(), &scene.data, options)?;
        Ok(Picture {
            width: scene.width,
            pixels: numbers(&folder.0, "value")?,
        })
    }
}

impl UserRunner {
    /// Writes a program and its images, checks it, runs it; the folder has its outputs.
    fn execute(&self, text: &str, data: &[Datum], options: &RunOptions) -> Result<Folder, Failure> {
        let folder = Folder::new()?;
        folder.write("case.diderot", text.as_bytes())?;
        for datum in data {
            if let Datum::Field(field) = datum {
                let (name, bytes) = field.file();
                folder.write(&name, &bytes)?;
                let (name, bytes) = field.frames_file();
                if text.contains(&name) {
                    folder.write(&name, &bytes)?;
                }
            }
        }
        let checked = self.call(&folder.0, &["check", "--json", "case.diderot"])?;
        if !checked.status.success() {
            let (code, message) = first_error(&checked);
            return Err(Failure {
                stage: Stage::Type,
                code,
                message,
            });
        }
        let width = options.width.to_string();
        let mut words = Vec::new();
        if options.precision == Precision::Double {
            words.push("--double");
        }
        if options.width != 0 {
            words.extend(["--width", &width]);
        }
        // A compiler that fails on a program it has accepted does so before it runs anything.
        let compiled = self.call(
            &folder.0,
            &[&words[..], &["--stop-after", "scalarize", "case.diderot"]].concat(),
        )?;
        let ran = if compiled.status.success() {
            self.call(&folder.0, &[&words[..], &["case.diderot"]].concat())?
        } else {
            return Err(died(Stage::Compile, &compiled));
        };
        if ran.status.success() {
            Ok(folder)
        } else {
            Err(died(Stage::Run, &ran))
        }
    }

    fn call(&self, folder: &Path, words: &[&str]) -> Result<Output, Failure> {
        let mut command = Command::new(&self.command);
        let output = command.args(words).current_dir(folder).output();
        output.map_err(|error| run_failed(format!("{}: {error}", self.command.display())))
    }
}

fn died(stage: Stage, output: &Output) -> Failure {
    Failure {
        stage,
        code: output.status.to_string(),
        message: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Code and message of the first error in a list of JSON objects.
fn first_error(output: &Output) -> (String, String) {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text);
    let objects = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let field = |object: &serde_json::Value, key: &str| {
        object[key].as_str().unwrap_or_default().to_string()
    };
    let mut errors = objects.map(|object| (field(&object, "code"), field(&object, "message")));
    errors
        .next()
        .unwrap_or_else(|| ("check".to_string(), text.to_string()))
}

/// The numbers of an output file.
fn numbers(folder: &Path, output: &str) -> Result<Vec<f64>, Failure> {
    let file = folder.join(format!("{output}.nrrd"));
    let array = read(&file).map_err(|error| run_failed(error.to_string()))?;
    let numbers = array.samples().convert();
    numbers.ok_or_else(|| run_failed(format!("{output}: not numbers")))
}
