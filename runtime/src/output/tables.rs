//! Arrays for NumPy (`.npy`) and tables in text (`.csv`).

use std::io::{self, Write};

use super::{Column, Domain, Length, Values};

/// Writes an array in C order: iterators from the outermost on, then the elements of a sequence, then tensor axes.
pub(super) fn write_npy(
    column: &Column<'_>,
    domain: &Domain,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut shape = match domain {
        Domain::Grid(sizes) => sizes.clone(),
        Domain::List(count) => vec![*count],
    };
    if let Length::Fixed(n) = column.output.length {
        shape.push(n);
    }
    shape.extend(&column.output.shape);
    let order = if cfg!(target_endian = "little") {
        '<'
    } else {
        '>'
    };
    let ty = match column.values {
        Values::F32(_) => format!("{order}f4"),
        Values::F64(_) => format!("{order}f8"),
        Values::I32(_) => format!("{order}i4"),
        Values::I64(_) => format!("{order}i8"),
        Values::Bool(_) => "|b1".to_string(),
    };
    // A tuple of one has a comma.
    let sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let sizes = if shape.len() == 1 {
        sizes.trim_end()
    } else {
        sizes.trim_end_matches(", ")
    };
    let text = format!("{{'descr': '{ty}', 'fortran_order': False, 'shape': ({sizes}), }}");
    /// The data begin at a multiple of this.
    const ALIGNMENT: usize = 64;
    /// What stands before the text: magic word, version and length.
    const BEFORE: usize = 10;
    let length = (BEFORE + text.len() + 1).next_multiple_of(ALIGNMENT) - BEFORE;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(length as u16).to_le_bytes())?;
    writeln!(out, "{text:<width$}", width = length - 1)?;
    column.values.write_bytes(out)
}

/// Writes a line of names and a line for each strand.
pub(super) fn write_csv(
    columns: &[Column<'_>],
    strands: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names: Vec<String> = columns
        .iter()
        .flat_map(|c| c.output.component_names())
        .collect();
    writeln!(out, "{}", names.join(","))?;
    for strand in 0..strands {
        let mut separator = "";
        for column in columns {
            let size = column.output.strand_size();
            for at in strand * size..(strand + 1) * size {
                write!(out, "{separator}")?;
                match column.values {
                    Values::F32(values) => write!(out, "{:?}", values[at])?,
                    Values::F64(values) => write!(out, "{:?}", values[at])?,
                    Values::I32(values) => write!(out, "{}", values[at])?,
                    Values::I64(values) => write!(out, "{}", values[at])?,
                    Values::Bool(values) => write!(out, "{}", u8::from(values[at] != 0))?,
                }
                separator = ",";
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
