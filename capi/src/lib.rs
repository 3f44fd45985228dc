//! `libdiderot`: the library of the compiler for C. `include/diderot.h` is its manual; this crate is a thin layer in which nothing
//! unwinds and every error is a status with a message.

mod inputs;
mod object;
mod program;
mod run;
mod types;

pub use inputs::*;
pub use object::diderot_message;
pub use program::*;
pub use run::*;
pub use types::*;
