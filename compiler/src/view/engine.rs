//! The thread that compiles and runs: it takes what pages want and answers with pictures, coarse ones first.

use super::{
    Given, Subject,
    frame::{self, Setting, Shown},
    interface, values,
    watch::Watched,
    wishes::{Export, Shared, Wishes},
};
use crate::{
    codegen::Compiled,
    front::{
        report::{located, render},
        source::Source,
    },
    pipeline::{self, Session, Stopped},
    run::{Failure, Images, Inputs, KeptFiles, Run, input_type, outputs},
    view::protocol::Action,
};
use runtime::{
    image::Level,
    output::{
        Domain,
        format::FileFormat,
        options::OutputOptions,
        write::{Contents, Style, write_bytes},
    },
    world::{RunEnd, Workers},
};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

/// While inputs change, a picture should take less than this.
const QUICK: f64 = 0.04;
/// A run that is expected to take longer is ended when inputs change.
const PATIENCE: f64 = 0.5;
/// Strands of the first picture, when their cost is not known.
const FIRST_STRANDS: usize = 4000;
/// The coarsest picture uses every 16th strand along each axis.
const COARSEST: u32 = 16;
/// A picture that takes longer to send goes in 8 bits.
const SLOW: f64 = 0.2;
/// Programs that evolve are shown about this often.
const PERIOD: f64 = 0.04;

pub(super) struct Engine {
    shared: Arc<Shared>,
    subject: Box<dyn Subject>,
    /// Images and meshes for further runs.
    kept: KeptFiles,
    /// The program, if it has no errors.
    loaded: Option<Loaded>,
    /// The last run that can be shown.
    shown: Option<ShownRun>,
    /// Whether pictures of the present inputs are yet to be made.
    course: Course,
    is_playing: bool,
    /// Super-steps that pages have asked for one by one.
    steps: u64,
    /// The estimated time of a strand in seconds.
    cost: Option<f64>,
    /// Files that pages wait for until the picture is final.
    exports: Vec<Export>,
}

/// A program that can run.
struct Loaded {
    source: Source,
    program: Compiled,
    given: Given,
    images: Images,
    workers: Workers,
    /// Whether its strands evolve together and are shown on their way.
    evolves: bool,
    /// Whether a part of its strands can be run alone.
    can_be_coarse: bool,
    shown: Vec<Shown>,
}

struct ShownRun {
    run: Run,
    stride: u32,
    full: Vec<usize>,
    is_final: bool,
    /// Whether pages have got its values as they are.
    is_exact: bool,
}

/// How far the pictures of the present inputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// Nothing more can be made of these inputs.
    Over,
    /// The finest picture so far has this stride.
    Refining(Option<u32>),
    /// The run goes on, step by step.
    Evolving,
}

impl Engine {
    pub(super) fn new(shared: Arc<Shared>, subject: Box<dyn Subject>) -> Engine {
        Engine {
            shared,
            subject,
            kept: KeptFiles::default(),
            loaded: None,
            shown: None,
            course: Course::Over,
            is_playing: true,
            steps: 0,
            cost: None,
            exports: Vec::new(),
        }
    }

    /// Answers until the viewer ends.
    pub(super) fn serve(mut self) {
        self.reload();
        loop {
            let wishes = self.shared.take(|wishes| self.is_idle(wishes));
            if wishes.is_over {
                return;
            }
            if wishes.reload {
                if wishes.has_new_data {
                    self.kept = KeptFiles::default();
                }
                self.reload();
            }
            let restart = self.steer(&wishes.actions);
            if wishes.has_changed || restart {
                self.begin();
            }
            if wishes.resend {
                self.send(&wishes, wishes.exact);
            }
            self.exports.extend(wishes.exports.iter().cloned());
            self.advance(&wishes);
            self.hand_over();
        }
    }

    /// Whether nothing is left to do until pages want something.
    fn is_idle(&self, wishes: &Wishes) -> bool {
        match self.course {
            Course::Over => true,
            Course::Refining(Some(1)) => true,
            Course::Refining(Some(stride)) if wishes.is_dragging => stride <= self.drag_stride(),
            Course::Refining(_) => false,
            // Without a page, a run that may never end waits.
            Course::Evolving if self.shown.is_none() => false,
            Course::Evolving => !(self.is_playing || self.steps > 0) || !wishes.is_watched,
        }
    }

