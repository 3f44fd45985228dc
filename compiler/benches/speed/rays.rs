//! Renderings as one would write them in Rust: a loop per ray, the rays of a picture divided among the threads of the pool.
//!
//! The algorithms are those of the programs `projection`, `surface` and `edges` beside this file, and of
//! `programs/methods/vr.diderot`, with the defaults of their inputs.

use super::jets::{Jets, VALUE_AND_THREE, VALUE_AND_TWO};
use rayon::prelude::*;
use runtime::image::Image;

pub(crate) type Vec3 = [f32; 3];

fn map(a: Vec3, f: impl Fn(f32) -> f32) -> Vec3 {
    a.map(f)
}

pub(crate) fn add(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn dot(a: Vec3, b: Vec3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn scale(s: f32, a: Vec3) -> Vec3 {
    map(a, |x| s * x)
}

pub(crate) fn normalize(a: Vec3) -> Vec3 {
    scale(1.0 / dot(a, a).sqrt(), a)
}

pub(crate) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// A camera: position, distance to the point looked at, and the axes of the picture.
pub(crate) struct Camera {
    pub(crate) eye: Vec3,
    pub(crate) dist: f32,
    ahead: Vec3,
    right: Vec3,
    above: Vec3,
    half: f32,
    pub(crate) size: usize,
}

impl Camera {
    pub(crate) fn new(eye: Vec3, fov: f32, size: usize) -> Camera {
        let look = [0.0; 3];
        let dist = dot(sub(look, eye), sub(look, eye)).sqrt();
        let ahead = scale(1.0 / dist, sub(look, eye));
        let right = normalize(cross(ahead, [0.0, 0.0, 1.0]));
        Camera {
            eye,
            dist,
            ahead,
            right,
            above: cross(right, ahead),
            half: dist * (fov * std::f32::consts::PI / 360.0).tan(),
            size,
        }
    }

    /// The direction of the ray through a pixel.
    pub(crate) fn direction(&self, row: usize, col: usize) -> Vec3 {
        let along = |n: usize| self.half * (2.0 * (n as f32 + 0.5) / self.size as f32 - 1.0);
        let offset = add(
            scale(along(col), self.right),
            scale(-along(row), self.above),
        );
        add(self.ahead, scale(1.0 / self.dist, offset))
    }
}

/// A volume that is reconstructed by the cubic B-spline.
pub(crate) struct Volume<'a> {
    pub(crate) samples: &'a [f32],
    pub(crate) sizes: [usize; 3],
    pub(crate) to_index: [[f32; 3]; 3],
    offset: Vec3,
}

/// The weights of the four samples around a position, and their derivatives.
fn weights(f: f32) -> [f32; 4] {
    let g = 1.0 - f;
    [
        g * g * g / 6.0,
        2.0 / 3.0 - f * f * (2.0 - f) / 2.0,
        2.0 / 3.0 - g * g * (2.0 - g) / 2.0,
        f * f * f / 6.0,
    ]
}

fn slopes(f: f32) -> [f32; 4] {
    let g = 1.0 - f;
    [
        -g * g / 2.0,
        f * (1.5 * f - 2.0),
        -g * (1.5 * g - 2.0),
        f * f / 2.0,
    ]
}

impl Volume<'_> {
    pub(crate) fn new(image: &Image<f32>) -> Volume<'_> {
        let m = image.orientation().world_to_index();
        let o = image.orientation().offset();
        let sizes = image.sizes();
        Volume {
            samples: image.samples(),
            sizes: [sizes[0], sizes[1], sizes[2]],
            to_index: [0, 1, 2].map(|r| [0, 1, 2].map(|c| m[3 * r + c] as f32)),
            offset: [0, 1, 2].map(|r| o[r] as f32),
        }
    }

    pub(crate) fn index(&self, x: Vec3) -> Vec3 {
        let moved = self.to_index.map(|row| dot(row, x));
        add(moved, self.offset)
    }

    /// Whether all samples for a kernel of this support are there.
    fn inside(&self, at: Vec3, support: usize) -> bool {
        (0..3).all(|axis| {
            let last = self.sizes[axis] - support;
            (support - 1) as f32 <= at[axis] && at[axis] < last as f32
        })
    }

    /// Linear interpolation.
    fn linear(&self, at: Vec3) -> f32 {
        let [i, j, k] = at.map(|x| x as usize);
        let [f, g, h] = at.map(f32::fract);
        let row = |j: usize, k: usize| {
            let first = (k * self.sizes[1] + j) * self.sizes[0] + i;
            (1.0 - f) * self.samples[first] + f * self.samples[first + 1]
        };
        let slice = |k: usize| (1.0 - g) * row(j, k) + g * row(j + 1, k);
        (1.0 - h) * slice(k) + h * slice(k + 1)
    }

    /// The sum over the samples around a position inside, or near it.
    fn sum(&self, at: Vec3, w: [[f32; 4]; 3]) -> f32 {
        let first = at.map(|x| (x as usize).max(1) - 1);
        let mut sum = 0.0;
        for (k, wz) in w[2].iter().enumerate() {
            for (j, wy) in w[1].iter().enumerate() {
                let row =
                    ((first[2] + k) * self.sizes[1] + first[1] + j) * self.sizes[0] + first[0];
                let s = &self.samples[row..row + 4];
                let x = w[0][0] * s[0] + w[0][1] * s[1] + w[0][2] * s[2] + w[0][3] * s[3];
                sum += wz * wy * x;
            }
        }
        sum
    }

    fn value(&self, at: Vec3) -> f32 {
        self.sum(at, at.map(|x| weights(x.fract())))
    }

    /// The gradient in the world.
    fn gradient(&self, at: Vec3) -> Vec3 {
        let w = at.map(|x| weights(x.fract()));
        let g = [0, 1, 2].map(|axis| {
            let mut w = w;
            w[axis] = slopes(at[axis].fract());
            self.sum(at, w)
        });
        [0, 1, 2].map(|c| (0..3).map(|r| self.to_index[r][c] * g[r]).sum())
    }
}

