//! Numbers of the things that a program defines.

/// A variable: a position in [`Program::vars`](super::tree::Program::vars).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub usize);

/// A user function: a position in [`Program::functions`](super::tree::Program::functions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub usize);

/// A compile-time constant, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConstId(pub(super) usize);
