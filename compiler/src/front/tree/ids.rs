//! Numbers of the things that a program defines.

/// A variable: a position in [`Program::vars`](super::Program::vars).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub usize);

/// A user function: a position in [`Program::functions`](super::Program::functions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub usize);
