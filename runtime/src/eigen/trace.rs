//! Eigensystems as recordings, for machines that the primitives are not compiled for.

use super::rotate::{SWEEPS, Turning, begin3, end3, is_left, sweep, system2};
use crate::simd::trace::{Tape, Traced, tape};
use crate::simd::{Float, Real};

/// The parts of the eigensystem of a 3×3 matrix: `begin`, then `sweep` for as long as `is_left` holds, but at most this many
/// times, then `end`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotations {
    /// From the matrix, row by row: 3 entries on the diagonal, 3 off it, 9 of the axes; then the negligible magnitude, and 2
    /// numbers for the end.
    pub begin: Tape,
    /// From the 3 entries off the diagonal and the negligible magnitude: whether another sweep is needed.
    pub is_left: Tape,
    /// From the first 15 numbers and the negligible magnitude: these numbers after a sweep.
    pub sweep: Tape,
    /// From the diagonal, the axes and the 2 numbers for the end: eigenvalues and eigenvectors.
    pub end: Tape,
    /// Sweeps at most.
    pub sweeps: usize,
}

/// The eigensystem of a 2×2 matrix, from its entries row by row: values, then vectors.
pub fn trace2(real: Real) -> Tape {
    fn of<T: Float>() -> Tape {
        tape(4, |m: &[Traced<T>]| {
            let (values, vectors) = system2(m[0], m[1], m[3]);
            [&values[..], vectors.as_flattened()].concat()
        })
    }
    match real {
        Real::F32 => of::<f32>(),
        Real::F64 => of::<f64>(),
    }
}

/// The eigensystem of a 3×3 matrix.
pub fn trace3(real: Real) -> Rotations {
    match real {
        Real::F32 => rotations::<f32>(),
        Real::F64 => rotations::<f64>(),
    }
}

fn three<T: Float>(x: &[Traced<T>]) -> [Traced<T>; 3] {
    [x[0], x[1], x[2]]
}

fn axes<T: Float>(x: &[Traced<T>]) -> [[Traced<T>; 3]; 3] {
    [three(x), three(&x[3..]), three(&x[6..])]
}

fn numbers<T: Float>(turning: &Turning<Traced<T>>) -> Vec<Traced<T>> {
    [&turning.a[..], &turning.b, turning.e.as_flattened()].concat()
}

fn rotations<T: Float>() -> Rotations {
    Rotations {
        begin: tape(9, |m: &[Traced<T>]| {
            let (turning, measure) = begin3([m[0], m[4], m[8]], [m[5], m[2], m[1]]);
            let mut results = numbers(&turning);
            results.extend([measure.negligible, measure.grow, measure.poison]);
            results
        }),
        is_left: tape(4, |x: &[Traced<T>]| vec![is_left(&three(x), x[3])]),
        sweep: tape(16, |x: &[Traced<T>]| {
            let mut turning = Turning {
                a: three(x),
                b: three(&x[3..]),
                e: axes(&x[6..]),
            };
            sweep(&mut turning, x[15]);
            numbers(&turning)
        }),
        end: tape(14, |x: &[Traced<T>]| {
            let (values, vectors) = end3(three(x), axes(&x[3..]), x[12], x[13]);
            [&values[..], vectors.as_flattened()].concat()
        }),
        sweeps: SWEEPS,
    }
}
