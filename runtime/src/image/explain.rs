//! The messages for arrays that are not images of the declared type: the actual and the wanted axes, and the line to add.

use super::components::{dim_of_matrices, matrix_dim, symmetric_kind};
use super::request::Declared;
use super::role::Role;
use super::roles::{Conflict, Wanted, assign, kinds_line};
use super::says::{Says, says};
use crate::file_reference::Frames;
use crate::formats::ImageError;
use crate::nrrd::Header;

/// The sizes of an array: `3 × 64 × 64`.
pub(crate) fn sizes(header: &Header) -> String {
    let sizes: Vec<_> = header.axes.iter().map(|a| a.size.to_string()).collect();
    sizes.join(" × ")
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn axes(count: usize) -> String {
    plural(count, "axis", "axes")
}

/// `axis 0 of kind `vector``.
fn named(header: &Header, wanted: Wanted<'_>, axis: usize) -> String {
    let number = wanted.number(header, axis);
    match header.axes[axis].kind {
        Some(kind) => format!("axis {number} of kind `{kind}`"),
        None => format!("axis {number}"),
    }
}

/// The error for a conflict between an array and the type that a program declares.
pub(crate) fn explain(
    header: &Header,
    wanted: Wanted<'_>,
    conflict: &Conflict,
    name: Option<&str>,
) -> ImageError {
    let declared = wanted.declared;
    let found = format!("{} ({})", axes(header.axes.len()), sizes(header));
    let (dim, count) = (declared.axes(), declared.components());
    let numbers = plural(count, "number", "numbers");
    let error = match conflict {
        Conflict::TooFewAxes => {
            ImageError::new(format!("{found}, but {declared} wants {}", axes(dim)))
        }
        Conflict::Values(values) => {
            let these: Vec<_> = values.iter().map(|&a| named(header, wanted, a)).collect();
            let left = axes(header.axes.len() - values.len());
            let verb = if values.len() == 1 { "holds" } else { "hold" };
            ImageError::new(format!(
                "{} {verb} values, which leaves {left} for {}, but {declared} wants {dim}",
                these.join(" and "),
                if declared.timed {
                    "grid and time"
                } else {
                    "the grid"
                }
            ))
        }
        Conflict::Domain => {
            let error = ImageError::new(format!(
                "{found} that all belong to the grid by their kinds or directions, but {declared} wants {dim}"
            ));
            match first_or_last(header, count) {
                Some(axis) => error.hint(format!(
                    "if axis {axis} holds components, the header needs the line `{}`",
                    kinds_with(header, axis)
                )),
                None => error,
            }
        }
        Conflict::Count(beside) if beside.is_empty() => ImageError::new(format!(
            "{found}, which are all needed for the grid, but {declared} wants {numbers} per sample"
        )),
        Conflict::Count(beside) => {
            let unknown = beside.iter().all(|&a| says(header)[a] == Says::Nothing);
            let message = match (&beside[..], wanted.frames) {
                (&[_], Some(Frames::Range(first, last))) => format!(
                    "frames {first} to {last} are {}, but {declared} wants {numbers} per sample",
                    plural(last - first + 1, "number", "numbers")
                ),
                (&[axis], _) if unknown && count == 1 => {
                    format!(
                        "{found}, but {declared} wants {}{}",
                        axes(dim),
                        of_axis(header, axis)
                    )
                }
                _ => {
                    let these: Vec<_> = beside.iter().map(|&a| named(header, wanted, a)).collect();
                    let stored: usize = beside.iter().map(|&a| header.axes[a].size).product();
                    format!(
                        "{} has {}, but {declared} wants {numbers} per sample",
                        these.join(" with "),
                        plural(stored, "number", "numbers")
                    )
                }
            };
            ImageError::new(message)
        }
        Conflict::UnknownOrder(axis) => {
            let dim = matrix_dim(declared.shape).unwrap_or(3);
            let kind = symmetric_kind(dim);
            let option = name.map_or("--symmetric".to_string(), |n| format!("--symmetric-{n}"));
            let stored = header.axes[*axis].size;
            ImageError::new(format!(
                "{} has {stored} numbers, but {declared} wants {count}",
                named(header, wanted, *axis)
            ))
            .hint(format!(
                "if they are the upper halves of symmetric matrices, the header must give axis {axis} the kind `{kind}`"
            ))
            .hint(format!(
                "or say which half it is: `{option} upper` (xx xy {0}) or `{option} lower` (xx yx {1})",
                if dim == 3 { "xz yy yz zz" } else { "yy" },
                if dim == 3 { "yy zx zy zz" } else { "yy" },
            ))
        }
        Conflict::NoFrames => ImageError::new(format!(
            "{found}, and none of them has frames to choose from"
        )),
        Conflict::FrameOutside(axis) => {
            let size = header.axes[*axis].size;
            let asked = match wanted.frames {
                Some(Frames::One(index) | Frames::Range(_, index)) => index,
                None => 0,
            };
            ImageError::new(format!(
                "frame {asked} is asked for, but {} has frames 0 to {}",
                named(header, wanted, *axis),
                size - 1
            ))
        }
    };
    with_ways_out(error, header, wanted, conflict, name)
}

fn of_axis(header: &Header, axis: usize) -> String {
    match header.axes[axis].kind {
        Some(kind) => format!("; axis {axis} is of kind `{kind}`"),
        None => String::new(),
    }
}

/// Types that would take the array, and frames that can be chosen.
fn with_ways_out(
    mut error: ImageError,
    header: &Header,
    wanted: Wanted<'_>,
    conflict: &Conflict,
    name: Option<&str>,
) -> ImageError {
    if matches!(
        conflict,
        Conflict::UnknownOrder(_) | Conflict::FrameOutside(_)
    ) {
        return error;
    }
    let declare = |declared: Declared<'_>| match name {
        Some(name) => format!("declare `input {declared} {name};`"),
        None => format!("declare {declared}"),
    };
    // A type with the same grid if that is what fits, else the one that the file has by itself.
    let suggested = match conflict {
        Conflict::Count(beside) if !beside.is_empty() && wanted.frames.is_none() => {
            let stored: usize = beside.iter().map(|&a| header.axes[a].size).product();
            let own = natural(header).filter(|(dim, _)| *dim == wanted.declared.dim);
            Some(own.unwrap_or((wanted.declared.dim, vec![stored])))
        }
        _ => natural(header),
    };
    let is_whole = wanted.frames.is_none() && !wanted.declared.timed;
    let over_time = natural_over_time(header).filter(|_| is_whole);
    if let Some((dim, shape)) = &over_time {
        error = error.hint(declare(Declared::over_time(*dim, shape)));
    }
    if let (Some((dim, mut shape)), None) = (suggested, &over_time) {
        shape.retain(|&size| size != 1);
        let type_of_file = Declared::new(dim, &shape);
        let unsaid = header
            .axes
            .iter()
            .all(|a| a.kind.is_none() && a.direction.is_none());
        let reading = match (unsaid, &shape[..]) {
            (true, &[components]) => {
                let axis = if header.axes[0].size == components {
                    0
                } else {
                    header.axes.len() - 1
                };
                let axis = wanted.number(header, axis);
                format!("if axis {axis} holds components, {}", declare(type_of_file))
            }
            _ => declare(type_of_file),
        };
        if type_of_file != wanted.declared {
            error = error.hint(reading);
        }
    }
    if let (Some(axis), None) = (frames(header, wanted), wanted.frames) {
        let number = wanted.number(header, axis);
        error = error.hint(format!(
            "or take one of the {} frames of axis {number}: `FILE#N`, counted from 0",
            header.axes[axis].size
        ));
    }
    match conflict {
        Conflict::Count(beside) if beside.len() > 1 => with_count(error, header, wanted, beside),
        _ => error,
    }
}

