//! Numbered pictures as one array: `slice%03d.tif 1 120` are 120 files, the slowest axis goes through them.

use std::path::{Path, PathBuf};

use super::ImageError;
use super::Source;
use crate::nrrd::{Axis, Header, Kind};

/// A pattern and its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stack {
    before: String,
    width: usize,
    after: String,
    numbers: Vec<u64>,
}

/// The most files of a stack: more are a mistake in the numbers.
const MOST: u64 = 1_000_000;

impl Stack {
    /// The stack that a text stands for: a name with `%d` or `%03d` in it, the first and the last number, and a step
    /// that may be left out.
    pub(super) fn parse(text: &str) -> Option<Stack> {
        let at = text.rfind('%')?;
        let (width, after) = text[at + 1..].split_once('d')?;
        if !width.bytes().all(|b| b.is_ascii_digit()) || width.len() > 2 {
            return None;
        }
        // The numbers stand at the end, because names may have blanks in them.
        let (mut name, mut numbers) = (after, Vec::new());
        while let Some((rest, word)) = name.rsplit_once(' ')
            && numbers.len() < 3
            && let Ok(number) = word.parse::<u64>()
        {
            numbers.insert(0, number);
            name = rest;
        }
        let (first, last, step) = match numbers[..] {
            [first, last] => (first, last, 1),
            [first, last, step] if step > 0 => (first, last, step),
            _ => return None,
        };
        if first > last || (last - first) / step >= MOST {
            return None;
        }
        Some(Stack {
            before: text[..at].to_string(),
            width: width.parse().unwrap_or(0),
            after: name.to_string(),
            numbers: (first..=last)
                .step_by(usize::try_from(step).ok()?)
                .collect(),
        })
    }

    fn file(&self, number: u64) -> PathBuf {
        let Stack {
            before,
            width,
            after,
            ..
        } = self;
        PathBuf::from(format!("{before}{number:0width$}{after}"))
    }

    /// All its files, in order.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.numbers.iter().map(|&number| self.file(number))
    }

    /// Describes the array by its first file; the others are opened one at a time when they are read.
    pub(super) fn open(self) -> Result<Source<'static>, ImageError> {
        let open = |path: &Path| super::open_file(path, None).map_err(|e| e.in_file(path));
        let first = open(&self.file(self.numbers[0]))?;
        // Memory is taken for all: the last one is there, or the numbers are wrong.
        let last = self.file(self.numbers[self.numbers.len() - 1]);
        std::fs::metadata(&last).map_err(|e| ImageError::new(e.to_string()).in_file(&last))?;
        let slice = first.header().clone();
        if first.scale.is_some() {
            return Err(ImageError::new(
                "files whose samples are scaled cannot be stacked",
            ));
        }
        let mut header = slice.clone();
        header.axes.push(Axis {
            size: self.numbers.len(),
            kind: Some(Kind::Domain),
            ..Axis::default()
        });
        let (format, notes) = (first.format(), first.notes.clone());
        let mut source = Source::decoded(
            format,
            header,
            Box::new(move |sink| {
                let mut first = Some(first);
                for &number in &self.numbers {
                    let path = self.file(number);
                    let next = first.take().map_or_else(|| open(&path), Ok)?;
                    check(&slice, next.header()).map_err(|e| e.in_file(&path))?;
                    next.read_pieces(sink).map_err(|e| e.in_file(&path))?;
                }
                Ok(())
            }),
        );
        source.notes = notes;
        Ok(source)
    }
}

/// Whether a slice is like the first.
fn check(first: &Header, other: &Header) -> Result<(), ImageError> {
    let alike = first.sizes() == other.sizes() && first.sample_type == other.sample_type;
    match alike {
        true => Ok(()),
        false => Err(ImageError::new(format!(
            "the sizes are {:?} of type {}, unlike those of the first file, {:?} of type {}",
            other.sizes(),
            other.sample_type,
            first.sizes(),
            first.sample_type
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_numbered_files() {
        let files = |text: &str| {
            let stack = Stack::parse(text)?;
            let names = stack.files().map(|file| file.display().to_string());
            Some(names.collect::<Vec<_>>())
        };
        let some = |names: &[&str]| Some(names.iter().map(|n| n.to_string()).collect::<Vec<_>>());
        assert_eq!(
            files("a%03d.tif 8 10"),
            some(&["a008.tif", "a009.tif", "a010.tif"])
        );
        assert_eq!(
            files("my dir/s%d 1 5 2"),
            some(&["my dir/s1", "my dir/s3", "my dir/s5"])
        );
        assert_eq!(files("a %d b.png 0 0"), some(&["a 0 b.png"]));
        for text in [
            "a.tif 1 2",
            "a%d.tif",
            "a%d.tif 1",
            "a%d.tif 5 1",
            "a%d 1 2 0",
            "a%xd 1 2",
            "50% 1 2",
            "a%d 0 9999999",
        ] {
            assert_eq!(files(text), None, "{text}");
        }
    }
}
