//! Source text and places in it.

use super::{
    diag::Diagnostic,
    import,
    syntax::{self, ast::ItemKind},
};
use runtime::{file_name::escaped, memory::shown};
use serde::{Deserialize, Serialize};
use std::{
    fmt, fs,
    io::Read,
    path::{Path, PathBuf},
};

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
    /// The program with this text, which the path names in messages. Files that it imports are found beside the path, and read.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Source {
        import::resolve(path.into(), text.into())
    }

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

    /// The imports that lead to a file, from the nearest to the program's own: the importing file and the place there.
    pub(super) fn importers(&self, file: usize) -> impl Iterator<Item = (usize, Span)> {
        let importer = |file: usize| self.origin.files.get(file)?.importer;
        std::iter::successors(importer(file), move |&(file, _)| importer(file))
    }

    /// Whether a place in the text came from an imported file.
    pub fn is_imported(&self, span: Span) -> bool {
        self.origin_of(span).0 != 0
    }

    /// The names of the inputs that imported files declare, each with the path of its file.
    pub fn imported_inputs(&self) -> Vec<(String, PathBuf)> {
        if self.origin.files.is_empty() {
            return Vec::new();
        }
        let (program, _) = syntax::parse(self);
        let inputs = program.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Input { name, .. } => Some(name),
            _ => None,
        });
        let imported = inputs.filter_map(|name| {
            let (file, _) = self.origin_of(name.span);
            let file = self.origin.files.get(file).filter(|_| file > 0)?;
            Some((name.text.clone(), file.path.clone()))
        });
        imported.collect()
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

/// The most bytes that a file of a program may have. Programs by hand have thousands, generated ones millions.
const MOST_BYTES: u64 = 16 << 20;

/// The text of a file of a program.
///
/// # Errors
/// Why there is none. A device or a pipe may have no end, so only files are read.
pub fn read_text(path: &Path) -> Result<String, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.is_dir() {
        return Err("this is a directory, not a file".to_owned());
    }
    if !metadata.is_file() {
        return Err("this is a device or a pipe, and a program is read from a file".to_owned());
    }
    let mut bytes = Vec::new();
    let read =
        fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        let most = shown(MOST_BYTES);
        return Err(format!(
            "the file has more than the {most} that a program may have"
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("byte {at} is not UTF-8 text")
    })
}

/// Where the lines of a text start.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    /// Where the lines of a text start.
    pub fn of(text: &str) -> Lines {
        let after_newlines = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
        Lines {
            starts: std::iter::once(0).chain(after_newlines).collect(),
        }
    }

    /// The line of a byte, counted from 1.
    pub fn line(&self, byte: u32) -> usize {
        self.starts.partition_point(|&start| start <= byte)
    }

    /// The first byte of a line, counted from 1.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts[line - 1] as usize
    }

    /// A line of `text`, counted from 1, without its end.
    pub(super) fn text<'t>(&self, text: &'t str, line: usize) -> &'t str {
        let start = self.start(line);
        let end = self
            .starts
            .get(line)
            .map_or(text.len(), |&next| next as usize);
        text[start..end].trim_end_matches(['\r', '\n'])
    }

    /// The line and the column, in characters, of a byte of `text`, both counted from 1. A byte past the end is the end.
    pub fn position(&self, text: &str, byte: u32) -> (usize, usize) {
        let line = self.line(byte);
        let start = self.start(line);
        let before = text.get(start..byte as usize).unwrap_or(&text[start..]);
        (line, before.chars().count() + 1)
    }
}

/// A range of bytes in the source text.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The same place after this many bytes are put before the text.
    pub(super) fn after(self, bytes: u32) -> Span {
        Span {
            start: self.start + bytes,
            end: self.end + bytes,
        }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
