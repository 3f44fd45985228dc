//! Guards probes that are needed only if a comparison may hold: bounds of the field tell at most positions that it does not.
//!
//! ```text
//! v = probe F(x)                        d = decide n F(x)             −1: false, 1: true, 0: bounds do not tell
//! c = less(t, v)               ──►      g = less-equal(0.0, d)
//! r = if c { … v … } else { s }         r = if g { v = probe F(x); c = less(t, v); if c { … v … } else { s } } else { s }
//! ```
//!
//! The probe and all that is computed from it move into the guard. Of the values that are used elsewhere, truth values are decided with the probe, or have the
//! value that is known if the guard does not hold; other values are used only where a condition holds that the guard is about. The comparison
//! itself becomes a function [`Role::Decide`], from the values of the field to its truth. A run follows it with intervals in place of numbers.

mod plan;
mod slice;

use super::{Low, Op, Ty, zero};
use crate::{
    ir::leaf::Convolution,
    ssa::{Block, Function, Inst, Kind, Program, Role, Value, Values, number_values, remove_dead},
};
use plan::{Plan, Substitute};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;
use std::sync::Arc;

/// Samples under the kernels of a probe, of all components, from which on a decision costs much less than a probe.
const MANY_SAMPLES: usize = 48;

/// A comparison about a field, as a function of its values.
type Comparison = (Arc<Convolution>, Function<Low>);

/// Which probes are guarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bounds {
    /// Those that cost much more than a decision.
    #[default]
    Costly,
    /// All that can be, for tests.
    All,
    /// None.
    None,
}

/// Guards the probes of strand code, as far as comparisons with values that all strands share decide about them.
pub fn decide_by_bounds(program: Program<Low>, bounds: Bounds) -> Program<Low> {
    if bounds == Bounds::None {
        return program;
    }
    let mut comparisons: Vec<Comparison> = Vec::new();
    let mut program = program.map(|role, function| {
        if !role.is_method() {
            return function;
        }
        let before = comparisons.len();
        let function = guarded(function, bounds, &mut comparisons);
        match comparisons.len() == before {
            true => function,
            false => remove_dead(number_values(function)),
        }
    });
    let comparisons = comparisons.into_iter().map(|(_, function)| function);
    let named = (0..)
        .map(Role::Decide)
        .zip(comparisons)
        .map(|(role, function)| {
            let name = role.name().into_owned();
            (role, Function { name, ..function })
        });
    program.functions.extend(named);
    program
}

/// Guards the probes of a function; the comparisons that decide are added to those of other functions.
fn guarded(
    function: Function<Low>,
    bounds: Bounds,
    comparisons: &mut Vec<Comparison>,
) -> Function<Low> {
    let mut definitions = FxHashMap::default();
    function.body.walk(&mut |inst| {
        if let Kind::Op(op, args) = &inst.kind {
            for (n, &v) in inst.results.iter().enumerate() {
                definitions.insert(v, (op.clone(), args.clone(), n));
            }
        }
    });
    let mut pass = Guarding {
        types: function.types,
        bounds,
        definitions,
        comparisons,
        guards: FxHashSet::default(),
        tested: FxHashMap::default(),
        around: Vec::new(),
    };
    let body = pass.block(function.body);
    Function {
        name: function.name,
        types: pass.types,
        body,
    }
}

struct Guarding<'a> {
    bounds: Bounds,
    types: Vec<Ty>,
    /// The operation that defines a value, its arguments, and which of its results the value is.
    definitions: FxHashMap<Value, (Op, Values, usize)>,
    comparisons: &'a mut Vec<Comparison>,
    /// The conditions of guards.
    guards: FxHashSet<Value>,
    /// The comparisons, by number, that a truth value outside its guard was made of.
    tested: FxHashMap<Value, Vec<usize>>,
    /// The comparisons that decide about the blocks around this place. A comparison that was open a moment ago is not asked again: a search for the very place
    /// where a value is crossed would gain nothing.
    around: Vec<usize>,
}

