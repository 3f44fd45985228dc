//! Looks for the elements of a DICOM file that a picture needs, in all transfer syntaxes.
//!
//! An element whose value is longer than the rest of the file is refused before memory is taken for it.

use std::io::Read;
use std::sync::Arc;

use super::bytes::{Bytes, Window, cut_off};
use super::elements::{Elements, Value};
use super::tags::{
    DOUBLES, END_OF_ITEM, END_OF_ITEMS, FLOATS, ITEM, KEPT, Kind, PIXELS, SYNTAX, Tag,
};
use crate::formats::ImageError;
use crate::memory::Contents;

/// How samples of pixels are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Samples {
    Integers,
    Floats,
    Doubles,
}

/// Where pixels are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// As they are, from here on; the bytes of pairs may be swapped.
    Plain { at: u64, length: u64, swapped: bool },
    /// In pieces: where each is, and how long. The offsets of frames come first.
    Pieces {
        offsets: Vec<u32>,
        pieces: Vec<(u64, u64)>,
    },
}

/// A file that was looked at.
pub(super) struct Parsed {
    pub(super) elements: Elements,
    pub(super) pixels: Option<(Samples, Place)>,
    /// The transfer syntax, by which pixels are compressed.
    pub(super) syntax: String,
    pub(super) big_endian: bool,
    /// Where the pixels are read from: the file, or its inflated contents.
    pub(super) bytes: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Syntax {
    explicit: bool,
    big_endian: bool,
}

/// A set of elements within sets: deeper ones are a sign of damage.
const DEEPEST: usize = 24;
/// The longest value that is kept, but for items. Offsets of frames are the longest.
const LONGEST: u64 = 1 << 16;
const UNDEFINED: u32 = u32::MAX;

const DEFLATED: &str = "1.2.840.10008.1.2.1.99";
const BIG_ENDIAN: &str = "1.2.840.10008.1.2.2";
const IMPLICIT: &str = "1.2.840.10008.1.2";

/// Looks at a file.
pub(super) fn parse(bytes: Bytes) -> Result<Parsed, ImageError> {
    let mut reader = Reader {
        window: Window::new(bytes.clone()),
        pixels: None,
    };
    let length = bytes.length();
    let marked = length >= 132 && reader.window.get(128, 4)? == b"DICM";
    let start = if marked { 132 } else { 0 };
    // The elements of group 2 come first, and are always explicit.
    let meta = Syntax {
        explicit: true,
        big_endian: false,
    };
    let (meta, at) = match reader.window.get(start, 2) {
        Ok(&[2, 0]) => reader.elements(start, length, meta, 0, true)?,
        _ => (Elements::default(), start),
    };
    let name = meta.text(SYNTAX).unwrap_or_default().to_string();
    let mut syntax = match name.as_str() {
        IMPLICIT => Syntax {
            explicit: false,
            big_endian: false,
        },
        BIG_ENDIAN => Syntax {
            explicit: true,
            big_endian: true,
        },
        "" => guessed(reader.window.get(at, 8)?),
        _ => Syntax {
            explicit: true,
            big_endian: false,
        },
    };
    let mut at = at;
    if name == DEFLATED {
        let packed = bytes.read(at, length - at)?;
        let inflated =
            Contents::read(flate2::read::DeflateDecoder::new(&packed[..]).take(u64::MAX));
        let inflated = Bytes::Memory(Arc::new(inflated.map_err(ImageError::new)?));
        (reader.window, at) = (Window::new(inflated.clone()), 0);
        return reader.finish(at, syntax, name, inflated);
    }
    // Some writers name a syntax that they do not use.
    if syntax.explicit && !name.is_empty() && !is_explicit(reader.window.get(at, 8)?) {
        syntax.explicit = false;
    }
    reader.finish(at, syntax, name, bytes)
}

fn is_explicit(head: &[u8]) -> bool {
    head.get(4..6)
        .is_some_and(|vr| vr.iter().all(u8::is_ascii_uppercase))
}

/// The syntax of a file without group 2, by its first element, which is of group 8 or so.
fn guessed(head: &[u8]) -> Syntax {
    Syntax {
        explicit: is_explicit(head),
        big_endian: head.first() == Some(&0),
    }
}

struct Reader {
    window: Window,
    pixels: Option<(Samples, Place)>,
}

/// The beginning of an element.
struct Head {
    tag: Tag,
    vr: [u8; 2],
    length: u32,
    /// Where its value begins.
    value: u64,
}

impl Reader {
    fn finish(
        mut self,
        at: u64,
        syntax: Syntax,
        name: String,
        bytes: Bytes,
    ) -> Result<Parsed, ImageError> {
        let end = self.window.length();
        let (elements, _) = self.elements(at, end, syntax, 0, false)?;
        Ok(Parsed {
            elements,
            pixels: self.pixels,
            syntax: name,
            big_endian: syntax.big_endian,
            bytes,
        })
    }

