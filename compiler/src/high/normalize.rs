//! Normalization of a function: every straight-line region of EIN operators goes through the rewrite system, all its roots
//! together, and comes back planned.
//!
//! Afterwards no field is left but leaf fields, and these are only probed, each at a position and derivative order of its own.
//! Operators on plain reals stay as they are: there is nothing to normalize in them.

use super::{High, Op};
use crate::{
    ir::{
        leaf::Leaf,
        tensor::{Operator, Ty},
    },
    ssa::{Block, Function, Inst, Kind, Value, number_values, remove_dead},
};
use ein_ir::{
    Param,
    region::{Def, Region, ValueId},
};
use rewrite::{Engine, Normalized, Options};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// How often each rewrite rule fired.
pub type RuleCounts = BTreeMap<&'static str, usize>;

/// Normalizes every region of a function; adds to `fired` what the rules did.
pub fn normalize(
    function: Function<High>,
    options: &Options,
    fired: &mut RuleCounts,
) -> Function<High> {
    run(remove_dead(number_values(function)), options, fired, None)
}

/// A region of a function and what normalization made of it.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The region as it was written.
    pub before: Region,
    /// The value of the function that each value of that region is: inputs, then definitions.
    pub values: Vec<Value>,
    /// The normal form and how it was found.
    pub explained: rewrite::Explained,
}

/// Normalizes a function just as [`normalize`] does, and explains every region, in terms of the function as it was once
/// repeated and unused operations were gone: `numbered` with the same names.
pub fn explain(numbered: Function<High>, options: &Options) -> (Function<High>, Vec<Explained>) {
    let mut regions = Vec::new();
    let function = run(
        numbered,
        options,
        &mut RuleCounts::new(),
        Some(&mut regions),
    );
    (function, regions)
}

/// Normalizes a function without repeated and unused operations.
fn run(
    function: Function<High>,
    options: &Options,
    fired: &mut RuleCounts,
    explained: Option<&mut Vec<Explained>>,
) -> Function<High> {
    let mut pass = Pass {
        types: function.types,
        fields: BTreeMap::new(),
        options,
        fired,
        explained,
        originals: BTreeMap::new(),
    };
    let body = pass.block(function.body);
    let function = Function {
        name: function.name,
        types: pass.types,
        body,
    };
    remove_dead(number_values(function))
}

struct Pass<'a> {
    types: Vec<Ty>,
    /// The fields in scope.
    fields: BTreeMap<Value, Made>,
    options: &'a Options,
    fired: &'a mut RuleCounts,
    /// What was done to each region, if it is wanted.
    explained: Option<&'a mut Vec<Explained>>,
    /// For each value that took another's place, that other one.
    originals: BTreeMap<Value, Value>,
}

/// How a field is made.
enum Made {
    /// A leaf.
    Leaf(Leaf),
    /// Of other values, by an operator.
    Of(Arc<Operator>, Vec<Value>),
}

/// Definitions that are normalized together: positions in a block.
type Group = Vec<usize>;

