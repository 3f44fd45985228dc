//! Reading: a header from a file, a stream or memory, then its samples whole or piece by piece.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::Nrrd;
use super::data_file::{self, Part};
use super::decode::{self, Layout, Sink};
use super::error::{ErrorKind, NrrdError};
use super::fields::Description;
use super::header::{Header, Storage};
use super::header_text::{self, ParsedHeader};
use super::samples::Samples;
use super::vocabulary::{Encoding, Endian};

/// The name that stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// A NRRD whose header has been read and whose samples have not.
///
/// ```
/// use nrrd_rs::{Reader, Samples};
///
/// let file = b"NRRD0001\ntype: uchar\ndimension: 2\nsizes: 3 2\nencoding: raw\n\nabcdef";
/// let reader = Reader::from_bytes(file, "letters", None)?;
/// // The header alone:
/// assert_eq!(reader.header().sizes(), [3, 2]);
/// // The samples in pieces of bounded size, never all of them in memory:
/// let mut sum = 0;
/// reader.read_pieces(|piece| {
///     let Samples::U8(values) = piece else { unreachable!("the header declares bytes") };
///     sum += values.iter().map(|&v| u64::from(v)).sum::<u64>();
/// })?;
/// assert_eq!(sum, 597);
/// # Ok::<(), nrrd_rs::NrrdError>(())
/// ```
pub struct Reader<'a> {
    name: String,
    directory: Option<PathBuf>,
    parsed: ParsedHeader,
    stream: Box<dyn BufRead + 'a>,
    /// Bytes of the stream after the header, where they can be known.
    length: Option<u64>,
    limit: usize,
}

/// Raw samples of a file, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPlace {
    /// The file beside the header; `None` is the file of the header itself.
    pub file: Option<PathBuf>,
    /// The first byte.
    pub start: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// Their order within a sample; that of this machine for samples of one byte.
    pub endian: Endian,
}

