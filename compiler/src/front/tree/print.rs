//! A typed program as text, for people who want to see what the checker made of a source.
//!
//! The notation is that of the language where it has one; variables carry their number (`x.3`), operators are written
//! by the names of their rows, and every implicit conversion shows as `(e as T)`.

use super::{
    Axis, Block, Constant, Domain, Expr, ExprKind, Global, InputDefault, Program, Segment, Stmt,
    StmtKind, VarId,
};
use crate::front::syntax::ast::MethodKind;
use ein_ir::{
    Kernel,
    ops::{Fixed, Instance},
};
use std::fmt::Write;

/// The program as text.
pub fn print(program: &Program) -> String {
    let mut printer = Printer {
        program,
        out: String::new(),
        depth: 0,
    };
    printer.program();
    printer.out
}

pub(super) struct Printer<'p> {
    program: &'p Program,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn program(&mut self) {
        let Program {
            version: _,
            vars: _,
            functions,
            globals,
            initialize,
            strand,
            start,
            update,
            create,
        } = self.program;
        for global in globals {
            self.global(global);
        }
        for function in functions {
            let params = self.parameters(&function.params);
            self.braced(
                &format!("function {} {}({params})", function.result, function.name),
                &function.body,
            );
        }
        self.optional("initialize", initialize.as_ref());
        self.line(&format!(
            "strand {}({}) {{",
            strand.name,
            self.parameters(&strand.params)
        ));
        self.depth += 1;
        for state in &strand.state {
            let output = if state.output { "output " } else { "" };
            let text = self.definition(state.var, state.value.as_ref());
            self.line(&format!("{output}{text}"));
        }
        self.optional("initialize", strand.initialize.as_ref());
        for (kind, body) in &strand.methods {
            let name = match kind {
                MethodKind::Start => "start",
                MethodKind::Update => "update",
                MethodKind::Stabilize => "stabilize",
            };
            self.braced(name, body);
        }
        self.depth -= 1;
        self.line("}");
        self.optional("start", start.as_ref());
        self.optional("update", update.as_ref());
        let kind = if create.grid {
            "create_array"
        } else {
            "create_collection"
        };
        let iters: Vec<String> = create
            .iters
            .iter()
            .map(|(var, source)| format!("{} in {}", self.var(*var), self.expr(source)))
            .collect();
        let args = self.list(&create.args);
        self.line(&format!(
            "{kind} {{ {}({args}) | {} }}",
            strand.name,
            iters.join(", ")
        ));
    }

    fn global(&mut self, global: &Global) {
        match global {
            Global::Input {
                var,
                description,
                default,
            } => {
                let mut text = format!("input {}", self.declared(*var));
                if let Some(description) = description {
                    let _ = write!(text, " ({description:?})");
                }
                match default {
                    Some(InputDefault::Value(value)) => {
                        let _ = write!(text, " = {}", constant(value));
                    }
                    Some(InputDefault::File(file)) => {
                        let _ = write!(text, " = load({file:?})");
                    }
                    Some(InputDefault::Computed(_)) => text += " = computed",
                    None => {}
                }
                self.line(&format!("{text};"));
            }
            Global::Variable { var, value } => {
                let text = self.definition(*var, value.as_ref());
                self.line(&text);
            }
            Global::FieldFunction {
                var,
                param,
                time,
                body,
            } => {
                let time = time.map(|time| format!(", {}", self.var(time)));
                let text = format!(
                    "{}({}{}) = {};",
                    self.declared(*var),
                    self.var(*param),
                    time.unwrap_or_default(),
                    self.expr(body)
                );
                self.line(&text);
            }
        }
    }

    fn optional(&mut self, head: &str, body: Option<&Block>) {
        if let Some(body) = body {
            self.braced(head, body);
        }
    }

    fn braced(&mut self, head: &str, body: &Block) {
        self.line(&format!("{head} {{"));
        self.statements(body);
        self.line("}");
    }

    fn statements(&mut self, body: &Block) {
        self.depth += 1;
        for stmt in &body.stmts {
            self.statement(stmt);
        }
        self.depth -= 1;
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(body) => self.braced("", body),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => self.choice(condition, then, otherwise),
            StmtKind::Foreach {
                var, source, body, ..
            } => {
                let head = self.loop_head(*var, source);
                self.braced(&head, body);
            }
            StmtKind::ByValue {
                var,
                source,
                copies,
            } => {
                let head = self.loop_head(*var, source);
                self.line(&format!("{head} {{"));
                self.depth += 1;
                for (value, copy) in copies {
                    self.braced(&format!("{} = {value}", self.var(*var)), copy);
                }
                self.depth -= 1;
                self.line("}");
            }
            simple => {
                let text = self.simple_statement(simple);
                self.line(&text);
            }
        }
    }

    fn choice(&mut self, condition: &Expr, then: &Block, otherwise: &Block) {
        let head = format!("if ({}) {{", self.expr(condition));
        self.line(&head);
        self.statements(then);
        if !otherwise.stmts.is_empty() {
            self.line("} else {");
            self.statements(otherwise);
        }
        self.line("}");
    }

    fn loop_head(&self, var: VarId, source: &Expr) -> String {
        format!("foreach ({} in {})", self.declared(var), self.expr(source))
    }

    /// A statement without statements inside.
    fn simple_statement(&self, kind: &StmtKind) -> String {
        match kind {
            StmtKind::Decl { var, value } => self.definition(*var, value.as_ref()),
            StmtKind::Assign { var, value } => {
                format!("{} = {};", self.var(*var), self.expr(value))
            }
            StmtKind::Print(args) => format!("print({});", self.list(args)),
            StmtKind::New(args) => {
                format!("new {}({});", self.program.strand.name, self.list(args))
            }
            StmtKind::Stabilize => "stabilize;".to_owned(),
            StmtKind::Die => "die;".to_owned(),
            StmtKind::Continue => "continue;".to_owned(),
            StmtKind::Return(value) => format!("return {};", self.expr(value)),
            StmtKind::Block(_)
            | StmtKind::If { .. }
            | StmtKind::Foreach { .. }
            | StmtKind::ByValue { .. } => String::new(),
        }
    }

    pub(super) fn var(&self, var: VarId) -> String {
        format!("{}.{}", self.program.vars[var.0].name, var.0)
    }

    fn declared(&self, var: VarId) -> String {
        format!("{} {}", self.program.vars[var.0].ty, self.var(var))
    }

    fn definition(&self, var: VarId, value: Option<&Expr>) -> String {
        match value {
            Some(value) => format!("{} = {};", self.declared(var), self.expr(value)),
            None => format!("{};", self.declared(var)),
        }
    }

    fn parameters(&self, params: &[VarId]) -> String {
        let params: Vec<String> = params.iter().map(|&param| self.declared(param)).collect();
        params.join(", ")
    }

    pub(super) fn list(&self, exprs: &[Expr]) -> String {
        let exprs: Vec<String> = exprs.iter().map(|expr| self.expr(expr)).collect();
        exprs.join(", ")
    }

    pub(super) fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Constant(value) => constant(value),
            ExprKind::Kernel(kernels) => match kernels.as_slice() {
                [kernel] => kernel_name(kernel, expr),
                several => {
                    let names: Vec<&str> = several.iter().map(|kernel| kernel.name).collect();
                    format!("KRNS({})", names.join(", "))
                }
            },
            ExprKind::Var(var) => self.var(*var),
            ExprKind::Op { op, args } => self.operator(op, args, expr),
            ExprKind::Call { function, args } => {
                format!(
                    "{}({})",
                    self.program.functions[function.0].name,
                    self.list(args)
                )
            }
            ExprKind::Indexed { operator, args } => {
                format!("({operator})({})", self.list(args))
            }
            ExprKind::Let { bindings, body } => {
                let bound = bindings
                    .iter()
                    .map(|(var, value)| format!("{} = {}", self.var(*var), self.expr(value)));
                let bound: Vec<String> = bound.collect();
                format!("(let {} in {})", bound.join(", "), self.expr(body))
            }
            ExprKind::Derivative { target, parameter } => {
                format!("(∂{}/∂{})", self.expr(target), self.expr(parameter))
            }
            ExprKind::Part { base, axes } => {
                let axes: Vec<String> = axes.iter().map(|axis| self.axis(axis)).collect();
                format!("{}[{}]", self.expr(base), axes.join(","))
            }
            ExprKind::Notation(notation) => self.notation(notation),
            ExprKind::Recurrence(recurrence) => {
                let segments: Vec<String> = recurrence
                    .segments
                    .iter()
                    .map(|s| self.segment(s))
                    .collect();
                let also = recurrence.also.iter();
                let also = also.map(|(var, _)| format!(" also {}", self.var(*var)));
                let also: String = also.collect();
                format!("(steps{also} {})", segments.join("; "))
            }
            ExprKind::Coerce(inner) => format!("({} as {})", self.expr(inner), expr.ty),
            ExprKind::Comprehension { body, var, domain } => {
                let domain = match domain {
                    Domain::Seq(source) => self.expr(source),
                    Domain::Strands(set) => {
                        format!("{}.{}", self.program.strand.name, set.name())
                    }
                };
                format!("{{ {} | {} in {domain} }}", self.expr(body), self.var(*var))
            }
            ExprKind::Given { input, otherwise } => {
                format!("(given {} else {})", self.var(*input), self.expr(otherwise))
            }
            ExprKind::Select { strand, var } => format!("{}.{}", self.expr(strand), self.var(*var)),
        }
    }

    fn axis(&self, axis: &Axis) -> String {
        match axis {
            Axis::All => ":".to_owned(),
            Axis::At(index) => self.expr(index),
            Axis::From(low, high) => format!("{low}:{high}"),
        }
    }

    /// Steps that are computed alike, with how far back they read.
    fn segment(&self, segment: &Segment) -> String {
        let past = segment.past.iter().map(|past| {
            let (var, back) = (self.var(past.var), past.back);
            format!(" {var} = {}@-{back}", past.element)
        });
        let elements = segment.elements.iter();
        let elements = elements.map(|(var, e)| format!("{} = {}", self.var(*var), self.expr(e)));
        format!(
            "{} in {}..{}{}: {}",
            self.var(segment.index),
            segment.low,
            segment.high,
            past.collect::<String>(),
            elements.collect::<Vec<_>>().join(", ")
        )
    }

    /// A row by its name; with its type where the arguments do not determine it.
    fn operator(&self, op: &Instance, args: &[Expr], expr: &Expr) -> String {
        let (name, args) = (op.row.name, self.list(args));
        let applied = match &op.fixed {
            Fixed::Nothing => format!("{name}({args})"),
            Fixed::Exponent(n) => format!("{name}({args}, {n})"),
            Fixed::Mask(mask) => {
                let at = |at: &Option<usize>| at.map_or(":".to_owned(), |at| at.to_string());
                let mask: Vec<String> = mask.iter().map(at).collect();
                format!("{args}[{}]", mask.join(","))
            }
        };
        let is_determined = op.fixed != Fixed::Nothing || op.row.accept(&op.args, false).is_ok();
        match is_determined {
            true => applied,
            false => format!("({applied} as {})", expr.ty),
        }
    }
}

fn kernel_name(kernel: &Kernel, expr: &Expr) -> String {
    match &expr.ty {
        ein_ir::Type::Kernel(continuity) if *continuity != kernel.declared() => {
            format!("{}{continuity}", kernel.name)
        }
        _ => kernel.name.to_owned(),
    }
}

fn constant(value: &Constant) -> String {
    match value {
        Constant::Bool(value) => value.to_string(),
        Constant::Int(value) => value.to_string(),
        Constant::String(text) => format!("{text:?}"),
        Constant::Tensor(shape, components) => tensor(shape.dims(), components),
        Constant::Seq(elements) => {
            let elements: Vec<String> = elements.iter().map(constant).collect();
            format!("{{{}}}", elements.join(", "))
        }
    }
}

fn tensor(dims: &[usize], components: &[f64]) -> String {
    match dims {
        // Rust prints the shortest text that reads back as the same number, with a dot.
        [] => components
            .first()
            .map_or(String::new(), |x| format!("{x:?}")),
        [n, rest @ ..] => {
            let rows: Vec<String> = components
                .chunks(components.len() / n)
                .map(|row| tensor(rest, row))
                .collect();
            format!("[{}]", rows.join(", "))
        }
    }
}
