//! Image files of all formats. The first bytes of a file show its format. Most formats are a header in front of samples that the
//! reader of NRRD can read.
//!
//! A translator takes the beginning of a file and returns a NRRD header and the place of the samples. Pictures and TIFF are decoded
//! by crates made for them and get a header as well. So one set of rules for axes, spaces and components serves all formats.

pub(crate) mod boxes;
mod container;
mod dicom;
mod error;
mod facts;
mod hdf5;
mod legacy_vtk;
mod metaimage;
mod missing;
mod netcdf;
pub(crate) mod nifti;
mod npy;
mod picture;
mod points;
pub(crate) mod raw;
mod sniff;
mod stack;
mod text;
mod tiff;
mod translated;
mod vti;
mod zarr;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::file_name::escaped;
use crate::file_reference::numbered_files;
use crate::memory::Contents;
use crate::nrrd::{self, Decompressed, Header, Nrrd, STANDARD_INPUT, Samples, Storage};
use boxes::Boxes;
pub use error::{ImageError, Level, Note};
pub use facts::Triangle;
pub(crate) use facts::{Facts, FrameTimes, Numbering, VectorSpace};
pub use missing::Missing;
use sniff::Action;
use translated::{Asked, Translate, Translated, no_array};

/// A file that was recognized, and whose samples have not been read.
pub struct Source<'a> {
    format: &'static str,
    header: Header,
    notes: Vec<Note>,
    facts: Facts,
    /// A factor for stored numbers, and an offset that is added to the product.
    scale: Option<(f64, f64)>,
    /// Whether decoding changes the numbers, so that their type may be another than that of the header.
    is_rescaled: bool,
    /// The other arrays of the file: their names, and how many numbers a sample of theirs has.
    others: Vec<(String, usize)>,
    /// Why the grid has no place in the world, if it needs one that is given beside the file.
    unplaced: Option<ImageError>,
    /// The files of a directory that hold the samples.
    files: Vec<PathBuf>,
    /// The file, if its bytes are those of the stream that is read.
    file: Option<PathBuf>,
    /// The samples that are decoded, if they can be read in any order.
    boxes: Option<Arc<dyn Boxes>>,
    data: Data<'a>,
}

/// Takes samples piece by piece.
type Sink<'s> = dyn FnMut(Samples) + 's;

/// Decodes all samples, and gives notes about them.
type Decode<'a> = Box<dyn FnOnce(&mut Sink<'_>) -> Result<Vec<Note>, ImageError> + 'a>;

enum Data<'a> {
    Stored(Box<nrrd::Reader<'a>>),
    Decoded(Decode<'a>),
}

/// Bytes of a file that translators get to see.
const HEAD: usize = 1 << 20;

/// A file at its first byte.
struct Opened<'a> {
    /// Its beginning, which is also the beginning of the stream.
    head: Vec<u8>,
    stream: Box<dyn BufRead + 'a>,
    length: Option<u64>,
    /// Where it is, unless it is in memory.
    path: Option<PathBuf>,
    name: String,
    /// The array that is wanted of several.
    array: Option<String>,
    /// What becomes of slices that are not there.
    missing: Missing,
}

impl<'a> Opened<'a> {
    fn new(
        mut stream: Box<dyn BufRead + 'a>,
        length: Option<u64>,
        path: Option<PathBuf>,
        name: String,
    ) -> io::Result<Opened<'a>> {
        let mut head = Vec::new();
        stream.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        Ok(Opened {
            stream: Box::new(Cursor::new(head.clone()).chain(stream)),
            head,
            length,
            path,
            name,
            array: None,
            missing: Missing::default(),
        })
    }

    fn directory(&self) -> Option<PathBuf> {
        let parent = |path: &PathBuf| path.parent().map(Path::to_path_buf);
        self.path.as_ref().and_then(parent)
    }

    /// The file, if it is one of a known length.
    fn regular_file(&self) -> Option<PathBuf> {
        self.path.clone().filter(|_| self.length.is_some())
    }

    /// The file's name without its directory.
    fn file_name(&self) -> String {
        let name = self.path.as_ref().and_then(|path| path.file_name());
        name.map_or_else(
            || self.name.clone(),
            |name| name.to_string_lossy().into_owned(),
        )
    }

    /// All bytes, as long as there is memory for them.
    fn bytes(self) -> Result<Contents, ImageError> {
        Contents::read(self.stream).map_err(ImageError::new)
    }
}

