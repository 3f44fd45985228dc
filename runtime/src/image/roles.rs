//! Which axes of an array are the grid of an image, which hold its components, and which are left out.
//!
//! The declared type and the sizes decide; what a header says of an axis can only contradict. All ways to leave as many
//! axes for the grid as the type wants are looked at; of those that nothing contradicts and whose other axes hold the
//! numbers that are wanted, the one counts that goes furthest with what the header says.

use super::components::{self, Expansion, Misfit};
use super::request::Declared;
use super::role::{Role, Span};
use super::says::{Says, rank_of_frames, says};
use crate::file_reference::Frames;
use crate::formats::{Note, Numbering, Triangle};
use crate::nrrd::{Header, Kind};

/// The image that is wanted from an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) declared: Declared<'a>,
    pub(crate) frames: Option<Frames>,
    pub(crate) triangle: Option<Triangle>,
    pub(crate) numbering: Numbering,
    /// The axis that is time, once it is found.
    pub(crate) time: Option<usize>,
}

impl Wanted<'_> {
    /// The number of an axis for the user.
    pub(crate) fn number(&self, header: &Header, axis: usize) -> usize {
        match self.numbering {
            Numbering::FastestFirst => axis,
            Numbering::SlowestFirst => header.axes.len() - 1 - axis,
        }
    }
}

/// The roles of all axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Roles {
    pub(crate) roles: Vec<Role>,
    /// The first number of a sample that counts.
    pub(crate) first: usize,
    pub(crate) expansion: Expansion,
    pub(crate) notes: Vec<Note>,
}

impl Roles {
    /// The axis of time, and the frames of it that count.
    pub(crate) fn time(&self) -> Option<(usize, Span)> {
        let mut roles = self.roles.iter().enumerate();
        roles.find_map(|(axis, role)| match role {
            Role::Time(span) => Some((axis, *span)),
            _ => None,
        })
    }
}

/// Why axes and type do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// There are fewer axes than the grid wants.
    TooFewAxes,
    /// These axes hold values by their kind, so that too few are left for the grid.
    Values(Vec<usize>),
    /// More axes than are wanted belong to the grid, by their kinds or directions.
    Domain,
    /// These axes would hold the components, but their sizes do not fit.
    Count(Vec<usize>),
    /// The axis has as many numbers as half of a matrix, in an order that nothing says.
    UnknownOrder(usize),
    /// One frame is asked for, but no axis has any.
    NoFrames,
    /// A frame is asked for that the axis does not have.
    FrameOutside(usize),
}

/// A way to leave axes for the grid.
struct Choice {
    /// The other axes.
    beside: Vec<usize>,
    /// How far it is from what the header says.
    cost: usize,
    /// Whether it takes some, but not all, of the axes that the header does not describe.
    guessed: bool,
    /// Whether the first ones were taken.
    leading: bool,
}

/// The roles of the axes of an array.
pub(crate) fn assign(header: &Header, wanted: Wanted<'_>) -> Result<Roles, Conflict> {
    match wanted.declared.timed {
        false => assign_beside_time(header, wanted),
        true => assign_over_time(header, wanted),
    }
}

/// The roles of the axes of an array that is an image over time. Time is the axis that the header calls so; else the likeliest for
/// frames that leaves a grid and the components.
fn assign_over_time(header: &Header, wanted: Wanted<'_>) -> Result<Roles, Conflict> {
    let said = says(header);
    if said.len() <= wanted.declared.dim {
        return Err(Conflict::TooFewAxes);
    }
    // Of the axes of a grid only the slowest can be time, and values that are listed.
    let slowest = said.iter().rposition(|says| *says == Says::Domain);
    let may_be_time = |a: &usize| match said[*a] {
        _ if header.axes[*a].size == 0 => false,
        Says::Time => true,
        _ if said.contains(&Says::Time) => false,
        Says::Values => header.axes[*a].kind == Some(Kind::List),
        Says::Domain => slowest == Some(*a),
        Says::Aside | Says::Nothing => true,
    };
    let mut candidates: Vec<usize> = (0..said.len()).filter(may_be_time).collect();
    candidates.sort_by_key(|&a| rank_of_frames(header, &said, a));
    let mut nearest = None;
    for &axis in &candidates {
        let last = header.axes[axis].size - 1;
        let span = match wanted.frames {
            None => Span { first: 0, last },
            Some(Frames::One(index)) => Span {
                first: index,
                last: index,
            },
            Some(Frames::Range(first, last)) => Span { first, last },
        };
        let beside = Wanted {
            frames: None,
            time: Some(axis),
            ..wanted
        };
        match assign_beside_time(header, beside) {
            Ok(_) if span.last > last => return Err(Conflict::FrameOutside(axis)),
            Ok(mut roles) => {
                roles.roles[axis] = Role::Time(span);
                if said[axis] != Says::Time {
                    let number = wanted.number(header, axis);
                    let size = header.axes[axis].size;
                    roles.notes.push(Note::new(format!(
                        "axis {number} of size {size} is taken as time"
                    )));
                }
                return Ok(roles);
            }
            Err(conflict) => nearest = nearest.or(Some(conflict)),
        }
    }
    Err(nearest.unwrap_or(Conflict::NoFrames))
}

