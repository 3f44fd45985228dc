//! XDMF: grids in XML whose numbers are in the text or in files of HDF5, at one time or several.

use super::cursor::{Cursor, Form, ints, length, reals};
use super::pieces::{Moment, choose};
use super::{ArrayPlace, FemArray, FemFile, VtkCells};
use crate::fem::FemError;
use crate::file_name::escaped;
use crate::hdf5::{limits, number_type};
use crate::memory::{self, Claim};
use crate::nrrd::{Endian, SampleType};
use crate::xml::{Tag, Tags};
use hdf5_reader::Hdf5File;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// XDMF's cells: names, number in mixed topologies, VTK's type, nodes. Those with several numbers of nodes have them in the file.
const CELLS: [(&[&str], i64, i64, usize); 20] = [
    (&["polyvertex"], 1, 2, 0),
    (&["polyline"], 2, 4, 0),
    (&["polygon"], 3, 7, 0),
    (&["triangle"], 4, 5, 3),
    (&["quadrilateral"], 5, 9, 4),
    (&["tetrahedron"], 6, 10, 4),
    (&["pyramid"], 7, 14, 5),
    (&["wedge"], 8, 13, 6),
    (&["hexahedron"], 9, 12, 8),
    (&["edge_3"], 34, 21, 3),
    (&["quadrilateral_9", "quad_9"], 35, 28, 9),
    (&["triangle_6", "tri_6"], 36, 22, 6),
    (&["quadrilateral_8", "quad_8"], 37, 23, 8),
    (&["tetrahedron_10", "tet_10"], 38, 24, 10),
    (&["pyramid_13"], 39, 27, 13),
    (&["wedge_15"], 40, 26, 15),
    (&["wedge_18"], 41, 32, 18),
    (&["hexahedron_20", "hex_20"], 48, 25, 20),
    (&["hexahedron_27", "hex_27"], 50, 29, 27),
    (&["polyhedron"], 16, 42, 0),
];

/// One grid of the file.
#[derive(Default)]
struct Grid<'a> {
    time: Option<f64>,
    /// Whether it has the topology and the geometry of another grid.
    includes: bool,
    topology: Option<(Tag<'a>, Tag<'a>)>,
    geometry: Option<(Tag<'a>, Tag<'a>)>,
    attributes: Vec<(Tag<'a>, Tag<'a>)>,
}

impl Grid<'_> {
    fn time_or_zero(&self) -> f64 {
        self.time.unwrap_or(0.0)
    }
}

/// Whether these bytes are XDMF.
pub(crate) fn is_xdmf(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let mut tags = Tags::new(start).take(1);
    start.starts_with(b"<") && tags.any(|tag| tag.name() == "Xdmf")
}

/// Reads one time, with files named relative to a directory.
pub(super) fn read(
    bytes: &[u8],
    beside: &Path,
    moment: Option<Moment>,
) -> Result<FemFile, FemError> {
    let mut grids = grids(bytes)?;
    let includes = grids.iter().any(|grid| grid.includes);
    let (mesh, mut chosen) = grids_of_times(&grids)?;
    let times = times_of(&grids, &chosen);
    let wanted = times[choose(&times, moment)?];
    chosen.retain(|&n| grids[n].time_or_zero() == wanted);
    let own = chosen
        .iter()
        .copied()
        .find(|&n| grids[n].topology.is_some() && grids[n].geometry.is_some());
    if own.is_none() && !includes {
        return Err("the grid of this time has no `Topology` and `Geometry`".into());
    }
    let mesh = own.unwrap_or(mesh);
    let attributes: Vec<_> = chosen
        .iter()
        .flat_map(|&n| std::mem::take(&mut grids[n].attributes))
        .collect();
    let mut items = Items {
        bytes,
        beside,
        open: HashMap::new(),
        claim: Claim::default(),
    };
    let grid = &grids[mesh];
    let (Some(geometry), Some(topology)) = (&grid.geometry, &grid.topology) else {
        return Err("a grid is incomplete".into());
    };
    items.mesh(geometry, topology, &attributes)
}

/// The times, in the order of the file.
pub(crate) fn times(bytes: &[u8]) -> Result<Vec<f64>, FemError> {
    let grids = grids(bytes)?;
    let (_, chosen) = grids_of_times(&grids)?;
    Ok(times_of(&grids, &chosen))
}

