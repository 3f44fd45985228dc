//! Moves computations that are the same for all strands and all steps to a function that runs once.
//!
//! Operations of strand code that depend on nothing but constants, global variables and images move to a function of their
//! own, whose results are further globals; it runs whenever the globals have changed. They have no effect, so they may
//! run even if no strand reaches their original place.

use super::{Low, Op, Slots};
use crate::ssa::{Block, Function, Inst, Kind, Program, Role, Value, number_values, remove_dead};
use smallvec::smallvec;
use std::collections::HashMap;

/// Moves everything of strand code that does not depend on the strand to the function [`Role::Invariants`].
pub fn hoist(mut program: Program<Low>) -> Program<Low> {
    let globals = Slots::of(&program.interface).global_count();
    let mut moved: Function<Low> = Function::new(Role::Invariants.name());
    let mut wanted: Vec<(Role, Value)> = Vec::new();
    let mut invariants: Vec<Invariants> = Vec::new();
    for (role, function) in &program.functions {
        if role.is_strand_code() {
            let found = Invariants::of(function);
            wanted.extend(found.wanted(&function.body).into_iter().map(|v| (*role, v)));
            found.copy(function, &mut moved, *role, &wanted);
            invariants.push(found);
        }
    }
    if wanted.is_empty() {
        return program;
    }
    // What several functions want is computed, and stored, once.
    let mut moved = number_values(moved);
    let mut results: Vec<Value> = Vec::new();
    let mut slots: HashMap<(Role, Value), u32> = HashMap::new();
    for (want, &v) in wanted.into_iter().zip(&moved.body.yields) {
        let place = results.iter().position(|r| *r == v).unwrap_or_else(|| {
            results.push(v);
            results.len() - 1
        });
        slots.insert(want, globals + place as u32);
    }
    moved.body.yields = results;
    let strand_code = program.functions.iter_mut();
    let strand_code = strand_code.filter(|(role, _)| role.is_strand_code());
    for ((role, function), found) in strand_code.zip(&invariants) {
        let body = std::mem::take(&mut function.body);
        function.body = read(body, &found.values, &function.types, &|v| {
            slots.get(&(*role, v)).copied()
        });
    }
    program
        .functions
        .push((Role::Invariants, remove_dead(moved)));
    program.functions.sort_by_key(|(role, _)| *role);
    program.map(|_, function| remove_dead(function))
}

/// Which values of a function do not depend on the strand.
struct Invariants {
    values: Vec<bool>,
}

impl Invariants {
    fn of(function: &Function<Low>) -> Invariants {
        let mut found = Invariants {
            values: vec![false; function.types.len()],
        };
        found.look_at(&function.body, true);
        found
    }

    /// Looks at a block that is `reached` by every call. Loops elsewhere stay where they are: perhaps no strand would have run them.
    fn look_at(&mut self, block: &Block<Low>, reached: bool) {
        for inst in &block.insts {
            let mut inside = Vec::new();
            let may_move = reached || !has_loop(&inst.kind);
            let moves = may_move && self.is_invariant(&inst.kind, &mut inside);
            self.set(&inside, false);
            if moves {
                self.set(&inst.results, true);
            } else {
                for inner in inst.kind.blocks() {
                    self.look_at(inner, false);
                }
            }
        }
    }

    /// Whether an instruction is invariant. Values inside it that are taken for invariant stay marked, and are listed in `inside`.
    fn is_invariant(&mut self, kind: &Kind<Low>, inside: &mut Vec<Value>) -> bool {
        let known = |v: &Value| self.values[v.0 as usize];
        match kind {
            Kind::Op(op, args) => depends_on_arguments_only(op) && args.iter().all(known),
            Kind::If { .. } | Kind::For { .. } => {
                // Inside, values depend on each other and on the counter; from outside only invariants may come in.
                kind.operands().iter().all(known) && self.all_in(kind, inside)
            }
        }
    }

    /// Whether everything in the blocks of an instruction is invariant if the values are that it defines for them.
    fn all_in(&mut self, kind: &Kind<Low>, inside: &mut Vec<Value>) -> bool {
        if let Kind::For { index, carried, .. } = kind {
            self.suppose(carried, inside);
            self.suppose(&[*index], inside);
        }
        kind.blocks().into_iter().all(|block| {
            block.insts.iter().all(|inst| {
                let invariant = self.is_invariant(&inst.kind, inside);
                if invariant {
                    self.suppose(&inst.results, inside);
                }
                invariant
            }) && block.yields.iter().all(|v| self.values[v.0 as usize])
        })
    }

    fn suppose(&mut self, values: &[Value], inside: &mut Vec<Value>) {
        self.set(values, true);
        inside.extend(values);
    }

