//! Conditions that depend on indices: known for all their values, comparisons of numbers, or whatever else is true or not.

use super::lower::{self, Lowering, Slots, Stop, number, vars_of};
use crate::front::{
    source::Span,
    tree::{Constant, Expr, ExprKind, Notation, VarId, literal},
};
use ein_ir::{
    Comparison, Shape, Term, Type,
    ops::{Builtin, Meaning, Reduction, Relation, spelling},
};

/// A condition as a term.
pub(super) enum Truth {
    Known(bool),
    Compare(Comparison, Box<[Term; 2]>),
    /// 1 where it holds, else 0.
    Number(Term),
}

impl Truth {
    /// 1 where it holds, else 0.
    pub(super) fn number(self) -> Term {
        match self {
            Truth::Known(holds) => number(holds.into()),
            Truth::Number(term) => term,
            Truth::Compare(test, sides) => Term::Cond {
                test,
                sides,
                then: Box::new(number(1)),
                otherwise: Box::new(number(0)),
            },
        }
    }

    fn not(self) -> Truth {
        match self {
            Truth::Known(holds) => Truth::Known(!holds),
            other => Truth::Number(Term::Sub(Box::new(number(1)), Box::new(other.number()))),
        }
    }

    /// `then` where it holds, else `otherwise`.
    fn choose(self, then: Term, otherwise: Term) -> Term {
        let (test, sides) = match self {
            Truth::Known(true) => return then,
            Truth::Known(false) => return otherwise,
            Truth::Compare(test, sides) => (test, sides),
            Truth::Number(term) => (Comparison::Equal, Box::new([term, number(1)])),
        };
        Term::Cond {
            test,
            sides,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        }
    }
}

fn one(value: f64, like: &Expr) -> Expr {
    let value = Constant::Tensor(Shape::SCALAR, vec![value]);
    literal(Type::REAL, value, like.span)
}

impl Lowering<'_, '_> {
    /// `then if condition else otherwise`; if the condition is known, the branch that is not chosen is not looked at.
    pub(super) fn choice(
        &mut self,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
        slots: &Slots,
    ) -> Result<Term, Stop> {
        let truth = self.truth(condition, slots)?;
        match truth {
            Truth::Known(true) => self.term(then, slots),
            Truth::Known(false) => self.term(otherwise, slots),
            truth => {
                let then = self.term(then, slots)?;
                let otherwise = self.term(otherwise, slots)?;
                Ok(truth.choose(then, otherwise))
            }
        }
    }

    pub(super) fn truth(&mut self, e: &Expr, slots: &Slots) -> Result<Truth, Stop> {
        if e.is_of_indices() {
            return match self.is_running(e, slots) {
                true => self.plain_truth(e, slots),
                false => self.holds(e, slots).map(Truth::Known),
            };
        }
        if let Some(Notation::Reduced {
            reduction,
            over,
            body,
        }) = e.notation()
        {
            return self.truths(*reduction, &vars_of(over), body, slots);
        }
        match &e.kind {
            ExprKind::Op { op, args } if e.has_notation() => {
                match (op.row.meaning, args.as_slice()) {
                    (Meaning::Builtin(Builtin::And), [a, b]) => {
                        let a = self.truth(a, slots)?;
                        if let Truth::Known(false) = a {
                            return Ok(a);
                        }
                        let b = self.truth(b, slots)?;
                        Ok(match (a, b) {
                            (Truth::Known(_), other) | (other, Truth::Known(true)) => other,
                            (_, Truth::Known(false)) => Truth::Known(false),
                            (a, b) => Truth::Number(Term::Mul(vec![a.number(), b.number()])),
                        })
                    }
                    (Meaning::Builtin(Builtin::Or), [a, b]) => {
                        let a = self.truth(a, slots)?;
                        if let Truth::Known(true) = a {
                            return Ok(a);
                        }
                        let b = self.truth(b, slots)?;
                        Ok(match (a, b) {
                            (Truth::Known(_), other) | (other, Truth::Known(false)) => other,
                            (_, Truth::Known(true)) => Truth::Known(true),
                            (a, b) => {
                                let neither = Term::Mul(vec![a.not().number(), b.not().number()]);
                                Truth::Number(neither).not()
                            }
                        })
                    }
                    (Meaning::Builtin(Builtin::Not), [inner]) => {
                        Ok(self.truth(inner, slots)?.not())
                    }
                    (Meaning::Builtin(Builtin::Compare(relation)), [a, b])
                        if matches!(a.ty, Type::Tensor(_)) =>
                    {
                        let (a, b) = (self.term(a, slots)?, self.term(b, slots)?);
                        let compare = |test, a, b| Truth::Compare(test, Box::new([a, b]));
                        Ok(match relation {
                            Relation::Less => compare(Comparison::Less, a, b),
                            Relation::LessEqual => compare(Comparison::LessEqual, a, b),
                            Relation::Equal => compare(Comparison::Equal, a, b),
                            Relation::Greater => compare(Comparison::Less, b, a),
                            Relation::GreaterEqual => compare(Comparison::LessEqual, b, a),
                            Relation::NotEqual => compare(Comparison::Equal, a, b).not(),
                        })
                    }
                    _ => self.plain_truth(e, slots),
                }
            }
            _ => self.plain_truth(e, slots),
        }
    }

