//! Programs and data: read when they have changed, and prepared for runs.

use super::{Course, Engine, Loaded};
use crate::{
    codegen::Compiled,
    front::{
        codes::Code,
        diag::in_order,
        report::{located, render},
        source::Source,
    },
    pipeline::{self, Session, Stopped},
    run::{Failure, Images, Inputs, Run, input_type},
    view::{
        chosen_frames::FrameInputs, interface, pace::Pace, values, watch::Watched, wishes::Wishes,
    },
};
use runtime::world::Workers;
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, path::PathBuf, time::SystemTime};

impl Engine {
    /// Reads and compiles the program again, and loads the files that have changed.
    pub(super) fn reload(&mut self) {
        self.course = Course::Over;
        let since = SystemTime::now();
        let source = match self.subject.source() {
            Ok(source) => source,
            Err(message) => return self.fail_text(&message, &format!("error: {message}\n")),
        };
        let texts = source.paths().chain([source.path.as_path()]);
        let mut files: BTreeMap<PathBuf, bool> = texts.map(|file| (file.into(), false)).collect();
        self.watch(&files, since);
        let compiled = pipeline::compile(&mut Session::default(), &source, self.subject.options());
        let (compiled, diagnostics) = match compiled {
            Ok(compiled) => {
                let warnings = compiled.warnings.to_vec();
                (Some(compiled), warnings)
            }
            Err(Stopped::Errors(diagnostics)) => (None, diagnostics),
            Err(Stopped::Asked) => (None, Vec::new()),
        };
        let is_good = compiled.is_some();
        let items = located(&source, diagnostics.clone()).into_iter();
        // Each message with its own excerpt.
        let mut texts = in_order(diagnostics)
            .into_iter()
            .map(|one| render(&source, vec![one], false));
        let items = items.map(|item| {
            json!({
                "severity": item.severity,
                "message": item.message,
                "code": item.code,
                "page": Code::named(item.code).map(|code| code.page),
                "file": item.location.file,
                "line": item.location.line,
                "column": item.location.column,
                "text": texts.next(),
            })
        });
        let items: Vec<Value> = items.collect();
        self.shared
            .tell("diagnostics", json!({ "items": items, "good": is_good }));
        if let Some(program) = compiled {
            self.load(source, program, &mut files);
        } else {
            self.shared.set_final(true);
        }
        self.watch(&files, since);
        if is_good {
            self.begin();
        }
    }

    /// Reloads when one of these files, some of them data, is another than at a time.
    fn watch(&self, files: &BTreeMap<PathBuf, bool>, since: SystemTime) {
        let watched = |(file, is_data): (&PathBuf, &bool)| {
            let watched = Watched::new(file, *is_data, since);
            (file.clone(), watched)
        };
        self.shared.set_files(files.iter().map(watched).collect());
    }

    pub(super) fn load(
        &mut self,
        source: Source,
        program: Compiled,
        files: &mut BTreeMap<PathBuf, bool>,
    ) {
        let before = self.loaded.take();
        if let Some(before) = &before {
            let (old, new) = (&before.program.interface, &program.interface);
            if (&old.meshes, &old.fems) != (&new.meshes, &new.fems) {
                self.kept.forget_meshes();
            }
        }
        drop(before);
        let given = match self.subject.given(&source, &program) {
            Ok(given) => given,
            Err(message) => return self.fail_text(&message, &format!("error: {message}\n")),
        };
        let read = given.inputs.files_read().into_iter();
        files.extend(read.map(|used| (used.file.to_path_buf(), true)));
        let images = match Images::load_changed(&program, &given.inputs, &mut self.kept) {
            Ok(images) => images,
            Err(failure) => return self.fail(&source, &failure),
        };
        let abilities = program.abilities;
        let evolves = abilities.communicates
            || abilities.creates
            || abilities.counts
            || abilities.global_update;
        let is_alone = !evolves && !abilities.global_start && !abilities.prints;
        self.pace = Pace::default();
        self.loaded = Some(Loaded {
            can_be_coarse: is_alone && program.interface.grid,
            evolves,
            shown: interface::shown(&program),
            workers: Workers::from(given.workers),
            loaded_frames: Vec::new(),
            frames: FrameInputs::of(&program, &given.inputs),
            source,
            program,
            given,
            images,
        });
        let inputs = self.inputs(&Map::new());
        let Some(loaded) = &self.loaded else { return };
        let run = Run::with_images(&loaded.program, &inputs.0, &loaded.images, &loaded.workers);
        match run {
            Ok(run) => {
                let message = interface::message(
                    &loaded.source,
                    &loaded.program,
                    &loaded.images,
                    (&inputs.0, &loaded.frames),
                    &run,
                    evolves,
                );
                self.shared.tell("interface", message);
            }
            Err(failure) => self.fail_loaded(&failure),
        }
    }

    /// The inputs with the values that pages have set, and the problems with these.
    pub(super) fn inputs(&self, set: &Map<String, Value>) -> (Inputs, Vec<String>) {
        let loaded = self.loaded.as_ref().expect("a program");
        let mut inputs = loaded.given.inputs.clone();
        let mut problems = Vec::new();
        if let Err(failure) = loaded.frames.choose(&mut inputs, set) {
            problems.push(failure.to_string());
        }
        for (name, value) in set {
            let all = loaded.program.interface.inputs.iter();
            // A page may still know an input that the program has lost.
            let Some(input) = all.clone().find(|input| input.name == *name) else {
                continue;
            };
            if loaded.frames.count(name).is_some() {
                continue;
            }
            let set = match value {
                Value::Null => inputs.unset(name).map_err(|failure| failure.to_string()),
                value => values::from_page(value, &input_type(&input.ty), inputs.ints())
                    .and_then(|value| inputs.set(name, value).map_err(|f| f.to_string())),
            };
            if let Err(problem) = set {
                problems.push(format!("`{name}`: {problem}"));
            }
        }
        (inputs, problems)
    }

    /// Loads the frames that pages have chosen.
    fn load_frames(&mut self, inputs: &Inputs, set: &Map<String, Value>) -> Result<(), Failure> {
        let Some(loaded) = &mut self.loaded else {
            return Ok(());
        };
        let all = loaded.program.interface.inputs.iter();
        let frames = all.filter_map(|input| loaded.frames.frame(&input.name, set));
        let frames: Vec<usize> = frames.collect();
        if frames != loaded.loaded_frames {
            loaded.images = Images::load_changed(&loaded.program, inputs, &mut self.kept)?;
            loaded.loaded_frames = frames;
        }
        Ok(())
    }

    /// A run of the present inputs that has no strands yet.
    pub(super) fn prepare(&mut self, wishes: &Wishes) -> Option<Run> {
        let (inputs, problems) = self.inputs(&wishes.inputs);
        if let Err(failure) = self.load_frames(&inputs, &wishes.inputs) {
            self.fail_loaded(&failure);
            return None;
        }
        let loaded = self.loaded.as_ref()?;
        let run = Run::with_images(&loaded.program, &inputs, &loaded.images, &loaded.workers);
        match run {
            Ok(run) if problems.is_empty() => {
                self.tell_values(wishes, &inputs, &run);
                Some(run)
            }
            Ok(_) => {
                let message = problems.join("; ");
                self.fail_text(&message, &format!("error: {message}\n"));
                None
            }
            Err(failure) => {
                self.fail_loaded(&failure);
                None
            }
        }
    }
}
