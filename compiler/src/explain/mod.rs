//! What becomes of a program's mathematics: every region that normalization works on, before and after, in the notation of
//! the language and with the names of the program.
//!
//! What is explained is what is compiled: the same regions with all their roots, the same options, the same result. The
//! equations that lead from what was written to that result are replayed with the reference evaluator.

mod counts;
mod part;
mod report;
mod scope;

pub use counts::Counts;
pub use part::Part;

use crate::{
    front::{self, deep, diag::Diagnostic, source::Source, typed::tree},
    high::{self, High, Names, Op},
    ir::{
        interface::Interface,
        leaf::Leaf,
        tensor::{Base, Ty},
    },
    pipeline::Options,
    ssa::{Function, Inst, Kind, Role, Value, number_values_mapped, remove_dead},
};
use ein_ir::{Param, Shape, ops::special};
use part::parts;
use scope::Scope;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The explanation of a program, or of what a name in it stands for.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The program's file name.
    pub file: String,
    /// The fields that are made of images, each with its definition.
    pub leaves: Vec<(String, String)>,
    /// The regions, in the order in which their functions run.
    pub parts: Vec<Part>,
}

/// Why there is no explanation.
#[derive(Debug)]
pub enum Unexplained {
    /// The program has errors.
    Errors(Vec<Diagnostic>),
    /// The program has no field or tensor of this name; these are the names it has.
    NoSuchName(Vec<String>),
}

/// Explains a program, or only what has to do with one name.
///
/// # Errors
/// The program's errors, or that there is no such name.
pub fn explain(
    source: &Source,
    options: &Options,
    name: Option<&str>,
) -> Result<Explanation, Unexplained> {
    let checked = front::check(source, &options.check());
    let Some(program) = checked.program else {
        return Err(Unexplained::Errors(checked.diagnostics));
    };
    deep(|| explain_here(source, &program, options, name))
}

fn explain_here(
    source: &Source,
    program: &tree::Program,
    options: &Options,
    name: Option<&str>,
) -> Result<Explanation, Unexplained> {
    let (translated, names) = high::translate_with_names(program, options.long_int);
    let interface = &translated.interface;
    let mut explanation = Explanation {
        file: source.path.display().to_string(),
        leaves: Vec::new(),
        parts: Vec::new(),
    };
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut unprobed: BTreeMap<String, Function<High>> = BTreeMap::new();
    for (role, function) in &translated.functions {
        let own = names.get(role).cloned().unwrap_or_default();
        for (value, name) in &own {
            if scope::param(function.type_of(*value)).is_some() {
                known.insert(name.clone());
            }
            let is_new = !unprobed.contains_key(name);
            if let (Ty::Field { dim, .. }, true) = (function.type_of(*value), is_new) {
                unprobed.insert(name.clone(), probed(function, *value, *dim));
            }
        }
        let (function, own) = numbered(function.clone(), own);
        explain_function(
            interface,
            *role,
            function,
            &own,
            options,
            name,
            &mut explanation,
        );
    }
    let is_explained = |name: &String| {
        let mut parts = explanation.parts.iter();
        parts.any(|part| part.names.contains(name))
            || explanation.leaves.iter().any(|(leaf, _)| leaf == name)
    };
    unprobed.retain(|name, _| !is_explained(name));
    for (field, function) in unprobed
        .into_iter()
        .filter(|(field, _)| name.is_none_or(|n| n == field))
    {
        // What a field is made of has the same names in every function.
        let own = names.get(&Role::Create).cloned().unwrap_or_default();
        let position = Value(function.types.len() as u32 - 2);
        let (function, mut own) = numbered(function, own);
        own.push((position, "x".to_string()));
        let before = explanation.parts.len();
        let role = Role::Create;
        explain_function(
            interface,
            role,
            function,
            &own,
            options,
            Some(&field),
            &mut explanation,
        );
        explanation.parts[before..]
            .iter_mut()
            .for_each(|part| part.is_compiled = false);
    }
    match name {
        Some(name) if !known.contains(name) => {
            Err(Unexplained::NoSuchName(known.into_iter().collect()))
        }
        _ => Ok(explanation),
    }
}

/// A function without repeated and unused operations, and its names with it.
fn numbered(function: Function<High>, mut names: Names) -> (Function<High>, Names) {
    let (function, replaced) = number_values_mapped(function);
    names
        .iter_mut()
        .for_each(|(value, _)| *value = replaced[value.0 as usize]);
    (remove_dead(function), names)
}

fn explain_function(
    interface: &Interface,
    role: Role,
    function: Function<High>,
    names: &Names,
    options: &Options,
    name: Option<&str>,
    explanation: &mut Explanation,
) {
    let (_, regions) = high::explain(function.clone(), &options.normalization);
    let scope = Scope::new(interface, &function, names);
    for inst in &function.body.insts {
        if let Kind::Op(Op::Field(Leaf::Convolution(field)), _) = &inst.kind
            && let Some(leaf) = scope.names(inst.results[0]).first()
            && explanation.leaves.iter().all(|(known, _)| known != leaf)
        {
            explanation
                .leaves
                .push((leaf.clone(), scope.convolution(field)));
        }
    }
    explanation
        .parts
        .extend(parts(role, &regions, &scope, interface, name));
}

/// A function that probes a field at a position, its last value but one.
fn probed(function: &Function<High>, field: Value, dim: usize) -> Function<High> {
    let mut function = function.clone();
    let position = Ty::Tensor(Shape::new([dim]));
    let at = function.fresh(position.clone());
    let (kinds, shape) = match function.type_of(field) {
        Ty::Field { dim, shape } => {
            let field = Param::Field {
                dim: *dim,
                shape: shape.clone(),
            };
            ([field, Param::Tensor(Shape::new([*dim]))], shape.clone())
        }
        other => panic!("{other} is not a field"),
    };
    let result = function.fresh(Ty::Tensor(shape));
    let [of, position_kind] = kinds;
    let probe = Op::Ein(Arc::new(special::probe(of, position_kind).into()));
    function.body.insts.extend([
        Inst {
            results: vec![at],
            kind: Kind::Op(Op::Base(Base::Arg(0, position)), vec![]),
        },
        Inst {
            results: vec![result],
            kind: Kind::Op(probe, vec![field, at]),
        },
    ]);
    function.body.yields = vec![result];
    function
}
