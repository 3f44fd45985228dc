//! Iteration over ranges and sequences: loops, comprehensions and reductions.

use super::{Translator, expr::element_of};
use crate::{
    front::tree::{Expr, ExprKind},
    high::Op,
    ir::{
        Simple,
        tensor::{Base, Dynamic, Ty},
    },
    ssa::Value,
};
use ein_ir::{
    Ein, Index, Param, Shape, Term, Type,
    ops::{Builtin, Reduction, special},
};

/// What a loop runs over, evaluated once.
#[derive(Clone, Debug)]
pub(super) struct Iteration {
    /// The first index: the first integer itself for a range.
    pub(super) low: Value,
    /// The last index.
    pub(super) high: Value,
    /// The sequence that is indexed, unless it is a range.
    sequence: Option<Value>,
    /// The type an element is wanted in.
    element: Ty,
    place: u32,
}

impl Iteration {
    /// The sequence that is indexed, unless it is a range.
    pub(super) fn sequence(&self) -> Option<Value> {
        self.sequence
    }
}

/// Whether a loop over an expression runs over integers as such.
pub(super) fn is_range(source: &Expr) -> bool {
    match &source.kind {
        ExprKind::Coerce(inner) => is_range(inner),
        _ => matches!(source.builtin(), Some((Builtin::Range, _))),
    }
}

