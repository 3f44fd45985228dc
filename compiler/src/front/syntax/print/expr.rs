//! Expressions, with parentheses only where the levels of the operators ask for them.

use super::{
    super::{
        ast::*,
        literal::write_string,
        operators::{self, Level, Position},
    },
    Printer,
};

/// How tightly the outermost part of an expression binds.
fn level(expr: &Expr) -> Level {
    match &expr.kind {
        ExprKind::If { .. } => Level::Conditional,
        ExprKind::Range(..) => Level::Range,
        ExprKind::Or(..) => Level::Or,
        ExprKind::And(..) => Level::And,
        ExprKind::Infix { op, .. } => infix_level(op),
        ExprKind::Prefix { op, .. } => prefix_level(op),
        ExprKind::Partial { .. } => Level::Derivative,
        ExprKind::Request { .. } => Level::Product,
        ExprKind::Indexed { .. } | ExprKind::Clauses(_) => Level::Conditional,
        ExprKind::Call { .. }
        | ExprKind::Subscript { .. }
        | ExprKind::BraceIndex { .. }
        | ExprKind::CallComprehension { .. }
        | ExprKind::Select { .. } => Level::Suffix,
        ExprKind::Name(_)
        | ExprKind::KernelAs { .. }
        | ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::String(_)
        | ExprKind::Bool(_)
        | ExprKind::Norm(_)
        | ExprKind::Tensor(_)
        | ExprKind::Sequence(_)
        | ExprKind::Comprehension { .. }
        | ExprKind::RealCast(_)
        | ExprKind::Identity(_)
        | ExprKind::Zeros(_)
        | ExprKind::Nan(_)
        | ExprKind::LoadImage(_)
        | ExprKind::LoadSequence(_)
        | ExprKind::Differential(_)
        | ExprKind::Error => Level::Atom,
    }
}

fn infix_level(op: &Operator) -> Level {
    operators::find(Position::Infix, op.symbol).map_or(Level::Atom, |spelling| spelling.level)
}

fn prefix_level(op: &Operator) -> Level {
    operators::find(Position::Prefix, op.symbol).map_or(Level::Atom, |spelling| spelling.level)
}

/// Whether the text ends with `nan` and no shape, and has no parentheses as a base.
fn ends_with_bare_nan(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Nan(shape) => shape.is_empty(),
        ExprKind::Prefix { op, operand } => {
            prefix_level(op) == Level::Derivative && ends_with_bare_nan(operand)
        }
        ExprKind::Partial { operand, .. } => ends_with_bare_nan(operand),
        _ => false,
    }
}

impl Printer {
    pub(super) fn expr(&mut self, expr: &Expr) {
        self.operand(expr, Level::Conditional);
    }

    /// An expression where nothing looser than `loosest` may stand without parentheses.
    fn operand(&mut self, expr: &Expr, loosest: Level) {
        let parentheses = level(expr) < loosest;
        if parentheses {
            self.text("(");
        }
        self.bare(expr);
        if parentheses {
            self.text(")");
        }
    }

