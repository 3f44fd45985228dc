//! Pyramids as hexahedra whose upper corners are at one place.
//!
//! In coordinates of the cube that collapses to the pyramid, the functions of pyramids with 5 and 13 nodes are polynomials of degree 1 and 2
//! along each axis. So their values at the nodes of the cube, which are sums of the values at their own nodes, say all of them. On the
//! faces those with 13 nodes are quadratic, as those of neighbouring cells are; in the middle they are such that polynomials of total
//! degree 2 are exact where the pyramid is straight.

use super::FemFile;
use crate::fem::element::Element;

/// A value at a node of the cube: nodes of the pyramid and their weights.
type Sum = &'static [(u8, f64)];

const fn edge_face([a, b]: [u8; 2], below: u8, [c, d]: [u8; 2]) -> [(u8, f64); 5] {
    [(a, -0.125), (b, -0.125), (below, 0.25), (c, 0.5), (d, 0.5)]
}

const LEFT: Sum = &edge_face([0, 3], 8, [9, 12]);
const RIGHT: Sum = &edge_face([1, 2], 6, [10, 11]);
const FRONT: Sum = &edge_face([0, 1], 5, [9, 10]);
const BACK: Sum = &edge_face([2, 3], 7, [11, 12]);
const BASE: Sum = &[
    (0, -0.25),
    (1, -0.25),
    (2, -0.25),
    (3, -0.25),
    (5, 0.5),
    (6, 0.5),
    (7, 0.5),
    (8, 0.5),
];
const MIDDLE: Sum = &[
    (0, -0.125),
    (1, -0.125),
    (2, -0.125),
    (3, -0.125),
    (5, 0.125),
    (6, 0.125),
    (7, 0.125),
    (8, 0.125),
    (9, 0.25),
    (10, 0.25),
    (11, 0.25),
    (12, 0.25),
];

/// A node of the cube.
enum Node {
    /// A node of the pyramid.
    Own(u8),
    /// One that the pyramid does not have.
    New(Sum),
}

/// The nodes of the cube of degree 1, and of that of degree 2.
const LINEAR: [u8; 8] = [0, 1, 2, 3, 4, 4, 4, 4];
const QUADRATIC: [u8; 20] = [
    0, 1, 2, 3, 4, 4, 4, 4, 5, 6, 7, 8, 4, 4, 4, 4, 9, 10, 11, 12,
];
const FACES: [Node; 7] = [
    Node::New(LEFT),
    Node::New(RIGHT),
    Node::New(FRONT),
    Node::New(BACK),
    Node::New(BASE),
    Node::Own(4),
    Node::New(MIDDLE),
];

/// For each node of a pyramid with 13 nodes in VTK's order the number that Gmsh gives it.
pub(super) const GMSH: [usize; 13] = [0, 1, 2, 3, 4, 5, 8, 10, 6, 7, 9, 11, 12];

/// The pyramids of a mesh, or of a piece of it, that have points besides those of their file.
#[derive(Default)]
pub(super) struct Pyramids {
    /// The nodes of each, and the first of its new points.
    all: Vec<([u32; 13], usize)>,
}

impl Pyramids {
    /// The hexahedron of a pyramid with 5 or 13 nodes, which are points of the file, and its nodes.
    pub(super) fn hexahedron(
        &mut self,
        file: &mut FemFile,
        nodes: &[u32],
    ) -> Option<(&'static Element, Vec<u32>)> {
        let own = |listed: &[u8]| listed.iter().map(|&n| nodes[usize::from(n)]).collect();
        if nodes.len() == 5 {
            return Some((Element::named("hex-q1")?, own(&LINEAR)));
        }
        self.all.push((nodes.try_into().ok()?, file.points.len()));
        let mut cube: Vec<u32> = own(&QUADRATIC);
        for node in FACES {
            cube.push(match node {
                Node::Own(n) => nodes[usize::from(n)],
                Node::New(sum) => {
                    let point = |n: u8| file.points[nodes[usize::from(n)] as usize];
                    let along = |axis: usize| sum.iter().map(|&(n, w)| w * point(n)[axis]).sum();
                    let new = std::array::from_fn(along);
                    file.points.push(new);
                    u32::try_from(file.points.len() - 1).ok()?
                }
            });
        }
        Some((Element::named("hex-q2")?, cube))
    }

    /// Puts the values of the new points behind those of the points of the file, whose first point has a number.
    pub(super) fn append(&self, values: &mut Vec<f64>, components: usize, first: usize) {
        for (nodes, _) in &self.all {
            for sum in new_nodes() {
                for c in 0..components {
                    let value = |n: u8| {
                        let point = nodes[usize::from(n)] as usize - first;
                        values[point * components + c]
                    };
                    values.push(sum.iter().map(|&(n, w)| w * value(n)).sum());
                }
            }
        }
    }

    /// Computes the values of the new points, which have their places already.
    pub(super) fn fill(&self, values: &mut [f64], components: usize) {
        for (nodes, first) in &self.all {
            for (place, sum) in new_nodes().enumerate() {
                for c in 0..components {
                    let value = |n: u8| values[nodes[usize::from(n)] as usize * components + c];
                    let sum = sum.iter().map(|&(n, w)| w * value(n)).sum();
                    values[(first + place) * components + c] = sum;
                }
            }
        }
    }
}

fn new_nodes() -> impl Iterator<Item = Sum> {
    FACES.into_iter().filter_map(|node| match node {
        Node::Own(_) => None,
        Node::New(sum) => Some(sum),
    })
}

/// The values at the nodes of the cube from tuples at those of a pyramid with 5 or 13 nodes.
pub(super) fn on_cube(tuples: &[f64], components: usize) -> Vec<f64> {
    let tuple = |n: u8| &tuples[usize::from(n) * components..][..components];
    let linear = tuples.len() == 5 * components;
    let listed: &[u8] = if linear { &LINEAR } else { &QUADRATIC };
    let mut values: Vec<f64> = listed.iter().flat_map(|&n| tuple(n)).copied().collect();
    for node in FACES.into_iter().filter(|_| !linear) {
        match node {
            Node::Own(n) => values.extend(tuple(n)),
            Node::New(sum) => values.extend(
                (0..components).map(|c| sum.iter().map(|&(n, w)| w * tuple(n)[c]).sum::<f64>()),
            ),
        }
    }
    values
}
