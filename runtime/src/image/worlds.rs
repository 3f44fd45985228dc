//! Checks that the images of one program are in the same world.

use super::place::world_space;
use super::request::Reading;
use crate::formats::{ImageError, Note};
use crate::grid::{Since, Surroundings};
use crate::nrrd::{Header, Space};

/// The space of an image with this header, read in this way.
pub(super) fn surroundings(
    header: &Header,
    since: Option<Since>,
    reading: &Reading,
) -> Surroundings {
    if reading.place.is_some() {
        return Surroundings {
            since,
            ..Surroundings::default()
        };
    }
    Surroundings {
        space: world_space(header, reading.world),
        // A coordinate after the third is time or the like.
        units: header.space_units.iter().take(3).cloned().collect(),
        since,
    }
}

/// The date from which all images of a program count their times: that of the first image that has one.
#[derive(Clone, Debug, Default)]
pub struct FirstDate(Option<Since>);

impl FirstDate {
    /// The seconds by which the times of an image of this name are greater if they are counted from this date.
    ///
    /// # Errors
    /// The date of the image is of another calendar.
    pub fn seconds_before(&mut self, name: &str, image: &Surroundings) -> Result<f64, ImageError> {
        let Some(own) = &image.since else {
            return Ok(0.0);
        };
        let first = self.0.get_or_insert_with(|| own.clone());
        own.seconds_after(first).map_err(|why| {
            ImageError::new(format!("`{name}`: {why}"))
                .hint("`--time zero=first` counts times from the first frame")
        })
    }
}

/// What does not go together among the images of a program, each given with its name.
pub fn disagreements(images: &[(&str, &Surroundings)]) -> Vec<Note> {
    let mut notes = Vec::new();
    let named: Vec<(&str, String)> = images
        .iter()
        .filter_map(|(name, s)| match s.space {
            Space::Named(space) => Some((*name, space.name().to_string())),
            Space::Unknown | Space::Dimension(_) => None,
        })
        .collect();
    if let Some((a, b)) = different(&named) {
        notes.push(Note::warning(format!(
            "`{}` is in the space {}, `{}` in {}; `--world ras` or `--world lps` turns patient spaces into one",
            a.0, a.1, b.0, b.1
        )));
    }
    let units: Vec<(&str, String)> = images
        .iter()
        .filter(|(_, s)| s.units.iter().any(|unit| !unit.is_empty()))
        .map(|(name, s)| (*name, s.units.join(" ")))
        .collect();
    if let Some((a, b)) = different(&units) {
        notes.push(Note::warning(format!(
            "positions of `{}` are in {}, those of `{}` in {}",
            a.0, a.1, b.0, b.1
        )));
    }
    notes
}

/// The name of an image, and something about it.
type Named<'a> = (&'a str, String);

/// The first two that differ.
fn different<'a>(all: &'a [Named<'a>]) -> Option<(&'a Named<'a>, &'a Named<'a>)> {
    let first = all.first()?;
    Some((first, all.iter().find(|other| other.1 != first.1)?))
}
