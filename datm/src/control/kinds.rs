//! What stands innermost in a nest, and the programs around nests.

use super::number::Dyadic;
use super::space::{ELEMENTS, Level, statements};
use super::tree::{Exit, Expr, Function, Kernel, Program, Range, State, Stmt, Type};

/// What a nest does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Assigns a real.
    Real,
    /// Assigns an integer.
    Int,
    /// Assigns a vector.
    Vector,
    /// Assigns a sequence of fixed length.
    Fixed,
    /// Reads an element of a sequence at an index that varies.
    Element,
    /// Makes a sequence longer.
    List,
    /// Calls a function with early returns.
    Call,
    /// Probes a field whose code is in place.
    Tent,
    /// Probes a field by a call.
    CatmullRom,
    /// Assigns a truth value that varies.
    Truth,
    /// Assigns a truth value that is known.
    Known,
    /// Exchanges two variables.
    Exchange,
    /// Assigns a value that is the same for all strands.
    Common,
    /// Divides integers.
    Divide,
    /// Returns from a function.
    Return,
    /// Stabilizes the strand.
    Stabilize,
    /// Ends the strand.
    Die,
    /// Ends the method.
    Continue,
    /// Makes a strand.
    New,
    /// Prints.
    Print,
    /// Sums over neighbours.
    Near,
    /// Has a loop over neighbours.
    EachNear,
}

/// Assignments.
pub(super) const ASSIGNMENTS: [Kind; 14] = [
    Kind::Real,
    Kind::Int,
    Kind::Vector,
    Kind::Fixed,
    Kind::Element,
    Kind::List,
    Kind::Call,
    Kind::Tent,
    Kind::CatmullRom,
    Kind::Truth,
    Kind::Known,
    Kind::Exchange,
    Kind::Common,
    Kind::Divide,
];

/// Exits, and what else happens to more than one variable.
pub(super) const EFFECTS: [Kind; 8] = [
    Kind::Return,
    Kind::Stabilize,
    Kind::Die,
    Kind::Continue,
    Kind::New,
    Kind::Print,
    Kind::Near,
    Kind::EachNear,
];

impl Kind {
    /// Whether a nest of this kind decides about whole strands, so that a program has one.
    pub(super) fn stands_alone(self) -> bool {
        matches!(
            self,
            Kind::Stabilize | Kind::Die | Kind::Continue | Kind::New
        )
    }
}

/// One nest and the kind of code inside.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) nest: Vec<Level>,
    pub(super) kind: Kind,
}

impl Piece {
    /// Whether something in it may fail or needs the runtime, so that every super-step of a program with it is a call.
    pub(super) fn is_loud(&self) -> bool {
        let loud = [Kind::Element, Kind::List, Kind::Divide];
        loud.contains(&self.kind) || self.nest.contains(&ELEMENTS)
    }

    pub(super) fn label(&self) -> String {
        let levels: Vec<String> = self.nest.iter().map(ToString::to_string).collect();
        format!("{:?} in {}", self.kind, levels.join(" "))
    }
}

fn real(numerator: i64, log2: u32) -> Expr {
    Expr::Real(Dyadic::ratio(numerator, log2))
}

fn name(name: &str) -> Expr {
    Expr::name(name)
}

fn state(output: bool, ty: Type, name: &str, value: Expr) -> State {
    State {
        output,
        ty,
        name: name.to_string(),
        value,
    }
}

