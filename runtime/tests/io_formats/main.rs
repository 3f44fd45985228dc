//! Points, lines, triangles, grids, arrays, tables and films: small readers, written from the descriptions of the formats and independent of
//! the writers, read the written files back.

mod arrays;
mod films;
mod meshes;
mod triangles;
mod volumes;
mod vtk;

use runtime::grid::Place;
use runtime::output::format::Destination;
use runtime::output::write::{Contents, Style, write};
use runtime::output::{Column, Domain, Length, Output, Scalar, Values};
use runtime::png::Range;
use std::path::PathBuf;

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("formats-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn write(
        &self,
        name: &str,
        columns: &[Column<'_>],
        domain: &Domain,
        place: Option<&Place>,
    ) -> Result<Vec<u8>, String> {
        let file = self.0.join(name).display().to_string();
        let contents = Contents {
            columns,
            domain,
            place,
        };
        let written = write(
            &Destination::parse(&file)?,
            None,
            contents,
            &Style::default(),
        );
        written.map_err(|e| e.to_string())?;
        Ok(std::fs::read(file).unwrap())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn output(name: &str, shape: &[usize], length: Length, scalar: Scalar) -> Output {
    Output {
        name: name.into(),
        shape: shape.to_vec(),
        length,
        scalar,
        is_position: name == "pos",
    }
}

fn column<'a>(output: &'a Output, values: Values<'a>) -> Column<'a> {
    Column {
        output,
        values,
        lengths: None,
        range: Range::Usual,
        colours: None,
    }
}

/// Three strands, the second without points.
fn lines() -> ([Output; 3], Vec<f64>, [usize; 3]) {
    let outs = [
        output("path", &[3], Length::Dynamic, Scalar::Real),
        output("speed", &[], Length::Dynamic, Scalar::Real),
        output("seed", &[], Length::One, Scalar::Int),
    ];
    (outs, (0..15).map(f64::from).collect(), [2, 0, 3])
}
