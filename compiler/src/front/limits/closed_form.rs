//! Which field functions have a closed form: are expressions of the position alone.
//!
//! A closed form becomes a field, to which `∇` and all operators on fields apply. Its values are tensors throughout, or the
//! eigenvalues and eigenvectors of one; its conditions compare tensors. Any other field function is code that is run where the
//! function is probed by its name; that is all one can do with it.

use crate::front::{
    source::Span,
    tree::{Block, Domain, Expr, ExprKind, Function, Global, Program, Stmt, StmtKind, VarId},
};
use ein_ir::{
    Type,
    ops::{Builtin, Form, Instance, Meaning},
};
use std::collections::{BTreeMap, BTreeSet};

/// What keeps a field function from having a closed form.
#[derive(Clone, Debug)]
pub(crate) struct Obstacle {
    pub(crate) span: Span,
    pub(crate) what: String,
    /// How the same can be written with a closed form.
    pub(crate) advice: Option<&'static str>,
}

/// The field functions that have no closed form, each with the first thing in the way.
pub(crate) fn obstacles(program: &Program) -> BTreeMap<VarId, Obstacle> {
    let mut found = BTreeMap::new();
    for global in &program.globals {
        if let Global::FieldFunction {
            var, param, body, ..
        } = global
            && let Some(obstacle) = obstacle(program, &found, *param, body)
        {
            found.insert(*var, obstacle);
        }
    }
    found
}

/// What keeps a function of the position from having a closed form, if field functions that have none are known.
fn obstacle(
    program: &Program,
    known: &BTreeMap<VarId, Obstacle>,
    param: VarId,
    body: &Expr,
) -> Option<Obstacle> {
    let mut search = Search {
        program,
        known,
        depends: BTreeSet::from([param]),
        obstacle: None,
    };
    search.value(body);
    search.obstacle
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
    /// The field functions before this one that have no closed form.
    known: &'a BTreeMap<VarId, Obstacle>,
    depends: BTreeSet<VarId>,
    obstacle: Option<Obstacle>,
}

impl Search<'_> {
    fn meet(&mut self, span: Span, what: impl Into<String>) {
        let what = what.into();
        let advice = None;
        self.obstacle.get_or_insert(Obstacle { span, what, advice });
    }

    /// Whether a value depends on the position. What does must be a tensor.
    fn value(&mut self, e: &Expr) -> bool {
        let depends = match &e.kind {
            ExprKind::Var(var) => self.depends.contains(var),
            ExprKind::Op { op, args } => self.operator(op, args, e.span),
            ExprKind::Let { bindings, body } => {
                for (var, value) in bindings {
                    let depends = self.value(value);
                    self.depends.extend(depends.then_some(*var));
                }
                self.value(body)
            }
            ExprKind::Call { function, args } => {
                let given: Vec<bool> = args.iter().map(|arg| self.value(arg)).collect();
                self.call(&self.program.functions[function.0], &given, e.span)
            }
            _ => self.any(e.children()),
        };
        if depends && !may_depend(e) {
            let what = format!("a value of type `{}` that depends on the position", e.ty);
            self.meet(e.span, what);
        }
        depends
    }

    fn operator(&mut self, op: &Instance, args: &[Expr], span: Span) -> bool {
        match (op.row.meaning, args) {
            (Meaning::Builtin(Builtin::Element), [sequence, index]) => {
                let depends = self.value(sequence);
                if depends && !matches!(index.kind, ExprKind::Constant(_)) {
                    self.meet(index.span, "an index that is not a constant");
                }
                depends | self.value(index)
            }
            (Meaning::Builtin(Builtin::Select), [then, condition, otherwise]) => {
                let decided = self.condition(condition);
                decided | self.value(then) | self.value(otherwise)
            }
            (Meaning::Form(Form::Probe), [field, at]) => {
                let known = named_field(field).and_then(|var| self.known.get(&var));
                let known = known.map(|obstacle| obstacle.what.clone());
                let depends = self.value(at);
                match known {
                    Some(what) if depends => self.meet(span, format!("a function with {what}")),
                    _ => {}
                }
                depends
            }
            (Meaning::Builtin(Builtin::ProbeTime), [field, at, time]) => {
                let known = named_field(field).and_then(|var| self.known.get(&var));
                let known = known.map(|obstacle| obstacle.what.clone());
                let depends = self.value(at);
                if self.value(time) {
                    self.meet(time.span, "a time that depends on the position");
                }
                match known {
                    Some(what) if depends => self.meet(span, format!("a function with {what}")),
                    _ => {}
                }
                depends
            }
            (Meaning::Builtin(Builtin::Reduce(_)), [sequence]) => self.reduction(sequence),
            _ => self.any(args),
        }
    }

    /// Whether a reduction depends on the position. The number of its elements must not.
    fn reduction(&mut self, sequence: &Expr) -> bool {
        let (source, element) = match &sequence.kind {
            ExprKind::Comprehension {
                body,
                var,
                domain: Domain::Seq(source),
            } => (&**source, Some((*var, body))),
            ExprKind::Coerce(inner) => (&**inner, None),
            _ => (sequence, None),
        };
        let mut depends = self.value(source);
        if let Some((var, body)) = element {
            self.depends.extend(depends.then_some(var));
            depends |= self.value(body);
        }
        if depends && !has_known_length(source) {
            self.obstacle.get_or_insert(Obstacle {
                span: source.span,
                what: "a reduction over a sequence of varying length".to_owned(),
                advice: Some("a reduction by an index has a closed form: `sum[k in 1..3](…)`"),
            });
        }
        depends
    }

    fn any<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) -> bool {
        let depends = |found, part| self.value(part) | found;
        parts.into_iter().fold(false, depends)
    }

    /// Whether a condition depends on the position. Comparisons of tensors may, and `inside`.
    fn condition(&mut self, e: &Expr) -> bool {
        match e.builtin() {
            Some((Builtin::And | Builtin::Or, [a, b])) => self.condition(a) | self.condition(b),
            Some((Builtin::Not, [inner])) => self.condition(inner),
            Some((Builtin::Compare(_), args)) if matches!(args[0].ty, Type::Tensor(_)) => {
                self.any(args)
            }
            Some((Builtin::Inside, [at, _])) => self.value(at),
            Some((Builtin::InsideTime, [at, time, _])) => {
                if self.value(time) {
                    self.meet(time.span, "a time that depends on the position");
                }
                self.value(at)
            }
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
