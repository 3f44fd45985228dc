//! Makes a failing program smaller: parts are left out and expressions replaced by simpler ones as long as it fails.

use super::walk::{self, Visit, operands};
use compiler::front::{
    source::Span,
    syntax::{ast::*, print::print},
};
use std::time::{Duration, Instant};

/// How long is tried to make a program smaller.
const PATIENCE: Duration = Duration::from_secs(60);

/// The smallest program found that still fails.
pub(crate) fn reduce(program: Program, fails: &dyn Fn(&str) -> bool) -> Program {
    let start = Instant::now();
    let passes: [fn(&mut Program, usize) -> bool; 5] = [
        without_part,
        without_statements,
        without_statement,
        unnested,
        simpler,
    ];
    let mut smallest = program;
    loop {
        let before = print(&smallest).len();
        for pass in passes {
            let mut n = 0;
            while start.elapsed() < PATIENCE {
                let mut candidate = smallest.clone();
                if !pass(&mut candidate, n) {
                    break;
                }
                let text = print(&candidate);
                if text.len() < print(&smallest).len() && fails(&text) {
                    smallest = candidate;
                } else {
                    n += 1;
                }
            }
        }
        if print(&smallest).len() == before {
            return smallest;
        }
    }
}

/// Removes the n-th element of a list, if there is one; otherwise subtracts the length of the list from n.
fn take<T>(list: &mut Vec<T>, n: &mut usize) -> bool {
    if *n < list.len() {
        list.remove(*n);
        return true;
    }
    *n -= list.len();
    false
}

/// The same for something that may be there.
fn take_option<T>(option: &mut Option<T>, n: &mut usize) -> bool {
    if option.is_some() {
        if *n == 0 {
            *option = None;
            return true;
        }
        *n -= 1;
    }
    false
}

/// Leaves out the n-th definition, state variable, method or block.
fn without_part(program: &mut Program, mut n: usize) -> bool {
    let n = &mut n;
    if take_option(&mut program.update, n)
        || take_option(&mut program.start, n)
        || take_option(&mut program.initialize, n)
    {
        return true;
    }
    if let Some(strand) = &mut program.strand
        && (take_option(&mut strand.initialize, n)
            || take(&mut strand.methods, n)
            || take(&mut strand.state, n))
    {
        return true;
    }
    // The last definitions first: others may depend on the first.
    program.items.reverse();
    let taken = take(&mut program.items, n);
    program.items.reverse();
    taken
}

/// Changes the n-th place of some sort.
struct Nth<'f> {
    left: usize,
    done: bool,
    change: &'f dyn Fn(&mut Place<'_>, usize) -> bool,
    ways: &'f dyn Fn(&mut Place<'_>) -> usize,
}

enum Place<'a> {
    Stmts(&'a mut Vec<Stmt>),
    Stmt(&'a mut Stmt),
    Expr(&'a mut Expr),
}

impl Nth<'_> {
    fn at(&mut self, mut place: Place<'_>) {
        if self.done {
            return;
        }
        let ways = (self.ways)(&mut place);
        if self.left < ways {
            self.done = (self.change)(&mut place, self.left);
        } else {
            self.left -= ways;
        }
    }
}

impl Visit for Nth<'_> {
    fn stmts(&mut self, stmts: &mut Vec<Stmt>) {
        self.at(Place::Stmts(stmts));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        self.at(Place::Stmt(stmt));
    }

    fn expr(&mut self, expr: &mut Expr) {
        self.at(Place::Expr(expr));
    }
}

/// Makes the n-th of all possible changes of places; false if there are fewer.
fn nth(
    program: &mut Program,
    n: usize,
    ways: &dyn Fn(&mut Place<'_>) -> usize,
    change: &dyn Fn(&mut Place<'_>, usize) -> bool,
) -> bool {
    let mut nth = Nth {
        left: n,
        done: false,
        change,
        ways,
    };
    walk::program(program, &mut nth);
    nth.done
}

/// Leaves out half of the statements of a block.
fn without_statements(program: &mut Program, n: usize) -> bool {
    let ways = |place: &mut Place<'_>| match place {
        Place::Stmts(stmts) if stmts.len() > 2 => 2,
        _ => 0,
    };
    nth(program, n, &ways, &|place, n| {
        let Place::Stmts(stmts) = place else {
            return false;
        };
        let half = stmts.len() / 2;
        match n {
            0 => stmts.truncate(half),
            _ => drop(stmts.drain(..half)),
        }
        true
    })
}

/// Leaves out one statement.
fn without_statement(program: &mut Program, n: usize) -> bool {
    let ways = |place: &mut Place<'_>| match place {
        Place::Stmts(stmts) => stmts.len(),
        _ => 0,
    };
    nth(program, n, &ways, &|place, n| {
        let Place::Stmts(stmts) = place else {
            return false;
        };
        stmts.remove(n);
        true
    })
}

/// Replaces a branch, a loop or a block by a statement inside of it.
fn unnested(program: &mut Program, n: usize) -> bool {
    let inside = |stmt: &Stmt| -> Vec<StmtKind> {
        match &stmt.kind {
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let mut all = vec![then.kind.clone()];
                if let Some(otherwise) = otherwise {
                    all.push(otherwise.kind.clone());
                    all.push(StmtKind::If {
                        condition: condition.clone(),
                        then: then.clone(),
                        otherwise: None,
                    });
                }
                all
            }
            StmtKind::Foreach { body, .. } => vec![body.kind.clone()],
            StmtKind::Block(block) if block.stmts.len() == 1 => vec![block.stmts[0].kind.clone()],
            _ => vec![],
        }
    };
    let ways = |place: &mut Place<'_>| match place {
        Place::Stmt(stmt) => inside(stmt).len(),
        _ => 0,
    };
    nth(program, n, &ways, &|place, n| {
        let Place::Stmt(stmt) = place else {
            return false;
        };
        stmt.kind = inside(stmt).swap_remove(n);
        true
    })
}

/// Replaces an expression by an operand of it or by a literal.
fn simpler(program: &mut Program, n: usize) -> bool {
    fn literals(expr: &Expr) -> Vec<ExprKind> {
        match expr.kind {
            ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Bool(_) => vec![],
            _ => vec![
                ExprKind::Int("1".into()),
                ExprKind::Real("0.5".into()),
                ExprKind::Bool(true),
                ExprKind::Sequence(vec![]),
            ],
        }
    }
    let ways = |place: &mut Place<'_>| match place {
        Place::Expr(expr) => literals(expr).len() + operands(expr).len(),
        _ => 0,
    };
    nth(program, n, &ways, &|place, n| {
        let Place::Expr(expr) = place else {
            return false;
        };
        let mut literals = literals(expr);
        let kind = match n < literals.len() {
            true => literals.swap_remove(n),
            false => operands(expr)[n - literals.len()].kind.clone(),
        };
        **expr = Expr {
            kind,
            span: Span::default(),
        };
        true
    })
}
