//! Detects the order of the nodes of cells. In most cells of most meshes the nodes are near the straight lattice of the corners.
//! If they are not in the order of the format, but are in the order of another program, the file has that order.

use super::FemError;
use super::cell::CellKind;
use super::element::{ELEMENTS, Element};
use super::file::FemFile;

/// Nodes that are farther from the lattice than this part of a cell, in half of the cells, are suspicious.
const FAR: f64 = 0.25;
/// Nodes that are nearer than this are where they belong.
const NEAR: f64 = 0.05;
/// Cells of an element that are looked at.
const SAMPLE: usize = 1000;

/// Makes sure that no other order of nodes fits the cells much better than the one of the file's format.
///
/// # Errors
/// Which order the nodes seem to have.
pub(super) fn check(file: &FemFile, cells: &[u32]) -> Result<(), FemError> {
    for element in ELEMENTS.iter().filter(|element| element.degree > 1) {
        let is_own = |n: &&u32| std::ptr::eq(file.cells.at(**n as usize).element, element);
        let all = cells.iter().filter(is_own);
        let own: Vec<usize> = all.take(SAMPLE).map(|&n| n as usize).collect();
        if own.is_empty() || median(file, &own, |n| n) <= FAR {
            continue;
        }
        for (order, whose) in others(element) {
            if median(file, &own, |n| order[n]) < NEAR {
                let first = file.cells.at(own[0]).number;
                return Err(FemError::new(format!(
                    "the nodes of cell {first} and others look as {whose}"
                ))
                .hint("write the file again with the nodes in the order of its format"));
            }
        }
    }
    Ok(())
}

/// Other orders: for each of our nodes its place, and a description of the order.
fn others(element: &Element) -> Vec<(Vec<usize>, &'static str)> {
    let nodes = 0..element.nodes().len();
    let mut orders = Vec::new();
    if let Some(gmsh) = element.gmsh.1 {
        let theirs: Vec<usize> = gmsh.iter().map(|&n| usize::from(n)).collect();
        let place = |n: usize| theirs.iter().position(|&m| m == n).unwrap_or(n);
        let ours = nodes.clone().map(place).collect();
        orders.push((theirs, "in Gmsh's order"));
        orders.push((ours, "in VTK's order"));
    }
    if element.cell == CellKind::Hexahedron && element.nodes().len() > 20 {
        let mut old: Vec<usize> = nodes.collect();
        let inner = element.degree - 1;
        let edge = 8 + 10 * inner;
        (0..inner).for_each(|n| old.swap(edge + n, edge + inner + n));
        orders.push((old, "in files before VTK 9"));
    }
    orders
}

/// The median over cells of how far the farthest node is from the lattice, as a part of the cell's size.
fn median(file: &FemFile, cells: &[usize], order: impl Fn(usize) -> usize) -> f64 {
    let mut all: Vec<f64> = cells.iter().map(|&n| farthest(file, n, &order)).collect();
    all.sort_unstable_by(f64::total_cmp);
    all[all.len() / 2]
}

fn farthest(file: &FemFile, cell: usize, order: &impl Fn(usize) -> usize) -> f64 {
    let element = file.cells.at(cell).element;
    let nodes: Vec<[f64; 3]> = file.nodes(cell).collect();
    let corners = &nodes[..element.cell.corners()];
    let distance = |a: &[f64; 3], b: &[f64; 3]| {
        let squares = (0..3).map(|i| (a[i] - b[i]).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let size = corners
        .iter()
        .map(|p| distance(p, &corners[0]))
        .fold(0.0, f64::max);
    let off = |n: usize| {
        let weights = element.cell.corner_weights(&element.node(n));
        let mut straight = [0.0; 3];
        for (weight, corner) in weights.zip(corners) {
            (0..3).for_each(|i| straight[i] += weight * corner[i]);
        }
        distance(&straight, &nodes[order(n)])
    };
    (0..nodes.len()).map(off).fold(0.0, f64::max) / size
}
