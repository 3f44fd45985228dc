//! Mesh files: points, cells, and arrays on them. Formats end here.

mod cursor;
mod gmsh;
mod legacy;
mod pieces;
mod pyramids;
mod vtu;
mod xdmf;

use super::FemError;
use super::cell::CellKind;
use super::element::{ELEMENTS, Element};
use crate::file_name::escaped;
use crate::file_reference::mesh_and_array;
use crate::vtk;
use std::{fs::File, io::Read, path::Path};

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
    /// The tag of an XML file is among these bytes, and so is the kind of data of an old VTK file, whose title has 256 characters at most.
    const HEAD: u64 = 4096;
    let (path, _) = pieces::chosen(mesh_and_array(name).0);
    let mut head = Vec::new();
    // Nothing is taken from a pipe.
    if !path.is_file()
        || File::open(path)
            .and_then(|file| file.take(HEAD).read_to_end(&mut head))
            .is_err()
    {
        return false;
    }
    let start = head.trim_ascii_start();
    let has = |word: &[u8]| start.windows(word.len()).any(|found| found == word);
    match pieces::type_of(start) {
        Some(kind) => vtk::is_mesh(&kind),
        None if start.starts_with(b"# vtk DataFile") => has(b"UNSTRUCTURED_GRID"),
        None => start.starts_with(b"$MeshFormat") || xdmf::is_xdmf(start),
    }
}

/// What a mesh file says.
#[derive(Clone, Debug, Default)]
pub struct FemFile {
    /// The points, with z = 0 where the file has none.
    pub points: Vec<[f64; 3]>,
    /// The cells of two and three dimensions.
    pub cells: Vec<FileCell>,
    /// The points of all cells, in VTK's order of nodes.
    pub connectivity: Vec<u32>,
    /// The arrays.
    pub arrays: Vec<FemArray>,
}

/// A cell of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileCell {
    /// Its element.
    pub element: &'static Element,
    /// The first of its points in the list of all.
    pub first: usize,
    /// Its number among all cells of the file, those that are left out counted.
    pub number: u32,
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

    /// The memory that it takes.
    pub fn bytes(&self) -> u64 {
        let arrays = self
            .arrays
            .iter()
            .map(|array| size_of_val(&array.values[..]));
        let lists = size_of_val(&self.points[..])
            + size_of_val(&self.cells[..])
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
        for cell in &self.cells {
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
        let cell = &self.cells[cell];
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
    kept: Vec<usize>,
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
        let mut own = Vec::with_capacity(points.len());
        for n in 0..points.len() {
            let point = points[order.map_or(n, |order| order[n])];
            let wrong = || format!("cell {number} names point {point} of {points_of_file}");
            let place = usize::try_from(point).ok();
            let place = place.and_then(|p| p.checked_add(first));
            let place = place.filter(|p| *p < points_of_file);
            let place = place.and_then(|p| u32::try_from(p).ok());
            own.push(place.ok_or_else(wrong)?);
        }
        let element = match element {
            Some(element) => element,
            None => {
                let hexahedron = self.pyramids.hexahedron(file, &own);
                let (element, nodes) = hexahedron.ok_or("too many points")?;
                own = nodes;
                element
            }
        };
        self.kept.push(number);
        let start = file.connectivity.len();
        file.cells.push(FileCell {
            element,
            first: start,
            number: u32::try_from(number).map_err(|_| "too many cells")?,
        });
        file.connectivity.extend(own);
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
        let tuple = |&n: &usize| values[n * components..(n + 1) * components].to_vec();
        self.kept.iter().flat_map(tuple).collect()
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