impl Translator<'_> {
    pub(super) fn dynamic(&mut self, op: Dynamic, args: &[Value]) -> Value {
        self.base(Base::Dynamic(op), args)
    }

    /// Evaluates what a loop runs over.
    pub(super) fn iteration(&mut self, source: &Expr) -> Iteration {
        let element = element_of(&source.ty);
        match (&source.kind, source.builtin()) {
            (_, Some((Builtin::Range, [low, high]))) => Iteration {
                low: self.expr(low),
                high: self.expr(high),
                sequence: None,
                element,
                place: source.span.start,
            },
            (ExprKind::Coerce(inner), _) => Iteration {
                element,
                ..self.iteration(inner)
            },
            _ => {
                let sequence = self.sequence(source);
                self.iteration_over(sequence, source.span.start)
            }
        }
    }

    /// Iteration over a sequence that is there.
    pub(super) fn iteration_over(&mut self, sequence: Value, place: u32) -> Iteration {
        let element = self
            .b
            .type_of(sequence)
            .element()
            .expect("a sequence")
            .clone();
        let length = self.length(sequence);
        let one = self.int(1);
        Iteration {
            low: self.int(0),
            high: self.base(Base::Simple(Simple::IntSub), &[length, one]),
            sequence: Some(sequence),
            element,
            place,
        }
    }

    /// The element at an index that is within the bounds.
    pub(super) fn item(&mut self, over: &Iteration, index: Value) -> Value {
        let item = match over.sequence {
            None => index,
            Some(sequence) => match self.b.type_of(sequence).clone() {
                Ty::Seq(..) => self.base(Base::Element(over.place), &[sequence, index]),
                list => self.dynamic(Dynamic::Item(list), &[sequence, index]),
            },
        };
        self.convert(item, &over.element, over.place)
    }

    /// A sequence, with its length known where possible: a literal need not forget it.
    pub(super) fn sequence(&mut self, e: &Expr) -> Value {
        match (&e.kind, &e.ty) {
            (ExprKind::Constant(constant), ty) => self.constant_sequence(constant, ty),
            (ExprKind::Coerce(inner), Type::Seq(to, _)) => match &inner.ty {
                Type::Seq(from, _) if from == to => self.sequence(inner),
                _ => self.expr(e),
            },
            _ => self.expr(e),
        }
    }

    /// The parts of a tensor or field along its first axis, as a sequence.
    pub(super) fn parts(&mut self, whole: Value) -> Value {
        let param = self.param(whole);
        let mut mask = vec![None; param.shape().order()];
        let mut parts = Vec::new();
        for k in 0..param.shape().dims()[0] {
            mask[0] = Some(k);
            parts.push(self.ein(special::slice(param.clone(), &mask), &[whole]));
        }
        let element = self.b.type_of(parts[0]).clone();
        self.base(Base::Sequence(element), &parts)
    }

    /// The elements of a sequence of fields. These are not values at run time, so they are known by how they are made.
    pub(super) fn fields_in(&self, sequence: Value) -> Option<Vec<Value>> {
        let element = self.b.type_of(sequence).element()?;
        matches!(element, Ty::Field { .. }).then(|| {
            let made = self.b.definition(sequence);
            made.expect("a sequence of fields is made by an operation")
                .1
                .into_vec()
        })
    }

    pub(super) fn length(&mut self, sequence: Value) -> Value {
        match self.b.type_of(sequence).clone() {
            Ty::Seq(_, n) => self.int(n as i64),
            list => self.dynamic(Dynamic::Length(list), &[sequence]),
        }
    }

    /// An element by an index that may be out of range.
    pub(super) fn checked_item(&mut self, sequence: Value, index: Value, place: u32) -> Value {
        match self.b.type_of(sequence).clone() {
            Ty::Seq(..) => self.base(Base::Element(place), &[sequence, index]),
            list => {
                let length = self.length(sequence);
                self.b
                    .op(Op::Base(Base::CheckIndex(place)), &[index, length]);
                self.dynamic(Dynamic::Item(list), &[sequence, index])
            }
        }
    }

    /// An int of a range by an index that may be out of range.
    pub(super) fn int_of_range(&mut self, over: &Iteration, index: Value, place: u32) -> Value {
        let length = self.count(over);
        self.b
            .op(Op::Base(Base::CheckIndex(place)), &[index, length]);
        let item = self.base(Base::Simple(Simple::IntAdd), &[over.low, index]);
        self.convert(item, &over.element, place)
    }

    /// A loop that hands values from one iteration to the next; gives the last ones.
    pub(super) fn repeat(
        &mut self,
        over: &Iteration,
        init: Vec<Value>,
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let before = self.env.clone();
        let open = self.b.begin_for(over.low, over.high, false, init);
        let item = self.item(over, open.index);
        let next = body(self, item, &open.carried);
        self.env = before;
        self.b.for_(open, next)
    }

    /// `{ body | var in domain }`, and a range or another sequence as a list.
    pub(super) fn comprehension(
        &mut self,
        over: &Iteration,
        element: &Ty,
        body: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        let none = self.dynamic(Dynamic::List(element.clone()), &[]);
        let lists = self.repeat(over, vec![none], |t, item, lists| {
            let value = body(t, item);
            vec![t.dynamic(Dynamic::Append(element.clone()), &[lists[0], value])]
        });
        lists[0]
    }

    /// A reduction of what `body` is for every element.
    pub(super) fn reduce_sequence(
        &mut self,
        reduction: Reduction,
        over: &Iteration,
        element: &Ty,
        body: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        match reduction {
            Reduction::Mean => {
                let sum = self.fold(Reduction::Sum, over, element, body);
                self.divide_by_count(sum, over)
            }
            Reduction::Variance => {
                let list = self.comprehension(over, element, body);
                let again = self.iteration_over(list, over.place);
                let sum = self.fold(Reduction::Sum, &again, element, |_, x| x);
                let mean = self.divide_by_count(sum, &again);
                let shape = self.param(mean).shape().clone();
                let squares = self.fold(Reduction::Sum, &again, element, |t, x| {
                    t.ein(squared_difference(&shape), &[x, mean])
                });
                self.divide_by_count(squares, &again)
            }
            Reduction::ArgMin | Reduction::ArgMax => {
                let zero = self.int(0);
                let one = self.int(1);
                let [best, none] = self.no_winner(reduction, element);
                let found = self.repeat(over, vec![best, none, zero], |t, item, known| {
                    let value = body(t, item);
                    let [best, place] = t.winner(reduction, [known[0], known[1]], value, known[2]);
                    let next = t.base(Base::Simple(Simple::IntAdd), &[known[2], one]);
                    vec![best, place, next]
                });
                found[1]
            }
            _ => self.fold(reduction, over, element, body),
        }
    }

    /// Where the least or the greatest of several values is.
    pub(super) fn place_among(&mut self, reduction: Reduction, values: &[Value]) -> Value {
        let element = self.b.type_of(values[0]).clone();
        let mut known = self.no_winner(reduction, &element);
        for (at, &value) in values.iter().enumerate() {
            let at = self.int(at as i64);
            known = self.winner(reduction, known, value, at);
        }
        known[1]
    }

    /// The best value and its place before there is any.
    fn no_winner(&mut self, reduction: Reduction, element: &Ty) -> [Value; 2] {
        let extreme = reduction.extreme().expect("a reduction to a place");
        [self.identity_of(extreme, element), self.int(-1)]
    }

    /// The best value and its place after one more. The first number wins against nothing, even if it is infinite.
    fn winner(
        &mut self,
        reduction: Reduction,
        [best, place]: [Value; 2],
        value: Value,
        at: Value,
    ) -> [Value; 2] {
        let ty = self.b.type_of(value).clone();
        let (less, equal) = match ty {
            Ty::Int => (Simple::IntLess, Simple::IntEqual),
            _ => (Simple::Less, Simple::Equal),
        };
        let sides = match reduction {
            Reduction::ArgMin => [value, best],
            _ => [best, value],
        };
        let better = self.base(Base::Simple(less), &sides);
        let zero = self.int(0);
        let is_first = self.base(Base::Simple(Simple::IntLess), &[place, zero]);
        let is_number = self.base(Base::Simple(equal), &[value, value]);
        let is_first = self.base(Base::Simple(Simple::And), &[is_first, is_number]);
        let wins = self.base(Base::Simple(Simple::Or), &[better, is_first]);
        [
            self.base(Base::Select(ty), &[wins, value, best]),
            self.base(Base::Select(Ty::Int), &[wins, at, place]),
        ]
    }

    /// Combines what `body` is for every element, from the first to the last.
    fn fold(
        &mut self,
        reduction: Reduction,
        over: &Iteration,
        element: &Ty,
        body: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        let start = self.identity_of(reduction, element);
        let totals = self.repeat(over, vec![start], |t, item, totals| {
            let value = body(t, item);
            vec![t.combine(reduction, totals[0], value)]
        });
        totals[0]
    }

    /// How many elements there are.
    fn count(&mut self, over: &Iteration) -> Value {
        let one = self.int(1);
        let gap = self.base(Base::Simple(Simple::IntSub), &[over.high, over.low]);
        let count = self.base(Base::Simple(Simple::IntAdd), &[gap, one]);
        let zero = self.int(0);
        let none = self.base(Base::Simple(Simple::IntLess), &[count, zero]);
        self.base(Base::Select(Ty::Int), &[none, zero, count])
    }

    fn divide_by_count(&mut self, sum: Value, over: &Iteration) -> Value {
        let count = self.count(over);
        let count = self.base(Base::Simple(Simple::ToReal), &[count]);
        self.ein(quotient(&self.param(sum)), &[sum, count])
    }

    pub(super) fn identity_of(&mut self, reduction: Reduction, element: &Ty) -> Value {
        match (reduction, element) {
            (Reduction::All, _) => self.base(Base::Bool(true), &[]),
            (Reduction::Exists, _) => self.base(Base::Bool(false), &[]),
            (Reduction::Product, Ty::Int) => self.int(1),
            (Reduction::Product, _) => self.real(1.0),
            (Reduction::Min, Ty::Int) => self.int(self.plan.ints.1),
            (Reduction::Max, Ty::Int) => self.int(self.plan.ints.0),
            (Reduction::Min, _) => self.real(f64::INFINITY),
            (Reduction::Max, _) => self.real(f64::NEG_INFINITY),
            (Reduction::Sum | Reduction::Mean | Reduction::Variance, ty) => self.default(ty),
            (Reduction::ArgMin | Reduction::ArgMax, _) => self.int(-1),
        }
    }

    pub(super) fn combine(&mut self, reduction: Reduction, total: Value, value: Value) -> Value {
        let is_int = *self.b.type_of(value) == Ty::Int;
        let simple = |t: &mut Self, op: Simple, args: [Value; 2]| t.base(Base::Simple(op), &args);
        match reduction {
            Reduction::All => simple(self, Simple::And, [total, value]),
            Reduction::Exists => simple(self, Simple::Or, [total, value]),
            Reduction::Sum if is_int => simple(self, Simple::IntAdd, [total, value]),
            Reduction::Product if is_int => simple(self, Simple::IntMul, [total, value]),
            Reduction::Product => simple(self, Simple::Mul, [total, value]),
            Reduction::Min | Reduction::Max => {
                let less = if is_int {
                    Simple::IntLess
                } else {
                    Simple::Less
                };
                let args = if reduction == Reduction::Min {
                    [value, total]
                } else {
                    [total, value]
                };
                let better = simple(self, less, args);
                let ty = self.b.type_of(value).clone();
                self.base(Base::Select(ty), &[better, value, total])
            }
            Reduction::ArgMin | Reduction::ArgMax => unreachable!("places are not combined"),
            Reduction::Sum | Reduction::Mean | Reduction::Variance => {
                let Param::Tensor(shape) = self.param(total) else {
                    panic!("a sum of fields")
                };
                self.ein(sum(&shape), &[total, value])
            }
        }
    }
}

