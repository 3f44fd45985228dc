//! Which loops may take long, so that a run that is to end has to be able to leave them.

use super::{Low, Op};
use crate::ssa::{Block, Function, Kind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Loops with at most this many rounds are not checked for interrupts.
const FEW: i64 = 256;

/// The indices of the loops that may take more than a few rounds. A loop inside one that does not is among them for its own
/// sake.
pub fn long_loops(function: &Function<Low>) -> FxHashSet<Value> {
    let mut found = FxHashSet::default();
    find(&function.body, &mut FxHashMap::default(), &mut found);
    found
}

/// Looks through a block, after the integers that are known around it.
fn find(block: &Block<Low>, known: &mut FxHashMap<Value, i64>, long: &mut FxHashSet<Value>) {
    for inst in &block.insts {
        match &inst.kind {
            Kind::Op(Op::Int(number), _) => {
                known.insert(inst.results[0], *number);
            }
            Kind::Op(..) => {}
            Kind::If {
                then, otherwise, ..
            } => {
                find(then, known, long);
                find(otherwise, known, long);
            }
            Kind::For {
                index,
                low,
                high,
                body,
                ..
            } => {
                let rounds = match (known.get(low), known.get(high)) {
                    (Some(low), Some(high)) => high.checked_sub(*low),
                    _ => None,
                };
                if rounds.is_none_or(|rounds| rounds >= FEW) {
                    long.insert(*index);
                }
                find(body, known, long);
            }
        }
    }
}
