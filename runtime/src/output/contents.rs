//! The contents of a file, the choices that its format leaves, and the report about it.

use std::io::Write;

use super::picture::{NanColour, Tally};
use super::{Column, Domain, OutputError};
use crate::file_name::FileName;
use crate::grid::Place;
use crate::png::Depth;

/// What goes into one file.
#[derive(Clone, Copy)]
pub struct Contents<'a> {
    /// The outputs; more than one only in formats that take several.
    pub columns: &'a [Column<'a>],
    /// The strands that have them.
    pub domain: &'a Domain,
    /// The place of the strands' grid.
    pub place: Option<&'a Place>,
}

/// How files are written where their format leaves a choice.
#[derive(Clone, Debug, Default)]
pub struct Style {
    /// Bits of the values of pictures.
    pub depth: Depth,
    /// How values look that are not numbers.
    pub nan: NanColour,
    /// The output that has the positions of points and lines, or the triangles.
    pub points: Option<String>,
    /// The title of figures; that of a file is usually its name without the suffix.
    pub title: Option<String>,
}

/// The number of one of several files.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// The number.
    pub value: u64,
    /// The digits that it is written with at least.
    pub digits: usize,
}

impl Number {
    /// Its digits.
    pub(super) fn text(self) -> String {
        let Number { value, digits } = self;
        format!("{value:0digits$}")
    }
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Its name.
    pub file: FileName,
    /// A description in a few words.
    pub description: String,
    /// What became of the numbers, if it is a picture.
    pub tally: Option<Tally>,
    /// What else the user should know.
    pub notes: Vec<String>,
}

impl<'a> Contents<'a> {
    /// The only output.
    pub(super) fn single(self) -> Result<&'a Column<'a>, OutputError> {
        match self.columns {
            [column] => Ok(column),
            _ => Err(OutputError::new("several outputs are not one array")),
        }
    }

    /// A description of the arrays in a few words.
    pub(super) fn description(self) -> String {
        let sizes = match self.domain {
            Domain::Grid(sizes) => sizes
                .iter()
                .rev()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(" × "),
            Domain::List(count) => format!("{count} strands"),
        };
        let types: Vec<String> = self
            .columns
            .iter()
            .map(|column| {
                let ty = column.values.type_name();
                match column.output.strand_size() {
                    1 => ty.to_string(),
                    n => format!("{n} {ty}"),
                }
            })
            .collect();
        format!("{sizes}, {}", types.join(" + "))
    }
}

impl Written {
    /// A file without a picture's tally or notes.
    pub(super) fn new(file: &FileName, description: String) -> Written {
        Written {
            file: file.clone(),
            description,
            tally: None,
            notes: Vec::new(),
        }
    }
}

/// The description of a file in a few words, and what became of the numbers of a picture.
pub(super) type Told = (String, Option<Tally>);

/// Writes a file that is one stream.
pub(super) type Encode = fn(Contents<'_>, &Style, &mut dyn Write) -> Result<Told, OutputError>;

/// The bytes in front of the values of the only output, if they can be written before.
pub(super) type Head = fn(Contents<'_>) -> Option<Vec<u8>>;
