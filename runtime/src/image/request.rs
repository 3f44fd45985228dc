//! A request for a file: the type that the program declares, and the options that its user adds.

use std::fmt;

use crate::file_reference::Frames;
use crate::formats::{Missing, Triangle};
use crate::grid::{Placement, TimeAxis};

/// The type `image(dim)[shape]` or `image(dim,time)[shape]` that a program declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared<'a> {
    /// The number of axes of the grid.
    pub dim: usize,
    /// Whether it is an image over time.
    pub timed: bool,
    /// The shape of the tensor at each grid point; empty for scalars.
    pub shape: &'a [usize],
}

impl<'a> Declared<'a> {
    /// The type of an image without time.
    pub fn new(dim: usize, shape: &'a [usize]) -> Declared<'a> {
        Declared {
            dim,
            timed: false,
            shape,
        }
    }

    /// The type of an image over time.
    pub fn over_time(dim: usize, shape: &'a [usize]) -> Declared<'a> {
        Declared {
            timed: true,
            ..Declared::new(dim, shape)
        }
    }

    /// The axes that an array needs for the grid, and for time.
    pub(crate) fn axes(&self) -> usize {
        self.dim + usize::from(self.timed)
    }

    /// Numbers per sample.
    pub(crate) fn components(&self) -> usize {
        self.shape.iter().product()
    }
}

impl fmt::Display for Declared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<_> = self.shape.iter().map(usize::to_string).collect();
        let time = if self.timed { ",time" } else { "" };
        write!(f, "image({}{time})[{}]", self.dim, sizes.join(","))
    }
}

/// What becomes of a measurement frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeasurementFrame {
    /// Values that have a direction are taken to the world.
    #[default]
    Apply,
    /// Values are taken as they are.
    Ignore,
}

/// The world in which images of patients are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum World {
    /// That of the file.
    #[default]
    Stored,
    /// Right, anterior, superior.
    Ras,
    /// Left, posterior, superior.
    Lps,
}

/// The times of the frames of an image over time, as its user gives them.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenTimes {
    /// These, whatever the file says.
    Axis(TimeAxis),
    /// Those of the file, counted from the first frame that is read.
    FromFirst,
}

/// Which files are mapped, so that only those samples take memory that a program touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapFiles {
    /// Large ones.
    #[default]
    Auto,
    /// All that can be.
    Always,
    /// None: all are read.
    Never,
}

/// What the user of a program says of an image beside the name of its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The name of the input, for messages.
    pub name: Option<String>,
    /// Which array is wanted of a file that has several; that of a name `FILE#ARRAY` counts if nothing stands here.
    pub array: Option<String>,
    /// Which frames are wanted; those of a name `FILE#N` count if nothing stands here.
    pub frames: Option<Frames>,
    /// What six numbers (or three) are to a symmetric matrix, where the file does not say.
    pub triangle: Option<Triangle>,
    /// What becomes of a measurement frame.
    pub frame: MeasurementFrame,
    /// The world that is wanted.
    pub world: World,
    /// Whether components turn with the world even if the format does not define them in world space.
    pub flip_components: bool,
    /// The placement of the grid, which overrides that of the file.
    pub place: Option<Placement>,
    /// The times of the frames, which override those of the file.
    pub times: Option<GivenTimes>,
    /// Bytes that the samples may take; what the machine has, if nothing stands here.
    pub memory: Option<u64>,
    /// Whether the file is mapped.
    pub map: MapFiles,
    /// What becomes of slices and numbered files that are not there.
    pub missing: Missing,
}

