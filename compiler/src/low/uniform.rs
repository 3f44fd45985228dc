//! Which values are the same for all strands that run together.
//!
//! Constants, globals and image properties are uniform, state is not; everything else follows from its operands and from the
//! conditions it stands under. Uniform values are computed once for all lanes.

use super::{Low, Op};
use crate::ssa::{Block, Function, Kind, Value};
use ein_ir::mutants;

/// For every value, whether it may differ between strands.
pub fn varying(function: &Function<Low>) -> Vec<bool> {
    let mut varying = vec![false; function.types.len()];
    // Loops feed values back, so repeat until nothing new is found; values only ever become varying.
    while spread(&function.body, &mut varying) {}
    varying
}

/// One pass in program order; whether anything was found.
fn spread(block: &Block<Low>, varying: &mut [bool]) -> bool {
    let mut found = false;
    for inst in &block.insts {
        let is = |varying: &[bool], v: &Value| varying[v.0 as usize];
        match &inst.kind {
            Kind::Op(op, args) => {
                let source = match op {
                    Op::State(..) | Op::Arg(..) => true,
                    Op::Dynamic(dynamic) => dynamic.is_own(),
                    _ => false,
                };
                let now = source || mutants::varies(args.iter().map(|v| is(varying, v)));
                inst.results
                    .iter()
                    .for_each(|&v| found |= set(varying, v, now));
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                found |= spread(then, varying) | spread(otherwise, varying);
                for (n, &v) in inst.results.iter().enumerate() {
                    let now = is(varying, condition)
                        || is(varying, &then.yields[n])
                        || is(varying, &otherwise.yields[n]);
                    found |= set(varying, v, now);
                }
            }
            Kind::For {
                index,
                low,
                high,
                breaks,
                carried,
                init,
                body,
            } => {
                let low_varies = is(varying, low);
                found |= set(varying, *index, low_varies);
                found |= spread(body, varying);
                let ends_vary =
                    low_varies || is(varying, high) || (*breaks && is(varying, &carried[0]));
                for (n, &v) in carried.iter().enumerate() {
                    let now = ends_vary || is(varying, &init[n]) || is(varying, &body.yields[n]);
                    found |= set(varying, v, now) | set(varying, inst.results[n], now);
                }
            }
        }
    }
    found
}

/// Marks a value as varying if it is `now`; whether that is new.
fn set(varying: &mut [bool], v: Value, now: bool) -> bool {
    let slot = &mut varying[v.0 as usize];
    let new = now && !*slot;
    *slot |= now;
    new
}
