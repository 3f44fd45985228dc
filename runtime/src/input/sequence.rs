//! Sequences from files: arrays of NRRD, NumPy and other formats, or numbers in text.
//!
//! A sequence of scalars is a one-dimensional array, or all numbers of a text in order. A sequence of elements of `m`
//! values is a two-dimensional array whose fast axis holds the `m` values of one element, or a text with one element
//! per line, below a line of names or not. Values are always converted by their meaning; what the type wanted cannot hold is an error.

use std::fmt;
use std::path::Path;

use super::{IntWidth, beyond, is_in_range, is_too_large};
use crate::file_name::escaped;
use crate::formats::{self, Source};
use crate::memory::{self, Contents};
use crate::nrrd::{self, Header, Nrrd, STANDARD_INPUT, SampleType, Samples};
use crate::text::visible_line;

/// An error while a sequence is read: the file and a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceError(String);

impl SequenceError {
    fn new(message: impl AsRef<str>) -> SequenceError {
        SequenceError(visible_line(message.as_ref()).into_owned())
    }
}

impl fmt::Display for SequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SequenceError {}

/// The values of a sequence of real elements of `components` values each, one element after the other.
pub fn read_reals(path: &Path, components: usize) -> Result<Vec<f64>, SequenceError> {
    // Blocks are refused before.
    load(path, components).map(|samples| samples.convert().unwrap_or_default())
}

/// Whether values that were read are numbers in the precision of a program.
///
/// # Errors
/// The first that would become infinite.
pub fn check_range(path: &Path, values: &[f64], double: bool) -> Result<(), SequenceError> {
    let file = escaped(path.as_os_str());
    let mut numbered = values.iter().enumerate();
    match numbered.find(|(_, x)| !is_in_range(**x, double)) {
        None => Ok(()),
        Some((i, x)) => Err(SequenceError::new(format!(
            "{file}: value {i} is {x:e}, {}",
            beyond(double)
        ))),
    }
}

/// The values of a sequence of integers, or of elements of `components` integers each.
pub fn read_ints(
    path: &Path,
    components: usize,
    ints: IntWidth,
) -> Result<Vec<i64>, SequenceError> {
    let (least, greatest) = ints.bounds();
    let wanted = format!("an integer from {least} to {greatest}");
    let fits = |x: i128| {
        let value = i64::try_from(x).ok()?;
        (least..=greatest).contains(&value).then_some(value)
    };
    exact_values(path, components, &wanted, fits)
}

/// The values of a sequence of truth values, which files spell 0 and 1.
pub fn read_bools(path: &Path, components: usize) -> Result<Vec<bool>, SequenceError> {
    let fits = |x: i128| match x {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    };
    exact_values(path, components, "0 or 1", fits)
}

fn exact_values<T>(
    path: &Path,
    components: usize,
    wanted: &str,
    fits: impl Fn(i128) -> Option<T>,
) -> Result<Vec<T>, SequenceError> {
    let samples = load(path, components)?;
    let fail = |i: usize, found: String| {
        let file = escaped(path.as_os_str());
        SequenceError::new(format!("{file}: value {i} is {found}, expected {wanted}"))
    };
    // Every integer type fits into 128 bits; a whole real number within 64 bits does so too.
    let exact = |(i, x): (usize, f64)| {
        let whole = x.fract() == 0.0 && x.abs() < 2_f64.powi(65);
        let value = if whole { fits(x as i128) } else { None };
        value.ok_or_else(|| fail(i, x.to_string()))
    };
    match samples {
        Samples::F32(_) | Samples::F64(_) => {
            let values: Vec<f64> = samples.convert().unwrap_or_default();
            values.into_iter().enumerate().map(exact).collect()
        }
        samples => {
            let values: Vec<i128> = samples.convert().unwrap_or_default();
            let fit = |(i, x): (usize, i128)| fits(x).ok_or_else(|| fail(i, x.to_string()));
            values.into_iter().enumerate().map(fit).collect()
        }
    }
}

/// The samples of a file that holds elements of `components` values.
fn load(path: &Path, components: usize) -> Result<Samples, SequenceError> {
    let name = escaped(path.as_os_str());
    let fail = |message: String| SequenceError::new(format!("{name}: {message}"));
    // A stream can be read only once, so its contents are kept in memory.
    let bytes = if path.as_os_str() == STANDARD_INPUT {
        Contents::read(std::io::stdin().lock())
    } else {
        let file = std::fs::File::open(path);
        file.map_err(|e| e.to_string()).and_then(Contents::read)
    };
    let bytes = bytes.map_err(fail)?;
    // A small compressed file can hold more than there is memory for.
    let limit = memory::available().and_then(|bytes| usize::try_from(bytes).ok());
    if let Some(points) = formats::points(&bytes, limit.unwrap_or(usize::MAX)) {
        let points = points.map_err(|e| SequenceError(e.in_file(path).to_string()))?;
        return from_points(points, components).map_err(fail);
    }
    if formats::is_known(&bytes) {
        let source = Source::of_bytes(&bytes, Some(path), None);
        let array = source.and_then(|source| source.into_array(limit.unwrap_or(usize::MAX)));
        let array = array.map_err(|e| SequenceError(e.in_file(path).to_string()))?;
        return from_nrrd(array, components).map_err(fail);
    }
    let text = String::from_utf8_lossy(&bytes);
    parse_text(&text, components)
        .map(Samples::F64)
        .map_err(|(line, message)| SequenceError::new(format!("{name}:{line}: {message}")))
}