    /// A condition that EIN cannot express, at values of its indices: the argument is 1 or 0.
    fn plain_truth(&mut self, e: &Expr, slots: &Slots) -> Result<Truth, Stop> {
        let free = e.free_indices();
        self.need_values(free, slots)?;
        let e = self.at_values(e, slots)?;
        let args = vec![one(1.0, &e), e.clone(), one(0.0, &e)];
        let chosen = self.apply(spelling::SELECT, args, e.span)?;
        let term = self.hoisted(chosen, Some(slots));
        Ok(Truth::Number(term))
    }

    /// Whether all, or any, of several conditions hold: how many do is compared with how many there are, or with 0.
    fn truths(
        &mut self,
        reduction: Reduction,
        over: &[VarId],
        body: &Expr,
        slots: &Slots,
    ) -> Result<Truth, Stop> {
        if over.iter().any(|&var| self.build.elements(var).is_some()) {
            // How many there are is not known now: one that does not hold decides about all, one that holds about any.
            let decides = reduction != Reduction::All;
            let each = self.counted(body, decides)?;
            let deciding = self.reduce_elements(Reduction::Sum, over, &each, slots)?;
            let some = Truth::Compare(Comparison::Less, Box::new([number(0), deciding]));
            return Ok(if decides { some } else { some.not() });
        }
        let each = self.counted(body, true)?;
        let holding = match self.folded(Reduction::Sum, over, &each, body.span, slots)? {
            Some(folded) => self.hoisted(folded, Some(slots)),
            None => {
                let mut numbers = Vec::new();
                self.points(over, &mut slots.clone(), body, &mut |this, slots| {
                    numbers.push(this.truth(body, slots)?.number());
                    Ok(())
                })?;
                Term::Add(numbers)
            }
        };
        let count: usize = over.iter().map(|&var| self.range(var).count).product();
        let count = number(count as i64);
        Ok(match reduction {
            Reduction::All => Truth::Compare(Comparison::Equal, Box::new([holding, count])),
            _ => Truth::Compare(Comparison::Less, Box::new([number(0), holding])),
        })
    }

    /// 1 where a condition is so, else 0.
    fn counted(&mut self, body: &Expr, holds: bool) -> Result<Expr, Stop> {
        // Arguments are identified by their places in the source. These are not written there, so they get places of their own.
        let Span { start, end } = body.span;
        let number = |holds: bool, at: u32| Expr {
            span: Span { start: at, end: at },
            ..one(if holds { 1.0 } else { 0.0 }, body)
        };
        let args = vec![number(holds, start), body.clone(), number(!holds, end)];
        self.apply(spelling::SELECT, args, body.span)
    }

    /// A condition at values of its indices, as an expression.
    pub(super) fn truth_at(&mut self, e: &Expr, slots: &Slots) -> Result<Expr, Stop> {
        let number = lower::expression(self.build, &[], e, &Type::REAL, slots, e.span)?;
        self.apply("==", vec![number, one(1.0, e)], e.span)
    }
}
