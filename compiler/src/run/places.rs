//! The place of a program's grid of strands in the world.

use super::{Prepared, Running, images::Grid, strands::Strands};
use crate::ir::{
    interface::{Interface, Target},
    tensor::Ty,
};
use runtime::{
    grid::{Place, Placement, fit},
    image::grid_of_file,
    nrrd::Space,
    output::Values,
};
use std::path::Path;

impl Prepared {
    /// Whether a place that the user asks for can be found once there are strands.
    ///
    /// # Errors
    /// Why not.
    pub fn check_place(&self, placement: &Placement) -> Result<(), String> {
        let program = self.strands.program();
        if !program.interface.grid && *placement != Placement::None {
            return Err("the strands are a collection; only grids have a place".to_string());
        }
        match placement {
            Placement::Variable(name) => position(&program.interface, name).map(drop),
            other => place_without_strands(&self.strands, &self.sizes, other).map(drop),
        }
    }

    /// The place of the grid, asked for or automatic, if it is known before there are strands.
    pub(super) fn known_place(&self, placement: Option<&Placement>) -> Option<Option<Place>> {
        let interface = &self.strands.program().interface;
        match placement {
            None => position_variable(interface).is_none().then_some(None),
            Some(Placement::Variable(_)) => None,
            Some(other) => place_without_strands(&self.strands, &self.sizes, other).ok(),
        }
    }
}

impl Running {
    /// The place of the grid as the user asks for it. To be asked before the first super-step, while strands are where they
    /// were created.
    ///
    /// # Errors
    /// There is no such place.
    pub fn place(&self, placement: &Placement) -> Result<Option<Place>, String> {
        let strands = self.life.strands();
        match placement {
            Placement::Variable(name) => {
                let variable = position(&strands.program().interface, name)?;
                self.place_by(variable).map(Some)
            }
            other => place_without_strands(strands, &self.sizes, other),
        }
    }

    /// The place that the positions of the strands show, if they have positions: or why they show none.
    pub fn automatic_place(&self) -> Option<Result<Place, String>> {
        let variable = position_variable(&self.life.strands().program().interface)?;
        Some(self.place_by(variable))
    }

    fn place_by(&self, variable: usize) -> Result<Place, String> {
        let program = self.life.strands().program();
        let values = self.life.initial(program.state.variables[variable]);
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
        let space = self.life.strands().images().space(coordinates);
        Ok(Place { space, ..place })
    }
}

/// The place of a grid as the user asks for it, if it does not depend on where strands are.
fn place_without_strands(
    strands: &Strands,
    sizes: &[usize],
    placement: &Placement,
) -> Result<Option<Place>, String> {
    let sizes: Vec<usize> = sizes.iter().rev().copied().collect();
    match placement {
        Placement::Like(name) => {
            let image = |image: usize| strands.images().grid(image);
            like(&strands.program().interface, name, &sizes, image).map(Some)
        }
        other => other.of_words(&sizes),
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
        Some(Target::Image(n)) => {
            let grid = image(n as usize);
            (grid.sizes.clone(), place_of(grid))
        }
        Some(Target::Global(_) | Target::Mesh(_) | Target::Fem(_)) => {
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
        space: match &grid.space {
            space if space.dimension() == dim => space.clone(),
            _ => Space::Dimension(dim),
        },
        directions: (0..dim).map(column).collect(),
        origin: orientation.origin().to_vec(),
    }
}
