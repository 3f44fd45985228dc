//! Replaces a short `if` by what both of its blocks compute and a selection: strands that run together would take both ways
//! anyway, and straight code leaves more to share and to run together.

use super::{Low, Op, varying};
use crate::ssa::{Block, Function, Inst, Kind};
use smallvec::smallvec;

/// Replaces every `if` whose condition may differ between strands and whose blocks are short.
pub fn flatten_short_ifs(function: Function<Low>) -> Function<Low> {
    let pass = Flattening {
        varying: varying(&function),
        types: &function.types,
    };
    let body = pass.block(function.body);
    Function {
        body,
        name: function.name,
        types: function.types,
    }
}

struct Flattening<'a> {
    varying: Vec<bool>,
    types: &'a [super::Ty],
}

impl Flattening<'_> {
    fn block(&self, block: Block<Low>) -> Block<Low> {
        let mut insts = Vec::with_capacity(block.insts.len());
        for Inst { results, kind } in block.insts {
            // Inner ones first: an `if` may be short once those inside are gone.
            match kind.map_blocks(|inner| self.block(inner)) {
                Kind::If {
                    condition,
                    then,
                    otherwise,
                } if self.varying[condition.0 as usize]
                    && is_short(&then)
                    && is_short(&otherwise) =>
                {
                    insts.extend(then.insts);
                    insts.extend(otherwise.insts);
                    let sides = then.yields.into_iter().zip(otherwise.yields);
                    for (result, (a, b)) in results.into_iter().zip(sides) {
                        let select = Op::Select(self.types[result.0 as usize]);
                        insts.push(Inst {
                            results: smallvec![result],
                            kind: Kind::Op(select, smallvec![condition, a, b]),
                        });
                    }
                }
                kind => insts.push(Inst { results, kind }),
            }
        }
        Block {
            insts,
            yields: block.yields,
        }
    }
}

/// Whether executing a block unconditionally is cheaper than a branch.
pub fn is_short(block: &Block<Low>) -> bool {
    const LIMIT: usize = 12;
    block.insts.len() <= LIMIT
        && block.insts.iter().all(|inst| match &inst.kind {
            Kind::Op(op, _) => op.is_constant() || matches!(op, Op::Simple(_) | Op::Select(_)),
            Kind::If { .. } | Kind::For { .. } => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        interpret::low::{Datum, Machine},
        ssa::{evaluate, parse_function, verify},
    };

    /// Flattens a function, checks that it means the same for states of both signs, and gives its text.
    #[track_caller]
    fn flattened(text: &str) -> String {
        let before: Function<Low> = parse_function(text).unwrap();
        let after = flatten_short_ifs(before.clone());
        assert_eq!(verify(&after), Vec::<String>::new());
        for x in [-1.5, 2.5] {
            let run = |f: &Function<Low>| {
                let mut machine = Machine {
                    state: vec![Datum::Real(x)],
                    globals: vec![Datum::Bool(true)],
                    ..Machine::default()
                };
                evaluate(f, &mut machine).unwrap()
            };
            assert_eq!(run(&after), run(&before));
        }
        after.to_string()
    }

    #[test]
    fn both_sides_are_computed_and_one_is_selected() {
        let text = "function f {\n  v0: real = state 0 real()\n  v1: real = real 0.0()\n  v2: bool = less(v0, v1)\n  \
                    v5: real = if v2 {\n    v3: real = neg(v0)\n    yield v3\n  } else {\n    v4: real = add(v0, v0)\n    \
                    yield v4\n  }\n  yield v5\n}\n";
        let flat = flattened(text);
        assert!(
            !flat.contains("if") && flat.contains("select real(v2, v3, v4)"),
            "{flat}"
        );
    }

    #[test]
    fn a_condition_that_is_the_same_for_all_strands_stays_a_branch() {
        let text = "function f {\n  v0: real = state 0 real()\n  v1: bool = global 0 bool()\n  \
                    v3: real = if v1 {\n    v2: real = neg(v0)\n    yield v2\n  } else {\n    yield v0\n  }\n  yield v3\n}\n";
        assert!(flattened(text).contains("if v1"));
    }
}
