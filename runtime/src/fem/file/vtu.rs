//! VTK's XML files of unstructured, structured and rectilinear grids: ASCII, base64 and appended arrays, plain or compressed.

use super::cursor::{Cursor, Form, length};
use super::numbers::{Ints, Numbers};
use super::{ArrayPlace, FemArray, FemFile, VtkCells};
use crate::fem::FemError;
use crate::memory::Claim;
use crate::nrrd::{Endian, SampleType};
use crate::vtk::{self, CharacterData, Compression, HeaderType, Packing};
use crate::xml::{Tag, Tags};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::Read;

/// What holds for all arrays of a file.
struct Document<'a> {
    bytes: &'a [u8],
    compression: Option<Compression>,
    width: HeaderType,
    endian: Endian,
    /// Where appended arrays begin, and whether they are base64.
    appended: Option<(usize, bool)>,
    /// What the arrays take: packed ones may be much longer than the file.
    claim: RefCell<Claim>,
}

/// A piece of the grid: its arrays by section.
#[derive(Default)]
struct Piece<'a> {
    points: usize,
    cells: usize,
    /// The number of points along each axis, if the grid is structured.
    sizes: Option<[usize; 3]>,
    arrays: Vec<(Section, Tag<'a>)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    PointData,
    CellData,
    Points,
    Cells,
    Coordinates,
}

/// The type of data that is read, which is also the name of a tag.
const GRID: &str = "UnstructuredGrid";

/// Types whose cells follow from the numbers of their points.
const STRUCTURED: [&str; 2] = ["StructuredGrid", "RectilinearGrid"];

/// Says that a file has data of another type, and what helps.
fn other_data(kind: &str) -> FemError {
    let error = FemError::new(format!("the file is of type `{kind}`, expected `{GRID}`"));
    let name = |line: &&str| line.replace("{file}", "FILE").replace("{stem}", "FILE");
    let advice = vtk::advice(kind).iter().map(name);
    advice.fold(error, FemError::hint)
}

pub(super) fn parse(bytes: &[u8]) -> Result<FemFile, FemError> {
    let mut head = None;
    let mut grid = false;
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut section = None;
    let mut appended = None;
    for tag in Tags::new(bytes) {
        match tag.name() {
            "VTKFile" => {
                if let Some(kind) = tag
                    .get("type")
                    .filter(|kind| *kind != GRID && !STRUCTURED.contains(&&**kind))
                {
                    return Err(other_data(&kind));
                }
                head = Some(tag);
            }
            name if name == GRID || STRUCTURED.contains(&name) => grid = true,
            "Piece" => {
                pieces.push(match tag.get("Extent") {
                    Some(extent) => structured(&extent)?,
                    None => Piece {
                        points: count(&tag, "NumberOfPoints")?,
                        cells: count(&tag, "NumberOfCells")?,
                        ..Piece::default()
                    },
                });
                section = None;
            }
            "Coordinates" => section = Some(Section::Coordinates),
            "PointData" => section = Some(Section::PointData),
            "CellData" => section = Some(Section::CellData),
            "Points" => section = Some(Section::Points),
            "Cells" => section = Some(Section::Cells),
            "FieldData" => section = None,
            "DataArray" => {
                if let (Some(piece), Some(section)) = (pieces.last_mut(), section) {
                    piece.arrays.push((section, tag));
                }
            }
            "AppendedData" => {
                let found = vtk::appended(bytes, &tag);
                appended = Some(found.ok_or("no `_` marks the beginning of the appended arrays")?);
            }
            _ => {}
        }
    }
    let head = head.ok_or("the file has no tag `VTKFile`")?;
    if !grid {
        let reason = match head.get("type") {
            Some(_) => "the file is cut off: it",
            None => "the file",
        };
        return Err(FemError::new(format!("{reason} has no tag `{GRID}`")));
    }
    if pieces.is_empty() {
        return Err(FemError::new("the file is cut off: it has no tag `Piece`"));
    }
    let compression = Compression::named(head.get("compressor").as_deref()).map_err(|other| {
        FemError::new(format!("the arrays are compressed with {other}"))
            .hint("write the file with zlib or LZ4, or without compression")
    })?;
    let document = Document {
        bytes,
        compression,
        width: vtk::header_type(&head),
        endian: vtk::endian(&head),
        appended,
        claim: RefCell::default(),
    };
    let old = is_old(head.get("version").as_deref().unwrap_or("0.1"));
    let mut file = FemFile::default();
    let mut cells = VtkCells::default();
    let several = pieces.len() > 1;
    for piece in &pieces {
        add(&document, piece, &mut file, &mut cells, old)?;
    }
    if several {
        // An array that some piece lacks would end in the middle.
        let whole = |array: &FemArray| {
            let tuples = match array.place {
                ArrayPlace::Points => file.points.len(),
                _ => file.cells.len(),
            };
            array.values.len() == tuples * array.components
        };
        file.arrays = std::mem::take(&mut file.arrays)
            .into_iter()
            .filter(whole)
            .collect();
    }
    Ok(file)
}

