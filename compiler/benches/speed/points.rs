//! Particles, as one would write them in Rust. The algorithms are those of `contour` beside this file and of
//! `programs/particles/halftone.diderot`.

use super::planes::{ctmr, sum};
use rayon::prelude::*;
use runtime::image::Image;

type Vec2 = [f32; 2];

/// Positions on an isocontour, one after the other.
pub(crate) fn contour(picture: &Image<f32>, across: usize) -> Vec<f32> {
    let (m, o) = (
        picture.orientation().world_to_index(),
        picture.orientation().offset(),
    );
    let (scale, offset) = ([m[0] as f32, m[3] as f32], [o[0] as f32, o[1] as f32]);
    let width = picture.sizes()[0];
    let walk = |n: usize| {
        let place = |n: usize| 3.4 * (2.0 * (n as f32 + 0.5) / across as f32 - 1.0);
        let mut pos = [place(n % across), place(n / across)];
        for _ in 0..13 {
            let at = [0, 1].map(|axis| scale[axis] * pos[axis] + offset[axis]);
            if !at.iter().all(|x| (1.0..(width - 2) as f32).contains(x)) {
                return None;
            }
            let [x, y] = at.map(|x| ctmr(x.fract()));
            let part = |x, y| sum(picture.samples(), width, at, x, y);
            let g = [scale[0] * part(x[1], y[0]), scale[1] * part(x[0], y[1])];
            let square = g[0] * g[0] + g[1] * g[1];
            if square < 0.0001 {
                return None;
            }
            let delta = g.map(|g| (0.5 - part(x[0], y[0])) * g / square);
            let far = (delta[0] * delta[0] + delta[1] * delta[1]).sqrt();
            if far < 0.0001 {
                return Some(pos);
            }
            let by = (0.05 / far).min(1.0);
            pos = [pos[0] + by * delta[0], pos[1] + by * delta[1]];
        }
        None
    };
    let found: Vec<Vec2> = (0..across * across)
        .into_par_iter()
        .filter_map(walk)
        .collect();
    found.concat()
}

#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Open,
    Stays,
    Gone,
}

/// A candidate for a dot.
struct Dot {
    pos: Vec2,
    rank: i32,
    distance: f32,
}

/// Positions of dots that keep their distance, one after the other.
pub(crate) fn dots(picture: &Image<f32>, n: i32) -> Vec<f32> {
    let (size, close, apart) = (2.8f32, 0.12f32, 0.6f32);
    let next = |seed: i32| seed.wrapping_mul(7919).wrapping_add(104_729) % 1_000_003;
    let chance = |seed: i32| (seed % 9973) as f32 / 9973.0;
    let orientation = picture.orientation();
    let (m, o) = (orientation.world_to_index(), orientation.offset());
    let width = picture.sizes()[0];
    let value = |pos: Vec2| {
        let at = [0, 1].map(|a| m[3 * a] as f32 * pos[a] + o[a] as f32);
        let ([i, j], [f, g]) = (at.map(|x| x as usize), at.map(f32::fract));
        let row = |j: usize| {
            let s = &picture.samples()[j * width + i..];
            (1.0 - f) * s[0] + f * s[1]
        };
        (1.0 - g) * row(j) + g * row(j + 1)
    };
    let dots: Vec<Dot> = (0..n * n)
        .map(|k| {
            let (i, j) = (k % n, k / n);
            let seed = next(next(31 * i + 1777 * j + 5));
            let more = next(seed);
            let place = |k: i32, s: i32| 2.0 * size * (k as f32 + chance(s)) / n as f32 - size;
            let pos = [place(i, seed), place(j, more)];
            Dot {
                pos,
                rank: next(more),
                distance: close + (apart - close) * value(pos).clamp(0.0, 1.0),
            }
        })
        .collect();
    // Cells as large as the largest distance.
    let cells = (2.0 * size / apart).ceil() as usize + 1;
    let cell = |pos: Vec2| pos.map(|x| ((x + size) / apart).max(0.0) as usize);
    let mut members = vec![Vec::new(); cells * cells];
    for (k, dot) in dots.iter().enumerate() {
        let [x, y] = cell(dot.pos);
        members[y * cells + x].push(k);
    }
    let mut fates = vec![Fate::Open; dots.len()];
    while fates.contains(&Fate::Open) {
        let decide = |k: usize| {
            if fates[k] != Fate::Open {
                return fates[k];
            }
            let dot = &dots[k];
            let [x, y] = cell(dot.pos);
            let mut best = true;
            for y in y.saturating_sub(1)..(y + 2).min(cells) {
                for x in x.saturating_sub(1)..(x + 2).min(cells) {
                    for &q in &members[y * cells + x] {
                        let other = &dots[q];
                        let away = [other.pos[0] - dot.pos[0], other.pos[1] - dot.pos[1]];
                        let far = (away[0] * away[0] + away[1] * away[1]).sqrt();
                        if q == k
                            || fates[q] == Fate::Gone
                            || far >= dot.distance.max(other.distance)
                        {
                            continue;
                        }
                        if fates[q] == Fate::Stays {
                            return Fate::Gone;
                        }
                        best &= (other.rank, other.pos[0]) <= (dot.rank, dot.pos[0]);
                    }
                }
            }
            if best { Fate::Stays } else { Fate::Open }
        };
        fates = (0..dots.len()).into_par_iter().map(decide).collect();
    }
    let stay = dots.iter().zip(&fates);
    let stay = stay.filter(|(_, fate)| **fate == Fate::Stays);
    stay.flat_map(|(dot, _)| dot.pos).collect()
}
