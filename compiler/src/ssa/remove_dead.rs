//! Removes dead code: operations without effect whose results are unused, and unused results of `if` and `for`.
//!
//! First every needed value is marked, following each to its operands once; then one walk keeps the marked operations. So the time does not depend on how deeply loops are nested.

use super::{Block, Dialect, Function, Inst, Kind, Value};

/// The same function without unused operations and results.
pub fn remove_dead<D: Dialect>(function: Function<D>) -> Function<D> {
    let mut marking = Marking {
        needs: Vec::with_capacity(2 * function.types.len()),
        last: vec![NONE; function.types.len()],
        live: vec![false; function.types.len()],
        waiting: Vec::new(),
    };
    marking.block(&function.body, &mut Vec::new());
    marking.want(&function.body.yields);
    let live = marking.finish();
    let body = sweep(function.body, &live);
    Function { body, ..function }
}

/// No need.
const NONE: u32 = u32::MAX;

struct Marking {
    /// What values are computed from: a value, and where the next need of the same one is.
    needs: Vec<(Value, u32)>,
    /// For every value, where its last need is.
    last: Vec<u32>,
    live: Vec<bool>,
    waiting: Vec<Value>,
}

impl Marking {
    /// Learns what the values of a block need, and wants what its effects need: their arguments and, because they depend on
    /// being reached, `around`, what decides about the blocks around them.
    fn block<D: Dialect>(&mut self, block: &Block<D>, around: &mut Vec<Value>) {
        for inst in &block.insts {
            let outside = around.len();
            match &inst.kind {
                Kind::Op(op, args) => {
                    if D::has_effect(op) {
                        self.want(args);
                        self.want(around);
                    }
                    for &v in &inst.results {
                        self.need(v, args);
                    }
                }
                Kind::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    for (n, &v) in inst.results.iter().enumerate() {
                        self.need(v, &[*condition, then.yields[n], otherwise.yields[n]]);
                    }
                    around.push(*condition);
                    self.block(then, around);
                    self.block(otherwise, around);
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
                    let mut control = vec![*low, *high];
                    if *breaks {
                        control.push(carried[0]);
                    }
                    self.need(*index, &control);
                    for (n, &v) in carried.iter().enumerate() {
                        self.need(v, &control);
                        self.need(v, &[init[n], body.yields[n]]);
                        self.need(inst.results[n], &[v]);
                    }
                    around.extend(control);
                    self.block(body, around);
                }
            }
            around.truncate(outside);
        }
    }

    fn need(&mut self, v: Value, from: &[Value]) {
        for &other in from {
            let next = std::mem::replace(&mut self.last[v.0 as usize], self.needs.len() as u32);
            self.needs.push((other, next));
        }
    }

    fn want(&mut self, values: &[Value]) {
        self.waiting.extend(values);
    }

    fn finish(mut self) -> Vec<bool> {
        while let Some(v) = self.waiting.pop() {
            if !std::mem::replace(&mut self.live[v.0 as usize], true) {
                let mut place = self.last[v.0 as usize];
                while place != NONE {
                    let (needed, next) = self.needs[place as usize];
                    self.waiting.push(needed);
                    place = next;
                }
            }
        }
        self.live
    }
}

/// The block without the instructions that are not needed.
fn sweep<D: Dialect>(block: Block<D>, live: &[bool]) -> Block<D> {
    let is_live = |v: &Value| live[v.0 as usize];
    let mut insts = Vec::with_capacity(block.insts.len());
    for Inst { results, kind } in block.insts {
        match kind {
            Kind::Op(op, args) => {
                if results.iter().any(is_live) || D::has_effect(&op) {
                    let kind = Kind::Op(op, args);
                    insts.push(Inst { results, kind });
                }
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                let used: Vec<bool> = results.iter().map(is_live).collect();
                let [then, otherwise] = [then, otherwise].map(|block| {
                    let Block { insts, yields } = sweep(block, live);
                    let yields = select(yields, &used);
                    Block { insts, yields }
                });
                // An instruction is left in a block only if it is needed, so an effect shows as one.
                if used.contains(&true) || !then.insts.is_empty() || !otherwise.insts.is_empty() {
                    insts.push(Inst {
                        results: select(results, &used),
                        kind: Kind::If {
                            condition,
                            then,
                            otherwise,
                        },
                    });
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
                let used: Vec<bool> = carried.iter().map(is_live).collect();
                let Block {
                    insts: inner,
                    yields,
                } = sweep(body, live);
                if used.contains(&true) || !inner.is_empty() {
                    insts.push(Inst {
                        results: select(results, &used),
                        kind: Kind::For {
                            index,
                            low,
                            high,
                            breaks,
                            carried: select(carried, &used),
                            init: select(init, &used),
                            body: Block {
                                insts: inner,
                                yields: select(yields, &used),
                            },
                        },
                    });
                }
            }
        }
    }
    Block {
        insts,
        yields: block.yields,
    }
}

fn select<C>(values: C, used: &[bool]) -> C
where
    C: IntoIterator<Item = Value> + FromIterator<Value>,
{
    let chosen = values.into_iter().zip(used).filter(|(_, used)| **used);
    chosen.map(|(v, _)| v).collect()
}
