//! Zarr 2 and 3: a directory of chunks. `DIR#/path` chooses an array of a group, and `DIR#a,b` several of equal sizes as components;
//! of an OME-Zarr image, `DIR#s1` chooses a coarser resolution.
//!
//! `a[k, j, i]` is the sample at index (i, j, k), as for NumPy. Only OME-Zarr places the grid.

mod blosc;
mod chunks;
mod metadata;
mod ome;
mod packing;
mod plain;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::boxes::Boxes;
use super::container::{self, Member};
use super::{ImageError, Note, Numbering, Sink, Source};
use crate::nrrd::{Axis, Header, Kind};
pub(super) use blosc::unpack as unpack_blosc;
use metadata::{Array, Node};
pub(super) use plain::{lz4, zstd};

/// The files that a node has.
const METADATA: [&str; 3] = ["zarr.json", ".zarray", ".zgroup"];

/// Whether a directory is Zarr.
pub(super) fn is_directory(path: &Path) -> bool {
    METADATA.iter().any(|name| path.join(name).is_file())
}

/// Groups within groups, and arrays: more are a sign of damage.
const DEEPEST: usize = 16;
const MOST_ARRAYS: usize = 10_000;

/// An array and where it is.
struct Found {
    path: PathBuf,
    array: Array,
}

#[derive(Default)]
struct Contents {
    members: Vec<Member>,
    found: Vec<Found>,
    /// Why arrays cannot be read.
    refused: Vec<String>,
}

impl Contents {
    fn add(&mut self, name: &str, path: PathBuf, array: Result<Array, String>) {
        match array {
            Ok(array) if array.shape.is_empty() || array.shape.contains(&0) => {}
            Ok(array) => {
                self.members.push(Member {
                    name: name.to_string(),
                    sizes: array.shape.clone(),
                    type_name: array.element.name(),
                });
                self.found.push(Found { path, array });
            }
            Err(message) => self.refused.push(format!("`{name}`: {message}")),
        }
    }

    /// Adds the arrays of a group; of an image in several resolutions, the finest.
    fn walk(&mut self, directory: &Path, name: &str, depth: usize) {
        if depth > DEEPEST || self.members.len() >= MOST_ARRAYS {
            return;
        }
        let Some(node) = Node::at(directory) else {
            return;
        };
        let node = match node {
            Ok(node) => node,
            Err(message) => return self.refused.push(format!("`{name}`: {message}")),
        };
        if let Some(array) = node.array {
            return self.add(name, directory.to_path_buf(), array);
        }
        let finest =
            ome::Image::of(&node.attributes).map(|image| image.levels()[0].path.to_string());
        if let Some(finest) = finest {
            let path = directory.join(&finest);
            if let Some(Ok(Node {
                array: Some(array), ..
            })) = Node::at(&path)
            {
                return self.add(name, path, array);
            }
        }
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut inner: Vec<String> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        inner.sort();
        for entry in inner {
            let path = if name.is_empty() {
                entry.clone()
            } else {
                format!("{name}/{entry}")
            };
            self.walk(&directory.join(&entry), &path, depth + 1);
        }
    }
}

/// Opens a directory.
pub(super) fn open(path: &Path, asked: Option<&str>) -> Result<Source<'static>, ImageError> {
    let fail = |message: String| ImageError::new(message);
    let node = Node::at(path).ok_or_else(|| fail("the metadata are missing".to_string()))?;
    let node = node.map_err(fail)?;
    if let Some(array) = node.array {
        if let Some(asked) = asked {
            return Err(fail(format!(
                "`#{asked}` asks for an array, but the directory has only one"
            )));
        }
        let found = Found {
            path: path.to_path_buf(),
            array: array.map_err(fail)?,
        };
        return source(vec![found], None, Vec::new());
    }
    // The group of an image may be this one, or one that is asked for.
    let group = asked.map(|asked| path.join(asked.trim_matches('/')));
    let within = |path: &Path| {
        Node::at(path)
            .and_then(Result::ok)
            .filter(|node| node.array.is_none())
    };
    let inner = group
        .filter(|group| is_below(path, group))
        .and_then(|group| Some((within(&group)?, group)));
    let (image_node, image_path, level) = match inner {
        Some((node, group)) => (node, group, None),
        None => (node, path.to_path_buf(), asked),
    };
    if let Some(image) = ome::Image::of(&image_node.attributes) {
        let number = level.map_or(Ok(0), |level| image.level(level))?;
        let place = image_path.join(image.levels()[number].path);
        let array = Node::at(&place)
            .and_then(Result::ok)
            .and_then(|node| node.array);
        let array = array.ok_or_else(|| fail(format!("the resolution s{number} is missing")))?;
        let found = Found {
            path: place,
            array: array.map_err(fail)?,
        };
        return source(vec![found], Some((&image, number)), Vec::new());
    }
    let mut contents = Contents::default();
    contents.walk(path, "", 0);
    let refused = contents.refused.join("; ");
    let chosen =
        container::chosen(&contents.members, asked).map_err(|error| match refused.is_empty() {
            true => error,
            false => error.hint(format!("not read: {refused}")),
        })?;
    let mut found: Vec<Option<Found>> = contents.found.into_iter().map(Some).collect();
    let arrays: Vec<Found> = chosen.iter().filter_map(|&m| found[m].take()).collect();
    match arrays.len() == chosen.len() {
        true => source(arrays, None, Vec::new()),
        false => Err(fail("an array is asked for twice".to_string())),
    }
}

