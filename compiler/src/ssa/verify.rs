//! Checks a function: every value defined once and before its uses, every operation typed.

use super::{Block, Dialect, Function, Inst, Kind, Value};
use std::fmt;

/// Every violation, in words; none for a well-formed function.
pub fn verify<D: Dialect>(function: &Function<D>) -> Vec<String> {
    let mut checker = Checker {
        function,
        state: vec![State::Undefined; function.types.len()],
        arguments: Vec::new(),
        found: Vec::new(),
    };
    checker.block(&function.body);
    checker.found
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Undefined,
    InScope,
    OutOfScope,
}

struct Checker<'a, D: Dialect> {
    function: &'a Function<D>,
    state: Vec<State>,
    /// The types of the arguments of one operation; one list serves all.
    arguments: Vec<&'a D::Ty>,
    found: Vec<String>,
}

impl<'a, D: Dialect> Checker<'a, D> {
    /// Checks a block and takes its values out of scope again.
    fn block(&mut self, block: &Block<D>) {
        for inst in &block.insts {
            self.inst(inst);
        }
        self.uses(&block.yields, "yield");
        for inst in &block.insts {
            self.leave(&inst.results);
        }
    }

    fn inst(&mut self, inst: &Inst<D>) {
        match &inst.kind {
            Kind::Op(op, args) => {
                self.uses(args, "an instruction");
                let types = &self.function.types;
                let types = args.iter().map_while(|v| types.get(v.0 as usize));
                self.arguments.clear();
                self.arguments.extend(types);
                if self.arguments.len() < args.len() {
                    return;
                }
                match D::type_of(op, &self.arguments) {
                    Ok(types) => self.expect(&inst.results, &types, op),
                    Err(why) => self.found.push(format!("`{op}`: {why}")),
                }
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                self.uses(&[*condition], "an instruction");
                self.expect(&[*condition], &[D::BOOL], "condition");
                self.block(then);
                self.block(otherwise);
                let types = self.types(&inst.results);
                self.expect(&then.yields, &types, "yield of `then`");
                self.expect(&otherwise.yields, &types, "yield of `else`");
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
                self.uses(&[*low, *high], "an instruction");
                self.uses(init, "an instruction");
                self.expect(&[*low, *high, *index], &[D::INT, D::INT, D::INT], "bounds");
                let types = self.types(carried);
                self.expect(init, &types, "initial values");
                self.expect(&inst.results, &types, "results of `for`");
                if *breaks {
                    self.expect(
                        &carried[..carried.len().min(1)],
                        &[D::BOOL],
                        "loop condition",
                    );
                }
                let own: Vec<Value> = std::iter::once(*index)
                    .chain(carried.iter().copied())
                    .collect();
                self.define(&own);
                self.block(body);
                self.expect(&body.yields, &types, "yield of `for`");
                self.leave(&own);
            }
        }
        self.define(&inst.results);
    }

    fn type_of(&self, v: &Value) -> Option<&'a D::Ty> {
        self.function.types.get(v.0 as usize)
    }

    fn types(&self, values: &[Value]) -> Vec<D::Ty> {
        let types = values.iter().filter_map(|v| self.type_of(v));
        types.cloned().collect()
    }

    fn expect(&mut self, values: &[Value], wanted: &[D::Ty], what: impl fmt::Display) {
        let types = values.iter().filter_map(|v| self.type_of(v));
        if !types.eq(wanted) {
            let found = self.types(values);
            self.found.push(format!(
                "{what}: {values:?} have types {found:?}, wanted {wanted:?}"
            ));
        }
    }

    fn uses(&mut self, values: &[Value], place: &str) {
        for v in values {
            match self.state.get(v.0 as usize) {
                Some(State::InScope) => {}
                Some(State::Undefined) => self
                    .found
                    .push(format!("{v} is used by {place} before its definition")),
                Some(State::OutOfScope) => self
                    .found
                    .push(format!("{v} is used by {place} outside its block")),
                None => self.found.push(format!("{v} has no type")),
            }
        }
    }

    fn define(&mut self, values: &[Value]) {
        for v in values {
            match self.state.get_mut(v.0 as usize) {
                Some(state @ State::Undefined) => *state = State::InScope,
                Some(_) => self.found.push(format!("{v} is defined twice")),
                None => self.found.push(format!("{v} has no type")),
            }
        }
    }

    fn leave(&mut self, values: &[Value]) {
        for v in values {
            if let Some(state) = self.state.get_mut(v.0 as usize) {
                *state = State::OutOfScope;
            }
        }
    }
}
