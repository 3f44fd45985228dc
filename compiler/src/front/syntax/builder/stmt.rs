//! Statements.

use super::{
    super::{ast::*, version},
    Builder, Deep, list,
};
use crate::front::source::Span;

impl Builder {
    pub(crate) fn declaration(
        &mut self,
        span: Span,
        ty: Deep<TypeExpr>,
        name: Name,
        value: Option<Deep<Expr>>,
    ) -> Deep<StmtKind> {
        self.needs_value(span, &value);
        let depth = ty.depth.max(value.as_ref().map_or(0, |value| value.depth));
        let node = StmtKind::Decl {
            ty: ty.node,
            name,
            value: value.map(|value| value.node),
        };
        Deep { node, depth }
    }

    pub(crate) fn print(&mut self, span: Span, args: Vec<Deep<Expr>>) -> Deep<StmtKind> {
        if args.is_empty() {
            self.only(&version::EMPTY_PRINT, span);
        }
        list(args).map(StmtKind::Print)
    }

    pub(crate) fn if_stmt(
        &mut self,
        span: Span,
        condition: Deep<Expr>,
        then: Deep<Stmt>,
        otherwise: Option<Deep<Stmt>>,
    ) -> Deep<Stmt> {
        let depth = condition
            .depth
            .max(then.depth)
            .max(otherwise.as_ref().map_or(0, |otherwise| otherwise.depth));
        let node = StmtKind::If {
            condition: condition.node,
            then: Box::new(then.node),
            otherwise: otherwise.map(|otherwise| Box::new(otherwise.node)),
        };
        self.stmt(span, Deep { node, depth })
    }

    pub(crate) fn foreach(
        &mut self,
        span: Span,
        head: Option<(Deep<TypeExpr>, Deep<Iter>)>,
        body: Deep<Stmt>,
    ) -> Deep<Stmt> {
        if !matches!(body.node.kind, StmtKind::Block(_) | StmtKind::Error) {
            self.only(&version::FOREACH_WITHOUT_BLOCK, body.node.span);
        }
        let Some((ty, iter)) = head else {
            return self.stmt(span, Deep::leaf(StmtKind::Error));
        };
        let depth = ty.depth.max(iter.depth).max(body.depth);
        let node = StmtKind::Foreach {
            ty: ty.node,
            iter: iter.node,
            body: Box::new(body.node),
        };
        self.stmt(span, Deep { node, depth })
    }
}
