//! The times of frames, in seconds.
//!
//! A time axis is regular, or a table of times that increase strictly. Frame `n` is at the coordinate `n`, the *position in
//! time*; a table is linear between its times, and goes on with its first and last step outside.

use std::fmt;

/// The times of the frames of an image over time, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeAxis {
    /// The time of the first frame, and from one frame to the next.
    Regular {
        /// The time of the first frame.
        start: f64,
        /// The seconds from one frame to the next, greater than 0.
        step: f64,
    },
    /// The time of each frame: two at least, each later than the one before.
    Table(Vec<f64>),
}

/// How far the steps of a regular axis may be from their mean, relative to it.
const REGULAR: f64 = 1e-6;

/// The shortest step, and one over the farthest time: single precision has all of them, and one over them.
const LEAST: f64 = 1e-30;

/// Whether a number is a time.
fn is_time(time: f64) -> bool {
    time.abs() <= 1.0 / LEAST
}

impl TimeAxis {
    /// The axis of frames that have no times: their numbers, as seconds.
    pub const NUMBERS: TimeAxis = TimeAxis::Regular {
        start: 0.0,
        step: 1.0,
    };

    /// The axis of frames at regular times.
    ///
    /// # Errors
    /// The numbers are not finite, or the step is not greater than 0.
    pub fn regular(start: f64, step: f64) -> Result<TimeAxis, String> {
        if !is_time(start) {
            return Err(format!("the first frame has the time {start}"));
        }
        if !(is_time(step) && step >= LEAST) {
            return Err(format!(
                "the time from one frame to the next is {step}, wanted more than 0"
            ));
        }
        Ok(TimeAxis::Regular { start, step })
    }

    /// The axis of frames at these times: regular if all steps are the same up to rounding. A single frame has the step 1.
    ///
    /// # Errors
    /// There are no times, one is not finite, or one is not later than the one before.
    pub fn of_times(times: &[f64]) -> Result<TimeAxis, String> {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
            return Err("there are no times".to_string());
        };
        if let Some(n) = times.iter().position(|&time| !is_time(time)) {
            return Err(format!("frame {n} has the time {}", times[n]));
        }
        if let Some(n) = times.windows(2).position(|pair| pair[1] - pair[0] < LEAST) {
            return Err(format!(
                "frame {} is at {} s, which is not later than frame {n} at {} s",
                n + 1,
                times[n + 1],
                times[n]
            ));
        }
        if times.len() == 1 {
            return TimeAxis::regular(first, 1.0);
        }
        let mean = (last - first) / (times.len() - 1) as f64;
        let is_regular = |pair: &[f64]| ((pair[1] - pair[0]) - mean).abs() <= REGULAR * mean;
        match times.windows(2).all(is_regular) {
            true => TimeAxis::regular(first, mean),
            false => Ok(TimeAxis::Table(times.to_vec())),
        }
    }

    /// The time of the first frame.
    pub fn start(&self) -> f64 {
        match self {
            TimeAxis::Regular { start, .. } => *start,
            TimeAxis::Table(times) => times[0],
        }
    }

    /// The time of the last of `frames` frames.
    pub fn end(&self, frames: usize) -> f64 {
        self.time(frames.saturating_sub(1))
    }

    /// The time of a frame; a table has one for each of its frames only, and the last one for those after them.
    pub fn time(&self, frame: usize) -> f64 {
        match self {
            TimeAxis::Regular { start, step } => start + frame as f64 * step,
            TimeAxis::Table(times) => times[frame.min(times.len() - 1)],
        }
    }

    /// The position of a time among the frames, and its derivative by time.
    pub fn position(&self, time: f64) -> (f64, f64) {
        match self {
            TimeAxis::Regular { start, step } => ((time - start) / step, 1.0 / step),
            TimeAxis::Table(times) => {
                let before = interval(times, time);
                let rate = 1.0 / (times[before + 1] - times[before]);
                (before as f64 + (time - times[before]) * rate, rate)
            }
        }
    }

    /// The axis of the frames from `first` to `last`.
    pub fn span(&self, first: usize, last: usize) -> TimeAxis {
        match self {
            TimeAxis::Regular { step, .. } => TimeAxis::Regular {
                start: self.time(first),
                step: *step,
            },
            // A part of a table may be regular.
            TimeAxis::Table(times) => TimeAxis::of_times(&times[first..last + 1])
                .unwrap_or_else(|_| TimeAxis::Table(times.clone())),
        }
    }

    /// The same axis with the first frame at 0.
    pub fn from_zero(&self) -> TimeAxis {
        self.moved(-self.start())
    }

    /// The same axis, later by some seconds.
    pub fn moved(&self, seconds: f64) -> TimeAxis {
        match self {
            TimeAxis::Regular { start, step } => TimeAxis::Regular {
                start: start + seconds,
                step: *step,
            },
            TimeAxis::Table(times) => {
                TimeAxis::Table(times.iter().map(|time| time + seconds).collect())
            }
        }
    }

    /// The warning that single precision cannot tell the frames apart well, if that is so; the option would help.
    pub fn beyond_single(&self, frames: usize, option: &str) -> Option<String> {
        let farthest = self.start().abs().max(self.end(frames).abs());
        let apart = f64::from(f32::EPSILON) * farthest;
        self.exceeds_single(frames).then(|| format!(
            "times near {farthest} s are {apart:.2} s apart in single precision; `{option} zero=first` counts them from the first frame"
        ))
    }

    /// Whether single precision cannot tell the frames apart well enough: the last is farther from 0 than 2²⁰ steps.
    pub fn exceeds_single(&self, frames: usize) -> bool {
        let farthest = self.start().abs().max(self.end(frames).abs());
        let step = match self {
            TimeAxis::Regular { step, .. } => *step,
            TimeAxis::Table(times) => {
                let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
                steps.fold(f64::INFINITY, f64::min)
            }
        };
        frames > 1 && farthest > f64::from(1 << 20) * step
    }
}

