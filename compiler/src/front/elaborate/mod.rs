//! Transformations of typed programs, after the check and before translation. Each is a function from tree to tree.

mod fuse;

use super::typed::tree::Program;

/// The program after all transformations.
pub(super) fn elaborated(program: Program) -> Program {
    fuse::fused(program)
}
