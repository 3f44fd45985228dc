//! The stage `derive`: derivatives of one variable by another become code.
//!
//! After translation every call is inlined, every value is defined once, and control flow is `if` and `for` with carried values. So
//! the derivative of `y` by `x` is one forward pass: beside each value on the way from `x` to `y` stands its tangent, the derivative by
//! `x`, with the axes of `x` after its own. An operator has a rule (`rules`, `term`, `eigen`); `if` and `for` carry tangents like other
//! values (`tangents`). Values that do not depend on `x` have no tangent.
//!
//! Requests are replaced one after the other. One that depends on another comes after it, so derivatives of derivatives need no code
//! of their own. All requests by the same `x` share their tangents, also those of tangents.

mod eigen;
mod graph;
mod report;
mod rules;
mod tangents;
mod term;

pub use report::diagnostics;

use super::{High, Op};
use crate::{
    ir::tensor::Base,
    ssa::{Block, Function, Inst, Kind, Program, Role, Value},
};
use graph::Graph;
use rustc_hash::FxHashMap;
use tangents::{Known, Pass, Plan};

/// A fact to report about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of the request.
    pub request: u32,
    /// The fact.
    pub fact: Fact,
}

/// A fact about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The derivative is zero: nothing on the way depends on the variable.
    Zero {
        /// Whether state of the strand is on the way, which earlier code has computed.
        from_earlier: bool,
    },
    /// The variable was assigned since the value was computed from it.
    Stale,
    /// Something on the way has no derivative.
    Obstacle(String),
    /// A field on the way has fewer derivatives than are needed.
    TooRough {
        /// The derivatives that are needed.
        needed: u32,
        /// The derivatives that it has.
        has: u32,
    },
}

impl Fact {
    fn is_zero(&self) -> bool {
        matches!(self, Fact::Zero { .. })
    }
}

/// One place where a request was replaced: its number, and a fact about it.
type Outcome = (u32, Option<Fact>);

/// Replaces all derivatives in a program by code. A derivative that does not exist is a finding, and zero in the program.
pub fn derive(program: Program<High>) -> (Program<High>, Vec<Finding>) {
    let mut outcomes: Vec<Outcome> = Vec::new();
    let program = program.map(|role, function| derived(role, function, &mut outcomes));
    let mut findings: Vec<Finding> = Vec::new();
    for (request, fact) in &outcomes {
        let same = || outcomes.iter().filter(|(other, _)| other == request);
        // A function is inlined at each of its calls. Its derivative is always zero only if it is zero at all of them.
        let is_always_zero = || same().all(|(_, fact)| fact.as_ref().is_some_and(Fact::is_zero));
        let Some(fact) = fact.clone() else { continue };
        let is_known = findings.iter().any(|found| found.request == *request);
        if !is_known && (!fact.is_zero() || is_always_zero()) {
            let request = *request;
            findings.push(Finding { request, fact });
        }
    }
    (program, findings)
}

/// The function with code for its derivatives.
fn derived(role: Role, function: Function<High>, outcomes: &mut Vec<Outcome>) -> Function<High> {
    let mut is_concerned = false;
    function.each_op(&mut |op, _, _| {
        is_concerned |= matches!(op, Op::Variable(_) | Op::Defined | Op::Derivative(_));
    });
    if !is_concerned {
        return function;
    }
    let mut deriver = Deriver {
        role,
        function,
        known: FxHashMap::default(),
        outcomes,
    };
    while let Some(request) = first_request(&deriver.function.body) {
        deriver.replace(request.result, &mut Vec::new());
    }
    without_marks(deriver.function)
}

/// A request in a function: the value of the derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    number: u32,
    result: Value,
    of: Value,
    by: Value,
}

/// The first request in the order of the code.
fn first_request(block: &Block<High>) -> Option<Wanted> {
    let mut found = None;
    block.walk(&mut |inst| {
        if found.is_none() {
            found = request_of(inst);
        }
    });
    found
}

/// The request that an instruction is.
fn request_of(inst: &Inst<High>) -> Option<Wanted> {
    match &inst.kind {
        Kind::Op(Op::Derivative(number), args) => Some(Wanted {
            number: *number,
            result: inst.results[0],
            of: args[0],
            by: args[1],
        }),
        _ => None,
    }
}

