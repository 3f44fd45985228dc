//! Limits of compilation: programs that the checker accepts and that cannot be compiled, or would take too much time or memory.

pub(crate) mod closed_form;
mod code_size;
pub(crate) mod observed;
mod probes;
mod scales;
mod unsupported;

use super::{diag::Diagnostic, tree::Program};

/// An error for every limit that a program exceeds.
pub(super) fn exceeded(program: &Program) -> Vec<Diagnostic> {
    let mut found = unsupported::unsupported(program);
    found.extend(code_size::too_much_code(program));
    found.extend(scales::circular_scales(program));
    found.extend(probes::too_many_probes(program));
    found
}
