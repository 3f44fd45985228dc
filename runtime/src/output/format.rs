//! The formats of output files, in a table, and names that choose one.
//!
//! A format is a row of `FORMATS`. Planning, writing, streaming and messages read the row, so nothing else has to know a new one.

use std::ffi::OsStr;
use std::fmt;

use super::contents::{Encode, Head, Number};
use super::ffmpeg;
use super::frames::{self, Begin};
use super::names::{numbered, without_suffix};
use super::nrrd_files::{self, Pair};
use super::shapes::{self, Fits, Request};
use super::{Domain, Length, Output};
use super::{figures, meshes, nifti, numpy, tables, tiff_files, triangles, vtk};
use crate::file_name::{FileName, escaped, split_first};

/// The name that stands for standard output.
pub const STANDARD_OUTPUT: &str = "-";

/// The properties of a format.
struct Row {
    /// The suffix that asks for it, without the period.
    suffix: &'static str,
    /// A description in a few words.
    about: &'static str,
    /// The media type, for browsers.
    media: &'static str,
    /// Whether one file takes several outputs.
    takes_several: bool,
    /// Whether a file is as long as the values in it, so that its size is known before.
    stores_bytes: bool,
    /// The outputs that it can hold.
    fits: Fits,
    /// Writes a file.
    encode: Encode,
    /// The bytes in front of the values of an output, if a file is these and the values in the order of strands. Such a file can be
    /// written while strands still run.
    head: Option<Head>,
    /// Two files, if outputs need them.
    pair: Option<&'static Pair>,
    /// Begins a film, if it holds many pictures.
    film: Option<Begin>,
    /// Whether the frames of a film go through an encoder, which writes the file.
    is_encoded: bool,
}

/// A format that stores the bytes of one output.
const ARRAY: Row = Row {
    suffix: "",
    about: "",
    media: "application/octet-stream",
    takes_several: false,
    stores_bytes: true,
    fits: shapes::arrays,
    encode: nrrd_files::write_nrrd,
    head: None,
    pair: None,
    film: None,
    is_encoded: false,
};

/// A format that stores the numbers of one output in another form.
const OTHER: Row = Row {
    stores_bytes: false,
    ..ARRAY
};

/// A format of points, lines and triangles.
const POINTS: Row = Row {
    takes_several: true,
    fits: triangles::or_points,
    ..ARRAY
};

/// A format of triangles only.
const TRIANGLES: Row = Row {
    fits: triangles::only,
    ..POINTS
};

static FORMATS: [Row; 22] = [
    Row {
        suffix: "nrrd",
        about: "NRRD: an array with the place of its grid",
        fits: shapes::anything,
        head: Some(nrrd_files::head),
        pair: Some(&nrrd_files::SEQUENCES),
        ..ARRAY
    },
    Row {
        suffix: "nhdr",
        about: "the header of a NRRD, with the data in a file beside it",
        pair: Some(&nrrd_files::DETACHED),
        ..ARRAY
    },
    Row {
        suffix: "png",
        about: "a picture",
        media: "image/png",
        fits: frames::pictures,
        encode: frames::write_png,
        ..OTHER
    },
    Row {
        suffix: "txt",
        about: "numbers in text",
        media: "text/plain",
        encode: nrrd_files::write_text,
        ..OTHER
    },
    Row {
        suffix: "npy",
        about: "an array for NumPy",
        encode: numpy::write_npy,
        head: Some(numpy::npy_head),
        ..ARRAY
    },
    Row {
        suffix: "npz",
        about: "arrays for NumPy, by the names of outputs",
        takes_several: true,
        fits: numpy::named_apart,
        encode: numpy::write_npz,
        ..ARRAY
    },
    Row {
        suffix: "csv",
        about: "a table in text",
        media: "text/csv",
        takes_several: true,
        fits: shapes::rows,
        encode: tables::write_csv,
        ..OTHER
    },
    Row {
        suffix: "vtp",
        about: "points, lines or triangles with data, for VTK",
        encode: vtk::write_vtp,
        ..POINTS
    },
    Row {
        suffix: "vtu",
        about: "the same as a mesh, for VTK",
        encode: vtk::write_vtu,
        ..POINTS
    },
    Row {
        suffix: "vti",
        about: "a grid with data, for VTK",
        takes_several: true,
        fits: shapes::grids,
        encode: vtk::write_vti,
        ..ARRAY
    },
    Row {
        suffix: "nii",
        about: "NIfTI: a grid of numbers, vectors or matrices with its place",
        fits: nifti::grids,
        encode: nifti::write_nii,
        head: Some(nifti::head),
        ..ARRAY
    },
    Row {
        suffix: "nii.gz",
        about: "the same, compressed",
        stores_bytes: false,
        fits: nifti::grids,
        encode: nifti::write_nii_gz,
        ..ARRAY
    },
    Row {
        suffix: "tif",
        about: "TIFF: a picture or a stack of pages, of numbers or, with a range, of 8 or 16 bits",
        fits: tiff_files::grids,
        encode: tiff_files::write_tif,
        ..OTHER
    },
    Row {
        suffix: "tiff",
        about: "the same",
        fits: tiff_files::grids,
        encode: tiff_files::write_tif,
        ..OTHER
    },
    Row {
        suffix: "ply",
        about: "points with edges or triangles, and properties",
        encode: meshes::write_ply,
        ..POINTS
    },
    Row {
        suffix: "obj",
        about: "points and lines, or triangles",
        encode: meshes::write_obj,
        stores_bytes: false,
        ..POINTS
    },
    Row {
        suffix: "stl",
        about: "triangles",
        encode: meshes::write_stl,
        stores_bytes: false,
        ..TRIANGLES
    },
    Row {
        suffix: "apng",
        about: "an animated picture",
        fits: frames::pictures,
        encode: frames::write_png,
        film: Some(frames::animation),
        ..OTHER
    },
    Row {
        suffix: "y4m",
        about: "frames for an encoder of films",
        fits: frames::pictures,
        encode: frames::write_y4m,
        film: Some(frames::y4m),
        ..OTHER
    },
    Row {
        suffix: "mp4",
        about: "a film, by the program ffmpeg",
        fits: frames::pictures,
        encode: frames::refuse_mp4,
        film: Some(frames::y4m),
        is_encoded: true,
        ..OTHER
    },
    Row {
        suffix: "svg",
        about: "a figure: a picture, points or lines with axes",
        media: "image/svg+xml",
        fits: figures::figures,
        encode: figures::write_svg,
        ..OTHER
    },
    Row {
        suffix: "pdf",
        about: "a figure to print",
        media: "application/pdf",
        fits: figures::figures,
        encode: figures::write_pdf,
        ..OTHER
    },
];

