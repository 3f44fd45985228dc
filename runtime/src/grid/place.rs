//! The place of a grid in the world, and the ways in which a user can give one.

use super::vectors::{are_independent, diagonal};
use crate::nrrd::{Space, parse_real};

/// A place of a grid: `world = origin + Σ index × direction`.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The world.
    pub space: Space,
    /// The step of each axis in the world, those of the fastest axis first.
    pub directions: Vec<Vec<f64>>,
    /// The position of the first sample or strand.
    pub origin: Vec<f64>,
    /// The units of coordinates, as far as they are known.
    pub units: Vec<String>,
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
            units: Vec::new(),
        }))
    }
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
