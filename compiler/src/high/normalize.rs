//! Normalization of a function: every straight-line region of EIN operators goes through the rewrite system, all its roots
//! together, and comes back planned.
//!
//! Afterwards no field is left but leaf fields, and these are only probed, each at a position and derivative order of its own.
//! Numbers are part of the regions that use them, so that the laws for 0, 1 and coefficients hold for them. Operators on plain
//! reals stay as they are: there is nothing to normalize in them.

use super::{
    High, Op,
    forms::{Found, RuleCounts},
    literal::literal,
    schedule::Schedule,
};
use crate::{
    ir::{
        leaf::Leaf,
        tensor::{Operator, Ty},
    },
    ssa::{Block, Function, Inst, Kind, Program, Value, Values, number_values, remove_dead},
};
use ein_ir::{
    Param,
    region::{Def, Region, ValueId},
};
use rewrite::{Engine, Normalized, Options};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Normalizes every region of a program, those of all functions at the same time; gives also how often each rule fired.
pub fn normalize_program(program: Program<High>, options: &Options) -> (Program<High>, RuleCounts) {
    let program = program.map(|_, function| remove_dead(number_values(function)));
    let mut found = Found::default();
    let mut regions = Vec::new();
    for (_, function) in &program.functions {
        let mut pass = Pass::new(function.types.clone(), options, &mut found, None);
        pass.foresee(&function.body, &mut regions);
    }
    found.prepare(regions);
    let program = program.map(|_, function| run(function, options, &mut found, None));
    (program, found.fired)
}

/// Normalizes every region of a function.
pub fn normalize(function: Function<High>, options: &Options) -> Function<High> {
    let function = remove_dead(number_values(function));
    run(function, options, &mut Found::default(), None)
}

/// A region of a function and what normalization made of it.
#[derive(Clone, Debug)]
pub struct ExplainedRegion {
    /// The region as it was written.
    pub before: Region,
    /// The value of the function that each value of that region is: inputs, then definitions.
    pub values: Vec<Value>,
    /// The normal form and how it was found.
    pub explained: rewrite::Explained,
    /// The values of the normalized function that its roots became.
    pub results: Vec<Value>,
}

/// Normalizes a function without repeated and unused operations just as [`normalize`] does, and explains every region that
/// is compiled: a constant that others have taken in is not.
pub fn explain(
    function: Function<High>,
    options: &Options,
) -> (Function<High>, Vec<ExplainedRegion>) {
    let mut regions = Vec::new();
    let function = run(function, options, &mut Found::default(), Some(&mut regions));
    (function, regions)
}

/// Normalizes a function without repeated and unused operations.
fn run(
    function: Function<High>,
    options: &Options,
    found: &mut Found,
    explained: Option<&mut Vec<ExplainedRegion>>,
) -> Function<High> {
    let mut pass = Pass::new(function.types, options, found, explained);
    let body = pass.block(function.body);
    let function = Function {
        name: function.name,
        types: pass.types,
        body,
    };
    if let Some(regions) = pass.explained {
        let mut defined: BTreeSet<Value> = BTreeSet::new();
        let compiled = remove_dead(function.clone());
        compiled.each_op(&mut |_, _, results| defined.extend(results));
        regions.retain(|region| region.results.iter().any(|value| defined.contains(value)));
    }
    remove_dead(number_values(function))
}

struct Pass<'a> {
    types: Vec<Ty>,
    /// What stands for each value: itself, or what normalization makes of it.
    replaced: Vec<Value>,
    /// The fields and constants in scope.
    recipes: FxHashMap<Value, Recipe>,
    options: &'a Options,
    found: &'a mut Found,
    /// The explanation of each region, if one is wanted.
    explained: Option<&'a mut Vec<ExplainedRegion>>,
    /// For each value that took another's place, that other one.
    originals: BTreeMap<Value, Value>,
}

/// How a field or a constant is made; regions that need it make it themselves.
enum Recipe {
    /// A leaf.
    Leaf(Leaf),
    /// Of other values, by an operator.
    Of(Arc<Operator>, Values),
}

/// Definitions that are normalized together: positions in a block.
type Group = Vec<usize>;