/// How an attempt to replace a request ended.
enum Attempt {
    /// It is replaced; a fact about it.
    Done(Option<Fact>),
    /// Another request, by its result, must be replaced first.
    Needs(Value),
}

struct Deriver<'o> {
    role: Role,
    function: Function<High>,
    /// The existing tangents, by the variable.
    known: FxHashMap<Value, Known>,
    outcomes: &'o mut Vec<Outcome>,
}

impl Deriver<'_> {
    /// Replaces a request, and first those that it depends on. `waiting` are the requests that depend on this one.
    fn replace(&mut self, result: Value, waiting: &mut Vec<Value>) {
        loop {
            // The value may have been another request, which was replaced meanwhile.
            let wanted = self.request(result);
            match self.attempt(wanted) {
                Attempt::Done(fact) => {
                    self.outcomes.push((wanted.number, fact));
                    return;
                }
                Attempt::Needs(inner) if inner == result || waiting.contains(&inner) => {
                    let what = "a derivative that depends on itself in a loop".to_owned();
                    self.outcomes
                        .push((wanted.number, Some(Fact::Obstacle(what))));
                    return self.put(wanted, None);
                }
                Attempt::Needs(inner) => {
                    waiting.push(result);
                    self.replace(inner, waiting);
                    waiting.pop();
                }
            }
        }
    }

    /// The request with a result.
    fn request(&self, result: Value) -> Wanted {
        let mut found = None;
        self.function.body.walk(&mut |inst| {
            let same = |request: &Wanted| request.result == result;
            found = found.or_else(|| request_of(inst).filter(same));
        });
        found.expect("a request that was not replaced")
    }

    fn attempt(&mut self, wanted: Wanted) -> Attempt {
        let graph = Graph::of(&self.function);
        if let Some(fact) = self.refused(&graph, wanted) {
            self.put(wanted, None);
            return Attempt::Done(Some(fact));
        }
        let known = self.known.entry(wanted.by).or_default();
        let before = known.clone();
        let fact = match Pass::new(&graph, &mut self.function.types, wanted, known).plan() {
            Plan::Needs(inner) => return Attempt::Needs(inner),
            Plan::Zero => {
                let is_state = |op: &Op| matches!(op, Op::Base(Base::State(..)));
                let from_earlier = graph.reaches(wanted.of, is_state);
                Some(Fact::Zero { from_earlier })
            }
            Plan::Ready(pass) => match pass.run(self.function.body.clone()) {
                Ok(body) => {
                    self.function.body = body;
                    None
                }
                Err(fact) => {
                    self.known.insert(wanted.by, before);
                    Some(fact)
                }
            },
        };
        let tangent = match fact {
            None => self.known[&wanted.by].get(&wanted.of).copied().flatten(),
            Some(_) => None,
        };
        self.put(wanted, tangent);
        Attempt::Done(fact)
    }

    /// Puts a tangent, or zero, in the place of a request.
    fn put(&mut self, wanted: Wanted, tangent: Option<Value>) {
        let body = std::mem::take(&mut self.function.body);
        let graph = Graph::default();
        let mut known = Known::default();
        let pass = Pass::new(&graph, &mut self.function.types, wanted, &mut known);
        self.function.body = pass.put(body, tangent);
    }

    /// The reason why the request has no meaning, regardless of the operations on the way.
    fn refused(&self, graph: &Graph, wanted: Wanted) -> Option<Fact> {
        if graph.is_stale(wanted.of, wanted.by) {
            return Some(Fact::Stale);
        }
        let is_given = |value| graph.is_given(value);
        if matches!(self.role, Role::Reduce(_)) && is_given(wanted.of) && is_given(wanted.by) {
            let what = "a value from outside of a reduction; give the derivative a name before it";
            return Some(Fact::Obstacle(what.to_owned()));
        }
        None
    }
}

/// The function with values in the place of marks on them.
fn without_marks(function: Function<High>) -> Function<High> {
    let mut marked: FxHashMap<Value, Value> = FxHashMap::default();
    function.each_op(&mut |op, args, results| {
        if matches!(op, Op::Variable(_) | Op::Defined) {
            let itself = marked.get(&args[0]).copied().unwrap_or(args[0]);
            marked.insert(results[0], itself);
        }
    });
    let body = tangents::renamed(function.body, &marked);
    Function { body, ..function }
}