/// Units of time, and their seconds.
#[rustfmt::skip]
const UNITS: &[(&[&str], f64)] = &[
    (&["s", "sec", "secs", "second", "seconds"], 1.0),
    (&["ms", "msec", "msecs", "millisec", "millisecs", "millisecond", "milliseconds"], 1e-3),
    (&["us", "µs", "μs", "usec", "microsec", "microsecond", "microseconds"], 1e-6),
    (&["ns", "nsec", "nanosec", "nanosecond", "nanoseconds"], 1e-9),
    (&["ps", "picosecond", "picoseconds"], 1e-12),
    (&["fs", "femtosecond", "femtoseconds"], 1e-15),
    (&["min", "mins", "minute", "minutes"], 60.0),
    (&["h", "hr", "hrs", "hour", "hours"], 3600.0),
    (&["d", "day", "days"], 86400.0),
    (&["week", "weeks"], 604_800.0),
];

/// The seconds of a unit of time, in any case, if it is a known one of fixed length.
pub(crate) fn seconds(unit: &str) -> Option<f64> {
    let unit = unit.trim().trim_matches('"').to_lowercase();
    let row = UNITS.iter().find(|(names, _)| names.contains(&&unit[..]))?;
    Some(row.1)
}

/// The interval of an increasing table in which a number is: the last that begins at or before it, or else the first.
pub(crate) fn interval(times: &[f64], time: f64) -> usize {
    let not_after = times.partition_point(|&begin| begin <= time);
    not_after.saturating_sub(1).min(times.len() - 2)
}

impl fmt::Display for TimeAxis {
    /// As `info` prints it after the number of frames: `every 2.5 s from 0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeAxis::Regular { start, step } => write!(f, "every {step} s from {start}"),
            TimeAxis::Table(times) => {
                let last = times[times.len() - 1];
                write!(f, "at irregular times from {} to {last} s", times[0])
            }
        }
    }
}
