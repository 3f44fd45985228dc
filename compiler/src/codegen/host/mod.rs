//! What generated code calls back.

mod dynamic;
mod global;
mod print;

pub(super) use dynamic::{HostCall, call_global, call_strands};
pub use global::{GlobalHost, Outside, Reducer, Reports};
pub(super) use print::{
    PrintStatement, print_global, print_strands, report_global, report_strands,
};
