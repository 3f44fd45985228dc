//! Removes what nobody needs: operations without effect whose results are unused, and results of `if` and `for`
//! that are unused.

use super::{Block, Dialect, Function, Inst, Kind, Value};

/// The same function without unused operations and results.
pub fn remove_dead<D: Dialect>(function: Function<D>) -> Function<D> {
    let mut live = vec![false; function.types.len()];
    let body = sweep(function.body, &mut live, |_| true);
    Function { body, ..function }
}

/// Keeps the yields for which `wanted` holds, and what they need. Marks everything needed in `live`.
fn sweep<D: Dialect>(
    block: Block<D>,
    live: &mut [bool],
    wanted: impl Fn(usize) -> bool,
) -> Block<D> {
    let yields: Vec<Value> = block
        .yields
        .into_iter()
        .enumerate()
        .filter(|(n, _)| wanted(*n))
        .map(|(_, v)| v)
        .collect();
    mark(&yields, live);
    let mut insts = Vec::new();
    for inst in block.insts.into_iter().rev() {
        if inst.results.iter().any(|v| live[v.0 as usize]) || has_effect(&inst.kind) {
            insts.push(keep(inst, live));
        }
    }
    insts.reverse();
    Block { insts, yields }
}

fn keep<D: Dialect>(inst: Inst<D>, live: &mut [bool]) -> Inst<D> {
    let used: Vec<bool> = inst.results.iter().map(|v| live[v.0 as usize]).collect();
    let (results, kind) = match inst.kind {
        kind @ Kind::Op(..) => (inst.results, kind),
        Kind::If {
            condition,
            then,
            otherwise,
        } => {
            let then = sweep(then, live, |n| used[n]);
            let otherwise = sweep(otherwise, live, |n| used[n]);
            let results = inst
                .results
                .into_iter()
                .zip(&used)
                .filter(|(_, u)| **u)
                .map(|(v, _)| v)
                .collect();
            (
                results,
                Kind::If {
                    condition,
                    then,
                    otherwise,
                },
            )
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
            // A carried value is needed if its result is, if the loop's end depends on it, or if the next value of a
            // needed one is computed from it: repeat until nothing is added.
            let mut needed = used.clone();
            if breaks {
                needed[0] = true;
            }
            loop {
                let mut inside = live.to_vec();
                sweep(body.clone(), &mut inside, |n| needed[n]);
                let more: Vec<bool> = carried
                    .iter()
                    .zip(&needed)
                    .map(|(c, &n)| n || inside[c.0 as usize])
                    .collect();
                if more == needed {
                    break;
                }
                needed = more;
            }
            let body = sweep(body, live, |n| needed[n]);
            let select = |values: Vec<Value>| -> Vec<Value> {
                values
                    .into_iter()
                    .zip(&needed)
                    .filter(|(_, n)| **n)
                    .map(|(v, _)| v)
                    .collect()
            };
            let kind = Kind::For {
                index,
                low,
                high,
                breaks,
                carried: select(carried),
                init: select(init),
                body,
            };
            (select(inst.results), kind)
        }
    };
    mark(&kind.operands(), live);
    Inst { results, kind }
}

fn has_effect<D: Dialect>(kind: &Kind<D>) -> bool {
    match kind {
        Kind::Op(op, _) => D::has_effect(op),
        Kind::If { .. } | Kind::For { .. } => kind
            .blocks()
            .into_iter()
            .any(|b| b.insts.iter().any(|inst| has_effect(&inst.kind))),
    }
}

fn mark(values: &[Value], live: &mut [bool]) {
    for v in values {
        live[v.0 as usize] = true;
    }
}
