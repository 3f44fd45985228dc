//! Legacy VTK files of unstructured grids, text and binary, with cells in the old and the new form.

use super::cursor::{Cursor, Form};
use super::{ArrayPlace, FemArray, FemFile, VtkCells};
use crate::fem::FemError;
use crate::nrrd::{Endian, SampleType};
use crate::vtk::legacy_type;

pub(super) fn parse(bytes: &[u8]) -> Result<FemFile, FemError> {
    let mut at = Cursor::new(bytes);
    let version = at.line();
    let old = is_old(version.rsplit(' ').next().unwrap_or(""));
    at.line();
    let form = match at.word()? {
        word if word.eq_ignore_ascii_case("ASCII") => Form::Text,
        word if word.eq_ignore_ascii_case("BINARY") => Form::Binary(Endian::Big),
        word => return Err(format!("found `{word}`, expected `ASCII` or `BINARY`").into()),
    };
    let mut grid = Grid {
        file: FemFile::default(),
        connectivity: Vec::new(),
        cells: VtkCells::default(),
        place: None,
        form,
    };
    while let Some(word) = at.peek() {
        at.word()?;
        grid.section(&mut at, word, old)?;
    }
    if grid.cells.seen == 0 {
        return Err("the file has no cells".into());
    }
    Ok(grid.file)
}

/// Whether hexahedra of this version have the old order of nodes.
fn is_old(version: &str) -> bool {
    version.parse::<f64>().is_ok_and(|version| version < 5.1)
}

struct Grid {
    file: FemFile,
    /// The points of each cell.
    connectivity: Vec<Vec<i64>>,
    cells: VtkCells,
    /// What arrays belong to from here on, and how many tuples they have.
    place: Option<(ArrayPlace, usize)>,
    form: Form,
}

impl Grid {
    fn section(&mut self, at: &mut Cursor<'_>, word: &str, old: bool) -> Result<(), FemError> {
        match word.to_ascii_uppercase().as_str() {
            "DATASET" => {
                let kind = at.word()?;
                if kind != "UNSTRUCTURED_GRID" {
                    return Err(
                        format!("the dataset is `{kind}`, expected `UNSTRUCTURED_GRID`").into(),
                    );
                }
            }
            "POINTS" => {
                let count: usize = at.number("the number of points")?;
                let values = self.reals(at, count, 3)?;
                self.file.points = values.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
            }
            "CELLS" => self.cells(at)?,
            "CELL_TYPES" => {
                let count: usize = at.number("the number of cells")?;
                at.line();
                let kinds = at.ints(count, SampleType::I32, self.form)?;
                if count != self.connectivity.len() {
                    return Err(
                        format!("{} cells, but {count} types", self.connectivity.len()).into(),
                    );
                }
                for (kind, points) in kinds.iter().zip(&self.connectivity) {
                    self.cells.add(&mut self.file, *kind, points, 0, old)?;
                }
            }
            "POINT_DATA" => {
                self.place = Some((ArrayPlace::Points, at.number("a number of points")?))
            }
            "CELL_DATA" => self.place = Some((ArrayPlace::Cells, at.number("a number of cells")?)),
            "METADATA" => {
                at.line();
                while !at.line().is_empty() {}
            }
            "SCALARS" => {
                let (name, line) = (at.word()?.to_string(), at.line());
                let words: Vec<&str> = line.split_whitespace().collect();
                let components = words.get(1).map_or(Ok(1), |n| n.parse());
                let components = components
                    .map_err(|_| format!("`SCALARS {name}` has no number of components"))?;
                if at.peek() == Some("LOOKUP_TABLE") {
                    at.line();
                }
                self.array(at, name, words.first().unwrap_or(&""), components)?;
            }
            "VECTORS" | "NORMALS" => self.attribute(at, 3)?,
            "TENSORS" => self.attribute(at, 9)?,
            "TENSORS6" => self.attribute(at, 6)?,
            "FIELD" => self.field(at)?,
            "LOOKUP_TABLE" => {
                let name = at.word()?.to_string();
                let entries: usize = at.number(&format!("the size of the table `{name}`"))?;
                at.line();
                let kind = match self.form {
                    Form::Text => SampleType::F32,
                    Form::Binary(_) => SampleType::U8,
                };
                at.reals(entries.saturating_mul(4), kind, self.form)?;
            }
            _ => {
                return Err(
                    format!("found `{word}`, expected a section of an unstructured grid").into(),
                );
            }
        }
        Ok(())
    }

