//! Mesh files: points, cells, and arrays on them. Formats end here.

mod cells;
mod cursor;
mod gmsh;
mod legacy;
mod numbers;
pub(super) mod pieces;
mod pyramids;
mod shared;
mod vtu;
pub(super) mod xdmf;

pub use cells::{Cells, FileCell};
pub use shared::Shared;

use super::FemError;
use super::cell::CellKind;
use super::element::{ELEMENTS, Element};
use crate::file_name::escaped;
use crate::file_reference::{mesh_and_array, numbered_files};
use crate::vtk;
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

/// A format of mesh files.
struct Format {
    name: &'static str,
    /// What files begin with.
    mark: &'static str,
    parse: fn(&[u8]) -> Result<FemFile, FemError>,
}

/// The formats that are read.
const FORMATS: [Format; 3] = [
    Format {
        name: "VTK's grids (.vtu, .pvtu, .pvd, .vts, .vtr) and XDMF (.xdmf)",
        mark: "<",
        parse: vtu::parse,
    },
    Format {
        name: "legacy VTK (.vtk)",
        mark: "# vtk DataFile",
        parse: legacy::parse,
    },
    Format {
        name: "Gmsh 2.2 and 4.1 (.msh)",
        mark: "$",
        parse: gmsh::parse,
    },
];

/// The names of the formats that are read, for messages.
pub(crate) fn mesh_formats() -> String {
    FORMATS.map(|format| format.name).join(", ")
}

/// Whether a name where a file is expected means a mesh, by the first bytes of the file: `FILE`, a time of it (`FILE#N`, `FILE@T`), or an
/// array (`FILE#ARRAY`).
pub fn holds_mesh(name: &Path) -> bool {
    let (path, _) = pieces::chosen(mesh_and_array(name).0);
    let first = match numbered_files(path) {
        Some(files) => files.files().next(),
        None => None,
    };
    let Some(head) = head(first.as_deref().unwrap_or(path)) else {
        return false;
    };
    let start = head.trim_ascii_start();
    let has = |word: &[u8]| start.windows(word.len()).any(|found| found == word);
    match pieces::type_of(start) {
        Some(kind) => vtk::is_mesh(&kind),
        None if start.starts_with(b"# vtk DataFile") => has(b"UNSTRUCTURED_GRID"),
        None => start.starts_with(b"$MeshFormat") || xdmf::is_xdmf(start),
    }
}

/// The files in which the mesh of a name is: one of a mesh, of its times or its pieces, with all that it names; or numbered files.
pub fn mesh_files(name: &Path) -> Vec<PathBuf> {
    if let Some(files) = numbered_files(name) {
        return files.files().collect();
    }
    let (path, _) = pieces::chosen(name);
    let mut files = vec![path.to_path_buf()];
    let mut next = 0;
    // Files of times may be in pieces.
    while let Some(file) = files.get(next) {
        let named: Vec<PathBuf> = files_named_in(file);
        let is_new = |name: &PathBuf| !files.contains(name);
        let new: Vec<PathBuf> = named.into_iter().filter(is_new).collect();
        files.extend(new);
        next += 1;
    }
    files
}

/// The files that a file of a mesh names.
fn files_named_in(file: &Path) -> Vec<PathBuf> {
    let Some(head) = head(file) else {
        return Vec::new();
    };
    let kind = pieces::type_of(&head);
    let names: fn(&[u8]) -> Vec<String> = match kind.as_deref() {
        Some("Collection" | "PUnstructuredGrid") => pieces::files,
        None if xdmf::is_xdmf(&head) => xdmf::files,
        _ => return Vec::new(),
    };
    let names = pieces::open(file).map_or(Vec::new(), |contents| names(&contents));
    let beside = file.parent().unwrap_or(Path::new(""));
    names.into_iter().map(|name| beside.join(name)).collect()
}

