//! What a program of [`super::tree`] must give: its strands run one after the other, statement by statement, in exact numbers.
//!
//! Nothing here is shared with the compiler. A strand sees the others as they were when the super-step began; those that were born
//! come after all others, in the order of their parents.

use super::number::Dyadic;
use super::tree::{Exit, Expr, Function, Kernel, Program, Range, Stmt, Type};
use std::fmt::Write;

/// A value.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Real(Dyadic),
    Int(i64),
    Bool(bool),
    /// A vector, or a sequence of reals.
    Many(Vec<Dyadic>),
    /// Another strand, by its number.
    Strand(usize),
}

impl Value {
    fn real(&self) -> Dyadic {
        match self {
            Value::Real(x) => *x,
            Value::Int(n) => Dyadic::whole(*n),
            other => panic!("{other:?} is not a number"),
        }
    }

    fn int(&self) -> i64 {
        match self {
            Value::Int(n) => *n,
            other => panic!("{other:?} is not an integer"),
        }
    }

    fn bool(&self) -> bool {
        match self {
            Value::Bool(b) => *b,
            other => panic!("{other:?} is not a truth value"),
        }
    }

    fn many(&self) -> &[Dyadic] {
        match self {
            Value::Many(parts) => parts,
            other => panic!("{other:?} is not a sequence"),
        }
    }

    /// The numbers of an output.
    fn numbers(&self) -> Vec<f64> {
        match self {
            Value::Real(x) => vec![x.to_f64()],
            Value::Int(n) => vec![*n as f64],
            Value::Bool(b) => vec![f64::from(u8::from(*b))],
            Value::Many(parts) => parts.iter().map(|x| x.to_f64()).collect(),
            Value::Strand(_) => panic!("a strand is not an output"),
        }
    }
}

/// The values of a program's inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inputs {
    pub(super) on: [bool; 3],
    pub(super) h: [Dyadic; 3],
    pub(super) m: i64,
}

/// The ways in which every program is run: the conditions that are common to all strands hold, do not, or some do.
pub(super) const INPUTS: [Inputs; 3] = [
    Inputs {
        on: [true; 3],
        h: [Dyadic::ratio(1, 1); 3],
        m: 2,
    },
    Inputs {
        on: [false; 3],
        h: [Dyadic::ratio(1, 3); 3],
        m: 0,
    },
    Inputs {
        on: [true, false, true],
        h: [
            Dyadic::ratio(1, 1),
            Dyadic::ratio(1, 3),
            Dyadic::ratio(1, 1),
        ],
        m: 1,
    },
];

/// The samples of the image.
pub(super) const SAMPLES: [i64; 16] = [3, -1, 4, 1, -5, 9, 2, -6, 5, 3, 5, -8, 9, 7, -9, 3];

/// The results of a program: the numbers of every output for all living strands in order, the lengths of a sequence of varying
/// length as an output of their own, and the printed text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) outputs: Vec<(String, Vec<f64>)>,
    pub(super) printed: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Active,
    Stable,
    Dead,
}

#[derive(Clone, Debug)]
struct Strand {
    life: Life,
    i: i64,
    state: Vec<Value>,
}

/// Runs a program.
pub(super) fn run(program: &Program, inputs: &Inputs) -> Outcome {
    let mut world = World {
        program,
        inputs,
        strands: Vec::new(),
        seen: Vec::new(),
        printed: String::new(),
    };
    for i in 0..program.strands {
        let strand = world.create(i);
        world.strands.push(strand);
    }
    for _ in 0..program.steps {
        if !world
            .strands
            .iter()
            .any(|strand| strand.life == Life::Active)
        {
            break;
        }
        world.step();
    }
    Outcome {
        outputs: world.outputs(),
        printed: world.printed,
    }
}

struct World<'a> {
    program: &'a Program,
    inputs: &'a Inputs,
    strands: Vec<Strand>,
    /// The strands when the super-step began.
    seen: Vec<Strand>,
    printed: String,
}

