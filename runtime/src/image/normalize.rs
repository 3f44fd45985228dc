//! From the description of an array to that of an image of a declared type: the roles of the axes, the orientation of the grid,
//! and the conversion of the components.

use super::components::Expansion;
use super::explain::explain;
use super::place::{self, Turn};
use super::request::{Declared, Reading};
use super::role::{Role, Span};
use super::roles::{self, Roles, Wanted};
use super::time;
use crate::formats::{Facts, ImageError, Note};
use crate::grid::{Orientation, Since, TimeAxis};
use crate::nrrd::{Header, SampleType};

/// Everything of an image but its samples, and how those are found.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) roles: Roles,
    /// Samples along each axis of the grid.
    pub(crate) sizes: Vec<usize>,
    /// The frames that are wanted; one without time.
    pub(crate) frames: Span,
    /// Their times, of an image over time.
    pub(crate) time: Option<TimeAxis>,
    /// The date from which these are counted, if the file says, and its user does not say other times.
    pub(crate) since: Option<Since>,
    pub(crate) orientation: Orientation,
    pub(crate) turn: Option<Turn>,
    pub(crate) reversed_from: Option<usize>,
    pub(crate) notes: Vec<Note>,
}

/// How an array becomes an image of the declared type.
pub(crate) fn plan(
    header: &Header,
    facts: &Facts,
    declared: Declared<'_>,
    reading: &Reading,
) -> Result<Plan, ImageError> {
    if header.sample_type == SampleType::Block {
        return Err(ImageError::new(
            "the samples are of type `block`, expected numbers",
        ));
    }
    if reading.times.is_some() && !declared.timed {
        let message = format!("times are given, but the program wants an {declared}");
        let hint = format!(
            "the type of an image over time is `{}`",
            Declared {
                timed: true,
                ..declared
            }
        );
        return Err(ImageError::new(message).hint(hint));
    }
    let wanted = Wanted {
        declared,
        frames: reading.frames,
        triangle: reading.triangle.or(facts.triangle),
        numbering: facts.numbering,
        time: None,
    };
    let roles = roles::assign(header, wanted)
        .map_err(|conflict| explain(header, wanted, &conflict, reading.name.as_deref()))?;
    let domain: Vec<usize> = (0..header.axes.len())
        .filter(|&a| roles.roles[a] == Role::Domain)
        .collect();
    let mut notes = roles.notes.clone();
    let (frames, time) = match roles.time() {
        None => (Span::ONE, None),
        Some((axis, span)) => {
            let time = time::of_axis(header, axis, &domain, span, facts, reading, &mut notes)?;
            (span, Some(time))
        }
    };
    let orientation = place::orientation(header, &domain, reading, &mut notes)?;
    let Expansion { meaning, .. } = roles.expansion;
    let count = declared.components();
    let turn = place::turn(header, meaning, count, facts.vectors, reading, &mut notes);
    Ok(Plan {
        sizes: domain.iter().map(|&a| header.axes[a].size).collect(),
        frames,
        since: facts
            .since
            .clone()
            .filter(|_| time.is_some() && reading.times.is_none()),
        time,
        roles,
        orientation,
        turn,
        reversed_from: facts.reversed_from,
        notes,
    })
}
