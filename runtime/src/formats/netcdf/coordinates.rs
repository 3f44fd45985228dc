//! The place of a grid by the coordinates of its dimensions, as the CF conventions have them.

use netcdf_reader::{NcFile, NcType, NcVariable};

use super::variables::{Found, fail, text};
use crate::formats::{FrameTimes, ImageError, Note};
use crate::grid::{Since, seconds};
use crate::memory::MOST_OF_A_BYTE;
use crate::nrrd::{Axis, Kind, Space};

/// The axes of a variable, fastest first, with their place in the world.
pub(super) struct Coordinates {
    pub(super) axes: Vec<Axis>,
    pub(super) space: Space,
    pub(super) origin: Option<Vec<f64>>,
    pub(super) units: Vec<String>,
    pub(super) notes: Vec<Note>,
    /// The times of frames that are not regular.
    pub(super) times: FrameTimes,
    /// The date from which times are counted.
    pub(super) since: Option<Since>,
    /// Why the grid has no place, if its coordinates are not regular.
    pub(super) irregular: Option<ImageError>,
}

/// What a dimension is. The order is that of world coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    X,
    Y,
    Z,
    Unknown,
    Time,
}

/// Names, standard names and units by which a dimension is known.
const KNOWN: &[(Sort, &[&str])] = &[
    (
        Sort::X,
        &[
            "x",
            "lon",
            "longitude",
            "nav_lon",
            "rlon",
            "xc",
            "grid_longitude",
            "projection_x_coordinate",
            "degrees_east",
            "degree_east",
            "degrees_e",
        ],
    ),
    (
        Sort::Y,
        &[
            "y",
            "lat",
            "latitude",
            "nav_lat",
            "rlat",
            "yc",
            "grid_latitude",
            "projection_y_coordinate",
            "degrees_north",
            "degree_north",
            "degrees_n",
        ],
    ),
    (
        Sort::Z,
        &[
            "z",
            "lev",
            "level",
            "levels",
            "depth",
            "height",
            "altitude",
            "plev",
            "pressure_level",
            "zc",
            "air_pressure",
            "isobaric",
        ],
    ),
    (Sort::Time, &["t", "time"]),
];

fn sort(dimension: &str, coordinate: Option<&NcVariable>) -> Sort {
    let of = |name: &str| coordinate.and_then(|variable| text(variable, name));
    match of("axis").as_deref() {
        Some("X") => return Sort::X,
        Some("Y") => return Sort::Y,
        Some("Z") => return Sort::Z,
        Some("T") => return Sort::Time,
        _ => {}
    }
    let units = of("units").unwrap_or_default();
    if units.contains(" since ") {
        return Sort::Time;
    }
    let words = [
        of("standard_name").unwrap_or_default(),
        units,
        dimension.to_string(),
    ];
    let known = words.iter().find_map(|word| {
        let word = word.to_ascii_lowercase();
        KNOWN
            .iter()
            .find(|(_, names)| names.contains(&word.as_str()))
    });
    match known {
        Some((sort, _)) => *sort,
        None if of("positive").is_some() => Sort::Z,
        None => Sort::Unknown,
    }
}

/// Parts of a step by which regular coordinates may be off: in space, and in time, where others are as good.
const IN_SPACE: f64 = 1e-4;
const IN_TIME: f64 = 1e-6;

/// First value and step of regular coordinates. They may be off by parts of a step, and by the rounding of single precision.
fn regular(values: &[f64], off: f64, is_single: bool) -> Option<(f64, f64)> {
    let (&first, &last) = (values.first()?, values.last()?);
    if values.len() == 1 {
        return first.is_finite().then_some((first, 1.0));
    }
    let step = (last - first) / (values.len() - 1) as f64;
    let rounding = if is_single {
        f64::from(f32::EPSILON) * first.abs().max(last.abs())
    } else {
        0.0
    };
    let fits = |(i, x): (usize, &f64)| {
        (x - (first + i as f64 * step)).abs() <= off * step.abs() + rounding
    };
    (step != 0.0 && step.is_finite() && values.iter().enumerate().all(fits))
        .then_some((first, step))
}

