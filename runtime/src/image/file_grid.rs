//! The sizes and the place of the grid in a file.

use std::path::Path;

use crate::formats::Source;
use crate::grid::{Place, diagonal};
use crate::nrrd::{Axis, Kind, Space};

/// Sizes and place of the grid of `dim` axes in a file of any format, as its header says.
///
/// # Errors
/// There is no such grid.
pub fn grid_of_file(path: &Path, dim: usize) -> Result<(Vec<usize>, Place), String> {
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
            units: axes.iter().map(|axis| axis.units.clone()).collect(),
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
        units: header.space_units.clone(),
    };
    Ok((sizes, place))
}
