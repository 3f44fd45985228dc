//! From Low-IR to a tree of machine operations.
//!
//! Takes a function of one strand, gives one of W lanes: values that differ between strands, and those that do not and are
//! still computed, are vectors; truth values are masks; values in memory stay there. Conditions become the masks of the
//! blocks that depend on them.

mod calls;
mod control;
mod dynamic;
mod ops;
mod truth;

use super::{
    Ends, Machine, Width,
    tree::{
        Base, Block, Class, Finish, Home, Kind, Logic, MemoryPlace, Node, Op, Store, Tree, Unary,
        Val, Values,
    },
};
use crate::{
    codegen::{
        Linker, Task,
        abi::{Sink, StatePlane},
        vector::status,
    },
    low::{self, Low, Ty},
    ssa::{self, Function, Role, Value},
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use truth::Facts;

/// Lowers a function.
///
/// # Errors
/// It contains an operation that is not covered.
pub(super) fn lower(
    task: &Task<'_>,
    machine: Machine,
    state: &Arc<[StatePlane]>,
    ends: &Ends,
    linker: &Linker,
) -> Result<Tree, String> {
    let has_status = match &task.sink {
        Sink::State { status } => *status,
        Sink::Results => false,
        Sink::Globals { .. } => return Err("global code runs once, not for lanes".into()),
    };
    let with_masks;
    let function = if has_status {
        with_masks = status::as_truths(task.function);
        &with_masks
    } else {
        task.function
    };
    let repeats = task.role == Role::Update && can_repeat(&function.body, state);
    let mut lowering = Lowering::new(function, machine, (state, ends), linker, repeats);
    // The new state comes after what the status has become.
    let (status, new_state) = match &task.sink {
        Sink::State { .. } => function
            .body
            .yields
            .split_at(if has_status { 2 } else { 0 }),
        _ => Default::default(),
    };
    lowering.find_parameters(&function.body, new_state);
    lowering.insts(&function.body)?;
    let finish = match &task.sink {
        Sink::State { .. } => lowering.finish_state(status, new_state),
        Sink::Results => {
            let words = function.body.yields.iter().map(|&v| lowering.word(v));
            Finish::Results(words.collect())
        }
        Sink::Globals { .. } => unreachable!("refused above"),
    };
    let bits = lowering.constants.bits(machine);
    Ok(Tree {
        bits,
        one: lowering.one,
        width: machine.lanes.width,
        body: Block {
            nodes: lowering.nodes,
            end: 0,
        },
        finish,
        values: lowering.values,
        repeats,
        constants: lowering.constants.bytes,
    })
}

/// Whether the state between super-steps cannot be observed: nothing is reported, printed or created.
fn can_repeat(block: &ssa::Block<Low>, state: &[StatePlane]) -> bool {
    state.iter().all(|plane| !plane.is_handle)
        && block.insts.iter().all(|inst| {
            let op = match &inst.kind {
                ssa::Kind::Op(op, _) => !matches!(
                    op,
                    low::Op::IntDiv(_)
                        | low::Op::IntRem(_)
                        | low::Op::CheckIndex(_)
                        | low::Op::Print(_)
                        | low::Op::Dynamic(_)
                ),
                ssa::Kind::If { .. } | ssa::Kind::For { .. } => true,
            };
            op && (inst.kind.blocks().into_iter()).all(|inner| can_repeat(inner, state))
        })
}

/// How a value is computed.
#[derive(Clone, Copy)]
struct Definition {
    op: Op,
    args: [Val; 3],
    /// How many of them there are.
    count: usize,
    /// The block in which it stands.
    block: u32,
}

struct Lowering<'a> {
    function: &'a Function<Low>,
    machine: Machine,
    state: &'a Arc<[StatePlane]>,
    ends: &'a Ends,
    linker: &'a Linker,
    repeats: bool,
    /// Which Low values may differ between strands, and how often each is used.
    varying: Vec<bool>,
    uses: Vec<u32>,
    /// The indices of loops that may take long.
    long_loops: FxHashSet<Value>,
    found: Vec<Option<Val>>,
    values: Values,
    definitions: Vec<Option<Definition>>,
    constants: Constants,
    one: Option<MemoryPlace>,
    truths: [Val; 2],
    facts: Facts,
    /// The state slots that Low values are, and the values of slots.
    slots: FxHashMap<Value, u32>,
    parameters: Vec<Val>,
    /// The lanes that run here.
    active: Val,
    /// Addresses of other strands' lanes, by strand, place, distance of lanes, and block.
    addresses: FxHashMap<(Val, bool, usize, u32), Vec<Val>>,
    /// The steps of the open block, its number, and how many blocks there are.
    nodes: Vec<Node>,
    block: u32,
    blocks: u32,
}

