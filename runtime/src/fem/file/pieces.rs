//! Meshes in several files: VTK's grids in pieces (`.pvtu`), and collections of them over time (`.pvd`).

use super::{ArrayPlace, FemArray, FemFile, FileCell};
use crate::fem::FemError;
use crate::file_name::{escaped, split_last};
use crate::file_reference::{Frames, split_frames};
use crate::memory::{Claim, Contents};
use crate::xml::{Tag, Tags};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Which time of a file with several is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Moment {
    /// By its number, from zero.
    Number(usize),
    /// By the time itself.
    Time(f64),
    /// Those from a number to another one, for values over time.
    Span(usize, usize),
}

/// The file that a name means, and the time of it that is wanted: `FILE`, `FILE#N`, `FILE#N:M` or `FILE@T`. A file whose own name looks
/// like that comes first.
pub(crate) fn chosen(name: &Path) -> (&Path, Option<Moment>) {
    if name.exists() {
        return (name, None);
    }
    let by_number = split_frames(name.as_os_str()).map(|(file, frames)| {
        let moment = match frames {
            Frames::One(number) => Moment::Number(number),
            Frames::Range(first, last) => Moment::Span(first, last),
        };
        (Path::new(file), Some(moment))
    });
    let by_time = || {
        let (file, time) = split_last(name.as_os_str(), b'@')?;
        let time = time.to_str()?.parse().ok()?;
        Some((Path::new(file), Some(Moment::Time(time))))
    };
    by_number.or_else(by_time).unwrap_or((name, None))
}

/// The names of arrays that mark cells of other pieces.
const GHOSTS: [&str; 2] = ["vtkGhostType", "vtkGhostLevels"];

/// The type of data of a file of VTK, if it is one in XML.
pub(crate) fn type_of(bytes: &[u8]) -> Option<String> {
    let start = bytes.trim_ascii_start();
    let mut tags = Tags::new(start).take(1);
    let head = tags.find(|tag| start.starts_with(b"<") && tag.name() == "VTKFile")?;
    head.get("type").map(|kind| kind.into_owned())
}

/// Reads a grid in pieces, whose files are named relative to a directory.
pub(super) fn read_parallel(bytes: &[u8], beside: &Path) -> Result<FemFile, FemError> {
    let mut whole = Union::default();
    whole.add_parallel(bytes, beside)?;
    whole.finish()
}

/// The times of a collection, each with its files, which are named relative to a directory.
fn collection(bytes: &[u8], beside: &Path) -> Result<Vec<(f64, Vec<PathBuf>)>, FemError> {
    let mut times: Vec<(f64, Vec<PathBuf>)> = Vec::new();
    for tag in Tags::new(bytes).filter(|tag| tag.name() == "DataSet") {
        let time = tag.get("timestep").unwrap_or_default();
        let time = match time.trim() {
            "" => 0.0,
            text => {
                let wrong = |_| format!("`DataSet` has `timestep` = `{text}`, expected a number");
                text.parse::<f64>().map_err(wrong)?
            }
        };
        let file = tag.get("file").ok_or("a `DataSet` has no `file`")?;
        let file = beside.join(&*file);
        match times.iter_mut().find(|(known, _)| *known == time) {
            Some((_, files)) => files.push(file),
            None => times.push((time, vec![file])),
        }
    }
    Ok(times)
}

/// The files of all times of a collection, or of all pieces of a grid, as it names them.
pub(super) fn files(bytes: &[u8]) -> Vec<String> {
    let file = |tag: Tag<'_>| match tag.name() {
        "DataSet" => tag.get("file").map(|file| file.into_owned()),
        "Piece" => tag.get("Source").map(|file| file.into_owned()),
        _ => None,
    };
    Tags::new(bytes).filter_map(file).collect()
}

/// The times of a collection, in its order.
pub(crate) fn times(bytes: &[u8]) -> Result<Vec<f64>, FemError> {
    let times = collection(bytes, Path::new(""))?;
    Ok(times.iter().map(|(time, _)| *time).collect())
}