/// Whether hexahedra of this version have the old order of nodes.
fn is_old(version: &str) -> bool {
    let mut parts = version.split('.').map(|n| n.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    (major, minor) < (2, 1)
}

/// A piece of a structured grid, whose points have numbers from the least to the largest along each axis.
fn structured(extent: &str) -> Result<Piece<'static>, FemError> {
    let wrong = || format!("`Piece` has `Extent` = `{extent}`, expected six numbers");
    let ends: Result<Vec<i64>, _> = extent.split_whitespace().map(str::parse).collect();
    let ends: [i64; 6] = ends
        .ok()
        .and_then(|e| e.try_into().ok())
        .ok_or_else(wrong)?;
    let size = |axis: usize| {
        let length = ends[2 * axis + 1].checked_sub(ends[2 * axis])?;
        usize::try_from(length).ok()?.checked_add(1)
    };
    let (Some(x), Some(y), Some(z)) = (size(0), size(1), size(2)) else {
        return Err(wrong().into());
    };
    let product = |a: usize, b: usize, c: usize| a.checked_mul(b)?.checked_mul(c);
    let steps = [x, y, z].map(|n| (n - 1).max(1));
    Ok(Piece {
        points: product(x, y, z).ok_or_else(wrong)?,
        cells: product(steps[0], steps[1], steps[2]).ok_or_else(wrong)?,
        sizes: Some([x, y, z]),
        arrays: Vec::new(),
    })
}

fn count(tag: &Tag<'_>, name: &str) -> Result<usize, FemError> {
    let text = tag.get(name).unwrap_or_default();
    let text = text.trim();
    let wrong = |_| {
        format!(
            "`{}` has `{name}` = `{text}`, expected a number",
            tag.name()
        )
    };
    Ok(text.parse().map_err(wrong)?)
}

