//! The lines of a legacy VTK file, and the samples between them.

use crate::nrrd::SampleType;
use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Bytes of a file that are looked at together.
const WINDOW: u64 = 1 << 16;

/// The lines of a file, and where in it they end. Samples between them are passed over without being read.
pub(super) struct Lines<'a> {
    window: Cow<'a, [u8]>,
    /// Where the window begins in the file.
    start: u64,
    /// Where the next line begins in the window.
    at: usize,
    /// The file behind the first window, where there is one.
    file: Option<File>,
}

impl<'a> Lines<'a> {
    /// The lines of a file that begins so.
    pub(super) fn new(head: &'a [u8], file: Option<File>) -> Lines<'a> {
        Lines {
            window: Cow::Borrowed(head),
            start: 0,
            at: 0,
            file,
        }
    }

    /// How many bytes are before the next line.
    pub(super) fn position(&self) -> u64 {
        self.start + self.at as u64
    }

    /// The next line, empty or not; none at the end of the visible part of the file.
    fn raw(&mut self) -> Result<Option<String>, String> {
        let mut end = self.window[self.at..].iter().position(|b| *b == b'\n');
        if end.is_none() && self.move_to(self.position()) {
            end = self.window.iter().position(|b| *b == b'\n');
        }
        let Some(end) = end else {
            return Ok(None);
        };
        let line = &self.window[self.at..self.at + end];
        let line = std::str::from_utf8(line).map_err(|_| "a line of the header is not text")?;
        let line = line.trim().to_string();
        self.at += end + 1;
        Ok(Some(line))
    }

    /// Passes over a line, whatever it has.
    pub(super) fn pass(&mut self) {
        let mut end = self.window[self.at..].iter().position(|b| *b == b'\n');
        if end.is_none() && self.move_to(self.position()) {
            end = self.window.iter().position(|b| *b == b'\n');
        }
        self.at = end.map_or(self.window.len(), |end| self.at + end + 1);
    }

    /// Looks at the file from a place on, if there is one.
    fn move_to(&mut self, place: u64) -> bool {
        let Some(file) = &mut self.file else {
            return false;
        };
        let mut window = Vec::new();
        let read = file
            .seek(SeekFrom::Start(place))
            .and_then(|_| file.by_ref().take(WINDOW).read_to_end(&mut window));
        if read.is_err() {
            return false;
        }
        (self.window, self.start, self.at) = (Cow::Owned(window), place, 0);
        true
    }

    /// The next line that is not empty.
    pub(super) fn next(&mut self) -> Result<String, String> {
        let end = "the file ends before the samples, or they are too far behind";
        loop {
            let line = self.raw()?.ok_or(end)?;
            if !line.is_empty() {
                return Ok(line);
            }
        }
    }

    /// Takes the next line that is not empty, if it begins so.
    pub(super) fn take_if(&mut self, word: &str) -> bool {
        let mut moved = false;
        loop {
            let rest = &self.window[self.at..];
            let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
            let found = rest[blanks..].starts_with(word.as_bytes());
            let is_seen = rest.len() - blanks >= word.len() || moved && blanks == 0;
            if !is_seen && self.move_to(self.position() + blanks as u64) {
                moved = true;
                continue;
            }
            if found {
                self.at += blanks;
                self.pass();
            }
            return found;
        }
    }

    /// Passes over the metadata after an array, which ends with an empty line.
    pub(super) fn pass_metadata(&mut self) -> Result<(), String> {
        if self.take_if("METADATA") {
            while self.raw()?.is_some_and(|line| !line.is_empty()) {}
        }
        Ok(())
    }

    /// Passes over the values of an array.
    pub(super) fn skip(
        &mut self,
        count: usize,
        sample_type: SampleType,
        text: bool,
    ) -> Result<(), String> {
        let beyond =
            || "the file ends within an array, or the array is too long to look behind".to_string();
        if !text {
            let bytes = count.checked_mul(sample_type.size().unwrap_or(1));
            let bytes = bytes.ok_or_else(beyond)?;
            if bytes <= self.window.len() - self.at {
                self.at += bytes;
                return Ok(());
            }
            let place = self
                .position()
                .checked_add(bytes as u64)
                .ok_or_else(beyond)?;
            return self.move_to(place).then_some(()).ok_or_else(beyond);
        }
        match (0..count).all(|_| self.pass_word()) {
            true => Ok(()),
            false => Err(beyond()),
        }
    }

    /// Passes over a word, on whichever line it is; false at the end. All samples may be on one line.
    fn pass_word(&mut self) -> bool {
        loop {
            let rest = &self.window[self.at..];
            let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
            let length = rest[blanks..]
                .iter()
                .take_while(|b| !b.is_ascii_whitespace())
                .count();
            let is_whole = blanks + length < rest.len();
            self.at += blanks;
            // It may go on in the file.
            if is_whole || !(self.move_to(self.position()) && self.window.len() > length) {
                self.at = (self.at + length).min(self.window.len());
                return length > 0;
            }
        }
    }
}
