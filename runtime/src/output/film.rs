//! Films: pictures one after the other in one file.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::contents::{Contents, Style, Written};
use super::ffmpeg::Encoder;
use super::format::Destination;
use super::frames::{Frames, animation, describe_picture, picture_of};
use super::staged::Staged;
use super::{OutputError, picture::Tally};
use crate::file_name::FileName;
use crate::png::Png;

/// A film in the making. It appears under its name when it is finished.
pub struct Film {
    destination: Destination,
    count: u32,
    /// What one picture is, and what became of the numbers of the last.
    first: Option<Png>,
    tally: Option<Tally>,
    frames: Box<dyn Frames>,
    /// Where its bytes go, once there is a picture.
    out: Option<Out>,
    staged: Staged,
}

/// Where the bytes of a film go.
enum Out {
    Standard(io::Stdout),
    File(BufWriter<File>),
    Encoder(Encoder),
}

impl Out {
    fn open(staged: &mut Staged, destination: &Destination) -> Result<Out, OutputError> {
        let file = &destination.file;
        Ok(match destination.format.is_encoded() {
            true => {
                let path = staged.reserve(file)?;
                Out::Encoder(Encoder::start(&path).map_err(|e| failed(file, e))?)
            }
            false if destination.is_standard_output() => Out::Standard(io::stdout()),
            false => Out::File(BufWriter::new(staged.open(file)?)),
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Out::Standard(out) => out,
            Out::File(out) => out,
            Out::Encoder(out) => out,
        }
    }

    /// Completes the file.
    fn finish(&mut self) -> io::Result<()> {
        match self {
            Out::Encoder(encoder) => encoder.finish(),
            other => other.writer().flush(),
        }
    }
}

impl Film {
    /// A film without frames, which is an animation if its format is not that of films.
    pub fn new(destination: &Destination, per_second: f64) -> Film {
        let begin = destination.format.film().unwrap_or(animation);
        Film {
            destination: destination.clone(),
            count: 0,
            first: None,
            tally: None,
            frames: begin(per_second),
            out: None,
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
            return Err(failed(&self.destination.file, message));
        }
        if self.out.is_none() {
            self.out = Some(Out::open(&mut self.staged, &self.destination)?);
        }
        if let Some(out) = &mut self.out {
            let added = self.frames.add(&png, out.writer());
            added.map_err(|e| failed(&self.destination.file, e))?;
        }
        self.count += 1;
        self.first.get_or_insert(png);
        self.tally = Some(tally);
        Ok(())
    }

    /// Completes the film.
    ///
    /// # Errors
    /// It has no frames, or cannot be written.
    pub fn finish(mut self) -> Result<Written, OutputError> {
        let file = &self.destination.file;
        let (Some(first), Some(out)) = (&self.first, &mut self.out) else {
            return Err(failed(file, "the film has no pictures"));
        };
        let finished = self.frames.finish(out.writer());
        let finished = finished.and_then(|()| out.finish());
        finished.map_err(|e| failed(file, e))?;
        let description = format!("{} frames of {}", self.count, describe_picture(first));
        self.staged.commit()?;
        Ok(Written {
            tally: self.tally,
            ..Written::new(file, description)
        })
    }
}

fn failed(file: &FileName, cause: impl std::fmt::Display) -> OutputError {
    OutputError::new(format!("{file}: {cause}"))
}
