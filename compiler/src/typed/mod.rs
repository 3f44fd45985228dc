//! From syntax tree to typed program.

pub mod tree;
