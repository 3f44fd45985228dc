//! The place of an output's grid in the world: given by the user, or derived from the positions of its strands.

use std::path::Path;

use crate::formats::Source;
use crate::nrrd::{Axis, Kind, Space, parse_real};

/// A place of a grid: `world = origin + Σ index × direction`.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The world.
    pub space: Space,
    /// The step of each axis in the world, those of the fastest axis first.
    pub directions: Vec<Vec<f64>>,
    /// The first strand's position.
    pub origin: Vec<f64>,
}

/// What a user says about the place of a grid. Axes and coordinates are counted from the fastest axis and the first
/// coordinate.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// Nowhere.
    None,
    /// The world is the grid's own index space.
    Index,
    /// As an input or the image of a file of this name.
    Like(String),
    /// As the values of a variable of the strands show when they are created.
    Variable(String),
    /// Steps along the coordinates, from the origin.
    Spacing(Vec<f64>),
    /// Between two corners, which cells fill.
    Box(Vec<f64>),
    /// Directions and origin.
    Matrix(Vec<Vec<f64>>, Vec<f64>),
}

impl Placement {
    /// What a word of the command line says.
    ///
    /// # Errors
    /// A message with the expected form.
    pub fn parse(word: &str) -> Result<Placement, String> {
        let numbers = |text: &str| -> Option<Vec<f64>> {
            text.split(',').map(|w| parse_real(w.trim())).collect()
        };
        let finite = |v: &Vec<f64>| !v.is_empty() && v.iter().all(|x| x.is_finite());
        let found = match word.split_once(':') {
            None if word == "none" => Some(Placement::None),
            None if word == "index" => Some(Placement::Index),
            Some(("like", name)) if !name.is_empty() => Some(Placement::Like(name.to_string())),
            Some(("var", name)) if !name.is_empty() => Some(Placement::Variable(name.to_string())),
            Some(("spacing", text)) => numbers(text).filter(finite).map(Placement::Spacing),
            Some(("box", text)) => numbers(text)
                .filter(|v| finite(v) && v.len() % 2 == 0)
                .map(Placement::Box),
            Some(("matrix", text)) => matrix(text),
            _ => None,
        };
        found.ok_or_else(|| {
            format!(
                "found `{word}`, expected like:FILE, like:INPUT, var:NAME, spacing:SX,SY,…, box:X0,Y0,…,X1,Y1,…, \
                 matrix:(…) (…) @ (…), index or none"
            )
        })
    }

    /// The place of a grid with these sizes, fastest axis first, where no more than the words is needed.
    ///
    /// # Errors
    /// What does not fit the grid.
    pub fn of_words(&self, sizes: &[usize]) -> Result<Option<Place>, String> {
        let dim = sizes.len();
        let fits = |found: usize, what: &str| match found == dim {
            true => Ok(()),
            false => Err(format!("{found} {what} are given for a grid of {dim} axes")),
        };
        let (directions, origin) = match self {
            Placement::None | Placement::Like(_) | Placement::Variable(_) => return Ok(None),
            Placement::Index => (diagonal(&vec![1.0; dim]), vec![0.0; dim]),
            Placement::Spacing(steps) => {
                fits(steps.len(), "spacings")?;
                (diagonal(steps), vec![0.0; dim])
            }
            Placement::Box(corners) => {
                fits(corners.len() / 2, "coordinates of a corner")?;
                let (low, high) = corners.split_at(dim);
                let extents = low.iter().zip(high).zip(sizes);
                let steps: Vec<f64> = extents.map(|((l, h), &n)| (h - l) / n as f64).collect();
                let origin = low.iter().zip(&steps).map(|(l, s)| l + s / 2.0).collect();
                (diagonal(&steps), origin)
            }
            Placement::Matrix(directions, origin) => {
                fits(directions.len(), "directions")?;
                (directions.clone(), origin.clone())
            }
        };
        if !are_independent(&directions) {
            return Err("the directions do not span the grid".to_string());
        }
        let space = Space::Dimension(origin.len());
        Ok(Some(Place {
            space,
            directions,
            origin,
        }))
    }
}

