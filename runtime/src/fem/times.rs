//! Values on a mesh at several times: collections over time (`.pvd`, `.xdmf`), numbered files, and any other file, which is one time.

use super::error::FemError;
use super::file::pieces::{self, Moment};
use super::file::{FemFile, head, xdmf};
use crate::file_name::escaped;
use crate::file_reference::numbered_files;
use crate::grid::TimeAxis;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The frames of a file, or of several, in the order of their times. They are read one by one.
#[derive(Clone, Debug)]
pub struct FemSeries {
    /// For each frame a name that [`FemFile::read`] takes.
    names: Vec<PathBuf>,
    times: TimeAxis,
    /// Whether the files give the times.
    has_times: bool,
    /// The number of the first frame among all frames of the file, and how many these are.
    first: usize,
    all: usize,
}

impl FemSeries {
    /// Finds the frames: all of a collection, those of `FILE#N:M`, or the one of `FILE#N` and `FILE@T`; or numbered files.
    ///
    /// # Errors
    /// The file cannot be read, its contents are invalid, or it does not have the frames.
    pub fn open(name: &Path) -> Result<FemSeries, FemError> {
        if let Some(files) = numbered_files(name) {
            return Ok(FemSeries::of_files(files.files().collect()));
        }
        let (path, moment) = pieces::chosen(name);
        let named = |error: FemError| error.in_file(&escaped(path.as_os_str()));
        let times = match head(path) {
            Some(head) if pieces::type_of(&head).as_deref() == Some("Collection") => {
                pieces::open(path).and_then(|contents| pieces::times(&contents))
            }
            Some(head) if xdmf::is_xdmf(&head) => {
                pieces::open(path).and_then(|contents| xdmf::times(&contents))
            }
            // An error of the file is one of its only frame.
            _ => return Ok(FemSeries::of_files(vec![name.to_path_buf()])),
        };
        let times = times.map_err(named)?;
        FemSeries::of_collection(path, &times, moment).map_err(named)
    }

    fn of_files(names: Vec<PathBuf>) -> FemSeries {
        let all = names.len();
        FemSeries {
            has_times: all == 1,
            names,
            times: TimeAxis::NUMBERS,
            first: 0,
            all,
        }
    }

    fn of_collection(
        path: &Path,
        times: &[f64],
        moment: Option<Moment>,
    ) -> Result<FemSeries, FemError> {
        let mut numbers: Vec<usize> = (0..times.len()).collect();
        numbers.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        let (first, last) = match moment {
            None => (0, times.len().saturating_sub(1)),
            Some(Moment::Span(first, last)) => (first, last),
            Some(moment) => {
                let number = pieces::choose(times, Some(moment))?;
                numbers = vec![number];
                (0, 0)
            }
        };
        let Some(own) = numbers.get(first..last + 1) else {
            let message = format!("the file has no time number {last}; it has {}", times.len());
            return Err(FemError::new(message));
        };
        let name = |number: &usize| {
            let mut name = OsString::from(path);
            name.push(format!("#{number}"));
            PathBuf::from(name)
        };
        let of_frames: Vec<f64> = own.iter().map(|&number| times[number]).collect();
        Ok(FemSeries {
            names: own.iter().map(name).collect(),
            times: TimeAxis::of_times(&of_frames)?,
            has_times: true,
            first,
            all: numbers.len(),
        })
    }

    /// The same frames at times that the user gives: one for each, or one for each frame of the file.
    ///
    /// # Errors
    /// There are more or fewer times.
    pub fn at_times(self, given: &TimeAxis) -> Result<FemSeries, FemError> {
        let frames = self.frames();
        let times = match given {
            TimeAxis::Regular { .. } => given.clone(),
            TimeAxis::Table(times) if times.len() == frames => TimeAxis::of_times(times)?,
            TimeAxis::Table(times) if times.len() == self.all => {
                TimeAxis::of_times(&times[self.first..self.first + frames])?
            }
            TimeAxis::Table(times) => {
                let message = format!(
                    "{} times are given, but there are {frames} frames",
                    times.len()
                );
                return Err(FemError::new(message));
            }
        };
        Ok(FemSeries {
            times,
            has_times: true,
            ..self
        })
    }

    /// The same frames, the first of them at the time 0.
    pub fn from_zero(self) -> FemSeries {
        FemSeries {
            times: self.times.from_zero(),
            ..self
        }
    }

    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.names.len()
    }

    /// Their times.
    pub fn times(&self) -> &TimeAxis {
        &self.times
    }

    /// Whether their times are known; else they are their numbers.
    pub fn has_times(&self) -> bool {
        self.has_times
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// The file cannot be read, or its contents are invalid.
    pub fn read(&self, frame: usize) -> Result<FemFile, FemError> {
        let read = FemFile::read(&self.names[frame]);
        match self.frames() {
            1 => read,
            _ => read.map_err(|error| error.at_time(self.times.time(frame))),
        }
    }

    /// Reads a frame whose mesh has to be that of the first one.
    ///
    /// # Errors
    /// The same, or its mesh is another one.
    pub fn read_on(&self, frame: usize, first: &FemFile) -> Result<FemFile, FemError> {
        let file = self.read(frame)?;
        match file.has_mesh_of(first) {
            true => Ok(file),
            false => Err(self.changes(frame)),
        }
    }

    fn changes(&self, frame: usize) -> FemError {
        FemError::new(format!(
            "the mesh changes at time {}",
            self.times.time(frame)
        ))
        .hint("values over time must be on one mesh, which does not move; probe the times one by one as `FILE@TIME`")
    }
}
