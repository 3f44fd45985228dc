//! Which row of the operator table says what an operator says.

use super::key::key;
use crate::{
    Continuity, Ein, Groups, OpDef, Param, Term, Type,
    ops::{Form, Meaning, OPERATORS},
};
use std::{cell::RefCell, collections::BTreeMap};

/// A row, and which parameter each of its arguments is.
pub(super) type Found = (&'static OpDef, Vec<usize>);

/// Rows by the axes and the key of their meaning.
type Table = BTreeMap<(Vec<usize>, String), Found>;

/// Rows of more arguments than this are recognised only if their arguments come in order.
const REORDERED: usize = 3;

/// Recognizes rows of the operator table; keeps a table for all parameters that were met before.
#[derive(Debug, Default)]
pub(super) struct Recognizer {
    tables: BTreeMap<(Vec<Param>, Vec<Groups>), Table>,
}

thread_local! {
    /// Tables take long to make, and an explanation asks about the same parameters again and again.
    static KEPT: RefCell<Recognizer> = RefCell::default();
}

impl Recognizer {
    /// The recognizer of this thread, with the tables that it has made.
    pub(super) fn take() -> Recognizer {
        KEPT.take()
    }

    /// Keeps the tables for the next use.
    pub(super) fn give_back(self) {
        KEPT.set(self);
    }

    /// The row that an operator is an instance of, the first of the table if there are several.
    pub(super) fn find(&mut self, op: &Ein, symmetry: &[Groups]) -> Option<&Found> {
        let about = (op.params.clone(), symmetry.to_vec());
        let table = self
            .tables
            .entry(about)
            .or_insert_with(|| table(&op.params, symmetry));
        table.get(&(op.axes.clone(), key(&op.body, symmetry)))
    }
}

fn table(params: &[Param], symmetry: &[Groups]) -> Table {
    let mut table = Table::new();
    for row in &OPERATORS {
        for assignment in assignments(row, params.len()) {
            if let Some(op) = instance(row, params, &assignment) {
                let body = op.body.rename(&|index| index, &|param| assignment[param]);
                let known = (op.axes, key(&body, symmetry));
                table.entry(known).or_insert((row, assignment));
            }
        }
    }
    table
}

/// The ways in which the arguments of a row can be parameters, each of them at least once.
fn assignments(row: &OpDef, params: usize) -> Vec<Vec<usize>> {
    let in_order: Vec<usize> = (0..params).collect();
    let Some(arity) = row.arity() else {
        return vec![in_order];
    };
    if arity > REORDERED {
        return Vec::from_iter((arity == params).then_some(in_order));
    }
    if arity < params {
        return Vec::new();
    }
    let mut all = vec![Vec::new()];
    for _ in 0..arity {
        let longer = |short: &Vec<usize>| {
            let short = short.clone();
            (0..params).map(move |param| [&short[..], &[param]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.retain(|assignment| in_order.iter().all(|param| assignment.contains(param)));
    all
}

/// What a row says of these arguments, as an operator over them.
fn instance(row: &'static OpDef, params: &[Param], assignment: &[usize]) -> Option<Ein> {
    if !matches!(
        row.meaning,
        Meaning::Ein(_) | Meaning::Elementary(_) | Meaning::Form(Form::Concat | Form::Swap)
    ) {
        return None;
    }
    let args: Vec<Param> = assignment
        .iter()
        .map(|&param| params[param].clone())
        .collect();
    let mut types: Vec<Type> = args.iter().map(ty).collect();
    if row.meaning == Meaning::Form(Form::Swap) && types.first() == Some(&Type::REAL) {
        types[0] = Type::Int;
    }
    let instance = row.accept(&types, false).ok()?;
    let op = instance.ein_over(&args)?;
    // A single part is the part itself, which no reader would put in brackets.
    let is_nothing = matches!(op.body, Term::Access { .. }) && row.name == "concat";
    (!is_nothing).then_some(op)
}

fn ty(param: &Param) -> Type {
    match param {
        Param::Tensor(shape) => Type::Tensor(shape.clone()),
        Param::Field { dim, shape } => Type::Field {
            continuity: Continuity::Infinite,
            dim: *dim,
            time: None,
            shape: shape.clone(),
        },
    }
}
