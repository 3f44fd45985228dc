//! What a file holds, before any of its samples is read.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::explain::{frames, natural, natural_over_time, sizes};
use super::normalize::{self, Plan};
use super::place::world_space;
use super::request::{Declared, Reading, World};
use super::roles::Wanted;
use super::says::axis_of_frames;
use crate::file_name::split_last;
use crate::file_reference::{Chosen, Frames, chosen, numbered_files};
use crate::formats::{ImageError, Missing, Note, Source};
use crate::grid::{Orientation, TimeAxis};
use crate::nrrd::{Header, Space};

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Description {
    /// The name of its format.
    pub format: &'static str,
    /// How its samples are compressed, if they are.
    pub compression: Option<&'static str>,
    /// The description of its array.
    pub header: Header,
    /// The image that it is by itself, if its axes can be those of one.
    pub image: Option<AsImage>,
    /// Decisions about it.
    pub notes: Vec<Note>,
}

/// The image that a file is by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct AsImage {
    /// The shape of the tensor at each grid point; empty for scalars.
    pub shape: Vec<usize>,
    /// Samples along each axis of the grid, fastest first.
    pub sizes: Vec<usize>,
    /// How far it is from one sample to the next along each axis of the grid.
    pub steps: Vec<f64>,
    /// The position and orientation of the grid.
    pub orientation: Orientation,
    /// The number of frames: 1 without time.
    pub frames: usize,
    /// The times of the frames, of an image over time.
    pub time: Option<TimeAxis>,
    /// The name of the space around it.
    pub space: Option<String>,
    /// The unit of positions, if all coordinates have the same.
    pub unit: Option<String>,
}

/// Describes the file at `path`; no samples are read where they stand apart from the header. The header is that of the whole file, and the
/// image that of the frames that are chosen.
///
/// # Errors
/// The file cannot be read, or it does not have the frames.
pub fn describe(path: &Path) -> Result<Description, ImageError> {
    let chosen = chosen(path);
    let source = Source::open_array(chosen.file, chosen.array, Missing::Refuse)?;
    let header = source.header().clone();
    let mut notes = source.notes().to_vec();
    let unplaced = source
        .unplaced()
        .map(|error| Note::warning(error.message()));
    notes.extend(unplaced);
    let reading = Reading {
        frames: chosen.frames,
        ..Reading::default()
    };
    let over_time = match chosen.frames {
        Some(Frames::One(_)) => None,
        Some(Frames::Range(..)) | None => natural_over_time(&header),
    };
    let timed = over_time.is_some();
    let own = match (over_time, chosen.frames) {
        (Some(own), _) => Some(own),
        (None, None) => natural(&header),
        (None, Some(frames)) => natural(&of_frames(&header, frames).map_err(|e| e.in_file(path))?),
    };
    let mut image = None;
    if let Some((dim, mut shape)) = own {
        if let Some(matrix) = half_of_matrices(dim, &shape) {
            match source.facts().triangle {
                Some(_) => shape = matrix,
                None => notes.push(Note::new(format!(
                    "if the {} numbers are halves of symmetric matrices, {} takes them, with `--symmetric upper` or `lower`",
                    shape[0],
                    Declared {
                        dim,
                        timed,
                        shape: &matrix
                    }
                ))),
            }
        }
        let declared = Declared {
            dim,
            timed,
            shape: &shape,
        };
        match normalize::plan(&header, source.facts(), declared, &reading) {
            Ok(plan) => {
                notes.extend(plan.notes.iter().cloned());
                image = Some(AsImage::new(&header, shape, plan));
            }
            Err(error) if chosen.frames.is_some() => return Err(error.in_file(path)),
            Err(_) => {}
        }
    }
    Ok(Description {
        format: source.format(),
        compression: source.compression(),
        header,
        image,
        notes,
    })
}

