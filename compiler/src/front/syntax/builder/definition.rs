//! Definitions, strands and the creation clause.

use super::{
    super::{ast::*, token::reserved_in_other_version, version},
    Builder, Deep, Member, error,
};
use crate::front::{codes, diag::Diagnostic, source::Span};

impl Builder {
    /// Reports a variable without an initial value where the version asks for one.
    pub(super) fn needs_value(&mut self, span: Span, value: &Option<Deep<Expr>>) {
        if value.is_none() {
            self.only(&version::NO_INITIAL_VALUE, span);
        }
    }

    pub(crate) fn input(
        &mut self,
        ty: Deep<TypeExpr>,
        name: Name,
        description: Option<String>,
        default: Option<Deep<Expr>>,
    ) -> ItemKind {
        let default = default.map(|default| default.node);
        let version = self.version;
        let is_computed = |default: &&Expr| !is_literal(default) && !is_foreign(default, version);
        if let Some(default) = default.as_ref().filter(is_computed) {
            self.only(&version::COMPUTED_DEFAULT, default.span);
        }
        ItemKind::Input {
            ty: ty.node,
            name,
            description,
            default,
        }
    }

    pub(crate) fn global(
        &mut self,
        span: Span,
        ty: Deep<TypeExpr>,
        name: Name,
        value: Option<Deep<Expr>>,
    ) -> ItemKind {
        if let (TypeExprKind::Named(word), Some(extent)) = (&ty.node.kind, &value)
            && word.text == "axis"
        {
            self.only(&version::INDEX_NOTATION, span);
            let extent = extent.node.clone();
            return ItemKind::Axis { name, extent };
        }
        self.needs_value(span, &value);
        ItemKind::Global {
            ty: ty.node,
            name,
            value: value.map(|value| value.node),
        }
    }

    pub(crate) fn field_function(
        &mut self,
        head: Span,
        ty: Deep<TypeExpr>,
        name: Name,
        (param, time): (Name, Option<Name>),
        body: Deep<Expr>,
    ) -> ItemKind {
        self.only(&version::FIELD_FUNCTION, head);
        ItemKind::FieldFunction {
            ty: ty.node,
            name,
            param,
            time,
            body: body.node,
        }
    }

    pub(crate) fn function<T>(
        &mut self,
        (ty, name, params): (TypeExpr, Name, Vec<Param>),
        body: Deep<T>,
        kind: fn(T) -> FunctionBody,
    ) -> ItemKind {
        ItemKind::Function {
            ty,
            name,
            params,
            body: kind(body.node),
        }
    }

    pub(crate) fn param(&mut self, ty: Deep<TypeExpr>, name: Name) -> Param {
        let ty = ty.node;
        match ty.kind {
            TypeExprKind::Seq { .. }
            | TypeExprKind::Grid { .. }
            | TypeExprKind::Image { .. }
            | TypeExprKind::Field { .. }
            | TypeExprKind::Data { .. }
            | TypeExprKind::Kernel(_) => self.only(&version::RICH_PARAMETER, ty.span),
            TypeExprKind::Bool
            | TypeExprKind::Int
            | TypeExprKind::String
            | TypeExprKind::Real
            | TypeExprKind::Tensor(_)
            | TypeExprKind::Vec(_)
            | TypeExprKind::Mat(_)
            | TypeExprKind::Named(_) => {}
        }
        Param { ty, name }
    }

    pub(crate) fn state(
        &mut self,
        span: Span,
        output: bool,
        ty: Deep<TypeExpr>,
        name: Name,
        value: Option<Deep<Expr>>,
    ) -> StateVar {
        self.needs_value(span, &value);
        StateVar {
            output,
            ty: ty.node,
            name,
            value: value.map(|value| value.node),
            span,
        }
    }

    /// Sorts the members of a strand; those that are out of order are reported and kept.
    pub(crate) fn strand(
        &mut self,
        span: Span,
        name: Name,
        params: Vec<Param>,
        members: Vec<Member>,
    ) -> Strand {
        let mut strand = Strand {
            name,
            params,
            state: Vec::new(),
            initialize: None,
            methods: Vec::new(),
            span,
        };
        for member in members {
            match member {
                Member::State(state) => {
                    if !strand.methods.is_empty() || strand.initialize.is_some() {
                        self.report(Diagnostic::error(
                            codes::STRAND_ORDER,
                            state.span,
                            "state variables stand before the strand's `initialize` block and methods",
                        ));
                    }
                    strand.state.push(state);
                }
                Member::Initialize(span, block) => {
                    if strand.initialize.is_some() {
                        self.report(Diagnostic::error(
                            codes::STRAND_ORDER,
                            span,
                            "a strand has only one `initialize` block",
                        ));
                    } else if !strand.methods.is_empty() {
                        self.report(Diagnostic::error(
                            codes::STRAND_ORDER,
                            span,
                            "the strand's `initialize` block stands before its methods",
                        ));
                    }
                    strand.initialize.get_or_insert(block);
                }
                Member::Method(method) => strand.methods.push(method),
                Member::Unreadable => {}
            }
        }
        strand
    }

