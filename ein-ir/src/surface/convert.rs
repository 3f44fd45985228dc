//! An operator and its arguments become an expression: a whole tensor if that can be said, else component by component.

use super::{
    expr::{Expr, row},
    recognize::Recognizer,
};
use crate::{
    Eigen, Ein, Groups, Index, Param, Rational, Shape, Term,
    ops::{Meaning, OPERATORS},
};
use std::collections::BTreeMap;

/// Something that a term gives components of: an argument, or a part that was converted before.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) expr: Expr,
    pub(super) kind: Param,
    pub(super) symmetry: Groups,
}

/// Converts the terms of one operator.
pub(super) struct Converter<'a> {
    pub(super) recognizer: &'a mut Recognizer,
    /// The operator's arguments, and then parts of it.
    pub(super) operands: Vec<Operand>,
    pub(super) extents: BTreeMap<Index, usize>,
}

/// The expression whose value an operator's is; nothing if only its components can be written.
pub(super) fn whole(recognizer: &mut Recognizer, op: &Ein, args: Vec<Operand>) -> Option<Expr> {
    let axes: Vec<Index> = (0..op.axes.len()).map(Index::Axis).collect();
    Converter::new(recognizer, op, args).tensor(&op.body, &axes)
}

/// The row that an operator is an instance of, applied to the arguments.
pub(super) fn as_row(recognizer: &mut Recognizer, op: &Ein, args: &[Operand]) -> Option<Expr> {
    let symmetry: Vec<Groups> = args.iter().map(|arg| arg.symmetry.clone()).collect();
    let (row, places) = recognizer.find(op, &symmetry)?;
    let args = places.iter().map(|&place| args[place].expr.clone());
    Some(Expr::Apply(row, args.collect()))
}

