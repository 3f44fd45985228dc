//! The elements of a sequence by clauses, in an order in which each reads only those before it.
//!
//! Few elements are unrolled: each is a value of its own, so elements that are not read later are not kept. Many are computed in steps
//! along the first axis of the order: a step has a value for each of its elements, and reads those of earlier steps by how far
//! back they are, which must be the same in every step. The index of the step is then an int at run time. Steps may go along their
//! axis in either direction.

use super::{
    builder::{Builder, int},
    lower::{self, Slot, Slots, Stop},
    orders::{Order, points},
    own::{Read, Steps},
};
use crate::front::{
    source::Span,
    tree::{
        Expr, ExprKind, Layout, Past, Recurrence, Segment, VarId,
        notation::{Clause, Point, Range, shown, stretches},
        typed,
    },
};
use ein_ir::{Type, ops::spelling};
use std::collections::BTreeMap;

/// How many elements are written out though they could be computed in steps, of how many operations, and how many steps are
/// not worth a loop.
pub(super) const WRITTEN_OUT: usize = 64;
const WRITTEN_OPERATIONS: usize = 1024;
const FEW_STEPS: usize = 8;
/// What a call or a probe counts for, whatever expression stands behind it.
const CALL: usize = 16;

/// What clauses define.
pub(super) struct Sequence<'s> {
    pub(super) clauses: &'s [Clause],
    pub(super) lengths: &'s [usize],
    pub(super) name: &'s str,
    pub(super) declared: &'s Type,
    pub(super) element: &'s Type,
    /// The indices around it.
    pub(super) outside: &'s Slots,
    pub(super) span: Span,
}

impl Sequence<'_> {
    /// Whether this many steps are to be written out, if they can be.
    pub(super) fn is_short(&self, steps: usize) -> bool {
        let places = |places: &[Range]| places.iter().map(|range| range.count).product::<usize>();
        let clauses = self.clauses.iter();
        let operations =
            clauses.map(|clause| places(&clause.places).saturating_mul(operations(&clause.body)));
        self.lengths.iter().product::<usize>() <= WRITTEN_OUT
            && (steps <= FEW_STEPS || operations.sum::<usize>() <= WRITTEN_OPERATIONS)
    }
}

/// How many operations an expression is made of, about.
fn operations(expr: &Expr) -> usize {
    let of_field = |args: &[Expr]| args.iter().any(|arg| matches!(arg.ty, Type::Field { .. }));
    let mut count = match &expr.kind {
        ExprKind::Call { .. } => CALL,
        ExprKind::Op { args, .. } if of_field(args) => CALL,
        ExprKind::Op { .. } | ExprKind::Indexed { .. } => 1,
        // How much its operator will be is not known yet.
        ExprKind::Notation(_) => return 0,
        _ => 0,
    };
    expr.each_child(|child| count += operations(child));
    count
}

/// The variable that has an element. Reports an element that is outside, or not computed yet.
pub(super) fn element_read(
    build: &mut Builder<'_>,
    read: &Read,
    ty: &Type,
    at: Span,
) -> Result<VarId, Option<String>> {
    let Some(own) = build.own.as_mut() else {
        return Err(None);
    };
    if !own.is_inside(read) {
        return Err(Some(format!(
            "the element at {} reads the one at {}, which does not exist",
            shown(&own.here),
            shown(&read.point)
        )));
    }
    let mut place = read.point.clone();
    if let Some(steps) = &own.steps {
        place[steps.axis] = 0;
        if read.back > 0 {
            let element = steps.numbers[&place];
            let back = read.back as usize;
            let same = |past: &&Past| past.back == back && past.element == element;
            if let Some(past) = steps.past.iter().find(same) {
                return Ok(past.var);
            }
            let var = build.variable(&format!("{}@-{back}", shown(&place)), ty, at);
            let own = build.own.as_mut();
            if let Some(steps) = own.and_then(|own| own.steps.as_mut()) {
                steps.past.push(Past { var, back, element });
            }
            return Ok(var);
        }
    }
    let is_later = own.steps.is_some() && read.back < 0;
    match own.computed.get(&place).filter(|_| !is_later) {
        Some(var) => Ok(*var),
        None => {
            own.early.get_or_insert((read.point.clone(), at));
            Err(None)
        }
    }
}

/// The element at a place: the variable for it, and its value. The index along an axis may be that of a step.
fn element(
    build: &mut Builder<'_>,
    what: &Sequence<'_>,
    point: &Point,
    step: Option<(usize, Slot)>,
) -> Result<(VarId, Expr), Stop> {
    let found = what.clauses.iter().find(|clause| clause.is_for(point));
    let clause = found.ok_or(Stop::Failed)?;
    let mut slots = what.outside.clone();
    for (axis, (&index, &place)) in clause.indices.iter().zip(point).enumerate() {
        let slot = match step {
            Some((of_steps, slot)) if of_steps == axis => slot,
            _ => Slot::Value(place),
        };
        slots.extend(index.map(|index| (index, slot)));
    }
    if let Some(own) = &mut build.own {
        own.here = point.clone();
    }
    let ty = clause.body.ty.clone();
    let value = lower::expression(build, &[], &clause.body, &ty, &slots, clause.body.span)?;
    let label = format!("{}{}", what.name, shown(point));
    let var = build.variable(&label, &ty, clause.span);
    Ok((var, value))
}

