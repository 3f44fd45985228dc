//! Watches files for changes, and reports the progress of long runs.

use super::wishes::Shared;
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// The time between two looks.
const PERIOD: Duration = Duration::from_millis(100);
/// The clock of a file system may be this much behind.
const CLOCK: Duration = Duration::from_millis(20);

/// The time of the last change of a file, and its size; nothing if there is no such file.
pub(super) type Stamp = Option<(SystemTime, u64)>;

/// A file whose changes matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watched {
    /// Whether it has data rather than text.
    pub(super) is_data: bool,
    /// Its stamp when it was read; nothing for certain if it may have changed meanwhile.
    read: Option<Stamp>,
}

impl Watched {
    /// A file that was read after a time.
    pub(super) fn new(file: &Path, is_data: bool, since: SystemTime) -> Watched {
        let stamp = stamp(file);
        let is_older = stamp.is_none_or(|(time, _)| time + CLOCK < since);
        Watched {
            is_data,
            read: is_older.then_some(stamp),
        }
    }
}

/// Looks at files until the viewer ends.
pub(super) fn watch(shared: &Shared) {
    // The stamps for which the engine was told to read again.
    let mut told: BTreeMap<PathBuf, Stamp> = BTreeMap::new();
    while !shared.is_over() {
        shared.sleep(PERIOD);
        if let Some(are_data) = changed(&mut told, &shared.files()) {
            shared.reload(are_data);
        }
        if let Some(control) = shared.running() {
            let (step, counts) = control.progress();
            let ended = counts.stable + counts.dead;
            let all = (ended + counts.active).max(1);
            shared.tell(
                "status",
                json!({
                    "state": "running",
                    "fraction": ended as f64 / all as f64,
                    "step": step,
                    "active": counts.active,
                    "stable": counts.stable,
                    "dead": counts.dead,
                }),
            );
        }
    }
}

/// Whether data are among the files that have changed since they were read; nothing if none has.
fn changed(
    told: &mut BTreeMap<PathBuf, Stamp>,
    files: &BTreeMap<PathBuf, Watched>,
) -> Option<bool> {
    let mut changed = None;
    for (file, watched) in files {
        let now = stamp(file);
        let is_known = watched.read == Some(now) || told.get(file) == Some(&now);
        if !is_known {
            told.insert(file.clone(), now);
            changed = Some(watched.is_data || changed == Some(true));
        }
    }
    changed
}

fn stamp(file: &Path) -> Stamp {
    let data = fs::metadata(file).ok()?;
    Some((data.modified().ok()?, data.len()))
}
