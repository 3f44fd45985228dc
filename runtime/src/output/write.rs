//! Writing outputs to files: one function for every format, over values that were gathered.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::format::{Destination, FileFormat};
use super::picture::{self, NanColour, Tally};
use super::points::Geometry;
use super::staged::Staged;
use super::{
    Column, Domain, Output, OutputError, meshes, tables, to_nrrd, to_nrrd_pair, vtk, write_nrrd,
};
use crate::file_name::FileName;
use crate::grid::Place;
use crate::nrrd::{self, Encoding, Format, Nrrd};
use crate::png::{self, Depth, Png};

/// What goes into one file.
#[derive(Clone, Copy)]
pub struct Contents<'a> {
    /// The outputs; more than one only in formats that take several.
    pub columns: &'a [Column<'a>],
    /// The strands that have them.
    pub domain: &'a Domain,
    /// The place of the strands' grid.
    pub place: Option<&'a Place>,
}

/// How files are written where their format leaves a choice.
#[derive(Clone, Debug, Default)]
pub struct Style {
    /// Bits of the values of pictures.
    pub depth: Depth,
    /// How values look that are not numbers.
    pub nan: NanColour,
    /// The output that has the positions of points and lines.
    pub points: Option<String>,
}

/// The number of one of several files.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// The number.
    pub value: u64,
    /// The digits that it is written with at least.
    pub digits: usize,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Its name.
    pub file: FileName,
    /// A description in a few words.
    pub description: String,
    /// What became of the numbers, if it is a picture.
    pub tally: Option<Tally>,
    /// What else the user should know.
    pub notes: Vec<String>,
}

/// Writes outputs to their destination, or to a numbered one like it.
///
/// # Errors
/// What failed; then no part of it is left.
pub fn write(
    destination: &Destination,
    number: Option<Number>,
    contents: Contents<'_>,
    style: &Style,
) -> Result<Vec<Written>, OutputError> {
    if let [column] = contents.columns
        && column.lengths.is_some()
        && destination.format == FileFormat::Nrrd
    {
        let files = match number {
            Some(Number { value, digits }) => destination.numbered_sequence_files(value, digits),
            None => destination.sequence_files(),
        };
        return write_sequences(column, contents.domain, &files);
    }
    let destination = match number {
        Some(Number { value, digits }) => &destination.numbered(value, digits),
        None => destination,
    };
    let file = &destination.file;
    if destination.format == FileFormat::DetachedNrrd {
        let nrrd = single_array(contents)?;
        let mut staged = Staged::default();
        stage_detached(&mut staged, file, &nrrd)?;
        staged.commit()?;
        return Ok(vec![written(file, describe_array(contents), None)]);
    }
    let mut told = (String::new(), None);
    let mut stream = |out: &mut dyn Write| {
        told = encode(destination.format, contents, style, out)?;
        Ok(())
    };
    if destination.is_standard_output() {
        let mut out = std::io::stdout().lock();
        stream(&mut out)?;
        out.flush()
            .map_err(|e| OutputError::new(format!("standard output: {e}")))?;
    } else {
        let mut staged = Staged::default();
        staged.write(file, stream)?;
        staged.commit()?;
    }
    let (description, tally) = told;
    Ok(vec![written(file, description, tally)])
}

pub(super) fn written(file: &FileName, description: String, tally: Option<Tally>) -> Written {
    Written {
        file: file.clone(),
        description,
        tally,
        notes: Vec::new(),
    }
}

