//! Headers as text: a magic line, then fields, key/value pairs and comments, then an empty line.
//!
//! [`parse`] takes a stream at its first byte, gives what the header describes and leaves the stream at the first byte
//! after the empty line. [`print`] gives text from which [`parse`] gets the same description back, or says what cannot
//! be expressed.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use super::data_file;
use super::error::{ErrorKind, NrrdError};
use super::fields::{self, Description, FIELDS, Needs};
use super::header::{DataFile, Header, Space, Storage};
use super::value::{escape, unescape};
use super::vocabulary::SampleType;

/// The magic lines that begin a header, with the version each stands for.
const MAGICS: &[(&str, u8)] = &[
    ("NRRD00.01", 1),
    ("NRRD0001", 1),
    ("NRRD0002", 2),
    ("NRRD0003", 3),
    ("NRRD0004", 4),
    ("NRRD0005", 5),
    ("NRRD0006", 6),
];

/// The version that brought key/value pairs, and the one that brought lists with skips.
const KEY_VALUES_SINCE: u8 = 2;
const SKIP_LISTS_SINCE: u8 = 6;

/// A header, and where its fields stood.
pub(super) struct ParsedHeader {
    pub(super) description: Description,
    /// Bytes of the text.
    pub(super) bytes: u64,
    lines: BTreeMap<&'static str, usize>,
    last_line: usize,
}

impl ParsedHeader {
    /// A description that no header spells.
    pub(super) fn unwritten(description: Description) -> ParsedHeader {
        ParsedHeader {
            description,
            bytes: 0,
            lines: BTreeMap::new(),
            last_line: 0,
        }
    }

    /// An error about `field`, at its line or, if it is missing, at the end of the header.
    pub(super) fn error_at(&self, field: &str, message: String) -> NrrdError {
        match self.lines.get(field).copied().unwrap_or(self.last_line) {
            0 => NrrdError::new(ErrorKind::Header, message),
            line => NrrdError::header(line, message),
        }
    }

    /// Checks that the fields of the header are consistent.
    pub(super) fn check_description(&self) -> Result<(), NrrdError> {
        let Description { header, storage } = &self.description;
        header
            .check()
            .map_err(|v| self.error_at(v.field, format!("field `{}`: {}", v.field, v.message)))?;
        let multibyte = header.sample_type.size().is_some_and(|size| size > 1);
        if multibyte && storage.encoding.exposes_byte_order() && storage.endian.is_none() {
            return Err(self.missing("endian"));
        }
        Ok(())
    }

    fn missing(&self, name: &str) -> NrrdError {
        self.error_at(name, format!("required field `{name}` is missing"))
    }
}

/// The longest header line that is read. Texts in key/value pairs may be long, but a file of one line does not have a header.
const MAX_LINE: u64 = 1 << 24;

/// The lines of a header as they come, counted.
struct Lines<R> {
    reader: R,
    number: usize,
    bytes: u64,
}