/// The first grid with a mesh, and the grids that have times; those are the mesh itself if there are no times.
fn grids_of_times(grids: &[Grid<'_>]) -> Result<(usize, Vec<usize>), FemError> {
    let mesh = grids
        .iter()
        .position(|grid| grid.topology.is_some() && grid.geometry.is_some());
    let mesh = mesh.ok_or("the file has no grid with a `Topology` and a `Geometry`")?;
    // A mesh that others include is not itself a time.
    let of_time = |grid: &Grid<'_>| grid.time.is_some() || grid.includes;
    let several = grids.iter().any(of_time);
    let mut chosen: Vec<usize> = (0..grids.len()).collect();
    chosen.retain(|&n| match several {
        true => of_time(&grids[n]),
        false => n == mesh,
    });
    Ok((mesh, chosen))
}

/// The times of some grids. Grids of one time have different arrays on one mesh.
fn times_of(grids: &[Grid<'_>], chosen: &[usize]) -> Vec<f64> {
    let mut times: Vec<f64> = Vec::new();
    for time in chosen.iter().map(|&n| grids[n].time_or_zero()) {
        if !times.contains(&time) {
            times.push(time);
        }
    }
    times
}

/// The grids with their parts, each with the item that has its numbers.
fn grids(bytes: &[u8]) -> Result<Vec<Grid<'_>>, FemError> {
    let mut grids: Vec<Grid<'_>> = Vec::new();
    let mut parent: Option<Tag<'_>> = None;
    for tag in Tags::new(bytes) {
        let name = tag.name().to_string();
        if name == "Grid" {
            let kind = tag.get("CollectionType").unwrap_or_default();
            if kind.eq_ignore_ascii_case("Spatial") {
                return Err(FemError::new("a spatial collection of grids is not read")
                    .hint("write one grid, or the grids as pieces of VTK (.pvtu)"));
            }
            grids.push(Grid::default());
            parent = None;
            continue;
        }
        let Some(grid) = grids.last_mut() else {
            continue;
        };
        match (name.as_str(), parent.take()) {
            ("DataItem", Some(of)) => {
                let kind = tag.get("ItemType").unwrap_or("Uniform".into());
                if kind != "Uniform" || tag.get("Reference").is_some() {
                    return Err(format!("a `DataItem` of type `{kind}` is not read").into());
                }
                match of.name() {
                    "Topology" => grid.topology = Some((of, tag)),
                    "Geometry" => grid.geometry = Some((of, tag)),
                    _ => grid.attributes.push((of, tag)),
                }
            }
            ("Topology" | "Geometry", _) if tag.get("Reference").is_some() => grid.includes = true,
            ("Topology" | "Geometry", _) => parent = Some(tag),
            // Functions of finite elements have several items, and are not read.
            ("Attribute", _) => parent = Some(tag).filter(|tag| tag.get("ItemType").is_none()),
            ("Time", _) => {
                let value = tag.get("Value").and_then(|text| text.trim().parse().ok());
                grid.time = Some(value.ok_or("a `Time` has no number `Value`")?);
            }
            ("include", _) => grid.includes = true,
            ("Information", of) => parent = of,
            _ => {}
        }
    }
    Ok(grids)
}

/// The numbers of a file.
struct Items<'a> {
    bytes: &'a [u8],
    beside: &'a Path,
    open: HashMap<PathBuf, Hdf5File>,
    claim: Claim,
}

/// Numbers as they are stored.
enum Stored<'a> {
    Text(&'a [u8]),
    Bytes(Vec<u8>, SampleType, Endian),
}

