//! Which parts of the language programs have.
//!
//! The lists are written by a macro that also makes a `match` of them, so that a new variant of the syntax tree does not compile until it
//! stands here; then the test fails until the generator reaches it, or there is a reason why not.

use super::walk::{self, Visit};
use compiler::front::syntax::ast::*;
use ein_ir::ops::{OPERATORS, OpDef, Syntax};
use std::collections::BTreeSet;

macro_rules! variants {
    ($name:ident, $list:ident, $of:ident: $($variant:ident),* $(,)?) => {
        fn $name(it: &$of) -> String {
            match it {
                $($of::$variant { .. } => format!("{}::{}", stringify!($of), stringify!($variant)),)*
            }
        }
        const $list: &[&str] = &[$(concat!(stringify!($of), "::", stringify!($variant))),*];
    };
}

variants!(version, VERSIONS, Version: V1, V2);
variants!(item, ITEMS, ItemKind: Const, Input, Global, Axis, FieldFunction, Function);
variants!(body, BODIES, FunctionBody: Expr, Block);
variants!(method, METHODS, MethodKind: Start, Update, Stabilize);
variants!(type_expr, TYPES, TypeExprKind: Bool, Int, String, Real, Tensor, Vec, Mat, Image, Field, Data, Kernel, Named, Seq, Grid);
variants!(assign, ASSIGNS, AssignOp: Set, Add, Sub, Mul, Div, Rem, Append);
variants!(
    stmt, STMTS, StmtKind: Block, Decl, Assign, If, Foreach, Print, New, Stabilize, Die, Continue, Return, Error
);
variants!(subscript, SUBSCRIPTS, Subscript: All, At, In);
variants!(clause, CLAUSES, ClauseBody: Expr, Block);
variants!(
    expr, EXPRS, ExprKind: Name, KernelAs, Int, Real, String, Bool, Prefix, Partial, Clauses, Differential, Request, Indexed,
    Infix, And, Or, If, Range, Norm, Call, Subscript, BraceIndex, CallComprehension, Select, Tensor, Sequence, Comprehension,
    RealCast, Identity, Zeros, Nan, LoadImage, LoadSequence, Error
);

/// Parts of programs that are there or not.
const PARTS: &[&str] = &[
    "a grid of strands",
    "a collection of strands",
    "global initialize",
    "global start",
    "global update",
    "initialize of a strand",
    "a global without a value",
    "a local without a value",
    "a sequence of varying length",
    "a sequence of fixed length",
];

/// What no program has.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("StmtKind::Error", "only in trees of wrong programs"),
    ("ExprKind::Error", "only in trees of wrong programs"),
    ("ExprKind::Differential", "only in trees of wrong programs"),
    ("blur", BLUR),
    ("blur_axes", BLUR),
    ("image_bounds", FACT),
    ("mesh_bounds", FACT),
    ("fem_bounds", FACT),
    ("image_spacing", FACT),
    ("mesh_spacing", FACT),
    ("fem_spacing", FACT),
    ("image_range", FACT),
    ("fem_range", FACT),
    ("bounds_2", FACT),
    ("bounds_3", FACT),
    ("spacing_2", FACT),
    ("spacing_3", FACT),
];

const FACT: &str = "a fact about a file, which `programs/checks` compares";
const BLUR: &str = "the evaluator has other last bits than the runtime; `programs/checks` and the runtime's tests compare";

/// The parts of the language seen in programs.
#[derive(Debug, Default)]
pub(crate) struct Coverage(BTreeSet<String>);

impl Coverage {
    /// Adds the parts of a program.
    pub(crate) fn add(&mut self, program: &mut Program) {
        self.see(&version(&program.version));
        let strand = program.strand.as_ref();
        for kind in strand.iter().flat_map(|strand| &strand.methods) {
            self.see(&method(&kind.kind));
        }
        let grid = program.create.as_ref().is_some_and(|create| create.grid);
        for (part, is_there) in [
            ("a grid of strands", grid),
            ("a collection of strands", !grid),
            ("global initialize", program.initialize.is_some()),
            ("global start", program.start.is_some()),
            ("global update", program.update.is_some()),
            (
                "initialize of a strand",
                strand.is_some_and(|strand| strand.initialize.is_some()),
            ),
        ] {
            if is_there {
                self.see(part);
            }
        }
        walk::program(program, self);
    }

