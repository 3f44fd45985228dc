//! Visiting and renaming, written once for all passes.

use super::{Block, Dialect, Function, Inst, Kind, Value};

impl<D: Dialect> Block<D> {
    /// Visits every instruction, nested ones after the one that contains them.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Inst<D>)) {
        for inst in &self.insts {
            visit(inst);
            for inner in inst.kind.blocks() {
                inner.walk(visit);
            }
        }
    }

    /// The same with every value replaced, where it is defined as well as where it is used.
    pub fn rename(self, new: &mut impl FnMut(Value) -> Value) -> Block<D> {
        Block {
            insts: self.insts.into_iter().map(|i| i.rename(new)).collect(),
            yields: self.yields.into_iter().map(new).collect(),
        }
    }
}

impl<D: Dialect> Function<D> {
    /// Visits every operation with its arguments and results.
    pub fn each_op<'a>(&'a self, visit: &mut impl FnMut(&'a D::Op, &'a [Value], &'a [Value])) {
        self.body.walk(&mut |inst| {
            if let Kind::Op(op, args) = &inst.kind {
                visit(op, args, &inst.results);
            }
        });
    }
}

impl<D: Dialect> Kind<D> {
    /// The same with every value replaced that is read here; nested blocks are left as they are.
    pub fn map_operands(self, new: impl Fn(Value) -> Value) -> Kind<D> {
        let all = |values: Vec<Value>| values.into_iter().map(&new).collect::<Vec<_>>();
        match self {
            Kind::Op(op, mut args) => {
                args.iter_mut().for_each(|v| *v = new(*v));
                Kind::Op(op, args)
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => Kind::If {
                condition: new(condition),
                then,
                otherwise,
            },
            Kind::For {
                index,
                low,
                high,
                breaks,
                carried,
                init,
                body,
            } => Kind::For {
                index,
                low: new(low),
                high: new(high),
                breaks,
                carried,
                init: all(init),
                body,
            },
        }
    }
}

impl<D: Dialect> Inst<D> {
    /// The same with every value replaced, nested blocks included.
    pub fn rename(self, new: &mut impl FnMut(Value) -> Value) -> Inst<D> {
        let mut results = self.results;
        results.iter_mut().for_each(|v| *v = new(*v));
        let mut all = |values: Vec<Value>| values.into_iter().map(&mut *new).collect::<Vec<_>>();
        let kind = match self.kind {
            Kind::Op(op, mut args) => {
                args.iter_mut().for_each(|v| *v = new(*v));
                Kind::Op(op, args)
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => Kind::If {
                condition: new(condition),
                then: then.rename(new),
                otherwise: otherwise.rename(new),
            },
            Kind::For {
                index,
                low,
                high,
                breaks,
                carried,
                init,
                body,
            } => Kind::For {
                carried: all(carried),
                init: all(init),
                index: new(index),
                low: new(low),
                high: new(high),
                breaks,
                body: body.rename(new),
            },
        };
        Inst { results, kind }
    }
}
