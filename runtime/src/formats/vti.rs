//! VTK's XML files of image data (`.vti`): tags in front of or around the samples of arrays. One is read: the one that is asked for, or
//! the marked or the first, with those of points before those of cells.

use super::legacy_vtk::{cell_note, grid_header};
use std::borrow::Cow;

use super::text::{numbers, reals};
use super::{Asked, Translated, no_array};
use crate::memory::Contents;
use crate::nrrd::{Axis, Encoding, Kind, SampleType, Storage};
use crate::vtk::{self, Compression, Packing, xml_type};
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
    for tag in Tags::new(head) {
        match tag.name() {
            "VTKFile" => file = Some(tag),
            "ImageData" => image = Some(tag),
            "Piece" => pieces += 1,
            "PointData" | "CellData" => data = Some(tag),
            "FieldData" => data = None,
            "DataArray" if pieces == 1 => {
                if let Some(data) = &data {
                    arrays.push((data.clone(), tag));
                }
            }
            "AppendedData" => appended = Some(tag),
            _ => {}
        }
    }
    let file = file.ok_or("the file has no tag `VTKFile`")?;
    let image = image.ok_or("the file has no tag `ImageData`")?;
    if pieces != 1 {
        return Err(format!("the image is in {pieces} pieces, expected 1"));
    }
    type Row<'t> = (Tag<'t>, Tag<'t>);
    let marked = |(data, array): &&Row<'_>| {
        let name = array.get("Name");
        let active = ["Scalars", "Vectors", "Tensors"].map(|sort| data.get(sort));
        name.is_some() && active.contains(&name)
    };
    let of_points = |(data, _): &&Row<'_>| data.name() == "PointData";
    let components = |array: &Tag<'_>| {
        let count = array.get("NumberOfComponents");
        count.and_then(|n| n.trim().parse().ok()).unwrap_or(1)
    };
    let named = arrays
        .iter()
        .filter_map(|(_, array)| Some((array.get("Name")?, components(array))));
    let named: Vec<(Cow<'_, str>, usize)> = named.collect();
    let named = named.iter().map(|(name, count)| (&**name, *count));
    let chosen = match asked.array {
        Some(name) => {
            let own = || {
                arrays
                    .iter()
                    .filter(|(_, array)| array.get("Name").as_deref() == Some(name))
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
    let (data, array) = chosen.ok_or("the file has no array of samples")?;
    let mut translated = describe(&image, data, array)?;
    (translated.storage, translated.packing) = place(head, &file, array, appended.as_ref())?;
    if data.name() == "CellData" {
        translated.notes.push(cell_note());
    }
    translated.add_others(&array.get("Name").unwrap_or_default(), named);
    Ok(translated)
}

/// The description of an array by its own tag, that of the data around it, and that of the image. Its samples are elsewhere.
fn describe(image: &Tag<'_>, data: &Tag<'_>, array: &Tag<'_>) -> Result<Translated, String> {
    let required = |tag: &Tag<'_>, name: &str| {
        let value = tag.get(name).map(Cow::into_owned);
        value.ok_or_else(|| format!("the tag `{}` has no `{name}`", tag.name()))
    };
    let extent = numbers::<i64>(&required(image, "WholeExtent")?, 6, "WholeExtent")?;
    let size = |a: usize| extent[2 * a + 1].checked_sub(extent[2 * a])?.checked_add(1);
    let points: Option<Vec<usize>> = (0..3).map(|a| usize::try_from(size(a)?).ok()).collect();
    let points = points.ok_or("`WholeExtent` is not an extent")?;
    let list = |name: &str, count: usize, usual: Vec<f64>| match image.get(name) {
        Some(text) => reals(&text, count, name),
        None => Ok(usual),
    };
    let spacing = list("Spacing", 3, vec![1.0; 3])?;
    let origin = list("Origin", 3, vec![0.0; 3])?;
    let matrix = list(
        "Direction",
        9,
        vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
    )?;
    let cells = data.name() == "CellData";
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
        .map_or(Ok(vec![1]), |n| numbers(&n, 1, "NumberOfComponents"))?[0];
    if components != 1 {
        let active =
            |sort: &str| array.get("Name").is_some() && data.get(sort) == array.get("Name");
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
    header.content = array.get("Name").unwrap_or_default().into_owned();
    Ok(Translated::new(header, Storage::default()))
}

/// Where the samples of an array are, and how they are packed.
pub(super) fn place(
    head: &[u8],
    file: &Tag<'_>,
    array: &Tag<'_>,
    appended: Option<&Tag<'_>>,
) -> Result<(Storage, Option<Packing>), String> {
    let format = array.get("format");
    let text = format.as_deref() == Some("ascii");
    // Numbers in text are never compressed, whatever the file says of others.
    let compressor = file.get("compressor").filter(|_| !text);
    let compression = Compression::named(compressor.as_deref()).map_err(|other| {
        format!("the samples are compressed with {other}; zlib and LZ4 can be read")
    })?;
    let (width, endian) = (vtk::header_type(file), vtk::endian(file));
    let (start, base64) = match format.as_deref() {
        Some("ascii") => (array.end, false),
        Some("appended") => {
            let tag = appended.ok_or("the samples are too far behind the tags, or missing")?;
            let offset = array.get("offset").unwrap_or_default();
            let offset = numbers::<usize>(&offset, 1, "offset")?[0];
            let (start, base64) =
                vtk::appended(head, tag).ok_or("no `_` marks the beginning of the samples")?;
            let start = start.checked_add(offset);
            (start.ok_or("`offset` is too large")?, base64)
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