impl<'a> Source<'a> {
    /// Opens a file; `-` is standard input. A name like `slice%03d.tif 1 120` stands for numbered pictures, unless there
    /// is a file of that name.
    pub fn open(path: &Path) -> Result<Source<'static>, ImageError> {
        Source::open_array(path, None, Missing::default())
    }

    /// Opens a file; `array` selects one of its arrays, if it has several.
    pub(crate) fn open_array(
        path: &Path,
        array: Option<&str>,
        missing: Missing,
    ) -> Result<Source<'static>, ImageError> {
        if let Some(files) = numbered_files(path) {
            return stack::open(files, missing).map_err(|e| e.in_file(path));
        }
        open_file(path, array, missing).map_err(|e| e.in_file(path))
    }

    /// Looks at the bytes of a file.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Source<'a>, ImageError> {
        Source::of_bytes(bytes, None, None)
    }

    /// Looks at the bytes of a file, which may name others beside it if it is known where it is; `array` selects one of its
    /// arrays, if it has several.
    pub(crate) fn of_bytes(
        bytes: &'a [u8],
        path: Option<&Path>,
        array: Option<&str>,
    ) -> Result<Source<'a>, ImageError> {
        let length = Some(bytes.len() as u64);
        let name = path.map_or(String::new(), |path| escaped(path.as_os_str()));
        let path = path.map(Path::to_path_buf);
        let opened = Opened::new(Box::new(bytes), length, path, name);
        let mut opened = opened.map_err(|e| ImageError::new(e.to_string()))?;
        opened.array = array.map(str::to_string);
        recognize(opened)
    }

    /// All samples with their header, as long as they take no more than `limit` bytes.
    pub(crate) fn into_array(self, limit: usize) -> Result<Nrrd, ImageError> {
        let Data::Stored(reader) = self.data else {
            let message = format!(
                "a file of the format {} is not an array of numbers",
                self.format
            );
            return Err(ImageError::new(message));
        };
        if self.facts.reversed_from.is_some() && self.header.axes.len() > 1 {
            let error = ImageError::new("the array is stored in Fortran order");
            return Err(error.hint("save numpy.ascontiguousarray(array)"));
        }
        Ok(reader.with_limit(limit).read()?)
    }

    /// The name of the format.
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// What the array is.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The notes about choices that were made for the user.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The other arrays of the file with this number of components.
    pub(crate) fn others_of(&self, components: usize) -> impl Iterator<Item = &str> {
        let fit = self.others.iter().filter(move |(_, n)| *n == components);
        fit.map(|(name, _)| name.as_str())
    }

    /// The files beside this one, or within a directory, that hold its samples.
    pub(crate) fn data_files(&self) -> Vec<PathBuf> {
        match &self.data {
            Data::Stored(reader) => reader.data_files().unwrap_or_default(),
            Data::Decoded(_) => self.files.clone(),
        }
    }

    /// How the samples are compressed, if they are.
    pub(crate) fn compression(&self) -> Option<&'static str> {
        let Data::Stored(reader) = &self.data else {
            return None;
        };
        let encoding = reader.storage().encoding;
        matches!(encoding, nrrd::Encoding::Gzip | nrrd::Encoding::Bzip2).then(|| encoding.name())
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(crate) fn scale(&self) -> Option<(f64, f64)> {
        self.scale
    }

    /// Whether decoding changes the stored numbers, so that their type may be another than that of the header.
    pub(crate) fn is_rescaled(&self) -> bool {
        self.is_rescaled
    }

    /// The same source, if its data can be as long as the header says. Memory may be taken for them then.
    pub(crate) fn checked(self) -> Result<Source<'a>, ImageError> {
        let Data::Stored(reader) = &self.data else {
            return Ok(self);
        };
        let count = self.header.sample_count().unwrap_or(usize::MAX);
        if reader.capacity()?.is_none_or(|most| most >= count) {
            return Ok(self);
        }
        // Reading without keeping anything finds out where the data end.
        self.read_pieces(&mut |_| ())?;
        Err(ImageError::new("the data are shorter than the header says"))
    }

    /// Why the grid has no place in the world by itself.
    pub(crate) fn unplaced(&self) -> Option<&ImageError> {
        self.unplaced.as_ref()
    }

    /// Gives the samples to `sink` in order and in pieces, as they are stored, and notes about them to the caller.
    pub(crate) fn read_pieces(self, sink: &mut Sink<'_>) -> Result<Vec<Note>, ImageError> {
        match self.data {
            Data::Stored(reader) => {
                reader.read_pieces(sink)?;
                Ok(Vec::new())
            }
            Data::Decoded(decode) => decode(sink),
        }
    }
}

