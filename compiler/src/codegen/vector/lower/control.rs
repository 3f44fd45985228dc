//! Lowers blocks, `if` and `for`.

use super::{Lowering, Op};
use crate::{
    codegen::vector::{
        fault::{Fault, is_seeded},
        tree::{
            Arm, Binary, Block, Class, Compare, For, Home, If, Kind, Merge, Node, Test, Unary, Val,
            Variable,
        },
    },
    low::Low,
    ssa::{self, Inst, Value},
};

/// A block that was lowered: its steps and its yields.
struct Side {
    nodes: Vec<Node>,
    yields: Vec<Val>,
}

impl Lowering<'_> {
    pub(super) fn insts(&mut self, block: &ssa::Block<Low>) -> Result<(), String> {
        for inst in &block.insts {
            match &inst.kind {
                ssa::Kind::Op(op, args) => self.low_op(op, args, &inst.results)?,
                ssa::Kind::If {
                    condition,
                    then,
                    otherwise,
                } => self.lower_if(&inst.results, *condition, then, otherwise)?,
                ssa::Kind::For { .. } => self.lower_for(inst)?,
            }
        }
        Ok(())
    }

    /// Lowers a block for some lanes, for which a condition may be known.
    fn side(
        &mut self,
        block: &ssa::Block<Low>,
        lanes: Val,
        fact: Option<(Val, bool)>,
    ) -> Result<Side, String> {
        let outer = (
            std::mem::take(&mut self.nodes),
            self.block,
            std::mem::replace(&mut self.active, lanes),
            self.facts.mark(),
        );
        self.block = self.blocks;
        self.blocks += 1;
        if let Some((condition, truth)) = fact {
            self.assume(condition, truth);
        }
        self.insts(block)?;
        let yields = block.yields.iter().map(|&v| self.simplest(self.get(v)));
        let yields = yields.collect();
        let nodes = std::mem::replace(&mut self.nodes, outer.0);
        (self.block, self.active) = (outer.1, outer.2);
        self.facts.forget(outer.3);
        Ok(Side { nodes, yields })
    }

    fn lower_if(
        &mut self,
        results: &[Value],
        condition: Value,
        then: &ssa::Block<Low>,
        otherwise: &ssa::Block<Low>,
    ) -> Result<(), String> {
        let c = self.get(condition);
        if let Some(truth) = self.truth(c) {
            let taken = if truth { then } else { otherwise };
            self.insts(taken)?;
            for (&result, &v) in results.iter().zip(&taken.yields) {
                self.set(result, self.get(v));
            }
            return Ok(());
        }
        let outer = self.active;
        let byte = match self.values.home(c) {
            Home::TruthAt(place) => Some(place),
            _ => None,
        };
        let one_side = then.insts.is_empty() || otherwise.insts.is_empty();
        let masks = if byte.is_some() {
            [outer; 2]
        } else {
            let alone = one_side && self.uses[condition.0 as usize] == 1;
            let all = self.constant_truth(true);
            let then = if is_seeded(Fault::InnerMaskAlone) {
                all
            } else {
                outer
            };
            let other = if is_seeded(Fault::OtherMaskAlone) {
                all
            } else {
                outer
            };
            [self.and(then, c, [false, alone]), self.and_not(c, other)]
        };
        let mark = self.values.len();
        let mut sides = [
            self.side(then, masks[0], Some((c, true)))?,
            self.side(otherwise, masks[1], Some((c, false)))?,
        ];
        if is_seeded(Fault::MaskNotRestored) {
            self.active = masks[1];
        }
        // Whether what a side yields is known only there.
        let mut own = [0, 1].map(|n| !sides[n].nodes.is_empty());
        for n in [0, 1] {
            if byte.is_none() && is_cheap(&sides[n].nodes) {
                self.nodes.append(&mut sides[n].nodes);
                own[n] = false;
            }
        }
        let is_own = |this: &Self, n: usize, v: Val| {
            own[n] && v.index() >= mark && this.values.home(v) == Home::None
        };
        // The arms that are there, by side.
        let arm = [0, 1].map(|n| own[n].then(|| if n == 1 && own[0] { 1 } else { 0 }));
        let arms = own.iter().filter(|&&own| own).count();
        let mut merges = Vec::new();
        let mut choices = Vec::new();
        for (j, &result) in results.iter().enumerate() {
            let [a, b] = [0, 1].map(|n| sides[n].yields[j]);
            if a == b {
                self.set(result, a);
                continue;
            }
            let from = [is_own(self, 0, a), is_own(self, 1, b)];
            if from == [false; 2] && (byte.is_none() || arms == 0) {
                choices.push((result, a, b));
                continue;
            }
            // A side that has no arm, or whose value is known before, is what the result starts as.
            let starts = match from {
                [true, true] => None,
                [true, false] => Some(1),
                [false, true] => Some(0),
                [false, false] if arm[0].is_some() => Some(1),
                [false, false] => Some(0),
            };
            let mut yields = vec![None; arms];
            for n in [0, 1] {
                if let Some(arm) = arm[n]
                    && starts != Some(n)
                {
                    yields[arm] = Some([a, b][n]);
                }
            }
            let class = self.class(result);
            let merged = self.values.make(class, Home::None);
            self.set(result, merged);
            merges.push(Merge {
                result: merged,
                start: starts.map(|n| [a, b][n]),
                yields,
            });
        }
        let tests = [true, false].map(|truth| byte.map_or(Test::Lanes, |at| Test::Byte(at, truth)));
        let arms: Vec<Arm> = sides
            .into_iter()
            .zip(masks)
            .zip(tests)
            .filter(|((side, _), _)| !side.nodes.is_empty())
            .map(|((side, mask), test)| Arm {
                test,
                mask,
                block: Block {
                    nodes: side.nodes,
                    end: 0,
                },
                start: 0,
            })
            .collect();
        if !arms.is_empty() {
            self.push(Kind::If(Box::new(If { arms, merges })));
        }
        for (result, a, b) in choices {
            let chosen = match self.class(result) {
                Class::Vector => self.select(c, a, b),
                Class::Mask => self.select_mask(c, a, b),
            };
            self.set(result, chosen);
        }
        Ok(())
    }

    /// A loop goes on for the lanes whose counter is below its last value, so the counter never passes that.
    fn lower_for(&mut self, inst: &Inst<Low>) -> Result<(), String> {
        let ssa::Kind::For {
            index,
            low,
            high,
            breaks,
            carried,
            init,
            body,
        } = &inst.kind
        else {
            unreachable!("called for loops only");
        };
        let varies = |v: &Value| self.varying[v.0 as usize];
        let uniform = !(varies(low) || varies(high) || *breaks && varies(&carried[0]));
        let outer = self.active;
        let [first, last] = [self.get(*low), self.get(*high)];
        let inits: Vec<Val> = init.iter().map(|&v| self.simplest(self.get(v))).collect();
        let outer = if is_seeded(Fault::LoopForAll) {
            self.constant_truth(true)
        } else {
            outer
        };
        let enters = self.op(Op::Compare(Compare::IntLessEqual), &[first, last, outer]);
        let enters = if *breaks {
            self.and(enters, inits[0], [false; 2])
        } else {
            enters
        };
        let mask = self.values.make(Class::Mask, Home::None);
        let counter = self.values.make(Class::Vector, Home::None);
        self.set(*index, counter);
        let variables: Vec<Val> = carried
            .iter()
            .map(|&v| {
                let variable = self.values.make(self.class(v), Home::None);
                self.set(v, variable);
                variable
            })
            .collect();
        let Side { nodes, yields } = self.side(body, mask, None)?;
        // What decides about the next round is part of the body.
        let outside = std::mem::replace(&mut self.nodes, nodes);
        let mut goes_on = self.op(Op::Compare(Compare::IntLess), &[counter, last, mask]);
        if *breaks && !is_seeded(Fault::LoopNotLeft) {
            goes_on = self.and(goes_on, yields[0], [false; 2]);
        }
        let one = self.int(1);
        let next = self.op(Op::Binary(Binary::IntAdd), &[counter, one]);
        let nexts: Vec<Val> = yields
            .iter()
            .enumerate()
            .map(|(n, &y)| {
                // Variables are set one after the other, so what another one was must be kept.
                let is_other = variables.contains(&y) && variables[n] != y || y == counter;
                if is_other { self.copy(y) } else { y }
            })
            .collect();
        let nodes = std::mem::replace(&mut self.nodes, outside);
        let mut all = vec![Variable {
            value: counter,
            init: first,
            next,
            kept: false,
            result: None,
        }];
        for (n, &value) in variables.iter().enumerate() {
            let class = self.values.class(value);
            let result = self.values.make(class, Home::None);
            self.set(inst.results[n], result);
            all.push(Variable {
                value,
                init: inits[n],
                next: nexts[n],
                kept: !uniform,
                result: Some(result),
            });
        }
        all.push(Variable {
            value: mask,
            init: enters,
            next: goes_on,
            kept: false,
            result: None,
        });
        self.push(Kind::For(Box::new(For {
            mask,
            variables: all,
            body: Block { nodes, end: 0 },
            is_long: self.long_loops.contains(index),
            start: 0,
        })));
        Ok(())
    }
}

/// Whether executing the block unconditionally is cheaper than testing for active lanes.
fn is_cheap(nodes: &[Node]) -> bool {
    const FEW: usize = 4;
    nodes.len() <= FEW
        && nodes.iter().all(|node| match &node.kind {
            Kind::Op { op, .. } => !matches!(op, Op::Binary(Binary::Div) | Op::Unary(Unary::Sqrt)),
            _ => false,
        })
}
