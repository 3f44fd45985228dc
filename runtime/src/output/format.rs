//! The formats of output files, in a table, and names that choose one.

use std::ffi::{OsStr, OsString};

use crate::file_name::{FileName, escaped, split_first, split_last};

/// The name that stands for standard output.
pub const STANDARD_OUTPUT: &str = "-";

/// The format of an output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// A NRRD, header and data in one file.
    Nrrd,
    /// A NRRD header, with the data in a file beside it.
    DetachedNrrd,
    /// A picture.
    Png,
    /// Numbers in text.
    Text,
    /// An array of NumPy.
    Npy,
    /// A table in text.
    Csv,
    /// Points and lines with data, for VTK.
    Vtp,
    /// A grid with data, for VTK.
    Vti,
    /// Points and edges with properties.
    Ply,
    /// Points and lines.
    Obj,
    /// An animated picture.
    Apng,
    /// Frames for an encoder of films.
    Y4m,
}

/// The properties of a format.
struct FormatRow {
    format: FileFormat,
    suffix: &'static str,
    /// Whether one file takes several outputs.
    takes_several: bool,
}

const FORMATS: &[FormatRow] = &[
    row(FileFormat::Nrrd, "nrrd", false),
    row(FileFormat::DetachedNrrd, "nhdr", false),
    row(FileFormat::Png, "png", false),
    row(FileFormat::Text, "txt", false),
    row(FileFormat::Npy, "npy", false),
    row(FileFormat::Csv, "csv", true),
    row(FileFormat::Vtp, "vtp", true),
    row(FileFormat::Vti, "vti", true),
    row(FileFormat::Ply, "ply", true),
    row(FileFormat::Obj, "obj", true),
    row(FileFormat::Apng, "apng", false),
    row(FileFormat::Y4m, "y4m", false),
];

const fn row(format: FileFormat, suffix: &'static str, takes_several: bool) -> FormatRow {
    FormatRow {
        format,
        suffix,
        takes_several,
    }
}

impl FileFormat {
    fn row(self) -> &'static FormatRow {
        let of = |row: &&FormatRow| row.format == self;
        FORMATS.iter().find(of).expect("every format has a row")
    }

    /// The suffix that asks for it, without the period.
    pub fn suffix(self) -> &'static str {
        self.row().suffix
    }

    /// Whether one file takes several outputs.
    pub fn takes_several(self) -> bool {
        self.row().takes_several
    }

    /// Whether it holds many pictures, one after the other.
    pub fn is_film(self) -> bool {
        matches!(self, FileFormat::Apng | FileFormat::Y4m)
    }

    fn of_suffix(suffix: &OsStr) -> Option<FileFormat> {
        let asks = |row: &&FormatRow| suffix.eq_ignore_ascii_case(row.suffix);
        FORMATS.iter().find(asks).map(|row| row.format)
    }

    /// All formats.
    pub fn all() -> impl Iterator<Item = FileFormat> {
        FORMATS.iter().map(|row| row.format)
    }

    /// The suffixes of formats.
    pub fn suffixes(formats: impl Iterator<Item = FileFormat>) -> String {
        let suffixes: Vec<_> = formats
            .map(|format| format!(".{}", format.suffix()))
            .collect();
        suffixes.join(", ")
    }
}

/// Where an output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// In which format.
    pub format: FileFormat,
    /// The file; `-` is standard output.
    pub file: FileName,
}

impl Destination {
    /// What a name asks for: the format of its suffix, or of a prefix as in `png:-`. A name without suffix, and standard
    /// output, get a NRRD.
    ///
    /// # Errors
    /// The suffix is not that of a format.
    pub fn parse(name: impl Into<FileName>) -> Result<Destination, String> {
        let file: FileName = name.into();
        if let Some((prefix, file)) = split_first(file.as_os_str(), b':')
            && let Some(format) = FileFormat::of_suffix(prefix)
            && !file.is_empty()
        {
            let file = file.into();
            return Ok(Destination { format, file });
        }
        let Some(suffix) = file.extension() else {
            let format = FileFormat::Nrrd;
            return Ok(Destination { format, file });
        };
        match FileFormat::of_suffix(suffix) {
            Some(format) => Ok(Destination { format, file }),
            None => Err(format!(
                "{file}: found suffix `.{}`, expected one of {}; a prefix names a format where a suffix cannot, as in png:{file}",
                escaped(suffix),
                FileFormat::suffixes(FileFormat::all())
            )),
        }
    }

    /// Whether it is standard output.
    pub fn is_standard_output(&self) -> bool {
        self.file == *STANDARD_OUTPUT
    }

    /// The name without the suffix of its format.
    fn stem(&self) -> &OsStr {
        let whole = self.file.as_os_str();
        match split_last(whole, b'.') {
            Some((stem, end)) if end.eq_ignore_ascii_case(self.format.suffix()) => stem,
            _ => whole,
        }
    }

    /// The name with another end in the place of its suffix.
    fn ended(&self, end: &str) -> FileName {
        let mut name = OsString::from(self.stem());
        name.push(end);
        name.into()
    }

    /// The file of a numbered one of several: `iso.png` becomes `iso-0050.png`.
    pub fn numbered(&self, number: u64, digits: usize) -> Destination {
        let suffix = self.format.suffix();
        Destination {
            format: self.format,
            file: self.ended(&format!("-{number:0digits$}.{suffix}")),
        }
    }

    /// The two files of sequences of varying length: where each begins and how long it is, and the elements.
    pub fn sequence_files(&self) -> [FileName; 2] {
        ["len", "data"].map(|part| self.ended(&format!("-{part}.nrrd")))
    }

    /// The same of a numbered one of several.
    pub fn numbered_sequence_files(&self, number: u64, digits: usize) -> [FileName; 2] {
        ["len", "data"].map(|part| self.ended(&format!("-{part}-{number:0digits$}.nrrd")))
    }
}
