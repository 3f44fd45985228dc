//! The Diderot compiler: from source text to pixels.
//!
//! [`pipeline`] lists the stages, one line each; [`run`] loads inputs and images and hands the code to the scheduler of the
//! crate `runtime`; [`command`] is the command `diderotc`. All IRs are dialects over one container ([`ssa`]); [`interpret`]
//! runs whole programs in any IR and is what stages and machine code are tested against.
//!
//! `docs/architecture.md` in the repository says how it is made, and `docs/book` how it is used.

pub mod codegen;
pub mod command;
pub mod device;
pub mod explain;
pub mod format;
pub mod front;
pub mod high;
pub mod interpret;
pub mod ir;
pub mod low;
pub mod lsp;
pub mod mid;
pub mod pipeline;
pub mod run;
pub mod ssa;
pub mod view;
