//! Output files: names, formats by suffix, and writing.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::staged::Staged;
use super::{Domain, Output, OutputError, Values, to_nrrd, to_nrrd_pair};
use crate::nrrd::{self, Encoding, Format, Nrrd};
use crate::png::{self, Depth, Png, Range};

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
}

/// The suffix that asks for each format.
const SUFFIXES: &[(&str, FileFormat)] = &[
    ("nrrd", FileFormat::Nrrd),
    ("nhdr", FileFormat::DetachedNrrd),
    ("png", FileFormat::Png),
    ("txt", FileFormat::Text),
];

/// How numbers become pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PictureStyle {
    /// Which numbers become black and white.
    pub range: Range,
    /// Bits of one value.
    pub depth: Depth,
}

/// The format that a name asks for; a name without suffix, and standard output, get a NRRD.
pub fn format_of(file: &str) -> Result<FileFormat, OutputError> {
    let Some(suffix) = Path::new(file).extension() else {
        return Ok(FileFormat::Nrrd);
    };
    let known = SUFFIXES
        .iter()
        .find(|(s, _)| suffix.eq_ignore_ascii_case(s));
    known.map(|(_, format)| *format).ok_or_else(|| {
        let suffixes: Vec<_> = SUFFIXES.iter().map(|(s, _)| format!(".{s}")).collect();
        OutputError::new(format!(
            "{file}: found suffix `.{}`, expected one of {}",
            suffix.to_string_lossy(),
            suffixes.join(", ")
        ))
    })
}

/// The file of a snapshot after `step` super-steps.
pub fn snapshot_file(prefix: &str, step: u64) -> String {
    format!("{prefix}-{step:04}.nrrd")
}

/// The files of sequences of varying length: where each begins and how long it is, and the elements.
pub fn sequence_files(prefix: &str) -> [String; 2] {
    [format!("{prefix}-len.nrrd"), format!("{prefix}-data.nrrd")]
}

/// The files of a snapshot of sequences of varying length.
pub fn sequence_snapshot_files(prefix: &str, step: u64) -> [String; 2] {
    ["len", "data"].map(|part| format!("{prefix}-{part}-{step:04}.nrrd"))
}

/// Writes an output whose strands all have equally many values to one file (two for `.nhdr`); `-` is standard output.
pub fn write(
    output: &Output,
    domain: &Domain,
    values: Values<'_>,
    file: &str,
    style: PictureStyle,
) -> Result<(), OutputError> {
    let format = format_of(file)?;
    let nrrd = to_nrrd(output, domain, values)?;
    let path = Path::new(file);
    if file == STANDARD_OUTPUT {
        let mut out = std::io::stdout().lock();
        nrrd::write_attached(&nrrd, Format::default(), &mut out)?;
        return out
            .flush()
            .map_err(|e| OutputError::new(format!("standard output: {e}")));
    }
    let mut staged = Staged::default();
    match format {
        FileFormat::Nrrd => stage_nrrd(&mut staged, path, &nrrd)?,
        FileFormat::DetachedNrrd => stage_detached(&mut staged, path, &nrrd)?,
        FileFormat::Png => {
            let picture = picture(output, domain, values, &nrrd, style)
                .map_err(|e| OutputError::new(format!("{file}: {e}")))?;
            staged.write(path, |out| {
                png::encode(&picture, out).map_err(|e| OutputError::new(e.to_string()))
            })?;
        }
        FileFormat::Text => staged.write(path, |out| {
            Ok(nrrd::write_text(
                &nrrd,
                values_per_line(output, domain),
                out,
            )?)
        })?,
    }
    staged.commit()
}

/// Writes sequences of varying length to two files. Without any element only the first is written, and a note says so.
pub fn write_sequences(
    output: &Output,
    domain: &Domain,
    lengths: &[usize],
    values: Values<'_>,
    [index_file, data_file]: &[String; 2],
) -> Result<Option<String>, OutputError> {
    let (index, data) = to_nrrd_pair(output, domain, lengths, values)?;
    let mut staged = Staged::default();
    stage_nrrd(&mut staged, Path::new(index_file), &index)?;
    if let Some(data) = &data {
        stage_nrrd(&mut staged, Path::new(data_file), data)?;
    }
    staged.commit()?;
    let empty = data.is_none();
    Ok(empty.then(|| {
        let name = &output.name;
        format!("all sequences of output `{name}` are empty, so {data_file} is not written")
    }))
}

fn stage_nrrd(staged: &mut Staged, path: &Path, nrrd: &Nrrd) -> Result<(), OutputError> {
    staged.write(path, |out| {
        Ok(nrrd::write_attached(nrrd, Format::default(), out)?)
    })
}

fn stage_detached(staged: &mut Staged, path: &Path, nrrd: &Nrrd) -> Result<(), OutputError> {
    // The suffix led here, so there is a name for the data.
    let name = nrrd::detached_data_name(path, Encoding::Raw).unwrap_or_default();
    let data_path: PathBuf = path.with_file_name(&name);
    let mut header = Vec::new();
    // The data come first, so that a header never names data that are not there.
    staged.write(&data_path, |out| {
        let format = Format::default();
        Ok(nrrd::write_detached(nrrd, format, &mut header, &name, out)?)
    })?;
    staged.write(path, |out| {
        let written = out.write_all(&header);
        written.map_err(|e| OutputError::new(e.to_string()))
    })
}

/// The components of one value on a line; scalars of a grid by rows, of a collection one by one.
fn values_per_line(output: &Output, domain: &Domain) -> usize {
    match (output.strand_size(), domain) {
        (1, Domain::Grid(sizes)) => sizes.last().copied().unwrap_or(1),
        (size, _) => size,
    }
}

fn picture(
    output: &Output,
    domain: &Domain,
    values: Values<'_>,
    nrrd: &Nrrd,
    style: PictureStyle,
) -> Result<Png, String> {
    let channels = output.strand_size();
    let (&[height, width], 1..=4) = (grid_sizes(domain), channels) else {
        let found = match domain {
            Domain::Grid(sizes) => format!("a grid of {} dimensions", sizes.len()),
            Domain::List(_) => "a collection".to_string(),
        };
        return Err(format!(
            "found {channels} values per strand over {found}, expected 1 to 4 over a grid of 2 dimensions for a .png"
        ));
    };
    // Integers are levels already; reals and truth values go from 0 to 1.
    let usual = match values {
        Values::F32(_) | Values::F64(_) | Values::Bool(_) => (0.0, 1.0),
        Values::I32(_) | Values::I64(_) => (0.0, f64::from(style.depth.max())),
    };
    let numbers: Vec<f64> = nrrd.samples().convert().unwrap_or_default();
    let levels = png::quantize(&numbers, style.range, usual, style.depth);
    Png::new(width, height, channels, style.depth, levels).map_err(|e| e.to_string())
}

fn grid_sizes(domain: &Domain) -> &[usize] {
    match domain {
        Domain::Grid(sizes) => sizes,
        Domain::List(_) => &[],
    }
}
