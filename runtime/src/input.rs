//! The inputs of a program: their types, and their values from words.
//!
//! Takes the words of a command line and the type of an input. Returns the exact value, or a message that quotes the word at fault
//! and names the expected form. Values in files are only named here;
//! [`sequence`] and [`crate::image`] read them.

pub mod sequence;

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use crate::file_name::{FileName, text};
use crate::nrrd::parse_real;

/// The type of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputType {
    /// A truth value.
    Bool,
    /// An integer.
    Int,
    /// A real number.
    Real,
    /// A text.
    String,
    /// A tensor of real numbers.
    Tensor(Vec<usize>),
    /// A sequence; one of unknown length is read from a file, or its elements are given in one word.
    Seq {
        /// Type of the elements.
        elem: Box<InputType>,
        /// Number of elements, if it is fixed.
        len: Option<usize>,
    },
    /// An image, read from a file.
    Image {
        /// Dimension of the grid.
        dim: usize,
        /// Whether it has frames at several times.
        timed: bool,
        /// Shape of the tensor at each grid point.
        shape: Vec<usize>,
    },
    /// A mesh, or values on one, read from a file: the type as the language writes it.
    Mesh(String),
}

/// The value of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum InputValue {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number.
    Real(f64),
    /// A text.
    String(String),
    /// The components of a tensor, row-major.
    Tensor(Vec<f64>),
    /// The elements of a sequence.
    Seq(Vec<InputValue>),
    /// The name of the file that holds an image or a sequence.
    File(FileName),
}

/// Conversions from what Rust programs have.
macro_rules! input_values {
    ($($from:ty => |$value:ident| $made:expr;)*) => {
        $(impl From<$from> for InputValue {
            fn from($value: $from) -> InputValue {
                $made
            }
        })*
    };
}

input_values! {
    bool => |value| InputValue::Bool(value);
    i32 => |value| InputValue::Int(value.into());
    i64 => |value| InputValue::Int(value);
    f32 => |value| InputValue::Real(value.into());
    f64 => |value| InputValue::Real(value);
    &str => |value| InputValue::String(value.to_owned());
    String => |value| InputValue::String(value);
    &[f64] => |value| InputValue::Tensor(value.to_vec());
    Vec<f64> => |value| InputValue::Tensor(value);
    &[i64] => |value| InputValue::Seq(value.iter().map(|&n| InputValue::Int(n)).collect());
    &[bool] => |value| InputValue::Seq(value.iter().map(|&b| InputValue::Bool(b)).collect());
}

/// The integers of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntWidth {
    /// 32 bits.
    #[default]
    Bits32,
    /// 64 bits.
    Bits64,
}

impl IntWidth {
    /// The least and the greatest integer.
    pub fn bounds(self) -> (i64, i64) {
        match self {
            IntWidth::Bits32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
            IntWidth::Bits64 => (i64::MIN, i64::MAX),
        }
    }
}

impl fmt::Display for InputType {
    /// The type as programs spell it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |shape: &[usize]| {
            let sizes: Vec<_> = shape.iter().map(usize::to_string).collect();
            sizes.join(",")
        };
        match self {
            InputType::Bool => f.write_str("bool"),
            InputType::Int => f.write_str("int"),
            InputType::Real => f.write_str("real"),
            InputType::String => f.write_str("string"),
            InputType::Tensor(shape) => match shape[..] {
                [] => f.write_str("real"),
                [n @ 2..=4] => write!(f, "vec{n}"),
                _ => write!(f, "tensor[{}]", list(shape)),
            },
            InputType::Seq { elem, len } => match len {
                Some(len) => write!(f, "{elem}[{len}]"),
                None => write!(f, "{elem}[]"),
            },
            InputType::Image { dim, timed, shape } => {
                let time = if *timed { ",time" } else { "" };
                write!(f, "image({dim}{time})[{}]", list(shape))
            }
            InputType::Mesh(name) => f.write_str(name),
        }
    }
}

impl InputType {
    /// Whether a value consists of a fixed number of numbers or truth values.
    pub fn is_numbers(&self) -> bool {
        match self {
            InputType::Bool | InputType::Int | InputType::Real => true,
            InputType::Tensor(_) => true,
            InputType::Seq { elem, len: Some(_) } => elem.is_numbers(),
            InputType::Seq { len: None, .. } | InputType::String | InputType::Image { .. } => false,
            InputType::Mesh(_) => false,
        }
    }

