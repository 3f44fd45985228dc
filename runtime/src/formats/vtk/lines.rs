//! The lines of a legacy VTK file, and the samples between them.

use crate::nrrd::SampleType;

/// The names of sample types. A `long` is taken to have eight bytes, as on all systems but Windows.
const TYPES: &[(&str, SampleType)] = &[
    ("char", SampleType::I8),
    ("signed_char", SampleType::I8),
    ("unsigned_char", SampleType::U8),
    ("short", SampleType::I16),
    ("unsigned_short", SampleType::U16),
    ("int", SampleType::I32),
    ("unsigned_int", SampleType::U32),
    ("long", SampleType::I64),
    ("unsigned_long", SampleType::U64),
    ("vtktypeint64", SampleType::I64),
    ("vtktypeuint64", SampleType::U64),
    ("vtkIdType", SampleType::I32),
    ("float", SampleType::F32),
    ("double", SampleType::F64),
];

/// The lines of a file, and where in it they end.
pub(super) struct Lines<'a> {
    pub(super) head: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Lines<'a> {
    /// The next line that is not empty.
    pub(super) fn next(&mut self) -> Result<&'a str, String> {
        loop {
            let rest = &self.head[self.at..];
            let Some(end) = rest.iter().position(|b| *b == b'\n') else {
                return Err(
                    "the file ends before the samples, or they are too far behind".to_string(),
                );
            };
            self.at += end + 1;
            let line =
                std::str::from_utf8(&rest[..end]).map_err(|_| "a line of the header is no text")?;
            if !line.trim().is_empty() {
                return Ok(line.trim());
            }
        }
    }

    /// The line that `next` would give.
    pub(super) fn peek(&mut self) -> Option<&'a str> {
        let before = self.at;
        let line = self.next().ok();
        self.at = before;
        line
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
            let end = bytes.and_then(|bytes| self.at.checked_add(bytes));
            self.at = end
                .filter(|end| *end <= self.head.len())
                .ok_or_else(beyond)?;
            return Ok(());
        }
        let mut left = count;
        while left > 0 {
            let line = self.next().map_err(|_| beyond())?;
            left = left.saturating_sub(line.split_whitespace().count());
        }
        Ok(())
    }
}

/// The type of a name.
pub(crate) fn sample_type(name: &str) -> Result<SampleType, String> {
    let row = TYPES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
    row.map(|(_, t)| *t)
        .ok_or_else(|| format!("the type `{name}` cannot be read"))
}
