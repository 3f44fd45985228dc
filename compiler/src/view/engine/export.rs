//! Files for pages.

use super::{Course, Engine};
use crate::view::wishes::Export;
use runtime::output::{
    format::FileFormat,
    options::{COLOURS, FileOptions, OptionRow, OutputOptions, RANGE},
    write::{Contents, Style, write_bytes},
};
use std::ffi::OsStr;

impl Engine {
    /// Makes the files that pages wait for, once the picture is final.
    pub(super) fn hand_over(&mut self) {
        let is_final = self.shown.as_ref().is_some_and(|shown| shown.is_final);
        let can_come = self.course != Course::Over && !is_final;
        if can_come && self.course != Course::Evolving {
            return;
        }
        for export in std::mem::take(&mut self.exports) {
            let name = format!("{}.{}", export.output, export.format);
            export.page.hand_over(name, self.file(&export));
        }
    }

    /// The bytes of an output as a file.
    fn file(&self, export: &Export) -> Result<Vec<u8>, String> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let Some(shown) = self.shown.as_ref().filter(|shown| shown.run.is_readable()) else {
            return Err("there are no results".to_string());
        };
        if shown.stride > 1 {
            return Err("the picture is not complete".to_string());
        }
        let format = FileFormat::named(&export.format)
            .filter(|format| !format.is_film())
            .ok_or_else(|| format!("there is no format `{}`", export.format))?;
        let all = shown.run.outputs().ok_or("the results cannot be read")?;
        let own = all
            .iter()
            .position(|data| data.output.name == export.output);
        let own = own.ok_or_else(|| format!("there is no output `{}`", export.output))?;
        if format.is_pair(&all[own].output) {
            return Err(format!(
                "{} needs two files for this output",
                format.suffix()
            ));
        }
        // Files of points take the other outputs along.
        let together: Vec<_> = all.iter().map(|data| &data.output).collect();
        let domain = &all[own].domain;
        let data = match format.takes_several() && format.suits(&together, domain) {
            true => all.iter().collect(),
            false => vec![&all[own]],
        };
        let options = options(&export.options)?;
        let columns: Vec<_> = data.iter().map(|data| data.column(&options)).collect();
        let contents = Contents {
            columns: &columns,
            domain,
            place: shown.run.place(),
        };
        let style = Style {
            title: Some(export.output.clone()),
            ..Style::default()
        };
        let bytes = shown
            .run
            .on_workers(|| write_bytes(format, contents, &style));
        bytes.map_err(|error| error.to_string())
    }
}

/// The options of the command for colours. Pages choose no others.
fn options(words: &[String]) -> Result<OutputOptions, String> {
    let mut options = FileOptions::new(1);
    for pair in words.chunks(2) {
        let [name, value] = pair else {
            return Err("an option has no value".to_string());
        };
        let is_it = |row: &&OptionRow| name.strip_prefix("--") == Some(row.name);
        let row = [&RANGE, &COLOURS].into_iter().find(is_it);
        let row = row.ok_or_else(|| format!("`{name}` is not an option of pictures"))?;
        options.set(row, None, OsStr::new(value))?;
    }
    Ok(options.outputs.swap_remove(0))
}