/// Reads one time of a collection, whose files are named relative to a directory.
pub(super) fn read_collection(
    bytes: &[u8],
    beside: &Path,
    moment: Option<Moment>,
) -> Result<FemFile, FemError> {
    let times = collection(bytes, beside)?;
    let all: Vec<f64> = times.iter().map(|(time, _)| *time).collect();
    let chosen = choose(&all, moment)?;
    let mut whole = Union::default();
    for file in &times[chosen].1 {
        let named = |error: FemError| error.in_file(&escaped(file.as_os_str()));
        let contents = open(file).map_err(named)?;
        if type_of(&contents).as_deref() == Some("PUnstructuredGrid") {
            let beside = file.parent().unwrap_or(Path::new(""));
            whole.add_parallel(&contents, beside)?;
        } else {
            whole.add(FemFile::parse(&contents).map_err(named)?)?;
        }
    }
    whole.finish()
}

/// The place of a time among all times of a file. A file with one time needs no choice.
pub(crate) fn choose(times: &[f64], moment: Option<Moment>) -> Result<usize, FemError> {
    let list = || {
        let shown = times.iter().take(8).map(f64::to_string);
        let more = if times.len() > 8 { ", …" } else { "" };
        format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
    };
    let missing = |what: String| {
        FemError::new(format!(
            "the file has no time {what}; it has {}: {}",
            times.len(),
            list()
        ))
    };
    match moment {
        _ if times.is_empty() => Err("the file names no data".into()),
        None | Some(Moment::Span(..)) if times.len() == 1 => Ok(0),
        None | Some(Moment::Span(..)) => {
            Err(
                FemError::new(format!("the file has {} times: {}", times.len(), list()))
                    .hint("choose one by its number, `FILE#0`, or by the time, `FILE@0.5`"),
            )
        }
        Some(Moment::Number(number)) if number < times.len() => Ok(number),
        Some(Moment::Number(number)) => Err(missing(format!("number {number}"))),
        Some(Moment::Time(time)) => {
            // Times are written with different numbers of digits.
            let same = |known: &f64| (known - time).abs() <= 1e-9 * time.abs().max(known.abs());
            let found = times.iter().position(same);
            found.ok_or_else(|| missing(time.to_string()))
        }
    }
}

pub(crate) fn open(file: &Path) -> Result<Contents, FemError> {
    let stream = std::fs::File::open(file).map_err(|e| e.to_string())?;
    Ok(Contents::read(stream)?)
}

/// Meshes that become one.
#[derive(Default)]
struct Union {
    file: FemFile,
    /// Cells so far, those that are left out counted.
    cells: u32,
    pieces: usize,
    claim: Claim,
}

impl Union {
    /// Adds the pieces of a grid.
    fn add_parallel(&mut self, bytes: &[u8], beside: &Path) -> Result<(), FemError> {
        let mut any = false;
        for tag in Tags::new(bytes).filter(|tag| tag.name() == "Piece") {
            let source = tag.get("Source").ok_or("a `Piece` has no `Source`")?;
            let file = beside.join(&*source);
            let named = |error: FemError| error.in_file(&escaped(file.as_os_str()));
            let contents = open(&file).map_err(named)?;
            self.add(FemFile::parse(&contents).map_err(named)?)?;
            any = true;
        }
        if !any {
            return Err("the file is cut off: it has no tag `Piece`".into());
        }
        Ok(())
    }

