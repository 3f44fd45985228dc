//! The names of files that are like another: numbered ones, and those beside it.

use std::ffi::{OsStr, OsString};

use super::contents::Number;
use crate::file_name::{FileName, split_last};

/// A name without a suffix, in letters of any case, if it ends in it. The suffix may have several parts.
pub(super) fn without_suffix<'a>(name: &'a OsStr, suffix: &str) -> Option<&'a OsStr> {
    suffix.rsplit('.').try_fold(name, |name, part| {
        let (stem, end) = split_last(name, b'.')?;
        end.eq_ignore_ascii_case(part).then_some(stem)
    })
}

/// A name without the suffix of its format.
fn stem<'a>(file: &'a FileName, suffix: &str) -> &'a OsStr {
    let whole = file.as_os_str();
    without_suffix(whole, suffix).unwrap_or(whole)
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
