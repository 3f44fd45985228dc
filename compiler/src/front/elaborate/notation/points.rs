//! Expressions at values of their indices: ints that are known then, subscripts, and what EIN cannot express.

use super::{
    builder::int,
    lower::{self, Lowering, Slot, Slots, Stop, number, vars_of},
    own::Read,
    steps::element_read,
};
use crate::front::{
    codes,
    diag::Diagnostic,
    source::Span,
    tree::{
        Constant, Expr, ExprKind, Notation, VarId,
        convert::coerce,
        notation::Range,
        recurrence::{MOST_COMPARED, MOST_ELEMENTS},
        value,
    },
};
use ein_ir::{Index, Term, Type, ops::spelling};

impl Lowering<'_, '_> {
    /// Whether an expression depends on an int at run time that is an index.
    pub(super) fn is_running(&self, e: &Expr, slots: &Slots) -> bool {
        let runs = |slot: &Slot| matches!(slot, Slot::Running(..));
        slots.values().any(runs)
            && (e.free_indices().iter()).any(|var| slots.get(var).is_some_and(runs))
    }

    /// Whether a component is an element of a sequence at a place that is known only at run time.
    pub(super) fn is_item(&self, base: &Expr, indices: &[Option<Expr>], slots: &Slots) -> bool {
        let runs = |e: &Expr| self.is_running(e, slots);
        let of_steps = || runs(base) && self.steps_of(element_of(base).0).is_some();
        matches!(base.ty, Type::Seq(..)) && (indices.iter().flatten().any(runs) || of_steps())
    }

    /// The value of an int or a truth value that depends on indices alone.
    fn known(&mut self, e: &Expr, slots: &Slots) -> Result<Constant, Stop> {
        let free = e.free_indices();
        self.need_values(free.iter().copied(), slots)?;
        if self.is_running(e, slots) {
            return Err(Stop::Unstepped);
        }
        let bound: Vec<(VarId, Constant)> = free
            .iter()
            .filter_map(|var| match slots.get(var) {
                Some(Slot::Value(value)) => Some((*var, Constant::Int(*value))),
                _ => None,
            })
            .collect();
        match value::evaluate(e, bound, self.build.long_int) {
            Ok(value) => Ok(value),
            Err(why) => {
                let message = "this must be known for all values of its indices";
                let error = Diagnostic::error(codes::NOT_CONSTANT, e.span, message)
                    .label(why.span, why.reason)
                    .hint(
                        "literals, `const` definitions, indices and arithmetic on them are known",
                    );
                Err(self.build.report(error))
            }
        }
    }

    /// The value of an int.
    pub(super) fn int(&mut self, e: &Expr, slots: &Slots) -> Result<i64, Stop> {
        match self.known(e, slots)? {
            Constant::Int(n) => Ok(n),
            _ => Err(Stop::Failed),
        }
    }

    /// The value of a condition.
    pub(super) fn holds(&mut self, e: &Expr, slots: &Slots) -> Result<bool, Stop> {
        match self.known(e, slots)? {
            Constant::Bool(holds) => Ok(holds),
            _ => Err(Stop::Failed),
        }
    }

    /// The index at a subscript of an axis: an index that runs over just that axis, or a component that must exist.
    pub(super) fn place(
        &mut self,
        index: &Expr,
        extent: usize,
        (base, axis): (&Expr, usize),
        slots: &Slots,
    ) -> Result<Index, Stop> {
        if let Some(var) = index.index()
            && let Some(Slot::Index(id)) = slots.get(&var)
        {
            let range = self.range(var);
            if range.low == 0 && range.count == extent {
                return Ok(Index::Bound(*id));
            }
        }
        let value = self.int(index, slots)?;
        match usize::try_from(value) {
            Ok(component) if component < extent => Ok(Index::Const(component)),
            _ => {
                let what = self.build.described(base);
                let mut message = format!(
                    "index {value} is out of range: axis {axis} of {what} has extent {extent}"
                );
                let free = index.free_indices();
                if index.index().is_none() {
                    let values: Vec<String> = free
                        .iter()
                        .filter_map(|var| match slots.get(var) {
                            Some(Slot::Value(v)) => {
                                Some(format!("{} = {v}", self.build.name(*var)))
                            }
                            _ => None,
                        })
                        .collect();
                    if !values.is_empty() {
                        message += &format!(", where {}", values.join(", "));
                    }
                }
                let error = Diagnostic::error(codes::INDEX_RANGE, index.span, message)
                    .hint(format!("components are counted from 0 to {}", extent - 1));
                Err(self.build.report(error))
            }
        }
    }

