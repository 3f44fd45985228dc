//! Numbers of the things that a program defines.

pub(super) use super::tree::{FunctionId, VarId};

/// A compile-time constant, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConstId(pub(super) usize);
