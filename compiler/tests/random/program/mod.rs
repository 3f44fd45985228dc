//! Random programs: every construct of the language, well typed by construction, on values whose size stays bounded.

mod dice;
mod fields;
mod indices;
mod others;
mod parts;
mod scalars;
mod sequences;
mod statements;
mod tensors;
mod types;
mod writer;

pub(crate) use dice::Dice;
pub(crate) use writer::Purpose;

use writer::Writer;

/// Super-steps of a program, at most.
pub(crate) const STEPS: usize = 6;

/// The program of a seed.
pub(crate) fn program(seed: u64, purpose: Purpose) -> String {
    Writer::new(seed, purpose).program()
}