    /// δ of two indices, of an index and a component, or of two ints that are known.
    pub(super) fn delta(
        &mut self,
        two: &[Expr; 2],
        span: Span,
        slots: &Slots,
    ) -> Result<Term, Stop> {
        let vars = [0, 1].map(|k| two[k].index());
        if let [Some(a), Some(b)] = vars
            && let (Some(Slot::Index(i)), Some(Slot::Index(j))) = (slots.get(&a), slots.get(&b))
        {
            let ranges = [self.range(a), self.range(b)];
            if ranges[0] != ranges[1] {
                let [n, m] = ranges.map(|range| range.count);
                let message = format!("the indices of `δ` have ranges of {n} and {m} values");
                let error = Diagnostic::error(codes::INDEX_SYMBOL, span, message);
                return Err(self.build.report(error));
            }
            return Ok(Term::Delta(Index::Bound(*i), Index::Bound(*j)));
        }
        for (var, other) in [(vars[0], &two[1]), (vars[1], &two[0])] {
            if let Some(var) = var
                && let Some(&Slot::Index(id)) = slots.get(&var)
            {
                let (range, value) = (self.range(var), self.int(other, slots)?);
                return Ok(match range.contains(value) {
                    true => {
                        let place = Index::Const((value - range.low) as usize);
                        Term::Delta(place, Index::Bound(id))
                    }
                    false => number(0),
                });
            }
        }
        let values = [self.int(&two[0], slots)?, self.int(&two[1], slots)?];
        Ok(number(i64::from(values[0] == values[1])))
    }

    /// An element of the sequence that clauses are defining, if an expression is one: the variable that has it.
    pub(super) fn self_read(&mut self, e: &Expr, slots: &Slots) -> Result<Option<Expr>, Stop> {
        let (inner, indices) = element_of(e);
        let Some(Notation::Itself(read)) = inner.notation() else {
            return Ok(None);
        };
        // Clauses inside a clause do not see the elements of the outer sequence.
        let own = self.build.own.as_ref().filter(|own| own.var == *read);
        let order = own.map(|own| own.order());
        if order.is_none_or(|order| indices.len() < order) {
            let message = "a clause reads elements of the variable that it defines, not all of it";
            let error = Diagnostic::error(codes::CLAUSE_ORDER, e.span, message)
                .hint("give it an index for each axis");
            return Err(self.build.report(error));
        }
        let read = self.read_at(&indices, slots)?;
        match element_read(self.build, &read, &e.ty, e.span) {
            Ok(var) => Ok(Some(Expr {
                ty: e.ty.clone(),
                kind: ExprKind::Var(var),
                span: e.span,
            })),
            Err(None) => Err(Stop::Failed),
            Err(Some(message)) => {
                let error = Diagnostic::error(codes::CLAUSE_OUTSIDE, e.span, message);
                Err(self.build.report(error))
            }
        }
    }

    /// Where indices of the sequence that clauses are defining lead.
    fn read_at(&mut self, indices: &[&Expr], slots: &Slots) -> Result<Read, Stop> {
        let own = self.build.own.as_ref();
        let steps = own.and_then(|own| own.steps.as_ref());
        let steps = steps.map(|steps| (steps.axis, steps.now, steps.direction));
        let mut read = Read {
            point: Vec::new(),
            back: 0,
        };
        for (axis, index) in indices.iter().enumerate() {
            match steps {
                Some((of_steps, now, direction)) if of_steps == axis => {
                    let before = self.distance(index, now, slots)?;
                    read.back = direction * before;
                    read.point.push(now.low - before);
                }
                _ => read.point.push(self.int(index, slots)?),
            }
        }
        Ok(read)
    }

    /// How many places before that of the current step an index leads; it must be as many in every step.
    fn distance(&mut self, index: &Expr, now: Range, slots: &Slots) -> Result<i64, Stop> {
        if !self.is_running(index, slots) {
            let place = self.int(index, slots)?;
            return match now.count {
                1 => Ok(now.low - place),
                _ => Err(Stop::Unstepped),
            };
        }
        // Most indices depend on the step alone, and are the same for all elements of a step.
        let is_shared = index.free_indices().len() == 1;
        let own = self.build.own.as_ref();
        let known = own.and_then(|own| own.steps.as_ref()).map(|s| &s.distances);
        let mut known = known.into_iter().flatten();
        if let Some((_, back)) = known.find(|(span, _)| is_shared && *span == index.span) {
            return Ok(*back);
        }
        let mut found = None;
        for (slots, now) in each_step(slots, now) {
            let back = now - self.int(index, &slots)?;
            if *found.get_or_insert(back) != back {
                return Err(Stop::Unstepped);
            }
        }
        let back = found.ok_or(Stop::Failed)?;
        let own = self.build.own.as_mut();
        if let Some(steps) = own.and_then(|own| own.steps.as_mut()).filter(|_| is_shared) {
            steps.distances.push((index.span, back));
        }
        Ok(back)
    }

