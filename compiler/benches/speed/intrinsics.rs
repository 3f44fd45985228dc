//! The projection with AVX-512 by hand: packets of sixteen rays that run to their ends, with the parameters of the volume and the
//! camera in registers. It assumes that the orientation of the volume is diagonal, which the compiled program does not know.

use super::rays::{Camera, Volume, projection_camera};
use rayon::prelude::*;
use runtime::image::Image;
use std::arch::x86_64::*;

/// One number per pixel.
pub(crate) fn projection(image: &Image<f32>, size: usize) -> Vec<f32> {
    assert!((size * size).is_multiple_of(16), "whole packets");
    let volume = Volume::new(image);
    let camera = projection_camera(size);
    let mut pixels = vec![0.0; size * size];
    pixels
        .par_chunks_exact_mut(16)
        .enumerate()
        // SAFETY: asked for on processors with AVX-512 only; a packet has room for sixteen results.
        .for_each(|(packet, pixels)| unsafe {
            rays(&volume, &camera, 16 * packet, pixels.as_mut_ptr());
        });
    pixels
}

/// # Safety
/// The processor has AVX-512, and there is room for sixteen results.
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn rays(volume: &Volume<'_>, camera: &Camera, first: usize, out: *mut f32) {
    let set = |x: f32| _mm512_set1_ps(x);
    let mut directions = [[0.0f32; 16]; 3];
    for lane in 0..16 {
        let pixel = first + lane;
        let dir = camera.direction(pixel / camera.size, pixel % camera.size);
        for axis in 0..3 {
            directions[axis][lane] = dir[axis];
        }
    }
    // Positions in index space are a + t·b along every axis.
    let (origin, zero) = (volume.index(camera.eye), _mm512_setzero_ps());
    let (mut start, mut along, mut ends) = ([zero; 3], [zero; 3], [zero; 3]);
    for axis in 0..3 {
        // SAFETY: sixteen numbers.
        let direction = unsafe { _mm512_loadu_ps(directions[axis].as_ptr()) };
        start[axis] = set(origin[axis]);
        along[axis] = _mm512_mul_ps(set(volume.to_index[axis][axis]), direction);
        ends[axis] = set((volume.sizes[axis] - 1) as f32);
    }
    let strides = [1, volume.sizes[0], volume.sizes[0] * volume.sizes[1]];
    let (row, slice) = (strides[1] as i32, strides[2] as i32);
    let (far, step) = (set(camera.dist + 2.0), set(0.01));
    let (mut t, mut most) = (set(camera.dist - 2.0), zero);
    loop {
        let active = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(t, far);
        if active == 0 {
            break;
        }
        let mut at = [zero; 3];
        let mut inside = active;
        for axis in 0..3 {
            at[axis] = _mm512_fmadd_ps(t, along[axis], start[axis]);
            inside = _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(inside, zero, at[axis]);
            inside = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(inside, at[axis], ends[axis]);
        }
        t = _mm512_add_ps(t, step);
        if inside == 0 {
            continue;
        }
        let (mut fractions, mut cells) = ([zero; 3], [_mm512_setzero_si512(); 3]);
        for axis in 0..3 {
            let cell = _mm512_roundscale_ps::<_MM_FROUND_TO_NEG_INF>(at[axis]);
            fractions[axis] = _mm512_sub_ps(at[axis], cell);
            cells[axis] = _mm512_cvttps_epi32(cell);
        }
        let ([f, g, h], [i, j, k]) = (fractions, cells);
        let index = _mm512_add_epi32(
            i,
            _mm512_add_epi32(
                _mm512_mullo_epi32(j, _mm512_set1_epi32(row)),
                _mm512_mullo_epi32(k, _mm512_set1_epi32(slice)),
            ),
        );
        // Pairs of samples are gathered together, as numbers of twice the width.
        let (low, high) = (
            _mm512_castsi512_si256(index),
            _mm512_extracti64x4_epi64::<1>(index),
        );
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        let line = |offset: usize| {
            // SAFETY: lanes that are inside have all eight samples; the others are not read.
            let (a, b) = unsafe {
                let base = volume.samples.as_ptr().add(offset).cast::<f64>();
                let none = _mm512_setzero_pd();
                let a = _mm512_mask_i32gather_pd::<4>(none, inside as u8, low, base);
                let b = _mm512_mask_i32gather_pd::<4>(none, (inside >> 8) as u8, high, base);
                (_mm512_castpd_ps(a), _mm512_castpd_ps(b))
            };
            let first = _mm512_permutex2var_ps(a, even, b);
            let second = _mm512_permutex2var_ps(a, odd, b);
            _mm512_fmadd_ps(f, _mm512_sub_ps(second, first), first)
        };
        let plane = |offset: usize| {
            let (a, b) = (line(offset), line(offset + strides[1]));
            _mm512_fmadd_ps(g, _mm512_sub_ps(b, a), a)
        };
        let (a, b) = (plane(0), plane(strides[2]));
        let value = _mm512_fmadd_ps(h, _mm512_sub_ps(b, a), a);
        most = _mm512_mask_max_ps(most, inside, most, value);
    }
    // SAFETY: the caller's promise.
    unsafe { _mm512_storeu_ps(out, most) };
}