    /// The words that spell one value.
    pub fn word_count(&self) -> usize {
        match self {
            InputType::Bool | InputType::Int | InputType::Real | InputType::String => 1,
            InputType::Tensor(shape) => shape.iter().product(),
            InputType::Seq { elem, len } => {
                len.map_or(1, |len| len.saturating_mul(elem.word_count()))
            }
            InputType::Image { .. } | InputType::Mesh(_) => 1,
        }
    }
}

/// The spellings of truth values, in any case.
const TRUTHS: &[(&str, bool)] = &[
    ("true", true),
    ("false", false),
    ("t", true),
    ("f", false),
    ("yes", true),
    ("no", false),
    ("y", true),
    ("n", false),
    ("on", true),
    ("off", false),
    ("1", true),
    ("0", false),
];

/// The value of type `ty` spelled by `words`.
pub fn parse_value<W: AsRef<OsStr>>(
    ty: &InputType,
    words: &[W],
    ints: IntWidth,
) -> Result<InputValue, String> {
    if words.len() != ty.word_count() {
        let (found, expected) = (words.len(), ty.word_count());
        return Err(format!(
            "found {found} values, expected {expected} for type {ty}"
        ));
    }
    let word = words.first().map_or(OsStr::new(""), W::as_ref);
    match ty {
        InputType::Bool => parse_bool(text(word)?).map(InputValue::Bool),
        InputType::Int => parse_int(text(word)?, ints).map(InputValue::Int),
        InputType::Real => parse_number(text(word)?).map(InputValue::Real),
        InputType::String => Ok(InputValue::String(text(word)?.to_string())),
        InputType::Tensor(_) => {
            let components = words.iter().map(|w| parse_number(text(w.as_ref())?));
            components.collect::<Result<_, _>>().map(InputValue::Tensor)
        }
        InputType::Seq { elem, len: Some(_) } => {
            let elements = words
                .chunks(elem.word_count().max(1))
                .map(|chunk| parse_value(elem, chunk, ints));
            elements.collect::<Result<_, _>>().map(InputValue::Seq)
        }
        InputType::Seq { len: None, .. } | InputType::Image { .. } | InputType::Mesh(_)
            if word.is_empty() =>
        {
            Err("found an empty word, expected a file name".to_string())
        }
        // A word that does not name a file may be the elements themselves.
        InputType::Seq { elem, len: None } if elem.is_numbers() && !Path::new(word).exists() => {
            let elements = word
                .to_str()
                .and_then(|word| parse_elements(elem, word, ints));
            match elements {
                Some(elements) => elements.map(InputValue::Seq),
                None => Ok(InputValue::File(word.into())),
            }
        }
        InputType::Seq { len: None, .. } | InputType::Image { .. } | InputType::Mesh(_) => {
            Ok(InputValue::File(word.into()))
        }
    }
}

/// The values in a word: separated by commas, semicolons or blanks, with or without brackets.
pub fn split_values(word: &str) -> impl Iterator<Item = String> {
    let parts = word.split(|c: char| c.is_whitespace() || ",;[]".contains(c));
    parts.filter(|part| !part.is_empty()).map(str::to_string)
}

/// The elements of a sequence in a word, `1,2,3` or `0,0;1,0`, if it has nothing but numbers.
fn parse_elements(
    elem: &InputType,
    word: &str,
    ints: IntWidth,
) -> Option<Result<Vec<InputValue>, String>> {
    let values: Vec<String> = split_values(word).collect();
    let is_number = |value: &String| parse_real(value).is_some() || parse_bool(value).is_ok();
    if values.is_empty() || !values.iter().all(is_number) {
        return None;
    }
    let width = elem.word_count().max(1);
    let elements = match word.contains(';') {
        true => word
            .split(';')
            .map(|part| split_values(part).collect())
            .collect(),
        false => values
            .chunks(width)
            .map(<[String]>::to_vec)
            .collect::<Vec<_>>(),
    };
    let parsed = elements.iter().map(|words| parse_value(elem, words, ints));
    Some(parsed.collect())
}

