//! Facts about a file beside its header, which decide how its samples become an image.

use super::ImageError;
use crate::grid::Since;

/// The facts about a file that its NRRD header cannot hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Which half of symmetric matrices is stored.
    pub(crate) triangle: Option<Triangle>,
    /// Whether vectors are in the space of positions.
    pub(crate) vectors: VectorSpace,
    /// The axis from which on the samples are stored the other way round: the last axis is the fastest of them.
    pub(crate) reversed_from: Option<usize>,
    /// How users of the format number its axes.
    pub(crate) numbering: Numbering,
    /// When the frames are.
    pub(crate) times: FrameTimes,
    /// The date from which times are counted.
    pub(crate) since: Option<Since>,
}

/// The times of the frames of a file.
#[derive(Clone, Debug, Default)]
pub(crate) enum FrameTimes {
    /// The axis of time in the header has the first one and the step, as far as they are known.
    #[default]
    Header,
    /// At these seconds.
    Seconds(Vec<f64>),
    /// They cannot be told in seconds, for this reason. Images without time do not need them.
    Unknown(ImageError),
}

/// Whether vectors of a format are in the space of its positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum VectorSpace {
    /// They are.
    #[default]
    Same,
    /// The format does not say.
    Unknown,
}

/// How users number the axes of arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// From the fastest to the slowest; a header has kinds of axes.
    #[default]
    FastestFirst,
    /// From the slowest to the fastest, as NumPy does, whose files say nothing else of axes.
    SlowestFirst,
}

/// Which half of a symmetric matrix is stored, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triangle {
    /// xx xy xz yy yz zz, as the kinds of NRRD have it.
    Upper,
    /// xx yx yy zx zy zz, as NIfTI has it.
    Lower,
}
