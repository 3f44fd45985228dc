//! Common subexpressions: an operation that was already computed, in this block or one around it, is not computed again.
//! Operations that commute are the same for their arguments in any order.

use super::{Block, Dialect, Function, Inst, Kind, Value};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The same function with every repeated operation replaced by its first result.
pub fn number_values<D: Dialect>(function: Function<D>) -> Function<D> {
    number_values_mapped(function).0
}

/// The same, with what each value was replaced by.
pub fn number_values_mapped<D: Dialect>(function: Function<D>) -> (Function<D>, Vec<Value>) {
    let mut numbering = Numbering::<D> {
        replaced: (0..function.types.len() as u32).map(Value).collect(),
        seen: Seen::new(function.types.len()),
    };
    let body = numbering.block(function.body);
    (Function { body, ..function }, numbering.replaced)
}

struct Numbering<D: Dialect> {
    replaced: Vec<Value>,
    seen: Seen<D>,
}

impl<D: Dialect> Numbering<D> {
    /// Numbers a block; its values are not available after it.
    fn block(&mut self, block: Block<D>) -> Block<D> {
        let outside = self.seen.entries.len();
        let mut insts = Vec::with_capacity(block.insts.len());
        for inst in block.insts {
            match inst.kind {
                Kind::Op(op, mut args) => {
                    args.iter_mut().for_each(|v| *v = self.one(*v));
                    if !D::has_effect(&op)
                        && let Some(known) = self.seen.meet(&op, &args, &inst.results)
                    {
                        for (v, &k) in inst.results.iter().zip(known) {
                            self.replaced[v.0 as usize] = k;
                        }
                        continue;
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
                        then: self.block(then),
                        otherwise: self.block(otherwise),
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
                    let body = self.block(body);
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
        self.seen.forget(outside);
        Block { insts, yields }
    }

    fn one(&self, v: Value) -> Value {
        self.replaced[v.0 as usize]
    }

    fn all(&self, values: Vec<Value>) -> Vec<Value> {
        values.into_iter().map(|v| self.one(v)).collect()
    }
}

/// Operations computed so far in the open blocks, the newest last.
struct Seen<D: Dialect> {
    entries: Vec<Entry<D>>,
    /// The arguments and results of the entries, one after the other.
    values: Vec<Value>,
    /// The newest entry of each bucket; there are as many buckets as a power of two.
    newest: Vec<Option<u32>>,
}

struct Entry<D: Dialect> {
    op: D::Op,
    hash: u64,
    /// Where its arguments begin, in order if it commutes, where its results do, and where they end.
    places: [u32; 3],
    /// The entry before it in the same bucket.
    earlier: Option<u32>,
}

impl<D: Dialect> Seen<D> {
    /// For a function of this many values.
    fn new(count: usize) -> Self {
        Seen {
            entries: Vec::with_capacity(count),
            values: Vec::with_capacity(4 * count),
            newest: vec![None; count.next_power_of_two()],
        }
    }

    fn bucket(&self, hash: u64) -> usize {
        hash as usize & (self.newest.len() - 1)
    }

    /// The results of the same operation if it is known; otherwise it is from now on.
    fn meet(&mut self, op: &D::Op, args: &[Value], results: &[Value]) -> Option<&[Value]> {
        let first = self.values.len();
        self.values.extend(args);
        let own = &mut self.values[first..];
        if D::commutes(op) {
            own.sort_unstable();
        }
        let mut hasher = FxHasher::default();
        (op, &*own).hash(&mut hasher);
        let hash = hasher.finish();
        let bucket = self.bucket(hash);
        let newest = self.newest[bucket];
        let mut candidate = newest;
        while let Some(k) = candidate {
            let entry = &self.entries[k as usize];
            let [from, middle, to] = entry.places.map(|place| place as usize);
            if entry.hash == hash
                && entry.op == *op
                && self.values[from..middle] == self.values[first..]
            {
                self.values.truncate(first);
                return Some(&self.values[middle..to]);
            }
            candidate = entry.earlier;
        }
        let middle = self.values.len();
        self.values.extend(results);
        self.newest[bucket] = Some(self.entries.len() as u32);
        self.entries.push(Entry {
            op: op.clone(),
            hash,
            places: [first, middle, self.values.len()].map(|place| place as u32),
            earlier: newest,
        });
        None
    }

    /// Forgets all entries but the first `count`.
    fn forget(&mut self, count: usize) {
        while self.entries.len() > count
            && let Some(entry) = self.entries.pop()
        {
            let bucket = self.bucket(entry.hash);
            self.newest[bucket] = entry.earlier;
            self.values.truncate(entry.places[0] as usize);
        }
    }
}
