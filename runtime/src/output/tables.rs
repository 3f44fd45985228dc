//! Tables in text (`.csv`).

use std::io::{self, Write};

use super::contents::{Contents, Style, Told};
use super::{Column, OutputError, Values};

/// Writes a line of names and a line for each strand.
pub(super) fn write_csv(
    contents: Contents<'_>,
    _: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let strands = contents.domain.strand_count();
    rows(contents.columns, strands, out).map_err(OutputError::new)?;
    Ok((format!("{strands} rows"), None))
}

fn rows(columns: &[Column<'_>], strands: usize, out: &mut dyn Write) -> io::Result<()> {
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
