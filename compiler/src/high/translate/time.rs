//! Fields over time.
//!
//! High-IR has no such fields. A field over time is a definition that is translated again wherever the field is probed: there it is the
//! field at that time. All operators on fields, and normalization, are then those of space. A derivative by time is one by a variable,
//! the time, and the stage `derive` works it out.

use super::{Key, Request, Translator};
use crate::{
    front::tree::{Expr, VarId},
    high::Op,
    ir::{
        Simple,
        interface::Fact,
        leaf::{ImageInfo, Leaf},
        tensor::{Base, Ty},
    },
    ssa::Value,
};
use ein_ir::{
    Type,
    ops::{FramesFact, special},
};
use std::{collections::BTreeMap, rc::Rc};

/// The fields over time that are known, by their variables.
pub(super) type OverTime = BTreeMap<VarId, Rc<Definition>>;

/// The fields that definitions have been translated to, by definition and time. Without them a definition that names another one twice
/// would double the work, and a row of such definitions would never end.
pub(super) type Translated = BTreeMap<(usize, Value), Value>;

/// A field over time: an expression, and the meanings of names in it.
pub(super) struct Definition {
    /// Its number among the definitions of the function.
    number: usize,
    body: Expr,
    /// The position and the time of a field function.
    params: Option<(VarId, VarId)>,
    env: BTreeMap<Key, Value>,
    over_time: OverTime,
}

impl Translator<'_> {
    /// Defines a variable as a field over time.
    pub(super) fn define_over_time(&mut self, var: VarId, value: &Expr) {
        self.know(var, None, value);
    }

    /// Defines a field function of position and time.
    pub(super) fn define_function_over_time(
        &mut self,
        var: VarId,
        params: (VarId, VarId),
        body: &Expr,
    ) {
        self.know(var, Some(params), body);
    }

    fn know(&mut self, var: VarId, params: Option<(VarId, VarId)>, body: &Expr) {
        let definition = Definition {
            number: self.definitions,
            body: body.clone(),
            params,
            env: self.env.clone(),
            over_time: self.over_time.clone(),
        };
        self.definitions += 1;
        self.over_time.insert(var, Rc::new(definition));
    }

    /// The field that a variable is at the time that is being translated.
    pub(super) fn field_over_time(&mut self, var: VarId) -> Value {
        let definition = self.over_time[&var].clone();
        let now = self.now();
        let known = self.translated.get(&(definition.number, now)).copied();
        // A field that was translated in a block that has been closed is not known here.
        if let Some(field) = known.filter(|field| self.b.defining(*field).is_some()) {
            return field;
        }
        let env = std::mem::replace(&mut self.env, definition.env.clone());
        let over_time = std::mem::replace(&mut self.over_time, definition.over_time.clone());
        let field = match (definition.params, self.ty(var)) {
            (Some((param, time)), Type::Field { dim, .. }) => {
                let dim = *dim;
                self.env.insert(Key::Var(time), now);
                self.field_function(dim, param, &definition.body)
            }
            _ => self.with_fields(false, |t| t.expr(&definition.body)),
        };
        self.env = env;
        self.over_time = over_time;
        self.translated.insert((definition.number, now), field);
        self.named.push((field, var));
        field
    }

    /// The time that is being translated.
    pub(super) fn now(&self) -> Value {
        self.time
            .expect("a field over time is translated at a time")
    }

    /// The field that an expression is at a time.
    pub(super) fn at_time(&mut self, field: &Expr, time: Value) -> Value {
        let outer = self.time.replace(time);
        let field = self.expr(field);
        self.time = outer;
        field
    }

    /// `F(x, t)`
    pub(super) fn probe_time(&mut self, [field, at, time]: [&Expr; 3]) -> Value {
        if let Some(value) = self.probe_code(field, at, Some(time)) {
            return value;
        }
        let (at, time) = (self.tensor(at), self.tensor(time));
        let field = self.at_time(field, time);
        let probe = special::probe(self.param(field), self.param(at));
        self.ein(probe, &[field, at])
    }

    /// `∂[time] F`, at the time that is being translated.
    pub(super) fn time_derivative(&mut self, field: &Expr, e: &Expr) -> Value {
        let time = self.now();
        let now = Op::Variable(self.unnamed_variable());
        let now = self.b.op1(now, &[time]);
        let field = self.at_time(field, now);
        let derivative = Op::Derivative(self.request(Request {
            span: e.span,
            target: None,
            parameter: "time".to_owned(),
        }));
        self.b.op1(derivative, &[field, now])
    }

    /// `inside(x, t, F)`
    pub(super) fn inside_time(&mut self, [at, time, field]: [&Expr; 3]) -> Value {
        let (at, time) = (self.tensor(at), self.tensor(time));
        let field = self.at_time(field, time);
        self.inside(at, field)
    }

    /// The times between which a leaf field has frames for its kernel, if it is over time, and its own time.
    pub(super) fn times_of(&mut self, leaf: &Leaf, time: Option<Value>) -> Option<[Value; 3]> {
        let time = time?;
        let leaf = match leaf {
            Leaf::Convolution(leaf) => leaf,
            Leaf::Fem(leaf) => {
                let [start, end] = [Fact::StartTime(leaf.fem), Fact::EndTime(leaf.fem)];
                return Some([self.fact(start, Ty::REAL), time, self.fact(end, Ty::REAL)]);
            }
        };
        let info = |t: &mut Self, info| t.base(Base::Image(leaf.image, info), &[]);
        let [start, end] = [ImageInfo::Start, ImageInfo::End].map(|i| info(self, i));
        let support = leaf.time?.kernel.0.support;
        if support == 1 {
            return Some([start, time, end]);
        }
        // A kernel of a larger support wants more frames on both sides, which follow each other evenly.
        let simple = |t: &mut Self, op, args: [Value; 2]| t.base(Base::Simple(op), &args);
        let rate = info(self, ImageInfo::Rate);
        let frames = self.real(support as f64 - 1.0);
        let margin = simple(self, Simple::Div, [frames, rate]);
        let first = simple(self, Simple::Add, [start, margin]);
        let last = simple(self, Simple::Sub, [end, margin]);
        Some([first, time, last])
    }

    /// `frames(img)`, `startTime(img)`, `endTime(img)`, and the same of values on a mesh.
    pub(super) fn frames_fact(&mut self, fact: FramesFact, data: &Expr) -> Value {
        if let Type::Fem { .. } = data.ty {
            let fem = self.fem(data, "").fem;
            return match fact {
                FramesFact::Count => self.fact(Fact::Frames(fem), Ty::Int),
                FramesFact::Start => self.fact(Fact::StartTime(fem), Ty::REAL),
                FramesFact::End => self.fact(Fact::EndTime(fem), Ty::REAL),
            };
        }
        let image = self.image(data).image;
        let info = match fact {
            FramesFact::Count => ImageInfo::Frames,
            FramesFact::Start => ImageInfo::Start,
            FramesFact::End => ImageInfo::End,
        };
        self.base(Base::Image(image, info), &[])
    }
}
