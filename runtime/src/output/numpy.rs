//! Files for NumPy: one array (`.npy`), or several outputs by their names (`.npz`).
//!
//! An archive has an array for each output. The elements of sequences of varying length follow each other in it, and `NAME_lengths`
//! has the length of each strand's sequence. It is a ZIP file without compression, with 64-bit sizes.

use std::io::{self, Write};

use super::contents::{Contents, Style, Told};
use super::shapes::Request;
use super::{Column, Domain, Length, OutputError, Values};
use flate2::Crc;

/// Writes an array in C order: iterators from the outermost on, then the elements of a sequence, then tensor axes.
pub(super) fn write_npy(
    contents: Contents<'_>,
    _: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let column = contents.single()?;
    let head = column_head(column, contents.domain);
    let written = out
        .write_all(&head)
        .and_then(|()| column.values.write_bytes(out));
    written.map_err(OutputError::new)?;
    Ok((contents.description(), None))
}

/// The bytes in front of the values of an array.
pub(super) fn npy_head(contents: Contents<'_>) -> Option<Vec<u8>> {
    let column = contents.single().ok()?;
    let fits = column.output.length != Length::Dynamic;
    fits.then(|| column_head(column, contents.domain))
}

fn column_head(column: &Column<'_>, domain: &Domain) -> Vec<u8> {
    let mut shape = match column.lengths {
        Some(lengths) => vec![lengths.iter().sum()],
        None => strand_axes(domain),
    };
    if let Length::Fixed(n) = column.output.length {
        shape.push(n);
    }
    shape.extend(&column.output.shape);
    head(&shape, column.values)
}

fn strand_axes(domain: &Domain) -> Vec<usize> {
    match domain {
        Domain::Grid(sizes) => sizes.clone(),
        Domain::List(count) => vec![*count],
    }
}

fn head(shape: &[usize], values: Values<'_>) -> Vec<u8> {
    let order = if cfg!(target_endian = "little") {
        '<'
    } else {
        '>'
    };
    let ty = match values {
        Values::F32(_) => format!("{order}f4"),
        Values::F64(_) => format!("{order}f8"),
        Values::I32(_) => format!("{order}i4"),
        Values::I64(_) => format!("{order}i8"),
        Values::Bool(_) => "|b1".to_string(),
    };
    // A tuple of one has a comma.
    let sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let sizes = if shape.len() == 1 {
        sizes.trim_end()
    } else {
        sizes.trim_end_matches(", ")
    };
    let text = format!("{{'descr': '{ty}', 'fortran_order': False, 'shape': ({sizes}), }}");
    /// The data begin at a multiple of this.
    const ALIGNMENT: usize = 64;
    /// What stands before the text: magic word, version and length.
    const BEFORE: usize = 10;
    let length = (BEFORE + text.len() + 1).next_multiple_of(ALIGNMENT) - BEFORE;
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend((length as u16).to_le_bytes());
    head.extend(format!("{text:<width$}\n", width = length - 1).into_bytes());
    head
}

/// The name of the array with the lengths of sequences.
fn lengths_name(output: &str) -> String {
    format!("{output}_lengths")
}

/// Outputs whose arrays have different names.
pub(super) fn named_apart(request: Request<'_>) -> Result<(), String> {
    let varying = request
        .outputs
        .iter()
        .filter(|o| o.length == Length::Dynamic);
    for lengths in varying.map(|output| lengths_name(&output.name)) {
        if request.outputs.iter().any(|output| output.name == lengths) {
            return Err(format!(
                "two arrays of the archive would be called `{lengths}`"
            ));
        }
    }
    Ok(())
}

/// Writes the arrays of several outputs.
pub(super) fn write_npz(
    contents: Contents<'_>,
    _: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let mut archive = Archive {
        out,
        written: 0,
        directory: Vec::new(),
        entries: 0,
    };
    let mut put = |name: &str, head: &[u8], values: Values<'_>| {
        let entry = archive.add(&format!("{name}.npy"), head, values);
        entry.map_err(OutputError::new)
    };
    for column in contents.columns {
        let name = &column.output.name;
        put(name, &column_head(column, contents.domain), column.values)?;
        if let Some(lengths) = column.lengths {
            let lengths: Vec<i64> = lengths.iter().map(|&n| n as i64).collect();
            let lengths = Values::I64(&lengths);
            let head = head(&strand_axes(contents.domain), lengths);
            put(&lengths_name(name), &head, lengths)?;
        }
    }
    archive.finish().map_err(OutputError::new)?;
    Ok((contents.description(), None))
}

/// A ZIP file in the making.
struct Archive<'o> {
    out: &'o mut dyn Write,
    written: u64,
    /// The records about its entries, which come at the end.
    directory: Vec<u8>,
    entries: u64,
}

/// A size that stands in a field of 64 bits elsewhere.
const ELSEWHERE: [u8; 4] = u32::MAX.to_le_bytes();

/// Version 4.5, which has 64-bit sizes.
const VERSION: [u8; 2] = 45_u16.to_le_bytes();

impl Archive<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn add(&mut self, name: &str, head: &[u8], values: Values<'_>) -> io::Result<()> {
        let mut copied = Vec::new();
        let data = values.bytes().unwrap_or_else(|| {
            values.append_bytes(&mut copied);
            &copied
        });
        let mut crc = Crc::new();
        crc.update(head);
        crc.update(data);
        let size = ((head.len() + data.len()) as u64).to_le_bytes();
        // Names are UTF-8, data are not compressed, and the time is the first that there is.
        let mut record = VERSION.to_vec();
        record.extend([0, 8, 0, 0, 0, 0, 0x21, 0]);
        record.extend(crc.sum().to_le_bytes());
        record.extend([ELSEWHERE, ELSEWHERE].concat());
        record.extend((name.len() as u16).to_le_bytes());
        let place = self.written.to_le_bytes();
        self.put(b"PK\x03\x04")?;
        self.put(&record)?;
        self.put(&20_u16.to_le_bytes())?;
        self.put(name.as_bytes())?;
        self.put(&[1, 0, 16, 0])?;
        self.put(&[size, size].concat())?;
        self.put(head)?;
        self.put(data)?;
        self.directory
            .extend([&b"PK\x01\x02"[..], &VERSION, &record].concat());
        self.directory.extend(28_u16.to_le_bytes());
        // No comment, the first disk, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(ELSEWHERE);
        self.directory.extend(name.as_bytes());
        self.directory.extend([1, 0, 24, 0]);
        self.directory.extend([size, size, place].concat());
        self.entries += 1;
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        let directory = std::mem::take(&mut self.directory);
        let start = self.written.to_le_bytes();
        self.put(&directory)?;
        let end = self.written.to_le_bytes();
        let (count, size) = (
            self.entries.to_le_bytes(),
            (directory.len() as u64).to_le_bytes(),
        );
        self.put(b"PK\x06\x06")?;
        self.put(&44_u64.to_le_bytes())?;
        self.put(&[VERSION, VERSION].concat())?;
        self.put(&[0; 8])?;
        self.put(&[count, count, size, start].concat())?;
        self.put(b"PK\x06\x07\0\0\0\0")?;
        self.put(&end)?;
        self.put(&1_u32.to_le_bytes())?;
        self.put(b"PK\x05\x06\0\0\0\0")?;
        self.put(&[ELSEWHERE, ELSEWHERE, ELSEWHERE, [0; 4]].concat()[..14])
    }
}
