//! The field `data file`: one name, a numbered pattern, or a list of names.
//!
//! Reading gives a [`DataFile`]; [`Parts`] are the files to read in order, each with its byte skip, after checking that
//! their number fits the sizes of the array. No file is touched here.

use super::header::{DataFile, Header, Storage};
use super::value::{self, Parsed};

/// One file that holds a part of the samples; no name means the header's own file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: Option<String>,
    pub(super) byte_skip: i64,
}

/// Longest field width of a pattern: longer numbers cannot be file names.
const MAX_WIDTH: usize = 255;

pub(super) fn parse(text: &str) -> Parsed<DataFile> {
    let text = text.trim_end_matches([' ', '\t']);
    let first = value::words(text).next().unwrap_or("");
    let rest = text[first.len()..].trim_start_matches([' ', '\t']);
    match first {
        "" => Err("found nothing, expected a file name".to_string()),
        "LIST" | "SKIPLIST" => Ok(DataFile::List {
            files: Vec::new(),
            with_skips: first == "SKIPLIST",
            dimension: list_dimension(rest)?,
        }),
        _ if conversion(first).is_some() && !rest.is_empty() => parse_pattern(first, rest),
        _ => Ok(DataFile::Single(text.to_string())),
    }
}

fn list_dimension(text: &str) -> Parsed<Option<usize>> {
    if text.is_empty() {
        return Ok(None);
    }
    value::integer(text, "the dimension of one file").map(Some)
}

fn parse_pattern(format: &str, numbers: &str) -> Parsed<DataFile> {
    let words: Vec<_> = value::words(numbers).collect();
    let (Some((&[min, max, step], rest)), true) = (words.split_first_chunk(), words.len() <= 4)
    else {
        return Err(format!(
            "found `{numbers}` after the pattern `{format}`, expected: min max step [dimension]"
        ));
    };
    let (min, max, step): (i64, i64, i64) = (
        value::integer(min, "an integer min")?,
        value::integer(max, "an integer max")?,
        value::integer(step, "an integer step")?,
    );
    let dimension = list_dimension(rest.first().unwrap_or(&""))?;
    if step == 0 {
        return Err("step of the file numbers is 0".to_string());
    }
    if (max > min && step < 0) || (max < min && step > 0) {
        return Err(format!(
            "file numbers from {min} by steps of {step} do not approach {max}"
        ));
    }
    Ok(DataFile::Pattern {
        format: format.to_string(),
        min,
        max,
        step,
        dimension,
    })
}

/// The one integer conversion of a printf-style format: its place, flags and width.
struct Conversion {
    start: usize,
    end: usize,
    zero: bool,
    left: bool,
    width: usize,
}

fn conversion(format: &str) -> Option<Conversion> {
    let mut start = 0;
    loop {
        start += format[start..].find('%')?;
        if !format[start..].starts_with("%%") {
            break;
        }
        start += 2;
    }
    let body = &format[start + 1..];
    let flags: String = body.chars().take_while(|c| "0-".contains(*c)).collect();
    let digits: String = body[flags.len()..]
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let letter = body[flags.len() + digits.len()..].chars().next()?;
    let width = if digits.is_empty() {
        0
    } else {
        digits.parse().ok()?
    };
    let known = matches!(letter, 'd' | 'i' | 'u') && width <= MAX_WIDTH;
    known.then(|| Conversion {
        start,
        end: start + 1 + flags.len() + digits.len() + 1,
        zero: flags.contains('0'),
        left: flags.contains('-'),
        width,
    })
}

/// The file name of one number. Formats without a conversion do not occur here: they are single names.
fn numbered(format: &str, number: i64) -> String {
    let Some(c) = conversion(format) else {
        return format.to_string();
    };
    let width = c.width;
    let digits = match (c.left, c.zero) {
        (true, _) => format!("{number:<width$}"),
        (false, true) => format!("{number:0width$}"),
        (false, false) => format!("{number:width$}"),
    };
    let literal = |text: &str| text.replace("%%", "%");
    literal(&format[..c.start]) + &digits + &literal(&format[c.end..])
}

pub(super) fn print(data_file: &DataFile) -> Option<String> {
    let with_dimension = |text: String, dimension: &Option<usize>| match dimension {
        Some(dimension) => format!("{text} {dimension}"),
        None => text,
    };
    match data_file {
        DataFile::Attached => None,
        DataFile::Single(name) => Some(name.clone()),
        DataFile::Pattern {
            format,
            min,
            max,
            step,
            dimension,
        } => Some(with_dimension(
            format!("{format} {min} {max} {step}"),
            dimension,
        )),
        DataFile::List {
            files,
            with_skips,
            dimension,
        } => {
            let word = if *with_skips { "SKIPLIST" } else { "LIST" };
            let line = |(name, skip): &(String, Option<i64>)| match skip {
                Some(skip) => format!("\n{skip} {name}"),
                None => format!("\n{name}"),
            };
            let lines: String = files.iter().map(line).collect();
            Some(with_dimension(word.to_string(), dimension) + &lines)
        }
    }
}

