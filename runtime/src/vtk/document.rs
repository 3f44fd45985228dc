//! The first tags of VTK's XML files, and where appended arrays begin.

use super::packing::HeaderType;
use crate::nrrd::Endian;
use crate::xml::Tag;

/// The order of the bytes of a file, by its tag `VTKFile`.
pub(crate) fn endian(file: &Tag<'_>) -> Endian {
    match file.get("byte_order").as_deref() {
        Some("BigEndian") => Endian::Big,
        _ => Endian::Little,
    }
}

/// The numbers in front of samples, by the tag `VTKFile`.
pub(crate) fn header_type(file: &Tag<'_>) -> HeaderType {
    match file.get("header_type").as_deref() {
        Some("UInt64") => HeaderType::Wide,
        _ => HeaderType::Narrow,
    }
}

/// The place in a file where appended arrays begin, after the mark that follows the tag `AppendedData`, and whether they are
/// base64.
pub(crate) fn appended(file: &[u8], tag: &Tag<'_>) -> Option<(usize, bool)> {
    let mark = file[tag.end..].iter().position(|b| *b == b'_')?;
    let is_raw = tag.get("encoding").as_deref() == Some("raw");
    Some((tag.end + mark + 1, !is_raw))
}
