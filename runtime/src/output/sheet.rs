//! Contact sheets: the pictures of several runs side by side, each with a caption, as a picture or as a page.

mod pixels;

use super::contents::{Contents, Style, Written};
use super::format::Destination;
use super::frames::picture_of;
use super::options::FileOptions;
use super::staged::Staged;
use super::{Domain, Length, Output, OutputError, frames, picture};
use crate::figure::{Page, contact, pdf, svg};
use crate::file_name::FileName;
use crate::png::{self, Png};
use pixels::Pixels;
use std::io::{self, Write};
use std::path::Path;

/// Pixels of a picture on a page in each direction, at most: enough for print.
const LARGEST_ON_PAGE: usize = 640;

/// The form of a sheet.
#[derive(Clone, Copy)]
enum Form {
    Picture,
    Page(fn(&Page<'_>, &mut dyn Write) -> io::Result<()>),
}

/// The forms of sheets by the suffixes of their files.
const FORMS: [(&str, Form); 3] = [
    ("png", Form::Picture),
    ("svg", Form::Page(svg::print)),
    ("pdf", Form::Page(pdf::print)),
];

fn form_of(file: &Path) -> Option<Form> {
    let suffix = file.extension()?.to_str()?;
    let found = FORMS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(suffix))?;
    Some(found.1)
}

/// Checks the name of the file of a sheet.
///
/// # Errors
/// It does not end as those of sheets do.
pub fn check_sheet(file: &Path) -> Result<(), String> {
    let suffixes = FORMS.map(|(suffix, _)| format!(".{suffix}"));
    match form_of(file) {
        Some(_) => Ok(()),
        None => Err(format!(
            "found `{}`, expected a file name that ends in {}",
            file.display(),
            suffixes.join(", ")
        )),
    }
}

/// The output that a contact sheet shows: the only one with the file of a picture or film, or else the only one that is a picture.
///
/// # Errors
/// There is none, or there are several.
pub fn output_of_sheet(
    outputs: &[Output],
    domain: &Domain,
    options: &FileOptions,
) -> Result<usize, String> {
    let is_picture = |&n: &usize| {
        outputs[n].length != Length::Dynamic && picture::check(&outputs[n], domain).is_ok()
    };
    let is_named = |n: &usize| {
        let file = options.outputs[*n].file.clone();
        let destination = file.and_then(|file| Destination::parse(file).ok());
        destination.is_some_and(|destination| destination.format.is_of_pictures())
    };
    let pictures: Vec<usize> = (0..outputs.len()).filter(is_picture).collect();
    let named: Vec<usize> = pictures.iter().copied().filter(is_named).collect();
    match (&named[..], &pictures[..]) {
        ([one], _) | ([], [one]) => Ok(*one),
        (_, []) => Err(
            "--contact-sheet needs an output that is a picture: 1 to 4 values per strand over a grid of 2 axes"
                .to_string(),
        ),
        _ => {
            let options = pictures.iter().map(|&n| format!("-o-{}", outputs[n].name));
            let options: Vec<String> = options.collect();
            Err(format!(
                "--contact-sheet shows one output; choose it by a file name with .png for one of {}",
                options.join(", ")
            ))
        }
    }
}

/// A contact sheet in the making. It appears under its name when it is finished.
pub struct Sheet {
    file: FileName,
    /// Pictures in a row.
    columns: usize,
    /// The lines under the picture of each run.
    captions: Vec<Vec<String>>,
    /// The pictures that have come.
    pictures: Vec<Option<Pixels>>,
}

impl Sheet {
    /// A sheet for as many pictures as there are captions, in rows of this number, or in about as many rows as columns.
    pub fn new(file: FileName, row: Option<usize>, captions: Vec<Vec<String>>) -> Sheet {
        let count = captions.len();
        let square = (1..=count).find(|n| n * n >= count);
        Sheet {
            file,
            columns: row.or(square).unwrap_or(1).max(1),
            pictures: captions.iter().map(|_| None).collect(),
            captions,
        }
    }

    /// Its form. A sheet without a known suffix is a picture.
    fn form(&self) -> Form {
        form_of(&self.file).unwrap_or(Form::Picture)
    }

    /// Adds the picture of a run.
    ///
    /// # Errors
    /// It is not a picture.
    pub fn add(
        &mut self,
        run: usize,
        contents: Contents<'_>,
        style: &Style,
    ) -> Result<(), OutputError> {
        let (png, _) = picture_of(contents, style)?;
        let largest = match self.form() {
            Form::Picture => pixels::largest(self.columns),
            Form::Page(_) => LARGEST_ON_PAGE,
        };
        if let Some(place) = self.pictures.get_mut(run) {
            *place = Some(Pixels::shrunk(&png, largest));
        }
        Ok(())
    }

    /// Writes the sheet.
    ///
    /// # Errors
    /// It is too large, or cannot be written.
    pub fn finish(self) -> Result<Written, OutputError> {
        let failed =
            |cause: &dyn std::fmt::Display| OutputError::new(format!("{}: {cause}", self.file));
        let count = self.pictures.iter().flatten().count();
        let mut staged = Staged::default();
        let shown = match self.form() {
            Form::Picture => {
                let png = pixels::drawn(&self.pictures, &self.captions, self.columns)
                    .map_err(|cause| failed(&cause))?;
                staged.write(&self.file, |out| {
                    png::encode(&png, out).map_err(OutputError::new)
                })?;
                format!(", {}", frames::describe_picture(&png))
            }
            Form::Page(print) => {
                let pictures = self.pictures.iter();
                let pictures: Result<Vec<Option<Png>>, String> = pictures
                    .map(|pixels| pixels.as_ref().map(Pixels::png).transpose())
                    .collect();
                let pictures = pictures.map_err(|cause| failed(&cause))?;
                let page = contact(&pictures, &self.captions, self.columns);
                staged.write(&self.file, |out| {
                    print(&page, out).map_err(|e| OutputError::new(e.to_string()))
                })?;
                String::new()
            }
        };
        staged.commit()?;
        let description = format!("{count} pictures{shown}");
        Ok(Written::new(&self.file, description))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_of_a_sheet_is_its_form() {
        for name in ["s.png", "s.SVG", "a.b/s.pdf"] {
            assert_eq!(check_sheet(Path::new(name)), Ok(()), "{name}");
        }
        for name in ["s", "s.tif", "png", ".pdf"] {
            assert!(check_sheet(Path::new(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn pictures_stand_in_about_as_many_rows_as_columns() {
        for (count, row, columns) in [(3, None, 2), (9, None, 3), (10, None, 4), (10, Some(5), 5)] {
            let sheet = Sheet::new("s.png".into(), row, vec![Vec::new(); count]);
            assert_eq!(sheet.columns, columns);
        }
    }
}
