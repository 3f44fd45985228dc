//! The texts of an editor, and what the compiler finds in them.

use super::positions::{Encoding, Text};
use crate::{
    explain::{Explanation, explain_field},
    front::{
        Checked,
        facts::DefinitionKind,
        files::{Buffers, Files},
        source::{Source, Span},
    },
    pipeline::{self, Options},
};
use ein_ir::Type;
use ls_types::{Location, Position, TextDocumentContentChangeEvent, Uri};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::{Path, PathBuf},
    rc::Rc,
};

/// The open files of an editor.
#[derive(Debug)]
pub(super) struct Documents {
    pub(super) encoding: Encoding,
    /// Whether the editor shows formulas in LaTeX.
    pub(super) shows_latex: bool,
    buffers: Buffers,
    open: BTreeMap<PathBuf, Document>,
    /// The analyses since the last change, by the program's own file.
    known: BTreeMap<PathBuf, Rc<Analysis>>,
}

#[derive(Debug)]
struct Document {
    uri: Uri,
    text: String,
}

/// A program as the compiler understands it.
#[derive(Debug)]
pub(super) struct Analysis {
    pub(super) source: Source,
    pub(super) checked: Checked,
    /// The explanations of fields, by their definitions, as far as they were asked for.
    explanations: RefCell<BTreeMap<Span, Option<Rc<Explanation>>>>,
}

impl Analysis {
    /// How a field is computed where it is probed, if the definition at a place is that of a global field.
    pub(super) fn explanation(&self, definition: Span) -> Option<Rc<Explanation>> {
        let known = self.checked.facts.definition(definition)?;
        let is_global = known.kind == DefinitionKind::Global;
        if !is_global || !matches!(known.ty, Some(Type::Field { .. })) {
            return None;
        }
        let program = self.checked.program.as_ref()?;
        let mut explanations = self.explanations.borrow_mut();
        let explained = explanations.entry(definition).or_insert_with(|| {
            let options = Options::default();
            explain_field(&self.source, program, &options, &known.name).map(Rc::new)
        });
        explained.clone()
    }
}

/// A place in an analysis that an editor asks about.
pub(super) struct Asked {
    pub(super) analysis: Rc<Analysis>,
    /// The file.
    pub(super) path: PathBuf,
    /// The byte of the program's text.
    pub(super) byte: u32,
}

impl Documents {
    pub(super) fn new(encoding: Encoding, shows_latex: bool) -> Documents {
        Documents {
            encoding,
            shows_latex,
            buffers: Buffers::default(),
            open: BTreeMap::new(),
            known: BTreeMap::new(),
        }
    }

    /// The path of a document. One that was never saved has a name for a path.
    pub(super) fn path(uri: &Uri) -> PathBuf {
        let file = uri.to_file_path().map(|path| path.into_owned());
        file.unwrap_or_else(|| PathBuf::from(uri.as_str()))
    }

    pub(super) fn open(&mut self, uri: Uri, text: String) {
        let path = Documents::path(&uri);
        self.buffers.set(&path, text.clone());
        self.open.insert(path, Document { uri, text });
        self.known.clear();
    }

    pub(super) fn change(&mut self, uri: &Uri, changes: Vec<TextDocumentContentChangeEvent>) {
        let path = Documents::path(uri);
        let encoding = self.encoding;
        if let Some(document) = self.open.get_mut(&path) {
            for change in changes {
                match change.range {
                    Some(range) => {
                        let bytes = Text::new(&document.text, encoding).bytes(range);
                        document.text.replace_range(bytes, &change.text);
                    }
                    None => document.text = change.text,
                }
            }
            self.buffers.set(&path, document.text.clone());
        }
        self.known.clear();
    }

    pub(super) fn close(&mut self, uri: &Uri) {
        let path = Documents::path(uri);
        self.buffers.remove(&path);
        self.open.remove(&path);
        self.known.clear();
    }

    /// Forgets all analyses: a file on disk has changed.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.open.keys().cloned().collect()
    }

    /// The address of a file.
    pub(super) fn uri(&self, path: &Path) -> Option<Uri> {
        match self.open.get(path) {
            Some(document) => Some(document.uri.clone()),
            None => path.is_file().then(|| Uri::from_file_path(path))?,
        }
    }

    /// The text of a file.
    pub(super) fn text(&self, path: &Path) -> Option<String> {
        match self.open.get(path) {
            Some(document) => Some(document.text.clone()),
            None => self.buffers.read(path).ok(),
        }
    }

    /// What the compiler finds in a file and its imports.
    pub(super) fn analysis(&mut self, path: &Path) -> Option<Rc<Analysis>> {
        if let Some(known) = self.known.get(path) {
            return Some(Rc::clone(known));
        }
        let text = self.text(path)?;
        let source = Source::with_files(path, text, &self.buffers);
        let checked = pipeline::check(&source, &Options::default());
        let analysis = Rc::new(Analysis {
            source,
            checked,
            explanations: RefCell::default(),
        });
        self.known.insert(path.to_path_buf(), Rc::clone(&analysis));
        Some(analysis)
    }

    /// The analysis in which a file is understood best: its own if it has strands, or else that of an open program which imports it.
    pub(super) fn best_analysis(&mut self, path: &Path) -> Option<Rc<Analysis>> {
        let own = self.analysis(path)?;
        if own.checked.ast.strand.is_some() {
            return Some(own);
        }
        let programs = self.paths().into_iter().filter(|other| other != path);
        let importing = programs.filter_map(|other| {
            let analysis = self.analysis(&other)?;
            let imports_it = analysis.source.paths().skip(1).any(|file| file == path);
            imports_it.then_some(analysis)
        });
        importing
            .collect::<Vec<_>>()
            .into_iter()
            .next()
            .or(Some(own))
    }

    /// A place of a document in its analysis.
    pub(super) fn asked(&mut self, uri: &Uri, position: Position) -> Option<Asked> {
        let path = Documents::path(uri);
        let byte = Text::new(&self.text(&path)?, self.encoding).byte(position);
        let analysis = self.best_analysis(&path)?;
        let byte = analysis.source.byte_of(&path, byte)?;
        Some(Asked {
            analysis,
            path,
            byte,
        })
    }

    /// The place in a file of a place in the text of a program; nothing for a place in the standard library.
    pub(super) fn location(&self, source: &Source, span: Span) -> Option<Location> {
        let (path, span) = source.file_of(span);
        let uri = self.uri(path)?;
        let text = self.text(path)?;
        Some(Location::new(
            uri,
            Text::new(&text, self.encoding).range(span),
        ))
    }
}