impl World<'_> {
    fn create(&mut self, i: i64) -> Strand {
        let program = self.program;
        let mut scope = Scope::of(self, usize::MAX, i, Vec::new());
        for state in &program.state {
            let value = scope.value(&state.value);
            // An integer becomes a real where one is wanted.
            let value = match (state.ty, value) {
                (Type::Real, value) => Value::Real(value.real()),
                (_, value) => value,
            };
            scope.state.push(value);
        }
        let state = scope.state;
        Strand {
            life: Life::Active,
            i,
            state,
        }
    }

    fn step(&mut self) {
        self.seen = self.strands.clone();
        let mut born = Vec::new();
        for n in 0..self.strands.len() {
            if self.strands[n].life != Life::Active {
                continue;
            }
            let program = self.program;
            let left = self.method(n, &program.update, &mut born);
            self.strands[n].life = match left {
                Some(Left::By(Exit::Stabilize)) => Life::Stable,
                Some(Left::By(Exit::Die)) => Life::Dead,
                _ => Life::Active,
            };
            if self.strands[n].life == Life::Stable {
                self.method(n, &program.stabilize, &mut born);
            }
        }
        self.strands.retain(|strand| strand.life != Life::Dead);
        for i in born {
            let strand = self.create(i);
            self.strands.push(strand);
        }
    }

    fn method(&mut self, n: usize, body: &[Stmt], born: &mut Vec<i64>) -> Option<Left> {
        let Strand { i, state, .. } = self.strands[n].clone();
        let mut scope = Scope::of(self, n, i, state);
        let left = scope.run(body);
        let (state, children) = (scope.state, scope.born);
        self.strands[n].state = state;
        born.extend(children);
        left
    }

    fn outputs(&self) -> Vec<(String, Vec<f64>)> {
        let mut outputs = Vec::new();
        for (n, state) in self
            .program
            .state
            .iter()
            .enumerate()
            .filter(|(_, state)| state.output)
        {
            let values = self.strands.iter().map(|strand| strand.state[n].numbers());
            outputs.push((state.name.clone(), values.clone().flatten().collect()));
            if state.ty == Type::List {
                let lengths = values.map(|numbers| numbers.len() as f64);
                outputs.push((format!("{}-len", state.name), lengths.collect()));
            }
        }
        outputs
    }
}

/// How statements end before their end.
enum Left {
    By(Exit),
    With(Value),
}

/// The variables of a strand while a method or function runs.
struct Scope<'a, 'w> {
    world: &'a mut World<'w>,
    own: usize,
    i: i64,
    state: Vec<Value>,
    locals: Vec<(String, Value)>,
    born: Vec<i64>,
}

impl<'a, 'w> Scope<'a, 'w> {
    fn of(world: &'a mut World<'w>, own: usize, i: i64, state: Vec<Value>) -> Scope<'a, 'w> {
        Scope {
            world,
            own,
            i,
            state,
            locals: Vec::new(),
            born: Vec::new(),
        }
    }

    fn run(&mut self, statements: &[Stmt]) -> Option<Left> {
        let depth = self.locals.len();
        let left = statements
            .iter()
            .find_map(|statement| self.statement(statement));
        self.locals.truncate(depth);
        left
    }

