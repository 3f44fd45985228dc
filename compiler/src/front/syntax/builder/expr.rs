//! Expressions.

use super::{
    super::{
        ast::*,
        operators::{self, Level, Position},
        version,
    },
    At, Builder, Deep, boxed, list,
};
use crate::front::{codes, diag::Diagnostic, source::Span};

/// The operand of `∂` in `∂y` or `∂y[…]`: `y` or `y[…]`.
fn differentiated(expr: &Expr) -> Option<Expr> {
    match &expr.kind {
        ExprKind::Differential(inner) => Some((**inner).clone()),
        ExprKind::Subscript { base, subscripts } => {
            let base = Box::new(differentiated(base)?);
            let kind = ExprKind::Subscript {
                base,
                subscripts: subscripts.clone(),
            };
            Some(Expr {
                kind,
                span: expr.span,
            })
        }
        _ => None,
    }
}

/// Whether a quotient can follow an operator without parentheses.
fn binds_like_a_product(op: &Operator) -> bool {
    let spelling = operators::find(Position::Infix, op.symbol);
    spelling.is_some_and(|spelling| matches!(spelling.level, Level::Product | Level::Composition))
}

/// The quotient of `left` by ∂ of the parameter. Products are grouped from the left, but in `a*∂y/∂x` the quotient is meant
/// first.
fn requested(left: &Expr, parameter: &Expr) -> Option<Expr> {
    let span = left.span.to(parameter.span);
    if let Some(target) = differentiated(left) {
        let kind = ExprKind::Request {
            target: Box::new(target),
            parameter: Box::new(parameter.clone()),
        };
        return Some(Expr { kind, span });
    }
    let kind = match &left.kind {
        ExprKind::Infix { op, left, right } if binds_like_a_product(op) => ExprKind::Infix {
            op: *op,
            left: left.clone(),
            right: Box::new(requested(right, parameter)?),
        },
        ExprKind::Prefix { op, operand } if op.symbol == "-" => ExprKind::Prefix {
            op: *op,
            operand: Box::new(requested(operand, parameter)?),
        },
        _ => return None,
    };
    Some(Expr { kind, span })
}

impl Builder {
    pub(crate) fn differential(&mut self, span: Span, name: Name) -> Deep<ExprKind> {
        self.only(&version::INDEX_NOTATION, span);
        let name = Expr {
            kind: ExprKind::Name(name.text),
            span: name.span,
        };
        Deep {
            node: ExprKind::Differential(Box::new(name)),
            depth: 1,
        }
    }

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
        if op.symbol == "/"
            && let Some(parameter) = differentiated(&right.node)
            && let Some(node) = requested(&left.node, &parameter)
        {
            return Deep {
                node,
                depth: depth + 1,
            };
        }
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

    pub(crate) fn partial(
        &mut self,
        span: Span,
        indices: Vec<Deep<Expr>>,
        operand: Deep<Expr>,
    ) -> Deep<Expr> {
        self.only(&version::INDEX_NOTATION, span);
        let indices = list(indices);
        let depth = indices.depth.max(operand.depth);
        let node = ExprKind::Partial {
            indices: indices.node,
            operand: Box::new(operand.node),
        };
        self.expr(span, Deep { node, depth })
    }

    /// The right side of a definition by index, from the bracket of the left side on.
    pub(crate) fn indexed(
        &mut self,
        (span, binders): (Span, Vec<Deep<Subscript>>),
        body: Deep<Expr>,
    ) -> Deep<Expr> {
        self.only(&version::INDEX_NOTATION, span);
        let binders = list(binders);
        let depth = binders.depth.max(body.depth);
        let span = span.to(body.node.span);
        let node = ExprKind::Indexed {
            binders: binders.node,
            body: Box::new(body.node),
        };
        self.expr(span, Deep { node, depth })
    }

    pub(crate) fn clauses(&mut self, span: Span, clauses: Vec<Deep<Clause>>) -> Deep<Expr> {
        self.only(&version::INDEX_NOTATION, span);
        self.expr(span, list(clauses).map(ExprKind::Clauses))
    }

    pub(crate) fn clause(
        &mut self,
        span: Span,
        name: Name,
        (_, slots): (Span, Vec<Deep<Subscript>>),
        body: Deep<ClauseBody>,
    ) -> Deep<Clause> {
        let slots = list(slots);
        let depth = slots.depth.max(body.depth);
        let node = Clause {
            name,
            slots: slots.node,
            body: body.node,
            span,
        };
        Deep { node, depth }
    }

    /// `i in a..b` among subscripts.
    pub(crate) fn range_binder(&mut self, index: Deep<Expr>, range: Deep<Expr>) -> Deep<Subscript> {
        let depth = index.depth.max(range.depth);
        let node = Subscript::In(index.node, range.node);
        Deep { node, depth }
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
