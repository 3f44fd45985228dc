//! Distorted cells with linear functions, on which values and gradients are known everywhere.

use runtime::fem::{Choice, Element, FemFile, FemValues, FemWanted, FileCell, Mesh, Outside};
use std::sync::Arc;

/// The corners of a distorted wedge.
pub(crate) const WEDGE: [[f64; 3]; 6] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.1, 0.0],
    [0.1, 0.9, 0.2],
    [0.1, -0.1, 1.0],
    [1.2, 0.0, 0.9],
    [0.0, 1.1, 1.1],
];
/// The corners of a distorted pyramid.
pub(crate) const PYRAMID: [[f64; 3]; 5] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.1, 0.1],
    [1.2, 1.0, 0.0],
    [-0.1, 0.8, -0.1],
    [0.4, 0.6, 0.9],
];

/// Cells of one element, by their nodes.
pub(crate) fn cells(element: &str, points: &[[f64; 3]], cells: &[&[u32]]) -> FemFile {
    let element = Element::named(element).unwrap();
    let mut file = FemFile {
        points: points.to_vec().into(),
        ..FemFile::default()
    };
    for own in cells {
        file.cells.push(FileCell {
            element,
            first: file.connectivity.len(),
            number: file.cells.len() as u32,
        });
        file.connectivity.extend_from_slice(own);
    }
    file
}

/// Value and gradient of an array at a position.
pub(crate) fn probe(mesh: &Mesh, file: &FemFile, x: &[f64; 3]) -> Vec<f64> {
    let choice = Choice {
        array: None,
        variable: "u",
        shape: &[],
    };
    let wanted = FemWanted {
        values: Arc::new(FemValues::new(mesh, file, &choice).unwrap()),
        orders: 0b11,
        outside: Outside::Nan,
    };
    mesh.probe(&wanted, x, None)
}

const LINEAR: [f64; 4] = [0.7, 1.0, 2.0, 3.0];

pub(crate) fn linear(x: [f64; 3]) -> f64 {
    LINEAR[0] + LINEAR[1] * x[0] + LINEAR[2] * x[1] + LINEAR[3] * x[2]
}

/// Says that a linear function is right at a position, and its gradient to a number of digits.
pub(crate) fn is_linear(mesh: &Mesh, file: &FemFile, x: &[f64; 3], digits: f64) {
    let got = probe(mesh, file, x);
    // In single precision another cell may accept positions near its apex.
    let exact = (10.0 * mesh.tolerance()).max(1e-12);
    assert!((got[0] - linear(*x)).abs() < exact, "{x:?}: {got:?}");
    for (got, truth) in got[1..].iter().zip(&LINEAR[1..]) {
        assert!((got - truth).abs() < digits, "{x:?}: {got} {truth}");
    }
}

/// A position between two.
pub(crate) fn between(a: [f64; 3], b: [f64; 3], part: f64) -> [f64; 3] {
    std::array::from_fn(|i| (1.0 - part) * a[i] + part * b[i])
}
