//! The thread that compiles and runs: it takes what pages want and answers with pictures, coarse ones first.

mod answer;
mod export;
mod load;

use super::{
    Given, Subject,
    chosen_frames::FrameInputs,
    frame::Shown,
    pace::{Pace, STRIDES},
    protocol::Action,
    wishes::{Export, Shared, Wishes},
};
use crate::{
    codegen::Compiled,
    front::source::Source,
    run::{Images, KeptFiles, Run, outputs},
};
use runtime::{
    memory::Shortage,
    output::Domain,
    world::{RunEnd, Workers},
};
use serde_json::json;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

/// While inputs change, a picture should take less than this.
const QUICK: f64 = 0.03;
/// A run that is expected to take longer is ended when inputs change.
const PATIENCE: f64 = 0.5;
/// Programs that evolve are shown about this often.
const PERIOD: f64 = 0.04;

pub(super) struct Engine {
    shared: Arc<Shared>,
    subject: Box<dyn Subject>,
    /// Images and meshes for further runs.
    kept: KeptFiles,
    /// The program, if it has no errors.
    loaded: Option<Loaded>,
    /// The failure of the last run, if it failed.
    failure: Option<String>,
    /// The last run that can be shown.
    shown: Option<ShownRun>,
    /// Whether pictures of the present inputs are yet to be made.
    course: Course,
    is_playing: bool,
    /// Super-steps that pages have asked for one by one.
    steps: u64,
    /// The times of pictures.
    pace: Pace,
    /// The time of a super-step of a program that evolves, in seconds.
    step_time: Option<f64>,
    /// Files that pages wait for until the picture is final.
    exports: Vec<Export>,
}

