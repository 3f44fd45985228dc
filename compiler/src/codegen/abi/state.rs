//! The layout of the strands' state and the features that a program uses: both follow from its Low-IR.

use super::{Lanes, StatePlane};
use crate::{
    ir::{status, tensor::Ty},
    low::{self, Dynamic, Low, Op},
    ssa::{Block, Function, Inst, Kind, Program, Role, Value},
};
use runtime::{
    strands::{self, Scalar, Sharing, StateLayout},
    world::Abilities,
};
use std::collections::BTreeSet;

/// The places of the state variables.
#[derive(Clone, Debug)]
pub struct StateMap {
    /// The layout as the runtime knows it.
    pub layout: StateLayout,
    /// The plane of every state slot.
    pub planes: Vec<StatePlane>,
    /// Where strands keep the cell of each mesh that they were in last: bytes from the start of a block to a plane of 4-byte
    /// lanes. No operation reads it; it only makes searches short.
    pub hints: Vec<usize>,
    /// The first of the runtime's variables that belong to each state variable: a fixed sequence of varying ones is
    /// several.
    pub variables: Vec<usize>,
}

/// What a program makes use of.
pub fn abilities(program: &Program<Low>) -> Abilities {
    let has = |role| program.function(role).is_some();
    let mut abilities = Abilities {
        starts: has(Role::Start),
        stabilizes: has(Role::Stabilize),
        global_start: has(Role::GlobalStart),
        global_update: has(Role::GlobalUpdate),
        ..Abilities::default()
    };
    each_method_op(program, |op| match op {
        Op::Print(_) => abilities.prints = true,
        Op::Dynamic(Dynamic::Sphere { .. } | Dynamic::Other(..)) => abilities.communicates = true,
        Op::Dynamic(Dynamic::New(_)) => abilities.creates = true,
        Op::Dynamic(Dynamic::Count(_)) => abilities.counts = true,
        // A status is chosen among constants; whether this is one does not show.
        Op::Int(status::DIE) => abilities.dies = true,
        _ => {}
    });
    abilities.ends_at_once = ends_at_once(program);
    abilities.reductions_fail = reductions_fail(program);
    abilities
}

/// Whether the body of a reduction over strands has an operation that may report an error.
fn reductions_fail(program: &Program<Low>) -> bool {
    let mut bodies = program.functions.iter();
    bodies.any(|(role, body)| {
        let mut fails = false;
        body.each_op(&mut |op, _, _| {
            fails |= matches!(
                op,
                Op::IntDiv(_) | Op::IntRem(_) | Op::CheckIndex(_) | Op::Print(_) | Op::Dynamic(_)
            );
        });
        matches!(role, Role::Reduce(_)) && fails
    })
}

/// Whether every strand ends in its first super-step, and prints in its update alone.
fn ends_at_once(program: &Program<Low>) -> bool {
    let prints = |function: &Function<Low>| {
        let mut prints = false;
        function.each_op(&mut |op, _, _| prints |= matches!(op, Op::Print(_)));
        prints
    };
    let others = [Role::Start, Role::Stabilize].map(|role| program.function(role));
    let creation = program.function(Role::Create);
    others.iter().all(Option::is_none)
        && !creation.is_some_and(prints)
        && program
            .function(Role::Update)
            .is_some_and(|update| ends(&update.body, update.body.yields[0]))
}

/// Whether a status, which a function computes, is always one of a strand that ends.
fn ends(body: &Block<Low>, status: Value) -> bool {
    let Some(inst) = definition(body, status) else {
        return false;
    };
    let place = inst.results.iter().position(|result| *result == status);
    match (&inst.kind, place) {
        (Kind::Op(Op::Int(number), _), _) => matches!(*number, status::STABILIZE | status::DIE),
        (Kind::Op(Op::Select(_), args), _) => args[1..].iter().all(|&choice| ends(body, choice)),
        (
            Kind::If {
                then, otherwise, ..
            },
            Some(n),
        ) => [then, otherwise]
            .iter()
            .all(|block| ends(body, block.yields[n])),
        _ => false,
    }
}

/// The instruction in a block, or in one inside it, that has a result.
fn definition(block: &Block<Low>, value: Value) -> Option<&Inst<Low>> {
    block.insts.iter().find_map(|inst| {
        if inst.results.contains(&value) {
            return Some(inst);
        }
        let mut inner = inst.kind.blocks().into_iter();
        inner.find_map(|block| definition(block, value))
    })
}

