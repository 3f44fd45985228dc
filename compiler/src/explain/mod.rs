//! Explains how a program's mathematics is compiled: every region that normalization works on, before and after, in the
//! notation of the language and with the names of the program.
//!
//! The explanation is of the compiled program: the same regions with all their roots, the same options, the same result. The
//! reference evaluator replays the equations that lead from the source to that result.

mod counts;
mod decided;
mod part;
mod report;
mod scope;

pub use counts::Counts;
pub use part::Part;

use crate::{
    front::{deep, diag::Diagnostic, source::Source, tree},
    high::{self, High, Op, Translation},
    ir::{
        interface::Interface,
        tensor::{Base, Ty},
    },
    pipeline::{self, Options},
    ssa::{Function, Inst, Kind, Program, Role, Value, Values, number_values_mapped, remove_dead},
};
use ein_ir::{Param, Shape, ops::special};
use part::parts;
use scope::{Names, Scope};
use smallvec::smallvec;
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
    /// The values on meshes, each with the highest order of derivatives that is probed.
    pub meshes: BTreeMap<String, usize>,
    /// The regions, in the order in which their functions run.
    pub parts: Vec<Part>,
    /// The comparisons that bounds of images decide, each with the function that it is in.
    pub decided: Vec<(Role, String)>,
}

/// Why there is no explanation.
#[derive(Debug)]
pub enum Unexplained {
    /// The program has errors.
    Errors(Vec<Diagnostic>),
    /// The program has no field or tensor of this name; these are the names it has.
    NoSuchName(Vec<String>),
    /// The name stands for a plain number, which needs no explanation; these are the names that have one.
    PlainNumber(Vec<String>),
}

/// Explains a program, or only the parts that involve one name.
///
/// # Errors
/// The program's errors, or that there is no such name.
pub fn explain(
    source: &Source,
    options: &Options,
    name: Option<&str>,
) -> Result<Explanation, Unexplained> {
    let checked = pipeline::check(source, options);
    let Some(program) = checked.program else {
        return Err(Unexplained::Errors(checked.diagnostics));
    };
    let mut explanation = deep(|| explain_here(source, &program, options, name))?;
    if name.is_none() {
        explanation.decided = decided::decided(source, options, &explanation.leaves);
    }
    if name.is_some() && explanation.parts.is_empty() {
        let all = deep(|| explain_here(source, &program, options, None))?;
        let names: BTreeSet<String> = all.parts.into_iter().flat_map(|part| part.names).collect();
        return Err(Unexplained::PlainNumber(names.into_iter().collect()));
    }
    Ok(explanation)
}

/// Explains a field of a program as if it were probed at a point `x`; none if there is no such field that is computed.
pub fn explain_field(
    source: &Source,
    program: &tree::Program,
    options: &Options,
    name: &str,
) -> Option<Explanation> {
    deep(|| {
        let translated = Translated::new(program, options);
        let mut explainer = Explainer::new(source, &translated.program.interface, options);
        for (role, function) in &translated.program.functions {
            let names = translated.names_of(role);
            let is_field = |value: &Value| matches!(function.type_of(*value), Ty::Field { .. });
            let mut found = names
                .iter()
                .filter(|(value, own)| own == name && is_field(value));
            let Some((value, _)) = found.next().cloned() else {
                continue;
            };
            let Ty::Field { dim, .. } = *function.type_of(value) else {
                continue;
            };
            let mut is_defined = false;
            function.each_op(&mut |_, _, results| is_defined |= results.contains(&value));
            if is_defined {
                explainer.unprobed(*role, function, value, dim, names, name);
                return Some(explainer.finished());
            }
        }
        None
    })
}

/// A program before normalization, with the names of its values.
struct Translated<'p> {
    program: Program<High>,
    names: BTreeMap<Role, Vec<(Value, tree::VarId)>>,
    tree: &'p tree::Program,
}

