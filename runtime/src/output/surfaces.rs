//! Triangles for programs that draw meshes or print them: the contents of `.ply`, `.obj` and `.stl` files.

use std::io::{self, Write};

use super::contents::Told;
use super::properties::{BYTE_ORDER, Property, of_data, real_type};
use super::triangles::{Attribute, Triangles};
use super::{OutputError, Values};
use crate::reduce;

/// Writes a mesh and describes the file.
pub(super) fn write_surface(
    mesh: &Triangles,
    write: impl FnOnce(&Triangles) -> io::Result<()>,
) -> Result<Told, OutputError> {
    write(mesh).map_err(OutputError::new)?;
    Ok((mesh.description(), None))
}

/// Bytes that are written together.
const PIECE: usize = 1 << 16;

/// Writes rows that are made one by one.
fn write_rows(
    rows: usize,
    out: &mut dyn Write,
    append: impl Fn(usize, &mut Vec<u8>),
) -> io::Result<()> {
    try_write_rows(rows, out, |row, bytes| {
        append(row, bytes);
        Ok(())
    })
}

/// The same for rows that are formatted.
fn try_write_rows(
    rows: usize,
    out: &mut dyn Write,
    append: impl Fn(usize, &mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(2 * PIECE);
    for row in 0..rows {
        append(row, &mut bytes)?;
        if bytes.len() >= PIECE {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)
}

/// A mesh with the data of points and triangles.
pub(super) fn ply(mesh: &Triangles, out: &mut dyn Write) -> io::Result<()> {
    let (points, triangles) = (mesh.point_count(), mesh.triangles.len());
    if i32::try_from(points.max(triangles)).is_err() {
        return Err(io::Error::other(
            "a .ply counts points and triangles with 31 bits; a .vtp can hold more",
        ));
    }
    fn of(data: &[Attribute]) -> Vec<Property<'_>> {
        let properties = data.iter().flat_map(|data| {
            let values = Values::from(&data.values);
            of_data(&data.name, &data.shape, values)
        });
        properties.collect()
    }
    let [of_points, of_triangles] = [&mesh.of_points, &mesh.of_triangles].map(|data| of(data));
    let real = real_type(matches!(mesh.points, reduce::Values::F64(_)));
    writeln!(
        out,
        "ply\nformat binary_{BYTE_ORDER}_endian 1.0\nelement vertex {points}"
    )?;
    for name in ["x", "y", "z"] {
        writeln!(out, "property {real} {name}")?;
    }
    for Property { name, ty, .. } in &of_points {
        writeln!(out, "property {ty} {name}")?;
    }
    writeln!(
        out,
        "element face {triangles}\nproperty list uchar int vertex_indices"
    )?;
    for Property { name, ty, .. } in &of_triangles {
        writeln!(out, "property {ty} {name}")?;
    }
    writeln!(out, "end_header")?;
    let coordinates = Values::from(&mesh.points);
    write_rows(points, out, |point, bytes| {
        coordinates
            .part(3 * point..3 * point + 3)
            .append_bytes(bytes);
        of_points.iter().for_each(|data| data.append(point, bytes));
    })?;
    write_rows(triangles, out, |triangle, bytes| {
        bytes.push(3);
        for point in mesh.triangles[triangle] {
            bytes.extend(point.to_ne_bytes());
        }
        (of_triangles.iter()).for_each(|data| data.append(triangle, bytes));
    })
}

/// A mesh with the normals of points.
pub(super) fn obj(mesh: &Triangles, out: &mut dyn Write) -> io::Result<()> {
    let normals = mesh.normals();
    vectors("v", &mesh.points, out)?;
    if let Some(normals) = normals {
        vectors("vn", &normals.values, out)?;
    }
    try_write_rows(mesh.triangles.len(), out, |triangle, bytes| {
        // Points are counted from 1.
        let [a, b, c] = mesh.triangles[triangle].map(|point| u64::from(point) + 1);
        match normals {
            Some(_) => writeln!(bytes, "f {a}//{a} {b}//{b} {c}//{c}"),
            None => writeln!(bytes, "f {a} {b} {c}"),
        }
    })
}

/// A line for each three numbers.
fn vectors(word: &str, numbers: &reduce::Values, out: &mut dyn Write) -> io::Result<()> {
    fn lines<T: std::fmt::Display>(
        word: &str,
        numbers: &[T],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        try_write_rows(numbers.len() / 3, out, |row, bytes| {
            let vector = &numbers[3 * row..3 * row + 3];
            writeln!(bytes, "{word} {} {} {}", vector[0], vector[1], vector[2])
        })
    }
    match numbers {
        reduce::Values::F32(numbers) => lines(word, numbers, out),
        reduce::Values::F64(numbers) => lines(word, numbers, out),
        reduce::Values::I32(numbers) => lines(word, numbers, out),
        reduce::Values::I64(numbers) => lines(word, numbers, out),
        reduce::Values::Bool(numbers) => lines(word, numbers, out),
    }
}

/// Triangles in single precision with the normals that their corners give them, in the order of bytes that the format has.
pub(super) fn stl(mesh: &Triangles, out: &mut dyn Write) -> io::Result<()> {
    let reduce::Values::F32(points) = &mesh.points else {
        return Err(io::Error::other("a .stl has points in single precision"));
    };
    let count = u32::try_from(mesh.triangles.len())
        .map_err(|_| io::Error::other("a .stl counts triangles with 32 bits"))?;
    // A head that begins with `solid` would say that the file is text.
    let mut head = [b' '; 80];
    let title = b"binary STL";
    head[..title.len()].copy_from_slice(title);
    out.write_all(&head)?;
    out.write_all(&count.to_le_bytes())?;
    write_rows(mesh.triangles.len(), out, |triangle, bytes| {
        let corners = mesh.triangles[triangle].map(|point| {
            let start = 3 * point as usize;
            [points[start], points[start + 1], points[start + 2]]
        });
        for vector in [normal(corners)].iter().chain(&corners) {
            vector.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        bytes.extend([0; 2]);
    })
}

/// The unit vector from which the corners are seen in counterclockwise order; 0 if they are on a line.
fn normal(corners: [[f32; 3]; 3]) -> [f32; 3] {
    let [a, b, c] = corners.map(|corner| corner.map(f64::from));
    let minus = |p: [f64; 3], q: [f64; 3]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    let (u, v) = (minus(b, a), minus(c, a));
    let cross = [
        u[1] * v[2] - u[2] * v[1],
        u[2] * v[0] - u[0] * v[2],
        u[0] * v[1] - u[1] * v[0],
    ];
    let length = cross.iter().map(|x| x * x).sum::<f64>().sqrt();
    let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
    cross.map(|x| (x * factor) as f32)
}
