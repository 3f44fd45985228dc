//! Files and pictures of outputs, with the options of the command.

use crate::{Column, Domain, Error, Output, Place, Program, Written};
use runtime::{
    output::{
        options::{self, OPTIONS, OptionRow},
        picture::picture,
        plan::{OtherFiles, plan},
        triangles::{self, Triangles},
        write::{Contents, Style, write},
    },
    png,
};
use std::ffi::OsStr;

/// Options about files, by the names of the command without dashes: `output`, `range`, `snapshot`, `fps` and the others of
/// [`option_names`].
#[derive(Clone, Debug)]
pub struct FileOptions {
    outputs: Vec<Output>,
    pub(crate) options: options::FileOptions,
}

/// The names of the options about files.
pub fn option_names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().map(|row| row.name)
}

impl FileOptions {
    /// The defaults for all outputs of a program: each is written under its name.
    pub fn new(program: &Program) -> FileOptions {
        FileOptions::of(program.outputs())
    }

    /// The defaults for some outputs.
    pub fn of(outputs: Vec<Output>) -> FileOptions {
        FileOptions {
            options: options::FileOptions::new(outputs.len()),
            outputs,
        }
    }

    /// Sets an option, for one output by its name or for all.
    ///
    /// # Errors
    /// There is no such option or output, or the word is not a value of the option.
    pub fn set(
        &mut self,
        output: Option<&str>,
        name: &str,
        word: impl AsRef<OsStr>,
    ) -> Result<&mut FileOptions, Error> {
        let unknown = || {
            let names: Vec<&str> = option_names().collect();
            let names = names.join(", ");
            Error::Misuse(format!("there is no option `{name}`; there are {names}"))
        };
        let row = OptionRow::named(name).ok_or_else(unknown)?;
        let number = match output {
            None => None,
            Some(output) => {
                let found = self.outputs.iter().position(|known| known.name == *output);
                let missing = || Error::Misuse(format!("there is no output `{output}`"));
                Some(found.ok_or_else(missing)?)
            }
        };
        let set = self.options.set(row, number, word.as_ref());
        set.map_err(|problem| Error::Misuse(format!("option `{name}`: {problem}")))?;
        Ok(self)
    }
}

/// The triangles of outputs as a mesh: those of the output of this name, or else of the one called `triangles`, or else of the only
/// one that has triangles. Other outputs are data of its points and triangles.
///
/// # Errors
/// No output has triangles, several have, or sequences do not fit each other.
pub fn triangle_mesh(columns: &[Column<'_>], name: Option<&str>) -> Result<Triangles, Error> {
    let made = triangles::mesh(columns, name, triangles::Precision::Given);
    made.map_err(|error| Error::Misuse(error.to_string()))
}

/// Writes outputs to files as the command does at the end of a run.
///
/// # Errors
/// Everything that is wrong with the files.
pub fn write_files(
    columns: &[Column<'_>],
    domain: &Domain,
    place: Option<&Place>,
    options: &FileOptions,
) -> Result<Vec<Written>, Error> {
    write_columns(columns, domain, place, options, &OtherFiles::default())
}

/// The same for a run whose other files must not be replaced.
pub(crate) fn write_columns(
    columns: &[Column<'_>],
    domain: &Domain,
    place: Option<&Place>,
    options: &FileOptions,
    others: &OtherFiles,
) -> Result<Vec<Written>, Error> {
    let outputs: Vec<Output> = columns.iter().map(|c| c.output.clone()).collect();
    let options = &options.options;
    let plan = plan(&outputs, domain, options, others).map_err(Error::Files)?;
    let style = Style {
        depth: options.depth,
        nan: options.nan,
        points: options.points.clone(),
        ..Style::default()
    };
    let sizes: Vec<usize> = domain.grid_sizes().iter().rev().copied().collect();
    let mut all = Vec::new();
    for target in &plan.results {
        let with_range = |&n: &usize| Column {
            range: options.outputs[n].range,
            colours: options.outputs[n].colours,
            ..columns[n]
        };
        let chosen: Vec<Column<'_>> = target.outputs.iter().map(with_range).collect();
        let wrong = |message: String| Error::Files(vec![message]);
        let requested = match &options.outputs[target.outputs[0]].place {
            Some(requested) => Some(requested.of_words(&sizes).map_err(wrong)?),
            None => None,
        };
        let contents = Contents {
            columns: &chosen,
            domain,
            place: requested.as_ref().map_or(place, Option::as_ref),
        };
        let written = write(&target.destination, None, contents, &style);
        all.extend(written.map_err(|error| wrong(error.to_string()))?);
    }
    Ok(all)
}

/// The bytes of the picture of an output over a grid of two axes, as the command would write it with these options.
///
/// # Errors
/// The output is not a picture.
pub fn picture_bytes(
    column: &Column<'_>,
    domain: &Domain,
    options: &FileOptions,
) -> Result<Vec<u8>, Error> {
    let options = &options.options;
    let chosen = &options.outputs[0];
    let column = Column {
        range: chosen.range,
        colours: chosen.colours,
        ..*column
    };
    let made = picture(column, domain, options.depth, options.nan);
    let (picture, _) = made.map_err(|message| Error::Files(vec![message]))?;
    let mut bytes = Vec::new();
    let encoded = png::encode(&picture, &mut bytes);
    encoded.map_err(|error| Error::Files(vec![error.to_string()]))?;
    Ok(bytes)
}