    /// Takes wishes about the course of a run; true if it begins again.
    fn steer(&mut self, actions: &[Action]) -> bool {
        let mut restart = false;
        for action in actions {
            match action {
                Action::Play => {
                    self.is_playing = true;
                    restart |= self.course == Course::Over;
                }
                Action::Pause => self.is_playing = false,
                Action::Step => {
                    self.is_playing = false;
                    self.steps += 1;
                }
                Action::Restart => restart = true,
                Action::Stop => {
                    self.is_playing = false;
                    self.course = Course::Over;
                    self.status("paused");
                }
            }
        }
        if !self.is_playing && self.course == Course::Evolving && self.steps == 0 {
            self.status("paused");
        }
        restart
    }

    /// Reads and compiles the program again, and loads the files that have changed.
    fn reload(&mut self) {
        self.course = Course::Over;
        let since = SystemTime::now();
        let source = match self.subject.source() {
            Ok(source) => source,
            Err(message) => return self.fail_text(&message, &format!("error: {message}\n")),
        };
        let texts = source.paths().chain([source.path.as_path()]);
        let mut files: BTreeMap<PathBuf, bool> = texts.map(|file| (file.into(), false)).collect();
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
        let mut texts = crate::front::diag::in_order(diagnostics)
            .into_iter()
            .map(|one| render(&source, vec![one], false));
        let items = items.map(|item| {
            json!({
                "severity": item.severity,
                "message": item.message,
                "code": item.code,
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
        let watched = |(file, is_data): (PathBuf, bool)| {
            let watched = Watched::new(&file, is_data, since);
            (file, watched)
        };
        self.shared
            .set_files(files.into_iter().map(watched).collect());
        if is_good {
            self.begin();
        }
    }

    fn load(&mut self, source: Source, program: Compiled, files: &mut BTreeMap<PathBuf, bool>) {
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
        self.cost = None;
        self.loaded = Some(Loaded {
            can_be_coarse: is_alone && program.interface.grid,
            evolves,
            shown: interface::shown(&program),
            workers: Workers::from(given.workers),
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
                    &inputs.0,
                    &run,
                    evolves,
                );
                self.shared.tell("interface", message);
            }
            Err(failure) => self.fail_loaded(&failure),
        }
    }

    /// The inputs with the values that pages have set, and the problems with these.
    fn inputs(&self, set: &Map<String, Value>) -> (Inputs, Vec<String>) {
        let loaded = self.loaded.as_ref().expect("a program");
        let mut inputs = loaded.given.inputs.clone();
        let mut problems = Vec::new();
        for (name, value) in set {
            let all = loaded.program.interface.inputs.iter();
            // A page may still know an input that the program has lost.
            let Some(input) = all.clone().find(|input| input.name == *name) else {
                continue;
            };
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

    /// Begins to make pictures of the present inputs.
    fn begin(&mut self) {
        self.steps = 0;
        self.course = match &self.loaded {
            None => Course::Over,
            Some(loaded) if loaded.evolves => Course::Evolving,
            Some(_) => Course::Refining(None),
        };
        if self.course == Course::Evolving {
            self.shown = None;
        }
        self.shared.forget("printed");
    }

    /// Does the next piece of work.
    fn advance(&mut self, wishes: &Wishes) {
        if self.is_idle(wishes) {
            return;
        }
        match self.course {
            Course::Over => {}
            Course::Refining(done) => self.refine(done, wishes),
            Course::Evolving => self.evolve(wishes),
        }
    }

    /// A run of the present inputs that has no strands yet.
    fn prepare(&mut self, wishes: &Wishes) -> Option<Run> {
        let (inputs, problems) = self.inputs(&wishes.inputs);
        let loaded = self.loaded.as_ref()?;
        let run = Run::with_images(&loaded.program, &inputs, &loaded.images, &loaded.workers);
        match run {
            Ok(run) if problems.is_empty() => {
                self.tell_values(&inputs, &run);
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

    /// Makes the next finer picture.
    fn refine(&mut self, done: Option<u32>, wishes: &Wishes) {
        let start = Instant::now();
        let Some(mut run) = self.prepare(wishes) else {
            return;
        };
        let Some(loaded) = &self.loaded else { return };
        let full = sizes(&run.domain());
        let strands: usize = full.iter().product();
        let stride = match loaded.can_be_coarse {
            true => self.next_stride(done, strands, full.len(), wishes.is_dragging),
            false => 1,
        };
        run.set_stride(stride);
        let count = run.domain().strand_count();
        let expected = self.cost.map(|cost| cost * count as f64);
        let is_long = expected.is_none_or(|time| time > PATIENCE);
        self.shared
            .begin(run.control(), is_long || !wishes.is_dragging);
        let mut printed = Vec::new();
        let ended = run.run(loaded.given.limit, &mut printed, &mut []);
        self.shared.finish();
        let time = start.elapsed().as_secs_f64();
        if !printed.is_empty() {
            let text = String::from_utf8_lossy(&printed).into_owned();
            self.shared.tell("printed", json!({ "text": text }));
        }
        match ended {
            // New wishes have ended it.
            Ok(RunEnd::Cancelled) => {}
            Ok(_) => {
                self.cost = Some(time / count.max(1) as f64);
                self.course = Course::Refining(Some(stride));
                self.shown = Some(ShownRun {
                    run,
                    stride,
                    full,
                    is_final: stride == 1,
                    is_exact: false,
                });
                self.send(wishes, false);
                self.finish_if_final(time);
            }
            Err(failure) => self.fail_loaded(&failure),
        }
    }

    /// Runs some super-steps and shows the strands.
    fn evolve(&mut self, wishes: &Wishes) {
        let start = Instant::now();
        let is_new = self.shown.is_none();
        if is_new {
            let Some(mut run) = self.prepare(wishes) else {
                return;
            };
            if let Err(failure) = run.create() {
                return self.fail_loaded(&failure);
            }
            let full = sizes(&run.domain());
            self.cost = None;
            self.shown = Some(ShownRun {
                run,
                stride: 1,
                full,
                is_final: false,
                is_exact: false,
            });
            return self.send(wishes, false);
        }
        let (Some(loaded), Some(shown)) = (&self.loaded, &mut self.shown) else {
            return;
        };
        let run = &mut shown.run;
        let limit = loaded
            .given
            .limit
            .map(|limit| limit.saturating_sub(run.steps()));
        let steps = match (self.is_playing, self.cost) {
            (false, _) | (true, None) => 1,
            (true, Some(cost)) => ((PERIOD / cost) as u64).clamp(1, 10_000),
        };
        let steps = limit.map_or(steps, |limit| limit.min(steps));
        self.steps = self.steps.saturating_sub(1);
        self.shared.begin(run.control(), true);
        let mut printed = Vec::new();
        let ended = run.run(Some(steps), &mut printed, &mut []);
        self.shared.finish();
        let time = start.elapsed().as_secs_f64();
        self.cost = Some(time / steps.max(1) as f64);
        let is_at_limit = loaded.given.limit.is_some_and(|limit| run.steps() >= limit);
        if !printed.is_empty() {
            let text = String::from_utf8_lossy(&printed).into_owned();
            self.shared.tell("printed", json!({ "text": text }));
        }
        match ended {
            Ok(RunEnd::Cancelled) => {
                // Nothing of it can be read; the new wishes begin it again.
                self.shown = None;
            }
            Ok(end) => {
                let is_over = end != RunEnd::StepLimit || is_at_limit;
                shown.is_final = is_over;
                self.send(wishes, false);
                if is_over {
                    self.course = Course::Over;
                    self.finish_if_final(time);
                } else {
                    self.status(if self.is_playing { "running" } else { "paused" });
                }
            }
            Err(failure) => self.fail_loaded(&failure),
        }
    }

    /// The stride while inputs change: the finest that is quick to compute and to send.
    fn drag_stride(&self) -> u32 {
        let Some(shown) = &self.shown else {
            return COARSEST;
        };
        let strands: usize = shown.full.iter().product();
        self.quick_stride(strands, shown.full.len())
    }

    fn quick_stride(&self, strands: usize, axes: usize) -> u32 {
        let by_time = match self.cost {
            Some(cost) => QUICK / cost,
            None => FIRST_STRANDS as f64,
        };
        let bytes = self.loaded.as_ref().map_or(3, |loaded| {
            let outputs = outputs(&loaded.program.interface);
            outputs
                .iter()
                .map(|output| output.strand_size())
                .max()
                .unwrap_or(1)
        });
        let by_rate = self
            .shared
            .rate()
            .map_or(f64::INFINITY, |rate| rate * QUICK / bytes as f64);
        let most = by_time.min(by_rate);
        let is_quick = |stride: &u32| strands as f64 / f64::from(*stride).powi(axes as i32) <= most;
        [1, 2, 4, 8].into_iter().find(is_quick).unwrap_or(COARSEST)
    }

    /// The stride of the next picture.
    fn next_stride(&self, done: Option<u32>, strands: usize, axes: usize, dragging: bool) -> u32 {
        let quick = self.quick_stride(strands, axes);
        match done {
            None => quick,
            Some(_) if dragging => quick,
            // Pictures that are quick are not made on the way to finer ones.
            Some(done) => (done / 2).max(1).min(quick),
        }
    }

    /// Shows the last run to pages.
    fn send(&mut self, wishes: &Wishes, exact: bool) {
        let (Some(loaded), Some(shown)) = (&self.loaded, &mut self.shown) else {
            return;
        };
        let outputs = outputs(&loaded.program.interface);
        let chosen = wishes.output.as_ref();
        let found = chosen.and_then(|name| outputs.iter().position(|o| o.name == *name));
        // Without a choice, the first that is more than numbers.
        let is_seen = |shown: &Shown| *shown != Shown::Table;
        let first = || loaded.shown.iter().position(is_seen).unwrap_or(0);
        let n = found.unwrap_or_else(first);
        let Some(&how) = loaded.shown.get(n) else {
            return;
        };
        let values = shown.run.domain().strand_count() * outputs[n].strand_size().max(1);
        let is_slow = self
            .shared
            .rate()
            .is_some_and(|rate| 4.0 * values as f64 / rate > SLOW);
        let is_coded = !exact && (wishes.is_dragging || is_slow);
        shown.is_exact = !is_coded;
        let setting = Setting {
            frame: self.shared.next_frame(),
            set: wishes.set,
            stride: shown.stride,
            full: shown.full.clone(),
            is_final: shown.is_final,
            coded: is_coded.then_some(wishes.range),
        };
        if let Some(message) = frame::message(&shown.run, n, how, &setting) {
            self.shared.show(setting.frame, message);
        }
    }

    /// Reports the end of a run whose picture is final.
    fn finish_if_final(&mut self, time: f64) {
        let Some(shown) = self.shown.as_ref().filter(|shown| shown.is_final) else {
            return;
        };
        let Some(loaded) = &self.loaded else { return };
        let images = loaded.images.notes().iter().map(|note| {
            let severity = match note.level {
                Level::Warning => "warning",
                Level::Note => "note",
            };
            json!({ "severity": severity, "message": note.to_string() })
        });
        let warnings = shown.run.warnings().into_iter();
        let warnings = warnings.map(|text| json!({ "severity": "warning", "message": text }));
        let items: Vec<Value> = images.chain(warnings).collect();
        self.shared.tell("notes", json!({ "items": items }));
        self.tell_status("idle", Some(time));
        self.shared.set_final(true);
    }

    fn status(&self, state: &str) {
        self.tell_status(state, None);
    }

    fn tell_status(&self, state: &str, seconds: Option<f64>) {
        let counts = self.shown.as_ref().map(|shown| shown.run.counts());
        let counts = counts.unwrap_or_default();
        self.shared.tell(
            "status",
            json!({
                "state": state,
                "fraction": null,
                "step": self.shown.as_ref().map_or(0, |shown| shown.run.steps()),
                "active": counts.active,
                "stable": counts.stable,
                "dead": counts.dead,
                "milliseconds": seconds.map(|s| Duration::from_secs_f64(s).as_micros() as f64 / 1e3),
            }),
        );
    }

    /// Tells pages the values of all inputs, and the command line that uses them.
    fn tell_values(&self, inputs: &Inputs, run: &Run) {
        let Some(loaded) = &self.loaded else { return };
        let interface = &loaded.program.interface;
        let set = interface
            .inputs
            .iter()
            .filter(|i| inputs.value(&i.name).is_some());
        let names: Vec<&str> = set.clone().map(|input| input.name.as_str()).collect();
        let all = interface::all_values(&loaded.program, inputs, run);
        self.shared
            .tell("values", json!({ "inputs": all, "set": names }));
        if loaded.given.command.is_empty() {
            return;
        }
        let mut words = loaded.given.command.clone();
        for input in set {
            if let Some(value) = inputs.value(&input.name) {
                words.push(format!("-{}", input.name));
                words.extend(values::words_of(value, &input_type(&input.ty)));
            }
        }
        let line: Vec<String> = words.iter().map(|word| values::quoted(word)).collect();
        self.shared
            .tell("command", json!({ "line": line.join(" ") }));
    }

    /// Reports a failure of the present program.
    fn fail_loaded(&mut self, failure: &Failure) {
        let text = self
            .loaded
            .as_ref()
            .map(|loaded| failure.render(&loaded.source));
        self.fail_text(
            &failure.to_string(),
            &text.unwrap_or_else(|| failure.plain()),
        );
    }

    fn fail(&mut self, source: &Source, failure: &Failure) {
        self.fail_text(&failure.to_string(), &failure.render(source));
    }

    fn fail_text(&mut self, message: &str, text: &str) {
        self.course = Course::Over;
        self.shared
            .tell("failure", json!({ "message": message, "text": text }));
        self.status("failed");
        self.shared.set_final(true);
    }

    /// Makes the files that pages wait for, once the picture is final.
    fn hand_over(&mut self) {
        let is_final = self.shown.as_ref().is_some_and(|shown| shown.is_final);
        let can_come = self.course != Course::Over && !is_final;
        if can_come && self.course != Course::Evolving {
            return;
        }
        for export in std::mem::take(&mut self.exports) {
            let name = format!("{}.{}", export.output, export.format);
            export.page.hand_over(name, self.file(&export));
        }
    }

    /// The bytes of an output as a file.
    fn file(&self, export: &Export) -> Result<Vec<u8>, String> {
        let Some(shown) = self.shown.as_ref().filter(|shown| shown.run.is_readable()) else {
            return Err("there are no results".to_string());
        };
        let format = FileFormat::named(&export.format)
            .filter(|format| !format.is_film())
            .ok_or_else(|| format!("there is no format `{}`", export.format))?;
        let all = shown.run.outputs().ok_or("the results cannot be read")?;
        let own = all
            .iter()
            .position(|data| data.output.name == export.output);
        let own = own.ok_or_else(|| format!("there is no output `{}`", export.output))?;
        if format.is_pair(&all[own].output) {
            return Err(format!(
                "{} needs two files for this output",
                format.suffix()
            ));
        }
        // Files of points take the other outputs along.
        let together: Vec<_> = all.iter().map(|data| &data.output).collect();
        let domain = &all[own].domain;
        let data = match format.takes_several() && format.suits(&together, domain) {
            true => all.iter().collect(),
            false => vec![&all[own]],
        };
        let options = OutputOptions::default();
        let columns: Vec<_> = data.iter().map(|data| data.column(&options)).collect();
        let contents = Contents {
            columns: &columns,
            domain,
            place: shown.run.place(),
        };
        let style = Style {
            title: Some(export.output.clone()),
            ..Style::default()
        };
        let bytes = shown
            .run
            .on_workers(|| write_bytes(format, contents, &style));
        bytes.map_err(|error| error.to_string())
    }
}

/// The sizes of a grid, the slowest axis first; strands that are not a grid have one axis.
fn sizes(domain: &Domain) -> Vec<usize> {
    match domain {
        Domain::Grid(sizes) => sizes.clone(),
        Domain::List(count) => vec![*count],
    }
}