impl Pass<'_> {
    fn is_field(&self, v: Value) -> bool {
        matches!(self.types[v.0 as usize], Ty::Field { .. })
    }

    fn block(&mut self, block: Block<High>) -> Block<High> {
        self.note_fields(&block);
        let groups = self.groups(&block);
        let mut replaced: BTreeMap<Value, Value> = BTreeMap::new();
        let mut pending: Vec<Inst<High>> = Vec::new();
        for group in &groups {
            self.normalize_group(&block, group, &mut replaced, &mut pending);
        }
        for made in self.fields.values_mut() {
            if let Made::Of(_, args) = made {
                args.iter_mut().for_each(|v| *v = resolve(&replaced, *v));
            }
        }
        let members: BTreeSet<usize> = groups.into_iter().flatten().collect();
        let kept = block
            .insts
            .into_iter()
            .enumerate()
            .filter(|(n, _)| !members.contains(n))
            .map(|(_, inst)| inst);
        let kept: Vec<Inst<High>> = kept.filter(|inst| !self.is_derived_field(inst)).collect();
        let insts = self.schedule(kept, pending, &replaced);
        let yields = block
            .yields
            .into_iter()
            .map(|v| resolve(&replaced, v))
            .collect();
        Block { insts, yields }
    }

    /// Remembers how the fields of a block are made.
    fn note_fields(&mut self, block: &Block<High>) {
        for inst in &block.insts {
            match &inst.kind {
                Kind::Op(Op::Field(leaf), _) => {
                    self.fields
                        .insert(inst.results[0], Made::Leaf(leaf.clone()));
                }
                Kind::Op(Op::Ein(operator), args) if self.is_field(inst.results[0]) => {
                    self.fields
                        .insert(inst.results[0], Made::Of(operator.clone(), args.clone()));
                }
                _ => {}
            }
        }
    }

    fn is_derived_field(&self, inst: &Inst<High>) -> bool {
        matches!(&inst.kind, Kind::Op(Op::Ein(_), _)) && self.is_field(inst.results[0])
    }

    /// Whether normalization has something to do: an operator that gives a tensor and sees more than plain reals.
    fn is_member(&self, inst: &Inst<High>) -> bool {
        let Kind::Op(Op::Ein(_), args) = &inst.kind else {
            return false;
        };
        let plain = |v: &Value| self.types[v.0 as usize] == Ty::REAL;
        !(self.is_field(inst.results[0]) || plain(&inst.results[0]) && args.iter().all(plain))
    }

    /// The operators to normalize together: connected by the values they share, and such that no value of a group
    /// depends on another of it through something that is not a member.
    fn groups(&self, block: &Block<High>) -> Vec<Group> {
        let mut depth: BTreeMap<Value, usize> = BTreeMap::new();
        let mut member_of: BTreeMap<Value, usize> = BTreeMap::new();
        let mut members: Vec<(usize, usize)> = Vec::new();
        for (n, inst) in block.insts.iter().enumerate() {
            let is_member = self.is_member(inst);
            let level = used_by(inst)
                .into_iter()
                .map(|v| {
                    depth.get(&v).copied().unwrap_or(0)
                        + usize::from(!is_member && member_of.contains_key(&v))
                })
                .max()
                .unwrap_or(0);
            for &v in &inst.results {
                depth.insert(v, level);
                if is_member {
                    member_of.insert(v, n);
                }
            }
            if is_member {
                members.push((n, level));
            }
        }
        self.connect(block, &members)
    }

    fn connect(&self, block: &Block<High>, members: &[(usize, usize)]) -> Vec<Group> {
        let mut leader: Vec<usize> = (0..members.len()).collect();
        let find = |leader: &[usize], mut k: usize| {
            while leader[k] != k {
                k = leader[k];
            }
            k
        };
        // Members of one level that touch a common value are put together; plain reals connect nothing.
        let mut first_use: BTreeMap<(usize, Value), usize> = BTreeMap::new();
        for (k, &(n, level)) in members.iter().enumerate() {
            let inst = &block.insts[n];
            for v in used_by(inst)
                .into_iter()
                .chain(inst.results.iter().copied())
            {
                if self.types[v.0 as usize] == Ty::REAL {
                    continue;
                }
                let other = *first_use.entry((level, v)).or_insert(k);
                let (a, b) = (find(&leader, other), find(&leader, k));
                leader[a.max(b)] = a.min(b);
            }
        }
        let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
        for (k, &(n, _)) in members.iter().enumerate() {
            groups.entry(find(&leader, k)).or_default().push(n);
        }
        groups.into_values().collect()
    }

    fn normalize_group(
        &mut self,
        block: &Block<High>,
        group: &Group,
        replaced: &mut BTreeMap<Value, Value>,
        pending: &mut Vec<Inst<High>>,
    ) {
        let own: BTreeSet<Value> = group.iter().map(|&n| block.insts[n].results[0]).collect();
        let mut build = RegionBuilder::default();
        for &n in group {
            let Kind::Op(Op::Ein(operator), args) = &block.insts[n].kind else {
                unreachable!("members are operators")
            };
            build.define(self, &own, block.insts[n].results[0], operator, args);
        }
        let wanted: Vec<Value> = own
            .iter()
            .copied()
            .filter(|v| is_used_outside(block, group, *v))
            .collect();
        let (region, all) = build.finish(&wanted);
        let inputs = all[..region.inputs.len()].to_vec();
        let Normalized {
            region,
            symmetry,
            stats,
        } = self.normalize_region(region, &all, &inputs);
        for (rule, count) in stats.rules {
            *self.fired.entry(rule).or_default() += count;
        }
        let mut values = inputs;
        for (n, Def { op, args }) in region.defs.into_iter().enumerate() {
            let operator = Operator {
                ein: op,
                symmetry: symmetry[n].clone(),
            };
            let args: Vec<Value> = args.iter().map(|a| values[a.0]).collect();
            let ty = match operator.ein.result() {
                Param::Tensor(shape) => Ty::Tensor(shape),
                Param::Field { .. } => panic!("normalization left a field"),
            };
            self.types.push(ty);
            let value = Value(self.types.len() as u32 - 1);
            values.push(value);
            pending.push(Inst {
                results: vec![value],
                kind: Kind::Op(Op::Ein(Arc::new(operator)), args),
            });
        }
        for (old, new) in wanted.into_iter().zip(region.roots) {
            replaced.insert(old, values[new.0]);
            if new.0 >= region.inputs.len() {
                self.originals.entry(values[new.0]).or_insert(old);
            }
        }
    }

    /// Normalizes a region whose values are `all`, and keeps what is to be explained.
    fn normalize_region(&mut self, region: Region, all: &[Value], inputs: &[Value]) -> Normalized {
        let options = self.options_for(&region, inputs);
        let Some(regions) = &mut self.explained else {
            return rewrite::normalize(&region, &options);
        };
        let explained = rewrite::explain(&region, &options);
        let normalized = explained.normalized.clone();
        let original = |v: &Value| self.originals.get(v).copied().unwrap_or(*v);
        regions.push(Explained {
            before: region,
            values: all.iter().map(original).collect(),
            explained,
        });
        normalized
    }

    /// Alternatives are searched where fields are: plain tensor arithmetic is as its author wrote it, and directed
    /// normalization plans it in a fraction of the time.
    fn options_for(&self, region: &Region, inputs: &[Value]) -> Options {
        let has_fields = region
            .inputs
            .iter()
            .any(|param| matches!(param, Param::Field { .. }));
        let engine = if has_fields {
            self.options.engine
        } else {
            Engine::Directed
        };
        Options {
            engine,
            leaf_cost: inputs.iter().map(|&v| self.leaf_cost(v)).collect(),
            ..self.options.clone()
        }
    }

    /// What it costs to probe one component of an input; nothing can be probed but leaf fields.
    fn leaf_cost(&self, input: Value) -> u64 {
        match self.fields.get(&input) {
            Some(Made::Leaf(Leaf::Convolution(leaf))) => {
                let supports: Vec<usize> = leaf.kernels.iter().map(|k| k.0.support).collect();
                rewrite::probe_weight(&supports)
            }
            Some(Made::Of(..)) | None => 0,
        }
    }

    /// Puts the new definitions as early as their arguments allow.
    fn schedule(
        &mut self,
        kept: Vec<Inst<High>>,
        pending: Vec<Inst<High>>,
        replaced: &BTreeMap<Value, Value>,
    ) -> Vec<Inst<High>> {
        let mut missing: BTreeSet<Value> = kept
            .iter()
            .chain(&pending)
            .flat_map(|inst| inst.results.iter().copied())
            .collect();
        let mut insts = Vec::new();
        let mut pending: Vec<Inst<High>> = pending
            .into_iter()
            .map(|inst| rename(inst, replaced))
            .collect();
        let mut kept = kept.into_iter();
        loop {
            let (ready, rest): (Vec<_>, Vec<_>) = pending
                .into_iter()
                .partition(|inst| inst.kind.operands().iter().all(|v| !missing.contains(v)));
            pending = rest;
            if !ready.is_empty() {
                for inst in ready {
                    missing.retain(|v| !inst.results.contains(v));
                    insts.push(inst);
                }
                continue;
            }
            let Some(inst) = kept.next() else { break };
            let inst = self.descend(rename(inst, replaced), replaced);
            missing.retain(|v| !inst.results.contains(v));
            insts.push(inst);
        }
        assert!(pending.is_empty(), "normalization made a cycle");
        insts
    }

    /// Normalizes the blocks inside an instruction.
    fn descend(&mut self, inst: Inst<High>, replaced: &BTreeMap<Value, Value>) -> Inst<High> {
        let kind = inst
            .kind
            .map_blocks(|block| self.block(rename_block(block, replaced)));
        Inst {
            results: inst.results,
            kind,
        }
    }
}

