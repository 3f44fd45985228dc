//! Describes a file with values on a mesh: its cells, where they are, and how a program declares its arrays.

use super::{identifier, joined, short};
use runtime::{
    fem::{ArrayPlace, FemArray, FemError, FemFile, FemSeries, Mesh},
    file_name::escaped,
    file_reference::mesh_and_array,
    grid::TimeAxis,
    simd::Real,
    text::visible_line,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::Path};

/// The description of a file.
pub(super) struct MeshInfo {
    /// Its first frame.
    file: FemFile,
    /// How many frames there are, and their times, if they have times.
    frames: Option<(usize, TimeAxis)>,
    mesh: Mesh,
    /// How many cells there are of each element.
    elements: BTreeMap<&'static str, usize>,
}

impl MeshInfo {
    /// Reads a file, or one of its arrays: `FILE#ARRAY`. Of several times it is the first, and the others are counted.
    ///
    /// # Errors
    /// It is not a mesh, it is damaged, or it does not have the array.
    pub(super) fn read(path: &Path) -> Result<MeshInfo, FemError> {
        let (path, array) = mesh_and_array(path);
        let series = FemSeries::open(path)?;
        let mut file = series.read(0)?;
        let frames = (series.frames() > 1).then(|| (series.frames(), series.times().clone()));
        let dim = file.cells.iter().map(|cell| cell.element.cell.dim()).max();
        let named = |error: FemError| error.in_file(&escaped(path.as_os_str()));
        let mesh = Mesh::new(&file, dim.unwrap_or(3), Real::F64).map_err(named)?;
        if let Some(array) = array {
            file.array(array).map_err(named)?;
            file.arrays.retain(|known| known.name == array);
        }
        let mut elements = BTreeMap::new();
        for cell in file
            .cells
            .iter()
            .filter(|cell| Some(cell.element.cell.dim()) == dim)
        {
            *elements.entry(cell.element.name).or_default() += 1;
        }
        Ok(MeshInfo {
            file,
            frames,
            mesh,
            elements,
        })
    }

    /// The lines of text.
    pub(super) fn lines(&self, path: &Path) -> String {
        let name = identifier(path);
        let (dim, points) = (self.mesh.dim(), self.file.points.len());
        let cells = self.mesh.cells();
        let mut text = format!(
            "{}: a mesh of {cells} {}, {points} points\n",
            escaped(path.as_os_str()),
            if cells == 1 { "cell" } else { "cells" }
        );
        text += &format!("  declare    input mesh({dim}) {name};\n");
        for array in &self.file.arrays {
            text += &format!("             {}\n", self.declare(array, &name));
        }
        let elements = self.elements.iter().map(|(name, n)| format!("{n} {name}"));
        let curved = match self.mesh.curved_cells() {
            0 => String::new(),
            n => format!("; {n} are curved"),
        };
        text += &format!("  cells      {}{curved}\n", joined(elements, ", "));
        if let Some((frames, times)) = &self.frames {
            text += &format!("  frames     {frames}, {times}\n");
        }
        let extents = self.mesh.world_box();
        let extents = extents
            .iter()
            .map(|(low, high)| format!("[{}, {}]", short(*low), short(*high)));
        text += &format!("  world      {}\n", joined(extents, " × "));
        for array in &self.file.arrays {
            let place = match array.place {
                ArrayPlace::Points => "at points",
                ArrayPlace::Cells => "one for each cell",
                ArrayPlace::CellNodes => "at the nodes of each cell",
            };
            let (low, high) = range(array);
            let of_frame = self.frames.as_ref().map_or("", |_| ", in the first frame");
            text += &format!(
                "  values     {}: {} … {}, {place}{of_frame}\n",
                visible_line(&array.name),
                short(low),
                short(high)
            );
        }
        for note in self.mesh.notes() {
            text += &format!("  note       {note}\n");
        }
        text
    }

    /// A declaration of an array, differentiable as often as makes sense.
    fn declare(&self, array: &FemArray, mesh: &str) -> String {
        let (dim, degree) = (self.mesh.dim(), self.mesh.degree());
        let degree = match array.place {
            ArrayPlace::Cells => 0,
            ArrayPlace::Points | ArrayPlace::CellNodes => degree,
        };
        let shape = match array.components {
            1 => String::new(),
            4 if dim == 2 => "2,2".to_string(),
            // Six numbers are a symmetric matrix.
            6 | 9 => "3,3".to_string(),
            n => n.to_string(),
        };
        let variable = identifier(Path::new(&array.name));
        let name = &array.name;
        let time = self.frames.as_ref().map_or("", |_| ",time");
        format!("fem#{degree}({dim}{time})[{shape}] {variable} = load_fem({mesh}, {name:?});")
    }

    /// The same as an object.
    pub(super) fn json(&self, path: &Path) -> Value {
        let name = identifier(path);
        let finite = |x: f64| Some(x).filter(|x| x.is_finite());
        let arrays = self.file.arrays.iter().map(|array| {
            let (low, high) = range(array);
            json!({
                "name": array.name,
                "components": array.components,
                "place": match array.place {
                    ArrayPlace::Points => "points",
                    ArrayPlace::Cells => "cells",
                    ArrayPlace::CellNodes => "nodes of cells",
                },
                "declare": self.declare(array, &name),
                "min": finite(low),
                "max": finite(high),
            })
        });
        json!({
            "file": path.display().to_string(),
            "mesh": {
                "declare": format!("input mesh({}) {name};", self.mesh.dim()),
                "dimension": self.mesh.dim(),
                "points": self.file.points.len(),
                "cells": self.mesh.cells(),
                "curved": self.mesh.curved_cells(),
                "elements": self.elements,
                "world": self.mesh.world_box(),
            },
            "frames": self.frames.as_ref().map_or(1, |(frames, _)| *frames),
            "times": self.frames.as_ref().map(|(frames, times)| [times.start(), times.end(*frames)]),
            "arrays": arrays.collect::<Vec<_>>(),
            "notes": self.mesh.notes(),
        })
    }
}

/// The smallest and the largest number of an array.
fn range(array: &FemArray) -> (f64, f64) {
    let finite = array.values.iter().copied().filter(|x| x.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    })
}
