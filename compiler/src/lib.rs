//! The Diderot compiler.

pub mod source;
pub mod syntax;
