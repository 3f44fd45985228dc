//! The mathematics of operators and regions as a reader of programs knows it: in the notation of the surface language.
//!
//! An operator is recognised by its EIN: a row of the operator table that says the same is written the way programs write
//! it. What no row says is taken apart into sums, products, quotients and functions that rows do say; and what cannot be
//! said with whole tensors is written component by component, in index notation (`sum[p](A[i,p]*b[p])`). A region becomes
//! lines, one for each value that has a name or is needed more than once.

mod components;
mod compose;
mod convert;
mod expr;
mod key;
mod latex;
mod layout;
mod product;
mod recognize;
mod text;
mod units;

pub use expr::Expr;
pub use layout::{Layout, Line, Written};