    fn see(&mut self, what: &str) {
        self.0.insert(what.to_string());
    }

    /// Parts that were not seen and are not exceptions, and exceptions that were seen.
    pub(crate) fn gaps(&self) -> Vec<&'static str> {
        let lists = [
            VERSIONS, ITEMS, BODIES, METHODS, TYPES, ASSIGNS, STMTS, SUBSCRIPTS, CLAUSES, EXPRS,
            PARTS,
        ];
        let is_exception = |what: &str| EXCEPTIONS.iter().any(|(name, _)| *name == what);
        let parts = lists.into_iter().flatten().copied();
        let parts = parts.filter(|what| self.0.contains(*what) == is_exception(what));
        // A row of the operator table is reached if it is written in one of its ways.
        let forms = |syntax: &&Syntax| !matches!(syntax, Syntax::Form(..) | Syntax::Constant(_));
        let spellings = |row: &OpDef| -> Vec<&str> {
            let ways = row.syntax.iter().filter(forms);
            ways.map(|way| way.spelling()).collect()
        };
        let is_gap = |row: &&OpDef| {
            let ways = spellings(row);
            let is_reached = ways.iter().any(|way| self.0.contains(*way));
            if !is_exception(row.name) {
                return !is_reached;
            }
            // Another row, which is not an exception, may be written in the same way.
            let is_shared = OPERATORS.iter().any(|other| {
                !is_exception(other.name) && spellings(other).iter().any(|way| ways.contains(way))
            });
            is_reached && !is_shared
        };
        let rows = OPERATORS
            .iter()
            .filter(|row| row.syntax.iter().any(|way| forms(&way)));
        parts
            .chain(rows.filter(is_gap).map(|row| row.name))
            .collect()
    }
}

impl Visit for Coverage {
    fn item(&mut self, it: &mut Item) {
        self.see(&item(&it.kind));
        match &it.kind {
            ItemKind::Function { body: b, .. } => self.see(&body(b)),
            ItemKind::Global { value: None, .. } => self.see("a global without a value"),
            _ => {}
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        self.see(&expr(&e.kind));
        if let ExprKind::Prefix { op, .. } | ExprKind::Infix { op, .. } = &e.kind {
            self.see(op.symbol);
        }
        // Operators that have nodes of their own.
        match &e.kind {
            ExprKind::And(..) => self.see("&&"),
            ExprKind::Or(..) => self.see("||"),
            ExprKind::Range(..) => self.see(".."),
            ExprKind::Tensor(_) => self.see("concat"),
            ExprKind::RealCast(_) => self.see("real"),
            ExprKind::LoadImage(_) => self.see("load_image"),
            ExprKind::LoadSequence(_) => self.see("load_sequence"),
            _ => {}
        }
        if let ExprKind::Call { callee, .. } | ExprKind::CallComprehension { callee, .. } = &e.kind
            && let ExprKind::Name(name) = &callee.kind
        {
            self.see(name);
        }
    }

    fn ty(&mut self, ty: &mut TypeExpr) {
        self.see(&type_expr(&ty.kind));
        if let TypeExprKind::Seq { length, .. } = &ty.kind {
            self.see(match length {
                Some(_) => "a sequence of fixed length",
                None => "a sequence of varying length",
            });
        }
    }

    fn stmt(&mut self, s: &mut Stmt) {
        self.see(&stmt(&s.kind));
        match &s.kind {
            StmtKind::Assign { op, .. } => self.see(&assign(op)),
            StmtKind::Decl { value: None, .. } => self.see("a local without a value"),
            _ => {}
        }
    }

    fn subscript(&mut self, s: &mut Subscript) {
        self.see(&subscript(s));
    }

    fn clause(&mut self, c: &mut Clause) {
        self.see(&clause(&c.body));
    }
}