/// One line of a list: a name, or for a skip list the bytes to skip and a name.
pub(super) fn parse_list_line(line: &str, with_skips: bool) -> Parsed<(String, Option<i64>)> {
    if !with_skips {
        return Ok((line.to_string(), None));
    }
    match line.split_once(' ') {
        Some((skip, name)) if !name.is_empty() => {
            let skip = value::integer(skip, "a number of bytes to skip")?;
            Ok((name.to_string(), Some(skip)))
        }
        _ => Err(format!(
            "found `{line}`, expected a number of bytes to skip and a file name"
        )),
    }
}

/// The files to read in order. They hold equally many samples each. Names are made one at a time: a header of a hundred
/// bytes can ask for thousands of millions.
pub(super) struct Parts<'a> {
    storage: &'a Storage,
    next: usize,
    count: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn new(header: &Header, storage: &'a Storage) -> Parsed<Parts<'a>> {
        let count = match &storage.data_file {
            DataFile::Attached | DataFile::Single(_) => 1,
            DataFile::Pattern {
                min,
                max,
                step,
                dimension,
                ..
            } => {
                let steps = (i128::from(*max) - i128::from(*min)).checked_div(i128::from(*step));
                let count = steps.map_or(0, |steps| steps + 1);
                check_count(header, count, *dimension)?
            }
            DataFile::List {
                files, dimension, ..
            } => check_count(header, files.len() as i128, *dimension)?,
        };
        Ok(Parts {
            storage,
            next: 0,
            count,
        })
    }

    /// How many files there are.
    pub(super) fn total(&self) -> usize {
        self.count
    }
}

impl Iterator for Parts<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let k = self.next;
        if k == self.count {
            return None;
        }
        self.next += 1;
        let (name, skip) = match &self.storage.data_file {
            DataFile::Attached => (None, None),
            DataFile::Single(name) => (Some(name.clone()), None),
            DataFile::Pattern {
                format, min, step, ..
            } => {
                // The number is between min and max: the wrapping sum is exact.
                let number = min.wrapping_add(step.wrapping_mul(k as i64));
                (Some(numbered(format, number)), None)
            }
            DataFile::List { files, .. } => {
                let (name, skip) = files.get(k)?;
                (Some(name.clone()), *skip)
            }
        };
        Some(Part {
            name,
            byte_skip: skip.unwrap_or(self.storage.byte_skip),
        })
    }
}

/// The number of files, if it fits the sizes of the array.
fn check_count(header: &Header, count: i128, dimension: Option<usize>) -> Parsed<usize> {
    let sizes = header.sizes();
    let n = sizes.len();
    let dimension = match dimension {
        None => n - 1,
        Some(dimension) if (1..=n).contains(&dimension) => dimension,
        Some(dimension) => {
            return Err(format!(
                "dimension of one data file is {dimension}, expected 1 to {n}"
            ));
        }
    };
    if dimension == n {
        let slowest = sizes[n - 1] as i128;
        if count < 1 || count > slowest || slowest % count != 0 {
            return Err(format!(
                "{count} data files do not divide the {slowest} slices of axis {}",
                n - 1
            ));
        }
        return Ok(count as usize);
    }
    let expected: i128 = sizes[dimension..].iter().map(|&s| s as i128).product();
    if count != expected {
        return Err(format!(
            "found {count} data files of dimension {dimension}, expected {expected}"
        ));
    }
    // The product of some of the sizes, whose product can be addressed.
    Ok(count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_follow_printf() {
        let rows = [
            ("a%d.raw", 7, "a7.raw"),
            ("a%03d.raw", 7, "a007.raw"),
            ("a%3d", 7, "a  7"),
            ("a%-3db", 7, "a7  b"),
            ("%02i", -1, "-1"),
            ("%03d", -1, "-01"),
            ("100%%/%u.gz", 12, "100%/12.gz"),
            ("slice%03d", 12345, "slice12345"),
        ];
        for (format, number, name) in rows {
            assert_eq!(numbered(format, number), name);
        }
    }

    #[test]
    fn percent_signs_that_convert_no_integer_are_part_of_a_name() {
        for text in [
            "50%.raw",
            "a%s.raw 1 2 1",
            "a%%d 1 2 1",
            "a%999d 0 1 1",
            "a%d.raw",
        ] {
            assert_eq!(
                parse(text),
                Ok(DataFile::Single(text.to_string())),
                "{text}"
            );
        }
    }
}