impl<R: BufRead> Lines<R> {
    /// The next line without its end, or `None` at the end of the stream.
    fn next(&mut self) -> Result<Option<String>, NrrdError> {
        let mut bytes = Vec::new();
        let read = self
            .reader
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut bytes);
        let read = read.map_err(|e| NrrdError::new(ErrorKind::Io, e.to_string()))? as u64;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.bytes += read;
        if read == MAX_LINE && bytes.last() != Some(&b'\n') {
            let message = format!("the line is longer than {MAX_LINE} bytes");
            return Err(NrrdError::header(self.number, message));
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// Reads a header and checks that it describes an array.
pub(super) fn parse(reader: &mut dyn BufRead) -> Result<ParsedHeader, NrrdError> {
    let bytes = check_magic(reader)?;
    let mut lines = Lines {
        reader,
        number: 1,
        bytes,
    };
    let mut parsed = ParsedHeader {
        last_line: 1,
        ..ParsedHeader::unwritten(Description {
            // The type is a required field: this value never survives the check below.
            header: Header::new(SampleType::Block, &[]),
            storage: Storage::default(),
        })
    };
    let mut ended = false;
    while let Some(line) = lines.next()? {
        parsed.last_line = lines.number;
        if line.is_empty() {
            ended = true;
            break;
        }
        parse_line(&mut parsed, &line)?;
        if matches!(parsed.description.storage.data_file, DataFile::List { .. }) {
            check(&parsed)?;
            parse_list(&mut parsed, &mut lines)?;
            ended = true;
            break;
        }
    }
    if !ended && parsed.description.storage.data_file == DataFile::Attached {
        let message = "the header ends without an empty line and names no data file";
        return Err(NrrdError::header(parsed.last_line, message));
    }
    check(&parsed)?;
    parsed.bytes = lines.bytes;
    Ok(parsed)
}

/// Consumes the first line and counts its bytes. It reads no more bytes than a magic can have, so it recognizes a file of another
/// format by its beginning.
fn check_magic(reader: &mut dyn BufRead) -> Result<u64, NrrdError> {
    let mut bytes = Vec::new();
    let read = reader.take(16).read_until(b'\n', &mut bytes);
    let read = read.map_err(|e| NrrdError::new(ErrorKind::Io, e.to_string()))?;
    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if MAGICS.iter().any(|(magic, _)| magic.as_bytes() == line) {
        return Ok(read as u64);
    }
    let shown = String::from_utf8_lossy(line);
    let message = format!("the first line is {shown:?}, expected `NRRD0001` to `NRRD0006`");
    Err(NrrdError::new(ErrorKind::NotNrrd, message))
}

fn parse_line(parsed: &mut ParsedHeader, line: &str) -> Result<(), NrrdError> {
    let number = parsed.last_line;
    if let Some(comment) = line.strip_prefix('#') {
        let comment = comment.strip_prefix(' ').unwrap_or(comment);
        let comments = &mut parsed.description.header.comments;
        comments.push(comment.to_string());
        return Ok(());
    }
    if let Some((name, text)) = line.split_once(": ") {
        if let Some(field) = fields::find(name) {
            let text = text.trim_matches([' ', '\t']);
            return parse_field(parsed, field, text);
        }
        // A colon and a blank may also stand in a value, after the separator of a key.
        if !name.contains(":=") {
            let message = format!("unknown field `{name}`");
            return Err(NrrdError::header(number, message));
        }
    }
    match line.split_once(":=") {
        Some(("", _)) => Err(NrrdError::header(number, "the key before `:=` is empty")),
        Some((key, value)) => {
            let pair = (unescape(key), unescape(value));
            parsed.description.header.key_values.push(pair);
            Ok(())
        }
        None => {
            let message = format!("found `{line}`, expected `field: value` or `key:=value`");
            Err(NrrdError::header(number, message))
        }
    }
}

fn parse_field(
    parsed: &mut ParsedHeader,
    field: &'static fields::Field,
    text: &str,
) -> Result<(), NrrdError> {
    let number = parsed.last_line;
    let fail = |message: String| {
        let message = format!("field `{}`: {message}", field.name);
        Err(NrrdError::header(number, message))
    };
    if let Some(first) = parsed.lines.get(field.name) {
        return fail(format!("was already given in line {first}"));
    }
    let header = &parsed.description.header;
    match field.needs {
        Needs::Dimension if header.axes.is_empty() => {
            return fail("`dimension` must come before this field".to_string());
        }
        Needs::SpaceDimension if header.space == Space::Unknown => {
            return fail("`space` or `space dimension` must come before this field".to_string());
        }
        Needs::Nothing | Needs::Dimension | Needs::SpaceDimension => {}
    }
    if let Err(message) = (field.parse)(&mut parsed.description, text) {
        return fail(message);
    }
    parsed.lines.insert(field.name, number);
    Ok(())
}

/// The names after `data file: LIST`, up to an empty line or the end of the file.
fn parse_list<R: BufRead>(
    parsed: &mut ParsedHeader,
    lines: &mut Lines<R>,
) -> Result<(), NrrdError> {
    let DataFile::List {
        files, with_skips, ..
    } = &mut parsed.description.storage.data_file
    else {
        return Ok(());
    };
    while let Some(line) = lines.next()? {
        if line.is_empty() {
            break;
        }
        let file = data_file::parse_list_line(&line, *with_skips)
            .map_err(|message| NrrdError::header(lines.number, message))?;
        files.push(file);
    }
    Ok(())
}

/// Whether all that is needed was given and fits together.
fn check(parsed: &ParsedHeader) -> Result<(), NrrdError> {
    let absent = |name: &str| !parsed.lines.contains_key(name);
    if let Some(field) = FIELDS.iter().find(|f| f.required && absent(f.name)) {
        return Err(parsed.missing(field.name));
    }
    parsed.check_description()
}

/// The text of a header, up to and including the empty line that ends it.
pub(super) fn print(description: &Description) -> Result<String, NrrdError> {
    let refuse = |message: String| NrrdError::new(ErrorKind::Unwritable, message);
    let Description { header, storage } = description;
    header
        .check()
        .map_err(|v| refuse(format!("field `{}`: {}", v.field, v.message)))?;
    let mut version = 1;
    let mut body = String::new();
    for comment in &header.comments {
        body += &format!("# {comment}\n");
    }
    // The names of a list end the header, so the key/value pairs stand before the last row of the table.
    let (last, most) = FIELDS.split_last().unzip();
    for field in most.into_iter().flatten() {
        if let Some(text) = (field.print)(description) {
            version = version.max(field.since);
            body += &format!("{}: {text}\n", field.name);
        }
    }
    for (key, value) in &header.key_values {
        version = version.max(KEY_VALUES_SINCE);
        body += &format!("{}:={}\n", escape(key), escape(value));
    }
    if let Some((field, text)) = last.and_then(|f| Some((f, (f.print)(description)?))) {
        body += &format!("{}: {text}\n", field.name);
    }
    if matches!(
        storage.data_file,
        DataFile::List {
            with_skips: true,
            ..
        }
    ) {
        version = version.max(SKIP_LISTS_SINCE);
    }
    let magic = MAGICS.iter().rfind(|(_, v)| *v == version);
    let magic = magic.map_or("NRRD0006", |(magic, _)| magic);
    let text = format!("{magic}\n{body}\n");
    // Some texts have no place in a line (a line feed in a label, a key with a colon): whatever does not come back
    // the same is refused instead of being written as something else.
    let again = parse(&mut text.as_bytes()).map_err(|e| refuse(e.to_string()))?;
    if again.description != *description {
        let what = first_difference(&again.description, description);
        return Err(refuse(format!("{what} cannot be expressed in a header")));
    }
    Ok(text)
}

fn first_difference(read: &Description, meant: &Description) -> String {
    let differs = |field: &&fields::Field| (field.print)(read) != (field.print)(meant);
    if let Some(field) = FIELDS.iter().find(differs) {
        return format!("the value of field `{}`", field.name);
    }
    if read.header.comments != meant.header.comments {
        return "a comment".to_string();
    }
    "a key/value pair".to_string()
}