/// A program that can run.
struct Loaded {
    source: Source,
    program: Compiled,
    given: Given,
    /// The images that are frames of files, and those that are loaded.
    frames: FrameInputs,
    loaded_frames: Vec<usize>,
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
    /// The time that it took in seconds.
    time: f64,
    /// Whether it was shown as the final one, while no inputs were changing.
    is_settled: bool,
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
            failure: None,
            shown: None,
            course: Course::Over,
            is_playing: true,
            steps: 0,
            pace: Pace::default(),
            step_time: None,
            exports: Vec::new(),
        }
    }

    /// Answers until the viewer ends. A run for which there is no memory, or that shows a fault, is not the last one.
    pub(super) fn serve(mut self) {
        self.guard(Engine::reload);
        loop {
            let coarse = self.drag_stride();
            let wishes = self.shared.take(|wishes| self.is_idle(wishes, coarse));
            if wishes.is_over {
                return;
            }
            self.guard(|engine| engine.answer(&wishes));
        }
    }

    fn answer(&mut self, wishes: &Wishes) {
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
            self.send(wishes, wishes.exact);
        }
        self.exports.extend(wishes.exports.iter().cloned());
        self.advance(wishes);
        self.hand_over();
    }

    /// Does a piece of work. If it ends by unwinding, reports that as a failure of the run.
    fn guard(&mut self, work: impl FnOnce(&mut Engine)) {
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(self))) else {
            return;
        };
        // The run may be in any state; program and images do not change while it runs.
        self.shown = None;
        self.shared.finish();
        let message = match panic.downcast_ref::<Shortage>() {
            Some(shortage) => format!("out of memory: {shortage}"),
            None => "this is a fault of diderotc; please report it, with the program".to_string(),
        };
        self.fail_text(&message, &format!("error: {message}\n"));
        self.hand_over();
    }

    /// Whether nothing is left to do until pages want something. While inputs change, a picture of the stride `coarse` is enough.
    fn is_idle(&self, wishes: &Wishes, coarse: u32) -> bool {
        match self.course {
            Course::Over => true,
            Course::Refining(Some(1)) => {
                let shown = self.shown.as_ref();
                wishes.is_dragging || shown.is_none_or(|shown| shown.is_settled)
            }
            Course::Refining(Some(stride)) if wishes.is_dragging => stride <= coarse,
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
                    restart |= self.course != Course::Evolving;
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

    /// Begins to make pictures of the present inputs.
    fn begin(&mut self) {
        self.steps = 0;
        self.course = match &self.loaded {
            None => Course::Over,
            Some(loaded) if loaded.evolves => Course::Evolving,
            Some(_) => Course::Refining(None),
        };
        self.failure = None;
        match &mut self.shown {
            shown if self.course == Course::Evolving => *shown = None,
            Some(shown) => shown.is_final = false,
            None => {}
        }
        self.shared.forget("printed");
    }

    /// Does the next piece of work.
    fn advance(&mut self, wishes: &Wishes) {
        if self.is_idle(wishes, self.drag_stride()) {
            return;
        }
        match self.course {
            Course::Over => {}
            Course::Refining(Some(1)) => self.show(wishes),
            Course::Refining(done) => self.refine(done, wishes),
            Course::Evolving => self.evolve(wishes),
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
        let expected = self.pace.expected(strands, stride, full.len());
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
                self.pace.note(strands, stride, time);
                self.course = Course::Refining(Some(stride));
                self.shown = Some(ShownRun {
                    run,
                    stride,
                    full,
                    is_final: stride == 1,
                    time,
                    is_settled: false,
                });
                self.show(wishes);
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
            self.step_time = None;
            self.shown = Some(ShownRun {
                run,
                stride: 1,
                full,
                is_final: false,
                time: 0.0,
                is_settled: false,
            });
            self.send(wishes, false);
            return self.status(if self.is_playing { "running" } else { "paused" });
        }
        let (Some(loaded), Some(shown)) = (&self.loaded, &mut self.shown) else {
            return;
        };
        let run = &mut shown.run;
        let limit = loaded
            .given
            .limit
            .map(|limit| limit.saturating_sub(run.steps()));
        let steps = match (self.is_playing, self.step_time) {
            (false, _) | (true, None) => 1,
            (true, Some(time)) => ((PERIOD / time) as u64).clamp(1, 10_000),
        };
        let steps = limit.map_or(steps, |limit| limit.min(steps));
        self.steps = self.steps.saturating_sub(1);
        self.shared.begin(run.control(), true);
        let mut printed = Vec::new();
        let ended = run.run(Some(steps), &mut printed, &mut []);
        self.shared.finish();
        let time = start.elapsed().as_secs_f64();
        self.step_time = Some(time / steps.max(1) as f64);
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
                (shown.is_final, shown.time) = (is_over, time);
                if is_over {
                    self.course = Course::Refining(Some(1));
                    self.show(wishes);
                } else {
                    self.send(wishes, false);
                    self.status(if self.is_playing { "running" } else { "paused" });
                }
            }
            Err(failure) => self.fail_loaded(&failure),
        }
    }

    /// The stride while inputs change: the finest that is quick to compute and to send.
    fn drag_stride(&self) -> u32 {
        let Some(shown) = &self.shown else {
            return STRIDES[STRIDES.len() - 1];
        };
        let strands: usize = shown.full.iter().product();
        self.quick_stride(strands, shown.full.len())
    }

    fn quick_stride(&self, strands: usize, axes: usize) -> u32 {
        let bytes = self.loaded.as_ref().map_or(3, |loaded| {
            let outputs = outputs(&loaded.program.interface);
            outputs
                .iter()
                .map(|output| output.strand_size())
                .max()
                .unwrap_or(1)
        });
        let rate = self.shared.rate();
        let most = rate.map_or(f64::INFINITY, |rate| rate * QUICK / bytes as f64);
        self.pace.stride(strands, axes, QUICK, most)
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
}

/// The sizes of a grid, the slowest axis first; strands that are not a grid have one axis.
fn sizes(domain: &Domain) -> Vec<usize> {
    match domain {
        Domain::Grid(sizes) => sizes.clone(),
        Domain::List(count) => vec![*count],
    }
}
