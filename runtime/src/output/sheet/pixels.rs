//! Contact sheets as pictures: pixels, frames and letters.

use crate::memory::claim;
use crate::output::font;
use crate::png::{Depth, Png};

/// Pixels of a picture in each direction, at most; larger ones are shrunk.
const LARGEST: usize = 320;
/// Pixels of a whole row of pictures, at most, as long as these have some pixels left.
const WIDEST: usize = 1 << 14;
/// Pixels that are left of any picture that has them.
const SMALLEST: usize = 16;
/// Pixels between pictures, and around all.
const GAP: usize = 8;
/// Pixels of the sheet for each pixel of a letter.
const SCALE: usize = 2;
/// From one letter to the next.
const STEP: usize = (font::WIDTH + 1) * SCALE;
/// From one line of a caption to the next.
const LINE: usize = (font::HEIGHT + 2) * SCALE;
/// Pixels between a picture and its caption.
const LEAD: usize = 4;
/// The last letter of a caption that is cut off.
const CUT: char = '~';

const WHITE: [u8; 3] = [255; 3];
const BLACK: [u8; 3] = [0; 3];
/// The frames of pictures.
const GREY: [u8; 3] = [176; 3];
/// What stands for pictures that are missing.
const RED: [u8; 3] = [192, 48, 48];

/// Pixels of a picture in each direction, at most, if there are some columns.
pub(super) fn largest(columns: usize) -> usize {
    let room = (WIDEST / columns).saturating_sub(GAP);
    room.clamp(SMALLEST, LARGEST)
}

/// The whole sheet.
pub(super) fn drawn(
    pictures: &[Option<Pixels>],
    captions: &[Vec<String>],
    columns: usize,
) -> Result<Png, String> {
    let shown = || pictures.iter().flatten();
    let widest = shown().map(|pixels| pixels.width).max().unwrap_or(SMALLEST);
    let height = shown().map(|p| p.height).max().unwrap_or(SMALLEST);
    let letters = |line: &String| line.chars().count() * STEP;
    let longest = captions.iter().flatten().map(letters).max().unwrap_or(0);
    let width = widest.max(longest.min(LARGEST));
    let lines = captions.iter().map(Vec::len).max().unwrap_or(0);
    let cell = [width + GAP, height + LEAD + lines * LINE + GAP];
    let rows = captions.len().div_ceil(columns);
    let size = [columns * cell[0] + GAP, rows * cell[1] + GAP];
    // Three bytes for drawing, and twice as many for the picture.
    let bytes = size[0] as u64 * size[1] as u64 * 9;
    let _claim = claim(bytes).map_err(|shortage| shortage.to_string())?;
    let mut sheet = Pixels::filled(size[0], size[1], WHITE);
    for (run, (picture, caption)) in pictures.iter().zip(captions).enumerate() {
        let corner = [GAP + run % columns * cell[0], GAP + run / columns * cell[1]];
        match picture {
            Some(picture) => {
                sheet.frame(corner, [picture.width, picture.height], GREY);
                sheet.put(corner, picture);
            }
            None => {
                sheet.frame(corner, [widest, height], RED);
                sheet.cross(corner, [widest, height], RED);
            }
        }
        for (n, line) in caption.iter().enumerate() {
            let place = [corner[0], corner[1] + height + LEAD + n * LINE];
            sheet.write(place, &fitted(line, width / STEP));
        }
    }
    sheet.png()
}

/// A line with this many letters at most.
fn fitted(line: &str, letters: usize) -> String {
    if line.chars().count() <= letters {
        return line.to_string();
    }
    let kept = line.chars().take(letters.saturating_sub(1));
    kept.chain([CUT]).collect()
}

