//! The derivative of a sequence in steps: the same steps, in which every element is followed by its derivative.

use super::{
    super::{
        expr::{literal, typed},
        tree::{Constant, Expr, ExprKind, Past, Recurrence, Segment, VarId},
    },
    apart::after,
    tangent::{Failed, Tangent, Tangents, zero},
    tangent_type,
};
use crate::front::source::Span;
use ein_ir::Type;
use std::collections::BTreeSet;

impl Tangents<'_, '_> {
    /// The derivative of a sequence in steps. It needs no more earlier steps than the sequence itself.
    pub(super) fn of_steps(&mut self, steps: &Recurrence, e: &Expr) -> Tangent {
        if !self.depends(e) {
            return Ok(None);
        }
        let Some(ty) = tangent_type(&e.ty, &self.by) else {
            return Err(self.obstacle(e.span, "the place of what is least or greatest"));
        };
        let segments: Result<Vec<Segment>, Failed> = steps
            .segments
            .iter()
            .map(|segment| self.segment(segment))
            .collect();
        let segments = segments?;
        let mut made = Recurrence {
            segments,
            ..steps.clone()
        };
        made.main.first += made.segments[0].elements.len() / 2;
        let kind = ExprKind::Recurrence(Box::new(made));
        Ok(Some(typed(ty, kind, e.span)))
    }

    fn segment(&mut self, segment: &Segment) -> Result<Segment, Failed> {
        let count = segment.elements.len();
        let mut past = segment.past.clone();
        let mut inside = BTreeSet::from([segment.index]);
        for read in &segment.past {
            let ty = &segment.elements[read.element].1.ty;
            inside.insert(read.var);
            if let Some(var) = self.tangent_of(read.var, ty, segment.elements[read.element].1.span)
            {
                past.push(Past {
                    var,
                    element: count + read.element,
                    ..*read
                });
                inside.insert(var);
            }
        }
        let mut elements = segment.elements.clone();
        inside.extend(elements.iter().map(|(var, _)| *var));
        for (var, value) in &segment.elements {
            let Some(nothing) = zero(&value.ty, &self.by, value.span) else {
                // What counts or decides has no derivative, but its place in the step.
                self.known.insert(*var, None);
                let none = self.variable("nothing", Type::REAL, value.span);
                let zero = Constant::blank(&Type::REAL);
                elements.push((none, literal(Type::REAL, zero, value.span)));
                continue;
            };
            let (found, bindings) = self.with_bindings(|this| this.of(value));
            let tangent = found?.unwrap_or(nothing);
            // What does not depend on the step is computed outside.
            let tangent = after(self.kept_inside(bindings, inside.clone()), tangent);
            let var = self.tangent_of(*var, &value.ty, value.span).ok_or(Failed)?;
            inside.insert(var);
            elements.push((var, tangent));
        }
        Ok(Segment {
            past,
            elements,
            ..segment.clone()
        })
    }

    /// A variable for the derivative of one that a step has; none if it has no derivative.
    fn tangent_of(&mut self, var: VarId, ty: &Type, span: Span) -> Option<VarId> {
        let name = format!("∂{}", self.cx.var(var).name);
        let tangent = tangent_type(ty, &self.by).map(|ty| self.variable(&name, ty, span));
        self.known.insert(var, tangent);
        tangent
    }
}
