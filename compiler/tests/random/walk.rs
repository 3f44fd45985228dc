//! Visits every part of a syntax tree.

use compiler::front::syntax::ast::*;

/// Actions at the parts of a tree. A part is visited before those inside of it.
pub(crate) trait Visit {
    fn item(&mut self, _: &mut Item) {}
    fn expr(&mut self, _: &mut Expr) {}
    fn ty(&mut self, _: &mut TypeExpr) {}
    fn stmt(&mut self, _: &mut Stmt) {}
    fn stmts(&mut self, _: &mut Vec<Stmt>) {}
    fn subscript(&mut self, _: &mut Subscript) {}
    fn clause(&mut self, _: &mut Clause) {}
}

pub(crate) fn program(program: &mut Program, v: &mut dyn Visit) {
    for item in &mut program.items {
        v.item(item);
        match &mut item.kind {
            ItemKind::Const { ty, value, .. }
            | ItemKind::Input {
                ty, default: value, ..
            }
            | ItemKind::Global { ty, value, .. } => {
                type_expr(ty, v);
                value.iter_mut().for_each(|e| expr(e, v));
            }
            ItemKind::Axis { extent, .. } => expr(extent, v),
            ItemKind::FieldFunction { ty, body, .. } => {
                type_expr(ty, v);
                expr(body, v);
            }
            ItemKind::Function {
                ty, params, body, ..
            } => {
                type_expr(ty, v);
                params.iter_mut().for_each(|p| type_expr(&mut p.ty, v));
                match body {
                    FunctionBody::Expr(e) => expr(e, v),
                    FunctionBody::Block(b) => block(b, v),
                }
            }
        }
    }
    program.initialize.iter_mut().for_each(|b| block(b, v));
    if let Some(strand) = &mut program.strand {
        strand
            .params
            .iter_mut()
            .for_each(|p| type_expr(&mut p.ty, v));
        for state in &mut strand.state {
            type_expr(&mut state.ty, v);
            state.value.iter_mut().for_each(|e| expr(e, v));
        }
        strand.initialize.iter_mut().for_each(|b| block(b, v));
        strand
            .methods
            .iter_mut()
            .for_each(|m| block(&mut m.body, v));
    }
    program.start.iter_mut().for_each(|b| block(b, v));
    program.update.iter_mut().for_each(|b| block(b, v));
    if let Some(create) = &mut program.create {
        expr(&mut create.spawn, v);
        create.iters.iter_mut().for_each(|i| expr(&mut i.source, v));
    }
}

fn block(block: &mut Block, v: &mut dyn Visit) {
    v.stmts(&mut block.stmts);
    block.stmts.iter_mut().for_each(|s| stmt(s, v));
}

fn stmt(stmt: &mut Stmt, v: &mut dyn Visit) {
    v.stmt(stmt);
    match &mut stmt.kind {
        StmtKind::Block(b) => block(b, v),
        StmtKind::Decl { ty, value, .. } => {
            type_expr(ty, v);
            value.iter_mut().for_each(|e| expr(e, v));
        }
        StmtKind::Assign { value, .. } | StmtKind::Return(value) => expr(value, v),
        StmtKind::If {
            condition,
            then,
            otherwise,
        } => {
            expr(condition, v);
            self::stmt(then, v);
            otherwise.iter_mut().for_each(|s| self::stmt(s, v));
        }
        StmtKind::Foreach { ty, iter, body } => {
            type_expr(ty, v);
            expr(&mut iter.source, v);
            self::stmt(body, v);
        }
        StmtKind::Print(args) | StmtKind::New { args, .. } => {
            args.iter_mut().for_each(|e| expr(e, v));
        }
        StmtKind::Stabilize | StmtKind::Die | StmtKind::Continue | StmtKind::Error => {}
    }
}