/// A region under construction: which value of the function is which value of the region.
#[derive(Default)]
struct RegionBuilder {
    inputs: Vec<(Value, Param)>,
    defs: Vec<(Value, Arc<Operator>, Vec<Value>)>,
    known: BTreeSet<Value>,
}

impl RegionBuilder {
    fn define(
        &mut self,
        pass: &Pass<'_>,
        own: &BTreeSet<Value>,
        result: Value,
        operator: &Arc<Operator>,
        args: &[Value],
    ) {
        for &arg in args {
            self.need(pass, own, arg);
        }
        self.known.insert(result);
        self.defs.push((result, operator.clone(), args.to_vec()));
    }

    /// Makes a value known: fields by their definition, everything else as an input.
    fn need(&mut self, pass: &Pass<'_>, own: &BTreeSet<Value>, v: Value) {
        if self.known.contains(&v) || own.contains(&v) {
            return;
        }
        if let Some(Made::Of(operator, args)) = pass.fields.get(&v) {
            self.define(pass, own, v, operator, args);
            return;
        }
        self.known.insert(v);
        let param = match &pass.types[v.0 as usize] {
            Ty::Tensor(shape) => Param::Tensor(shape.clone()),
            Ty::Field { dim, shape } => Param::Field {
                dim: *dim,
                shape: shape.clone(),
            },
            other => panic!("{other} under an EIN operator"),
        };
        self.inputs.push((v, param));
    }