/// A dimension with its coordinate, if it has one.
struct Dimension {
    name: String,
    size: usize,
    sort: Sort,
    unit: String,
    /// The calendar of dates.
    calendar: String,
    /// The values of the coordinate.
    values: Option<Vec<f64>>,
    is_single: bool,
}

impl Dimension {
    fn regular(&self) -> Option<(f64, f64)> {
        let off = match self.sort {
            Sort::Time => IN_TIME,
            Sort::X | Sort::Y | Sort::Z | Sort::Unknown => IN_SPACE,
        };
        regular(self.values.as_ref()?, off, self.is_single)
    }
}

impl Coordinates {
    pub(super) fn of(
        file: &NcFile,
        found: &Found<'_>,
        length: u64,
    ) -> Result<Coordinates, ImageError> {
        let dimensions = found.variable.dimensions().iter().rev();
        let dimensions = dimensions.map(|dimension| {
            let inner = found.groups.iter().rev();
            let coordinate = inner.filter_map(|(path, group)| {
                let variable = group.variable(&dimension.name)?;
                let fits = variable.is_coordinate_variable_for(&dimension.name);
                fits.then_some((path, variable))
            });
            let coordinate = coordinate.into_iter().next();
            let size = usize::try_from(dimension.size);
            let size = size.map_err(|_| ImageError::new("a dimension is too large"))?;
            let is_numeric = |variable: &NcVariable| {
                !matches!(variable.dtype(), NcType::Char | NcType::String)
                    && variable.dtype().is_primitive()
            };
            let values = match coordinate {
                Some((path, variable)) if is_numeric(variable) => {
                    if dimension.size.saturating_mul(8) > length.saturating_mul(MOST_OF_A_BYTE) {
                        return Err(ImageError::new("the file is too short for its coordinates"));
                    }
                    let path = format!("{path}{}", variable.name());
                    let values = file.read_variable_unpacked_masked(&path).map_err(fail)?;
                    Some(values.iter().copied().collect())
                }
                _ => None,
            };
            let variable = coordinate.map(|(_, variable)| variable);
            Ok(Dimension {
                name: dimension.name.clone(),
                size,
                sort: sort(&dimension.name, variable),
                unit: variable.and_then(|v| text(v, "units")).unwrap_or_default(),
                calendar: variable
                    .and_then(|v| text(v, "calendar"))
                    .unwrap_or_default(),
                values,
                is_single: variable.is_some_and(|v| *v.dtype() == NcType::Float),
            })
        });
        let dimensions = dimensions.collect::<Result<Vec<Dimension>, ImageError>>()?;
        let mut placed = place(&dimensions);
        let crooked =
            text(found.variable, "coordinates").filter(|_| placed.space == Space::Unknown);
        if let Some(names) = crooked {
            placed.notes.push(Note::warning(format!(
                "the coordinates `{names}` are not along the axes: the grid is in index space; `cdo remapbil,GRID IN OUT` makes a regular grid"
            )));
        }
        Ok(placed)
    }
}