    fn statement(&mut self, statement: &Stmt) -> Option<Left> {
        match statement {
            Stmt::Declare(_, name, value) => {
                let value = self.value(value);
                self.locals.push((name.clone(), value));
            }
            Stmt::Set(name, value) => {
                let value = self.value(value);
                *self.variable(name) = value;
            }
            Stmt::If(condition, then, otherwise) => {
                return if self.value(condition).bool() {
                    self.run(then)
                } else {
                    self.run(otherwise.as_deref().unwrap_or_default())
                };
            }
            Stmt::Each(variable, range, body) => {
                for item in self.items(range) {
                    self.locals.push((variable.clone(), item));
                    let left = self.run(body);
                    self.locals.pop();
                    if left.is_some() {
                        return left;
                    }
                }
            }
            Stmt::Exit(Exit::Return(value)) => return Some(Left::With(self.value(value))),
            Stmt::Exit(exit) => return Some(Left::By(exit.clone())),
            Stmt::New(arguments) => {
                let i = self.value(&arguments[0]).int();
                self.born.push(i);
            }
            Stmt::Print(items) => {
                let words: Vec<String> = items
                    .iter()
                    .map(|item| self.value(item).int().to_string())
                    .collect();
                let _ = writeln!(self.world.printed, "{}", words.join(" "));
            }
        }
        None
    }

    fn items(&mut self, range: &Range) -> Vec<Value> {
        match range {
            Range::Count(from, to) => {
                let (from, to) = (self.value(from).int(), self.value(to).int());
                (from..=to).map(Value::Int).collect()
            }
            Range::Elements(of) => self
                .value(of)
                .many()
                .iter()
                .map(|&x| Value::Real(x))
                .collect(),
            Range::Strands(radius) => self.near(*radius).into_iter().map(Value::Strand).collect(),
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.world
            .program
            .state
            .iter()
            .position(|state| state.name == name)
    }

    fn variable(&mut self, name: &str) -> &mut Value {
        if let Some(local) = self.locals.iter().rposition(|(known, _)| known == name) {
            return &mut self.locals[local].1;
        }
        let place = self
            .place(name)
            .unwrap_or_else(|| panic!("no variable {name}"));
        &mut self.state[place]
    }

    fn named(&self, name: &str) -> Value {
        if let Some((_, value)) = self.locals.iter().rev().find(|(known, _)| known == name) {
            return value.clone();
        }
        if let Some(place) = self.place(name).filter(|&place| place < self.state.len()) {
            return self.state[place].clone();
        }
        let Inputs { on, h, m } = self.world.inputs;
        let at = || usize::from(name.as_bytes()[name.len() - 1] - b'0');
        match name {
            "i" => Value::Int(self.i),
            "m" => Value::Int(*m),
            "on0" | "on1" | "on2" => Value::Bool(on[at()]),
            "h0" | "h1" | "h2" => Value::Real(h[at()]),
            "g0" | "g1" | "g2" => Value::Real(h[at()] + Dyadic::ratio(1, 2)),
            _ => panic!("no variable {name}"),
        }
    }

    /// The other strands that are closer than a radius, in order.
    fn near(&self, radius: Dyadic) -> Vec<usize> {
        let position = self.place("pos").expect("strands that have positions");
        let here = self.state[position].real();
        let is_near = |&n: &usize| {
            let away = self.world.seen[n].state[position].real() - here;
            n != self.own && away < radius && -radius < away
        };
        (0..self.world.seen.len()).filter(is_near).collect()
    }

    fn member(&self, strand: usize, member: &str) -> Value {
        let place = self
            .place(member)
            .unwrap_or_else(|| panic!("no variable {member}"));
        self.world.seen[strand].state[place].clone()
    }

    fn value(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Real(x) => Value::Real(*x),
            Expr::Int(n) => Value::Int(*n),
            Expr::Bool(b) => Value::Bool(*b),
            Expr::Name(name) => self.named(name),
            Expr::Add(a, b) => self.arithmetic(a, b, |a, b| a + b, |a, b| a + b),
            Expr::Sub(a, b) => self.arithmetic(a, b, |a, b| a - b, |a, b| a - b),
            Expr::Mul(a, b) => self.arithmetic(a, b, |a, b| a * b, |a, b| a * b),
            Expr::Div(a, b) => Value::Int(self.value(a).int() / self.value(b).int()),
            Expr::Rem(a, b) => Value::Int(self.value(a).int() % self.value(b).int()),
            Expr::Less(a, b) => Value::Bool(self.value(a).real() < self.value(b).real()),
            Expr::Equal(a, b) => Value::Bool(self.value(a) == self.value(b)),
            Expr::Vector(parts) | Expr::Sequence(parts) => {
                Value::Many(parts.iter().map(|part| self.value(part).real()).collect())
            }
            Expr::Item(sequence, index) => {
                let index = self.value(index).int();
                Value::Real(self.value(sequence).many()[index as usize])
            }
            Expr::Append(sequence, item) => {
                let mut parts = self.value(sequence).many().to_vec();
                parts.push(self.value(item).real());
                Value::Many(parts)
            }
            Expr::Multiples(scale, from, to) => {
                let (from, to) = (self.value(from).int(), self.value(to).int());
                Value::Many((from..=to).map(|n| *scale * Dyadic::whole(n)).collect())
            }
            Expr::Call(function, arguments) => self.call(function, arguments),
            Expr::Probe(kernel, at) => Value::Real(probe(*kernel, self.value(at).real())),
            Expr::Near(radius, member) => {
                let near = self.near(*radius);
                let values = near.into_iter().map(|n| self.member(n, member).real());
                Value::Real(values.fold(Dyadic::ZERO, |a, b| a + b))
            }
            Expr::Member(strand, member) => match self.named(strand) {
                Value::Strand(n) => self.member(n, member),
                other => panic!("{other:?} is not a strand"),
            },
        }
    }

