//! The parts of VTK's formats that files of images, points and meshes share.

mod base64;
mod character_data;
mod data;
mod document;
mod packing;
mod types;

pub(crate) use character_data::CharacterData;
pub(crate) use data::{advice, advice_on_images, is_mesh, suffix};
pub(crate) use document::{appended, endian, header_type};
pub(crate) use packing::{Compression, HeaderType, Packing};
pub(crate) use types::{legacy_type, xml_type};