/// The place of a grid over dimensions, fastest first.
fn place(dimensions: &[Dimension]) -> Coordinates {
    let (mut notes, mut times) = (Vec::new(), FrameTimes::Header);
    let mut axes: Vec<Axis> = dimensions
        .iter()
        .map(|dimension| match dimension.sort {
            Sort::Time => time_axis(dimension, &mut times, &mut notes),
            Sort::X | Sort::Y | Sort::Z | Sort::Unknown => plain(dimension),
        })
        .collect();
    let in_space =
        |d: &&Dimension| d.sort != Sort::Time && (d.values.is_some() || d.sort != Sort::Unknown);
    let spatial: Vec<&Dimension> = dimensions.iter().filter(in_space).collect();
    let since = dimensions.iter().find_map(since);
    let unplaced = |axes, notes, times, since, irregular| Coordinates {
        axes,
        space: Space::Unknown,
        origin: None,
        units: Vec::new(),
        notes,
        times,
        since,
        irregular,
    };
    let has_values = spatial.iter().any(|d| d.values.is_some());
    if !has_values || spatial.len() > 3 {
        return unplaced(axes, notes, times, since, None);
    }
    if let Some(bent) = spatial
        .iter()
        .find(|d| d.values.is_some() && d.regular().is_none())
    {
        let error = irregular(bent);
        return unplaced(axes, notes, times, since, Some(error));
    }
    // The coordinates of the world are x, y and z where the file says which is which, else those of the axes in their order.
    let mut order: Vec<usize> = (0..spatial.len()).collect();
    let sorts: Vec<Sort> = spatial.iter().map(|d| d.sort).collect();
    let distinct =
        (0..sorts.len()).all(|i| sorts[i] != Sort::Unknown && !sorts[..i].contains(&sorts[i]));
    if distinct {
        order.sort_by_key(|&i| sorts[i]);
    }
    let count = spatial.len();
    let (mut origin, mut units) = (vec![0.0; count], vec![String::new(); count]);
    for (coordinate, &i) in order.iter().enumerate() {
        let dimension = spatial[i];
        let (start, step) = dimension.regular().unwrap_or((0.0, 1.0));
        let at = dimensions.iter().position(|d| d.name == dimension.name);
        let mut direction = vec![0.0; count];
        direction[coordinate] = step;
        if let Some(at) = at {
            axes[at].direction = Some(direction);
            axes[at].kind = Some(Kind::Space);
        }
        origin[coordinate] = start;
        units[coordinate] = dimension.unit.clone();
    }
    if units
        .iter()
        .any(|unit| unit.to_ascii_lowercase().starts_with("degree"))
    {
        notes.push(Note::new(
            "positions are in degrees: `∇` and velocities are per degree",
        ));
    }
    Coordinates {
        axes,
        space: Space::Dimension(count),
        origin: Some(origin),
        units,
        notes,
        times,
        since,
        irregular: None,
    }
}

/// An axis without a place in space.
fn plain(dimension: &Dimension) -> Axis {
    Axis {
        size: dimension.size,
        label: dimension.name.clone(),
        ..Axis::default()
    }
}

/// An axis of time, whose steps are in seconds; times that are not regular stand beside it.
fn time_axis(dimension: &Dimension, times: &mut FrameTimes, notes: &mut Vec<Note>) -> Axis {
    let mut axis = plain(dimension);
    axis.kind = Some(Kind::Time);
    let (unit, since) = dimension
        .unit
        .split_once(" since ")
        .unwrap_or((&dimension.unit, ""));
    let since = if since.is_empty() {
        String::new()
    } else {
        format!(" after {since}")
    };
    let name = &dimension.name;
    let unit = unit.trim();
    let Some(values) = &dimension.values else {
        return axis;
    };
    let regular = dimension.regular().filter(|_| dimension.size > 1);
    match (regular, seconds(unit)) {
        _ if has_no_length(unit) => {
            let error = ImageError::new(format!(
                "the times `{name}` are in {unit}, which are not all of one length"
            ));
            let hint = "`--time START:STEP` gives the seconds of the first frame and of a step";
            *times = FrameTimes::Unknown(error.hint(hint));
        }
        (Some((start, step)), Some(factor)) => {
            axis.min = Some(start * factor);
            axis.spacing = Some(step * factor);
            axis.units = "s".to_string();
            notes.push(Note::new(format!(
                "`{}` has {} frames, every {} s from {} s{since}",
                dimension.name,
                dimension.size,
                step * factor,
                start * factor
            )));
        }
        (Some((start, step)), None) => {
            (axis.min, axis.spacing) = (Some(start), Some(step));
            axis.units = unit.to_string();
        }
        (None, factor) => {
            let factor = factor.unwrap_or(1.0);
            *times = FrameTimes::Seconds(values.iter().map(|time| time * factor).collect());
            if dimension.size > 1 {
                notes.push(Note::new(format!(
                    "`{name}` has {} frames, which are not at regular times",
                    dimension.size
                )));
            }
        }
    }
    axis
}

