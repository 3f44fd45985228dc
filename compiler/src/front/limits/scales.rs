//! Finds scales of images that depend on images which are themselves smoothed. Scales are computed before any image is.

use crate::front::{
    codes,
    diag::Diagnostic,
    source::Span,
    tree::{Block, Expr, ExprKind, Global, Program, VarId},
};
use ein_ir::ops::Builtin;
use std::collections::BTreeMap;

/// An error for every scale that depends on a smoothed image.
pub(super) fn circular_scales(program: &Program) -> Vec<Diagnostic> {
    let mut search = Search {
        smoothed: BTreeMap::new(),
        functions: vec![None; program.functions.len()],
        found: Vec::new(),
    };
    // Functions and definitions may each refer to earlier ones of the other kind.
    loop {
        let known = (search.smoothed.len(), search.functions.clone());
        search.found.clear();
        search.program(program);
        if known == (search.smoothed.len(), search.functions.clone()) {
            return search.found;
        }
    }
}

struct Search {
    /// The variables that depend on a smoothed image, and where it is smoothed.
    smoothed: BTreeMap<VarId, Span>,
    /// The same of functions.
    functions: Vec<Option<Span>>,
    found: Vec<Diagnostic>,
}

impl Search {
    fn program(&mut self, program: &Program) {
        for (n, function) in program.functions.iter().enumerate() {
            self.functions[n] = self.block(&function.body);
        }
        for global in &program.globals {
            let (var, value) = match global {
                Global::Variable {
                    var,
                    value: Some(value),
                } => (*var, value),
                Global::FieldFunction { var, body, .. } => (*var, body),
                Global::Input { .. } | Global::Variable { value: None, .. } => continue,
            };
            if let Some(place) = self.expr(value) {
                self.smoothed.insert(var, place);
            }
        }
    }

    /// Where an image is smoothed that an expression depends on.
    fn expr(&mut self, e: &Expr) -> Option<Span> {
        match &e.kind {
            ExprKind::Var(var) => return self.smoothed.get(var).copied(),
            ExprKind::Call { function, args } => {
                let in_args = args
                    .iter()
                    .fold(None, |place, arg| place.or(self.expr(arg)));
                return in_args.or(self.functions[function.0]);
            }
            _ => {}
        }
        let children = e.children().into_iter();
        if let Some((Builtin::Blur, [image, scale])) = e.builtin() {
            self.expr(image);
            if let Some(place) = self.expr(scale) {
                let message = "the scale of `blur` depends on an image that is smoothed itself";
                let error = Diagnostic::error(codes::BLUR_PLACE, scale.span, message);
                self.found.push(error.label(place, "it is smoothed here"));
            }
            return Some(e.span);
        }
        let places: Vec<Option<Span>> = children.map(|child| self.expr(child)).collect();
        places.into_iter().flatten().next()
    }

    fn block(&mut self, block: &Block) -> Option<Span> {
        let mut place = None;
        for stmt in &block.stmts {
            for e in stmt.expressions() {
                place = place.or(self.expr(e));
            }
            for inner in stmt.blocks() {
                place = place.or(self.block(inner));
            }
        }
        place
    }
}
