//! Fields from finite elements, against mathematics.

mod curved;
mod elements;
mod files;
mod location;
mod meshes;
mod polynomials;
mod reference;
