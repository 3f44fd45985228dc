//! Finds the place in a program's text that uses something only a CPU supports.

use crate::{
    device::Construct,
    front::{
        limits::closed_form::is_dynamic,
        source::Span,
        tree::{Block, Expr, Program, Stmt},
    },
};

/// The first place in the methods, then in functions and globals.
pub(super) fn place_of(construct: Construct, program: &Program) -> Option<Span> {
    let methods = program.strand.methods.iter().map(|(_, block)| block);
    let functions = program.functions.iter().map(|function| &function.body);
    let in_code = methods.chain(functions).find_map(|b| block(construct, b));
    in_code.or_else(|| declared(construct, program))
}

/// The declaration of a variable that is about it.
fn declared(construct: Construct, program: &Program) -> Option<Span> {
    let state = program.strand.state.iter().map(|state| state.var);
    let mut state = state.map(|var| &program.vars[var.0]);
    let Construct::Sequences = construct;
    state.find(|var| is_dynamic(&var.ty)).map(|var| var.span)
}

fn block(construct: Construct, block: &Block) -> Option<Span> {
    block.stmts.iter().find_map(|s| stmt(construct, s))
}

fn stmt(construct: Construct, stmt: &Stmt) -> Option<Span> {
    let mut own = stmt.expressions().iter();
    let here = own.find_map(|e| expr(construct, e));
    here.or_else(|| stmt.blocks().find_map(|b| block(construct, b)))
}

fn expr(construct: Construct, e: &Expr) -> Option<Span> {
    let Construct::Sequences = construct;
    if is_dynamic(&e.ty) {
        return Some(e.span);
    }
    e.children().into_iter().find_map(|e| expr(construct, e))
}
