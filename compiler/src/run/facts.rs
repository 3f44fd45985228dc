//! Facts about the data of a run: boxes, spacings and ranges of values.

use super::{Images, images::Grid};
use crate::{
    front::tree::Constant,
    ir::{
        interface::{Data, Fact},
        tensor::Ty,
    },
};
use ein_ir::Shape;

/// A fact about data, as a value of its type.
pub(super) fn data_fact(images: &Images, fact: Fact, ty: &Ty) -> Constant {
    let real = |x: f64| Constant::Tensor(Shape::SCALAR, vec![x]);
    match fact {
        Fact::Given(_) => unreachable!("whether an input was given is not a fact about data"),
        Fact::Spacing(data) => {
            let spacings = extents(images, data);
            real(
                spacings
                    .map(|extent| extent.spacing)
                    .fold(f64::INFINITY, f64::min),
            )
        }
        Fact::Range(data) => {
            let (least, greatest) = match data {
                Data::Image(image) => images.range_of_image(image as usize),
                Data::Fem(fem) => images.range_of_values(fem as usize),
                Data::Mesh(_) | Data::All(_) => unreachable!("ranges are of values"),
            };
            Constant::Seq(vec![real(least), real(greatest)])
        }
        Fact::Frames(fem) => {
            let (frames, _) = images.frames_of_values(fem as usize);
            Constant::Int(frames as i64)
        }
        Fact::StartTime(fem) => real(images.frames_of_values(fem as usize).1.start()),
        Fact::EndTime(fem) => {
            let (frames, times) = images.frames_of_values(fem as usize);
            real(times.end(frames))
        }
        Fact::Bounds(data) => {
            let corner = match ty {
                Ty::Seq(corner, _) => corner,
                other => unreachable!("a box of type {other}"),
            };
            let Ty::Tensor(shape) = &**corner else {
                unreachable!("a corner of type {corner}")
            };
            let none = (f64::INFINITY, f64::NEG_INFINITY);
            let mut all = vec![none; shape.size()];
            for extent in extents(images, data) {
                for (all, one) in all.iter_mut().zip(&extent.world_box) {
                    *all = (all.0.min(one.0), all.1.max(one.1));
                }
            }
            let corner = |number: fn(&(f64, f64)) -> f64| {
                Constant::Tensor(shape.clone(), all.iter().map(number).collect())
            };
            Constant::Seq(vec![corner(|side| side.0), corner(|side| side.1)])
        }
    }
}

/// The space that data take.
pub(super) struct Extent {
    /// The least and the greatest coordinate along each axis of the world.
    pub(super) world_box: Vec<(f64, f64)>,
    /// The distance of neighbouring samples.
    pub(super) spacing: f64,
}

impl Extent {
    /// That of the samples of an image.
    pub(super) fn of_grid(grid: &Grid) -> Extent {
        let dim = grid.sizes.len();
        let matrix = grid.orientation.index_to_world();
        let length = |axis: usize| {
            let column = (0..dim).map(|row| matrix[row * dim + axis]);
            column.map(|x| x * x).sum::<f64>().sqrt()
        };
        // A single sample has no neighbour.
        let axes = (0..dim).filter(|&axis| grid.sizes[axis] > 1);
        let spacing = axes.map(length).fold(f64::INFINITY, f64::min);
        Extent {
            world_box: grid.orientation.world_box(&grid.sizes),
            spacing: match spacing.is_finite() {
                true => spacing,
                false => (0..dim).map(length).fold(f64::INFINITY, f64::min),
            },
        }
    }

    /// That of a mesh.
    pub(super) fn of_mesh(world_box: Vec<(f64, f64)>, cells: usize) -> Extent {
        let volume: f64 = world_box.iter().map(|(low, high)| high - low).product();
        let spacing = (volume / cells.max(1) as f64).powf(1.0 / world_box.len() as f64);
        Extent { world_box, spacing }
    }
}

fn extents(images: &Images, data: Data) -> impl Iterator<Item = Extent> {
    let found: Vec<Extent> = match data {
        Data::Image(image) => vec![images.extent_of_image(image as usize)],
        Data::Mesh(mesh) => vec![images.extent_of_mesh(mesh as usize)],
        Data::Fem(fem) => vec![images.extent_of_values(fem as usize)],
        Data::All(dim) => images.extents(usize::from(dim)),
    };
    found.into_iter()
}