/// The header of one frame, which does not have the axis of frames, or of several.
///
/// # Errors
/// There is no axis of frames.
fn of_frames(header: &Header, frames: Frames) -> Result<Header, ImageError> {
    let axis = axis_of_frames(header).ok_or_else(|| {
        let sizes = sizes(header);
        ImageError::new(format!(
            "the axes ({sizes}) are those of the grid: there are no frames"
        ))
    })?;
    let mut own = header.clone();
    match frames {
        Frames::One(_) => drop(own.axes.remove(axis)),
        Frames::Range(first, last) => own.axes[axis].size = last - first + 1,
    }
    Ok(own)
}

/// One frame of a file that has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenFrame {
    /// Its number, counted from 0.
    pub frame: usize,
    /// The number of frames.
    pub count: usize,
}

impl ChosenFrame {
    /// The frame that a name `FILE#N` chooses for an image of this dimension and voxel shape; nothing if the name chooses none.
    pub fn of(name: &Path, dim: usize, shape: &[usize]) -> Option<ChosenFrame> {
        let chosen = chosen(name);
        let Some(Frames::One(frame)) = chosen.frames else {
            return None;
        };
        let source = Source::open_array(chosen.file, chosen.array, Missing::Refuse).ok()?;
        let header = source.header();
        let wanted = Wanted {
            declared: Declared::new(dim, shape),
            frames: None,
            triangle: source.facts().triangle,
            numbering: source.facts().numbering,
            time: None,
        };
        let axis = frames(header, wanted)?;
        let count = header.axes[axis].size;
        Some(ChosenFrame { frame, count })
    }

    /// The name of another frame of the same file.
    pub fn name_of(name: &Path, frame: usize) -> Option<OsString> {
        let (file, _) = split_last(name.as_os_str(), b'#')?;
        let mut other = file.to_os_string();
        other.push(format!("#{frame}"));
        Some(other)
    }
}

/// The files in which the image of a name is: the one of the header, and those of its data; or numbered pictures. Nothing is taken from
/// a pipe to find out.
pub fn files_of(name: &Path) -> Vec<PathBuf> {
    let Chosen { file, array, .. } = chosen(name);
    if let Some(pictures) = numbered_files(file) {
        return pictures.files().collect();
    }
    let mut files = vec![file.to_path_buf()];
    if (file.is_file() || file.is_dir())
        && let Ok(source) = Source::open_array(file, array, Missing::Refuse)
    {
        files.extend(source.data_files());
    }
    files
}

/// The shape of symmetric matrices, if samples of this shape can be halves of them.
fn half_of_matrices(dim: usize, shape: &[usize]) -> Option<Vec<usize>> {
    (dim == 3 && *shape == [6]).then(|| vec![3, 3])
}

impl Description {
    /// The declaration of an input that takes the file, if it can be an image.
    pub fn declare(&self, name: &str) -> Option<String> {
        let declared = self.image.as_ref()?.declared();
        Some(format!("input {declared} {name};"))
    }
}

impl AsImage {
    fn new(header: &Header, shape: Vec<usize>, plan: Plan) -> AsImage {
        let (sizes, orientation) = (plan.sizes, plan.orientation);
        let dim = sizes.len();
        let along = |axis: usize| orientation.index_to_world().iter().skip(axis).step_by(dim);
        let length = |axis: usize| along(axis).map(|x| x * x).sum::<f64>().sqrt();
        // A coordinate after the third is time or the like.
        let units = &header.space_units[..header.space_units.len().min(3)];
        let unit = units.first().filter(|unit| !unit.is_empty());
        AsImage {
            steps: (0..dim).map(length).collect(),
            space: match world_space(header, World::Stored) {
                Space::Named(space) => Some(space.name().to_string()),
                Space::Unknown | Space::Dimension(_) => None,
            },
            unit: unit
                .filter(|unit| units.iter().all(|u| u == *unit))
                .cloned(),
            shape,
            sizes,
            orientation,
            frames: plan.frames.count(),
            time: plan.time,
        }
    }

    /// Its type.
    pub fn declared(&self) -> Declared<'_> {
        Declared {
            dim: self.sizes.len(),
            timed: self.time.is_some(),
            shape: &self.shape,
        }
    }

    /// The least and the greatest coordinates of the positions of samples.
    pub fn world_box(&self) -> Vec<(f64, f64)> {
        self.orientation.world_box(&self.sizes)
    }
}
