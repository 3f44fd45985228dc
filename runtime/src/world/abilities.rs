//! The features that decide how a program is run.

/// The features that a program uses. They decide how the program is run, never its results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Strands have a `start` method.
    pub starts: bool,
    /// Strands have a `stabilize` method.
    pub stabilizes: bool,
    /// Strand methods query neighbours or read the state of others.
    pub communicates: bool,
    /// Strand methods use `new`.
    pub creates: bool,
    /// Strand methods may use `die`.
    pub dies: bool,
    /// Strand methods ask how many strands there are.
    pub counts: bool,
    /// Strand methods print.
    pub prints: bool,
    /// Every strand ends in its first super-step, and prints in its update alone.
    pub ends_at_once: bool,
    /// There is a global `start` block.
    pub global_start: bool,
    /// There is a global `update` block.
    pub global_update: bool,
    /// Reductions over strands in global blocks may meet run-time errors.
    pub reductions_fail: bool,
}

impl Abilities {
    /// True when no strand can notice another, so that each may run to its end on its own. Printing
    /// strands are kept in step so that their text comes in the order of the super-steps.
    pub fn independent(self) -> bool {
        !self.notices_others() && !self.prints
    }

    /// True when strands may run to their ends one after the other. If there is only one super-step, their text needs no more than
    /// the order of strands.
    pub fn in_any_order(self) -> bool {
        !self.notices_others() && (!self.prints || self.ends_at_once)
    }

    fn notices_others(self) -> bool {
        self.communicates || self.creates || self.counts || self.global_update
    }
}