/// One number per pixel: what `ray` makes of the direction.
fn picture(camera: &Camera, ray: impl Fn(Vec3) -> f32 + Sync) -> Vec<f32> {
    let size = camera.size;
    let mut pixels = vec![0.0; size * size];
    pixels.par_iter_mut().enumerate().for_each(|(n, pixel)| {
        *pixel = ray(camera.direction(n / size, n % size));
    });
    pixels
}

/// The camera of the projection.
pub(crate) fn projection_camera(size: usize) -> Camera {
    Camera::new([1.5, -4.0, 7.0], 20.0, size)
}

/// Maximum-intensity projection.
pub(crate) fn projection(image: &Image<f32>, size: usize) -> Vec<f32> {
    let volume = Volume::new(image);
    let camera = projection_camera(size);
    picture(&camera, |dir| {
        let mut most: f32 = 0.0;
        let mut t = camera.dist - 2.0;
        while t <= camera.dist + 2.0 {
            let at = volume.index(add(camera.eye, scale(t, dir)));
            if volume.inside(at, 1) {
                most = most.max(volume.linear(at));
            }
            t += 0.01;
        }
        most
    })
}

/// Isosurface.
pub(crate) fn surface(image: &Image<f32>, size: usize) -> Vec<f32> {
    let (isoval, step) = (0.3, 0.015);
    let volume = Volume::new(image);
    let camera = Camera::new([4.0, -7.0, 5.0], 15.0, size);
    picture(&camera, |dir| {
        let index = |t: f32| volume.index(add(camera.eye, scale(t, dir)));
        let mut t = camera.dist - 2.0;
        while t <= camera.dist + 2.0 {
            let at = index(t);
            if volume.inside(at, 2) && volume.value(at) > isoval {
                let (mut low, mut high) = (t - step, t);
                for _ in 0..12 {
                    let middle = 0.5 * (low + high);
                    if volume.value(index(middle)) > isoval {
                        high = middle;
                    } else {
                        low = middle;
                    }
                }
                let normal = normalize(volume.gradient(index(high)));
                return dot(normal, camera.ahead).abs();
            }
            t += step;
        }
        0.0
    })
}