/// Writes a file of one of the formats that are one stream; gives a description in a few words.
fn encode(
    format: FileFormat,
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<(String, Option<Tally>), OutputError> {
    let Contents {
        columns, domain, ..
    } = contents;
    let failed = |e: std::io::Error| OutputError::new(e.to_string());
    let geometry = || {
        let points = style.points.as_deref();
        let geometry = Geometry::new(columns, points).map_err(OutputError::new)?;
        let description = geometry.description();
        Ok::<_, OutputError>((geometry, description))
    };
    let mut description = describe_array(contents);
    match format {
        FileFormat::Nrrd | FileFormat::DetachedNrrd => {
            let column = single(contents)?;
            write_nrrd(column.output, domain, column.values, contents.place, out)?;
        }
        // A film of one picture; films of more are made by `film`.
        FileFormat::Png | FileFormat::Apng | FileFormat::Y4m => {
            let (png, tally) = picture_of(contents, style)?;
            png::encode(&png, out).map_err(|e| OutputError::new(e.to_string()))?;
            return Ok((describe_picture(&png), Some(tally)));
        }
        FileFormat::Text => {
            let per_line = values_per_line(columns[0].output, domain);
            nrrd::write_text(&single_array(contents)?, per_line, out)?;
        }
        FileFormat::Npy => tables::write_npy(&columns[0], domain, out).map_err(failed)?,
        FileFormat::Csv => {
            let rows = domain.strand_count();
            tables::write_csv(columns, rows, out).map_err(failed)?;
            description = format!("{rows} rows");
        }
        FileFormat::Vti => {
            vtk::write_grid(columns, domain, contents.place, out).map_err(OutputError::new)?;
        }
        FileFormat::Vtp => {
            let (geometry, told) = geometry()?;
            vtk::write_points(&geometry, out).map_err(failed)?;
            description = told;
        }
        FileFormat::Ply => {
            let (geometry, told) = geometry()?;
            meshes::write_ply(&geometry, out).map_err(failed)?;
            description = told;
        }
        FileFormat::Obj => {
            let (geometry, told) = geometry()?;
            meshes::write_obj(&geometry, out).map_err(failed)?;
            description = told;
        }
    }
    Ok((description, None))
}

/// The only output.
fn single(contents: Contents<'_>) -> Result<&Column<'_>, OutputError> {
    match contents.columns {
        [column] => Ok(column),
        _ => Err(OutputError::new("several outputs are not one array")),
    }
}

/// The array of the only output.
fn single_array(contents: Contents<'_>) -> Result<Nrrd, OutputError> {
    let column = single(contents)?;
    to_nrrd(
        column.output,
        contents.domain,
        column.values,
        contents.place,
    )
}

/// The picture of the only output, as files and films have it.
pub(super) fn picture_of(
    contents: Contents<'_>,
    style: &Style,
) -> Result<(Png, Tally), OutputError> {
    let column = &contents.columns[0];
    let Style { depth, nan, .. } = *style;
    picture::picture(
        column.output,
        contents.domain,
        column.values,
        column.range,
        depth,
        nan,
    )
    .map_err(OutputError::new)
}

pub(super) fn describe_picture(png: &Png) -> String {
    let colours = ["grey", "grey with opacity", "RGB", "RGBA"][png.channels() - 1];
    let bits = match png.depth() {
        Depth::Eight => 8,
        Depth::Sixteen => 16,
    };
    format!("{} × {}, {colours}, {bits} bit", png.width(), png.height())
}

pub(super) fn describe_array(contents: Contents<'_>) -> String {
    let sizes = match contents.domain {
        Domain::Grid(sizes) => sizes
            .iter()
            .rev()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(" × "),
        Domain::List(count) => format!("{count} strands"),
    };
    let types: Vec<String> = contents
        .columns
        .iter()
        .map(|column| {
            let ty = column.values.type_name();
            match column.output.strand_size() {
                1 => ty.to_string(),
                n => format!("{n} {ty}"),
            }
        })
        .collect();
    format!("{sizes}, {}", types.join(" + "))
}

/// Writes sequences of varying length to two files. Without any element only the first is written, with a note.
fn write_sequences(
    column: &Column<'_>,
    domain: &Domain,
    [index_file, data_file]: &[FileName; 2],
) -> Result<Vec<Written>, OutputError> {
    let lengths = column.lengths.unwrap_or_default();
    let (index, data) = to_nrrd_pair(column.output, domain, lengths, column.values)?;
    let mut staged = Staged::default();
    stage_nrrd(&mut staged, index_file, &index)?;
    if let Some(data) = &data {
        stage_nrrd(&mut staged, data_file, data)?;
    }
    staged.commit()?;
    let strands = domain.strand_count();
    let mut all = vec![written(
        index_file,
        format!("lengths of {strands} sequences"),
        None,
    )];
    let total: usize = lengths.iter().sum();
    match data {
        Some(_) => all.push(written(data_file, format!("{total} elements"), None)),
        None => all[0].notes.push(format!(
            "all sequences of output `{}` are empty, so {data_file} is not written",
            column.output.name
        )),
    }
    Ok(all)
}

fn stage_nrrd(staged: &mut Staged, path: &Path, nrrd: &Nrrd) -> Result<(), OutputError> {
    staged.write(path, |out| {
        Ok(nrrd::write_attached(nrrd, Format::default(), out)?)
    })
}

fn stage_detached(staged: &mut Staged, path: &Path, nrrd: &Nrrd) -> Result<(), OutputError> {
    let (data_path, name) = detached_data(path);
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

/// The file for the data that belong to a header, and its name beside it.
pub(super) fn detached_data(path: &Path) -> (PathBuf, String) {
    let name = nrrd::detached_data_name(path, Encoding::Raw).unwrap_or_else(|| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}.raw")
    });
    (path.with_file_name(&name), name)
}

/// The components of one value on a line; scalars of a grid by rows, of a collection one by one.
fn values_per_line(output: &Output, domain: &Domain) -> usize {
    match (output.strand_size(), domain) {
        (1, Domain::Grid(sizes)) => sizes.last().copied().unwrap_or(1),
        (size, _) => size,
    }
}
