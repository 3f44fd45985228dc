//! Derivatives by variables: marks on the values of these variables, and the requests themselves.

use super::{Key, Translator};
use crate::{
    front::{
        source::Span,
        tree::{self, Block, Expr, ExprKind, Global, Stmt, VarId, VarKind, reads::Reads},
    },
    high::Op,
    ir::tensor::{Base, Ty},
    ssa::Value,
};
use std::collections::BTreeSet;

/// A derivative that a program asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where.
    pub span: Span,
    /// The name of the variable that is differentiated, if it is a variable.
    pub target: Option<String>,
    /// The name of the variable that it is differentiated by.
    pub parameter: String,
}

/// The variables that derivatives are taken by.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    vars: BTreeSet<VarId>,
    /// The global variables that code of strands differentiates through: it evaluates their definitions again.
    pub(super) repeated: BTreeSet<VarId>,
}

impl Parameters {
    pub(super) fn of(program: &tree::Program) -> Parameters {
        let mut found = Search::default();
        for global in &program.globals {
            match global {
                Global::Variable {
                    value: Some(value), ..
                } => found.expr(value),
                Global::FieldFunction { body, .. } => found.expr(body),
                Global::Input { .. } | Global::Variable { value: None, .. } => {}
            }
        }
        program
            .initialize
            .iter()
            .for_each(|block| found.block(block));
        let mut later = Search::default();
        for function in &program.functions {
            later.block(&function.body);
        }
        let strand = &program.strand;
        let values = strand.state.iter().filter_map(|state| state.value.as_ref());
        values
            .chain(&program.create.args)
            .for_each(|e| later.expr(e));
        let blocks = [&strand.initialize, &program.start, &program.update];
        let methods = strand.methods.iter().map(|(_, block)| block);
        let blocks = blocks.into_iter().flatten().chain(methods);
        blocks.for_each(|block| later.block(block));
        let is_global =
            |var: &&VarId| matches!(program.vars[var.0].kind, VarKind::Global | VarKind::Input);
        let repeated = dependents(program, later.parameters.iter().filter(is_global).copied());
        found.parameters.append(&mut later.parameters);
        Parameters {
            vars: found.parameters,
            repeated,
        }
    }
}

/// The global variables whose definitions lead back to some of them, and to which no block assigns.
fn dependents(program: &tree::Program, parameters: impl Iterator<Item = VarId>) -> BTreeSet<VarId> {
    let mut reached: BTreeSet<VarId> = parameters.collect();
    if reached.is_empty() {
        return reached;
    }
    let mut assigned = BTreeSet::new();
    let blocks = [&program.initialize, &program.start, &program.update];
    for stmt in blocks.into_iter().flatten().flat_map(|block| &block.stmts) {
        stmt.assigned(&mut assigned);
    }
    let mut found = BTreeSet::new();
    for global in &program.globals {
        let (var, value, is_value) = match global {
            Global::Variable {
                var,
                value: Some(value),
            } => (*var, value, program.vars[var.0].ty.is_value()),
            Global::FieldFunction { var, body, .. } => (*var, body, false),
            Global::Input { .. } | Global::Variable { value: None, .. } => continue,
        };
        let mut reads = Reads::default();
        reads.expr(value);
        // A body refers to earlier functions only.
        while let Some(function) = reads.functions.pop_last() {
            reads.block(&program.functions[function.0].body);
        }
        if !reads.vars.is_disjoint(&reached) && !assigned.contains(&var) {
            reached.insert(var);
            found.extend(is_value.then_some(var));
        }
    }
    found
}

/// Collects the variables that derivatives are taken by.
#[derive(Default)]
struct Search {
    parameters: BTreeSet<VarId>,
}

impl Search {
    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        stmt.expressions().iter().for_each(|e| self.expr(e));
        stmt.blocks().for_each(|block| self.block(block));
    }

    fn expr(&mut self, e: &Expr) {
        if let ExprKind::Derivative { parameter, .. } = &e.kind
            && let ExprKind::Var(var) = parameter.kind
        {
            self.parameters.insert(var);
        }
        e.each_child(|child| self.expr(child));
    }
}

impl Translator<'_> {
    /// Gives a variable a value, with a mark on it if derivatives are taken by the variable.
    pub(super) fn give(&mut self, var: VarId, value: Value) {
        let is_tensor = matches!(self.b.type_of(value), Ty::Tensor(_) | Ty::Field { .. });
        let value = match is_tensor && self.plan.parameters.vars.contains(&var) {
            true => {
                let variable = Op::Variable(self.variable(var));
                self.b.op1(variable, &[value])
            }
            false => value,
        };
        self.env.insert(Key::Var(var), value);
    }

    /// The number of a variable. One of a function has a number for each call.
    fn variable(&mut self, var: VarId) -> u32 {
        let own = (var, self.call);
        let variables = &mut self.statics.variables;
        let known = variables.iter().position(|known| *known == own);
        let number = known.unwrap_or_else(|| {
            variables.push(own);
            variables.len() - 1
        });
        number as u32
    }

    /// A global variable that is loaded, and whose definition derivatives go through.
    pub(super) fn define_again(&mut self, var: VarId, value: &Expr) {
        let Some(&loaded) = self.env.get(&Key::Var(var)) else {
            return;
        };
        let was = std::mem::replace(&mut self.is_repeated, true);
        let again = self.value_of(var, value);
        self.is_repeated = was;
        let loaded = match self.b.definition(loaded) {
            Some((Op::Variable(_), args)) => args[0],
            _ => loaded,
        };
        let both = match self.b.type_of(loaded) == self.b.type_of(again) {
            true => self.b.op1(Op::Defined, &[loaded, again]),
            false => loaded,
        };
        self.bind(var, both);
    }

    /// The number of a variable that the source does not have.
    pub(super) fn unnamed_variable(&mut self) -> u32 {
        let variables = &mut self.statics.variables;
        variables.push((VarId(usize::MAX), variables.len() as u32));
        variables.len() as u32 - 1
    }

    /// The number of a request.
    pub(super) fn request(&mut self, request: Request) -> u32 {
        let requests = &mut self.statics.requests;
        let known = requests.iter().position(|known| *known == request);
        let number = known.unwrap_or_else(|| {
            requests.push(request);
            requests.len() - 1
        });
        number as u32
    }

    /// The derivative of a value by a variable.
    pub(super) fn derivative(&mut self, target: &Expr, parameter: &Expr, e: &Expr) -> Value {
        let name = |e: &Expr| match e.kind {
            ExprKind::Var(var) => Some(self.program.vars[var.0].name.clone()),
            _ => None,
        };
        let request = Request {
            span: e.span,
            target: name(target),
            parameter: name(parameter).unwrap_or_default(),
        };
        let number = self.request(request);
        let (of, by) = (self.expr(target), self.expr(parameter));
        let derivative = Op::Derivative(number);
        match self.fields_in(of) {
            // Fields are known by how they are made, and so is a sequence of them.
            Some(fields) => {
                let each = fields
                    .iter()
                    .map(|&field| self.b.op1(derivative.clone(), &[field, by]));
                let parts: Vec<Value> = each.collect();
                let element = self.b.type_of(parts[0]).clone();
                self.base(Base::Sequence(element), &parts)
            }
            None => self.b.op1(derivative, &[of, by]),
        }
    }
}
