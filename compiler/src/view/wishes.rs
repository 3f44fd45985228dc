//! The wishes of pages, shared by the threads of a viewer, and the newest messages to pages.

use super::{
    outbox::{Making, Outbox, Picture},
    protocol::{Action, Incoming},
    watch::Watched,
};
use runtime::world::Control;
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// After this time without a change, inputs are at rest even if no page has sent that.
const REST: Duration = Duration::from_millis(250);

/// The state that the threads of a viewer share.
#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    wishes: Wishes,
    pages: Vec<Arc<Outbox>>,
    /// The newest message of each kind, for pages that come later.
    latest: BTreeMap<&'static str, Value>,
    frame: Option<(u64, Arc<Picture>)>,
    /// The number of the last picture.
    frames: u64,
    /// The run under way, and whether a change of inputs ends it.
    running: Option<(Arc<Control>, bool)>,
    /// The files whose changes matter.
    files: BTreeMap<PathBuf, Watched>,
    is_final: bool,
    is_over: bool,
}

/// The wishes of pages. The engine takes them and answers.
#[derive(Default)]
pub(super) struct Wishes {
    /// The inputs that pages have set; `null` stands for the default.
    pub(super) inputs: Map<String, Value>,
    /// The number that the page gave to the last change of inputs.
    pub(super) set: u64,
    /// Whether inputs have changed since the engine took them.
    pub(super) has_changed: bool,
    /// Whether more changes are about to come.
    pub(super) is_dragging: bool,
    changed_at: Option<Instant>,
    /// The output to be shown.
    pub(super) output: Option<String>,
    /// The range of values in coarse pictures.
    pub(super) range: Option<[f64; 2]>,
    /// Whether the same values are to be sent again.
    pub(super) resend: bool,
    /// Whether pictures of the same values are wanted as they are.
    pub(super) exact: bool,
    /// Whether files have changed.
    pub(super) reload: bool,
    /// Whether data are among them.
    pub(super) has_new_data: bool,
    pub(super) actions: Vec<Action>,
    pub(super) exports: Vec<Export>,
    /// Whether a page looks.
    pub(super) is_watched: bool,
    pub(super) is_over: bool,
}

/// A file that a page asks for.
#[derive(Clone)]
pub(super) struct Export {
    pub(super) page: Arc<Outbox>,
    pub(super) output: String,
    pub(super) format: String,
    /// Options of the command, each with its value.
    pub(super) options: Vec<String>,
}

impl Shared {
    /// Adds a page and tells it what the others know.
    pub(super) fn open(&self, page: &Arc<Outbox>) {
        page.put("welcome", super::page::welcome());
        let mut state = self.lock();
        for (kind, value) in &state.latest {
            page.put(kind, value.clone());
        }
        if let Some((number, frame)) = &state.frame {
            page.show(*number, Arc::clone(frame));
        }
        state.pages.push(Arc::clone(page));
        self.changed.notify_all();
    }

    pub(super) fn close(&self, page: &Arc<Outbox>) {
        let mut state = self.lock();
        state.pages.retain(|other| !Arc::ptr_eq(other, page));
        self.changed.notify_all();
    }

    /// Takes a message of a page.
    pub(super) fn receive(&self, page: &Arc<Outbox>, message: Incoming) {
        match message {
            Incoming::Hello { .. } => {}
            Incoming::Set {
                id,
                inputs,
                dragging,
            } => {
                self.lock().wishes.set = id;
                self.set(inputs, dragging);
            }
            Incoming::Rest => self.change(|state| state.wishes.is_dragging = false),
            Incoming::Show { output, range } => self.change(|state| {
                let wishes = &mut state.wishes;
                // The range alone matters to coming pictures only.
                wishes.resend |= wishes.output.as_ref() != Some(&output);
                (wishes.output, wishes.range) = (Some(output), range);
            }),
            Incoming::Shown { frame } => page.drawn(frame),
            Incoming::Exact => self.change(|state| {
                state.wishes.exact = true;
                state.wishes.resend = true;
            }),
            Incoming::Run { action } => self.change(|state| {
                if let (Action::Stop | Action::Restart, Some((control, _))) =
                    (action, &state.running)
                {
                    control.cancel();
                }
                // A page that clicks faster than steps are made gets fewer.
                if state.wishes.actions.len() < 16 {
                    state.wishes.actions.push(action);
                }
            }),
            Incoming::Export {
                output,
                format,
                options,
            } => self.export(Export {
                page: Arc::clone(page),
                output,
                format,
                options,
            }),
        }
    }

    /// Asks for a file.
    pub(super) fn export(&self, export: Export) {
        self.change(|state| state.wishes.exports.push(export));
    }

    /// Sets inputs. A run that would take long is ended.
    pub(super) fn set(&self, inputs: Map<String, Value>, dragging: bool) {
        self.change(|state| {
            let wishes = &mut state.wishes;
            wishes.has_changed |= !inputs.is_empty();
            wishes.inputs.extend(inputs);
            wishes.is_dragging = dragging;
            wishes.changed_at = Some(Instant::now());
            state.is_final = false;
            if let Some((control, true)) = &state.running {
                control.cancel();
            }
        });
    }

    /// Files have changed, data among them or not.
    pub(super) fn reload(&self, are_data: bool) {
        self.change(|state| {
            state.wishes.reload = true;
            state.wishes.has_new_data |= are_data;
            state.is_final = false;
            if let Some((control, _)) = &state.running {
                control.cancel();
            }
        });
    }

