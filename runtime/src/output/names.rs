//! The names of files that are like another: numbered ones, and those beside it.

use std::ffi::{OsStr, OsString};

use super::contents::Number;
use crate::file_name::{FileName, split_last};

/// A name without the suffix of its format.
fn stem<'a>(file: &'a FileName, suffix: &str) -> &'a OsStr {
    let whole = file.as_os_str();
    match split_last(whole, b'.') {
        Some((stem, end)) if end.eq_ignore_ascii_case(suffix) => stem,
        _ => whole,
    }
}

/// A name with another end in the place of its suffix.
pub(super) fn ended(file: &FileName, suffix: &str, end: &str) -> FileName {
    let mut name = OsString::from(stem(file, suffix));
    name.push(end);
    name.into()
}

/// The file of a numbered one of several: `iso.png` becomes `iso-0050.png`.
pub(super) fn numbered(file: &FileName, suffix: &str, number: Number) -> FileName {
    ended(file, suffix, &format!("-{}.{suffix}", number.text()))
}
