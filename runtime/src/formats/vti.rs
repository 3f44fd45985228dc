//! VTK's XML files of image data (`.vti`): tags in front of or around the samples of arrays. One is read: the one that is asked for, or
//! the marked or the first, with those of points before those of cells.

use super::legacy_vtk::{cell_note, grid_header};
use super::text::{numbers, reals};
use super::{Asked, Translated, no_array};
use crate::memory::Contents;
use crate::nrrd::{Axis, Encoding, Endian, Kind, SampleType, Storage};
use crate::vtk::{Compression, HeaderType, Packing, xml_type};
use crate::xml::{Tag, Tags};

pub(super) fn translate(head: &[u8], asked: &Asked<'_>) -> Result<Translated, String> {
    let translated = translate_seen(head, asked);
    match (&translated, asked.array) {
        // The tag of the array may be behind the samples of others.
        (Err(_), Some(_)) if let Some(file) = asked.file() => {
            translate_seen(&Contents::read(file)?, asked)
        }
        _ => translated,
    }
}

/// The same, from the given bytes of the file alone.
fn translate_seen(head: &[u8], asked: &Asked<'_>) -> Result<Translated, String> {
    let mut file = None;
    let mut image = None;
    let mut data: Option<Tag<'_>> = None;
    let mut pieces = 0;
    let mut arrays = Vec::new();
    let mut appended = None;
    for tag in (Tags { text: head, at: 0 }) {
        match tag.name {
            "VTKFile" => file = Some(tag),
            "ImageData" => image = Some(tag),
            "Piece" => pieces += 1,
            "PointData" | "CellData" => data = Some(tag),
            "FieldData" => data = None,
            "DataArray" if data.is_some() && pieces == 1 => arrays.push((data, tag)),
            "AppendedData" => {
                appended = Some(tag);
                break;
            }
            _ => {}
        }
    }
    let file = file.ok_or("the file has no tag `VTKFile`")?;
    let image = image.ok_or("the file has no tag `ImageData`")?;
    if pieces != 1 {
        return Err(format!("the image is in {pieces} pieces, expected 1"));
    }
    let marked = |(data, array): &&(Option<Tag<'_>>, Tag<'_>)| {
        let name = array.get("Name");
        let data = data.as_ref();
        let active = ["Scalars", "Vectors", "Tensors"].map(|sort| data.and_then(|d| d.get(sort)));
        name.is_some() && active.contains(&name)
    };
    type Row<'t> = (Option<Tag<'t>>, Tag<'t>);
    let of_points = |(data, _): &&Row<'_>| data.is_some_and(|data| data.name == "PointData");
    let components = |array: &Tag<'_>| {
        let count = array.get("NumberOfComponents");
        count.and_then(|n| n.trim().parse().ok()).unwrap_or(1)
    };
    let named = arrays
        .iter()
        .filter_map(|(_, array)| Some((array.get("Name")?, components(array))));
    let chosen = match asked.array {
        Some(name) => {
            let own = || {
                arrays
                    .iter()
                    .filter(|(_, array)| array.get("Name") == Some(name))
            };
            let found = own().find(of_points).or(own().next());
            Some(found.ok_or_else(|| no_array(name, named.clone()))?)
        }
        None => {
            let points = || arrays.iter().filter(of_points);
            let cells = || arrays.iter().filter(|row| !of_points(row));
            let points = points().find(marked).or(points().next());
            points.or(cells().find(marked)).or(cells().next())
        }
    };
    let &(data, array) = chosen.ok_or("the file has no array of samples")?;
    let cells = data.is_some_and(|d| d.name == "CellData");
    let mut translated = describe(head, file, image, data, array, appended)?;
    if cells {
        translated.notes.push(cell_note());
    }
    translated.add_others(array.get("Name").unwrap_or(""), named);
    Ok(translated)
}