/// A program with these nests, one after the other.
///
/// Remainders are state, so that code for vectors may run several super-steps in one call: it does if nothing in `update` can fail.
pub(super) fn program(pieces: &[Piece]) -> Program {
    let mut program = Program {
        strands: 20,
        steps: 8,
        state: vec![
            state(true, Type::Real, "a", real(1, 2).times(name("i"))),
            state(false, Type::Real, "b", real(1, 1).times(name("i").rem(5))),
            state(false, Type::Int, "age", Expr::Int(0)),
            state(false, Type::Int, "r2", name("i").rem(2)),
            state(false, Type::Int, "r4", name("i").rem(4)),
            state(false, Type::Int, "q0", name("i").rem(3)),
            state(false, Type::Int, "q1", name("i").plus(Expr::Int(1)).rem(3)),
            state(false, Type::Int, "q2", name("i").plus(Expr::Int(2)).rem(3)),
        ],
        update: vec![
            Stmt::Set("age".into(), name("age").plus(Expr::Int(1))),
            Stmt::Set("a".into(), name("a").plus(real(1, 2))),
        ],
        ..Program::default()
    };
    let has = |wanted: &dyn Fn(&Piece) -> bool| pieces.iter().any(wanted);
    if has(&|piece| piece.nest.contains(&ELEMENTS)) {
        let end = name("i").rem(3);
        let value = Expr::Multiples(Dyadic::ratio(1, 2), Box::new(Expr::Int(1)), Box::new(end));
        program.state.push(state(false, Type::List, "w", value));
    }
    if has(&|piece| matches!(piece.kind, Kind::Near | Kind::EachNear)) {
        program
            .state
            .push(state(false, Type::Real, "pos", real(1, 0).times(name("i"))));
        program.collection = true;
    }
    if has(&|piece| piece.kind == Kind::Call) {
        program.functions.push(early());
    }
    for (n, piece) in pieces.iter().enumerate() {
        add(&mut program, piece, n);
    }
    let last = Expr::Int(1).plus(name("r2")).less(name("age"));
    program
        .update
        .push(Stmt::If(last, vec![Stmt::Exit(Exit::Stabilize)], None));
    program
}

/// A function with early returns.
fn early() -> Function {
    let give = |value: Expr| vec![Stmt::Exit(Exit::Return(value))];
    let found = Stmt::If(
        name("t").equal(name("n")),
        give(name("x").plus(name("t"))),
        None,
    );
    let large = Stmt::If(
        real(5, 0).less(name("x")),
        give(name("x").minus(real(3, 0))),
        None,
    );
    let search = Stmt::Each(
        "t".into(),
        Range::Count(Expr::Int(0), Expr::Int(2)),
        vec![found],
    );
    Function {
        name: "early".into(),
        parameters: vec![(Type::Real, "x"), (Type::Int, "n")],
        result: Type::Real,
        body: vec![
            large,
            search,
            Stmt::Exit(Exit::Return(real(0, 0).minus(name("x")))),
        ],
    }
}

/// Adds the variables and statements of the n-th nest.
fn add(program: &mut Program, piece: &Piece, n: usize) {
    let x = &format!("x{n}");
    let y = &format!("y{n}");
    let (ty, value) = match piece.kind {
        Kind::Int | Kind::Divide | Kind::New | Kind::Print => (Type::Int, Expr::Int(0)),
        Kind::Vector => (Type::Pair, Expr::Vector(vec![real(0, 0), real(1, 0)])),
        Kind::Fixed => (Type::Fixed(2), Expr::Sequence(vec![real(0, 0), real(1, 0)])),
        Kind::List => (Type::List, Expr::Sequence(vec![real(1, 0)])),
        Kind::Truth | Kind::Known => (Type::Bool, Expr::Bool(false)),
        _ => (Type::Real, real(0, 0)),
    };
    program.state.push(state(true, ty, x, value));
    if matches!(
        piece.kind,
        Kind::Exchange | Kind::Stabilize | Kind::Die | Kind::Continue
    ) {
        program.state.push(state(true, Type::Real, y, real(3, 1)));
    }
    if piece.kind == Kind::Element {
        let parts = vec![name("a"), real(5, 0), real(-3, 1)];
        program
            .state
            .push(state(false, Type::Fixed(3), y, Expr::Sequence(parts)));
    }
    let nested = statements(&piece.nest, &|place| leaf(piece.kind, x, y, place));
    match piece.kind {
        Kind::Return => {
            let function = format!("f{n}");
            let parameters = [
                (Type::Real, "a"),
                (Type::Real, "b"),
                (Type::Int, "i"),
                (Type::Int, "r2"),
                (Type::Int, "q0"),
                (Type::Int, "q1"),
                (Type::Int, "q2"),
                (Type::List, "w"),
            ];
            let has_list = program.state.iter().any(|state| state.name == "w");
            let parameters = parameters[..if has_list { 8 } else { 7 }].to_vec();
            let arguments = parameters
                .iter()
                .map(|(_, parameter)| name(parameter))
                .collect();
            let end = Stmt::Exit(Exit::Return(name("a").minus(real(7, 0))));
            program.functions.push(Function {
                name: function.clone(),
                parameters,
                result: Type::Real,
                body: [nested, vec![end]].concat(),
            });
            let call = Expr::Call(function, arguments);
            program
                .update
                .push(Stmt::Set(x.clone(), call.minus(name(x))));
        }
        Kind::Stabilize | Kind::Die | Kind::Continue => {
            // What stands before an exit happens, what stands after it does not; the method for stable strands runs once.
            program.collection = piece.kind == Kind::Die;
            program
                .update
                .push(Stmt::Set(y.clone(), name(y).plus(real(1, 0))));
            program.update.extend(nested);
            program
                .update
                .push(Stmt::Set(y.clone(), name(y).plus(name("a"))));
            program
                .stabilize
                .push(Stmt::Set(x.clone(), name(x).plus(real(64, 0))));
            // Without an exit of the other kinds strands end.
            program.steps = 4;
        }
        Kind::New => {
            program.collection = true;
            program.strands = 9;
            program.steps = 2;
            program.update.extend(nested);
            program
                .update
                .push(Stmt::Set(x.clone(), name(x).plus(Expr::Int(1))));
        }
        _ => program.update.extend(nested),
    }
}