/// Every element as a value of its own.
pub(super) fn written_out(
    build: &mut Builder<'_>,
    what: &Sequence<'_>,
    order: &Order,
) -> Result<Expr, Stop> {
    if let Some(own) = &mut build.own {
        own.begin(None);
    }
    let mut bindings = Vec::new();
    let mut computed = BTreeMap::new();
    for point in points(what.lengths, &order.axes, &order.backward) {
        let (var, value) = element(build, what, &point, None)?;
        bindings.push((var, value));
        computed.insert(point.clone(), var);
        if let Some(own) = &mut build.own {
            own.computed.insert(point, var);
        }
    }
    let of = |point: &Point| {
        let kind = ExprKind::Var(*computed.get(point)?);
        Some(typed(what.element.clone(), kind, what.span))
    };
    let body = gathered(build, &of, what.declared, &mut Vec::new(), what.span);
    let body = Box::new(body?);
    let kind = ExprKind::Let { bindings, body };
    Ok(typed(what.declared.clone(), kind, what.span))
}

/// The elements in steps along the first axis of an order.
pub(super) fn stepped(
    build: &mut Builder<'_>,
    what: &Sequence<'_>,
    order: &Order,
) -> Result<Expr, Stop> {
    let axis = order.axes[0];
    let is_backward = order.backward[axis];
    let last = what.lengths[axis] as i64 - 1;
    let mut one_step = what.lengths.to_vec();
    one_step[axis] = 1;
    let places = points(&one_step, &order.axes[1..], &order.backward);
    // Steps that go backward have their place as an element of its own, before the others.
    let first = usize::from(is_backward);
    let numbers: BTreeMap<Point, usize> = places.iter().cloned().zip(first..).collect();
    let ranges: Vec<&[Range]> = what.clauses.iter().map(|c| &c.places[..]).collect();
    let mut segments = Vec::new();
    let mut stretches = stretches(&ranges, axis, what.lengths[axis]);
    if is_backward {
        stretches.reverse();
    }
    for now in stretches {
        let index = build.variable("step", &Type::Int, what.span);
        let mut elements = Vec::new();
        if is_backward {
            let place = build.variable("place", &Type::Int, what.span);
            let step = typed(Type::Int, ExprKind::Var(index), what.span);
            let from_end = vec![int(last, what.span), step];
            elements.push((place, build.apply("-", from_end, None, what.span)?));
        }
        let place = elements.first().map_or(index, |(place, _)| *place);
        let slot = match now.count {
            1 => Slot::Value(now.low),
            _ => Slot::Running(place, now),
        };
        if let Some(own) = &mut build.own {
            own.begin(Some(Steps {
                axis,
                now,
                direction: if is_backward { -1 } else { 1 },
                numbers: numbers.clone(),
                past: Vec::new(),
                distances: Vec::new(),
            }));
        }
        for place in &places {
            let mut point = place.clone();
            point[axis] = now.low;
            let (var, value) = element(build, what, &point, Some((axis, slot)))?;
            elements.push((var, value));
            if let Some(own) = &mut build.own {
                own.computed.insert(place.clone(), var);
            }
        }
        let own = build.own.as_mut();
        let steps = own.and_then(|own| own.steps.take()).ok_or(Stop::Failed)?;
        let [low, high] = match is_backward {
            true => [last + 1 - now.end(), last - now.low],
            false => [now.low, now.end() - 1],
        };
        segments.push(Segment {
            low,
            high,
            index,
            past: steps.past,
            elements,
        });
    }
    let places = places
        .into_iter()
        .map(|mut place| {
            place.remove(axis);
            place.into_iter().map(|at| at as usize).collect()
        })
        .collect();
    let main = Layout {
        lengths: what.lengths.to_vec(),
        axis,
        places,
        first,
        start: 0,
    };
    let made = Recurrence {
        main,
        also: Vec::new(),
        segments,
    };
    let kind = ExprKind::Recurrence(Box::new(made));
    let made = typed(what.declared.clone(), kind, what.span);
    match is_backward {
        true => turned(build, made, axis, what),
        false => Ok(made),
    }
}

/// A sequence whose steps went backward along an axis, with its elements in the order of their places.
fn turned(
    build: &mut Builder<'_>,
    made: Expr,
    axis: usize,
    what: &Sequence<'_>,
) -> Result<Expr, Stop> {
    let var = build.variable(what.name, what.declared, what.span);
    let axes: Vec<usize> = (0..what.lengths.len()).collect();
    let mut elements = BTreeMap::new();
    for point in points(what.lengths, &axes, &vec![false; axes.len()]) {
        let mut element = typed(what.declared.clone(), ExprKind::Var(var), what.span);
        for (along, &place) in point.iter().enumerate() {
            let last = what.lengths[along] as i64 - 1;
            let place = if along == axis { last - place } else { place };
            element = build.element(element, int(place, what.span), what.span)?;
        }
        elements.insert(point, element);
    }
    let of = |point: &Point| elements.get(point).cloned();
    let body = gathered(build, &of, what.declared, &mut Vec::new(), what.span);
    let body = Box::new(body?);
    let bindings = vec![(var, made)];
    let kind = ExprKind::Let { bindings, body };
    Ok(typed(what.declared.clone(), kind, what.span))
}

/// The elements as the sequence that they are.
fn gathered(
    build: &mut Builder<'_>,
    element_at: &dyn Fn(&Point) -> Option<Expr>,
    ty: &Type,
    prefix: &mut Point,
    span: Span,
) -> Result<Expr, Stop> {
    let Type::Seq(element, Some(n)) = ty else {
        return element_at(prefix).ok_or(Stop::Failed);
    };
    let mut elements = Vec::new();
    for at in 0..*n as i64 {
        prefix.push(at);
        elements.push(gathered(build, element_at, element, prefix, span)?);
        prefix.pop();
    }
    build.apply(spelling::SEQUENCE, elements, Some(ty), span)
}