impl Guarding<'_> {
    fn fresh(&mut self, ty: Ty) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    fn ty(&self, v: Value) -> Ty {
        self.types[v.0 as usize]
    }

    /// A new instruction with one result.
    fn op(&mut self, op: Op, args: Values, to: &mut Vec<Inst<Low>>) -> Value {
        let (_, results) = super::signature(&op);
        let result = self.fresh(results[0]);
        to.push(Inst {
            results: smallvec![result],
            kind: Kind::Op(op, args),
        });
        result
    }

    fn block(&mut self, block: Block<Low>) -> Block<Low> {
        let Block {
            mut insts,
            mut yields,
        } = block;
        if insts.iter().any(|inst| is_guarded(&inst.kind, self.bounds)) {
            // Constants can be read anywhere; in front of all others, every guard knows them.
            insts.sort_by_key(|inst| !is_constant(&inst.kind));
        }
        let mut at = 0;
        while at < insts.len() {
            if is_guarded(&insts[at].kind, self.bounds)
                && let Some(plan) = self.plan(&insts, &yields, at)
            {
                (insts, yields) = self.apply(insts, yields, plan);
                continue;
            }
            let is_guard = matches!(&insts[at].kind, Kind::If { condition, .. } if self.guards.contains(condition));
            if !is_guard {
                let inst = &mut insts[at];
                let kind = std::mem::replace(&mut inst.kind, Kind::Op(Op::Int(0), Values::new()));
                let tested = match &kind {
                    Kind::If { condition, .. } => self.tested.get(condition).cloned(),
                    _ => None,
                };
                inst.kind = self.inner(kind, &tested.unwrap_or_default());
            }
            at += 1;
        }
        Block { insts, yields }
    }

    /// An instruction whose blocks are reached as some comparisons decide.
    fn inner(&mut self, kind: Kind<Low>, tested: &[usize]) -> Kind<Low> {
        let outside = self.around.len();
        self.around.extend(tested);
        let kind = kind.map_blocks(|inner| self.block(inner));
        self.around.truncate(outside);
        kind
    }

    /// The block with the instructions of a plan in their guard.
    fn apply(
        &mut self,
        insts: Vec<Inst<Low>>,
        yields: Vec<Value>,
        plan: Plan,
    ) -> (Vec<Inst<Low>>, Vec<Value>) {
        let Plan {
            moved,
            place,
            before,
            guard,
            escaping,
            within,
            comparisons,
        } = plan;
        self.guards.insert(guard);
        let (mut earlier, mut inside, mut later) = (Vec::new(), Vec::new(), Vec::new());
        for (n, inst) in insts.into_iter().enumerate() {
            match () {
                () if moved.contains(&n) => inside.push(inst),
                () if n < place => earlier.push(inst),
                () => later.push(inst),
            }
        }
        earlier.extend(before);
        let (results, then, otherwise) = match within {
            Some(needed) => {
                // The branch itself moves into the guard, with its other side as that of the guard.
                let branch = later.remove(0);
                let kind = self.inner(branch.kind, &comparisons);
                let Kind::If {
                    then, otherwise, ..
                } = &kind
                else {
                    unreachable!("a plan moves a branch only")
                };
                let skipped = if needed { otherwise } else { then };
                let skipped = skipped.yields.clone();
                let inner: Vec<Value> = (branch.results.iter())
                    .map(|&v| self.fresh(self.ty(v)))
                    .collect();
                inside.push(Inst {
                    results: inner[..].into(),
                    kind,
                });
                let skipping = Block {
                    insts: Vec::new(),
                    yields: skipped,
                };
                (branch.results, inner, skipping)
            }
            None => {
                let mut skipping = Block::<Low>::default();
                let mut names = FxHashMap::default();
                let mut results = Values::new();
                for &(v, known) in &escaping {
                    let op = match known {
                        Substitute::Value(v) => {
                            skipping.yields.push(v);
                            None
                        }
                        Substitute::Truth(truth) => Some(Op::Bool(truth)),
                        Substitute::Unused => Some(zero(self.ty(v))),
                    };
                    if let Some(op) = op {
                        let v = self.op(op, Values::new(), &mut skipping.insts);
                        skipping.yields.push(v);
                    }
                    let outside = self.fresh(self.ty(v));
                    names.insert(v, outside);
                    self.tested.insert(outside, comparisons.clone());
                    results.push(outside);
                }
                let mut rename = |v: Value| names.get(&v).copied().unwrap_or(v);
                later = later
                    .into_iter()
                    .map(|inst| inst.rename(&mut rename))
                    .collect();
                let inner = escaping.iter().map(|(v, _)| *v).collect();
                let yields = yields.into_iter().map(rename).collect();
                let inside = std::mem::take(&mut inside);
                return self.with_guard(
                    guard,
                    earlier,
                    (results, inside, inner, skipping),
                    later,
                    yields,
                );
            }
        };
        self.with_guard(
            guard,
            earlier,
            (results, inside, then, otherwise),
            later,
            yields,
        )
    }

    /// A block with a guard between its earlier and its later instructions.
    fn with_guard(
        &self,
        guard: Value,
        mut insts: Vec<Inst<Low>>,
        (results, inside, given, otherwise): (Values, Vec<Inst<Low>>, Vec<Value>, Block<Low>),
        later: Vec<Inst<Low>>,
        yields: Vec<Value>,
    ) -> (Vec<Inst<Low>>, Vec<Value>) {
        insts.push(Inst {
            results,
            kind: Kind::If {
                condition: guard,
                then: Block {
                    insts: inside,
                    yields: given,
                },
                otherwise,
            },
        });
        insts.extend(later);
        (insts, yields)
    }
}

/// Whether an instruction reads something that does not change while the function runs.
fn is_constant(kind: &Kind<Low>) -> bool {
    matches!(kind, Kind::Op(op, _) if op.is_constant())
}

/// Whether an instruction is a probe of values that is worth a guard.
fn is_guarded(kind: &Kind<Low>, bounds: Bounds) -> bool {
    let Kind::Op(Op::Probe(field, orders), _) = kind else {
        return false;
    };
    let taps: usize = field.supports().map(|s| 2 * usize::from(s)).product();
    field.time.is_none()
        && orders.iter().next() == Some(0)
        && (bounds == Bounds::All || taps * field.shape.size() >= MANY_SAMPLES)
}
