//! From Low-IR to Device-IR: control flow and scalar operations stay, primitives are taken apart.

use super::{
    dialect::{Arithmetic, Device, Op, Width},
    support::{Construct, METHODS, creation, reductions, unsupported},
};
use crate::{
    ir::Simple,
    low::{self, Low},
    ssa::{Block, Builder, Function, Inst, Kind, Program, Role, Value, number_values, remove_dead},
};
use ein_ir::Elementary;

/// The methods of a program that run on a device, in Device-IR, for reals of 64 bits rather than 32 if `double`; and the creation of
/// strands and the bodies of reductions over them if these can run there.
///
/// # Errors
/// The first construct that needs the CPU.
pub fn lower(program: &Program<Low>, double: bool) -> Result<Program<Device>, Construct> {
    if let Some(construct) = unsupported(program) {
        return Err(construct);
    }
    let creation = creation(program).map(|function| (Role::Create, function));
    let methods = METHODS
        .iter()
        .filter_map(|&role| Some((role, program.function(role)?)));
    let functions = creation.into_iter().chain(methods);
    let functions = functions.map(|(role, function)| (role, expand(function, double)));
    Ok(Program {
        interface: program.interface.clone(),
        functions: functions
            .chain(reductions(program, |body| expand(body, double)))
            .collect(),
    })
}

/// The same function in Device-IR, for reals of 64 bits rather than 32 if `double`.
pub fn expand(function: &Function<Low>, double: bool) -> Function<Device> {
    let mut expander = Expander::with(Builder::default(), double, function.types.len());
    let yields = expander.block(&function.body);
    let expanded = expander.b.finish(function.name.clone(), yields);
    remove_dead(number_values(expanded))
}

/// A function in the making.
pub(super) struct Expander {
    pub(super) b: Builder<Device>,
    /// Whether reals have 64 bits.
    pub(super) double: bool,
    /// What became of the values of the function.
    values: Vec<Option<Value>>,
}

impl Expander {
    /// A new function, from one with this many values.
    pub(super) fn with(b: Builder<Device>, double: bool, values: usize) -> Expander {
        Expander {
            b,
            double,
            values: vec![None; values],
        }
    }

    fn block(&mut self, block: &Block<Low>) -> Vec<Value> {
        block.insts.iter().for_each(|inst| self.inst(inst));
        self.all(&block.yields)
    }

    pub(super) fn get(&self, value: Value) -> Value {
        self.values[value.0 as usize].expect("defined before use")
    }

    pub(super) fn all(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|&v| self.get(v)).collect()
    }

    pub(super) fn define(&mut self, old: &[Value], new: Vec<Value>) {
        assert_eq!(old.len(), new.len(), "as many results as before");
        for (old, new) in old.iter().zip(new) {
            self.values[old.0 as usize] = Some(new);
        }
    }

    fn inst(&mut self, inst: &Inst<Low>) {
        let results = match &inst.kind {
            Kind::Op(op, args) => {
                let args = self.all(args);
                self.op(op, &args)
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                let [then, otherwise] = [then, otherwise].map(|block| {
                    self.b.open();
                    let yields = self.block(block);
                    self.b.close(yields)
                });
                self.b.if_(self.get(*condition), then, otherwise)
            }
            Kind::For {
                index,
                low,
                high,
                breaks,
                carried,
                init,
                body,
            } => {
                let (low, high, init) = (self.get(*low), self.get(*high), self.all(init));
                let open = self.b.begin_for(low, high, *breaks, init);
                self.define(&[*index], vec![open.index]);
                self.define(carried, open.carried.clone());
                let next = self.block(body);
                self.b.for_(open, next)
            }
        };
        self.define(&inst.results, results);
    }

    fn op(&mut self, op: &low::Op, args: &[Value]) -> Vec<Value> {
        match op {
            low::Op::Probe(field, orders) => self.probe(field, *orders, args),
            low::Op::Frame(field) => self.frame(field.image, args[0]),
            low::Op::Extremes(field) => self.extremes(field, args),
            // Devices take notice of probes only.
            low::Op::Ask(..) => vec![],
            // Nothing is decided there, and the field is probed.
            low::Op::Decide(..) => vec![self.number(0.0)],
            low::Op::Eigen(n) => self.eigensystem(*n, args),
            low::Op::Math(function) => vec![self.math(*function, args)],
            _ => self.b.op(Op::Low(op.clone()), args),
        }
    }

    fn math(&mut self, function: Elementary, args: &[Value]) -> Value {
        match function {
            Elementary::Abs => self.real(Arithmetic::Abs, args),
            Elementary::Sign => {
                // Zero and NaN give themselves, so that a NaN is not lost.
                let [one, minus, zero] = [1.0, -1.0, 0.0].map(|x| self.number(x));
                let negative = self.real(Arithmetic::Less, &[args[0], zero]);
                let positive = self.real(Arithmetic::Less, &[zero, args[0]]);
                let below = self.select(low::Ty::Real, negative, minus, args[0]);
                self.select(low::Ty::Real, positive, one, below)
            }
            _ => self.elementary(function, args),
        }
    }

    /// Arithmetic on reals.
    pub(super) fn real(&mut self, arithmetic: Arithmetic, args: &[Value]) -> Value {
        self.b.op1(Op::arithmetic(arithmetic, Width::Real), args)
    }

    /// A real constant.
    pub(super) fn number(&mut self, x: f64) -> Value {
        self.b.op1(Op::constant(x, Width::Real), &[])
    }

    /// An integer constant.
    pub(super) fn int(&mut self, n: i64) -> Value {
        self.b.op1(Op::Low(low::Op::Int(n)), &[])
    }

    /// An operation without attributes.
    pub(super) fn simple(&mut self, simple: Simple, args: &[Value]) -> Value {
        self.b.op1(simple.into(), args)
    }

    /// A selection.
    pub(super) fn select(&mut self, ty: low::Ty, condition: Value, a: Value, b: Value) -> Value {
        self.b.op1(Op::Low(low::Op::Select(ty)), &[condition, a, b])
    }
}
