//! Images, strands and files: what a running Diderot program needs.

pub mod abi;
pub mod eigen;
pub mod image;
pub mod input;
pub mod inverse;
pub mod math;
pub mod neighbours;
pub mod nrrd;
pub mod output;
pub mod png;
pub mod print;
pub mod probe;
pub mod reduce;
pub mod sequence;
pub mod simd;
pub mod strands;
pub mod world;
