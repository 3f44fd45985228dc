//! Files for VTK and ParaView: points, lines and triangles (`.vtp`, and `.vtu` as cells of a mesh) and grids (`.vti`), in XML with the numbers as bytes at
//! its end.

use std::io::{self, Write};

use super::contents::{Contents, Style, Told};
use super::points::{Geometry, write_geometry};
use super::surfaces::write_surface;
use super::triangles::{self, Attribute, Precision, Triangles};
use super::{Column, Domain, Output, OutputError, Values};
use crate::grid::Place;
use crate::reduce;

/// The arrays of a file, as their bytes follow the XML.
#[derive(Default)]
struct Appended {
    bytes: Vec<u8>,
}

impl Appended {
    /// Adds an array and gives the element that tells of it.
    fn array(&mut self, name: &str, components: usize, values: Values<'_>) -> String {
        let ty = match values {
            Values::F32(_) => "Float32",
            Values::F64(_) => "Float64",
            Values::I32(_) => "Int32",
            Values::I64(_) => "Int64",
            Values::Bool(_) => "UInt8",
        };
        self.element(name, components, ty, |bytes| values.append_bytes(bytes))
    }

    /// Adds an array of `count` bytes, all the same.
    fn repeated(&mut self, name: &str, byte: u8, count: usize) -> String {
        self.element(name, 1, "UInt8", |bytes| {
            bytes.resize(bytes.len() + count, byte);
        })
    }

    /// Adds the bytes of an array, with their number in front.
    fn element(
        &mut self,
        name: &str,
        components: usize,
        ty: &str,
        append: impl FnOnce(&mut Vec<u8>),
    ) -> String {
        let offset = self.bytes.len();
        let start = offset + 8;
        self.bytes.extend([0; 8]);
        append(&mut self.bytes);
        let length = (self.bytes.len() - start) as u64;
        self.bytes[offset..start].copy_from_slice(&length.to_ne_bytes());
        format!(
            "<DataArray type=\"{ty}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" offset=\"{offset}\"/>\n"
        )
    }

    fn column(&mut self, column: &Column<'_>) -> String {
        let Output { name, .. } = column.output;
        self.array(name, column.output.strand_size(), column.values)
    }

    /// The element `name` with the arrays of data in it; normals are marked, so that they are used for shading.
    fn data(&mut self, name: &str, data: &[Attribute]) -> String {
        let arrays: String = data
            .iter()
            .map(|data| self.array(&data.name, data.size(), Values::from(&data.values)))
            .collect();
        let mark = match data.iter().find(|data| data.is_normals()) {
            Some(normals) => format!(" Normals=\"{}\"", normals.name),
            None => String::new(),
        };
        format!("<{name}{mark}>\n{arrays}</{name}>\n")
    }

    /// Writes the whole file; `body` is the content of its main element.
    fn write(self, ty: &str, body: &str, out: &mut dyn Write) -> io::Result<()> {
        let order = if cfg!(target_endian = "little") {
            "LittleEndian"
        } else {
            "BigEndian"
        };
        write!(
            out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"{ty}\" version=\"1.0\" byte_order=\"{order}\" header_type=\"UInt64\">\n\
             {body}<AppendedData encoding=\"raw\">\n_"
        )?;
        out.write_all(&self.bytes)?;
        out.write_all(b"\n</AppendedData>\n</VTKFile>\n")
    }
}

/// Writes points, each a vertex, or lines, or triangles.
pub(super) fn write_vtp(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    match triangles::of(contents, style, Precision::Given)? {
        Some(mesh) => write_surface(&mesh, |mesh| triangle_mesh(mesh, Cells::Polygons, out)),
        None => write_geometry(contents, style, |geometry| {
            points_and_lines(geometry, Cells::Polygons, out)
        }),
    }
}

/// Writes the same as cells of a mesh.
pub(super) fn write_vtu(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    match triangles::of(contents, style, Precision::Given)? {
        Some(mesh) => write_surface(&mesh, |mesh| triangle_mesh(mesh, Cells::Mixed, out)),
        None => write_geometry(contents, style, |geometry| {
            points_and_lines(geometry, Cells::Mixed, out)
        }),
    }
}