    /// Takes the wishes. If there is nothing to do until pages want something, waits for that.
    pub(super) fn take(&self, is_idle: impl Fn(&Wishes) -> bool) -> Wishes {
        let mut state = self.lock();
        loop {
            let resting = state.wishes.changed_at.map(|since| since.elapsed() >= REST);
            if resting == Some(true) {
                state.wishes.is_dragging = false;
            }
            state.wishes.is_over = state.is_over;
            state.wishes.is_watched = !state.pages.is_empty();
            let wishes = &state.wishes;
            let is_asked = wishes.is_over
                || wishes.reload
                || wishes.has_changed
                || wishes.resend
                || !wishes.actions.is_empty()
                || !wishes.exports.is_empty();
            if is_asked || !is_idle(wishes) {
                break;
            }
            let wait = match wishes.is_dragging {
                true => REST,
                false => Duration::from_secs(3600),
            };
            let waited = self.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let wishes = &mut state.wishes;
        Wishes {
            inputs: wishes.inputs.clone(),
            set: wishes.set,
            has_changed: std::mem::take(&mut wishes.has_changed),
            is_dragging: wishes.is_dragging,
            changed_at: wishes.changed_at,
            output: wishes.output.clone(),
            range: wishes.range,
            resend: std::mem::take(&mut wishes.resend),
            exact: std::mem::take(&mut wishes.exact),
            reload: std::mem::take(&mut wishes.reload),
            has_new_data: std::mem::take(&mut wishes.has_new_data),
            actions: std::mem::take(&mut wishes.actions),
            exports: std::mem::take(&mut wishes.exports),
            is_watched: wishes.is_watched,
            is_over: wishes.is_over,
        }
    }

    /// A run begins. It is ended at once if its inputs are old already.
    pub(super) fn begin(&self, control: &Arc<Control>, can_be_ended: bool) {
        let mut state = self.lock();
        let is_old = state.wishes.has_changed && can_be_ended;
        if is_old || state.wishes.reload || state.is_over {
            control.cancel();
        }
        state.running = Some((Arc::clone(control), can_be_ended));
    }

    /// The run is over.
    pub(super) fn finish(&self) {
        self.lock().running = None;
    }

    /// The progress of a run under way.
    pub(super) fn running(&self) -> Option<Arc<Control>> {
        let state = self.lock();
        state
            .running
            .as_ref()
            .map(|(control, _)| Arc::clone(control))
    }

    /// Sends a text to all pages, and to those that come later.
    pub(super) fn tell(&self, kind: &'static str, value: Value) {
        let mut state = self.lock();
        for page in &state.pages {
            page.put(kind, value.clone());
        }
        match kind {
            "printed" => {
                // Only the beginning of a run is kept for later pages.
                let known = state.latest.entry(kind).or_insert(json!({ "text": "" }));
                let text = known["text"].as_str().unwrap_or_default();
                if text.len() < 1 << 14 {
                    let joined = format!("{text}{}", value["text"].as_str().unwrap_or_default());
                    known["text"] = json!(joined);
                }
            }
            _ => {
                state.latest.insert(kind, value);
            }
        }
    }

    /// Forgets the messages of a kind.
    pub(super) fn forget(&self, kind: &'static str) {
        self.lock().latest.remove(kind);
    }

    /// The number of the next picture.
    pub(super) fn next_frame(&self) -> u64 {
        let mut state = self.lock();
        state.frames += 1;
        state.frames
    }

    /// Shows a picture to all pages.
    pub(super) fn show(&self, number: u64, making: Making) {
        let frame = Arc::new(Picture::new(making));
        let mut state = self.lock();
        for page in &state.pages {
            page.show(number, Arc::clone(&frame));
        }
        state.frame = Some((number, frame));
    }

    /// The speed of the slowest connection in bytes per second, if it was measured.
    pub(super) fn rate(&self) -> Option<f64> {
        let state = self.lock();
        state
            .pages
            .iter()
            .filter_map(|page| page.rate())
            .reduce(f64::min)
    }

    /// Says whether there is nothing left to do for these inputs.
    pub(super) fn set_final(&self, is_final: bool) {
        let mut state = self.lock();
        state.is_final = is_final && !state.wishes.has_changed && !state.wishes.reload;
        self.changed.notify_all();
    }

    pub(super) fn wait_final(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut state = self.lock();
        while !state.is_final && !state.is_over {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// The values of all inputs in the last run.
    pub(super) fn values(&self) -> Value {
        let state = self.lock();
        let values = state
            .latest
            .get("values")
            .map(|values| values["inputs"].clone());
        values.unwrap_or(json!({}))
    }

    /// The files whose changes matter.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, Watched> {
        self.lock().files.clone()
    }

    pub(super) fn set_files(&self, files: BTreeMap<PathBuf, Watched>) {
        self.lock().files = files;
    }

    /// Ends everything.
    pub(super) fn end(&self) {
        self.change(|state| {
            state.is_over = true;
            if let Some((control, _)) = &state.running {
                control.cancel();
            }
            state.pages.iter().for_each(|page| page.close());
        });
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Waits for a time, or until everything ends.
    pub(super) fn sleep(&self, time: Duration) {
        let end = Instant::now() + time;
        let mut state = self.lock();
        while !state.is_over {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
