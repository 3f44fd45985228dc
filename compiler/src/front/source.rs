//! A program's text and its files.
//!
//! The text is one, also of a program with imports, so a [`Span`] is a range of its bytes; `Source::origin_of` gives the file and the
//! range there.

use super::diag::Diagnostic;
pub use super::span::{Lines, Span};
use runtime::file_name::escaped;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A program's text and where it came from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Source {
    /// The name shown in messages.
    pub path: PathBuf,
    /// The whole text, with the text of imported files in the place of imports.
    pub text: String,
    /// Where the parts of the text came from; nothing if it is one file.
    pub(super) origin: Origin,
}

/// Where the parts of a text came from.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Origin {
    /// The files, the program's own first.
    pub(super) files: Vec<File>,
    /// The pieces of files that make the text, in order.
    pub(super) pieces: Vec<Piece>,
    /// The errors and warnings of the imports; not stored with a built program.
    #[serde(skip)]
    pub(super) problems: Vec<Diagnostic>,
}

/// A file of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// The file that imports it, and the import there; the program's own file has none.
    pub(super) importer: Option<(usize, Span)>,
}

/// A piece of a file that is a part of a program's text.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Piece {
    /// Where it begins in the text.
    pub(super) start: u32,
    pub(super) file: usize,
    /// Its span in the file.
    pub(super) span: Span,
}

impl Source {
    /// The same with paths relative to the program's own directory, for files that may be distributed: they do not contain the
    /// program's path. Names that are not text are escaped.
    pub fn without_places(&self) -> Source {
        let home = self.path.parent().unwrap_or(Path::new("")).to_path_buf();
        let shortened = |path: &Path| {
            let inside = path
                .strip_prefix(&home)
                .ok()
                .filter(|rest| rest.is_relative());
            let name = inside.or(path.file_name().map(Path::new)).unwrap_or(path);
            PathBuf::from(escaped(name.as_os_str()))
        };
        let mut source = self.clone();
        source.path = shortened(&self.path);
        for file in &mut source.origin.files {
            file.path = shortened(&file.path);
        }
        source
    }

    /// The errors and warnings of its imports.
    pub fn import_problems(&self) -> &[Diagnostic] {
        &self.origin.problems
    }

    /// The paths of its files, its own first. Those of the standard library lead nowhere.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files().into_iter().map(|(path, _)| path)
    }

    /// The paths and texts of its files, its own first.
    pub(super) fn files(&self) -> Vec<(&Path, &str)> {
        match &self.origin.files[..] {
            [] => vec![(&self.path, &self.text)],
            files => files
                .iter()
                .map(|f| (f.path.as_path(), f.text.as_str()))
                .collect(),
        }
    }

    /// The number of the file that a place in the text came from, and the place there.
    pub(super) fn origin_of(&self, span: Span) -> (usize, Span) {
        let pieces = &self.origin.pieces;
        let after = pieces.partition_point(|piece| piece.start <= span.start);
        let Some(piece) = after.checked_sub(1).map(|at| &pieces[at]) else {
            return (0, span);
        };
        let within = |byte: u32| (byte - piece.start + piece.span.start).min(piece.span.end);
        let span = Span {
            start: within(span.start),
            end: within(span.end.max(span.start)),
        };
        (piece.file, span)
    }

    /// The path of the file that a place in the text came from, and the place there.
    pub fn file_of(&self, span: Span) -> (&Path, Span) {
        let (file, span) = self.origin_of(span);
        (self.files()[file].0, span)
    }

    /// The place in the text of a byte of one of its files; none if the text has other files only, or another part of this one.
    pub fn byte_of(&self, path: &Path, byte: u32) -> Option<u32> {
        let file = self.paths().position(|known| known == path)?;
        if self.origin.pieces.is_empty() {
            return Some(byte);
        }
        let of_file = self.origin.pieces.iter().filter(|piece| piece.file == file);
        let mut places = of_file.filter_map(|piece| {
            let is_inside = (piece.span.start..=piece.span.end).contains(&byte);
            is_inside.then(|| piece.start + (byte - piece.span.start))
        });
        places.find(|place| *place as usize <= self.text.len())
    }

    /// The imports of its files: the importing file, the place there, and the imported file. Of several imports of one file the first
    /// counts.
    pub fn imports(&self) -> impl Iterator<Item = (&Path, Span, &Path)> {
        let files = &self.origin.files;
        files.iter().filter_map(move |file| {
            let (importer, place) = file.importer?;
            Some((files[importer].path.as_path(), place, file.path.as_path()))
        })
    }

    /// The imports that lead to a file, from the nearest to the program's own: the importing file and the place there.
    pub(super) fn importers(&self, file: usize) -> impl Iterator<Item = (usize, Span)> {
        let importer = |file: usize| self.origin.files.get(file)?.importer;
        std::iter::successors(importer(file), move |&(file, _)| importer(file))
    }

    /// Whether a place in the text came from an imported file.
    pub fn is_imported(&self, span: Span) -> bool {
        self.origin_of(span).0 != 0
    }

    /// File and line of a byte of the text, for messages of one line.
    pub fn line_of(&self, byte: u32) -> String {
        let (file, span) = self.origin_of(Span {
            start: byte,
            end: byte,
        });
        let (path, text) = self.files()[file];
        format!("{}:{}", path.display(), Lines::of(text).line(span.start))
    }

    /// Where the lines of its text start.
    pub fn lines(&self) -> Lines {
        Lines::of(&self.text)
    }
}
