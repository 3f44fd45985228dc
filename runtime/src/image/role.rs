//! What an axis of an array is to an image.

/// What an axis is to an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An axis of the grid.
    Domain,
    /// The numbers of one sample, or some of them.
    Component,
    /// Of this axis only one index counts.
    Fixed(usize),
    /// Time: these frames count.
    Time(Span),
}

/// Frames that follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: usize,
    pub(crate) last: usize,
}

impl Span {
    /// A single frame.
    pub(crate) const ONE: Span = Span { first: 0, last: 0 };

    /// The number of frames.
    pub(crate) fn count(self) -> usize {
        self.last - self.first + 1
    }

    /// The number of a frame of the file among these, if it is one of them.
    pub(crate) fn place(self, frame: usize) -> Option<usize> {
        (self.first..self.last + 1)
            .contains(&frame)
            .then(|| frame - self.first)
    }
}