/// The first bytes of a file, which tell its format. Nothing is taken from a pipe.
pub(super) fn head(path: &Path) -> Option<Vec<u8>> {
    /// The tag of an XML file is among these bytes, and so is the kind of data of an old VTK file, whose title has 256 characters at most.
    const HEAD: u64 = 4096;
    let mut head = Vec::new();
    let file = path.is_file().then(|| File::open(path).ok()).flatten()?;
    file.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

/// What a mesh file says.
#[derive(Clone, Debug, Default)]
pub struct FemFile {
    /// The points, with z = 0 where the file has none.
    pub points: Shared<Vec<[f64; 3]>>,
    /// The cells of two and three dimensions.
    pub cells: Cells,
    /// The points of all cells, in VTK's order of nodes.
    pub connectivity: Shared<Vec<u32>>,
    /// The arrays.
    pub arrays: Vec<FemArray>,
}

/// Numbers on a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct FemArray {
    /// Its name.
    pub name: String,
    /// What one tuple belongs to.
    pub place: ArrayPlace,
    /// Numbers per tuple.
    pub components: usize,
    /// The tuples, one after the other.
    pub values: Vec<f64>,
}

impl FemArray {
    /// The number of finite values that are infinite in single precision.
    pub fn beyond_single(&self) -> u64 {
        let is_beyond = |x: &&f64| x.is_finite() && !(**x as f32).is_finite();
        self.values.iter().filter(is_beyond).count() as u64
    }
}

/// What the tuples of an array belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayPlace {
    /// The points of the file.
    Points,
    /// The cells that are kept.
    Cells,
    /// The nodes of each cell, as in the list of all cells' points.
    CellNodes,
}

impl FemFile {
    /// Reads a file of any known format. Of a file with several times, `FILE#N` is the one of a number, and `FILE@T` is the one at a time.
    ///
    /// # Errors
    /// The file cannot be read, or its contents are invalid.
    pub fn read(name: &Path) -> Result<FemFile, FemError> {
        let (path, moment) = pieces::chosen(name);
        let named = |error: FemError| error.in_file(&escaped(path.as_os_str()));
        let beside = path.parent().unwrap_or(Path::new(""));
        let read = || -> Result<FemFile, FemError> {
            let contents = pieces::open(path)?;
            match pieces::type_of(&contents).as_deref() {
                Some("PUnstructuredGrid") => pieces::read_parallel(&contents, beside),
                Some("Collection") => pieces::read_collection(&contents, beside, moment),
                None if xdmf::is_xdmf(&contents) => xdmf::read(&contents, beside, moment),
                _ => FemFile::parse(&contents),
            }
        };
        read().map_err(named)
    }

    /// Reads what the bytes of a file say.
    ///
    /// # Errors
    /// They say what no mesh can mean.
    pub fn parse(bytes: &[u8]) -> Result<FemFile, FemError> {
        let start = bytes.trim_ascii_start();
        let format = FORMATS
            .iter()
            .find(|f| start.starts_with(f.mark.as_bytes()));
        let Some(format) = format else {
            let mut error = FemError::new("this is not a mesh file that can be read");
            if bytes.get(1..4) == Some(b"HDF") {
                error = error.hint("name the file `.xdmf` that describes the arrays of this one");
            }
            return Err(error.hint(format!("{} are read", mesh_formats())));
        };
        let file = (format.parse)(bytes)?;
        file.check()?;
        Ok(file)
    }