/// Says of several axes beside the grid in which order their numbers come.
fn with_count(
    error: ImageError,
    header: &Header,
    wanted: Wanted<'_>,
    beside: &[usize],
) -> ImageError {
    let sizes = beside.iter().map(|&a| {
        let size = header.axes[a].size;
        format!("the {size} of {}", named(header, wanted, a))
    });
    let sizes: Vec<String> = sizes.collect();
    error.hint(format!(
        "`FILE#N` chooses along one axis; the numbers of a sample are {}, those of the first counted fastest",
        sizes.join(" times ")
    ))
}

/// The axis from which a requested frame would be taken.
pub(super) fn frames(header: &Header, wanted: Wanted<'_>) -> Option<usize> {
    let one = Wanted {
        frames: Some(Frames::One(0)),
        ..wanted
    };
    let roles = assign(header, one).ok()?.roles;
    (0..roles.len()).find(|&a| roles[a] == Role::Fixed(0) && header.axes[a].size > 1)
}

/// The dimension and the shape of a sample that the array has by itself: by its kinds, or else, if there are four axes or five,
/// with two short first ones for matrices, or a short first or last one for components.
pub(crate) fn natural(header: &Header) -> Option<(usize, Vec<usize>)> {
    let said = says(header);
    let valued = |s: &Says| matches!(s, Says::Values | Says::Aside | Says::Time);
    let beside: Vec<usize> = (0..said.len()).filter(|&a| valued(&said[a])).collect();
    let mut dim = said.len() - beside.len();
    let mut sizes = beside.iter().map(|&a| header.axes[a].size);
    let count = sizes.try_fold(1_usize, |n, size| n.checked_mul(size))?;
    let matrix = match beside[..] {
        [axis] => header.axes[axis].kind.and_then(dim_of_matrices),
        _ => None,
    };
    let mut shape = match matrix {
        Some(dim) => vec![dim, dim],
        None => vec![count],
    };
    let unsaid = said.iter().all(|s| *s == Says::Nothing);
    if (4..=5).contains(&dim)
        && unsaid
        && let Some(size) = size_of_matrices(header)
    {
        (dim, shape) = (dim - 2, vec![size, size]);
    } else if dim == 4 && unsaid {
        let ends = [0, header.axes.len() - 1].map(|a| header.axes[a].size);
        if let Some(short) = ends.into_iter().find(|size| (2..=9).contains(size)) {
            (dim, shape) = (dim - 1, vec![short]);
        }
    }
    shape.retain(|&size| size != 1);
    (1..=3).contains(&dim).then_some((dim, shape))
}

