//! From source text to typed program, with every error a program can have.

pub mod diag;
pub mod source;
pub mod syntax;
pub mod typed;