    pub(crate) fn create(
        &mut self,
        span: Span,
        grid: bool,
        spawn: Deep<Expr>,
        mut iters: Vec<Iter>,
    ) -> Create {
        if !is_spawn(&spawn.node) {
            self.report(
                Diagnostic::error(codes::CREATION, spawn.node.span, "expected strand creation")
                    .hint("write the strand's name and its arguments: `S(…)`"),
            );
        }
        if self.version == Version::V1 {
            for iter in &mut iters {
                self.axis(iter);
            }
        }
        Create {
            grid,
            spawn: spawn.node,
            iters,
            span,
        }
    }

    /// In 1.0 an iterator runs over a range, whose bounds may be conditional expressions without parentheses.
    fn axis(&mut self, iter: &mut Iter) {
        let span = iter.source.span;
        let source = std::mem::replace(&mut iter.source, error(span));
        match split_range(source) {
            Ok((low, high, range)) => {
                self.ranges.retain(|&span| span != range);
                let kind = ExprKind::Range(Box::new(low), Box::new(high));
                iter.source = Expr { kind, span };
            }
            Err(source) => {
                if source.kind != ExprKind::Error {
                    self.report(Diagnostic::error(
                        codes::VERSION_SYNTAX,
                        span,
                        "in version 1.0 an iterator of the creation clause runs over a range `a..b`",
                    ));
                }
                iter.source = source;
            }
        }
    }
}

/// Whether it is a call by name, as the creation of a strand is written.
fn is_spawn(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { callee, .. } => matches!(callee.kind, ExprKind::Name(_)),
        ExprKind::Error => true,
        _ => false,
    }
}

/// Whether it is what 1.0 allows as the default of an input.
fn is_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::String(_)
        | ExprKind::Bool(_)
        | ExprKind::Identity(_)
        | ExprKind::Zeros(_)
        | ExprKind::LoadImage(_)
        | ExprKind::LoadSequence(_)
        | ExprKind::Error => true,
        ExprKind::Prefix { op, operand } => {
            op.symbol == "-" && matches!(operand.kind, ExprKind::Int(_) | ExprKind::Real(_))
        }
        ExprKind::Tensor(elements) => elements.iter().all(is_literal),
        ExprKind::Sequence(elements) => !elements.is_empty() && elements.iter().all(is_literal),
        _ => false,
    }
}

/// Whether it is a call of a word of the other version, which is reported as that.
fn is_foreign(expr: &Expr, version: Version) -> bool {
    let ExprKind::Call { callee, .. } = &expr.kind else {
        return false;
    };
    matches!(&callee.kind, ExprKind::Name(name) if reserved_in_other_version(name, version).is_some())
}

/// The bounds of a range in whose bounds conditional expressions need no parentheses, and the span of the range as the grammar
/// read it: `a if c else b..n` has `a if c else b` as its lower bound. Gives the expression back if there is no range.
fn split_range(expr: Expr) -> Result<(Expr, Expr, Span), Expr> {
    let Expr { kind, span } = expr;
    match kind {
        ExprKind::Range(low, high) => Ok((*low, *high, span)),
        ExprKind::If {
            then,
            condition,
            otherwise,
        } => match then.kind {
            ExprKind::Range(low, high) => {
                let span = high.span.to(otherwise.span);
                let kind = ExprKind::If {
                    then: high,
                    condition,
                    otherwise,
                };
                Ok((*low, Expr { kind, span }, then.span))
            }
            _ => match split_range(*otherwise) {
                Ok((low, high, range)) => {
                    let span = then.span.to(low.span);
                    let kind = ExprKind::If {
                        then,
                        condition,
                        otherwise: Box::new(low),
                    };
                    Ok((Expr { kind, span }, high, range))
                }
                Err(otherwise) => {
                    let kind = ExprKind::If {
                        then,
                        condition,
                        otherwise: Box::new(otherwise),
                    };
                    Err(Expr { kind, span })
                }
            },
        },
        kind => Err(Expr { kind, span }),
    }
}
