//! Field functions: closed forms of the position.
//!
//! The position is the identity field, so the operators of the body become operators on fields by themselves. A conditional
//! whose condition depends on the position becomes a conditional inside the field: both sides are kept, and the derivative
//! is that of the chosen side.

use super::{
    Key, Translator,
    expr::element_of,
    iterate::{product, quotient, squared_difference, sum},
};
use crate::{
    front::{
        limits::closed_form::named_field,
        tree::{Expr, Global, VarId},
    },
    high::Op,
    ir::{
        Simple,
        fem::FemField,
        leaf::{Convolution, ImageInfo, Leaf},
        tensor::{Base, Ty},
    },
    ssa::Value,
};
use ein_ir::{
    Comparison, Ein, Index, Param, Term, Type,
    ops::{Builtin, Reduction, Relation, special},
};
use std::sync::Arc;

/// A condition that may depend on the position.
enum Condition {
    /// It does not.
    Plain(Value),
    /// A comparison of scalars that include fields.
    Compare(Comparison, Value, Value),
    And(Box<[Condition; 2]>),
    Or(Box<[Condition; 2]>),
    Not(Box<Condition>),
}

impl Translator<'_> {
    pub(super) fn define_field_function(
        &mut self,
        var: VarId,
        param: VarId,
        time: Option<VarId>,
        body: &Expr,
    ) {
        if self.plan.code_fields.contains_key(&var) {
            return;
        }
        if let Some(time) = time {
            return self.define_function_over_time(var, (param, time), body);
        }
        let Type::Field { dim, .. } = *self.ty(var) else {
            panic!("a field function without field type")
        };
        let value = self.field_function(dim, param, body);
        self.bind(var, value);
    }

    /// The field of the values of an expression at all positions.
    pub(super) fn field_function(&mut self, dim: usize, param: VarId, body: &Expr) -> Value {
        let position = self.ein(special::position(dim), &[]);
        let value = self.body_at(param, position, body, true);
        self.as_field(value, dim)
    }

    /// The value of a field function that is code: the code, with the position in the place of its parameter. None if the
    /// field is of another kind.
    pub(super) fn probe_code(
        &mut self,
        field: &Expr,
        at: &Expr,
        now: Option<&Expr>,
    ) -> Option<Value> {
        let place = *self.plan.code_fields.get(&named_field(field)?)?;
        let program = self.program;
        let Global::FieldFunction {
            param, time, body, ..
        } = &program.globals[place]
        else {
            panic!("only field functions are code")
        };
        let at = self.expr(at);
        if let (Some(time), Some(now)) = (*time, now) {
            let now = self.tensor(now);
            self.bind(time, now);
        }
        Some(self.body_at(*param, at, body, false))
    }

    /// The body of a field function with a position in the place of its parameter; whether that is a field.
    fn body_at(&mut self, param: VarId, at: Value, body: &Expr, is_field: bool) -> Value {
        let outer = self.env.get(&Key::Var(param)).copied();
        self.bind(param, at);
        let value = self.with_fields(is_field, |t| t.expr(body));
        if let Some(outer) = outer {
            self.env.insert(Key::Var(param), outer);
        }
        value
    }

    /// Translates something in which tensors may have become fields, or not.
    pub(super) fn with_fields<T>(
        &mut self,
        may_be_fields: bool,
        translate: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let was = std::mem::replace(&mut self.in_field_body, may_be_fields);
        let translated = translate(self);
        self.in_field_body = was;
        translated
    }

    /// A value that does not depend on the position, as a field all the same.
    fn as_field(&mut self, value: Value, dim: usize) -> Value {
        let Ty::Tensor(shape) = self.b.type_of(value).clone() else {
            return value;
        };
        // To the types, the value plus 0 times the position is a field; the position is simplified away.
        let indices = (0..shape.order()).map(Index::Axis).collect();
        let nothing = Term::Mul(vec![
            Term::Const(ein_ir::Rational::from_integer(0)),
            Term::Position {
                dim,
                index: Index::Const(0),
            },
        ]);
        let body = Term::Add(vec![Term::Access { param: 0, indices }, nothing]);
        let axes = shape.dims().to_vec();
        self.ein(
            Ein {
                params: vec![Param::Tensor(shape)],
                axes,
                body,
            },
            &[value],
        )
    }

    pub(super) fn if_expr(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Value {
        // Only tensors depend on the position: other values are chosen once, as anywhere.
        if !self.in_field_body || !matches!(then.ty, Type::Tensor(_)) {
            let condition = self.expr(condition);
            return self.lazy(condition, |t| t.expr(then), |t| t.expr(otherwise));
        }
        let condition = self.condition(condition);
        let (then, otherwise) = (self.expr(then), self.expr(otherwise));
        self.decide(&condition, then, otherwise)
    }

    fn condition(&mut self, e: &Expr) -> Condition {
        match e.builtin() {
            Some((Builtin::And, [a, b])) => {
                Condition::And(Box::new([self.condition(a), self.condition(b)]))
            }
            Some((Builtin::Or, [a, b])) => {
                Condition::Or(Box::new([self.condition(a), self.condition(b)]))
            }
            Some((Builtin::Not, [inner])) => Condition::Not(Box::new(self.condition(inner))),
            Some((Builtin::Inside, [at, field])) => {
                let (at, field) = (self.expr(at), self.expr(field));
                self.inside_condition(at, field)
            }
            Some((Builtin::InsideTime, [at, time, field])) => {
                let (at, time) = (self.expr(at), self.expr(time));
                let field = self.at_time(field, time);
                self.inside_condition(at, field)
            }
            Some((Builtin::Compare(relation), [a, b])) if matches!(a.ty, Type::Tensor(_)) => {
                let (a, b) = (self.expr(a), self.expr(b));
                match relation {
                    Relation::Less => Condition::Compare(Comparison::Less, a, b),
                    Relation::LessEqual => Condition::Compare(Comparison::LessEqual, a, b),
                    Relation::Greater => Condition::Compare(Comparison::Less, b, a),
                    Relation::GreaterEqual => Condition::Compare(Comparison::LessEqual, b, a),
                    Relation::Equal => Condition::Compare(Comparison::Equal, a, b),
                    Relation::NotEqual => {
                        Condition::Not(Box::new(Condition::Compare(Comparison::Equal, a, b)))
                    }
                }
            }
            _ => Condition::Plain(self.expr(e)),
        }
    }

    /// `inside` at a position that may depend on the position itself: comparisons of index coordinates.
    fn inside_condition(&mut self, at: Value, field: Value) -> Condition {
        let mut leaves = Vec::new();
        self.leaves(at, field, &mut leaves);
        let mut tests = Vec::new();
        for (leaf, at, time) in leaves {
            if let Some([first, time, last]) = self.times_of(&leaf, time) {
                tests.push(Condition::Compare(Comparison::Less, first, time));
                tests.push(Condition::Compare(Comparison::Less, time, last));
            }
            let leaf = match leaf {
                Leaf::Convolution(leaf) => leaf,
                Leaf::Fem(leaf) => {
                    tests.push(self.inside_mesh(&leaf, at, time));
                    continue;
                }
            };
            for (axis, support) in (0..).zip(leaf.supports()) {
                let x = self.index_coordinate(&leaf, axis, at);
                let low = self.real(f64::from(support) - 1.0);
                let size = self.base(Base::Image(leaf.image, ImageInfo::Size(axis)), &[]);
                let margin = self.int(support.into());
                let high = self.base(Base::Simple(Simple::IntSub), &[size, margin]);
                let high = self.base(Base::Simple(Simple::ToReal), &[high]);
                tests.push(Condition::Compare(Comparison::Less, low, x));
                tests.push(Condition::Compare(Comparison::Less, x, high));
            }
        }
        let everywhere = self.base(Base::Bool(true), &[]);
        tests
            .into_iter()
            .reduce(|all, test| Condition::And(Box::new([all, test])))
            .unwrap_or(Condition::Plain(everywhere))
    }

    /// Whether a position that may depend on the position itself is in a mesh: beyond it, a field on it is not a number, and
    /// that compares with nothing.
    fn inside_mesh(&mut self, leaf: &FemField, at: Value, time: Option<Value>) -> Condition {
        let bare = FemField {
            outside: None,
            ..leaf.clone()
        };
        let indices = vec![Index::Const(0); leaf.shape.order()];
        let bare = Op::Field(Leaf::Fem(Arc::new(bare)));
        let field = self.b.op1(bare, time.as_slice());
        let first = Ein {
            params: vec![self.param(field)],
            axes: vec![],
            body: Term::Access { param: 0, indices },
        };
        let first = self.ein(first, &[field]);
        let probe = special::probe(self.param(first), self.param(at));
        let value = self.ein(probe, &[first, at]);
        let least = self.real(f64::NEG_INFINITY);
        Condition::Compare(Comparison::LessEqual, least, value)
    }

    /// A coordinate of a position in the index space of an image: an entry of W·x + t.
    fn index_coordinate(&mut self, leaf: &Convolution, axis: u8, at: Value) -> Value {
        let dim = leaf.dim();
        let entry = |t: &mut Self, info| t.base(Base::Image(leaf.image, info), &[]);
        let mut args = vec![at, entry(self, ImageInfo::Offset(axis))];
        let scalar = |param| Term::Access {
            param,
            indices: vec![],
        };
        let mut terms = vec![scalar(1)];
        for column in 0..dim {
            args.push(entry(self, ImageInfo::ToIndex(axis, column as u8)));
            let indices = if dim > 1 {
                vec![Index::Const(column)]
            } else {
                vec![]
            };
            let coordinate = Term::Access { param: 0, indices };
            terms.push(Term::Mul(vec![scalar(2 + column), coordinate]));
        }
        let ein = Ein {
            params: vec![],
            axes: vec![],
            body: Term::Add(terms),
        };
        self.ein(ein, &args)
    }

    fn decide(&mut self, condition: &Condition, then: Value, otherwise: Value) -> Value {
        match condition {
            Condition::Plain(value) => {
                let [one, zero] = [self.real(1.0), self.real(0.0)];
                let number = self.base(Base::Select(Ty::REAL), &[*value, one, zero]);
                self.cond(Comparison::Equal, number, one, then, otherwise)
            }
            Condition::Compare(test, a, b) => self.cond(*test, *a, *b, then, otherwise),
            Condition::And(both) => {
                let inner = self.decide(&both[1], then, otherwise);
                self.decide(&both[0], inner, otherwise)
            }
            Condition::Or(both) => {
                let inner = self.decide(&both[1], then, otherwise);
                self.decide(&both[0], then, inner)
            }
            Condition::Not(inner) => self.decide(inner, otherwise, then),
        }
    }

    /// `then` where the comparison of `a` with `b` holds, else `otherwise`, as an EIN operator.
    fn cond(
        &mut self,
        test: Comparison,
        a: Value,
        b: Value,
        then: Value,
        otherwise: Value,
    ) -> Value {
        let axes = self.param(then).shape().dims().to_vec();
        let scalar = |param| Term::Access {
            param,
            indices: vec![],
        };
        let whole = |param| Term::Access {
            param,
            indices: (0..axes.len()).map(Index::Axis).collect(),
        };
        let body = Term::Cond {
            test,
            sides: Box::new([scalar(0), scalar(1)]),
            then: Box::new(whole(2)),
            otherwise: Box::new(whole(3)),
        };
        self.ein(
            Ein {
                params: vec![],
                axes,
                body,
            },
            &[a, b, then, otherwise],
        )
    }

    /// A reduction of fields over a sequence of known length, written out.
    pub(super) fn reduce_fields(
        &mut self,
        reduction: Reduction,
        body: Option<(VarId, &Expr)>,
        source: &Expr,
    ) -> Value {
        let sequence = self.sequence(source);
        let Ty::Seq(_, n) = self.b.type_of(sequence).clone() else {
            panic!("a reduction over {source:?}")
        };
        let fields = self.fields_in(sequence);
        let values: Vec<Value> = (0..n)
            .map(|k| {
                let item = match &fields {
                    Some(fields) => fields[k],
                    None => {
                        let index = self.int(k as i64);
                        self.base(Base::Element(source.span.start), &[sequence, index])
                    }
                };
                let Some((var, body)) = body else {
                    return item;
                };
                self.bind(var, item);
                self.expr(body)
            })
            .collect();
        let count = self.real(n as f64);
        let element = body.map_or_else(|| element_of(&source.ty), |(_, body)| Ty::of(&body.ty));
        let mean = |t: &mut Self, values| {
            let sum = t.fold_fields(Reduction::Sum, values, &element);
            t.ein(quotient(&t.param(sum)), &[sum, count])
        };
        match reduction {
            Reduction::Mean => mean(self, values),
            Reduction::Variance => {
                let middle = mean(self, values.clone());
                let square = squared_difference(self.param(middle).shape());
                let squares = values
                    .into_iter()
                    .map(|x| self.ein(square.clone(), &[x, middle]))
                    .collect();
                mean(self, squares)
            }
            _ => self.fold_fields(reduction, values, &element),
        }
    }

    /// Combines values, from the first to the last; they may be fields.
    fn fold_fields(&mut self, reduction: Reduction, values: Vec<Value>, element: &Ty) -> Value {
        let combined = values.into_iter().reduce(|total, value| {
            let Ty::Field { shape, .. } = self.b.type_of(value).clone() else {
                return self.combine(reduction, total, value);
            };
            match reduction {
                Reduction::Min => self.cond(Comparison::Less, value, total, value, total),
                Reduction::Max => self.cond(Comparison::Less, total, value, value, total),
                Reduction::Product => self.ein(product(), &[total, value]),
                Reduction::Sum => self.ein(sum(&shape), &[total, value]),
                other => panic!("{other:?} of fields"),
            }
        });
        combined.unwrap_or_else(|| self.identity_of(reduction, element))
    }
}
