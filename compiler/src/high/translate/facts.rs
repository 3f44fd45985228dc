//! Facts that are known before a program's own code runs: whether inputs were given, and the extent of data.

use super::{Plan, Translator};
use crate::{
    front::tree::{self, Expr, Global, VarId, reads::Reads},
    ir::{
        interface::{Data, Fact, KnownFact},
        tensor::{Base, Ty},
    },
    ssa::Value,
};
use ein_ir::{
    Type,
    ops::{Builtin, DataFact},
};
use std::collections::BTreeSet;

impl Translator<'_> {
    /// The value that the user gave to an input, or else its default.
    pub(super) fn given_or(&mut self, input: VarId, otherwise: &Expr) -> Value {
        let global = self.plan.globals.iter().position(|var| *var == input);
        let global = global.expect("an input with a default is a value") as u32;
        let is_given = self.fact(Fact::Given(global), Ty::Bool);
        let ty = Ty::of(self.ty(input));
        self.lazy(
            is_given,
            |t| t.base(Base::Global(global, ty), &[]),
            |t| t.expr(otherwise),
        )
    }

    /// A property of loaded data.
    pub(super) fn data_fact(&mut self, fact: DataFact, args: &[Expr], ty: &Type) -> Value {
        let data = match (fact, args) {
            (DataFact::AllBounds(dim) | DataFact::AllSpacing(dim), _) => Data::All(dim),
            (_, [data]) => match data.ty {
                Type::Mesh(_) => Data::Mesh(self.mesh(data)),
                Type::Fem { .. } => Data::Fem(self.fem(data, "").fem),
                _ => Data::Image(self.image(data).image),
            },
            _ => unreachable!("{fact:?} is of one image or mesh"),
        };
        let fact = match fact {
            DataFact::Bounds | DataFact::AllBounds(_) => Fact::Bounds(data),
            DataFact::Spacing | DataFact::AllSpacing(_) => Fact::Spacing(data),
            DataFact::Range => Fact::Range(data),
        };
        self.fact(fact, Ty::of(ty))
    }

    /// The value of a fact, which is a global variable that the source does not name.
    pub(super) fn fact(&mut self, fact: Fact, ty: Ty) -> Value {
        let known = self.statics.facts.iter().find(|known| known.fact == fact);
        let global = match known {
            Some(known) => known.global,
            None => {
                let global = self.unnamed_global(format!("{fact:?}"), ty.clone());
                self.statics.facts.push(KnownFact { fact, global });
                global
            }
        };
        self.base(Base::Global(global, ty), &[])
    }
}

impl Plan {
    /// The names of the inputs that the default of an input depends on: those of data, or if there are none, the others.
    pub(super) fn sources_of(program: &tree::Program, input: VarId) -> Vec<String> {
        let is_default =
            |e: &Expr| matches!(e.kind, tree::ExprKind::Given { input: of, .. } if of == input);
        let definition = |var: VarId| {
            program.globals.iter().find_map(|global| match global {
                Global::Variable {
                    var: defined,
                    value,
                } if *defined == var => value.as_ref(),
                Global::FieldFunction {
                    var: defined, body, ..
                } if *defined == var => Some(body),
                _ => None,
            })
        };
        let default = program.globals.iter().find_map(|global| match global {
            Global::Variable {
                value: Some(value), ..
            } if is_default(value) => Some(value),
            _ => None,
        });
        let mut sources = Sources::default();
        default.iter().for_each(|e| sources.expr(e));
        let mut known = BTreeSet::from([input]);
        loop {
            if let Some(function) = sources.reads.functions.pop_last() {
                sources.block(&program.functions[function.0].body);
            } else if let Some(var) = sources.reads.vars.pop_last() {
                if known.insert(var) {
                    definition(var).into_iter().for_each(|e| sources.expr(e));
                }
            } else {
                break;
            }
        }
        let inputs = program.globals.iter().filter_map(|global| match global {
            Global::Input { var, .. } if *var != input => Some(*var),
            _ => None,
        });
        let dim_of = |var: VarId| match program.vars[var.0].ty {
            Type::Image { dim, .. } | Type::Fem { dim, .. } | Type::Mesh(dim) => Some(dim),
            _ => None,
        };
        let reads_all = |var: VarId| dim_of(var).is_some_and(|dim| sources.all.contains(&dim));
        let found = inputs.filter(|var| known.contains(var) || reads_all(*var));
        let (data, others): (Vec<_>, Vec<_>) = found.partition(|var| dim_of(*var).is_some());
        // Beside data, numbers that only adjust the default are of little interest.
        let named = if data.is_empty() { others } else { data };
        let names = named.iter().map(|var| program.vars[var.0].name.clone());
        names.collect()
    }
}

/// What code depends on.
#[derive(Default)]
struct Sources {
    reads: Reads,
    /// The dimensions whose data it reads, all of them.
    all: BTreeSet<usize>,
}

impl Sources {
    fn expr(&mut self, e: &Expr) {
        self.reads.expr(e);
        self.data(e);
    }

    fn block(&mut self, block: &tree::Block) {
        self.reads.block(block);
        for stmt in &block.stmts {
            stmt.expressions().iter().for_each(|e| self.data(e));
            stmt.blocks().for_each(|block| self.block(block));
        }
    }

    fn data(&mut self, e: &Expr) {
        if let Some((Builtin::Data(DataFact::AllBounds(dim) | DataFact::AllSpacing(dim)), _)) =
            e.builtin()
        {
            self.all.insert(usize::from(dim));
        }
        e.each_child(|child| self.data(child));
    }
}