/// Points as elements: three numbers, or two if all points are in the plane.
fn from_points(points: Samples, components: usize) -> Result<Samples, String> {
    match components {
        3 => Ok(points),
        2 => {
            let all: Vec<f64> = points.convert().unwrap_or_default();
            let flat = |point: &[f64]| point[2] == 0.0;
            if !all.chunks_exact(3).all(flat) {
                return Err("not all points have z = 0, as those of vec2 must".to_string());
            }
            let plane = all.chunks_exact(3).flat_map(|point| [point[0], point[1]]);
            Ok(Samples::F64(plane.collect()))
        }
        n => Err(format!(
            "the points have 3 coordinates, but the elements {n} values"
        )),
    }
}

fn from_nrrd(nrrd: Nrrd, components: usize) -> Result<Samples, String> {
    let header: &Header = nrrd.header();
    let sizes = header.sizes();
    if header.sample_type == SampleType::Block {
        return Err("array has samples of type `block`, expected numbers".to_string());
    }
    if header.space.dimension() != 0 {
        return Err(format!(
            "array is in a space of dimension {}, expected no space",
            header.space.dimension()
        ));
    }
    let fits = match components {
        1 => sizes.len() == 1,
        _ => sizes.len() == 2 && sizes[0] == components,
    };
    if !fits {
        let expected = match components {
            1 => "one axis".to_string(),
            _ => format!("two axes, the first of size {components}"),
        };
        return Err(format!("array has sizes {sizes:?}, expected {expected}"));
    }
    Ok(nrrd.samples().clone())
}

/// The numbers of a text, separated by blanks, commas and line ends; lines that begin with `#` are comments. The first line
/// may have names instead, as many as an element has values. Commas that may be those of decimals are refused.
fn parse_text(text: &str, components: usize) -> Result<Vec<f64>, (usize, String)> {
    let mut values = Vec::new();
    let separates = |c: char| c.is_whitespace() || c == ',';
    if let Some((line, word)) = decimal_comma(text, components) {
        let message = format!(
            "`{word}` may be one number or two; decimals have a point, and a blank behind a comma says that it separates numbers"
        );
        return Err((line, message));
    }
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        if line.trim_start().starts_with('#') || i == 0 && has_names(line, components) {
            continue;
        }
        let words = line.split(separates);
        let before = values.len();
        for word in words.filter(|word| !word.is_empty()) {
            let value = nrrd::parse_real(word)
                .ok_or_else(|| (number, format!("found `{word}`, expected a number")))?;
            if is_too_large(word, value) {
                return Err((number, format!("found `{word}`, {}", beyond(true))));
            }
            values.push(value);
        }
        let found = values.len() - before;
        if components != 1 && found != 0 && found != components {
            let message = format!("line has {found} values, expected {components}");
            return Err((number, message));
        }
    }
    Ok(values)
}

/// The first word of a text that looks like a number with a decimal comma, and its line: one of several words between blanks in a
/// line, or one of a column of such words where a line need not be an element.
fn decimal_comma<'t>(text: &'t str, components: usize) -> Option<(usize, &'t str)> {
    let is_decimal = |word: &&str| {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let parts = word.trim_start_matches(['-', '+']).split_once(',');
        parts.is_some_and(|(whole, rest)| digits(whole) && digits(rest))
    };
    let numbered = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.trim()));
    let is_data = |(_, line): &(usize, &str)| !line.is_empty() && !line.starts_with('#');
    let lines: Vec<(usize, &str)> = numbered.filter(is_data).collect();
    let among_others = |&(number, line): &(usize, &'t str)| {
        let several = line.contains(char::is_whitespace);
        let word = line.split_whitespace().find(is_decimal)?;
        several.then_some((number, word))
    };
    let is_column = components == 1 && lines.len() > 1 && lines.iter().all(|(_, l)| is_decimal(l));
    let column = lines.first().copied().filter(|_| is_column);
    lines.iter().find_map(among_others).or(column)
}

/// Whether a line has nothing but names, one for each value of an element.
fn has_names(line: &str, components: usize) -> bool {
    let words: Vec<&str> = line.split(',').map(str::trim).collect();
    let is_name = |word: &&str| {
        let begins = word
            .trim_matches('"')
            .starts_with(|c: char| c.is_alphabetic() || c == '_');
        begins && !word.contains(char::is_whitespace) && nrrd::parse_real(word).is_none()
    };
    words.len() == components && words.iter().all(is_name)
}