impl Converter<'_> {
    pub(super) fn new<'a>(
        recognizer: &'a mut Recognizer,
        op: &Ein,
        args: Vec<Operand>,
    ) -> Converter<'a> {
        let axes = op.axes.iter().enumerate();
        let mut extents: BTreeMap<Index, usize> = axes
            .map(|(axis, &extent)| (Index::Axis(axis), extent))
            .collect();
        note_ranges(&op.body, &mut extents);
        Converter {
            recognizer,
            operands: args,
            extents,
        }
    }

    /// The expression whose components along `axes` a term gives, all its free indices being among them.
    pub(super) fn tensor(&mut self, term: &Term, axes: &[Index]) -> Option<Expr> {
        if let Term::Access { param, indices } = term {
            return self.view(*param, indices, axes);
        }
        if let Some(expr) = self.plain_arithmetic(term, axes) {
            return Some(expr);
        }
        if let Some(expr) = self.row(term, axes) {
            return Some(expr);
        }
        match term {
            Term::Const(value) => Some(self.filled(*value, axes)),
            Term::Eigen {
                part,
                param,
                indices,
            } => {
                let (system, kind) = self.eigensystem(*part, *param);
                let symmetry = Groups::new();
                self.operands.push(Operand {
                    expr: system,
                    kind,
                    symmetry,
                });
                self.view(self.operands.len() - 1, indices, axes)
            }
            Term::Delta(i, j) if i != j && (*axes == [*i, *j] || *axes == [*j, *i]) => {
                Some(Expr::Identity(self.extents[i]))
            }
            Term::Delta(..) => self.concatenation(std::slice::from_ref(term), axes),
            Term::Neg(body) => Some(self.tensor(body, axes)?.minus()),
            Term::Add(terms) => self.sum(terms, axes),
            Term::Sub(a, b) => {
                let (a, b) = (self.tensor(a, axes)?, self.tensor(b, axes)?);
                Some(a.plus(b.minus()))
            }
            Term::Mul(_) | Term::Sum { .. } => {
                match self.concatenation(std::slice::from_ref(term), axes) {
                    Some(whole) => Some(whole),
                    None => self.product(term, axes),
                }
            }
            Term::Div(a, b) => {
                let (a, b) = (self.tensor(a, axes)?, self.tensor(b, &[])?);
                Some(Expr::Apply(row("divide"), vec![a, b]))
            }
            Term::Pow(base, exponent) => {
                let base = self.tensor(base, &[]).filter(|_| axes.is_empty())?;
                Some(Expr::Power(Box::new(base), *exponent))
            }
            Term::Apply(function, args) if axes.is_empty() => {
                let row = OPERATORS
                    .iter()
                    .find(|row| row.meaning == Meaning::Elementary(*function))?;
                let args: Option<Vec<Expr>> =
                    args.iter().map(|arg| self.tensor(arg, &[])).collect();
                Some(Expr::Apply(row, args?))
            }
            Term::Cond {
                test,
                sides,
                then,
                otherwise,
            } => {
                let sides = [self.tensor(&sides[0], &[])?, self.tensor(&sides[1], &[])?];
                let chosen = [self.tensor(then, axes)?, self.tensor(otherwise, axes)?];
                let [[a, b], [then, otherwise]] = [sides, chosen];
                Some(Expr::If {
                    test: *test,
                    parts: Box::new([a, b, then, otherwise]),
                })
            }
            Term::Deriv { index, body } => self.derivative(*index, body, axes),
            Term::Probe { field, at } => self.probe(field, at, axes),
            _ => None,
        }
    }

    /// A view of an operand: itself, a part of it, or its transpose.
    fn view(&mut self, param: usize, indices: &[Index], axes: &[Index]) -> Option<Expr> {
        let operand = self.operands[param].clone();
        let kept: Vec<Index> = indices
            .iter()
            .copied()
            .filter(|i| !matches!(i, Index::Const(_)))
            .collect();
        let is_sliced = kept.len() < indices.len();
        let mut expr = operand.expr;
        if is_sliced {
            let mask = indices.iter().map(|index| match index {
                Index::Const(component) => Some(*component),
                Index::Axis(_) | Index::Bound(_) => None,
            });
            expr = Expr::Slice(Box::new(expr), mask.collect());
        }
        if kept == axes {
            return Some(expr);
        }
        // Exchanging symmetric axes changes nothing.
        if !is_sliced && in_order(&kept, &operand.symmetry) == in_order(axes, &operand.symmetry) {
            return Some(expr);
        }
        let is_transposed = kept.len() == 2 && kept[0] != kept[1] && [kept[1], kept[0]] == *axes;
        is_transposed.then(|| Expr::Apply(row("transpose"), vec![expr]))
    }

    /// One operation on numbers and scalars is written with its sign, even where a row has a name for it.
    fn plain_arithmetic(&mut self, term: &Term, axes: &[Index]) -> Option<Expr> {
        let is_leaf = |term: &&Term| matches!(term, Term::Const(_) | Term::Access { .. });
        let is_plain = matches!(term, Term::Div(..)) && axes.is_empty();
        if !is_plain || !term.children().iter().all(is_leaf) {
            return None;
        }
        let parts: Option<Vec<Expr>> = term
            .children()
            .into_iter()
            .map(|part| self.tensor(part, &[]))
            .collect();
        Some(Expr::Apply(row("divide"), parts?))
    }

    /// The row that a term is an instance of.
    pub(super) fn row(&mut self, term: &Term, axes: &[Index]) -> Option<Expr> {
        let mut used = Vec::new();
        note_params(term, &mut used);
        used.sort_unstable();
        let index = |index: Index| match axes.iter().position(|&axis| axis == index) {
            Some(place) => Index::Axis(place),
            None => index,
        };
        let place = |param: usize| used.iter().position(|&p| p == param).unwrap_or_default();
        let body = term.clone().rename(&index, &place);
        let is_axis = |index: &Index| matches!(index, Index::Axis(axis) if *axis < axes.len());
        if !free_indices(&body).iter().all(is_axis) {
            return None;
        }
        let operands: Vec<Operand> = used.iter().map(|&p| self.operands[p].clone()).collect();
        let op = Ein {
            params: operands
                .iter()
                .map(|operand| operand.kind.clone())
                .collect(),
            axes: axes.iter().map(|axis| self.extents[axis]).collect(),
            body,
        };
        as_row(self.recognizer, &op, &operands)
    }

    /// The tensor all of whose components are a number.
    fn filled(&self, value: Rational, axes: &[Index]) -> Expr {
        match axes {
            [] => Expr::Number(value),
            _ if value == 0.into() => {
                Expr::Zeros(Shape::new(axes.iter().map(|axis| self.extents[axis])))
            }
            [first, rest @ ..] => {
                let parts = vec![self.filled(value, rest); self.extents[first]];
                Expr::Apply(row("concat"), parts)
            }
        }
    }

    /// A sum; the terms that say where they belong are parts of one tensor.
    fn sum(&mut self, terms: &[Term], axes: &[Index]) -> Option<Expr> {
        let is_part = |term: &&Term| axes.first().is_some_and(|axis| selects(term, *axis));
        let (parts, others): (Vec<&Term>, Vec<&Term>) = terms.iter().partition(is_part);
        let parts: Vec<Term> = parts.into_iter().cloned().collect();
        let whole = self.concatenation(&parts, axes);
        let parts = if whole.is_some() { &[] } else { &parts[..] };
        let others = others.into_iter().chain(parts);
        let others: Option<Vec<Expr>> = others.map(|term| self.tensor(term, axes)).collect();
        others?.into_iter().chain(whole).reduce(Expr::plus)
    }

    /// The tensor from its parts along the first axis, each selected by a δ; parts that are missing are zero.
    fn concatenation(&mut self, terms: &[Term], axes: &[Index]) -> Option<Expr> {
        let (first, rest) = axes.split_first().filter(|_| !terms.is_empty())?;
        let mut parts: Vec<Vec<Term>> = vec![Vec::new(); self.extents[first]];
        for term in terms {
            let single = [term.clone()];
            let factors = match term {
                Term::Mul(factors) => factors.as_slice(),
                _ => single.as_slice(),
            };
            let place = |factor: &Term| selected(factor, *first);
            let places: Vec<usize> = factors.iter().filter_map(place).collect();
            let others = factors.iter().filter(|f| place(f).is_none()).cloned();
            let part = match others.collect::<Vec<_>>() {
                factors if factors.is_empty() => Term::Const(1.into()),
                mut factors if factors.len() == 1 => factors.remove(0),
                factors => Term::Mul(factors),
            };
            match places[..] {
                [place] => parts.get_mut(place)?.push(part),
                _ => return None,
            }
        }
        let part = |mut part: Vec<Term>| match part.len() {
            0 => Some(self.filled(0.into(), rest)),
            1 => self.tensor(&part.remove(0), rest),
            _ => self.tensor(&Term::Add(part), rest),
        };
        let parts: Option<Vec<Expr>> = parts.into_iter().map(part).collect();
        Some(Expr::Apply(row("concat"), parts?))
    }

    /// A part of the eigensystem of an operand, as a whole: a row, or a function that programs do not have.
    pub(super) fn eigensystem(&mut self, part: Eigen, param: usize) -> (Expr, Param) {
        let matrix = self.operands[param].clone();
        let axes = vec![matrix.kind.shape().dims()[0]; part.order()];
        let op = Ein {
            params: vec![matrix.kind.clone()],
            body: Term::Eigen {
                part,
                param: 0,
                indices: (0..axes.len()).map(Index::Axis).collect(),
            },
            axes,
        };
        let kind = op.result();
        let unnamed = Expr::Call(part.name(), vec![matrix.expr.clone()]);
        let row = as_row(self.recognizer, &op, &[matrix]);
        (row.unwrap_or(unnamed), kind)
    }

    /// ∇ of what stands under the derivative, whose index must come last.
    fn derivative(&mut self, index: Index, body: &Term, axes: &[Index]) -> Option<Expr> {
        let inner = match axes {
            [inner @ .., last] if *last == index => inner,
            _ if matches!(index, Index::Const(0)) => axes,
            _ => return None,
        };
        let part = self.part(body, inner)?;
        let derivative = Term::Deriv {
            index,
            body: Box::new(part),
        };
        self.row(&derivative, axes)
    }

    /// The value of a field at a position, or a composition.
    fn probe(&mut self, field: &Term, at: &[Term], axes: &[Index]) -> Option<Expr> {
        let kinds: Vec<Param> = self
            .operands
            .iter()
            .map(|operand| operand.kind.clone())
            .collect();
        let is_composed = at.iter().any(|term| term.dim(&kinds).is_some());
        let field = self.tensor(field, axes)?;
        let position = self.position(at)?;
        let row = row(if is_composed { "compose" } else { "probe" });
        Some(Expr::Apply(row, vec![field, position]))
    }

    /// The position with these coordinates.
    fn position(&mut self, at: &[Term]) -> Option<Expr> {
        if let [Term::Access { param, .. }, ..] = at
            && self.operands[*param].kind.shape().dims() == [at.len()]
            && (0..at.len()).all(|k| {
                let indices = vec![Index::Const(k)];
                at[k]
                    == Term::Access {
                        param: *param,
                        indices,
                    }
            })
        {
            return Some(self.operands[*param].expr.clone());
        }
        let mut coordinates = Vec::new();
        for term in at {
            coordinates.push(self.tensor(term, &[])?);
        }
        match coordinates.len() {
            1 => coordinates.pop(),
            _ => Some(Expr::Apply(row("concat"), coordinates)),
        }
    }

    /// A term as an access to an operand of its own, with these axes.
    pub(super) fn part(&mut self, term: &Term, axes: &[Index]) -> Option<Term> {
        let expr = self.tensor(term, axes)?;
        let kinds: Vec<Param> = self
            .operands
            .iter()
            .map(|operand| operand.kind.clone())
            .collect();
        let shape = Shape::new(axes.iter().map(|axis| self.extents[axis]));
        let kind = match term.dim(&kinds) {
            Some(dim) => Param::Field { dim, shape },
            None => Param::Tensor(shape),
        };
        // Whatever is symmetric about an operand that is accessed as it stands is still so.
        let symmetry = match term {
            Term::Access { param, indices } if indices == axes => {
                self.operands[*param].symmetry.clone()
            }
            _ => Groups::new(),
        };
        self.operands.push(Operand {
            expr,
            kind,
            symmetry,
        });
        Some(Term::Access {
            param: self.operands.len() - 1,
            indices: axes.to_vec(),
        })
    }
}

