//! Pictures as files have them: alone (`.png`), or one after the other as animated PNG (`.apng`) or as plain frames for any encoder
//! of films (`.y4m`, `.mp4`).

use std::io::{self, Write};

use super::OutputError;
use super::contents::{Contents, Style, Told};
use super::picture::{self, Tally};
use super::shapes::{self, Request};
use crate::png::{self, Depth, Png};

/// Outputs that are pictures.
pub(super) fn pictures(request: Request<'_>) -> Result<(), String> {
    shapes::arrays(request)?;
    picture::check(request.outputs[0], request.domain)?;
    match request.are_coloured {
        true => picture::check_colours(request.outputs[0]),
        false => Ok(()),
    }
}

/// Writes one picture.
pub(super) fn write_png(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let (png, tally) = picture_of(contents, style)?;
    let text = range_text(&tally).filter(|_| tally.colours.is_some());
    png::encode_with(&png, text.as_deref(), out).map_err(OutputError::new)?;
    Ok((describe_picture(&png), Some(tally)))
}

/// Writes a film of one picture.
pub(super) fn write_y4m(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let (png, tally) = picture_of(contents, style)?;
    let written = y4m(1.0).add(&png, out);
    written.map_err(OutputError::new)?;
    Ok((describe_picture(&png), Some(tally)))
}

/// One picture is not a film that is worth an encoder.
pub(super) fn refuse_mp4(
    _: Contents<'_>,
    _: &Style,
    _: &mut dyn Write,
) -> Result<Told, OutputError> {
    let message = "a .mp4 is made of the pictures of snapshots or of several runs; one is a .png";
    Err(OutputError::new(message))
}

/// The picture of the only output, as files and films have it.
pub(super) fn picture_of(
    contents: Contents<'_>,
    style: &Style,
) -> Result<(Png, Tally), OutputError> {
    let column = contents.single()?;
    let Style { depth, nan, .. } = *style;
    picture::picture(*column, contents.domain, depth, nan).map_err(OutputError::new)
}

/// The map of a picture and the numbers of its first and last colour, exactly; `None` if there are none.
pub(super) fn range_text(tally: &Tally) -> Option<String> {
    let (first, last) = tally.range;
    if !first.is_finite() || !last.is_finite() {
        return None;
    }
    // A number of single precision needs no more digits than that.
    let exact = |x: f64| {
        let text = match f64::from(x as f32) == x {
            true => format!("{:?}", x as f32),
            false => format!("{x:?}"),
        };
        text.trim_end_matches(".0").to_string()
    };
    let map = tally.colours.map(|map| format!("cmap={} ", map.name));
    let map = map.unwrap_or_default();
    Some(format!("{map}range={}..{}", exact(first), exact(last)))
}

pub(super) fn describe_picture(png: &Png) -> String {
    let colours = ["grey", "grey with opacity", "RGB", "RGBA"][png.channels() - 1];
    let bits = match png.depth() {
        Depth::Eight => 8,
        Depth::Sixteen => 16,
    };
    format!("{} × {}, {colours}, {bits} bit", png.width(), png.height())
}

/// The frames of a film on their way into a file.
pub(super) trait Frames: Send {
    /// Adds a picture, which is like those before.
    fn add(&mut self, png: &Png, out: &mut dyn Write) -> io::Result<()>;

    /// Completes the film.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

/// Begins a film with this many frames per second.
pub(super) type Begin = fn(f64) -> Box<dyn Frames>;

/// An animated PNG. The number of its frames must be known before the first, so all are kept.
struct Animation {
    per_second: f64,
    first: Option<Png>,
    compressed: Vec<Vec<u8>>,
}

pub(super) fn animation(per_second: f64) -> Box<dyn Frames> {
    Box::new(Animation {
        per_second,
        first: None,
        compressed: Vec::new(),
    })
}

impl Frames for Animation {
    fn add(&mut self, png: &Png, _: &mut dyn Write) -> io::Result<()> {
        self.compressed.push(png::compress(png)?.concat());
        self.first.get_or_insert_with(|| png.clone());
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Some(first) = &self.first else {
            return Ok(());
        };
        let delay = delay(self.per_second);
        png::animate(first, &self.compressed, delay, out).map_err(io::Error::other)
    }
}

/// The duration of a frame as a fraction of two 16-bit numbers.
fn delay(per_second: f64) -> [u16; 2] {
    match per_second.fract() == 0.0 && per_second <= f64::from(u16::MAX) {
        true => [1, per_second as u16],
        false => [
            1000,
            (per_second * 1000.0)
                .round()
                .clamp(1.0, f64::from(u16::MAX)) as u16,
        ],
    }
}

/// Plain frames.
struct Y4m {
    per_second: f64,
    has_begun: bool,
}

pub(super) fn y4m(per_second: f64) -> Box<dyn Frames> {
    Box::new(Y4m {
        per_second,
        has_begun: false,
    })
}

impl Frames for Y4m {
    fn add(&mut self, png: &Png, out: &mut dyn Write) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_begun, true) {
            out.write_all(y4m_header(png, self.per_second).as_bytes())?;
        }
        write_y4m_frame(png, out)
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.flush()
    }
}

fn y4m_header(png: &Png, per_second: f64) -> String {
    let colours = if png.channels() <= 2 { "mono" } else { "444" };
    let rate = (per_second * 1000.0).round();
    format!(
        "YUV4MPEG2 W{} H{} F{rate}:1000 Ip A1:1 C{colours}\n",
        png.width(),
        png.height()
    )
}

/// One frame: brightness, then the two differences of colour, as television has them (BT.601). Opacity is left out.
fn write_y4m_frame(png: &Png, out: &mut dyn Write) -> io::Result<()> {
    let scale = match png.depth() {
        Depth::Eight => 1.0,
        Depth::Sixteen => 1.0 / 257.0,
    };
    let channels = png.channels();
    let pixels = || png.samples().chunks(channels);
    let plane = |weights: [f64; 3], base: f64| -> Vec<u8> {
        let level = |pixel: &[u16]| {
            let rgb = match channels {
                1 | 2 => [pixel[0]; 3],
                _ => [pixel[0], pixel[1], pixel[2]],
            };
            let sum: f64 = rgb
                .iter()
                .zip(weights)
                .map(|(&c, w)| f64::from(c) * scale / 255.0 * w)
                .sum();
            (base + sum).round().clamp(0.0, 255.0) as u8
        };
        pixels().map(level).collect()
    };
    out.write_all(b"FRAME\n")?;
    out.write_all(&plane([65.481, 128.553, 24.966], 16.0))?;
    if channels > 2 {
        out.write_all(&plane([-37.797, -74.203, 112.0], 128.0))?;
        out.write_all(&plane([112.0, -93.786, -18.214], 128.0))?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_exact_where_they_can_be() {
        assert_eq!(delay(25.0), [1, 25]);
        assert_eq!(delay(29.97), [1000, 29970]);
        assert_eq!(delay(0.5), [1000, 500]);
    }

    #[test]
    fn white_and_black_are_those_of_television() {
        let white = Png::new(1, 1, 3, Depth::Eight, vec![255; 3]).expect("a picture");
        let black = Png::new(1, 1, 3, Depth::Eight, vec![0; 3]).expect("a picture");
        for (png, expected) in [(white, [235, 128, 128]), (black, [16, 128, 128])] {
            let mut bytes = Vec::new();
            write_y4m_frame(&png, &mut bytes).expect("memory");
            assert_eq!(bytes, [b"FRAME\n", &expected[..]].concat());
        }
    }
}