    /// An expression with the values of its indices in it. All of them are known.
    pub(super) fn at_values(&mut self, e: &Expr, slots: &Slots) -> Result<Expr, Stop> {
        if !e.has_notation() {
            return Ok(e.clone());
        }
        if let Some(var) = e.index()
            && let Some(Slot::Running(running, _)) = slots.get(&var)
        {
            let kind = ExprKind::Var(*running);
            return Ok(Expr { kind, ..e.clone() });
        }
        if e.ty == Type::Int && e.is_of_indices() && !self.is_running(e, slots) {
            let value = self.int(e, slots)?;
            return Ok(int(value, e.span));
        }
        if let Some(element) = self.self_read(e, slots)? {
            return Ok(element);
        }
        if let Some(notation) = e.notation() {
            return self.notation_at(notation, e, slots);
        }
        if let ExprKind::Coerce(inner) = &e.kind {
            let inner = self.at_values(inner, slots)?;
            return Ok(coerce(inner, &e.ty));
        }
        e.try_map(&mut |inner| self.at_values(inner, slots))
    }

    fn notation_at(&mut self, notation: &Notation, e: &Expr, slots: &Slots) -> Result<Expr, Stop> {
        match (notation, &e.ty) {
            (Notation::Definition { left, body }, ty) => {
                lower::definition(self.build, left, body, ty, slots, e.span)
            }
            // The steps of a sequence inside steps would have to be counted too.
            (Notation::Clauses { .. }, _) if self.is_running(e, slots) => Err(Stop::Unstepped),
            (Notation::Clauses { itself, clauses }, _) => {
                self.build.sequence(*itself, clauses, e, slots)
            }
            // Elements that are not numbers keep their type.
            (
                Notation::Component { base, indices },
                Type::Int | Type::Bool | Type::String | Type::Seq(..),
            ) => {
                let [Some(index)] = indices.as_slice() else {
                    return Err(Stop::Failed);
                };
                let base = self.at_values(base, slots)?;
                self.element_at(base, index, e.span, slots)
            }
            (
                Notation::Reduced {
                    reduction,
                    over,
                    body,
                },
                Type::Int,
            ) => self.place_at(*reduction, &vars_of(over), body, slots),
            (_, Type::Bool) => self.truth_at(e, slots),
            (Notation::Component { base, indices }, _) if self.is_item(base, indices, slots) => {
                let [Some(index)] = indices.as_slice() else {
                    return Err(Stop::Failed);
                };
                let base = self.at_values(base, slots)?;
                self.element_at(base, index, e.span, slots)
            }
            _ => lower::expression(self.build, &[], e, &e.ty, slots, e.span),
        }
    }

    fn element_at(
        &mut self,
        base: Expr,
        index: &Expr,
        span: Span,
        slots: &Slots,
    ) -> Result<Expr, Stop> {
        let at = match self.is_running(index, slots) {
            true => {
                let Type::Seq(_, Some(length)) = base.ty else {
                    return Err(Stop::Failed);
                };
                // Clauses that can be written out are, where they would have to search.
                let own = self.build.own.as_ref();
                if length > MOST_COMPARED && own.is_some_and(|own| own.size() <= MOST_ELEMENTS) {
                    return Err(Stop::Unstepped);
                }
                let steps = slots.values().find_map(|slot| match slot {
                    Slot::Running(_, range) => Some(*range),
                    _ => None,
                });
                for (slots, _) in steps.into_iter().flat_map(|now| each_step(slots, now)) {
                    self.place(index, length, (&base, 0), &slots)?;
                }
                self.at_values(index, slots)?
            }
            false => {
                let at = self.int(index, slots)?;
                int(at, index.span)
            }
        };
        self.build.element(base, at, span)
    }

    /// A sequence by its elements, each an expression of its own.
    pub(super) fn sequence_of(
        &mut self,
        left: &[VarId],
        body: &Expr,
        ty: &Type,
        slots: &Slots,
        span: Span,
    ) -> Result<Expr, Stop> {
        let (Some((&var, rest)), Type::Seq(element, Some(_))) = (left.split_first(), ty) else {
            return self.at_values(body, slots);
        };
        let elements = self.each_value(var, &mut slots.clone(), span, |this, slots, _| {
            this.sequence_of(rest, body, element, slots, span)
        })?;
        self.build
            .apply(spelling::SEQUENCE, elements, Some(ty), span)
    }
}

/// The sequence that an expression is an element of, with one index for each axis; itself if it is none.
pub(super) fn element_of(e: &Expr) -> (&Expr, Vec<&Expr>) {
    let (mut inner, mut indices) = (e, Vec::new());
    while let Some(Notation::Component {
        base,
        indices: found,
    }) = inner.notation()
        && matches!(base.ty, Type::Seq(..))
    {
        indices.extend(found.iter().flatten());
        inner = base;
    }
    indices.reverse();
    (inner, indices)
}

/// What indices are in each of several steps, and the number of the step.
fn each_step(slots: &Slots, steps: Range) -> impl Iterator<Item = (Slots, i64)> {
    let slots = slots.clone();
    steps.values().map(move |now| {
        let known = |slot: &Slot| match slot {
            Slot::Running(..) => Slot::Value(now),
            other => *other,
        };
        let at = slots.iter().map(|(var, slot)| (*var, known(slot)));
        (at.collect(), now)
    })
}
