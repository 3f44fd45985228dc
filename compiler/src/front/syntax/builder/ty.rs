//! Types.

use super::{
    super::{
        ast::*,
        version::{self, Construct},
    },
    Builder, Deep, list,
};
use crate::front::{codes, diag::Diagnostic, source::Span};

impl Builder {
    pub(crate) fn dimension(&mut self, dim: Deep<Expr>) -> Deep<Expr> {
        if !matches!(dim.node.kind, ExprKind::Int(_) | ExprKind::Error) {
            self.only(&version::DIMENSION_EXPRESSION, dim.node.span);
        }
        dim
    }

    pub(crate) fn image_type(
        &mut self,
        span: Span,
        (dim, time): (Deep<Expr>, Option<TimeAxis>),
        shape: Deep<Vec<Expr>>,
    ) -> Deep<TypeExpr> {
        let depth = dim.depth.max(shape.depth);
        let kind = TypeExprKind::Image {
            dim: Box::new(dim.node),
            time,
            shape: shape.node,
        };
        Deep {
            node: TypeExpr { kind, span },
            depth,
        }
    }

    pub(crate) fn field_type(
        &mut self,
        span: Span,
        continuity: Option<Expr>,
        (dim, time): (Deep<Expr>, Option<TimeAxis>),
        shape: Deep<Vec<Expr>>,
    ) -> Deep<TypeExpr> {
        if continuity.is_none() {
            self.only(&version::SMOOTH_FIELD, span);
        }
        let depth = dim.depth.max(shape.depth);
        let kind = TypeExprKind::Field {
            continuity: continuity.map(Box::new),
            dim: Box::new(dim.node),
            time,
            shape: shape.node,
        };
        Deep {
            node: TypeExpr { kind, span },
            depth,
        }
    }

    /// The word after the dimension of a domain.
    pub(crate) fn time_axis(&mut self, name: Name, continuity: Option<Expr>) -> TimeAxis {
        self.only(&version::TIME, name.span);
        if name.text != TIME {
            let message = format!(
                "expected `{TIME}` after the dimension, found `{}`",
                name.text
            );
            let error = Diagnostic::error(codes::SYNTAX, name.span, message);
            self.report(error.hint(
                "a field or image over time is written `field#1(3,time)[]` or `image(3,time)[]`",
            ));
        }
        TimeAxis {
            span: name.span,
            continuity: continuity.map(Box::new),
        }
    }

    pub(crate) fn data_type(
        &mut self,
        span: Span,
        name: Name,
        continuity: Option<Expr>,
        (dim, time): (Deep<Expr>, Option<TimeAxis>),
        shape: Option<Deep<Vec<Expr>>>,
    ) -> Deep<TypeExpr> {
        let depth = dim.depth.max(shape.as_ref().map_or(0, |shape| shape.depth));
        let kind = TypeExprKind::Data {
            name,
            continuity: continuity.map(Box::new),
            dim: Box::new(dim.node),
            time,
            shape: shape.map(|shape| shape.node),
        };
        Deep {
            node: TypeExpr { kind, span },
            depth,
        }
    }

    pub(crate) fn sequence_type(
        &mut self,
        span: Span,
        form: &Construct,
        suffix: Span,
        element: Deep<TypeExpr>,
        lengths: Vec<Deep<Expr>>,
    ) -> Deep<TypeExpr> {
        self.only(form, suffix);
        let mut lengths = list(lengths);
        if matches!(element.node.kind, TypeExprKind::Seq { length: None, .. }) {
            self.report(Diagnostic::error(
                codes::NESTED_DYNAMIC_SEQUENCE,
                suffix,
                "a dynamic sequence cannot be an element: the suffix without a length must be the last",
            ));
        }
        let depth = element.depth.max(lengths.depth);
        if !self.fits(depth, span) {
            return element;
        }
        let element = Box::new(element.node);
        let kind = match lengths.node.len() {
            0 | 1 => TypeExprKind::Seq {
                element,
                length: lengths.node.pop().map(Box::new),
            },
            _ => TypeExprKind::Grid {
                element,
                lengths: lengths.node,
            },
        };
        Deep {
            node: TypeExpr { kind, span },
            depth: depth + 1,
        }
    }
}
