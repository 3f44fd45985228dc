//! Puts the parts of a program in their places.
//!
//! The grammar takes parts in any order; the language fixes the order and the number of all but the definitions. A part that is
//! out of order or repeated is reported, and kept where it can be, so that what refers to it is not reported too.

use super::{ast::*, builder::Part};
use crate::front::{codes, diag::Diagnostic, source::Span};

/// Where a part stands in a program; parts follow each other in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Imports,
    Items,
    Initialize,
    Strand,
    Start,
    Update,
    Create,
}

impl Place {
    fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Place::Imports, _) => "imports",
            (Place::Items, Version::V1) => "inputs, global variables and functions",
            (Place::Items, Version::V2) => "constants, inputs, global variables and functions",
            (Place::Initialize, _) => "the global `initialize` block",
            (Place::Strand, _) => "the strand definition",
            (Place::Start, _) => "the global `start` block",
            (Place::Update, Version::V1) => "the `global` block",
            (Place::Update, Version::V2) => "the global `update` block",
            (Place::Create, _) => "the creation of the initial strands",
        }
    }
}

/// What a text is meant to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A whole program.
    Program,
    /// A file that programs import: definitions only.
    Library,
}

/// The program that the parts make, and the errors in their order and number. `end` is the end of the text.
pub(crate) fn assemble(
    unit: Unit,
    version: Version,
    parts: Vec<Part>,
    end: Span,
) -> (Program, Vec<Diagnostic>) {
    let mut program = Program {
        version,
        items: Vec::new(),
        initialize: None,
        strand: None,
        start: None,
        update: None,
        create: None,
    };
    let mut errors = Vec::new();
    let mut complete = unit == Unit::Program;
    let mut seen: Vec<(Place, Span)> = Vec::new();
    for part in parts {
        let Some((place, span)) = place_of(&part) else {
            complete = false;
            continue;
        };
        let first = seen.iter().find(|(other, _)| *other == place);
        let later = seen.iter().find(|(other, _)| *other > place);
        if unit == Unit::Library && place > Place::Items {
            let message = format!("an imported file does not have {}", place.name(version));
            let error = Diagnostic::error(codes::IMPORT_CONTENTS, span, message);
            errors.push(error.hint("it has constants, inputs, global variables and functions"));
        } else if let Some(&(_, first)) = first.filter(|_| place > Place::Items) {
            let message = format!("{} is given twice", place.name(version));
            let error = Diagnostic::error(codes::PROGRAM_ORDER, span, message);
            errors.push(error.label(first, "the first one is here"));
        } else if let Some(&(later, later_span)) = later {
            let stand = match place {
                Place::Imports | Place::Items => "stand",
                _ => "stands",
            };
            let (name, later) = (place.name(version), later.name(version));
            let message = format!("{name} {stand} before {later}");
            let error = Diagnostic::error(codes::PROGRAM_ORDER, span, message);
            errors.push(error.label(later_span, format!("{later} is here")));
        }
        if first.is_none() {
            seen.push((place, span));
        }
        put(&mut program, part);
    }
    if complete {
        if program.strand.is_none() {
            errors.push(
                Diagnostic::error(
                    codes::MISSING_PART,
                    end,
                    "the program has no strand definition",
                )
                .hint("a strand is defined by `strand S (…) { … }`"),
            );
        }
        if program.create.is_none() {
            let create = match version {
                Version::V1 => "initially [ S(i) | i in 0..n-1 ];",
                Version::V2 => "create_array { S(i) | i in 0..n-1 }",
            };
            errors.push(
                Diagnostic::error(codes::MISSING_PART, end, "the program creates no strands")
                    .hint(format!("end the program with `{create}`")),
            );
        }
    }
    (program, errors)
}

fn place_of(part: &Part) -> Option<(Place, Span)> {
    match part {
        Part::Import(import) => Some((Place::Imports, import.span)),
        Part::Item(item) => Some((Place::Items, item.span)),
        Part::Initialize(block) => Some((Place::Initialize, block.span)),
        Part::Strand(strand) => Some((Place::Strand, strand.name.span)),
        Part::Start(block) => Some((Place::Start, block.span)),
        Part::Update(block) => Some((Place::Update, block.span)),
        Part::Create(create) => Some((Place::Create, create.span)),
        Part::Unreadable => None,
    }
}

/// The first of several parts of one kind counts.
fn put(program: &mut Program, part: Part) {
    match part {
        Part::Item(item) => program.items.push(item),
        Part::Initialize(block) => {
            program.initialize.get_or_insert(block);
        }
        Part::Strand(strand) => {
            program.strand.get_or_insert(strand);
        }
        Part::Start(block) => {
            program.start.get_or_insert(block);
        }
        Part::Update(block) => {
            program.update.get_or_insert(block);
        }
        Part::Create(create) => {
            program.create.get_or_insert(create);
        }
        Part::Import(_) | Part::Unreadable => {}
    }
}