impl<'p> Translated<'p> {
    fn new(tree: &'p tree::Program, options: &Options) -> Translated<'p> {
        let Translation { program, names, .. } = high::translate(tree, options.long_int);
        let (program, _) = high::derive::derive(program);
        Translated {
            program,
            names,
            tree,
        }
    }

    /// The names of the values of a function.
    fn names_of(&self, role: &Role) -> Names {
        let names = self.names.get(role).into_iter().flatten();
        names
            .map(|(value, var)| (*value, self.tree.vars[var.0].name.clone()))
            .collect()
    }
}

fn explain_here(
    source: &Source,
    program: &tree::Program,
    options: &Options,
    name: Option<&str>,
) -> Result<Explanation, Unexplained> {
    let program = Translated::new(program, options);
    let names_of = |role: &Role| program.names_of(role);
    let translated = &program.program;
    let mut explainer = Explainer::new(source, &translated.interface, options);
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut fields: BTreeMap<String, (Role, Value, usize)> = BTreeMap::new();
    for (role, function) in &translated.functions {
        // The derivative of a field by a variable was replaced by another value.
        let mut defined: BTreeSet<Value> = BTreeSet::new();
        function.each_op(&mut |_, _, results| defined.extend(results));
        for (value, name) in names_of(role) {
            match function.type_of(value) {
                Ty::Field { .. } if !defined.contains(&value) => {
                    known.insert(name);
                }
                Ty::Field { dim, .. } => {
                    fields.entry(name.clone()).or_insert((*role, value, *dim));
                    known.insert(name);
                }
                Ty::Tensor(_) => {
                    known.insert(name);
                }
                _ => {}
            }
        }
        explainer.function(*role, function.clone(), names_of(role), name);
    }
    if let Some(name) = name
        && !known.contains(name)
    {
        return Err(Unexplained::NoSuchName(known.into_iter().collect()));
    }
    fields.retain(|field, _| name.is_none_or(|name| name == field));
    for (field, (role, value, dim)) in fields {
        if let Some(function) = translated.function(role)
            && !explainer.explanation.mentions(&field)
        {
            explainer.unprobed(role, function, value, dim, names_of(&role), &field);
        }
    }
    Ok(explainer.finished())
}

impl Explanation {
    /// Whether a name occurs in it.
    fn mentions(&self, name: &str) -> bool {
        self.parts.iter().any(|part| part.names.contains(name))
    }
}

struct Explainer<'a> {
    interface: &'a Interface,
    options: &'a Options,
    explanation: Explanation,
}

impl<'a> Explainer<'a> {
    fn new(source: &Source, interface: &'a Interface, options: &'a Options) -> Explainer<'a> {
        Explainer {
            interface,
            options,
            explanation: Explanation {
                file: source.path.display().to_string(),
                leaves: Vec::new(),
                meshes: BTreeMap::new(),
                parts: Vec::new(),
                decided: Vec::new(),
            },
        }
    }

    /// The explanation, with the leaves that occur in it.
    fn finished(self) -> Explanation {
        let mut explanation = self.explanation;
        let leaves = std::mem::take(&mut explanation.leaves);
        let is_mentioned = |(leaf, _): &(String, String)| explanation.mentions(leaf);
        explanation.leaves = leaves.into_iter().filter(is_mentioned).collect();
        explanation
    }

    /// Explains a function as it was translated, or only the parts that involve one name.
    fn function(
        &mut self,
        role: Role,
        function: Function<High>,
        mut names: Names,
        name: Option<&str>,
    ) {
        let (function, replaced) = number_values_mapped(function);
        let function = remove_dead(function);
        names
            .iter_mut()
            .for_each(|(value, _)| *value = replaced[value.0 as usize]);
        let scope = Scope::new(self.interface, &function, &names);
        for (leaf, definition) in scope.leaves() {
            let leaves = &mut self.explanation.leaves;
            if leaves.iter().all(|(known, _)| *known != leaf) {
                leaves.push((leaf, definition));
            }
        }
        let (_, regions) = high::explain(function.clone(), &self.options.normalization);
        let new = parts(role, &regions, &scope, self.interface, name);
        for (fem, order) in new.iter().flat_map(|part| &part.cost_after.meshes) {
            let name = self.interface.fems[*fem as usize].variable.clone();
            let highest = self.explanation.meshes.entry(name).or_default();
            *highest = (*highest).max(*order);
        }
        self.explanation.parts.extend(new);
    }

    /// Explains a field that no function probes as if this one did.
    fn unprobed(
        &mut self,
        role: Role,
        function: &Function<High>,
        field: Value,
        dim: usize,
        mut names: Names,
        name: &str,
    ) {
        let (function, position) = probed(function, field, dim);
        names.push((position, "x".to_string()));
        let before = self.explanation.parts.len();
        self.function(role, function, names, Some(name));
        let new = &mut self.explanation.parts[before..];
        new.iter_mut().for_each(|part| part.is_compiled = false);
    }
}

/// A function that probes a field at a position, and that position.
fn probed(function: &Function<High>, field: Value, dim: usize) -> (Function<High>, Value) {
    let mut function = function.clone();
    let Ty::Field { shape, .. } = function.type_of(field).clone() else {
        panic!("{} is not a field", function.type_of(field))
    };
    let position = Shape::new([dim]);
    let at = function.fresh(Ty::Tensor(position.clone()));
    let result = function.fresh(Ty::Tensor(shape.clone()));
    let given = Op::Base(Base::Arg(0, Ty::Tensor(position.clone())));
    let probe = special::probe(Param::Field { dim, shape }, Param::Tensor(position));
    let define = |value: Value, op: Op, args: Values| Inst {
        results: smallvec![value],
        kind: Kind::Op(op, args),
    };
    let probe = Op::Ein(Arc::new(probe.into()));
    let insts = [
        define(at, given, smallvec![]),
        define(result, probe, smallvec![field, at]),
    ];
    function.body.insts.extend(insts);
    function.body.yields = vec![result];
    (function, at)
}
