//! Points, lines and triangles for programs that draw meshes: `.ply` and `.stl`, in binary, and `.obj`.

use std::io::{self, Write};

use super::contents::{Contents, Style, Told};
use super::points::{Geometry, write_geometry};
use super::properties::{BYTE_ORDER, Property, of_column, real_type};
use super::surfaces::{self, write_surface};
use super::triangles::{self, Precision};
use super::{Column, OutputError};

/// Writes points with the values of all outputs, with lines as edges between them or triangles as faces.
pub(super) fn write_ply(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    match triangles::of(contents, style, Precision::Given)? {
        Some(mesh) => write_surface(&mesh, |mesh| surfaces::ply(mesh, out)),
        None => write_geometry(contents, style, |geometry| ply(geometry, out)),
    }
}

fn ply(geometry: &Geometry<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = geometry.of_points.iter().chain(&geometry.of_lines);
    let properties: Vec<(&Column<'_>, Property<'_>)> = columns
        .flat_map(|&column| of_column(column).map(move |property| (column, property)))
        .collect();
    let real = real_type(geometry.is_double);
    let count = geometry.point_count();
    writeln!(
        out,
        "ply\nformat binary_{BYTE_ORDER}_endian 1.0\nelement vertex {count}"
    )?;
    for name in ["x", "y", "z"] {
        writeln!(out, "property {real} {name}")?;
    }
    for (_, Property { name, ty, .. }) in &properties {
        writeln!(out, "property {ty} {name}")?;
    }
    let lines = geometry.lines();
    if geometry.lengths.is_some() {
        let edges: usize = lines.iter().map(|line| line.len() - 1).sum();
        writeln!(
            out,
            "element edge {edges}\nproperty int vertex1\nproperty int vertex2"
        )?;
    }
    writeln!(out, "end_header")?;
    // The strand of each point, for what holds for a whole line.
    let strands: Vec<usize> = match geometry.lengths {
        Some(lengths) => {
            let repeated = lengths.iter().enumerate();
            repeated
                .flat_map(|(n, &length)| std::iter::repeat_n(n, length))
                .collect()
        }
        None => (0..count).collect(),
    };
    let mut bytes = Vec::new();
    for (point, &strand) in strands.iter().enumerate() {
        bytes.clear();
        for &x in &geometry.points[3 * point..3 * point + 3] {
            match geometry.is_double {
                true => bytes.extend(x.to_ne_bytes()),
                false => bytes.extend((x as f32).to_ne_bytes()),
            }
        }
        for (column, property) in &properties {
            let for_line = geometry.lengths.is_some() && column.lengths.is_none();
            let row = if for_line { strand } else { point };
            property.append(row, &mut bytes);
        }
        out.write_all(&bytes)?;
    }
    for line in &lines {
        for n in line.start..line.end - 1 {
            out.write_all(&(n as i32).to_ne_bytes())?;
            out.write_all(&(n as i32 + 1).to_ne_bytes())?;
        }
    }
    Ok(())
}

/// Writes points and lines, or triangles and the normals of their corners; the format has nothing else.
pub(super) fn write_obj(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    match triangles::of(contents, style, Precision::Given)? {
        Some(mesh) => write_surface(&mesh, |mesh| surfaces::obj(mesh, out)),
        None => write_geometry(contents, style, |geometry| obj(geometry, out)),
    }
}

fn obj(geometry: &Geometry<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    for point in geometry.points.chunks(3) {
        match geometry.is_double {
            true => writeln!(out, "v {} {} {}", point[0], point[1], point[2])?,
            false => writeln!(
                out,
                "v {} {} {}",
                point[0] as f32, point[1] as f32, point[2] as f32
            )?,
        }
    }
    for line in geometry.lines().iter().filter(|line| line.len() > 1) {
        // Vertices are counted from 1.
        let vertices: Vec<String> = line.clone().map(|n| (n + 1).to_string()).collect();
        writeln!(out, "l {}", vertices.join(" "))?;
    }
    Ok(())
}

/// Writes triangles, and nothing else, which is all that the format has.
pub(super) fn write_stl(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let mesh = triangles::required(contents, style, "stl", Precision::Single)?;
    write_surface(&mesh, |mesh| surfaces::stl(mesh, out))
}
