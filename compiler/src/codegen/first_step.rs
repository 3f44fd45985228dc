//! The creation of strands and their first update as one function, for strands that always end with it. Where there is little to compute,
//! most of the time between the two would go into storing a state and loading it again, and into the calls.

use crate::{
    ir::status,
    low::{Low, Op},
    ssa::{
        Block, Dialect, Function, Inst, Kind, Program, Role, Value, number_values, remove_dead,
        verify,
    },
};
use rustc_hash::FxHashMap;

/// Operations of an update that is worth the time to compile it twice, at most: with more of them, strands take much longer than calls.
const SHORT: usize = 300;

/// The function, if strands always end with their first update, nothing before it can fail, and it is worth it.
pub(super) fn first_step(program: &Program<Low>) -> Option<Function<Low>> {
    let (create, update) = (
        program.function(Role::Create)?,
        program.function(Role::Update)?,
    );
    let is_one_step = program.function(Role::Start).is_none() && always_ends(update);
    if !is_one_step || !is_plain(create) || !is_short(update) {
        return None;
    }
    let shift = create.types.len() as u32;
    let state = &create.body.yields;
    let mut read: FxHashMap<Value, Value> = FxHashMap::default();
    update.each_op(&mut |op, _, results| {
        if let Op::State(slot, _) = op {
            read.insert(results[0], state[*slot as usize]);
        }
    });
    let body = without_reads(update.body.clone()).rename(&mut |value| {
        let known = read.get(&value).copied();
        known.unwrap_or(Value(value.0 + shift))
    });
    let types = create.types.iter().chain(&update.types);
    let insts = create.body.insts.iter().cloned().chain(body.insts);
    let function = remove_dead(number_values(Function {
        name: Role::FirstStep.name().into(),
        types: types.cloned().collect(),
        body: Block {
            insts: insts.collect(),
            yields: body.yields,
        },
    }));
    debug_assert_eq!(verify(&function), Vec::<String>::new());
    Some(function)
}

/// Whether every strand stabilizes, or every strand dies.
fn always_ends(update: &Function<Low>) -> bool {
    let ends = |inst: &Inst<Low>| {
        let status = matches!(
            inst.kind,
            Kind::Op(Op::Int(status::STABILIZE | status::DIE), _)
        );
        status && inst.results.first() == update.body.yields.first()
    };
    update.body.insts.iter().any(ends)
}

/// Whether a function does nothing but compute.
fn is_plain(function: &Function<Low>) -> bool {
    let mut is_plain = true;
    function.each_op(&mut |op, _, _| is_plain &= !Low::has_effect(op) && !needs_memory(op));
    is_plain
}

/// Whether an operation may fail for want of memory.
fn needs_memory(op: &Op) -> bool {
    matches!(op, Op::Print(_) | Op::Dynamic(_))
}

/// Whether a function has few operations and no loop, and needs no memory.
fn is_short(function: &Function<Low>) -> bool {
    let (mut count, mut loops) = (0, false);
    function.body.walk(&mut |inst| {
        count += 1;
        loops |= match &inst.kind {
            Kind::Op(op, _) => needs_memory(op),
            Kind::If { .. } => false,
            Kind::For { .. } => true,
        };
    });
    count <= SHORT && !loops
}

/// The same code without the operations that read the state.
fn without_reads(block: Block<Low>) -> Block<Low> {
    let reads = |inst: &Inst<Low>| matches!(inst.kind, Kind::Op(Op::State(..), _));
    let insts = block.insts.into_iter().filter(|inst| !reads(inst));
    let inner = |inst: Inst<Low>| Inst {
        kind: inst.kind.map_blocks(without_reads),
        ..inst
    };
    Block {
        insts: insts.map(inner).collect(),
        yields: block.yields,
    }
}
