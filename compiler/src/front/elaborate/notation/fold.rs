//! Reductions over indices as terms.

use super::{
    builder::int,
    lower::{Lowering, Slot, Slots, Stop, add, expression, number, param_of},
};
use crate::front::{
    codes,
    diag::Diagnostic,
    tree::{Domain, Expr, ExprKind, VarId, typed},
};
use ein_ir::{
    Comparison, Ein, Index, Shape, Term, Type,
    ops::{Reduction, spelling},
};
use std::sync::Arc;

impl Lowering<'_, '_> {
    /// The reduction of a body, index by index from the outermost on.
    pub(super) fn reduce(
        &mut self,
        reduction: Reduction,
        over: &[VarId],
        body: &Expr,
        slots: &Slots,
    ) -> Result<Term, Stop> {
        if over.iter().any(|&var| self.build.elements(var).is_some()) {
            return self.reduce_elements(reduction, over, body, slots);
        }
        match reduction {
            Reduction::Sum => self.sum(over, &mut slots.clone(), body),
            Reduction::Mean => {
                let sum = self.sum(over, &mut slots.clone(), body)?;
                let count: usize = over.iter().map(|&var| self.range(var).count).product();
                Ok(Term::Div(Box::new(sum), Box::new(number(count as i64))))
            }
            Reduction::Product => {
                let mut factors = Vec::new();
                self.points(over, &mut slots.clone(), body, &mut |this, slots| {
                    factors.push(this.term(body, slots)?);
                    Ok(())
                })?;
                Ok(Term::Mul(factors))
            }
            _ => self.extreme(reduction, over, body, slots),
        }
    }

    fn sum(&mut self, over: &[VarId], slots: &mut Slots, body: &Expr) -> Result<Term, Stop> {
        let Some((&var, rest)) = over.split_first() else {
            return self.term(body, slots);
        };
        if !self.is_valued(var) {
            let binder = self.binders.fresh();
            slots.insert(var, Slot::Index(binder));
            match self.sum(rest, slots, body) {
                Err(Stop::Values) if self.is_valued(var) => {}
                Err(stop) => return Err(stop),
                Ok(term) => {
                    return Ok(Term::Sum {
                        binder,
                        range: self.range(var).count,
                        body: Box::new(term),
                    });
                }
            }
        }
        let terms = self.each_value(var, slots, body.span, |this, slots, _| {
            this.sum(rest, slots, body)
        })?;
        Ok(add(terms))
    }

    /// Does something at all values of several indices.
    pub(super) fn points(
        &mut self,
        over: &[VarId],
        slots: &mut Slots,
        body: &Expr,
        each: &mut dyn FnMut(&mut Self, &Slots) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let Some((&var, rest)) = over.split_first() else {
            return each(self, slots);
        };
        self.each_value(var, slots, body.span, |this, slots, _| {
            this.points(rest, slots, body, each)
        })?;
        Ok(())
    }

    /// The least or the greatest value of a body. Each element is an operator of its own, and so is each comparison,
    /// because a term that is compared and chosen would have to be written twice.
    fn extreme(
        &mut self,
        reduction: Reduction,
        over: &[VarId],
        body: &Expr,
        slots: &Slots,
    ) -> Result<Term, Stop> {
        let free = self.free_indices(body, over, slots);
        let ty = self.type_over(&free, &body.ty);
        let mut elements = Vec::new();
        self.points(over, &mut slots.clone(), body, &mut |this, slots| {
            elements.push(this.nested(&free, body, &ty, slots)?);
            Ok(())
        })?;
        while elements.len() > 1 {
            let mut pairs = Vec::new();
            let mut left = elements.into_iter();
            while let Some(first) = left.next() {
                pairs.push(match left.next() {
                    Some(second) => extreme_of(reduction, first, second),
                    None => first,
                });
            }
            elements = pairs;
        }
        let found = elements.pop().ok_or(Stop::Failed)?;
        Ok(self.of_free(found, &free))
    }

    /// The value of an index where a body is least or greatest, at values of the other indices.
    pub(super) fn place_at(
        &mut self,
        reduction: Reduction,
        over: &[VarId],
        body: &Expr,
        slots: &Slots,
    ) -> Result<Expr, Stop> {
        let span = body.span;
        let [var] = *over else {
            return Err(Stop::Failed);
        };
        if let Some((sequence, item)) = self.elements_at(var, slots)? {
            let body = self.at_values(body, slots)?;
            return self.reduced_elements(reduction, body, item, sequence);
        }
        if let Some(place) = self.folded_place(reduction, over, body, span, slots)? {
            return Ok(place);
        }
        let mut elements = Vec::new();
        self.points(over, &mut slots.clone(), body, &mut |this, slots| {
            elements.push(match body.ty {
                Type::Int => this.at_values(body, slots)?,
                _ => expression(this.build, &[], body, &body.ty, slots, span)?,
            });
            Ok(())
        })?;
        let elements = self.apply(spelling::SEQUENCE, elements, span)?;
        let place = self.apply(reduction.name(), vec![elements], span)?;
        match self.range(var).low {
            0 => Ok(place),
            low => self.apply("+", vec![place, int(low, span)], span),
        }
    }

    /// The sequence of varying length whose elements an index counts, if it counts some, and the variable that is the element.
    fn elements_at(&mut self, var: VarId, slots: &Slots) -> Result<Option<(Expr, VarId)>, Stop> {
        let Some((sequence, item)) = self.build.elements(var) else {
            return Ok(None);
        };
        let sequence = sequence.clone();
        Ok(Some((self.at_values(&sequence, slots)?, item)))
    }