/// Bytes of the longest vector.
const VECTOR: usize = 64;

/// The constants of a function.
#[derive(Default)]
struct Constants {
    bytes: Vec<u8>,
    known: FxHashMap<(u64, bool), Val>,
}

impl<'a> Lowering<'a> {
    fn new(
        function: &'a Function<Low>,
        machine: Machine,
        (state, ends): (&'a Arc<[StatePlane]>, &'a Ends),
        linker: &'a Linker,
        repeats: bool,
    ) -> Lowering<'a> {
        let mut values = Values::default();
        let active = values.make(Class::Mask, Home::None);
        debug_assert_eq!(active, Val::ACTIVE);
        let truths = [false, true].map(|b| values.make(Class::Mask, Home::Truth(b)));
        let mut uses = vec![0; function.types.len()];
        count_uses(&function.body, &mut uses);
        Lowering {
            function,
            machine,
            state,
            ends,
            linker,
            repeats,
            varying: low::varying(function),
            long_loops: low::long_loops(function),
            uses,
            found: vec![None; function.types.len()],
            values,
            definitions: Vec::new(),
            constants: Constants::default(),
            one: None,
            truths,
            facts: Facts::default(),
            slots: FxHashMap::default(),
            parameters: Vec::new(),
            active,
            addresses: FxHashMap::default(),
            nodes: Vec::new(),
            block: 0,
            blocks: 1,
        }
    }

    fn ty(&self, v: Value) -> Ty {
        *self.function.type_of(v)
    }

    fn class(&self, v: Value) -> Class {
        match self.ty(v) {
            Ty::Bool => Class::Mask,
            Ty::Real | Ty::Int | Ty::Str => Class::Vector,
        }
    }

    fn get(&self, v: Value) -> Val {
        self.found[v.0 as usize].expect("lowered before use")
    }

    fn set(&mut self, v: Value, val: Val) {
        self.found[v.0 as usize] = Some(val);
    }

    /// A value as lanes; truth values are all ones or zeros.
    fn word(&mut self, v: Value) -> Val {
        let val = self.get(v);
        match (self.class(v), self.truth(val)) {
            (Class::Vector, _) => val,
            (Class::Mask, Some(true)) => self.constant(u64::MAX),
            (Class::Mask, Some(false)) => self.constant(0),
            (Class::Mask, None) => self.op(Op::ToWord, &[val]),
        }
    }

    fn push(&mut self, kind: Kind) {
        self.nodes.push(Node { at: 0, kind });
    }

    /// Appends an operation.
    fn op(&mut self, op: Op, args: &[Val]) -> Val {
        let class = match op {
            Op::Binary(_) | Op::Unary(_) | Op::Select | Op::ToWord => Class::Vector,
            Op::Compare(_) | Op::Logic(_) | Op::Not | Op::SelectMask | Op::ToMask => Class::Mask,
        };
        let result = self.values.make(class, Home::None);
        self.push(Kind::Op {
            op,
            result,
            args: args.into(),
        });
        let mut three = [Val::ACTIVE; 3];
        three[..args.len()].copy_from_slice(args);
        self.definitions.resize(self.values.len(), None);
        self.definitions[result.index()] = Some(Definition {
            op,
            args: three,
            count: args.len(),
            block: self.block,
        });
        result
    }

    fn definition(&self, v: Val) -> Option<Definition> {
        self.definitions.get(v.index()).copied().flatten()
    }

    /// The same value in a place of its own.
    fn copy(&mut self, v: Val) -> Val {
        match self.values.class(v) {
            Class::Vector => self.op(Op::Unary(Unary::Copy), &[v]),
            Class::Mask => self.op(Op::Logic(Logic::Or), &[v, v]),
        }
    }

    /// The same bits in every lane.
    fn constant(&mut self, bits: u64) -> Val {
        let bytes = self.machine.lane_bytes();
        let bits = if bytes == 4 {
            bits & u64::from(u32::MAX)
        } else {
            bits
        };
        // Where instructions cannot spread a lane over a vector themselves, the vector is in memory.
        let spread = self.machine.width == Width::Ymm;
        self.constants
            .make(&mut self.values, (bits, false), bytes, spread)
    }

    /// The same bits in every lane of 64 bits.
    fn long_constant(&mut self, bits: u64) -> Val {
        if self.machine.lane_bytes() == 8 {
            return self.constant(bits);
        }
        self.constants.make(&mut self.values, (bits, true), 8, true)
    }

    fn real(&mut self, x: f64) -> Val {
        let bits = if self.machine.lanes.double {
            x.to_bits()
        } else {
            u64::from((x as f32).to_bits())
        };
        self.constant(bits)
    }

    fn int(&mut self, n: i64) -> Val {
        let n = if self.machine.lanes.long_int {
            n
        } else {
            i64::from(n as i32)
        };
        self.constant(n as u64)
    }

    /// Finds which slots the values are that read the state, and makes a value for each slot.
    fn find_parameters(&mut self, body: &ssa::Block<Low>, new_state: &[Value]) {
        find_slots(body, &mut self.slots);
        for (slot, plane) in self.state.iter().enumerate() {
            let place = MemoryPlace {
                base: Base::State,
                at: plane.offset as i32,
            };
            let home = if self.repeats && self.is_changed(slot, new_state) {
                Home::None
            } else {
                Home::Plane(place)
            };
            let parameter = self.values.make(Class::Vector, home);
            self.parameters.push(parameter);
        }
    }

    /// Whether a slot gets another value than it had.
    fn is_changed(&self, slot: usize, new_state: &[Value]) -> bool {
        let new = new_state.get(slot);
        new.is_some_and(|v| self.slots.get(v) != Some(&(slot as u32)))
    }

    /// Says what becomes of the results of a function that changes the state.
    fn finish_state(&mut self, status: &[Value], new_state: &[Value]) -> Finish {
        let ended = match *status {
            [stable, dead] => Some([stable, dead].map(|v| self.get(v))),
            _ => None,
        };
        let mut stores = Vec::new();
        for (slot, &v) in new_state.iter().enumerate() {
            if !self.is_changed(slot, new_state) {
                continue;
            }
            let mut value = self.word(v);
            // A value from another plane that changes must be read before that plane is stored.
            let other = self.parameters.iter().position(|&p| p == value);
            if other.is_some_and(|other| self.is_changed(other, new_state)) {
                value = self.copy(value);
            }
            let plane = &self.state[slot];
            stores.push(Store {
                at: plane.offset as i32,
                value,
                before: self.repeats.then(|| self.parameters[slot]),
                packed: plane.is_handle,
            });
        }
        Finish::State { ended, stores }
    }
}

