//! NumPy's `.npy`: a Python dictionary in front of the samples.
//!
//! `a[k, j, i]` is the sample at index (i, j, k), whether the file has the last axis fastest, which is C order, or the
//! first.

use super::Numbering;
use super::{Asked, Translated};
use crate::nrrd::{Encoding, Endian, Header, Kind, SampleType, Storage};

/// The letters of NumPy's types and sizes: the sample, and how many of them make one element.
#[rustfmt::skip]
const TYPES: &[(&str, SampleType, usize)] = &[
    ("b1", SampleType::U8,  1),
    ("i1", SampleType::I8,  1),
    ("u1", SampleType::U8,  1),
    ("i2", SampleType::I16, 1),
    ("u2", SampleType::U16, 1),
    ("i4", SampleType::I32, 1),
    ("u4", SampleType::U32, 1),
    ("i8", SampleType::I64, 1),
    ("u8", SampleType::U64, 1),
    ("f4", SampleType::F32, 1),
    ("f8", SampleType::F64, 1),
    ("c8", SampleType::F32, 2),
    ("c16", SampleType::F64, 2),
];

pub(super) fn translate(head: &[u8], _: &Asked<'_>) -> Result<Translated, String> {
    let (text, start) = dictionary(head)?;
    let descr = value(text, "descr")?;
    if descr.starts_with('[') {
        return Err(format!(
            "the array has the structured type {}; save one field: numpy.save(FILE, array['FIELD'])",
            until(descr, ']')
        ));
    }
    let name = descr
        .strip_prefix(['\'', '"'])
        .and_then(|rest| rest.split(['\'', '"']).next())
        .ok_or_else(|| format!("the type of the array is `{}`", until(descr, ',')))?;
    let (order, letters) = match name.split_at_checked(1) {
        Some((order @ ("<" | ">" | "|" | "="), letters)) => (order, letters),
        _ => ("=", name),
    };
    let Some(&(_, sample_type, parts)) = TYPES.iter().find(|(l, ..)| *l == letters) else {
        let way_out = match letters.chars().next() {
            Some('O') => "objects cannot be read: save an array of numbers",
            Some('U' | 'S' | 'M' | 'm') => "only numbers can be read",
            _ => "save array.astype('float32')",
        };
        return Err(format!("the array has the type `{name}`; {way_out}"));
    };
    let shape = value(text, "shape")?;
    let shape = shape
        .strip_prefix('(')
        .and_then(|rest| rest.split(')').next())
        .ok_or("the shape of the array is not a tuple")?;
    let mut sizes = Vec::new();
    for word in shape.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        let size = word.trim_end_matches('L').parse::<usize>();
        sizes.push(size.map_err(|_| format!("the shape of the array has `{word}`"))?);
    }
    if sizes.is_empty() || sizes.contains(&0) {
        return Err(format!(
            "the array has the shape ({shape}), expected at least one sample"
        ));
    }
    let fortran_order = value(text, "fortran_order")?.starts_with("True");
    sizes.reverse();
    let mut header = Header::new(sample_type, &sizes);
    if parts > 1 {
        let mut complex = Header::new(sample_type, &[parts]).axes;
        complex[0].kind = Some(Kind::Complex);
        header.axes.splice(0..0, complex);
    }
    let storage = Storage {
        encoding: Encoding::Raw,
        endian: Some(match order {
            "<" => Endian::Little,
            ">" => Endian::Big,
            _ => Endian::NATIVE,
        }),
        byte_skip: start as i64,
        ..Storage::default()
    };
    let mut translated = Translated::new(header, storage);
    // The parts of one number stay together.
    let first = usize::from(parts > 1);
    translated.facts.reversed_from = fortran_order.then_some(first);
    translated.facts.numbering = Numbering::SlowestFirst;
    Ok(translated)
}

/// The text of the dictionary, and where the samples begin.
fn dictionary(head: &[u8]) -> Result<(&str, usize), String> {
    let version = head.get(6).copied().unwrap_or(0);
    let (length, first): (usize, usize) = match (version, head.get(8..10), head.get(8..12)) {
        (1, Some(&[a, b]), _) => (usize::from(u16::from_le_bytes([a, b])), 10),
        (2 | 3, _, Some(&[a, b, c, d])) => (u32::from_le_bytes([a, b, c, d]) as usize, 12),
        (1..=3, ..) => return Err("the header is cut off".to_string()),
        _ => return Err(format!("version {version} of the format is not known")),
    };
    let text = head
        .get(first..first.saturating_add(length))
        .ok_or("the header is cut off")?;
    let text = std::str::from_utf8(text).map_err(|_| "the header is not text".to_string())?;
    Ok((text, first + length))
}

/// What follows a key of the dictionary.
fn value<'a>(text: &'a str, key: &str) -> Result<&'a str, String> {
    let found = ['\'', '"'].into_iter().find_map(|quote| {
        let (_, after) = text.split_once(&format!("{quote}{key}{quote}"))?;
        after.trim_start().strip_prefix(':')
    });
    let missing = || format!("the header has no `{key}`");
    found.map(str::trim_start).ok_or_else(missing)
}

fn until(text: &str, end: char) -> &str {
    let length = text.find(end).map_or(text.len(), |at| at + end.len_utf8());
    &text[..length]
}