    /// The region, and the value of the function that each of its values is.
    fn finish(self, wanted: &[Value]) -> (Region, Vec<Value>) {
        let inputs = self.inputs.iter().map(|(v, _)| *v);
        let order: Vec<Value> = inputs.chain(self.defs.iter().map(|(v, ..)| *v)).collect();
        let numbers = order.iter().enumerate();
        let number: BTreeMap<Value, ValueId> = numbers.map(|(n, v)| (*v, ValueId(n))).collect();
        let region = Region {
            defs: self
                .defs
                .into_iter()
                .map(|(_, operator, args)| Def {
                    op: operator.ein.clone(),
                    args: args.iter().map(|v| number[v]).collect(),
                })
                .collect(),
            roots: wanted.iter().map(|v| number[v]).collect(),
            inputs: self.inputs.iter().map(|(_, param)| param.clone()).collect(),
        };
        (region, order)
    }
}

/// Everything an instruction reads, nested blocks included.
fn used_by(inst: &Inst<High>) -> Vec<Value> {
    fn block(b: &Block<High>, used: &mut Vec<Value>) {
        b.insts.iter().for_each(|inst| used.extend(used_by(inst)));
        used.extend(&b.yields);
    }
    let mut used = inst.kind.operands();
    inst.kind
        .blocks()
        .into_iter()
        .for_each(|b| block(b, &mut used));
    used
}

fn is_used_outside(block: &Block<High>, group: &Group, v: Value) -> bool {
    block.yields.contains(&v)
        || block
            .insts
            .iter()
            .enumerate()
            .any(|(n, inst)| !group.contains(&n) && used_by(inst).contains(&v))
}

fn resolve(replaced: &BTreeMap<Value, Value>, v: Value) -> Value {
    replaced.get(&v).map_or(v, |&new| resolve(replaced, new))
}

fn rename(inst: Inst<High>, replaced: &BTreeMap<Value, Value>) -> Inst<High> {
    let one = |v: Value| resolve(replaced, v);
    let all = |values: Vec<Value>| values.into_iter().map(one).collect();
    let kind = match inst.kind {
        Kind::Op(op, args) => Kind::Op(op, all(args)),
        Kind::If {
            condition,
            then,
            otherwise,
        } => Kind::If {
            condition: one(condition),
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
            low: one(low),
            high: one(high),
            breaks,
            carried,
            init: all(init),
            body,
        },
    };
    Inst {
        results: inst.results,
        kind,
    }
}

fn rename_block(block: Block<High>, replaced: &BTreeMap<Value, Value>) -> Block<High> {
    let insts = block.insts.into_iter().map(|inst| {
        let Inst { results, kind } = rename(inst, replaced);
        Inst {
            results,
            kind: kind.map_blocks(|block| rename_block(block, replaced)),
        }
    });
    Block {
        insts: insts.collect(),
        yields: block
            .yields
            .into_iter()
            .map(|v| resolve(replaced, v))
            .collect(),
    }
}
