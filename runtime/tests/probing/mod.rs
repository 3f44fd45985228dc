//! What the tests of probe primitives share: calling one on a list of positions, and the definition of a probe
//! as nested loops in double precision.
#![allow(dead_code, reason = "not every test uses every part")]

pub(crate) mod kept;

use crate::kernels::Kernel;
use runtime::probe::{
    Border, Isa, OutputSlot, ProbeImage, ProbeKernel, ProbeSpec, lookup_for, outputs,
};
use runtime::simd::Float;

/// Random numbers by a linear congruential generator.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f64) as usize % n
    }
}

/// An image with its samples.
pub(crate) struct Volume<T> {
    pub(crate) samples: Vec<T>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) components: usize,
    pub(crate) border: Border<'static>,
}

/// One way to run a primitive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    pub(crate) isa: Isa,
    pub(crate) width: usize,
}

/// Every version this processor can run.
pub(crate) fn versions() -> Vec<Version> {
    let available = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    available
        .flat_map(|isa| runtime::simd::WIDTHS.map(|width| Version { isa, width }))
        .collect()
}

/// The specification that probes `volume` with one kernel per axis for all orders in `orders`.
pub(crate) fn spec<T: Float>(
    version: Version,
    volume: &Volume<T>,
    kernels: &[&Kernel],
    orders: u32,
) -> ProbeSpec {
    let mut support = [1; 3];
    for (s, kernel) in support.iter_mut().zip(kernels) {
        *s = kernel.pieces.support();
    }
    ProbeSpec {
        real: T::REAL,
        width: version.width,
        dim: volume.sizes.len(),
        support,
        degree: kernels.iter().map(|k| k.pieces.degree()).max().unwrap_or(0),
        orders,
        components: volume.components,
        frames: 0,
    }
}

/// Probes all positions; result `[position][slot]`.
///
/// Blocks are filled with lanes that are inactive and sit at nonsensical positions: as many in front of each
/// block's active lanes as `idle` says, and behind the last ones. Writing outside the output is detected.
pub(crate) fn run<T: Float>(
    version: Version,
    volume: &Volume<T>,
    kernels: &[&Kernel],
    orders: u32,
    points: &[[T; 3]],
    idle: usize,
) -> Vec<Vec<f64>> {
    let spec = spec(version, volume, kernels, orders);
    let pieces: Vec<_> = kernels.iter().map(|k| &k.pieces).collect();
    let table = ProbeKernel::new(&spec, &pieces).expect("a table");
    let image = ProbeImage::new(
        &volume.samples,
        &volume.sizes,
        volume.components,
        volume.border,
    )
    .expect("an image");
    let probe = lookup_for(version.isa, &spec).expect("a primitive");
    let (width, count) = (version.width, outputs(&spec).len());
    let idle = idle % width;
    let nonsense = [f64::NAN, f64::INFINITY, -1e30, 1e30, f64::NEG_INFINITY];
    let mut results = Vec::new();
    for block in points.chunks(width - idle) {
        let mut positions = vec![T::from_f64(0.0); spec.dim * width];
        let mut mask = 0;
        for lane in 0..width {
            let point = lane.checked_sub(idle).and_then(|i| block.get(i));
            mask |= u32::from(point.is_some()) << lane;
            for axis in 0..spec.dim {
                positions[axis * width + lane] = match point {
                    Some(p) => p[axis],
                    None => T::from_f64(nonsense[(lane + axis) % nonsense.len()]),
                };
            }
        }
        let guard = T::from_f64(123.25);
        let mut out = vec![guard; (count + 2) * width];
        // SAFETY: the buffers have the sizes of the specification and the instruction set is available.
        unsafe {
            probe(
                &image,
                &table,
                mask,
                positions.as_ptr().cast(),
                out.as_mut_ptr().add(width).cast(),
            )
        };
        assert!(
            out[..width]
                .iter()
                .chain(&out[(count + 1) * width..])
                .all(|&x| x == guard),
            "wrote outside"
        );
        for lane in idle..idle + block.len() {
            results.push(
                (1..count + 1)
                    .map(|slot| out[slot * width + lane].to_f64())
                    .collect(),
            );
        }
    }
    results
}

/// The slots of [`run`]'s results.
pub(crate) fn slots<T: Float>(
    volume: &Volume<T>,
    kernels: &[&Kernel],
    orders: u32,
) -> Vec<OutputSlot> {
    outputs(&spec(
        Version {
            isa: Isa::Baseline,
            width: 1,
        },
        volume,
        kernels,
        orders,
    ))
}

/// One result by the definition: a sum over all taps of the sample times the product of weights.
pub(crate) fn naive<T: Float>(
    volume: &Volume<T>,
    kernels: &[&Kernel],
    slot: &OutputSlot,
    point: &[T; 3],
) -> f64 {
    let dim = volume.sizes.len();
    let mut taps: Vec<Vec<(Option<usize>, f64)>> = Vec::new();
    for axis in 0..dim {
        taps.push(axis_taps(
            point[axis],
            volume.sizes[axis] as i64,
            kernels[axis],
            slot.counts[axis],
            volume.border,
        ));
    }
    taps.resize(3, vec![(Some(0), 1.0)]);
    let plane: usize = volume.sizes.iter().product();
    let stride = |axis: usize| volume.sizes.iter().take(axis).product::<usize>();
    let mut sum = 0.0;
    for &(z, wz) in &taps[2] {
        for &(y, wy) in &taps[1] {
            for &(x, wx) in &taps[0] {
                let sample = match (x, y, z, volume.border) {
                    (Some(x), Some(y), Some(z), _) => volume.samples
                        [slot.component * plane + x + y * stride(1) + z * stride(2)]
                    .to_f64(),
                    (_, _, _, Border::Constant(values)) => {
                        T::from_f64(values[slot.component]).to_f64()
                    }
                    _ => unreachable!("only a constant border has taps without a sample"),
                };
                sum += wx * wy * wz * sample;
            }
        }
    }
    sum
}

/// Index and weight of each tap of one axis.
fn axis_taps<T: Float>(
    x: T,
    n: i64,
    kernel: &Kernel,
    order: usize,
    border: Border<'_>,
) -> Vec<(Option<usize>, f64)> {
    let s = kernel.pieces.support() as i64;
    let mut x = x.to_f64();
    let mut cell = x.floor();
    match border {
        Border::Clamp | Border::Constant(_) => {
            // Far away every tap is the same value; any far cell will do for infinities.
            x = x.clamp(-1e9, 1e9);
            cell = x.floor();
        }
        Border::Mirror | Border::Wrap => {}
    }
    let f = x - cell;
    // Remainders of doubles are exact, so that no distance overflows an integer.
    let near = (cell % (2 * n) as f64) as i64;
    (1 - s..s + 1)
        .map(|j| {
            let index = match border {
                Border::Clamp => Some((cell as i64 + j).clamp(0, n - 1)),
                Border::Wrap => Some((near + j).rem_euclid(n)),
                Border::Mirror => {
                    let m = (near + j).rem_euclid(2 * n);
                    Some(m.min(2 * n - 1 - m))
                }
                Border::Constant(_) => Some(cell as i64 + j).filter(|i| (0..n).contains(i)),
            };
            (index.map(|i| i as usize), kernel.weight(j, f, order))
        })
        .collect()
}

/// Reproducible numbers in [−1, 1).
pub(crate) fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed.wrapping_add(0x9e37_79b9);
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    })
}
