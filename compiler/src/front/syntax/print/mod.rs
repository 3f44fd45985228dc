//! From syntax tree to text, in one layout: four blanks of indentation, the symbols of the operators, as few parentheses as
//! possible.
//!
//! Reading the text again gives the same tree up to spans, for every tree that the parser gives without an error. Comments are not
//! in the tree; [`print_with_comments`] takes them from the source. The difference between spellings of one symbol is lost.
//! Unreadable parts are printed as comments.

mod comments;
mod expr;
mod stmt;

pub use comments::print_with_comments;

use super::{ast::*, literal::write_string};

/// The text of a program.
pub fn print(program: &Program) -> String {
    let Program {
        version,
        items,
        initialize,
        strand,
        start,
        update,
        create,
    } = program;
    let mut printer = Printer::new(*version);
    printer.line(&format!("#version {version}"));
    let mut previous = None;
    for item in items {
        let group = Group::of(item);
        if previous.is_none_or(|previous| previous != group || group == Group::Block) {
            printer.blank_line();
        }
        printer.item(item);
        previous = Some(group);
    }
    printer.global_block("initialize", initialize);
    if let Some(strand) = strand {
        printer.blank_line();
        printer.strand(strand);
    }
    printer.global_block("start", start);
    let update_word = match version {
        Version::V1 => "global",
        Version::V2 => "update",
    };
    printer.global_block(update_word, update);
    if let Some(create) = create {
        printer.blank_line();
        printer.create(create);
    }
    printer.out
}

/// The text of an expression in a program of this version.
pub fn print_expr(expr: &Expr, version: Version) -> String {
    let mut printer = Printer::new(version);
    printer.expr(expr);
    printer.out
}

/// The text of a type in a program of this version.
pub fn print_type(ty: &TypeExpr, version: Version) -> String {
    let mut printer = Printer::new(version);
    printer.ty(ty);
    printer.out
}

/// Definitions of one line that belong together stand on consecutive lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Const,
    Input,
    Global,
    Function,
    Block,
}

impl Group {
    fn of(item: &Item) -> Group {
        match &item.kind {
            ItemKind::Const { .. } | ItemKind::Axis { .. } => Group::Const,
            ItemKind::Input { .. } => Group::Input,
            ItemKind::Global { .. } | ItemKind::FieldFunction { .. } => Group::Global,
            ItemKind::Function { body, .. } => match body {
                FunctionBody::Expr(_) => Group::Function,
                FunctionBody::Block(_) => Group::Block,
            },
        }
    }
}

/// The text so far.
struct Printer {
    out: String,
    version: Version,
    indent: usize,
}