    /// Whether another file has the same cells at the same positions.
    pub fn has_mesh_of(&self, other: &FemFile) -> bool {
        let is_same_cell = |(a, b): (FileCell, FileCell)| {
            std::ptr::eq(a.element, b.element) && a.number == b.number
        };
        let is_same_list =
            || self.connectivity == other.connectivity && self.points == other.points;
        // Points that several pieces share may be one at some times and several at others.
        let is_same_place = || (0..self.cells.len()).all(|n| self.nodes(n).eq(other.nodes(n)));
        self.cells.len() == other.cells.len()
            && self.cells.iter().zip(other.cells.iter()).all(is_same_cell)
            && (is_same_list() || is_same_place())
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> u64 {
        let arrays = self
            .arrays
            .iter()
            .map(|array| size_of_val(&array.values[..]));
        let lists = size_of_val(&self.points[..])
            + self.cells.bytes()
            + size_of_val(&self.connectivity[..]);
        (lists + arrays.sum::<usize>()) as u64
    }

    /// Makes sure that every number refers to something.
    ///
    /// # Errors
    /// Which does not.
    pub fn check(&self) -> Result<(), FemError> {
        if let Some(bad) = self
            .points
            .iter()
            .position(|p| p.iter().any(|x| !x.is_finite()))
        {
            return Err(FemError::new(format!(
                "point {bad} is at {:?}",
                self.points[bad]
            )));
        }
        for cell in self.cells.iter() {
            let nodes = cell.element.nodes().len();
            let end = cell.first.checked_add(nodes);
            let own = end.and_then(|end| self.connectivity.get(cell.first..end));
            let own = own.ok_or_else(|| format!("cell {} has too few points", cell.number))?;
            if let Some(bad) = own.iter().find(|&&p| p as usize >= self.points.len()) {
                return Err(FemError::new(format!(
                    "cell {} names point {bad} of {}",
                    cell.number,
                    self.points.len()
                )));
            }
        }
        for array in &self.arrays {
            let tuples = match array.place {
                ArrayPlace::Points => self.points.len(),
                ArrayPlace::Cells => self.cells.len(),
                ArrayPlace::CellNodes => self.connectivity.len(),
            };
            if tuples.checked_mul(array.components) != Some(array.values.len()) {
                return Err(FemError::new(format!(
                    "array `{}` has {} numbers, expected {tuples} times {}",
                    array.name,
                    array.values.len(),
                    array.components
                )));
            }
        }
        Ok(())
    }

    /// The array of a name.
    ///
    /// # Errors
    /// There is none; the message lists those that there are.
    pub fn array(&self, name: &str) -> Result<&FemArray, FemError> {
        let array = self.arrays.iter().find(|array| array.name == name);
        let missing = || format!("no array `{name}`; {}", self.list_of_arrays());
        Ok(array.ok_or_else(missing)?)
    }

    /// The arrays with their components, for messages.
    pub(super) fn list_of_arrays(&self) -> String {
        let all = self.arrays.iter().map(|array| {
            let components = match array.components {
                1 => String::new(),
                n => n.to_string(),
            };
            format!("`{}` [{components}]", array.name)
        });
        let all: Vec<String> = all.collect();
        match all.is_empty() {
            true => "the file has no arrays".to_string(),
            false => format!("there are {}", all.join(", ")),
        }
    }

    /// The nodes of a cell.
    pub fn nodes(&self, cell: usize) -> impl Iterator<Item = [f64; 3]> {
        let cell = self.cells.at(cell);
        let own = &self.connectivity[cell.first..][..cell.element.nodes().len()];
        own.iter().map(|&p| self.points[p as usize])
    }
}

/// VTK's types of cells that are points or lines: these cells are skipped.
const VTK_LINES: [i64; 6] = [1, 2, 3, 4, 21, 68];

/// Collects cells given by VTK's types.
#[derive(Default)]
struct VtkCells {
    /// The places of the cells that are kept.
    kept: Vec<u32>,
    seen: usize,
    /// The points that cells may name; others are made for pyramids.
    points: Option<usize>,
    pyramids: pyramids::Pyramids,
}

impl VtkCells {
    /// Adds the next cell, whose points are numbered from `first`. Old files have other places for two edges of hexahedra.
    fn add(
        &mut self,
        file: &mut FemFile,
        kind: i64,
        points: &[i64],
        first: usize,
        old: bool,
    ) -> Result<(), FemError> {
        let number = self.seen;
        self.seen += 1;
        if VTK_LINES.contains(&kind) {
            return Ok(());
        }
        let points_of_file = *self.points.get_or_insert(file.points.len());
        let (as_kind, order) = regular(kind);
        let is_pyramid = PYRAMIDS.contains(&(kind, points.len()));
        let element = Element::of_vtk(as_kind, points.len());
        if element.is_none() && !is_pyramid {
            return Err(unknown(kind, points.len()));
        }
        let start = file.connectivity.len();
        let nodes = &mut *file.connectivity;
        for n in 0..points.len() {
            let point = points[order.map_or(n, |order| order[n])];
            let wrong = || format!("cell {number} names point {point} of {points_of_file}");
            let place = usize::try_from(point).ok();
            let place = place.and_then(|p| p.checked_add(first));
            let place = place.filter(|p| *p < points_of_file);
            let place = place.and_then(|p| u32::try_from(p).ok());
            nodes.push(place.ok_or_else(wrong)?);
        }
        let element = match element {
            Some(element) => element,
            None => {
                let own = file.connectivity.split_off(start);
                let hexahedron = self.pyramids.hexahedron(file, &own);
                let (element, nodes) = hexahedron.ok_or("too many points")?;
                file.connectivity.extend(nodes);
                element
            }
        };
        let number = u32::try_from(number).map_err(|_| "too many cells")?;
        self.kept.push(number);
        file.cells.push(FileCell {
            element,
            first: start,
            number,
        });
        if old && kind == 72 && element.degree > 1 {
            // The vertical edges at corners 2 and 3 were exchanged.
            let inner = element.degree - 1;
            let edge = start + 8 + 8 * inner + 2 * inner;
            for n in 0..inner {
                file.connectivity.swap(edge + n, edge + inner + n);
            }
        }
        Ok(())
    }