    fn arithmetic(
        &mut self,
        a: &Expr,
        b: &Expr,
        of_ints: fn(i64, i64) -> i64,
        of_reals: fn(Dyadic, Dyadic) -> Dyadic,
    ) -> Value {
        match (self.value(a), self.value(b)) {
            (Value::Int(a), Value::Int(b)) => Value::Int(of_ints(a, b)),
            (Value::Many(a), Value::Many(b)) => {
                Value::Many(a.into_iter().zip(b).map(|(a, b)| of_reals(a, b)).collect())
            }
            (a, b) => Value::Real(of_reals(a.real(), b.real())),
        }
    }

    fn call(&mut self, function: &str, arguments: &[Expr]) -> Value {
        let program = self.world.program;
        let function: &Function = program
            .functions
            .iter()
            .find(|f| f.name == function)
            .unwrap_or_else(|| panic!("no function {function}"));
        let values: Vec<Value> = arguments
            .iter()
            .map(|argument| self.value(argument))
            .collect();
        let names = function.parameters.iter().map(|(_, name)| name.to_string());
        let locals: Vec<(String, Value)> = names.zip(values).collect();
        let outside = std::mem::replace(&mut self.locals, locals);
        let left = self.run(&function.body);
        self.locals = outside;
        match left {
            Some(Left::With(value)) => value,
            _ => panic!("{} does not return", function.name),
        }
    }
}

/// The convolution of the samples with a kernel, by the formulas of its pieces.
fn probe(kernel: Kernel, at: Dyadic) -> Dyadic {
    let (whole, rest) = at.floor();
    let one = Dyadic::whole(1);
    let half = |n: i64| Dyadic::ratio(n, 1);
    let weight = |t: Dyadic| match kernel {
        Kernel::Tent => one - t,
        Kernel::CatmullRom if t < one => one - half(5) * t * t + half(3) * t * t * t,
        Kernel::CatmullRom => {
            Dyadic::whole(2) - Dyadic::whole(4) * t + half(5) * t * t - half(1) * t * t * t
        }
    };
    let support = match kernel {
        Kernel::Tent => 1,
        Kernel::CatmullRom => 2,
    };
    let taps = (1 - support)..=support;
    taps.fold(Dyadic::ZERO, |sum, n| {
        let away = rest - Dyadic::whole(n);
        let distance = if away < Dyadic::ZERO { -away } else { away };
        sum + Dyadic::whole(SAMPLES[(whole + n) as usize]) * weight(distance)
    })
}
