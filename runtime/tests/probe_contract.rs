//! What the probe primitives promise about layout and about wrong specifications.

mod kernels;

use kernels::kernel;
use runtime::probe::{
    Border, Isa, ProbeImage, ProbeKernel, ProbeSpec, Real, lookup, lookup_for, max_size, outputs,
};

const SPEC: ProbeSpec = ProbeSpec {
    real: Real::F32,
    width: 8,
    dim: 3,
    support: [2; 3],
    degree: 3,
    orders: 0b111,
    components: 1,
    frames: 0,
};

#[test]
fn outputs_are_ordered_by_order_component_and_sorted_multi_index() {
    let slots = outputs(&ProbeSpec {
        components: 2,
        orders: 0b101,
        ..SPEC
    });
    let listed: Vec<_> = slots
        .iter()
        .map(|s| (s.order, s.component, s.counts))
        .collect();
    let hessian = [
        [2, 0, 0],
        [1, 1, 0],
        [1, 0, 1],
        [0, 2, 0],
        [0, 1, 1],
        [0, 0, 2],
    ];
    let mut wanted = vec![(0, 0, [0, 0, 0]), (0, 1, [0, 0, 0])];
    wanted.extend(hessian.map(|counts| (2, 0, counts)));
    wanted.extend(hessian.map(|counts| (2, 1, counts)));
    assert_eq!(listed, wanted);
}

#[test]
fn the_number_of_outputs_is_that_of_distinct_derivatives() {
    let binomial = |n: usize, k: usize| (0..k).fold(1, |b, i| b * (n - i) / (i + 1));
    for dim in 1..4 {
        for order in 0..9 {
            let slots = outputs(&ProbeSpec {
                dim,
                orders: 1 << order,
                ..SPEC
            });
            assert_eq!(slots.len(), binomial(order + dim - 1, dim - 1));
            assert!(
                slots
                    .iter()
                    .all(|s| s.counts.iter().sum::<usize>() == order)
            );
            assert!(
                slots
                    .iter()
                    .all(|s| s.counts[dim..].iter().all(|&n| n == 0))
            );
        }
    }
}

#[test]
fn specifications_that_cannot_be_served_are_refused_with_a_reason() {
    let wrong = [
        (
            ProbeSpec { width: 2, ..SPEC },
            "probe width is 2, wanted one of 1, 4, 8, 16",
        ),
        (
            ProbeSpec { dim: 4, ..SPEC },
            "probe dimension is 4, wanted 1 to 3",
        ),
        (
            ProbeSpec {
                support: [2, 0, 2],
                ..SPEC
            },
            "kernel support is 0, wanted 1 to 3",
        ),
        (
            ProbeSpec {
                support: [2, 2, 4],
                ..SPEC
            },
            "kernel support is 4, wanted 1 to 3",
        ),
        (
            ProbeSpec { degree: 16, ..SPEC },
            "kernel degree is 16, wanted at most 15",
        ),
        (
            ProbeSpec { orders: 0, ..SPEC },
            "probe orders are 0b0, wanted some of 0 to 8",
        ),
        (
            ProbeSpec {
                orders: 0x200,
                ..SPEC
            },
            "probe orders are 0b1000000000, wanted some of 0 to 8",
        ),
        (
            ProbeSpec {
                components: 0,
                ..SPEC
            },
            "probe of an image without components",
        ),
    ];
    for (spec, message) in wrong {
        assert_eq!(spec.check(), Err(message.to_string()));
        assert_eq!(lookup(&spec).err().as_deref(), Some(message));
    }
    for isa in Isa::ALL {
        assert!(lookup_for(isa, &SPEC).is_ok() || !isa.is_available());
    }
}

#[test]
fn kernels_that_do_not_fit_are_refused() {
    let (tent, cubic, quintic) = (
        kernel("tent").pieces,
        kernel("bspln3").pieces,
        kernel("bspln5").pieces,
    );
    assert!(ProbeKernel::new(&SPEC, &[&cubic; 3]).is_ok());
    assert!(ProbeKernel::new(&SPEC, &[&cubic; 2]).is_err());
    assert!(ProbeKernel::new(&SPEC, &[&cubic, &tent, &cubic]).is_err());
    assert!(ProbeKernel::new(&SPEC, &[&quintic; 3]).is_err());
    let mut broken = cubic.clone();
    broken.pieces[0][0] = (1, 0);
    assert!(ProbeKernel::new(&SPEC, &[&broken; 3]).is_err());
}

