//! Programs of one value per point of a grid, as one would write them in Rust: a loop per row, the rows divided among the
//! threads of the pool. The algorithms are those of `streaks`, `sampling`, `plot` and `colours`.

use rayon::prelude::*;
use runtime::image::Image;

type Vec2 = [f32; 2];

/// The weights of four samples, and their derivatives, by the Catmull-Rom spline.
pub(crate) fn ctmr(f: f32) -> [[f32; 4]; 2] {
    let weights = [
        ((-0.5 * f + 1.0) * f - 0.5) * f,
        (1.5 * f - 2.5) * f * f + 1.0,
        ((-1.5 * f + 2.0) * f + 0.5) * f,
        (0.5 * f - 0.5) * f * f,
    ];
    let slopes = [
        (-1.5 * f + 2.0) * f - 0.5,
        (4.5 * f - 5.0) * f,
        (-4.5 * f + 4.0) * f + 0.5,
        (1.5 * f - 1.0) * f,
    ];
    [weights, slopes]
}

/// The sum over 4×4 samples around a position.
pub(crate) fn sum(samples: &[f32], width: usize, at: Vec2, x: [f32; 4], y: [f32; 4]) -> f32 {
    let [i, j] = at.map(|x| x as usize - 1);
    let rows = y.iter().enumerate().map(|(row, w)| {
        let first = (j + row) * width + i;
        let s = &samples[first..first + 4];
        w * (x[0] * s[0] + x[1] * s[1] + x[2] * s[2] + x[3] * s[3])
    });
    rows.sum()
}

/// Line integral convolution.
pub(crate) fn streaks(flow: &Image<f32>, noise: &Image<f32>, size: usize) -> Vec<f32> {
    let (steps, step) = (20, 0.06);
    let width = flow.sizes()[0];
    let (u, v) = flow.samples().split_at(flow.plane_stride());
    let heading = |at: Vec2| -> Vec2 {
        let [x, y] = at.map(|x| ctmr(x.fract())[0]);
        let v = [u, v].map(|plane| sum(plane, width, at, x, y));
        let length = (v[0] * v[0] + v[1] * v[1]).sqrt().max(0.00001);
        v.map(|x| x / length)
    };
    let along = |a: Vec2, by: f32, v: Vec2| [a[0] + by * v[0], a[1] + by * v[1]];
    let (columns, rows) = (noise.sizes()[0], noise.sizes()[1]);
    let texture = |x: Vec2| {
        let at = x.map(|x| 4.0 * x);
        let [f, g] = at.map(|x| x - x.floor());
        let cell = at.map(|x| x.floor() as i64);
        let sample = |i: i64, j: i64| {
            let column = i.rem_euclid(columns as i64) as usize;
            noise.samples()[j.rem_euclid(rows as i64) as usize * columns + column]
        };
        let row = |j: i64| (1.0 - f) * sample(cell[0], j) + f * sample(cell[0] + 1, j);
        (1.0 - g) * row(cell[1]) + g * row(cell[1] + 1)
    };
    let mut pixels = vec![0.0; size * size];
    pixels.par_iter_mut().enumerate().for_each(|(n, pixel)| {
        let place = |n: usize| 3.0 + 25.0 * (n as f32 + 0.5) / size as f32;
        let start = [place(n % size), place(n / size)];
        let (mut ahead, mut behind) = (start, start);
        let mut total = texture(start);
        for _ in 0..steps {
            let middle = along(ahead, 0.5 * step, heading(ahead));
            ahead = along(ahead, step, heading(middle));
            let middle = along(behind, -0.5 * step, heading(behind));
            behind = along(behind, -step, heading(middle));
            total += texture(ahead) + texture(behind);
        }
        *pixel = total / (2 * steps + 1) as f32;
    });
    pixels
}

/// A function on a grid.
pub(crate) fn sampling(size: usize) -> Vec<f32> {
    let place = |n: usize| 2.0 * (n as f32 + 0.5) / size as f32 - 1.0;
    let mut values = vec![0.0; size * size * size];
    values
        .par_chunks_mut(size)
        .enumerate()
        .for_each(|(row, values)| {
            let (y, z) = (place(row % size), place(row / size));
            for (i, value) in values.iter_mut().enumerate() {
                let x = place(i);
                *value = (x * x + y * y + z * z).sqrt() - 0.7 + 0.1 * x * y * z;
            }
        });
    values
}

/// A plot of a function.
pub(crate) fn plot(signal: &Image<f32>, [width, height]: [usize; 2]) -> Vec<f32> {
    let last = signal.sizes()[0] as i64 - 1;
    let mut pixels = vec![0.0; width * height];
    pixels
        .par_chunks_mut(width)
        .enumerate()
        .for_each(|(row, pixels)| {
            let y = 1.0 - 2.0 * (row as f32 + 0.5) / height as f32;
            for (column, pixel) in pixels.iter_mut().enumerate() {
                let x = 34.0 * (column as f32 + 0.5) / width as f32 - 1.0;
                let cell = x.floor() as i64;
                let [value, slope] = ctmr(x - x.floor()).map(|weights| {
                    let taps = weights.iter().zip(cell - 1..);
                    let terms = taps.map(|(w, n)| w * signal.samples()[n.clamp(0, last) as usize]);
                    terms.sum::<f32>()
                });
                let away = (value - y).abs() / (1.0 + slope * slope).sqrt();
                *pixel = (1.0 - 200.0 * away).clamp(0.0, 1.0);
            }
        });
    pixels
}

/// An image in the colours of a map: three numbers per pixel.
pub(crate) fn colours(picture: &Image<f32>, map: &Image<f32>, size: usize) -> Vec<f32> {
    let (m, o) = (picture.orientation(), map.orientation());
    let scale = [m.world_to_index()[0] as f32, m.world_to_index()[3] as f32];
    let offset = [m.offset()[0] as f32, m.offset()[1] as f32];
    let (slope, start) = (o.world_to_index()[0] as f32, o.offset()[0] as f32);
    let (width, entries) = (picture.sizes()[0], map.sizes()[0]);
    let mut pixels = vec![0.0; 3 * size * size];
    pixels
        .par_chunks_mut(3 * size)
        .enumerate()
        .for_each(|(row, pixels)| {
            let place = |n: usize| 3.9 * (2.0 * (n as f32 + 0.5) / size as f32 - 1.0);
            for (column, pixel) in pixels.chunks_exact_mut(3).enumerate() {
                let x = scale[0] * place(column) + offset[0];
                let y = scale[1] * place(row) + offset[1];
                let (i, j, f, g) = (x as usize, y as usize, x.fract(), y.fract());
                let line = |j: usize| {
                    let s = &picture.samples()[j * width + i..];
                    (1.0 - f) * s[0] + f * s[1]
                };
                let value = (1.0 - g) * line(j) + g * line(j + 1);
                let at = slope * value + start;
                let f = at - at.floor();
                let entry = |n: f32| n.clamp(0.0, entries as f32 - 1.0) as usize;
                let (a, b) = (entry(at.floor()), entry(at.floor() + 1.0));
                for (component, pixel) in pixel.iter_mut().enumerate() {
                    let plane = &map.samples()[component * map.plane_stride()..];
                    *pixel = (1.0 - f) * plane[a] + f * plane[b];
                }
            }
        });
    pixels
}
