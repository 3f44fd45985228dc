//! NRRD files: arrays with the axes and kinds that the original writes, in one file or two, or as plain text.

use std::io::{self, Write};
use std::path::Path;

use super::contents::{Contents, Number, Style, Told, Written};
use super::names::{ended, numbered};
use super::staged::Staged;
use super::values::axis;
use super::{Domain, Length, Output, OutputError, Values};
use crate::file_name::FileName;
use crate::grid::Place;
use crate::nrrd::{
    self, Axis, Encoding, Format, Header, Kind, Nrrd, NrrdError, SampleType, Samples, Space,
};

/// Two files for one output.
pub(super) struct Pair {
    /// Whether outputs take two files, if there are sequences of varying length among them or not.
    pub(super) is_needed: fn(bool) -> bool,
    /// The names of both, for the file that the user asks for, or a numbered one like it.
    pub(super) files: fn(&FileName, Option<Number>) -> [FileName; 2],
    /// Whether they can be called so; if not, why.
    pub(super) check: fn(&[FileName; 2]) -> Result<(), String>,
    pub(super) write: fn(Contents<'_>, &[FileName; 2]) -> Result<Vec<Written>, OutputError>,
}

/// Sequences of varying length: where each begins and how long it is, and the elements.
pub(super) const SEQUENCES: Pair = Pair {
    is_needed: |varying| varying,
    files: sequence_files,
    check: |_| Ok(()),
    write: write_sequences,
};

/// A header with the data in a file beside it.
pub(super) const DETACHED: Pair = Pair {
    is_needed: |_| true,
    files: detached_files,
    check: check_data_name,
    write: write_detached,
};

/// What an array of `values` with the given axes is.
fn header(axes: Vec<Axis>, values: Values<'_>, place: Option<&Place>) -> Header {
    let comments = [
        "Complete NRRD file format specification at:",
        "http://teem.sourceforge.net/nrrd/format.html",
    ];
    Header {
        axes,
        comments: comments.map(str::to_string).to_vec(),
        space: place.map_or(Space::Unknown, |place| place.space.clone()),
        space_origin: place.map(|place| place.origin.clone()),
        ..Header::new(values.sample_type(), &[])
    }
}

/// The array of `values` with the given axes.
fn array(axes: Vec<Axis>, values: Values<'_>, place: Option<&Place>) -> Result<Nrrd, NrrdError> {
    Nrrd::new(header(axes, values, place), values.to_samples())
}

/// The array of an output whose strands all have equally many values, at its place if it has one.
pub fn to_nrrd(
    output: &Output,
    domain: &Domain,
    values: Values<'_>,
    place: Option<&Place>,
) -> Result<Nrrd, OutputError> {
    let axes = axes(output, domain, place)?;
    array(axes, values, place).map_err(|e| OutputError::of(output, e.message()))
}

/// The axes of an output whose strands all have equally many values.
fn axes(output: &Output, domain: &Domain, place: Option<&Place>) -> Result<Vec<Axis>, OutputError> {
    if output.length == Length::Dynamic {
        let message = "sequences of varying length are not one array";
        return Err(OutputError::of(output, message));
    }
    if domain.strand_count() == 0 {
        return Err(OutputError::of(output, "there are no strands to write"));
    }
    let components = output.component_axis().into_iter();
    Ok(components.chain(domain.axes(place)).collect())
}

/// The two arrays of an output whose strands have `lengths[i]` elements each: for each strand where its elements begin
/// and how many there are, and all elements one after the other. There is no second array if there are no elements.
pub fn to_nrrd_pair(
    output: &Output,
    domain: &Domain,
    lengths: &[usize],
    values: Values<'_>,
) -> Result<(Nrrd, Option<Nrrd>), OutputError> {
    let strands = domain.strand_count();
    if strands == 0 {
        return Err(OutputError::of(output, "there are no strands to write"));
    }
    if lengths.len() != strands {
        let found = lengths.len();
        let message = format!("found {found} lengths, expected one for each of {strands} strands");
        return Err(OutputError::of(output, message));
    }
    let mut pairs = Vec::with_capacity(2 * strands);
    let mut total: usize = 0;
    for &length in lengths {
        let pair = i32::try_from(total).and_then(|t| Ok([t, i32::try_from(length)?]));
        pairs
            .extend(pair.map_err(|_| OutputError::of(output, "more elements than 32 bits count"))?);
        total += length;
    }
    let axes = [axis(2, Kind::Vector2)]
        .into_iter()
        .chain(domain.axes(None));
    let fail = |e: NrrdError| OutputError::of(output, e.message());
    let index = array(axes.collect(), Values::I32(&pairs), None).map_err(fail)?;
    if total == 0 {
        return Ok((index, None));
    }
    let elements = axis(total, Kind::List);
    let axes = output.component_axis().into_iter().chain([elements]);
    let data = array(axes.collect(), values, None).map_err(fail)?;
    Ok((index, Some(data)))
}

/// Writes one output as one file, from where its numbers are if it can.
pub(super) fn write_nrrd(
    contents: Contents<'_>,
    _: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let column = contents.single()?;
    match column.values.bytes() {
        Some(bytes) => nrrd::write_native(&header_of(contents)?, bytes, out)?,
        None => nrrd::write_attached(&array_of(contents)?, Format::default(), out)?,
    }
    Ok((contents.description(), None))
}

/// The bytes in front of the values.
pub(super) fn head(contents: Contents<'_>) -> Option<Vec<u8>> {
    let (text, _) = nrrd::native_header(&header_of(contents).ok()?).ok()?;
    Some(text.into_bytes())
}

/// Writes one output in text.
pub(super) fn write_text(
    contents: Contents<'_>,
    _: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let per_line = values_per_line(contents.single()?.output, contents.domain);
    nrrd::write_text(&array_of(contents)?, per_line, out)?;
    Ok((contents.description(), None))
}

fn header_of(contents: Contents<'_>) -> Result<Header, OutputError> {
    let (column, place) = (contents.single()?, contents.place);
    let axes = axes(column.output, contents.domain, place)?;
    Ok(header(axes, column.values, place))
}

fn array_of(contents: Contents<'_>) -> Result<Nrrd, OutputError> {
    let column = contents.single()?;
    to_nrrd(
        column.output,
        contents.domain,
        column.values,
        contents.place,
    )
}

/// The components of one value on a line; scalars of a grid by rows, of a collection one by one.
fn values_per_line(output: &Output, domain: &Domain) -> usize {
    match (output.strand_size(), domain) {
        (1, Domain::Grid(sizes)) => sizes.last().copied().unwrap_or(1),
        (size, _) => size,
    }
}

/// `v.nrrd` becomes `v-len.nrrd` and `v-data.nrrd`.
fn sequence_files(file: &FileName, number: Option<Number>) -> [FileName; 2] {
    let number = number.map_or(String::new(), |number| format!("-{}", number.text()));
    ["len", "data"].map(|part| ended(file, "nrrd", &format!("-{part}{number}.nrrd")))
}

/// Writes sequences of varying length to two files. Without any element only the first is written, with a note.
fn write_sequences(
    contents: Contents<'_>,
    [index_file, data_file]: &[FileName; 2],
) -> Result<Vec<Written>, OutputError> {
    let (column, domain) = (contents.single()?, contents.domain);
    let lengths = column.lengths.unwrap_or_default();
    let (index, data) = to_nrrd_pair(column.output, domain, lengths, column.values)?;
    let mut staged = Staged::default();
    stage_nrrd(&mut staged, index_file, &index)?;
    if let Some(data) = &data {
        stage_nrrd(&mut staged, data_file, data)?;
    }
    staged.commit()?;
    let strands = domain.strand_count();
    let told = format!("lengths of {strands} sequences");
    let mut all = vec![Written::new(index_file, told)];
    let total: usize = lengths.iter().sum();
    match data {
        Some(_) => all.push(Written::new(data_file, format!("{total} elements"))),
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

/// The file of the data and that of the header.
fn detached_files(file: &FileName, number: Option<Number>) -> [FileName; 2] {
    let header = number.map_or(file.clone(), |number| numbered(file, "nhdr", number));
    let data = header.with_file_name(data_name(&header));
    [data.into(), header]
}

fn write_detached(
    contents: Contents<'_>,
    [data_file, header_file]: &[FileName; 2],
) -> Result<Vec<Written>, OutputError> {
    let array = array_of(contents)?;
    let mut staged = Staged::default();
    let mut header = Vec::new();
    let name = data_name(header_file);
    // The data come first, so that a header never names data that are not there.
    staged.write(data_file, |out| {
        let format = Format::default();
        Ok(nrrd::write_detached(
            &array,
            format,
            &mut header,
            &name,
            out,
        )?)
    })?;
    staged.write(header_file, |out| {
        let written = out.write_all(&header);
        written.map_err(|e| OutputError::new(e.to_string()))
    })?;
    staged.commit()?;
    Ok(vec![Written::new(header_file, contents.description())])
}

/// The name of the file for the data that belong to a header, beside it.
fn data_name(header: &Path) -> String {
    nrrd::detached_data_name(header, Encoding::Raw).unwrap_or_else(|| {
        let name = header.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}.raw")
    })
}

/// Whether a header can name the file of its data, which is called like the header itself.
fn check_data_name([_, header]: &[FileName; 2]) -> Result<(), String> {
    let name = data_name(header);
    let sample = Nrrd::new(Header::new(SampleType::U8, &[1]), Samples::U8(vec![0]));
    let written = sample.and_then(|sample| {
        let (mut header, mut data) = (io::sink(), io::sink());
        nrrd::write_detached(&sample, Format::default(), &mut header, &name, &mut data)
    });
    written.map_err(|error| {
        format!(
            "a .nhdr names the file of its data, here {}, which cannot be written in it: {}",
            name.escape_debug(),
            error.message()
        )
    })
}