impl Reading {
    /// Takes what `--world` says: the patient space that is wanted, or the place of the grid.
    ///
    /// # Errors
    /// The word is not one of these.
    pub fn set_world(&mut self, word: &str) -> Result<(), String> {
        match word {
            "stored" => self.world = World::Stored,
            "ras" => self.world = World::Ras,
            "lps" => self.world = World::Lps,
            _ => {
                let place = Placement::parse(word).ok();
                let fits = |p: &Placement| !matches!(p, Placement::None | Placement::Variable(_));
                self.place = Some(place.filter(fits).ok_or_else(|| {
                    format!(
                        "found `{word}`, expected ras, lps or stored, or a place: spacing:SX,SY,…, \
                         box:X0,Y0,…,X1,Y1,…, matrix:(…) (…) @ (…), index or like:FILE"
                    )
                })?);
            }
        }
        Ok(())
    }

    /// Takes what `--symmetric` says: which half of matrices is stored.
    ///
    /// # Errors
    /// The word is not one of these.
    pub fn set_triangle(&mut self, word: &str) -> Result<(), String> {
        self.triangle = Some(match word {
            "upper" => Triangle::Upper,
            "lower" => Triangle::Lower,
            _ => return Err(format!("found `{word}`, expected upper or lower")),
        });
        Ok(())
    }

    /// Takes what `--times` says: the time of the first frame and the step, in seconds, that the first is at 0, or a text file with
    /// the seconds of each frame. A `#` begins a comment in it.
    ///
    /// # Errors
    /// The word is not one of these, the file cannot be read, or the numbers are not the times of frames.
    pub fn set_times(&mut self, word: &str) -> Result<(), String> {
        if word == "zero=first" {
            self.times = Some(GivenTimes::FromFirst);
            return Ok(());
        }
        let numbers = word.split_once(':').and_then(|(start, step)| {
            let number = |text: &str| text.trim().parse::<f64>().ok();
            Some((number(start)?, number(step)?))
        });
        if let Some((start, step)) = numbers {
            self.times = Some(GivenTimes::Axis(TimeAxis::regular(start, step)?));
            return Ok(());
        }
        let file = word;
        let text = std::fs::read_to_string(file).map_err(|error| {
            format!("{file}: {error}; expected START:STEP in seconds, zero=first, or a file")
        })?;
        let mut times = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            for word in line
                .split([' ', '\t', ',', ';'])
                .filter(|word| !word.is_empty())
            {
                let time = word.trim().parse::<f64>();
                times.push(time.map_err(|_| {
                    format!("{file}, line {}: found `{word}`, expected a number", n + 1)
                })?);
            }
        }
        let axis = TimeAxis::of_times(&times).map_err(|why| format!("{file}: {why}"))?;
        // A regular axis would not tell how many there are.
        self.times = Some(GivenTimes::Axis(match axis {
            TimeAxis::Regular { .. } if times.len() > 1 => TimeAxis::Table(times),
            axis => axis,
        }));
        Ok(())
    }

    /// Takes what `--map` says: which files are mapped.
    ///
    /// # Errors
    /// The word is not one of these.
    pub fn set_map(&mut self, word: &str) -> Result<(), String> {
        self.map = match word {
            "auto" => MapFiles::Auto,
            "always" => MapFiles::Always,
            "never" => MapFiles::Never,
            _ => return Err(format!("found `{word}`, expected always, never or auto")),
        };
        Ok(())
    }

    /// Takes what `--missing` says: what becomes of slices and numbered files that are not there.
    ///
    /// # Errors
    /// The word is not one of these.
    pub fn set_missing(&mut self, word: &str) -> Result<(), String> {
        self.missing = match word {
            "refuse" => Missing::Refuse,
            "nan" => Missing::Nan,
            _ => return Err(format!("found `{word}`, expected nan or refuse")),
        };
        Ok(())
    }

    /// Takes what `--measurement-frame` says.
    ///
    /// # Errors
    /// The word is not one of these.
    pub fn set_frame(&mut self, word: &str) -> Result<(), String> {
        self.frame = match word {
            "apply" => MeasurementFrame::Apply,
            "ignore" => MeasurementFrame::Ignore,
            _ => return Err(format!("found `{word}`, expected apply or ignore")),
        };
        Ok(())
    }
}
