//! The files that runs use beside their outputs, which these must not replace.

use super::program_line::{RunOptions, sweep::Subject};
use crate::{front::source::Source, pipeline::Compiled, run::Inputs};
use runtime::{
    grid::Placement,
    input::InputValue,
    output::{FileUse, format::STANDARD_OUTPUT, plan::OtherFiles},
};

/// The files of a run beside its outputs: the program, its imports, its inputs, and printed text.
pub(super) fn other_files(
    source: &Source,
    compiled: &Compiled,
    options: &RunOptions,
) -> OtherFiles {
    let mut paths = source.paths();
    let program = paths.next().map(|file| FileUse::of(file, "the program"));
    let imports = paths.map(|file| FileUse::of(file, "an import of the program"));
    let outputs = options.files.outputs.iter();
    let models = outputs.filter_map(|output| match &output.place {
        Some(Placement::Like(file)) => Some(FileUse::of(file, "the file of a --place")),
        _ => None,
    });
    let read = program.into_iter().chain(imports);
    let read = read.chain(files_of_inputs(compiled, options)).chain(models);
    let printed = (options.print != *STANDARD_OUTPUT)
        .then(|| FileUse::of(options.print.clone(), "printed text (-print)"));
    let sheet = options.contact_sheet.iter();
    let sheet = sheet.map(|file| FileUse::of(file.clone(), "the contact sheet"));
    OtherFiles {
        read: read.filter(|used| used.file.is_file()).collect(),
        written: printed.into_iter().chain(sheet).collect(),
    }
}

/// The files that inputs are read from, in any of the runs.
fn files_of_inputs(compiled: &Compiled, options: &RunOptions) -> Vec<FileUse> {
    let read = |values: Vec<Option<InputValue>>| Inputs::from_values(compiled, values).files_read();
    let mut files = read(options.inputs.clone());
    for axis in options.sweep.iter().flat_map(|sweep| &sweep.axes) {
        let (Subject::Input(input) | Subject::Data(input)) = axis.subject else {
            continue;
        };
        let is_file = |value: &&InputValue| matches!(value, InputValue::File(_));
        for value in axis.values.iter().filter(is_file) {
            let mut values = vec![None; options.inputs.len()];
            values[input] = Some(value.clone());
            files.extend(read(values));
        }
    }
    files
}
