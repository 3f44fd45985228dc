//! Derivatives of a volume up to the third by the quintic B-spline, in plain Rust: the separable sum, one axis after the
//! other.

use super::rays::{Vec3, Volume, dot};

/// Orders of derivatives, and the value.
pub(crate) const VALUE_AND_TWO: usize = 3;
pub(crate) const VALUE_AND_THREE: usize = 4;

const TAPS: usize = 6;

/// A volume, to be differentiated.
pub(crate) struct Jets<'a> {
    volume: &'a Volume<'a>,
}

/// Derivatives in the world at a place.
pub(crate) struct Jet {
    pub(crate) gradient: Vec3,
    hessian: [Vec3; 3],
    third: [[Vec3; 3]; 3],
}

/// The weights of the samples around a position, and their first `ORDERS - 1` derivatives: the kernel is a sum of truncated
/// powers, and so are its derivatives.
fn weights<const ORDERS: usize>(f: f32) -> [[f32; TAPS]; ORDERS] {
    const BINOMIALS: [f32; 7] = [1.0, -6.0, 15.0, -20.0, 15.0, -6.0, 1.0];
    let mut result = [[0.0; TAPS]; ORDERS];
    for (order, weights) in result.iter_mut().enumerate() {
        let power = 5 - order as i32;
        let factorial: f32 = (1..=power).map(|n| n as f32).product();
        for (tap, weight) in weights.iter_mut().enumerate() {
            let u = f - (tap as f32 - 2.0);
            let terms = BINOMIALS.iter().enumerate().map(|(n, binomial)| {
                let x = (u + 3.0 - n as f32).max(0.0);
                binomial * x.powi(power)
            });
            *weight = terms.sum::<f32>() / factorial;
        }
    }
    result
}

impl<'a> Jets<'a> {
    pub(crate) fn new(volume: &'a Volume<'a>) -> Jets<'a> {
        Jets { volume }
    }

    /// Derivatives up to order `ORDERS - 1` at a position in index space.
    pub(crate) fn at<const ORDERS: usize>(&self, at: Vec3) -> Jet {
        let w = at.map(|x| weights::<ORDERS>(x.fract()));
        let first = at.map(|x| x as usize - 2);
        let sizes = self.volume.sizes;
        let mut sums = [[[0.0; ORDERS]; ORDERS]; ORDERS];
        for k in 0..TAPS {
            let mut slice = [[0.0; ORDERS]; ORDERS];
            for j in 0..TAPS {
                let row = ((first[2] + k) * sizes[1] + first[1] + j) * sizes[0] + first[0];
                let samples = &self.volume.samples[row..row + TAPS];
                for dx in 0..ORDERS {
                    let sum: f32 = w[0][dx].iter().zip(samples).map(|(w, s)| w * s).sum();
                    for dy in 0..ORDERS - dx {
                        slice[dx][dy] += w[1][dy][j] * sum;
                    }
                }
            }
            for dx in 0..ORDERS {
                for dy in 0..ORDERS - dx {
                    for dz in 0..ORDERS - dx - dy {
                        sums[dx][dy][dz] += w[2][dz][k] * slice[dx][dy];
                    }
                }
            }
        }
        let derivative = |axes: &[usize]| {
            let count = |axis| axes.iter().filter(|&&a| a == axis).count();
            sums[count(0)][count(1)][count(2)]
        };
        // From index space to the world, axis by axis.
        let m = &self.volume.to_index;
        let world = |v: Vec3| [0, 1, 2].map(|c| (0..3).map(|r| m[r][c] * v[r]).sum::<f32>());
        let columns = |t: [Vec3; 3]| {
            let t = t.map(world);
            let turned = [0, 1, 2].map(|c| world([0, 1, 2].map(|r| t[r][c])));
            [0, 1, 2].map(|r| [0, 1, 2].map(|c| turned[c][r]))
        };
        let gradient = world([0, 1, 2].map(|i| derivative(&[i])));
        let hessian = columns([0, 1, 2].map(|i| [0, 1, 2].map(|j| derivative(&[i, j]))));
        let mut third = [[[0.0; 3]; 3]; 3];
        if ORDERS > VALUE_AND_TWO {
            let t = [0, 1, 2]
                .map(|k| columns([0, 1, 2].map(|i| [0, 1, 2].map(|j| derivative(&[i, j, k])))));
            for i in 0..3 {
                for j in 0..3 {
                    third[i][j] = world([0, 1, 2].map(|k| t[k][i][j]));
                }
            }
        }
        Jet {
            gradient,
            hessian,
            third,
        }
    }
}

impl Jet {
    /// `g•H•g / g•g`, which is zero on edges.
    pub(crate) fn edge(&self) -> f32 {
        let g = self.gradient;
        let hg = self.hessian.map(|row| dot(row, g));
        dot(g, hg) / dot(g, g)
    }

    /// Its gradient.
    pub(crate) fn edge_gradient(&self) -> Vec3 {
        let g = self.gradient;
        let hg = self.hessian.map(|row| dot(row, g));
        let square = dot(g, g);
        let edge = dot(g, hg) / square;
        [0, 1, 2].map(|k| {
            let turn = (0..3).map(|i| {
                (0..3)
                    .map(|j| g[i] * self.third[i][j][k] * g[j])
                    .sum::<f32>()
            });
            let bend = 2.0 * dot(hg, self.hessian[k]);
            (bend + turn.sum::<f32>() - 2.0 * edge * hg[k]) / square
        })
    }
}
