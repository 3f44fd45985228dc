//! Counts the probes of fields after all compositions are expanded.
//!
//! `F1 = F0∘F0; F2 = F1∘F1; …` and `F1(x) = F0(F0(x)); …` double the probes of `F0` with every line, and each of them is at a
//! position of its own. [`too_many_probes`] counts them before anything is expanded. A field that is probed twice at one position is
//! counted once, as it is computed once: `G = F*F` probes `F` once.

use crate::front::{
    codes,
    diag::Diagnostic,
    tree::{Block, Expr, ExprKind, FunctionId, Global, Program, StmtKind, VarId},
};
use ein_ir::{
    Type,
    ops::{Builtin, Form, Meaning},
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most probes of fields that a program may have. Normalization of this number takes seconds.
const PROBES: usize = 100_000;
/// The most expressions that are looked at to count them.
const VISITS: usize = 50 * PROBES;

/// An error if compositions make too many probes.
pub(super) fn too_many_probes(program: &Program) -> Option<Diagnostic> {
    let mut count = Count::of(program);
    let root = code(program).into_iter().find(|e| count.exceeds(e))?;
    let message = format!(
        "this stands for more than {PROBES} probes of fields when compositions are written out, which is too much to compile"
    );
    let error = Diagnostic::error(codes::TOO_MUCH_CODE, root.span, message);
    let error = match first_field(root) {
        Some(var) => {
            let info = &program.vars[var.0];
            error.label(info.span, format!("`{}` is defined here", info.name))
        }
        None => error,
    };
    Some(error.hint(
        "each composition of a field with itself doubles its probes; apply the field in a loop: \
         `foreach (int k in 1..n) { x = F(x); }`",
    ))
}

/// The expressions of code that runs, in their order.
fn code(program: &Program) -> Vec<&Expr> {
    let mut found = Vec::new();
    for global in &program.globals {
        if let Global::Variable {
            var,
            value: Some(value),
        } = global
            && !is_field(&program.vars[var.0].ty)
        {
            found.push(value);
        }
    }
    let strand = &program.strand;
    found.extend(strand.state.iter().filter_map(|state| state.value.as_ref()));
    let methods = strand.methods.iter().map(|(_, block)| block);
    let others = [
        &program.initialize,
        &strand.initialize,
        &program.start,
        &program.update,
    ];
    for block in others.into_iter().flatten().chain(methods) {
        expressions(block, &mut found);
    }
    found.extend(program.create.iters.iter().map(|(_, source)| source));
    found.extend(&program.create.args);
    found
}

/// The expressions of a block and of those in it.
fn expressions<'p>(block: &'p Block, found: &mut Vec<&'p Expr>) {
    for stmt in &block.stmts {
        found.extend(stmt.expressions());
        stmt.blocks().for_each(|inner| expressions(inner, found));
    }
}

fn is_field(ty: &Type) -> bool {
    matches!(ty, Type::Field { .. })
}

/// A variable of field type in an expression.
fn first_field(e: &Expr) -> Option<VarId> {
    match e.kind {
        ExprKind::Var(var) if is_field(&e.ty) => Some(var),
        _ => e.children().into_iter().find_map(first_field),
    }
}

/// Where an expression is evaluated: for a field the position, for the code of a function the call; 0 is the program itself.
type Frame = usize;

/// What makes a frame of another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// The value of a variable.
    Var(VarId),
    /// The value of the expression at this address.
    Node(usize),
}

struct Count<'p> {
    /// What fields are defined by: expressions of fields, or of the position.
    definitions: FxHashMap<VarId, &'p Expr>,
    /// The positions of field functions.
    positions: FxHashSet<VarId>,
    /// The expressions of functions that have to do with fields; none for others.
    functions: Vec<Vec<&'p Expr>>,
    params: Vec<&'p [VarId]>,
    frames: FxHashMap<(Key, Frame), Frame>,
    /// What the parameters of functions stand for in a frame.
    arguments: FxHashMap<(VarId, Frame), (&'p Expr, Frame)>,
    seen: FxHashSet<(usize, Frame)>,
    probed: FxHashSet<(VarId, Frame)>,
}

