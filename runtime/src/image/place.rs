//! The place of an image's grid in the world, and the transformation of components that have a direction there.
//!
//! Orientation comes from space directions if a space is given, else from axis mins and maxs, else from spacings, else
//! the grid is at the origin with unit steps. The world is the file's own space; patient spaces are turned into one
//! another only on request.

use std::path::Path;

use super::components::Meaning;
use super::file_grid::grid_of_file;
use super::request::{MeasurementFrame, Reading, World};
use crate::formats::{ImageError, Note, VectorSpace};
use crate::grid::{Orientation, Place, Placement, identity, invert, patient_signs};
use crate::nrrd::{Axis, Centering, Header, NamedSpace, Space};

/// A linear map that takes the components of a sample to the world: a row-major matrix with a row for each component.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    pub(crate) matrix: Vec<f64>,
}

/// The space of the image after the requested change of world.
pub(crate) fn world_space(header: &Header, wanted: World) -> Space {
    match (wanted, patient_signs(&header.space)) {
        (World::Ras, Some(_)) => Space::Named(NamedSpace::Ras),
        (World::Lps, Some(_)) => Space::Named(NamedSpace::Lps),
        _ => header.space.clone(),
    }
}

/// The sign of each coordinate of the wanted world against the file's; all 1 if nothing turns.
fn flips(header: &Header, wanted: World) -> Vec<f64> {
    let mut signs = vec![1.0; header.space.dimension()];
    let target = match wanted {
        World::Stored => None,
        World::Ras => patient_signs(&Space::Named(NamedSpace::Ras)),
        World::Lps => patient_signs(&Space::Named(NamedSpace::Lps)),
    };
    if let (Some(from), Some(to)) = (patient_signs(&header.space), target) {
        for (sign, (from, to)) in signs.iter_mut().zip(from.iter().zip(to)) {
            *sign = from * to;
        }
    }
    signs
}

/// The orientation of the grid of the given axes.
pub(crate) fn orientation(
    header: &Header,
    domain: &[usize],
    reading: &Reading,
    notes: &mut Vec<Note>,
) -> Result<Orientation, ImageError> {
    let dim = domain.len();
    let axes: Vec<&Axis> = domain.iter().map(|&a| &header.axes[a]).collect();
    if let Some(place) = &reading.place {
        let sizes: Vec<usize> = axes.iter().map(|axis| axis.size).collect();
        return given(place, &sizes);
    }
    let space = header.space.dimension();
    let (directions, origin) = if space != 0 {
        let (mut directions, mut origin) = from_space(header, domain, notes)?;
        let signs = flips(header, reading.world);
        for vector in directions.iter_mut().chain([&mut origin]) {
            vector.iter_mut().zip(&signs).for_each(|(x, s)| *x *= s);
        }
        within(directions, origin, notes)?
    } else if axes.iter().all(|a| a.min.is_some() && a.max.is_some()) {
        from_extents(&axes)?
    } else {
        let step = |(a, axis): (usize, &&Axis)| unit(dim, a, axis.spacing.unwrap_or(1.0));
        (axes.iter().enumerate().map(step).collect(), vec![0.0; dim])
    };
    Orientation::new(&directions, &origin)
        .map_err(|e| ImageError::new(format!("the grid cannot be placed in the world: {e}")))
}

/// The orientation that was asked for.
fn given(place: &Placement, sizes: &[usize]) -> Result<Orientation, ImageError> {
    let found = match place {
        Placement::Like(file) => match grid_of_file(Path::new(file), sizes.len()) {
            Ok((found, _)) if found != sizes => {
                Err(format!("the grid of {file} has other sizes, {found:?}"))
            }
            found => found.map(|(_, place)| Some(place)),
        },
        other => other.of_words(sizes),
    };
    let oriented =
        |Place {
             directions, origin, ..
         }| Orientation::new(&directions, &origin).map_err(|e| e.to_string());
    let orientation = found.and_then(|place| place.map(oriented).transpose());
    let wrong = |message: String| ImageError::new(format!("the place that is given: {message}"));
    orientation
        .map_err(wrong)?
        .ok_or_else(|| wrong("it places no grid".to_string()))
}

