//! Removes what nobody needs: operations without effect whose results are unused, and results of `if` and `for`
//! that are unused.

use super::{Block, Dialect, Function, Inst, Kind, Value};

/// The same function without unused operations and results.
pub fn remove_dead<D: Dialect>(function: Function<D>) -> Function<D> {
    let mut live = Live(vec![false; function.types.len()]);
    live.mark(&function.body.yields);
    // Loops hand values back to their own beginning, so go on until nothing is added.
    while live.spread(&function.body) {}
    let body = live.keep_block(function.body, |_| true);
    Function { body, ..function }
}

/// For every value, whether it is needed.
struct Live(Vec<bool>);

impl Live {
    fn has(&self, v: Value) -> bool {
        self.0[v.0 as usize]
    }

    /// Marks values; whether one of them is new.
    fn mark(&mut self, values: &[Value]) -> bool {
        let mut new = false;
        for v in values {
            new |= !std::mem::replace(&mut self.0[v.0 as usize], true);
        }
        new
    }

    fn is_needed<D: Dialect>(&self, inst: &Inst<D>) -> bool {
        inst.results.iter().any(|&v| self.has(v)) || has_effect(&inst.kind)
    }

    /// The values that a loop has to hand from one iteration to the next: those whose result is needed, on which its end
    /// depends, or which the body reads.
    fn carried(&self, results: &[Value], breaks: bool, carried: &[Value]) -> Vec<bool> {
        let needed = |n: usize| self.has(results[n]) || self.has(carried[n]) || (breaks && n == 0);
        (0..carried.len()).map(needed).collect()
    }

    /// Marks what needed instructions need, from the last to the first; whether something is new.
    fn spread<D: Dialect>(&mut self, block: &Block<D>) -> bool {
        let mut new = false;
        for inst in block.insts.iter().rev() {
            if !self.is_needed(inst) {
                continue;
            }
            match &inst.kind {
                Kind::Op(_, args) => new |= self.mark(args),
                Kind::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    new |= self.mark(&[*condition]);
                    for (n, &result) in inst.results.iter().enumerate() {
                        if self.has(result) {
                            new |= self.mark(&[then.yields[n], otherwise.yields[n]]);
                        }
                    }
                    new |= self.spread(then) | self.spread(otherwise);
                }
                Kind::For {
                    low,
                    high,
                    breaks,
                    carried,
                    init,
                    body,
                    ..
                } => {
                    new |= self.mark(&[*low, *high]);
                    for (n, needed) in self
                        .carried(&inst.results, *breaks, carried)
                        .into_iter()
                        .enumerate()
                    {
                        if needed {
                            new |= self.mark(&[carried[n], init[n], body.yields[n]]);
                        }
                    }
                    new |= self.spread(body);
                }
            }
        }
        new
    }

    /// What is needed of a block, with the yields for which `wanted` holds.
    fn keep_block<D: Dialect>(&self, block: Block<D>, wanted: impl Fn(usize) -> bool) -> Block<D> {
        let needed = block.insts.into_iter().filter(|inst| self.is_needed(inst));
        Block {
            insts: needed.map(|inst| self.keep(inst)).collect(),
            yields: select(block.yields, wanted),
        }
    }

    fn keep<D: Dialect>(&self, inst: Inst<D>) -> Inst<D> {
        let Inst { results, kind } = inst;
        match kind {
            kind @ Kind::Op(..) => Inst { results, kind },
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                let used: Vec<bool> = results.iter().map(|&v| self.has(v)).collect();
                let kind = Kind::If {
                    condition,
                    then: self.keep_block(then, |n| used[n]),
                    otherwise: self.keep_block(otherwise, |n| used[n]),
                };
                let results = select(results, |n| used[n]);
                Inst { results, kind }
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
                let needed = self.carried(&results, breaks, &carried);
                let kind = Kind::For {
                    index,
                    low,
                    high,
                    breaks,
                    carried: select(carried, |n| needed[n]),
                    init: select(init, |n| needed[n]),
                    body: self.keep_block(body, |n| needed[n]),
                };
                let results = select(results, |n| needed[n]);
                Inst { results, kind }
            }
        }
    }
}

/// The values at the wanted places.
fn select(values: Vec<Value>, wanted: impl Fn(usize) -> bool) -> Vec<Value> {
    let placed = values.into_iter().enumerate();
    placed.filter(|(n, _)| wanted(*n)).map(|(_, v)| v).collect()
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
