//! What the header of an array says of its axes.

use crate::nrrd::{Axis, Header, Kind};

/// What the header says of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// It holds values: its kind is none of a domain.
    Values,
    /// It has no direction where others have one.
    Aside,
    /// It is time, which is part of the grid only where nothing else is left.
    Time,
    /// Nothing.
    Nothing,
    /// It belongs to the grid.
    Domain,
}

/// What the header says of each axis.
pub(crate) fn says(header: &Header) -> Vec<Says> {
    let directed = header.axes.iter().any(|a| a.direction.is_some());
    // A fourth coordinate is none of space, whatever it is called.
    let beyond = |direction: &Vec<f64>| direction.len() > 3 && direction[..3] == [0.0; 3];
    let of = |axis: &Axis| match (axis.kind, &axis.direction) {
        (Some(Kind::Time), _) => Says::Time,
        (kind, Some(direction)) if kind.is_none_or(Kind::is_domain) && beyond(direction) => {
            Says::Time
        }
        (Some(kind), _) if kind.is_domain() => Says::Domain,
        (Some(_), _) => Says::Values,
        (None, Some(_)) => Says::Domain,
        (None, None) if directed => Says::Aside,
        (None, None) => Says::Nothing,
    };
    header.axes.iter().map(of).collect()
}

/// How far an axis is from one of frames: time comes first, then lists and unknown kinds, then kinds of values; of each, the slowest first.
pub(crate) fn rank_of_frames(header: &Header, said: &[Says], axis: usize) -> (u8, usize) {
    let listed = header.axes[axis].kind == Some(Kind::List);
    let rank = match said[axis] {
        Says::Time => 0,
        Says::Values if listed => 1,
        Says::Aside | Says::Nothing => 2,
        Says::Values => 3,
        Says::Domain => 4,
    };
    (rank, usize::MAX - axis)
}

/// The axis of frames of an array for which no type is declared.
pub(crate) fn axis_of_frames(header: &Header) -> Option<usize> {
    let said = says(header);
    let several = |a: &usize| header.axes[*a].size > 1 && said[*a] != Says::Domain;
    let axes = (0..said.len()).filter(several);
    axes.min_by_key(|&a| rank_of_frames(header, &said, a))
}
