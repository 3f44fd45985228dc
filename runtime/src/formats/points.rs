//! The points of geometry files: VTK's XML files of points and lines (`.vtp`) and PLY. These are not images, but sequences of
//! vectors can be read from them.

use super::text::numbers;
use super::{ImageError, Opened, Source, Translated, stored, vti};
use crate::nrrd::{Endian, Header, Samples, parse_real};
use crate::vtk::xml_type;
use crate::xml::{Tag, Tags};

/// Bytes among which the first tag of an XML file is.
const START: usize = 4096;

/// The coordinates of the points, three of each, in the bytes of a file; `None` if it is not a file of points.
pub(super) fn read(bytes: &[u8], limit: usize) -> Option<Result<Samples, ImageError>> {
    if bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r") {
        return Some(ply(bytes).map(Samples::F64).map_err(ImageError::new));
    }
    let start = &bytes[..bytes.len().min(START)];
    let file = Tags::new(start).find(|tag| tag.name() == "VTKFile")?;
    (file.get("type").as_deref() == Some("PolyData")).then(|| vtp(bytes, &file, limit))
}

/// The points of VTK's geometry.
fn vtp(bytes: &[u8], file: &Tag<'_>, limit: usize) -> Result<Samples, ImageError> {
    let translated = describe(bytes, file).map_err(ImageError::new)?;
    let length = Some(bytes.len() as u64);
    let opened = Opened::new(Box::new(bytes), length, None, String::new());
    let opened = opened.map_err(|e| ImageError::new(e.to_string()))?;
    let source: Source<'_> = stored("VTK points", translated, opened)?;
    Ok(source.into_array(limit)?.samples().clone())
}

fn describe(bytes: &[u8], file: &Tag<'_>) -> Result<Translated, String> {
    let (mut piece, mut pieces, mut in_points) = (None, 0, false);
    let (mut array, mut appended) = (None, None);
    for tag in Tags::new(bytes) {
        match tag.name() {
            "Piece" => {
                pieces += 1;
                piece = Some(tag);
            }
            "Points" => in_points = true,
            "DataArray" if in_points && array.is_none() => array = Some(tag),
            "AppendedData" => appended = Some(tag),
            _ => {}
        }
    }
    if pieces != 1 {
        return Err(format!("the points are in {pieces} pieces, expected 1"));
    }
    let array = array.ok_or("the file has no array of points")?;
    let count = piece.as_ref().and_then(|piece| piece.get("NumberOfPoints"));
    let count = numbers::<usize>(&count.unwrap_or_default(), 1, "NumberOfPoints")?[0];
    let sample_type = xml_type(&array.get("type").unwrap_or_default())?;
    let (storage, packing) = vti::place(bytes, file, &array, appended.as_ref())?;
    Ok(Translated {
        packing,
        ..Translated::new(Header::new(sample_type, &[3, count]), storage)
    })
}

/// Names of a type of numbers, its size in bytes, and the function that decodes them.
type Numbers = (&'static [&'static str], usize, fn(&[u8], Endian) -> f64);

/// The numbers of a PLY file.
const TYPES: [Numbers; 8] = [
    (&["char", "int8"], 1, |b, _| f64::from(b[0] as i8)),
    (&["uchar", "uint8"], 1, |b, _| f64::from(b[0])),
    (&["short", "int16"], 2, |b, e| {
        f64::from(i16::from_le_bytes(ordered(b, e)))
    }),
    (&["ushort", "uint16"], 2, |b, e| {
        f64::from(u16::from_le_bytes(ordered(b, e)))
    }),
    (&["int", "int32"], 4, |b, e| {
        f64::from(i32::from_le_bytes(ordered(b, e)))
    }),
    (&["uint", "uint32"], 4, |b, e| {
        f64::from(u32::from_le_bytes(ordered(b, e)))
    }),
    (&["float", "float32"], 4, |b, e| {
        f64::from(f32::from_le_bytes(ordered(b, e)))
    }),
    (&["double", "float64"], 8, |b, e| {
        f64::from_le_bytes(ordered(b, e))
    }),
];

