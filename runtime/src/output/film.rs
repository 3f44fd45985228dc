//! Films: pictures one after the other, as animated PNG (`.apng`) or as plain frames for any encoder (`.y4m`).

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::format::{Destination, FileFormat};
use super::staged::Staged;
use super::write::{Contents, Style, Written, describe_picture, picture_of};
use super::{OutputError, picture::Tally};
use crate::file_name::FileName;
use crate::png::{self, Depth, Png};

/// A film in the making. It appears under its name when it is finished.
pub struct Film {
    file: FileName,
    frames: u32,
    per_second: f64,
    /// What one picture is, and what became of the numbers of the last.
    first: Option<Png>,
    tally: Option<Tally>,
    making: Making,
    staged: Staged,
}

enum Making {
    /// The compressed pixels of all frames: their number must be known before the first.
    Animation(Vec<Vec<u8>>),
    /// Where frames go as they come.
    Stream(Option<Box<dyn Write>>),
}

impl Film {
    /// A film without frames.
    pub fn new(destination: &Destination, per_second: f64) -> Film {
        let making = match destination.format {
            FileFormat::Y4m => Making::Stream(None),
            _ => Making::Animation(Vec::new()),
        };
        Film {
            file: destination.file.clone(),
            frames: 0,
            per_second,
            first: None,
            tally: None,
            making,
            staged: Staged::default(),
        }
    }

    /// Adds a picture.
    ///
    /// # Errors
    /// It is not a picture, or not like the others, or cannot be written.
    pub fn add(&mut self, contents: Contents<'_>, style: &Style) -> Result<(), OutputError> {
        let (png, tally) = picture_of(contents, style)?;
        let alike = |first: &Png| {
            let of = |p: &Png| (p.width(), p.height(), p.channels());
            of(first) == of(&png)
        };
        if self.first.as_ref().is_some_and(|first| !alike(first)) {
            let message = "the pictures of a film must all have the same size and channels";
            return Err(OutputError::new(format!("{}: {message}", self.file)));
        }
        let file = self.file.clone();
        let failed = |e: io::Error| OutputError::new(format!("{file}: {e}"));
        match &mut self.making {
            Making::Animation(frames) => {
                frames.push(png::compress(&png).map_err(failed)?.concat());
            }
            Making::Stream(out) => {
                if out.is_none() {
                    let mut opened = open(&mut self.staged, &self.file)?;
                    opened
                        .write_all(y4m_header(&png, self.per_second).as_bytes())
                        .map_err(failed)?;
                    *out = Some(opened);
                }
                if let Some(out) = out {
                    write_y4m_frame(&png, out).map_err(failed)?;
                }
            }
        }
        self.frames += 1;
        self.first.get_or_insert(png);
        self.tally = Some(tally);
        Ok(())
    }

    /// Completes the film.
    ///
    /// # Errors
    /// It has no frames, or cannot be written.
    pub fn finish(mut self) -> Result<Written, OutputError> {
        let Some(first) = &self.first else {
            return Err(OutputError::new(format!(
                "{}: the film has no pictures",
                self.file
            )));
        };
        let description = format!("{} frames of {}", self.frames, describe_picture(first));
        match &mut self.making {
            Making::Stream(out) => {
                let flushed = out.as_mut().map_or(Ok(()), |out| out.flush());
                flushed.map_err(|e| OutputError::new(format!("{}: {e}", self.file)))?;
            }
            Making::Animation(frames) => {
                let mut out = open(&mut self.staged, &self.file)?;
                let written = png::animate(first, frames, delay(self.per_second), &mut out);
                written.map_err(|e| OutputError::new(format!("{}: {e}", self.file)))?;
            }
        }
        self.staged.commit()?;
        Ok(Written {
            file: self.file,
            description,
            tally: self.tally,
            notes: Vec::new(),
        })
    }
}

/// Where the bytes of a film go.
fn open(staged: &mut Staged, file: &FileName) -> Result<Box<dyn Write>, OutputError> {
    if *file == *super::format::STANDARD_OUTPUT {
        return Ok(Box::new(io::stdout()));
    }
    let opened: File = staged.open(file)?;
    Ok(Box::new(BufWriter::new(opened)))
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