/// The component along an axis that a δ selects.
fn selected(factor: &Term, along: Index) -> Option<usize> {
    match factor {
        Term::Delta(Index::Const(c), axis) | Term::Delta(axis, Index::Const(c))
            if *axis == along =>
        {
            Some(*c)
        }
        _ => None,
    }
}

/// Whether a term is something in one place along an axis.
fn selects(term: &Term, along: Index) -> bool {
    match term {
        Term::Mul(factors) => factors.iter().any(|f| selected(f, along).is_some()),
        other => selected(other, along).is_some(),
    }
}

/// Indices with those of symmetric axes sorted.
fn in_order(indices: &[Index], symmetry: &Groups) -> Vec<Index> {
    let mut ordered = indices.to_vec();
    for group in symmetry
        .iter()
        .filter(|group| group.iter().all(|&axis| axis < indices.len()))
    {
        let mut sorted: Vec<Index> = group.iter().map(|&axis| indices[axis]).collect();
        sorted.sort_unstable();
        group
            .iter()
            .zip(sorted)
            .for_each(|(&axis, index)| ordered[axis] = index);
    }
    ordered
}

fn note_ranges(term: &Term, extents: &mut BTreeMap<Index, usize>) {
    if let Term::Sum { binder, range, .. } = term {
        extents.insert(Index::Bound(*binder), *range);
    }
    term.children()
        .into_iter()
        .for_each(|inner| note_ranges(inner, extents));
}