/// The candidate most like a word: one that differs by few letters, or goes on where the other ends.
pub fn nearest<'c>(word: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    /// Letters that two words must share to count as the beginning of one another.
    const SHARED: usize = 3;
    let length = word.chars().count();
    let stem = |word: &str| word.trim_start_matches('-').to_lowercase();
    let begins = |candidate: &str| {
        let (a, b) = (stem(word), stem(candidate));
        a.len().min(b.len()) >= SHARED && (a.starts_with(&b) || b.starts_with(&a))
    };
    let distance = |candidate: &'c str| {
        let distance = strsim::osa_distance(candidate, word);
        let is_near = distance <= 1 + length / 4;
        (is_near || begins(candidate)).then_some((!is_near, distance, candidate))
    };
    // A word much longer than any option is not one that was mistyped.
    let candidates = candidates.filter(|_| length <= 100);
    candidates
        .filter_map(distance)
        .min()
        .map(|(.., candidate)| candidate)
}

fn parse_bool(word: &str) -> Result<bool, String> {
    let spelled = |(spelling, _): &&(&str, bool)| spelling.eq_ignore_ascii_case(word);
    let found = TRUTHS.iter().find(spelled).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let spellings: Vec<_> = TRUTHS.iter().map(|(spelling, _)| *spelling).collect();
        format!(
            "found `{word}`, expected a truth value ({})",
            spellings.join(", ")
        )
    })
}

fn parse_int(word: &str, ints: IntWidth) -> Result<i64, String> {
    let (least, greatest) = ints.bounds();
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("found `{word}`, expected an integer"));
    }
    let value = word.parse().ok();
    value
        .filter(|v| (least..=greatest).contains(v))
        .ok_or_else(|| format!("found `{word}`, expected an integer from {least} to {greatest}"))
}

fn parse_number(word: &str) -> Result<f64, String> {
    let number =
        parse_real(word).ok_or_else(|| format!("found `{word}`, expected a real number"))?;
    match is_too_large(word, number) {
        true => Err(format!("found `{word}`, {}", beyond(true))),
        false => Ok(number),
    }
}

/// Whether a word is a number that is larger than any real: infinity has letters of its own, and digits are a number.
fn is_too_large(word: &str, number: f64) -> bool {
    number.is_infinite() && word.contains(|c: char| c.is_ascii_digit())
}

/// Whether a number does not become infinite in the precision of a program.
fn is_in_range(x: f64, double: bool) -> bool {
    double || !x.is_finite() || (x as f32).is_finite()
}

/// Says that a number is larger than reals can be.
fn beyond(double: bool) -> String {
    match double {
        true => format!("which is beyond the greatest real number, {:e}", f64::MAX),
        false => format!(
            "which is beyond the greatest number of single precision, {:e}; double precision goes up to {:e}",
            f32::MAX,
            f64::MAX
        ),
    }
}

impl InputValue {
    /// Whether its reals are numbers in the precision of a program; infinity and NaN are, where they are given as such.
    ///
    /// # Errors
    /// The first that would become infinite.
    pub fn check_range(&self, double: bool) -> Result<(), String> {
        let check = |x: &f64| match is_in_range(*x, double) {
            true => Ok(()),
            false => Err(format!("found {x:e}, {}", beyond(double))),
        };
        match self {
            InputValue::Real(x) => check(x),
            InputValue::Tensor(numbers) => numbers.iter().try_for_each(check),
            InputValue::Seq(elements) => elements.iter().try_for_each(|e| e.check_range(double)),
            InputValue::Bool(_)
            | InputValue::Int(_)
            | InputValue::String(_)
            | InputValue::File(_) => Ok(()),
        }
    }
}

/// A short description of the value.
impl fmt::Display for InputValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputValue::Bool(value) => write!(f, "the truth value {value}"),
            InputValue::Int(value) => write!(f, "the integer {value}"),
            InputValue::Real(value) => write!(f, "the real number {value}"),
            InputValue::String(_) => f.write_str("a text"),
            InputValue::Tensor(numbers) => match numbers.len() {
                1 => f.write_str("1 number"),
                n => write!(f, "{n} numbers"),
            },
            InputValue::Seq(elements) => match elements.len() {
                1 => f.write_str("a sequence of 1 element"),
                n => write!(f, "a sequence of {n} elements"),
            },
            InputValue::File(name) => write!(f, "the file {name}"),
        }
    }
}