impl Constants {
    /// A place for a vector.
    fn place(&mut self) -> MemoryPlace {
        self.bytes
            .resize(self.bytes.len().next_multiple_of(VECTOR), 0);
        MemoryPlace {
            base: Base::Constants,
            at: self.bytes.len() as i32,
        }
    }

    /// Words of 32 bits.
    fn words(&mut self, words: &[u32]) -> MemoryPlace {
        let place = self.place();
        self.bytes
            .extend(words.iter().flat_map(|w| w.to_le_bytes()));
        place
    }

    /// The bit of each lane.
    fn bits(&mut self, machine: Machine) -> MemoryPlace {
        let place = self.place();
        for lane in 0..machine.lanes.width {
            let bit = 1u64 << lane;
            self.bytes
                .extend(&bit.to_le_bytes()[..machine.lane_bytes()]);
        }
        place
    }

    /// A constant of lanes of this many bytes, as one lane or as a whole vector.
    fn make(&mut self, values: &mut Values, key: (u64, bool), bytes: usize, spread: bool) -> Val {
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let lane = &key.0.to_le_bytes()[..bytes];
        let unit = if spread { VECTOR } else { bytes };
        self.bytes
            .resize(self.bytes.len().next_multiple_of(unit), 0);
        let place = MemoryPlace {
            base: Base::Constants,
            at: self.bytes.len() as i32,
        };
        self.bytes.extend(lane.repeat(unit / bytes));
        let home = if spread {
            Home::Plane(place)
        } else {
            Home::Broadcast(place)
        };
        let made = values.make(Class::Vector, home);
        self.known.insert(key, made);
        made
    }
}

fn count_uses(block: &ssa::Block<Low>, uses: &mut [u32]) {
    for inst in &block.insts {
        for v in inst.kind.operands() {
            uses[v.0 as usize] += 1;
        }
        for inner in inst.kind.blocks() {
            count_uses(inner, uses);
        }
    }
    for v in &block.yields {
        uses[v.0 as usize] += 1;
    }
}

fn find_slots(block: &ssa::Block<Low>, slots: &mut FxHashMap<Value, u32>) {
    for inst in &block.insts {
        if let ssa::Kind::Op(low::Op::State(slot, _), _) = &inst.kind {
            slots.insert(inst.results[0], *slot);
        }
        for inner in inst.kind.blocks() {
            find_slots(inner, slots);
        }
    }
}
