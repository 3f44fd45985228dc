//! NIfTI-1: a grid of numbers, vectors or matrices with its place, plain (`.nii`) or compressed (`.nii.gz`).
//!
//! The world of the format is right, anterior, superior, and grids of other patient spaces are transformed to it. Components of vectors
//! stay as they are: the format does not define their frame, and readers leave them alone, too.

use std::io::{self, Write};

use super::contents::{Contents, Style, Told};
use super::shapes::{self, Request};
use super::{Column, Domain, Length, OutputError};
use crate::formats::nifti::{FIRST, Layout, MATRIX, UNITS, VECTOR, code_of};
use crate::grid::{Place, in_space, patient_signs};
use flate2::{Compression, write::GzEncoder};

/// The most samples along an axis.
const MOST: usize = i16::MAX as usize;

/// Bytes before the samples: the header, and four that announce no extensions.
const START: usize = FIRST.length + 4;

/// Grids whose sizes have 15 bits.
pub(super) fn grids(request: Request<'_>) -> Result<(), String> {
    shapes::grids(request)?;
    let components = request.outputs.iter().map(|output| output.strand_size());
    let mut sizes = request
        .domain
        .grid_sizes()
        .iter()
        .copied()
        .chain(components);
    match sizes.find(|size| *size > MOST) {
        None => Ok(()),
        Some(size) => Err(format!(
            "a .{} has at most {MOST} samples along an axis, found {size}; a .nrrd can hold this grid",
            request.suffix
        )),
    }
}

/// Writes one output.
pub(super) fn write_nii(
    contents: Contents<'_>,
    _: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let column = contents.single()?;
    let written = out
        .write_all(&header(column, contents.domain, contents.place))
        .and_then(|()| write_samples(column, out));
    written.map_err(OutputError::new)?;
    Ok((contents.description(), None))
}

/// The same, compressed by gzip.
pub(super) fn write_nii_gz(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let mut packed = GzEncoder::new(out, Compression::default());
    let told = write_nii(contents, style, &mut packed)?;
    packed.finish().map_err(OutputError::new)?;
    Ok(told)
}

/// The bytes in front of numbers. Components are the slowest axis of a file, but the fastest of strands, so there are none for vectors.
pub(super) fn head(contents: Contents<'_>) -> Option<Vec<u8>> {
    let column = contents.single().ok()?;
    (column.output.strand_size() == 1 && column.output.length != Length::Dynamic)
        .then(|| header(column, contents.domain, contents.place))
}

/// All samples of the first component, then those of the second, and so on.
fn write_samples(column: &Column<'_>, out: &mut dyn Write) -> io::Result<()> {
    let components = column.output.strand_size();
    if components == 1 {
        return column.values.write_bytes(out);
    }
    let mut strands = Vec::new();
    column.values.append_bytes(&mut strands);
    let size = strands.len() / column.values.len().max(1);
    let mut plane = Vec::with_capacity(strands.len() / components);
    for component in 0..components {
        plane.clear();
        let samples = strands.chunks_exact(size).skip(component);
        samples
            .step_by(components)
            .for_each(|sample| plane.extend_from_slice(sample));
        out.write_all(&plane)?;
    }
    Ok(())
}

/// The bytes before the samples, in the order of this machine.
struct Fields([u8; START]);

impl Fields {
    fn short(&mut self, at: usize, value: i64) {
        self.0[at..at + 2].copy_from_slice(&(value as i16).to_ne_bytes());
    }

    fn float(&mut self, first: usize, index: usize, value: f64) {
        let at = first + 4 * index;
        self.0[at..at + 4].copy_from_slice(&(value as f32).to_ne_bytes());
    }
}

fn header(column: &Column<'_>, domain: &Domain, place: Option<&Place>) -> Vec<u8> {
    /// The place of the bits of a sample, which only writers need: readers have the type.
    const BITS: usize = 72;
    const LAYOUT: Layout = FIRST;
    let mut fields = Fields([0; START]);
    fields.0[..4].copy_from_slice(&(LAYOUT.length as i32).to_ne_bytes());
    let (output, sample_type) = (column.output, column.values.sample_type());
    let components = output.strand_size();
    let mut sizes: Vec<usize> = domain.grid_sizes().iter().rev().copied().collect();
    if components > 1 {
        // The fourth axis is time.
        sizes.resize(4, 1);
        sizes.push(components);
        let intent = match (output.length, &output.shape[..]) {
            (Length::One, [_]) => VECTOR,
            (Length::One, &[rows, columns]) => {
                fields.float(LAYOUT.intent_parameters, 0, rows as f64);
                fields.float(LAYOUT.intent_parameters, 1, columns as f64);
                MATRIX
            }
            _ => 0,
        };
        fields.short(LAYOUT.intent, intent);
    }
    fields.short(LAYOUT.dim, sizes.len() as i64);
    for axis in 0..7 {
        let size = sizes.get(axis).map_or(1, |size| *size as i64);
        fields.short(LAYOUT.dim + 2 * (axis + 1), size);
    }
    fields.short(LAYOUT.datatype, code_of(sample_type).unwrap_or_default());
    let bits = 8 * sample_type.size().unwrap_or_default();
    fields.short(BITS, bits as i64);
    fields.float(LAYOUT.vox_offset, 0, START as f64);
    // Samples are their own values: a slope of 1.
    fields.float(LAYOUT.slope, 0, 1.0);
    for axis in 0..=7 {
        fields.float(LAYOUT.pixdim, axis, 1.0);
    }
    if let Some(place) = place {
        put_place(&mut fields, place);
    }
    fields.0[LAYOUT.magic..LAYOUT.magic + 4].copy_from_slice(b"n+1\0");
    fields.0.to_vec()
}

/// Writes the matrix from indices to the world, the sizes of voxels, and the unit.
fn put_place(fields: &mut Fields, place: &Place) {
    /// Coordinates of a scanner.
    const SCANNER: i64 = 1;
    let signs = patient_signs(&place.space).unwrap_or([1.0; 3]);
    let directions = in_space(&place.directions);
    for (row, sign) in signs.into_iter().enumerate() {
        for (axis, direction) in directions.iter().enumerate() {
            fields.float(FIRST.rows, 4 * row + axis, sign * direction[row]);
        }
        let origin = place.origin.get(row).copied().unwrap_or(0.0);
        fields.float(FIRST.rows, 4 * row + 3, sign * origin);
    }
    for (axis, direction) in directions.iter().enumerate() {
        let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        fields.float(FIRST.pixdim, axis + 1, length);
    }
    fields.short(FIRST.sform, SCANNER);
    let known = place.units.first().and_then(|unit| {
        let same = place.units.iter().all(|other| other == unit);
        UNITS.iter().find(|(_, name)| same && name == unit)
    });
    if let Some((code, _)) = known {
        fields.0[FIRST.units] = *code;
    }
}
