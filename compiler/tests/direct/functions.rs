//! Random functions in Low-IR: more values than registers, nested conditions and loops, exits.

use crate::rig::Dice;
use compiler::{
    ir::Simple,
    low::{Low, Op, Ty},
    ssa::{Builder, Function, Inst, Kind, Value},
};
use ein_ir::Elementary;

/// A program whose state and globals have these types, in this order.
pub(crate) const SOURCE: &str = "#version 2.0
input real g0 = 0.5;
input real g1 = 1.5;
input int n0 = 2;
input bool t0 = true;
strand s (int i) {
    output real a0 = 0;
    real a1 = g0;
    real a2 = g1;
    real a3 = 0;
    real a4 = 0;
    output int p0 = n0;
    int p1 = 0;
    int p2 = 0;
    bool b0 = t0;
    bool b1 = false;
    update {
        stabilize;
    }
}
create_array { s(i) | i in 0..15 }
";

/// The parameter comes last.
const STATE: [Ty; 11] = [
    Ty::Real,
    Ty::Real,
    Ty::Real,
    Ty::Real,
    Ty::Real,
    Ty::Int,
    Ty::Int,
    Ty::Int,
    Ty::Bool,
    Ty::Bool,
    Ty::Int,
];
const GLOBALS: [Ty; 4] = [Ty::Real, Ty::Real, Ty::Int, Ty::Bool];

/// Builds a function.
struct Building<'a> {
    builder: Builder<Low>,
    dice: &'a mut Dice,
    /// The values that can be used, by the blocks in which they are.
    scope: Vec<Value>,
    /// Instructions left to make.
    budget: usize,
    divides: bool,
}

/// A random `update`. With `divides` it may divide integers, by numbers that are not zero.
pub(crate) fn update(dice: &mut Dice, size: usize, divides: bool) -> Function<Low> {
    let mut b = Building {
        builder: Builder::default(),
        dice,
        scope: Vec::new(),
        budget: size,
        divides,
    };
    for (slot, ty) in STATE.into_iter().enumerate() {
        let v = b.builder.op1(Op::State(slot as u32, ty), &[]);
        b.scope.push(v);
    }
    for (slot, ty) in GLOBALS.into_iter().enumerate() {
        let v = b.builder.op1(Op::Global(slot as u32, ty), &[]);
        b.scope.push(v);
    }
    let state = b.scope.clone();
    while b.budget > 0 {
        b.statement(3);
    }
    let mut yields = vec![b.status()];
    for (slot, ty) in STATE.into_iter().enumerate() {
        // Some of the state stays, some changes places.
        let v = match b.dice.below(4) {
            0 => state[slot],
            1 => {
                let same: Vec<Value> = (0..STATE.len())
                    .filter(|&other| STATE[other] == ty)
                    .map(|other| state[other])
                    .collect();
                same[b.dice.below(same.len())]
            }
            _ => b.any(ty),
        };
        yields.push(v);
    }
    b.builder.finish("update", yields)
}

