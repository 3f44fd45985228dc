//! Parts that several tests of the runtime share.

pub(crate) mod program;
pub(crate) mod ranks;