fn type_expr(ty: &mut TypeExpr, v: &mut dyn Visit) {
    v.ty(ty);
    match &mut ty.kind {
        TypeExprKind::Bool
        | TypeExprKind::Int
        | TypeExprKind::String
        | TypeExprKind::Real
        | TypeExprKind::Vec(_)
        | TypeExprKind::Mat(_)
        | TypeExprKind::Named(_) => {}
        TypeExprKind::Tensor(shape) => shape.iter_mut().for_each(|e| expr(e, v)),
        TypeExprKind::Image { dim, shape, .. } => {
            expr(dim, v);
            shape.iter_mut().for_each(|e| expr(e, v));
        }
        TypeExprKind::Field {
            continuity,
            dim,
            shape,
            ..
        } => {
            continuity.iter_mut().for_each(|e| expr(e, v));
            expr(dim, v);
            shape.iter_mut().for_each(|e| expr(e, v));
        }
        TypeExprKind::Data {
            continuity,
            dim,
            shape,
            ..
        } => {
            continuity.iter_mut().for_each(|e| expr(e, v));
            expr(dim, v);
            shape.iter_mut().flatten().for_each(|e| expr(e, v));
        }
        TypeExprKind::Kernel(continuity) => expr(continuity, v),
        TypeExprKind::Seq { element, length } => {
            type_expr(element, v);
            length.iter_mut().for_each(|e| expr(e, v));
        }
        TypeExprKind::Grid { element, lengths } => {
            type_expr(element, v);
            lengths.iter_mut().for_each(|e| expr(e, v));
        }
    }
}

pub(crate) fn expr(e: &mut Expr, v: &mut dyn Visit) {
    v.expr(e);
    match &mut e.kind {
        ExprKind::Clauses(clauses) => {
            for clause in clauses {
                v.clause(clause);
                clause.slots.iter_mut().for_each(|s| subscript(s, v));
                match &mut clause.body {
                    ClauseBody::Expr(e) => expr(e, v),
                    ClauseBody::Block(b) => block(b, v),
                }
            }
        }
        ExprKind::Indexed { binders, body } => {
            binders.iter_mut().for_each(|s| subscript(s, v));
            expr(body, v);
        }
        ExprKind::Subscript { base, subscripts } => {
            expr(base, v);
            subscripts.iter_mut().for_each(|s| subscript(s, v));
        }
        _ => operands(e).into_iter().for_each(|e| expr(e, v)),
    }
}

fn subscript(s: &mut Subscript, v: &mut dyn Visit) {
    v.subscript(s);
    match s {
        Subscript::All => {}
        Subscript::At(e) => expr(e, v),
        Subscript::In(a, b) => {
            expr(a, v);
            expr(b, v);
        }
    }
}

/// The expressions that an expression is made of.
pub(crate) fn operands(e: &mut Expr) -> Vec<&mut Expr> {
    match &mut e.kind {
        ExprKind::Name(_)
        | ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::String(_)
        | ExprKind::Bool(_)
        | ExprKind::Clauses(_)
        | ExprKind::Error => vec![],
        ExprKind::KernelAs { continuity: a, .. }
        | ExprKind::Prefix { operand: a, .. }
        | ExprKind::Differential(a)
        | ExprKind::Indexed { body: a, .. }
        | ExprKind::Norm(a)
        | ExprKind::Select { base: a, .. }
        | ExprKind::Subscript { base: a, .. }
        | ExprKind::RealCast(a)
        | ExprKind::Identity(a)
        | ExprKind::LoadImage(a)
        | ExprKind::LoadSequence(a) => vec![a],
        ExprKind::Infix {
            left: a, right: b, ..
        }
        | ExprKind::Request {
            target: a,
            parameter: b,
        }
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Range(a, b)
        | ExprKind::BraceIndex { base: a, index: b } => vec![a, b],
        ExprKind::If {
            then,
            condition,
            otherwise,
        } => vec![then, otherwise, condition],
        ExprKind::Partial { indices, operand } => {
            indices.iter_mut().chain([&mut **operand]).collect()
        }
        ExprKind::Call { callee, args } => [&mut **callee].into_iter().chain(args).collect(),
        ExprKind::CallComprehension { callee, body, iter } => {
            vec![callee, body, &mut iter.source]
        }
        ExprKind::Comprehension { body, iter } => vec![body, &mut iter.source],
        ExprKind::Tensor(parts)
        | ExprKind::Sequence(parts)
        | ExprKind::Zeros(parts)
        | ExprKind::Nan(parts) => parts.iter_mut().collect(),
    }
}
