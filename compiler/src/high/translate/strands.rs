//! Other strands: queries, reading their state, making them, reductions over all of them.

use super::{Key, Translator};
use crate::{
    front::tree::{Expr, ExprKind, VarId},
    high::Op,
    ir::tensor::{Base, Dynamic, StrandReduction, Ty},
    ssa::{Role, Value},
};
use ein_ir::{
    Param,
    ops::{Reduction, StrandSet, special},
};
use std::{collections::BTreeSet, sync::Arc};

impl Translator<'_> {
    /// The place of a state variable in the state.
    fn state_index(&self, var: VarId) -> usize {
        let found = self.plan.state.iter().position(|v| *v == var);
        found.expect("a variable of the strand's state")
    }

    /// A state variable of a strand.
    pub(super) fn select(&mut self, strand: &Expr, var: VarId) -> Value {
        if let Some((reduction, set, compared, over)) = strand.found_among_strands() {
            return self.state_of_winner(reduction, set, (compared, over), var);
        }
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

    /// A reduction over strands of what `body` is for each.
    pub(super) fn reduce_strands(
        &mut self,
        reduction: Reduction,
        set: StrandSet,
        body: &Expr,
        var: VarId,
    ) -> Value {
        self.reduce_code(reduction, set, (body, var), |t| t.expr(body))
    }

    /// A state variable of the strand where an expression is least or greatest. The compared number and the components of the
    /// variable are reduced together, as one row of scalars.
    fn state_of_winner(
        &mut self,
        reduction: Reduction,
        set: StrandSet,
        (compared, over): (&Expr, VarId),
        wanted: VarId,
    ) -> Value {
        let Ty::Tensor(shape) = Ty::of(self.ty(wanted)) else {
            panic!("a state variable that is not a tensor, which was reported before translation")
        };
        let row = self.reduce_code(reduction, set, (compared, over), |t| {
            let mut row = vec![t.expr(compared)];
            let state = t.env[&Key::Var(wanted)];
            row.extend(t.components(state));
            t.base(Base::Sequence(Ty::REAL), &row)
        });
        let place = compared.span.start;
        let parts: Vec<Value> = (1..=shape.size())
            .map(|at| {
                let at = self.int(at as i64);
                self.base(Base::Element(place), &[row, at])
            })
            .collect();
        self.assembled(&parts, shape.dims())
    }

    /// The components of a tensor, row by row.
    fn components(&mut self, tensor: Value) -> Vec<Value> {
        let param = self.param(tensor);
        let shape = param.shape().clone();
        shape
            .indices()
            .map(|place| {
                let mask: Vec<Option<usize>> = place.into_iter().map(Some).collect();
                self.ein(special::slice(param.clone(), &mask), &[tensor])
            })
            .collect()
    }

    /// The tensor that has these components.
    fn assembled(&mut self, components: &[Value], dims: &[usize]) -> Value {
        let Some((&n, rest)) = dims.split_first() else {
            return components[0];
        };
        let parts: Vec<Value> = components
            .chunks(components.len() / n)
            .map(|part| self.assembled(part, rest))
            .collect();
        let params: Vec<Param> = parts.iter().map(|&part| self.param(part)).collect();
        self.ein(special::concat(&params), &parts)
    }

    /// A reduction over strands: its body becomes a function that runs for every strand of the set.
    fn reduce_code(
        &mut self,
        reduction: Reduction,
        set: StrandSet,
        (body, var): (&Expr, VarId),
        value: impl FnOnce(&mut Translator<'_>) -> Value,
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
        t.enter_code();
        let mut first = 0;
        for (&var, ty) in captured.iter().zip(&types) {
            let value = t.base(Base::Arg(first, ty.clone()), &[]);
            t.bind(var, value);
            first += ty.scalars().len() as u32;
        }
        let value = value(&mut t);
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