    /// A reduction of what an expression is for every element of a sequence.
    fn reduced_elements(
        &mut self,
        reduction: Reduction,
        body: Expr,
        item: VarId,
        sequence: Expr,
    ) -> Result<Expr, Stop> {
        let span = body.span;
        let elements = typed(
            Type::Seq(Box::new(body.ty.clone()), None),
            ExprKind::Comprehension {
                body: Box::new(body),
                var: item,
                domain: Domain::Seq(Box::new(sequence)),
            },
            span,
        );
        self.apply(reduction.name(), vec![elements], span)
    }

    /// A reduction over the elements of a sequence of varying length: that of the language, of a tensor with the free indices
    /// as its axes.
    pub(super) fn reduce_elements(
        &mut self,
        reduction: Reduction,
        over: &[VarId],
        body: &Expr,
        slots: &Slots,
    ) -> Result<Term, Stop> {
        let (counting, others): (Vec<VarId>, Vec<VarId>) = over
            .iter()
            .partition(|&&var| self.build.elements(var).is_some());
        let [var] = counting[..] else {
            let message = "only one index can count a sequence of varying length";
            let error = Diagnostic::error(codes::INDEX_EXTENTS, body.span, message);
            return Err(self.build.report(error));
        };
        if !others.is_empty() {
            let message = "an index that counts a sequence of varying length is reduced by itself";
            let error = Diagnostic::error(codes::INDEX_EXTENTS, body.span, message)
                .hint("write two reductions: `sum[n](sum[k](…))`");
            return Err(self.build.report(error));
        }
        let Some((sequence, item)) = self.elements_at(var, slots)? else {
            return Err(Stop::Failed);
        };
        let free = self.free_indices(body, over, slots);
        if !matches!(reduction, Reduction::Sum | Reduction::Mean) {
            self.need_values(free.iter().map(|(var, _)| *var), slots)?;
        }
        let ty = self.type_over(&free, &body.ty);
        let body = self.nested(&free, body, &ty, slots)?;
        let reduced = self.reduced_elements(reduction, body, item, sequence)?;
        Ok(self.of_free(reduced, &free))
    }

    /// The indices that a term depends on and that are still indices, besides some.
    fn free_indices(&self, body: &Expr, besides: &[VarId], slots: &Slots) -> Vec<(VarId, u32)> {
        let free = body.free_indices().into_iter();
        free.filter(|var| !besides.contains(var))
            .filter_map(|var| match slots.get(&var) {
                Some(Slot::Index(id)) => Some((var, *id)),
                _ => None,
            })
            .collect()
    }

    /// The type of a value that has one component of a type for all values of some indices.
    fn type_over(&self, free: &[(VarId, u32)], component: &Type) -> Type {
        let counts: Vec<usize> = free.iter().map(|(var, _)| self.range(*var).count).collect();
        let over = |shape: &Shape| Shape::from(&counts[..]).append(shape.dims());
        match component {
            Type::Field {
                continuity,
                dim,
                time,
                shape,
            } => Type::Field {
                continuity: *continuity,
                dim: *dim,
                time: *time,
                shape: over(shape),
            },
            Type::Tensor(shape) => Type::Tensor(over(shape)),
            _ => Type::Tensor(over(&Shape::SCALAR)),
        }
    }

    /// An expression as an operator of its own, with free indices as its axes.
    pub(super) fn nested(
        &mut self,
        free: &[(VarId, u32)],
        body: &Expr,
        ty: &Type,
        slots: &Slots,
    ) -> Result<Expr, Stop> {
        let left: Vec<VarId> = free.iter().map(|(var, _)| *var).collect();
        let values: Slots = slots
            .iter()
            .filter(|(_, slot)| !matches!(slot, Slot::Index(_)))
            .map(|(var, slot)| (*var, *slot))
            .collect();
        expression(self.build, &left, body, ty, &values, body.span)
    }

    /// An argument whose axes are free indices, at these indices.
    fn of_free(&mut self, arg: Expr, free: &[(VarId, u32)]) -> Term {
        let ids: Vec<Index> = free
            .iter()
            .filter(|(var, _)| self.range(*var).count > 1)
            .map(|(_, id)| Index::Bound(*id))
            .collect();
        let term = self.hoisted(arg, None);
        let place = |index: Index| match index {
            Index::Axis(axis) if axis < ids.len() => ids[axis],
            Index::Axis(axis) => Index::Axis(axis - ids.len()),
            other => other,
        };
        term.rename(&place, &|param| param)
    }
}

/// The smaller or the larger of two tensors, component by component; of equals the first.
pub(super) fn extreme_of(reduction: Reduction, first: Expr, second: Expr) -> Expr {
    let params = vec![param_of(&first.ty), param_of(&second.ty)];
    let axes = params[0].shape().dims().to_vec();
    let whole = |param: usize| Term::Access {
        param,
        indices: (0..axes.len()).map(Index::Axis).collect(),
    };
    let sides = match reduction {
        Reduction::Min => [whole(1), whole(0)],
        _ => [whole(0), whole(1)],
    };
    let body = Term::Cond {
        test: Comparison::Less,
        sides: Box::new(sides),
        then: Box::new(whole(1)),
        otherwise: Box::new(whole(0)),
    };
    let (ty, span) = (first.ty.clone(), first.span);
    let operator = Arc::new(Ein { params, axes, body });
    let args = vec![first, second];
    typed(ty, ExprKind::Indexed { operator, args }, span)
}
