//! Reading: a header from a file, a stream or memory, then its samples whole or piece by piece.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::Nrrd;
use super::data_file::{self, Part};
use super::decode::{self, Layout};
use super::error::{ErrorKind, NrrdError};
use super::fields::Description;
use super::header::{Header, Storage};
use super::header_text::{self, ParsedHeader};
use super::samples::Samples;
use super::vocabulary::Endian;

/// The name that stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// A NRRD whose header has been read and whose samples have not.
pub struct Reader<'a> {
    name: String,
    directory: Option<PathBuf>,
    parsed: ParsedHeader,
    stream: Box<dyn BufRead + 'a>,
}

impl<'a> Reader<'a> {
    /// Opens a file and reads its header; `-` is standard input.
    pub fn open(path: &Path) -> Result<Reader<'static>, NrrdError> {
        let name = path.display().to_string();
        let directory = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        Reader::from_stream(open_stream(path, &name)?, &name, Some(directory))
    }

    /// Reads a header from any stream. `name` is used in messages; data files are looked up in `directory`, without
    /// which a header that names any is refused.
    pub fn from_stream(
        mut stream: impl BufRead + 'a,
        name: &str,
        directory: Option<PathBuf>,
    ) -> Result<Reader<'a>, NrrdError> {
        let parsed = header_text::parse(&mut stream).map_err(|e| e.in_file(name))?;
        Ok(Reader {
            name: name.to_string(),
            directory,
            parsed,
            stream: Box::new(stream),
        })
    }

    /// What the array is.
    pub fn header(&self) -> &Header {
        &self.parsed.description.header
    }

    /// How and where its samples are stored.
    pub fn storage(&self) -> &Storage {
        &self.parsed.description.storage
    }

    /// Reads all samples.
    pub fn read(self) -> Result<Nrrd, NrrdError> {
        let header = self.header();
        let mut samples = Samples::empty(header.sample_type, header.block_size);
        let expected = header.sample_count().unwrap_or(0);
        let header = self.read_pieces(|piece| samples.append(piece, expected))?;
        Ok(Nrrd { header, samples })
    }

    /// Gives the samples to `sink` in order and in pieces of bounded size; after the last, gives the header.
    pub fn read_pieces(mut self, mut sink: impl FnMut(Samples)) -> Result<Header, NrrdError> {
        let Description { header, storage } = self.parsed.description.clone();
        let at_data_file = |message| {
            let error = self.parsed.error_at("data file", message);
            error.in_file(&self.name)
        };
        let parts = data_file::parts(&header, &storage).map_err(at_data_file)?;
        // A checked header has a sample size and a count of samples, and the parts divide it evenly.
        let count = header.sample_count().unwrap_or(0) / parts.len().max(1);
        for part in &parts {
            let layout = Layout {
                sample_type: header.sample_type,
                sample_size: header.sample_size().unwrap_or(1),
                encoding: storage.encoding,
                endian: storage.endian.unwrap_or(Endian::NATIVE),
                line_skip: storage.line_skip,
                byte_skip: part.byte_skip,
                count,
            };
            self.decode_part(part, &layout, &mut sink)?;
        }
        Ok(header)
    }

    fn decode_part(
        &mut self,
        part: &Part,
        layout: &Layout,
        sink: &mut dyn FnMut(Samples),
    ) -> Result<(), NrrdError> {
        let Some(name) = &part.name else {
            let decoded = decode::decode(&mut self.stream, layout, sink);
            return decoded.map_err(|e| e.in_file(&self.name));
        };
        let Some(directory) = &self.directory else {
            let message =
                format!("data file `{name}` cannot be found: the header is in no directory");
            let error = self.parsed.error_at("data file", message);
            return Err(error.in_file(&self.name));
        };
        // Joining keeps absolute paths as they are.
        let path = match name.as_str() {
            STANDARD_INPUT => PathBuf::from(STANDARD_INPUT),
            _ => directory.join(name),
        };
        let shown = path.display().to_string();
        let mut stream = open_stream(&path, &shown)?;
        decode::decode(&mut stream, layout, sink).map_err(|e| e.in_file(&shown))
    }
}

fn open_stream(path: &Path, name: &str) -> Result<Box<dyn BufRead>, NrrdError> {
    if path.as_os_str() == STANDARD_INPUT {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let fail = |e: std::io::Error| NrrdError::new(ErrorKind::Io, e.to_string()).in_file(name);
    let file = File::open(path).map_err(fail)?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

/// Reads the array in a file; `-` is standard input.
pub fn read(path: &Path) -> Result<Nrrd, NrrdError> {
    Reader::open(path)?.read()
}

/// Reads the array in `bytes`; data files it names are looked up in `directory`.
pub fn read_bytes(bytes: &[u8], directory: Option<&Path>) -> Result<Nrrd, NrrdError> {
    Reader::from_stream(bytes, "", directory.map(Path::to_path_buf))?.read()
}
