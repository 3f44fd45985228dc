//! Device-IR: Low-IR with all primitives expanded, for machines that the runtime's primitives are not compiled for.
//!
//! Probes, elementary functions and eigensystems are scalar operations here, the same ones in the same order as in the
//! primitives, so that the results are the same bits. Sequences of varying length, printing and other strands stay as
//! they are in Low-IR; [`unsupported`] says which programs have none of these where strands run.

mod dialect;
mod expand;
mod probe;
mod support;
mod tape;

pub use dialect::{Arithmetic, Device, Op, Table, Ty, Width};
pub use expand::{expand, lower};
pub use support::{
    Construct, Demand, METHODS, demands, has_wide_probes, planes, reduces, sphere, unsupported,
};