fn diagonal(steps: &[f64]) -> Vec<Vec<f64>> {
    let row = |a: usize| (0..steps.len()).map(move |c| if c == a { steps[a] } else { 0.0 });
    (0..steps.len()).map(|a| row(a).collect()).collect()
}

/// Directions and origin as NRRD writes vectors, `(1,0,0) (0,1,0) (0,0,1) @ (0,0,0)`.
fn matrix(text: &str) -> Option<Placement> {
    let (directions, origin) = text.split_once('@')?;
    let vectors = |text: &str| -> Option<Vec<Vec<f64>>> {
        let inner = text.trim().strip_prefix('(')?.strip_suffix(')')?;
        let vectors = inner.split(')').enumerate().map(|(n, part)| {
            let part = if n == 0 {
                part
            } else {
                part.trim().strip_prefix('(')?
            };
            let numbers = part.split(',').map(|w| parse_real(w.trim()));
            let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
            numbers.iter().all(|x| x.is_finite()).then_some(numbers)
        });
        vectors.collect()
    };
    let directions = vectors(directions)?;
    let [origin] = <[_; 1]>::try_from(vectors(origin)?).ok()?;
    let fits = (1..=3).contains(&origin.len())
        && directions.len() <= origin.len()
        && directions.iter().all(|d| d.len() == origin.len());
    fits.then_some(Placement::Matrix(directions, origin))
}

/// The place of a grid, with sizes from the fastest axis on, whose strands have these positions of `coordinates` numbers
/// each, in the order of the strands. `precision` is the relative precision of the numbers.
///
/// # Errors
/// Why the positions are not those of a grid.
pub fn fit(
    positions: &[f64],
    coordinates: usize,
    sizes: &[usize],
    precision: f64,
) -> Result<Place, String> {
    let dim = sizes.len();
    let at = |strand: usize| &positions[strand * coordinates..(strand + 1) * coordinates];
    let count: usize = sizes.iter().product();
    if dim > coordinates || count == 0 || positions.len() != count * coordinates {
        return Err(format!(
            "positions of {coordinates} coordinates cannot place a grid of {dim} axes"
        ));
    }
    let largest = positions.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if !largest.is_finite() || positions.iter().any(|x| x.is_nan()) {
        return Err("not all positions are finite".to_string());
    }
    let origin = at(0).to_vec();
    let mut stride = 1;
    let mut directions: Vec<Option<Vec<f64>>> = Vec::new();
    for &n in sizes {
        let last = at((n - 1) * stride);
        let step = last
            .iter()
            .zip(&origin)
            .map(|(l, o)| (l - o) / (n - 1) as f64);
        directions.push((n > 1).then(|| step.collect()));
        stride *= n;
    }
    let known: Vec<Vec<f64>> = directions.iter().flatten().cloned().collect();
    if !are_independent(&known) {
        return Err("the axes of the grid do not span a space".to_string());
    }
    let shortest = known
        .iter()
        .map(|d| length(d))
        .fold(f64::INFINITY, f64::min);
    let shortest = if shortest.is_finite() { shortest } else { 0.0 };
    let tolerance = (1e-4 * shortest).max(8.0 * precision * largest);
    for strand in 0..count {
        let mut expected = origin.clone();
        let mut rest = strand;
        for (direction, &n) in directions.iter().zip(sizes) {
            let index = (rest % n) as f64;
            rest /= n;
            for (e, d) in expected.iter_mut().zip(direction.iter().flatten()) {
                *e += index * d;
            }
        }
        let off: Vec<f64> = at(strand)
            .iter()
            .zip(&expected)
            .map(|(p, e)| p - e)
            .collect();
        if length(&off) > tolerance {
            return Err(format!("strand {strand} is not where an even grid has it"));
        }
    }
    Ok(Place {
        space: Space::Dimension(coordinates),
        directions: completed(directions, coordinates),
        origin,
    })
}

