//! Imports: one text of a program and the files that it imports.
//!
//! An import is replaced by the text of its file, once, as a reader would do it by hand; what the text came from is kept, so that
//! messages show the file and the line. The result is a plain program, which `diderotc flatten` prints.
//!
//! Inputs are the exception to "a name is defined once": where a program declares an input that it also imports, with the same type, its
//! own declaration takes the place of the imported one, and so gives another default or description.

use super::{
    codes,
    diag::{Diagnostic, Fix},
    files::{Disk, Files},
    source::{File, Origin, Piece, Source, Span},
    standard,
    syntax::{self, Read, ast::*},
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

impl Source {
    /// The program with this text, which the path names in messages. Files that it imports are found beside the path, and read.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Source {
        Source::with_files(path, text, &Disk)
    }

    /// The same with imports from these files.
    pub fn with_files(
        path: impl Into<PathBuf>,
        text: impl Into<String>,
        files: &dyn Files,
    ) -> Source {
        resolve(path.into(), text.into(), files)
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
}

/// The program with this text and its imports.
fn resolve(path: PathBuf, text: String, files: &dyn Files) -> Source {
    let plain = |path, text| Source {
        path,
        text,
        origin: Origin::default(),
    };
    if !text.contains("import") {
        return plain(path, text);
    }
    let read = syntax::read_program(&text);
    if read.imports.is_empty() {
        return plain(path, text);
    }
    let mut linker = Linker {
        source: files,
        files: Vec::new(),
        open: Vec::new(),
        errors: Vec::new(),
    };
    // Errors outside of the imports are found again when the whole text is read. Errors in the imports are not, because the imports are
    // no longer there. Such an error may be at the end of an import, for example a missing `;`.
    let about_imports = |d: &Diagnostic| {
        let touches = |i: &Import| (i.span.start..=i.span.end).contains(&d.span.start);
        read.imports.iter().any(touches)
    };
    let errors: Vec<Diagnostic> = read
        .diagnostics
        .iter()
        .filter(|d| about_imports(d))
        .cloned()
        .collect();
    let identity = files.identity(&path);
    let file = File {
        path: path.clone(),
        text,
        importer: None,
    };
    linker.add(Loaded {
        file,
        identity,
        imports: Vec::new(),
        read,
    });
    linker.report(0, errors);
    linker.load_imports(0);
    linker.link(path)
}

/// A file that was read.
struct Loaded {
    file: File,
    /// Distinguishes it from other files.
    identity: PathBuf,
    /// Its imports, and the files that they name.
    imports: Vec<(Span, usize)>,
    read: Read,
}

/// What becomes of a part of a file.
#[derive(Clone, Copy)]
enum Edit {
    /// It imports a file.
    Import(usize),
    /// It is an input that another file declares in its place.
    Input(usize, Span),
    /// It was put elsewhere.
    Moved,
}

struct Linker<'a> {
    /// The files that imports name.
    source: &'a dyn Files,
    files: Vec<Loaded>,
    /// The files whose imports are being read, outermost first.
    open: Vec<usize>,
    /// Errors, each with its file.
    errors: Vec<(usize, Diagnostic)>,
}

