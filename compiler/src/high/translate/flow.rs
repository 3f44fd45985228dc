//! Statements: assignments to values, merging where control flow joins, exits as a status.

use super::{Key, Translator};
use crate::{
    front::tree::{Block, Constant, Expr, ExprKind, Function, Stmt, StmtKind, VarId},
    ir::{
        Scalar, Simple,
        print_piece::Piece,
        status,
        tensor::{Base, Ty},
    },
    ssa::Value,
};
use ein_ir::{Shape, ops::special};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The variables and their values at a point of the program.
type Env = BTreeMap<Key, Value>;

impl Translator<'_> {
    /// Runs a method or global block; gives its status.
    pub(super) fn method_body(&mut self, block: &Block) -> Value {
        let running = self.int(status::RUNNING);
        self.env.insert(Key::Status, running);
        self.stmts(&block.stmts);
        self.env.remove(&Key::Status).expect("just set")
    }

    /// Runs a function on arguments; gives its result. Parameters that are not values have been defined.
    pub(super) fn inline(&mut self, function: &Function, args: &[(VarId, Value)]) -> Value {
        self.statics.calls += 1;
        let caller = std::mem::replace(&mut self.call, self.statics.calls);
        for &(param, value) in args {
            self.bind(param, value);
        }
        let result = match &function.body.stmts[..] {
            [
                before @ ..,
                Stmt {
                    kind: StmtKind::Return(value),
                    ..
                },
            ] if !before.iter().any(may_exit) => {
                self.stmts(before);
                self.expr(value)
            }
            stmts => {
                let running = self.int(status::RUNNING);
                self.env.insert(Key::Status, running);
                let unset = self.default(&Ty::of(&function.result));
                self.env.insert(Key::Result, unset);
                self.stmts(stmts);
                self.env[&Key::Result]
            }
        };
        self.call = caller;
        result
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for (n, stmt) in stmts.iter().enumerate() {
            self.stmt(stmt);
            let rest = &stmts[n + 1..];
            if may_exit(stmt) && !rest.is_empty() {
                // What follows runs only where nothing has ended the method yet.
                let running = self.int(status::RUNNING);
                let status = self.env[&Key::Status];
                let goes_on = self.base(Base::Simple(Simple::IntEqual), &[status, running]);
                self.choose(goes_on, |t| t.stmts(rest), |_| {});
                return;
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(block) => self.stmts(&block.stmts),
            StmtKind::Decl {
                var,
                value: Some(value),
            } => self.define(*var, value),
            StmtKind::Decl { var, value: None } => {
                let ty = Ty::of(self.ty(*var));
                let value = self.default(&ty);
                self.bind(*var, value);
            }
            StmtKind::Assign { var, value } => {
                let value = self.expr(value);
                self.bind(*var, value);
            }
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.expr(condition);
                self.choose(
                    condition,
                    |t| t.stmts(&then.stmts),
                    |t| t.stmts(&otherwise.stmts),
                );
            }
            StmtKind::Foreach {
                var, source, body, ..
            } => self.foreach(*var, source, body),
            StmtKind::ByValue { .. } => panic!("elaboration puts the copies in a row"),
            StmtKind::Print(_) if self.is_repeated => {}
            StmtKind::Print(args) => self.print(args),
            StmtKind::Stabilize => self.exit(status::STABILIZE),
            StmtKind::Die => self.exit(status::DIE),
            StmtKind::Continue => self.exit(status::CONTINUE),
            StmtKind::Return(value) => {
                let value = self.expr(value);
                self.env.insert(Key::Result, value);
                self.exit(status::CONTINUE);
            }
            StmtKind::New(args) => self.new_strand(args),
        }
    }

    fn exit(&mut self, code: i64) {
        let code = self.int(code);
        self.env.insert(Key::Status, code);
    }

    /// Runs one of two pieces of code; variables that either changes are merged.
    pub(super) fn choose(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let before = self.env.clone();
        self.b.open();
        then(self);
        let after_then = std::mem::replace(&mut self.env, before.clone());
        // The yields, the variables that either block changes, are known only after both, so each block is closed without them.
        let then = self.b.close(Vec::new());
        self.b.open();
        otherwise(self);
        let after_otherwise = std::mem::replace(&mut self.env, before);
        let mut otherwise = self.b.close(Vec::new());
        let mut then = then;
        let changed = self.changed(&[&after_then, &after_otherwise]);
        then.yields = changed.iter().map(|key| after_then[key]).collect();
        otherwise.yields = changed.iter().map(|key| after_otherwise[key]).collect();
        let results = self.b.if_(condition, then, otherwise);
        self.rebind(changed.into_iter().zip(results));
    }

    /// Gives variables and exits the values that control flow has merged for them.
    fn rebind(&mut self, merged: impl Iterator<Item = (Key, Value)>) {
        for (key, value) in merged {
            match key {
                Key::Var(var) => self.bind(var, value),
                Key::Status | Key::Result => {
                    self.env.insert(key, value);
                }
            }
        }
    }

    /// The variables known before whose value differs in one of the environments.
    fn changed(&self, after: &[&Env]) -> Vec<Key> {
        self.env
            .iter()
            .filter(|(key, value)| after.iter().any(|env| env[key] != **value))
            .map(|(key, _)| *key)
            .collect()
    }

    fn foreach(&mut self, var: VarId, source: &Expr, body: &Block) {
        let over = self.iteration(source);
        let mut assigned = BTreeSet::new();
        collect_assigned(body, &mut assigned);
        let exits = body.stmts.iter().any(may_exit);
        let mut keys: Vec<Key> = assigned
            .into_iter()
            .map(Key::Var)
            .filter(|key| self.env.contains_key(key))
            .collect();
        if exits {
            keys.push(Key::Status);
            keys.extend(self.env.contains_key(&Key::Result).then_some(Key::Result));
        }
        let mut init: Vec<Value> = keys.iter().map(|key| self.env[key]).collect();
        if exits {
            init.insert(0, self.base(Base::Bool(true), &[]));
        }
        let before = self.env.clone();
        let open = self.b.begin_for(over.low, over.high, exits, init);
        let carried = open.carried[usize::from(exits)..].iter().copied();
        self.rebind(keys.iter().copied().zip(carried));
        let element = self.item(&over, open.index);
        self.bind(var, element);
        self.stmts(&body.stmts);
        let mut next: Vec<Value> = keys.iter().map(|key| self.env[key]).collect();
        if exits {
            // The loop goes on while nothing has ended the method.
            let running = self.int(status::RUNNING);
            let goes_on = self.base(
                Base::Simple(Simple::IntEqual),
                &[self.env[&Key::Status], running],
            );
            next.insert(0, goes_on);
        }
        self.env = before;
        let results = self.b.for_(open, next);
        let results = results.into_iter().skip(usize::from(exits));
        self.rebind(keys.into_iter().zip(results));
    }

    fn print(&mut self, args: &[Expr]) {
        let (mut pieces, mut values) = (Vec::new(), Vec::new());
        for arg in args {
            if let ExprKind::Constant(Constant::String(text)) = &arg.kind {
                pieces.push(Piece::Text(text.as_str().into()));
                continue;
            }
            let value = self.expr(arg);
            self.print_value(value, arg.span.start, &mut pieces, &mut values);
        }
        self.print_pieces(&mut pieces, &mut values);
    }

    /// Prints the pieces that have been collected so far.
    fn print_pieces(&mut self, pieces: &mut Vec<Piece>, values: &mut Vec<Value>) {
        let (pieces, values) = (std::mem::take(pieces), std::mem::take(values));
        if !pieces.is_empty() {
            let print = Base::Print(Arc::from(pieces));
            self.b.op(super::super::Op::Base(print), &values);
        }
    }

    /// Prints a sequence of varying length, element by element.
    fn print_list(
        &mut self,
        list: Value,
        place: u32,
        pieces: &mut Vec<Piece>,
        values: &mut Vec<Value>,
    ) {
        pieces.push(Piece::Text("{".into()));
        self.print_pieces(pieces, values);
        let over = self.iteration_over(list, place);
        let first = self.base(Base::Bool(true), &[]);
        self.repeat(&over, vec![first], |t, item, first| {
            let comma = |t: &mut Self| {
                let print = Base::Print(Arc::from([Piece::Text(",".into())]));
                t.b.op(super::super::Op::Base(print), &[]);
            };
            t.choose(first[0], |_| {}, comma);
            let (mut pieces, mut values) = (Vec::new(), Vec::new());
            t.print_value(item, place, &mut pieces, &mut values);
            t.print_pieces(&mut pieces, &mut values);
            vec![t.base(Base::Bool(false), &[])]
        });
        pieces.push(Piece::Text("}".into()));
    }

    /// Takes a value apart into scalars with brackets and commas between them.
    fn print_value(
        &mut self,
        value: Value,
        place: u32,
        pieces: &mut Vec<Piece>,
        values: &mut Vec<Value>,
    ) {
        let text = |text: &str| Piece::Text(text.into());
        match self.b.type_of(value).clone() {
            Ty::Bool => self.print_scalar(value, Scalar::Bool, pieces, values),
            Ty::Int => self.print_scalar(value, Scalar::Int, pieces, values),
            Ty::Str => self.print_scalar(value, Scalar::Str, pieces, values),
            Ty::Tensor(shape) if shape.is_scalar() => {
                self.print_scalar(value, Scalar::Real, pieces, values)
            }
            Ty::Tensor(shape) => {
                pieces.push(text("["));
                for n in 0..shape.dims()[0] {
                    if n > 0 {
                        pieces.push(text(","));
                    }
                    let mut mask: Vec<Option<usize>> = vec![None; shape.order()];
                    mask[0] = Some(n);
                    let row = self.ein(
                        special::slice(ein_ir::Param::Tensor(shape.clone()), &mask),
                        &[value],
                    );
                    self.print_value(row, place, pieces, values);
                }
                pieces.push(text("]"));
            }
            Ty::Seq(_, length) => {
                pieces.push(text("{"));
                for n in 0..length {
                    if n > 0 {
                        pieces.push(text(","));
                    }
                    let index = self.int(n as i64);
                    let element = self.base(Base::Element(place), &[value, index]);
                    self.print_value(element, place, pieces, values);
                }
                pieces.push(text("}"));
            }
            Ty::List(_) => self.print_list(value, place, pieces, values),
            Ty::Strand | Ty::Strands | Ty::Field { .. } => {
                panic!("a field or strand is printed")
            }
        }
    }

    fn print_scalar(
        &mut self,
        value: Value,
        scalar: Scalar,
        pieces: &mut Vec<Piece>,
        values: &mut Vec<Value>,
    ) {
        pieces.push(Piece::Scalar(scalar));
        values.push(value);
    }

    /// A real constant.
    pub(super) fn real(&mut self, x: f64) -> Value {
        self.base(Base::Tensor(Shape::SCALAR, vec![x.into()]), &[])
    }
}

/// Whether a statement may end the method or function around it.
fn may_exit(stmt: &Stmt) -> bool {
    let any = |block: &Block| block.stmts.iter().any(may_exit);
    let exits = matches!(
        stmt.kind,
        StmtKind::Stabilize | StmtKind::Die | StmtKind::Continue | StmtKind::Return(_)
    );
    exits || stmt.blocks().any(any)
}

fn collect_assigned(block: &Block, assigned: &mut BTreeSet<VarId>) {
    for stmt in &block.stmts {
        if let StmtKind::Assign { var, .. } = stmt.kind {
            assigned.insert(var);
        }
        stmt.blocks()
            .for_each(|block| collect_assigned(block, assigned));
    }
}
