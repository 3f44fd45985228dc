//! `libdiderot`: the library of the compiler for C, a thin layer in which nothing unwinds and every error is an object of the caller.
//! Its manual is `include/diderot.h`, which is made of the declarations and comments of this crate:
//! `UPDATE_DOCS=1 cargo test --workspace --test clients`.
//!
//! # Safety
//! The same holds for all functions: pointers are null or point to objects of their type, and objects have not been freed.

#![allow(
    non_camel_case_types,
    reason = "types have the names that C gives them"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the promises of callers are stated once, above"
)]

mod config;
mod diagnostics;
mod error;
mod inputs;
mod outputs;
mod pointers;
mod program;
mod run;
mod types;

pub use config::*;
pub use error::*;
pub use inputs::*;
pub use outputs::*;
pub use program::*;
pub use run::*;
pub use types::*;