/// The bytes of a number from the lowest to the highest.
fn ordered<const N: usize>(bytes: &[u8], endian: Endian) -> [u8; N] {
    let mut all = [0; N];
    all.copy_from_slice(&bytes[..N]);
    if endian == Endian::Big {
        all.reverse();
    }
    all
}

/// What the head of a PLY file says of its points.
struct Vertices<'a> {
    format: &'a str,
    count: usize,
    /// The name of each property, and its row among the types.
    properties: Vec<(&'a str, usize)>,
    /// Where the numbers begin.
    start: usize,
}

/// The points of a PLY file, which its first element must be.
fn ply(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let vertices = vertices(bytes)?;
    let place = |axis: &str| {
        let found = vertices
            .properties
            .iter()
            .position(|(name, _)| *name == axis);
        found.ok_or_else(|| format!("the vertices have no property `{axis}`"))
    };
    let places = [place("x")?, place("y")?, place("z")?];
    let rest = &bytes[vertices.start..];
    let endian = match vertices.format {
        "ascii" => return written_out(rest, &vertices, places),
        "binary_little_endian" => Endian::Little,
        "binary_big_endian" => Endian::Big,
        other => return Err(format!("the format `{other}` of PLY files is not known")),
    };
    let size = |&(_, ty): &(&str, usize)| TYPES[ty].1;
    let row: usize = vertices.properties.iter().map(size).sum();
    let rows = rest.chunks_exact(row).take(vertices.count);
    if rows.len() < vertices.count {
        return Err(too_short(vertices.count));
    }
    let before = |n: usize| vertices.properties[..n].iter().map(size).sum::<usize>();
    let fields = places.map(|n| (before(n), TYPES[vertices.properties[n].1].2));
    let values = rows.flat_map(|row| fields.map(|(at, decode)| decode(&row[at..], endian)));
    Ok(values.collect())
}

fn too_short(count: usize) -> String {
    format!("the file ends before the last of its {count} vertices")
}

/// Points that are written as text, one on a line.
fn written_out(
    rest: &[u8],
    vertices: &Vertices<'_>,
    places: [usize; 3],
) -> Result<Vec<f64>, String> {
    let text = String::from_utf8_lossy(rest);
    let mut values = Vec::new();
    let mut lines = text.lines();
    for _ in 0..vertices.count {
        let line = lines.next().ok_or_else(|| too_short(vertices.count))?;
        let words: Vec<&str> = line.split_whitespace().collect();
        for place in places {
            let word = words.get(place).copied().unwrap_or("");
            let value = parse_real(word);
            values.push(value.ok_or_else(|| format!("found `{word}`, expected a number"))?);
        }
    }
    Ok(values)
}

fn vertices(bytes: &[u8]) -> Result<Vertices<'_>, String> {
    const END: &[u8] = b"end_header";
    let end = bytes.windows(END.len()).position(|window| window == END);
    let end = end.ok_or("the header has no end")?;
    let line = bytes[end..].iter().position(|b| *b == b'\n');
    let start = end + line.ok_or("nothing follows the header")? + 1;
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| "the header is not text")?;
    let mut found: Option<Vertices<'_>> = None;
    let mut format = "";
    for line in head.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&words[..], &mut found) {
            (["format", name, ..], _) => format = *name,
            (["element", "vertex", count], None) => {
                found = Some(Vertices {
                    format,
                    count: numbers(count, 1, "element vertex")?[0],
                    properties: Vec::new(),
                    start,
                });
            }
            (["element", other, ..], None) => {
                return Err(format!("the first element is `{other}`, expected `vertex`"));
            }
            (["element", ..], Some(_)) => break,
            (["property", "list", ..], Some(_)) => {
                return Err("a vertex has a list, which is not read".to_string());
            }
            (["property", ty, name], Some(vertices)) => {
                let row = TYPES.iter().position(|(names, ..)| names.contains(ty));
                let row = row.ok_or_else(|| format!("the type `{ty}` cannot be read"))?;
                vertices.properties.push((*name, row));
            }
            _ => {}
        }
    }
    found.ok_or_else(|| "the file has no vertices".to_string())
}
