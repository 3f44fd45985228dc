//! Derivatives of one variable by another, `∂y/∂x`: all nestings of control flow against arithmetic of dual numbers, and random programs
//! against central differences of the same programs.

mod nestings;
mod random;
mod repeated;
#[path = "../stages/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod stages;

/// The library's steps along a flow, with the line that names the version.
const INTEGRATE: &str = include_str!("../../std/integrate.diderot");
