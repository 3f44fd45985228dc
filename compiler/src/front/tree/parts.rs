//! The parts of typed expressions and statements.

use super::{Axis, Domain, Expr, ExprKind, Stmt, StmtKind, VarId};
use crate::front::source::Span;
use ein_ir::ops::{Builtin, Instance, Meaning, Reduction, StrandSet};
use std::collections::BTreeSet;

impl Expr {
    /// The application of a row to arguments of its types.
    pub(crate) fn applied(op: Instance, args: Vec<Expr>, span: Span) -> Expr {
        Expr {
            ty: op.result.clone(),
            kind: ExprKind::Op { op, args },
            span,
        }
    }

    /// The expressions that it is made of.
    pub fn children(&self) -> Vec<&Expr> {
        let mut found = Vec::new();
        self.each_child(|child| found.push(child));
        found
    }

    /// Whether one of them is such.
    pub(crate) fn any_child(&self, mut is_such: impl FnMut(&Expr) -> bool) -> bool {
        let mut any = false;
        self.each_child(|child| any = any || is_such(child));
        any
    }

    /// Does something with each of them.
    pub(crate) fn each_child<'e>(&'e self, mut visit: impl FnMut(&'e Expr)) {
        match &self.kind {
            ExprKind::Constant(_) | ExprKind::Kernel(_) | ExprKind::Var(_) => {}
            ExprKind::Op { args, .. }
            | ExprKind::Call { args, .. }
            | ExprKind::Indexed { args, .. } => args.iter().for_each(visit),
            ExprKind::Let { bindings, body } => {
                bindings.iter().for_each(|(_, value)| visit(value));
                visit(body);
            }
            ExprKind::Part { base, axes } => {
                visit(base);
                axes.iter().filter_map(Axis::index).for_each(visit);
            }
            ExprKind::Notation(notation) => notation.each_part(&mut visit),
            ExprKind::Recurrence(recurrence) => recurrence.values().for_each(visit),
            ExprKind::Coerce(inner)
            | ExprKind::Given {
                otherwise: inner, ..
            }
            | ExprKind::Select { strand: inner, .. } => visit(inner),
            ExprKind::Derivative { target, parameter } => {
                visit(target);
                visit(parameter);
            }
            ExprKind::Comprehension { body, domain, .. } => {
                visit(body);
                if let Domain::Seq(source) = domain {
                    visit(source);
                }
            }
        }
    }

    /// Whether a variable is read in it.
    pub(crate) fn mentions(&self, var: VarId) -> bool {
        match self.kind {
            ExprKind::Var(found) => found == var,
            _ => self.any_child(|child| child.mentions(var)),
        }
    }

    /// The variables that have a value where one is given this one: others may be computed in the same steps.
    pub(crate) fn given_to(&self, var: VarId) -> BTreeSet<VarId> {
        let also = match &self.kind {
            ExprKind::Recurrence(steps) => &steps.also[..],
            _ => &[],
        };
        also.iter().map(|(var, _)| *var).chain([var]).collect()
    }