/// The roles of all axes but that of time, if there is one.
fn assign_beside_time(header: &Header, wanted: Wanted<'_>) -> Result<Roles, Conflict> {
    let said = says(header);
    let dim = wanted.declared.dim;
    let beside = said.len().checked_sub(dim).ok_or(Conflict::TooFewAxes)?;
    let mut choices: Vec<Choice> = (0_u32..1 << said.len())
        .filter(|set| set.count_ones() as usize == beside)
        .filter(|set| wanted.time.is_none_or(|axis| set >> axis & 1 == 1))
        .filter_map(|set| choice(header, &said, set, wanted))
        .collect();
    choices.sort_by_key(|choice| choice.cost);
    let mut nearest = None;
    for choice in &choices {
        match fit(header, &said, &choice.beside, wanted) {
            Ok(fitting) => return Ok(finish(header, choice, fitting, &choices, wanted, &said)),
            // Which axis has the frames does not depend on which of them is asked for.
            Err(Conflict::FrameOutside(axis)) => return Err(Conflict::FrameOutside(axis)),
            Err(conflict) => nearest = nearest.or(Some(conflict)),
        }
    }
    let values: Vec<usize> = axes(&said, Says::Values);
    let for_values = beside - usize::from(wanted.time.is_some());
    Err(nearest.unwrap_or(match values.len() > for_values {
        true => Conflict::Values(values),
        false => Conflict::Domain,
    }))
}

fn axes(said: &[Says], what: Says) -> Vec<usize> {
    (0..said.len()).filter(|&a| said[a] == what).collect()
}

/// The choice of the axes whose bits are set, if nothing in the header contradicts it.
fn choice(header: &Header, said: &[Says], set: u32, wanted: Wanted<'_>) -> Option<Choice> {
    let is_time = |a: usize| wanted.time == Some(a);
    let chosen = |a: &usize| set >> a & 1 == 1 && !is_time(*a);
    let beside: Vec<usize> = (0..said.len()).filter(chosen).collect();
    let single = |a: &usize| header.axes[*a].size == 1;
    let mut cost = 0;
    for (a, says) in said.iter().enumerate().filter(|(a, _)| !is_time(*a)) {
        let chosen = beside.contains(&a);
        match says {
            Says::Values if !chosen => return None,
            // As many axes as the grid wants, and one without a direction: it has steps of its own.
            Says::Aside if !chosen && !beside.is_empty() => cost += 64,
            Says::Domain if chosen && !single(&a) => return None,
            Says::Domain if chosen => cost += 16,
            Says::Nothing if chosen => cost += 4,
            Says::Time if chosen => cost += 2,
            _ => {}
        }
    }
    // If the header does not describe some axes, the first or the last of these may hold values; for frames, the slowest is likelier.
    let unknown: Vec<usize> = axes(said, Says::Nothing);
    let open = unknown.into_iter().filter(|a| !single(a) && !is_time(*a));
    let open: Vec<usize> = open.collect();
    let taken: Vec<usize> = open
        .iter()
        .copied()
        .filter(|a| beside.contains(a))
        .collect();
    let leading = open.starts_with(&taken);
    let trailing = open.ends_with(&taken);
    if !leading && !trailing {
        return None;
    }
    let usual = match wanted.frames {
        Some(Frames::One(_)) => trailing,
        Some(Frames::Range(..)) | None => leading,
    };
    Some(Choice {
        guessed: !taken.is_empty() && taken.len() < open.len(),
        cost: cost + usize::from(!usual),
        leading,
        beside,
    })
}

/// What the axes beside the grid are.
struct Fitting {
    components: Vec<usize>,
    frame: Option<(usize, usize)>,
    first: usize,
    expansion: Expansion,
}

fn fit(
    header: &Header,
    said: &[Says],
    beside: &[usize],
    wanted: Wanted<'_>,
) -> Result<Fitting, Conflict> {
    let size = |a: usize| header.axes[a].size;
    let several: Vec<usize> = beside.iter().copied().filter(|&a| size(a) > 1).collect();
    match wanted.frames {
        None => {
            let expansion = expand(header, &several, wanted)?;
            Ok(Fitting {
                components: several,
                frame: None,
                first: 0,
                expansion,
            })
        }
        Some(Frames::Range(first, last)) => {
            let &[axis] = &several[..] else {
                return Err(Conflict::NoFrames);
            };
            if last >= size(axis) {
                return Err(Conflict::FrameOutside(axis));
            }
            let plain = Wanted {
                triangle: None,
                ..wanted
            };
            let expansion = components::expand(None, last - first + 1, plain.declared, None);
            Ok(Fitting {
                components: several,
                frame: None,
                first,
                expansion: expansion.map_err(|_| Conflict::Count(vec![axis]))?,
            })
        }
        Some(Frames::One(index)) => {
            let mut candidates = beside.to_vec();
            candidates.sort_by_key(|&a| rank_of_frames(header, said, a));
            for axis in candidates {
                let rest: Vec<usize> = several.iter().copied().filter(|&a| a != axis).collect();
                match expand(header, &rest, wanted) {
                    Ok(_) if index >= size(axis) => return Err(Conflict::FrameOutside(axis)),
                    Ok(expansion) => {
                        return Ok(Fitting {
                            components: rest,
                            frame: Some((axis, index)),
                            first: 0,
                            expansion,
                        });
                    }
                    Err(_) => {}
                }
            }
            Err(expand(header, &several, wanted)
                .err()
                .unwrap_or(Conflict::NoFrames))
        }
    }
}