/// Directions and origin.
type Affine = (Vec<Vec<f64>>, Vec<f64>);

fn unit(dim: usize, axis: usize, length: f64) -> Vec<f64> {
    let mut vector = vec![0.0; dim];
    vector[axis] = length;
    vector
}

/// Directions as given; where they are not, spacings along the coordinates in their order.
fn from_space(
    header: &Header,
    domain: &[usize],
    notes: &mut Vec<Note>,
) -> Result<Affine, ImageError> {
    let space = header.space.dimension();
    if space < domain.len() {
        return Err(ImageError::new(format!(
            "the grid has {} axes in a space of dimension {space}",
            domain.len()
        )));
    }
    let mut directions = Vec::new();
    for (coordinate, &a) in domain.iter().enumerate() {
        let axis = &header.axes[a];
        directions.push(match (&axis.direction, axis.spacing) {
            (Some(direction), _) => direction.clone(),
            (None, Some(spacing)) => {
                notes.push(Note::new(format!(
                    "axis {a} has no space direction: its spacing {spacing} is taken along coordinate {coordinate}"
                )));
                unit(space, coordinate, spacing)
            }
            (None, None) => unit(space, coordinate, 1.0),
        });
    }
    let origin = header.space_origin.clone();
    Ok((directions, origin.unwrap_or_else(|| vec![0.0; space])))
}

/// A grid of fewer dimensions than its space, seen in the coordinates that it spans.
fn within(
    directions: Vec<Vec<f64>>,
    origin: Vec<f64>,
    notes: &mut Vec<Note>,
) -> Result<Affine, ImageError> {
    let (dim, space) = (directions.len(), origin.len());
    if dim == space {
        return Ok((directions, origin));
    }
    let spanned: Vec<usize> = (0..space)
        .filter(|&c| directions.iter().any(|d| d[c] != 0.0))
        .collect();
    let kept: Vec<usize> = match spanned.iter().all(|&c| c < dim) {
        true => (0..dim).collect(),
        false if spanned.len() == dim => spanned,
        false => {
            return Err(ImageError::new(format!(
                "the grid of dimension {dim} is oblique in a space of dimension {space}"
            ))
            .hint("slice the data along an axis of the space, or give the place of the grid"));
        }
    };
    // What comes after the third coordinate is time or the like.
    if kept != [0, 1, 2] {
        let shown: Vec<_> = kept.iter().map(usize::to_string).collect();
        notes.push(Note::new(format!(
            "of the {space} coordinates of the space, the world has {}",
            shown.join(" and ")
        )));
    }
    let keep = |v: &Vec<f64>| kept.iter().map(|&c| v[c]).collect::<Vec<f64>>();
    Ok((directions.iter().map(keep).collect(), keep(&origin)))
}

/// Steps that spread the samples from min to max; unknown centering counts as cells.
fn from_extents(domain: &[&Axis]) -> Result<Affine, ImageError> {
    let dim = domain.len();
    let mut directions = Vec::new();
    let mut origin = Vec::new();
    for (a, axis) in domain.iter().enumerate() {
        let (min, max) = (axis.min.unwrap_or(0.0), axis.max.unwrap_or(0.0));
        let (step, first) = match axis.centering {
            Some(Centering::Node) if axis.size == 1 => {
                return Err(ImageError::new(format!(
                    "axis {a} of the grid has one node-centered sample: min and max give no spacing"
                )));
            }
            Some(Centering::Node) => ((max - min) / (axis.size - 1) as f64, min),
            Some(Centering::Cell) | None => {
                let step = (max - min) / axis.size as f64;
                (step, min + step / 2.0)
            }
        };
        directions.push(unit(dim, a, step));
        origin.push(first);
    }
    Ok((directions, origin))
}