fn add(
    document: &Document<'_>,
    piece: &Piece<'_>,
    file: &mut FemFile,
    cells: &mut VtkCells,
    old: bool,
) -> Result<(), FemError> {
    let find = |section: Section, name: Option<&str>| {
        let is = |(s, tag): &&(Section, Tag<'_>)| {
            *s == section && (name.is_none() || tag.get("Name").as_deref() == name)
        };
        let found = piece.arrays.iter().find(is).map(|(_, tag)| tag);
        found.ok_or_else(|| format!("the grid has no array `{}`", name.unwrap_or("Points")))
    };
    let first = file.points.len();
    let mut own = VtkCells {
        seen: cells.seen,
        ..VtkCells::default()
    };
    let coordinates: Vec<&Tag<'_>> = piece.of(Section::Coordinates).collect();
    match (piece.sizes, &coordinates[..]) {
        (Some(sizes), &[x, y, z]) => {
            document.reserve(piece)?;
            let [x, y, z] = [(x, sizes[0]), (y, sizes[1]), (z, sizes[2])]
                .map(|(tag, size)| document.reals(tag, size));
            let (x, y, z) = (x?, y?, z?);
            let planes = z.iter().flat_map(|&z| y.iter().map(move |&y| (y, z)));
            let points = planes.flat_map(|(y, z)| x.iter().map(move |&x| [x, y, z]));
            file.points.extend(points);
        }
        _ => {
            let points = tuples(piece.points, 3)?;
            let points = document.reals(find(Section::Points, None)?, points)?;
            file.points
                .extend(points.chunks_exact(3).map(|p| [p[0], p[1], p[2]]));
        }
    }
    if let Some(sizes) = piece.sizes {
        document.reserve(piece)?;
        each_cell(sizes, |kind, points| {
            own.add(file, kind, points, first, old)
        })?;
    } else {
        let kinds = find(Section::Cells, Some("types"))?;
        let mut kinds = document.ints(kinds, piece.cells)?;
        let offsets = find(Section::Cells, Some("offsets"))?;
        let offsets = document.ints(offsets, piece.cells)?.rest()?;
        let last = offsets.last().copied().unwrap_or(0);
        let total = usize::try_from(last).map_err(|_| format!("`offsets` ends with {last}"))?;
        let connectivity = find(Section::Cells, Some("connectivity"))?;
        let mut connectivity = document.ints(connectivity, total)?;
        file.connectivity.reserve_exact(total);
        own.kept.reserve_exact(piece.cells);
        let mut start = 0;
        for end in &offsets {
            let end = usize::try_from(*end)
                .ok()
                .filter(|end| (start..total + 1).contains(end));
            let end = end.ok_or_else(|| format!("cell {} has no points in `offsets`", own.seen))?;
            let kind = kinds.take(1)?[0];
            own.add(file, kind, connectivity.take(end - start)?, first, old)?;
            start = end;
        }
    }
    own.kept.iter_mut().for_each(|n| *n -= cells.seen as u32);
    for (section, tag) in &piece.arrays {
        let (place, count) = match section {
            Section::PointData => (ArrayPlace::Points, piece.points),
            Section::CellData => (ArrayPlace::Cells, piece.cells),
            Section::Points | Section::Cells | Section::Coordinates => continue,
        };
        let Some(name) = tag.get("Name").filter(|_| kind_of(tag).is_ok()) else {
            continue;
        };
        let components = match tag.get("NumberOfComponents") {
            Some(text) => text.trim().parse().ok().filter(|n| *n > 0),
            None => Some(1),
        };
        let components: usize =
            components.ok_or_else(|| format!("array `{name}` has no number of components"))?;
        let mut values = document.reals(tag, tuples(count, components)?)?;
        match place {
            ArrayPlace::Cells => values = own.select(&values, components),
            _ => own.pyramids.append(&mut values, components, first),
        }
        let known = file
            .arrays
            .iter_mut()
            .find(|array| array.name == name && array.place == place);
        match known {
            Some(array) if array.components == components => array.values.extend(values),
            Some(_) => {
                return Err(
                    format!("array `{name}` has different components in two pieces").into(),
                );
            }
            None => file.arrays.push(FemArray {
                name: name.to_string(),
                place,
                components,
                values,
            }),
        }
    }
    cells.seen = own.seen;
    Ok(())
}

impl<'a> Piece<'a> {
    /// The arrays of a section.
    fn of(&self, section: Section) -> impl Iterator<Item = &Tag<'a>> {
        let own = self.arrays.iter().filter(move |(s, _)| *s == section);
        own.map(|(_, tag)| tag)
    }
}

/// Gives the type and the points of each cell of a structured grid: hexahedra, or quadrilaterals if it is one point thick.
fn each_cell(
    [x, y, z]: [usize; 3],
    mut give: impl FnMut(i64, &[i64]) -> Result<(), FemError>,
) -> Result<(), FemError> {
    if x < 2 || y < 2 {
        return Err("a grid that is one point thick must be so along its third axis".into());
    }
    let at = |i: usize, j: usize, k: usize| ((k * y + j) * x + i) as i64;
    let ring = |i: usize, j: usize, k: usize| {
        [
            at(i, j, k),
            at(i + 1, j, k),
            at(i + 1, j + 1, k),
            at(i, j + 1, k),
        ]
    };
    for k in 0..(z - 1).max(1) {
        for j in 0..y - 1 {
            for i in 0..x - 1 {
                match z {
                    1 => give(9, &ring(i, j, 0))?,
                    _ => give(12, &[ring(i, j, k), ring(i, j, k + 1)].concat())?,
                }
            }
        }
    }
    Ok(())
}