    fn set(&mut self, values: &[Value], invariant: bool) {
        for v in values {
            self.values[v.0 as usize] = invariant;
        }
    }

    /// The computed invariants that other instructions use.
    fn wanted(&self, body: &Block<Low>) -> Vec<Value> {
        let mut used = vec![false; self.values.len()];
        self.mark_uses(body, &mut used);
        let mut wanted = Vec::new();
        self.collect(body, &used, &mut wanted);
        wanted
    }

    fn mark_uses(&self, block: &Block<Low>, used: &mut [bool]) {
        for inst in &block.insts {
            if !self.has(inst) {
                for v in inst.kind.operands() {
                    used[v.0 as usize] = true;
                }
                for inner in inst.kind.blocks() {
                    self.mark_uses(inner, used);
                }
            }
        }
        for v in &block.yields {
            used[v.0 as usize] = true;
        }
    }

    fn collect(&self, block: &Block<Low>, used: &[bool], wanted: &mut Vec<Value>) {
        for inst in &block.insts {
            if !self.has(inst) {
                for inner in inst.kind.blocks() {
                    self.collect(inner, used, wanted);
                }
            } else if is_work(&inst.kind) {
                wanted.extend(inst.results.iter().filter(|v| used[v.0 as usize]));
            }
        }
    }

    fn has(&self, inst: &Inst<Low>) -> bool {
        !inst.results.is_empty() && inst.results.iter().all(|v| self.values[v.0 as usize])
    }

    /// Appends the invariant instructions of a function, and the wanted values as results.
    fn copy(
        &self,
        function: &Function<Low>,
        to: &mut Function<Low>,
        role: Role,
        wanted: &[(Role, Value)],
    ) {
        let first = to.types.len() as u32;
        to.types.extend(&function.types);
        self.copy_block(&function.body, &mut to.body.insts, first);
        let own = wanted.iter().filter(|(r, _)| *r == role);
        to.body.yields.extend(own.map(|(_, v)| Value(v.0 + first)));
    }

    fn copy_block(&self, block: &Block<Low>, to: &mut Vec<Inst<Low>>, first: u32) {
        for inst in &block.insts {
            if self.has(inst) {
                to.push(inst.clone().rename(&mut |v| Value(v.0 + first)));
            } else {
                for inner in inst.kind.blocks() {
                    self.copy_block(inner, to, first);
                }
            }
        }
    }
}

/// Whether an operation gives the same for all strands if its arguments do, and does nothing else.
fn depends_on_arguments_only(op: &Op) -> bool {
    match op {
        Op::Real(_)
        | Op::Int(_)
        | Op::Bool(_)
        | Op::Str(_)
        | Op::Global(..)
        | Op::Image(..)
        | Op::Simple(_)
        | Op::Math(_)
        | Op::Select(_)
        | Op::Probe(..)
        | Op::Frame(_)
        | Op::Extremes(_)
        | Op::Decide(..)
        | Op::Locate(..)
        | Op::CellNumber(_)
        | Op::FemProbe(_)
        | Op::Eigen(_) => true,
        Op::State(..)
        | Op::Arg(..)
        | Op::IntDiv(_)
        | Op::IntRem(_)
        | Op::CheckIndex(_)
        | Op::Ask(..)
        | Op::Print(_)
        | Op::Dynamic(_) => false,
    }
}

fn has_loop(kind: &Kind<Low>) -> bool {
    matches!(kind, Kind::For { .. })
        || (kind.blocks().into_iter()).any(|block| block.insts.iter().any(|i| has_loop(&i.kind)))
}

/// Whether an invariant is computed rather than read.
fn is_work(kind: &Kind<Low>) -> bool {
    match kind {
        Kind::Op(_, args) => !args.is_empty(),
        Kind::If { .. } | Kind::For { .. } => true,
    }
}

/// The block with computed invariants replaced by the globals that hold them.
fn read(
    block: Block<Low>,
    invariant: &[bool],
    types: &[super::Ty],
    slot: &dyn Fn(Value) -> Option<u32>,
) -> Block<Low> {
    let mut insts = Vec::with_capacity(block.insts.len());
    for Inst { results, kind } in block.insts {
        let gone = is_work(&kind)
            && !results.is_empty()
            && results.iter().all(|v| invariant[v.0 as usize]);
        if gone {
            insts.extend(results.iter().filter_map(|&v| {
                let op = Op::Global(slot(v)?, types[v.0 as usize]);
                Some(Inst {
                    results: smallvec![v],
                    kind: Kind::Op(op, smallvec![]),
                })
            }));
        } else {
            let kind = kind.map_blocks(|inner| read(inner, invariant, types, slot));
            insts.push(Inst { results, kind });
        }
    }
    Block {
        insts,
        yields: block.yields,
    }
}
