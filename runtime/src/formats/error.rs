//! The messages of the readers of images: errors, and notes about choices.

use std::fmt;
use std::path::Path;

use crate::file_name::escaped;
use crate::nrrd::NrrdError;
use crate::png::PngError;
use crate::text::visible_line;

/// An error while an image is read: the option and the file of the image, a message, and hints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageError {
    option: Option<String>,
    file: Option<String>,
    message: String,
    hints: Vec<String>,
    choices: Vec<String>,
}

impl ImageError {
    /// An error without a place.
    pub(crate) fn new(message: impl AsRef<str>) -> Self {
        ImageError {
            option: None,
            file: None,
            message: visible_line(message.as_ref()).into_owned(),
            hints: Vec::new(),
            choices: Vec::new(),
        }
    }

    /// The same error with a way out.
    pub(crate) fn hint(mut self, hint: impl AsRef<str>) -> Self {
        self.hints.push(visible_line(hint.as_ref()).into_owned());
        self
    }

    /// The same error with the parts of the file from which one is to be chosen.
    pub(crate) fn among(mut self, choices: impl Iterator<Item = String>) -> Self {
        self.choices.extend(choices);
        self
    }

    /// The same error, said of a file unless it already names one.
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        self.file.get_or_insert_with(|| escaped(path.as_os_str()));
        self
    }

    /// The same error, said of an input of a program.
    pub(crate) fn of_input(mut self, name: Option<&str>) -> Self {
        self.option = name.map(|name| format!("-{name}"));
        self
    }

    /// The place and the message, without the hints.
    pub fn headline(&self) -> String {
        let place = [&self.option, &self.file];
        let place: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
        match place.is_empty() {
            true => self.message.clone(),
            false => format!("{}: {}", place.join(" "), self.message),
        }
    }

    /// The message, without the place and the hints.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The parts of the file from which one is to be chosen, as they stand after `FILE#`.
    pub fn choices(&self) -> &[String] {
        &self.choices
    }

    /// The hints, one per line.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        self.hints.iter().try_for_each(|h| write!(f, "\nhelp: {h}"))
    }
}

impl std::error::Error for ImageError {}

impl From<NrrdError> for ImageError {
    /// A reader's error may name a data file beside the header, and a line.
    fn from(error: NrrdError) -> Self {
        let message = match error.line() {
            Some(line) => format!("line {line}: {}", error.message()),
            None => error.message().to_string(),
        };
        ImageError {
            file: Some(visible_line(error.file()).into_owned()).filter(|file| !file.is_empty()),
            ..ImageError::new(message)
        }
    }
}

impl From<PngError> for ImageError {
    fn from(error: PngError) -> Self {
        ImageError::new(error.message())
    }
}

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A choice that was made where a file leaves one.
    Note,
    /// A possible mistake.
    Warning,
}

/// Something that the user of an image should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How much it matters.
    pub level: Level,
    /// One sentence, without a place unless it was put in front.
    pub text: String,
}

impl Note {
    /// The same note, said of something.
    pub(crate) fn on(&self, what: &str) -> Note {
        Note {
            text: format!("{what}: {}", self.text),
            ..self.clone()
        }
    }

    /// A note about a choice.
    pub(crate) fn new(text: impl AsRef<str>) -> Note {
        Note {
            level: Level::Note,
            text: visible_line(text.as_ref()).into_owned(),
        }
    }

    /// The note that this many values are missing in a file, if there are any.
    pub(crate) fn missing_values(count: u64) -> Option<Note> {
        let are = match count {
            0 => return None,
            1 => "value is",
            _ => "values are",
        };
        Some(Note::new(format!(
            "{count} {are} missing in the file and became NaN"
        )))
    }

    /// What may be wrong.
    pub(crate) fn warning(text: impl AsRef<str>) -> Note {
        Note {
            level: Level::Warning,
            text: visible_line(text.as_ref()).into_owned(),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
