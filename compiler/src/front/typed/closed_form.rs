//! Which field functions are closed forms of the position.
//!
//! A closed form becomes a field, to which `∇` and all operators on fields apply. Its values are tensors throughout, or the
//! eigenvalues and eigenvectors of one; its conditions compare tensors. Any other field function is code that is run where the function is probed by its name; that is
//! all one can do with it.

use super::constant;
use crate::front::{
    source::Span,
    typed::tree::{
        Block, Domain, Expr, ExprKind, Function, Global, Program, Stmt, StmtKind, VarId,
    },
};
use ein_ir::{
    Type,
    ops::{Builtin, Meaning},
};
use std::collections::{BTreeMap, BTreeSet};

/// What keeps a field function from being a closed form.
#[derive(Clone, Debug)]
pub(crate) struct Obstacle {
    pub(crate) span: Span,
    pub(crate) what: String,
}

/// The field functions that are no closed forms, each with the first thing in the way.
pub(crate) fn obstacles(program: &Program) -> BTreeMap<VarId, Obstacle> {
    let mut found = BTreeMap::new();
    for global in &program.globals {
        if let Global::FieldFunction { var, param, body } = global {
            let mut search = Search {
                program,
                known: &found,
                depends: BTreeSet::from([*param]),
                obstacle: None,
            };
            search.value(body);
            if let Some(obstacle) = search.obstacle {
                found.insert(*var, obstacle);
            }
        }
    }
    found
}

/// The variable that an expression of field type is, under any name of its type.
pub(crate) fn named_field(e: &Expr) -> Option<VarId> {
    match &e.kind {
        ExprKind::Var(var) => Some(*var),
        ExprKind::Coerce(inner) => named_field(inner),
        _ => None,
    }
}

/// Follows what depends on the position.
struct Search<'a> {
    program: &'a Program,
    /// The field functions before this one that are no closed forms.
    known: &'a BTreeMap<VarId, Obstacle>,
    depends: BTreeSet<VarId>,
    obstacle: Option<Obstacle>,
}

impl Search<'_> {
    fn meet(&mut self, span: Span, what: impl Into<String>) {
        let what = what.into();
        self.obstacle.get_or_insert(Obstacle { span, what });
    }

    /// Whether a value depends on the position. What does must be a tensor.
    fn value(&mut self, e: &Expr) -> bool {
        let depends = match &e.kind {
            ExprKind::Var(var) => self.depends.contains(var),
            ExprKind::Index { base, index } => {
                let depends = self.value(base);
                if depends && constant::evaluate(index).is_err() {
                    self.meet(index.span, "an index that is not a constant");
                }
                depends | self.value(index)
            }
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => {
                let decided = self.condition(condition);
                let [then, otherwise] = [then, otherwise].map(|side| self.value(side));
                decided || then || otherwise
            }
            ExprKind::Probe { field, at } => {
                let known = named_field(field).and_then(|var| self.known.get(&var));
                let known = known.map(|obstacle| obstacle.what.clone());
                let depends = self.value(at);
                match known {
                    Some(what) if depends => self.meet(e.span, format!("a function with {what}")),
                    _ => {}
                }
                depends
            }
            ExprKind::Call { function, args } => {
                let given: Vec<bool> = args.iter().map(|arg| self.value(arg)).collect();
                self.call(&self.program.functions[function.0], &given, e.span)
            }
            ExprKind::Reduce {
                body,
                var,
                domain: Domain::Seq(source),
                ..
            } => {
                let given = self.value(source);
                self.depends.extend(given.then_some(*var));
                let depends = self.value(body) | given;
                if depends && !has_known_length(source) {
                    self.meet(source.span, "a reduction over a sequence of varying length");
                }
                depends
            }
            _ => self.any(e.children()),
        };
        if depends && !may_depend(e) {
            let what = format!("a value of type `{}` that depends on the position", e.ty);
            self.meet(e.span, what);
        }
        depends
    }

    fn any<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) -> bool {
        let depends = |found, part| self.value(part) | found;
        parts.into_iter().fold(false, depends)
    }

    /// Whether a condition depends on the position. Comparisons of tensors may, and `inside`.
    fn condition(&mut self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::And(a, b) | ExprKind::Or(a, b) => self.condition(a) | self.condition(b),
            ExprKind::Op { op, args } => match op.row.meaning {
                Meaning::Builtin(Builtin::Not) => self.condition(&args[0]),
                Meaning::Builtin(Builtin::Compare(_)) if matches!(args[0].ty, Type::Tensor(_)) => {
                    self.any(args)
                }
                Meaning::Builtin(Builtin::Inside) => self.value(&args[0]),
                _ => self.value(e),
            },
            _ => self.value(e),
        }
    }

    /// Whether what a function returns depends on the position, if these arguments do.
    fn call(&mut self, function: &Function, given: &[bool], span: Span) -> bool {
        let params = function.params.iter().zip(given);
        self.depends
            .extend(params.filter(|(_, given)| **given).map(|(param, _)| *param));
        if !given.contains(&true) {
            return false;
        }
        if !is_straight(&function.body) {
            self.meet(
                span,
                "a call of a function with `if`, `foreach` or `print` statements",
            );
            return true;
        }
        self.statements(&function.body.stmts)
    }

    /// Whether a return among statements without control flow depends on the position.
    fn statements(&mut self, stmts: &[Stmt]) -> bool {
        let mut returned = false;
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Block(block) => returned |= self.statements(&block.stmts),
                StmtKind::Decl {
                    var,
                    value: Some(value),
                }
                | StmtKind::Assign { var, value } => {
                    let depends = self.value(value);
                    self.depends.extend(depends.then_some(*var));
                }
                StmtKind::Return(value) => returned |= self.value(value),
                _ => {}
            }
        }
        returned
    }
}

/// Whether an expression is of a kind that can depend on the position: a tensor, or a sequence of tensors that are all made
/// by one operator.
fn may_depend(e: &Expr) -> bool {
    match (&e.ty, &e.kind) {
        (Type::Tensor(_) | Type::Field { .. }, _) => true,
        (Type::Seq(element, Some(_)), ExprKind::Var(_) | ExprKind::Call { .. }) => {
            matches!(**element, Type::Tensor(_))
        }
        (Type::Seq(..), ExprKind::Op { op, .. }) => matches!(op.row.meaning, Meaning::Ein(_)),
        _ => false,
    }
}

/// Whether a function's body does one thing after the other, and nothing but compute.
fn is_straight(block: &Block) -> bool {
    block.stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Block(block) => is_straight(block),
        StmtKind::Decl { .. } | StmtKind::Assign { .. } | StmtKind::Return(_) => true,
        _ => false,
    })
}

/// Whether the number of elements is known now.
pub(crate) fn has_known_length(source: &Expr) -> bool {
    match &source.kind {
        ExprKind::Constant(_) => true,
        ExprKind::Coerce(inner) => has_known_length(inner),
        _ => !is_dynamic(&source.ty),
    }
}

/// Whether a value has sequences of varying length in it.
pub(crate) fn is_dynamic(ty: &Type) -> bool {
    match ty {
        Type::Seq(_, None) => true,
        Type::Seq(element, Some(_)) => is_dynamic(element),
        _ => false,
    }
}