/// The whole of a parameter of a shape.
fn whole(param: usize, shape: &Shape) -> Term {
    Term::Access {
        param,
        indices: (0..shape.order()).map(Index::Axis).collect(),
    }
}

fn of_two(shape: &Shape, body: Term) -> Ein {
    Ein {
        params: vec![Param::Tensor(shape.clone()); 2],
        axes: shape.dims().to_vec(),
        body,
    }
}

/// a + b
pub(super) fn sum(shape: &Shape) -> Ein {
    of_two(shape, Term::Add(vec![whole(0, shape), whole(1, shape)]))
}

/// a b of scalars
pub(super) fn product() -> Ein {
    let shape = &Shape::SCALAR;
    of_two(shape, Term::Mul(vec![whole(0, shape), whole(1, shape)]))
}

/// (a − b)² by components
pub(super) fn squared_difference(shape: &Shape) -> Ein {
    let difference = Term::Add(vec![whole(0, shape), Term::Neg(Box::new(whole(1, shape)))]);
    of_two(shape, Term::Mul(vec![difference.clone(), difference]))
}

/// a / b with a scalar b
pub(super) fn quotient(a: &Param) -> Ein {
    let denominator = Term::Access {
        param: 1,
        indices: vec![],
    };
    Ein {
        params: vec![a.clone(), Param::Tensor(Shape::SCALAR)],
        axes: a.shape().dims().to_vec(),
        body: Term::Div(Box::new(whole(0, a.shape())), Box::new(denominator)),
    }
}