    fn number(&mut self, at: u64, count: u64, syntax: Syntax) -> Result<u32, ImageError> {
        let bytes = self.window.get(at, count)?;
        let add = |sum: u32, byte: &u8| sum << 8 | u32::from(*byte);
        Ok(match syntax.big_endian {
            true => bytes.iter().fold(0, add),
            false => bytes.iter().rev().fold(0, add),
        })
    }

    fn head(&mut self, at: u64, syntax: Syntax) -> Result<Head, ImageError> {
        const LONG: [&[u8; 2]; 13] = [
            b"OB", b"OD", b"OF", b"OL", b"OV", b"OW", b"SQ", b"UC", b"UN", b"UR", b"UT", b"SV",
            b"UV",
        ];
        let tag = (
            self.number(at, 2, syntax)? as u16,
            self.number(at + 2, 2, syntax)? as u16,
        );
        let short = self.window.get(at + 4, 4)?;
        let vr = [short[0], short[1]];
        // The marks of items have no type.
        if !syntax.explicit || tag.0 == ITEM.0 {
            let length = self.number(at + 4, 4, syntax)?;
            return Ok(Head {
                tag,
                vr: [0; 2],
                length,
                value: at + 8,
            });
        }
        let (length, value) = match LONG.contains(&&vr) {
            true => (self.number(at + 8, 4, syntax)?, at + 12),
            false => (self.number(at + 6, 2, syntax)?, at + 8),
        };
        Ok(Head {
            tag,
            vr,
            length,
            value,
        })
    }

    /// The elements from `at` to `end`, or to the mark that ends an item; and where they end. Of a file, the pixels are the last that
    /// is looked at, and of its beginning, group 2.
    fn elements(
        &mut self,
        mut at: u64,
        end: u64,
        syntax: Syntax,
        depth: usize,
        is_meta: bool,
    ) -> Result<(Elements, u64), ImageError> {
        let mut elements = Elements::default();
        if depth > DEEPEST {
            return Err(ImageError::new("elements are nested too deeply"));
        }
        while at + 8 <= end {
            let head = self.head(at, syntax)?;
            if head.tag == END_OF_ITEM {
                return Ok((elements, head.value));
            }
            if is_meta && head.tag.0 != 2 {
                return Ok((elements, at));
            }
            let sample = match head.tag {
                PIXELS => Some(Samples::Integers),
                FLOATS => Some(Samples::Floats),
                DOUBLES => Some(Samples::Doubles),
                _ => None,
            };
            if depth == 0
                && let Some(samples) = sample
            {
                let place = self.place(&head, syntax)?;
                self.pixels = Some((samples, place));
                return Ok((elements, end));
            }
            let kind = KEPT.iter().find(|(tag, _)| *tag == head.tag);
            let kind = kind.map(|(_, kind)| *kind);
            let of_items = head.vr == *b"SQ" || kind == Some(Kind::Items);
            if of_items || head.length == UNDEFINED {
                // Items of unknown type are implicit.
                let inner = Syntax {
                    explicit: syntax.explicit && head.vr != *b"UN",
                    ..syntax
                };
                if kind != Some(Kind::Items) && head.length != UNDEFINED {
                    at = self.after(&head, end)?;
                    continue;
                }
                let (items, after) = self.items(&head, end, inner, depth)?;
                if kind == Some(Kind::Items) {
                    elements.0.insert(head.tag, Value::Items(items));
                }
                at = after;
                continue;
            }
            at = self.after(&head, end)?;
            if let Some(kind) = kind
                && u64::from(head.length) <= LONGEST
            {
                let value = self.value(&head, kind, syntax)?;
                elements.0.insert(head.tag, value);
            }
        }
        Ok((elements, at))
    }