/// Lays out the state: every scalar is a plane of lanes as wide as the program's reals, every sequence one of handles.
///
/// # Panics
/// If the runtime refuses the layout; it accepts all that come from here.
pub fn state_map(program: &Program<Low>, lanes: Lanes) -> StateMap {
    let (mut read, mut position) = (BTreeSet::new(), None);
    each_method_op(program, |op| match op {
        Op::Dynamic(Dynamic::Sphere {
            position: slot,
            dim,
        }) => {
            position = Some(*slot);
            read.extend(*slot..*slot + u32::from(*dim));
        }
        Op::Dynamic(Dynamic::Other(slot, _)) => {
            read.insert(*slot);
        }
        _ => {}
    });
    let changed = changed_slots(program);
    let (mut variables, mut first, mut slots) = (Vec::new(), Vec::new(), 0..0);
    let mut position_variable = None;
    for state in &program.interface.state {
        let ty = &state.variable.ty;
        slots = slots.end..slots.end + ty.scalars().len() as u32;
        let sharing = if !slots.clone().any(|slot| read.contains(&slot)) {
            Sharing::Private
        } else if slots.clone().any(|slot| changed.contains(&slot)) {
            Sharing::Communicated
        } else {
            Sharing::Constant
        };
        if position == Some(slots.start) {
            position_variable = Some(variables.len());
        }
        first.push(variables.len());
        variables.extend(kinds(ty, lanes).into_iter().map(|kind| strands::Variable {
            name: state.variable.name.clone(),
            kind,
            sharing,
        }));
    }
    let own = variables.len();
    let hint = |_| strands::Variable {
        name: "the cell of a mesh".to_string(),
        kind: strands::Kind::Tensor {
            scalar: Scalar::I32,
            components: 1,
        },
        sharing: Sharing::Private,
    };
    variables.extend(program.interface.meshes.iter().map(hint));
    let layout = StateLayout::new(lanes.width, variables, position_variable)
        .unwrap_or_else(|why| panic!("the layout of the state: {why}"));
    let planes = planes(program, &layout, own);
    let hints = own..own + program.interface.meshes.len();
    StateMap {
        hints: hints.map(|hint| layout.plane(hint, 0).offset).collect(),
        layout,
        planes,
        variables: first,
    }
}

/// The runtime's variables for a type.
fn kinds(ty: &Ty, lanes: Lanes) -> Vec<strands::Kind> {
    match ty {
        Ty::List(element) => {
            let (scalar, components) = scalars(element, lanes);
            vec![strands::Kind::Sequence { scalar, components }]
        }
        Ty::Seq(element, n) if has_lists(element) => kinds(element, lanes).repeat(*n),
        _ => {
            let (scalar, components) = scalars(ty, lanes);
            vec![strands::Kind::Tensor { scalar, components }]
        }
    }
}

fn has_lists(ty: &Ty) -> bool {
    match ty {
        Ty::List(_) => true,
        Ty::Seq(element, _) => has_lists(element),
        _ => false,
    }
}

/// The machine type and number of the scalars of a type.
pub(crate) fn scalars(ty: &Ty, lanes: Lanes) -> (Scalar, usize) {
    let types = ty.scalars();
    let first = types.first().copied().unwrap_or(low::Ty::Real);
    (machine_type(first, lanes), types.len())
}

/// The machine type of a scalar in memory.
pub(crate) fn machine_type(ty: low::Ty, lanes: Lanes) -> Scalar {
    match (ty, lanes.lane_bytes(ty)) {
        (low::Ty::Real, 4) => Scalar::F32,
        (low::Ty::Real, _) => Scalar::F64,
        (_, 4) => Scalar::I32,
        (_, _) => Scalar::I64,
    }
}

/// The plane of every state slot; this many of the runtime's variables are the program's.
fn planes(program: &Program<Low>, layout: &StateLayout, own: usize) -> Vec<StatePlane> {
    let state = &program.interface.state;
    let mut types = state.iter().flat_map(|s| s.variable.ty.scalars());
    let mut planes = Vec::new();
    for (variable, description) in layout.variables().iter().enumerate().take(own) {
        match description.kind {
            strands::Kind::Tensor { components, .. } => {
                for component in 0..components {
                    let plane = layout.plane(variable, component);
                    planes.push(StatePlane {
                        ty: types.next().expect("a type for every slot"),
                        offset: plane.offset,
                        stride: plane.bytes,
                        is_handle: false,
                        sharing: plane.sharing,
                    });
                }
            }
            strands::Kind::Sequence { .. } => {
                // A handle is the length in its low and the buffer in its high half.
                let plane = layout.plane(variable, 0);
                for half in [4, 0] {
                    planes.push(StatePlane {
                        ty: types.next().expect("a type for every slot"),
                        offset: plane.offset + half,
                        stride: plane.bytes,
                        is_handle: true,
                        sharing: plane.sharing,
                    });
                }
            }
        }
    }
    planes
}

/// The state slots that a method may change.
fn changed_slots(program: &Program<Low>) -> BTreeSet<u32> {
    let methods = program
        .functions
        .iter()
        .filter(|(role, _)| matches!(role, Role::Start | Role::Update | Role::Stabilize));
    methods
        .flat_map(|(_, function)| changed_by(function))
        .collect()
}

/// The slots that a method changes: those for which it does not yield the value that it has loaded from them.
fn changed_by(function: &Function<Low>) -> Vec<u32> {
    let results = function.body.yields.iter().skip(1).zip(0..);
    let kept = |&(value, slot): &(&Value, u32)| {
        function.body.insts.iter().any(|inst| {
            inst.results.first() == Some(value)
                && matches!(inst.kind, Kind::Op(Op::State(from, _), _) if from == slot)
        })
    };
    results
        .filter(|result| !kept(result))
        .map(|(_, slot)| slot)
        .collect()
}

/// Visits the operations of the methods.
fn each_method_op(program: &Program<Low>, mut visit: impl FnMut(&Op)) {
    for (role, function) in &program.functions {
        if role.is_method() {
            function.each_op(&mut |op, _, _| visit(op));
        }
    }
}
