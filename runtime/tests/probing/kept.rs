//! Probes of images as programs have them, by all kernels.

use super::{Version, noise};
use crate::kernels::{Kernel, kernels};
use runtime::image::{Image, Real};
use runtime::probe::{Border, KeptImage, ProbeKernel, ProbeSpec, lookup_for, outputs};
use runtime::simd::Float;
use std::sync::Arc;

/// The bits of all results of probes at some positions, inside, across the border and far away.
pub(crate) fn probed<T: Real + Float>(
    image: &Image<T>,
    version: Version,
    border: Border<'_>,
) -> Vec<u64> {
    let kept = KeptImage::new(Arc::new(image.clone()), border).expect("an image");
    let kernels = kernels();
    let mut bits = Vec::new();
    for (n, kernel) in kernels.iter().enumerate() {
        // Kernels of another support along an axis are for the general primitive.
        let other = &kernels[(n + 1) % kernels.len()];
        for orders in [0b1, 0b11, 0b111] {
            let alike = vec![kernel; image.dim()];
            bits.extend(probed_by(image, &kept, version, &alike, orders));
        }
        let mut mixed = vec![kernel; image.dim()];
        mixed[0] = other;
        bits.extend(probed_by(image, &kept, version, &mixed, 0b11));
    }
    bits
}

/// The same for one kernel along each axis, and derivatives of some orders.
fn probed_by<T: Real + Float>(
    image: &Image<T>,
    kept: &KeptImage<T>,
    version: Version,
    kernels: &[&Kernel],
    orders: u32,
) -> Vec<u64> {
    let dim = image.dim();
    let degrees = kernels.iter().map(|kernel| kernel.pieces.degree());
    let mut support = [1; 3];
    for (support, kernel) in support.iter_mut().zip(kernels) {
        *support = kernel.pieces.support();
    }
    let spec = ProbeSpec {
        real: T::REAL,
        width: version.width,
        dim,
        support,
        degree: degrees.max().unwrap_or(0),
        orders,
        components: image.components(),
        frames: if image.time().is_some() { 2 } else { 0 },
    };
    let pieces: Vec<_> = kernels.iter().map(|kernel| &kernel.pieces).collect();
    let table = ProbeKernel::new(&spec, &pieces).expect("a table");
    let probe = lookup_for(version.isa, &spec).expect("a primitive");
    // Weights follow the frames.
    let axes = dim + if image.time().is_some() { 3 } else { 0 };
    let length = image.sizes().iter().copied().max().unwrap_or(1) as f64;
    let (mut random, mut bits) = (noise(7), Vec::new());
    for round in 0..8 {
        let mut positions = vec![T::from_f64(0.0); axes * version.width];
        // Lanes near each other, near the last sample, apart but inside, and anywhere.
        for (n, x) in positions.iter_mut().enumerate() {
            let (axis, shift) = (n / version.width, random.next().unwrap_or(0.0));
            let last = *image.sizes().get(axis).unwrap_or(&image.frames()) as f64 - 1.0;
            *x = T::from_f64(match round % 4 {
                0 => last / 2.0 + shift,
                1 => last - 2.0 + shift,
                2 => last * (shift + 1.0) / 2.0,
                _ => length * (1.5 * shift + 0.5),
            });
            if axis == dim {
                *x = Float::floor(*x);
            }
        }
        let mut out = vec![T::from_f64(0.0); outputs(&spec).len() * version.width];
        // SAFETY: the buffers have the sizes of the specification and the instruction set is available.
        unsafe {
            probe(
                kept.description(),
                &table,
                (1 << version.width) - 1,
                positions.as_ptr().cast(),
                out.as_mut_ptr().cast(),
            );
        }
        bits.extend(out.iter().map(|x| x.in_double().to_bits()));
    }
    bits
}
