//! A convolution for the runtime: its specification and the weights of its taps.

use super::{
    Orders,
    leaf::{Convolution, KernelRef, TimeKernel},
};
use ein_ir::mutants;
use runtime::{
    probe::{KernelPieces, ProbeKernel, ProbeSpec},
    simd::Real,
};

/// The real type of a program.
pub(crate) fn real(double: bool) -> Real {
    if double { Real::F64 } else { Real::F32 }
}

/// A kernel as the runtime takes it.
pub(crate) fn pieces(kernel: KernelRef) -> KernelPieces {
    let pieces = kernel.0.pieces().iter().map(|piece| {
        piece
            .iter()
            .map(|&(n, d)| mutants::coefficient(n.into(), d.into()))
            .collect()
    });
    KernelPieces {
        pieces: pieces.collect(),
    }
}

/// The specification and the table of a field's probes, for this many strands per call.
///
/// # Panics
/// If the runtime refuses it; it serves all fields of the language.
pub(crate) fn probe_kernel(
    field: &Convolution,
    orders: Orders,
    double: bool,
    width: usize,
) -> ProbeKernel {
    let pieces: Vec<KernelPieces> = field.kernels.iter().map(|k| pieces(*k)).collect();
    let mut support = [1; 3];
    for (slot, kernel) in support.iter_mut().zip(&pieces) {
        *slot = kernel.support();
    }
    let spec = ProbeSpec {
        real: real(double),
        width,
        dim: field.dim(),
        support,
        degree: pieces.iter().map(KernelPieces::degree).max().unwrap_or(0),
        orders: orders.0,
        components: field.shape.size(),
        frames: field.time.map_or(0, TimeKernel::taps),
    };
    let axes: Vec<&KernelPieces> = pieces.iter().collect();
    ProbeKernel::new(&spec, &axes).unwrap_or_else(|why| panic!("probe of {field}: {why}"))
}

/// The coefficients of the weights of a kernel's taps for a derivative, constant first; as many for every tap. Leading
/// zeros, with which the primitives of fields with several kernels begin, are left out.
pub(crate) fn weights(kernel: KernelRef, order: u32, double: bool) -> Vec<Vec<f64>> {
    let field = Convolution {
        image: 0,
        border: ein_ir::ops::Border::Clamp,
        kernels: vec![kernel],
        time: None,
        shape: ein_ir::Shape::SCALAR,
    };
    let table = probe_kernel(&field, Orders(1 << order), double, 1);
    let weight = |tap| table.weight(0, order as usize, tap);
    let mut taps: Vec<Vec<f64>> = (0..2 * kernel.0.support).map(weight).collect();
    let highest = |tap: &Vec<f64>| tap.iter().rposition(|&c| c != 0.0).unwrap_or(0);
    // One multiplication stays so that a NaN always shows.
    let terms = taps.iter().map(highest).max().unwrap_or(0).max(1) + 1;
    taps.iter_mut().for_each(|tap| tap.truncate(terms));
    taps
}
