//! Points and lines for programs that draw meshes: `.ply`, in binary, and `.obj`.

use std::io::{self, Write};

use super::contents::{Contents, Style, Told};
use super::points::{Geometry, write_geometry};
use super::{Column, OutputError, Values};

/// A column of the vertices' element: its name, its type, and where its bytes come from.
struct Property<'a> {
    name: String,
    ty: &'static str,
    column: &'a Column<'a>,
    component: usize,
    /// Whether reals from 0 to 1 become bytes.
    is_colour: bool,
}

/// Writes points with the values of all outputs, and lines as edges between them.
pub(super) fn write_ply(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    write_geometry(contents, style, |geometry| ply(geometry, out))
}

fn ply(geometry: &Geometry<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let properties: Vec<Property<'_>> = geometry
        .of_points
        .iter()
        .chain(&geometry.of_lines)
        .flat_map(|column| properties(column))
        .collect();
    let order = if cfg!(target_endian = "little") {
        "little"
    } else {
        "big"
    };
    let real = if geometry.is_double {
        "double"
    } else {
        "float"
    };
    let count = geometry.point_count();
    writeln!(
        out,
        "ply\nformat binary_{order}_endian 1.0\nelement vertex {count}"
    )?;
    for name in ["x", "y", "z"] {
        writeln!(out, "property {real} {name}")?;
    }
    for Property { name, ty, .. } in &properties {
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
        for property in &properties {
            let for_line = geometry.lengths.is_some() && property.column.lengths.is_none();
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

/// The properties that an output becomes: colours have names of their own, components numbers.
fn properties<'a>(column: &'a Column<'a>) -> Vec<Property<'a>> {
    let output = column.output;
    let size = output.strand_size();
    let is_real = matches!(column.values, Values::F32(_) | Values::F64(_));
    let is_colour = matches!(&output.name[..], "rgb" | "rgba" | "color" | "colour")
        && is_real
        && (3..=4).contains(&size);
    let ty = match column.values {
        _ if is_colour => "uchar",
        Values::F32(_) => "float",
        // The format has no integers of 64 bits.
        Values::F64(_) | Values::I64(_) => "double",
        Values::I32(_) => "int",
        Values::Bool(_) => "uchar",
    };
    let names = output.component_names();
    let name = |component: usize| match is_colour {
        true => ["red", "green", "blue", "alpha"][component].to_string(),
        false => names[component].clone(),
    };
    let property = |component| Property {
        name: name(component),
        ty,
        column,
        component,
        is_colour,
    };
    (0..size).map(property).collect()
}

impl Property<'_> {
    fn append(&self, row: usize, bytes: &mut Vec<u8>) {
        let at = row * self.column.output.strand_size() + self.component;
        let byte = |x: f64| (x * 255.0).round().clamp(0.0, 255.0) as u8;
        match self.column.values {
            Values::F32(values) if self.is_colour => bytes.push(byte(values[at].into())),
            Values::F64(values) if self.is_colour => bytes.push(byte(values[at])),
            Values::F32(values) => bytes.extend(values[at].to_ne_bytes()),
            Values::F64(values) => bytes.extend(values[at].to_ne_bytes()),
            Values::I32(values) => bytes.extend(values[at].to_ne_bytes()),
            Values::I64(values) => bytes.extend((values[at] as f64).to_ne_bytes()),
            Values::Bool(values) => bytes.push(u8::from(values[at] != 0)),
        }
    }
}

/// Writes points and lines, and nothing else, which is all that the format has.
pub(super) fn write_obj(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    write_geometry(contents, style, |geometry| obj(geometry, out))
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