impl Items<'_> {
    fn mesh(
        &mut self,
        geometry: &(Tag<'_>, Tag<'_>),
        topology: &(Tag<'_>, Tag<'_>),
        attributes: &[(Tag<'_>, Tag<'_>)],
    ) -> Result<FemFile, FemError> {
        let mut file = FemFile::default();
        let kind = attribute(&geometry.0, &["GeometryType", "Type"]);
        let axes = match kind.to_ascii_uppercase().as_str() {
            "XYZ" | "" => 3,
            "XY" => 2,
            other => return Err(format!("a geometry of type `{other}` is not read").into()),
        };
        let sizes = dimensions(&geometry.1)?;
        // Some writers say `XYZ` of points in the plane.
        let axes = match sizes[..] {
            [_, last @ (2 | 3)] => last,
            _ => axes,
        };
        let points = self.reals(&geometry.1)?;
        let point = |p: &[f64]| [p[0], p[1], p.get(2).copied().unwrap_or(0.0)];
        file.points = points.chunks_exact(axes).map(point).collect();
        let mut cells = VtkCells::default();
        self.cells(topology, &mut file, &mut cells)?;
        let points = cells.points.unwrap_or(file.points.len());
        for (tag, item) in attributes {
            let name = attribute(tag, &["Name"]);
            let (place, tuples) = match attribute(tag, &["Center"]).as_str() {
                "Node" | "" => (ArrayPlace::Points, points),
                "Cell" => (ArrayPlace::Cells, cells.seen),
                _ => continue,
            };
            let mut values = self.reals(item)?;
            let components = values.len() / tuples.max(1);
            if components == 0 || components * tuples != values.len() {
                return Err(FemError::new(format!(
                    "array `{name}` has {} numbers for {tuples} places",
                    values.len()
                )));
            }
            match place {
                ArrayPlace::Cells => values = cells.select(&values, components),
                _ => cells.pyramids.append(&mut values, components, 0),
            }
            file.arrays.push(FemArray {
                name,
                place,
                components,
                values,
            });
        }
        file.check()?;
        Ok(file)
    }

    fn cells(
        &mut self,
        (tag, item): &(Tag<'_>, Tag<'_>),
        file: &mut FemFile,
        cells: &mut VtkCells,
    ) -> Result<(), FemError> {
        let kind = attribute(tag, &["TopologyType", "Type"]).to_ascii_lowercase();
        let numbers = self.ints(item)?;
        let unknown = |what: &str| format!("cells of the type `{what}` of XDMF are not read");
        if kind != "mixed" {
            let row = CELLS.iter().find(|row| row.0.contains(&kind.as_str()));
            let &(_, _, vtk, nodes) = row.ok_or_else(|| unknown(&kind))?;
            let nodes = match nodes {
                0 => attribute(tag, &["NodesPerElement"]).parse().unwrap_or(1),
                nodes => nodes,
            };
            if nodes == 0 || !numbers.len().is_multiple_of(nodes) {
                return Err(format!("the topology has {} numbers", numbers.len()).into());
            }
            for own in numbers.chunks_exact(nodes) {
                cells.add(file, vtk, own, 0, false)?;
            }
            return Ok(());
        }
        let mut rest = &numbers[..];
        while let Some((number, after)) = rest.split_first() {
            let row = CELLS.iter().find(|row| row.1 == *number);
            let &(_, _, vtk, nodes) = row.ok_or_else(|| unknown(&number.to_string()))?;
            let short = || FemError::new("the topology ends within a cell");
            let (nodes, after) = match nodes {
                0 => {
                    let (count, after) = after.split_first().ok_or_else(short)?;
                    (usize::try_from(*count).map_err(|_| short())?, after)
                }
                nodes => (nodes, after),
            };
            let (own, after) = after.split_at_checked(nodes).ok_or_else(short)?;
            cells.add(file, vtk, own, 0, false)?;
            rest = after;
        }
        Ok(())
    }

    fn reals(&mut self, item: &Tag<'_>) -> Result<Vec<f64>, FemError> {
        let count = self.count(item)?;
        Ok(match self.stored(item, count)? {
            Stored::Text(text) => Cursor::new(text).reals(count, SampleType::F64, Form::Text)?,
            Stored::Bytes(bytes, kind, endian) => reals(&bytes, kind, endian)?,
        })
    }

    fn ints(&mut self, item: &Tag<'_>) -> Result<Vec<i64>, FemError> {
        let count = self.count(item)?;
        Ok(match self.stored(item, count)? {
            Stored::Text(text) => Cursor::new(text).ints(count, SampleType::I64, Form::Text)?,
            Stored::Bytes(bytes, kind, endian) => ints(&bytes, kind, endian)?,
        })
    }

    fn count(&self, item: &Tag<'_>) -> Result<usize, FemError> {
        let sizes = dimensions(item)?;
        let count = sizes
            .iter()
            .try_fold(1_usize, |n, size| n.checked_mul(*size));
        Ok(count.ok_or("an item has too many numbers")?)
    }

    fn stored(&mut self, item: &Tag<'_>, count: usize) -> Result<Stored<'_>, FemError> {
        let text = text_after(self.bytes, item);
        let format = attribute(item, &["Format"]);
        match format.to_ascii_uppercase().as_str() {
            "XML" | "" => Ok(Stored::Text(text)),
            "HDF" => {
                let text = String::from_utf8_lossy(text);
                let place = text.trim().rsplit_once(":/");
                let (file, name) = place
                    .ok_or_else(|| format!("`{}` does not name an array of a file", text.trim()))?;
                self.dataset(&self.beside.join(file), name, count)
            }
            _ => Err(
                FemError::new(format!("items in the format `{format}` are not read"))
                    .hint("convert the file: meshio convert IN.xdmf OUT.vtu"),
            ),
        }
    }

    fn dataset(&mut self, path: &Path, name: &str, count: usize) -> Result<Stored<'_>, FemError> {
        let named = |error: FemError| error.in_file(&escaped(path.as_os_str()));
        let fail = |error: hdf5_reader::error::Error| named(error.to_string().into());
        if !self.open.contains_key(path) {
            let size = std::fs::metadata(path).map_err(|e| named(e.to_string().into()))?;
            let options = limits(size.len());
            let file = Hdf5File::open_with_options(path, options).map_err(fail)?;
            self.open.insert(path.to_path_buf(), file);
        }
        let dataset = self.open[path].dataset(name).map_err(fail)?;
        let (kind, endian) = number_type(dataset.dtype())
            .ok_or_else(|| named(format!("`{name}` is not an array of numbers").into()))?;
        let (bytes, wanted) = (dataset.raw_byte_len().map_err(fail)?, length(count, kind)?);
        if bytes != wanted {
            return Err(named(
                format!("`{name}` has {bytes} bytes, expected {wanted}").into(),
            ));
        }
        // The bytes, and the numbers that they become.
        let all = (wanted as u64).saturating_add(8 * count as u64);
        self.claim.add(memory::claim(all)?);
        let bytes = dataset.read_raw_bytes().map_err(fail)?;
        Ok(Stored::Bytes(bytes, kind, endian))
    }
}