/// How the numbers along some axes become components.
fn expand(header: &Header, axes: &[usize], wanted: Wanted<'_>) -> Result<Expansion, Conflict> {
    let Wanted {
        declared, triangle, ..
    } = wanted;
    let sizes: Vec<usize> = axes.iter().map(|&a| header.axes[a].size).collect();
    let count = || Conflict::Count(axes.to_vec());
    let (kind, stored) = match (axes, &sizes[..]) {
        ([], _) => (None, 1),
        (&[axis], &[size]) => (header.axes[axis].kind, size),
        // The two axes of a matrix, the columns faster; a vector takes the numbers as they come.
        (_, &[columns, rows]) if [rows, columns] == declared.shape || declared.shape.len() == 1 => {
            (None, rows.checked_mul(columns).ok_or_else(count)?)
        }
        _ => return Err(count()),
    };
    components::expand(kind, stored, declared, triangle).map_err(|misfit| match misfit {
        Misfit::UnknownOrder if axes.len() == 1 => Conflict::UnknownOrder(axes[0]),
        Misfit::UnknownOrder | Misfit::Count => count(),
    })
}

fn finish(
    header: &Header,
    choice: &Choice,
    fitting: Fitting,
    choices: &[Choice],
    wanted: Wanted<'_>,
    said: &[Says],
) -> Roles {
    let role = |axis: usize| {
        if wanted.time == Some(axis) {
            Role::Time(Span::ONE)
        } else if fitting.components.contains(&axis) {
            Role::Component
        } else if !choice.beside.contains(&axis) {
            Role::Domain
        } else {
            let index = fitting.frame.filter(|(a, _)| *a == axis);
            Role::Fixed(index.map_or(0, |(_, index)| index))
        }
    };
    let roles: Vec<Role> = (0..header.axes.len()).map(role).collect();
    let mut notes: Vec<Note> = fitting.expansion.note.clone().into_iter().collect();
    if choice.guessed {
        let also = choices.iter().any(|other| {
            let fits = || fit(header, said, &other.beside, wanted).is_ok();
            choice.leading && other.guessed && !other.leading && fits()
        });
        // Nothing else is usual in a file that cannot say more.
        let usual = wanted.numbering == Numbering::SlowestFirst && choice.leading && !also;
        if !usual {
            notes.push(guess(header, &choice.beside, &roles, also, wanted));
        }
    }
    for &axis in &choice.beside {
        if said[axis] == Says::Domain {
            let axis = wanted.number(header, axis);
            notes.push(Note::new(format!("axis {axis} of one sample is left out")));
        }
    }
    Roles {
        roles,
        first: fitting.first,
        expansion: fitting.expansion,
        notes,
    }
}

/// The note about an assumption, with the header line that would make it explicit, if the format has one.
fn guess(
    header: &Header,
    beside: &[usize],
    roles: &[Role],
    also_last: bool,
    wanted: Wanted<'_>,
) -> Note {
    let named = |&a: &usize| {
        let number = wanted.number(header, a);
        format!("axis {number} of size {}", header.axes[a].size)
    };
    let named: Vec<String> = beside.iter().map(named).collect();
    let what = match roles[beside[0]] {
        Role::Component => "components",
        Role::Domain | Role::Fixed(_) | Role::Time(_) => "frames",
    };
    let are = if beside.len() == 1 { "is" } else { "are" };
    let also = match (also_last, wanted.numbering) {
        (false, _) => "",
        (true, Numbering::FastestFirst) => " (the last would fit as well)",
        (true, Numbering::SlowestFirst) => " (the first would fit as well)",
    };
    let line = match wanted.numbering {
        Numbering::FastestFirst => format!("; `{}` makes this explicit", kinds_line(header, roles)),
        Numbering::SlowestFirst => String::new(),
    };
    Note::new(format!(
        "{} {are} taken as {what}{also}{line}",
        named.join(" and ")
    ))
}

/// The header line that says what the roles are.
pub(crate) fn kinds_line(header: &Header, roles: &[Role]) -> String {
    let kinds = roles.iter().zip(&header.axes).map(|(role, axis)| {
        let kind = match role {
            Role::Domain => Kind::Domain,
            Role::Component => Kind::Vector,
            Role::Fixed(_) => Kind::List,
            Role::Time(_) => Kind::Time,
        };
        axis.kind.unwrap_or(kind).name()
    });
    format!("kinds: {}", kinds.collect::<Vec<_>>().join(" "))
}