    /// Of tuples for all cells, those of the cells that are kept.
    fn select(&self, values: &[f64], components: usize) -> Vec<f64> {
        let tuple = |&n: &u32| &values[n as usize * components..][..components];
        self.kept.iter().flat_map(tuple).copied().collect()
    }
}

/// VTK's cells along the axes: their types, those of cells of any shape, and for each node of these its place in a cell along the axes.
const ALONG_AXES: [(i64, i64, &[usize]); 2] =
    [(8, 9, &[0, 1, 3, 2]), (11, 12, &[0, 1, 3, 2, 4, 5, 7, 6])];

/// VTK's types of pyramids, and their numbers of nodes.
const PYRAMIDS: [(i64, usize); 2] = [(14, 5), (27, 13)];

/// The type of VTK whose cells a type describes, and the order of the nodes if it differs.
fn regular(kind: i64) -> (i64, Option<&'static [usize]>) {
    let row = ALONG_AXES.iter().find(|(own, ..)| *own == kind);
    row.map_or((kind, None), |&(_, regular, order)| (regular, Some(order)))
}

/// Cells of VTK that are not read, by their types.
const OTHER_CELLS: [(&[i64], &str); 7] = [
    (&[6], "triangle strip"),
    (&[7], "polygon"),
    (&[31], "wedge"),
    (&[37, 74], "pyramid"),
    (&[34], "triangle with seven points"),
    (&[42], "polyhedron"),
    (&[75, 76, 77, 78, 79, 80, 81], "Bézier cell"),
];

/// Says that cells are not read, which are, and what helps.
fn unknown(kind: i64, points: usize) -> FemError {
    let fixed = ELEMENTS.iter().filter_map(|e| Some((e.vtk?, e.cell)));
    let any_degree = super::element::VTK_LAGRANGE;
    let known = |cell: CellKind| {
        let own = fixed.clone().chain(any_degree).filter(|(_, c)| *c == cell);
        let own = own.map(|(number, _)| i64::from(number));
        let along = |number: &i64| ALONG_AXES.iter().find(|(_, regular, _)| regular == number);
        let numbers = own.flat_map(|number| [Some(number), along(&number).map(|row| row.0)]);
        let numbers: Vec<String> = numbers.flatten().map(|number| number.to_string()).collect();
        format!("{} ({})", cell.name(), numbers.join(", "))
    };
    let known = any_degree.iter().map(|(_, cell)| known(*cell));
    let pyramids = PYRAMIDS.map(|(number, _)| number.to_string()).join(", ");
    let known: Vec<String> = known.chain([format!("pyramid ({pyramids})")]).collect();
    let row = OTHER_CELLS.iter().find(|(kinds, _)| kinds.contains(&kind));
    let name = row.map_or(String::new(), |(_, name)| format!(" ({name})"));
    FemError::new(format!(
        "cells of type {kind}{name} with {points} points are not read"
    ))
    .hint(format!("types of cells that are read: {}", known.join(", ")))
    .hint(
        "others become triangles and tetrahedra by `mesh.triangulate()`: python3 -c \"import pyvista; \
         pyvista.read('FILE').triangulate().save('FILE-triangulated.vtu')\"",
    )
}