/// What stands at a place of a nest.
fn leaf(kind: Kind, x: &str, y: &str, place: i64) -> Vec<Stmt> {
    let set = |to: &str, value: Expr| vec![Stmt::Set(to.to_string(), value)];
    let number = real(2 * place + 1, 0);
    let here = || name("a").plus(number.clone());
    let at = || real(1, 1).times(name("a")).plus(real(2 + place, 0));
    match kind {
        Kind::Real => set(x, here().minus(name(x))),
        Kind::Int => set(x, name("i").plus(Expr::Int(place + 1)).minus(name(x))),
        Kind::Vector => set(
            x,
            Expr::Vector(vec![name("a"), number.clone()]).minus(name(x)),
        ),
        Kind::Fixed => {
            let second = Expr::Item(Box::new(name(x)), Box::new(Expr::Int(1)));
            set(x, Expr::Sequence(vec![second, here()]))
        }
        Kind::Element => {
            let index = name("i").plus(Expr::Int(place)).rem(3);
            set(
                x,
                Expr::Item(Box::new(name(y)), Box::new(index)).minus(name(x)),
            )
        }
        Kind::List => set(x, Expr::Append(Box::new(name(x)), Box::new(here()))),
        Kind::Call => {
            let call = Expr::Call("early".into(), vec![here(), name("r4")]);
            set(x, call.minus(name(x)))
        }
        Kind::Tent => set(x, Expr::Probe(Kernel::Tent, Box::new(at())).minus(name(x))),
        Kind::CatmullRom => set(
            x,
            Expr::Probe(Kernel::CatmullRom, Box::new(at())).minus(name(x)),
        ),
        Kind::Truth => set(x, real(2 * place + 3, 1).less(name("a")).equal(name(x))),
        Kind::Known => set(x, Expr::Bool(place % 2 == 0)),
        Kind::Exchange => [
            vec![Stmt::Declare(Type::Real, "t".into(), name(x))],
            set(x, name(y).plus(number)),
            set(y, name("t")),
        ]
        .concat(),
        Kind::Common if place == 1 => set(x, number),
        Kind::Common => set(x, Expr::Name(format!("g{}", place.min(2)))),
        Kind::Divide => {
            let quotient = Expr::Div(
                Box::new(Expr::Int(40 + place)),
                Box::new(Expr::Int(1).plus(name("i").rem(3))),
            );
            set(x, quotient.minus(name(x)))
        }
        Kind::Return => vec![Stmt::Exit(Exit::Return(here()))],
        // Only the innermost place is an exit, so that strands go on.
        Kind::Stabilize | Kind::Die | Kind::Continue if place > 0 => set(x, here()),
        Kind::Stabilize => [set(x, here()), vec![Stmt::Exit(Exit::Stabilize)]].concat(),
        Kind::Die => [set(x, here()), vec![Stmt::Exit(Exit::Die)]].concat(),
        Kind::Continue => [set(x, here()), vec![Stmt::Exit(Exit::Continue)]].concat(),
        Kind::New => vec![Stmt::New(vec![name("i").plus(Expr::Int(10 + place))])],
        Kind::Print => vec![Stmt::Print(vec![name("i"), name("age"), Expr::Int(place)])],
        Kind::Near => set(x, Expr::Near(Dyadic::ratio(5, 1), "a").minus(name(x))),
        Kind::EachNear => {
            let more = set(x, name(x).plus(Expr::Member("q".into(), "a")));
            vec![Stmt::Each(
                "q".into(),
                Range::Strands(Dyadic::ratio(3, 1)),
                more,
            )]
        }
    }
}