/// What takes the components to the world, if anything: the measurement frame, and the turn from the file's space to
/// the wanted one. `count` is the number of components.
pub(crate) fn turn(
    header: &Header,
    meaning: Meaning,
    count: usize,
    vectors: VectorSpace,
    reading: &Reading,
    notes: &mut Vec<Note>,
) -> Option<Turn> {
    let dim = header.space.dimension();
    let flips = flips(header, reading.world);
    let turned = flips.iter().any(|&s| s != 1.0);
    let follows = vectors == VectorSpace::Same || reading.flip_components;
    if turned && !follows && !matches!(meaning, Meaning::Plain | Meaning::Color) {
        notes.push(Note::new(
            "positions are turned to the wanted world, components are not: the format does not define their space",
        ));
    }
    let frame = match (&header.measurement_frame, reading.frame) {
        (Some(frame), MeasurementFrame::Apply) => known(frame, count, notes),
        _ => None,
    };
    if frame.is_none() && !(turned && follows) {
        return None;
    }
    let fits = match meaning {
        Meaning::Plain | Meaning::Color => false,
        Meaning::Contravariant | Meaning::Covariant => count == dim,
        Meaning::Matrix => count == dim * dim,
    };
    if !fits {
        if frame.is_some() && count > 1 && meaning != Meaning::Color {
            notes.push(Note::warning(
                "the measurement frame is not applied: the kind of the components is not a vector or matrix of the space",
            ));
        }
        return None;
    }
    if frame.is_some() {
        let whose = reading
            .name
            .as_ref()
            .map_or("the values".to_string(), |n| format!("`{n}`"));
        notes.push(Note::new(format!(
            "the measurement frame is applied to {whose}"
        )));
    }
    let frame = frame.unwrap_or_else(|| identity(dim));
    let sign = |k: usize| if follows { flips[k / dim] } else { 1.0 };
    let turn: Vec<f64> = frame.iter().enumerate().map(|(k, x)| sign(k) * x).collect();
    let matrix = match meaning {
        Meaning::Plain | Meaning::Color | Meaning::Contravariant => turn,
        Meaning::Covariant => {
            let inverse = invert(&turn, dim)?;
            (0..dim * dim)
                .map(|k| inverse[k % dim * dim + k / dim])
                .collect()
        }
        // Component (i, j) of M T Mᵀ is the sum of M(i,k) M(j,l) T(k,l) over k and l.
        Meaning::Matrix => {
            let entry = |at: usize| {
                let (to, from) = (at / (dim * dim), at % (dim * dim));
                turn[to / dim * dim + from / dim] * turn[to % dim * dim + from % dim]
            };
            (0..(dim * dim) * (dim * dim)).map(entry).collect()
        }
    };
    Some(Turn { matrix })
}

/// The matrix of a measurement frame from its columns, unless it changes nothing or is not known.
fn known(frame: &[Option<Vec<f64>>], count: usize, notes: &mut Vec<Note>) -> Option<Vec<f64>> {
    let dim = frame.len();
    let columns: Option<Vec<&Vec<f64>>> = frame.iter().map(Option::as_ref).collect();
    let matrix = columns.map(|c| {
        (0..dim * dim)
            .map(|k| c[k % dim][k / dim])
            .collect::<Vec<f64>>()
    });
    match matrix {
        Some(matrix) if matrix == identity(dim) => None,
        Some(matrix) if invert(&matrix, dim).is_some() => Some(matrix),
        // A scalar has no direction, whatever the frame.
        _ if count == 1 => None,
        Some(_) => {
            notes.push(Note::warning(
                "the measurement frame is ignored: it is singular",
            ));
            None
        }
        None => {
            notes.push(Note::warning(
                "the measurement frame is ignored: not all of it is known",
            ));
            None
        }
    }
}