fn length(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The part of a vector orthogonal to the directions, which need not be orthogonal themselves; nothing if it is in their span.
fn beside(v: &[f64], directions: &[Vec<f64>]) -> Option<Vec<f64>> {
    /// The least part of a vector that counts as lying outside.
    const LEAST: f64 = 1e-6;
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for d in directions {
        basis.extend(remainder(d, &basis));
    }
    let rest = remainder_of(v, &basis);
    (length(&rest) > LEAST * length(v)).then_some(rest)
}

/// The part of a vector orthogonal to orthogonal unit vectors, as a unit vector.
fn remainder(v: &[f64], basis: &[Vec<f64>]) -> Option<Vec<f64>> {
    let rest = remainder_of(v, basis);
    let norm = length(&rest);
    (norm > 0.0).then(|| rest.iter().map(|x| x / norm).collect())
}

fn remainder_of(v: &[f64], basis: &[Vec<f64>]) -> Vec<f64> {
    let mut rest = v.to_vec();
    for unit in basis {
        let along = dot(&rest, unit);
        rest.iter_mut().zip(unit).for_each(|(r, u)| *r -= along * u);
    }
    rest
}

fn are_independent(directions: &[Vec<f64>]) -> bool {
    (0..directions.len()).all(|n| beside(&directions[n], &directions[..n]).is_some())
}

/// Axes of one sample get unit directions orthogonal to the others.
fn completed(directions: Vec<Option<Vec<f64>>>, coordinates: usize) -> Vec<Vec<f64>> {
    let mut known: Vec<Vec<f64>> = directions.iter().flatten().cloned().collect();
    let mut all = Vec::new();
    for direction in directions {
        all.push(direction.unwrap_or_else(|| {
            let units = diagonal(&vec![1.0; coordinates]);
            let rest = units.iter().map(|unit| (beside(unit, &known), unit));
            // The unit vector that the others say least about.
            let best = rest
                .filter_map(|(rest, _)| rest)
                .max_by(|a, b| length(a).total_cmp(&length(b)));
            let best = best.expect("fewer directions than coordinates leave one free");
            let norm = length(&best);
            let unit: Vec<f64> = best.iter().map(|x| x / norm).collect();
            known.push(unit.clone());
            unit
        }));
    }
    all
}

/// Sizes and place of the grid of `dim` axes in a file of any format, as its header says.
///
/// # Errors
/// There is no such grid.
pub fn of_file(path: &Path, dim: usize) -> Result<(Vec<usize>, Place), String> {
    let source = Source::open(path).map_err(|e| e.to_string())?;
    let header = source.header();
    let name = path.display();
    let space = header.space.dimension();
    let in_grid = |axis: &&Axis| match space {
        0 => axis
            .kind
            .is_none_or(|kind| matches!(kind, Kind::Space | Kind::Domain)),
        _ => axis.direction.is_some(),
    };
    let axes: Vec<&Axis> = header.axes.iter().filter(in_grid).collect();
    if axes.len() != dim {
        return Err(format!(
            "{name} has a grid of {} axes, not {dim}",
            axes.len()
        ));
    }
    let sizes = axes.iter().map(|axis| axis.size).collect();
    if space == 0 {
        let steps: Vec<f64> = axes
            .iter()
            .map(|axis| axis.spacing.unwrap_or(1.0))
            .collect();
        let place = Place {
            space: Space::Dimension(dim),
            directions: diagonal(&steps),
            origin: vec![0.0; dim],
        };
        return Ok((sizes, place));
    }
    let place = Place {
        space: header.space.clone(),
        directions: axes
            .iter()
            .flat_map(|axis| axis.direction.clone())
            .collect(),
        origin: header
            .space_origin
            .clone()
            .unwrap_or_else(|| vec![0.0; space]),
    };
    Ok((sizes, place))
}
