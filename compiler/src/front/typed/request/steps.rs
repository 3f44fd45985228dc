//! The derivative of a sequence in steps: the same steps, in which every element is followed by its derivative.

use super::{
    super::{
        expr::{literal, typed},
        tree::{Constant, Expr, ExprKind, Layout, Past, Recurrence, Segment, VarId},
    },
    apart::after,
    call::{Names, renamed},
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
        // What reads a sequence and its derivative reads both of the steps that compute both.
        let is_known = |var: &VarId| matches!(self.known.get(var), Some(Some(_)));
        let names = self.primal.iter().filter(|(var, _)| is_known(var));
        let names: Names = names.map(|(var, primal)| (*var, *primal)).collect();
        let elements = elements.into_iter();
        let elements = elements.map(|(var, value)| (var, renamed(&value, &names)));
        Ok(Segment {
            past,
            elements: elements.collect(),
            ..segment.clone()
        })
    }

    /// The derivative of a variable's sequence in steps, which gives the sequence itself too.
    pub(super) fn with_primal(&mut self, var: VarId, mut tangent: Expr, e: &Expr) -> Expr {
        if let ExprKind::Recurrence(made) = &mut tangent.kind {
            let count = made.segments[0].elements.len() / 2;
            let layout = Layout {
                first: made.main.first - count,
                ..made.main.clone()
            };
            let name = self.cx.var(var).name.clone();
            let primal = self.variable(&name, e.ty.clone(), e.span);
            made.also.push((primal, layout));
            self.primal.insert(var, primal);
        }
        tangent
    }

    /// A variable for the derivative of one that a step has; none if it has no derivative.
    fn tangent_of(&mut self, var: VarId, ty: &Type, span: Span) -> Option<VarId> {
        let name = format!("∂{}", self.cx.var(var).name);
        let tangent = tangent_type(ty, &self.by).map(|ty| self.variable(&name, ty, span));
        self.known.insert(var, tangent);
        tangent
    }
}
