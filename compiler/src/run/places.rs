//! Where the grid of a program's strands lies in the world.

use super::{Prepared, Running};
use crate::ir::{
    interface::{Interface, Target},
    tensor::Ty,
};
use runtime::{
    image::Orientation,
    nrrd::Space,
    output::place::{Place, Placement, fit, of_file},
};
use std::path::Path;

/// The variable whose values are positions, which the language gives a meaning in queries of neighbours.
const POSITION: &str = "pos";

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
        let sizes: Vec<usize> = self.sizes.iter().rev().copied().collect();
        match placement {
            Placement::Variable(name) => position(&program.interface, name).map(drop),
            Placement::Like(name) => {
                let image = |image: usize| self.strands.images().grid(image);
                like(&program.interface, name, &sizes, image).map(drop)
            }
            other => other.of_words(&sizes).map(drop),
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
        let interface = &self.world.program().program().interface;
        let sizes: Vec<usize> = self.sizes.iter().rev().copied().collect();
        match placement {
            Placement::Variable(name) => self.place_by(position(interface, name)?).map(Some),
            Placement::Like(name) => {
                let image = |image: usize| self.world.program().images().grid(image);
                like(interface, name, &sizes, image).map(Some)
            }
            other => other.of_words(&sizes),
        }
    }

    /// The place that the positions of the strands show, if they have positions: or why they show none.
    pub fn automatic_place(&self) -> Option<Result<Place, String>> {
        let interface = &self.world.program().program().interface;
        let variable = position(interface, POSITION).ok()?;
        interface.grid.then(|| self.place_by(variable))
    }

    fn place_by(&self, variable: usize) -> Result<Place, String> {
        let data = self.variable(variable, true);
        let precision = match self.world.program().program().lanes.double {
            true => f64::EPSILON,
            false => f32::EPSILON.into(),
        };
        let sizes: Vec<usize> = self.sizes.iter().rev().copied().collect();
        let coordinates = data.output.shape[0];
        fit(&data.numbers(), coordinates, &sizes, precision)
    }
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
    image: impl Fn(usize) -> (&'i [usize], &'i Orientation),
) -> Result<Place, String> {
    let input = interface.inputs.iter().find(|input| input.name == name);
    let (found, place) = match input.map(|input| input.target) {
        Some(Target::Image(n)) => {
            let (sizes, orientation) = image(n as usize);
            (sizes.to_vec(), place_of(orientation))
        }
        Some(Target::Global(_) | Target::Mesh(_) | Target::Fem(_)) => {
            return Err(format!("the input `{name}` is not an image"));
        }
        None => of_file(Path::new(name), sizes.len())?,
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

fn place_of(orientation: &Orientation) -> Place {
    let dim = orientation.dim();
    let column = |a: usize| {
        (0..dim)
            .map(|row| orientation.index_to_world()[row * dim + a])
            .collect()
    };
    Place {
        space: Space::Dimension(dim),
        directions: (0..dim).map(column).collect(),
        origin: orientation.origin().to_vec(),
    }
}