/// Canny edges.
pub(crate) fn edges(image: &Image<f32>, size: usize) -> Vec<f32> {
    let (strength, step) = (0.6, 0.02);
    let volume = Volume::new(image);
    let jets = Jets::new(&volume);
    let camera = Camera::new([4.0, -7.0, 5.0], 17.0, size);
    picture(&camera, |dir| {
        let mut t = camera.dist - 2.0;
        let mut before = 0.0;
        while t <= camera.dist + 2.0 {
            let at = volume.index(add(camera.eye, scale(t, dir)));
            let mut now = 0.0;
            if volume.inside(at, 3) {
                let jet = jets.at::<VALUE_AND_TWO>(at);
                if dot(jet.gradient, jet.gradient).sqrt() > strength {
                    now = jet.edge();
                    if now * before < 0.0 {
                        let slope = jets.at::<VALUE_AND_THREE>(at).edge_gradient();
                        return dot(normalize(slope), camera.ahead).abs();
                    }
                }
            }
            before = now;
            t += step;
        }
        0.0
    })
}

/// Three numbers per pixel.
pub(crate) fn rendering(image: &Image<f32>, rgba: &Image<f32>, size: usize) -> Vec<f32> {
    let (depth, step) = (2.0, 0.015);
    let (cut, cut_at) = ([0.3, -0.5, 0.8], 0.15);
    let backdrop = [0.1, 0.12, 0.16];
    let volume = Volume::new(image);
    let camera = Camera::new([4.0, -7.0, 5.0], 15.0, size);
    let light = normalize(add(
        scale(-1.0, camera.ahead),
        sub(scale(0.7, camera.above), scale(0.5, camera.right)),
    ));
    let stride = rgba.plane_stride();
    let entries = rgba.sizes()[0];
    let (slope, start) = (
        rgba.orientation().world_to_index()[0] as f32,
        rgba.orientation().offset()[0] as f32,
    );
    let material = |value: f32| -> [f32; 4] {
        let at = slope * value + start;
        let f = at - at.floor();
        let last = entries as f32 - 1.0;
        let [a, b] = [at.floor(), at.floor() + 1.0].map(|n| n.clamp(0.0, last) as usize);
        [0, 1, 2, 3].map(|c| {
            let plane = &rgba.samples()[c * stride..];
            (1.0 - f) * plane[a] + f * plane[b]
        })
    };
    let mut pixels = vec![0.0; 3 * size * size];
    pixels.par_chunks_mut(3).enumerate().for_each(|(n, pixel)| {
        let dir = camera.direction(n / size, n % size);
        let towards = dot(cut, dir);
        let mut t = camera.dist - depth;
        if towards < 0.0 {
            t = t.max((cut_at - dot(cut, camera.eye)) / towards);
        }
        let mut through = 1.0;
        let mut sum = [0.0; 3];
        while t <= camera.dist + depth {
            let x = add(camera.eye, scale(t, dir));
            let at = volume.index(x);
            if volume.inside(at, 2) && dot(cut, x) < cut_at + 0.0001 {
                let m = material(volume.value(at));
                if m[3] > 0.0 {
                    let g = volume.gradient(at);
                    let length = dot(g, g).sqrt();
                    let mut normal = scale(1.0 / length.max(0.000_001), g);
                    if dot(normal, dir) > 0.0 {
                        normal = scale(-1.0, normal);
                    }
                    let diffuse = dot(normal, light).max(0.0);
                    let half = normalize(sub(light, normalize(dir)));
                    let specular = dot(normal, half).max(0.0).powi(30);
                    let crisp = (length / 1.5).min(1.0);
                    let lit = add(
                        scale(1.0 - 0.8 * crisp * (1.0 - diffuse), [m[0], m[1], m[2]]),
                        [0.25 * crisp * specular; 3],
                    );
                    let alpha = 1.0 - (-m[3] * step * dot(dir, dir).sqrt()).exp();
                    sum = add(sum, scale(through * alpha, lit));
                    through *= 1.0 - alpha;
                }
            }
            if through < 0.01 {
                through = 0.0;
                break;
            }
            t += step;
        }
        pixel.copy_from_slice(&add(sum, scale(through, backdrop)));
    });
    pixels
}