/// What points, lines and triangles are in a file.
#[derive(Clone, Copy)]
enum Cells {
    /// Parts of a surface, each kind in an element of its own.
    Polygons,
    /// Cells that could be of any type.
    Mixed,
}

/// VTK's numbers of types of cells.
const VERTEX: u8 = 1;
const POLY_LINE: u8 = 4;
const TRIANGLE: u8 = 5;

fn triangle_mesh(mesh: &Triangles, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let (points, triangles) = (mesh.point_count(), mesh.triangles.len());
    let mut appended = Appended::default();
    let coordinates = appended.array("Points", 3, Values::from(&mesh.points));
    let data = appended.data("PointData", &mesh.of_points)
        + &appended.data("CellData", &mesh.of_triangles);
    let corners = mesh.triangles.iter().flatten();
    let connectivity = reduce::Values::I64(corners.map(|&point| point.into()).collect());
    let ends = reduce::Values::I64((1..=triangles as i64).map(|n| 3 * n).collect());
    let arrays = appended.array("connectivity", 1, Values::from(&connectivity))
        + &appended.array("offsets", 1, Values::from(&ends));
    let (ty, counts, arrays) = match cells {
        Cells::Polygons => (
            "PolyData",
            format!(
                "NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"{triangles}\""
            ),
            format!("<Polys>\n{arrays}</Polys>\n"),
        ),
        Cells::Mixed => {
            let types = appended.repeated("types", TRIANGLE, triangles);
            (
                "UnstructuredGrid",
                format!("NumberOfCells=\"{triangles}\""),
                format!("<Cells>\n{arrays}{types}</Cells>\n"),
            )
        }
    };
    let body = format!(
        "<{ty}>\n<Piece NumberOfPoints=\"{points}\" {counts}>\n{data}\
         <Points>\n{coordinates}</Points>\n{arrays}</Piece>\n</{ty}>\n"
    );
    appended.write(ty, &body, out)
}

fn points_and_lines(
    geometry: &Geometry<'_, '_>,
    cells: Cells,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut appended = Appended::default();
    let count = geometry.point_count();
    let points = match geometry.is_double {
        true => appended.array("Points", 3, Values::F64(&geometry.points)),
        false => {
            let single: Vec<f32> = geometry.points.iter().map(|&x| x as f32).collect();
            appended.array("Points", 3, Values::F32(&single))
        }
    };
    let of_points: String = geometry
        .of_points
        .iter()
        .map(|c| appended.column(c))
        .collect();
    let strands = geometry.strands_with_points();
    let of_lines = geometry.of_lines.iter().map(|column| {
        let size = column.output.strand_size();
        let rows = column.values.rows(size, &strands);
        appended.array(&column.output.name, size, Values::from(&rows))
    });
    let of_lines: String = of_lines.collect();
    let connectivity: Vec<i64> = (0..count as i64).collect();
    let ends: Vec<i64> = match geometry.lengths {
        Some(_) => geometry
            .lines()
            .iter()
            .map(|line| line.end as i64)
            .collect(),
        None => (1..count as i64 + 1).collect(),
    };
    let arrays = appended.array("connectivity", 1, Values::I64(&connectivity))
        + &appended.array("offsets", 1, Values::I64(&ends));
    let (verts, lines, element, kind) = match geometry.lengths {
        Some(_) => (0, ends.len(), "Lines", POLY_LINE),
        None => (ends.len(), 0, "Verts", VERTEX),
    };
    let (ty, counts, arrays) = match cells {
        Cells::Polygons => (
            "PolyData",
            format!(
                "NumberOfVerts=\"{verts}\" NumberOfLines=\"{lines}\" NumberOfStrips=\"0\" NumberOfPolys=\"0\""
            ),
            format!("<{element}>\n{arrays}</{element}>\n"),
        ),
        Cells::Mixed => {
            let types = appended.repeated("types", kind, ends.len());
            (
                "UnstructuredGrid",
                format!("NumberOfCells=\"{}\"", ends.len()),
                format!("<Cells>\n{arrays}{types}</Cells>\n"),
            )
        }
    };
    let body = format!(
        "<{ty}>\n<Piece NumberOfPoints=\"{count}\" {counts}>\n\
         <PointData>\n{of_points}</PointData>\n<CellData>\n{of_lines}</CellData>\n\
         <Points>\n{points}</Points>\n{arrays}</Piece>\n</{ty}>\n"
    );
    appended.write(ty, &body, out)
}