/// The format of an output file: a row of the table.
#[derive(Clone, Copy)]
pub struct FileFormat(&'static Row);

impl PartialEq for FileFormat {
    fn eq(&self, other: &FileFormat) -> bool {
        self.0.suffix == other.0.suffix
    }
}

impl Eq for FileFormat {}

impl fmt::Debug for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.suffix)
    }
}

impl FileFormat {
    /// The format of files for which nothing else is asked.
    pub fn nrrd() -> FileFormat {
        FileFormat(&FORMATS[0])
    }

    /// The suffix that asks for it, without the period.
    pub fn suffix(self) -> &'static str {
        self.0.suffix
    }

    /// A description in a few words.
    pub fn about(self) -> &'static str {
        self.0.about
    }

    /// The media type, for browsers.
    pub fn media_type(self) -> &'static str {
        self.0.media
    }

    /// Whether one file takes several outputs.
    pub fn takes_several(self) -> bool {
        self.0.takes_several
    }

    /// Whether a file is as long as the values in it, so that its size is known before.
    pub fn stores_bytes(self) -> bool {
        self.0.stores_bytes
    }

    /// Whether it holds many pictures, one after the other.
    pub fn is_film(self) -> bool {
        self.0.film.is_some()
    }

    /// Whether its files are pictures or films.
    pub(super) fn is_of_pictures(self) -> bool {
        self.is_film() || self.0.suffix == "png"
    }

    /// Whether the frames of a film go through an encoder, which writes the file.
    pub(super) fn is_encoded(self) -> bool {
        self.0.is_encoded
    }

    /// Whether a file of an output needs another file beside it.
    pub fn is_pair(self, output: &Output) -> bool {
        let varying = output.length == Length::Dynamic;
        self.0.pair.is_some_and(|pair| (pair.is_needed)(varying))
    }

    /// Whether it can hold outputs.
    pub fn suits(self, outputs: &[&Output], domain: &Domain) -> bool {
        let request = Request {
            suffix: self.suffix(),
            outputs,
            domain,
            points: None,
            are_coloured: false,
        };
        (self.takes_several() || outputs.len() == 1) && (self.0.fits)(request).is_ok()
    }

    /// The format of a suffix.
    pub fn named(suffix: &str) -> Option<FileFormat> {
        FileFormat::of_suffix(OsStr::new(suffix))
    }

    /// Whether files of this format can be written on this machine.
    ///
    /// # Errors
    /// A program that is needed is not there.
    pub(super) fn check(self) -> Result<(), String> {
        match self.0.is_encoded {
            true => ffmpeg::check(),
            false => Ok(()),
        }
    }

    pub(super) fn fits(self) -> Fits {
        self.0.fits
    }

    pub(super) fn encode(self) -> Encode {
        self.0.encode
    }

    pub(super) fn head(self) -> Option<Head> {
        self.0.head
    }

    pub(super) fn film(self) -> Option<Begin> {
        self.0.film
    }

    fn of_suffix(suffix: &OsStr) -> Option<FileFormat> {
        FileFormat::all().find(|format| suffix.eq_ignore_ascii_case(format.suffix()))
    }

    /// The format whose suffix ends a name, which may have two parts, as `.nii.gz` has.
    fn of_file(file: &FileName) -> Option<FileFormat> {
        FileFormat::all().find(|format| without_suffix(file.as_os_str(), format.suffix()).is_some())
    }

    /// All formats.
    pub fn all() -> impl Iterator<Item = FileFormat> {
        FORMATS.iter().map(FileFormat)
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
            let format = FileFormat::nrrd();
            return Ok(Destination { format, file });
        };
        match FileFormat::of_file(&file) {
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

    /// The destination of a numbered one of several: `iso.png` becomes `iso-0050.png`.
    pub fn numbered(&self, value: u64, digits: usize) -> Destination {
        let number = Number { value, digits };
        Destination {
            format: self.format,
            file: numbered(&self.file, self.format.suffix(), number),
        }
    }

    /// The two files of outputs that need them, if there are sequences of varying length among them or not.
    pub(super) fn pair(
        &self,
        number: Option<Number>,
        varying: bool,
    ) -> Option<(&'static Pair, [FileName; 2])> {
        let pair = self
            .format
            .0
            .pair
            .filter(|pair| (pair.is_needed)(varying))?;
        Some((pair, (pair.files)(&self.file, number)))
    }

    /// The files that outputs become, if there are sequences of varying length among them or not.
    pub fn files(&self, number: Option<Number>, varying: bool) -> Vec<FileName> {
        match (self.pair(number, varying), number) {
            (Some((_, files)), _) => files.to_vec(),
            (None, Some(number)) => vec![numbered(&self.file, self.format.suffix(), number)],
            (None, None) => vec![self.file.clone()],
        }
    }
}
