//! The operators of the table that a program applies: each is read from its row once for the types it is applied at.

use crate::ir::tensor::Operator;
use ein_ir::{
    Param, Type,
    ops::{Instance, Meaning, OpDef},
};
use rustc_hash::FxHashMap;
use std::{ptr, sync::Arc};

/// The operators that were applied so far, by row.
#[derive(Default)]
pub(super) struct Operators(FxHashMap<*const OpDef, Vec<Applied>>);

/// An operator at the types of the source, and for what its arguments are.
struct Applied {
    args: Vec<Type>,
    result: Type,
    operator: Arc<Operator>,
}

impl Operators {
    /// What a row means for these parameters.
    pub(super) fn get(&mut self, op: &Instance, params: &[Param]) -> Arc<Operator> {
        let make = || {
            let ein = op.ein_over(params);
            Arc::new(ein.expect("other meanings are operators of EIN").into())
        };
        // Other meanings depend on more than types, and there is nothing to read.
        if !matches!(op.row.meaning, Meaning::Ein(_)) {
            return make();
        }
        let applied = self.0.entry(ptr::from_ref(op.row)).or_default();
        let known = applied.iter().find(|known| {
            known.args == op.args
                && known.result == op.result
                && known.operator.ein.params == params
        });
        if let Some(known) = known {
            return known.operator.clone();
        }
        let operator: Arc<Operator> = make();
        applied.push(Applied {
            args: op.args.clone(),
            result: op.result.clone(),
            operator: operator.clone(),
        });
        operator
    }
}
