//! Builds the tree for the grammar: spans, version checks, and the limit on nesting.
//!
//! The parser itself uses no recursion, but everything that reads a tree does. The builder therefore knows the depth of every
//! piece and replaces what would be nested deeper than [`MAX_DEPTH`] by an error node, so that no tree it gives is deeper.

mod definition;
mod expr;
mod stmt;
mod ty;

use super::{
    ast::*,
    lexer, literal, operators,
    version::{self, Construct},
};
use crate::front::{codes, diag::Diagnostic, source::Span};

/// How deep a tree may be. Each bracket, operator and block is one level around its deepest part, so a sum of n terms is n levels
/// deep, and so is a chain of n `else if`.
pub const MAX_DEPTH: u32 = 512;

/// A place as the parser counts it: a byte, and the token it belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct At {
    pub(crate) byte: u32,
    pub(crate) token: usize,
}

/// The span from one place to another. Where nothing was written it is empty.
pub(crate) fn at(l: At, r: At) -> Span {
    Span {
        start: l.byte,
        end: r.byte.max(l.byte),
    }
}

/// A piece of the tree and how deep it is.
#[derive(Clone, Debug)]
pub(crate) struct Deep<T> {
    pub(crate) node: T,
    pub(crate) depth: u32,
}

impl<T> Deep<T> {
    /// A piece without parts.
    pub(crate) fn leaf(node: T) -> Deep<T> {
        Deep { node, depth: 0 }
    }

    /// The same depth for another way to hold the piece.
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Deep<U> {
        Deep {
            node: f(self.node),
            depth: self.depth,
        }
    }
}

/// Pieces side by side.
pub(crate) fn list<T>(pieces: Vec<Deep<T>>) -> Deep<Vec<T>> {
    let depth = pieces.iter().map(|piece| piece.depth).max().unwrap_or(0);
    Deep {
        node: pieces.into_iter().map(|piece| piece.node).collect(),
        depth,
    }
}

/// A kind of expression around another expression.
pub(crate) fn boxed(inner: Deep<Expr>, kind: fn(Box<Expr>) -> ExprKind) -> Deep<ExprKind> {
    inner.map(|inner| kind(Box::new(inner)))
}

/// A part of the top level.
#[derive(Debug)]
pub(crate) enum Part {
    Import(Import),
    Item(Item),
    Initialize(Block),
    Strand(Strand),
    Start(Block),
    Update(Block),
    Create(Create),
    Unreadable,
}

/// A part of a strand.
#[derive(Debug)]
pub(crate) enum Member {
    State(StateVar),
    Initialize(Span, Block),
    Method(Method),
    Unreadable,
}

/// What the grammar's actions need and give.
#[derive(Debug)]
pub(crate) struct Builder {
    version: Version,
    /// The parts that are complete.
    pub(crate) parts: Vec<Part>,
    /// The first token after the parts that are complete.
    pub(crate) resume: usize,
    /// The errors in those parts.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The errors in the part that is being read.
    current: Vec<Diagnostic>,
    /// Ranges in that part that a 1.0 creation clause may still ask for.
    ranges: Vec<Span>,
    too_deep: bool,
}

impl Builder {
    pub(crate) fn new(version: Version) -> Builder {
        Builder {
            version,
            parts: Vec::new(),
            resume: 0,
            diagnostics: Vec::new(),
            current: Vec::new(),
            ranges: Vec::new(),
            too_deep: false,
        }
    }

    /// Discards the state of an incomplete part, which will be read again.
    pub(crate) fn restart_part(&mut self) {
        self.current.clear();
        self.ranges.clear();
    }

    pub(crate) fn complete(&mut self, part: Part, end: At) {
        for span in std::mem::take(&mut self.ranges) {
            self.only(&version::RANGE_EXPRESSION, span);
        }
        self.diagnostics.append(&mut self.current);
        self.parts.push(part);
        self.resume = end.token + 1;
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.current.push(diagnostic);
    }

    /// Reports a construct that the version of the file lacks.
    pub(crate) fn only(&mut self, construct: &Construct, span: Span) {
        self.current.extend(construct.check(self.version, span));
    }

    /// Whether a piece with a part of this depth is within the limit; reports the first that is not.
    fn fits(&mut self, depth: u32, span: Span) -> bool {
        if depth < MAX_DEPTH {
            return true;
        }
        if !self.too_deep {
            self.too_deep = true;
            // Not `current`: the part may be read again, and this is reported once.
            self.diagnostics.push(
                Diagnostic::error(
                    codes::NESTING,
                    span,
                    format!("nested too deeply: more than {MAX_DEPTH} levels"),
                )
                .hint(
                    "give parts of it a name of their own; a chain of n operators counts n levels",
                ),
            );
        }
        false
    }

    pub(crate) fn expr(&mut self, span: Span, kind: Deep<ExprKind>) -> Deep<Expr> {
        if self.fits(kind.depth, span) {
            Deep {
                node: Expr {
                    kind: kind.node,
                    span,
                },
                depth: kind.depth + 1,
            }
        } else {
            let kind = ExprKind::Error;
            Deep::leaf(Expr { kind, span })
        }
    }

    pub(crate) fn stmt(&mut self, span: Span, kind: Deep<StmtKind>) -> Deep<Stmt> {
        if self.fits(kind.depth, span) {
            Deep {
                node: Stmt {
                    kind: kind.node,
                    span,
                },
                depth: kind.depth + 1,
            }
        } else {
            let kind = StmtKind::Error;
            Deep::leaf(Stmt { kind, span })
        }
    }

    /// Parentheses leave no trace in the tree, but count as a level.
    pub(crate) fn parenthesized(&mut self, span: Span, inner: Deep<Expr>) -> Deep<Expr> {
        if self.fits(inner.depth, span) {
            Deep {
                depth: inner.depth + 1,
                ..inner
            }
        } else {
            Deep::leaf(error(span))
        }
    }

    pub(crate) fn decode_name(&self, written: &str) -> String {
        lexer::decode_name(written)
    }

    pub(crate) fn name(&mut self, span: Span, written: &str) -> Name {
        if operators::is_index_symbol(written) {
            let message = format!("`{written}` is a symbol, not a name");
            self.report(Diagnostic::error(codes::SYNTAX, span, message));
        }
        Name {
            text: lexer::decode_name(written),
            span,
        }
    }

    pub(crate) fn string(&self, literal: &str) -> String {
        literal::scan_string(literal, 0).value
    }
}

fn error(span: Span) -> Expr {
    let kind = ExprKind::Error;
    Expr { kind, span }
}
