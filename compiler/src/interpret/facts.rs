//! Facts about data, from their definitions: every sample and node is visited.

use super::{fem::EvalMeshes, primitives::EvalImage};
use crate::{
    front::tree::Constant,
    ir::interface::{self, Fact},
};
use ein_ir::Shape;
use std::sync::Arc;

/// The data of a program.
pub(super) struct Data<'a> {
    pub(super) images: &'a [Arc<EvalImage>],
    pub(super) meshes: &'a EvalMeshes,
}

impl Data<'_> {
    /// A fact as a constant. Programs are interpreted on the defaults of their inputs, so no input is given.
    pub(super) fn fact(&self, fact: Fact) -> Constant {
        let real = |x: f64| Constant::Tensor(Shape::SCALAR, vec![x]);
        match fact {
            Fact::Given(_) => Constant::Bool(false),
            Fact::Bounds(data) => {
                let (dim, points) = self.points(data);
                let shape = match dim {
                    1 => Shape::SCALAR,
                    _ => Shape::new([dim]),
                };
                let corner = |first: f64, closer: fn(f64, f64) -> f64| {
                    let along = |axis: usize| points.iter().map(move |point| point[axis]);
                    let coordinates = (0..dim).map(|axis| along(axis).fold(first, closer));
                    Constant::Tensor(shape.clone(), coordinates.collect())
                };
                Constant::Seq(vec![
                    corner(f64::INFINITY, f64::min),
                    corner(f64::NEG_INFINITY, f64::max),
                ])
            }
            Fact::Spacing(data) => {
                let spacings = self.parts(data).into_iter().map(|part| self.spacing(part));
                real(spacings.fold(f64::INFINITY, f64::min))
            }
            Fact::Range(data) => {
                let values: Vec<f64> = match data {
                    interface::Data::Image(n) => self.images[n as usize].planes.concat(),
                    interface::Data::Fem(n) => self.meshes.fems[n as usize].values(),
                    other => unreachable!("the range of {other:?}"),
                };
                let finite = || values.iter().copied().filter(|x| x.is_finite());
                Constant::Seq(vec![
                    real(finite().fold(f64::INFINITY, f64::min)),
                    real(finite().fold(f64::NEG_INFINITY, f64::max)),
                ])
            }
            Fact::Frames(fem) => Constant::Int(self.times(fem).len() as i64),
            Fact::StartTime(fem) => real(self.times(fem)[0]),
            Fact::EndTime(fem) => real(self.times(fem)[self.times(fem).len() - 1]),
        }
    }

    /// The times of the frames of values on a mesh.
    fn times(&self, fem: u32) -> &[f64] {
        self.meshes.fems[fem as usize].times()
    }

    /// The single images and meshes among data.
    fn parts(&self, data: interface::Data) -> Vec<interface::Data> {
        let interface::Data::All(dim) = data else {
            return vec![data];
        };
        let dim = usize::from(dim);
        let images = (0..self.images.len()).filter(|&n| self.images[n].sizes.len() == dim);
        let meshes = (0..self.meshes.meshes.len()).filter(|&n| self.meshes.meshes[n].dim() == dim);
        let images = images.map(|n| interface::Data::Image(n as u32));
        images
            .chain(meshes.map(|n| interface::Data::Mesh(n as u32)))
            .collect()
    }

    /// The dimension of data, and the positions of all samples and nodes.
    fn points(&self, data: interface::Data) -> (usize, Vec<Vec<f64>>) {
        match data {
            interface::Data::Image(n) => {
                let image = &self.images[n as usize];
                let dim = image.sizes.len();
                // The box of an affine grid is that of its outermost samples.
                let corners = 0..1usize << dim;
                let corner = |bits: usize| -> Vec<usize> {
                    let last = |axis: usize| (bits >> axis & 1) * (image.sizes[axis] - 1);
                    (0..dim).map(last).collect()
                };
                (
                    dim,
                    corners.map(|bits| image.world_of(&corner(bits))).collect(),
                )
            }
            interface::Data::Mesh(n) => {
                let mesh = &self.meshes.meshes[n as usize];
                let points = mesh.points().map(|point| point[..mesh.dim()].to_vec());
                (mesh.dim(), points.collect())
            }
            interface::Data::Fem(n) => {
                let mesh = self.meshes.fems[n as usize].mesh();
                let points = mesh.points().map(|point| point[..mesh.dim()].to_vec());
                (mesh.dim(), points.collect())
            }
            interface::Data::All(dim) => {
                let parts = self.parts(data).into_iter();
                (
                    usize::from(dim),
                    parts.flat_map(|part| self.points(part).1).collect(),
                )
            }
        }
    }

    fn spacing(&self, data: interface::Data) -> f64 {
        if let interface::Data::Image(n) = data {
            let image = &self.images[n as usize];
            let dim = image.sizes.len();
            let length = |axis: usize| {
                let column = (0..dim).map(|row| image.to_world[row * dim + axis].powi(2));
                column.sum::<f64>().sqrt()
            };
            let several: Vec<usize> = (0..dim).filter(|&axis| image.sizes[axis] > 1).collect();
            let axes = if several.is_empty() {
                (0..dim).collect()
            } else {
                several
            };
            return axes.into_iter().map(length).fold(f64::INFINITY, f64::min);
        }
        let cells = match data {
            interface::Data::Mesh(n) => self.meshes.meshes[n as usize].cells(),
            interface::Data::Fem(n) => self.meshes.fems[n as usize].mesh().cells(),
            other => unreachable!("the spacing of {other:?}"),
        };
        let (dim, points) = self.points(data);
        let side = |axis: usize| {
            let along = || points.iter().map(|point| point[axis]);
            along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
        };
        let volume: f64 = (0..dim).map(side).product();
        (volume / cells as f64).powf(1.0 / dim as f64)
    }
}