impl<'a> Reader<'a> {
    /// Opens a file and reads its header; `-` is standard input.
    pub fn open(path: &Path) -> Result<Reader<'static>, NrrdError> {
        let name = path.display().to_string();
        let directory = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let (stream, length) = open_stream(path, &name)?;
        Reader::new(stream, length, &name, Some(directory))
    }

    /// Reads a header from any stream. `length` is the number of its bytes, if that is known. `name` is used in messages;
    /// data files are looked up in `directory`, without which a header that names any is refused.
    pub fn from_stream(
        stream: impl BufRead + 'a,
        length: Option<u64>,
        name: &str,
        directory: Option<PathBuf>,
    ) -> Result<Reader<'a>, NrrdError> {
        Reader::new(Box::new(stream), length, name, directory)
    }

    /// Reads a header from memory, as [`Reader::from_stream`] does from a stream.
    pub fn from_bytes(
        bytes: &'a [u8],
        name: &str,
        directory: Option<PathBuf>,
    ) -> Result<Reader<'a>, NrrdError> {
        Reader::new(Box::new(bytes), Some(bytes.len() as u64), name, directory)
    }

    fn new(
        mut stream: Box<dyn BufRead + 'a>,
        length: Option<u64>,
        name: &str,
        directory: Option<PathBuf>,
    ) -> Result<Reader<'a>, NrrdError> {
        let parsed = header_text::parse(&mut stream).map_err(|e| e.in_file(name))?;
        let length = length.map(|length| length.saturating_sub(parsed.bytes));
        Ok(Reader {
            name: name.to_string(),
            directory,
            parsed,
            stream,
            length,
            limit: usize::MAX,
        })
    }

    /// An array that is described by something else than a NRRD header: the header of another format, say. `stream` is
    /// the file that [`DataFile::Attached`](super::DataFile::Attached) means, at its first byte, and `length` how long
    /// it is, if that is known.
    pub fn from_parts(
        header: Header,
        storage: Storage,
        stream: impl BufRead + 'a,
        length: Option<u64>,
        name: &str,
        directory: Option<PathBuf>,
    ) -> Result<Reader<'a>, NrrdError> {
        let parsed = ParsedHeader::unwritten(Description { header, storage });
        parsed.check_description().map_err(|e| e.in_file(name))?;
        Ok(Reader {
            name: name.to_string(),
            directory,
            parsed,
            stream: Box::new(stream),
            length,
            limit: usize::MAX,
        })
    }

    /// The same array, with at most this number of bytes in memory: a longer one is an error of kind
    /// [`ErrorKind::TooLarge`]. A compressed file of kilobytes can hold gigabytes, so files from an untrusted source
    /// need a limit.
    pub fn with_limit(self, bytes: usize) -> Reader<'a> {
        Reader {
            limit: bytes,
            ..self
        }
    }

    /// What the array is.
    pub fn header(&self) -> &Header {
        &self.parsed.description.header
    }

    /// How and where its samples are stored.
    pub fn storage(&self) -> &Storage {
        &self.parsed.description.storage
    }

    /// The most samples that the data can hold, judged by the lengths of files and what their encoding can make of a
    /// byte; `None` if a length is unknown, as that of a pipe is. If this is less than the header says, reading fails.
    pub fn capacity(&self) -> Result<Option<usize>, NrrdError> {
        let mut all: Option<usize> = Some(0);
        for (part, layout) in self.parts()? {
            let length = match &part.name {
                None => self.length,
                Some(name) => {
                    let (path, shown) = self.data_path(name)?;
                    file_length(&path).map_err(|e| io_error(&e, &shown))?
                }
            };
            let most = length.map(|length| decode::most_samples(&layout, length));
            all = all.zip(most).map(|(all, most)| all.saturating_add(most));
        }
        Ok(all)
    }

    /// Where the samples are, if one file has them raw and one after the other. `None` if it does not, or if no length is known.
    ///
    /// # Errors
    /// The file that the header names cannot be looked at.
    pub fn raw_place(&self) -> Result<Option<RawPlace>, NrrdError> {
        let mut parts = self.parts()?;
        let (Some((part, layout)), None) = (parts.next(), parts.next()) else {
            return Ok(None);
        };
        if layout.encoding != Encoding::Raw || layout.line_skip != 0 {
            return Ok(None);
        }
        let (file, length, before) = match &part.name {
            None => (None, self.length, self.parsed.bytes),
            Some(name) => {
                let (path, shown) = self.data_path(name)?;
                let length = file_length(&path).map_err(|e| io_error(&e, &shown))?;
                (Some(path), length, 0)
            }
        };
        let bytes = (layout.count as u64).checked_mul(layout.sample_size as u64);
        let place = length.zip(bytes).and_then(|(length, bytes)| {
            // Negative skips count from the end: -1 are the last samples of the file.
            let skip = match u64::try_from(layout.byte_skip) {
                Ok(skip) => skip,
                Err(_) => {
                    let after = (-1 - layout.byte_skip).unsigned_abs();
                    length.checked_sub(after)?.checked_sub(bytes)?
                }
            };
            (skip.checked_add(bytes)? <= length).then_some(RawPlace {
                file,
                start: before + skip,
                bytes,
                endian: match layout.sample_size {
                    1 => Endian::NATIVE,
                    _ => layout.endian,
                },
            })
        });
        Ok(place)
    }

    /// The files beside the header that hold its samples, in order; a long list is cut off.
    ///
    /// # Errors
    /// The header says nothing that can be followed.
    pub fn data_files(&self) -> Result<Vec<PathBuf>, NrrdError> {
        /// A header of a few bytes can name thousands of millions.
        const MOST: usize = 10_000;
        let named = self.parts()?.filter_map(|(part, _)| part.name);
        let paths = named.map(|name| self.data_path(&name).map(|(path, _)| path));
        paths.take(MOST).collect()
    }

    /// Reads all samples.
    pub fn read(self) -> Result<Nrrd, NrrdError> {
        let header = self.header();
        // A checked header has a number of samples that can be addressed, and a size of one.
        let count = header.sample_count().unwrap_or(0);
        let bytes = count.saturating_mul(header.sample_size().unwrap_or(1));
        if bytes > self.limit {
            let error = NrrdError::too_large(bytes, self.limit);
            return Err(error.in_file(&self.name));
        }
        // Memory is taken at once where the data can be as long as the header says, and else as they come.
        let most = self.capacity()?.unwrap_or(0);
        let room = if most >= count { count } else { 0 };
        let name = self.name.clone();
        let no_memory = || NrrdError::no_memory(bytes).in_file(&name);
        let mut samples = Samples::with_room(header.sample_type, header.block_size, room)
            .ok_or_else(no_memory)?;
        let header =
            self.pieces(&mut |piece| samples.append(piece, count).ok_or_else(no_memory))?;
        Ok(Nrrd { header, samples })
    }

    /// Gives the samples to `sink` in order and in pieces of bounded size; after the last, gives the header.
    pub fn read_pieces(self, mut sink: impl FnMut(Samples)) -> Result<Header, NrrdError> {
        self.pieces(&mut |piece| {
            sink(piece);
            Ok(())
        })
    }

    fn pieces(mut self, sink: &mut Sink<'_>) -> Result<Header, NrrdError> {
        let header = self.header().clone();
        let storage = self.storage().clone();
        for (part, layout) in self.layouts(&header, &storage)? {
            match &part.name {
                None => decode::decode(&mut self.stream, &layout, sink)
                    .map_err(|e| e.in_file(&self.name))?,
                Some(name) => {
                    let (path, shown) = self.data_path(name)?;
                    let (mut stream, _) = open_stream(&path, &shown)?;
                    decode::decode(&mut stream, &layout, sink).map_err(|e| e.in_file(&shown))?;
                }
            }
        }
        Ok(header)
    }

    /// The files to read, one at a time, and how the samples are stored in each.
    fn parts(&self) -> Result<impl Iterator<Item = (Part, Layout)>, NrrdError> {
        self.layouts(self.header(), self.storage())
    }

    fn layouts<'s>(
        &self,
        header: &'s Header,
        storage: &'s Storage,
    ) -> Result<impl Iterator<Item = (Part, Layout)> + use<'s>, NrrdError> {
        let parts = data_file::Parts::new(header, storage)
            .map_err(|m| self.parsed.error_at("data file", m).in_file(&self.name))?;
        // A checked header has a sample size and a count of samples, and the parts divide it evenly.
        let count = header.sample_count().unwrap_or(0) / parts.total().max(1);
        let limit = self.limit;
        Ok(parts.map(move |part| {
            let layout = Layout {
                sample_type: header.sample_type,
                sample_size: header.sample_size().unwrap_or(1),
                encoding: storage.encoding,
                endian: storage.endian.unwrap_or(Endian::NATIVE),
                line_skip: storage.line_skip,
                byte_skip: part.byte_skip,
                count,
                limit,
            };
            (part, layout)
        }))
    }

    /// Where a data file is, and its name for messages.
    fn data_path(&self, name: &str) -> Result<(PathBuf, String), NrrdError> {
        let Some(directory) = &self.directory else {
            let message =
                format!("data file `{name}` cannot be found: the header is in no directory");
            let error = self.parsed.error_at("data file", message);
            return Err(error.in_file(&self.name));
        };
        // Joining keeps absolute paths as they are.
        let path = match name {
            STANDARD_INPUT => PathBuf::from(STANDARD_INPUT),
            _ => directory.join(name),
        };
        let shown = path.display().to_string();
        Ok((path, shown))
    }
}