/// Whether a path that was put together is within a directory.
fn is_below(directory: &Path, path: &Path) -> bool {
    let parent = std::path::Component::ParentDir;
    path.starts_with(directory)
        && !path
            .components()
            .skip(directory.components().count())
            .any(|c| c == parent)
}

fn source(
    arrays: Vec<Found>,
    image: Option<(&ome::Image<'_>, usize)>,
    mut notes: Vec<Note>,
) -> Result<Source<'static>, ImageError> {
    let first = &arrays[0].array;
    let element = first.element;
    if arrays
        .iter()
        .any(|other| other.array.element.parts != element.parts)
    {
        return Err(ImageError::new(
            "real and complex arrays do not make components",
        ));
    }
    let of_size = |size: u64, kind: Option<Kind>| {
        let size = usize::try_from(size);
        let size =
            size.map_err(|_| ImageError::new("the array is too large for the address space"));
        size.map(|size| Axis {
            size,
            kind,
            ..Axis::default()
        })
    };
    let mut header = Header::new(element.of, &[]);
    for &size in first.shape.iter().rev() {
        header.axes.push(of_size(size, None)?);
    }
    let format = match image {
        Some((image, level)) => {
            image.place(level, &mut header, &mut notes);
            "OME-Zarr"
        }
        None => "Zarr",
    };
    if element.parts > 1 {
        header
            .axes
            .insert(0, of_size(element.parts as u64, Some(Kind::Complex))?);
    }
    if arrays.len() > 1 {
        header
            .axes
            .push(of_size(arrays.len() as u64, Some(Kind::List))?);
    }
    header.check().map_err(|v| ImageError::new(v.message))?;
    let files = arrays
        .iter()
        .flat_map(|found| METADATA.map(|name| found.path.join(name)));
    let files = files.filter(|file| file.is_file()).collect();
    let arrays = Arc::new(arrays);
    let boxes = Chunks::of(Arc::clone(&arrays), &header);
    let decode = move |sink: &mut Sink<'_>| {
        for found in &*arrays {
            chunks::pieces(&found.array, &found.path, sink)?;
        }
        Ok(Vec::new())
    };
    let mut source = Source::decoded(format, header, Box::new(decode));
    source.facts.numbering = Numbering::SlowestFirst;
    source.notes = notes;
    source.files = files;
    source.boxes = boxes.map(|boxes| Arc::new(boxes) as Arc<dyn Boxes>);
    Ok(source)
}

/// The chunks of arrays, which are read in any order.
struct Chunks {
    arrays: Arc<Vec<Found>>,
    /// The numbers of an element, an axis of their own if there are several.
    parts: usize,
    extents: Vec<usize>,
}

impl Chunks {
    /// Those of arrays with this header, if all are cut in the same way.
    fn of(arrays: Arc<Vec<Found>>, header: &Header) -> Option<Chunks> {
        let first = &arrays[0].array;
        let is_alike = |found: &Found| found.array.chunk == first.chunk;
        if !arrays.iter().all(is_alike) {
            return None;
        }
        let parts = first.element.parts;
        let mut extents = Vec::new();
        extents.extend((parts > 1).then_some(parts));
        for &extent in first.chunk.iter().rev() {
            extents.push(usize::try_from(extent).ok()?);
        }
        extents.resize(header.axes.len(), 1);
        Some(Chunks {
            arrays,
            parts,
            extents,
        })
    }
}

impl Boxes for Chunks {
    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn read(&self, place: &[Range<usize>], sink: &mut Sink<'_>) -> Result<u64, ImageError> {
        let grid = &place[usize::from(self.parts > 1)..];
        let axes = self.arrays[0].array.shape.len();
        let array = grid.get(axes).map_or(0, |which| which.start);
        let (from, shape): (Vec<u64>, Vec<u64>) = grid[..axes]
            .iter()
            .rev()
            .map(|range| (range.start as u64, range.len() as u64))
            .unzip();
        let Found { array, path } = &self.arrays[array];
        sink(chunks::one(array, path, &from, &shape)?);
        Ok(0)
    }
}
