//! From samples to the bytes of a data file.

use std::io::{self, Write};

use super::samples::{Sample, Samples, with_samples};
use super::vocabulary::{Encoding, Endian};

/// Samples encoded at a time.
const PIECE: usize = 1 << 13;

/// Bytes per line of hexadecimal text.
const HEX_BYTES_PER_LINE: usize = 36;

/// Writes all samples; text has one line per `row` samples.
///
/// Blocks have no text form: the caller refuses them for [`Encoding::Ascii`].
pub(super) fn encode(
    samples: &Samples,
    encoding: Encoding,
    endian: Endian,
    row: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    match encoding {
        Encoding::Raw => write_bytes(samples, endian, out),
        Encoding::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            write_bytes(samples, endian, &mut encoder)?;
            encoder.finish().map(drop)
        }
        Encoding::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::default());
            write_bytes(samples, endian, &mut encoder)?;
            encoder.finish().map(drop)
        }
        Encoding::Hex => {
            let mut digits = HexWriter { out, column: 0 };
            write_bytes(samples, endian, &mut digits)?;
            digits.out.write_all(b"\n")
        }
        Encoding::Ascii => {
            with_samples!(samples, values => write_text(values, row, out), (_, _) => Ok(()))
        }
    }
}

fn write_bytes(samples: &Samples, endian: Endian, out: &mut dyn Write) -> io::Result<()> {
    fn pieces<T: Sample>(values: &[T], endian: Endian, out: &mut dyn Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        for piece in values.chunks(PIECE) {
            bytes.clear();
            T::append_bytes(piece, endian, &mut bytes);
            out.write_all(&bytes)?;
        }
        Ok(())
    }
    with_samples!(samples, values => pieces(values, endian, out), (_, bytes) => out.write_all(bytes))
}

fn write_text<T: Sample>(values: &[T], row: usize, out: &mut dyn Write) -> io::Result<()> {
    for line in values.chunks(row.max(1)) {
        for (i, value) in line.iter().enumerate() {
            let separator = if i == 0 { "" } else { " " };
            write!(out, "{separator}{}", value.to_text())?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Spells every byte by two digits.
struct HexWriter<'a> {
    out: &'a mut dyn Write,
    column: usize,
}

impl Write for HexWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text =
            String::with_capacity(2 * bytes.len() + bytes.len() / HEX_BYTES_PER_LINE + 1);
        for byte in bytes {
            if self.column == HEX_BYTES_PER_LINE {
                text.push('\n');
                self.column = 0;
            }
            text += &format!("{byte:02x}");
            self.column += 1;
        }
        self.out.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