fn describe(
    head: &[u8],
    file: Tag<'_>,
    image: Tag<'_>,
    data: Option<Tag<'_>>,
    array: Tag<'_>,
    appended: Option<Tag<'_>>,
) -> Result<Translated, String> {
    let required = |tag: Tag<'_>, name: &str| {
        let value = tag.get(name).map(str::to_string);
        value.ok_or_else(|| format!("the tag `{}` has no `{name}`", tag.name))
    };
    let extent = numbers::<i64>(&required(image, "WholeExtent")?, 6, "WholeExtent")?;
    let size = |a: usize| extent[2 * a + 1].checked_sub(extent[2 * a])?.checked_add(1);
    let points: Option<Vec<usize>> = (0..3).map(|a| usize::try_from(size(a)?).ok()).collect();
    let points = points.ok_or("`WholeExtent` is not an extent")?;
    let list = |name: &str, count: usize, usual: Vec<f64>| match image.get(name) {
        Some(text) => reals(text, count, name),
        None => Ok(usual),
    };
    let spacing = list("Spacing", 3, vec![1.0; 3])?;
    let origin = list("Origin", 3, vec![0.0; 3])?;
    let matrix = list(
        "Direction",
        9,
        vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
    )?;
    let cells = data.is_some_and(|d| d.name == "CellData");
    let sample_type = xml_type(&required(array, "type")?)?;
    let mut header = grid_header(sample_type, &points, cells)?;
    let first = |a: usize| {
        let half = if cells && points[a] > 1 { 0.5 } else { 0.0 };
        (extent[2 * a] as f64 + half) * spacing[a]
    };
    let along = |row: usize| (0..3).map(|a| matrix[3 * row + a] * first(a)).sum::<f64>();
    header.space_origin = Some((0..3).map(|row| origin[row] + along(row)).collect());
    for (a, axis) in header.axes.iter_mut().enumerate() {
        let step = if spacing[a] == 0.0 && axis.size == 1 {
            1.0
        } else {
            spacing[a]
        };
        axis.direction = Some((0..3).map(|row| matrix[3 * row + a] * step).collect());
    }
    let components = array
        .get("NumberOfComponents")
        .map_or(Ok(vec![1]), |n| numbers(n, 1, "NumberOfComponents"))?[0];
    if components != 1 {
        let active = |sort: &str| {
            array.get("Name").is_some() && data.and_then(|d| d.get(sort)) == array.get("Name")
        };
        let kind = match components {
            3 if active("Vectors") => Kind::Vector,
            3 if active("Normals") => Kind::Normal,
            9 if active("Tensors") => Kind::Matrix3,
            3 if sample_type == SampleType::U8 => Kind::RgbColor,
            4 if sample_type == SampleType::U8 => Kind::RgbaColor,
            _ => Kind::List,
        };
        header.axes.insert(
            0,
            Axis {
                size: components,
                kind: Some(kind),
                ..Axis::default()
            },
        );
    }
    header.content = array.get("Name").unwrap_or("").to_string();
    let (storage, packing) = place(head, file, array, appended, endian(file))?;
    Ok(Translated {
        packing,
        ..Translated::new(header, storage)
    })
}

/// The order of the bytes of a file.
pub(super) fn endian(file: Tag<'_>) -> Endian {
    match file.get("byte_order") {
        Some("BigEndian") => Endian::Big,
        _ => Endian::Little,
    }
}

/// Where the samples of an array are, and how they are packed.
pub(super) fn place(
    head: &[u8],
    file: Tag<'_>,
    array: Tag<'_>,
    appended: Option<Tag<'_>>,
    endian: Endian,
) -> Result<(Storage, Option<Packing>), String> {
    let text = array.get("format") == Some("ascii");
    // Numbers in text are never compressed, whatever the file says of others.
    let compressor = file.get("compressor").filter(|_| !text);
    let compression = Compression::named(compressor).map_err(|other| {
        format!("the samples are compressed with {other}; zlib and LZ4 can be read")
    })?;
    let width = match file.get("header_type") {
        Some("UInt64") => HeaderType::Wide,
        _ => HeaderType::Narrow,
    };
    let (start, base64) = match array.get("format") {
        Some("ascii") => (array.end, false),
        Some("appended") => {
            let tag = appended.ok_or("the samples are too far behind the tags, or missing")?;
            let offset = numbers::<usize>(array.get("offset").unwrap_or(""), 1, "offset")?[0];
            let mark = head[tag.end..].iter().position(|b| *b == b'_');
            let mark = mark.ok_or("no `_` marks the beginning of the samples")?;
            let start = (tag.end + mark + 1)
                .checked_add(offset)
                .ok_or("`offset` is too large")?;
            (start, tag.get("encoding") != Some("raw"))
        }
        _ => (array.end, true),
    };
    let plain = !(text || base64 || compression.is_some());
    let skip = start + width.bytes();
    let storage = Storage {
        encoding: if text { Encoding::Ascii } else { Encoding::Raw },
        endian: Some(endian),
        byte_skip: if plain { skip as i64 } else { 0 },
        ..Storage::default()
    };
    let packing = Packing {
        start,
        text,
        base64,
        compression,
        width,
        endian,
    };
    Ok((storage, (!plain).then_some(packing)))
}