fn tuples(count: usize, components: usize) -> Result<usize, String> {
    let total = count.checked_mul(components);
    total.ok_or_else(|| "too many numbers".to_string())
}

fn kind_of(array: &Tag<'_>) -> Result<SampleType, String> {
    vtk::xml_type(&array.get("type").unwrap_or_default())
}

impl Document<'_> {
    /// Claims memory for the points and cells of a structured grid, which need not be in the file.
    fn reserve(&self, piece: &Piece<'_>) -> Result<(), FemError> {
        let cell = size_of::<super::FileCell>() + size_of::<[u32; 8]>() + size_of::<usize>();
        let points = (piece.points as u64).saturating_mul(size_of::<[f64; 3]>() as u64);
        let cells = (piece.cells as u64).saturating_mul(cell as u64);
        // Lists grow by doubling.
        let all = points.saturating_add(cells).saturating_mul(2);
        Ok(self.claim.borrow_mut().grow(all)?)
    }

    fn reals(&self, array: &Tag<'_>, count: usize) -> Result<Vec<f64>, String> {
        let kind = kind_of(array)?;
        match self.text(array) {
            Some(text) => Cursor::new(&text).reals(count, kind, Form::Text),
            None => self.data(array, count, kind)?.reals(),
        }
    }

    fn ints(&self, array: &Tag<'_>, count: usize) -> Result<Ints<'_>, String> {
        let kind = kind_of(array)?;
        match self.text(array) {
            Some(text) => Ints::of_text(text, count),
            None => self.data(array, count, kind)?.ints(),
        }
    }

    /// The numbers of an array that are text.
    fn text(&self, array: &Tag<'_>) -> Option<Cow<'_, [u8]>> {
        let format = array.get("format");
        format.filter(|format| format.eq_ignore_ascii_case("ascii"))?;
        let rest = &self.bytes[array.end..];
        let end = rest.iter().position(|b| *b == b'<').unwrap_or(rest.len());
        if !rest[end..].starts_with(b"<!") {
            return Some(Cow::Borrowed(&rest[..end]));
        }
        let mut text = Vec::new();
        let read = CharacterData::new(rest).read_to_end(&mut text);
        read.is_ok().then_some(Cow::Owned(text))
    }

    /// The numbers of an array that are not text.
    fn data(&self, array: &Tag<'_>, count: usize, kind: SampleType) -> Result<Numbers<'_>, String> {
        let name = array.get("Name").unwrap_or(Cow::Borrowed("Points"));
        let (start, base64) = match array.get("format").as_deref() {
            Some("appended") => {
                let (start, base64) = self.appended.ok_or("there are no appended arrays")?;
                let offset = array
                    .get("offset")
                    .and_then(|o| o.trim().parse::<usize>().ok());
                let start = offset.and_then(|offset| start.checked_add(offset));
                (
                    start.ok_or_else(|| format!("array `{name}` has no offset"))?,
                    base64,
                )
            }
            _ => (array.end, true),
        };
        let wanted = length(count, kind)?;
        let bytes = self
            .bytes
            .get(start..)
            .ok_or("an array begins beyond the end of the file")?;
        if wanted == 0 {
            return Ok(Numbers::none(kind));
        }
        let mut claim = self.claim.borrow_mut();
        claim
            .grow((size_of::<f64>() as u64).saturating_mul(count as u64))
            .map_err(|shortage| format!("array `{name}`: {shortage}"))?;
        let packing = Packing {
            start: 0,
            text: false,
            base64,
            compression: self.compression,
            width: self.width,
            endian: self.endian,
        };
        Ok(Numbers {
            name: name.to_string(),
            stream: packing.unpack(Box::new(bytes))?,
            count,
            kind,
            endian: self.endian,
        })
    }
}