impl<'a> Pass<'a> {
    fn new(
        types: Vec<Ty>,
        options: &'a Options,
        found: &'a mut Found,
        explained: Option<&'a mut Vec<ExplainedRegion>>,
    ) -> Pass<'a> {
        Pass {
            replaced: (0..types.len() as u32).map(Value).collect(),
            types,
            recipes: FxHashMap::default(),
            options,
            found,
            explained,
            originals: BTreeMap::new(),
        }
    }

    fn is_field(&self, v: Value) -> bool {
        matches!(self.types[v.0 as usize], Ty::Field { .. })
    }

    fn is_constant(&self, v: Value) -> bool {
        !self.is_field(v) && self.recipes.contains_key(&v)
    }

    fn resolve(&self, mut v: Value) -> Value {
        while self.replaced[v.0 as usize] != v {
            v = self.replaced[v.0 as usize];
        }
        v
    }

    /// The regions of a block and of those inside of it, as far as can be seen before the first is normalized: it may turn
    /// out that two inputs of a region are one value.
    fn foresee(&mut self, block: &Block<High>, regions: &mut Vec<(Region, Options)>) {
        self.note_made(block);
        let groups = self.groups(block);
        for (group, wanted) in groups.iter().zip(wanted(block, &groups)) {
            let (region, values) = self.region(block, group, &wanted);
            let options = self.options_for(&region, &values[..region.inputs.len()]);
            regions.push((region, options));
        }
        for inner in block.insts.iter().flat_map(|inst| inst.kind.blocks()) {
            self.foresee(inner, regions);
        }
    }

    fn block(&mut self, block: Block<High>) -> Block<High> {
        self.note_made(&block);
        let groups = self.groups(&block);
        let mut pending: Vec<Inst<High>> = Vec::new();
        for (group, wanted) in groups.iter().zip(wanted(&block, &groups)) {
            self.normalize_group(&block, group, wanted, &mut pending);
        }
        let mut is_member = vec![false; block.insts.len()];
        groups.iter().flatten().for_each(|&n| is_member[n] = true);
        let insts = block.insts.into_iter().zip(is_member);
        let kept: Vec<Inst<High>> = insts
            .filter(|(inst, is_member)| !is_member && !self.is_derived_field(inst))
            .map(|(inst, _)| inst)
            .collect();
        Block {
            insts: self.schedule(kept, pending),
            yields: block.yields.into_iter().map(|v| self.resolve(v)).collect(),
        }
    }

    /// Remembers how the fields and constants of a block are made.
    fn note_made(&mut self, block: &Block<High>) {
        for inst in &block.insts {
            let recipe = match &inst.kind {
                Kind::Op(Op::Field(leaf), _) => Recipe::Leaf(leaf.clone()),
                Kind::Op(Op::Base(base), _) => match literal(base) {
                    Some(operator) => Recipe::Of(Arc::new(operator.into()), Values::new()),
                    None => continue,
                },
                Kind::Op(Op::Ein(operator), args)
                    if self.is_field(inst.results[0])
                        || args.iter().all(|&v| self.is_constant(v)) =>
                {
                    Recipe::Of(operator.clone(), args.clone())
                }
                _ => continue,
            };
            self.recipes.insert(inst.results[0], recipe);
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
        let mut depth: FxHashMap<Value, usize> = FxHashMap::default();
        let mut of_members: FxHashSet<Value> = FxHashSet::default();
        let mut members: Vec<(usize, usize)> = Vec::new();
        for (n, inst) in block.insts.iter().enumerate() {
            let is_member = self.is_member(inst);
            let level = used_by(inst)
                .into_iter()
                .map(|v| {
                    depth.get(&v).copied().unwrap_or(0)
                        + usize::from(!is_member && of_members.contains(&v))
                })
                .max()
                .unwrap_or(0);
            for &v in &inst.results {
                depth.insert(v, level);
                if is_member {
                    of_members.insert(v);
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
        // Members of one level that touch a common value are put together; plain reals and constants connect nothing.
        let mut first_use: FxHashMap<(usize, Value), usize> = FxHashMap::default();
        for (k, &(n, level)) in members.iter().enumerate() {
            let inst = &block.insts[n];
            for v in used_by(inst)
                .into_iter()
                .chain(inst.results.iter().copied())
            {
                if self.types[v.0 as usize] == Ty::REAL || self.is_constant(v) {
                    continue;
                }
                let other = *first_use.entry((level, self.resolve(v))).or_insert(k);
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

    /// The region of a group, and the value of the function that each of its values is.
    fn region(
        &self,
        block: &Block<High>,
        group: &Group,
        wanted: &BTreeSet<Value>,
    ) -> (Region, Vec<Value>) {
        let own: FxHashSet<Value> = group.iter().map(|&n| block.insts[n].results[0]).collect();
        let mut build = RegionBuilder::new(self, &own);
        for &n in group {
            let Kind::Op(Op::Ein(operator), args) = &block.insts[n].kind else {
                unreachable!("members are operators")
            };
            build.define(block.insts[n].results[0], operator, args);
        }
        build.finish(wanted)
    }

    fn normalize_group(
        &mut self,
        block: &Block<High>,
        group: &Group,
        wanted: BTreeSet<Value>,
        pending: &mut Vec<Inst<High>>,
    ) {
        let (region, mut values) = self.region(block, group, &wanted);
        let Normalized {
            region,
            symmetry,
            stats,
        } = self.normalize_region(region, &values);
        for (rule, count) in stats.rules {
            *self.found.fired.entry(rule).or_default() += count;
        }
        values.truncate(region.inputs.len());
        for (n, Def { op, args }) in region.defs.into_iter().enumerate() {
            let operator = Operator {
                ein: op,
                symmetry: symmetry[n].clone(),
            };
            let args: Values = args.iter().map(|a| values[a.0]).collect();
            let ty = match operator.ein.result() {
                Param::Tensor(shape) => Ty::Tensor(shape),
                Param::Field { .. } => panic!("normalization left a field"),
            };
            let value = self.fresh(ty);
            values.push(value);
            pending.push(Inst {
                results: smallvec![value],
                kind: Kind::Op(Op::Ein(Arc::new(operator)), args),
            });
        }
        let results = wanted.iter().copied().zip(&region.roots);
        for (old, new) in results.clone() {
            self.replaced[old.0 as usize] = values[new.0];
        }
        if let Some(regions) = &mut self.explained {
            for (old, new) in results.filter(|(_, new)| new.0 >= region.inputs.len()) {
                self.originals.entry(values[new.0]).or_insert(old);
            }
            let results = region.roots.iter().map(|root| values[root.0]).collect();
            regions.last_mut().expect("it was just explained").results = results;
        }
    }

    /// Normalizes a region whose values are `all`, and keeps its explanation if one is wanted.
    fn normalize_region(&mut self, region: Region, all: &[Value]) -> Normalized {
        let options = self.options_for(&region, &all[..region.inputs.len()]);
        let Some(regions) = &mut self.explained else {
            return self.found.normal_form(region, &options);
        };
        let explained = rewrite::explain(&region, &options);
        let normalized = explained.normalized.clone();
        let original = |v: &Value| self.originals.get(v).copied().unwrap_or(*v);
        regions.push(ExplainedRegion {
            before: region,
            values: all.iter().map(original).collect(),
            explained,
            results: Vec::new(),
        });
        normalized
    }

    fn fresh(&mut self, ty: Ty) -> Value {
        let value = Value(self.types.len() as u32);
        self.types.push(ty);
        self.replaced.push(value);
        value
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

    /// The cost of probing one component of an input; only leaf fields can be probed.
    fn leaf_cost(&self, input: Value) -> u64 {
        match self.recipes.get(&input) {
            Some(Recipe::Leaf(Leaf::Convolution(leaf))) => {
                let supports: Vec<usize> = leaf.kernels.iter().map(|k| k.0.support).collect();
                rewrite::probe_weight(&supports)
            }
            // About what cubic reconstruction costs: coefficients of a cell instead of samples, and the search for it.
            Some(Recipe::Leaf(Leaf::Fem(leaf))) => rewrite::probe_weight(&vec![2; leaf.dim]),
            Some(Recipe::Of(..)) | None => 0,
        }
    }

    /// Puts the new definitions as early as their arguments allow, and normalizes the blocks inside the kept instructions.
    fn schedule(&mut self, kept: Vec<Inst<High>>, pending: Vec<Inst<High>>) -> Vec<Inst<High>> {
        let resolved = |pass: &Self, kind: Kind<High>| kind.map_operands(|v| pass.resolve(v));
        let pending = pending.into_iter().map(|inst| Inst {
            kind: resolved(self, inst.kind),
            ..inst
        });
        let mut schedule = Schedule::new(&kept, pending.collect());
        for inst in kept {
            let kind = resolved(self, inst.kind).map_blocks(|block| self.block(block));
            schedule.place(Inst { kind, ..inst });
        }
        schedule.finish()
    }
}

/// A region under construction: which value of the function is which value of the region.
struct RegionBuilder<'p, 'a> {
    pass: &'p Pass<'a>,
    /// The values that the group defines.
    own: &'p FxHashSet<Value>,
    inputs: Vec<(Value, Param)>,
    defs: Vec<(Value, Arc<Operator>, Vec<Value>)>,
    known: FxHashSet<Value>,
}

impl<'p, 'a> RegionBuilder<'p, 'a> {
    fn new(pass: &'p Pass<'a>, own: &'p FxHashSet<Value>) -> RegionBuilder<'p, 'a> {
        RegionBuilder {
            pass,
            own,
            inputs: Vec::new(),
            defs: Vec::new(),
            known: FxHashSet::default(),
        }
    }

    fn define(&mut self, result: Value, operator: &Arc<Operator>, args: &[Value]) {
        let args = args.iter().map(|&arg| self.need(arg)).collect();
        self.known.insert(result);
        self.defs.push((result, operator.clone(), args));
    }

    /// Makes a value known: fields and constants by their definition, everything else as an input. Gives the value that
    /// stands for it.
    fn need(&mut self, v: Value) -> Value {
        if self.known.contains(&v) || self.own.contains(&v) {
            return v;
        }
        let pass = self.pass;
        if let Some(Recipe::Of(operator, args)) = pass.recipes.get(&v) {
            self.define(v, operator, args);
            return v;
        }
        let v = pass.resolve(v);
        if self.known.insert(v) {
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
        v
    }

    /// The region, and the value of the function that each of its values is.
    fn finish(self, wanted: &BTreeSet<Value>) -> (Region, Vec<Value>) {
        let inputs = self.inputs.iter().map(|(v, _)| *v);
        let order: Vec<Value> = inputs.chain(self.defs.iter().map(|(v, ..)| *v)).collect();
        let numbers = order.iter().enumerate();
        let number: FxHashMap<Value, ValueId> = numbers.map(|(n, v)| (*v, ValueId(n))).collect();
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
fn used_by(inst: &Inst<High>) -> Values {
    fn block(b: &Block<High>, used: &mut Values) {
        b.insts.iter().for_each(|inst| used.extend(used_by(inst)));
        used.extend_from_slice(&b.yields);
    }
    let mut used = inst.kind.operands();
    inst.kind
        .blocks()
        .into_iter()
        .for_each(|b| block(b, &mut used));
    used
}

/// For each group its values that anything else uses.
fn wanted(block: &Block<High>, groups: &[Group]) -> Vec<BTreeSet<Value>> {
    let mut group_of: Vec<Option<usize>> = vec![None; block.insts.len()];
    let mut home: FxHashMap<Value, usize> = FxHashMap::default();
    for (g, group) in groups.iter().enumerate() {
        for &n in group {
            group_of[n] = Some(g);
            home.insert(block.insts[n].results[0], g);
        }
    }
    let mut wanted = vec![BTreeSet::new(); groups.len()];
    let mut note = |v: Value, user: Option<usize>| {
        if let Some(&g) = home.get(&v)
            && user != Some(g)
        {
            wanted[g].insert(v);
        }
    };
    for (inst, &user) in block.insts.iter().zip(&group_of) {
        used_by(inst).into_iter().for_each(|v| note(v, user));
    }
    block.yields.iter().for_each(|&v| note(v, None));
    wanted
}
