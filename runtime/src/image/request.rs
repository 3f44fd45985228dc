//! A request for a file: the type that the program declares, and the options that its user adds.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use crate::file_name::split_last;
use crate::formats::Triangle;
use crate::grid::Placement;

/// The type `image(dim)[shape]` that a program declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Declared<'a> {
    pub(crate) dim: usize,
    pub(crate) shape: &'a [usize],
}

impl Declared<'_> {
    /// Numbers per sample.
    pub(crate) fn components(&self) -> usize {
        self.shape.iter().product()
    }
}

impl fmt::Display for Declared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<_> = self.shape.iter().map(usize::to_string).collect();
        write!(f, "image({})[{}]", self.dim, sizes.join(","))
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

/// Frames of a file that has an axis beside space and components, as `FILE#N` and `FILE#N:M` ask for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// One frame.
    One(usize),
    /// The frames from the first to the last, as components.
    Range(usize, usize),
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
    /// Bytes that the samples may take; what the machine has, if nothing stands here.
    pub memory: Option<u64>,
}

impl Reading {
    /// Takes what `--world` says: the patient space that is wanted, or the place of the grid.
    pub(crate) fn set_world(&mut self, word: &str) -> Result<(), String> {
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
    pub(crate) fn set_triangle(&mut self, word: &str) -> Result<(), String> {
        self.triangle = Some(match word {
            "upper" => Triangle::Upper,
            "lower" => Triangle::Lower,
            _ => return Err(format!("found `{word}`, expected upper or lower")),
        });
        Ok(())
    }

    /// Takes what `--measurement-frame` says.
    pub(crate) fn set_frame(&mut self, word: &str) -> Result<(), String> {
        self.frame = match word {
            "apply" => MeasurementFrame::Apply,
            "ignore" => MeasurementFrame::Ignore,
            _ => return Err(format!("found `{word}`, expected apply or ignore")),
        };
        Ok(())
    }
}

/// Splits the frames off a name: `ct.nii#3` is frame 3 of `ct.nii`, and `ct.nii#3:5` are three frames.
fn split_frames(name: &OsStr) -> Option<(&OsStr, Frames)> {
    let (file, frames) = split_last(name, b'#')?;
    let frames = frames.to_str()?;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten()
    };
    let frames = match frames.split_once(':') {
        None => Frames::One(number(frames)?),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(Frames::Range(first, last))?
        }
    };
    (!file.is_empty()).then_some((file, frames))
}

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen<'a> {
    pub(crate) file: &'a Path,
    /// The array that is wanted of a file with several.
    pub(crate) array: Option<&'a str>,
    pub(crate) frames: Option<Frames>,
}

/// The file that a name means, and the part of it to read: `FILE`, `FILE#N`, `FILE#ARRAY` or `FILE#ARRAY#N`. A file whose own name looks
/// like that comes first.
pub(crate) fn chosen(name: &Path) -> Chosen<'_> {
    let whole = Chosen {
        file: name,
        array: None,
        frames: None,
    };
    if name.exists() {
        return whole;
    }
    let (file, frames) = match split_frames(name.as_os_str()) {
        Some((file, frames)) => (Path::new(file), Some(frames)),
        None => (name, None),
    };
    let array = split_last(file.as_os_str(), b'#').filter(|_| !file.exists());
    match array.map(|(file, array)| (Path::new(file), array.to_str())) {
        Some((file, Some(array))) if file.exists() => Chosen {
            file,
            array: Some(array),
            frames,
        },
        _ => Chosen {
            file,
            frames,
            ..whole
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_split_off_names() {
        let rows = [
            ("a.nii#3", Some(("a.nii", Frames::One(3)))),
            ("a#b.nii#0:2", Some(("a#b.nii", Frames::Range(0, 2)))),
            ("a.nii", None),
            ("a#", None),
            ("a#x", None),
            ("a#-1", None),
            ("a#+1", None),
            ("a#5:3", None),
            ("a#1:", None),
            ("#1", None),
            ("a#99999999999999999999999", None),
        ];
        for (name, split) in rows {
            let split = split.map(|(file, frames)| (OsStr::new(file), frames));
            assert_eq!(split_frames(OsStr::new(name)), split, "{name}");
        }
    }
}