    fn attribute(&mut self, at: &mut Cursor<'_>, components: usize) -> Result<(), FemError> {
        let name = at.word()?.to_string();
        let kind = at.line();
        self.array(at, name, &kind, components)
    }

    fn field(&mut self, at: &mut Cursor<'_>) -> Result<(), FemError> {
        at.word()?;
        let arrays: usize = at.number("a number of arrays")?;
        at.line();
        for _ in 0..arrays {
            while at.peek() == Some("METADATA") {
                at.line();
                while !at.line().is_empty() {}
            }
            let name = at.word()?.to_string();
            let components: usize = at.number("a number of components")?;
            let tuples: usize = at.number("a number of tuples")?;
            let kind = at.line();
            match self.place {
                Some((_, wanted)) if wanted == tuples => self.array(at, name, &kind, components)?,
                // A field that describes the file.
                _ => {
                    let kind = legacy_type(&kind)?;
                    at.reals(tuples.saturating_mul(components), kind, self.form)?;
                }
            }
        }
        Ok(())
    }

    fn array(
        &mut self,
        at: &mut Cursor<'_>,
        name: String,
        kind: &str,
        components: usize,
    ) -> Result<(), FemError> {
        let (place, tuples) = self
            .place
            .ok_or_else(|| format!("array `{name}` stands before the points"))?;
        let total = tuples.checked_mul(components).filter(|_| components > 0);
        let total = total.ok_or_else(|| format!("array `{name}` has too many numbers"))?;
        let mut values = at.reals(total, legacy_type(kind)?, self.form)?;
        if place == ArrayPlace::Cells {
            if tuples != self.cells.seen {
                return Err(format!(
                    "array `{name}` has {tuples} tuples for {} cells",
                    self.cells.seen
                )
                .into());
            }
            values = self.cells.select(&values, components);
        } else if tuples == self.cells.points.unwrap_or(tuples) {
            self.cells.pyramids.append(&mut values, components, 0);
        }
        self.file.arrays.push(FemArray {
            name,
            place,
            components,
            values,
        });
        Ok(())
    }

    fn reals(
        &self,
        at: &mut Cursor<'_>,
        tuples: usize,
        components: usize,
    ) -> Result<Vec<f64>, String> {
        let kind = legacy_type(&at.line())?;
        let total = tuples.checked_mul(components).ok_or("too many numbers")?;
        at.reals(total, kind, self.form)
    }

    /// Points of cells: counts and points mixed, or, since version 5, offsets and points apart.
    fn cells(&mut self, at: &mut Cursor<'_>) -> Result<(), FemError> {
        let first: usize = at.number("a number of cells")?;
        let total: usize = at.number("a number of entries")?;
        at.line();
        if at.peek() != Some("OFFSETS") {
            let all = at.ints(total, SampleType::I32, self.form)?;
            let mut rest = &all[..];
            for _ in 0..first {
                let (count, after) = rest.split_first().ok_or("`CELLS` ends too early")?;
                let count = usize::try_from(*count).ok().filter(|n| *n <= after.len());
                let (points, after) = after.split_at(count.ok_or("`CELLS` ends too early")?);
                self.connectivity.push(points.to_vec());
                rest = after;
            }
            return Ok(());
        }
        at.word()?;
        let kind = legacy_type(&at.line())?;
        let offsets = at.ints(first, kind, self.form)?;
        let word = at.word()?;
        if word != "CONNECTIVITY" {
            return Err(format!("found `{word}`, expected `CONNECTIVITY`").into());
        }
        let kind = legacy_type(&at.line())?;
        let all = at.ints(total, kind, self.form)?;
        for pair in offsets.windows(2) {
            let range = usize::try_from(pair[0])
                .ok()
                .zip(usize::try_from(pair[1]).ok());
            let own = range.and_then(|(start, end)| all.get(start..end));
            let own =
                own.ok_or_else(|| format!("cell {} has no points", self.connectivity.len()))?;
            self.connectivity.push(own.to_vec());
        }
        Ok(())
    }
}
