//! The axes of a picture: coordinates of the world if its grid is along them, else distances, else the numbers of pixels.

use crate::figure::Axis;
use crate::grid::Place;
use crate::nrrd::{NamedSpace, Space};
use crate::print::short;

/// How far the cosine of an angle may be from 0 or 1.
const STRAIGHT: f64 = 1e-6;
/// The least extent of an axis, as a part of its largest coordinate, that ticks can tell.
const TELLING: f64 = 1e-9;
/// The least extent of an axis.
const LEAST: f64 = 1e-290;

/// The axes of a picture.
pub(super) struct WorldAxes {
    /// From left to right.
    pub(super) across: Axis,
    /// From top to bottom.
    pub(super) down: Axis,
    /// Where the plane of the picture is, if it is a slice of space.
    pub(super) beside: Option<String>,
}

/// Axes that count pixels from 0. A pixel reaches half a step to either side.
pub(super) fn indices([width, height]: [usize; 2]) -> WorldAxes {
    let axis = |name: &str, count: usize| Axis {
        is_whole: true,
        ..stepping(name.to_string(), None, 0.0, 1.0, count)
    };
    WorldAxes {
        across: axis("column", width),
        down: axis("row", height),
        beside: None,
    }
}

/// The axes of a picture in the world; `None` if its own axes are not at right angles, or too long or short for numbers.
pub(super) fn of(place: &Place, sizes: [usize; 2]) -> Option<WorldAxes> {
    let [across, down] = <&[_; 2]>::try_from(&place.directions[..]).ok()?;
    let lengths = [length(across), length(down)];
    let dot: f64 = across
        .iter()
        .zip(down)
        .map(|(a, b)| (a / lengths[0]) * (b / lengths[1]))
        .sum();
    // It is NaN if a length is NaN or 0.
    if dot.is_nan() || dot.abs() > STRAIGHT {
        return None;
    }
    along_coordinates(place, sizes).or_else(|| distances(place, lengths, sizes))
}

/// Pixels that follow each other by a step.
fn stepping(name: String, unit: Option<String>, first: f64, step: f64, count: usize) -> Axis {
    Axis {
        name,
        unit,
        from: first - 0.5 * step,
        to: first + (count as f64 - 0.5) * step,
        is_whole: false,
    }
}

fn along_coordinates(place: &Place, sizes: [usize; 2]) -> Option<WorldAxes> {
    let coordinates = [
        coordinate(&place.directions[0])?,
        coordinate(&place.directions[1])?,
    ];
    let axis = |n: usize| {
        let c = coordinates[n];
        let (first, step) = (*place.origin.get(c)?, place.directions[n][c]);
        let axis = stepping(name(&place.space, c), unit(place, c), first, step, sizes[n]);
        is_telling(&axis).then_some(axis)
    };
    let (across, down) = (axis(0)?, axis(1)?);
    let mut others = (0..place.origin.len()).filter(|c| !coordinates.contains(c));
    let beside = others.next().map(|c| {
        let x = place.origin[c];
        // Rounding is not a place.
        let size = (across.to - across.from).abs();
        let x = if x.abs() < TELLING * size { 0.0 } else { x };
        let unit = unit(place, c).map_or(String::new(), |unit| format!(" {unit}"));
        format!(
            "{} = {}{unit}",
            name(&place.space, c),
            short(x).replace('-', "\u{2212}")
        )
    });
    Some(WorldAxes {
        across,
        down,
        beside,
    })
}

/// Distances from the middle of the first pixel.
fn distances(place: &Place, steps: [f64; 2], sizes: [usize; 2]) -> Option<WorldAxes> {
    let common = unit(place, 0).filter(|first| place.units.iter().all(|unit| unit == first));
    let axis = |n: usize| {
        let axis = stepping(
            "distance".to_string(),
            common.clone(),
            0.0,
            steps[n],
            sizes[n],
        );
        is_telling(&axis).then_some(axis)
    };
    Some(WorldAxes {
        across: axis(0)?,
        down: axis(1)?,
        beside: None,
    })
}

