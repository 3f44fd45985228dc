//! The progress of a run: a line on the terminal, or with `-v` a line of text from time to time.

use crate::run::Length;
use indicatif::{ProgressBar, ProgressStyle};
use runtime::{strands::Counts, world::Control};
use std::{
    collections::VecDeque,
    io::IsTerminal,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Tells how far a run is until it is finished.
pub(super) struct Progress {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Which of several runs goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The number of the run, from 0.
    pub(super) number: usize,
    /// The number of runs.
    pub(super) count: usize,
    /// When the first began.
    pub(super) since: Instant,
}

impl Part {
    /// The fraction of all runs that is done, if this is done of the present one.
    fn fraction(self, of_run: Option<f64>) -> f64 {
        (self.number as f64 + of_run.unwrap_or(0.0)) / self.count.max(1) as f64
    }

    /// The time left, if the rest goes on as it has until now.
    fn left(self, elapsed: Duration, fraction: f64) -> Option<Duration> {
        let seconds = elapsed.as_secs_f64() * (1.0 - fraction) / fraction;
        (seconds < 1e9).then(|| Duration::from_secs_f64(seconds))
    }
}

/// The time that the speed of a run is measured over.
const WINDOW: Duration = Duration::from_secs(10);
/// The time between two lines of text.
const PERIOD: Duration = Duration::from_secs(10);
/// The characters of a bar.
const BAR: usize = 24;

impl Progress {
    pub(super) fn start(
        control: Arc<Control>,
        length: Length,
        part: Option<Part>,
        verbose: bool,
        quiet: bool,
    ) -> Progress {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let is_terminal = std::io::stderr().is_terminal();
        let is_shown = (is_terminal && !quiet) || verbose;
        let thread = is_shown
            .then(|| std::thread::spawn(move || show(&control, length, part, is_terminal, &flag)));
        Progress { stop, thread }
    }

    pub(super) fn finish(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn show(
    control: &Control,
    length: Length,
    part: Option<Part>,
    is_terminal: bool,
    stop: &AtomicBool,
) {
    let bar = is_terminal.then(|| {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        bar
    });
    let start = Instant::now();
    let mut pace = Pace::default();
    let mut told = Duration::ZERO;
    while !stop.load(Ordering::Relaxed) {
        std::thread::park_timeout(Duration::from_millis(100));
        let elapsed = start.elapsed();
        let (step, counts) = control.progress();
        let fraction = length.fraction(step, counts);
        let mut text = |with_bar: bool| match part {
            Some(part) => {
                let fraction = part.fraction(fraction);
                let left = part.left(part.since.elapsed(), fraction);
                let run = format!("run {} of {}  ", part.number + 1, part.count);
                run + &line(step, counts, length, Some(fraction), left, with_bar)
            }
            None => {
                let left = fraction.and_then(|fraction| pace.left(elapsed, fraction));
                line(step, counts, length, fraction, left, with_bar)
            }
        };
        if let Some(bar) = &bar {
            bar.set_message(text(true));
            bar.tick();
        } else if elapsed >= told + PERIOD {
            told = elapsed;
            super::complain(&format!("{}\n", text(false)));
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

/// One line about a run.
fn line(
    step: u64,
    counts: Counts,
    length: Length,
    fraction: Option<f64>,
    left: Option<Duration>,
    with_bar: bool,
) -> String {
    let strands = match length.strands {
        Some(all) => format!(
            "{} of {} strands",
            grouped(counts.stable + counts.dead),
            grouped(all)
        ),
        None => format!(
            "{} active, {} stable, {} dead",
            grouped(counts.active),
            grouped(counts.stable),
            grouped(counts.dead)
        ),
    };
    let Some(fraction) = fraction else {
        return format!("super-step {}: {strands}", grouped(step));
    };
    let bar = match with_bar {
        true => {
            let done = (fraction * BAR as f64) as usize;
            let head = if done < BAR { ">" } else { "" };
            format!("[{}{head:<width$}] ", "=".repeat(done), width = BAR - done)
        }
        false => String::new(),
    };
    let left = left.map_or(String::new(), |left| format!("  ETA {}", clock(left)));
    format!(
        "{bar}{:.0} %  super-step {}  {strands}{left}",
        (fraction * 100.0).floor(),
        grouped(step)
    )
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// A number with a blank between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// How fast a run has been lately.
#[derive(Default)]
struct Pace {
    /// Times, each with the fraction that was done.
    seen: VecDeque<(Duration, f64)>,
}

impl Pace {
    /// The time left, if there is something to guess it from.
    fn left(&mut self, now: Duration, fraction: f64) -> Option<Duration> {
        self.seen.push_back((now, fraction));
        while self.seen.len() > 2 && now - self.seen[0].0 > WINDOW {
            self.seen.pop_front();
        }
        let (then, before) = self.seen[0];
        let rate = (fraction - before) / (now - then).as_secs_f64();
        let seconds = (1.0 - fraction) / rate;
        // Without measurable progress there is no estimate.
        (rate > 0.0 && seconds < 1e9).then(|| Duration::from_secs_f64(seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Counts = Counts {
        active: 33_600,
        stable: 56_000,
        dead: 400,
    };

    #[test]
    fn a_grid_knows_its_end_by_its_strands_and_others_by_their_limit() {
        let grid = Length {
            strands: Some(90_000),
            limit: None,
        };
        let limited = Length {
            strands: None,
            limit: Some(200),
        };
        let endless = Length {
            strands: None,
            limit: None,
        };
        let part = grid.fraction(50, COUNTS).expect("known");
        assert!((part - 56_400.0 / 90_000.0).abs() < 1e-12);
        assert_eq!(limited.fraction(50, COUNTS), Some(0.25));
        assert_eq!(endless.fraction(50, COUNTS), None);
        let left = Some(Duration::from_secs(12));
        assert_eq!(
            line(50, COUNTS, grid, Some(part), left, true),
            "[===============>        ] 62 %  super-step 50  56 400 of 90 000 strands  ETA 0:12"
        );
        assert_eq!(
            line(1234, COUNTS, endless, None, None, true),
            "super-step 1 234: 33 600 active, 56 000 stable, 400 dead"
        );
    }

    #[test]
    fn the_progress_of_several_runs_is_that_of_all() {
        let part = Part {
            number: 3,
            count: 10,
            since: Instant::now(),
        };
        assert!((part.fraction(Some(0.5)) - 0.35).abs() < 1e-12);
        assert!((part.fraction(None) - 0.3).abs() < 1e-12);
        let left = part.left(Duration::from_secs(30), 0.3);
        assert_eq!(left.map(|left| left.as_secs()), Some(70));
        let first = part.left(Duration::from_secs(30), 0.0);
        assert_eq!(first, None, "nothing to guess from");
    }

    #[test]
    fn the_time_left_follows_the_last_seconds() {
        let mut pace = Pace::default();
        let at = Duration::from_secs;
        assert_eq!(pace.left(at(0), 0.0), None);
        // A slow beginning does not count any more when the window has passed.
        pace.left(at(100), 0.1);
        let left = pace.left(at(105), 0.35).expect("known");
        assert_eq!(left.as_secs(), 13);
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
    }
}