impl<'p> Count<'p> {
    fn of(program: &'p Program) -> Count<'p> {
        let mut definitions = FxHashMap::default();
        let mut positions = FxHashSet::default();
        for global in &program.globals {
            match global {
                Global::Variable {
                    var,
                    value: Some(value),
                } if is_field(&value.ty) => {
                    definitions.insert(*var, value);
                }
                Global::FieldFunction {
                    var, param, body, ..
                } => {
                    definitions.insert(*var, body);
                    positions.insert(*param);
                }
                _ => {}
            }
        }
        let mut has_fields: Vec<bool> = Vec::new();
        let mut functions = Vec::new();
        for function in &program.functions {
            let mut all = Vec::new();
            expressions(&function.body, &mut all);
            // A body refers to earlier functions only.
            let has = all.iter().any(|e| mentions_fields(e, &has_fields));
            has_fields.push(has);
            functions.push(if has { all } else { Vec::new() });
        }
        let params = program.functions.iter().map(|f| &f.params[..]).collect();
        let mut count = Count {
            definitions,
            positions,
            functions,
            params,
            frames: FxHashMap::default(),
            arguments: FxHashMap::default(),
            seen: FxHashSet::default(),
            probed: FxHashSet::default(),
        };
        count.note_locals(program);
        count
    }

    /// Fields that are variables of blocks.
    fn note_locals(&mut self, program: &'p Program) {
        let strand = &program.strand;
        let methods = strand.methods.iter().map(|(_, block)| block);
        let functions = program.functions.iter().map(|function| &function.body);
        let mut blocks: Vec<&Block> = methods.chain(functions).collect();
        blocks.extend(
            [&program.initialize, &strand.initialize]
                .into_iter()
                .flatten(),
        );
        blocks.extend([&program.start, &program.update].into_iter().flatten());
        while let Some(block) = blocks.pop() {
            for stmt in &block.stmts {
                if let StmtKind::Decl {
                    var,
                    value: Some(value),
                } = &stmt.kind
                    && is_field(&value.ty)
                {
                    self.definitions.insert(*var, value);
                }
                blocks.extend(stmt.blocks());
            }
        }
    }

    /// Whether there are too many probes in all expressions so far and this one.
    fn exceeds(&mut self, root: &'p Expr) -> bool {
        let mut work: Vec<(&Expr, Frame)> = vec![(root, 0)];
        while let Some((e, frame)) = work.pop() {
            if self.seen.insert((address(e), frame)) {
                self.visit(e, frame, &mut work);
            }
            if self.probed.len() > PROBES || self.seen.len() > VISITS {
                return true;
            }
        }
        false
    }

    fn visit(&mut self, e: &'p Expr, frame: Frame, work: &mut Vec<(&'p Expr, Frame)>) {
        match &e.kind {
            ExprKind::Var(var) if is_field(&e.ty) => {
                if let Some(definition) = self.definitions.get(var)
                    && self.probed.insert((*var, frame))
                {
                    work.push((definition, frame));
                }
            }
            ExprKind::Op { op, args } if matches!(op.row.name, "compose") => {
                let inner = self.position(&args[1], frame);
                let outer = self.field(&args[0], frame);
                work.extend([(&args[1], frame), (outer, inner)]);
            }
            ExprKind::Op { op, args } if op.row.meaning == Meaning::Form(Form::Probe) => {
                let at = self.position(&args[1], frame);
                let field = self.field(&args[0], frame);
                work.extend([(&args[1], frame), (field, at)]);
            }
            ExprKind::Op { op, args } if op.row.meaning == Meaning::Builtin(Builtin::ProbeTime) => {
                let at = self.position(&args[1], frame);
                let at = self.frame(Key::Node(address(&args[2])), at);
                let field = self.field(&args[0], frame);
                work.extend([(&args[1], frame), (&args[2], frame), (field, at)]);
            }
            ExprKind::Call { function, args } => {
                work.extend(args.iter().map(|arg| (arg, frame)));
                self.call(e, *function, args, frame, work);
            }
            _ => e.each_child(|child| work.push((child, frame))),
        }
    }

    fn call(
        &mut self,
        e: &'p Expr,
        FunctionId(function): FunctionId,
        args: &'p [Expr],
        frame: Frame,
        work: &mut Vec<(&'p Expr, Frame)>,
    ) {
        if self.functions[function].is_empty() {
            return;
        }
        let own = self.frame(Key::Node(address(e)), frame);
        for (param, arg) in self.params[function].iter().zip(args) {
            self.arguments.insert((*param, own), (arg, frame));
        }
        work.extend(self.functions[function].iter().map(|inner| (*inner, own)));
    }

    /// The field that a parameter of a function stands for; any other field is itself.
    fn field(&self, field: &'p Expr, frame: Frame) -> &'p Expr {
        let (mut field, mut frame) = (field, frame);
        loop {
            match &field.kind {
                ExprKind::Coerce(inner) => field = inner,
                ExprKind::Var(var) => match self.arguments.get(&(*var, frame)) {
                    Some(given) => (field, frame) = *given,
                    None => return field,
                },
                _ => return field,
            }
        }
    }

    /// The frame for a probe at a position.
    fn position(&mut self, at: &'p Expr, frame: Frame) -> Frame {
        let (mut at, mut frame) = (at, frame);
        loop {
            match &at.kind {
                ExprKind::Coerce(inner) => at = inner,
                ExprKind::Var(var) if self.positions.contains(var) => return frame,
                ExprKind::Var(var) => match self.arguments.get(&(*var, frame)) {
                    Some(given) => (at, frame) = *given,
                    None => return self.frame(Key::Var(*var), frame),
                },
                _ => return self.frame(Key::Node(address(at)), frame),
            }
        }
    }

    fn frame(&mut self, key: Key, within: Frame) -> Frame {
        let next = self.frames.len() + 1;
        *self.frames.entry((key, within)).or_insert(next)
    }
}

/// Whether an expression has to do with fields, or calls a function that has.
fn mentions_fields(e: &Expr, functions: &[bool]) -> bool {
    let own = match &e.kind {
        ExprKind::Call { function, .. } => functions.get(function.0).copied().unwrap_or(true),
        _ => is_field(&e.ty),
    };
    own || e.any_child(|child| mentions_fields(child, functions))
}

fn address(e: &Expr) -> usize {
    std::ptr::from_ref(e) as usize
}