fn io_error(error: &std::io::Error, name: &str) -> NrrdError {
    NrrdError::new(ErrorKind::Io, error.to_string()).in_file(name)
}

/// The length of a file, if it is one: pipes do not say theirs.
///
/// A device is refused. Some have no end, and a header from an untrusted source can name them.
fn file_length(path: &Path) -> std::io::Result<Option<u64>> {
    if path.as_os_str() == STANDARD_INPUT {
        return Ok(None);
    }
    let metadata = std::fs::metadata(path)?;
    if is_device(&metadata) {
        return Err(std::io::Error::other("this is a device, not a file"));
    }
    Ok(metadata.is_file().then_some(metadata.len()))
}

#[cfg(unix)]
fn is_device(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let sort = metadata.file_type();
    sort.is_char_device() || sort.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &std::fs::Metadata) -> bool {
    false
}

fn open_stream(
    path: &Path,
    name: &str,
) -> Result<(Box<dyn BufRead + 'static>, Option<u64>), NrrdError> {
    if path.as_os_str() == STANDARD_INPUT {
        return Ok((Box::new(std::io::stdin().lock()), None));
    }
    let opened = file_length(path).and_then(|length| Ok((File::open(path)?, length)));
    let (file, length) = opened.map_err(|e| io_error(&e, name))?;
    Ok((Box::new(BufReader::with_capacity(1 << 16, file)), length))
}

/// Reads the array in a file; `-` is standard input.
pub fn read(path: &Path) -> Result<Nrrd, NrrdError> {
    Reader::open(path)?.read()
}

/// Reads the array in `bytes`; data files it names are looked up in `directory`.
pub fn read_bytes(bytes: &[u8], directory: Option<&Path>) -> Result<Nrrd, NrrdError> {
    Reader::from_bytes(bytes, "", directory.map(Path::to_path_buf))?.read()
}