    fn infix(&mut self, left: &Expr, symbol: &str, right: &Expr, level: Level) {
        let (left_level, right_level) = level.operands();
        self.operand(left, left_level);
        self.text(symbol);
        // A quotient of differentials is read before the products around it.
        match (&right.kind, level) {
            (ExprKind::Request { .. }, Level::Product | Level::Composition) => self.bare(right),
            _ => self.operand(right, right_level),
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.text(name),
            ExprKind::KernelAs { kernel, continuity } => {
                self.text(&kernel.text);
                self.text("#");
                self.expr(continuity);
            }
            ExprKind::Int(digits) => self.text(digits),
            ExprKind::Real(text) => self.text(text),
            ExprKind::String(value) => self.text(&write_string(value)),
            ExprKind::Bool(value) => self.text(if *value { "true" } else { "false" }),
            ExprKind::Prefix { op, operand } => {
                self.text(op.symbol);
                match (&operand.kind, op.symbol) {
                    (ExprKind::Request { .. }, "-") => self.bare(operand),
                    _ => self.operand(operand, prefix_level(op)),
                }
            }
            ExprKind::Partial { indices, operand } => {
                self.text("∂[");
                self.list(indices, ", ", Printer::expr);
                self.text("] ");
                self.operand(operand, Level::Derivative);
            }
            ExprKind::Clauses(clauses) => self.clauses(clauses),
            ExprKind::Differential(inner) => self.differential(inner),
            ExprKind::Request { target, parameter } => {
                self.differential(target);
                self.text("/");
                self.differential(parameter);
            }
            ExprKind::Indexed { binders, body } => {
                self.subscripts(binders);
                self.text(" = ");
                self.expr(body);
            }
            ExprKind::Infix { op, left, right } => {
                let level = infix_level(op);
                if level == Level::Power {
                    self.infix(left, op.symbol, right, level);
                } else {
                    self.infix(left, &format!(" {} ", op.symbol), right, level);
                }
            }
            ExprKind::And(left, right) => self.infix(left, " && ", right, Level::And),
            ExprKind::Or(left, right) => self.infix(left, " || ", right, Level::Or),
            ExprKind::Range(low, high) => self.infix(low, "..", high, Level::Range),
            ExprKind::If {
                then,
                condition,
                otherwise,
            } => {
                self.operand(then, Level::Conditional.tighter());
                self.text(" if ");
                self.expr(condition);
                self.text(" else ");
                self.expr(otherwise);
            }
            ExprKind::Norm(inner) => self.norm(inner),
            ExprKind::Call { callee, args } => {
                self.operand(callee, Level::Suffix);
                self.arguments(args);
            }
            ExprKind::Subscript { base, subscripts } => {
                self.subscripted(base);
                self.subscripts(subscripts);
            }
            ExprKind::BraceIndex { base, index } => {
                self.operand(base, Level::Suffix);
                self.text("{");
                self.expr(index);
                self.text("}");
            }
            ExprKind::CallComprehension { callee, body, iter } => {
                self.operand(callee, Level::Suffix);
                self.text(" ");
                self.comprehension(body, iter);
            }
            ExprKind::Select { base, member } => {
                self.selected(base);
                self.text(".");
                self.text(&member.text);
            }
            ExprKind::Tensor(elements) => {
                self.text("[");
                self.list(elements, ", ", Printer::expr);
                self.text("]");
            }
            ExprKind::Sequence(elements) => {
                self.text("{");
                self.list(elements, ", ", Printer::expr);
                self.text("}");
            }
            ExprKind::Comprehension { body, iter } => self.comprehension(body, iter),
            ExprKind::RealCast(inner) => {
                self.text("real");
                self.arguments(std::slice::from_ref(inner.as_ref()));
            }
            ExprKind::Identity(size) => {
                self.text("identity");
                self.shape(std::slice::from_ref(size.as_ref()));
            }
            ExprKind::Zeros(shape) => {
                self.text("zeros");
                self.shape(shape);
            }
            ExprKind::Nan(shape) => {
                self.text("nan");
                if !shape.is_empty() {
                    self.shape(shape);
                }
            }
            ExprKind::LoadImage(file) => {
                self.text(match self.version {
                    Version::V1 => "image",
                    Version::V2 => "load_image",
                });
                self.arguments(std::slice::from_ref(file.as_ref()));
            }
            ExprKind::LoadSequence(file) => {
                self.text(match self.version {
                    Version::V1 => "load",
                    Version::V2 => "load_sequence",
                });
                self.arguments(std::slice::from_ref(file.as_ref()));
            }
            ExprKind::Error => self.text("/* unreadable */"),
        }
    }

    /// `∂y`, `∂y[…]`, `∂(…)`
    fn differential(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.text(&format!("∂{name}")),
            ExprKind::Subscript { base, subscripts } => {
                self.differential(base);
                self.subscripts(subscripts);
            }
            _ => {
                self.text("∂(");
                self.expr(expr);
                self.text(")");
            }
        }
    }

    pub(super) fn subscripts(&mut self, subscripts: &[Subscript]) {
        self.text("[");
        self.list(subscripts, ", ", |printer, subscript| match subscript {
            Subscript::All => printer.text(":"),
            Subscript::At(index) => printer.expr(index),
            Subscript::In(index, range) => {
                printer.expr(index);
                printer.text(" in ");
                printer.expr(range);
            }
        });
        self.text("]");
    }

    fn arguments(&mut self, args: &[Expr]) {
        self.text("(");
        self.list(args, ", ", Printer::expr);
        self.text(")");
    }

    fn comprehension(&mut self, body: &Expr, iter: &Iter) {
        self.text("{ ");
        self.expr(body);
        self.text(" | ");
        self.iter(iter);
        self.text(" }");
    }

    /// Bars that touch would be read as the logical operator.
    fn norm(&mut self, inner: &Expr) {
        self.text("|");
        let start = self.out.len();
        self.expr(inner);
        if self.out[start..].starts_with('|') {
            self.out.insert(start, ' ');
        }
        if self.out.ends_with('|') {
            self.text(" ");
        }
        self.text("|");
    }

    /// After a bare `nan` a bracket would be read as its shape.
    fn subscripted(&mut self, base: &Expr) {
        if ends_with_bare_nan(base) {
            self.text("(");
            self.bare(base);
            self.text(")");
        } else {
            self.operand(base, Level::Suffix);
        }
    }

    /// After a bare integer a dot would look like that of a number.
    fn selected(&mut self, base: &Expr) {
        match &base.kind {
            ExprKind::Int(digits) => self.text(&format!("({digits})")),
            _ => self.operand(base, Level::Suffix),
        }
    }
}