    /// The same, to be changed in place.
    pub(crate) fn children_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            ExprKind::Constant(_) | ExprKind::Kernel(_) | ExprKind::Var(_) => vec![],
            ExprKind::Op { args, .. }
            | ExprKind::Call { args, .. }
            | ExprKind::Indexed { args, .. } => args.iter_mut().collect(),
            ExprKind::Let { bindings, body } => {
                let bound = bindings.iter_mut().map(|(_, value)| value);
                bound.chain([&mut **body]).collect()
            }
            ExprKind::Part { base, axes } => {
                let indices = axes.iter_mut().filter_map(Axis::index_mut);
                [&mut **base].into_iter().chain(indices).collect()
            }
            ExprKind::Notation(notation) => notation.parts_mut(),
            ExprKind::Recurrence(steps) => {
                let elements = steps.segments.iter_mut().flat_map(|s| &mut s.elements);
                elements.map(|(_, value)| value).collect()
            }
            ExprKind::Coerce(inner)
            | ExprKind::Given {
                otherwise: inner, ..
            }
            | ExprKind::Select { strand: inner, .. } => vec![inner],
            ExprKind::Derivative { target, parameter } => vec![target, parameter],
            ExprKind::Comprehension { body, domain, .. } => match domain {
                Domain::Seq(source) => vec![body, source],
                Domain::Strands(_) => vec![body],
            },
        }
    }

    /// The variables that it names itself, to be changed in place, where there are no sequences in steps yet.
    pub(crate) fn vars_mut(&mut self) -> Vec<&mut VarId> {
        match &mut self.kind {
            ExprKind::Var(var)
            | ExprKind::Comprehension { var, .. }
            | ExprKind::Given { input: var, .. }
            | ExprKind::Select { var, .. } => vec![var],
            ExprKind::Let { bindings, .. } => bindings.iter_mut().map(|(var, _)| var).collect(),
            ExprKind::Notation(notation) => notation.vars_mut(),
            _ => Vec::new(),
        }
    }

    /// The same expression with every expression directly inside changed.
    pub(crate) fn try_map<E>(
        &self,
        change: &mut dyn FnMut(&Expr) -> Result<Expr, E>,
    ) -> Result<Expr, E> {
        let mut all =
            |exprs: &[Expr]| -> Result<Vec<Expr>, E> { exprs.iter().map(&mut *change).collect() };
        let kind = match &self.kind {
            leaf @ (ExprKind::Constant(_) | ExprKind::Kernel(_) | ExprKind::Var(_)) => leaf.clone(),
            ExprKind::Op { op, args } => ExprKind::Op {
                op: op.clone(),
                args: all(args)?,
            },
            ExprKind::Indexed { operator, args } => ExprKind::Indexed {
                operator: operator.clone(),
                args: all(args)?,
            },
            ExprKind::Call { function, args } => ExprKind::Call {
                function: *function,
                args: all(args)?,
            },
            ExprKind::Let { bindings, body } => {
                let bound: Result<Vec<(VarId, Expr)>, E> = bindings
                    .iter()
                    .map(|(var, value)| Ok((*var, change(value)?)))
                    .collect();
                ExprKind::Let {
                    bindings: bound?,
                    body: Box::new(change(body)?),
                }
            }
            // The parts of these are the same in a copy.
            ExprKind::Part { .. } => {
                let mut changed = self.clone();
                for part in changed.children_mut() {
                    *part = change(part)?;
                }
                changed.kind
            }
            ExprKind::Notation(notation) => ExprKind::Notation(Box::new(notation.try_map(change)?)),
            ExprKind::Recurrence(recurrence) => {
                let mut changed = recurrence.clone();
                for segment in &mut changed.segments {
                    for (_, value) in &mut segment.elements {
                        *value = change(value)?;
                    }
                }
                ExprKind::Recurrence(changed)
            }
            ExprKind::Derivative { target, parameter } => ExprKind::Derivative {
                target: Box::new(change(target)?),
                parameter: Box::new(change(parameter)?),
            },
            ExprKind::Coerce(inner) => ExprKind::Coerce(Box::new(change(inner)?)),
            ExprKind::Given { input, otherwise } => ExprKind::Given {
                input: *input,
                otherwise: Box::new(change(otherwise)?),
            },
            ExprKind::Comprehension { body, var, domain } => ExprKind::Comprehension {
                body: Box::new(change(body)?),
                var: *var,
                domain: match domain {
                    Domain::Seq(source) => Domain::Seq(Box::new(change(source)?)),
                    Domain::Strands(set) => Domain::Strands(*set),
                },
            },
            ExprKind::Select { strand, var } => ExprKind::Select {
                strand: Box::new(change(strand)?),
                var: *var,
            },
        };
        Ok(Expr {
            ty: self.ty.clone(),
            kind,
            span: self.span,
        })
    }

    /// If this is the strand of a set where an expression is least or greatest: the reduction that finds it, the set, the
    /// expression, and the variable that is the strand in it.
    pub(crate) fn found_among_strands(&self) -> Option<(Reduction, StrandSet, &Expr, VarId)> {
        let (Builtin::Reduce(reduction), [values]) = self.builtin()? else {
            return None;
        };
        match &values.kind {
            ExprKind::Comprehension {
                body,
                var,
                domain: Domain::Strands(set),
            } if reduction.extreme().is_some() => Some((reduction, *set, body, *var)),
            _ => None,
        }
    }

    /// The operator, if it is one that EIN cannot express, and its arguments.
    pub fn builtin(&self) -> Option<(Builtin, &[Expr])> {
        match &self.kind {
            ExprKind::Op { op, args } => match op.row.meaning {
                Meaning::Builtin(builtin) => Some((builtin, args)),
                Meaning::Ein(_) | Meaning::Elementary(_) | Meaning::Form(_) => None,
            },
            _ => None,
        }
    }
}

impl Stmt {
    /// Adds the variables that it defines or assigns to.
    pub(crate) fn assigned(&self, found: &mut BTreeSet<VarId>) {
        if let StmtKind::Decl { var, .. } | StmtKind::Assign { var, .. } = &self.kind {
            found.insert(*var);
        }
        let inner = self.blocks().flat_map(|block| &block.stmts);
        inner.for_each(|stmt| stmt.assigned(found));
    }
}