/// Origin, spacing and the matrix of directions (row-major) of a grid in VTK's space.
type Frame = ([f64; 3], [f64; 3], [f64; 9]);

/// The place of a grid in the notation of VTK.
///
/// # Errors
/// The axes are not at right angles.
pub(super) fn frame(place: Option<&Place>) -> Result<Frame, String> {
    /// How far the cosine of an angle may be from 0.
    const RIGHT: f64 = 1e-6;
    let mut columns: Vec<[f64; 3]> = Vec::new();
    let (mut origin, mut spacing) = ([0.0; 3], [1.0; 3]);
    let dot = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    for (a, direction) in place.into_iter().flat_map(|p| &p.directions).enumerate() {
        let mut column = [0.0; 3];
        column.iter_mut().zip(direction).for_each(|(c, d)| *c = *d);
        spacing[a] = dot(&column, &column).sqrt();
        columns.push(column.map(|x| x / spacing[a]));
    }
    for (o, x) in origin
        .iter_mut()
        .zip(place.into_iter().flat_map(|p| &p.origin))
    {
        *o = *x;
    }
    let pairs = (0..columns.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    for (a, b) in pairs {
        if dot(&columns[a], &columns[b]).abs() > RIGHT {
            return Err(
                "a .vti cannot hold axes that are not at right angles; a .nrrd can".to_string(),
            );
        }
    }
    let cross = |a: &[f64; 3], b: &[f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    // Axes that the grid does not have are at right angles to those it has.
    if columns.is_empty() {
        columns.push([1.0, 0.0, 0.0]);
    }
    if columns.len() == 1 {
        let first = columns[0];
        let helper = if first[0].abs() < 0.9 {
            [1.0, 0.0, 0.0]
        } else {
            [0.0, 1.0, 0.0]
        };
        let along = dot(&first, &helper);
        let rest = [0, 1, 2].map(|k| helper[k] - along * first[k]);
        let norm = dot(&rest, &rest).sqrt();
        let second = match place {
            Some(_) => rest.map(|x| x / norm),
            None => [0.0, 1.0, 0.0],
        };
        columns.push(second);
    }
    if columns.len() == 2 {
        columns.push(cross(&columns[0], &columns[1]));
    }
    let mut matrix = [0.0; 9];
    for (a, column) in columns.iter().enumerate() {
        (0..3).for_each(|row| matrix[3 * row + a] = column[row]);
    }
    Ok((origin, spacing, matrix))
}

/// Writes the outputs of a grid.
///
/// # Errors
/// The axes are not at right angles, or writing fails.
pub(super) fn write_vti(
    contents: Contents<'_>,
    _: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let written = grid(contents.columns, contents.domain, contents.place, out);
    written.map_err(OutputError::new)?;
    Ok((contents.description(), None))
}

fn grid(
    columns: &[Column<'_>],
    domain: &Domain,
    place: Option<&Place>,
    out: &mut dyn Write,
) -> Result<(), String> {
    let (origin, spacing, matrix) = frame(place)?;
    let mut last = [0; 3];
    for (last, &n) in last.iter_mut().zip(domain.grid_sizes().iter().rev()) {
        *last = n - 1;
    }
    let extent = format!("0 {} 0 {} 0 {}", last[0], last[1], last[2]);
    let list = |v: &[f64]| v.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    let mut appended = Appended::default();
    let arrays: String = columns.iter().map(|c| appended.column(c)).collect();
    let body = format!(
        "<ImageData WholeExtent=\"{extent}\" Origin=\"{}\" Spacing=\"{}\" Direction=\"{}\">\n<Piece Extent=\"{extent}\">\n\
         <PointData>\n{arrays}</PointData>\n<CellData>\n</CellData>\n</Piece>\n</ImageData>\n",
        list(&origin),
        list(&spacing),
        list(&matrix)
    );
    appended
        .write("ImageData", &body, out)
        .map_err(|e| e.to_string())
}