fn is_telling(axis: &Axis) -> bool {
    let extent = (axis.to - axis.from).abs();
    extent.is_finite() && extent >= LEAST && extent >= TELLING * axis.from.abs().max(axis.to.abs())
}

fn length(direction: &[f64]) -> f64 {
    let largest = direction.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    // Squares of very large and very small numbers are none.
    let squares = direction.iter().map(|x| (x / largest).powi(2));
    largest * squares.sum::<f64>().sqrt()
}

/// The coordinate along which a direction is.
fn coordinate(direction: &[f64]) -> Option<usize> {
    let reach = STRAIGHT * length(direction);
    let mut along = (0..direction.len()).filter(|&c| direction[c].abs() > reach);
    along.next().filter(|_| along.next().is_none())
}

fn unit(place: &Place, coordinate: usize) -> Option<String> {
    let unit = place.units.get(coordinate)?;
    (!unit.is_empty()).then(|| unit.clone())
}

/// The name of a coordinate: in a patient it is where the coordinate grows to.
fn name(space: &Space, coordinate: usize) -> String {
    let names = match space {
        Space::Named(NamedSpace::Ras | NamedSpace::RasTime) => ["right", "anterior", "superior"],
        Space::Named(NamedSpace::Las | NamedSpace::LasTime) => ["left", "anterior", "superior"],
        Space::Named(NamedSpace::Lps | NamedSpace::LpsTime) => ["left", "posterior", "superior"],
        _ => ["x", "y", "z"],
    };
    let name = names.get(coordinate);
    name.map_or_else(|| format!("coordinate {coordinate}"), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(directions: [&[f64]; 2], origin: &[f64], units: &[&str]) -> Place {
        Place {
            space: Space::Dimension(origin.len()),
            directions: directions.map(<[_]>::to_vec).to_vec(),
            origin: origin.to_vec(),
            units: units.iter().map(ToString::to_string).collect(),
        }
    }

    fn told(axis: &Axis) -> (&str, Option<&str>, f64, f64) {
        (&axis.name, axis.unit.as_deref(), axis.from, axis.to)
    }

    #[test]
    fn grids_along_the_world_have_its_coordinates() {
        let place = placed(
            [&[0.0, 0.0, -2.0], &[0.5, 0.0, 0.0]],
            &[1.0, 7.0, 40.0],
            &["mm"; 3],
        );
        let axes = of(&place, [10, 4]).expect("axes");
        assert_eq!(told(&axes.across), ("z", Some("mm"), 41.0, 21.0));
        assert_eq!(told(&axes.down), ("x", Some("mm"), 0.75, 2.75));
        assert_eq!(axes.beside.as_deref(), Some("y = 7 mm"));
    }

    #[test]
    fn oblique_grids_have_distances_and_sheared_ones_nothing() {
        let place = placed([&[3.0, 4.0], &[-4.0, 3.0]], &[100.0, 0.0], &[]);
        let axes = of(&place, [3, 2]).expect("axes");
        assert_eq!(told(&axes.across), ("distance", None, -2.5, 12.5));
        assert_eq!(told(&axes.down), ("distance", None, -2.5, 7.5));
        assert!(of(&placed([&[1.0, 0.0], &[1.0, 1.0]], &[0.0; 2], &[]), [3, 2]).is_none());
    }

    #[test]
    fn places_that_numbers_cannot_tell_have_distances_or_nothing() {
        let far = placed([&[1e-6, 0.0], &[0.0, 1e-6]], &[1e12, 0.0], &[]);
        assert_eq!(of(&far, [9, 9]).expect("axes").across.name, "distance");
        for step in [1e308, 1e-320, 0.0, f64::NAN, f64::INFINITY] {
            let place = placed([&[step, 0.0], &[0.0, step]], &[0.0; 2], &[]);
            assert!(of(&place, [9, 9]).is_none(), "{step}");
        }
        let tiny = placed([&[1e-200, 0.0], &[0.0, 1e-200]], &[0.0; 2], &[]);
        assert_eq!(of(&tiny, [9, 9]).expect("axes").across.name, "x");
    }
}