    /// Adds a mesh without the cells that belong to others.
    fn add(&mut self, piece: FemFile) -> Result<(), FemError> {
        self.claim.grow(piece.bytes())?;
        let is_ghost = |array: &FemArray| GHOSTS.contains(&&*array.name);
        let marks = piece.arrays.iter().find(|array| {
            is_ghost(array) && array.place == ArrayPlace::Cells && array.components == 1
        });
        let keeps = |cell: usize| marks.is_none_or(|marks| marks.values[cell] == 0.0);
        let kept: Vec<usize> = (0..piece.cells.len()).filter(|&n| keeps(n)).collect();
        let (points, connectivity) = (self.file.points.len(), self.file.connectivity.len());
        let large = || FemError::new("the pieces have too many cells or points");
        u32::try_from(points + piece.points.len()).map_err(|_| large())?;
        // The nodes of the cells that are kept, by their places in the list of the piece.
        let mut nodes = Vec::new();
        for &n in &kept {
            let FileCell {
                element,
                first,
                number,
            } = piece.cells.at(n);
            self.file.cells.push(FileCell {
                element,
                first: connectivity + nodes.len(),
                number: self.cells.checked_add(number).ok_or_else(large)?,
            });
            nodes.extend(first..first + element.nodes().len());
        }
        let shifted = nodes.iter().map(|&n| piece.connectivity[n] + points as u32);
        self.file.connectivity.extend(shifted);
        let last = piece.cells.len().checked_sub(1);
        let last = last.map_or(0, |last| piece.cells.at(last).number + 1);
        self.cells = self.cells.checked_add(last).ok_or_else(large)?;
        self.file.points.extend_from_slice(&piece.points);
        let own = |array: &FemArray| match array.place {
            ArrayPlace::Points => array.values.clone(),
            ArrayPlace::Cells => selected(array, &kept),
            ArrayPlace::CellNodes => selected(array, &nodes),
        };
        // An array that some piece does not have ends in the middle, and is dropped.
        self.pieces += 1;
        if self.pieces == 1 {
            let arrays = piece.arrays.iter().filter(|array| !is_ghost(array));
            self.file.arrays = arrays
                .map(|array| FemArray {
                    values: own(array),
                    ..array.clone()
                })
                .collect();
            return Ok(());
        }
        self.file.arrays.retain_mut(|array| {
            let same = |other: &&FemArray| {
                (&other.name, other.place, other.components)
                    == (&array.name, array.place, array.components)
            };
            let found = piece.arrays.iter().find(same).map(own);
            found.is_some_and(|values| {
                array.values.extend(values);
                true
            })
        });
        Ok(())
    }

    /// The mesh, without the points that no cell has; points that are equal in position and in all values are one.
    fn finish(mut self) -> Result<FemFile, FemError> {
        let file = &mut self.file;
        let count = file.points.len();
        // The table, and the lists by point.
        self.claim.grow(count as u64 * 96)?;
        let mut used = vec![false; count];
        file.connectivity
            .iter()
            .for_each(|&p| used[p as usize] = true);
        let on_points = |array: &&FemArray| array.place == ArrayPlace::Points;
        let arrays: Vec<&FemArray> = file.arrays.iter().filter(on_points).collect();
        let is_same = |a: u32, b: u32| {
            arrays.iter().all(|array| {
                let tuple =
                    |n: u32| &array.values[n as usize * array.components..][..array.components];
                let mut pairs = tuple(a).iter().zip(tuple(b));
                pairs.all(|(a, b)| a.to_bits() == b.to_bits())
            })
        };
        // The newest point at each position, for each point the one before it there, and the points that stay.
        let mut newest: HashMap<[u64; 3], u32> = HashMap::new();
        let mut before: Vec<u32> = Vec::new();
        let (mut stays, mut numbers) = (Vec::new(), vec![u32::MAX; count]);
        for p in (0..count as u32).filter(|&p| used[p as usize]) {
            let key = file.points[p as usize].map(f64::to_bits);
            let first = newest.get(&key).copied();
            let mut there = first;
            while let Some(id) = there.filter(|&id| !is_same(stays[id as usize], p)) {
                there = Some(before[id as usize]).filter(|&id| id != u32::MAX);
            }
            numbers[p as usize] = there.unwrap_or_else(|| {
                let id = stays.len() as u32;
                stays.push(p);
                before.push(first.unwrap_or(u32::MAX));
                newest.insert(key, id);
                id
            });
        }
        let stays: Vec<usize> = stays.into_iter().map(|p| p as usize).collect();
        file.points = stays.iter().map(|&p| file.points[p]).collect();
        for array in &mut file.arrays {
            if array.place == ArrayPlace::Points {
                array.values = selected(array, &stays);
            }
        }
        for p in file.connectivity.iter_mut() {
            *p = numbers[*p as usize];
        }
        file.check()?;
        Ok(self.file)
    }
}

/// Some of the tuples of an array.
fn selected(array: &FemArray, tuples: &[usize]) -> Vec<f64> {
    let tuple = |&n: &usize| &array.values[n * array.components..][..array.components];
    tuples.iter().flat_map(tuple).copied().collect()
}