/// The date from which a dimension that is time counts.
fn since(dimension: &Dimension) -> Option<Since> {
    let (_, date) = dimension.unit.split_once(" since ")?;
    Since::parse(date, &dimension.calendar).filter(|_| dimension.sort == Sort::Time)
}

/// Whether a unit of time has no fixed length.
fn has_no_length(unit: &str) -> bool {
    let unit = unit.to_ascii_lowercase();
    [
        "month",
        "months",
        "year",
        "years",
        "common_year",
        "common_years",
    ]
    .contains(&unit.as_str())
}

fn irregular(dimension: &Dimension) -> ImageError {
    let error = ImageError::new(format!(
        "the coordinates `{}` are not regular",
        dimension.name
    ));
    let error = error.hint("`--world index` takes positions as indices");
    match dimension.sort {
        Sort::Z => {
            error.hint("with CDO: `cdo intlevel,Z1,Z2,… IN OUT` interpolates to regular levels")
        }
        _ => error.hint("with CDO: `cdo remapbil,r360x180 IN OUT` interpolates to a regular grid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimension(name: &str, unit: &str, values: Option<&[f64]>) -> Dimension {
        Dimension {
            name: name.to_string(),
            size: values.map_or(3, <[f64]>::len),
            sort: sort(name, None),
            unit: unit.to_string(),
            calendar: String::new(),
            values: values.map(<[f64]>::to_vec),
            is_single: true,
        }
    }

    #[test]
    fn coordinates_follow_their_names_and_not_the_order_of_dimensions() {
        // Longitude is slower than latitude, which goes from north to south.
        let lat = dimension("lat", "degrees_north", Some(&[10.0, 8.0, 6.0]));
        let lon = dimension("lon", "degrees_east", Some(&[100.0, 100.5]));
        let placed = place(&[lat, lon]);
        assert_eq!(placed.axes[0].direction, Some(vec![0.0, -2.0]));
        assert_eq!(placed.axes[1].direction, Some(vec![0.5, 0.0]));
        assert_eq!(placed.origin, Some(vec![100.0, 10.0]));
        assert_eq!(placed.units, ["degrees_east", "degrees_north"]);
        assert!(placed.notes[0].text.contains("per degree"));
    }

    #[test]
    fn levels_that_are_not_regular_leave_the_grid_without_a_place() {
        let x = dimension("x", "m", Some(&[0.0, 1.0, 2.0]));
        let z = dimension("depth", "m", Some(&[0.0, 10.0, 50.0]));
        let placed = place(&[x, z]);
        assert_eq!(placed.space, Space::Unknown);
        let error = placed.irregular.expect("levels").to_string();
        assert!(
            error.contains("`depth` are not regular") && error.contains("intlevel"),
            "{error}"
        );
    }

    #[test]
    fn single_precision_does_not_make_steps_irregular() {
        let values: Vec<f64> = (0..3600).map(|i| f64::from(i as f32 * 0.1)).collect();
        let (start, step) = regular(&values, IN_SPACE, true).expect("regular");
        assert!((start, (step - 0.1).abs() < 1e-6) == (0.0, true));
        assert_eq!(regular(&[0.0, 1.0, 2.1], IN_SPACE, false), None);
        assert_eq!(regular(&[0.0, 0.0], IN_SPACE, false), None);
        assert_eq!(regular(&[5.0], IN_SPACE, false), Some((5.0, 1.0)));
    }

    #[test]
    fn time_is_in_seconds_and_beside_the_grid() {
        let x = dimension("x", "m", Some(&[0.0, 1.0]));
        let time = dimension("time", "hours since 2020-01-01", Some(&[0.0, 6.0, 12.0]));
        let placed = place(&[x, time]);
        assert_eq!(placed.axes[1].kind, Some(Kind::Time));
        assert_eq!(placed.axes[1].spacing, Some(21600.0));
        assert!(
            placed.notes[0]
                .text
                .contains("every 21600 s from 0 s after 2020-01-01")
        );
    }
}