/// The files that have numbers of a file, as it names them.
pub(super) fn files(bytes: &[u8]) -> Vec<String> {
    let items = Tags::new(bytes).filter(|tag| tag.name() == "DataItem");
    let items = items.filter(|item| attribute(item, &["Format"]).eq_ignore_ascii_case("HDF"));
    let mut files: Vec<String> = Vec::new();
    for item in items {
        let text = String::from_utf8_lossy(text_after(bytes, &item));
        let Some((file, _)) = text.trim().rsplit_once(":/") else {
            continue;
        };
        if files.last().is_none_or(|last| last != file) {
            files.push(file.to_string());
        }
    }
    files
}

/// The text between a tag and the next one.
fn text_after<'a>(bytes: &'a [u8], item: &Tag<'_>) -> &'a [u8] {
    let rest = &bytes[item.end.min(bytes.len())..];
    let end = rest.iter().position(|b| *b == b'<').unwrap_or(rest.len());
    &rest[..end]
}

/// The first of some attributes that a tag has, or nothing.
fn attribute(tag: &Tag<'_>, names: &[&str]) -> String {
    let found = names.iter().find_map(|name| tag.get(name));
    found.map_or(String::new(), |text| text.trim().to_string())
}

fn dimensions(item: &Tag<'_>) -> Result<Vec<usize>, FemError> {
    let text = attribute(item, &["Dimensions"]);
    let sizes = text.split_whitespace().map(str::parse);
    let sizes: Result<Vec<usize>, _> = sizes.collect();
    let sizes = sizes.ok().filter(|sizes| !sizes.is_empty());
    Ok(sizes.ok_or_else(|| format!("a `DataItem` has `Dimensions` = `{text}`"))?)
}
