//! Expressions.

use super::{
    super::{ast::*, version},
    At, Builder, Deep, boxed, list,
};
use crate::front::{codes, diag::Diagnostic, source::Span};

impl Builder {
    pub(crate) fn conditional(
        &mut self,
        span: Span,
        then: Deep<Expr>,
        condition: Deep<Expr>,
        otherwise: Deep<Expr>,
    ) -> Deep<Expr> {
        let depth = then.depth.max(condition.depth).max(otherwise.depth);
        let node = ExprKind::If {
            then: Box::new(then.node),
            condition: Box::new(condition.node),
            otherwise: Box::new(otherwise.node),
        };
        self.expr(span, Deep { node, depth })
    }

    pub(crate) fn range(&mut self, span: Span, low: Deep<Expr>, high: Deep<Expr>) -> Deep<Expr> {
        if self.version == Version::V1 {
            self.ranges.push(span);
        }
        self.pair(span, low, high, ExprKind::Range)
    }

    pub(crate) fn pair(
        &mut self,
        span: Span,
        left: Deep<Expr>,
        right: Deep<Expr>,
        kind: fn(Box<Expr>, Box<Expr>) -> ExprKind,
    ) -> Deep<Expr> {
        let depth = left.depth.max(right.depth);
        let node = kind(Box::new(left.node), Box::new(right.node));
        self.expr(span, Deep { node, depth })
    }

    pub(crate) fn infix(
        &mut self,
        span: Span,
        left: Deep<Expr>,
        op: Operator,
        right: Deep<Expr>,
    ) -> Deep<Expr> {
        let depth = left.depth.max(right.depth);
        let node = ExprKind::Infix {
            op,
            left: Box::new(left.node),
            right: Box::new(right.node),
        };
        self.expr(span, Deep { node, depth })
    }

    pub(crate) fn prefix(&mut self, span: Span, op: Operator, operand: Deep<Expr>) -> Deep<Expr> {
        let kind = operand.map(|operand| ExprKind::Prefix {
            op,
            operand: Box::new(operand),
        });
        self.expr(span, kind)
    }

    pub(crate) fn call(
        &mut self,
        span: Span,
        callee: Deep<Expr>,
        args: Vec<Deep<Expr>>,
    ) -> Deep<Expr> {
        let args = list(args);
        let depth = callee.depth.max(args.depth);
        let node = ExprKind::Call {
            callee: Box::new(callee.node),
            args: args.node,
        };
        self.expr(span, Deep { node, depth })
    }

    pub(crate) fn subscript(
        &mut self,
        span: Span,
        base: Deep<Expr>,
        subscripts: Vec<Deep<Subscript>>,
    ) -> Deep<Expr> {
        let subscripts = list(subscripts);
        let depth = base.depth.max(subscripts.depth);
        let node = ExprKind::Subscript {
            base: Box::new(base.node),
            subscripts: subscripts.node,
        };
        self.expr(span, Deep { node, depth })
    }

    pub(crate) fn select(
        &mut self,
        span: Span,
        dot: At,
        base: Deep<Expr>,
        member: Name,
    ) -> Deep<Expr> {
        // `1.e5` reads as a selection, but is meant as a number.
        if matches!(base.node.kind, ExprKind::Int(_)) && base.node.span.end == dot.byte {
            self.report(
                Diagnostic::error(codes::REAL_LITERAL, span, "a number has no members")
                    .hint("a real number has digits on both sides of the point: `1.0e5`"),
            );
            let depth = base.depth;
            let node = ExprKind::Error;
            return self.expr(span, Deep { node, depth });
        }
        let kind = base.map(|base| ExprKind::Select {
            base: Box::new(base),
            member,
        });
        self.expr(span, kind)
    }

    pub(crate) fn call_comprehension(
        &mut self,
        span: Span,
        callee: Deep<Expr>,
        body: Deep<Expr>,
        iter: Deep<Iter>,
    ) -> Deep<Expr> {
        let depth = callee.depth.max(body.depth).max(iter.depth);
        let node = ExprKind::CallComprehension {
            callee: Box::new(callee.node),
            body: Box::new(body.node),
            iter: Box::new(iter.node),
        };
        self.expr(span, Deep { node, depth })
    }

    pub(crate) fn brace_index(
        &mut self,
        span: Span,
        base: Deep<Expr>,
        index: Deep<Expr>,
    ) -> Deep<Expr> {
        self.only(&version::BRACE_INDEX, span);
        self.pair(span, base, index, |base, index| ExprKind::BraceIndex {
            base,
            index,
        })
    }

    pub(crate) fn kernel_as(
        &mut self,
        span: Span,
        kernel: Name,
        continuity: Expr,
    ) -> Deep<ExprKind> {
        self.only(&version::KERNEL_CONTINUITY, span);
        Deep::leaf(ExprKind::KernelAs {
            kernel,
            continuity: Box::new(continuity),
        })
    }

    pub(crate) fn comprehension(
        &mut self,
        span: Span,
        body: Deep<Expr>,
        iter: Deep<Iter>,
    ) -> Deep<ExprKind> {
        self.only(&version::COMPREHENSION, span);
        let depth = body.depth.max(iter.depth);
        let node = ExprKind::Comprehension {
            body: Box::new(body.node),
            iter: Box::new(iter.node),
        };
        Deep { node, depth }
    }

    pub(crate) fn image_expression(&mut self, keyword: Span, file: Deep<Expr>) -> Deep<ExprKind> {
        self.only(&version::IMAGE_EXPRESSION, keyword);
        self.literal_file_name(&file.node);
        boxed(file, ExprKind::LoadImage)
    }

    pub(crate) fn load(&mut self, file: Deep<Expr>) -> Deep<ExprKind> {
        self.literal_file_name(&file.node);
        boxed(file, ExprKind::LoadSequence)
    }

    fn literal_file_name(&mut self, file: &Expr) {
        if !matches!(file.kind, ExprKind::String(_) | ExprKind::Error) {
            self.only(&version::COMPUTED_FILE_NAME, file.span);
        }
    }
}
