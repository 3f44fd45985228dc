//! Expressions.

use super::{Key, Translator};
use crate::{
    front::typed::{
        closed_form::has_known_length,
        constant_components,
        tree::{Constant, Domain, Expr, ExprKind, VarId},
    },
    high::{High, Op},
    ir::{
        Bits, Simple,
        leaf::Leaf,
        tensor::{Base, Dynamic, Ty},
    },
    ssa::{Block, Value},
};
use ein_ir::{
    Ein, Elementary, Param, Type,
    ops::{Builtin, Form, Instance, Meaning, Relation, special},
};
use std::sync::Arc;

impl Translator<'_> {
    /// The value of an expression: a run-time value or a field.
    pub(super) fn expr(&mut self, e: &Expr) -> Value {
        match &e.kind {
            ExprKind::Constant(constant) => self.constant(constant, &e.ty),
            ExprKind::Var(var) => self.env[&Key::Var(*var)],
            ExprKind::Op { op, args } => self.operator(op, args, e),
            ExprKind::Power { base, exponent } => {
                let base = self.expr(base);
                self.ein(special::power(self.param(base), *exponent), &[base])
            }
            ExprKind::Tensor(elements) => {
                let elements: Vec<Value> = elements.iter().map(|e| self.expr(e)).collect();
                let params: Vec<Param> = elements.iter().map(|&v| self.param(v)).collect();
                self.ein(special::concat(&params), &elements)
            }
            ExprKind::Sequence(elements) => {
                let Type::Seq(element, _) = &e.ty else {
                    panic!("a sequence of type {}", e.ty)
                };
                let elements: Vec<Value> = elements.iter().map(|e| self.expr(e)).collect();
                let made = self.base(Base::Sequence(Ty::of(element)), &elements);
                self.convert(made, &Ty::of(&e.ty), e.span.start)
            }
            ExprKind::Slice { base, mask } => {
                let base = self.expr(base);
                self.ein(special::slice(self.param(base), mask), &[base])
            }
            ExprKind::Index { base, index } => {
                let base = self.sequence(base);
                if let Some(parts) = self.fields_in(base) {
                    let known =
                        constant_components(index).expect("fields are selected by constants");
                    return parts[known[0] as usize];
                }
                let index = self.expr(index);
                self.checked_item(base, index, e.span.start)
            }
            ExprKind::Identity(n) => self.ein(special::identity(*n), &[]),
            ExprKind::Zeros => self.filled(&e.ty, 0.0),
            ExprKind::Nan => self.filled(&e.ty, f64::NAN),
            ExprKind::Probe { field, at } => {
                if let Some(value) = self.probe_code(field, at) {
                    return value;
                }
                let (field, at) = (self.expr(field), self.expr(at));
                self.ein(
                    special::probe(self.param(field), self.param(at)),
                    &[field, at],
                )
            }
            ExprKind::Call { function, args } => {
                let args: Vec<Value> = args.iter().map(|arg| self.expr(arg)).collect();
                let program = self.program;
                let is_field = |v: &Value| matches!(self.b.type_of(*v), Ty::Field { .. });
                let may_be_fields = self.in_field_body && args.iter().any(is_field);
                self.with_fields(may_be_fields, |t| {
                    t.inline(&program.functions[function.0], &args)
                })
            }
            ExprKind::Coerce(inner) => self.coerce(inner, &e.ty),
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => self.if_expr(condition, then, otherwise),
            ExprKind::And(a, b) => {
                let a = self.expr(a);
                self.lazy(a, |t| t.expr(b), |t| t.base(Base::Bool(false), &[]))
            }
            ExprKind::Or(a, b) => {
                let a = self.expr(a);
                self.lazy(a, |t| t.base(Base::Bool(true), &[]), |t| t.expr(b))
            }
            ExprKind::Reduce {
                op,
                body,
                var,
                domain,
            } => self.reduce(op, body, *var, domain),
            ExprKind::Swap { selector, fields } => {
                let selector = self.expr(selector);
                let mut args = vec![self.base(Base::Simple(Simple::ToReal), &[selector])];
                args.extend(fields.iter().map(|f| self.expr(f)).collect::<Vec<_>>());
                let params: Vec<Param> = args.iter().map(|&v| self.param(v)).collect();
                self.ein(special::swap(&params), &args)
            }
            ExprKind::Kernel(_) | ExprKind::LoadImage(_) => {
                panic!("{:?} is not a value at run time", e.kind)
            }
            ExprKind::Range(..) => {
                let over = self.iteration(e);
                self.comprehension(&over, &Ty::Int, |_, item| item)
            }
            ExprKind::Comprehension { body, var, domain } => {
                let over = self.iteration(domain);
                self.comprehension(&over, &Ty::of(&body.ty), |t, item| {
                    t.bind(*var, item);
                    t.expr(body)
                })
            }
            ExprKind::Select { strand, var } => self.select(strand, *var),
            ExprKind::LoadSequence(file) => {
                let hidden = self.load_sequence(file, &e.ty, e.span);
                self.base(Base::Global(hidden, Ty::of(&e.ty)), &[])
            }
            ExprKind::Sphere { center, radius } => self.sphere(center.as_deref(), radius),
        }
    }

    /// Applies an EIN operator to values of just the kinds it has.
    pub(super) fn ein(&mut self, mut ein: Ein, args: &[Value]) -> Value {
        // A row is resolved at the types of the source; inside a field function, tensors have become fields.
        ein.params = args.iter().map(|&v| self.param(v)).collect();
        self.b.op1(Op::Ein(Arc::new(ein.into())), args)
    }

    /// What a value is to an EIN operator.
    pub(super) fn param(&self, v: Value) -> Param {
        match self.b.type_of(v) {
            Ty::Tensor(shape) => Param::Tensor(shape.clone()),
            Ty::Field { dim, shape } => Param::Field {
                dim: *dim,
                shape: shape.clone(),
            },
            other => panic!("{other} is not a tensor"),
        }
    }

    fn constant(&mut self, constant: &Constant, ty: &Type) -> Value {
        match constant {
            Constant::Bool(b) => self.base(Base::Bool(*b), &[]),
            Constant::Int(n) => self.int(*n),
            Constant::String(s) => self.base(Base::Str(s.as_str().into()), &[]),
            Constant::Tensor(shape, values) => self.base(
                Base::Tensor(
                    shape.clone(),
                    values.iter().map(|&x| Bits::from(x)).collect(),
                ),
                &[],
            ),
            Constant::Seq(_) => {
                let Type::Seq(element, _) = ty else {
                    panic!("a sequence of type {ty}")
                };
                let made = self.constant_sequence(constant, element);
                self.convert(made, &Ty::of(ty), 0)
            }
        }
    }

    /// A constant sequence, of known length.
    pub(super) fn constant_sequence(&mut self, constant: &Constant, element: &Type) -> Value {
        let Constant::Seq(elements) = constant else {
            panic!("{constant:?} is not a sequence")
        };
        let values: Vec<Value> = elements.iter().map(|c| self.constant(c, element)).collect();
        self.base(Base::Sequence(Ty::of(element)), &values)
    }

    fn filled(&mut self, ty: &Type, x: f64) -> Value {
        let Type::Tensor(shape) = ty else {
            panic!("a tensor of type {ty}")
        };
        self.base(
            Base::Tensor(shape.clone(), vec![x.into(); shape.size()]),
            &[],
        )
    }

    fn coerce(&mut self, inner: &Expr, to: &Type) -> Value {
        let value = self.expr(inner);
        self.convert(value, &Ty::of(to), inner.span.start)
    }

    /// The same value at a type it converts to.
    pub(super) fn convert(&mut self, value: Value, to: &Ty, place: u32) -> Value {
        match (self.b.type_of(value).clone(), to) {
            (from, to) if from == *to => value,
            (Ty::Int, Ty::Tensor(shape)) if shape.is_scalar() => {
                self.base(Base::Simple(Simple::ToReal), &[value])
            }
            (Ty::Seq(_, n), Ty::Seq(element, _) | Ty::List(element)) => {
                let converted: Vec<Value> = (0..n)
                    .map(|k| {
                        let k = self.int(k as i64);
                        let item = self.base(Base::Element(place), &[value, k]);
                        self.convert(item, element, place)
                    })
                    .collect();
                match to {
                    Ty::List(_) => self.dynamic(Dynamic::List((**element).clone()), &converted),
                    _ => self.base(Base::Sequence((**element).clone()), &converted),
                }
            }
            // A field with another continuity, or a value that has become one.
            (Ty::Field { .. }, _) => value,
            (from, to) => panic!("{from} does not become {to}"),
        }
    }

    /// A value computed in one of two ways, only that one.
    pub(super) fn lazy(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self) -> Value,
        otherwise: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let then = self.apart(then);
        let otherwise = self.apart(otherwise);
        self.b.if_(condition, then, otherwise)[0]
    }

    /// A block of its own for a value. What variables are inside, such as the parameters of functions, is forgotten after it.
    fn apart(&mut self, value: impl FnOnce(&mut Self) -> Value) -> Block<High> {
        let outside = self.env.clone();
        self.b.open();
        let value = value(self);
        self.env = outside;
        self.b.close(vec![value])
    }

    fn operator(&mut self, op: &Instance, args: &[Expr], e: &Expr) -> Value {
        match op.row.meaning {
            // An exponent that is known only at run time makes a real power.
            Meaning::Form(Form::Power) => {
                let values: Vec<Value> = args.iter().map(|arg| self.expr(arg)).collect();
                let exponent = self.base(Base::Simple(Simple::ToReal), &[values[1]]);
                let params = [self.param(values[0]), self.param(exponent)];
                self.ein(
                    special::elementary(Elementary::Pow, &params),
                    &[values[0], exponent],
                )
            }
            Meaning::Ein(_) | Meaning::Elementary(_) | Meaning::Form(_) => {
                let args: Vec<Value> = args.iter().map(|arg| self.expr(arg)).collect();
                let ein = op
                    .ein()
                    .unwrap_or_else(|| panic!("`{}` has no EIN operator", op.row.name));
                let value = self.ein(ein, &args);
                match op.result {
                    Type::Seq(..) => self.parts(value),
                    _ => value,
                }
            }
            Meaning::Builtin(builtin) => self.builtin(builtin, args, e),
        }
    }

    fn builtin(&mut self, builtin: Builtin, args: &[Expr], e: &Expr) -> Value {
        match builtin {
            Builtin::Convolve => return self.convolve(args),
            Builtin::ImageSize => {
                let sizes = self.image_sizes(&args[0]);
                return self.base(Base::Sequence(Ty::Int), &sizes);
            }
            Builtin::Length => {
                let sequence = self.sequence(&args[0]);
                return self.length(sequence);
            }
            _ => {}
        }
        let values: Vec<Value> = args.iter().map(|arg| self.expr(arg)).collect();
        let place = e.span.start;
        match builtin {
            Builtin::IntAdd => self.base(Base::Simple(Simple::IntAdd), &values),
            Builtin::IntSub => self.base(Base::Simple(Simple::IntSub), &values),
            Builtin::IntMul => self.base(Base::Simple(Simple::IntMul), &values),
            Builtin::IntDiv => self.base(Base::IntDiv(place), &values),
            Builtin::IntRem => self.base(Base::IntRem(place), &values),
            Builtin::IntNeg => self.base(Base::Simple(Simple::IntNeg), &values),
            Builtin::IntAbs => {
                let zero = self.int(0);
                let negative = self.base(Base::Simple(Simple::IntLess), &[values[0], zero]);
                let negated = self.base(Base::Simple(Simple::IntNeg), &values);
                self.base(Base::Select(Ty::Int), &[negative, negated, values[0]])
            }
            Builtin::IntMin => {
                let swap = self.base(Base::Simple(Simple::IntLess), &[values[1], values[0]]);
                self.base(Base::Select(Ty::Int), &[swap, values[1], values[0]])
            }
            Builtin::IntMax => {
                let swap = self.base(Base::Simple(Simple::IntLess), &values);
                self.base(Base::Select(Ty::Int), &[swap, values[1], values[0]])
            }
            Builtin::IntToReal => self.base(Base::Simple(Simple::ToReal), &values),
            Builtin::Compare(relation) => self.compare(relation, values[0], values[1]),
            Builtin::And => self.base(Base::Simple(Simple::And), &values),
            Builtin::Or => self.base(Base::Simple(Simple::Or), &values),
            Builtin::Not => self.base(Base::Simple(Simple::Not), &values),
            Builtin::Pi => self.real(std::f64::consts::PI),
            Builtin::Infinity => self.real(f64::INFINITY),
            Builtin::Nan => self.filled(&e.ty, f64::NAN),
            Builtin::Inside => self.inside(values[0], values[1]),
            Builtin::Sequence => {
                let element = self.b.type_of(values[0]).clone();
                self.base(Base::Sequence(element), &values)
            }
            Builtin::Element => self.checked_item(values[0], values[1], place),
            Builtin::Append | Builtin::Prepend | Builtin::Concatenate => {
                let element = Ty::of(&e.ty).element().expect("a sequence").clone();
                match builtin {
                    Builtin::Append => self.dynamic(Dynamic::Append(element), &values),
                    Builtin::Prepend => {
                        self.dynamic(Dynamic::Prepend(element), &[values[1], values[0]])
                    }
                    _ => self.dynamic(Dynamic::Concatenate(element), &values),
                }
            }
            Builtin::Count(set) => self.dynamic(Dynamic::Count(set), &[]),
            Builtin::Select
            | Builtin::Convolve
            | Builtin::AxisKernels
            | Builtin::LoadImage
            | Builtin::LoadSequence
            | Builtin::Border(_)
            | Builtin::ImageSize
            | Builtin::Length
            | Builtin::Range
            | Builtin::Reduce(_)
            | Builtin::Sphere => panic!("{builtin:?} has a form of its own in the typed tree"),
        }
    }

    fn compare(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        let (less, less_equal, equal) = match self.b.type_of(a) {
            Ty::Int => (Simple::IntLess, Simple::IntLessEqual, Simple::IntEqual),
            Ty::Str => (Simple::StrEqual, Simple::StrEqual, Simple::StrEqual),
            Ty::Bool => return self.compare_bools(relation, a, b),
            _ => (Simple::Less, Simple::LessEqual, Simple::Equal),
        };
        let mut apply = |op: Simple, args: [Value; 2]| self.base(Base::Simple(op), &args);
        match relation {
            Relation::Less => apply(less, [a, b]),
            Relation::LessEqual => apply(less_equal, [a, b]),
            Relation::Equal => apply(equal, [a, b]),
            Relation::GreaterEqual => apply(less_equal, [b, a]),
            Relation::Greater => apply(less, [b, a]),
            Relation::NotEqual => {
                let same = apply(equal, [a, b]);
                self.base(Base::Simple(Simple::Not), &[same])
            }
        }
    }

    fn compare_bools(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        let differs = self.base(Base::Simple(Simple::Not), &[b]);
        match relation {
            Relation::NotEqual => self.base(Base::Select(Ty::Bool), &[a, differs, b]),
            _ => self.base(Base::Select(Ty::Bool), &[a, b, differs]),
        }
    }

    /// Whether every image behind a field has samples around a position.
    fn inside(&mut self, at: Value, field: Value) -> Value {
        let mut leaves = Vec::new();
        self.leaves(at, field, &mut leaves);
        let start = self.base(Base::Bool(true), &[]);
        leaves.into_iter().fold(start, |all, (leaf, at)| {
            let Leaf::Convolution(leaf) = leaf;
            let inside = Op::Inside {
                image: leaf.image,
                supports: leaf.supports().collect(),
            };
            let test = self.b.op1(inside, &[at]);
            self.base(Base::Simple(Simple::And), &[all, test])
        })
    }

    /// The leaves of a field, each with the position where it is probed.
    pub(super) fn leaves(&mut self, at: Value, field: Value, found: &mut Vec<(Leaf, Value)>) {
        let (op, args) = self
            .b
            .definition(field)
            .expect("a field is defined by an operation");
        match op {
            Op::Field(leaf) => found.push((leaf, at)),
            Op::Ein(operator) => {
                let composed = matches!(operator.ein.body, ein_ir::Term::Probe { .. });
                let is_field = |t: &Self, v: Value| matches!(t.b.type_of(v), Ty::Field { .. });
                if composed && args.len() == 2 && is_field(self, args[1]) {
                    self.leaves(at, args[1], found);
                    let inner = self.ein(
                        special::probe(self.param(args[1]), self.param(at)),
                        &[args[1], at],
                    );
                    self.leaves(inner, args[0], found);
                } else {
                    for arg in args {
                        if is_field(self, arg) {
                            self.leaves(at, arg, found);
                        }
                    }
                }
            }
            other => panic!("`{other}` does not give a field"),
        }
    }

    fn reduce(&mut self, op: &Instance, body: &Expr, var: VarId, domain: &Domain) -> Value {
        let Meaning::Builtin(Builtin::Reduce(reduction)) = op.row.meaning else {
            panic!("`{}` is not a reduction", op.row.name)
        };
        match domain {
            Domain::Strands(set) => self.reduce_strands(reduction, *set, body, var),
            Domain::Seq(source) if self.in_field_body && has_known_length(source) => {
                self.reduce_fields(reduction, body, var, source)
            }
            Domain::Seq(source) => {
                let over = self.iteration(source);
                let element = Ty::of(&body.ty);
                self.reduce_sequence(reduction, &over, &element, |t, item| {
                    t.bind(var, item);
                    t.expr(body)
                })
            }
        }
    }
}
