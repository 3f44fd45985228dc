//! The lines `Key = Value` of a MetaImage header.

use crate::formats::text::reals;

/// The lines of a header.
pub(super) struct Lines<'a> {
    pairs: Vec<(&'a str, &'a str)>,
    /// Bytes and lines up to the samples.
    pub(super) bytes: usize,
    pub(super) count: usize,
    /// What follows the last line.
    pub(super) rest: &'a [u8],
}

impl<'a> Lines<'a> {
    /// The lines up to that of the data file, which is the last.
    pub(super) fn read(head: &'a [u8]) -> Result<Lines<'a>, String> {
        let mut lines = Lines {
            pairs: Vec::new(),
            bytes: 0,
            count: 0,
            rest: head,
        };
        while let Some(end) = lines.rest.iter().position(|b| *b == b'\n') {
            let line = std::str::from_utf8(&lines.rest[..end]).ok();
            lines.bytes += end + 1;
            lines.count += 1;
            lines.rest = &lines.rest[end + 1..];
            // Comments may be in any encoding: a line that is not UTF-8 is skipped.
            let Some((key, value)) = line.and_then(|line| line.split_once('=')) else {
                continue;
            };
            lines.pairs.push((key.trim(), value.trim()));
            if key.trim() == "ElementDataFile" {
                return Ok(lines);
            }
        }
        // The last line of a header without samples may lack its end.
        let last = std::str::from_utf8(lines.rest).unwrap_or_default();
        match last.split_once('=') {
            Some((key, value)) if key.trim() == "ElementDataFile" => {
                lines.pairs.push((key.trim(), value.trim()));
                lines.rest = &[];
                Ok(lines)
            }
            _ => Err("the header has no line `ElementDataFile`".to_string()),
        }
    }

    /// The value of the first of the keys that is there.
    pub(super) fn find(&self, keys: &[&str]) -> Option<&'a str> {
        let of = |key: &&str| self.pairs.iter().find(|(k, _)| k == key).map(|(_, v)| *v);
        keys.iter().find_map(of)
    }

    pub(super) fn is_true(&self, keys: &[&str]) -> bool {
        self.find(keys)
            .is_some_and(|v| v.starts_with(['T', 't', '1']))
    }

    pub(super) fn reals(&self, keys: &[&str], count: usize) -> Result<Option<Vec<f64>>, String> {
        self.find(keys)
            .map(|text| reals(text, count, keys[0]))
            .transpose()
    }

    pub(super) fn required(&self, key: &str) -> Result<&'a str, String> {
        self.find(&[key])
            .ok_or_else(|| format!("the header has no line `{key}`"))
    }
}
