//! Common subexpressions: an operation that was already computed, in this block or one around it, is not computed again.
//! Operations that commute are the same for their arguments in any order.

use super::{Block, Dialect, Function, Inst, Kind, Value};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The same function with every repeated operation replaced by its first result.
pub fn number_values<D: Dialect>(function: Function<D>) -> Function<D> {
    number_values_mapped(function).0
}

/// The same, with what each value was replaced by.
pub fn number_values_mapped<D: Dialect>(function: Function<D>) -> (Function<D>, Vec<Value>) {
    let mut numbering = Numbering::<D> {
        replaced: (0..function.types.len() as u32).map(Value).collect(),
        seen: FxHashMap::default(),
    };
    let (body, _) = numbering.block(function.body);
    (Function { body, ..function }, numbering.replaced)
}

/// Operations computed so far in the open blocks.
type Seen<D> = FxHashMap<Rc<Key<D>>, Vec<Value>>;
type Key<D> = (<D as Dialect>::Op, Vec<Value>);

struct Numbering<D: Dialect> {
    replaced: Vec<Value>,
    seen: Seen<D>,
}

impl<D: Dialect> Numbering<D> {
    /// A block inside of others: what it computes is not known after it.
    fn inner_block(&mut self, block: Block<D>) -> Block<D> {
        let (block, added) = self.block(block);
        for key in added {
            self.seen.remove(&key);
        }
        block
    }

    /// A block, and what it computes that was not known before.
    fn block(&mut self, block: Block<D>) -> (Block<D>, Vec<Rc<Key<D>>>) {
        let mut added = Vec::new();
        let mut insts = Vec::with_capacity(block.insts.len());
        for inst in block.insts {
            match inst.kind {
                Kind::Op(op, args) => {
                    let args = self.all(args);
                    let pure = !D::has_effect(&op);
                    if pure {
                        let mut key = (op.clone(), args.clone());
                        if D::commutes(&op) {
                            key.1.sort_unstable();
                        }
                        if let Some(known) = self.seen.get(&key) {
                            for (v, &k) in inst.results.iter().zip(known) {
                                self.replaced[v.0 as usize] = k;
                            }
                            continue;
                        }
                        let key = Rc::new(key);
                        self.seen.insert(key.clone(), inst.results.clone());
                        added.push(key);
                    }
                    insts.push(Inst {
                        results: inst.results,
                        kind: Kind::Op(op, args),
                    });
                }
                Kind::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let condition = self.one(condition);
                    let kind = Kind::If {
                        condition,
                        then: self.inner_block(then),
                        otherwise: self.inner_block(otherwise),
                    };
                    insts.push(Inst {
                        results: inst.results,
                        kind,
                    });
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
                    let (low, high, init) = (self.one(low), self.one(high), self.all(init));
                    let body = self.inner_block(body);
                    insts.push(Inst {
                        results: inst.results,
                        kind: Kind::For {
                            index,
                            low,
                            high,
                            breaks,
                            carried,
                            init,
                            body,
                        },
                    });
                }
            }
        }
        let yields = self.all(block.yields);
        (Block { insts, yields }, added)
    }

    fn one(&self, v: Value) -> Value {
        self.replaced[v.0 as usize]
    }

    fn all(&self, values: Vec<Value>) -> Vec<Value> {
        values.into_iter().map(|v| self.one(v)).collect()
    }
}
