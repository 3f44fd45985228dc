//! The names of files as the system has them, and words of a command line that may be such names.
//!
//! A name need not be text: it may contain any bytes except zero. It is kept unchanged, and shown with escapes for invalid
//! UTF-8 and for control characters, which a terminal would obey.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// The name of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName(PathBuf);

impl<T: Into<OsString>> From<T> for FileName {
    fn from(name: T) -> FileName {
        FileName(PathBuf::from(name.into()))
    }
}

impl Deref for FileName {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for FileName {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl PartialEq<str> for FileName {
    fn eq(&self, other: &str) -> bool {
        self.0.as_os_str() == other
    }
}

impl PartialEq<&str> for FileName {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escaped(self.0.as_os_str()))
    }
}

/// A word as messages show it.
pub fn escaped(word: &OsStr) -> String {
    let mut shown = String::new();
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c.is_control() {
                true => shown.extend(c.escape_default()),
                false => shown.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// A word as text.
///
/// # Errors
/// It is not UTF-8; a sentence that shows it.
pub fn text(word: &OsStr) -> Result<&str, String> {
    let is_none = || format!("found `{}`, which is not UTF-8 text", escaped(word));
    word.to_str().ok_or_else(is_none)
}

/// The parts of a word before and after the first of an ASCII character.
pub fn split_first(word: &OsStr, mark: u8) -> Option<(&OsStr, &OsStr)> {
    let at = word.as_encoded_bytes().iter().position(|&b| b == mark)?;
    Some(split(word, at))
}

/// The parts of a word before and after the last of an ASCII character.
pub fn split_last(word: &OsStr, mark: u8) -> Option<(&OsStr, &OsStr)> {
    let at = word.as_encoded_bytes().iter().rposition(|&b| b == mark)?;
    Some(split(word, at))
}

/// The parts before and after the ASCII character at a place.
fn split(word: &OsStr, at: usize) -> (&OsStr, &OsStr) {
    let bytes = word.as_encoded_bytes();
    // SAFETY: the bytes are those of a word, divided on both sides of an ASCII character.
    unsafe {
        (
            OsStr::from_encoded_bytes_unchecked(&bytes[..at]),
            OsStr::from_encoded_bytes_unchecked(&bytes[at + 1..]),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn names_are_kept_and_shown_with_escapes() {
        use std::os::unix::ffi::OsStrExt;
        let rows: [(&[u8], &str); 4] = [
            (b"a.nrrd", "a.nrrd"),
            (b"a\xff.nrrd", "a\\xff.nrrd"),
            ("größe ∇.nrrd".as_bytes(), "größe ∇.nrrd"),
            (b"a\n\x1b[31m", "a\\n\\u{1b}[31m"),
        ];
        for (bytes, shown) in rows {
            let name = FileName::from(OsStr::from_bytes(bytes));
            assert_eq!(name.to_string(), shown);
            assert_eq!(name.as_os_str().as_bytes(), bytes);
        }
        let word = OsStr::from_bytes(b"-o=a\xff=b.png");
        let (option, value) = split_first(word, b'=').expect("a mark");
        assert_eq!(
            (option, value.as_bytes()),
            (OsStr::new("-o"), &b"a\xff=b.png"[..])
        );
        let (stem, suffix) = split_last(value, b'.').expect("a mark");
        assert_eq!(
            (stem.as_bytes(), suffix),
            (&b"a\xff=b"[..], OsStr::new("png"))
        );
        assert_eq!(
            text(value),
            Err("found `a\\xff=b.png`, which is not UTF-8 text".to_string())
        );
    }
}
