//! The Diderot compiler.