impl Building<'_> {
    /// A value of a type.
    fn any(&mut self, ty: Ty) -> Value {
        let fitting: Vec<Value> = (self.scope.iter().copied())
            .filter(|&v| *self.builder.type_of(v) == ty)
            .collect();
        if fitting.is_empty() || self.dice.below(8) == 0 {
            return self.constant(ty);
        }
        // New and old ones, so that some live long.
        let recent = fitting.len().saturating_sub(6);
        let from = if self.dice.below(2) == 0 { recent } else { 0 };
        fitting[from + self.dice.below(fitting.len() - from)]
    }

    fn constant(&mut self, ty: Ty) -> Value {
        let op = match ty {
            Ty::Real => Op::Real(self.dice.real().into()),
            Ty::Int => Op::Int(self.dice.below(9) as i64 - 4),
            Ty::Bool => Op::Bool(self.dice.below(2) == 0),
            Ty::Str => Op::Str("".into()),
        };
        self.builder.op1(op, &[])
    }

    fn ty(&mut self) -> Ty {
        [Ty::Real, Ty::Real, Ty::Int, Ty::Bool][self.dice.below(4)]
    }

    fn statement(&mut self, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        match self.dice.below(if depth == 0 { 20 } else { 24 }) {
            20..=22 => self.branch(depth - 1),
            23 => self.repeat(depth - 1),
            _ => self.operation(),
        }
    }

    fn operation(&mut self) {
        let v = match self.dice.below(10) {
            0..7 => {
                let op = Simple::ALL[self.dice.below(Simple::ALL.len())];
                if op == Simple::StrEqual {
                    return;
                }
                let args: Vec<Value> = op.signature().0.iter().map(|&ty| self.any(ty)).collect();
                self.builder.op1(Op::Simple(op), &args)
            }
            7 => {
                let ty = self.ty();
                let args = [self.any(Ty::Bool), self.any(ty), self.any(ty)];
                self.builder.op1(Op::Select(ty), &args)
            }
            8 if self.divides => {
                // n² + 1 is never zero.
                let [a, n] = [(); 2].map(|()| self.any(Ty::Int));
                let square = self.builder.op1(Op::Simple(Simple::IntMul), &[n, n]);
                let one = self.builder.op1(Op::Int(1), &[]);
                let divisor = self.builder.op1(Op::Simple(Simple::IntAdd), &[square, one]);
                let op = if self.dice.below(2) == 0 {
                    Op::IntDiv(3)
                } else {
                    Op::IntRem(4)
                };
                self.builder.op1(op, &[a, divisor])
            }
            _ => {
                // Not the sign: that of −0 is defined as 0, and computed as −0.
                let native = [
                    Elementary::Sqrt,
                    Elementary::Abs,
                    Elementary::Floor,
                    Elementary::Ceil,
                    Elementary::Trunc,
                ];
                let x = self.any(Ty::Real);
                let function = native[self.dice.below(native.len())];
                self.builder.op1(Op::Math(function), &[x])
            }
        };
        self.scope.push(v);
    }

    /// Statements in a block of their own, and values of these types that it yields.
    fn block(&mut self, depth: usize, types: &[Ty]) -> compiler::ssa::Block<Low> {
        self.builder.open();
        let outside = self.scope.len();
        for _ in 0..self.dice.below(6) {
            self.statement(depth);
        }
        let yields = types.iter().map(|&ty| self.any(ty)).collect();
        self.scope.truncate(outside);
        self.builder.close(yields)
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.any(Ty::Bool);
        let types: Vec<Ty> = (0..1 + self.dice.below(4)).map(|_| self.ty()).collect();
        let then = self.block(depth, &types);
        let otherwise = if self.dice.below(2) == 0 {
            self.builder.open();
            let yields = types.iter().map(|&ty| self.any(ty)).collect();
            self.builder.close(yields)
        } else {
            self.block(depth, &types)
        };
        let results = self.builder.if_(condition, then, otherwise);
        self.scope.extend(results);
    }

    fn repeat(&mut self, depth: usize) {
        // Few rounds, as many for all strands or not.
        let low = self.builder.op1(Op::Int(self.dice.below(3) as i64), &[]);
        let [few, more] = [1, 4].map(|n| self.builder.op1(Op::Int(n), &[]));
        let condition = self.any(Ty::Bool);
        let high = match self.dice.below(3) {
            0 => more,
            _ => self
                .builder
                .op1(Op::Select(Ty::Int), &[condition, few, more]),
        };
        let breaks = self.dice.below(3) == 0;
        let mut types: Vec<Ty> = (0..1 + self.dice.below(3)).map(|_| self.ty()).collect();
        if breaks {
            types.insert(0, Ty::Bool);
        }
        let init: Vec<Value> = types.iter().map(|&ty| self.any(ty)).collect();
        let index = self.builder.fresh(Ty::Int);
        let carried: Vec<Value> = types.iter().map(|&ty| self.builder.fresh(ty)).collect();
        let outside = self.scope.len();
        self.scope.push(index);
        self.scope.extend(&carried);
        let body = self.block(depth, &types);
        self.scope.truncate(outside);
        let results: Vec<Value> = types.iter().map(|&ty| self.builder.fresh(ty)).collect();
        self.builder.push(Inst {
            results: results[..].into(),
            kind: Kind::For {
                index,
                low,
                high,
                breaks,
                carried,
                init,
                body,
            },
        });
        self.scope.extend(results);
    }

    /// How it ends: each status is possible, through selections and conditions.
    fn status(&mut self) -> Value {
        let mut status = self.builder.op1(Op::Int(0), &[]);
        for code in [1, 2, 3] {
            let condition = self.any(Ty::Bool);
            let code = self.builder.op1(Op::Int(code), &[]);
            if self.dice.below(2) == 0 {
                status = self
                    .builder
                    .op1(Op::Select(Ty::Int), &[condition, code, status]);
            } else {
                let zero = self.builder.op1(Op::Int(0), &[]);
                let none = self
                    .builder
                    .op1(Op::Simple(Simple::IntEqual), &[status, zero]);
                self.builder.open();
                self.builder.open();
                let inner = self.builder.close(vec![code]);
                self.builder.open();
                let same = self.builder.close(vec![status]);
                let chosen = self.builder.if_(condition, inner, same)[0];
                let then = self.builder.close(vec![chosen]);
                self.builder.open();
                let otherwise = self.builder.close(vec![status]);
                status = self.builder.if_(none, then, otherwise)[0];
            }
        }
        status
    }
}