#[test]
fn images_whose_samples_do_not_fit_their_sizes_are_refused() {
    let samples = vec![0.0f32; 24];
    assert!(ProbeImage::new(&samples, &[4, 3], 2, Border::Clamp).is_ok());
    assert!(ProbeImage::new(&samples, &[4, 3], 1, Border::Clamp).is_err());
    assert!(ProbeImage::new(&samples, &[4, 3], 2, Border::Constant(&[1.0, 2.0])).is_ok());
    assert!(ProbeImage::new(&samples, &[4, 3], 2, Border::Constant(&[1.0])).is_err());
    assert!(ProbeImage::new(&samples, &[4, 3, 2, 1], 1, Border::Clamp).is_err());
    assert!(ProbeImage::new(&samples, &[], 24, Border::Clamp).is_err());
    assert!(ProbeImage::new(&samples, &[24, 0], 1, Border::Clamp).is_err());
    assert!(ProbeImage::new(&[0.0f64; 0], &[1], 0, Border::Clamp).is_err());
    let long = max_size(Real::F32) + 1;
    let error = ProbeImage::new(&[0.0f32; 1], &[long], 1, Border::Clamp).err();
    assert_eq!(
        error,
        Some(format!(
            "axis 0 has {long} samples, wanted 1 to {}",
            max_size(Real::F32)
        ))
    );
    assert!(ProbeImage::new(&[0.0f64; 1], &[1 << 30, 1 << 30, 1 << 30], 1, Border::Clamp).is_err());
}

/// Six positions, on both sides of the border of an image of nine samples.
const POSITIONS: [f32; 6] = [3.25, -0.5, 4.0, 8.75, 2.5, 5.125];

#[test]
fn every_lane_gives_its_result_under_every_mask() {
    let kernel = kernel("ctmr");
    let samples: Vec<f32> = (0..9).map(|n| (n * n % 7) as f32).collect();
    let image = ProbeImage::new(&samples, &[9], 1, Border::Clamp).unwrap();
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let of_width = |width: usize| {
            let spec = ProbeSpec {
                width,
                dim: 1,
                orders: 1,
                ..SPEC
            };
            let table = ProbeKernel::new(&spec, &[&kernel.pieces]).unwrap();
            let primitive = lookup_for(isa, &spec).unwrap();
            let image = &image;
            move |mask: u32, positions: &[f32]| -> [f32; 16] {
                let mut out = [0.0; 16];
                // SAFETY: one axis and one result, with room for every lane.
                unsafe {
                    primitive(
                        image,
                        &table,
                        mask,
                        positions.as_ptr().cast(),
                        out.as_mut_ptr().cast(),
                    )
                };
                out
            }
        };
        let single = of_width(1);
        let alone = POSITIONS.map(|x| single(1, &[x])[0]);
        for width in [4, 8, 16] {
            let probe = of_width(width);
            for mask in 1..1u32 << width {
                let active = |lane: usize| mask >> lane & 1 == 1;
                let mut positions = [f32::NAN; 16];
                for lane in (0..width).filter(|&lane| active(lane)) {
                    positions[lane] = POSITIONS[lane % POSITIONS.len()];
                }
                let out = probe(mask, &positions);
                for lane in (0..width).filter(|&lane| active(lane)) {
                    let wanted = alone[lane % POSITIONS.len()];
                    assert_eq!(out[lane], wanted, "{isa:?} {width} {mask:#b} lane {lane}");
                }
            }
        }
    }
}

#[test]
fn an_image_knows_whether_it_was_ever_probed_inside() {
    let kernel = kernel("ctmr");
    let samples = vec![1.0_f32; 63];
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for width in runtime::simd::WIDTHS {
            let spec = ProbeSpec {
                width,
                dim: 2,
                orders: 1,
                ..SPEC
            };
            let table = ProbeKernel::new(&spec, &[&kernel.pieces; 2]).unwrap();
            let primitive = lookup_for(isa, &spec).unwrap();
            let image = ProbeImage::new(&samples, &[9, 7], 1, Border::Clamp).unwrap();
            let probe = |mask: u32, at: [f32; 2]| {
                let mut positions = vec![4.0; 2 * width];
                // The last lane is there; the others are inside, and count only if the mask has them.
                (positions[width - 1], positions[2 * width - 1]) = (at[0], at[1]);
                let mut out = [0.0_f32; 16];
                // SAFETY: two axes and one result, with room for every lane.
                unsafe {
                    primitive(
                        &image,
                        &table,
                        mask,
                        positions.as_ptr().cast(),
                        out.as_mut_ptr().cast(),
                    );
                }
                (image.was_probed(), image.was_missed())
            };
            let last = 1 << (width - 1);
            assert_eq!(probe(0, [4.0, 4.0]), (false, false), "no lane");
            for outside in [
                [-0.25, 3.0],
                [3.0, 6.5],
                [f32::NAN, 3.0],
                [f32::INFINITY, 3.0],
            ] {
                assert_eq!(probe(last, outside), (true, true), "{outside:?} by {width}");
            }
            assert_eq!(
                probe(last, [8.0, 6.0]),
                (true, false),
                "the last sample is inside"
            );
            assert_eq!(probe(last, [-5.0, 3.0]), (true, false), "and stays so");
        }
    }
}
