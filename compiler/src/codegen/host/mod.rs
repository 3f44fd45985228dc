//! The functions that generated code calls back, and their two implementations: in a super-step, and outside of one.

mod dynamic;
mod entry;
mod fem;
mod global;
mod strands;

pub(super) use entry::{operate, print, report, text_of};
pub(super) use fem::fem;
pub use global::{GlobalHost, Outside, Reducer, Reports};
