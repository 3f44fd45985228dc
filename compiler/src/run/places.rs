//! The place of a program's grid of strands in the world.

use super::{Run, images::Grid, strands::Strands};
use crate::ir::{
    interface::{InputTarget, Interface},
    tensor::Ty,
};
use runtime::{
    grid::{Place, Placement, fit},
    image::grid_of_file,
    nrrd::Space,
    output::Values,
};
use std::path::Path;

impl Run {
    /// Whether a place that the user asks for can be found once there are strands.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check_place(&self, placement: &Placement) -> Result<(), String> {
        let interface = &self.program.interface;
        if !interface.grid && *placement != Placement::None {
            return Err("the strands are a collection; only grids have a place".to_string());
        }
        match placement {
            Placement::Variable(name) => position(interface, name).map(drop),
            other => self.place_without_strands(other).map(drop),
        }
    }

    /// The place of the grid, asked for or by its positions, if it is known before there are strands.
    pub(super) fn known_place(&self, placement: Option<&Placement>) -> Option<Option<Place>> {
        match placement {
            None => position_variable(&self.program.interface)
                .is_none()
                .then_some(None),
            Some(Placement::Variable(_)) => None,
            Some(other) => self.place_without_strands(other).ok(),
        }
    }

    /// The place of the grid as the user asks for it; to be called when the strands are created.
    ///
    /// # Errors
    /// There is no such place.
    pub(super) fn requested_place(&self, placement: &Placement) -> Result<Option<Place>, String> {
        match placement {
            Placement::Variable(name) => {
                let variable = position(&self.program.interface, name)?;
                self.place_by(variable).map(Some)
            }
            other => self.place_without_strands(other),
        }
    }

    /// The place of the strands' grid, if the positions at their creation show it.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()?.as_ref().ok()
    }

    /// The reason why the positions of the strands do not place their grid, if they have positions.
    pub fn why_not_placed(&self) -> Option<&str> {
        self.place.as_ref()?.as_ref().err().map(String::as_str)
    }

    /// The place that the positions of the strands show, if they have positions; or the reason why they show none.
    pub(super) fn place_by_positions(&self) -> Option<Result<Place, String>> {
        let variable = position_variable(&self.program.interface)?;
        Some(self.place_by(variable))
    }

    fn place_by(&self, variable: usize) -> Result<Place, String> {
        let found = self.stage.strands();
        let program = found.map_or(&self.program, Strands::program);
        let values = self.stage.initial(program.state.variables[variable]);
        let values = values.ok_or("there are no strands")?;
        let precision = match program.lanes.double {
            true => f64::EPSILON,
            false => f32::EPSILON.into(),
        };
        let sizes: Vec<usize> = self.sizes.iter().rev().copied().collect();
        let coordinates = program.interface.state[variable]
            .variable
            .ty
            .scalars()
            .len();
        let numbers = Values::from(&*values).numbers();
        let place = fit(&numbers, coordinates, &sizes, precision)?;
        let space = self.images.space(coordinates);
        let units = self.images.units(coordinates);
        Ok(Place {
            space,
            units,
            ..place
        })
    }

    /// The place of the grid as the user asks for it, if it does not depend on the strands.
    fn place_without_strands(&self, placement: &Placement) -> Result<Option<Place>, String> {
        let sizes: Vec<usize> = self.sizes.iter().rev().copied().collect();
        match placement {
            Placement::Like(name) => {
                let image = |image: usize| self.images.grid(image);
                like(&self.program.interface, name, &sizes, image).map(Some)
            }
            other => other.of_words(&sizes),
        }
    }
}

/// The number of the state variable that has the positions of the strands of a grid, if there is one.
pub(super) fn position_variable(interface: &Interface) -> Option<usize> {
    let found = interface.state.iter().position(|state| {
        let ty = &state.variable.ty;
        state.is_position && matches!(ty, Ty::Tensor(shape) if shape.order() == 1)
    });
    found.filter(|_| interface.grid)
}

/// The number of a state variable of two or three reals.
fn position(interface: &Interface, name: &str) -> Result<usize, String> {
    let found = interface.state.iter().position(|s| s.variable.name == name);
    let n = found.ok_or_else(|| format!("the strands have no variable `{name}`"))?;
    match &interface.state[n].variable.ty {
        Ty::Tensor(shape) if matches!(shape.dims(), [2 | 3]) => Ok(n),
        other => Err(format!(
            "`{name}` is of type {other}, not a vector of 2 or 3 reals"
        )),
    }
}

/// The place of an input's image or of a file, if it has the sizes of the grid.
fn like<'i>(
    interface: &Interface,
    name: &str,
    sizes: &[usize],
    image: impl Fn(usize) -> &'i Grid,
) -> Result<Place, String> {
    let input = interface.inputs.iter().find(|input| input.name == name);
    let (found, place) = match input.map(|input| input.target) {
        Some(InputTarget::Image(n)) => {
            let grid = image(n as usize);
            (grid.sizes.clone(), place_of(grid))
        }
        Some(InputTarget::Global(_) | InputTarget::Mesh(_) | InputTarget::Fem(_)) => {
            return Err(format!("the input `{name}` is not an image"));
        }
        None => grid_of_file(Path::new(name), sizes.len())?,
    };
    if found != sizes {
        let shown = |sizes: &[usize]| {
            sizes
                .iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(" × ")
        };
        return Err(format!(
            "{name} has {} samples, the grid {} strands",
            shown(&found),
            shown(sizes)
        ));
    }
    Ok(place)
}

fn place_of(grid: &Grid) -> Place {
    let orientation = &grid.orientation;
    let dim = orientation.dim();
    let column = |a: usize| {
        (0..dim)
            .map(|row| orientation.index_to_world()[row * dim + a])
            .collect()
    };
    Place {
        space: match &grid.surroundings.space {
            space if space.dimension() == dim => space.clone(),
            _ => Space::Dimension(dim),
        },
        directions: (0..dim).map(column).collect(),
        origin: orientation.origin().to_vec(),
        units: grid.surroundings.units.clone(),
    }
}