impl Linker<'_> {
    fn add(&mut self, file: Loaded) -> usize {
        self.files.push(file);
        self.files.len() - 1
    }

    fn report(&mut self, file: usize, diagnostics: Vec<Diagnostic>) {
        let errors = diagnostics.into_iter().filter(Diagnostic::is_error);
        self.errors.extend(errors.map(|error| (file, error)));
    }

    fn load_imports(&mut self, file: usize) {
        self.open.push(file);
        for import in self.files[file].read.imports.clone() {
            match self.load(file, &import) {
                Ok(target) => self.files[file].imports.push((import.span, target)),
                Err(error) => self.errors.push((file, error)),
            }
        }
        self.open.pop();
    }

    /// The file that an import names.
    fn load(&mut self, importer: usize, import: &Import) -> Result<usize, Diagnostic> {
        let (path, text) = find(self.source, &self.files[importer].file.path, import)?;
        let identity = self.source.identity(&path);
        if let Some(known) = self.files.iter().position(|f| f.identity == identity) {
            return match self.open.iter().position(|&open| open == known) {
                Some(start) => Err(self.circle(start, import)),
                None => Ok(known),
            };
        }
        let read = syntax::read_library(&text);
        let file = File {
            path,
            text,
            importer: Some((importer, import.span)),
        };
        let errors = if read.program.version == Version::V1 {
            // Everything else that was found in it may be due to that.
            let line = Span::new(0, file.text.lines().next().unwrap_or_default().len());
            let error = Diagnostic::error(
                codes::IMPORT_VERSION,
                line,
                "an imported file is version 2.0",
            );
            vec![error.hint("make `#version 2.0` the first line")]
        } else {
            read.diagnostics.clone()
        };
        let file = self.add(Loaded {
            file,
            identity,
            imports: Vec::new(),
            read,
        });
        self.report(file, errors);
        self.load_imports(file);
        Ok(file)
    }

    fn circle(&self, start: usize, import: &Import) -> Diagnostic {
        let files = self.open[start..].iter().chain([&self.open[start]]);
        let names = files.map(|&file| self.files[file].file.path.display().to_string());
        let names: Vec<String> = names.collect();
        let message = format!("files import each other in a circle: {}", names.join(" → "));
        Diagnostic::error(codes::IMPORT_CIRCLE, import.span, message)
    }

    fn link(self, path: PathBuf) -> Source {
        if self.errors.is_empty() {
            return self.linked(path);
        }
        // The files stand one after the other, so that the places of errors differ.
        let (mut pieces, mut start) = (Vec::new(), 0);
        for (file, loaded) in self.files.iter().enumerate() {
            let span = Span::new(0, loaded.file.text.len());
            pieces.push(Piece { start, file, span });
            start += span.end + 1;
        }
        let problems = self.errors.iter().map(|(file, error)| {
            let base = pieces[*file].start;
            let mut error = error.clone();
            error.span = error.span.after(base);
            let edits = error.fixes.iter_mut().flat_map(|fix| &mut fix.edits);
            for span in error.labels.iter_mut().chain(edits).map(|(span, _)| span) {
                *span = span.after(base);
            }
            error
        });
        let problems = problems.collect();
        let files: Vec<File> = self.files.into_iter().map(|loaded| loaded.file).collect();
        Source {
            path,
            text: files[0].text.clone(),
            origin: Origin {
                files,
                pieces,
                problems,
            },
        }
    }

    fn linked(self, path: PathBuf) -> Source {
        let mut output = Output {
            linker: &self,
            edits: self.edits(),
            written: BTreeSet::new(),
            text: String::new(),
            origin: Origin::default(),
        };
        output.file(0);
        let Output {
            text, mut origin, ..
        } = output;
        origin.files = self.files.into_iter().map(|loaded| loaded.file).collect();
        Source { path, text, origin }
    }

    /// For every file, what becomes of its parts, in order.
    fn edits(&self) -> Vec<Vec<(Span, Edit)>> {
        let imports = |loaded: &Loaded| -> Vec<(Span, Edit)> {
            let edits = loaded.imports.iter();
            edits
                .map(|&(span, file)| (span, Edit::Import(file)))
                .collect()
        };
        let mut edits: Vec<Vec<(Span, Edit)>> = self.files.iter().map(imports).collect();
        let mut order = Vec::new();
        self.in_order(0, &mut order);
        let inputs: Vec<(usize, Span, String)> = order
            .iter()
            .flat_map(|&file| {
                self.inputs(file)
                    .map(move |(span, declared)| (file, span, declared))
            })
            .collect();
        for (n, (file, span, declared)) in inputs.iter().enumerate() {
            let same = |other: &&(usize, Span, String)| other.2 == *declared && other.0 != *file;
            if inputs[..n].iter().any(|other| same(&other)) {
                edits[*file].push((*span, Edit::Moved));
            } else if let Some(last) = inputs[n + 1..].iter().rfind(same) {
                edits[*file].push((*span, Edit::Input(last.0, last.1)));
            }
        }
        for edits in &mut edits {
            edits.sort_by_key(|(span, _)| *span);
        }
        edits
    }

    /// Adds a file and all that it imports in the order of their text.
    fn in_order(&self, file: usize, order: &mut Vec<usize>) {
        for &(_, import) in &self.files[file].imports {
            if !order.contains(&import) {
                self.in_order(import, order);
            }
        }
        order.push(file);
    }

    /// The inputs of a file: where they are, and their type and name.
    fn inputs(&self, file: usize) -> impl Iterator<Item = (Span, String)> {
        let items = self.files[file].read.program.items.iter();
        items.filter_map(|item| match &item.kind {
            ItemKind::Input { ty, name, .. } => {
                let ty = syntax::print::print_type(ty, Version::V2);
                Some((item.span, format!("{ty} {}", name.text)))
            }
            _ => None,
        })
    }

    /// Whether a file defines, or imports, something of these names.
    fn defines_any(&self, file: usize, names: &BTreeSet<String>) -> bool {
        let loaded = &self.files[file];
        let items = &loaded.read.program.items;
        items.iter().any(|item| names.contains(&item.name().text))
            || loaded
                .imports
                .iter()
                .any(|&(_, import)| self.defines_any(import, names))
    }
}