impl Printer {
    fn new(version: Version) -> Printer {
        Printer {
            out: String::new(),
            version,
            indent: 0,
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self, text: &str) {
        self.text(text);
        self.end_line();
    }

    fn end_line(&mut self) {
        self.out.push('\n');
    }

    fn blank_line(&mut self) {
        self.end_line();
    }

    fn indentation(&mut self) {
        let width = 4 * self.indent;
        self.out.extend(std::iter::repeat_n(' ', width));
    }

    /// Prints each, with a separator between them.
    fn list<T>(&mut self, items: &[T], separator: &str, mut print: impl FnMut(&mut Printer, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.text(separator);
            }
            print(self, item);
        }
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Const { ty, name, value } => {
                self.text("const ");
                self.variable(ty, name, value);
            }
            ItemKind::Input {
                ty,
                name,
                description,
                default,
            } => {
                self.text("input ");
                self.ty(ty);
                self.text(" ");
                self.text(&name.text);
                if let Some(description) = description {
                    self.text(" (");
                    self.text(&write_string(description));
                    self.text(")");
                }
                self.value(default);
            }
            ItemKind::Axis { name, extent } => {
                self.text(&format!("axis {} = ", name.text));
                self.expr(extent);
                self.line(";");
            }
            ItemKind::Global { ty, name, value } => self.variable(ty, name, value),
            ItemKind::FieldFunction {
                ty,
                name,
                param,
                time,
                body,
            } => {
                self.ty(ty);
                self.text(" ");
                self.text(&name.text);
                let body = self.left_indices(body);
                let time = time.as_ref().map(|time| format!(", {}", time.text));
                self.text(&format!("({}{}) = ", param.text, time.unwrap_or_default()));
                self.expr(body);
                self.line(";");
            }
            ItemKind::Function {
                ty,
                name,
                params,
                body,
            } => {
                self.text("function ");
                self.ty(ty);
                self.text(" ");
                self.header(name, params);
                match body {
                    FunctionBody::Expr(body) => {
                        self.text(" = ");
                        self.expr(body);
                        self.line(";");
                    }
                    FunctionBody::Block(block) => {
                        self.text(" ");
                        self.block(block);
                        self.end_line();
                    }
                }
            }
        }
    }

    /// `T x = e;` and the end of the line.
    fn variable(&mut self, ty: &TypeExpr, name: &Name, value: &Option<Expr>) {
        self.ty(ty);
        self.text(" ");
        self.text(&name.text);
        self.value(value);
    }

    fn value(&mut self, value: &Option<Expr>) {
        self.definition(value);
        self.end_line();
    }

    /// ` = e;`, with the indices of a definition by index before it.
    fn definition(&mut self, value: &Option<Expr>) {
        if let Some(Expr {
            kind: ExprKind::Clauses(clauses),
            ..
        }) = value
        {
            self.text(" ");
            self.clauses(clauses);
            return;
        }
        if let Some(value) = value {
            let value = self.left_indices(value);
            self.text(" = ");
            self.expr(value);
        }
        self.text(";");
    }

    /// Prints the indices of a definition by index, and gives what stands right of the `=`.
    fn left_indices<'e>(&mut self, value: &'e Expr) -> &'e Expr {
        match &value.kind {
            ExprKind::Indexed { binders, body } => {
                self.subscripts(binders);
                body
            }
            _ => value,
        }
    }

    fn header(&mut self, name: &Name, params: &[Param]) {
        self.text(&name.text);
        self.text("(");
        self.list(params, ", ", |printer, Param { ty, name }| {
            printer.ty(ty);
            printer.text(" ");
            printer.text(&name.text);
        });
        self.text(")");
    }

    fn global_block(&mut self, word: &str, block: &Option<Block>) {
        if let Some(block) = block {
            self.blank_line();
            self.text(word);
            self.text(" ");
            self.block(block);
            self.end_line();
        }
    }

    fn strand(&mut self, strand: &Strand) {
        let Strand {
            name,
            params,
            state,
            initialize,
            methods,
            span: _,
        } = strand;
        self.text("strand ");
        self.header(name, params);
        self.line(" {");
        self.indent += 1;
        for StateVar {
            output,
            ty,
            name,
            value,
            span: _,
        } in state
        {
            self.indentation();
            if *output {
                self.text("output ");
            }
            self.variable(ty, name, value);
        }
        let initialize = initialize.iter().map(|block| ("initialize", block));
        let methods = methods.iter().map(|method| {
            let word = match method.kind {
                MethodKind::Start => "start",
                MethodKind::Update => "update",
                MethodKind::Stabilize => "stabilize",
            };
            (word, &method.body)
        });
        for (index, (word, block)) in initialize.chain(methods).enumerate() {
            if index > 0 || !state.is_empty() {
                self.blank_line();
            }
            self.indentation();
            self.text(word);
            self.text(" ");
            self.block(block);
            self.end_line();
        }
        self.indent -= 1;
        self.line("}");
    }

    fn create(&mut self, create: &Create) {
        let Create {
            grid,
            spawn,
            iters,
            span: _,
        } = create;
        let (open, close) = match (self.version, grid) {
            (Version::V1, true) => ("initially [ ", " ];"),
            (Version::V1, false) => ("initially { ", " };"),
            (Version::V2, true) => ("create_array { ", " }"),
            (Version::V2, false) => ("create_collection { ", " }"),
        };
        self.text(open);
        self.expr(spawn);
        self.text(" | ");
        self.list(iters, ", ", Printer::iter);
        self.line(close);
    }

    fn iter(&mut self, iter: &Iter) {
        self.text(&iter.name.text);
        self.text(" in ");
        self.expr(&iter.source);
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeExprKind::Bool => self.text("bool"),
            TypeExprKind::Int => self.text("int"),
            TypeExprKind::String => self.text("string"),
            TypeExprKind::Real => self.text("real"),
            TypeExprKind::Tensor(shape) => {
                self.text("tensor");
                self.shape(shape);
            }
            TypeExprKind::Vec(size) => self.text(&format!("vec{size}")),
            TypeExprKind::Mat(size) => self.text(&format!("mat{size}")),
            TypeExprKind::Image { dim, time, shape } => {
                self.text("image(");
                self.domain(dim, time.as_ref());
                self.text(")");
                self.shape(shape);
            }
            TypeExprKind::Field {
                continuity,
                dim,
                time,
                shape,
            } => {
                self.text("field");
                if let Some(continuity) = continuity {
                    self.text("#");
                    self.expr(continuity);
                }
                self.text("(");
                self.domain(dim, time.as_ref());
                self.text(")");
                self.shape(shape);
            }
            TypeExprKind::Data {
                name,
                continuity,
                dim,
                time,
                shape,
            } => {
                self.text(&name.text);
                if let Some(continuity) = continuity {
                    self.text("#");
                    self.expr(continuity);
                }
                self.text("(");
                self.domain(dim, time.as_ref());
                self.text(")");
                if let Some(shape) = shape {
                    self.shape(shape);
                }
            }
            TypeExprKind::Kernel(continuity) => {
                self.text("kernel#");
                self.expr(continuity);
            }
            TypeExprKind::Named(name) => self.text(&name.text),
            TypeExprKind::Grid { element, lengths } => {
                self.ty(element);
                self.shape(lengths);
            }
            TypeExprKind::Seq { element, length } => {
                let (open, close) = match self.version {
                    Version::V1 => ("{", "}"),
                    Version::V2 => ("[", "]"),
                };
                self.ty(element);
                self.text(open);
                if let Some(length) = length {
                    self.expr(length);
                }
                self.text(close);
            }
        }
    }

    /// The parameters of the type of a field or image.
    fn domain(&mut self, dim: &Expr, time: Option<&TimeAxis>) {
        self.expr(dim);
        let Some(time) = time else { return };
        self.text(&format!(",{TIME}"));
        if let Some(continuity) = &time.continuity {
            self.text("#");
            self.expr(continuity);
        }
    }

    fn shape(&mut self, shape: &[Expr]) {
        self.text("[");
        self.list(shape, ",", Printer::expr);
        self.text("]");
    }
}