    /// Where an element ends, which must be within its set.
    fn after(&self, head: &Head, end: u64) -> Result<u64, ImageError> {
        let after = head.value + u64::from(head.length);
        let (group, element) = head.tag;
        match after <= end {
            true => Ok(after),
            false => Err(ImageError::new(format!(
                "element ({group:04x},{element:04x}) has {} bytes, more than are left in the file",
                head.length
            ))),
        }
    }

    fn value(&mut self, head: &Head, kind: Kind, syntax: Syntax) -> Result<Value, ImageError> {
        let kind = match &head.vr {
            b"US" | b"UL" => Kind::Short,
            b"FD" => Kind::Double,
            b"DS" | b"IS" | b"CS" | b"UI" | b"LO" | b"TM" | b"DA" => Kind::Text,
            _ => kind,
        };
        let length = u64::from(head.length);
        match kind {
            Kind::Text | Kind::Items => {
                let bytes = self.window.get(head.value, length)?;
                Ok(Value::Text(String::from_utf8_lossy(bytes).into_owned()))
            }
            Kind::Short => {
                let size = if head.vr == *b"UL" || length == 4 {
                    4
                } else {
                    2
                };
                let count = length / size;
                let number = |i| {
                    Ok(f64::from(self.number(
                        head.value + i * size,
                        size,
                        syntax,
                    )?))
                };
                (0..count)
                    .map(number)
                    .collect::<Result<_, ImageError>>()
                    .map(Value::Numbers)
            }
            Kind::Double => {
                let bytes = self.window.get(head.value, length)?;
                let (doubles, _) = bytes.as_chunks::<8>();
                let double = |bytes: &[u8; 8]| match syntax.big_endian {
                    true => f64::from_be_bytes(*bytes),
                    false => f64::from_le_bytes(*bytes),
                };
                Ok(Value::Numbers(doubles.iter().map(double).collect()))
            }
        }
    }

    /// The items of an element, and where it ends.
    fn items(
        &mut self,
        head: &Head,
        end: u64,
        syntax: Syntax,
        depth: usize,
    ) -> Result<(Vec<Elements>, u64), ImageError> {
        let end = match head.length {
            UNDEFINED => end,
            _ => self.after(head, end)?,
        };
        let (mut items, mut at) = (Vec::new(), head.value);
        while at + 8 <= end {
            let item = self.head(at, syntax)?;
            if item.tag == END_OF_ITEMS {
                return Ok((items, item.value));
            }
            if item.tag != ITEM {
                return Err(ImageError::new(
                    "an element with items has something else in it",
                ));
            }
            let inner_end = match item.length {
                UNDEFINED => end,
                _ => self.after(&item, end)?,
            };
            let (elements, after) =
                self.elements(item.value, inner_end, syntax, depth + 1, false)?;
            at = if item.length == UNDEFINED {
                after
            } else {
                inner_end
            };
            items.push(elements);
        }
        Ok((items, end))
    }

    /// Where the pixels are.
    fn place(&mut self, head: &Head, syntax: Syntax) -> Result<Place, ImageError> {
        let end = self.window.length();
        if head.length != UNDEFINED {
            // The last bytes of a file may be missing; which frames are there is found out later.
            let length =
                u64::from(head.length).min(end.checked_sub(head.value).ok_or_else(cut_off)?);
            return Ok(Place::Plain {
                at: head.value,
                length,
                swapped: syntax.big_endian && head.vr == *b"OW",
            });
        }
        let (mut pieces, mut offsets, mut at) = (Vec::new(), None, head.value);
        while at + 8 <= end {
            let item = self.head(at, syntax)?;
            if item.tag != ITEM {
                break;
            }
            let after = self.after(&item, end)?;
            if offsets.is_none() {
                let count = u64::from(item.length) / 4;
                let table = (0..count).map(|i| self.number(item.value + 4 * i, 4, syntax));
                offsets = Some(table.collect::<Result<Vec<u32>, ImageError>>()?);
            } else {
                pieces.push((item.value, u64::from(item.length)));
            }
            at = after;
        }
        Ok(Place::Pieces {
            offsets: offsets.unwrap_or_default(),
            pieces,
        })
    }
}
