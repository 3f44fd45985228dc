//! The parts of VTK's formats that files of images, points and meshes share.

mod data;
mod lz4;
mod packing;
mod types;

pub(crate) use data::{advice, suffix};
pub(crate) use packing::{Compression, HeaderType, Packing};
pub(crate) use types::{legacy_type, xml_type};