/// The dimension and the shape of a sample of the image over time that the array is by itself, if one of its axes is time.
pub(crate) fn natural_over_time(header: &Header) -> Option<(usize, Vec<usize>)> {
    let said = says(header);
    let is_time = |a: &usize| said[*a] == Says::Time && header.axes[*a].size > 1;
    let mut times = (0..said.len()).filter(is_time);
    let (time, None) = (times.next()?, times.next()) else {
        return None;
    };
    let mut frame = header.clone();
    frame.axes.remove(time);
    natural(&frame)
}

/// The rows and columns of matrices whose axes are the first two, both shorter than all others.
fn size_of_matrices(header: &Header) -> Option<usize> {
    let sizes = header.sizes();
    let (matrix, grid) = sizes.split_at_checked(2)?;
    let size = matrix[0];
    let is_matrix = (2..=3).contains(&size) && matrix[1] == size;
    (is_matrix && grid.iter().all(|&n| n > size)).then_some(size)
}

fn first_or_last(header: &Header, size: usize) -> Option<usize> {
    let ends = [0, header.axes.len() - 1];
    ends.into_iter()
        .find(|&a| size > 1 && header.axes[a].size == size)
}

/// The line of kinds in which one axis holds components.
fn kinds_with(header: &Header, axis: usize) -> String {
    let mut unnamed = header.clone();
    unnamed.axes[axis].kind = None;
    let roles: Vec<Role> = (0..header.axes.len())
        .map(|a| {
            if a == axis {
                Role::Component
            } else {
                Role::Domain
            }
        })
        .collect();
    kinds_line(&unnamed, &roles)
}