/// A picture of three bytes per pixel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Pixels {
    fn filled(width: usize, height: usize, colour: [u8; 3]) -> Pixels {
        Pixels {
            width,
            height,
            rgb: colour.repeat(width * height),
        }
    }

    /// A picture on white, with this many pixels in each direction at most: each is the mean of those that it stands for.
    pub(super) fn shrunk(png: &Png, largest: usize) -> Pixels {
        let (from_width, from_height) = (png.width(), png.height());
        let longer = from_width.max(from_height);
        let smaller = |n: usize| match longer <= largest {
            true => n,
            false => (n * largest / longer).max(1),
        };
        let (width, height) = (smaller(from_width), smaller(from_height));
        let mut rgb = Vec::with_capacity(width * height * 3);
        let range = |n: usize, to: usize, from: usize| {
            let start = n * from / to;
            start..((n + 1) * from).div_ceil(to).max(start + 1)
        };
        for row in 0..height {
            for column in 0..width {
                let (mut sum, mut count) = ([0.0; 3], 0.0);
                for y in range(row, height, from_height) {
                    for x in range(column, width, from_width) {
                        let colour = on_white(png, y * from_width + x);
                        (0..3).for_each(|k| sum[k] += colour[k]);
                        count += 1.0;
                    }
                }
                rgb.extend(sum.map(|x| (x / count * 255.0).round() as u8));
            }
        }
        Pixels { width, height, rgb }
    }

    pub(super) fn png(&self) -> Result<Png, String> {
        let samples = self.rgb.iter().map(|&byte| u16::from(byte)).collect();
        Png::new(self.width, self.height, 3, Depth::Eight, samples).map_err(|e| e.to_string())
    }

    fn set(&mut self, x: usize, y: usize, colour: [u8; 3]) {
        if x < self.width && y < self.height {
            let at = (y * self.width + x) * 3;
            self.rgb[at..at + 3].copy_from_slice(&colour);
        }
    }

    fn put(&mut self, [left, top]: [usize; 2], other: &Pixels) {
        for (n, colour) in other.rgb.chunks(3).enumerate() {
            let (x, y) = (n % other.width, n / other.width);
            self.set(left + x, top + y, [colour[0], colour[1], colour[2]]);
        }
    }

    /// A line around a place.
    fn frame(&mut self, [left, top]: [usize; 2], [width, height]: [usize; 2], colour: [u8; 3]) {
        for x in left - 1..=left + width {
            self.set(x, top - 1, colour);
            self.set(x, top + height, colour);
        }
        for y in top - 1..=top + height {
            self.set(left - 1, y, colour);
            self.set(left + width, y, colour);
        }
    }

    fn cross(&mut self, [left, top]: [usize; 2], [width, height]: [usize; 2], colour: [u8; 3]) {
        let steps = width.max(height);
        for n in 0..steps {
            let (x, y) = (n * width / steps, n * height / steps);
            self.set(left + x, top + y, colour);
            self.set(left + width - 1 - x, top + y, colour);
        }
    }

    fn write(&mut self, [left, top]: [usize; 2], text: &str) {
        for (n, letter) in text.chars().enumerate() {
            for (x, y) in font::pixels(letter) {
                for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let place = [left + n * STEP + x * SCALE, top + y * SCALE];
                    self.set(place[0] + dx, place[1] + dy, BLACK);
                }
            }
        }
    }
}

/// The colour of a pixel in front of white, from 0 to 1.
fn on_white(png: &Png, pixel: usize) -> [f64; 3] {
    let channels = png.channels();
    let values = &png.samples()[pixel * channels..(pixel + 1) * channels];
    let part = |value: u16| f64::from(value) / f64::from(png.depth().max());
    let (colour, opacity) = match *values {
        [grey] => ([part(grey); 3], 1.0),
        [grey, opacity] => ([part(grey); 3], part(opacity)),
        [r, g, b] => ([r, g, b].map(part), 1.0),
        [r, g, b, opacity, ..] => ([r, g, b].map(part), part(opacity)),
        [] => ([1.0; 3], 1.0),
    };
    colour.map(|x| x * opacity + 1.0 - opacity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_shrunk_to_means_and_small_ones_stay() {
        let samples = [[0_u16, 255].repeat(320), [0, 255].repeat(320)].concat();
        let stripes = Png::new(640, 2, 1, Depth::Eight, samples).expect("a picture");
        let shrunk = Pixels::shrunk(&stripes, 320);
        assert_eq!((shrunk.width, shrunk.height), (320, 1));
        assert!(shrunk.rgb.iter().all(|&byte| byte == 128));
        let clear = Png::new(1, 1, 2, Depth::Sixteen, vec![0, 0]).expect("a picture");
        let pixel = Pixels::shrunk(&clear, 320);
        assert_eq!(
            pixel,
            Pixels::filled(1, 1, WHITE),
            "a transparent pixel is white"
        );
    }

    #[test]
    fn a_sheet_has_rows_columns_captions_and_crosses() {
        let captions: Vec<Vec<String>> = (0..3).map(|n| vec![format!("x={n}")]).collect();
        let black = |width, height| Some(Pixels::filled(width, height, BLACK));
        let pictures = [black(40, 20), black(30, 10), None];
        let png = drawn(&pictures, &captions, 2).expect("a sheet");
        let cell = [40 + GAP, 20 + LEAD + LINE + GAP];
        let size = [png.width(), png.height()];
        assert_eq!(size, [2 * cell[0] + GAP, 2 * cell[1] + GAP]);
        let at = |x: usize, y: usize| {
            let at = (y * png.width() + x) * 3;
            [0, 1, 2].map(|k| png.samples()[at + k])
        };
        let colour = |rgb: [u8; 3]| rgb.map(u16::from);
        assert_eq!(at(GAP + 39, GAP + 19), colour(BLACK));
        assert_eq!(at(GAP + cell[0] + 35, GAP + 5), colour(WHITE));
        // The third run failed.
        assert_eq!(at(GAP, GAP + cell[1]), colour(RED));
        // The foot of the `1` of the second caption.
        let (x, y) = (
            GAP + cell[0] + 2 * STEP + 2 * SCALE,
            GAP + 20 + LEAD + 6 * SCALE,
        );
        assert_eq!(at(x, y), colour(BLACK));
    }

    #[test]
    fn long_captions_are_cut() {
        assert_eq!(fitted("isoval=0.5", 10), "isoval=0.5");
        assert_eq!(fitted("isoval=0.25", 10), "isoval=0.~");
        assert_eq!(fitted("isoval", 0), "~");
    }
}
