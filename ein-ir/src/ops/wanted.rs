//! The type that an operator expects of an argument that has no type of its own.

use super::accept::{Matching, Smoothness};
use super::signature::Pattern;
use super::{Bindings, OpDef, candidates};
use crate::Type;

/// The type that the operator of a spelling would like its argument number `at` to have, if its result is wanted to be
/// `result` and its other arguments are of these types, as far as they are known.
///
/// Only sequences, images, values on meshes, meshes and fields count, because only expressions of these types can lack one; fields are C^∞ here.
/// None if the rows that fit do not agree on one.
pub fn wanted(
    spelling: &str,
    args: &[Option<&Type>],
    at: usize,
    result: Option<&Type>,
) -> Option<Type> {
    let mut known = args.iter().flatten().copied().chain(result);
    let is_possible = known.any(is_followed) || candidates(spelling).any(|row| row.is_followed(at));
    if !is_possible {
        return None;
    }
    // The result may be converted after all, or the other arguments be wrong.
    let others = vec![None; args.len()];
    let attempts = [(args, result), (args, None), (&others, result)];
    attempts.into_iter().find_map(|(args, result)| {
        let rows = candidates(spelling).filter_map(|row| row.wants(args, at, result));
        let mut types = rows.filter(|ty| ty.as_ref().is_none_or(is_followed));
        let first = types.next()?;
        types.all(|other| other == first).then_some(first)
    })?
}

fn is_followed(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Seq(..) | Type::Image { .. } | Type::Field { .. } | Type::Fem { .. } | Type::Mesh(_)
    )
}

impl OpDef {
    /// Whether an argument is a sequence, field or something from a file by itself, not because the row is lifted.
    fn is_followed(&self, at: usize) -> bool {
        let args = &self.signature().args;
        let pattern = args.get(at).or(args.last());
        matches!(
            pattern,
            Some(
                Pattern::Seq(..)
                    | Pattern::Image { .. }
                    | Pattern::Field { .. }
                    | Pattern::Fem { .. }
                    | Pattern::Mesh(_)
            )
        )
    }

    /// The type that this row expects; `Some(None)` if the row fits but does not determine it.
    fn wants(
        &'static self,
        args: &[Option<&Type>],
        at: usize,
        result: Option<&Type>,
    ) -> Option<Option<Type>> {
        let signature = self.signature();
        let patterns = signature.patterns(args.len())?;
        let mut bindings = Bindings::default();
        if let Some(name) = signature.repeat {
            let count = 1 + args.len() - signature.args.len();
            bindings.extents.insert(name, count);
        }
        let known =
            (patterns.iter().copied().zip(args)).filter_map(|(p, found)| Some((p, (*found)?)));
        let known: Vec<(&Pattern, &Type)> = known
            .chain(result.map(|wanted| (&signature.result, wanted)))
            .collect();
        // A position on a line has no axis that would show it.
        if let (Pattern::Field { dim, .. }, [_, Some(position)]) = (patterns[at], args)
            && position.coerces_to(&Type::REAL)
        {
            bindings.extent(*dim, 1);
        }
        let mut matching = Matching {
            row: self,
            coerce: true,
            dim: None,
            is_timed: false,
            bindings,
        };
        for (pattern, found) in &known {
            matching.dimension(pattern, found).ok()?;
        }
        for (pattern, found) in known {
            matching.argument(pattern, found).ok()?;
        }
        let ty = matching.result(patterns[at], Smoothness::INFINITE);
        // A type variable that is bound and still gives no type cannot stand for this one here.
        let is_impossible = ty.is_none() && matching.bindings.variable.is_some();
        (!is_impossible).then_some(ty)
    }
}
