//! Writing: an array to one file, or to a header and a data file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::Nrrd;
use super::encode;
use super::error::{ErrorKind, NrrdError};
use super::fields::Description;
use super::header::{DataFile, Header, Storage};
use super::header_text;
use super::vocabulary::{Encoding, Endian, SampleType};

/// How samples are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// How samples become bytes.
    pub encoding: Encoding,
    /// Order of the bytes of one sample, where it shows.
    pub endian: Endian,
}

impl Default for Format {
    /// The bytes of this machine as they are.
    fn default() -> Self {
        Format {
            encoding: Encoding::Raw,
            endian: Endian::NATIVE,
        }
    }
}

/// Writes header and samples one after the other.
pub fn write_attached(nrrd: &Nrrd, format: Format, out: &mut dyn Write) -> Result<(), NrrdError> {
    check(nrrd, format)?;
    let header = header_of(nrrd.header(), format, DataFile::Attached)?;
    out.write_all(header.as_bytes()).map_err(io_error)?;
    write_samples(nrrd, format, out)
}

/// Writes header and samples one after the other, from samples that are there as the bytes of this machine's numbers, axis 0
/// fastest.
pub fn write_native(header: &Header, samples: &[u8], out: &mut dyn Write) -> Result<(), NrrdError> {
    let (text, wanted) = native_header(header)?;
    if wanted != samples.len() {
        let message = format!("{} bytes are not what the header says", samples.len());
        return Err(NrrdError::new(ErrorKind::Unwritable, message));
    }
    out.write_all(text.as_bytes()).map_err(io_error)?;
    out.write_all(samples).map_err(io_error)
}

/// The text before samples that follow as the bytes of this machine's numbers, and how many bytes these have.
pub fn native_header(header: &Header) -> Result<(String, usize), NrrdError> {
    let size = header.sample_type.size().or(header.block_size);
    let count = header.sample_count().zip(size);
    let bytes = count.and_then(|(count, size)| count.checked_mul(size));
    let bytes = bytes.ok_or_else(|| {
        let message = "more bytes than can be counted";
        NrrdError::new(ErrorKind::Unwritable, message.to_string())
    })?;
    let text = header_of(header, Format::default(), DataFile::Attached)?;
    Ok((text, bytes))
}

/// Writes a header that names its data file, and the data. `data_name` is relative to the header's directory.
pub fn write_detached(
    nrrd: &Nrrd,
    format: Format,
    header_out: &mut dyn Write,
    data_name: &str,
    data_out: &mut dyn Write,
) -> Result<(), NrrdError> {
    check(nrrd, format)?;
    let data = DataFile::Single(data_name.to_string());
    let header = header_of(nrrd.header(), format, data)?;
    header_out.write_all(header.as_bytes()).map_err(io_error)?;
    write_samples(nrrd, format, data_out)
}

/// Writes only the samples, as text with `per_line` numbers on a line.
pub fn write_text(nrrd: &Nrrd, per_line: usize, out: &mut dyn Write) -> Result<(), NrrdError> {
    check_text(nrrd)?;
    encode::encode(
        nrrd.samples(),
        Encoding::Ascii,
        Endian::NATIVE,
        per_line,
        out,
    )
    .map_err(io_error)
}

/// Writes a file: `.nhdr` as a header with a data file beside it, any other name as one file.
pub fn write(nrrd: &Nrrd, format: Format, path: &Path) -> Result<(), NrrdError> {
    let create = |path: &Path| {
        let file = File::create(path).map(BufWriter::new);
        file.map_err(|e| io_error(e).in_file(&path.display().to_string()))
    };
    let finish = |mut out: BufWriter<File>, path: &Path| {
        let flushed = out.flush();
        flushed.map_err(|e| io_error(e).in_file(&path.display().to_string()))
    };
    let shown = path.display().to_string();
    let mut out = create(path)?;
    match detached_data_name(path, format.encoding) {
        None => write_attached(nrrd, format, &mut out).map_err(|e| e.in_file(&shown))?,
        Some(name) => {
            let data_path = path.with_file_name(&name);
            let mut data_out = create(&data_path)?;
            write_detached(nrrd, format, &mut out, &name, &mut data_out)
                .map_err(|e| e.in_file(&shown))?;
            finish(data_out, &data_path)?;
        }
    }
    finish(out, path)
}

/// The name of the data file that belongs to a header at `path`, if the name says that the header has one.
pub fn detached_data_name(path: &Path, encoding: Encoding) -> Option<String> {
    let detached = path.extension()?.eq_ignore_ascii_case("nhdr");
    let stem = path.file_stem()?.to_string_lossy();
    let suffix = match encoding {
        Encoding::Raw => "raw",
        Encoding::Ascii => "txt",
        Encoding::Hex => "hex",
        Encoding::Gzip => "raw.gz",
        Encoding::Bzip2 => "raw.bz2",
    };
    detached.then(|| format!("{stem}.{suffix}"))
}

fn io_error(error: io::Error) -> NrrdError {
    NrrdError::new(ErrorKind::Io, error.to_string())
}

fn check_text(nrrd: &Nrrd) -> Result<(), NrrdError> {
    if nrrd.header().sample_type != SampleType::Block {
        return Ok(());
    }
    let message = "samples of type `block` have no `ascii` encoding";
    Err(NrrdError::new(ErrorKind::Unwritable, message))
}

/// Whether an array can be written so.
fn check(nrrd: &Nrrd, format: Format) -> Result<(), NrrdError> {
    match format.encoding {
        Encoding::Ascii => check_text(nrrd),
        _ => Ok(()),
    }
}

fn header_of(header: &Header, format: Format, data_file: DataFile) -> Result<String, NrrdError> {
    let header = header.clone();
    let shows = format.encoding.exposes_byte_order() && header.sample_type.size() != Some(1);
    let storage = Storage {
        encoding: format.encoding,
        endian: shows.then_some(format.endian),
        data_file,
        ..Storage::default()
    };
    header_text::print(&Description { header, storage })
}

fn write_samples(nrrd: &Nrrd, format: Format, out: &mut dyn Write) -> Result<(), NrrdError> {
    let row = nrrd.header().axes.first().map_or(1, |axis| axis.size);
    let Format { encoding, endian } = format;
    encode::encode(nrrd.samples(), encoding, endian, row, out).map_err(io_error)
}