fn open_file(
    path: &Path,
    array: Option<&str>,
    missing: Missing,
) -> Result<Source<'static>, ImageError> {
    let fail = |e: io::Error| ImageError::new(e.to_string());
    let name = escaped(path.as_os_str());
    if path.as_os_str() == STANDARD_INPUT {
        let stream = Box::new(io::stdin().lock());
        let mut opened = Opened::new(stream, None, Some(path.to_path_buf()), name).map_err(fail)?;
        opened.array = array.map(str::to_string);
        return recognize(opened);
    }
    if path.is_dir() {
        return open_directory(path, array, missing);
    }
    let file = File::open(path).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    let length = metadata.is_file().then_some(metadata.len());
    let stream = Box::new(BufReader::with_capacity(1 << 16, file));
    let mut opened = Opened::new(stream, length, Some(path.to_path_buf()), name).map_err(fail)?;
    (opened.array, opened.missing) = (array.map(str::to_string), missing);
    // The samples of a pair of files may have been named instead of their header.
    let format = sniff::recognize(&opened.head);
    if let Some(header) = nifti::header_of_pair(path)
        && format.is_none_or(|format| matches!(format.action, Action::Gzip))
    {
        return open_file(&header, array, missing);
    }
    recognize(opened)
}

/// Opens a directory: Zarr, or a series of DICOM.
fn open_directory(
    path: &Path,
    array: Option<&str>,
    missing: Missing,
) -> Result<Source<'static>, ImageError> {
    if zarr::is_directory(path) {
        let shown = escaped(path.as_os_str());
        return zarr::open(path, array).map_err(|error| match error.hints().is_empty() {
            true => sniff::with_zarr_command(error, &shown),
            false => error,
        });
    }
    match dicom::is_directory(path) {
        true => dicom::open_directory(path, array, missing),
        false => Err(sniff::directory(path)),
    }
}

/// The coordinates of the points in the bytes of a file of geometry, three of each, as long as they take no more than `limit`
/// bytes; `None` if the file has another format.
pub(crate) fn points(bytes: &[u8], limit: usize) -> Option<Result<Samples, ImageError>> {
    points::read(bytes, limit)
}

/// Whether the beginning of a file is that of a known format, read or not.
pub(crate) fn is_known(head: &[u8]) -> bool {
    sniff::recognize(head).is_some()
}

/// Finds out what a file is and describes it.
fn recognize(opened: Opened<'_>) -> Result<Source<'_>, ImageError> {
    let name = opened.file_name();
    let Some(format) = sniff::recognize(&opened.head) else {
        return Err(sniff::unknown(&opened.head));
    };
    if !matches!(format.action, Action::Gzip) {
        format.check_array(opened.array.as_deref())?;
    }
    match format.action {
        Action::Nrrd => {
            let (directory, file) = (opened.directory(), opened.regular_file());
            let Opened {
                stream,
                length,
                name,
                ..
            } = opened;
            let reader = nrrd::Reader::from_stream(stream, length, &name, directory)?;
            Ok(Source {
                file,
                ..Source::stored(format.name, reader, Facts::default())
            })
        }
        Action::Translate(translate) => {
            let asked = Asked {
                name: &name,
                array: opened.array.as_deref(),
                path: opened.path.as_deref().filter(|_| opened.length.is_some()),
            };
            let translated = translate(&opened.head, &asked)
                .map_err(|e| format.with_way_out(ImageError::new(e), &opened.name))?;
            stored(format.name, translated, opened)
        }
        Action::Gzip => inside_gzip(opened, &name),
        Action::Picture(kind) => picture::open(format.name, kind, opened.bytes()?),
        Action::Tiff => {
            let file = opened.name.clone();
            let source = match opened.path.clone().filter(|_| opened.length.is_some()) {
                Some(path) => {
                    let file = File::open(path).map_err(|e| ImageError::new(e.to_string()))?;
                    tiff::open(BufReader::new(file), opened.length.unwrap_or(0))
                }
                None => {
                    let bytes = opened.bytes()?;
                    let length = bytes.len() as u64;
                    tiff::open(Cursor::new(bytes), length)
                }
            };
            source.map_err(|error| format.with_way_out(error, &file))
        }
        Action::Hdf5 | Action::NetCdf | Action::Dicom => {
            let file = opened.name.clone();
            let source = match format.action {
                Action::Hdf5 => hdf5::open(opened, netcdf::open_storage),
                Action::NetCdf => netcdf::open(opened),
                _ => dicom::open(opened),
            };
            // A choice that is left to the user needs no other program.
            source.map_err(|error| match error.hints().is_empty() {
                true => format.with_way_out(error, &file),
                false => error,
            })
        }
        Action::VtkData => Err(sniff::refuse_vtk_data(&opened.head, &opened.name)),
        Action::Advise(advice) => Err(sniff::refuse(format.name, advice, &opened.name)),
    }
}

/// Looks into a file that is compressed as a whole.
fn inside_gzip<'a>(opened: Opened<'a>, name: &str) -> Result<Source<'a>, ImageError> {
    let mut head = Vec::new();
    let inside = Decompressed::gzip(&opened.head[..]);
    // The compressed beginning breaks off somewhere; what came before counts.
    let _ = inside.take(HEAD as u64).read_to_end(&mut head);
    let Some(format) = sniff::recognize(&head) else {
        return Err(sniff::unknown_inside_gzip(&head));
    };
    format.check_array(opened.array.as_deref())?;
    match format.action {
        Action::Translate(translate) => {
            let asked = Asked {
                name,
                array: opened.array.as_deref(),
                path: None,
            };
            let mut translated = translate(&head, &asked)
                .map_err(|e| format.with_way_out(ImageError::new(e), &opened.name))?;
            let Storage {
                encoding,
                data_file,
                line_skip,
                ..
            } = &mut translated.storage;
            // Samples that follow as they are: the skip then counts decompressed bytes.
            let plain = *encoding == nrrd::Encoding::Raw && *line_skip == 0;
            if *data_file == nrrd::DataFile::Attached && !(plain && translated.packing.is_none()) {
                return Err(sniff::refuse_compressed(format.name, &opened.name));
            }
            if *data_file == nrrd::DataFile::Attached {
                *encoding = nrrd::Encoding::Gzip;
            }
            stored(format.name, translated, opened)
        }
        Action::Nrrd => {
            let directory = opened.directory();
            let stream = BufReader::new(Decompressed::gzip(opened.stream));
            let length = opened.length.map(most_inflated);
            let reader = nrrd::Reader::from_stream(stream, length, &opened.name, directory)?;
            Ok(Source::stored(format.name, reader, Facts::default()))
        }
        Action::Advise(advice) => Err(sniff::refuse(format.name, advice, &opened.name)),
        Action::Gzip
        | Action::Picture(_)
        | Action::Tiff
        | Action::Hdf5
        | Action::NetCdf
        | Action::Dicom
        | Action::VtkData => Err(sniff::refuse_compressed(format.name, &opened.name)),
    }
}

