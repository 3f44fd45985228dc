//! The status of a method: how it ended.

/// Nothing has ended it yet; the strand stays active.
pub const RUNNING: i64 = 0;
/// `continue`: the strand stays active.
pub const CONTINUE: i64 = 1;
/// `stabilize`
pub const STABILIZE: i64 = 2;
/// `die`
pub const DIE: i64 = 3;
