//! Other strands: queries, reading their state, making them, reductions over all of them.

use super::{Key, Translator};
use crate::{
    front::typed::tree::{Expr, ExprKind, VarId},
    high::Op,
    ir::tensor::{Base, Dynamic, StrandReduction, Ty},
    ssa::{Role, Value},
};
use ein_ir::ops::{Reduction, StrandSet};
use std::{collections::BTreeSet, sync::Arc};

impl Translator<'_> {
    /// The place of a state variable in the state.
    fn state_index(&self, var: VarId) -> usize {
        let found = self.plan.state.iter().position(|v| *v == var);
        found.expect("a variable of the strand's state")
    }

    /// A state variable of a strand.
    pub(super) fn select(&mut self, strand: &Expr, var: VarId) -> Value {
        match strand.kind {
            // The body of a reduction runs as code of the strand itself.
            ExprKind::Var(reduced) if Some(reduced) == self.reduced => self.env[&Key::Var(var)],
            _ => {
                let strand = self.expr(strand);
                let other = Dynamic::Other(self.state_index(var) as u32, Ty::of(self.ty(var)));
                self.dynamic(other, &[strand])
            }
        }
    }

    /// The strands around a point: a radius, or a centre and a radius.
    pub(super) fn sphere(&mut self, args: &[Value]) -> Value {
        let position = self.program.strand.position;
        let position = position.expect("queries need a position");
        let (center, radius) = match args {
            [radius] => (self.env[&Key::Var(position)], *radius),
            [center, radius] => (*center, *radius),
            other => panic!("a query with {} arguments", other.len()),
        };
        let dim = match self.b.type_of(center) {
            Ty::Tensor(shape) => shape.dims().first().copied().unwrap_or(1) as u8,
            other => panic!("a position of type {other}"),
        };
        let position = self.state_index(position) as u32;
        self.dynamic(Dynamic::Sphere { position, dim }, &[center, radius])
    }

    /// `new`: computes the initial state here, and hands it over.
    pub(super) fn new_strand(&mut self, args: &[Expr]) {
        let args: Vec<Value> = args.iter().map(|arg| self.expr(arg)).collect();
        let outer = self.env.clone();
        self.initial_state(&args);
        let state = self.values(&self.plan.state);
        self.env = outer;
        let types = state.iter().map(|&v| self.b.type_of(v).clone()).collect();
        self.b
            .op(Op::Base(Base::Dynamic(Dynamic::New(types))), &state);
    }

    /// A reduction over strands: its body becomes a function that runs for every strand of the set.
    pub(super) fn reduce_strands(
        &mut self,
        reduction: Reduction,
        set: StrandSet,
        body: &Expr,
        var: VarId,
    ) -> Value {
        let captured = self.captured(body);
        let values: Vec<Value> = captured
            .iter()
            .map(|var| self.env[&Key::Var(*var)])
            .collect();
        let types: Vec<Ty> = values.iter().map(|&v| self.b.type_of(v).clone()).collect();
        let number = self.statics.reductions.len() as u32;
        let role = Role::Reduce(number);
        // A reduction inside the body is not allowed, so numbers are given in order.
        let mut t = Translator::new(self.program, self.plan, &mut *self.statics, role);
        t.reduced = Some(var);
        t.load_state();
        t.enter_strand_code();
        let mut first = 0;
        for (&var, ty) in captured.iter().zip(&types) {
            let value = t.base(Base::Arg(first, ty.clone()), &[]);
            t.bind(var, value);
            first += ty.scalars().len() as u32;
        }
        let value = t.expr(body);
        let element = t.b.type_of(value).clone();
        let function = t.finish(vec![value]);
        self.statics.reductions.push(function);
        let reduce = StrandReduction {
            reduction,
            set,
            body: number,
            element,
            captured: types,
        };
        self.dynamic(Dynamic::Reduce(Arc::new(reduce)), &values)
    }

    /// The run-time variables of the code around that an expression reads.
    fn captured(&self, e: &Expr) -> Vec<VarId> {
        let mut found = BTreeSet::new();
        variables(e, &mut found);
        let is_value = |var: &VarId| {
            let value = self.env.get(&Key::Var(*var));
            value.is_some_and(|&v| !matches!(self.b.type_of(v), Ty::Field { .. }))
        };
        found.into_iter().filter(is_value).collect()
    }
}

/// The variables that an expression mentions.
fn variables(e: &Expr, found: &mut BTreeSet<VarId>) {
    if let ExprKind::Var(var) = e.kind {
        found.insert(var);
    }
    e.children()
        .into_iter()
        .for_each(|child| variables(child, found));
}
