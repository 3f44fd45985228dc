//! Answers to pages: pictures, states, values and failures.

use super::{Course, Engine};
use crate::{
    front::source::Source,
    run::{Failure, Inputs, Run, input_type, outputs},
    view::{
        frame::{self, Setting, Shown},
        interface, values,
        wishes::Wishes,
    },
};
use runtime::image::Level;
use serde_json::{Value, json};
use std::time::Duration;

/// A picture that takes longer to send, in seconds, goes in 8 bits.
const SLOW: f64 = 0.2;

impl Engine {
    /// Shows the last run to pages.
    pub(super) fn send(&mut self, wishes: &Wishes, exact: bool) {
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
        let setting = Setting {
            frame: self.shared.next_frame(),
            set: wishes.set,
            stride: shown.stride,
            full: shown.full.clone(),
            is_final: shown.is_final && !wishes.is_dragging,
            coded: is_coded.then_some(wishes.range),
        };
        let number = setting.frame;
        if let Some(making) = frame::message(&shown.run, &outputs, n, how, setting) {
            self.shared.show(number, making);
        }
    }

    /// Shows the last run. If its picture is the final one and inputs are at rest, reports its end.
    pub(super) fn show(&mut self, wishes: &Wishes) {
        self.send(wishes, false);
        let Some(shown) = &mut self.shown else { return };
        if wishes.is_dragging || !shown.is_final {
            return;
        }
        shown.is_settled = true;
        let time = shown.time;
        let shown = &*shown;
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

    pub(super) fn status(&self, state: &str) {
        self.tell_status(state, None);
    }

    pub(super) fn tell_status(&self, state: &str, seconds: Option<f64>) {
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
    pub(super) fn tell_values(&self, wishes: &Wishes, inputs: &Inputs, run: &Run) {
        let Some(loaded) = &self.loaded else { return };
        let interface = &loaded.program.interface;
        let set = interface
            .inputs
            .iter()
            .filter(|i| inputs.value(&i.name).is_some());
        let names: Vec<&str> = set.clone().map(|input| input.name.as_str()).collect();
        let mut all = interface::all_values(&loaded.program, inputs, run);
        for (name, value) in &mut all {
            if let Some(frame) = loaded.frames.frame(name, &wishes.inputs) {
                *value = json!(frame);
            }
        }
        self.shared.tell(
            "values",
            json!({ "id": wishes.set, "inputs": all, "set": names }),
        );
        if loaded.given.command.is_empty() {
            return;
        }
        let mut words = loaded.given.command.clone();
        loaded.frames.replace(&mut words, inputs);
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
    pub(super) fn fail_loaded(&mut self, failure: &Failure) {
        let text = self
            .loaded
            .as_ref()
            .map(|loaded| failure.render(&loaded.source));
        self.fail_text(
            &failure.to_string(),
            &text.unwrap_or_else(|| failure.plain()),
        );
    }

    pub(super) fn fail(&mut self, source: &Source, failure: &Failure) {
        self.fail_text(&failure.to_string(), &failure.render(source));
    }

    pub(super) fn fail_text(&mut self, message: &str, text: &str) {
        self.course = Course::Over;
        self.failure = Some(message.to_string());
        self.shared
            .tell("failure", json!({ "message": message, "text": text }));
        self.status("failed");
        self.shared.set_final(true);
    }
}