/// The text while it is put together.
struct Output<'a> {
    linker: &'a Linker<'a>,
    edits: Vec<Vec<(Span, Edit)>>,
    written: BTreeSet<usize>,
    text: String,
    origin: Origin,
}

impl Output<'_> {
    fn file(&mut self, file: usize) {
        self.written.insert(file);
        let loaded = &self.linker.files[file];
        // One version line is enough.
        let mut done = if file == 0 {
            0
        } else {
            loaded.read.version_length
        };
        for (span, edit) in self.edits[file].clone() {
            self.copy(file, Span::new(done, span.start as usize));
            done = span.end as usize;
            match edit {
                Edit::Import(import) => self.import(file, span, import),
                Edit::Input(other, span) => self.copy(other, span),
                Edit::Moved => {}
            }
        }
        self.copy(file, Span::new(done, loaded.file.text.len()));
    }

    fn copy(&mut self, file: usize, span: Span) {
        let text = &self.linker.files[file].file.text;
        self.place(file, span);
        self.text
            .push_str(&text[span.start as usize..span.end as usize]);
    }

    fn import(&mut self, file: usize, span: Span, import: usize) {
        let start = self.text.len();
        self.place(file, span);
        let path = self.linker.files[import].file.path.display();
        self.text.push_str(&format!("// import \"{path}\";"));
        let here = Span::new(start, self.text.len());
        let mentions = &self.linker.files[file].read.mentions;
        if file == 0 && !self.linker.defines_any(import, mentions) {
            let message = "nothing of this import is used";
            self.origin
                .problems
                .push(Diagnostic::warning(codes::UNUSED_IMPORT, here, message));
        }
        if !self.written.contains(&import) {
            self.text.push('\n');
            self.file(import);
            self.text.push('\n');
        }
    }

    /// What follows in the text comes from here.
    fn place(&mut self, file: usize, span: Span) {
        let start = self.text.len() as u32;
        self.origin.pieces.push(Piece { start, file, span });
    }
}

/// The path and text of the file that an import names.
fn find(
    files: &dyn Files,
    importer: &Path,
    import: &Import,
) -> Result<(PathBuf, String), Diagnostic> {
    let error = |message: String| Diagnostic::error(codes::IMPORT_MISSING, import.span, message);
    if let Some(name) = import.file.strip_prefix("std/") {
        let found = standard::LIBRARY.iter().find(|library| library.0 == name);
        return match found {
            Some((_, text)) => Ok((PathBuf::from(&import.file), (*text).to_owned())),
            None => {
                let names: Vec<String> = standard::LIBRARY
                    .iter()
                    .map(|l| format!("`std/{}`", l.0))
                    .collect();
                let message = format!("the standard library has no `{}`", import.file);
                Err(error(message).hint(format!("it has {}", names.join(", "))))
            }
        };
    }
    let path = importer
        .parent()
        .unwrap_or(Path::new(""))
        .join(&import.file);
    let text = files.read(&path).map_err(|problem| {
        let error = error(format!("`{}` cannot be read: {problem}", path.display()));
        let suffixed = format!("{}.diderot", import.file);
        if files.has(&importer.with_file_name(&suffixed)) {
            error
                .hint(format!("did you mean `{suffixed}`?"))
                .fix(Fix::replace(import.span, format!("import \"{suffixed}\";")))
        } else if files.has(&path) {
            error
        } else {
            error.hint("files are looked for beside the one that imports them; the standard library begins with `std/`")
        }
    })?;
    Ok((path, text))
}
