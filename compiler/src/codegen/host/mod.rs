//! What generated code calls back, and who answers: a super-step, or code outside of one.

mod dynamic;
mod entry;
mod global;
mod strands;

pub(super) use entry::{operate, print, report};
pub use global::{GlobalHost, Outside, Reducer, Reports};