/// The most bytes that `bytes` compressed bytes can be inflated to.
fn most_inflated(bytes: u64) -> u64 {
    bytes.saturating_mul(1032)
}

/// Refuses an array that no file of `bytes` bytes can hold, if a byte expands to at most `ratio` bytes.
fn check_length(header: &Header, bytes: u64, ratio: u64) -> Result<(), ImageError> {
    let size = header.sample_size().unwrap_or(1);
    let wanted = header.sample_count().and_then(|n| n.checked_mul(size));
    match wanted.is_some_and(|wanted| wanted as u64 <= bytes.saturating_mul(ratio)) {
        true => Ok(()),
        false => Err(ImageError::new(
            "the file is too short for the pixels that it announces",
        )),
    }
}

/// The source of samples that a translator described.
fn stored<'a>(
    format: &'static str,
    translated: Translated,
    opened: Opened<'a>,
) -> Result<Source<'a>, ImageError> {
    let directory = opened.directory();
    let file = opened
        .regular_file()
        .filter(|_| translated.packing.is_none());
    let Opened {
        stream,
        length,
        name,
        ..
    } = opened;
    let (stream, length) = match translated.packing {
        None => (stream, length),
        Some(packing) => (
            packing.unpack(stream).map_err(ImageError::new)?,
            length.map(most_inflated),
        ),
    };
    let Translated {
        header, storage, ..
    } = translated;
    let reader = nrrd::Reader::from_parts(header, storage, stream, length, &name, directory)?;
    Ok(Source {
        scale: translated.scale,
        notes: translated.notes,
        others: translated.others,
        file,
        ..Source::stored(format, reader, translated.facts)
    })
}

impl<'a> Source<'a> {
    fn stored(format: &'static str, reader: nrrd::Reader<'a>, facts: Facts) -> Source<'a> {
        Source {
            format,
            header: reader.header().clone(),
            notes: Vec::new(),
            facts,
            scale: None,
            is_rescaled: false,
            others: Vec::new(),
            unplaced: None,
            files: Vec::new(),
            file: None,
            boxes: None,
            data: Data::Stored(Box::new(reader)),
        }
    }

    fn decoded(format: &'static str, header: Header, decode: Decode<'a>) -> Source<'a> {
        Source {
            format,
            header,
            notes: Vec::new(),
            facts: Facts::default(),
            scale: None,
            is_rescaled: false,
            others: Vec::new(),
            unplaced: None,
            files: Vec::new(),
            file: None,
            boxes: None,
            data: Data::Decoded(decode),
        }
    }
}
