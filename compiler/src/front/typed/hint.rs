//! The type that the surroundings of an expression would like it to have, for the expressions that have none of their
//! own: images and sequences that are loaded, and the empty sequence.
//!
//! What an operator would like of its operands is what its row says about the type that is wanted of its result and those
//! of its other operands. Hints are only followed by expressions without a type, so a hint that fits nothing does no
//! harm.

use super::{build, context::Cx, expr::infer, tree::Expr};
use crate::front::syntax::ast::{self, ExprKind as Written};
use ein_ir::{
    Type,
    ops::{self, spelling},
};

/// Whether an expression may need a hint to have a type.
fn needs_hint(written: &ast::Expr) -> bool {
    match &written.kind {
        Written::LoadImage(_) | Written::LoadSequence(_) => true,
        Written::Sequence(elements) => elements.is_empty() || elements.iter().any(needs_hint),
        Written::Tensor(elements) => elements.iter().any(needs_hint),
        Written::Call { callee, args } => {
            build::is_loader(callee) || needs_hint(callee) || args.iter().any(needs_hint)
        }
        Written::Infix { left, right, .. } => needs_hint(left) || needs_hint(right),
        Written::Prefix { operand, .. } | Written::Partial { operand, .. } => needs_hint(operand),
        Written::If {
            then, otherwise, ..
        } => needs_hint(then) || needs_hint(otherwise),
        Written::Comprehension { body, .. } => needs_hint(body),
        _ => false,
    }
}

/// The operands of an operator whose result is wanted to be `result`, if all are right. Those that have types of their
/// own are looked at first, so that they can give the others a hint.
pub(super) fn operands<'a>(
    cx: &mut Cx<'a>,
    spelling: &str,
    written: &[&'a ast::Expr],
    result: Option<&Type>,
) -> Option<Vec<Expr>> {
    let mut found: Vec<Option<Expr>> = vec![None; written.len()];
    let (late, early): (Vec<usize>, Vec<usize>) =
        (0..written.len()).partition(|&at| needs_hint(written[at]));
    for at in early {
        found[at] = infer(cx, written[at], None);
    }
    let are_alike = matches!(spelling, spelling::CONCAT | spelling::SEQUENCE);
    let mut hint = None;
    for (n, at) in late.into_iter().enumerate() {
        if n == 0 || !are_alike {
            let types = found.iter().map(|operand| Some(&operand.as_ref()?.ty));
            hint = ops::wanted(spelling, &types.collect::<Vec<_>>(), at, result);
        }
        found[at] = infer(cx, written[at], hint.as_ref());
    }
    found.into_iter().collect()
}
