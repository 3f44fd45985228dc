//! Expressions.

use super::{Key, Translator, iterate::is_range};
use crate::{
    front::{
        limits::{closed_form::has_known_length, observed::Kept},
        tree::{Constant, Domain, Expr, ExprKind, VarId},
    },
    high::{High, Op},
    ir::{
        Bits, Simple,
        fem::FemField,
        leaf::Leaf,
        tensor::{Base, Dynamic, Ty},
    },
    ssa::{Block, Value},
};
use ein_ir::{
    Ein, Param, Type,
    ops::{Builtin, Form, Instance, Meaning, Reduction, Relation, special},
};
use std::sync::Arc;

impl Translator<'_> {
    /// The value of an expression: a run-time value or a field.
    pub(super) fn expr(&mut self, e: &Expr) -> Value {
        match &e.kind {
            ExprKind::Constant(constant) => self.constant(constant, &e.ty),
            ExprKind::Var(var) if self.over_time.contains_key(var) => self.field_over_time(*var),
            ExprKind::Var(var) => self.env[&Key::Var(*var)],
            ExprKind::Op { op, args } => self.operator(op, args, e),
            ExprKind::Indexed { operator, args } => self.indexed(operator, args, e),
            ExprKind::Call { function, args } => {
                let program = self.program;
                let function = &program.functions[function.0];
                // Parameters that are not values are defined after the values: a call among them may be of the same function.
                let (values, definitions): (Vec<_>, Vec<_>) = (function.params.iter().zip(args))
                    .partition(|(param, _)| !is_static(self.ty(**param)));
                let values: Vec<(VarId, Value)> = values
                    .into_iter()
                    .map(|(&param, arg)| (param, self.expr(arg)))
                    .collect();
                // Its variables end with the call: otherwise branches around later calls would merge what earlier ones left,
                // which may be fields.
                let outer = self.env.clone();
                let over_time = self.over_time.clone();
                for (&param, arg) in definitions {
                    self.define(param, arg);
                }
                let is_field =
                    |(_, v): &(VarId, Value)| matches!(self.b.type_of(*v), Ty::Field { .. });
                let may_be_fields = self.in_field_body && values.iter().any(is_field);
                let result = self.with_fields(may_be_fields, |t| t.inline(function, &values));
                self.env = outer;
                self.over_time = over_time;
                result
            }
            ExprKind::Let { bindings, body } => {
                for (var, value) in bindings {
                    let value = self.value_of(*var, value);
                    self.give(*var, value);
                }
                self.expr(body)
            }
            ExprKind::Derivative { target, parameter } => self.derivative(target, parameter, e),
            ExprKind::Recurrence(steps) => {
                self.recurrence(steps, &[Kept::All(None)], &Ty::of(&e.ty))
            }
            ExprKind::Coerce(inner) => {
                let value = self.expr(inner);
                self.convert(value, &Ty::of(&e.ty), inner.span.start)
            }
            ExprKind::Comprehension { body, var, domain } => {
                let Domain::Seq(source) = domain else {
                    panic!("a comprehension over strands is reduced")
                };
                let over = self.iteration(source);
                self.comprehension(&over, &Ty::of(&body.ty), |t, item| {
                    t.bind(*var, item);
                    t.expr(body)
                })
            }
            ExprKind::Given { input, otherwise } => self.given_or(*input, otherwise),
            ExprKind::Select { strand, var } => self.select(strand, *var),
            ExprKind::Part { .. } | ExprKind::Notation(_) => {
                panic!("elaboration makes operators of parts and index notation")
            }
            ExprKind::Kernel(_) => panic!("a kernel is not a value at run time"),
        }
    }

    fn values_of(&mut self, exprs: &[Expr]) -> Vec<Value> {
        exprs.iter().map(|e| self.expr(e)).collect()
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
                let made = self.constant_sequence(constant, ty);
                self.convert(made, &Ty::of(ty), 0)
            }
        }
    }

    /// A constant sequence, of known length.
    pub(super) fn constant_sequence(&mut self, constant: &Constant, ty: &Type) -> Value {
        let (Constant::Seq(elements), Type::Seq(element, _)) = (constant, ty) else {
            panic!("{constant:?} is not a sequence of type {ty}")
        };
        let values: Vec<Value> = elements.iter().map(|c| self.constant(c, element)).collect();
        self.base(Base::Sequence(Ty::of(element)), &values)
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
        if let Meaning::Builtin(builtin) = op.row.meaning {
            return self.builtin(builtin, args, e);
        }
        if op.row.meaning == Meaning::Form(Form::Probe)
            && let Some(value) = self.probe_code(&args[0], &args[1], None)
        {
            return value;
        }
        // To EIN, integers are reals.
        let mut args: Vec<Value> = args.iter().map(|arg| self.tensor(arg)).collect();
        let exponent = match (op.row.meaning, &args[..]) {
            (Meaning::Form(Form::Power), &[_, exponent]) => self.known_int(exponent),
            _ => None,
        };
        let known = exponent.map(|n| op.clone().with_exponent(n));
        args.truncate(known.as_ref().map_or(args.len(), |known| known.args.len()));
        let params: Vec<Param> = args.iter().map(|&v| self.param(v)).collect();
        let operators = &mut self.statics.operators;
        let operator = operators.get(known.as_ref().unwrap_or(op), &params);
        let value = self.b.op1(Op::Ein(operator), &args);
        match op.result {
            Type::Seq(..) => self.parts(value),
            _ => value,
        }
    }

    /// The integer that a real was, if it is known here, as it is where it was a constant argument of a function.
    fn known_int(&self, real: Value) -> Option<i32> {
        let (Op::Base(Base::Simple(Simple::ToReal)), int) = self.b.definition(real)? else {
            return None;
        };
        match self.b.definition(int[0])? {
            (Op::Base(Base::Int(n)), _) => i32::try_from(n).ok(),
            _ => None,
        }
    }

    pub(super) fn tensor(&mut self, e: &Expr) -> Value {
        if let ExprKind::Constant(Constant::Int(n)) = e.kind {
            return self.real(n as f64);
        }
        let value = self.expr(e);
        match self.b.type_of(value) {
            Ty::Int => self.convert(value, &Ty::REAL, e.span.start),
            _ => value,
        }
    }

    fn builtin(&mut self, builtin: Builtin, args: &[Expr], e: &Expr) -> Value {
        let place = e.span.start;
        // Functions with arguments that are not always evaluated, or not values, are handled first.
        match (builtin, args) {
            (Builtin::And, [a, b]) => {
                let a = self.expr(a);
                return self.lazy(a, |t| t.expr(b), |t| t.base(Base::Bool(false), &[]));
            }
            (Builtin::Or, [a, b]) => {
                let a = self.expr(a);
                return self.lazy(a, |t| t.base(Base::Bool(true), &[]), |t| t.expr(b));
            }
            (Builtin::Select, [then, condition, otherwise]) => {
                return self.if_expr(condition, then, otherwise);
            }
            (Builtin::Convolve, _) => return self.convolve(args),
            (Builtin::ProbeTime, [field, at, time]) => return self.probe_time([field, at, time]),
            (Builtin::TimeDerivative, [field]) => return self.time_derivative(field, e),
            (Builtin::InsideTime, [at, time, field]) => {
                return self.inside_time([at, time, field]);
            }
            (Builtin::Frames(fact), [image]) => return self.frames_fact(fact, image),
            (Builtin::ToField, _) => return self.field_of_fem(args),
            (Builtin::ImageSize, [image]) => {
                let sizes = self.image_sizes(image);
                return self.base(Base::Sequence(Ty::Int), &sizes);
            }
            (Builtin::Data(fact), _) => return self.data_fact(fact, args, &e.ty),
            (Builtin::LoadSequence, [file]) => {
                let unnamed = self.load_sequence(file, &e.ty, e.span);
                return self.base(Base::Global(unnamed, Ty::of(&e.ty)), &[]);
            }
            (Builtin::Length, [sequence]) => {
                let sequence = self.sequence(sequence);
                return self.length(sequence);
            }
            (Builtin::Element, [sequence, index]) => {
                if is_range(sequence) {
                    let over = self.iteration(sequence);
                    let index = self.expr(index);
                    return self.int_of_range(&over, index, place);
                }
                let sequence = self.sequence(sequence);
                if let Some(parts) = self.fields_in(sequence) {
                    let ExprKind::Constant(Constant::Int(known)) = index.kind else {
                        panic!("fields are selected by constants")
                    };
                    return parts[known as usize];
                }
                let index = self.expr(index);
                return self.checked_item(sequence, index, place);
            }
            (Builtin::Range, _) => {
                let over = self.iteration(e);
                return self.comprehension(&over, &Ty::Int, |_, item| item);
            }
            (Builtin::Reduce(reduction), [sequence]) => return self.reduce(reduction, sequence),
            _ => {}
        }
        let values = self.values_of(args);
        let mut base = |op: Base| self.base(op, &values);
        match builtin {
            Builtin::IntAdd => base(Base::Simple(Simple::IntAdd)),
            Builtin::IntSub => base(Base::Simple(Simple::IntSub)),
            Builtin::IntMul => base(Base::Simple(Simple::IntMul)),
            Builtin::IntDiv => base(Base::IntDiv(place)),
            Builtin::IntRem => base(Base::IntRem(place)),
            Builtin::IntNeg => base(Base::Simple(Simple::IntNeg)),
            Builtin::IntToReal => base(Base::Simple(Simple::ToReal)),
            Builtin::Not => base(Base::Simple(Simple::Not)),
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
            Builtin::Compare(relation) => self.compare(relation, values[0], values[1]),
            Builtin::Pi => self.real(std::f64::consts::PI),
            Builtin::Infinity => self.real(f64::INFINITY),
            Builtin::Nan => {
                let Type::Tensor(shape) = &e.ty else {
                    panic!("a tensor of type {}", e.ty)
                };
                let components = vec![f64::NAN.into(); shape.size()];
                self.base(Base::Tensor(shape.clone(), components), &[])
            }
            Builtin::Inside => self.inside(values[0], values[1]),
            Builtin::GetCell => self.get_cell(values[0], values[1]),
            Builtin::RangeInBox => self.range_in_box(values[0], [values[1], values[2]]),
            Builtin::Sequence => self.base(Base::Sequence(element_of(&e.ty)), &values),
            Builtin::Append => self.dynamic(Dynamic::Append(element_of(&e.ty)), &values),
            Builtin::Prepend => {
                let reversed = [values[1], values[0]];
                self.dynamic(Dynamic::Prepend(element_of(&e.ty)), &reversed)
            }
            Builtin::Concatenate => self.dynamic(Dynamic::Concatenate(element_of(&e.ty)), &values),
            Builtin::Sphere => self.sphere(&values),
            Builtin::Count(set) => self.dynamic(Dynamic::Count(set), &[]),
            Builtin::And
            | Builtin::Or
            | Builtin::Select
            | Builtin::Convolve
            | Builtin::ToField
            | Builtin::ImageSize
            | Builtin::ProbeTime
            | Builtin::TimeDerivative
            | Builtin::InsideTime
            | Builtin::Frames(_)
            | Builtin::Data(_)
            | Builtin::LoadSequence
            | Builtin::Length
            | Builtin::Element
            | Builtin::Range
            | Builtin::Reduce(_) => unreachable!("{builtin:?} has other arguments"),
            Builtin::ReduceAtPoints(_) | Builtin::Nothing => {
                unreachable!("{builtin:?} was replaced by its meaning")
            }
            Builtin::AxisKernels
            | Builtin::LoadImage
            | Builtin::LoadFem
            | Builtin::LoadMesh
            | Builtin::Blur
            | Builtin::Border(_) => {
                unreachable!("{builtin:?} does not give a value at run time")
            }
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

    /// Whether every image behind a field has samples around a position, and every mesh a cell there.
    pub(super) fn inside(&mut self, at: Value, field: Value) -> Value {
        let mut leaves = Vec::new();
        self.leaves(at, field, &mut leaves);
        let start = self.base(Base::Bool(true), &[]);
        leaves.into_iter().fold(start, |all, (leaf, at, time)| {
            let all = match self.times_of(&leaf, time) {
                Some([first, time, last]) => {
                    let bounds = [[first, time], [time, last]];
                    bounds.into_iter().fold(all, |all, bound| {
                        let holds = self.base(Base::Simple(Simple::Less), &bound);
                        self.base(Base::Simple(Simple::And), &[all, holds])
                    })
                }
                None => all,
            };
            let test = match leaf {
                Leaf::Convolution(leaf) => {
                    let inside = Op::Inside {
                        image: leaf.image,
                        supports: leaf.supports().collect(),
                    };
                    self.b.op1(inside, &[at])
                }
                Leaf::Fem(leaf) => {
                    let cell = self.cell(&leaf, at);
                    let zero = self.int(0);
                    self.base(Base::Simple(Simple::IntLessEqual), &[zero, cell])
                }
            };
            self.base(Base::Simple(Simple::And), &[all, test])
        })
    }

    /// The cell that a position is in.
    fn cell(&mut self, leaf: &FemField, at: Value) -> Value {
        let locate = Base::Locate(leaf.mesh, leaf.dim as u8);
        self.b.op(Op::Base(locate), &[at])[0]
    }

    /// The number in its file of the cell that a position is in.
    fn get_cell(&mut self, field: Value, at: Value) -> Value {
        match self.b.definition(field) {
            Some((Op::Field(Leaf::Fem(leaf)), _)) => {
                let cell = self.cell(&leaf, at);
                self.base(Base::CellNumber(leaf.mesh), &[cell])
            }
            other => panic!("a cell of {other:?}, which was reported before translation"),
        }
    }

    /// The leaves of a field, each with the position where it is probed, and the time if it is over time.
    pub(super) fn leaves(
        &mut self,
        at: Value,
        field: Value,
        found: &mut Vec<(Leaf, Value, Option<Value>)>,
    ) {
        let (op, args) = self
            .b
            .definition(field)
            .expect("a field is defined by an operation");
        match op {
            Op::Field(leaf) => found.push((leaf, at, args.first().copied())),
            // A derivative by a variable is known where the field is.
            Op::Variable(_) | Op::Defined | Op::Derivative(_) => self.leaves(at, args[0], found),
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

    fn reduce(&mut self, reduction: Reduction, sequence: &Expr) -> Value {
        let (body, source) = match &sequence.kind {
            ExprKind::Comprehension { body, var, domain } => match domain {
                Domain::Strands(set) => return self.reduce_strands(reduction, *set, body, *var),
                Domain::Seq(source) => (Some((*var, &**body)), &**source),
            },
            _ => (None, sequence),
        };
        if self.in_field_body && has_known_length(source) && reduction.extreme().is_none() {
            return self.reduce_fields(reduction, body, source);
        }
        // Elements that are written out are compared one by one.
        if reduction.extreme().is_some()
            && body.is_none()
            && let Some((Builtin::Sequence, elements)) = uncoerced(source).builtin()
        {
            let values = self.values_of(elements);
            return self.place_among(reduction, &values);
        }
        let over = self.iteration(source);
        let element = element_of(&sequence.ty);
        self.reduce_sequence(reduction, &over, &element, |t, item| match body {
            Some((var, body)) => {
                t.bind(var, item);
                t.expr(body)
            }
            None => item,
        })
    }
}

/// A sequence before its length was forgotten.
fn uncoerced(e: &Expr) -> &Expr {
    match (&e.kind, &e.ty) {
        (ExprKind::Coerce(inner), Type::Seq(to, _)) => match &inner.ty {
            Type::Seq(from, _) if from == to => uncoerced(inner),
            _ => e,
        },
        _ => e,
    }
}

/// Whether a type is that of definitions: of what exists at compile time only, or is translated again for each time.
fn is_static(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Image { .. } | Type::Kernel(_) | Type::Kernels(_) | Type::Fem { .. } | Type::Mesh(_)
    ) || ty.is_timed_field()
}

/// The type of the elements of a sequence.
pub(super) fn element_of(sequence: &Type) -> Ty {
    match sequence {
        Type::Seq(element, _) => Ty::of(element),
        other => panic!("a sequence of type {other}"),
    }
}
