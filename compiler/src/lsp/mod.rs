//! The language server: diagnostics, hovers, completion and navigation for editors, by the protocol LSP.
//!
//! A change checks the whole program again, from the texts of the editor: that takes a few milliseconds, so nothing is kept from
//! one change to the next. All answers come from [`crate::front::facts`], which are there for programs with errors too.

mod actions;
mod completion;
mod diagnostics;
mod documents;
mod expected;
mod hover;
mod navigation;
mod pages;
mod positions;
mod server;
mod signature;
mod symbols;
mod tokens;

pub use server::{answer, serve};
