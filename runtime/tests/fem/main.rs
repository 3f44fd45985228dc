//! Fields from finite elements, against mathematics.

mod collapsed;
mod curved;
mod distorted;
mod elements;
mod files;
mod foreign;
mod lanes;
mod location;
mod meshes;
mod pieces;
mod polynomials;
mod reference;
#[path = "../seeds/mod.rs"]
mod seeds;
mod thin;
mod wedges;
