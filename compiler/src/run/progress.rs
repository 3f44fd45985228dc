//! The progress of a run.

use runtime::strands::Counts;

/// The length of a run, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Length {
    /// All strands, if none are created on the way.
    pub strands: Option<u64>,
    /// The super-steps after which it stops.
    pub limit: Option<u64>,
}

impl Length {
    /// The part of a run that is done, if that can be known.
    pub fn fraction(&self, step: u64, counts: Counts) -> Option<f64> {
        let by_strands = self
            .strands
            .map(|all| (counts.stable + counts.dead) as f64 / all.max(1) as f64);
        let by_steps = self.limit.map(|limit| step as f64 / limit.max(1) as f64);
        match (by_strands, by_steps) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
        .map(|fraction| fraction.min(1.0))
    }
}