pub(super) fn note_params(term: &Term, used: &mut Vec<usize>) {
    if let Term::Access { param, .. } | Term::Eigen { param, .. } = term
        && !used.contains(param)
    {
        used.push(*param);
    }
    term.children()
        .into_iter()
        .for_each(|inner| note_params(inner, used));
}

/// The indices of one term, those of the terms inside it left aside.
fn own_indices(term: &Term) -> Vec<Index> {
    match term {
        Term::Access { indices, .. } | Term::Eigen { indices, .. } => indices.clone(),
        Term::Epsilon(indices) => indices.clone(),
        Term::Position { index, .. } | Term::Deriv { index, .. } => vec![*index],
        Term::Delta(i, j) => vec![*i, *j],
        _ => Vec::new(),
    }
}

/// The indices that a term does not bind, in order of first occurrence.
pub(super) fn free_indices(term: &Term) -> Vec<Index> {
    fn collect(term: &Term, bound: &mut Vec<u32>, found: &mut Vec<Index>) {
        for index in own_indices(term) {
            let is_bound = matches!(index, Index::Bound(binder) if bound.contains(&binder));
            if !is_bound && !matches!(index, Index::Const(_)) && !found.contains(&index) {
                found.push(index);
            }
        }
        let depth = bound.len();
        if let Term::Sum { binder, .. } = term {
            bound.push(*binder);
        }
        term.children()
            .into_iter()
            .for_each(|inner| collect(inner, bound, found));
        bound.truncate(depth);
    }
    let mut found = Vec::new();
    collect(term, &mut Vec::new(), &mut found);
    found
}
