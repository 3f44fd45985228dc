//! Files and pictures of outputs, with the options that the command has for them.

use runtime::{
    grid::Place,
    input::{
        command_line::{self, CommandLine},
        options::{OutputName, Program, RunOptions},
    },
    output::{
        Column, Domain, Length, Output,
        picture::picture,
        plan::plan,
        write::{Contents, Style, Written, write},
    },
    png,
};
use std::ffi::OsString;

/// Writes outputs to files as the command does: the words are its options about outputs and pictures, such as `-o` and
/// `--range`.
///
/// # Errors
/// Everything that is wrong, each a sentence.
pub fn write_files(
    columns: &[Column<'_>],
    domain: &Domain,
    place: Option<&Place>,
    words: &[OsString],
) -> Result<Vec<Written>, Vec<String>> {
    let outputs: Vec<Output> = columns.iter().map(|c| c.output.clone()).collect();
    let options = options(&outputs, words)?;
    let plan = plan(&outputs, domain, &options, &[])?;
    let style = Style {
        depth: options.depth,
        nan: options.nan,
        points: options.points.clone(),
    };
    let sizes: Vec<usize> = domain.grid_sizes().iter().rev().copied().collect();
    let mut all = Vec::new();
    for target in &plan.results {
        let with_range = |&n: &usize| Column {
            range: options.outputs[n].range,
            ..columns[n]
        };
        let chosen: Vec<Column<'_>> = target.outputs.iter().map(with_range).collect();
        let asked = match &options.outputs[target.outputs[0]].place {
            Some(asked) => Some(asked.of_words(&sizes).map_err(|message| vec![message])?),
            None => None,
        };
        let contents = Contents {
            columns: &chosen,
            domain,
            place: asked.as_ref().map_or(place, Option::as_ref),
        };
        let written = write(&target.destination, None, contents, &style);
        all.extend(written.map_err(|error| vec![error.to_string()])?);
    }
    Ok(all)
}

/// The bytes of the picture of an output over a grid of two axes, as the command would write it with these options.
///
/// # Errors
/// Why there is none.
pub fn picture_bytes(
    column: &Column<'_>,
    domain: &Domain,
    words: &[OsString],
) -> Result<Vec<u8>, Vec<String>> {
    let options = options(std::slice::from_ref(column.output), words)?;
    let range = options.outputs[0].range;
    let (output, values) = (column.output, column.values);
    let made = picture(output, domain, values, range, options.depth, options.nan);
    let (picture, _) = made.map_err(|message| vec![message])?;
    let mut bytes = Vec::new();
    png::encode(&picture, &mut bytes).map_err(|error| vec![error.to_string()])?;
    Ok(bytes)
}

fn options(outputs: &[Output], words: &[OsString]) -> Result<RunOptions, Vec<String>> {
    let names = outputs.iter().map(|output| OutputName {
        name: output.name.clone(),
        dynamic: output.length == Length::Dynamic,
    });
    let program = Program {
        outputs: names.collect(),
        ..Program::default()
    };
    match command_line::parse(&program, words) {
        Ok(CommandLine::Run(options)) => Ok(*options),
        Ok(CommandLine::Help(text)) => Err(vec![text]),
        Err(error) => Err(vec![error.to_string()]),
    }
}
